// SPDX-License-Identifier: GPL-3.0-or-later
// Which kernels attend for which rows. What they give is tested with the backend.
#include "kernels/cuda/backend/attention_work.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <numeric>

using namespace spanscope;
using cuda::AttentionWork;

namespace {

const compute::AttentionShape kShape{.queryHeads = 32, .keyHeads = 8, .headSize = 128, .scale = 1};
constexpr int kMultiprocessors = 132;

compute::KvShape storeOf(compute::DType type = compute::DType::BF16) {
  return {.layers = 1, .blocks = 4000, .blockSize = 16, .heads = 8, .headSize = 128, .type = type};
}

/// One run: `rows` after `keys` others in the same segment.
compute::PassInputs passOf(std::int32_t rows, std::int32_t keys) {
  compute::PassInputs inputs;
  compute::QueryRun run{.firstRow = 0, .rowCount = rows, .base = 0, .keys = {}};
  compute::KeyRange own{.blocks = {}, .begin = 0, .end = keys + rows, .base = 0, .causal = true};
  own.blocks.resize(static_cast<std::size_t>((keys + rows + 15) / 16));
  std::iota(own.blocks.begin(), own.blocks.end(), 1);
  run.keys = {own};
  inputs.runs = {run};
  inputs.tokens.assign(static_cast<std::size_t>(rows), 0);
  inputs.slots.assign(static_cast<std::size_t>(rows), 0);
  inputs.localIndices.resize(static_cast<std::size_t>(rows));
  std::iota(inputs.localIndices.begin(), inputs.localIndices.end(), keys);
  return inputs;
}

AttentionWork workOf(const compute::PassInputs& inputs, bool exact = false,
                     compute::DType type = compute::DType::BF16, std::int32_t window = 0) {
  compute::AttentionShape shape = kShape;
  shape.window = window;
  return cuda::planAttention(shape, storeOf(type), inputs, false,
                             {.exact = exact, .multiprocessors = kMultiprocessors});
}

}  // namespace

class TestAttentionWork : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void singleRowsGoOneByOne() {
    const AttentionWork work = workOf(passOf(1, 5000));
    QCOMPARE(work.decodes.size(), std::size_t{1});
    QVERIFY(work.prefill.items.empty() && work.split.tiles.empty());
  }

  void manyRowsFillTheDevice() {
    const AttentionWork work = workOf(passOf(512, 5000));
    QCOMPARE(work.prefill.items.size(), std::size_t{512 * 4 / 64});
    QVERIFY(work.decodes.empty() && work.split.tiles.empty());
  }

  /// A question after documents that are all cached: 4 tiles for 8 key heads, and 132 multiprocessors.
  void fewRowsAreCutOverTheirKeys() {
    const AttentionWork work = workOf(passOf(64, 32704));
    QVERIFY(work.decodes.empty() && work.prefill.items.empty());
    QCOMPARE(work.split.tiles.size(), std::size_t{4});
    const std::size_t blocks = work.split.items.size() * 8;
    QVERIFY(blocks >= std::size_t{2 * kMultiprocessors} && blocks <= std::size_t{3 * kMultiprocessors});
    std::int32_t longest = 0;
    for (const cuda::SplitItem& item : work.split.items) longest = std::max(longest, item.end - item.begin);
    QVERIFY(longest <= 32768 / 8);
  }

  void fewKeysAreNotCut() {
    const AttentionWork work = workOf(passOf(64, 400));
    QCOMPARE(work.prefill.items.size(), std::size_t{4});
    QVERIFY(work.split.tiles.empty());
  }

  /// Of a narrowed pass: rows with gaps between them are a tile like others.
  void rowsWithGapsStayTogether() {
    compute::PassInputs inputs = passOf(128, 5000);
    for (std::size_t i = 0; i < inputs.localIndices.size(); ++i)
      inputs.localIndices[i] = static_cast<std::int32_t>(39 * i + i % 3);
    const AttentionWork work = workOf(inputs);
    QVERIFY(work.decodes.empty());
    QCOMPARE(work.split.tiles.size() + work.prefill.items.size(), std::size_t{8});
    const cuda::PrefillPlan& plan = work.split.tiles.empty() ? work.prefill : work.split.rows;
    QCOMPARE(plan.locals, inputs.localIndices);
  }

  /// Cuts at fixed places, whatever else is in the pass.
  void bitEqualRowsAreCutAtFixedPlaces() {
    for (const std::int32_t rows : {1, 64, 512}) {
      const AttentionWork work = workOf(passOf(rows, 5000), true);
      QVERIFY(work.decodes.empty() && work.prefill.items.empty());
      for (const cuda::SplitItem& item : work.split.items) QCOMPARE(item.begin % cuda::kSplitKeys, 0);
    }
  }

  /// What lies before all windows costs nothing: no item, and no reason to cut.
  void keysBeforeWindowsAreLeftOut() {
    const AttentionWork single = workOf(passOf(1, 5000), false, compute::DType::BF16, 100);
    QCOMPARE(single.decodes.front().plan.items.size(), std::size_t{1});
    QCOMPARE(single.decodes.front().plan.items.front().begin, 4901);
    QVERIFY(workOf(passOf(64, 32704), false, compute::DType::BF16, 100).split.tiles.empty());
    const AttentionWork exact = workOf(passOf(64, 32704), true, compute::DType::BF16, 100);
    for (const cuda::SplitItem& item : exact.split.items) QVERIFY(item.begin >= 32704 - 99);
    QVERIFY(!exact.split.items.empty());
  }

  /// Under a window of few blocks there is nothing to choose.
  void windowsOfFewBlocksAreReadWhole() {
    compute::PassInputs inputs = passOf(64, 5000);
    inputs.runs[0].mostBlocks = 8;
    QVERIFY(workOf(inputs, false, compute::DType::BF16, 100).decodes.empty());
    QVERIFY(!workOf(inputs, false, compute::DType::BF16, 200).decodes.empty());
  }

  void rowsThatChooseGoOneByOne() {
    compute::PassInputs inputs = passOf(64, 5000);
    inputs.runs[0].mostBlocks = 8;
    for (const bool exact : {false, true}) {
      const AttentionWork work = workOf(inputs, exact);
      QVERIFY(!work.decodes.empty());
      QVERIFY(work.prefill.items.empty() && work.split.tiles.empty());
      QVERIFY(!work.decodes.front().plan.choiceRows.empty());
    }
  }

  /// Those that have no more blocks than they may read do as all others do.
  void rowsThatHaveNothingToChooseAreLikeOthers() {
    compute::PassInputs inputs = passOf(64, 100);
    inputs.runs[0].mostBlocks = 8;  // of the rows up to local token 127 no more than 8
    const AttentionWork work = workOf(inputs);
    QCOMPARE(work.prefill.runs.size(), std::size_t{1});
    QCOMPARE(work.prefill.runs.front().rowCount, 28);
    QCOMPARE(work.decodes.size(), std::size_t{1});
    QCOMPARE(work.decodes.front().firstRow, 28);
    QCOMPARE(work.decodes.front().plan.choiceRows.size(), std::size_t{36});
    inputs.runs[0].mostBlocks = 11;
    QVERIFY(workOf(inputs).decodes.empty());
  }

  void keysInF32AreNotForTensorCores() {
    const AttentionWork work = workOf(passOf(512, 100), false, compute::DType::F32);
    QVERIFY(!work.decodes.empty());
    QVERIFY(work.prefill.items.empty() && work.split.tiles.empty());
  }
};

SPANSCOPE_TEST(tst_attention_work, TestAttentionWork)
#include "tst_attention_work.moc"
