// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity against slow arithmetic on the same tables, and what it says of policies whose answer is known.
#include "engine/experiment/fidelity.h"
#include "engine/experiment/studies/study.h"
#include "engine/experiment/table_pass.h"
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/trace_values.h"
#include "engine/trace/fidelity_metrics.h"
#include "engine/trace/replay.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace spanscope;
using spanscope::experiment::Distribution;
using spanscope::product_text::worded;
using spanscope::run::FinishedAnswer;
using spanscope::test::SpanletSession;

namespace {

plan::Plan planOf(const std::string& json) {
  const auto parsed = query::parseJson(json);
  // An answer that is not reused keeps its keys and values, after a hidden prefix.
  const auto made = plan::makePlan(*parsed.query, {.outputForm = plan::OutputForm::Reused});
  return *made.plan;
}

const char* const kRag =
    R"({"g":{"model":"spnl/spanlet","max_tokens":24,"temperature":0.0,"input":{"cross":[)"
    R"({"system":"You are a helpful assistant. Answer from the documents."},{"plus":[)"
    R"({"user":"Mira lives in Lisbon. Mira plays the cello. The lamp gave little light."},)"
    R"({"user":"Tarek is a baker. The pet of Tarek is called Biscuit."}]},)"
    R"({"user":"Where does Mira live?"}]}}})";

const char* const kJudge =
    R"({"g":{"model":"spnl/spanlet","max_tokens":12,"temperature":0.0,"input":{"cross":[)"
    R"({"g":{"model":"spnl/spanlet","max_tokens":12,"temperature":0.8,"input":{"user":"Name a town."}}},)"
    R"({"g":{"model":"spnl/spanlet","max_tokens":12,"temperature":0.8,"input":{"user":"Name a river."}}},)"
    R"({"user":"Which is the better one?"}]}}})";

/// The same, its generates side by side.
const char* const kTeam =
    R"({"g":{"model":"spnl/spanlet","max_tokens":12,"temperature":0.0,"input":{"cross":[{"plus":[)"
    R"({"g":{"model":"spnl/spanlet","max_tokens":12,"temperature":0.8,"input":{"user":"Name a town."}}},)"
    R"({"g":{"model":"spnl/spanlet","max_tokens":12,"temperature":0.8,"input":{"user":"Name a river."}}}]},)"
    R"({"user":"Which is the better one?"}]}}})";

/// A session whose run has ended, with what it replied.
struct Ran {
  Ran(const char* query, const char* policy) {
    run::RunOptions options;
    options.policy = *policy::findChoice(policy);
    result = spanlet.session->run(planOf(query), options);
    experiment::FinishedAnswers gathered;
    for (const trace::Event& event : spanlet.sink.events) gathered.take(event);
    answers = gathered.takeRun(1);
  }
  experiment::FidelityModel model() {
    return {.decoder = *spanlet.decoder, .backend = *spanlet.backend, .tokenizer = spanlet.tokenizer.get()};
  }
  trace::FidelityMeasured measure(std::size_t answer) {
    return experiment::measureFidelity(*spanlet.session, model(), answers.at(answer)).fidelity;
  }

