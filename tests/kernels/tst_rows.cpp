// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "tests/kernels/each_device.h"
#include "tests/support/compare.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>

using namespace spanscope;
using namespace spanscope::testing;
using compute::Activation;
using compute::DType;
using compute::WeightFormat;
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

using Norm = void (compute::Backend::*)(const compute::Tensor&, const compute::Weight&, float,
                                        compute::Tensor&);

std::vector<float> normed(compute::Backend& backend, Norm norm, const std::vector<float>& x,
                          std::int64_t rows, const HostWeight& weight, float epsilon) {
  const auto out = backend.makeTensor();
  (backend.*norm)(*uploaded(backend, x, rows), *backend.prepare(weight.view(), WeightUse::Vector), epsilon,
                  *out);
  return downloaded(backend, *out);
}

std::vector<float> rmsNorm(compute::Backend& backend, const std::vector<float>& x, std::int64_t rows,
                           const HostWeight& weight, float epsilon) {
  return normed(backend, &compute::Backend::rmsNorm, x, rows, weight, epsilon);
}

std::vector<float> multiplyGated(compute::Backend& backend, compute::Activation activation,
                                 const std::vector<float>& gate, const std::vector<float>& up,
                                 std::int64_t rows) {
  const auto gates = uploaded(backend, gate, rows);
  backend.multiplyGated(activation, *gates, *uploaded(backend, up, rows), *gates);  // in place
  return downloaded(backend, *gates);
}

/// The first row alone and among the others must agree bit for bit.
bool sameFirstRow(const std::vector<float>& all, const std::vector<float>& alone) {
  return std::memcmp(all.data(), alone.data(), alone.size() * sizeof(float)) == 0;
}

void addWidths() {
  addDeviceColumns();
  QTest::addColumn<int>("columns");
  for (const DeviceVariant& variant : deviceVariants()) {
    for (const int columns : {1, 2, 3, 7, 8, 9, 16, 31, 64, 65, 1000, 2048}) {
      QTest::addRow("%s, %d columns", variant.name.c_str(), columns)
          << QString::fromStdString(variant.device) << static_cast<qlonglong>(variant.target) << columns;
    }
  }
}

}  // namespace

