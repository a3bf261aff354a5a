// SPDX-License-Identifier: GPL-3.0-or-later
// Operations within rows, against double precision. Results are bf16, so a result may differ from the exact
// one by half a place of bf16 (2^−8 of itself at most), and by what f32 arithmetic before the rounding adds.
#include "kernels/cuda/rows/row_kernels.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/kernels/cuda/pairwise.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;

namespace {

constexpr double kHalfPlace = 0x1p-8;

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

std::vector<Bf16> randomBf16(Random& random, std::size_t count, double scale = 1) {
  return testing::toBf16(randomValues(random, count, scale));
}

/// Every element within `relative` of the expected one.
QString firstBeyond(const std::vector<Bf16>& actual, const std::vector<double>& expected, double relative) {
  if (actual.size() != expected.size()) return "sizes differ";
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double value = static_cast<double>(valueOf(actual[i]));
    if (!(std::abs(value - expected[i]) <= relative * std::abs(expected[i]) + 0x1p-133))  // subnormal bf16
      return QString("element %1: %2, expected %3").arg(i).arg(value).arg(expected[i]);
  }
  return {};
}

bool sameBits(const std::vector<Bf16>& a, const std::vector<Bf16>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Bf16)) == 0;
}

/// Pairs of row counts and widths: rows and columns that are whole in vectors and blocks, and ragged ones.
void addShapes(std::uint64_t seed) {
  QTest::addColumn<int>("rows");
  QTest::addColumn<int>("columns");
  const std::vector<int> rows{1, 2, 7, 64, 1000};
  const std::vector<int> columns{1, 7, 8, 64, 576, 1000, 1023, 2048, 2056, 4104};
  Random random(seed);
  for (const std::vector<std::size_t>& choice : pairwiseSample({rows.size(), columns.size()}, random)) {
    const int rowCount = rows[choice[0]];
    const int columnCount = columns[choice[1]];
    if (product(rowCount, columnCount) > 40000) continue;
    QTest::addRow("%d × %d", rowCount, columnCount) << rowCount << columnCount;
  }
}

}  // namespace