  SpanletSession spanlet;
  run::RunResult result;
  std::vector<FinishedAnswer> answers;
};

layout::SpanTable flatTable(const FinishedAnswer& answer) {
  layout::SpanTable table;
  layout::Segment& all = table.segments.emplace_back();
  all.tokens = experiment::visibleTokens(answer.segments);
  all.tokens.insert(all.tokens.end(), answer.tokens.begin(), answer.tokens.end() - 1);
  return table;
}

/// Logits of the rows that the answer was sampled from, by the decoder alone.
std::vector<std::vector<float>> logitsOf(model::Decoder& decoder, compute::Backend& backend,
                                         const layout::SpanTable& table, std::size_t rows) {
  std::vector<std::vector<float>> logits;
  experiment::computeTable(decoder, backend, table, [&](std::int64_t, std::span<const float> row) {
    logits.emplace_back(row.begin(), row.end());
  });
  logits.erase(logits.begin(), logits.end() - static_cast<std::ptrdiff_t>(rows));
  return logits;
}

std::vector<std::vector<float>> slowLogits(Ran& ran, const layout::SpanTable& table, std::size_t rows) {
  return logitsOf(*ran.spanlet.decoder, *ran.spanlet.backend, table, rows);
}

/// The query of documents on random weights of a family, asked twice, the second time with the documents
/// found.
struct RandomRun {
  RandomRun(const model::ModelConfig& family, const char* policy) : random({}, false, 0, family) {
    run::RunOptions options;
    options.policy = *policy::findChoice(policy);
    for (int i = 0; i < 2; ++i) random.session->run(planOf(kRag), options);
    experiment::FinishedAnswers gathered;
    for (const trace::Event& event : random.sink.events) gathered.take(event);
    answers = gathered.takeRun(2);
  }
  trace::FidelityMeasured measure() {
    return experiment::measureFidelity(
               *random.session,
               {.decoder = *random.decoder, .backend = *random.backend, .tokenizer = random.tokenizer.get()},
               answers.at(0))
        .fidelity;
  }

  test::RandomSession random;
  std::vector<FinishedAnswer> answers;
};

std::vector<long double> slowSoftmax(const std::vector<float>& logits) {
  long double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<long double>(logit));
  std::vector<long double> shares;
  for (const float logit : logits) shares.push_back(std::exp(static_cast<long double>(logit)) / total);
  return shares;
}

double slowDivergence(const std::vector<float>& full, const std::vector<float>& policy) {
  const std::vector<long double> p = slowSoftmax(full);
  const std::vector<long double> q = slowSoftmax(policy);
  long double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * (std::log(p[i]) - std::log(q[i]));
  return static_cast<double>(sum);
}

std::vector<trace::BlockKey> keysIn(const run::Session& session) {
  std::vector<trace::BlockKey> keys;
  for (const trace::BlockState& block : session.dumpPool().blocks) {
    if (block.cached) keys.push_back(block.key);
  }
  return keys;
}

}  // namespace

