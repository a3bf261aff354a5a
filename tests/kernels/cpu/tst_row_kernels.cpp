// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/rotary.h"
#include "kernels/cpu/row_kernels.h"
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/support/compare.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;
using compute::WeightUse;

namespace {

std::size_t product(std::int64_t a, std::int64_t b) {
  return static_cast<std::size_t>(a * b);
}

std::vector<float> downloaded(compute::Backend& backend, const compute::Tensor& tensor) {
  std::vector<float> values(product(tensor.rows(), tensor.columns()));
  backend.download(tensor, values);
  return values;
}

std::unique_ptr<compute::Tensor> uploaded(compute::Backend& backend, const std::vector<float>& values,
                                          std::int64_t rows) {
  auto tensor = backend.makeTensor();
  backend.upload(values, rows, static_cast<std::int64_t>(values.size()) / rows, *tensor);
  return tensor;
}

std::vector<float> rmsNorm(compute::Backend& backend, const std::vector<float>& x, std::int64_t rows,
                           const HostWeight& weight, float epsilon) {
  const auto out = backend.makeTensor();
  backend.rmsNorm(*uploaded(backend, x, rows), *backend.prepare(weight.view(), WeightUse::Vector), epsilon,
                  *out);
  return downloaded(backend, *out);
}

std::vector<float> siluMul(compute::Backend& backend, const std::vector<float>& gate,
                           const std::vector<float>& up, std::int64_t rows) {
  const auto gates = uploaded(backend, gate, rows);
  backend.siluMul(*gates, *uploaded(backend, up, rows), *gates);  // in place
  return downloaded(backend, *gates);
}

/// The first row alone and among the others must agree bit for bit.
bool sameFirstRow(const std::vector<float>& all, const std::vector<float>& alone) {
  return std::memcmp(all.data(), alone.data(), alone.size() * sizeof(float)) == 0;
}

void addWidths() {
  QTest::addColumn<qlonglong>("target");
  QTest::addColumn<int>("columns");
  for (const std::int64_t target : availableInstructionSets()) {
    for (const int columns : {1, 2, 3, 7, 8, 9, 16, 31, 64, 65, 1000, 2048}) {
      QTest::addRow("%s, %d columns", hwy::TargetName(target), columns)
          << static_cast<qlonglong>(target) << columns;
    }
  }
}

}  // namespace

