// SPDX-License-Identifier: GPL-3.0-or-later
// Into which tasks attention is cut.
#include "kernels/cpu/attention_plan.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

using namespace spanscope;
using cpu::CpuAttentionPlan;

namespace {

constexpr compute::AttentionShape kShape{.queryHeads = 9, .keyHeads = 3, .headSize = 64, .scale = 0.125F};
constexpr std::int32_t kBlockSize = 16;

/// Rows at the end of a segment that has this number of tokens with them.
compute::PassInputs rowsBehind(std::int32_t tokens, std::int32_t rows) {
  compute::PassInputs inputs;
  inputs.tokens.assign(static_cast<std::size_t>(rows), 0);
  inputs.localIndices.resize(inputs.tokens.size());
  std::iota(inputs.localIndices.begin(), inputs.localIndices.end(), tokens - rows);
  compute::KeyRange range{.blocks = {}, .begin = 0, .end = tokens, .base = 0, .causal = true};
  range.blocks.resize(static_cast<std::size_t>((tokens + kBlockSize - 1) / kBlockSize));
  std::iota(range.blocks.begin(), range.blocks.end(), 1);
  inputs.runs = {{0, rows, 0, {std::move(range)}}};
  return inputs;
}

CpuAttentionPlan planOf(const compute::PassInputs& inputs) {
  compute::RotaryTable rotary;
  rotary.inverseFrequencies.assign(32, 0.5);
  cpu::RotaryCache cache;
  return {kShape, rotary, inputs, kBlockSize, cache};
}

}  // namespace

class TestAttentionPlan : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// One long decode is work for more cores than it has key heads.
  void aLongDecodeIsCutAlongItsKeys() {
    constexpr std::int32_t kTokens = 2049;
    const CpuAttentionPlan plan = planOf(rowsBehind(kTokens, 1));
    QCOMPARE(plan.joins().size(), std::size_t{3});
    QVERIFY(plan.tasks().size() >= 12);
    std::map<std::int32_t, std::int64_t> keys;
    std::map<std::int32_t, std::int64_t> tasks;
    for (const cpu::AttentionTask& task : plan.tasks()) {
      QVERIFY(task.join >= 0);
      ++tasks[task.join];
      for (std::size_t i = task.firstStretch; i < task.endStretch; ++i) {
        const cpu::KeyStretch& stretch = plan.runs()[0].stretches[i];
        keys[task.rows.keyHead] += stretch.end - stretch.begin;
      }
    }
    for (const auto& [head, count] : keys) QCOMPARE(count, std::int64_t{kTokens});
    for (std::size_t join = 0; join < plan.joins().size(); ++join)
      QCOMPARE(plan.joins()[join].tasks, tasks[static_cast<std::int32_t>(join)]);
  }

  /// One row waits for its keys and values, many have their products to compute.
  void readingCountsAsWork() {
    constexpr std::int64_t kElements = std::int64_t{2} * 64 * 3 * 64;  // of 64 keys and values in 3 heads
    QCOMPARE(planOf(rowsBehind(64, 1)).work(), 16 * kElements);
    QCOMPARE(planOf(rowsBehind(64, 5)).work(), 16 * kElements);
    QCOMPARE(planOf(rowsBehind(64, 20)).work(), 20 * 3 * kElements);
  }

  /// Stretches lie where they lie for any other row of the segment.
  void stretchesDependOnTheKeysAlone() {
    const CpuAttentionPlan one = planOf(rowsBehind(2000, 1));
    const CpuAttentionPlan many = planOf(rowsBehind(2049, 500));
    for (std::size_t i = 0; i + 1 < one.runs()[0].stretches.size(); ++i) {
      QCOMPARE(one.runs()[0].stretches[i].begin, many.runs()[0].stretches[i].begin);
      QCOMPARE(one.runs()[0].stretches[i].end, many.runs()[0].stretches[i].end);
    }
  }

  /// Short ranges share a stretch, the same one for every row that reads them, however many follow.
  void shortRangesAreJoined() {
    const auto inputsOf = [](const std::vector<std::int32_t>& lengths, std::int32_t rows) {
      compute::PassInputs inputs = rowsBehind(rows, rows);
      compute::QueryRun& run = inputs.runs.front();
      const compute::KeyRange own = run.keys.front();
      run.keys.clear();
      for (const std::int32_t length : lengths) {
        compute::KeyRange range{.blocks = {}, .begin = 0, .end = length, .base = run.base, .causal = false};
        range.blocks.assign(static_cast<std::size_t>((length + kBlockSize - 1) / kBlockSize), 1);
        run.base += length;
        run.keys.push_back(std::move(range));
      }
      run.keys.push_back(own);
      return inputs;
    };
    const auto stretches = [&](const std::vector<std::int32_t>& lengths, std::int32_t rows) {
      std::vector<std::array<std::int64_t, 4>> found;
      const CpuAttentionPlan plan = planOf(inputsOf(lengths, rows));
      for (const cpu::KeyStretch& stretch : plan.runs()[0].stretches)
        found.push_back({stretch.range, stretch.ranges, stretch.begin, stretch.end});
      return found;
    };
    using All = std::vector<std::array<std::int64_t, 4>>;
    QVERIFY((stretches({8, 0, 32, 8}, 1) == All{{0, 4, 0, 48}, {4, 1, 0, 1}}));
    QVERIFY((stretches({8, 33, 8}, 1) == All{{0, 1, 0, 8}, {1, 1, 0, 33}, {2, 1, 0, 8}, {3, 1, 0, 1}}));
    QVERIFY((stretches({8, 8}, 20) == All{{0, 2, 0, 16}, {2, 1, 0, 20}}));
    // A full stretch, and what is left.
    const std::vector<std::int32_t> many(70, 8);
    QVERIFY((stretches(many, 1) == All{{0, 64, 0, 512}, {64, 6, 0, 48}, {70, 1, 0, 1}}));
    const std::vector<std::int32_t> more(75, 8);
    QVERIFY((stretches(more, 9).front() == stretches(many, 1).front()));
  }

  /// What has tasks enough, or too few keys, is left whole.
  void otherRowsAreLeftWhole() {
    for (const CpuAttentionPlan& plan : {planOf(rowsBehind(2049, 500)), planOf(rowsBehind(200, 1))}) {
      QVERIFY(plan.joins().empty());
      for (const cpu::AttentionTask& task : plan.tasks()) {
        QCOMPARE(task.join, -1);
        QCOMPARE(task.firstStretch, std::size_t{0});
        QCOMPARE(task.endStretch, plan.runs()[0].stretches.size());
      }
    }
  }
};

SPANSCOPE_TEST(tst_attention_plan, TestAttentionPlan)
#include "tst_attention_plan.moc"
