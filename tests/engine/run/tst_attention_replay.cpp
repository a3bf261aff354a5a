// SPDX-License-Identifier: GPL-3.0-or-later
// Replays of finished answers: they record what the run itself would have recorded, and change nothing.
#include "engine/metrics/trace_stats.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/observation.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/trace/replay.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

using namespace spanscope;
using spanscope::product_text::worded;
using spanscope::run::AttentionReplayRequest;
using spanscope::run::RunOptions;
using spanscope::run::RunResult;
using spanscope::test::SpanletSession;

namespace {

plan::Plan rag(const std::string& question) {
  const std::string json =
      R"({"g":{"model":"spnl/spanlet","max_tokens":32,"temperature":0.0,"input":{"cross":[)"
      R"({"system":"You are a helpful assistant. Answer from the documents."},{"plus":[)"
      R"({"user":"Mira lives in Lisbon. Mira plays the cello. The lamp gave little light."},)"
      R"({"user":"Tarek is a baker. The pet of Tarek is called Biscuit."}]},{"user":")" +
      question + R"("}]}}})";
  const auto parsed = query::parseJson(json);
  const auto result = plan::makePlan(*parsed.query, {});
  return *result.plan;
}

/// A run with a long answer that has no document in common with rag().
std::shared_ptr<const plan::Plan> longRun() {
  const auto parsed = query::parseJson(
      R"({"g":{"model":"spnl/spanlet","max_tokens":40,"temperature":4.0,"input":{"cross":[)"
      R"({"system":"Tell something."},{"user":"What is the weather like in Quito today, and why?"}]}}})");
  return std::make_shared<const plan::Plan>(*plan::makePlan(*parsed.query, {}).plan);
}

/// A session with one finished answer.
struct Replied {
  explicit Replied(run::SessionConfig config = {}, RunOptions options = {}) : spanlet(config) {
    result = spanlet.session->run(rag("Where does Mira live?"), options);
    request.answer.run = 1;
    request.answer.request = result.steps.at(0).request;
    request.answer.node = "/g";
    request.answer.segments = spanlet.sink.all<trace::SpanTableLaidOut>().at(0).segments;
    request.answer.tokens = result.steps.at(0).tokens;
  }

  SpanletSession spanlet;
  RunResult result;
  AttentionReplayRequest request;
};

RunOptions everyMap() {
  RunOptions options;
  options.observedLayers = {0, 1, 2, 3, 4, 5};
  options.attentionDetail = run::AttentionDetail::Heads;
  options.observeRows = true;
  return options;
}