class TestRowKernels : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20250103);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void rmsNormEqualsReference_data() { addWidths(); }
  void rmsNormEqualsReference() {
    QFETCH(qlonglong, target);
    QFETCH(int, columns);
    const UseInstructionSet use(target);
    Random random(m_seed);
    ReferenceBackend reference;
    const auto backend = cpu::makeCpuBackend({2});
    const std::vector<float> x = randomValues(random, product(37, columns), 3);
    const HostWeight weight = randomWeight(random, 1, columns, DType::BF16, 1.0, 1);
    const std::vector<float> actual = rmsNorm(*backend, x, 37, weight, 1e-5F);
    const Comparison comparison = compareRows(actual, rmsNorm(reference, x, 37, weight, 1e-5F),
                                              static_cast<std::size_t>(columns), 0x1p-21);
    QVERIFY2(comparison.ok, comparison.text().c_str());
    const std::vector<float> first(x.begin(), x.begin() + columns);
    QVERIFY(sameFirstRow(actual, rmsNorm(*backend, first, 1, weight, 1e-5F)));
  }

  void siluMulEqualsReference_data() { addWidths(); }
  void siluMulEqualsReference() {
    QFETCH(qlonglong, target);
    QFETCH(int, columns);
    const UseInstructionSet use(target);
    Random random(m_seed);
    ReferenceBackend reference;
    const auto backend = cpu::makeCpuBackend({2});
    const std::vector<float> gate = randomValues(random, product(37, columns), 8);
    const std::vector<float> up = randomValues(random, product(37, columns));
    const std::vector<float> actual = siluMul(*backend, gate, up, 37);
    const std::vector<float> expected = siluMul(reference, gate, up, 37);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double error = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
      QVERIFY2(error <= std::abs(static_cast<double>(expected[i])) * 0x1p-21,
               qPrintable(QString::number(gate[i])));
    }
    const std::vector<float> first(gate.begin(), gate.begin() + columns);
    QVERIFY(sameFirstRow(actual, siluMul(*backend, first, {up.begin(), up.begin() + columns}, 1)));
  }

  void siluOfExtremes() {
    const auto backend = cpu::makeCpuBackend({1});
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> gate{0.0F, 100.0F, -100.0F, 1e30F, -1e30F, nan, -88.0F, 88.0F, -87.5F};
    const std::vector<float> result = siluMul(*backend, gate, std::vector<float>(gate.size(), 2.0F), 1);
    QCOMPARE(result[0], 0.0F);
    QCOMPARE(result[1], 200.0F);
    QVERIFY(std::abs(result[2]) < 1e-30F);
    QCOMPARE(result[3], 2e30F);
    QVERIFY(std::isfinite(result[4]));
    QVERIFY(std::isnan(result[5]));
    QVERIFY(std::abs(result[6]) < 1e-30F);
    QCOMPARE(result[7], 176.0F);
    QVERIFY(std::abs(result[8]) < 1e-30F);
  }

  void exponentialIsAccurate_data() {
    QTest::addColumn<qlonglong>("target");
    for (const std::int64_t target : availableInstructionSets()) {
      QTest::addRow("%s", hwy::TargetName(target)) << static_cast<qlonglong>(target);
    }
  }
  void exponentialIsAccurate() {
    QFETCH(qlonglong, target);
    const UseInstructionSet use(target);
    const cpu::RowKernels kernels = cpu::rowKernels();
    Random random(m_seed);
    std::vector<float> x;
    for (int i = 0; i < 200000; ++i) x.push_back(static_cast<float>(-87.0 + 175.0 * random.uniform()));
    for (int i = 0; i < 50000; ++i) x.push_back(static_cast<float>(-2.0 * random.uniform()));
    std::vector<float> actual(x.size());
    kernels.exponential(x.data(), static_cast<std::int64_t>(x.size()), actual.data());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(static_cast<double>(x[i]));
      worst = std::max(worst, std::abs(static_cast<double>(actual[i]) - expected) / expected);
    }
    qInfo("worst relative error %.3g ulp", worst * 0x1p24);
    QVERIFY(worst < 2 * 0x1p-23);

    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> special{0.0F, -0.0F, -inf, -88.0F, -1e30F, inf, std::nanf("")};
    std::vector<float> result(special.size());
    kernels.exponential(special.data(), static_cast<std::int64_t>(special.size()), result.data());
    QCOMPARE(result[0], 1.0F);
    QCOMPARE(result[1], 1.0F);
    QCOMPARE(result[2], 0.0F);
    QCOMPARE(result[3], 0.0F);
    QCOMPARE(result[4], 0.0F);
    QVERIFY(result[5] > 1e38F);
    QVERIFY(std::isnan(result[6]));
  }

  void embedAndGather_data() {
    QTest::addColumn<int>("type");
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
      QTest::addRow("%s", compute::nameOf(type)) << static_cast<int>(type);
    }
  }
  void embedAndGather() {
    QFETCH(int, type);
    Random random(m_seed);
    const auto backend = cpu::makeCpuBackend({2});
    const HostWeight table = randomWeight(random, 100, 33, static_cast<DType>(type), 1.0, 1);
    const std::vector<float> values = table.values();
    const auto weight = backend->prepare(table.view(), WeightUse::Embedding);
    QCOMPARE(weight->rows(), 100);
    QCOMPARE(weight->columns(), 33);
    std::vector<TokenId> ids(1000);
    for (TokenId& id : ids) id = static_cast<TokenId>(random.below(100));
    const auto out = backend->makeTensor();
    backend->embed(*weight, ids, *out);
    QCOMPARE(out->rows(), 1000);
    const std::vector<float> embedded = downloaded(*backend, *out);
    for (std::size_t i = 0; i < embedded.size(); ++i) {
      QCOMPARE(embedded[i], values[static_cast<std::size_t>(ids[i / 33]) * 33 + i % 33]);
    }
    const std::vector<std::int32_t> rows{999, 0, 7, 7};
    const auto gathered = backend->makeTensor();
    backend->gatherRows(*out, rows, *gathered);
    const std::vector<float> result = downloaded(*backend, *gathered);
    QCOMPARE(result.size(), std::size_t{4 * 33});
    for (std::size_t i = 0; i < result.size(); ++i) {
      QCOMPARE(result[i], embedded[static_cast<std::size_t>(rows[i / 33]) * 33 + i % 33]);
    }
  }

  void rotaryRowsDoNotDependOnWhatWasAskedBefore() {
    const compute::RotaryTable table{{1.0, 0.25, 1e-3}, 1.5F};
    const compute::RotaryTable other{{0.5, 0.25, 1e-3}, 1.0F};
    cpu::RotaryCache cache;
    cache.rows(other, -300, 1000);
    cache.rows(table, 50, 3);
    for (const std::int64_t first : {-200, -64, -63, -1, 0, 1, 63, 64, 5000}) {
      const cpu::RotaryRows rows = cache.rows(table, first, 130);
      for (std::int64_t i = 0; i < 130; ++i) {
        for (std::size_t pair = 0; pair < 3; ++pair) {
          const double angle = static_cast<double>(first + i) * table.inverseFrequencies[pair];
          QCOMPARE(rows.row(i)[pair], static_cast<float>(std::cos(angle) * 1.5));
          QCOMPARE(rows.row(i)[3 + pair], static_cast<float>(std::sin(angle) * 1.5));
        }
      }
    }
  }

 private:
  std::uint64_t m_seed = 0;
};

QTEST_APPLESS_MAIN(TestRowKernels)
#include "tst_row_kernels.moc"
