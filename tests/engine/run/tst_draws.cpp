// SPDX-License-Identifier: GPL-3.0-or-later
// How the scheduler has tokens drawn: once a pass, all rows together, and each row for itself.
#include "engine/cache/kv_cache.h"
#include "engine/model/decoder.h"
#include "engine/run/computation.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduler.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

using namespace spanscope;
using spanscope::product_text::worded;

namespace {

constexpr std::int32_t kVocabulary = 4;

/// Says of every row that token 2 is best, but at the set places gives a logit that is no number.
class TwoSayer final : public run::Computation {
 public:
  model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> most,
                               std::stop_token) override {
    drawn.push_back(batch.draws.size());
    mostTokens.insert(mostTokens.end(), most.begin(), most.end());
    model::ForwardResult result;
    for (std::size_t row = 0; row < batch.logitRows.size() && batch.logitsWanted; ++row)
      result.logits.insert(result.logits.end(), {0.0F, 1.0F, 5.0F, 0.0F});
    for (const compute::Draw& draw : batch.draws) {
      indices.push_back(draw.index);
      const std::int32_t row = batch.logitRows[static_cast<std::size_t>(draw.logits)];
      const bool damaged = batch.tokens[static_cast<std::size_t>(row)] == damagedToken;
      const float worst = damaged ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
      const float logits[kVocabulary] = {0.0F, 1.0F, 5.0F, worst};
      result.tokens.push_back(
          compute::sampleRow({.logits = logits, .settings = draw.settings, .index = draw.index}));
    }
    return result;
  }
  void copyBlocks(std::span<const cache::BlockCopy>) override {}
  std::int32_t vocabularySize() const override { return kVocabulary; }
  std::int32_t heads() const override { return 1; }

  TokenId damagedToken = -1;
  std::vector<std::size_t> drawn;  ///< rows of each call
  std::vector<std::uint64_t> indices;
  std::vector<std::int32_t> mostTokens;
};

class Notes final : public run::RequestListener {
 public:
  void onAdmitted(RequestId, const cache::Admission&) override {}
  void onPreempted(RequestId) override {}
  void onLogits(RequestId, std::span<const float>) override {}
  void onAlternatives(RequestId request, std::int32_t index,
                      const std::vector<compute::LikelyToken>& likeliest) override {
    QCOMPARE(static_cast<std::size_t>(index), tokens[request].size());
    for (const compute::LikelyToken& one : likeliest) alternatives[request].push_back(one.token);
  }
  void onToken(RequestId request, std::int32_t, const run::SampledToken& token, std::vector<float>) override {
    tokens[request].push_back(token.token);
    probabilities[request].push_back(token.probability);
  }
  void onFinished(RequestId request, trace::StepOutcome) override { finished.push_back(request); }
  void onFailed(RequestId request, const Error& error) override { failed[request] = error.message(); }

  std::map<RequestId, std::vector<TokenId>> tokens;
  std::map<RequestId, std::vector<TokenId>> alternatives;
  std::map<RequestId, std::vector<float>> probabilities;
  std::map<RequestId, std::string> failed;
  std::vector<RequestId> finished;
};

layout::SpanTable tableOf(std::vector<TokenId> tokens) {
  layout::SpanTable table;
  layout::Segment& segment = table.segments.emplace_back();
  segment.runs.emplace_back().count = static_cast<std::int32_t>(tokens.size());
  segment.tokens = std::move(tokens);
  return table;
}

struct Scene {
  TwoSayer computation;
  test::RecordingSink sink;
  cache::KvCache cache{{}, sink};
  Notes notes;
  run::Scheduler scheduler{computation, cache, sink, notes, 16, ""};

  RequestId submit(std::vector<TokenId> tokens, std::int32_t maxNewTokens, std::int32_t alternatives = 0) {
    run::RequestOptions options;
    options.run = 1;
    options.maxNewTokens = maxNewTokens;
    options.alternatives = alternatives;
    return scheduler.submit(tableOf(std::move(tokens)), std::move(options));
  }
  RequestId submitWithLeast(std::int32_t minNewTokens, std::int32_t maxNewTokens, float temperature = 0,
                            std::uint64_t seed = 0) {
    run::RequestOptions options;
    options.run = 1;
    options.maxNewTokens = maxNewTokens;
    options.minNewTokens = minNewTokens;
    options.sampling.temperature = temperature;
    options.sampling.seed = seed;
    options.endTokens = {2};
    return scheduler.submit(tableOf({20, static_cast<TokenId>(21 + seed)}), std::move(options));
  }
  void finish() {
    while (scheduler.pass({}) == run::Scheduler::Progress::Computed) continue;
  }
};

}  // namespace

