// SPDX-License-Identifier: GPL-3.0-or-later
// The probe of a model: what it measures, the rules of its verdict, and the policy that it recommends.
#include "engine/base/error.h"
#include "engine/experiment/probe.h"
#include "engine/policy/policies.h"
#include "engine/text/chat_template.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::experiment;

namespace {

struct Bench {
  ExperimentModel model() {
    return {.name = "spanlet",
            .machine = "a machine",
            .decoder = *spanlet.decoder,
            .backend = *spanlet.backend,
            .tokenizer = spanlet.tokenizer.get(),
            .chat = &chat,
            .session = {},
            .open = [this](const run::SessionConfig& config, trace::Sink& sink) {
              return std::make_unique<run::Session>(config, *spanlet.decoder, *spanlet.backend, "spanlet",
                                                    "spanlet", spanlet.tokenizer.get(), &chat, sink);
            }};
  }
  ProbedModel probe(std::vector<ProbeQuestion> questions, const std::vector<std::string>& policies,
                    std::stop_token stop = {}) {
    ProbedModel result;
    SpeedSample pace;
    reports = 0;
    probeModel(
        result, model(), questions, policies, pace, [this] { ++reports; }, stop);
    return result;
  }

  test::SpanletSession spanlet;
  const text::ChatTemplate& chat = text::findChatTemplate(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  int reports = 0;
};

std::vector<ProbeQuestion> firstTwo() {
  std::vector<ProbeQuestion> questions = builtInQuestions();
  questions.resize(2);
  return questions;
}

/// A model with one policy and these divergences of its questions; `agreeing` of 100 tokens agree in each.
ProbeRow rowWith(const std::vector<double>& divergences, std::int64_t agreeing, std::int64_t computed = 10) {
  ProbedModel model;
  for (const double divergence : divergences)
    model.questions.push_back({.name = "q",
                               .samples = {{.tokens = 100,
                                            .agreeing = agreeing,
                                            .divergence = divergence,
                                            .promptTokens = 300,
                                            .computed = computed}}});
  return probeRows(model, std::vector<std::string>{"spans"}).front();
}

}  // namespace

class TestProbe : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyBuiltInQuestionHasDocuments() {
    const std::vector<ProbeQuestion> questions = builtInQuestions();
    QVERIFY(questions.size() >= 8);
    for (const ProbeQuestion& question : questions) {
      QCOMPARE(countDocuments(question.query).value_or(0), std::size_t{4});
      QVERIFY(!question.isOwn);
    }
    for (const std::string& policy : probedPolicies()) QVERIFY(policy::findChoice(policy).has_value());
    QCOMPARE(probedPolicies().front(), policy::Choice().name());
  }

  void prefixIsAFullPrefill() {
    Bench bench;
    const std::vector<std::string> policies{"spans", "link(all)", "prefix"};
    const ProbedModel found = bench.probe(firstTwo(), policies);
    QCOMPARE(bench.reports, 6);
    QCOMPARE(found.samples(), std::size_t{6});
    QVERIFY(found.isTrained);
    for (const ProbedQuestion& question : found.questions) {
      QVERIFY(!question.answer.empty());
      for (std::size_t i = 1; i < policies.size(); ++i) {
        const ProbeSample& exact = question.samples[i];
        QCOMPARE(exact.problem, std::string());
        QVERIFY(exact.mostDivergence < 1e-9);
        QCOMPARE(exact.agreeing, exact.tokens);
        QVERIFY(exact.sameAnswer);
      }
      // The documents were cached before, in another order.
      const ProbeSample& spans = question.samples.front();
      QVERIFY(spans.mostDivergence > 0);
      QCOMPARE(spans.recomputed, 0);
      QVERIFY(spans.computed < spans.promptTokens / 4);
      QVERIFY(question.samples[1].recomputed + question.samples[1].computed > spans.promptTokens / 2);
      QCOMPARE(question.samples[2].promptTokens, spans.promptTokens);
    }
    const std::vector<ProbeRow> rows = probeRows(found, policies);
    QCOMPARE(rows[2].questions, std::size_t{2});
    QCOMPARE(rows[2].sameAnswers, std::size_t{2});
    QVERIFY(rows[2].level() == ProbeLevel::Close);
    QVERIFY(!probeSentences(found, rows, rows).empty());
    const HeatChart chart = probeChart(found, nullptr, policies);
    QCOMPARE(chart.panels.size(), std::size_t{1});
    QCOMPARE(chart.panels.front().cells.size(), policies.size());
    QVERIFY(chart.panels.front().cells[2][1].has_value());
  }

