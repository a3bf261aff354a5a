// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/replay.h"
#include "tests/engine/trace/random_value.h"
#include "tests/engine/trace/replay_state.h"
#include "tests/engine/trace/simulated_engine.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>
#include <limits>
#include <variant>

using namespace spanscope;
using namespace spanscope::trace;
using spanscope::product_text::matches;
using spanscope::product_text::worded;

namespace {

constexpr RunId kRun = 1;
constexpr RequestId kRequest = 1;

/// A pool of blocks 0 … count − 1 of four tokens, all free, in ascending order.
PoolState freshPool(std::int32_t count) {
  PoolState pool;
  pool.blockSize = 4;
  pool.blocks.resize(static_cast<std::size_t>(count));
  for (BlockId id = 1; id < count; ++id) pool.freeOrder.push_back(id);
  return pool;
}

SessionStarted session(PoolState pool) {
  SessionStarted payload;
  payload.program = "test";
  payload.layers = 2;
  payload.pool = std::move(pool);
  return payload;
}

BlockStored stored(BlockId block, std::uint64_t key, std::vector<TokenId> tokens) {
  BlockStored payload;
  payload.block = block;
  payload.key = {0, key};
  payload.parent = {9, 9};
  payload.virtualIndex = 2;
  payload.base = 32;
  payload.tokens = std::move(tokens);
  return payload;
}

BlockState storedState(std::int32_t references, std::uint64_t key, std::vector<TokenId> tokens) {
  BlockState state;
  state.references = references;
  state.cached = true;
  state.key = {0, key};
  state.parent = {9, 9};
  state.fill = static_cast<std::int32_t>(tokens.size());
  state.base = 32;
  state.virtualIndex = 2;
  state.storedByRun = kRun;
  state.storedByRequest = kRequest;
  state.storedByNode = "/g";
  state.tokens = std::move(tokens);
  return state;
}

SegmentInfo segment(std::size_t tokens) {
  SegmentInfo info;
  info.tokens.assign(tokens, 5);
  info.texts.assign(tokens, "x");
  TokenRunInfo run;
  run.count = static_cast<std::int32_t>(tokens);
  info.runs = {run};
  return info;
}

/// Sends payloads of one request to a replay.
class Script {
 public:
  Script() = default;
  explicit Script(PoolState pool) { must(session(std::move(pool))); }

  std::optional<Error> apply(Payload payload, RequestId request = kRequest, RunId run = kRun) {
    Event event{next, static_cast<std::int64_t>(next) * 10, 1, run, request, "/g", std::move(payload)};
    std::optional<Error> error = replay.apply(event);
    if (!error) ++next;
    return error;
  }
  void must(Payload payload, RequestId request = kRequest, RunId run = kRun) {
    if (const std::optional<Error> error = apply(std::move(payload), request, run)) {
      QFAIL(error->message().c_str());
    }
  }
  const RequestState& request(RequestId id = kRequest) const { return replay.progress().requests.at(id); }
  BlockState block(BlockId id) const { return replay.pool().blocks()[static_cast<std::size_t>(id)]; }

  Replay replay;
  std::uint64_t next = 1;
};

using Blocks = std::vector<BlockId>;

}  // namespace

Q_DECLARE_METATYPE(spanscope::trace::Payload)
Q_DECLARE_METATYPE(std::vector<spanscope::trace::Payload>)

class TestReplay : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void poolRules();
  void contradictions_data();
  void contradictions();
  void poolsThatAreNone_data();
  void poolsThatAreNone();
  void requestFromStartToEnd();
  void nodeIsThatOfTheStep();
  void copyKeepsTheOwnBlock();
  void failedStep();
  void runsAndPlans();
  void gapUntilSnapshot();
  void beginsInTheMiddle();
  void order();
  void clampedSums();
  void saysWhatAttentionIsLeftOut();
  void copiesShareWhatDoesNotChange();
  void equalsPlainAccount();
  void garbageChangesNothing();
  void largePoolIsQuick();
};