class TestCudaRowKernels : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  void embedCopiesRows_data() { addShapes(m_seed); }
  void embedCopiesRows() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    EmulatedDevice card;
    Random random(m_seed);
    constexpr int kWords = 13;
    const std::vector<Bf16> table = randomBf16(random, product(kWords, columns));
    std::vector<std::int32_t> ids(static_cast<std::size_t>(rows));
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random.below(kWords));
    std::vector<Bf16> expected;
    for (const std::int32_t id : ids) {
      const auto begin = table.begin() + static_cast<std::ptrdiff_t>(product(id, columns));
      expected.insert(expected.end(), begin, begin + columns);
    }
    const auto deviceTable = card.upload(table);
    const auto deviceIds = card.upload(ids);
    inEveryOrder(card, [&](const char* order) {
      const auto out = card.empty<Bf16>(expected.size());
      cuda::embed(card.stream, {.table = deviceTable.data(),
                                .ids = deviceIds.data(),
                                .out = out.data(),
                                .rows = rows,
                                .columns = columns});
      QVERIFY2(sameBits(card.download(out), expected), order);
      const auto gathered = card.empty<Bf16>(expected.size());
      cuda::gatherRows(card.stream, {.x = deviceTable.data(),
                                     .rows = deviceIds.data(),
                                     .out = gathered.data(),
                                     .count = rows,
                                     .columns = columns});
      QVERIFY2(sameBits(card.download(gathered), expected), order);
    });
  }

  void rmsNormEqualsReference_data() { addShapes(m_seed + 1); }
  void rmsNormEqualsReference() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    EmulatedDevice card;
    Random random(m_seed);
    const std::size_t count = product(rows, columns);
    const std::vector<Bf16> x = randomBf16(random, count, 3);
    const std::vector<Bf16> added = randomBf16(random, count);
    const std::vector<float> weight = randomValues(random, static_cast<std::size_t>(columns));
    constexpr float kEpsilon = 1e-5F;
    const auto deviceWeight = card.upload(weight);
    const auto deviceAdded = card.upload(added);
    for (const bool adds : {false, true}) {
      std::vector<Bf16> sums = x;
      for (std::size_t i = 0; i < count && adds; ++i)
        sums[i] = roundedToBf16(valueOf(x[i]) + valueOf(added[i]));
      std::vector<double> expected(count);
      for (int row = 0; row < rows; ++row) {
        double squares = 0;
        for (std::size_t i = product(row, columns); i < product(row + 1, columns); ++i)
          squares += std::pow(static_cast<double>(valueOf(sums[i])), 2);
        const double factor = 1 / std::sqrt(squares / columns + static_cast<double>(kEpsilon));
        for (std::size_t i = product(row, columns); i < product(row + 1, columns); ++i) {
          expected[i] = static_cast<double>(valueOf(sums[i])) * factor *
                        static_cast<double>(weight[i % static_cast<std::size_t>(columns)]);
        }
      }
      std::vector<Bf16> before;
      inEveryOrder(card, [&](const char* order) {
        const auto inOut = card.upload(x);
        const auto out = card.empty<Bf16>(count);
        cuda::rmsNorm(card.stream, {.x = inOut.data(),
                                    .added = adds ? deviceAdded.data() : nullptr,
                                    .weight = deviceWeight.data(),
                                    .out = out.data(),
                                    .rows = rows,
                                    .columns = columns,
                                    .epsilon = kEpsilon});
        const std::vector<Bf16> actual = card.download(out);
        // A sum of squares in f32 has no more than its chain's length in places of error.
        const double chain = (columns / 256.0 + 8 + 16) * 0x1p-24;
        const QString beyond = firstBeyond(actual, expected, kHalfPlace + chain + 0x1p-20);
        QVERIFY2(beyond.isEmpty(), qPrintable(QString(order) + ", " + beyond));
        QVERIFY2(sameBits(card.download(inOut), sums), order);
        QVERIFY2(before.empty() || sameBits(before, actual), order);
        before = actual;
      });
      if (QTest::currentTestFailed()) return;
      // The last row alone has the same bits.
      const auto begin = x.end() - columns;
      const auto inOut = card.upload(std::vector<Bf16>(begin, x.end()));
      const auto lastAdded = card.upload(std::vector<Bf16>(added.end() - columns, added.end()));
      const auto out = card.empty<Bf16>(static_cast<std::size_t>(columns));
      cuda::rmsNorm(card.stream, {.x = inOut.data(),
                                  .added = adds ? lastAdded.data() : nullptr,
                                  .weight = deviceWeight.data(),
                                  .out = out.data(),
                                  .rows = 1,
                                  .columns = columns,
                                  .epsilon = kEpsilon});
      QVERIFY(sameBits(card.download(out), {before.end() - columns, before.end()}));
    }
  }

  void centredNormEqualsReference_data() { addShapes(m_seed + 3); }
  void centredNormEqualsReference() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    if (columns == 1) QSKIP("a row of one element is its mean");
    EmulatedDevice card;
    Random random(m_seed);
    const std::size_t count = product(rows, columns);
    const std::vector<Bf16> x = randomBf16(random, count, 3);
    const std::vector<float> weight = randomValues(random, static_cast<std::size_t>(columns));
    constexpr float kEpsilon = 1e-2F;
    std::vector<double> expected(count);
    double largest = 0;
    for (int row = 0; row < rows; ++row) {
      double mean = 0;
      for (std::size_t i = product(row, columns); i < product(row + 1, columns); ++i)
        mean += static_cast<double>(valueOf(x[i])) / columns;
      double squares = 0;
      for (std::size_t i = product(row, columns); i < product(row + 1, columns); ++i)
        squares += std::pow(static_cast<double>(valueOf(x[i])) - mean, 2);
      const double factor = 1 / std::sqrt(squares / columns + static_cast<double>(kEpsilon));
      for (std::size_t i = product(row, columns); i < product(row + 1, columns); ++i) {
        expected[i] = (static_cast<double>(valueOf(x[i])) - mean) * factor *
                      static_cast<double>(weight[i % static_cast<std::size_t>(columns)]);
        largest = std::max(largest, std::abs(expected[i]));
      }
    }
    const auto deviceX = card.upload(x);
    const auto deviceWeight = card.upload(weight);
    inEveryOrder(card, [&](const char* order) {
      const auto out = card.empty<Bf16>(count);
      cuda::rmsNorm(card.stream, {.x = deviceX.data(),
                                  .added = nullptr,
                                  .weight = deviceWeight.data(),
                                  .out = out.data(),
                                  .rows = rows,
                                  .columns = columns,
                                  .epsilon = kEpsilon,
                                  .centers = true});
      const std::vector<Bf16> actual = card.download(out);
      for (std::size_t i = 0; i < count; ++i) {
        const double error = std::abs(static_cast<double>(valueOf(actual[i])) - expected[i]);
        QVERIFY2(error <= kHalfPlace * std::abs(expected[i]) + largest * 0x1p-17, order);
      }
    });
  }

  void softCapEqualsReference_data() { addShapes(m_seed + 4); }
  void softCapEqualsReference() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    EmulatedDevice card;
    Random random(m_seed);
    const std::vector<float> x = randomValues(random, product(rows, columns), 6);
    const std::vector<Bf16> rounded = testing::toBf16(x);
    constexpr float kCap = 2.5F;
    constexpr double kError = 4 * 0x1p-21;  // of numbers near the cap
    inEveryOrder(card, [&](const char* order) {
      const auto floats = card.upload(x);
      cuda::softCap(
          card.stream,
          {.x = floats.data(), .isFloat = true, .cap = kCap, .count = static_cast<std::int64_t>(x.size())});
      const std::vector<float> actual = card.download(floats);
      const auto halves = card.upload(rounded);
      cuda::softCap(
          card.stream,
          {.x = halves.data(), .isFloat = false, .cap = kCap, .count = static_cast<std::int64_t>(x.size())});
      const std::vector<Bf16> ofHalves = card.download(halves);
      const auto capped = [&](float value) {
        return static_cast<double>(kCap) * std::tanh(static_cast<double>(value) / static_cast<double>(kCap));
      };
      for (std::size_t i = 0; i < x.size(); ++i) {
        QVERIFY2(std::abs(static_cast<double>(actual[i]) - capped(x[i])) <= kError, order);
        const double expected = capped(valueOf(rounded[i]));
        QVERIFY2(std::abs(static_cast<double>(valueOf(ofHalves[i])) - expected) <=
                     kHalfPlace * std::abs(expected) + kError,
                 order);
      }
    });
  }

  void takesColumns_data() { addShapes(m_seed + 5); }
  void takesColumns() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    EmulatedDevice card;
    Random random(m_seed);
    const std::vector<Bf16> x = randomBf16(random, product(rows, columns));
    const int first = columns / 3;
    const int count = columns - 2 * first;
    std::vector<Bf16> expected;
    for (int row = 0; row < rows; ++row) {
      const auto begin = x.begin() + static_cast<std::ptrdiff_t>(product(row, columns)) + first;
      expected.insert(expected.end(), begin, begin + count);
    }
    const auto deviceX = card.upload(x);
    inEveryOrder(card, [&](const char* order) {
      const auto out = card.empty<Bf16>(expected.size());
      cuda::takeColumns(card.stream, {.x = deviceX.data(),
                                      .out = out.data(),
                                      .rows = rows,
                                      .stride = columns,
                                      .first = first,
                                      .columns = count});
      QVERIFY2(sameBits(card.download(out), expected), order);
    });
  }

  void gatedActivationEqualsReference_data() { addShapes(m_seed + 2); }
  void gatedActivationEqualsReference() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    EmulatedDevice card;
    Random random(m_seed);
    // Gate and up are halves of rows of one matrix.
    const std::vector<Bf16> both = randomBf16(random, product(rows, 2 * columns), 6);
    std::vector<double> expected(product(rows, columns));
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < columns; ++i) {
        const std::size_t place = product(row, 2 * columns) + static_cast<std::size_t>(i);
        const auto gate = static_cast<double>(valueOf(both[place]));
        const auto up = static_cast<double>(valueOf(both[place + static_cast<std::size_t>(columns)]));
        expected[product(row, columns) + static_cast<std::size_t>(i)] = gate / (1 + std::exp(-gate)) * up;
      }
    }
    const auto deviceBoth = card.upload(both);
    inEveryOrder(card, [&](const char* order) {
      const auto out = card.empty<Bf16>(expected.size());
      cuda::gatedActivation(card.stream, {.gate = deviceBoth.data(),
                                          .up = deviceBoth.data() + columns,
                                          .out = out.data(),
                                          .rows = rows,
                                          .columns = columns,
                                          .stride = 2 * columns});
      // The exponent is rounded to f32 before it is raised: up to 2^−24 · |gate| · log2(e) of it.
      const QString beyond = firstBeyond(card.download(out), expected, kHalfPlace + 0x1p-17);
      QVERIFY2(beyond.isEmpty(), qPrintable(QString(order) + ", " + beyond));
    });
  }

  void gatedActivationOfExtremes() {
    EmulatedDevice card;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Bf16> gate =
        testing::toBf16(std::vector<float>{0, 100, -100, 1e30F, -1e30F, nan, 88, -88});
    const auto deviceGate = card.upload(gate);
    const auto up = card.upload(testing::toBf16(std::vector<float>(gate.size(), 2)));
    cuda::gatedActivation(card.stream, {.gate = deviceGate.data(),
                                        .up = up.data(),
                                        .out = deviceGate.data(),
                                        .rows = 1,
                                        .columns = 8,
                                        .stride = 8});  // in place
    const std::vector<float> result = toFloats(card.download(deviceGate));
    QCOMPARE(result[0], 0.0F);
    QCOMPARE(result[1], 200.0F);
    QVERIFY(std::abs(result[2]) < 1e-30F);
    QVERIFY(result[3] > 1.9e30F && std::isfinite(result[3]));
    QVERIFY(result[4] == 0.0F);
    QVERIFY(std::isnan(result[5]));
    QCOMPARE(result[6], 176.0F);
    QVERIFY(std::abs(result[7]) < 1e-30F);
  }

  void noRowsAreNothing() {
    EmulatedDevice card;
    const auto table = card.upload(testing::toBf16(std::vector<float>(8)));
    cuda::embed(card.stream,
                {.table = table.data(), .ids = nullptr, .out = nullptr, .rows = 0, .columns = 8});
    card.stream.synchronize();
    QCOMPARE(cuda::emulation::launchesOf(card.device), std::size_t{0});
  }

 private:
  std::uint64_t m_seed = testSeed(20251123);
};

SPANSCOPE_TEST(tst_row_kernels, TestCudaRowKernels)
#include "tst_row_kernels.moc"
