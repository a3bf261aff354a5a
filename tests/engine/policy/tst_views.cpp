// SPDX-License-Identifier: GPL-3.0-or-later
// The policy views. The test computes generates that read each other in double precision, row by row. One
// generate alone is plain decoding. Answers do not depend on how they were computed.
#include "engine/policy/views/views.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/trace_values.h"
#include "engine/trace/replay.h"
#include "tests/engine/policy/policy_fixture.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/support/tested_device.h"

#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <array>
#include <map>

using namespace spanscope;
using namespace spanscope::testing;
using namespace spanscope::test;
using layout::SpanTable;
using spanscope::product_text::says;

namespace {

using Answers = std::vector<std::vector<TokenId>>;

plan::Plan planOf(const std::string& json) {
  const auto parsed = query::parseJson(json);
  if (!parsed.query) throw Failure({.file = "test", .place = json, .found = "errors", .expected = "a query"});
  return *plan::makePlan(*parsed.query).plan;
}

/// This number of questions about the same two documents, asked at once.
std::string questions(int count, int maxTokens, float temperature = 0) {
  static constexpr std::array kQuestions{"Where does Mira live?", "What does Nils own?", "Who is older?",
                                         "Which town has a clock?", "What is the weather?"};
  std::string json = R"({"plus":[)";
  for (int i = 0; i < count; ++i) {
    json +=
        std::string(i == 0 ? "" : ",") + R"({"g":{"model":"m","max_tokens":)" +
        std::to_string(maxTokens + i) + R"(,"temperature":)" + std::to_string(temperature) +
        R"(,"input":{"cross":[{"plus":[{"user":"Mira lives in Porto with a cat."},{"user":"Nils owns a clock."}]},{"user":")" +
        kQuestions[static_cast<std::size_t>(i) % kQuestions.size()] + R"("}]}}})";
  }
  return json + "]}";
}

struct Ran {
  Answers answers;
  std::int64_t preemptions = 0;
  std::optional<Error> error;
};

template <class AnySession>
Ran runOf(AnySession& session, const std::string& json, const char* policy, run::RunOptions options = {}) {
  options.policy = *policy::findChoice(policy);
  const run::RunResult result = session.session->run(planOf(json), options);
  Ran ran;
  ran.error = result.error;
  for (const run::StepResult& step : result.steps) {
    ran.answers.push_back(step.tokens);
    ran.preemptions += step.metrics.preemptions;
  }
  return ran;
}

/// Members of the teams of a run, from the trace.
run::Teammates teamOf(const test::RecordingSink& sink, const trace::TeamFormed& formed) {
  run::Teammates team;
  for (const RequestId request : formed.requests) {
    run::Teammates::Member& member = team.members.emplace_back();
    member.request = request;
    for (const trace::Event& event : sink.events) {
      if (event.request != request) continue;
      if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload))
        member.segments = table->segments;
      if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload))
        member.answer.push_back(token->token);
    }
  }
  return team;
}

run::FinishedAnswer finished(const run::Teammates& team, std::size_t member) {
  run::FinishedAnswer answer;
  answer.request = team.members[member].request;
  answer.segments = team.members[member].segments;
  answer.tokens = team.members[member].answer;
  answer.policy = policy::kViews;
  answer.teammates = team;
  return answer;
}