void TestReplay::poolRules() {
  Script script(freshPool(5));
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{1, 2, 3, 4}));
  script.must(BlockAllocated{1, 0, 0});
  script.must(BlockAllocated{2, 0, 1});
  script.must(BlockAllocated{3, 0, 2});
  QCOMPARE(script.block(1).references, 1);
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{4}));
  QCOMPARE(script.replay.pool().freeCount(), std::size_t{1});

  script.must(stored(1, 11, {1, 2, 3, 4}));
  script.must(stored(2, 12, {5, 6}));
  QVERIFY(script.block(1) == storedState(1, 11, {1, 2, 3, 4}));
  QCOMPARE(script.replay.pool().cachedCount(), std::size_t{2});

  script.must(BlockShared{1, 0, 0, 2});
  QCOMPARE(script.block(1).references, 2);
  script.must(BlockReleased{1, 1});
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{4}));

  // Not cached: to the front. Cached: to the back, partial blocks first.
  script.must(BlockReleased{3, 0});
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{3, 4}));
  script.must(BlockReleased{2, 0});
  script.must(BlockReleased{1, 0});
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{3, 4, 2, 1}));

  // A hit takes a block out of the middle.
  script.must(BlockShared{4, 0, 0, 1});
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{3, 2, 1}));
  script.must(BlockShared{2, 0, 0, 1});
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{3, 1}));

  // A partial block grows.
  script.must(BlockRemoved{2, {0, 12}, RemovalReason::Grown});
  QCOMPARE(script.block(2).references, 1);
  QVERIFY(!script.block(2).cached);
  script.must(stored(2, 13, {5, 6, 7}));
  QVERIFY(script.block(2) == storedState(1, 13, {5, 6, 7}));

  // An eviction leaves the place in the list until the allocation.
  script.must(BlockRemoved{1, {0, 11}, RemovalReason::Evicted});
  QVERIFY(script.block(1) == BlockState());
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{3, 1}));
  script.must(BlockAllocated{1, 0, 0});
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{3}));
  QCOMPARE(script.replay.progress().evicted, std::uint64_t{1});

  script.must(BlockCopied{2, 1, 3});
  script.must(BlockReleased{1, 0});
  script.must(BlockReleased{2, 0});
  script.must(BlockReleased{4, 0});
  QCOMPARE(script.replay.pool().freeOrder(), (Blocks{4, 1, 3, 2}));

  script.must(CacheCleared());
  QVERIFY(script.replay.pool().state() == freshPool(5));
  QCOMPARE(script.replay.pool().cachedCount(), std::size_t{0});

  PoolState other = freshPool(5);
  other.blocks[3] = storedState(2, 5, {1});
  other.freeOrder = {4, 1, 2};
  script.must(Snapshot{other, 17});
  QVERIFY(script.replay.pool().state() == other);
  QCOMPARE(script.replay.pool().cachedCount(), std::size_t{1});
  QCOMPARE(script.replay.progress().lost, std::uint64_t{17});
}

