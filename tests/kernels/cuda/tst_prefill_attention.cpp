// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/attention/prefill_attention.h"
#include "tests/kernels/cuda/attention_problem.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;
using cuda::PrefillPlan;
using cuda::RowRun;

namespace {

struct PrefillResult {
  std::vector<Bf16> out;
  std::vector<cuda::PartialSum> totals;
};

PrefillResult attend(EmulatedDevice& card, const AttentionProblem& problem) {
  const PrefillPlan plan = cuda::planPrefill(problem.runs(), problem.rows(), problem.shape().group);
  const auto queries = card.upload(problem.queries());
  const auto items = card.upload(plan.items);
  const auto runs = card.upload(plan.runs);
  const auto ranges = card.upload(plan.ranges);
  const auto locals = card.upload(plan.locals);
  const auto blocks = card.upload(plan.blocks);
  const auto cosSin = card.upload(plan.rotations.table(problem.frequencies(), 1));
  const auto out = card.empty<Bf16>(problem.queries().size());
  const auto totals =
      card.empty<cuda::PartialSum>(static_cast<std::size_t>(problem.rows() * problem.queryHeads()));
  cuda::attendPrefill(card.stream, {.queries = queries.data(),
                                    .queryStride = problem.queryHeads() * problem.shape().headSize,
                                    .queryHeads = problem.queryHeads(),
                                    .scale = problem.scale(),
                                    .pool = problem.pool(),
                                    .layer = AttentionProblem::kLayer,
                                    .items = items.data(),
                                    .itemCount = static_cast<int>(plan.items.size()),
                                    .runs = runs.data(),
                                    .ranges = ranges.data(),
                                    .locals = locals.data(),
                                    .blocks = blocks.data(),
                                    .cosSin = cosSin.data(),
                                    .out = out.data(),
                                    .totals = totals.data()});
  return {card.download(out), card.download(totals)};
}

/// Empty if the result is right.
QString differs(const AttentionProblem& problem, const std::vector<Bf16>& out,
                const ProblemResult& expected) {
  return QString::fromStdString(differsOnTensorCores(problem, out, expected));
}

bool sameBits(const std::vector<Bf16>& a, const std::vector<Bf16>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Bf16)) == 0;
}

}  // namespace

