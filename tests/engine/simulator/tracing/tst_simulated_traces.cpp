// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of the caches of simulators: events that a replay accepts, with the counts of the recordings.
#include "engine/simulator/servers.h"
#include "engine/simulator/tracing/cache_tracer.h"
#include "engine/trace/predicted.h"
#include "engine/trace/replay.h"
#include "engine/trace/trace_file.h"
#include "tests/engine/simulator/scenario_lines.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::simulator;
using namespace spanscope::simulator::testing;
using spanscope::product_text::worded;

namespace {

/// What a trace says of one request.
struct Told {
  std::vector<trace::BlockLookedUp> lookups;
  std::vector<BlockId> taken;
  std::optional<trace::RequestAdmitted> admitted;
  std::optional<trace::StepOutcome> outcome;

  std::vector<BlockId> found() const {
    std::vector<BlockId> blocks;
    for (const trace::BlockLookedUp& lookup : lookups)
      if (lookup.outcome == trace::LookupOutcome::Hit) blocks.push_back(lookup.block);
    return blocks;
  }
  std::int64_t tokens(trace::LookupOutcome how) const {
    std::int64_t sum = 0;
    for (const trace::BlockLookedUp& lookup : lookups)
      if (lookup.outcome == how) sum += lookup.tokens;
    return sum;
  }
  std::int64_t missed(trace::MissReason reason) const {
    std::int64_t sum = 0;
    for (const trace::BlockLookedUp& lookup : lookups)
      if (lookup.reason == reason) sum += lookup.wanted;
    return sum;
  }
};

struct Story {
  Json found;
  std::vector<trace::Event> events;
  std::vector<Told> requests;  ///< in the order in which they came
  trace::Replay replay;
  std::string problem;  ///< the first contradiction; empty: none
};

void read(Story& story) {
  for (const trace::Event& event : story.events) {
    if (story.problem.empty()) {
      if (const auto error = story.replay.apply(event)) story.problem = error->message();
    }
    if (event.request == 0) continue;
    if (story.requests.size() < event.request) story.requests.resize(event.request);
    Told& traced = story.requests[event.request - 1];
    if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload))
      traced.lookups.push_back(*lookup);
    if (const auto* taken = std::get_if<trace::BlockAllocated>(&event.payload))
      traced.taken.push_back(taken->block);
    if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload))
      traced.admitted = *admitted;
    if (const auto* finished = std::get_if<trace::StepFinished>(&event.payload))
      traced.outcome = finished->outcome;
  }
}

Story storyOf(const Server& server, const std::string& line) {
  Story story;
  ScenarioTrace teller(server);
  story.found = Json::parse(replayLine(server, line, "scenarios.jsonl", 1, &teller));
  story.events = teller.events();
  read(story);
  return story;
}

template <class Payload>
std::size_t countOf(const std::vector<trace::Event>& events) {
  return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [](const trace::Event& event) {
    return std::holds_alternative<Payload>(event.payload);
  }));
}

/// Tokens of the blocks that nobody uses and that can be found, or cannot.
std::int64_t unusedTokens(const trace::Replay& replay, bool isCached) {
  std::int64_t blocks = 0;
  for (std::size_t i = 1; i < replay.pool().blockCount(); ++i) {
    const trace::BlockState& block = replay.pool().blocks()[i];
    blocks += block.references == 0 && block.cached == isCached ? 1 : 0;
  }
  return blocks * replay.pool().blockSize();
}

