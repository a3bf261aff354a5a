// SPDX-License-Identifier: GPL-3.0-or-later
// The backend draws what the plain implementation of the specification draws, bit for bit.
#include "engine/base/error.h"
#include "tests/kernels/each_device.h"
#include "tests/kernels/random_logits.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;
using compute::SampledToken;
using compute::SamplingRow;
using compute::SamplingSettings;

namespace {

/// Rows that own their logits.
struct Rows {
  std::vector<std::vector<float>> logits;
  std::vector<SamplingRow> rows;

  void add(std::vector<float> values, const SamplingSettings& settings, std::uint64_t index) {
    logits.push_back(std::move(values));
    rows.push_back({.logits = logits.back(), .settings = settings, .index = index});
  }
};

std::string describe(const Rows& rows, std::size_t at) {
  const SamplingRow& row = rows.rows[at];
  return "row " + std::to_string(at) + ": " + std::to_string(row.logits.size()) + " logits, temperature " +
         std::to_string(row.settings.temperature) + ", top-k " + std::to_string(row.settings.topK) +
         ", top-p " + std::to_string(row.settings.topP);
}

/// Passes over rows of as many logits, all of one width together.
std::vector<SampledToken> sample(compute::Backend& backend, const Rows& rows) {
  std::map<std::size_t, std::vector<std::size_t>> byWidth;
  for (std::size_t i = 0; i < rows.rows.size(); ++i) byWidth[rows.logits[i].size()].push_back(i);
  std::vector<SampledToken> tokens(rows.rows.size());
  for (const auto& [width, members] : byWidth) {
    compute::PassInputs inputs = plainRows(members.size());
    std::vector<float> values;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const SamplingRow& row = rows.rows[members[i]];
      const std::vector<float>& logits = rows.logits[members[i]];
      values.insert(values.end(), logits.begin(), logits.end());
      inputs.logitRows.push_back(static_cast<std::int32_t>(i));
      inputs.draws.push_back(
          {.logits = static_cast<std::int32_t>(i), .settings = row.settings, .index = row.index});
    }
    const auto pass = makePlainPass(backend, inputs);
    const auto logits = backend.makeTensor();
    backend.uploadLogits(values, static_cast<std::int64_t>(members.size()), static_cast<std::int64_t>(width),
                         *logits);
    backend.sample(*pass, *logits);
    const compute::PassResults results = backend.finish(*pass);
    for (std::size_t i = 0; i < members.size(); ++i) tokens[members[i]] = results.tokens.at(i);
  }
  return tokens;
}

}  // namespace

class TestSampling : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20251122);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void drawsWhatThePlainImplementationDraws_data() { addDevices(); }

  void drawsWhatThePlainImplementationDraws() {
    const DeviceInUse device;
    Random random(m_seed);
    Rows rows;
    for (int i = 0; i < 2000; ++i) {
      const std::size_t count = i % 4 == 0 ? 1 + random.below(40) : 1 + random.below(2500);
      rows.add(randomLogits(random, count), randomSettings(random, count), random.below(1000));
    }
    static constexpr std::size_t kCounts[] = {1, 1023, 1024, 1025, 2048, 128256, 200000};
    for (const std::size_t count : kCounts) {
      for (int i = 0; i < 3; ++i)
        rows.add(randomLogits(random, count), randomSettings(random, count), random.below(1000));
    }
    std::vector<SampledToken> expected;
    for (const SamplingRow& row : rows.rows) expected.push_back(compute::sampleRow(row));
    for (const int threads : {1, 3}) {
      const auto backend = device.make(threads);
      const std::vector<SampledToken> tokens = sample(*backend, rows);
      for (std::size_t i = 0; i < tokens.size(); ++i)
        QVERIFY2(tokens[i] == expected[i], describe(rows, i).c_str());
    }
  }

  /// Each number of kept tokens, at each temperature of a ladder, with ties across the border.
  void everyNumberOfTokensIsKept_data() { addDevices(); }
  void everyNumberOfTokensIsKept() {
    const DeviceInUse device;
    Random random(m_seed + 1);
    Rows rows;
    for (const double width : {0.5, 4.0}) {
      std::vector<float> logits(130);
      for (float& logit : logits) logit = static_cast<float>(std::nearbyint(width * 4 * random.normal()) / 4);
      for (const float temperature : {1e-6F, 0.3F, 1.0F, 100.0F}) {
        for (std::int32_t topK = 0; topK <= 131; ++topK) {
          rows.add(logits,
                   {.temperature = temperature,
                    .topK = topK,
                    .topP = random.below(2) == 0 ? 1.0F : static_cast<float>(random.uniform()),
                    .seed = random.next()},
                   0);
        }
        for (int step = 0; step <= 100; ++step)
          rows.add(
              logits,
              {.temperature = temperature, .topP = static_cast<float>(step) * 0.01F, .seed = random.next()},
              0);
      }
    }
    const auto backend = device.make(1);
    const std::vector<SampledToken> tokens = sample(*backend, rows);
    for (std::size_t i = 0; i < tokens.size(); ++i)
      QVERIFY2(tokens[i] == compute::sampleRow(rows.rows[i]), describe(rows, i).c_str());
  }

  void damageIsFoundWhereverItIs_data() { addDevices(); }
  void damageIsFoundWhereverItIs() {
    const DeviceInUse device;
    const auto backend = device.make();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    Rows rows;
    const SamplingSettings settings{.temperature = 1, .topK = 3};
    static constexpr std::size_t kPlaces[] = {0, 1, 15, 16, 1023, 1024, 2998, 2999};
    for (const std::size_t at : kPlaces) {
      for (const float wrong : {nan, -nan, kInfinity}) {
        std::vector<float> logits(3000, 1.0F);
        logits[at] = wrong;
        logits[2999] = wrong;
        rows.add(logits, {}, 0);
        rows.add(logits, settings, 0);
      }
    }
    rows.add(std::vector<float>(2000, -kInfinity), settings, 0);
    rows.add({}, settings, 0);
    rows.add(std::vector<float>(2000, 1.0F), settings, 0);
    const std::vector<SampledToken> tokens = sample(*backend, rows);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      QVERIFY2(tokens[i] == compute::sampleRow(rows.rows[i]), describe(rows, i).c_str());
      QCOMPARE(tokens[i].fault == compute::LogitFault::None, i + 1 == tokens.size());
    }
  }

  void aStopLeavesNoTokenOut_data() { addDevices(); }
  void aStopLeavesNoTokenOut() {
    const DeviceInUse device;
    std::stop_source stop;
    stop.request_stop();
    const auto backend = device.make();
    backend->begin(stop.get_token());
    Rows rows;
    for (int i = 0; i < 50; ++i) rows.add(std::vector<float>(20000, 1.0F), {.temperature = 1, .seed = 5}, 7);
    for (const SampledToken& token : sample(*backend, rows))
      QCOMPARE(token, compute::sampleRow(rows.rows[0]));
  }

  void tooManyLogitsAreRefused_data() { addDevices(); }
  void tooManyLogitsAreRefused() {
    const DeviceInUse device;
    const auto backend = device.make(1);
    Rows rows;
    rows.add(std::vector<float>(compute::kMostLogits + 1), {}, 0);
    QVERIFY_EXCEPTION_THROWN(sample(*backend, rows), Failure);
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_sampling, TestSampling)
#include "tst_sampling.moc"