void TestReplay::contradictions_data() {
  QTest::addColumn<std::vector<Payload>>("before");
  QTest::addColumn<Payload>("payload");
  QTest::addColumn<QString>("message");
  using Before = std::vector<Payload>;
  const auto row = [](const char* name, Before before, Payload payload, const char* message) {
    QTest::newRow(name) << std::move(before) << std::move(payload) << message;
  };
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  row("prompt read beyond its end", {}, PromptReported{.total = 9, .cached = 4, .processed = 10},
      "token counts: Spanscope found 4 cached of 10 read of 9, but needs 0 ≤ cached ≤ read ≤ total");
  ServerReported reported;
  reported.cached = CachedState::Found;
  row("found and nothing found", {}, reported, "cached tokens: Spanscope found 0 found, but needs …");
  reported.promptTokens = 3;
  reported.cachedTokens = 4;
  row("more found than there are", {}, reported, "cached tokens: Spanscope found 4, but needs at most 3");
  reported.promptTokens = 4;
  reported.seconds = -1;
  row("a time that is none", {}, reported, "seconds: Spanscope found …, but needs …");
  row("null block", {}, BlockAllocated{0, 0, 0}, "block: Spanscope found 0, but needs 1 to 4");
  row("negative block", {}, BlockReleased{kLeast, 0}, "block: Spanscope found -2147483648, but needs 1 to 4");
  row("block out of range", {}, BlockShared{5, 0, 0, 1}, "block: Spanscope found 5, but needs 1 to 4");
  row("copy from out of range", {}, BlockCopied{kMost, 1, 1},
      "block: Spanscope found 2147483647, but needs 1 to 4");
  row("copy to out of range", {}, BlockCopied{1, -1, 1}, "block: Spanscope found -1, but needs 1 to 4");
  row("copy of too many slots", {}, BlockCopied{1, 2, 5},
      "block 2: Spanscope found 5 slots copied, but needs 0 to 4");
  row("allocated twice", {BlockAllocated{1, 0, 0}}, BlockAllocated{1, 0, 0},
      "block 1: Spanscope found allocated with 1 reference, but needs a free block");
  row("allocated while cached", {BlockAllocated{1, 0, 0}, stored(1, 3, {1}), BlockReleased{1, 0}},
      BlockAllocated{1, 0, 0},
      "block 1: Spanscope found <allocated-while-lookups>, but needs <block-without-content>");
  row("shared one too many", {BlockAllocated{1, 0, 0}}, BlockShared{1, 0, 0, 3},
      "block 1: Spanscope found shared: 3 references, but needs 2");
  row("shared with nobody more", {BlockAllocated{1, 0, 0}}, BlockShared{1, 0, 0, 1},
      "block 1: Spanscope found shared: 1 reference, but needs 2");
  row("shared with fewer", {BlockAllocated{1, 0, 0}}, BlockShared{1, 0, 0, kLeast},
      "block 1: Spanscope found shared: -2147483648 references, but needs 2");
  row("released when free", {}, BlockReleased{1, -1},
      "block 1: Spanscope found <released-though-nobody>, but needs <block-use>");
  row("released two at once", {BlockAllocated{1, 0, 0}, BlockShared{1, 0, 0, 2}}, BlockReleased{1, 0},
      "block 1: Spanscope found released: 0 references, but needs 1");
  row("stored without tokens", {BlockAllocated{1, 0, 0}}, stored(1, 3, {}),
      "block 1: Spanscope found stored with 0 tokens, but needs 1 to 4");
  row("stored with too many", {BlockAllocated{1, 0, 0}}, stored(1, 3, {1, 2, 3, 4, 5}),
      "block 1: Spanscope found stored with 5 tokens, but needs 1 to 4");
  row("removed when not stored", {BlockAllocated{1, 0, 0}}, BlockRemoved{1, {}, RemovalReason::Evicted},
      "block 1: Spanscope found <removed-though-lookups>, but needs <block-with-content>");
  row("removed under another key", {BlockAllocated{1, 0, 0}, stored(1, 3, {1})},
      BlockRemoved{1, {0, 4}, RemovalReason::Evicted},
      "block 1: Spanscope found <removed-under-another>, but needs <key-stored-under>");
  row("cleared in use", {BlockAllocated{1, 0, 0}}, CacheCleared(),
      "pool: Spanscope found <cleared-while-blocks>, but needs <nobody-referring-block>");
  row("snapshot of another pool", {}, Snapshot{freshPool(4), 1},
      "pool: Spanscope found 4 blocks, but needs at least 5, as before");
  row("virtual block", {}, BlockAllocated{1, 0, -1},
      "virtual block: Spanscope found -1, but needs at least 0");
  row("segment", {SpanTableLaidOut{{segment(2)}}}, BlockAllocated{1, 1, 0},
      "segment: Spanscope found 1, but needs below 1");
  row("table too small", {BlockAllocated{1, 3, 0}}, SpanTableLaidOut{{segment(2)}},
      "segments: Spanscope found 1, but needs <enough-blocks-reported>");
  SegmentInfo seesItself = segment(1);
  seesItself.sees = {0};
  row("sees itself", {}, SpanTableLaidOut{{seesItself}},
      "segment 0: Spanscope found attention to segment 0, but needs <earlier-segments-only>");
  SegmentInfo fewTexts = segment(3);
  fewTexts.texts.pop_back();
  row("texts", {}, SpanTableLaidOut{{fewTexts}},
      "segment 0: Spanscope found 2 texts, but needs <one-for-each> 3 tokens, or none");
  SegmentInfo longRun = segment(3);
  longRun.runs[0].count = 4;
  row("runs", {}, SpanTableLaidOut{{longRun}},
      "segment 0: Spanscope found runs of 4 tokens, but needs at most 3");
  SegmentInfo negativeRun = segment(3);
  negativeRun.runs[0].count = -1;
  row("negative run", {}, SpanTableLaidOut{{negativeRun}},
      "segment 0: Spanscope found a run of -1 tokens, but needs at least 0");
  SegmentInfo invisible = segment(3);
  invisible.visibleBegin = 4;
  row("visible part", {}, SpanTableLaidOut{{invisible}},
      "segment 0: Spanscope found visible from token 4, but needs 0 to 3");
  BlockLookedUp lookup;
  lookup.block = 5;
  row("looked up out of range", {}, lookup, "block: Spanscope found 5, but needs <block-pool>");
  lookup.block = 1;
  lookup.tokens = 3;
  lookup.wanted = 2;
  row("found more than wanted", {}, lookup,
      "token slots: Spanscope found 3 hits of 2, but needs <none-negative-no>");
  row("more cached than asked", {}, RequestAdmitted{4, 5, 0},
      "token counts: Spanscope found 0 relocated of 5 cached of 4, but needs 0 ≤ relocated ≤ cached ≤ total");
  row("unknown request", {}, TokenGenerated{},
      "request: Spanscope found 1, but needs <earlier-event-introduced>");
  row("metrics of an unknown request", {}, StepMetrics{},
      "request: Spanscope found 1, but needs <earlier-event-introduced>");
  row("pass of an unknown request", {}, BatchComputed{{BatchEntry{9, 0, 0, 1, false}}, 5},
      "request: Spanscope found 9, but needs <earlier-event-introduced>");
  row("pass of no request", {}, BatchComputed{{BatchEntry{0, 0, 0, 1, false}}, 5},
      "request: Spanscope found 0, but needs a request");
  row("pass of negative rows", {StepStarted{}}, BatchComputed{{BatchEntry{1, 0, 0, -1, false}}, 5},
      "rows: Spanscope found -1 from 0, but needs no negative numbers");
  row("pass of negative time", {}, BatchComputed{{}, -5},
      "duration: Spanscope found -5, but needs at least 0");
  TokenGenerated second;
  second.index = 1;
  row("token left out", {StepStarted{}}, second, "token index: Spanscope found 1, but needs 0");
  row("run that did not start", {}, RunFinished{}, "run: Spanscope found 1, but needs <one-that-has>");
  AttentionMass mass;
  mass.keySegments = {0};
  mass.keyBlocks = {2};
  mass.heads = 2;
  mass.mass = {1, 2, 3};
  row("attention of another shape", {}, mass,
      "attention mass: Spanscope found 3 values, but needs 2 heads of 2 key blocks");
  mass.keyBlocks = {2, 3};
  row("attention of other lists", {}, mass,
      "key blocks: Spanscope found 2 counts, but needs <one-for-each> 1 key segment");
  mass.keyBlocks = {-1};
  row("attention of negative blocks", {}, mass, "key blocks: Spanscope found -1, but needs at least 0");
  row("replayed attention of negative blocks", {}, ReplayedMass{0, mass},
      "key blocks: Spanscope found -1, but needs at least 0");
  row("a token before the first computed again", {StepStarted{}}, TokensRecomputed{1, 8, {{0, {3, -1}}}},
      "recomputed token: Spanscope found -1, but needs at least 0");
  row("a team with somebody unknown", {StepStarted{}}, TeamFormed{{1, 77}},
      "request: Spanscope found 77, but needs <earlier-event-introduced>");
  row("attention on replies without shares", {StepStarted{}}, TeammateAttention{0, {1}, {}},
      "attention on answers: Spanscope found 0 shares, but needs 1, one per request");
  row("attention on replies of no token", {StepStarted{}}, TeammateAttention{-1, {}, {}},
      "token index: Spanscope found -1, but needs at least 0");
  row("replayed attention of no token", {}, ReplayedMass{-1, {}},
      "token index: Spanscope found -1, but needs at least 0");
  SegmentAttention looked;
  looked.keySegments = {0, 1};
  looked.layers = {3, 4};
  looked.heads = 2;
  looked.mass.resize(8);
  looked.first.resize(7);
  row("attention by segment of another shape", {}, looked,
      "attention by segment: Spanscope found 7 values, but needs 2 layers of 2 heads of 2 key segments");
  looked.first.resize(8);
  looked.heads = -2;
  row("attention by segment of negative heads", {}, looked,
      "heads: Spanscope found -2, but needs at least 0");
  row("replay of an unknown request", {}, AttentionReplayed{},
      "request: Spanscope found 1, but needs <earlier-event-introduced>");
  AttentionReplayed replayed;
  replayed.rows = -1;
  row("replay of negative rows", {StepStarted{}}, replayed,
      "rows: Spanscope found -1 from 0, but needs no negative numbers");
}