/// Why the story is not that of the scenario; empty: it is.
std::string vllmDifference(const Story& story) {
  std::size_t next = 0;
  std::size_t removed = 0;
  std::size_t stored = 0;
  constexpr std::int64_t kNotReported = -1;
  std::int64_t freeBlocks = story.found["blocks"].get<std::int64_t>() - 1;
  for (const Json& op : story.found["ops"]) {
    for (const Json& event : op["events"]) {
      if (event.contains("removed")) ++removed;
      if (event.contains("stored")) stored += event["stored"].size();
    }
    if (op.contains("free_blocks")) freeBlocks = op["free_blocks"].get<std::int64_t>();
    if (op["op"] == "decode") {
      for (const Json& step : op["steps"]) {
        // A request that is refused a block gives back all it has.
        if (step.contains("refused")) freeBlocks = kNotReported;
        if (freeBlocks != kNotReported)
          freeBlocks -= static_cast<std::int64_t>(step.value("blocks", Json::array()).size());
      }
    }
    if (op["op"] != "admit") continue;
    if (next >= story.requests.size()) return "too few requests";
    const Told& traced = story.requests[next++];
    if (op.contains("refused")) {
      if (traced.admitted || !traced.lookups.empty() || traced.outcome != trace::StepOutcome::Failed)
        return "request " + std::to_string(next) + ": it was refused";
      continue;
    }
    if (!traced.admitted || traced.admitted->cachedTokens != op["cached"].get<std::int64_t>())
      return "request " + std::to_string(next) + ": other cached tokens";
    if (traced.tokens(trace::LookupOutcome::Hit) != op["cached"].get<std::int64_t>()) return "other hits";
    if (traced.found() != op["hit_blocks"].get<std::vector<BlockId>>()) return "other blocks are found";
    const auto own = op["new_blocks"].get<std::vector<BlockId>>();
    if (traced.taken.size() < own.size() || !std::equal(own.begin(), own.end(), traced.taken.begin()))
      return "other blocks are taken";
  }
  std::size_t removals = 0;
  for (const trace::Event& event : story.events) {
    const auto* removal = std::get_if<trace::BlockRemoved>(&event.payload);
    if (removal != nullptr && removal->reason == trace::RemovalReason::Evicted) ++removals;
  }
  if (removals != removed) return "other removals";
  if (countOf<trace::BlockStored>(story.events) != stored) return "other blocks are stored";
  if (freeBlocks != kNotReported && static_cast<std::int64_t>(story.replay.pool().freeCount()) != freeBlocks)
    return std::to_string(story.replay.pool().freeCount()) + " free instead of " + std::to_string(freeBlocks);
  return {};
}

std::string sglangDifference(const Story& story) {
  std::size_t next = 0;
  std::int64_t evicted = 0;
  const Json* last = nullptr;
  for (const Json& op : story.found["ops"]) {
    for (const Json& tokens : op["evicted"]) evicted += tokens.get<std::int64_t>();
    last = &op;
    if (op["op"] != "admit") continue;
    if (next >= story.requests.size()) return "too few requests";
    const Told& traced = story.requests[next++];
    if (op.contains("refused")) {
      if (traced.admitted || traced.outcome != trace::StepOutcome::Failed) return "it was refused";
      continue;
    }
    if (!traced.admitted || traced.admitted->cachedTokens != op["cached"].get<std::int64_t>() ||
        traced.tokens(trace::LookupOutcome::Hit) != op["cached"].get<std::int64_t>())
      return "request " + std::to_string(next) + ": other cached tokens";
  }
  std::int64_t removed = 0;
  for (const trace::Event& event : story.events) {
    const auto* removal = std::get_if<trace::BlockRemoved>(&event.payload);
    if (removal != nullptr && removal->reason == trace::RemovalReason::Evicted)
      removed += story.replay.pool().blockSize();
  }
  if (removed != evicted) return std::to_string(removed) + " evicted instead of " + std::to_string(evicted);
  if (last == nullptr) return {};
  const auto found = [last](const char* name) { return (*last)[name].get<std::int64_t>(); };
  if (unusedTokens(story.replay, true) != found("evictable")) return "other tokens are evictable";
  if (unusedTokens(story.replay, false) != found("free_tokens")) return "other tokens are free";
  return {};
}

