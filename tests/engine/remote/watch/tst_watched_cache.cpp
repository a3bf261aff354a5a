// SPDX-License-Identifier: GPL-3.0-or-later
// The cache of another server from its KV events, and the trace of this cache.
#include "engine/base/hash.h"
#include "engine/query/json/json.h"
#include "engine/remote/watch/event_batch.h"
#include "engine/remote/watch/watched_cache.h"
#include "engine/trace/predicted.h"
#include "engine/trace/recorder.h"
#include "engine/trace/replay.h"
#include "tests/engine/remote/watch/recorded_events.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::watch;

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kSecond = 1'000'000'000;
const WatchedLane kDevice{.publisher = 0, .group = 0, .medium = "GPU"};

/// A cache with its trace.
struct Traced {
  explicit Traced(WatchedServer server = {.program = "vLLM 1", .address = "http://here", .model = "m"})
      : recorder({.keepEvents = true, .clock = {}}),
        cache(recorder, std::move(server), [](TokenId token) { return std::to_string(token); }) {}

  trace::Recorder recorder;
  WatchedCache cache;

  void take(std::vector<KvEvent> events, std::int64_t now = 0, std::size_t publisher = 0) {
    cache.take(publisher, {.time = 0, .events = std::move(events)}, now);
  }
  /// The state after all events; the events must agree with each other.
  trace::Replay replayed() const {
    trace::Replay replay;
    for (const trace::Event& event : recorder.events()) {
      if (const std::optional<Error> error = replay.apply(event)) qFatal("%s", error->message().c_str());
    }
    return replay;
  }
  template <class Payload>
  std::vector<Payload> all() const {
    std::vector<Payload> found;
    for (const trace::Event& event : recorder.events()) {
      if (const auto* payload = std::get_if<Payload>(&event.payload)) found.push_back(*payload);
    }
    return found;
  }
};

/// The contents of a pool without block numbers and owners.
std::vector<std::string> contents(const trace::PoolState& pool) {
  std::vector<std::string> lines;
  for (const trace::BlockState& block : pool.blocks) {
    if (!block.cached) continue;
    std::string line = std::to_string(block.key.high) + " " + std::to_string(block.key.low) + " after " +
                       std::to_string(block.parent.high) + ":";
    for (const TokenId token : block.tokens) line += " " + std::to_string(token);
    lines.push_back(std::move(line));
  }
  std::ranges::sort(lines);
  return lines;
}

KvBlocksStored blocks(std::vector<std::uint64_t> hashes, std::optional<std::uint64_t> parent = {}) {
  KvBlocksStored stored{.hashes = std::move(hashes), .parent = parent, .tokens = {}, .blockSize = 2};
  for (const std::uint64_t hash : stored.hashes) {
    stored.tokens.push_back(static_cast<TokenId>(10 * hash));
    stored.tokens.push_back(static_cast<TokenId>(10 * hash + 1));
  }
  return stored;
}

/// The number of tokens at the beginning of a prompt whose blocks are in the pool.
std::int64_t foundIn(const trace::PoolState& pool, const std::vector<TokenId>& prompt,
                     const std::string& salt) {
  trace::BlockKey parent{.high = salt.empty() ? 0 : hash128(salt + '\0').low,
                         .low = std::uint64_t{1} << 32U | 1};
  std::size_t found = 0;
  while (true) {
    const auto next = std::ranges::find_if(pool.blocks, [&](const trace::BlockState& block) {
      return block.cached && block.parent == parent && block.fill > 0 &&
             found + block.tokens.size() <= prompt.size() &&
             std::equal(block.tokens.begin(), block.tokens.end(),
                        prompt.begin() + static_cast<std::ptrdiff_t>(found));
    });
    if (next == pool.blocks.end()) return static_cast<std::int64_t>(found);
    found += next->tokens.size();
    parent = next->key;
  }
}

}  // namespace

class TestWatchedCache : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void recordedEvents();
  void recordedRequests_data();
  void recordedRequests();
  void sequences();
  void quietSequencesEnd();
  void evictedBlocks();
  void copies();
  void clearedCache();
  void groupsAndRanks();
  void otherMedia();
  void filledGap();
  void unfilledGap();
  void lateStart();
  void growingPool();
  void countedTokens();
  void noBlocks();
};

