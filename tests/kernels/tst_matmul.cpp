// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernels/each_device.h"
#include "tests/kernels/products.h"
#include "tests/support/compare.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace spanscope;
using namespace spanscope::testing;
using compute::WeightFormat;

namespace {

/// The plain formats, and one of the packed ones whose blocks fit.
std::vector<WeightFormat> formatsOf(std::int64_t columns) {
  std::vector<WeightFormat> formats = {WeightFormat::F32, WeightFormat::F16, WeightFormat::BF16};
  if (columns % 32 == 0) formats.insert(formats.end(), {WeightFormat::Q8_0, WeightFormat::Q5_1});
  if (columns % 256 == 0) formats.insert(formats.end(), {WeightFormat::Q4_K, WeightFormat::Q6_K});
  return formats;
}

}  // namespace

class TestMatmul : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20250101);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void equalsReference_data() {
    addDeviceColumns();
    QTest::addColumn<qlonglong>("columns");
    QTest::addColumn<qlonglong>("features");
    for (const std::string& device : test::presentDevices()) {
      for (const qlonglong columns : {1, 3, 17, 64, 256, 257, 600}) {
        for (const qlonglong features : {1, 5, 16, 33, 130, 517}) {
          QTest::addRow("%s, K %lld, N %lld", device.c_str(), columns, features)
              << QString::fromStdString(device) << qlonglong{0} << columns << features;
        }
      }
    }
  }
  void equalsReference() {
    QFETCH(qlonglong, columns);
    QFETCH(qlonglong, features);
    Random random(m_seed);
    ReferenceBackend reference;
    const DeviceInUse device;
    const auto backend = device.make();
    int variant = 0;
    for (const std::int64_t rows : {1, 2, 6, 7, 65}) {
      for (const WeightFormat format : formatsOf(columns)) {
        const Product c{rows, columns, features, format, (variant & 1) != 0, (variant & 2) != 0};
        ++variant;
        const ProductData data = makeData(c, random);
        const std::vector<float> actual = multiply(*backend, c, data);
        const std::vector<float> expected = multiply(reference, c, data);
        const double tolerance =
            dotTolerance(static_cast<std::size_t>(columns + 2), norm(data.x),
                         norm(data.weight.values()) + norm(data.before), activationUnit(*backend)) +
            (c.hasBias ? 2 * activationUnit(*backend) * norm(data.bias.values()) : 0.0);
        const Comparison comparison = compareAbsolute(actual, expected, tolerance);
        QVERIFY2(comparison.ok, qPrintable(describe(c, comparison.text().c_str())));
      }
    }
  }

  void notANumberStaysInItsRow_data() { addDevices(); }
  void notANumberStaysInItsRow() {
    const DeviceInUse device;
    Random random(m_seed);
    const auto backend = device.make();
    const Product c{20, 40, 50, WeightFormat::BF16, false, false};
    ProductData data = makeData(c, random);
    const std::vector<float> clean = multiply(*backend, c, data);
    data.x[7 * 40 + 3] = std::nanf("");
    const std::vector<float> result = multiply(*backend, c, data);
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (i / 50 == 7) {
        QVERIFY(std::isnan(result[i]));
      } else {
        QCOMPARE(result[i], clean[i]);
      }
    }
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_matmul, TestMatmul)
#include "tst_matmul.moc"