std::string llamaDifference(const Story& story) {
  std::size_t next = 0;
  std::map<std::int64_t, std::int64_t> held;
  bool hasRefused = false;
  for (const Json& request : story.found["requests"]) {
    if (next >= story.requests.size()) return "too few requests";
    const Told& traced = story.requests[next++];
    if (request.contains("refused")) {
      hasRefused = true;
      if (traced.admitted || traced.outcome != trace::StepOutcome::Failed) return "it was refused";
      continue;
    }
    const auto found = request["cache_n"].get<std::int64_t>();
    if (!traced.admitted || traced.admitted->cachedTokens != found ||
        traced.tokens(trace::LookupOutcome::Hit) + traced.tokens(trace::LookupOutcome::Relocated) != found)
      return "request " + std::to_string(next) + ": other cached tokens";
    if (static_cast<std::int64_t>(traced.lookups.size()) - found != request["prompt_n"].get<std::int64_t>())
      return "request " + std::to_string(next) + ": other computed tokens";
    held[request["slot"].get<std::int64_t>()] = request["tokens_cached"].get<std::int64_t>();
  }
  // With one room for all slots, others may have been cleared.
  if (hasRefused || story.found.value("kv_unified", false)) return {};
  const auto sum = std::accumulate(held.begin(), held.end(), std::int64_t{0},
                                   [](std::int64_t all, const auto& slot) { return all + slot.second; });
  return static_cast<std::int64_t>(story.replay.pool().cachedCount()) == sum
             ? std::string()
             : std::to_string(story.replay.pool().cachedCount()) + " cells are kept instead of " +
                   std::to_string(sum);
}

/// The events as a file has them.
std::string fileDifference(const Story& story) {
  const std::vector<std::uint8_t> bytes =
      trace::traceBytes(story.events, {.program = "test"}, {.eventsPerChunk = 64});
  const bool isSame = trace::readTrace(bytes, "told.trace").events == story.events;
  return isSame ? std::string() : "the file has other events";
}

struct Prompt {
  std::vector<TokenId> prompt;
  std::vector<TokenId> answer;
};

/// The prompts of a recorded scenario of llama-server.
std::vector<Prompt> promptsIn(const std::string& line) {
  std::vector<Prompt> prompts;
  const Json scenario = Json::parse(line);
  for (const Json& request : scenario["requests"]) {
    Prompt& prompt = prompts.emplace_back();
    prompt.prompt = request["request"]["prompt"].get<std::vector<TokenId>>();
    if (request.contains("tokens")) prompt.answer = request["tokens"].get<std::vector<TokenId>>();
  }
  return prompts;
}

}  // namespace