class TestRowOperations : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20250103);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void rmsNormEqualsReference_data() { addWidths(); }
  void rmsNormEqualsReference() {
    QFETCH(int, columns);
    const DeviceInUse device;
    Random random(m_seed);
    ReferenceBackend reference;
    const auto backend = device.make();
    const std::vector<float> x = heldBy(*backend, randomValues(random, product(37, columns), 3));
    const HostWeight weight = randomWeight(random, 1, columns, DType::BF16, 1.0, 1);
    const std::vector<float> actual = rmsNorm(*backend, x, 37, weight, 1e-5F);
    const Comparison comparison =
        compareRows(actual, rmsNorm(reference, x, 37, weight, 1e-5F), static_cast<std::size_t>(columns),
                    8 * activationUnit(*backend));
    QVERIFY2(comparison.ok, comparison.text().c_str());
    const std::vector<float> first(x.begin(), x.begin() + columns);
    if (!backend->info().rowsAreBitEqual) return;
    QVERIFY(sameFirstRow(actual, rmsNorm(*backend, first, 1, weight, 1e-5F)));
  }

  void layerNormEqualsReference_data() { addWidths(); }
  void layerNormEqualsReference() {
    QFETCH(int, columns);
    const DeviceInUse device;
    Random random(m_seed + 3);
    ReferenceBackend reference;
    const auto backend = device.make();
    std::vector<float> x = randomValues(random, product(37, columns), 3);
    for (float& value : x) value += 2;  // a mean to subtract
    x = heldBy(*backend, x);
    const HostWeight weight = randomWeight(random, 1, columns, DType::BF16, 1.0, 1);
    const auto norm = [&](compute::Backend& with, const std::vector<float>& rows, std::int64_t count) {
      return normed(with, &compute::Backend::layerNorm, rows, count, weight, 1e-2F);
    };
    const std::vector<float> actual = norm(*backend, x, 37);
    // Rounding of the mean changes elements near the mean by a part of the largest element.
    const Comparison comparison =
        compareRows(actual, norm(reference, x, 37), static_cast<std::size_t>(columns),
                    columns == 1 ? 1 : 32 * activationUnit(*backend));
    QVERIFY2(comparison.ok, comparison.text().c_str());
    if (!backend->info().rowsAreBitEqual) return;
    QVERIFY(sameFirstRow(actual, norm(*backend, {x.begin(), x.begin() + columns}, 1)));
  }

  void softCapEqualsReference_data() { addWidths(); }
  void softCapEqualsReference() {
    QFETCH(int, columns);
    const DeviceInUse device;
    Random random(m_seed + 4);
    ReferenceBackend reference;
    const auto backend = device.make();
    std::vector<float> x = randomValues(random, product(37, columns), 8);
    for (std::size_t i = 0; i < x.size(); i += 3) x[i] *= 1e-3F;
    x = heldBy(*backend, x);
    const auto capped = [&](compute::Backend& with, std::int64_t rows, bool isOfLogits) {
      const auto tensor = with.makeTensor();
      const std::vector<float> part(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(rows * columns));
      if (isOfLogits) {
        with.uploadLogits(part, rows, columns, *tensor);
      } else {
        with.upload(part, rows, columns, *tensor);
      }
      with.softCap(*tensor, 3.0F);
      return downloaded(with, *tensor);
    };
    const double unit = activationUnit(*backend);
    const bool isF32 = unit == 0x1p-24;
    for (const bool isOfLogits : {false, true}) {
      const std::vector<float> actual = capped(*backend, 37, isOfLogits);
      const std::vector<float> expected = capped(reference, 37, isOfLogits);
      for (std::size_t i = 0; i < actual.size(); ++i) {
        const auto want = static_cast<double>(expected[i]);
        // A device without a polynomial near 0 has the error of numbers near 1.
        const double most = isF32 ? 8 * unit * std::abs(want) : 2 * unit * std::abs(want) + 3 * 0x1p-22;
        QVERIFY2(std::abs(static_cast<double>(actual[i]) - want) <= most, qPrintable(QString::number(x[i])));
      }
      if (backend->info().rowsAreBitEqual) QVERIFY(sameFirstRow(actual, capped(*backend, 1, isOfLogits)));
    }
  }

  void columnsAreTaken_data() { addWidths(); }
  void columnsAreTaken() {
    QFETCH(int, columns);
    const DeviceInUse device;
    Random random(m_seed + 5);
    const auto backend = device.make();
    const std::vector<float> x = heldBy(*backend, randomValues(random, product(9, columns), 3));
    const auto tensor = uploaded(*backend, x, 9);
    const auto out = backend->makeTensor();
    const int first = columns / 3;
    const int count = columns - 2 * first;
    backend->takeColumns(*tensor, first, count, *out);
    QCOMPARE(out->columns(), std::int64_t{count});
    const std::vector<float> taken = downloaded(*backend, *out);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(count);
      const std::size_t column = static_cast<std::size_t>(first) + i % static_cast<std::size_t>(count);
      QCOMPARE(taken[i], x[row * static_cast<std::size_t>(columns) + column]);
    }
    QVERIFY_EXCEPTION_THROWN(backend->takeColumns(*tensor, 1, columns, *out), Failure);
  }

  /// A weight of one head norms every head of a row as if it were a row.
  void headsAreNormedByThemselves_data() { addWidths(); }
  void headsAreNormedByThemselves() {
    QFETCH(int, columns);
    constexpr int kHeads = 3;
    const DeviceInUse device;
    Random random(m_seed);
    const auto backend = device.make();
    const std::vector<float> x = heldBy(*backend, randomValues(random, product(5 * kHeads, columns), 3));
    const HostWeight weight = randomWeight(random, 1, columns, DType::BF16, 1.0, 1);
    const std::vector<float> heads = rmsNorm(*backend, x, 5, weight, 1e-5F);
    const std::vector<float> rows = rmsNorm(*backend, x, 5 * kHeads, weight, 1e-5F);
    QVERIFY(heads.size() == rows.size() && sameFirstRow(heads, rows));
    if (columns == 1) return;
    QVERIFY_EXCEPTION_THROWN(
        rmsNorm(*backend, std::vector<float>(static_cast<std::size_t>(columns) + 1, 1.0F), 1, weight, 1e-5F),
        Failure);
  }

  void gatedProductEqualsReference_data() { addWidths(); }
  void gatedProductEqualsReference() {
    for (const Activation activation : {Activation::Silu, Activation::GeluTanh, Activation::ClampedSwiglu})
      checkGatedProduct(activation);
  }

  void scaledSumEqualsReference_data() { addWidths(); }
  void scaledSumEqualsReference() {
    QFETCH(int, columns);
    const DeviceInUse device;
    Random random(m_seed + 7);
    ReferenceBackend reference;
    const auto backend = device.make();
    const std::vector<float> x = heldBy(*backend, randomValues(random, product(37, columns), 3));
    const std::vector<float> added = heldBy(*backend, randomValues(random, product(37, columns), 3));
    const auto summed = [&](compute::Backend& with, std::int64_t rows) {
      const auto count = static_cast<std::ptrdiff_t>(rows * columns);
      const auto out = uploaded(with, {x.begin(), x.begin() + count}, rows);
      with.scale(*out, -0.75F);
      with.addScaled(*uploaded(with, {added.begin(), added.begin() + count}, rows), 0.22F, *out);
      return downloaded(with, *out);
    };
    const std::vector<float> actual = summed(*backend, 37);
    const std::vector<float> expected = summed(reference, 37);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double error = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
      const double size = std::abs(static_cast<double>(x[i])) + std::abs(static_cast<double>(added[i]));
      QVERIFY2(error <= 2 * activationUnit(*backend) * size, qPrintable(QString::number(error)));
    }
    if (backend->info().rowsAreBitEqual) QVERIFY(sameFirstRow(actual, summed(*backend, 1)));
  }

 private:
  void checkGatedProduct(Activation activation) const {
    QFETCH(int, columns);
    const DeviceInUse device;
    Random random(m_seed);
    ReferenceBackend reference;
    const auto backend = device.make();
    const std::vector<float> gate = heldBy(*backend, randomValues(random, product(37, columns), 8));
    const std::vector<float> up = heldBy(*backend, randomValues(random, product(37, columns)));
    if (activation == Activation::ClampedSwiglu && !backend->info().mixesExperts) {
      QVERIFY_EXCEPTION_THROWN(multiplyGated(*backend, activation, gate, up, 37), Failure);
      return;
    }
    const std::vector<float> actual = multiplyGated(*backend, activation, gate, up, 37);
    const std::vector<float> expected = multiplyGated(reference, activation, gate, up, 37);
    const double tolerance = 8 * activationUnit(*backend);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const double error = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
      // An error of the exponent, which grows as the cube of the gate, is one of the result.
      const double g = std::abs(static_cast<double>(gate[i]));
      const double most = activation == Activation::Silu ? 1 : 1 + 1.6 * g * (1 + 0.045 * g * g) / 2;
      constexpr double kNothing = 1e-30;  // where e^x leaves the range of f32
      double size = std::abs(static_cast<double>(expected[i]));
      // The other factor is a sum of up and 1, which may have opposite signs.
      const double sum = static_cast<double>(up[i]) + 1;
      if (activation == Activation::ClampedSwiglu && sum != 0)
        size *= (std::abs(static_cast<double>(up[i])) + 1) / std::abs(sum);
      QVERIFY2(error <= size * tolerance * most + kNothing, qPrintable(QString::number(gate[i])));
    }
    const std::vector<float> first(gate.begin(), gate.begin() + columns);
    if (!backend->info().rowsAreBitEqual) return;
    QVERIFY(sameFirstRow(actual,
                         multiplyGated(*backend, activation, first, {up.begin(), up.begin() + columns}, 1)));
  }

 private Q_SLOTS:
  void siluOfExtremes_data() { addDevices(); }
  void siluOfExtremes() {
    const DeviceInUse device;
    const auto backend = device.make(1);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> gate{0.0F, 100.0F, -100.0F, 1e30F, -1e30F, nan, -88.0F, 88.0F, -87.5F};
    const std::vector<float> result =
        multiplyGated(*backend, Activation::Silu, gate, std::vector<float>(gate.size(), 2.0F), 1);
    QCOMPARE(result[0], 0.0F);
    QCOMPARE(result[1], 200.0F);
    QVERIFY(std::abs(result[2]) < 1e-30F);
    QVERIFY(std::abs(result[3] / 2e30F - 1) <= static_cast<float>(activationUnit(*backend)));
    QVERIFY(std::isfinite(result[4]));
    QVERIFY(std::isnan(result[5]));
    QVERIFY(std::abs(result[6]) < 1e-30F);
    QCOMPARE(result[7], 176.0F);
    QVERIFY(std::abs(result[8]) < 1e-30F);
  }

  void embedAndGather_data() {
    addDeviceColumns();
    QTest::addColumn<int>("number");
    for (const std::string& device : test::presentDevices()) {
      for (const WeightFormat format : {WeightFormat::F32, WeightFormat::F16, WeightFormat::BF16,
                                        WeightFormat::Q8_0, WeightFormat::Q4_1, WeightFormat::IQ4_NL}) {
        QTest::addRow("%s, %s", device.c_str(), compute::nameOf(format))
            << QString::fromStdString(device) << qlonglong{0} << static_cast<int>(format);
      }
    }
  }
  void embedAndGather() {
    QFETCH(int, number);
    const auto format = static_cast<WeightFormat>(number);
    const std::int64_t columns = compute::infoOf(format).isPacked() ? 64 : 33;
    const auto width = static_cast<std::size_t>(columns);
    Random random(m_seed);
    const DeviceInUse device;
    const auto backend = device.make();
    const double unit = activationUnit(*backend);
    const HostWeight table = randomWeight(random, 100, columns, format, 1.0, 1);
    const std::vector<float> values = table.values();
    const auto weight = backend->prepare(table.view(), WeightUse::Embedding);
    QCOMPARE(weight->rows(), 100);
    QCOMPARE(weight->columns(), columns);
    compute::PassInputs inputs = plainRows(1000);
    std::vector<TokenId>& ids = inputs.tokens;
    for (TokenId& id : ids) id = static_cast<TokenId>(random.below(100));
    inputs.logitRows = {999, 0, 7, 7};
    inputs.hiddenRows = {3};
    const auto pass = makePlainPass(*backend, inputs);
    const auto out = backend->makeTensor();
    backend->embed(*pass, *weight, *out);
    QCOMPARE(out->rows(), 1000);
    const std::vector<float> embedded = downloaded(*backend, *out);
    for (std::size_t i = 0; i < embedded.size(); ++i) {
      const float expected = values[static_cast<std::size_t>(ids[i / width]) * width + i % width];
      // What a tensor can hold is taken as it is.
      const bool isHeld = unit == 0x1p-24 || compute::dtypeOf(format) == backend->info().activations;
      const double off = std::abs(static_cast<double>(embedded[i]) - static_cast<double>(expected));
      QVERIFY(off <= (isHeld ? 0.0 : unit * std::abs(static_cast<double>(expected))));
    }
    const auto wanted = backend->makeTensor();
    backend->gatherRows(*pass, compute::RowList::Wanted, *out, *wanted);
    const auto logitRows = backend->makeTensor();
    backend->gatherRows(*pass, compute::RowList::Logits, *wanted, *logitRows);
    const std::vector<std::size_t> rows{999, 0, 7, 7, 3};
    const std::vector<float> first = downloaded(*backend, *wanted);
    QCOMPARE(first.size(), 5 * width);
    for (std::size_t i = 0; i < first.size(); ++i)
      QCOMPARE(first[i], embedded[rows[i / width] * width + i % width]);
    const std::vector<float> second = downloaded(*backend, *logitRows);
    QCOMPARE(second, std::vector<float>(first.begin(), first.begin() + 4 * columns));
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_rows, TestRowOperations)
#include "tst_rows.moc"