class TestCudaPrefillAttention : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  void equalsReference_data() {
    QTest::addColumn<ProblemShape>("shape");
    const ShapeChoices choices{.rows = {1, 16, 17, 64, 65, 100},
                               .keys = {1, 63, 64, 65, 128, 129, 300, 1000},
                               .segments = {1, 2, 5},
                               .headSizes = {16, 32, 64, 80, 96, 128, 256},
                               .groups = {1, 2, 3, 4, 7, 8, 16},
                               .blockSizes = {1, 5, 16, 128},
                               .windows = {0, 0, 1, 9, 64, 100, 700}};
    for (const ProblemShape& shape :
         {ProblemShape{.rows = 1000, .keys = 1300, .segments = 3, .keyHeads = 1, .group = 1, .headSize = 32},
          ProblemShape{.rows = 20,
          .keys = 5000,
          .segments = 4,
          .keyHeads = 1,
          .group = 3,
          .headSize = 64,
          .blockSize = 5}})
      QTest::addRow("%s", shape.text().c_str()) << shape;
    Random random(m_seed);
    for (const ProblemShape& shape : pairwiseShapes(choices, 30000000, random))
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
      const PrefillResult result = attend(card, problem);
      const QString difference = differs(problem, result.out, expected);
      QVERIFY2(difference.isEmpty(), qPrintable(QString(order) + ": " + difference));
      QVERIFY(before.empty() || sameBits(before, result.out));
      before = result.out;
    });
  }

  void keysAtTheEdgesCount() {
    // The last key belongs to the last row alone; the one before the first belongs to nobody.
    for (const int keys : {64, 65, 127, 128, 130}) {
      for (const bool marksLast : {true, false}) {
        EmulatedDevice card;
        Random random(m_seed + 1);
        AttentionProblem problem(
            card, {.rows = 3, .keys = keys, .segments = 1, .keyHeads = 1, .group = 2, .headSize = 32},
            random);
        problem.runs().back().keys.back().begin = keys / 2;
        problem.markKey(marksLast ? keys - 1 : keys / 2 - 1);
        const ProblemResult expected = problem.reference();
        inEveryOrder(card, [&](const char* order) {
          const QString difference = differs(problem, attend(card, problem).out, expected);
          QVERIFY2(difference.isEmpty(),
                   qPrintable(QString("%1 keys, %2: %3").arg(keys).arg(order, difference)));
        });
      }
    }
  }

  void dependsOnTheRowAlone_data() { addWindows(); }
  void dependsOnTheRowAlone() {
    QFETCH(int, window);
    EmulatedDevice card;
    Random random(m_seed + 2);
    AttentionProblem problem(
        card,
        {.rows = 40, .keys = 200, .segments = 3, .keyHeads = 2, .group = 3, .headSize = 64, .window = window},
        random);
    const std::vector<Bf16> together = attend(card, problem).out;
    const RowRun all = problem.runs().back();
    problem.runs().pop_back();
    for (std::int32_t first = 0; first < all.rowCount;) {
      RowRun part = all;
      part.firstRow += first;
      part.firstLocal += first;
      part.rowCount = std::min(static_cast<std::int32_t>(random.between(1, 9)), all.rowCount - first);
      first += part.rowCount;
      problem.runs().push_back(part);
    }
    QVERIFY(sameBits(attend(card, problem).out, together));
    for (RowRun& run : problem.runs()) {  // another base for everything
      run.base += 77777;
      for (cuda::SegmentKeys& keys : run.keys) keys.base += 77777;
    }
    QVERIFY(sameBits(attend(card, problem).out, together));
  }

  void totalsAreLogSums() {
    EmulatedDevice card;
    Random random(m_seed + 3);
    AttentionProblem problem(card, {.rows = 5, .keys = 90, .segments = 2}, random);
    const PrefillResult result = attend(card, problem);
    const ProblemResult expected = problem.reference();
    QCOMPARE(result.totals.size(), expected.logSums.size());
    for (std::size_t i = 0; i < result.totals.size(); ++i) {
      const cuda::PartialSum& total = result.totals[i];
      const double logSum =
          static_cast<double>(total.largest) * std::log(2.0) + std::log(static_cast<double>(total.sum));
      if (std::isinf(expected.logSums[i])) {
        QCOMPARE(total.sum, 0.0F);
      } else {
        QVERIFY(std::abs(logSum - expected.logSums[i]) < 3 * 0x1p-8 * expected.scoreNorm / 8 + 1e-5);
      }
    }
  }

  void rowsWithoutKeysGiveZero() {
    EmulatedDevice card;
    Random random(m_seed + 4);
    AttentionProblem problem(card, {.rows = 1, .keys = 20, .segments = 1}, random);
    problem.runs().front().keys.clear();
    const std::vector<Bf16> out = attend(card, problem).out;
    for (std::size_t i = 0; i < out.size() / 2; ++i) QCOMPARE(out[i].bits, std::uint16_t{0});
  }

  void paddingIsLeftOut() {
    EmulatedDevice card;
    Random random(m_seed + 5);
    AttentionProblem problem(card, {.rows = 1, .keys = 20, .segments = 1}, random);
    const auto items = card.upload(std::vector<cuda::PrefillItem>(2));
    cuda::attendPrefill(
        card.stream,
        {.queryHeads = problem.queryHeads(), .pool = problem.pool(), .items = items.data(), .itemCount = 2});
    card.stream.synchronize();  // reads and writes nothing
  }

  void shapesThatItDoesNotHaveAreFailures() {
    EmulatedDevice card;
    cuda::PrefillAttentionArguments arguments{.queryHeads = 4,
                                              .pool = {.isFloat = true, .heads = 2, .headSize = 64}};
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendPrefill(card.stream, arguments));
    arguments.pool.isFloat = false;
    arguments.pool.headSize = 48;
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::attendPrefill(card.stream, arguments));
  }

 private:
  static void addWindows() {
    QTest::addColumn<int>("window");
    for (const int window : {0, 5, 90}) QTest::addRow("window %d", window) << window;
  }

  std::uint64_t m_seed = testSeed(20251127);
};

SPANSCOPE_TEST(tst_prefill_attention, TestCudaPrefillAttention)
#include "tst_prefill_attention.moc"