/// Logits that each token of each member was sampled from, by the definition: prompts by block attention.
/// Then generated row r of a member is after its prompt, after the rows of the others up to their row r, and
/// after its own earlier rows.
std::vector<std::vector<Numbers>> reference(const PlainTransformer& plain, const run::Teammates& team,
                                            std::int32_t vocabulary) {
  struct Member {
    SpanTable table;
    PromptRows prompt;
    std::size_t turn = 0;         ///< row of the prompt with which those words begin
    std::vector<Numbers> hidden;  ///< of generated rows that are computed
    std::vector<Numbers> last;    ///< of the row that each token is drawn from
  };
  std::vector<Member> members;
  std::vector<PlainTransformer::Forward> prompts;
  std::size_t steps = 0;
  for (const run::Teammates::Member& reported : team.members) {
    const SpanTable table = run::spanTableOf(reported.segments, vocabulary);
    Member& member = members.emplace_back(Member{table, PromptRows(table), 0, {}, {}});
    member.turn = member.prompt.count() - static_cast<std::size_t>(table.segments.back().runs.back().count);
    if (table.segments.back().runs.back().source != layout::TokenRun::Source::Template) return {};
    prompts.push_back(plain.forward(member.prompt.tokens, member.prompt.positions, member.prompt.sees));
    member.last.push_back(prompts.back().hidden.back());
    steps = std::max(steps, reported.answer.size() - 1);
  }
  const auto rowsOf = [&](std::size_t m) { return team.members[m].answer.size() - 1; };
  // Keys turn with the view, so what they are before they are turned is kept: as hidden rows by layer.
  std::vector<std::vector<std::vector<Numbers>>> entering(members.size());  // [member][row][layer]
  for (std::size_t row = 0; row < steps; ++row) {
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (row < rowsOf(m)) members[m].hidden.push_back(plain.embed(team.members[m].answer[row]));
      if (row < rowsOf(m)) entering[m].emplace_back();
    }
    for (std::int32_t layer = 0; layer < plain.layers(); ++layer) {
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (row < rowsOf(m)) entering[m][row].push_back(members[m].hidden[row]);
      }
      for (std::size_t m = 0; m < members.size(); ++m) {
        if (row >= rowsOf(m)) continue;
        const Member& own = members[m];
        std::vector<KeyValue> turned;
        for (const std::size_t key : own.prompt.sees.back()) {
          if (key < own.turn) turned.push_back(prompts[m].keyValues[static_cast<std::size_t>(layer)][key]);
        }
        std::int64_t position = own.prompt.positions[own.turn];
        const auto append = [&](std::size_t other, std::size_t count) {
          const auto& prompt = prompts[other].entering[static_cast<std::size_t>(layer)];
          for (std::size_t r = members[other].turn; r < prompt.size(); ++r)
            turned.push_back(plain.keyValue(layer, prompt[r], position++));
          for (std::size_t r = 0; r < count; ++r)
            turned.push_back(
                plain.keyValue(layer, entering[other][r][static_cast<std::size_t>(layer)], position++));
        };
        for (std::size_t other = 0; other < members.size(); ++other) {
          if (other != m) append(other, std::min(row + 1, rowsOf(other)));
        }
        append(m, row + 1);
        std::vector<const KeyValue*> seen;
        for (const KeyValue& key : turned) seen.push_back(&key);
        members[m].hidden[row] =
            plain.next(layer, entering[m][row][static_cast<std::size_t>(layer)], position - 1, seen);
      }
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (row < rowsOf(m)) members[m].last.push_back(members[m].hidden[row]);
    }
  }
  std::vector<std::vector<Numbers>> logits;
  for (const Member& member : members) {
    std::vector<Numbers>& own = logits.emplace_back();
    for (const Numbers& hidden : member.last) own.push_back(plain.logits(hidden));
  }
  return logits;
}

}  // namespace