void TestReplay::contradictions() {
  QFETCH(std::vector<Payload>, before);
  QFETCH(Payload, payload);
  QFETCH(QString, message);
  Script script(freshPool(5));
  for (Payload& earlier : before) script.must(std::move(earlier));
  const test::ReplayState state = test::stateOf(script.replay);
  const std::string name = eventName(payload);
  const std::optional<Error> error = script.apply(payload);
  QVERIFY(error.has_value());
  const QString said = QString::fromStdString(error->message());
  const QString start = QString::fromStdString("event " + std::to_string(script.next) + " (" + name + "), ");
  QVERIFY2(matches(said, start + message), qPrintable(said));
  QVERIFY(test::stateOf(script.replay) == state);
}

void TestReplay::poolsThatAreNone_data() {
  QTest::addColumn<int>("which");
  QTest::addColumn<QString>("message");
  const char* const kRows[][2] = {
      {"block size", "pool: Spanscope found <block-size> 0, but needs at least 1"},
      {"references", "block 2: Spanscope found -1 references, but needs at least 0"},
      {"fill", "block 2: Spanscope found a fill of 5, but needs 0 to 4"},
      {"tokens", "block 2: Spanscope found 1 token, but needs 2<fill-of-block>"},
      {"null block", "block 0: Spanscope found <null-block-use>, but needs <nobody-refers-finds>"},
      {"free list too short", "free list: Spanscope found 3 blocks, but needs 4<blocks-nobody-refers>"},
      {"free list twice", "free list: Spanscope found block 1 twice, but needs each block once"},
      {"free list out of range", "free list: Spanscope found block 5, but needs <block-pool-pool-replay>"},
      {"free list negative", "free list: Spanscope found block -1, but needs <block-pool-pool-replay>"},
      {"free list null", "free list: Spanscope found block 0, but needs <block-pool-pool-replay>"},
      {"free list in use",
       "free list: Spanscope found block 2<which-is-referred>, but needs "
       "<blocks-nobody-refers-pool-replay>"}};
  int which = 0;
  for (const auto& row : kRows) QTest::newRow(row[0]) << which++ << worded(row[1]);
}