  void whatIsWrongWithOnePolicyLeavesTheOthers() {
    Bench bench;
    std::vector<ProbeQuestion> questions = firstTwo();
    questions.resize(1);
    const std::vector<std::string> policies{"blend(0.15,layer=900)", "prefix"};
    const ProbedModel found = bench.probe(questions, policies);
    const std::vector<ProbeRow> rows = probeRows(found, policies);
    QCOMPARE(rows[0].questions, std::size_t{0});
    QVERIFY(!rows[0].problem.empty());
    QCOMPARE(rows[1].questions, std::size_t{1});
    QCOMPARE(recommendedPolicy(rows), std::string("prefix"));
  }

  /// The reference can have another prompt than the measured query.
  void comparesWithAnotherPrompt() {
    Bench bench;
    const std::vector<std::string> texts{"The harbour opens at six.", "The library closes at nine."};
    ProbeQuestion same{.name = "same", .query = probeQuery(texts, "When does the library close?")};
    ProbeQuestion other = same;
    same.reference = same.query;
    other.reference = probeQuery({texts[1], texts[0]}, "When does the library close?");
    ProbeQuestion plain{.name = "plain", .query = *other.reference};
    const ProbedModel found = bench.probe({same, other, plain}, {"prefix"});
    const auto sample = [&](std::size_t question) { return found.questions[question].samples.front(); };
    for (std::size_t i = 0; i < 3; ++i) QCOMPARE(sample(i).problem, std::string());
    QVERIFY(sample(0).mostDivergence < 1e-9);
    QVERIFY(sample(1).divergence > 1e-6);
    // The answer is that of the reference.
    QCOMPARE(found.questions[1].answer, found.questions[2].answer);
    const std::vector<TokenAmount> amounts = countProbe(
        bench.model(), std::vector<ProbeQuestion>{same, plain}, std::vector<std::string>{"prefix"}, {});
    QVERIFY(amounts[0].prompt.most > amounts[1].prompt.most - amounts[0].prompt.most);
  }

  void stopEndsTheProbe() {
    Bench bench;
    std::stop_source stop;
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN((void)bench.probe(firstTwo(), {"prefix"}, stop.get_token()), Failure);
  }

  /// The count is the basis of the estimate.
  void theAmountIsCounted() {
    Bench bench;
    const std::vector<ProbeQuestion> questions = firstTwo();
    const std::vector<std::string> policies{"spans", "prefix"};
    const std::vector<TokenAmount> amounts = countProbe(bench.model(), questions, policies, {});
    QCOMPARE(amounts.size(), questions.size());
    const ProbedModel found = bench.probe(questions, policies);
    std::int64_t least = 0;  // the full prefill and prefix compute the whole prompt
    for (const ProbedQuestion& question : found.questions) {
      least += 2 * question.samples.front().promptTokens;
      for (const ProbeSample& sample : question.samples) least += sample.tokens - 1;
    }
    QVERIFY(amounts.back().prompt.least + 100 > least);
    QVERIFY(amounts.back().prompt.most < 4 * least);
    QVERIFY(amounts.front().prompt.most < amounts.back().prompt.most);
  }

  void ownDocumentsAreAskedInSeveralOrders() {
    const OwnDocuments two(probeQuery({"One.", "Two."}, "What?"), "mine");
    const std::vector<ProbeQuestion> questions = ownQuestions(two);
    QCOMPARE(questions.size(), std::size_t{2});
    QVERIFY(questions[0].isOwn && questions[0].query != questions[1].query);
    const OwnDocuments many(
        probeQuery({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"},
                   "What?"),
        "mine");
    QCOMPARE(ownQuestions(many).size(), kMostOwnQuestions);
    QCOMPARE(countDocuments(ownQuestions(many).back().query).value_or(0), kMostOwnDocuments);
  }

  void theVerdictFollowsItsRules() {
    QVERIFY(rowWith({0.01, 0.05}, 99).level() == ProbeLevel::Close);
    QVERIFY(rowWith({0.01, 0.05}, 94).level() == ProbeLevel::Between);
    QVERIFY(rowWith({0.0, 0.0, 0.0, 0.0, 0.21}, 99).level() == ProbeLevel::Between);
    QVERIFY(rowWith({0.06, 0.06}, 99).level() == ProbeLevel::Between);
    QVERIFY(rowWith({0.25, 0.25}, 99).level() == ProbeLevel::Far);
    QVERIFY(rowWith({0.0, 0.0}, 84).level() == ProbeLevel::Far);
  }

  void theCheapestSafePolicyIsRecommended() {
    std::vector<ProbeRow> rows{rowWith({0.3}, 80, 10), rowWith({0.01}, 100, 90), rowWith({0.02}, 100, 50)};
    rows[0].policy = "spans";
    rows[1].policy = "link(64)";
    rows[2].policy = "link(16)";
    QCOMPARE(recommendedPolicy(rows), std::string("link(16)"));
    rows.resize(1);
    QCOMPARE(recommendedPolicy(rows), policy::Choice(policy::policyForAnyCheckpoint()).name());
    QCOMPARE(recommendedPolicy({}), std::string());
  }
};

SPANSCOPE_TEST(tst_probe, TestProbe)
#include "tst_probe.moc"
