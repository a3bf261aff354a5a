// SPDX-License-Identifier: GPL-3.0-or-later
// The specification of sampling, and its plain implementation.
#include "engine/base/error.h"
#include "engine/compute/sampling.h"
#include "tests/support/product_text.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

using spanscope::Failure;
using spanscope::TokenId;
using spanscope::testing::Random;
using namespace spanscope::compute;
using spanscope::product_text::worded;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

SampledToken sample(const std::vector<float>& logits, const SamplingSettings& settings = {},
                    std::uint64_t index = 0) {
  return sampleRow({.logits = logits, .settings = settings, .index = index});
}

std::map<TokenId, int> draw(const std::vector<float>& logits, const SamplingSettings& settings, int times) {
  std::map<TokenId, int> counts;
  for (int i = 0; i < times; ++i) ++counts[sample(logits, settings, static_cast<std::uint64_t>(i)).token];
  return counts;
}

}  // namespace

class TestSampling : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // ---- the pieces, against values computed with exact fractions that were rounded after each operation

  void powersAndWeightsHaveTheBitsOfTheTable() {
    struct Row {
      float y;
      float power;
      std::uint64_t weight;
    };
    static constexpr Row kRows[] = {{0.0F, 0x1p0F, 1099511627776U},
                                    {-0x1p-149F, 0x1p0F, 1099511627776U},
                                    {-0x1p-30F, 0x1p0F, 1099511627776U},
                                    {-0x1p-24F, 0x1.fffffep-1F, 1099511562240U},
                                    {-0x1p-2F, 0x1.ae89fap-1F, 924575399936U},
                                    {-0x1.fffffep-2F, 0x1.6a09e8p-1F, 777472180224U},
                                    {-0x1p-1F, 0x1.6a09e6p-1F, 777472114688U},
                                    {-0x1.000002p-1F, 0x1.6a09e4p-1F, 777472049152U},
                                    {-0x1p0F, 0x1p-1F, 549755813888U},
                                    {-0x1.8p0F, 0x1.6a09e6p-2F, 388736057344U},
                                    {-0x1.4p1F, 0x1.6a09e6p-3F, 194368028672U},
                                    {-0x1.3cp5F, 0x1.6a09e6p-40F, 1U},
                                    {-0x1.4p5F, 0x1p-40F, 1U},
                                    {-0x1.42p5F, 0x1.ae89fap-41F, 0U},
                                    {-0x1.48p5F, 0x1p-41F, 0U},
                                    {-0x1.f2p6F, 0x1.6a09e6p-125F, 0U},
                                    {-0x1.f4p6F, 0x1p-125F, 0U},
                                    {-0x1.f40002p6F, 0.0F, 0U},
                                    {-0x1.e75ap-1F, 0x1.08afc6p-1F, 568410177536U},
                                    {-0x1.16a536p1F, 0x1.c4e92ap-3F, 243154632704U},
                                    {-0x1.7ad586p0F, 0x1.6f236p-2F, 394211622912U},
                                    {-0x1.353502p1F, 0x1.7fd438p-3F, 206066614272U},
                                    {-0x1.405e6ap1F, 0x1.6950fcp-3F, 193980235776U},
                                    {-0x1.0c67fep-2F, 0x1.aaf044p-1F, 916843528192U},
                                    {-0x1.af7d1ep-5F, 0x1.eda4fp-1F, 1060093034496U},
                                    {-0x1.acc8cp1F, 0x1.91bddp-4F, 107841650688U},
                                    {-0x1.bb5fdep3F, 0x1.1afa7p-14F, 74181056U},
                                    {-0x1.9cf24ap3F, 0x1.11814cp-13F, 143395424U},
                                    {-0x1.4ead1p5F, 0x1.1f1e0cp-42F, 0U},
                                    {-0x1.5deb94p4F, 0x1.1822eep-22F, 286859U},
                                    {-0x1.1e48c6p5F, 0x1.2907cp-36F, 18U},
                                    {-0x1.619f6cp4F, 0x1.dd3e14p-23F, 244348U},
                                    {-0x1.c48daep4F, 0x1.a456d6p-29F, 3362U},
                                    {-0x1.37264ap3F, 0x1.3618d8p-10F, 1300641280U},
                                    {-0x1.7ac614p6F, 0x1.3c9c3cp-95F, 0U},
                                    {-0x1.c830e8p6F, 0x1.ef53fp-115F, 0U},
                                    {-0x1.55b238p6F, 0x1.7d9c5ep-86F, 0U},
                                    {-0x1.9e187ap6F, 0x1.6416fap-104F, 0U}};
    for (const Row& row : kRows) {
      QVERIFY2(power(row.y) == row.power, std::to_string(row.y).c_str());
      QVERIFY2(weightOf(row.power) == row.weight, std::to_string(row.y).c_str());
    }
    QCOMPARE(power(-kInfinity), 0.0F);
  }

  void randomBitsAreThoseOfTheTable() {
    struct Row {
      std::uint64_t seed;
      std::uint64_t index;
      std::uint64_t bits;
    };
    static constexpr Row kRows[] = {{0U, 0U, 0xA706DD2F4D197E6FU},
                                    {0U, 1U, 0xB382A305F4414F5EU},
                                    {1U, 0U, 0x5E41AB087439611EU},
                                    {42U, 7U, 0xBC16A3D4CC48678EU},
                                    {18446744073709551615U, 18446744073709551615U, 0x445018E305810B78U},
                                    {15415986080105920549U, 80U, 0x3DF92BA6B9D3DD51U}};
    for (const Row& row : kRows) QCOMPARE(randomBits(row.seed, row.index), row.bits);
    // One stream of the generator, which the tests have as well.
    Random random(Random(99).next());
    for (std::uint64_t index = 0; index < 100; ++index) QCOMPARE(randomBits(99, index), random.next());
  }

  void scalesHaveTheBitsOfTheTable() {
    struct Row {
      float temperature;
      float scale;
    };
    static constexpr Row kRows[] = {
        {0x1p0F, 0x1.715476p0F},         {0x1p-1F, 0x1.715476p1F},          {0x1.333334p-2F, 0x1.33c662p2F},
        {0x1.666666p-1F, 0x1.07ce9ep1F}, {0x1.0c6f7ap-20F, 0x1.60387p20F},  {0x1.9p6F, 0x1.d8be08p-7F},
        {0x1.4cccccp0F, 0x1.1c1996p0F},  {0x1.16c2p-133F, 0x1.fffffep127F}, {0x1.c363ccp127F, 0x1p-126F}};
    for (const Row& row : kRows) QCOMPARE(exponentScale(row.temperature), row.scale);
    QCOMPARE(exponentScale(kInfinity), 0x1p-126F);
  }

  void orderIsThatOfTheLogits() {
    const std::vector<float> ascending{
        -kInfinity, -std::numeric_limits<float>::max(), -2.0F, -1.0F, -0x1p-149F, 0.0F, 0x1p-149F,
        1.0F,       std::numeric_limits<float>::max()};
    for (std::size_t i = 1; i < ascending.size(); ++i) {
      QVERIFY(orderOf(ascending[i - 1]) < orderOf(ascending[i]));
    }
    QCOMPARE(orderOf(-0.0F), orderOf(0.0F));
  }

  void highHalvesOfProductsAreExact() {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    QCOMPARE(multiplyHigh(most, most), most - 1);
    QCOMPARE(multiplyHigh(most, 1), std::uint64_t{0});
    QCOMPARE(multiplyHigh(most, 2), std::uint64_t{1});
    QCOMPARE(multiplyHigh(0x0123456789ABCDEFU, 0xFEDCBA9876543210U), std::uint64_t{0x0121FA00AD77D742U});
    QCOMPARE(multiplyHigh(std::uint64_t{1} << 63U, 5), std::uint64_t{2});
  }

  void theWeightToKeepIsRoundedUp() {
    const std::uint64_t most = std::uint64_t{1} << 63U;
    QCOMPARE(weightToKeep(100, 0.5F), std::uint64_t{50});
    QCOMPARE(weightToKeep(101, 0.5F), std::uint64_t{51});
    QCOMPARE(weightToKeep(100, 0x1p-149F), std::uint64_t{1});
    QCOMPARE(weightToKeep(100, 0.0F), std::uint64_t{1});
    QCOMPARE(weightToKeep(100, -3.0F), std::uint64_t{1});
    QCOMPARE(weightToKeep(100, 0x1.fffffep-1F), std::uint64_t{100});
    QCOMPARE(weightToKeep(most, 0x1.fffffep-1F), most - (std::uint64_t{1} << 39U));
  }

  void weightsKeepToTheirBound() {
    Random random(spanscope::testing::testSeed(5));
    for (const float temperature : {1e-3F, 0.1F, 0.7F, 1.0F, 3.0F, 100.0F}) {
      const float scale = exponentScale(temperature);
      for (int i = 0; i < 20000; ++i) {
        const auto best = static_cast<float>(20 * random.normal());
        // As many likely tokens as unlikely ones.
        const double wanted = -42 * random.uniform() * random.uniform();
        const auto logit =
            static_cast<float>(static_cast<double>(best) + wanted * static_cast<double>(temperature));
        if (logit > best) continue;
        const double y = (static_cast<double>(logit) - static_cast<double>(best)) /
                         static_cast<double>(temperature) * 1.4426950408889634;
        const double exact = std::exp2(y) * 0x1p40;
        const double weight = static_cast<double>(weightOf(power((logit - best) * scale)));
        QVERIFY2(std::abs(weight - exact) <= 1 + exact * (1 + 1.25 * std::abs(y)) * 0x1p-23,
                 (std::to_string(y) + " at " + std::to_string(temperature)).c_str());
      }
    }
  }

  // ---- the whole

  void greedyTakesTheLargestAndTheLowestIdOfEqualOnes() {
    QCOMPARE(sample({0.F, 2.F, 1.F, 2.F}).token, 1);
    QCOMPARE(sample({-1.F, -0.F, 0.F}).token, 1);
    QCOMPARE(sample({-kInfinity, -1e30F, -kInfinity}, {.topK = 1, .topP = 0.5F}).token, 1);
  }

  void probabilityIsThatOfThePlainSoftmax() {
    const SampledToken token = sample({std::log(1.F), std::log(3.F)}, {.temperature = 0.1F}, 5);
    QCOMPARE(token.token, 1);
    QVERIFY(std::abs(token.probability - 0.75F) < 1e-6F);
    QCOMPARE(sample({7.F}).probability, 1.0F);
    // The share of a token too unlikely for a weight of its own is not 0.
    const std::vector<float> logits{0.F, -40.F};
    for (std::uint64_t index = 0;; ++index) {
      const SampledToken unlikely = sample(logits, {.temperature = 100}, index);
      if (unlikely.token == 0) continue;
      QVERIFY(std::abs(static_cast<double>(unlikely.probability) / std::exp(-40.0) - 1) < 1e-5);
      break;
    }
  }

  void drawsFollowTheDistribution_data() {
    QTest::addColumn<float>("temperature");
    QTest::addColumn<int>("topK");
    QTest::addColumn<float>("topP");
    QTest::newRow("plain") << 1.0F << 0 << 1.0F;
    QTest::newRow("cold") << 0.5F << 0 << 1.0F;
    QTest::newRow("hot") << 4.0F << 0 << 1.0F;
    QTest::newRow("top-k") << 1.0F << 9 << 1.0F;
    QTest::newRow("top-p") << 1.0F << 0 << 0.8F;
    QTest::newRow("all") << 1.5F << 12 << 0.7F;
  }

  /// Chi-square of 200 000 draws against the softmax in double precision, filtered by the words of the
  /// specification.
  void drawsFollowTheDistribution() {
    QFETCH(float, temperature);
    QFETCH(int, topK);
    QFETCH(float, topP);
    constexpr int kDraws = 200000;
    std::vector<float> logits(20);
    Random random(8);
    for (float& logit : logits) logit = static_cast<float>(1.2 * random.normal());
    std::vector<std::size_t> order(logits.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return logits[a] > logits[b]; });
    if (topK > 0) order.resize(static_cast<std::size_t>(topK));
    const auto share = [&](std::size_t id) {
      return std::exp(static_cast<double>(logits[id]) / static_cast<double>(temperature));
    };
    double sum = 0;
    for (const std::size_t id : order) sum += share(id);
    double kept = 0;
    std::size_t count = 0;
    while (kept < static_cast<double>(topP) * sum && count < order.size()) kept += share(order[count++]);
    order.resize(count);

    auto counts = draw(logits, {.temperature = temperature, .topK = topK, .topP = topP, .seed = 42}, kDraws);
    QCOMPARE(counts.size(), order.size());
    double chiSquare = 0;
    for (const std::size_t id : order) {
      const double expected = kDraws * share(id) / kept;
      const double off = counts[static_cast<TokenId>(id)] - expected;
      chiSquare += off * off / expected;
    }
    // About the 99.9th percentile (Wilson and Hilferty).
    const auto freedom = static_cast<double>(order.size() - 1);
    const double bound = freedom * std::pow(1 - 2 / (9 * freedom) + 3.09 * std::sqrt(2 / (9 * freedom)), 3);
    QVERIFY2(chiSquare < bound, std::to_string(chiSquare).c_str());
  }

  void topKKeepsTheLikeliestAndTheLowestIdsOfEqualOnes() {
    const auto counts = draw({1.F, 3.F, 2.F, 3.F, 0.F, 2.F}, {.temperature = 5, .topK = 3, .seed = 1}, 1000);
    QCOMPARE(counts.size(), std::size_t{3});
    QVERIFY(counts.contains(1) && counts.contains(2) && counts.contains(3));
  }

  void topPKeepsTheSmallestSetThatReachesIt() {
    const std::vector<float> logits{std::log(0.5F), std::log(0.3F), std::log(0.15F), std::log(0.05F)};
    QCOMPARE(draw(logits, {.temperature = 1, .topP = 0.79F, .seed = 3}, 2000).size(), std::size_t{2});
    QCOMPARE(draw(logits, {.temperature = 1, .topP = 0.81F, .seed = 3}, 2000).size(), std::size_t{3});
    const auto one = draw(logits, {.temperature = 1, .topP = 0.0F, .seed = 3}, 200);
    QCOMPARE(one.size(), std::size_t{1});
    QVERIFY(one.contains(0));
    // Of equal tokens those with the lowest ids, as many as are needed: 4 weights of 10 reach 0.4, not more.
    const auto equal = draw(std::vector<float>(10, 1.F), {.temperature = 1, .topP = 0.375F, .seed = 3}, 2000);
    QCOMPARE(equal.size(), std::size_t{4});
    QVERIFY(equal.contains(0) && equal.contains(3));
  }

  void topKComesBeforeTopP() {
    // The two that are kept weigh 2/3 and 1/3, so that 0.55 is reached by one; of all four it takes two.
    const std::vector<float> logits{std::log(2.F), std::log(1.F), std::log(1.F), std::log(1.F)};
    QCOMPARE(draw(logits, {.temperature = 1, .topP = 0.55F, .seed = 3}, 500).size(), std::size_t{2});
    QCOMPARE(draw(logits, {.temperature = 1, .topK = 2, .topP = 0.55F, .seed = 3}, 500).size(),
             std::size_t{1});
  }

  void sameSeedAndIndexGiveTheSameTokenAndOthersDiffer() {
    const std::vector<float> logits(100, 0.F);
    int differing = 0;
    for (std::uint64_t i = 0; i < 50; ++i) {
      const SamplingSettings first{.temperature = 1, .seed = 11};
      QCOMPARE(sample(logits, first, i), sample(logits, first, i));
      if (sample(logits, first, i) != sample(logits, {.temperature = 1, .seed = 12}, i)) ++differing;
    }
    QVERIFY(differing > 40);
  }

  void whatIsImpossibleIsNeverDrawn() {
    const auto counts = draw({-kInfinity, 0.F, -kInfinity, 0.F}, {.temperature = 1e30F, .seed = 2}, 500);
    QCOMPARE(counts.size(), std::size_t{2});
    QVERIFY(counts.contains(1) && counts.contains(3));
  }

  void damagedLogitsAreFaultsThatSayWhere() {
    const SampledToken nan = sample({1.F, -kInfinity, kNan, kInfinity, kNan}, {.temperature = 1});
    QCOMPARE(nan.fault, LogitFault::NotANumber);
    QCOMPARE(nan.token, 2);
    QCOMPARE(describeFault(nan, 7, 5).message(),
             worded(std::string("sampling token 7: Spanscope found logit 2 of 5<not-number>, but needs "
                                "<finite-logits-weights>.")));
    const SampledToken infinite = sample({1.F, kInfinity, kNan});
    QCOMPARE(infinite.fault, LogitFault::Infinite);
    QCOMPARE(infinite.token, 1);
    QCOMPARE(describeFault(infinite, 0, 3).found, "logit 1 of 3, which is infinite");
    for (const auto& none : {std::vector<float>{-kInfinity, -kInfinity}, std::vector<float>{}}) {
      const SampledToken token = sample(none);
      QCOMPARE(token.fault, LogitFault::NoneFinite);
      QCOMPARE(describeFault(token, 0, static_cast<std::int32_t>(none.size())).found,
               worded(std::string("<no-finite-logit> ")) + std::to_string(none.size()));
    }
  }

  void theLikeliestHaveTheProbabilityOfADrawnToken() {
    Random random(20261126);
    std::vector<float> logits(300);
    for (float& logit : logits)
      logit = static_cast<float>(std::round(random.uniform() * 80 - 40) / 4);  // many are equal
    const std::vector<LikelyToken> all = topTokens(logits, 1000);
    QCOMPARE(all.size(), logits.size());
    QCOMPARE(all.front().token, sample(logits).token);
    QCOMPARE(all.front().probability, sample(logits).probability);
    for (std::size_t i = 1; i < all.size(); ++i) {
      const float before = logits[static_cast<std::size_t>(all[i - 1].token)];
      const float now = logits[static_cast<std::size_t>(all[i].token)];
      QVERIFY(before > now || (before == now && all[i - 1].token < all[i].token));
    }
    for (std::uint64_t index = 0; index < 200; ++index) {
      const SampledToken drawn = sample(logits, {.temperature = 3, .seed = 5}, index);
      const auto same = std::find_if(all.begin(), all.end(),
                                     [&](const LikelyToken& one) { return one.token == drawn.token; });
      QCOMPARE(same->probability, drawn.probability);
    }
    const std::vector<LikelyToken> few = topTokens(logits, 5);
    QVERIFY(std::equal(few.begin(), few.end(), all.begin(), all.begin() + 5));
    QVERIFY(topTokens({}, 5).empty());
    QVERIFY(topTokens(std::vector<float>{1.F, kNan}, 5).empty());
    QVERIFY(topTokens(logits, 0).empty());
  }

  void aRowThatCouldOverflowTheSumIsRefused() {
    const std::vector<float> logits(kMostLogits + 1);
    QVERIFY_EXCEPTION_THROWN(sample(logits), Failure);
  }
};

SPANSCOPE_TEST(tst_sampling, TestSampling)
#include "tst_sampling.moc"