void TestReplay::poolsThatAreNone() {
  QFETCH(int, which);
  QFETCH(QString, message);
  PoolState pool = freshPool(5);
  const std::function<void()> damage[] = {[&] { pool.blockSize = 0; },
                                          [&] { pool.blocks[2].references = -1; },
                                          [&] { pool.blocks[2].fill = 5; },
                                          [&] {
                                            pool.blocks[2].fill = 2;
                                            pool.blocks[2].tokens = {1};
                                          },
                                          [&] { pool.blocks[0].references = 1; },
                                          [&] { pool.freeOrder.pop_back(); },
                                          [&] { pool.freeOrder[3] = 1; },
                                          [&] { pool.freeOrder[3] = 5; },
                                          [&] { pool.freeOrder[3] = -1; },
                                          [&] { pool.freeOrder[3] = 0; },
                                          [&] {
                                            pool.blocks[2].references = 1;
                                            pool.freeOrder.pop_back();
                                          }};
  damage[which]();
  Script script;
  const std::optional<Error> error = script.apply(session(pool), 0, 0);
  QVERIFY(error.has_value());
  QCOMPARE(QString::fromStdString(error->message()), "event 1 (session_started), " + message);
  QVERIFY(test::stateOf(script.replay) == test::ReplayState());
  QVERIFY_EXCEPTION_THROWN(PoolReplay{pool}, Failure);
}

void TestReplay::requestFromStartToEnd() {
  Script script(freshPool(8));
  script.must(StepStarted{4, 2});
  script.must(RequestDeferred{"no room", 3});
  QCOMPARE(script.request().phase, RequestPhase::Waiting);
  QCOMPARE(script.request().waitFor, RequestId{3});
  script.must(SpanTableLaidOut{{segment(4), segment(3)}});
  BlockLookedUp lookup;
  lookup.block = 1;
  lookup.outcome = LookupOutcome::Relocated;
  lookup.tokens = lookup.wanted = 4;
  script.must(lookup);
  BlockLookedUp miss;
  miss.segment = 1;
  miss.reason = MissReason::TokensDiffer;
  miss.wanted = 3;
  script.must(miss);
  script.must(BlockShared{1, 0, 0, 1});
  script.must(BlockAllocated{2, 1, 0});
  script.must(RequestAdmitted{7, 4, 4});
  QCOMPARE(script.request().phase, RequestPhase::Running);
  const VirtualBlock hit{1, false, LookupOutcome::Relocated, MissReason::None, 5};
  const VirtualBlock own{2, true, LookupOutcome::Miss, MissReason::TokensDiffer, 6};
  QVERIFY(script.request().blocks == (SharedMap<BlockPlace, VirtualBlock>{{{0, 0}, hit}, {{1, 0}, own}}));

  script.must(BatchComputed{{BatchEntry{1, 1, 0, 3, false}}, 100}, 0);
  script.must(BatchComputed{{BatchEntry{1, 1, 3, 1, true}}, 50}, 0);
  script.must(TokenGenerated{0, 9, " a", " a", 1, {}});
  script.must(TokenGenerated{1, 9, " b", " b", 1, {}});
  QCOMPARE(script.request().text, std::string(" a b"));
  script.must(StepMetrics{4, 7, 4, 4, 3, 2, 0.5, 0.25, 0.125});
  script.must(StepFinished{4, StepOutcome::TokenLimit, "a b"});

  RequestState expected;
  expected.run = kRun;
  expected.node = "/g";
  expected.step = 4;
  expected.copy = 2;
  expected.phase = RequestPhase::Finished;
  expected.outcome = StepOutcome::TokenLimit;
  expected.waitReason = "no room";
  expected.waitFor = 3;
  expected.segments = {segment(4), segment(3)};
  expected.blocks = {{{0, 0}, hit}, {{1, 0}, own}};
  expected.promptTokens = 7;
  expected.cachedTokens = 4;
  expected.relocatedTokens = 4;
  expected.computedTokens = 3;
  expected.generatedTokens = 2;
  expected.text = "a b";
  expected.metrics = StepMetrics{4, 7, 4, 4, 3, 2, 0.5, 0.25, 0.125};
  expected.startedAt = 20;
  expected.admittedAt = 90;
  expected.firstTokenAt = 120;
  expected.lastTokenAt = 130;
  expected.finishedAt = 150;
  QVERIFY(script.request() == expected);
  QCOMPARE(script.replay.progress().passes, std::int64_t{2});
  QCOMPARE(script.replay.progress().rows, std::int64_t{4});
  QCOMPARE(script.replay.progress().passTime, std::int64_t{150});
  QVERIFY(script.replay.progress().whole);
}

