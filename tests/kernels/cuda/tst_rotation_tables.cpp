// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/attention/rotations.h"
#include "kernels/cuda/backend/rotation_tables.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace spanscope;
using namespace spanscope::testing;
using cuda::RotationTables;

namespace {

compute::RotaryTable rotaryOf(double theta, int pairs, float scale = 1) {
  compute::RotaryTable rotary;
  rotary.attentionScale = scale;
  for (int i = 0; i < pairs; ++i) rotary.inverseFrequencies.push_back(std::pow(theta, -double(i) / pairs));
  return rotary;
}

}  // namespace

class TestRotationTables : public QObject {
  Q_OBJECT

 private:
  /// Empty if the first rows are right.
  QString differs(const cuda::DeviceMemory& memory, const compute::RotaryTable& rotary, std::int64_t rows) {
    const std::size_t pairs = rotary.inverseFrequencies.size();
    std::vector<float> values(static_cast<std::size_t>(rows) * 2 * pairs);
    if (memory.bytes() < values.size() * sizeof(float)) return "too small";
    m_card.stream.copyToHost(values.data(), memory.data(), values.size() * sizeof(float));
    m_card.stream.synchronize();
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        const double angle = static_cast<double>(row) * rotary.inverseFrequencies[pair];
        const auto scale = static_cast<double>(rotary.attentionScale);
        const float* const at = values.data() + row * 2 * pairs;
        if (at[pair] != static_cast<float>(std::cos(angle) * scale) ||
            at[pairs + pair] != static_cast<float>(std::sin(angle) * scale))
          return QString("row %1, pair %2").arg(row).arg(pair);
      }
    }
    return {};
  }

  EmulatedDevice m_card;
  std::shared_ptr<cuda::DeviceWork> m_work =
      std::make_shared<cuda::DeviceWork>(m_card.device, cuda::DeviceWorkOptions());

 private Q_SLOTS:
  void holdsWhatIsAskedFor() {
    RotationTables tables(m_card.device, m_work);
    const compute::RotaryTable rotary = rotaryOf(10000, 8, 1.25F);
    for (const std::int64_t rows : {1, 511, 512, 513, 5000}) {
      const QString difference = differs(*tables.cover(rotary, rows), rotary, rows);
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }

  /// A step must not find it at another address without need: its graph would be recorded again.
  void staysWhereItIsWhileItHasRoom() {
    RotationTables tables(m_card.device, m_work);
    const compute::RotaryTable rotary = rotaryOf(10000, 4);
    tables.cover(rotary, 1);
    const auto second = tables.cover(rotary, 513);
    int moves = 0;
    const void* place = second->data();
    for (std::int64_t rows = 514; rows < 20000; rows += 100) {
      const auto memory = tables.cover(rotary, rows);
      if (memory->data() != place) ++moves;
      place = memory->data();
    }
    QVERIFY(moves <= 5);
    QCOMPARE(tables.cover(rotary, 3)->data(), place);
  }

  void whatIsHeldStays() {
    RotationTables tables(m_card.device, m_work);
    const compute::RotaryTable rotary = rotaryOf(10000, 4);
    const auto held = tables.cover(rotary, 10);
    QVERIFY(tables.cover(rotary, 100000) != held);
    QCOMPARE(differs(*held, rotary, 10), QString());
  }

  void modelsHaveTablesOfTheirOwn() {
    RotationTables tables(m_card.device, m_work);
    const compute::RotaryTable one = rotaryOf(10000, 4);
    const auto first = tables.cover(one, 20);
    for (const float scale : {1.0F, 2.0F}) {
      const compute::RotaryTable other = rotaryOf(500000, 4, scale);
      QCOMPARE(differs(*tables.cover(other, 20), other, 20), QString());
    }
    QCOMPARE(tables.cover(one, 20), first);
    for (int i = 0; i < 20; ++i) tables.cover(rotaryOf(1000 + i, 4), 20);
    QCOMPARE(differs(*tables.cover(one, 20), one, 20), QString());
  }

  /// What has a place in the table is read there; all else is brought along.
  void passesReadTheTableWhereTheyCan() {
    struct Row {
      std::vector<std::pair<std::int64_t, std::int64_t>> stretches;  ///< first and count
      std::int64_t kept;
    };
    for (const Row& row : {Row{{{3, 4}, {90, 10}}, 100}, Row{{{0, 1}}, 1}, Row{{}, 0},
                           Row{{{3, 4}, {90, 11}}, 0}, Row{{{-1, 4}}, 0}}) {
      cuda::Rotations rotations;
      for (const auto& [first, count] : row.stretches) rotations.add(first, count);
      rotations.close(100);
      QCOMPARE(rotations.keptRows(), row.kept);
      const std::vector<double> frequencies{1.0};
      QCOMPARE(rotations.table(frequencies, 1).size(), static_cast<std::size_t>(2 * rotations.rows()));
      if (row.kept == 0) continue;
      QCOMPARE(rotations.rows(), std::int64_t{0});
      for (const auto& [first, count] : row.stretches) QCOMPARE(rotations.offsetOf(first), std::int64_t{0});
    }
  }
};

SPANSCOPE_TEST(tst_rotation_tables, TestRotationTables)
#include "tst_rotation_tables.moc"