class TestFidelity : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Answers of a team read each other: a study measures them in the order of their generation.
  void studiesKnowWhoGeneratedTogether() {
    experiment::StudySink sink;
    constexpr RunId kRun = 1;
    sink.send(kRun, 0, {}, trace::RunStarted{.queryJson = "{}", .policy = "views", .seed = 0});
    for (const RequestId request : {1, 2}) {
      sink.send(kRun, request, {}, trace::SpanTableLaidOut{});
      trace::TokenGenerated token;
      token.token = 7;
      sink.send(kRun, request, {}, token);
    }
    sink.send(kRun, 1, {}, trace::TeamFormed{.requests = {1, 2}});
    for (const RequestId request : {1, 2}) sink.send(kRun, request, {}, trace::StepFinished{});
    const std::vector<run::FinishedAnswer> answers = sink.answers().takeRun(kRun);
    QCOMPARE(static_cast<int>(answers.size()), 2);
    for (const run::FinishedAnswer& answer : answers)
      QCOMPARE(static_cast<int>(answer.teammates.members.size()), 2);
  }

  void divergenceByHand() {
    // Shares 1/2, 1/4, 1/4 against 1/4, 1/4, 1/2: ½ ln 2 − ¼ ln 2.
    const std::vector<float> p{std::log(2.0F), 0, 0};
    const std::vector<float> q{0, 0, std::log(2.0F)};
    QVERIFY(std::abs(Distribution(p).divergenceFrom(Distribution(q)) - 0.25 * std::log(2.0)) < 1e-7);
    QCOMPARE(Distribution(p).divergenceFrom(Distribution(p)), 0.0);
    QCOMPARE(Distribution(p).best(), 0);
    QCOMPARE(Distribution(q).best(), 2);
    QVERIFY(std::abs(Distribution(p).probability(0) - 0.5) < 1e-7);
  }

  /// What a newer program recorded is not measured as if it had been done in another way.
  void anUnknownPolicyIsSaid() {
    Ran ran(kRag, "link(3)");
    const auto gather = [&](const std::string& policy, bool isReported = true) {
      experiment::FinishedAnswers gathered;
      for (trace::Event event : ran.spanlet.sink.events) {
        auto* started = std::get_if<trace::RunStarted>(&event.payload);
        if (started != nullptr) started->policy = policy;
        if (started == nullptr || isReported) gathered.take(event);
      }
      return gathered;
    };
    QVERIFY(gather("link(3)").takeRun(1).at(0).policy == *policy::findChoice("link(3)"));
    for (const char* policy : {"magic(3)", "link(-1)", "spans(2)"}) {
      experiment::FinishedAnswers gathered = gather(policy);
      try {
        gathered.takeRun(1);
        QFAIL("replies were given");
      } catch (const Failure& failure) {
        const QString said = QString::fromStdString(failure.error().message());
        QVERIFY2(said.contains(QStringLiteral("policy of run 1")) && said.contains(QLatin1String(policy)),
                 qPrintable(said));
      }
      // What cannot be measured is not kept.
      QVERIFY(gathered.takeRun(1).empty());
    }
    QVERIFY_EXCEPTION_THROWN(gather("link(3)", false).takeRun(1), Failure);
  }

  void divergenceOfAwkwardLogits() {
    // Far apart: sums of plain exponentials would overflow or vanish.
    const std::vector<float> p{20000, 19999, -20000};
    const std::vector<float> q{-20000, -20001, -60000};
    QVERIFY(Distribution(p).divergenceFrom(Distribution(q)) < 1e-12);
    const float none = -std::numeric_limits<float>::infinity();
    const std::vector<float> some{0, 0, none};
    const std::vector<float> other{0, none, 0};
    QVERIFY(std::isinf(Distribution(some).divergenceFrom(Distribution(other))));
    QCOMPARE(Distribution(some).divergenceFrom(Distribution(some)), 0.0);
    // Of equal logits the lowest id.
    QCOMPARE(Distribution(some).best(), 0);
  }

  /// A policy that is exact against full prefill differs in nothing.
  void prefixIsFullPrefill() {
    Ran ran(kRag, "prefix");
    QCOMPARE(ran.answers.size(), std::size_t{1});
    const trace::FidelityMeasured measured = ran.measure(0);
    QCOMPARE(measured.tokens.size(), ran.result.steps.at(0).tokens.size());
    for (const trace::FidelityToken& token : measured.tokens) {
      QCOMPARE(token.divergence, 0.0);
      QCOMPARE(token.policyBest, token.fullBest);
      QCOMPARE(token.policyProbability, token.fullProbability);
    }
    QCOMPARE(measured.fullAnswer, ran.result.steps.at(0).tokens);
    QVERIFY(measured.sameText);
    QCOMPARE(measured.attentionRows, static_cast<std::int32_t>(measured.tokens.size()));
    QCOMPARE(measured.attentionDeviation, std::vector<double>(6, 0.0));
    const trace::FidelityMeasured* one = &measured;
    const trace::FidelityMetrics metricValues = trace::fidelityOf(std::span(&one, 1));
    QCOMPARE(metricValues.agreement(), 1.0);
    QCOMPARE(metricValues.sameAnswers, 1);
    QCOMPARE(metricValues.mostDivergence, 0.0);
  }

  void agreesWithSlowArithmetic() {
    Ran ran(kRag, "spans");
    const trace::FidelityMeasured measured = ran.measure(0);
    const FinishedAnswer& answer = ran.answers.at(0);
    layout::SpanTable table = run::spanTableOf(answer.segments, ran.spanlet.config.vocabularySize);
    table.segments.back().tokens.insert(table.segments.back().tokens.end(), answer.tokens.begin(),
                                        answer.tokens.end() - 1);
    const auto policy = slowLogits(ran, table, answer.tokens.size());
    const auto full = slowLogits(ran, flatTable(answer), answer.tokens.size());
    QVERIFY(policy != full);
    double most = 0;
    for (std::size_t i = 0; i < answer.tokens.size(); ++i) {
      const double slow = slowDivergence(full[i], policy[i]);
      const trace::FidelityToken& token = measured.tokens[i];
      most = std::max(most, slow);
      QVERIFY2(std::abs(token.divergence - slow) <= 1e-12 + 1e-9 * slow, std::to_string(slow).c_str());
      QCOMPARE(token.token, answer.tokens[i]);
      QCOMPARE(token.policyBest,
               TokenId(std::max_element(policy[i].begin(), policy[i].end()) - policy[i].begin()));
      QCOMPARE(token.fullBest, TokenId(std::max_element(full[i].begin(), full[i].end()) - full[i].begin()));
      const auto at = static_cast<std::size_t>(token.token);
      QVERIFY(std::abs(token.fullProbability - static_cast<double>(slowSoftmax(full[i])[at])) < 1e-12);
      QVERIFY(std::abs(token.policyProbability - static_cast<double>(slowSoftmax(policy[i])[at])) < 1e-12);
    }
    QVERIFY(most > 0);
    QCOMPARE(measured.promptTokens, std::int64_t(experiment::visibleTokens(answer.segments).size()));
  }

  /// The rows that a replay shows of the policy's table and of one with a single segment, by single key.
  void attentionAgreesWithReplays() {
    Ran ran(kRag, "spans");
    const FinishedAnswer& answer = ran.answers.at(0);
    const trace::FidelityMeasured measured = ran.measure(0);
    run::AttentionReplayRequest request{.answer = answer, .layer = 4, .singleKeys = true};
    ran.spanlet.session->replayAttention(request);
    layout::SpanTable prompt = flatTable(answer);
    prompt.segments[0].tokens.resize(static_cast<std::size_t>(measured.promptTokens));
    request.answer.segments = run::spanTableEvent(prompt, nullptr).segments;
    ran.spanlet.session->replayAttention(request);
    const auto rows = ran.spanlet.sink.all<trace::ReplayedMass>();
    const std::size_t count = answer.tokens.size();
    QCOMPARE(rows.size(), 2 * count);
    double sum = 0;
    for (std::size_t row = 0; row < count; ++row) {
      const trace::AttentionMass& policy = rows[row].mass;
      const trace::AttentionMass& full = rows[count + row].mass;
      // No prefix is hidden here, so that both list the same keys in the same order.
      QCOMPARE(policy.mass.size(), full.mass.size());
      const std::size_t keys = full.mass.size() / static_cast<std::size_t>(full.heads);
      for (std::size_t head = 0; head < static_cast<std::size_t>(full.heads); ++head) {
        double squares = 0;
        for (std::size_t key = 0; key < keys; ++key)
          squares += std::pow(static_cast<double>(policy.mass[head * keys + key]) -
                                  static_cast<double>(full.mass[head * keys + key]),
                              2);
        sum += std::sqrt(squares) / static_cast<double>(full.heads);
      }
    }
    QVERIFY(sum > 0);
    QVERIFY(std::abs(measured.attentionDeviation.at(4) - sum / static_cast<double>(count)) < 1e-9);
  }

  /// What a full prefill says is what a run under `prefix` says.
  void fullAnswerIsThatOfPrefix() {
    Ran spans(kRag, "spans");
    Ran prefix(kRag, "prefix");
    QCOMPARE(experiment::visibleTokens(spans.answers.at(0).segments),
             experiment::visibleTokens(prefix.answers.at(0).segments));
    const trace::FidelityMeasured measured = spans.measure(0);
    std::vector<TokenId> answer = prefix.answers.at(0).tokens;
    if (answer.size() > measured.fullAnswer.size()) answer.resize(measured.fullAnswer.size());
    QCOMPARE(measured.fullAnswer, answer);
  }

  void otherFamilies_data() {
    QTest::addColumn<QString>("family");
    QTest::addColumn<QString>("policy");
    for (const test::NamedConfig& family : test::familyConfigs()) {
      for (const char* policy : {"prefix", "spans", "shared-prefix", "link(3)", "blend(0.3)", "sparse(2)"})
        QTest::addRow("%s on %s", policy, family.name) << family.name << policy;
    }
  }
  /// Windows, layers without positions, norms elsewhere, and scaled queries: a full prefill is one of the
  /// same model, and what is exact against it differs in nothing.
  void otherFamilies() {
    QFETCH(QString, family);
    QFETCH(QString, policy);
    const std::vector<test::NamedConfig> configs = test::familyConfigs();
    const auto config = std::find_if(configs.begin(), configs.end(),
                                     [&](const test::NamedConfig& each) { return each.name == family; });
    RandomRun ran(config->config, policy.toStdString().c_str());
    const trace::FidelityMeasured measured = ran.measure();
    const FinishedAnswer& answer = ran.answers.at(0);
    QCOMPARE(measured.tokens.size(), answer.tokens.size());
    const auto full =
        logitsOf(*ran.random.decoder, *ran.random.backend, flatTable(answer), answer.tokens.size());
    double most = 0;
    for (std::size_t i = 0; i < answer.tokens.size(); ++i) {
      const trace::FidelityToken& token = measured.tokens[i];
      QCOMPARE(token.fullBest, TokenId(std::max_element(full[i].begin(), full[i].end()) - full[i].begin()));
      const auto at = static_cast<std::size_t>(token.token);
      QVERIFY(std::abs(token.fullProbability - static_cast<double>(slowSoftmax(full[i])[at])) < 1e-12);
      QVERIFY(std::isfinite(token.divergence) && token.divergence >= 0);
      most = std::max(most, token.divergence);
    }
    QCOMPARE(most == 0, policy == "prefix");
    RandomRun prefix(config->config, "prefix");
    std::vector<TokenId> tokens = prefix.answers.at(0).tokens;
    tokens.resize(std::min(tokens.size(), measured.fullAnswer.size()));
    QCOMPARE(measured.fullAnswer, tokens);
  }

  /// Steps that were sampled at random, and a prompt that contains their outputs with hidden prefixes.
  void nestedSteps() {
    Ran ran(kJudge, "spans");
    QCOMPARE(ran.answers.size(), std::size_t{3});
    const FinishedAnswer& last = ran.answers.at(2);
    QVERIFY(std::any_of(last.segments.begin(), last.segments.end(), [](const trace::SegmentInfo& segment) {
      return segment.hidden || segment.visibleBegin > 0;
    }));
    for (std::size_t i = 0; i < 2; ++i) {
      // One segment, so that block attention is a full prefill.
      const trace::FidelityMeasured inner = ran.measure(i);
      for (const trace::FidelityToken& token : inner.tokens) QCOMPARE(token.divergence, 0.0);
      QCOMPARE(std::accumulate(inner.attentionDeviation.begin(), inner.attentionDeviation.end(), 0.0), 0.0);
    }
    const trace::FidelityMeasured measured = ran.measure(2);
    const auto full = slowLogits(ran, flatTable(last), last.tokens.size());
    for (std::size_t i = 0; i < last.tokens.size(); ++i)
      QCOMPARE(measured.tokens[i].fullBest,
               TokenId(std::max_element(full[i].begin(), full[i].end()) - full[i].begin()));
    QVERIFY(std::all_of(measured.attentionDeviation.begin(), measured.attentionDeviation.end(),
                        [](double deviation) { return deviation > 0 && deviation < std::sqrt(2.0); }));
  }

  /// The attention between answers that were written together is part of their difference from a full
  /// prefill.
  void answersWrittenTogether() {
    Ran ran(kTeam, "views");
    QCOMPARE(ran.answers.size(), std::size_t{3});
    double most = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      QCOMPARE(ran.answers[i].teammates.members.size(), std::size_t{2});
      const trace::FidelityMeasured together = ran.measure(i);
      QCOMPARE(together.tokens.front().divergence, 0.0);  // it is drawn before anything is read
      for (const trace::FidelityToken& token : together.tokens) most = std::max(most, token.divergence);
      ran.answers[i].teammates.members.clear();
      for (const trace::FidelityToken& token : ran.measure(i).tokens) QCOMPARE(token.divergence, 0.0);
    }
    QVERIFY(most > 0);
    QVERIFY(ran.answers[2].teammates.members.empty());
    ran.measure(2);
  }

  void changesNothingThatCanBeFound() {
    Ran ran(kRag, "spans");
    const auto before = keysIn(*ran.spanlet.session);
    const trace::FidelityMeasured first = ran.measure(0);
    QCOMPARE(first.recomputedTokens, std::int64_t{0});
    QCOMPARE(keysIn(*ran.spanlet.session), before);
    QVERIFY(ran.measure(0) == first);
    // Evicted blocks are computed again, and the numbers stay.
    ran.spanlet.session->clearCache();
    trace::FidelityMeasured again = ran.measure(0);
    QVERIFY(again.recomputedTokens > 0);
    again.cachedTokens = first.cachedTokens;
    again.recomputedTokens = first.recomputedTokens;
    QVERIFY(again == first);
  }

  void tellsHowFarItIs() {
    Ran ran(kRag, "spans");
    std::vector<double> shares;
    const trace::FidelityMeasured measured =
        experiment::measureFidelity(*ran.spanlet.session, ran.model(), ran.answers.at(0), {},
                                    [&](double share) { shares.push_back(share); })
            .fidelity;
    QVERIFY(measured == ran.measure(0));
    QVERIFY(shares.size() >= 2);
    QVERIFY(std::is_sorted(shares.begin(), shares.end()));
    QVERIFY(shares.front() > 0 && shares.back() > 0.9 && shares.back() <= 1);
  }

  /// The other arithmetic is compared with the model's own arithmetic with slow sums, and the measured values
  /// of the policy do not change.
  void anotherArithmeticIsHeldAgainstF32() {
    Ran ran(kRag, "spans");
    const FinishedAnswer& answer = ran.answers.at(0);
    const auto other = test::makeBackend("cpu", 2, false, compute::Arithmetic::Fast);
    model::Decoder decoder(ran.spanlet.config, *ran.spanlet.weights, *other);
    experiment::FidelityModel model = ran.model();
    model.arithmetic = compute::Arithmetic::Fast;
    model.exactDecoder = &decoder;
    model.exactBackend = other.get();
    std::vector<double> shares;
    const experiment::MeasuredAnswer measured = experiment::measureFidelity(
        *ran.spanlet.session, model, answer, {}, [&](double share) { shares.push_back(share); });
    QVERIFY(measured.fidelity == ran.measure(0));
    QVERIFY(std::is_sorted(shares.begin(), shares.end()) && shares.back() > 0.9 && shares.back() <= 1);
    QVERIFY(measured.arithmetic.has_value());
    QCOMPARE(measured.arithmetic->arithmetic, std::string("fast"));
    QCOMPARE(measured.arithmetic->tokens.size(), answer.tokens.size());
    const auto own = slowLogits(ran, flatTable(answer), answer.tokens.size());
    const auto exact = logitsOf(decoder, *other, flatTable(answer), answer.tokens.size());
    for (std::size_t i = 0; i < answer.tokens.size(); ++i) {
      const trace::ArithmeticToken& token = measured.arithmetic->tokens[i];
      QCOMPARE(token.token, answer.tokens[i]);
      QVERIFY(std::abs(token.divergence - slowDivergence(exact[i], own[i])) < 1e-9);
      QCOMPARE(token.best, Distribution(own[i]).best());
      QCOMPARE(token.exactBest, Distribution(exact[i]).best());
      QCOMPARE(token.probability, Distribution(own[i]).probability(token.token));
      QCOMPARE(token.exactProbability, Distribution(exact[i]).probability(token.token));
    }
    // A model beside itself.
    model.exactDecoder = ran.spanlet.decoder.get();
    model.exactBackend = ran.spanlet.backend.get();
    const auto same = experiment::measureFidelity(*ran.spanlet.session, model, answer).arithmetic;
    for (const trace::ArithmeticToken& token : same->tokens) QCOMPARE(token.divergence, 0.0);
  }

  void isStopped() {
    Ran ran(kRag, "spans");
    std::stop_source stop;
    stop.request_stop();
    bool isThrown = false;
    try {
      experiment::measureFidelity(*ran.spanlet.session, ran.model(), ran.answers.at(0), stop.get_token());
    } catch (const Failure&) {
      isThrown = true;
    }
    QVERIFY(isThrown);
    QVERIFY(!ran.measure(0).tokens.empty());
  }

  void figuresOfSteps() {
    trace::FidelityMeasured greedy;
    greedy.tokens = {{.token = 1, .divergence = 0.5, .policyBest = 1, .fullBest = 1},
                     {.token = 2, .divergence = 0.1, .policyBest = 2, .fullBest = 3}};
    greedy.fullAnswer = {1, 3};
    greedy.attentionRows = 1;
    greedy.attentionDeviation = {0.2, 0.4};
    trace::FidelityMeasured sampled;
    sampled.tokens = {{.token = 9, .divergence = 0, .policyBest = 7, .fullBest = 7}};
    sampled.fullAnswer = {7};
    sampled.attentionRows = 3;
    sampled.attentionDeviation = {0.4, 0};
    const std::vector<const trace::FidelityMeasured*> both{&greedy, &sampled};
    const trace::FidelityMetrics metricValues = trace::fidelityOf(both);
    QCOMPARE(metricValues.steps, 2);
    QCOMPARE(metricValues.tokens, 3);
    QCOMPARE(metricValues.agreeing, 2);
    QCOMPARE(metricValues.sampledSteps, 1);
    QCOMPARE(metricValues.sameAnswers, 0);
    QCOMPARE(metricValues.agreedTokens, 1);
    QCOMPARE(metricValues.answerTokens, 2);
    QVERIFY(std::abs(metricValues.meanDivergence - 0.2) < 1e-15);
    QCOMPARE(metricValues.medianDivergence, 0.1);
    QCOMPARE(metricValues.mostDivergence, 0.5);
    QVERIFY(std::abs(metricValues.attentionDeviation.at(0) - 0.35) < 1e-15);
    QVERIFY(std::abs(metricValues.attentionDeviation.at(1) - 0.1) < 1e-15);
    QCOMPARE(trace::fidelityText(metricValues),
             worded(std::string("KL 0.2 (median 0.1, max 0.5), 2 of 3 tokens agree, 0 of 1 <answer-same>")));
    const std::vector<const trace::FidelityMeasured*> one{&greedy};
    QCOMPARE(
        trace::fidelityText(trace::fidelityOf(one)),
        std::string("KL 0.3 (median 0.3, max 0.5), 1 of 2 tokens agree, different answer after 1 token"));
    QCOMPARE(trace::divergenceText(0.01234), std::string("0.012"));
    QCOMPARE(trace::divergenceText(0), std::string("0"));
  }

  /// Its event belongs to the request of the answer.
  void isPartOfTheTrace() {
    Ran ran(kRag, "spans");
    const FinishedAnswer& answer = ran.answers.at(0);
    ran.spanlet.sink.send(answer.run, answer.request, answer.node, ran.measure(0));
    trace::Replay replay;
    for (const trace::Event& event : ran.spanlet.sink.events) {
      const std::optional<Error> error = replay.apply(event);
      QVERIFY2(!error, error ? error->message().c_str() : "");
    }
  }
};

SPANSCOPE_TEST(tst_fidelity, TestFidelity)
#include "tst_fidelity.moc"
