// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/product/exact_product.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/kernels/cuda/pairwise.h"
#include "tests/support/compare.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::Bf16;

namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// x · weightᵀ (+ before): rows lie `padding` elements further apart than they are wide.
struct Problem {
  int rows = 0;
  int columns = 0;
  int depth = 0;
  int padding = 0;
  bool toFloat = false;
  bool accumulate = false;
  std::vector<Bf16> x;
  std::vector<Bf16> weight;
  std::vector<float> before;  ///< as it is stored

  int stride() const { return depth + padding; }

  void fill(Random& random) {
    x = testing::toBf16(randomValues(random, index(rows) * index(stride())));
    weight = testing::toBf16(randomValues(random, index(columns) * index(stride())));
    before = toFloats(testing::toBf16(randomValues(random, index(rows) * index(columns))));
  }
};

/// Of the rows in `rows`, in that order.
std::vector<float> multiply(EmulatedDevice& card, const Problem& problem, const std::vector<int>& rows) {
  const auto stride = index(problem.stride());
  std::vector<Bf16> x;
  std::vector<float> before;
  for (const int row : rows) {
    const auto at = problem.x.begin() + static_cast<std::ptrdiff_t>(index(row) * stride);
    x.insert(x.end(), at, at + static_cast<std::ptrdiff_t>(stride));
    const auto own =
        problem.before.begin() + static_cast<std::ptrdiff_t>(index(row) * index(problem.columns));
    before.insert(before.end(), own, own + problem.columns);
  }
  const auto left = card.upload(x);
  const auto right = card.upload(problem.weight);
  const auto floats = card.upload(problem.toFloat ? before : std::vector<float>());
  const auto halves = card.upload(problem.toFloat ? std::vector<Bf16>() : testing::toBf16(before));
  cuda::multiplyExactly(card.stream,
                        {.rows = static_cast<int>(rows.size()),
                         .columns = problem.columns,
                         .depth = problem.depth,
                         .x = left.data(),
                         .xStride = problem.stride(),
                         .weight = right.data(),
                         .weightStride = problem.stride(),
                         .out = problem.toFloat ? static_cast<void*>(floats.data()) : halves.data(),
                         .outStride = problem.columns,
                         .outIsFloat = problem.toFloat,
                         .accumulate = problem.accumulate});
  return problem.toFloat ? card.download(floats) : toFloats(card.download(halves));
}

std::vector<int> countedFrom(int first, int count) {
  std::vector<int> rows(index(count));
  for (int i = 0; i < count; ++i) rows[index(i)] = first + i;
  return rows;
}

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

