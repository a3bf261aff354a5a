// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/attention/split_attention.h"
#include "tests/kernels/cuda/attention_problem.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;
using cuda::kSplitKeys;
using cuda::RowRun;
using cuda::SplitPlan;

namespace {

constexpr std::int64_t kAllAtOnce = std::numeric_limits<std::int32_t>::max();

std::vector<Bf16> attend(EmulatedDevice& card, const AttentionProblem& problem,
                         const std::vector<double>& frequencies, std::int64_t mostPartials = kAllAtOnce) {
  const SplitPlan plan = cuda::planSplit(problem.runs(), problem.rows(), problem.shape().group, mostPartials);
  const auto queries = card.upload(problem.queries());
  const auto tiles = card.upload(plan.tiles);
  const auto items = card.upload(plan.items);
  const auto runs = card.upload(plan.rows.runs);
  const auto ranges = card.upload(plan.rows.ranges);
  const auto locals = card.upload(plan.rows.locals);
  const auto blocks = card.upload(plan.rows.blocks);
  const auto cosSin = card.upload(plan.rows.rotations.table(frequencies, 1));
  const auto out = card.empty<Bf16>(problem.queries().size());
  for (const cuda::SplitLaunch& launch : plan.launches) {
    const auto partials = static_cast<std::size_t>(launch.partials * problem.shape().keyHeads);
    const auto sums = card.empty<cuda::PartialSum>(partials);
    const auto values = card.empty<float>(partials * static_cast<std::size_t>(problem.shape().headSize));
    cuda::SplitAttentionArguments arguments;
    arguments.rows.queries = queries.data();
    arguments.rows.queryStride = problem.queryHeads() * problem.shape().headSize;
    arguments.rows.queryHeads = problem.queryHeads();
    arguments.rows.scale = problem.scale();
    arguments.rows.pool = problem.pool();
    arguments.rows.layer = AttentionProblem::kLayer;
    arguments.rows.runs = runs.data();
    arguments.rows.ranges = ranges.data();
    arguments.rows.locals = locals.data();
    arguments.rows.blocks = blocks.data();
    arguments.rows.cosSin = cosSin.data();
    arguments.rows.out = out.data();
    arguments.tiles = tiles.data();
    arguments.items = items.data();
    arguments.launch = launch;
    arguments.partialSums = sums.data();
    arguments.partialValues = values.data();
    cuda::attendSplit(card.stream, arguments);
    card.stream.synchronize();
  }
  return card.download(out);
}

std::vector<Bf16> attend(EmulatedDevice& card, const AttentionProblem& problem,
                         std::int64_t mostPartials = kAllAtOnce) {
  return attend(card, problem, problem.frequencies(), mostPartials);
}

bool sameBits(const std::vector<Bf16>& a, const std::vector<Bf16>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Bf16)) == 0;
}

/// The last run in parts of at most `most` rows.
void cutRows(AttentionProblem& problem, std::int32_t most, Random& random) {
  const RowRun all = problem.runs().back();
  problem.runs().pop_back();
  for (std::int32_t first = 0; first < all.rowCount;) {
    RowRun part = all;
    part.firstRow += first;
    part.firstLocal += first;
    part.rowCount = std::min(static_cast<std::int32_t>(random.between(1, most)), all.rowCount - first);
    first += part.rowCount;
    problem.runs().push_back(part);
  }
}

}  // namespace

