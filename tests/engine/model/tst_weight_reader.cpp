// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "engine/model/weight_reader.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace spanscope;

namespace {

constexpr std::int64_t kRows = 300;
constexpr std::int64_t kColumns = 1000;

/// Numbered tensors of f32, each larger than what is looked at together.
class Numbers final : public model::WeightSource {
 public:
  explicit Numbers(int count) {
    for (int i = 0; i < count; ++i) {
      auto& values = m_tensors.emplace_back(static_cast<std::size_t>(kRows * kColumns));
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = static_cast<float>(k % 977) + static_cast<float>(i);
    }
  }
  std::vector<float>& of(std::size_t index) { return m_tensors[index]; }
  static std::string nameOf(std::size_t index) { return "tensor " + std::to_string(index); }
  std::size_t count() const { return m_tensors.size(); }
  compute::HostMatrix matrix(std::size_t index) const {
    return {std::as_bytes(std::span(m_tensors[index])).data(), compute::WeightFormat::F32, kRows, kColumns};
  }

  bool has(const std::string& /*name*/) const override { return true; }
  compute::HostMatrix get(const std::string& /*name*/, std::int64_t /*rows*/,
                          std::int64_t /*columns*/) const override {
    return matrix(0);
  }
  std::vector<model::StoredTensor> stored() const override { return {{"tensor 3", "third.safetensors"}}; }
  std::string fingerprint() const override { return {}; }
  std::string name() const override { return "numbers"; }

 private:
  std::vector<std::vector<float>> m_tensors;
};

std::string digestOf(const Numbers& numbers, int threads) {
  model::WeightReader reader(numbers, threads, true);
  for (std::size_t i = 0; i < numbers.count(); ++i) reader.add(Numbers::nameOf(i), numbers.matrix(i));
  reader.finish();
  return reader.digest();
}

}  // namespace

class TestWeightReader : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theDigestDependsOnAllAndOnNothingElse();
  void namesTheFirstThatIsNotFinite_data();
  void namesTheFirstThatIsNotFinite();
  void mayBeLeft();
};

void TestWeightReader::theDigestDependsOnAllAndOnNothingElse() {
  Numbers numbers(8);
  const std::string digest = digestOf(numbers, 1);
  for (const int threads : {0, 2, 5, 20}) QCOMPARE(digestOf(numbers, threads), digest);
  for (const std::size_t tensor : {0, 7}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{123456}, numbers.of(tensor).size() - 1}) {
      float& value = numbers.of(tensor)[place];
      const float before = value;
      value = std::nextafter(value, 1e9F);
      QVERIFY(digestOf(numbers, 3) != digest);
      value = before;
    }
  }
  std::swap(numbers.of(0), numbers.of(1));
  QVERIFY(digestOf(numbers, 3) != digest);
  model::WeightReader reader(numbers, 2, false);
  reader.add("tensor", numbers.matrix(0));
  reader.finish();
  QCOMPARE(reader.digest(), std::string());
}

void TestWeightReader::namesTheFirstThatIsNotFinite_data() {
  QTest::addColumn<int>("threads");
  QTest::addColumn<bool>("hashes");
  QTest::addColumn<int>("place");
  for (const int threads : {1, 2, 7}) {
    for (const bool hashes : {false, true}) {
      for (const int place : {0, 65537, static_cast<int>(kRows * kColumns) - 1})
        QTest::addRow("%d threads, %s, %d", threads, hashes ? "with digest" : "without", place)
            << threads << hashes << place;
    }
  }
}

void TestWeightReader::namesTheFirstThatIsNotFinite() {
  QFETCH(int, threads);
  QFETCH(bool, hashes);
  QFETCH(int, place);
  Numbers numbers(12);
  const auto at = static_cast<std::size_t>(place);
  numbers.of(3)[at] = std::numeric_limits<float>::infinity();
  numbers.of(5)[0] = std::numeric_limits<float>::quiet_NaN();
  try {
    model::WeightReader reader(numbers, threads, hashes);
    for (std::size_t i = 0; i < numbers.count(); ++i) reader.add(Numbers::nameOf(i), numbers.matrix(i));
    reader.finish();
    QFAIL("all was finite");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, std::string("third.safetensors"));
    QCOMPARE(failure.error().place, std::string("tensor 3"));
    QCOMPARE(failure.error().found, "an infinite number at the index " + std::to_string(place));
  }
}

/// A model whose loading fails otherwise does not wait for what nobody needs.
void TestWeightReader::mayBeLeft() {
  const Numbers numbers(6);
  for (int time = 0; time < 20; ++time) {
    model::WeightReader reader(numbers, 2, true);
    for (std::size_t i = 0; i < numbers.count(); ++i) reader.add(Numbers::nameOf(i), numbers.matrix(i));
  }
}

SPANSCOPE_TEST(tst_weight_reader, TestWeightReader, QCoreApplication)
#include "tst_weight_reader.moc"