void TestReplay::nodeIsThatOfTheStep() {
  Script script(freshPool(5));
  script.must(StepStarted{});
  const Event event{script.next, 20, 1, kRun, kRequest, "/g/input/0", BlockAllocated{1, 0, 0}};
  QVERIFY(!script.replay.apply(event).has_value());
  QCOMPARE(script.request().node, NodePath("/g"));
}

void TestReplay::copyKeepsTheOwnBlock() {
  // The source of a copy is referred to under the place of the copy, before or after the target.
  for (const bool sourceFirst : {true, false}) {
    Script script(freshPool(5));
    script.must(StepStarted{});
    if (sourceFirst) script.must(BlockShared{1, 0, 3, 1});
    script.must(BlockAllocated{2, 0, 3});
    if (!sourceFirst) script.must(BlockShared{1, 0, 3, 1});
    script.must(BlockCopied{1, 2, 2});
    script.must(BlockReleased{1, 0});
    QCOMPARE(script.request().blocks.at({0, 3}).block, BlockId{2});
    QVERIFY(script.request().blocks.at({0, 3}).allocated);
  }
}

void TestReplay::failedStep() {
  Script script(freshPool(5));
  script.must(StepStarted{});
  script.must(MessageLogged{Severity::Error, "does not fit"});
  script.must(MessageLogged{Severity::Warning, "hm"});
  script.must(StepFinished{0, StepOutcome::Failed, {}});
  script.must(StepFinished{1, StepOutcome::Failed, {}}, 0);
  QCOMPARE(script.request().outcome, std::optional(StepOutcome::Failed));
  QCOMPARE(script.replay.progress().errors, std::uint64_t{1});
  QCOMPARE(script.replay.progress().warnings, std::uint64_t{1});
  QCOMPARE(script.replay.progress().requests.size(), std::size_t{1});
}

void TestReplay::runsAndPlans() {
  Script script(freshPool(5));
  const PlanMade plan{{PlannedStep{0, "/g", 0, 1, {}}}, "text"};
  script.must(RunStarted{"{}", "spans", 7}, 0, 3);
  const PassagesRetrieved found{"where?", PassageRanking::Lexical, 1, {PassageInfo{}}};
  script.must(found, 0, 3);
  script.must(plan, 0, 3);
  script.must(StepStarted{}, 1, 3);
  script.must(StepStarted{}, 2, 3);
  script.must(RunFinished{RunOutcome::Stopped, "x"}, 0, 3);
  RunState expected;
  expected.queryJson = std::string("{}");
  expected.policy = "spans";
  expected.seed = 7;
  expected.plan = plan;
  expected.requests = {1, 2};
  expected.outcome = RunOutcome::Stopped;
  expected.answer = "x";
  expected.startedAt = 20;
  expected.finishedAt = 70;
  expected.retrieved[script.replay.progress().runs.at(3).retrieved.begin()->first] = found;
  QCOMPARE(script.replay.progress().runs.size(), std::size_t(1));
  QVERIFY(script.replay.progress().runs.at(3) == expected);

  script.must(session(freshPool(3)), 0, 0);
  QVERIFY(script.replay.progress().runs.empty());
  QVERIFY(script.replay.progress().requests.empty());
  QVERIFY(!script.replay.progress().whole);
  QVERIFY(script.replay.pool().state() == freshPool(3));
}