std::string errorOf(Replied& replied) {
  try {
    replied.spanlet.session->replayAttention(replied.request);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

class TestAttentionReplay : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Bit-equal to the recording of everything, by token and, added up, by block.
  void seesWhatTheRunSaw() {
    const Replied recorded({}, everyMap());
    Replied replied;
    QCOMPARE(replied.request.answer.tokens, recorded.request.answer.tokens);
    replied.request.layer = 3;
    replied.request.singleKeys = true;
    const trace::AttentionReplayed said = replied.spanlet.session->replayAttention(replied.request);
    QCOMPARE(said.layer, 3);
    QCOMPARE(said.head, -1);
    QCOMPARE(said.rows, static_cast<std::int32_t>(replied.request.answer.tokens.size()));
    QCOMPARE(said.recomputedTokens, std::int64_t{0});
    const auto maps = replied.spanlet.sink.all<trace::ReplayedMass>();
    QCOMPARE(maps.size(), replied.request.answer.tokens.size());
    for (std::size_t i = 0; i < maps.size(); ++i) {
      QCOMPARE(maps[i].index, static_cast<std::int32_t>(i));
      QCOMPARE(maps[i].mass.row, said.firstRow + maps[i].index);
      const auto all = recorded.spanlet.sink.all<trace::AttentionMass>();
      const auto same = std::find_if(all.begin(), all.end(), [&](const trace::AttentionMass& mass) {
        return mass.layer == 3 && mass.segment == maps[i].mass.segment && mass.row == maps[i].mass.row;
      });
      QVERIFY(same != all.end());
      QVERIFY(*same == maps[i].mass);
    }

    replied.request.singleKeys = false;
    replied.request.head = 2;
    replied.spanlet.session->replayAttention(replied.request);
    const auto blocks = replied.spanlet.sink.all<trace::ReplayedMass>();
    QCOMPARE(blocks.size(), 2 * maps.size());
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const trace::AttentionMass& fine = maps[i].mass;
      const trace::AttentionMass& coarse = blocks[maps.size() + i].mass;
      QCOMPARE(coarse.heads, 1);
      QCOMPARE(coarse.keySpan, 16);
      const std::size_t width = fine.mass.size() / 4;
      double first = 0;
      for (std::size_t key = 0; key < std::min<std::size_t>(16, static_cast<std::size_t>(fine.keyBlocks[0]));
           ++key) {
        first += static_cast<double>(fine.mass[2 * width + key]);
      }
      QVERIFY(std::abs(first - static_cast<double>(coarse.mass[0])) < 1e-6);
    }
  }

  void isMarkedAndBelongsToItsRequest() {
    Replied replied;
    replied.request.layer = 0;
    const std::size_t before = replied.spanlet.sink.events.size();
    replied.spanlet.session->replayAttention(replied.request);
    trace::Replay replay;
    for (const trace::Event& event : replied.spanlet.sink.events) {
      const std::optional<Error> error = replay.apply(event);
      QVERIFY2(!error, error ? error->message().c_str() : "");
    }
    QCOMPARE(replay.progress().runs.size(), std::size_t{1});
    QCOMPARE(replay.progress().runs.at(1).requests.size(), std::size_t{1});
    const std::vector<trace::Event> events = replied.spanlet.sink.events;
    int marked = 0;
    for (std::size_t i = before; i < events.size(); ++i) {
      const bool isOfReplay = std::holds_alternative<trace::AttentionReplayed>(events[i].payload) ||
                              std::holds_alternative<trace::ReplayedMass>(events[i].payload);
      QCOMPARE(events[i].run, isOfReplay ? RunId{1} : RunId{0});
      QVERIFY(!std::holds_alternative<trace::AttentionMass>(events[i].payload));
      if (isOfReplay) QCOMPARE(events[i].request, replied.request.answer.request);
      marked += isOfReplay ? 1 : 0;
    }
    QCOMPARE(marked, static_cast<int>(replied.request.answer.tokens.size()) + 1);
    // The sums over runs are those of the runs.
    const metrics::TraceStats all = metrics::stats(events);
    const metrics::TraceStats ofRun = metrics::stats(std::span(events).first(before));
    QCOMPARE(all.promptTokens, ofRun.promptTokens);
    QCOMPARE(all.requests, ofRun.requests);
    QCOMPARE(all.passes, ofRun.passes);
    QCOMPARE(all.blocksHit, ofRun.blocksHit);
  }

  /// What the cache can find is the same before and after, and so are later answers.
  void changesNothingThatIsFound() {
    Replied replied;
    Replied untouched;
    const auto keysOf = [](const SpanletSession& spanlet) {
      std::vector<trace::BlockKey> keys;
      for (const trace::BlockState& block : spanlet.session->dumpPool().blocks) {
        if (block.cached) keys.push_back(block.key);
        if (block.references != 0) keys.push_back({});
      }
      return keys;
    };
    replied.request.layer = 5;
    replied.spanlet.session->replayAttention(replied.request);
    QVERIFY(keysOf(replied.spanlet) == keysOf(untouched.spanlet));
    const RunResult next = replied.spanlet.session->run(rag("What is the name of the pet of Tarek?"), {});
    const RunResult expected =
        untouched.spanlet.session->run(rag("What is the name of the pet of Tarek?"), {});
    QCOMPARE(next.steps[0].tokens, expected.steps[0].tokens);
    QCOMPARE(next.steps[0].metrics.cachedTokens, expected.steps[0].metrics.cachedTokens);
    QCOMPARE(next.steps[0].metrics.relocatedTokens, expected.steps[0].metrics.relocatedTokens);
  }

  void computesAgainWhatWasEvicted() {
    Replied kept;
    Replied evicted;
    for (Replied* replied : {&kept, &evicted}) {
      replied->request.layer = 4;
      replied->request.singleKeys = true;
    }
    evicted.spanlet.session->clearCache();
    const trace::AttentionReplayed said = evicted.spanlet.session->replayAttention(evicted.request);
    QCOMPARE(said.cachedTokens, std::int64_t{0});
    QCOMPARE(said.recomputedTokens, evicted.result.steps[0].metrics.promptTokens - 1);
    kept.spanlet.session->replayAttention(kept.request);
    QVERIFY(evicted.spanlet.sink.all<trace::ReplayedMass>() == kept.spanlet.sink.all<trace::ReplayedMass>());
    // The prompt's blocks are in the pool again, so that the next layer costs only the answer.
    evicted.request.layer = 2;
    const trace::AttentionReplayed next = evicted.spanlet.session->replayAttention(evicted.request);
    QVERIFY(next.recomputedTokens < 16);
  }

  void refusesWhatCannotBe_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("message");
    QTest::newRow("layer") << 0 << "layer: Spanscope found 6, but needs 0 to 5";
    QTest::newRow("head") << 1 << "head: Spanscope found -2, but needs -1 to 3";
    QTest::newRow("no reply") << 2
                              << worded("answer: Spanscope found no tokens, but needs <replay-one-token>");
    QTest::newRow("token") << 3 << worded("<token-reply>: Spanscope found 2048, but needs 0 to 2047");
    QTest::newRow("segment")
        << 4
        << worded("segment 1: Spanscope found attention to segment 1, but needs <attention-earlier-only>");
    QTest::newRow("no segments")
        << 5 << worded("span table: Spanscope found <no-tokens-last>, but needs <replay-one-token>");
    QTest::newRow("too long")
        << 6
        << worded("prompt and answer: <prompt-answer-have> 40054 tokens. <models-context-is> 32768 tokens.");
    QTest::newRow("too much") << 7 << worded("<attention-seen>: Spanscope found ");
  }
  void refusesWhatCannotBe() {
    QFETCH(int, which);
    QFETCH(QString, message);
    Replied replied;
    const std::size_t before = replied.spanlet.sink.events.size();
    AttentionReplayRequest& request = replied.request;
    if (which == 0) request.layer = 6;
    if (which == 1) request.head = -2;
    if (which == 2) request.answer.tokens.clear();
    if (which == 3) request.answer.tokens.push_back(2048);
    if (which == 4) request.answer.segments[1].sees = {1};
    if (which == 5) request.answer.segments.clear();
    if (which == 6) request.answer.tokens.resize(40'000, 9);
    if (which == 7) {
      request.answer.tokens.resize(4'000, 9);
      request.singleKeys = true;
    }
    const QString found = QString::fromStdString(errorOf(replied));
    QVERIFY2(found.startsWith(message), qPrintable(found));
    QCOMPARE(replied.spanlet.sink.events.size(), before);
  }

  /// It shares the passes of a run, also where one has to give way to the other. Both see and say what they
  /// do alone.
  void goesOnBesideARun() {
    run::SessionConfig config;
    config.blockSize = 4;
    config.rowsPerPass = 4;
    Replied alone(config);
    alone.request.layer = 4;
    alone.request.singleKeys = true;
    alone.spanlet.session->replayAttention(alone.request);
    const auto rows = alone.spanlet.sink.all<trace::ReplayedMass>();
    const RunResult answer = alone.spanlet.session->run(*longRun(), {});
    QVERIFY(answer.steps[0].tokens.size() > 10);
    int shared = 0;
    int gaveWay = 0;
    int both = 0;
    for (std::int32_t blocks = 24; blocks <= 60; ++blocks) {
      config.blockCount = blocks;
      Replied beside(config);
      if (beside.result.outcome != trace::RunOutcome::Finished) continue;
      beside.request.layer = 4;
      beside.request.singleKeys = true;
      run::Session& session = *beside.spanlet.session;
      session.clearCache();
      const RunId run = session.begin(longRun(), {});
      session.advance();
      session.beginReplay(beside.request);
      QVERIFY(session.isReplaying());
      QVERIFY_EXCEPTION_THROWN(session.beginReplay(beside.request), Failure);
      QVERIFY_EXCEPTION_THROWN(session.replayAnswer(beside.request.answer, 0), Failure);
      std::optional<RunResult> result;
      std::optional<trace::AttentionReplayed> said;
      while (session.isRunning() || session.isReplaying()) session.advance();
      result = session.take(run);
      said = session.takeReplay();
      QVERIFY(result && said);
      QVERIFY(!session.takeReplay());
      QCOMPARE(result->answer, answer.answer);
      QCOMPARE(said->cachedTokens + said->recomputedTokens, beside.result.steps[0].metrics.promptTokens - 1);
      QVERIFY(beside.spanlet.sink.all<trace::ReplayedMass>() == rows);
      ++both;
      RequestId replaying = 0;
      trace::Replay replay;
      for (const trace::Event& event : beside.spanlet.sink.events) {
        const auto error = replay.apply(event);
        QVERIFY2(!error, error ? error->message().c_str() : "");
        if (event.run == 0 && event.request != 0) replaying = event.request;
        if (event.run == 0 && std::holds_alternative<trace::RequestPreempted>(event.payload)) ++gaveWay;
        const auto* pass = std::get_if<trace::BatchComputed>(&event.payload);
        if (pass == nullptr || pass->entries.size() < 2) continue;
        shared += std::any_of(pass->entries.begin(), pass->entries.end(),
                              [&](const auto& entry) { return entry.request == replaying; })
                      ? 1
                      : 0;
      }
      for (const trace::BlockState& block : session.dumpPool().blocks) QCOMPARE(block.references, 0);
    }
    QVERIFY(both > 5);
    QVERIFY(shared > 5);
    QVERIFY(gaveWay > 0);
  }

  /// A stop ends the replay after the current pass, and sends none of its events; the run continues to its
  /// end.
  void aStopLeavesTheRunBesideIt() {
    Replied beside;
    run::Session& session = *beside.spanlet.session;
    session.clearCache();
    std::stop_source stop;
    const RunId run = session.begin(longRun(), {});
    session.beginReplay(beside.request, stop.get_token());
    session.advance();
    stop.request_stop();
    while (session.isReplaying()) session.advance();
    QVERIFY_EXCEPTION_THROWN(session.takeReplay(), Failure);
    QVERIFY(session.isRunning());
    while (session.isRunning()) session.advance();
    QCOMPARE(session.take(run)->outcome, trace::RunOutcome::Finished);
    QVERIFY(beside.spanlet.sink.all<trace::AttentionReplayed>().empty());
    session.replayAttention(beside.request);
    QCOMPARE(beside.spanlet.sink.all<trace::AttentionReplayed>().size(), std::size_t{1});
  }

  void aStopLeavesTheSessionUsable() {
    Replied replied;
    std::stop_source stop;
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN(replied.spanlet.session->replayAttention(replied.request, stop.get_token()),
                             Failure);
    QVERIFY(replied.spanlet.sink.all<trace::AttentionReplayed>().empty());
    replied.spanlet.session->replayAttention(replied.request);
    QCOMPARE(replied.spanlet.sink.all<trace::AttentionReplayed>().size(), std::size_t{1});
  }
};

SPANSCOPE_TEST(tst_attention_replay, TestAttentionReplay)
#include "tst_attention_replay.moc"