/// All messages of a live vLLM.
void TestWatchedCache::recordedEvents() {
  const auto messages = recordedMessages(SPANSCOPE_GOLDEN_DIR "/vllm-events/events.bin.gz");
  if (messages.empty()) QSKIP("golden/vllm-events is not there");
  Traced traced({.program = "vLLM", .address = "a", .model = "m", .blockSize = 32, .blocks = 31});
  std::vector<std::uint64_t> expected;
  for (const RecordedMessage& message : messages) {
    const KvBatch batch = readBatch(message.payload);
    traced.cache.take(0, batch, static_cast<std::int64_t>(message.number) * kSecond);
    for (const KvEvent& event : batch.events) {
      if (const auto* stored = std::get_if<KvBlocksStored>(&event)) {
        expected.insert(expected.end(), stored->hashes.begin(), stored->hashes.end());
      } else if (const auto* removed = std::get_if<KvBlocksRemoved>(&event)) {
        for (const std::uint64_t hash : removed->hashes) expected.erase(std::ranges::find(expected, hash));
      } else {
        expected.clear();
      }
    }
    // No event needs more blocks than the server has.
    QVERIFY(traced.cache.pool().blocks.size() == 32);
  }
  std::ranges::sort(expected);
  QVERIFY(traced.cache.hashes(kDevice) == expected);
  QVERIFY(!expected.empty());
  QCOMPARE(traced.cache.contradictions(), std::uint64_t{0});
  traced.cache.end(0);
  QVERIFY(contents(traced.replayed().pool().state()) == contents(traced.cache.pool()));
  QVERIFY(!traced.recorder.contradiction());
}

void TestWatchedCache::recordedRequests_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<int>("requests");
  QTest::newRow("events") << QStringLiteral(SPANSCOPE_GOLDEN_DIR "/vllm-events/requests.jsonl.gz") << 290;
  QTest::newRow("live") << QStringLiteral(SPANSCOPE_GOLDEN_DIR "/vllm-live/vllm-live.jsonl.gz") << 800;
}

/// Before each request, the cache has exactly the beginning of the prompt that the server then reported as
/// cached. The server reports a reset with its next step.
void TestWatchedCache::recordedRequests() {
  QFETCH(QString, file);
  QFETCH(int, requests);
  int checked = 0;
  for (const std::string& line : gzipLines(file.toUtf8().constData())) {
    const Json scenario = Json::parse(line);
    if (scenario.value("setup", "") == "b128-default") continue;  // has no events
    const auto blockSize = scenario["block_size"].get<std::int32_t>();
    Traced traced({.program = "vLLM",
                   .address = "a",
                   .model = "m",
                   .blockSize = blockSize,
                   .blocks = scenario["blocks"].get<std::int64_t>() - 1});
    std::map<std::string, std::string> salts;
    bool isReset = false;
    for (const Json& op : scenario["ops"]) {
      const std::string name = op.value("request", "");
      if (op["op"] == "admit") {
        const auto prompt = op["prompt"].get<std::vector<TokenId>>();
        salts[name] = op.value("salt", "");
        const std::int64_t most = (static_cast<std::int64_t>(prompt.size()) - 1) / blockSize * blockSize;
        const std::int64_t found =
            isReset ? 0 : std::min(most, foundIn(traced.cache.pool(), prompt, salts[name]));
        if (found != op["cached"].get<std::int64_t>()) QFAIL((line.substr(0, 60) + " " + name).c_str());
        ++checked;
      }
      if (op["op"] == "reset" && op["ok"].get<bool>()) isReset = true;
      for (const char* const key : {"live_events", "events"}) {
        if (!op.contains(key)) continue;
        for (const Json& event : op[key]) {
          if (event.contains("cleared")) {
            isReset = false;
            traced.take({KvCleared{}});
          } else if (event.contains("removed")) {
            traced.take({KvBlocksRemoved{.hashes = event["removed"].get<std::vector<std::uint64_t>>()}});
          } else {
            KvBlocksStored stored{.hashes = event["stored"].get<std::vector<std::uint64_t>>(),
                                  .parent = {},
                                  .tokens = event["tokens"].get<std::vector<TokenId>>(),
                                  .blockSize = blockSize};
            if (!event["parent"].is_null()) stored.parent = event["parent"].get<std::uint64_t>();
            stored.extraKeys.emplace(stored.hashes.size());
            if (!stored.parent && !salts[name].empty())
              stored.extraKeys->front() = std::vector<std::string>{salts[name]};
            traced.take({stored});
          }
        }
      }
    }
    QCOMPARE(traced.cache.contradictions(), std::uint64_t{0});
    traced.cache.end(0);
    QVERIFY(contents(traced.replayed().pool().state()) == contents(traced.cache.pool()));
  }
  if (checked == 0) QSKIP("the golden data is missing");
  QVERIFY(checked >= requests);
}

