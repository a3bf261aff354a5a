// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "kernels/cuda/product/few_row_product.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/kernels/cuda/pairwise.h"
#include "tests/support/compare.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;
using cuda::FewRowProduct;

namespace {

/// The values between the rows of an out, which must not change.
constexpr float kUntouched = 77.0F;

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// One weight: its rows, like those of x, lie `Problem::padding` elements further apart than they are wide.
struct WeightProblem {
  int columns = 0;
  int outPadding = 0;
  bool hasBias = false;
  bool toFloat = false;
  bool accumulate = false;
  std::vector<Bf16> elements = {};
  std::vector<float> bias = {};
  std::vector<float> before = {};  ///< [rows][columns + outPadding], as it is stored

  int outStride() const { return columns + outPadding; }
};

struct Problem {
  int rows = 0;
  int depth = 0;
  int padding = 0;
  std::vector<WeightProblem> weights = {};
  std::vector<Bf16> x = {};

  int stride() const { return depth + padding; }

  void fill(Random& random) {
    x = testing::toBf16(randomValues(random, index(rows) * index(stride())));
    for (WeightProblem& weight : weights) {
      weight.elements = testing::toBf16(randomValues(random, index(weight.columns) * index(stride())));
      if (weight.hasBias) weight.bias = randomValues(random, index(weight.columns));
      weight.before =
          toFloats(testing::toBf16(randomValues(random, index(rows) * index(weight.outStride()))));
      for (std::size_t i = 0; i < weight.before.size(); ++i) {
        if (i % index(weight.outStride()) >= index(weight.columns)) weight.before[i] = kUntouched;
      }
    }
  }
};

/// The outs, whole rows, of the rows of x in `rows`, in that order.
std::vector<std::vector<float>> multiply(EmulatedDevice& card, const Problem& problem,
                                         const std::vector<int>& rows) {
  const auto rowsOf = [&](const auto& values, int stride) {
    std::remove_cvref_t<decltype(values)> chosen;
    for (const int row : rows) {
      const auto begin = values.begin() + std::ptrdiff_t{row} * stride;
      chosen.insert(chosen.end(), begin, begin + stride);
    }
    return chosen;
  };
  struct Uploaded {
    DeviceArray<Bf16> elements;
    DeviceArray<float> bias;
    DeviceArray<float> floats;
    DeviceArray<Bf16> halves;
  };
  const auto x = card.upload(rowsOf(problem.x, problem.stride()));
  std::vector<Uploaded> uploaded;
  FewRowProduct product{.rows = static_cast<int>(rows.size()),
                        .depth = problem.depth,
                        .x = x.data(),
                        .xStride = problem.stride(),
                        .count = static_cast<int>(problem.weights.size())};
  for (std::size_t i = 0; i < problem.weights.size(); ++i) {
    const WeightProblem& weight = problem.weights[i];
    const std::vector<float> before = rowsOf(weight.before, weight.outStride());
    Uploaded& own = uploaded.emplace_back(
        Uploaded{card.upload(weight.elements), card.upload(weight.bias),
                 card.upload(weight.toFloat ? before : std::vector<float>()),
                 card.upload(weight.toFloat ? std::vector<Bf16>() : testing::toBf16(before))});
    product.weights[i] = {.elements = own.elements.data(),
                          .stride = problem.stride(),
                          .columns = weight.columns,
                          .bias = weight.hasBias ? own.bias.data() : nullptr,
                          .out = weight.toFloat ? static_cast<void*>(own.floats.data()) : own.halves.data(),
                          .outStride = weight.outStride(),
                          .outIsFloat = weight.toFloat,
                          .accumulate = weight.accumulate};
  }
  cuda::multiplyFewRows(card.stream, product);
  std::vector<std::vector<float>> outs;
  for (std::size_t i = 0; i < uploaded.size(); ++i) {
    outs.push_back(problem.weights[i].toFloat ? card.download(uploaded[i].floats)
                                              : toFloats(card.download(uploaded[i].halves)));
  }
  return outs;
}

std::vector<int> countedFrom(int first, int count) {
  std::vector<int> rows(index(count));
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// What is wrong with an out; nothing if all of it is within its tolerance, and what lies beside it is as it
/// was.
std::optional<QString> faultOf(const Problem& problem, const WeightProblem& weight,
                               const std::vector<float>& actual) {
  const std::vector<float> x = toFloats(problem.x);
  const std::vector<float> elements = toFloats(weight.elements);
  for (std::size_t place = 0; place < actual.size(); ++place) {
    const std::size_t row = place / index(weight.outStride());
    const std::size_t column = place % index(weight.outStride());
    const auto reported = [&](double expected) {
      return QString("row %1, column %2: %3, expected %4")
          .arg(row)
          .arg(column)
          .arg(static_cast<double>(actual[place]))
          .arg(expected);
    };
    if (column >= index(weight.columns)) {
      if (actual[place] != kUntouched) return reported(static_cast<double>(kUntouched));
      continue;
    }
    const auto depth = index(problem.depth);
    const std::span<const float> left = std::span(x).subspan(row * index(problem.stride()), depth);
    const std::span<const float> right = std::span(elements).subspan(column * index(problem.stride()), depth);
    double sum = 0;
    for (std::size_t k = 0; k < depth; ++k)
      sum += static_cast<double>(left[k]) * static_cast<double>(right[k]);
    const double bias = weight.hasBias ? static_cast<double>(weight.bias[column]) : 0;
    const double before = weight.accumulate ? static_cast<double>(weight.before[place]) : 0;
    // The chain in f32, what is added to it, and the rounding of the result.
    const double expected = sum + bias + before;
    const double tolerance = dotTolerance(depth + 2, norm(left), norm(right)) +
                             (std::abs(bias) + std::abs(before)) * 0x1p-22 +
                             std::abs(expected) * (weight.toFloat ? 0x1p-23 : 0x1p-8);
    // A result that is no number is wrong too.
    if (!(std::abs(static_cast<double>(actual[place]) - expected) <= tolerance)) return reported(expected);
  }
  return {};
}

}  // namespace

class TestCudaFewRowProduct : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  void equalsReference_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("depth");
    QTest::addColumn<int>("padding");
    QTest::addColumn<int>("outPadding");
    QTest::addColumn<bool>("hasBias");
    QTest::addColumn<bool>("toFloat");
    QTest::addColumn<bool>("accumulate");
    const std::vector<int> rows{1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32};
    const std::vector<int> columns{1, 7, 8, 9, 15, 16, 17, 31, 32, 50};
    const std::vector<int> depths{8, 16, 24, 32, 40, 64, 72, 248, 256, 264, 768, 776, 1032, 2080};
    const std::vector<int> paddings{0, 8, 24};
    const std::vector<int> outPaddings{0, 3};
    Random random(m_seed);
    for (const auto& choice : pairwiseSample(
             {rows.size(), columns.size(), depths.size(), paddings.size(), outPaddings.size(), 2, 2, 2},
             random)) {
      const int r = rows[choice[0]];
      const int c = columns[choice[1]];
      const int d = depths[choice[2]];
      const int p = paddings[choice[3]];
      const int o = outPaddings[choice[4]];
      QTest::addRow("%d × %d to %d, %d and %d apart, %s%s%s", r, d, c, d + p, c + o,
                    choice[6] == 0 ? "bf16" : "f32", choice[5] == 0 ? "" : ", bias",
                    choice[7] == 0 ? "" : ", added")
          << r << c << d << p << o << (choice[5] != 0) << (choice[6] != 0) << (choice[7] != 0);
    }
  }
  void equalsReference() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, depth);
    QFETCH(int, padding);
    QFETCH(int, outPadding);
    QFETCH(bool, hasBias);
    QFETCH(bool, toFloat);
    QFETCH(bool, accumulate);
    Problem problem{.rows = rows,
                    .depth = depth,
                    .padding = padding,
                    .weights = {{.columns = columns,
                                 .outPadding = outPadding,
                                 .hasBias = hasBias,
                                 .toFloat = toFloat,
                                 .accumulate = accumulate}}};
    Random random(m_seed + 1);
    problem.fill(random);
    EmulatedDevice card;
    std::vector<float> first;
    inEveryOrder(card, [&](const char* order) {
      const std::vector<float> actual = multiply(card, problem, countedFrom(0, rows)).front();
      const std::optional<QString> fault = faultOf(problem, problem.weights.front(), actual);
      QVERIFY2(!fault, qPrintable(QString("%1, %2").arg(order, fault.value_or(QString()))));
      QVERIFY(first.empty() || sameBits(first, actual));
      first = actual;
    });
  }

  /// Bit-equal to the result of each alone, beside any others, at any place.
  void severalWeightsAreOneLaunch_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("count");
    for (const int rows : {1, 8, 13, 20, 32}) {
      for (const int count : {2, 3, 4}) QTest::addRow("%d rows, %d weights", rows, count) << rows << count;
    }
  }
  void severalWeightsAreOneLaunch() {
    QFETCH(int, rows);
    QFETCH(int, count);
    Random random(m_seed + 2);
    std::vector<WeightProblem> weights{
        {.columns = 40, .outPadding = 0, .hasBias = false, .toFloat = false, .accumulate = false},
        {.columns = 5, .outPadding = 2, .hasBias = true, .toFloat = true, .accumulate = false},
        {.columns = 17, .outPadding = 0, .hasBias = true, .toFloat = false, .accumulate = true},
        {.columns = 32, .outPadding = 1, .hasBias = false, .toFloat = true, .accumulate = true}};
    for (std::size_t i = weights.size(); i > 1; --i) std::swap(weights[i - 1], weights[random.below(i)]);
    weights.resize(index(count));
    Problem problem{.rows = rows, .depth = 328, .padding = 8, .weights = weights};
    problem.fill(random);
    EmulatedDevice card;
    const std::size_t before = cuda::emulation::launchesOf(card.device);
    const auto together = multiply(card, problem, countedFrom(0, rows));
    QCOMPARE(cuda::emulation::launchesOf(card.device), before + 1);
    for (std::size_t i = 0; i < problem.weights.size(); ++i) {
      Problem alone = problem;
      alone.weights = {problem.weights[i]};
      QVERIFY(sameBits(together[i], multiply(card, alone, countedFrom(0, rows)).front()));
      const std::optional<QString> fault = faultOf(problem, problem.weights[i], together[i]);
      QVERIFY2(!fault, qPrintable(fault.value_or(QString())));
    }
  }

  /// With any rows computed beside a row, any number of them, and at any place among them.
  void dependsOnTheRowAlone() {
    EmulatedDevice card;
    Random random(m_seed + 3);
    Problem problem{.rows = 32,
                    .depth = 600,
                    .weights = {{.columns = 37, .hasBias = true, .toFloat = true, .accumulate = true}}};
    problem.fill(random);
    const std::vector<float> all = multiply(card, problem, countedFrom(0, problem.rows)).front();
    for (int count = 1; count <= 32; ++count) {
      std::vector<int> rows = countedFrom(0, problem.rows);
      for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
      rows.resize(index(count));
      const std::vector<float> some = multiply(card, problem, rows).front();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t width = 37;
        QVERIFY2(std::memcmp(&some[i * width], &all[index(rows[i]) * width], width * sizeof(float)) == 0,
                 qPrintable(QString("row %1 at place %2 of %3").arg(rows[i]).arg(i).arg(count)));
      }
    }
  }

  void notANumberStaysWhereItIs() {
    EmulatedDevice card;
    Random random(m_seed + 4);
    Problem problem{.rows = 20, .depth = 72, .weights = {{.columns = 50}}};
    problem.fill(random);
    const std::vector<float> clean = multiply(card, problem, countedFrom(0, 20)).front();
    Problem rowFault = problem;
    rowFault.x[7 * 72 + 3].bits = 0x7FC0;
    // The last column, which is computed in the place of those that are not there.
    Problem columnFault = problem;
    columnFault.weights.front().elements[49 * 72 + 71].bits = 0x7FC0;
    const std::vector<float> byRow = multiply(card, rowFault, countedFrom(0, 20)).front();
    const std::vector<float> byColumn = multiply(card, columnFault, countedFrom(0, 20)).front();
    for (std::size_t i = 0; i < clean.size(); ++i) {
      QVERIFY(i / 50 == 7 ? std::isnan(byRow[i]) : byRow[i] == clean[i]);
      QVERIFY(i % 50 == 49 ? std::isnan(byColumn[i]) : byColumn[i] == clean[i]);
    }
  }

  /// Nothing after the depth counts, even if it is no number.
  void whatLiesBehindTheDepthIsNotRead() {
    EmulatedDevice card;
    Random random(m_seed + 5);
    for (const int depth : {8, 40, 264}) {
      Problem problem{.rows = 9, .depth = depth, .padding = 40, .weights = {{.columns = 20}}};
      problem.fill(random);
      const std::vector<float> clean = multiply(card, problem, countedFrom(0, 9)).front();
      const auto spoil = [&](std::vector<Bf16>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (i % index(problem.stride()) >= index(depth)) values[i].bits = 0x7F80;
        }
      };
      spoil(problem.x);
      spoil(problem.weights.front().elements);
      QVERIFY(sameBits(multiply(card, problem, countedFrom(0, 9)).front(), clean));
    }
  }

  void nothingIsNothing() {
    EmulatedDevice card;
    const std::size_t before = cuda::emulation::launchesOf(card.device);
    cuda::multiplyFewRows(card.stream, {.rows = 0, .depth = 8, .count = 1, .weights = {{.columns = 5}}});
    cuda::multiplyFewRows(card.stream, {.rows = 3, .depth = 8, .count = 1, .weights = {{.columns = 0}}});
    cuda::multiplyFewRows(card.stream, {.rows = 3, .depth = 8});
    card.stream.synchronize();
    QCOMPARE(cuda::emulation::launchesOf(card.device), before);
    // A sum of nothing is what is added to it.
    Problem problem{.rows = 3, .depth = 0, .padding = 8, .weights = {{.columns = 5, .hasBias = true}}};
    Random random(m_seed + 6);
    problem.fill(random);
    const auto outs = multiply(card, problem, countedFrom(0, 3));
    QVERIFY(!faultOf(problem, problem.weights.front(), outs.front()));
  }

  void saysWhatItTakes() {
    EmulatedDevice card;
    const auto x = card.empty<Bf16>(33 * 32);
    const auto elements = card.empty<Bf16>(16 * 32);
    const auto out = card.empty<Bf16>(33 * 16);
    const FewRowProduct good{
        .rows = 32,
        .depth = 24,
        .x = x.data(),
        .xStride = 32,
        .count = 1,
        .weights = {
            {.elements = elements.data(), .stride = 24, .columns = 16, .out = out.data(), .outStride = 16}}};
    QVERIFY(cuda::takesFewRows(good));
    const auto refused = [&](const auto& change) {
      FewRowProduct other = good;
      change(other);
      QVERIFY(!cuda::takesFewRows(other));
      QVERIFY(!(other == good));
      QVERIFY_THROWS_EXCEPTION(Failure, cuda::multiplyFewRows(card.stream, other));
    };
    refused([](FewRowProduct& other) { other.rows = 33; });
    refused([](FewRowProduct& other) { other.depth = 20; });
    refused([](FewRowProduct& other) { other.xStride = 30; });
    refused([](FewRowProduct& other) { other.x += 1; });
    refused([](FewRowProduct& other) { other.weights[0].stride = 28; });
    refused([](FewRowProduct& other) { other.weights[0].elements += 4; });
    refused([](FewRowProduct& other) { other.count = 5; });
  }

 private:
  std::uint64_t m_seed = testSeed(20251210);
};

SPANSCOPE_TEST(tst_few_row_product, TestCudaFewRowProduct)
#include "tst_few_row_product.moc"
