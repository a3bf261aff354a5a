// SPDX-License-Identifier: GPL-3.0-or-later
// The card draws what the plain implementation of the specification draws, bit for bit.
#include "kernels/cuda/sampling/sample.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/kernels/random_logits.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>

using namespace spanscope;
using namespace spanscope::testing;
using compute::LogitFault;
using compute::SampledToken;
using compute::SamplingRow;
using compute::SamplingSettings;

namespace {

/// Rows of one width, as a pass has them.
struct Rows {
  std::size_t count = 0;
  std::size_t stride = 0;
  std::vector<float> logits;
  std::vector<SamplingSettings> settings;
  std::vector<std::uint64_t> indices;

  explicit Rows(std::size_t width) : count(width), stride(width + 3) {}
  void add(std::vector<float> row, const SamplingSettings& setting, std::uint64_t index) {
    row.resize(stride, kLargest);  // what lies between rows is none of theirs
    logits.insert(logits.end(), row.begin(), row.end());
    settings.push_back(setting);
    indices.push_back(index);
  }
  SamplingRow row(std::size_t i) const {
    return {
        .logits = std::span(logits).subspan(i * stride, count), .settings = settings[i], .index = indices[i]};
  }
  QString text(std::size_t i) const {
    const SamplingSettings& setting = settings[i];
    return QString("row %1: %2 logits, temperature %3, top-k %4, top-p %5")
        .arg(i)
        .arg(count)
        .arg(setting.temperature)
        .arg(setting.topK)
        .arg(setting.topP);
  }
};

std::vector<cuda::DeviceToken> sampleOnDevice(EmulatedDevice& card, const Rows& rows) {
  std::vector<cuda::SamplingParameters> parameters;
  for (std::size_t i = 0; i < rows.settings.size(); ++i)
    parameters.push_back(cuda::samplingParameters(rows.settings[i], rows.indices[i]));
  const auto logits = card.upload(rows.logits);
  const auto deviceParameters = card.upload(parameters);
  const auto tokens = card.empty<cuda::DeviceToken>(parameters.size());
  cuda::sample(card.stream, {.logits = logits.data(),
                             .stride = static_cast<std::int64_t>(rows.stride),
                             .count = static_cast<int>(rows.count),
                             .parameters = deviceParameters.data(),
                             .tokens = tokens.data(),
                             .rows = static_cast<int>(parameters.size())});
  return card.download(tokens);
}

void compare(const Rows& rows) {
  EmulatedDevice card;
  std::vector<SampledToken> expected;
  for (std::size_t i = 0; i < rows.settings.size(); ++i) expected.push_back(compute::sampleRow(rows.row(i)));
  inEveryOrder(card, [&](const char* order) {
    const std::vector<cuda::DeviceToken> actual = sampleOnDevice(card, rows);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const SampledToken token{actual[i].token, actual[i].probability, actual[i].fault};
      const QString text = QString("%1: %2, token %3 of probability %4, expected %5 of %6")
                               .arg(order, rows.text(i))
                               .arg(token.token)
                               .arg(token.probability)
                               .arg(expected[i].token)
                               .arg(expected[i].probability);
      QVERIFY2(token == expected[i], qPrintable(text));
    }
  });
}

}  // namespace

class TestCudaSampling : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  void drawsWhatThePlainImplementationDraws_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("rows");
    for (const auto& [count, rows] : {std::pair{1, 8},
                                      {2, 20},
                                      {31, 60},
                                      {32, 60},
                                      {33, 60},
                                      {511, 60},
                                      {513, 60},
                                      {1024, 60},
                                      {2500, 60},
                                      {16384, 10},
                                      {16385, 10},
                                      {49152, 6},
                                      {128256, 4}})
      QTest::addRow("%d logits", count) << count << rows;
  }
  void drawsWhatThePlainImplementationDraws() {
    QFETCH(int, count);
    QFETCH(int, rows);
    Random random(m_seed + static_cast<std::uint64_t>(count));
    const auto width = static_cast<std::size_t>(count);
    Rows all(width);
    for (int i = 0; i < rows; ++i)
      all.add(randomLogits(random, width), randomSettings(random, width), random.below(1000));
    compare(all);
  }

  void everyTokenOfAFlatRowIsDrawnByItsPlace() {
    // With equal logits top-k and top-p keep the lowest ids.
    Rows rows(700);
    for (std::uint64_t index = 0; index < 30; ++index) {
      rows.add(std::vector<float>(700, 2.5F), {.temperature = 1, .topK = 600, .topP = 0.9F, .seed = 5},
               index);
      rows.add(std::vector<float>(700, -0.0F), {.temperature = 0.5F, .topP = 0.25F, .seed = 6}, index);
    }
    compare(rows);
  }

  void damagedRowsLeaveOthersAlone() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Rows rows(40);
    const SamplingSettings settings{.temperature = 1, .topK = 3, .seed = 9};
    const auto with = [](std::initializer_list<std::pair<std::size_t, float>> changes) {
      std::vector<float> logits(40, 1.0F);
      for (const auto& [id, value] : changes) logits[id] = value;
      return logits;
    };
    rows.add(with({}), settings, 0);
    rows.add(with({{7, nan}, {30, kInfinity}}), settings, 0);
    rows.add(with({{7, -kInfinity}, {30, kInfinity}, {33, -nan}}), settings, 0);
    rows.add(std::vector<float>(40, -kInfinity), settings, 0);
    rows.add(with({{39, 2.0F}}), {}, 0);
    compare(rows);
  }

 private:
  std::uint64_t m_seed = testSeed(20251125);
};

SPANSCOPE_TEST(tst_sampling, TestCudaSampling)
#include "tst_sampling.moc"