void TestWatchedCache::sequences() {
  Traced traced;
  traced.take({blocks({1, 2})});
  traced.take({blocks({3}, 2)});  // goes on
  traced.take({blocks({4}, 1)});  // begins with block 1
  traced.cache.end(kSecond);
  const trace::Replay replay = traced.replayed();
  const auto& requests = replay.progress().requests;
  QCOMPARE(requests.size(), std::size_t{2});
  QVERIFY(requests.at(1).segments[0].tokens == (std::vector<TokenId>{10, 11, 20, 21, 30, 31}));
  QVERIFY(requests.at(1).segments[0].texts == (std::vector<std::string>{"10", "11", "20", "21", "30", "31"}));
  QVERIFY(requests.at(2).segments[0].tokens == (std::vector<TokenId>{10, 11, 40, 41}));
  QCOMPARE(requests.at(1).blocks.size(), std::size_t{3});
  QVERIFY(requests.at(2).blocks.at({0, 0}).outcome == trace::LookupOutcome::Hit);
  QCOMPARE(requests.at(2).blocks.at({0, 0}).block, requests.at(1).blocks.at({0, 0}).block);
  QVERIFY(requests.at(2).blocks.at({0, 1}).outcome == trace::LookupOutcome::Miss);
  QCOMPARE(replay.progress().program, "vLLM 1" + std::string(trace::kWatchedMark));
  QCOMPARE(replay.pool().cachedCount(), std::size_t{4});
  QCOMPARE(replay.progress().runs.size(), std::size_t{1});
  QVERIFY(query::parseJson(*replay.progress().runs.at(1).queryJson).query.has_value());
}

/// A later turn of a conversation is a new sequence, and a later run.
void TestWatchedCache::quietSequencesEnd() {
  Traced traced;
  traced.take({blocks({1})}, 0);
  traced.cache.tick(WatchedCache::kQuietTime);
  traced.take({blocks({2}, 1)}, WatchedCache::kQuietTime + 1);
  traced.cache.end(WatchedCache::kQuietTime + 2);
  const trace::Replay replay = traced.replayed();
  QCOMPARE(replay.progress().runs.size(), std::size_t{2});
  QVERIFY(replay.progress().requests.at(2).segments[0].tokens == (std::vector<TokenId>{10, 11, 20, 21}));
  QVERIFY(replay.progress().requests.at(2).blocks.at({0, 0}).outcome == trace::LookupOutcome::Hit);
  // Many sequences at once: the oldest end.
  Traced many;
  for (std::uint64_t hash = 1; hash <= 3 * WatchedCache::kMostOpen; ++hash)
    many.take({blocks({hash})}, static_cast<std::int64_t>(hash));
  const auto finished = many.all<trace::StepFinished>();
  QCOMPARE(finished.size(), 2 * WatchedCache::kMostOpen);
}

