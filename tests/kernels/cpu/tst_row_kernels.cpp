// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/rotary.h"
#include "kernels/cpu/row_kernels.h"
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace spanscope;
using namespace spanscope::testing;

class TestRowKernels : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20250103);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
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

SPANSCOPE_TEST(tst_row_kernels, TestRowKernels)
#include "tst_row_kernels.moc"
