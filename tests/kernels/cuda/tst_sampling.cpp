// SPDX-License-Identifier: GPL-3.0-or-later
// The card draws what the plain implementation of the specification draws, bit for bit.
#include "kernels/cuda/sampling/sample.h"
#include "tests/kernels/cuda/emulated_card.h"
#include "tests/support/random_values.h"

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

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

template <class T>
T oneOf(Random& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

std::vector<float> randomLogits(Random& random, std::size_t count) {
  std::vector<float> logits(count);
  const double width = oneOf(random, {0.0, 1e-42, 1e-3, 1.0, 3.0, 10.0, 300.0, 1e38});
  const double middle = oneOf(random, {0.0, 0.0, -5.0, 1000.0});
  for (float& logit : logits)
    logit = static_cast<float>(middle + std::clamp(random.normal(), -3.0, 3.0) * width);
  switch (random.below(7)) {
    case 0:  // many ties
      for (float& logit : logits) logit = std::nearbyint(logit);
      break;
    case 1:  // zeros of both signs
      for (float& logit : logits) logit = oneOf(random, {0.0F, -0.0F, -1.0F, -0x1p-149F});
      break;
    case 2:  // much that is impossible
      for (float& logit : logits) {
        if (random.below(3) != 0) logit = -kInfinity;
      }
      break;
    case 3:
      std::sort(logits.begin(), logits.end(), std::greater<>());
      break;
    case 4:
      logits[random.below(count)] = oneOf(random, {kLargest, -kLargest, 50.0F, -kInfinity});
      break;
    default:
      break;
  }
  return logits;
}

SamplingSettings randomSettings(Random& random, std::size_t count) {
  SamplingSettings settings;
  settings.temperature =
      oneOf(random, {0.0F, 1e-40F, 1e-6F, 0.1F, 0.7F, 1.0F, 1.0F, 1.3F, 10.0F, 100.0F, kLargest});
  settings.seed = random.next();
  if (random.below(2) == 0) settings.topK = static_cast<std::int32_t>(1 + random.below(count + 1));
  if (random.below(4) == 0) settings.topK = oneOf(random, {-1, 1, 2, 40});
  if (random.below(2) == 0) settings.topP = static_cast<float>(random.uniform());
  if (random.below(4) == 0)
    settings.topP =
        oneOf(random, {-1.0F, 0.0F, 1e-45F, 1e-7F, 0.5F, 0.9F, 0.95F, 0x1.fffffep-1F, 1.0F, 2.0F});
  return settings;
}

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

std::vector<cuda::CardToken> sampleOnCard(EmulatedCard& card, const Rows& rows) {
  std::vector<cuda::SamplingParameters> parameters;
  for (std::size_t i = 0; i < rows.settings.size(); ++i)
    parameters.push_back(cuda::samplingParameters(rows.settings[i], rows.indices[i]));
  const auto logits = card.upload(rows.logits);
  const auto cardParameters = card.upload(parameters);
  const auto tokens = card.empty<cuda::CardToken>(parameters.size());
  cuda::sample(card.stream, {.logits = logits.data(),
                             .stride = static_cast<std::int64_t>(rows.stride),
                             .count = static_cast<int>(rows.count),
                             .parameters = cardParameters.data(),
                             .tokens = tokens.data(),
                             .rows = static_cast<int>(parameters.size())});
  return card.download(tokens);
}

void compare(const Rows& rows) {
  EmulatedCard card;
  std::vector<SampledToken> expected;
  for (std::size_t i = 0; i < rows.settings.size(); ++i) expected.push_back(compute::sampleRow(rows.row(i)));
  inEveryOrder(card, [&](const char* order) {
    const std::vector<cuda::CardToken> actual = sampleOnCard(card, rows);
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

QTEST_APPLESS_MAIN(TestCudaSampling)
#include "tst_sampling.moc"