void TestReplay::gapUntilSnapshot() {
  Script script(freshPool(5));
  script.must(StepStarted{}, 1);
  script.must(StepFinished{}, 1);
  script.must(StepStarted{}, 2);
  script.must(BlockAllocated{1, 0, 0}, 2);

  script.next += 10;
  std::optional<Error> error = script.apply(BlockReleased{1, 0}, 2);
  QVERIFY(error.has_value());
  QCOMPARE(error->found, worded(std::string("<change-after-events>")));
  TokenGenerated token;
  token.index = 4;
  token.text = "x";
  script.must(token, 2);
  QVERIFY(script.replay.progress().gap);
  QVERIFY(script.apply(BlockReleased{1, 0}, 2).has_value());
  script.must(StepStarted{}, 3);

  PoolState pool = freshPool(5);
  pool.blocks[2].references = 1;
  pool.freeOrder = {3, 4, 1};
  --script.next;  // a snapshot may carry the number of the event it follows
  script.must(Snapshot{pool, 10});
  QVERIFY(!script.replay.progress().gap);
  QVERIFY(!script.replay.progress().whole);
  QCOMPARE(script.replay.progress().lost, std::uint64_t{10});
  script.must(BlockReleased{2, 0}, 2);
  script.must(StepStarted{}, 4);
  QVERIFY(script.request(1).complete);
  QVERIFY(!script.request(2).complete);
  QVERIFY(!script.request(3).complete);
  QVERIFY(script.request(4).complete);
  QCOMPARE(script.request(2).generatedTokens, std::int64_t{5});
  script.must(StepFinished{0, StepOutcome::EndToken, "whole text"}, 2);
  QCOMPARE(script.request(2).text, std::string("whole text"));
}

void TestReplay::beginsInTheMiddle() {
  Script script;
  script.next = 500;
  PoolState pool = freshPool(5);
  pool.blocks[1].references = 1;
  pool.freeOrder = {2, 3, 4};
  script.must(session(pool), 0, 0);
  QVERIFY(!script.replay.progress().whole);
  QVERIFY(!script.replay.progress().gap);
  TokenGenerated token;
  token.index = 12;
  script.must(token, 7);
  QVERIFY(!script.request(7).complete);
  script.must(BlockReleased{1, 0}, 7);
  script.must(RunFinished{RunOutcome::Finished, "a"}, 0, 2);
  script.must(StepStarted{}, 8);
  QVERIFY(script.request(8).complete);

  Script without;
  without.next = 500;
  without.must(StepStarted{});
  QVERIFY(without.replay.progress().gap);
}

void TestReplay::order() {
  Replay replay;
  const auto at = [](std::uint64_t sequence, std::int64_t time, Payload payload) {
    return Event{sequence, time, 1, 1, 1, {}, std::move(payload)};
  };
  QVERIFY(replay.apply(at(0, 0, StepStarted{})).has_value());
  QVERIFY(replay.apply(at(0, 0, Snapshot{})).has_value());
  QVERIFY(replay.apply(at(1, -1, StepStarted{})).has_value());
  QVERIFY(!replay.apply(at(1, 5, StepStarted{})).has_value());
  QVERIFY(replay.apply(at(1, 5, StepStarted{})).has_value());
  QVERIFY(replay.apply(at(2, 4, StepStarted{})).has_value());
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  QVERIFY(!replay.apply(at(kMost, 5, StepStarted{})).has_value());
  QVERIFY(replay.apply(at(kMost, 5, StepStarted{})).has_value());
  QVERIFY(replay.apply(at(1, 5, StepStarted{})).has_value());
  QVERIFY(!replay.apply(at(kMost, 5, Snapshot{})).has_value());
}

void TestReplay::clampedSums() {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  Script script(freshPool(5));
  script.must(BatchComputed{{}, kMost}, 0);
  script.must(BatchComputed{{}, 5}, 0);
  QCOMPARE(script.replay.progress().passTime, kMost);
}

void TestReplay::saysWhatAttentionIsLeftOut() {
  Script script(freshPool(8));
  script.must(RunStarted{"{}", "spans", 1}, 0);
  QVERIFY(!script.replay.progress().runs.at(kRun).attentionLeftOut);
  script.must(AttentionLeftOut{1, 7, 100}, 0);
  script.must(AttentionLeftOut{3, 8, 100}, 0);
  QVERIFY(script.replay.progress().runs.at(kRun).attentionLeftOut == (AttentionLeftOut{3, 8, 100}));
}