void TestWatchedCache::evictedBlocks() {
  Traced traced;
  traced.take({blocks({1, 2})});
  traced.take({KvBlocksRemoved{.hashes = {2}}});
  traced.take({blocks({2}, 1)});
  const trace::Replay replay = traced.replayed();
  QCOMPARE(replay.progress().evicted, std::uint64_t{1});
  const auto lookups = traced.all<trace::BlockLookedUp>();
  QVERIFY(lookups.front().reason == trace::MissReason::NeverSeen);
  QVERIFY(lookups.back().reason == trace::MissReason::Evicted);
  const auto events = traced.recorder.events();
  QVERIFY(std::holds_alternative<trace::BlockRemoved>(events[lookups.back().evictedBy - 1].payload));
  traced.take({KvBlocksRemoved{.hashes = {77}}});
  QCOMPARE(traced.cache.contradictions(), std::uint64_t{1});
}

/// vLLM stores and removes each copy of a block.
void TestWatchedCache::copies() {
  Traced traced;
  traced.take({blocks({1}), blocks({1})});
  QVERIFY(traced.cache.hashes(kDevice) == (std::vector<std::uint64_t>{1, 1}));
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{2});
  traced.take({KvBlocksRemoved{.hashes = {1}}});
  QVERIFY(traced.cache.hashes(kDevice) == (std::vector<std::uint64_t>{1}));
  traced.take({KvBlocksRemoved{.hashes = {1}}});
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{0});
  QCOMPARE(traced.cache.contradictions(), std::uint64_t{0});
}

void TestWatchedCache::clearedCache() {
  Traced traced;
  traced.take({blocks({1, 2}), KvCleared{}, blocks({3})});
  QVERIFY(traced.cache.hashes(kDevice) == (std::vector<std::uint64_t>{3}));
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{1});
  traced.cache.restart(0, 0);
  QVERIFY(traced.cache.hashes(kDevice).empty());
}

void TestWatchedCache::groupsAndRanks() {
  Traced traced;
  KvBlocksStored other = blocks({1});
  other.group = 1;
  other.blockSize = 4;
  traced.take({blocks({1}), other}, 0, 0);
  traced.take({blocks({1})}, 0, 1);
  QCOMPARE(traced.cache.lanes().size(), std::size_t{3});
  QCOMPARE(traced.replayed().pool().blockSize(), 4);
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{3});
  traced.take({KvBlocksRemoved{.hashes = {1}, .group = 1}}, 0, 0);
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{2});
  // A publisher clears only its own blocks.
  traced.take({KvCleared{}}, 0, 0);
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{1});
  QVERIFY(traced.cache.hashes({.publisher = 1, .group = 0, .medium = "GPU"}) ==
          (std::vector<std::uint64_t>{1}));
}

/// A copy in host memory is not a block of the device.
void TestWatchedCache::otherMedia() {
  Traced traced;
  KvBlocksStored host = blocks({1});
  host.medium = "CPU";
  traced.take({blocks({1}), host});
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{1});
  QCOMPARE(traced.all<trace::BlockSpilled>().size(), std::size_t{1});
  traced.take({KvBlocksRemoved{.hashes = {1}}});
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{0});
  QVERIFY(traced.cache.hashes({.publisher = 0, .group = 0, .medium = "CPU"}) ==
          (std::vector<std::uint64_t>{1}));
}

void TestWatchedCache::filledGap() {
  Traced traced;
  traced.take({blocks({1, 2})});
  traced.cache.beginGap(0, 2, 0);
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{2});
  const trace::PoolState during = traced.replayed().pool().state();
  QVERIFY(std::ranges::all_of(during.blocks, [](const auto& block) { return block.fill == 0; }));
  traced.take({KvBlocksRemoved{.hashes = {2}}});
  traced.take({blocks({3}, 1)});
  traced.cache.endGap(0, true, 0);
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{0});
  QVERIFY(traced.cache.hashes(kDevice) == (std::vector<std::uint64_t>{1, 3}));
  const trace::PoolState after = traced.replayed().pool().state();
  QVERIFY(contents(after) == contents(traced.cache.pool()));
  QVERIFY(
      std::ranges::none_of(after.blocks, [](const auto& block) { return block.cached && block.fill == 0; }));
  QCOMPARE(traced.cache.contradictions(), std::uint64_t{0});
}