class TestViews : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isAsDefined_data() {
    QTest::addColumn<int>("workers");
    QTest::addColumn<bool>("endTokens");
    for (const int workers : {2, 3, 5}) {
      QTest::addRow("%d workers", workers) << workers << false;
      QTest::addRow("%d workers that end at different times", workers) << workers << true;
    }
  }
  void isAsDefined() {
    SKIP_UNLESS_IN_F32();
    QFETCH(int, workers);
    QFETCH(bool, endTokens);
    RandomSession random(poolOf(400, 512), endTokens);
    const PlainTransformer plain(random.shape, *random.weights);
    const Ran ran = runOf(random, questions(workers, 9), "views");
    QVERIFY2(!ran.error, ran.error ? ran.error->message().c_str() : "");
    const auto formed = random.sink.all<trace::TeamFormed>();
    QCOMPARE(formed.size(), std::size_t{1});
    const run::Teammates team = teamOf(random.sink, formed[0]);
    const auto expected = reference(plain, team, random.shape.vocabularySize);
    QCOMPARE(expected.size(), team.members.size());
    for (std::size_t m = 0; m < team.members.size(); ++m) {
      QCOMPARE(team.members[m].answer, ran.answers[m]);
      // The definition samples the same tokens, and a replay of the answer gives its numbers.
      const run::ReplayedAnswer replayed = random.session->replayAnswer(finished(team, m), 0);
      QCOMPARE(replayed.logits.size(), ran.answers[m].size());
      for (std::size_t at = 0; at < ran.answers[m].size(); ++at) {
        const Numbers& own = expected[m][at];
        const auto best = std::max_element(own.begin(), own.end()) - own.begin();
        QCOMPARE(ran.answers[m][at], static_cast<TokenId>(best));
        const double error = relative(replayed.logits[at], own);
        QVERIFY2(error < kClose,
                 qPrintable(QString("worker %1, token %2 is off by %3").arg(m).arg(at).arg(error)));
      }
    }
  }

  void othersAreSeen() {
    RandomSession random(poolOf(400, 512), false);
    const Answers apart = runOf(random, questions(3, 12), "spans").answers;
    const Answers together = runOf(random, questions(3, 12), "views").answers;
    QCOMPARE(together.size(), apart.size());
    for (std::size_t i = 0; i < apart.size(); ++i) QCOMPARE(together[i].front(), apart[i].front());
    QVERIFY(together != apart);
  }

  void oneWorkerIsPlainDecoding_data() {
    QTest::addColumn<QString>("query");
    for (const char* query : {"rag.json", "rag-swapped.json"}) QTest::newRow(query) << query;
  }
  void oneWorkerIsPlainDecoding() {
    QFETCH(QString, query);
    SpanletSession spanlet;
    const auto answersOf = [&](const char* policy) {
      run::RunOptions options;
      options.policy = *policy::findChoice(policy);
      Answers answers;
      for (const run::StepResult& step : spanlet.session->run(bundledPlan(query), options).steps)
        answers.push_back(step.tokens);
      return answers;
    };
    const Answers expected = answersOf("spans");
    QVERIFY(!expected.empty() && !expected.front().empty());
    QCOMPARE(answersOf("views"), expected);
    QVERIFY(spanlet.sink.all<trace::TeamFormed>().empty());
  }

  void answersDoNotDependOnHowTheyAreComputed_data() {
    QTest::addColumn<int>("rowsPerPass");
    QTest::addColumn<int>("blockSize");
    for (const int rows : {1, 3, 17, 512}) {
      for (const int blockSize : {1, 4, 16})
        QTest::addRow("%d rows, blocks of %d", rows, blockSize) << rows << blockSize;
    }
  }
  void answersDoNotDependOnHowTheyAreComputed() {
    QFETCH(int, rowsPerPass);
    QFETCH(int, blockSize);
    RandomSession usual(poolOf(800, 512), true);
    const Answers expected = runOf(usual, questions(4, 15, 0.8F), "views").answers;
    // Twice, so that prompts are found the second time.
    RandomSession other(poolOf(800, rowsPerPass, blockSize), true);
    QCOMPARE(runOf(other, questions(4, 15, 0.8F), "views").answers, expected);
    QCOMPARE(runOf(other, questions(4, 15, 0.8F), "views").answers, expected);
  }

  /// If all members are preempted, answers continue as if nothing had happened.
  void goesOnAfterTheCacheWasEmptied() {
    RandomSession usual(poolOf(400, 512), true);
    const Answers expected = runOf(usual, questions(4, 20), "views").answers;
    for (const int every : {2, 3, 7}) {
      RandomSession emptied(poolOf(400, 512), true);
      run::RunOptions options;
      int asked = 0;
      options.emptyCache = [&asked, every] { return ++asked % every == 0 && asked < 60; };
      const Ran ran = runOf(emptied, questions(4, 20), "views", options);
      QVERIFY2(!ran.error, ran.error ? ran.error->message().c_str() : "");
      QCOMPARE(ran.answers, expected);
      QVERIFY(ran.preemptions > 0);
    }
  }

  /// Who has said all it had to say gives way with the others, which still read it.
  void aMemberThatHasEndedStaysSo() {
    RandomSession emptied(poolOf(400, 512), true);
    run::RunOptions options;
    int asked = 0;
    options.emptyCache = [&asked] { return ++asked < 20; };
    const Ran ran = runOf(emptied, R"({"plus":[
        {"g":{"model":"m","max_tokens":1,"input":{"user":"Who plays?"}}},
        {"g":{"model":"m","max_tokens":6,"input":{"user":"Who sings?"}}}]})",
                          "views", options);
    QVERIFY(!ran.error && ran.preemptions > 2);
    trace::Replay replay;
    for (const trace::Event& event : emptied.sink.events) {
      const auto error = replay.apply(event);
      QVERIFY2(!error, error ? error->message().c_str() : "");
    }
    int ended = 0;
    for (const auto& [id, request] : replay.progress().requests) {
      QVERIFY(request.phase == trace::RequestPhase::Finished);
      ++ended;
    }
    QCOMPARE(ended, 2);
  }

  /// A pool that cannot hold all of a team says so, and the session can be used afterwards.
  void aTeamThatDoesNotFitIsRefused() {
    static const QRegularExpression kNeeded(QStringLiteral("together need (\\d+) blocks of 4"));
    int refused = 0;
    for (std::int32_t blocks = 12; blocks < 80; blocks += 4) {
      RandomSession small(poolOf(blocks, 512), false);
      const Ran ran = runOf(small, questions(4, 30), "views");
      if (ran.error) {
        ++refused;
        const QString found = QString::fromStdString(ran.error->found);
        QVERIFY2(found.contains(QStringLiteral("generate together")), qPrintable(found));
        const int needed = kNeeded.match(found).captured(1).toInt();
        const QString said = QString::fromStdString(ran.error->message());
        const QString tooMany = QStringLiteral(" %1 usable block…: %2 block");
        QVERIFY2(needed >= blocks && says(said, tooMany.arg(blocks - 1).arg(needed - blocks + 1)),
                 qPrintable(said));
      } else {
        RandomSession usual(poolOf(400, 512), false);
        QCOMPARE(ran.answers, runOf(usual, questions(4, 30), "views").answers);
      }
      for (const trace::BlockState& block : small.session->dumpPool().blocks) QCOMPARE(block.references, 0);
      runOf(small, questions(1, 2), "spans");
    }
    QVERIFY(refused > 0);
  }

  /// Members that were asked the same do not wait for each other's words.
  void likeMembersGoOnAfterTheCacheWasEmptied_data() {
    QTest::addColumn<int>("blockSize");
    for (const int blockSize : {1, 5, 8, 16}) QTest::addRow("blocks of %d", blockSize) << blockSize;
  }
  void likeMembersGoOnAfterTheCacheWasEmptied() {
    QFETCH(int, blockSize);
    const std::string alike =
        R"({"plus":[{"repeat":{"n":3,"g":{"model":"m","max_tokens":24,"temperature":0.0,)"
        R"("input":{"user":"Where does Mira live, and why?"}}}}]})";
    RandomSession usual(poolOf(188, 512, blockSize), false);
    const Answers expected = runOf(usual, alike, "views").answers;
    QCOMPARE(expected.size(), std::size_t{3});
    for (int at = 2; at < 30; at += 9) {
      RandomSession emptied(poolOf(188, 512, blockSize), false);
      run::RunOptions options;
      int asked = 0;
      options.emptyCache = [&asked, at] { return ++asked == at; };
      const Ran ran = runOf(emptied, alike, "views", options);
      QVERIFY2(!ran.error, ran.error ? ran.error->message().c_str() : "");
      QCOMPARE(ran.answers, expected);
    }
  }

  /// In pools that are hardly large enough, emptied at any moment, beside requests of their own and before
  /// one that reads them: it is the size of the pool alone that decides whether a run fails.
  void smallPoolsThatAreEmptied() {
    const std::uint64_t seed = testing::testSeed(20261123);
    qInfo("SPANSCOPE_TEST_SEED=%llu", static_cast<unsigned long long>(seed));
    testing::Random random(seed);
    int failed = 0;
    int preempted = 0;
    for (int round = 0; round < 60; ++round) {
      const float temperature = random.below(2) == 0 ? 0 : 0.9F;
      std::string json = questions(2 + static_cast<int>(random.below(3)),
                                   4 + static_cast<int>(random.below(20)), temperature);
      if (random.below(2) == 0)
        json =
            R"({"g":{"model":"m","max_tokens":9,"input":{"cross":[)" + json + R"(,{"user":"Which one?"}]}}})";
      if (random.below(2) == 0)
        json = R"({"seq":[{"g":{"model":"m","max_tokens":30,"input":{"user":"What is a clock?"}}},)" + json +
               "]}";
      RandomSession roomy(poolOf(800, 512), true);
      const Ran expected = runOf(roomy, json, "views");
      QVERIFY2(!expected.error, expected.error ? expected.error->message().c_str() : "");
      const auto blocks = static_cast<std::int32_t>(14 + random.below(44));
      const auto rows = static_cast<std::int32_t>(random.below(2) == 0 ? 512 : 5);
      RandomSession small(poolOf(blocks, rows), true);
      const Ran whole = runOf(small, json, "views");
      RandomSession emptied(poolOf(blocks, rows), true);
      run::RunOptions options;
      int times = 3;
      options.emptyCache = [&] { return random.below(12) == 0 && times-- > 0; };
      const Ran ran = runOf(emptied, json, "views", options);
      QVERIFY2(
          ran.error.has_value() == whole.error.has_value(),
          qPrintable(QString("round %1, %2 blocks: %3")
                         .arg(round)
                         .arg(blocks)
                         .arg(QString::fromStdString((ran.error ? ran.error : whole.error)->message()))));
      if (ran.error) {
        ++failed;
      } else {
        QCOMPARE(whole.answers, expected.answers);
        QCOMPARE(ran.answers, expected.answers);
        preempted += ran.preemptions > 0 ? 1 : 0;
      }
      for (const trace::BlockState& block : emptied.session->dumpPool().blocks) QCOMPARE(block.references, 0);
    }
    qInfo("%d of 60 failed, in %d requests gave way", failed, preempted);
    QVERIFY(failed > 3 && preempted > 10);
  }

  void whatIsWrittenTogetherIsNotFound() {
    RandomSession random(poolOf(400, 512), false);
    runOf(random, questions(2, 12), "views");
    const run::Teammates team = teamOf(random.sink, random.sink.all<trace::TeamFormed>().at(0));
    SpanTable table = run::spanTableOf(team.members[0].segments, random.shape.vocabularySize);
    const std::int64_t prompt = table.tokenCount();
    std::vector<TokenId>& last = table.segments.back().tokens;
    last.insert(last.end(), team.members[0].answer.begin(), team.members[0].answer.end());
    QCOMPARE(random.session->logits({.table = table}).cachedTokens, prompt);
  }

  void stopsWhenAsked() {
    RandomSession random(poolOf(400, 512), false);
    run::RunOptions options;
    options.policy = policy::kViews;
    std::stop_source stop;
    random.sink.onEvent = [&](const trace::Event& event) {
      const auto* token = std::get_if<trace::TokenGenerated>(&event.payload);
      if (token != nullptr && token->index == 5) stop.request_stop();
    };
    const run::RunResult result = random.session->run(planOf(questions(3, 100)), options, stop.get_token());
    QCOMPARE(result.outcome, trace::RunOutcome::Stopped);
    for (const trace::BlockState& block : random.session->dumpPool().blocks) QCOMPARE(block.references, 0);
    std::map<RequestId, int> ends;
    for (const trace::Event& event : random.sink.events) {
      if (std::holds_alternative<trace::StepFinished>(event.payload)) ++ends[event.request];
    }
    QCOMPARE(ends.size(), std::size_t{3});
    for (const auto& [request, count] : ends) QCOMPARE(count, 1);
  }

  /// A view that has no more positions ends the answer, and the others continue.
  void endsWhereTheContextEnds() {
    SpanletSession probe;
    run::RunOptions options;
    options.policy = policy::kViews;
    const run::RunResult all = probe.session->run(planOf(questions(2, 40, 0.9F)), options);
    const std::int64_t prompt = all.steps[0].metrics.promptTokens;
    const std::int64_t answers =
        static_cast<std::int64_t>(all.steps[0].tokens.size() + all.steps[1].tokens.size());
    QVERIFY2(answers > 4, qPrintable(QString::number(answers)));
    SpanletSession tight({}, 2, true, static_cast<std::int32_t>(prompt + answers / 2));
    const run::RunResult cut = tight.session->run(planOf(questions(2, 40, 0.9F)), options);
    QVERIFY2(!cut.error, cut.error ? cut.error->message().c_str() : "");
    QCOMPARE(cut.steps[0].outcome, trace::StepOutcome::ContextLimit);
    std::int64_t written = 0;
    for (const run::StepResult& step : cut.steps) written += static_cast<std::int64_t>(step.tokens.size());
    QVERIFY(written < answers);
  }

  /// Shares of attention on the others and on the rest of the events add up to all of it.
  void sharesMakeUpAllAttention() {
    RandomSession random(poolOf(400, 512), false);
    run::RunOptions options;
    options.observedLayers = {0, 1};
    runOf(random, questions(3, 10), "views", options);
    std::map<std::pair<RequestId, std::int32_t>, double> shares;
    for (const trace::Event& event : random.sink.events) {
      if (const auto* own = std::get_if<trace::SegmentAttention>(&event.payload);
          own != nullptr && own->index > 0) {
        double sum = 0;
        for (const float mass : own->mass) sum += static_cast<double>(mass);
        shares[{event.request, own->index}] += sum / (own->heads * static_cast<double>(own->layers.size()));
      }
      if (const auto* others = std::get_if<trace::TeammateAttention>(&event.payload)) {
        QCOMPARE(others->requests.size(), std::size_t{2});
        double sum = 0;
        for (const float mass : others->mass) sum += static_cast<double>(mass);
        QVERIFY(sum > 0);
        shares[{event.request, others->index}] += sum;
      }
    }
    QVERIFY(shares.size() > 20);
    for (const auto& [row, share] : shares)
      QVERIFY2(std::abs(share - 1) < 1e-4, qPrintable(QString::number(share)));
  }

  void teamsAreTheGeneratesOfAPlus() {
    const plan::Plan judge = bundledPlan("judge-4.json");
    const auto teams = policy::kViews.teams(judge);
    QCOMPARE(teams.size(), std::size_t{1});
    QCOMPARE(teams[0], (std::vector<StepIndex>{0, 1, 2, 3}));
    QVERIFY(policy::kViews.teams(bundledPlan("rag.json")).empty());
  }
};

SPANSCOPE_TEST(tst_views, TestViews)
#include "tst_views.moc"