class TestCudaExactProduct : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  void equalsReference_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("depth");
    QTest::addColumn<int>("padding");
    QTest::addColumn<bool>("toFloat");
    QTest::addColumn<bool>("accumulate");
    const std::vector<int> rows{1, 2, 15, 16, 17, 63, 64, 65, 130};
    const std::vector<int> columns{1, 7, 8, 31, 64, 65, 130};
    const std::vector<int> depths{1, 7, 8, 16, 63, 64, 65, 128, 200, 257};
    const std::vector<int> paddings{0, 3, 8};
    Random random(m_seed);
    for (const auto& choice :
         pairwiseSample({rows.size(), columns.size(), depths.size(), paddings.size(), 2, 2}, random)) {
      const int r = rows[choice[0]];
      const int c = columns[choice[1]];
      const int d = depths[choice[2]];
      const int p = paddings[choice[3]];
      QTest::addRow("%d × %d to %d, %d apart, %s%s", r, d, c, d + p, choice[4] == 0 ? "bf16" : "f32",
                    choice[5] == 0 ? "" : ", added")
          << r << c << d << p << (choice[4] != 0) << (choice[5] != 0);
    }
  }
  void equalsReference() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, depth);
    QFETCH(int, padding);
    QFETCH(bool, toFloat);
    QFETCH(bool, accumulate);
    Problem problem{.rows = rows,
                    .columns = columns,
                    .depth = depth,
                    .padding = padding,
                    .toFloat = toFloat,
                    .accumulate = accumulate,
                    .x = {},
                    .weight = {},
                    .before = {}};
    Random random(m_seed + 1);
    problem.fill(random);
    const std::vector<float> x = toFloats(problem.x);
    const std::vector<float> weight = toFloats(problem.weight);
    EmulatedDevice card;
    std::vector<float> first;
    inEveryOrder(card, [&](const char* order) {
      const std::vector<float> actual = multiply(card, problem, countedFrom(0, rows));
      for (std::size_t r = 0; r < index(rows); ++r) {
        const std::span<const float> left = std::span(x).subspan(r * index(problem.stride()), index(depth));
        for (std::size_t c = 0; c < index(columns); ++c) {
          const std::span<const float> right =
              std::span(weight).subspan(c * index(problem.stride()), index(depth));
          double sum = 0;
          for (std::size_t k = 0; k < left.size(); ++k)
            sum += static_cast<double>(left[k]) * static_cast<double>(right[k]);
          const std::size_t place = r * index(columns) + c;
          if (accumulate) sum += static_cast<double>(problem.before[place]);
          // The chain in f32, what it is added to, and the rounding of the result.
          const double tolerance = dotTolerance(index(depth) + 1, norm(left), norm(right)) +
                                   std::abs(sum) * (toFloat ? 0x1p-23 : 0x1p-8);
          const double error = std::abs(static_cast<double>(actual[place]) - sum);
          QVERIFY2(error <= tolerance, qPrintable(QString("%1, row %2, column %3: %4, expected %5")
                                                      .arg(order)
                                                      .arg(r)
                                                      .arg(c)
                                                      .arg(actual[place])
                                                      .arg(sum)));
        }
      }
      QVERIFY(first.empty() || sameBits(first, actual));
      first = actual;
    });
  }

  /// With any rows computed beside a row, at any place in a tile.
  void dependsOnTheRowAlone_data() {
    QTest::addColumn<int>("first");
    QTest::addColumn<int>("count");
    for (const int first : {0, 1, 7, 70}) {
      for (const int count : {1, 2, 8, 16, 17, 32, 33, 63, 64, 65, 129})
        QTest::addRow("%d rows from %d on", count, first) << first << count;
    }
  }
  void dependsOnTheRowAlone() {
    QFETCH(int, first);
    QFETCH(int, count);
    EmulatedDevice card;
    for (const int padding : {0, 5}) {
      Problem problem{.rows = 200,
                      .columns = 70,
                      .depth = 344,
                      .padding = padding,
                      .toFloat = true,
                      .accumulate = padding == 0,
                      .x = {},
                      .weight = {},
                      .before = {}};
      Random random(m_seed + 2);
      problem.fill(random);
      const std::vector<float> all = multiply(card, problem, countedFrom(0, problem.rows));
      std::vector<int> rows = countedFrom(first, count);
      for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
      const std::vector<float> some = multiply(card, problem, rows);
      const auto width = static_cast<std::ptrdiff_t>(problem.columns);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto own = some.begin() + static_cast<std::ptrdiff_t>(i) * width;
        const auto among = all.begin() + rows[i] * width;
        QVERIFY2(std::memcmp(&*own, &*among, index(width) * sizeof(float)) == 0,
                 qPrintable(QString("row %1 at place %2").arg(rows[i]).arg(i)));
      }
    }
  }

  /// Copied in vectors or element by element: the bits are the same.
  void alignmentChangesNothing() {
    EmulatedDevice card;
    Random random(m_seed + 3);
    Problem vectors{.rows = 40,
                    .columns = 33,
                    .depth = 136,
                    .padding = 0,
                    .toFloat = true,
                    .accumulate = false,
                    .x = {},
                    .weight = {},
                    .before = {}};
    vectors.fill(random);
    Problem elements = vectors;
    elements.padding = 1;
    const auto spread = [&](const std::vector<Bf16>& from, int rows) {
      std::vector<Bf16> to(index(rows) * index(elements.stride()));
      for (int row = 0; row < rows; ++row)
        std::copy_n(from.begin() + row * vectors.depth, vectors.depth, to.begin() + row * elements.stride());
      return to;
    };
    elements.x = spread(vectors.x, vectors.rows);
    elements.weight = spread(vectors.weight, vectors.columns);
    const std::vector<int> rows = countedFrom(0, vectors.rows);
    QVERIFY(sameBits(multiply(card, vectors, rows), multiply(card, elements, rows)));
  }

  void notANumberStaysInItsRow() {
    EmulatedDevice card;
    Random random(m_seed + 4);
    Problem problem{.rows = 20,
                    .columns = 50,
                    .depth = 40,
                    .padding = 0,
                    .toFloat = false,
                    .accumulate = false,
                    .x = {},
                    .weight = {},
                    .before = {}};
    problem.fill(random);
    const std::vector<float> clean = multiply(card, problem, countedFrom(0, 20));
    problem.x[7 * 40 + 3].bits = 0x7FC0;
    const std::vector<float> result = multiply(card, problem, countedFrom(0, 20));
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (i / 50 == 7) {
        QVERIFY(std::isnan(result[i]));
      } else {
        QCOMPARE(result[i], clean[i]);
      }
    }
  }

  void nothingIsNothing() {
    EmulatedDevice card;
    cuda::multiplyExactly(card.stream, {.rows = 0, .columns = 5, .depth = 8});
    card.stream.synchronize();
  }

 private:
  std::uint64_t m_seed = testSeed(20251201);
};

SPANSCOPE_TEST(tst_exact_product, TestCudaExactProduct)
#include "tst_exact_product.moc"
