// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/run/sampler.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

using spanscope::Failure;
using spanscope::TokenId;
using spanscope::run::sample;
using spanscope::run::SampledToken;
using spanscope::run::SamplingSettings;

class TestSampler : public QObject {
  Q_OBJECT

  static std::map<TokenId, int> draw(const std::vector<float>& logits, const SamplingSettings& settings,
                                     int times) {
    std::map<TokenId, int> counts;
    for (int i = 0; i < times; ++i) ++counts[sample(logits, settings, static_cast<std::uint64_t>(i)).token];
    return counts;
  }

 private Q_SLOTS:
  void greedyTakesTheLargestAndTheLowestIdOfEqualOnes() {
    QCOMPARE(sample(std::vector<float>{0.F, 2.F, 1.F, 2.F}, {}, 0).token, 1);
  }

  void probabilityIsThatOfThePlainSoftmax() {
    const SampledToken token =
        sample(std::vector<float>{std::log(1.F), std::log(3.F)}, {.temperature = 0.1F}, 5);
    QCOMPARE(token.token, 1);
    QVERIFY(std::abs(token.probability - 0.75F) < 1e-6F);
  }

  void drawsFollowTheDistribution() {
    const std::vector<float> logits{std::log(0.1F), std::log(0.2F), std::log(0.7F)};
    const auto counts = draw(logits, {.temperature = 1, .seed = 42}, 20000);
    QVERIFY(std::abs(counts.at(0) / 20000.0 - 0.1) < 0.015);
    QVERIFY(std::abs(counts.at(1) / 20000.0 - 0.2) < 0.015);
    QVERIFY(std::abs(counts.at(2) / 20000.0 - 0.7) < 0.015);
  }

  void temperatureSharpens() {
    const std::vector<float> logits{std::log(0.4F), std::log(0.6F)};
    // At temperature 1/2 the weights are the squares: 0.16 against 0.36.
    const auto counts = draw(logits, {.temperature = 0.5F, .seed = 7}, 20000);
    QVERIFY(std::abs(counts.at(1) / 20000.0 - 0.36 / 0.52) < 0.015);
  }

  void topKKeepsTheLikeliest() {
    const std::vector<float> logits{1.F, 3.F, 2.F, 3.F, 0.F};
    const auto counts = draw(logits, {.temperature = 5, .topK = 2, .seed = 1}, 1000);
    QCOMPARE(counts.size(), std::size_t{2});
    QVERIFY(counts.contains(1) && counts.contains(3));
  }

  void topPKeepsTheSmallestSetThatReachesIt() {
    const std::vector<float> logits{std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};
    const auto most = draw(logits, {.temperature = 1, .topP = 0.79F, .seed = 3}, 2000);
    QCOMPARE(most.size(), std::size_t{2});
    const auto one = draw(logits, {.temperature = 1, .topP = 0.0F, .seed = 3}, 200);
    QCOMPARE(one.size(), std::size_t{1});
    QVERIFY(one.contains(0));
  }

  void sameSeedAndIndexGiveTheSameTokenAndOthersDiffer() {
    const std::vector<float> logits(100, 0.F);
    int differing = 0;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const SamplingSettings first{.temperature = 1, .seed = 11};
      QCOMPARE(sample(logits, first, i).token, sample(logits, first, i).token);
      if (sample(logits, first, i).token != sample(logits, {.temperature = 1, .seed = 12}, i).token)
        ++differing;
    }
    QVERIFY(differing > 40);
  }

  void notANumberIsNeverDrawn() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto counts = draw({nan, 0.F, nan, 0.F}, {.temperature = 1, .seed = 2}, 500);
    QCOMPARE(counts.size(), std::size_t{2});
    QVERIFY(counts.contains(1) && counts.contains(3));
    QVERIFY_EXCEPTION_THROWN(sample(std::vector<float>{nan, nan}, {}, 0), Failure);
  }
};

QTEST_APPLESS_MAIN(TestSampler)
#include "tst_sampler.moc"
