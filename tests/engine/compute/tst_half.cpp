// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/dtype.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

using namespace spanscope::compute;

namespace {

/// The value of a 16-bit pattern by the definition of its format.
double byDefinition(std::uint16_t bits, int exponentBits, int mantissaBits, int bias) {
  const int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
  const int mantissa = bits & ((1 << mantissaBits) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponentBits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissaBits);
  return sign * std::ldexp(mantissa + (1 << mantissaBits), exponent - bias - mantissaBits);
}

template <class Widen, class Narrow>
bool everyPatternSurvives(Widen widen, Narrow narrow, int exponentBits, int mantissaBits, int bias) {
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const double expected = byDefinition(bits, exponentBits, mantissaBits, bias);
    const auto widened = static_cast<double>(widen(bits));
    if (std::isnan(expected)) {
      if (!std::isnan(widened) || !std::isnan(static_cast<double>(widen(narrow(widen(bits)))))) return false;
      continue;
    }
    if (widened != expected || narrow(widen(bits)) != bits) return false;
  }
  return true;
}

/// Between each pair of finite neighbours: below the middle goes down, above goes up, the middle goes to
/// even.
template <class Widen, class Narrow>
bool roundsToNearestEven(Widen widen, Narrow narrow, std::uint16_t infinity) {
  for (std::uint16_t low = 0; low + 1 < infinity; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const float middle = widen(low) / 2 + widen(high) / 2;
    const float top = std::numeric_limits<float>::infinity();
    const auto even = static_cast<std::uint16_t>((low & 1) != 0 ? high : low);
    if (narrow(middle) != even || narrow(-middle) != (even | 0x8000)) return false;
    if (narrow(std::nextafter(middle, 0.0F)) != low || narrow(std::nextafter(middle, top)) != high)
      return false;
  }
  return true;
}

}  // namespace

class TestHalf : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyPattern() {
    QVERIFY(everyPatternSurvives(floatFromBf16, bf16FromFloat, 8, 7, 127));
    QVERIFY(everyPatternSurvives(floatFromF16, f16FromFloat, 5, 10, 15));
  }

  void rounding() {
    QVERIFY(roundsToNearestEven(floatFromBf16, bf16FromFloat, 0x7F80));
    QVERIFY(roundsToNearestEven(floatFromF16, f16FromFloat, 0x7C00));
  }

  void overflow() {
    QCOMPARE(f16FromFloat(65519.0F), std::uint16_t{0x7BFF});
    QCOMPARE(f16FromFloat(65520.0F), std::uint16_t{0x7C00});
    QCOMPARE(f16FromFloat(-1e30F), std::uint16_t{0xFC00});
    QCOMPARE(bf16FromFloat(std::numeric_limits<float>::max()), std::uint16_t{0x7F80});
  }

  void elements() {
    std::byte bytes[5] = {};
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
      storeElement(bytes + 1, type, -1.5F);
      QCOMPARE(loadElement(bytes + 1, type), -1.5F);
    }
  }

  void sizesAndNames() {
    QCOMPARE(sizeOf(DType::F32), std::size_t{4});
    QCOMPARE(sizeOf(DType::F16), std::size_t{2});
    QCOMPARE(sizeOf(DType::BF16), std::size_t{2});
    QCOMPARE(std::string(nameOf(DType::F32)), std::string("f32"));
    QCOMPARE(std::string(nameOf(DType::F16)), std::string("f16"));
    QCOMPARE(std::string(nameOf(DType::BF16)), std::string("bf16"));
  }
};

SPANSCOPE_TEST(tst_half, TestHalf)
#include "tst_half.moc"