class TestDraws : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void rowsOfAPassAreDrawnTogether() {
    Scene scene;
    const RequestId three = scene.submit({5, 6, 7}, 3);
    scene.submit({8, 9}, 0);
    const RequestId two = scene.submit({10}, 2);
    scene.finish();
    QCOMPARE(scene.computation.drawn, (std::vector<std::size_t>{2, 2, 1}));
    QCOMPARE(scene.computation.indices, (std::vector<std::uint64_t>{0, 0, 1, 1, 2}));
    QCOMPARE(scene.computation.mostTokens, (std::vector<std::int32_t>{3, 2, 3, 2, 3}));
    QCOMPARE(scene.notes.tokens[three], (std::vector<TokenId>{2, 2, 2}));
    QCOMPARE(scene.notes.tokens[two], (std::vector<TokenId>{2, 2}));
    QCOMPARE(scene.notes.finished.size(), std::size_t{3});
  }

  void alternativesAreToldOfTheirOwnRequestAlone() {
    Scene scene;
    const RequestId plain = scene.submit({5, 6, 7}, 2);
    const RequestId asking = scene.submit({8, 9}, 2, 2);
    scene.finish();
    QVERIFY(!scene.notes.alternatives.contains(plain));
    // Before each token, of its own row.
    QCOMPARE(scene.notes.alternatives[asking], (std::vector<TokenId>{2, 1, 2, 1}));
    QCOMPARE(scene.notes.tokens[plain], (std::vector<TokenId>{2, 2}));
  }

  void noEndTokenIsDrawnBeforeTheLeastLength() {
    Scene scene;
    const RequestId least = scene.submitWithLeast(3, 8);
    // A request beside it may end at once.
    const RequestId plain = scene.submit({8, 9}, 1);
    scene.finish();
    QCOMPARE(scene.notes.tokens[least], (std::vector<TokenId>{1, 1, 1, 2}));
    QCOMPARE(scene.notes.tokens[plain], (std::vector<TokenId>{2}));
    // The probability is that before the end token was left out.
    const std::vector<float> logits{0, 1, 5, 0};
    QCOMPARE(scene.notes.probabilities[least].front(), compute::topTokens(logits, 2)[1].probability);
  }

  void endTokensAreBarredUpToTheLimit() {
    Scene scene;
    const RequestId all = scene.submitWithLeast(4, 4);
    scene.finish();
    QCOMPARE(scene.notes.tokens[all], (std::vector<TokenId>{1, 1, 1, 1}));
  }

  /// The chances among the other tokens are those that they have among themselves.
  void sampledTokensAreDrawnAmongTheOthers() {
    Scene scene;
    constexpr int kAnswers = 200;
    int ones = 0;
    for (int i = 0; i < kAnswers; ++i) {
      const RequestId id = scene.submitWithLeast(2, 2, 1, static_cast<std::uint64_t>(i));
      scene.finish();
      QCOMPARE(scene.notes.tokens[id].size(), std::size_t{2});
      for (const TokenId token : scene.notes.tokens[id]) {
        QVERIFY(token != 2);
        ones += token == 1 ? 1 : 0;
      }
    }
    // e / (e + 2) of 400 is 230.
    QVERIFY2(ones > 190 && ones < 270, std::to_string(ones).c_str());
  }

  void aDamagedRowFailsItsOwnRequestAlone() {
    Scene scene;
    scene.computation.damagedToken = 7;
    const RequestId damaged = scene.submit({5, 6, 7}, 3);
    const RequestId whole = scene.submit({8, 9}, 3);
    scene.finish();
    QCOMPARE(scene.notes.failed.size(), std::size_t{1});
    QCOMPARE(scene.notes.failed[damaged],
             worded(std::string("sampling token 0: Spanscope found logit 3 of 4<not-number>, but needs "
                                "<finite-logits-weights>.")));
    QCOMPARE(scene.notes.tokens[whole], (std::vector<TokenId>{2, 2, 2}));
    QVERIFY(scene.notes.tokens[damaged].empty());
  }
};

SPANSCOPE_TEST(tst_draws, TestDraws)
#include "tst_draws.moc"