class TestCudaSplitAttention : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  void equalsReference_data() {
    QTest::addColumn<ProblemShape>("shape");
    const ShapeChoices choices{.rows = {1, 16, 17, 65, 100},
                               .keys = {1, 64, 65, 511, 512, 513, 1100},
                               .segments = {1, 2, 5},
                               .headSizes = {16, 32, 64, 80, 96, 128, 256},
                               .groups = {1, 3, 4, 8, 16},
                               .blockSizes = {1, 5, 16, 128},
                               .windows = {0, 0, 1, 9, 64, 100, 700}};
    Random random(m_seed);
    for (const ProblemShape& shape : pairwiseShapes(choices, 6000000, random))
      QTest::addRow("%s", shape.text().c_str()) << shape;
  }
  void equalsReference() {
    QFETCH(ProblemShape, shape);
    EmulatedDevice card;
    Random random(m_seed);
    AttentionProblem problem(card, shape, random);
    const ProblemResult expected = problem.reference();
    std::vector<Bf16> before;
    inEveryOrder(card, [&](const char* order) {
      if (productsOf(shape) > 1000000 && std::strcmp(order, "descending") != 0) return;
      const std::vector<Bf16> out = attend(card, problem);
      const std::string difference = differsOnTensorCores(problem, out, expected);
      QVERIFY2(difference.empty(), (std::string(order) + ": " + difference).c_str());
      QVERIFY(before.empty() || sameBits(before, out));
      before = out;
    });
  }

  /// A row alone, among others, in another launch, in other blocks, at another base.
  void dependsOnTheRowAlone_data() {
    QTest::addColumn<int>("keys");
    QTest::addColumn<int>("group");
    QTest::addColumn<int>("window");
    for (const int keys : {70, 600, 1100}) {
      for (const int group : {1, 3, 8}) {
        for (const int window : {0, 5, 90, 530})
          QTest::addRow("%d keys, %d heads, window %d", keys, group, window) << keys << group << window;
      }
    }
  }
  void dependsOnTheRowAlone() {
    QFETCH(int, keys);
    QFETCH(int, group);
    QFETCH(int, window);
    EmulatedDevice card;
    Random random(m_seed + 2);
    AttentionProblem problem(card,
                             {.rows = 20,
                              .keys = keys,
                              .segments = 2,
                              .keyHeads = 2,
                              .group = group,
                              .headSize = 32,
                              .window = window},
                             random);
    const std::vector<RowRun> runs = problem.runs();
    const std::vector<Bf16> together = attend(card, problem);
    QVERIFY(sameBits(attend(card, problem, 1), together));
    cutRows(problem, 9, random);
    QVERIFY(sameBits(attend(card, problem), together));
    problem.runs() = runs;
    cutRows(problem, 1, random);  // as they are when they are generated
    QVERIFY(sameBits(attend(card, problem), together));
    for (RowRun& run : problem.runs()) {
      run.base += 77777;
      for (cuda::SegmentKeys& segment : run.keys) segment.base += 77777;
    }
    QVERIFY(sameBits(attend(card, problem), together));
  }

  /// Tiles and splits begin at local token 0, wherever the keys that are read begin: keys without weight may
  /// as well be left out.
  void keysWithoutWeightChangeNothing_data() {
    QTest::addColumn<int>("count");
    for (const int count : {1, 37, 64, 100, 511, 512, 513, 700}) QTest::addRow("%d keys", count) << count;
  }
  void keysWithoutWeightChangeNothing() {
    QFETCH(int, count);
    EmulatedDevice card;
    Random random(m_seed + 3);
    AttentionProblem problem(
        card, {.rows = 5, .keys = 1300, .segments = 1, .keyHeads = 1, .group = 2, .headSize = 32}, random);
    problem.runs().front().keys.clear();
    problem.ignoreKeys(count);
    const std::vector<double> still(16, 0.0);
    std::int32_t& begin = problem.runs().back().keys.back().begin;
    begin = 0;
    const std::vector<Bf16> all = attend(card, problem, still);
    begin = count;
    QVERIFY(sameBits(attend(card, problem, still), all));
  }

  void splitsDependOnKeysAlone() {
    for (const std::int32_t begin : {0, 5, 511, 512, 600}) {
      RowRun run{.firstRow = 0, .rowCount = 3, .firstLocal = 1500, .base = 0, .keys = {}};
      run.keys.push_back({.blocks = {0}, .begin = begin, .end = 1503, .base = 0, .causal = true});
      run.keys.push_back({.blocks = {1}, .begin = 0, .end = 512, .base = 0, .causal = false});
      const SplitPlan plan = cuda::planSplit(std::vector<RowRun>{run}, 3, 4, 20);
      std::int32_t seen = begin;
      for (const cuda::SplitItem& item : plan.items) {
        QVERIFY(item.begin < item.end);
        QCOMPARE(item.begin / kSplitKeys, (item.end - 1) / kSplitKeys);
        if (item.range != 0) continue;
        QCOMPARE(item.begin, seen);
        seen = item.end;
      }
      QCOMPARE(seen, 1503);
      QCOMPARE(plan.tiles.size(), std::size_t{1});
      QCOMPARE(plan.launches.size(), std::size_t{1});
      QCOMPARE(plan.launches[0].partials, std::int64_t{12} * plan.tiles[0].itemCount);
    }
  }

  void rowsWithoutKeysGiveZero() {
    EmulatedDevice card;
    Random random(m_seed + 4);
    AttentionProblem problem(card, {.rows = 1, .keys = 20, .segments = 1}, random);
    problem.runs().front().keys.clear();
    const std::vector<Bf16> out = attend(card, problem);
    for (std::size_t i = 0; i < out.size() / 2; ++i) QCOMPARE(out[i].bits, std::uint16_t{0});
  }

  void shapesThatItDoesNotHaveAreFailures() {
    EmulatedDevice card;
    cuda::SplitAttentionArguments arguments;
    arguments.rows = {.queryHeads = 4, .pool = {.isFloat = true, .heads = 2, .headSize = 64}};
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendSplit(card.stream, arguments));
    arguments.rows.pool.isFloat = false;
    arguments.rows.pool.headSize = 48;
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendSplit(card.stream, arguments));
  }

 private:
  std::uint64_t m_seed = testSeed(20251202);
};

SPANSCOPE_TEST(tst_split_attention, TestCudaSplitAttention)
#include "tst_split_attention.moc"