/// A state that is kept must not hold what it shares with the events and the other states once more.
void TestReplay::copiesShareWhatDoesNotChange() {
  Script script(freshPool(8));
  const SpanTableLaidOut table{{segment(4), segment(3)}};
  script.must(RunStarted{"{}", "spans", 1}, 0);
  script.must(PlanMade{{PlannedStep{}}, "one step"}, 0);
  script.must(StepStarted{4, 2});
  script.must(table);
  const Replay before = script.replay;
  script.must(StepStarted{4, 3}, 2);
  script.must(TokenGenerated{0, 9, " a", " a", 1, {}});
  const RequestState& then = before.progress().requests.at(1);
  QVERIFY(&then != &script.request());
  QVERIFY(then.segments.isCopyOf(table.segments));
  QVERIFY(script.request().segments.isCopyOf(table.segments));
  const RunState& run = script.replay.progress().runs.at(kRun);
  QVERIFY(&before.progress().runs.at(kRun) != &run);
  QVERIFY(before.progress().runs.at(kRun).plan.isCopyOf(run.plan));
  QVERIFY(before.progress().runs.at(kRun).queryJson.isCopyOf(run.queryJson));
}

void TestReplay::equalsPlainAccount() {
  const std::uint64_t seed = test::testSeed(1234);
  for (std::uint64_t round = 0; round < 20; ++round) {
    test::ListSink sink;
    test::SimulatedEngine engine(sink, seed + round, round % 2 == 0 ? 10 : 40);
    Replay replay;
    std::size_t applied = 0;
    const auto follow = [&] {
      for (; applied < sink.events.size(); ++applied) {
        if (const auto error = replay.apply(sink.events[applied])) QFAIL(error->message().c_str());
      }
    };
    engine.start();
    for (int i = 0; i < 400; ++i) {
      engine.step();
      follow();
      QVERIFY(replay.pool().state() == engine.pool());
      QCOMPARE(replay.pool().freeCount(), engine.pool().freeOrder.size());
    }
    engine.drainRequests();
    follow();
    QVERIFY(replay.pool().state() == engine.pool());
    QCOMPARE(replay.progress().requests.size(), engine.texts().size());
    for (const auto& [id, text] : engine.texts()) {
      QCOMPARE(replay.progress().requests.at(id).text, text);
      QCOMPARE(replay.progress().requests.at(id).phase, RequestPhase::Finished);
      QVERIFY(replay.progress().requests.at(id).complete);
    }
  }
}

void TestReplay::garbageChangesNothing() {
  const std::uint64_t seed = test::testSeed(77);
  test::RandomValue small(seed, test::Range::Small);
  test::RandomValue wild(seed + 1, test::Range::Whole);
  int applied = 0;
  for (int round = 0; round < 60; ++round) {
    Script script(freshPool(5));
    for (int i = 0; i < 400; ++i) {
      test::RandomValue& random = i % 10 == 0 ? wild : small;
      Event event{script.next, static_cast<std::int64_t>(script.next) * 10, 1, 0, 0, {}, {}};
      event.run = static_cast<RunId>(small.below(3));
      event.request = static_cast<RequestId>(small.below(3));
      event.payload = random.payload(small.below(std::variant_size_v<Payload>));
      const bool compare = i % 8 == 0;
      const test::ReplayState before = compare ? test::stateOf(script.replay) : test::ReplayState();
      if (script.replay.apply(event)) {
        QVERIFY(!compare || test::stateOf(script.replay) == before);
        continue;
      }
      ++applied;
      ++script.next;
      if (compare) {
        const std::optional<Error> error = PoolReplay::check(script.replay.pool().state());
        QVERIFY2(!error, error ? error->message().c_str() : "");
      }
    }
  }
  qInfo("%d events fitted", applied);
  QVERIFY(applied > 1000);
}

void TestReplay::largePoolIsQuick() {
  constexpr std::int32_t kBlocks = 100'000;
  Script script(freshPool(kBlocks));
  QElapsedTimer timer;
  timer.start();
  // Taking blocks out of the middle of a long list, again and again.
  for (std::int32_t i = 0; i < 200'000; ++i) {
    const BlockId block = 1 + (i * 7919) % (kBlocks - 1);
    script.must(BlockShared{block, 0, 0, 1});
    script.must(BlockReleased{block, 0});
  }
  qInfo("400000 events on 100000 blocks: %lld ms", timer.elapsed());
  QVERIFY(timer.elapsed() < 10'000);
}

SPANSCOPE_TEST(tst_replay, TestReplay)
#include "tst_replay.moc"