class TestToldTraces : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void recordings_data() {
    QTest::addColumn<QString>("server");
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("count");
    const QString own = SPANSCOPE_TEST_DATA_DIR;
    QTest::newRow("vLLM") << "vllm" << SPANSCOPE_GOLDEN_DIR "/vllm/kv-cache-manager.jsonl.gz" << 120;
    QTest::newRow("vLLM, extra keys") << "vllm" << own + "/vllm-extra-keys.jsonl.gz" << 60;
    QTest::newRow("SGLang") << "sglang" << own + "/sglang.jsonl.gz" << 120;
    QTest::newRow("SGLang, unified") << "sglang" << own + "/sglang-unified.jsonl.gz" << 40;
    QTest::newRow("llama.cpp") << "llama.cpp" << SPANSCOPE_GOLDEN_DIR "/llama-server/completions.jsonl.gz"
                               << 40;
    QTest::newRow("llama.cpp, options") << "llama.cpp" << own + "/llama-server.jsonl.gz" << 60;
    QTest::newRow("llama.cpp, conversations")
        << "llama.cpp" << own + "/llama-server-conversations.jsonl.gz" << 24;
  }
  /// Emitting events changes no cache hits, and the events have the counts of the recording.
  void recordings() {
    QFETCH(QString, server);
    QFETCH(QString, file);
    QFETCH(int, count);
    const std::vector<std::string> lines = scenarioLines(file.toStdString());
    if (lines.empty() && file.startsWith(SPANSCOPE_GOLDEN_DIR)) QSKIP("the golden data is missing");
    QCOMPARE(int(lines.size()), count);
    const Server& own = *findServer(server.toStdString());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Story story = storyOf(own, lines[i]);
      std::string difference = story.problem;
      if (difference.empty() && !sameValue(story.found, replayed(own, Json::parse(lines[i]))))
        difference = "telling changes what is found";
      if (difference.empty() && server == "vllm") difference = vllmDifference(story);
      if (difference.empty() && server == "sglang") difference = sglangDifference(story);
      if (difference.empty() && server == "llama.cpp") difference = llamaDifference(story);
      if (difference.empty() && i % 8 == 0) difference = fileDifference(story);
      QVERIFY2(difference.empty(), ("line " + std::to_string(i + 1) + ": " + difference).c_str());
      QVERIFY(trace::isPredicted(story.replay.progress().program));
      QCOMPARE(story.replay.progress().time, std::int64_t{0});
      QCOMPARE(story.replay.progress().runs.at(1).requests.size(), story.requests.size());
    }
  }

  void answers_data() {
    QTest::addColumn<QString>("server");
    QTest::addColumn<int>("room");
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("slots");
    QTest::addColumn<int>("chunk");
    QTest::newRow("vLLM") << "vllm" << 0 << 0 << 0 << 0;
    QTest::newRow("vLLM, full") << "vllm" << 640 << 8 << 0 << 0;
    QTest::newRow("SGLang") << "sglang" << 0 << 0 << 0 << 0;
    QTest::newRow("SGLang, full") << "sglang" << 600 << 1 << 0 << 0;
    QTest::newRow("SGLang, pages") << "sglang" << 640 << 16 << 0 << 0;
    QTest::newRow("llama.cpp, four slots") << "llama.cpp" << 0 << 0 << 0 << 0;
    QTest::newRow("llama.cpp, one slot") << "llama.cpp" << 2048 << 0 << 1 << 0;
    QTest::newRow("llama.cpp, moving") << "llama.cpp" << 4096 << 0 << 2 << 8;
  }
  /// The events of a request have the counts of its answer, and the cache keeps the blocks of answers.
  void answers() {
    QFETCH(QString, server);
    QFETCH(int, room);
    QFETCH(int, block);
    QFETCH(int, slots);
    QFETCH(int, chunk);
    const Server& own = *findServer(server.toStdString());
    std::int64_t found = 0;
    std::int64_t gone = 0;
    for (const std::string& line :
         scenarioLines(SPANSCOPE_TEST_DATA_DIR "/llama-server-conversations.jsonl.gz")) {
      const auto simulator =
          own.open({.cacheTokens = room, .blockSize = block, .slots = slots, .chunk = chunk});
      const auto silent = simulator->copy();
      CacheTracer teller(
          {.program = tracedProgram(own), .setup = "here", .model = {}, .shape = simulator->shape()},
          [](TokenId token) { return std::to_string(token); });
      std::vector<Answer> answers;
      for (const Prompt& prompt : promptsIn(line)) {
        teller.follow(kServedName, {.run = 1, .request = static_cast<RequestId>(answers.size() + 1)});
        const Request request{.prompt = prompt.prompt, .answer = prompt.answer, .salt = {}};
        answers.push_back(simulator->serve(request, &teller));
        QVERIFY(silent->serve(request) == answers.back());
      }
      Story story;
      story.events = teller.events();
      read(story);
      QCOMPARE(story.problem, std::string());
      QCOMPARE(story.requests.size(), answers.size());
      for (std::size_t i = 0; i < answers.size(); ++i) {
        const Told& traced = story.requests[i];
        QCOMPARE(traced.admitted.has_value(), !answers[i].isRefused);
        std::map<Fate, std::int64_t> fates;
        for (const FateRun& run : answers[i].fates) fates[run.fate] += run.count;
        QCOMPARE(traced.tokens(trace::LookupOutcome::Hit), fates[Fate::Found]);
        QCOMPARE(traced.tokens(trace::LookupOutcome::Relocated), fates[Fate::Moved]);
        QCOMPARE(traced.missed(trace::MissReason::LastToken), fates[Fate::AlwaysRecomputed]);
        if (traced.admitted) QCOMPARE(traced.admitted->cachedTokens, std::int64_t{answers[i].cached});
        found += fates[Fate::Found];
        gone += traced.missed(trace::MissReason::Evicted);
      }
      QCOMPARE(story.replay.pool().freeCount() + 1, story.replay.pool().blockCount());
    }
    QVERIFY(found > 0);
    QVERIFY(gone > 0 || room == 0);
  }

  /// Why a block is not found, in the words of the engine's own cache.
  void reasons() {
    const auto simulator = findServer("vllm")->open({.cacheTokens = 24, .blockSize = 4});
    CacheTracer teller(
        {.program = "vLLM (cache simulator)", .setup = {}, .model = {}, .shape = simulator->shape()},
        [](TokenId token) { return std::to_string(token); });
    const auto serve = [&](RequestId request, const std::vector<TokenId>& prompt) {
      teller.follow(kServedName, {.run = 1, .request = request, .node = "/g", .step = request});
      simulator->serve({.prompt = prompt, .answer = {}, .salt = {}}, &teller);
    };
    serve(1, {1, 2, 3, 4, 5, 6, 7, 8});
    serve(2, {1, 2, 3, 4, 5, 6, 7, 8});
    serve(3, {1, 2, 3, 4, 5, 6, 9, 9, 5, 6, 7, 8});
    serve(4,
          {30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53});
    serve(5, {1, 2, 3, 4, 9, 9});
    Story story;
    story.events = teller.events();
    read(story);
    QCOMPARE(story.problem, std::string());
    const auto lookup = [&story](std::size_t request, std::size_t block) {
      return story.requests.at(request - 1).lookups.at(block);
    };
    QVERIFY(lookup(1, 0).reason == trace::MissReason::NeverSeen);
    QVERIFY(lookup(1, 1).reason == trace::MissReason::AfterMiss);
    QVERIFY(lookup(2, 0).outcome == trace::LookupOutcome::Hit);
    QCOMPARE(lookup(2, 0).storedByRequest, RequestId{1});
    QCOMPARE(lookup(2, 0).storedByNode, NodePath("/g"));
    QVERIFY(lookup(2, 1).reason == trace::MissReason::LastToken);
    const trace::BlockLookedUp differs = lookup(3, 1);
    QVERIFY(differs.reason == trace::MissReason::TokensDiffer);
    QCOMPARE(differs.differsAt, 6);
    QCOMPARE(differs.tokenWanted, 9);
    QCOMPARE(differs.tokenStored, 7);
    QVERIFY(lookup(3, 2).reason == trace::MissReason::AfterMiss);
    const trace::BlockLookedUp evicted = lookup(5, 0);
    QVERIFY(evicted.reason == trace::MissReason::Evicted);
    const trace::Event& by = story.events.at(static_cast<std::size_t>(evicted.evictedBy - 1));
    QVERIFY(std::holds_alternative<trace::BlockRemoved>(by.payload));
    QCOMPARE(by.request, RequestId{4});
    QVERIFY(lookup(5, 1).reason == trace::MissReason::AfterMiss);
  }

  /// After the numbers of a window's own runs.
  void numbers() {
    Story story = storyOf(*findServer("vllm"), R"({"block_size":2,"blocks":9,"ops":[
      {"op":"admit","request":"a","prompt":[1,2,3]},{"op":"free","request":"a"},
      {"op":"admit","request":"b","prompt":[1,2,4]}]})");
    std::vector<trace::Event> events = story.events;
    countFrom(events, 7, 30);
    trace::Replay replay;
    for (const trace::Event& event : events) QVERIFY(!replay.apply(event));
    QCOMPARE(replay.progress().runs.size(), std::size_t{1});
    QVERIFY(replay.progress().runs.contains(8));
    QCOMPARE(replay.progress().runs.at(8).policy, worded(std::string("vLLM<policy-predicted>")));
    QCOMPARE(replay.progress().requests.at(32).cachedTokens, std::int64_t{2});
    for (const trace::Event& event : events) {
      if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload);
          lookup != nullptr && lookup->outcome == trace::LookupOutcome::Hit) {
        QCOMPARE(lookup->storedByRun, RunId{8});
        QCOMPARE(lookup->storedByRequest, RequestId{31});
      }
    }
    QVERIFY(replay.progress().runs.at(8).outcome == trace::RunOutcome::Stopped);
  }
};

SPANSCOPE_TEST(tst_simulated_traces, TestToldTraces)
#include "tst_simulated_traces.moc"
