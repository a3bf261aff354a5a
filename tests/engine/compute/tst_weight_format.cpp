// SPDX-License-Identifier: GPL-3.0-or-later
// Every packed format against the values that the Python package gguf computes (data/make_weight_formats.py),
// bit for bit.
#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "engine/compute/weight_format/weight_format.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QCryptographicHash>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

using namespace spanscope;
using namespace spanscope::compute;

namespace {

QJsonObject golden() {
  QFile file(QStringLiteral(SPANSCOPE_TEST_DATA_DIR "/weight_formats.json"));
  if (!file.open(QIODevice::ReadOnly)) return {};
  return QJsonDocument::fromJson(file.readAll()).object();
}

std::vector<std::byte> randomBlocks(const WeightFormatInfo& info, std::size_t blocks, std::uint64_t seed) {
  testing::Random random(seed);
  std::vector<std::byte> bytes(blocks * static_cast<std::size_t>(info.blockBytes));
  testing::fillBlocks(random, info, bytes);
  return bytes;
}

void addPackedFormats() {
  QTest::addColumn<int>("number");
  for (const WeightFormatInfo& info : weightFormats()) {
    if (info.isPacked()) QTest::newRow(info.name) << static_cast<int>(info.format);
  }
}

}  // namespace

class TestWeightFormat : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void formatsStandAtTheirNumbers() {
    for (const WeightFormatInfo& info : weightFormats()) {
      QVERIFY(&infoOf(info.format) == &info);
      QVERIFY(findGgufType(info.ggufType) == &info);
    }
    QVERIFY(findGgufType(4) == nullptr);
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
      QVERIFY(dtypeOf(formatOf(type)) == type);
      QCOMPARE(bytesOf(formatOf(type), 3), 3 * sizeOf(type));
    }
    QVERIFY(!dtypeOf(WeightFormat::Q8_0));
  }

  void valuesAreThoseOfTheDefinition_data() { addPackedFormats(); }
  void valuesAreThoseOfTheDefinition() {
    QFETCH(int, number);
    const auto format = static_cast<WeightFormat>(number);
    const WeightFormatInfo& info = infoOf(format);
    const QJsonObject all = golden();
    const QJsonObject expected = all["formats"][QString::fromLatin1(info.name)].toObject();
    QCOMPARE(info.ggufType, static_cast<std::uint32_t>(expected["ggufType"].toInt(-1)));
    QCOMPARE(info.blockElements, expected["elements"].toInt());
    QCOMPARE(info.blockBytes, expected["bytes"].toInt());

    const auto blocks = static_cast<std::size_t>(all["blocks"].toInt());
    const std::vector<std::byte> bytes =
        randomBlocks(info, blocks, static_cast<std::uint64_t>(all["seed"].toInteger()));
    std::vector<float> values(blocks * static_cast<std::size_t>(info.blockElements));
    widen(format, bytes.data(), static_cast<std::int64_t>(values.size()), values.data());
    const QJsonArray first = expected["first"].toArray();
    for (qsizetype i = 0; i < first.size(); ++i)
      QCOMPARE(static_cast<double>(values[static_cast<std::size_t>(i)]), first[i].toDouble());
    const auto size = static_cast<qsizetype>(values.size() * sizeof(float));
    const QByteArray own = QByteArray::fromRawData(reinterpret_cast<const char*>(values.data()), size);
    QCOMPARE(QCryptographicHash::hash(own, QCryptographicHash::Sha256).toHex(),
             expected["sha256"].toString().toLatin1());
  }

  void blocksThatAreNotFiniteAreFound_data() { addPackedFormats(); }
  void blocksThatAreNotFiniteAreFound() {
    QFETCH(int, number);
    const auto format = static_cast<WeightFormat>(number);
    const WeightFormatInfo& info = infoOf(format);
    constexpr std::int64_t kBlocks = 7;
    std::vector<std::byte> bytes = randomBlocks(info, kBlocks, 3);
    QVERIFY(!findBlockNotFinite(format, bytes.data(), kBlocks));
    const auto put = [&](std::size_t block, std::int32_t place, float value) {
      std::byte* at = bytes.data() + block * static_cast<std::size_t>(info.blockBytes) + place;
      storeElement(at, DType::F16, value);
    };
    if (info.rule.hasMinimum) {
      put(5, info.minimumAt, std::numeric_limits<float>::quiet_NaN());
      QCOMPARE(*findBlockNotFinite(format, bytes.data(), kBlocks), 5);
    }
    if (info.rule.isPowerOfTwo)
      bytes[2 * static_cast<std::size_t>(info.blockBytes)] = std::byte{255};
    else
      put(2, info.factorAt, -std::numeric_limits<float>::infinity());
    QCOMPARE(*findBlockNotFinite(format, bytes.data(), kBlocks), 2);
  }

  /// 2^(byte − 128), subnormal ones included.
  void powersOfTwoAreExact() {
    const WeightFormatInfo& info = infoOf(WeightFormat::MXFP4);
    std::vector<std::byte> block(static_cast<std::size_t>(info.blockBytes), std::byte{0x72});
    std::vector<float> values(static_cast<std::size_t>(info.blockElements));
    for (const int exponent : {0, 1, 2, 100, 128, 254}) {
      block[0] = static_cast<std::byte>(exponent);
      widen(info.format, block.data(), info.blockElements, values.data());
      QCOMPARE(values[0], std::ldexp(2.0F, exponent - 128));
      QCOMPARE(values[16], std::ldexp(12.0F, exponent - 128));
      storeFactor(info, std::ldexp(1.0F, exponent - 128), block.data());
      QCOMPARE(std::to_integer<int>(block[0]), exponent);
    }
  }

  void plainFormatsAreWidenedExactly() {
    const std::vector<float> values = {0.0F, -1.5F, 3.25F};
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
      std::vector<std::byte> bytes(values.size() * sizeOf(type));
      for (std::size_t i = 0; i < values.size(); ++i)
        storeElement(bytes.data() + i * sizeOf(type), type, values[i]);
      std::vector<float> widened(values.size());
      widen(formatOf(type), bytes.data(), 3, widened.data());
      QCOMPARE(widened, values);
    }
  }
};

SPANSCOPE_TEST(tst_weight_format, TestWeightFormat)
#include "tst_weight_format.moc"
