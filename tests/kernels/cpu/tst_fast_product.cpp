// SPDX-License-Identifier: GPL-3.0-or-later
// Products in Arithmetic::Fast, bit by bit beside slow sums in the same order.
#include "engine/compute/dtype.h"
#include "engine/compute/weight_format/weight_format.h"
#include "kernels/cpu/fast/low_precision.h"
#include "tests/kernels/cpu/instruction_sets.h"
#include "tests/kernels/products.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace spanscope;
using namespace spanscope::testing;
using compute::Arithmetic;
using compute::WeightFormat;

namespace {

std::unique_ptr<compute::Backend> fastBackend(int threads) {
  return test::makeBackend("cpu", threads, false, Arithmetic::Fast);
}

/// Rounds to bf16 and back; subnormal numbers become zero.
float roundedToBf16(float value) {
  if (std::abs(value) < std::numeric_limits<float>::min()) return std::copysign(0.0F, value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits += 0x7FFFU + ((bits >> 16U) & 1U);
  bits &= 0xFFFF0000U;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// One element of a product by pairs: of each pair the odd element first.
float pairSum(const float* x, const float* weights, std::int64_t columns) {
  float sum = 0;
  for (std::int64_t k = 0; k < columns; k += 2) {
    if (k + 1 < columns) sum = std::fma(roundedToBf16(x[k + 1]), weights[k + 1], sum);
    sum = std::fma(roundedToBf16(x[k]), weights[k], sum);
  }
  return sum;
}

/// The same by tiles: of 32 elements the even ones and the odd ones on their own.
float tileSum(const float* x, const float* weights, std::int64_t columns) {
  float sum = 0;
  for (std::int64_t k = 0; k < columns; k += 32) {
    float halves[2] = {0, 0};
    for (std::int64_t i = k; i < std::min(columns, k + 32); ++i)
      halves[i % 2] = std::fma(roundedToBf16(x[i]), weights[i], halves[i % 2]);
    sum += halves[0] + halves[1];
  }
  return sum;
}

/// The blocks of a row of a packed weight.
std::vector<compute::PackedParts> blocksOf(const compute::WeightFormatInfo& info, const std::byte* row,
                                           std::int64_t columns) {
  std::vector<compute::PackedParts> blocks(static_cast<std::size_t>(columns / info.blockElements));
  for (compute::PackedParts& block : blocks) {
    compute::takeApart(info, row, block);
    row += info.blockBytes;
  }
  return blocks;
}

/// A row of activations as bytes, and the factor of each 32.
struct ByteRow {
  std::vector<int> bytes;
  std::vector<float> factors;
};

ByteRow rounded(const float* x, std::int64_t columns) {
  ByteRow row;
  for (std::int64_t k = 0; k < columns; k += 32) {
    float most = 0;
    for (std::int64_t i = k; i < k + 32; ++i) most = std::max(most, std::abs(x[i]));
    const float inverse = most > 0 ? 127.0F / most : 0.0F;
    for (std::int64_t i = k; i < k + 32; ++i)
      row.bytes.push_back(static_cast<int>(std::nearbyint(x[i] * inverse)));
    row.factors.push_back(most / 127.0F);
  }
  return row;
}

/// One element of a product by bytes.
float byteSum(const ByteRow& row, const compute::WeightFormatInfo& info,
              const std::vector<compute::PackedParts>& blocks) {
  const compute::PackedRule& rule = info.rule;
  float sum = 0;
  std::size_t k = 0;
  for (const compute::PackedParts& parts : blocks) {
    for (std::int64_t part = 0; part * rule.partElements < info.blockElements; ++part) {
      const float factor = row.factors[k / 32];
      std::int64_t dot = 0;
      std::int64_t total = 0;
      for (std::int64_t i = part * rule.partElements; i < (part + 1) * rule.partElements; ++i, ++k) {
        const int code = parts.codes[i];
        dot +=
            row.bytes[k] * (rule.hasTable ? rule.table[static_cast<std::size_t>(code)] : code - rule.offset);
        total += row.bytes[k];
      }
      float weight = parts.factor;
      if (rule.hasScales) weight *= static_cast<float>(parts.scales[part]);
      sum = std::fma(weight, static_cast<float>(dot) * factor, sum);
      if (!rule.hasMinimum) continue;
      float minimum = parts.minimum;
      if (rule.hasMinima) minimum = -(minimum * static_cast<float>(parts.minima[part]));
      sum = std::fma(minimum, factor * static_cast<float>(total), sum);
    }
  }
  return sum;
}

std::vector<float> expected(const Product& c, const ProductData& data) {
  const auto bf16Sum = cpu::lowPrecision().pairDots == cpu::PairDots::Amx ? tileSum : pairSum;
  const std::vector<float> bias = data.bias.values();
  const std::vector<float> weights = data.weight.values();
  const compute::HostMatrix matrix = data.weight.view();
  const compute::WeightFormatInfo& info = compute::infoOf(c.format);
  std::vector<ByteRow> rows;
  for (std::int64_t r = 0; r < c.rows && info.isPacked(); ++r)
    rows.push_back(rounded(data.x.data() + r * c.columns, c.columns));
  std::vector<float> result(static_cast<std::size_t>(c.rows * c.features));
  for (std::int64_t n = 0; n < c.features; ++n) {
    std::vector<compute::PackedParts> blocks;
    if (info.isPacked()) blocks = blocksOf(info, matrix.row(n), c.columns);
    for (std::int64_t r = 0; r < c.rows; ++r) {
      const float* const x = data.x.data() + r * c.columns;
      float sum = info.isPacked() ? byteSum(rows[static_cast<std::size_t>(r)], info, blocks)
                                  : bf16Sum(x, weights.data() + n * c.columns, c.columns);
      const auto at = static_cast<std::size_t>(r * c.features + n);
      if (c.hasBias) sum += bias[static_cast<std::size_t>(n)];
      if (c.accumulates) sum += data.before[at];
      result[at] = sum;
    }
  }
  return result;
}

}  // namespace

class TestFastProduct : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20261126);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  /// Each format by each set of instructions that multiplies it so.
  void isTheSlowSum_data() {
    QTest::addColumn<qint64>("target");
    QTest::addColumn<int>("number");
    bool isAny = false;
    for (const std::int64_t target : fastInstructionSets()) {
      const UseInstructionSet use(target);
      const cpu::LowPrecision has = cpu::lowPrecision();
      for (const compute::WeightFormatInfo& info : compute::weightFormats()) {
        const bool isFast = info.format == WeightFormat::BF16
                                ? has.pairDots != cpu::PairDots::None
                                : info.isPacked() && has.byteDots != cpu::ByteDots::None;
        if (!isFast) continue;
        QTest::addRow("%s, %s", info.name, shownName(target).c_str())
            << qint64{target} << static_cast<int>(info.format);
        isAny = true;
      }
    }
    if (!isAny) QSKIP("this processor has no such products");
  }
  /// Of one row and of many, narrow and wide, whatever the threads; the last columns of a pair alone.
  void isTheSlowSum() {
    QFETCH(qint64, target);
    QFETCH(int, number);
    const UseInstructionSet use(target);
    const auto format = static_cast<WeightFormat>(number);
    Random random(m_seed);
    const std::int64_t block = compute::infoOf(format).blockElements;
    int variant = 0;
    for (const int threads : {1, 3}) {
      const auto backend = fastBackend(threads);
      for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 16, 17, 24, 33, 40, 400}) {
        const auto blocks = static_cast<std::int64_t>(random.below(block == 256 ? 4 : 40));
        const std::int64_t columns =
            block == 1 ? 1 + static_cast<std::int64_t>(random.below(700)) : (1 + blocks) * block;
        // The slow sums of many rows are what takes the time here.
        const auto features = 1 + static_cast<std::int64_t>(random.below(rows < 20 ? 150 : 50));
        const Product c{rows, columns, features, format, variant % 2 == 0, variant % 3 == 0};
        ++variant;
        const ProductData data = makeData(c, random);
        QVERIFY2(sameBits(multiply(*backend, c, data), expected(c, data)),
                 qPrintable(describe(c, "not the slow sum")));
      }
    }
  }

  /// One row has several panels of a wide product read in turn, and one may be left over.
  void oneRowReadsManyPanels_data() { isTheSlowSum_data(); }
  void oneRowReadsManyPanels() {
    QFETCH(qint64, target);
    QFETCH(int, number);
    const UseInstructionSet use(target);
    const auto format = static_cast<WeightFormat>(number);
    Random random(m_seed);
    for (const int threads : {1, 2}) {
      const auto backend = fastBackend(threads);
      for (const std::int64_t features : {255, 288, 500}) {
        const Product c{1, 512, features, format, threads == 2, false};
        const ProductData data = makeData(c, random);
        QVERIFY2(sameBits(multiply(*backend, c, data), expected(c, data)),
                 qPrintable(describe(c, "not the slow sum")));
      }
    }
  }

  /// Every processor with AVX2 has products of bytes, and with AVX-512, too.
  void bytesNeedAvx2() {
    for (const std::int64_t target : fastInstructionSets()) {
      const UseInstructionSet use(target);
      const bool hasBytes = cpu::lowPrecision().byteDots != cpu::ByteDots::None;
      QCOMPARE(hasBytes, (target & (HWY_AVX3 | HWY_AVX2)) != 0);
    }
  }

  /// A number that is none, or infinite, must not come out as a finite one.
  void damagedRowsStayDamaged_data() { isTheSlowSum_data(); }
  void damagedRowsStayDamaged() {
    QFETCH(qint64, target);
    QFETCH(int, number);
    const UseInstructionSet use(target);
    const auto format = static_cast<WeightFormat>(number);
    Random random(m_seed);
    const auto backend = fastBackend(2);
    for (const float damage :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const Product c{3, 512, 40, format, false, false};
      ProductData data = makeData(c, random);
      data.x[static_cast<std::size_t>(c.columns + random.between(0, c.columns - 1))] = damage;
      const std::vector<float> result = multiply(*backend, c, data);
      for (std::int64_t i = 0; i < c.rows * c.features; ++i) {
        const bool isFinite = std::isfinite(result[static_cast<std::size_t>(i)]);
        QCOMPARE(isFinite, i / c.features != 1);
      }
    }
  }

  /// Weights that only f32 products are there for are multiplied as in f32.
  void otherFormatsAreMultipliedInF32_data() {
    QTest::addColumn<int>("number");
    QTest::newRow("F32") << static_cast<int>(WeightFormat::F32);
    QTest::newRow("F16") << static_cast<int>(WeightFormat::F16);
  }
  void otherFormatsAreMultipliedInF32() {
    QFETCH(int, number);
    Random random(m_seed);
    const auto fast = fastBackend(2);
    const auto plain = test::makeBackend("cpu", 2);
    const Product c{17, 300, 70, static_cast<WeightFormat>(number), true, false};
    const ProductData data = makeData(c, random);
    QVERIFY(sameBits(multiply(*fast, c, data), multiply(*plain, c, data)));
  }

  /// The largest codes with the largest activations of one sign, where sums of integers are largest: none
  /// may run over.
  void largestNumbersDoNotRunOver_data() { isTheSlowSum_data(); }
  void largestNumbersDoNotRunOver() {
    QFETCH(qint64, target);
    QFETCH(int, number);
    const UseInstructionSet use(target);
    const auto format = static_cast<WeightFormat>(number);
    Random random(m_seed);
    const auto backend = fastBackend(2);
    for (const float sign : {1.0F, -1.0F}) {
      for (const int codes : {0xFF, 0x7F, 0x80, 0}) {
        for (const std::int64_t rows : {1, 2, 6, 13}) {
          const Product c{rows, 512, 40, format, false, false};
          ProductData data = makeData(c, random);
          std::fill(data.x.begin(), data.x.end(), sign);
          if (compute::infoOf(format).isPacked()) data.weight.fillCodes(static_cast<std::byte>(codes));
          QVERIFY2(sameBits(multiply(*backend, c, data), expected(c, data)),
                   qPrintable(describe(c, "not the slow sum")));
        }
      }
    }
  }

  /// Sums of integers are exact, so every set of instructions that has them gives the same bits.
  void instructionSetsAgree_data() {
    QTest::addColumn<int>("number");
    for (const compute::WeightFormatInfo& info : compute::weightFormats()) {
      if (info.isPacked()) QTest::newRow(info.name) << static_cast<int>(info.format);
    }
  }
  void instructionSetsAgree() {
    QFETCH(int, number);
    Random random(m_seed);
    const Product c{13, 768, 70, static_cast<WeightFormat>(number), true, false};
    const ProductData data = makeData(c, random);
    std::vector<float> before;
    for (const std::int64_t target : fastInstructionSets()) {
      const UseInstructionSet use(target);
      if (cpu::lowPrecision().byteDots == cpu::ByteDots::None) continue;
      const std::vector<float> result = multiply(*fastBackend(2), c, data);
      if (!before.empty()) QVERIFY(sameBits(result, before));
      before = result;
    }
    if (before.empty()) QSKIP("this processor has no such products");
  }

  /// An instruction set without them computes everything in f32, and then the two arithmetics are the same.
  void olderInstructionSetsComputeInF32() {
    for (const std::int64_t target : fastInstructionSets()) {
      const UseInstructionSet use(target);
      if (cpu::lowPrecision().isAny()) continue;
      Random random(m_seed);
      const auto fast = fastBackend(2);
      const auto plain = test::makeBackend("cpu", 2);
      QCOMPARE(fast->info().numericRevision, plain->info().numericRevision);
      QCOMPARE(fast->info().name, plain->info().name);
      for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Q8_0}) {
        const Product c{5, 320, 70, format, true, false};
        const ProductData data = makeData(c, random);
        QVERIFY(sameBits(multiply(*fast, c, data), multiply(*plain, c, data)));
      }
    }
  }

  void isSaidWithTheDevice() {
    if (!cpu::lowPrecision().isAny()) QSKIP("this processor has no such products");
    const compute::DeviceInfo fast = fastBackend(2)->info();
    const compute::DeviceInfo plain = test::makeBackend("cpu", 2)->info();
    QVERIFY(fast.numericRevision != plain.numericRevision);
    QVERIFY(fast.name.find(cpu::lowPrecision().words()) != std::string::npos);
    QVERIFY(fast.rowsAreBitEqual);
  }

  void namesSayHowAndRevisionsWhatBits() {
    using cpu::ByteDots;
    using cpu::PairDots;
    const auto words = [](PairDots pairs, ByteDots bytes) { return cpu::LowPrecision{pairs, bytes}.words(); };
    const auto sums = [](PairDots pairs, ByteDots bytes) { return cpu::LowPrecision{pairs, bytes}.sums(); };
    QCOMPARE(words(PairDots::None, ByteDots::None), std::string());
    QCOMPARE(words(PairDots::None, ByteDots::Avx2), std::string("int8 pairs"));
    QCOMPARE(words(PairDots::None, ByteDots::AvxVnni), std::string("int8 dots"));
    QCOMPARE(words(PairDots::Avx512, ByteDots::Vnni), std::string("bf16 pairs and int8 dots"));
    QCOMPARE(words(PairDots::Amx, ByteDots::Amx), std::string("bf16 tiles and int8 tiles"));
    QCOMPARE(words(PairDots::Avx512, ByteDots::None), std::string("bf16 pairs"));
    QCOMPARE(sums(PairDots::None, ByteDots::None), std::string());
    for (const PairDots pairs : {PairDots::None, PairDots::Avx512, PairDots::Amx}) {
      const std::string expected = sums(pairs, ByteDots::Avx2);
      QVERIFY(!expected.empty());
      for (const ByteDots bytes : {ByteDots::AvxVnni, ByteDots::Vnni, ByteDots::Amx})
        QCOMPARE(sums(pairs, bytes), expected);
    }
    QVERIFY(sums(PairDots::Amx, ByteDots::Amx) != sums(PairDots::Avx512, ByteDots::Amx));
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_fast_product, TestFastProduct)
#include "tst_fast_product.moc"