/// Blocks become known again with later events about them.
void TestWatchedCache::unfilledGap() {
  Traced traced;
  traced.take({blocks({1, 2})});
  traced.cache.beginGap(0, 5, 0);
  traced.take({blocks({5})});  // replayed before the lost messages
  traced.cache.endGap(0, false, 0);
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{3});
  traced.take({KvBlocksRemoved{.hashes = {5}}});
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{2});
  traced.take({blocks({1})});
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{1});
  traced.take({KvBlocksRemoved{.hashes = {99}}});  // stored in the gap
  traced.take({KvBlocksRemoved{.hashes = {2}}});
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{0});
  QCOMPARE(traced.cache.contradictions(), std::uint64_t{0});
  QVERIFY(contents(traced.replayed().pool().state()) == contents(traced.cache.pool()));
  QCOMPARE(traced.replayed().progress().warnings, std::uint64_t{2});
}

/// If the number of blocks is known, the other blocks are unknown until the server reports them.
void TestWatchedCache::lateStart() {
  Traced traced({.program = "vLLM", .address = "a", .model = "m", .blockSize = 2, .blocks = 4});
  traced.cache.startLate(0, 0);
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{4});
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{4});
  traced.take({KvBlocksRemoved{.hashes = {50}}, blocks({1, 2})});
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{2});
  QVERIFY(traced.all<trace::BlockLookedUp>().front().reason == trace::MissReason::None);
  QVERIFY(contents(traced.replayed().pool().state()) == contents(traced.cache.pool()));
  traced.take({KvCleared{}});
  QCOMPARE(traced.cache.unknownBlocks(), std::int64_t{0});
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{0});
}

void TestWatchedCache::growingPool() {
  Traced traced;
  constexpr std::uint64_t kMany = 3000;
  for (std::uint64_t hash = 1; hash <= kMany; ++hash)
    traced.take({blocks({hash}, hash == 1 ? std::nullopt : std::optional(hash - 1))});
  QCOMPARE(traced.replayed().pool().cachedCount(), std::size_t{kMany});
  QCOMPARE(traced.replayed().pool().blockCount(), std::size_t{4097});
  // A long sequence has few layouts.
  QVERIFY(traced.all<trace::SpanTableLaidOut>().size() < 80);
  traced.cache.end(0);
  QCOMPARE(traced.replayed().progress().requests.at(1).segments[0].tokens.size(), std::size_t{2 * kMany});
}

void TestWatchedCache::countedTokens() {
  Traced traced({.program = "vLLM", .address = "a", .model = "m", .blockSize = 2, .countsTokens = true});
  traced.cache.count({.prompt = 1000, .cached = 900}, 0);
  traced.cache.count({.prompt = 1000, .cached = 900}, 1);
  QVERIFY(traced.replayed().progress().requests.empty());
  traced.cache.count({.prompt = 1100, .cached = 960}, 2);
  traced.cache.count({.prompt = 10, .cached = 5}, 3);  // a new server
  traced.cache.count({.prompt = 20, .cached = 5}, 4);
  const trace::Replay replay = traced.replayed();
  QCOMPARE(replay.progress().requests.size(), std::size_t{2});
  QCOMPARE(replay.progress().requests.at(1).promptTokens, std::int64_t{100});
  QCOMPARE(replay.progress().requests.at(1).cachedTokens, std::int64_t{60});
  QVERIFY(replay.progress().requests.at(2).reported->cached == trace::CachedState::MeasuredZero);
  QVERIFY(traced.cache.countedTokens() == (TokenTotals{.prompt = 110, .cached = 60}));
}

/// A server whose events are not received has no pool.
void TestWatchedCache::noBlocks() {
  Traced traced({.program = "vLLM", .address = "a", .model = "m", .hasBlocks = false, .countsTokens = true});
  traced.cache.count({.prompt = 1, .cached = 0}, 0);
  QCOMPARE(traced.replayed().pool().blockCount(), std::size_t{0});
}

SPANSCOPE_TEST(tst_watched_cache, TestWatchedCache)
#include "tst_watched_cache.moc"
