// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/metric_table.h"
#include "engine/metrics/trace_stats.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/report.h"
#include "tests/engine/trace/random_value.h"
#include "tests/engine/trace/simulated_engine.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>

using namespace spanscope;
using namespace spanscope::trace;
using spanscope::product_text::matches;
using spanscope::product_text::worded;

Q_DECLARE_METATYPE(spanscope::trace::Event)

namespace {

QString named(std::string_view id) {
  return QString::fromUtf8(metrics::get(id).name);
}

QString shortly(std::string_view id) {
  return QString::fromUtf8(metrics::get(id).shortName);
}

}  // namespace

class TestReport : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void describeRows_data();
  void describeRows();
  void describeIsOneLine();
  void numbersHaveAllDigits();
  void plainNamesAreWords();
  void plainNamesSayWhatBecameOfIt();
  void accountsSumUpToThePrompt();
  void tokensComputedTwiceCount();
  void foundBeginningsAreComputedAgain();
  void sums();
  void sumsWithoutMetrics();
  void medians_data();
  void medians();
  void nothing();
  void table();
  void hostileSums();
};

void TestReport::describeRows_data() {
  QTest::addColumn<Event>("event");
  QTest::addColumn<QString>("line");
  const auto row = [](const char* name, Payload payload, const char* line) {
    QTest::newRow(name) << Event{12, 1'500'000'000, 1, 2, 3, "/g", std::move(payload)}
                        << QString("#12 1.500000s ") + line;
  };
  SessionStarted session;
  session.program = "spanq 0.1";
  session.model = "spanlet";
  session.backend = "cpu avx2";
  session.threads = 1;
  session.pool.blocks.resize(3);
  session.pool.freeOrder = {1, 2};
  row("session", session,
      "session_started run 2 request 3 /g: spanq 0.1, model spanlet, cpu avx2, 1 thread, 3 blocks of 16 "
      "tokens, 2 free");
  session.model.clear();
  row("session of no model", session,
      "session_started run 2 request 3 /g: spanq 0.1, cpu avx2, 1 thread, 3 blocks of 16 tokens, 2 free");
  row("run", RunStarted{"{}", "spans", 7},
      "run_started run 2 request 3 /g: policy spans, seed 7, query \"{}\"");
  row("run finished", RunFinished{RunOutcome::Stopped, "a\n\"b\""},
      "run_finished run 2 request 3 /g: stopped: \"a\\n\\\"b\\\"\"");
  row("plan", PlanMade{{PlannedStep{0, {}, 0, 0, {}}}, {}}, "plan_made run 2 request 3 /g: 1 step");
  PassageInfo passage;
  passage.source = "a.pdf";
  passage.text = "Mira lives in Lisbon.";
  passage.rank = 1;
  passage.score = 1.5;
  passage.inPrompt = true;
  row("passages", PassagesRetrieved{"where?", PassageRanking::Hybrid, 3, {passage, {}}},
      "fragments_retrieved run 2 request 3 /g: 1 passage of 3 documents (hybrid) for \"where?\", first "
      "\"Mira lives in Lisbon.\" of \"a.pdf\", score 1.5000");
  row("block loaded",
      BlockLoaded{.block = 4,
                  .key = BlockKey{0x0123456789abcdefU, 1},
                  .tier = StoreTier::Disk,
                  .segment = 2,
                  .virtualIndex = 1,
                  .tokens = 16,
                  .bytes = 20480,
                  .nanoseconds = 12500},
      "block_loaded run 2 request 3 /g: 16 tokens of segment 2, block 1 into physical block 4 from the disk, "
      "20480 bytes in 0.013 ms, key 01234567");
  row("block spilled",
      BlockSpilled{.block = 4,
                   .key = BlockKey{0x0123456789abcdefU, 1},
                   .tier = StoreTier::Host,
                   .tokens = 1,
                   .bytes = 1280},
      "block_spilled run 2 request 3 /g: 1 token of physical block 4 to host memory, 1280 bytes, key "
      "01234567");
  row("store",
      StoreReported{.tiers = {{StoreTier::Host, 2, 20, 25600, 1ULL << 20},
                              {StoreTier::Disk, 1, 16, 3ULL << 20, 4ULL << 30}},
                    .packs = {}},
      "store_reported run 2 request 3 /g: host memory: 2 blocks with 20 tokens, 25600 bytes of 1 MiB; the "
      "disk: 1 block with 16 tokens, 3 MiB of 4096 MiB");
  row("texts of the store", StoreTextsReported{{{"0a.pack", "Mira lives in Lisbon."}}},
      "store_texts_reported run 2 request 3 /g: 1 pack; 0a.pack: Mira lives in Lisbon.");
  row("windows", WindowsReported{{512, 0, 512}},
      "windows_reported run 2 request 3 /g: 3 layers: 512 all 512");
  row("arithmetic",
      ArithmeticMeasured{.arithmetic = "fast",
                         .tokens = {{.token = 5, .divergence = 0.25, .best = 5, .exactBest = 6},
                                    {.token = 6, .divergence = 0, .best = 6, .exactBest = 6}}},
      "arithmetic_measured run 2 request 3 /g: fast against f32: KL 0.12 (median 0.12, max 0.25), 1 of 2 "
      "tokens "
      "agree");
  row("a team", TeamFormed{{3, 4, 7}}, "team_formed run 2 request 3 /g: requests 3, 4, 7 …");
  row("attention on others", TeammateAttention{5, {4, 7}, {0.125F, 0.25F}},
      "teammate_attention run 2 request 3 /g: of token 5, 37.5 % …4, 7");
  row("no store", StoreReported{}, "store_reported run 2 request 3 /g: no tier…");
  row("attention left out", AttentionLeftOut{12, 30, 64ULL << 20},
      "attention_left_out run 2 request 3 /g: 12 records …30 recorded: …64 MiB…");
  row("attention left out of little", AttentionLeftOut{1, 0, 100},
      "attention_left_out run 2 request 3 /g: 1 record …0 recorded: …100 bytes…");
  AttentionMass mass;
  mass.layer = 5;
  mass.segment = 3;
  mass.virtualIndex = 1;
  mass.row = 20;
  mass.rows = 1;
  mass.keySegments = {0, 3};
  mass.heads = 4;
  row("attention", mass,
      "attention_mass run 2 request 3 /g: layer 5, segment 3, block 1, row 20, 4 heads, 2 key segments");
  row("attention of a replay", ReplayedMass{7, mass},
      "replayed_mass run 2 request 3 /g: of token 7, layer 5, segment 3, block 1, row 20, 4 heads, 2 key "
      "segments");
  mass.layer = -1;
  mass.row = -1;
  mass.rows = 16;
  mass.heads = 1;
  row("attention of all layers", mass,
      "attention_mass run 2 request 3 /g: mean…, segment 3, block 1, 16 rows, 1 head, 2 key "
      "segments");
  SegmentAttention looked;
  looked.index = 7;
  looked.segment = 3;
  looked.virtualIndex = 1;
  looked.row = 20;
  looked.rows = 1;
  looked.keySegments = {0, 3};
  looked.layers = {0, 5};
  looked.heads = 4;
  row("attention by segment", looked,
      "segment_attention run 2 request 3 /g: of token 7, segment 3, block 1, row 20, 2 layers, 4 heads, 2 "
      "key segments");
  AttentionReplayed replayed;
  replayed.layer = 5;
  replayed.rows = 9;
  replayed.cachedTokens = 64;
  replayed.recomputedTokens = 16;
  row("replay", replayed,
      "attention_replayed run 2 request 3 /g: layer 5, all heads by block, 9 rows recomputed with 64 "
      "cached tokens and 16 recomputed tokens");
  replayed.head = 2;
  replayed.singleKeys = true;
  row("replay of a head", replayed,
      "attention_replayed run 2 request 3 /g: layer 5, head 2 by token, 9 rows recomputed with 64 "
      "cached tokens and 16 recomputed tokens");
  row("step finished", StepFinished{4, StepOutcome::TokenLimit, std::string(70, 'x')},
      ("step_finished run 2 request 3 /g: step 4, token_limit: \"" + std::string(60, 'x') + "…\"").c_str());
  row("text cut within a character",
      StepFinished{4, StepOutcome::Failed, std::string(59, 'x') + "ä" + "yyyy"},
      ("step_finished run 2 request 3 /g: step 4, failed: \"" + std::string(59, 'x') + "…\"").c_str());
  SegmentInfo segment;
  segment.independent = true;
  segment.tokens = {1, 2};
  row("span table", SpanTableLaidOut{{segment, {}}},
      "span_table_laid_out run 2 request 3 /g: 2 segments (1 independent), 2 tokens");
  BlockLookedUp lookup;
  lookup.segment = 1;
  lookup.virtualIndex = 2;
  lookup.block = 9;
  lookup.outcome = LookupOutcome::Relocated;
  lookup.tokens = lookup.wanted = 16;
  lookup.base = 64;
  lookup.storedBase = 32;
  lookup.storedByRun = 1;
  lookup.storedByRequest = 1;
  lookup.storedByNode = "/p";
  row("relocated", lookup,
      "block_looked_up run 2 request 3 /g: segment 1, block 2: relocated, 16 of 16 tokens in physical block "
      "9, stored "
      "by run 1 request 1 /p, from position 32 to 64");
  lookup.outcome = LookupOutcome::Miss;
  lookup.tokens = 0;
  lookup.reason = MissReason::TokensDiffer;
  lookup.differsAt = 35;
  lookup.tokenWanted = 4;
  lookup.tokenStored = 5;
  row("miss", lookup,
      "block_looked_up run 2 request 3 /g: segment 1, block 2: miss, 0 of 16 tokens, tokens_differ at token "
      "35 (requested "
      "4, stored 5)");
  lookup.reason = MissReason::Evicted;
  lookup.evictedBy = 8;
  row("evicted", lookup,
      "block_looked_up run 2 request 3 /g: segment 1, block 2: miss, 0 of 16 tokens, evicted by event 8");
  row("shared", BlockShared{4, 1, 2, 3},
      "block_shared run 2 request 3 /g: physical block 4 for segment 1, block 2, 3 references");
  row("removed", BlockRemoved{4, {0xABCDEF0123456789U, 0}, RemovalReason::Grown},
      "block_removed run 2 request 3 /g: physical block 4, key abcdef01, grown");
  row("pass", BatchComputed{{BatchEntry{1, 0, 0, 16, false}, BatchEntry{2, 0, 0, 1, true}}, 2'500'000},
      "batch_computed run 2 request 3 /g: 17 rows of 2 entries (1 decode) in 2.500 ms");
  row("token", TokenGenerated{0, 77, "a", "\x1b[2J", 0.5F, {}},
      "token_generated run 2 request 3 /g: token 0: 77 \"\\x1b[2J\", probability 0.5000");
  row("alternatives", TokenAlternatives{3, {{77, "a\n", 0.5F}, {5, "b", 0.25F}}},
      "token_alternatives run 2 request 3 /g: <most-likely-for> 3: 77 \"a\\n\" 0.5000, 5 \"b\" 0.2500");
  row("metrics", StepMetrics{1, 100, 64, 32, 36, 5, 0.0125, 0.002, 0},
      "step_metrics run 2 request 3 /g: step 1: prompt 100, cached 64, relocated 32, computed 36, generated "
      "5, first "
      "token after 12.50 ms, then 2.00 ms per token");
  row("job",
      JobEnded{.kind = "turn", .arguments = {}, .problem = {}, .result = {.bytes = std::string("abc")}},
      "job_ended run 2 request 3 /g: turn finished, result of 3 bytes");
  row("failed job",
      JobEnded{.kind = "turn",
               .arguments = {},
               .outcome = JobOutcome::Failed,
               .problem = "no\nroom",
               .result = {}},
      "job_ended run 2 request 3 /g: turn failed: no\\nroom");
  row("message", MessageLogged{Severity::Warning, "care\r\n\xC2\x9B"},
      "message_logged run 2 request 3 /g: warning: care\\x0d\\n\\xc2\\x9b");
  row("deferred", RequestDeferred{"no room", 4},
      "request_deferred run 2 request 3 /g: no room, waits for request 4");
  ServerChosen chosen;
  chosen.name = "gpu-3";
  chosen.title = "vLLM";
  chosen.version = "0.33";
  chosen.address = "http://gpu-3:8000";
  row("server", chosen, "server_chosen run 2 request 3 /g: gpu-3: vLLM 0.33 at http://gpu-3:8000");
  row("passed", RequestPassed{.slots = 2, .missing = "image\nparts"},
      "request_passed run 2 request 3 /g: 2 slots, image\\nparts");
  row("sent", RequestSent{.server = "gpu-3", .model = "org/m", .bytes = 1},
      "request_sent run 2 request 3 /g: to gpu-3, model org/m, 1 byte");
  row("prompt", PromptReported{.total = 9, .cached = 4, .processed = 6},
      "prompt_reported run 2 request 3 /g: read 6 of 9 tokens, 4 of them cached");
  row("text", TextReceived{"a\n"}, "text_received run 2 request 3 /g: \"a\\n\"");
  ServerReported reported;
  reported.step = 1;
  reported.server = "gpu-3";
  reported.promptTokens = 9;
  reported.timeToFirstToken = 0.5;
  reported.seconds = 2;
  reported.finish = "stop";
  row("server reported", reported,
      "server_reported run 2 request 3 /g: step 1 on gpu-3: prompt 9, cached not reported, generated not "
      "reported, first text after 500.00 ms, all after 2000.00 ms, ended by stop");
  ServerReported broken;
  broken.server = "gpu-3";
  broken.cached = CachedState::Found;
  broken.cachedTokens = 4;
  broken.brokenBy = "a stall";
  row("server broke off", broken,
      "server_reported run 2 request 3 /g: step 0 on gpu-3: prompt not reported, cached 4, generated not "
      "reported, "
      "all after 0.00 ms, interrupted: a stall");
  QTest::newRow("no run") << Event{1, 0, 1, 0, 0, {}, CacheCleared{}} << "#1 0.000000s cache_cleared: …";
}

void TestReport::describeRows() {
  QFETCH(Event, event);
  QFETCH(QString, line);
  const QString said = QString::fromStdString(describe(event));
  QVERIFY2(matches(said, line), qPrintable(said));
  QVERIFY2(!said.endsWith(QLatin1String(": ")), qPrintable(said));
}

void TestReport::describeIsOneLine() {
  test::RandomValue random(test::testSeed(3));
  for (int i = 0; i < 3000; ++i) {
    Event event;
    random.fill(event.sequence);
    random.fill(event.time);
    random.fill(event.node);
    event.payload = random.payload(static_cast<std::size_t>(i) % std::variant_size_v<Payload>);
    const std::string line = describe(event);
    QVERIFY(line.find(eventName(event.payload)) != std::string::npos);
    for (const char c : line) QVERIFY(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
}

/// Numbers of any size are whole, with a decimal point.
void TestReport::numbersHaveAllDigits() {
  QCOMPARE(trace::fixedPoint(0.25, 1), std::string("0.2"));
  QCOMPARE(trace::fixedPoint(-3, 2), std::string("-3.00"));
  const std::string largest = trace::fixedPoint(std::numeric_limits<double>::max(), 2);
  QCOMPARE(largest.size(), std::size_t{312});
  QVERIFY(largest.starts_with("17976931348623157") && largest.ends_with(".00"));
}

/// The user never reads an identifier: each kind of event has a name in words.
void TestReport::plainNamesAreWords() {
  test::RandomValue random(test::testSeed(4));
  std::map<QString, std::string> names;
  for (std::size_t kind = 0; kind < std::variant_size_v<Payload>; ++kind) {
    const Event event{1, 0, 1, 1, 1, {}, random.payload(kind)};
    const QString name = QString::fromUtf8(plainNameOf(event));
    QVERIFY2(!name.isEmpty() && name[0].isUpper() && !name.contains(QLatin1Char('_')), qPrintable(name));
    QVERIFY2(!names.contains(name), qPrintable(name));
    names[name] = eventName(event.payload);
    const EventWords more = detailOf(event);
    const QString text = QString::fromUtf8(more.text);
    for (std::size_t value = 1; value <= more.values.size(); ++value)
      QVERIFY2(text.contains(QStringLiteral("%%1").arg(value)), qPrintable(text));
  }
}

void TestReport::plainNamesSayWhatBecameOfIt() {
  const auto nameOf = [](Payload payload) {
    return QString::fromUtf8(plainNameOf(Event{1, 0, 1, 1, 1, {}, std::move(payload)}));
  };
  BlockLookedUp block;
  QCOMPARE(nameOf(block), QStringLiteral("Cache miss"));
  block.outcome = LookupOutcome::Relocated;
  QVERIFY(nameOf(block).contains(QLatin1String("Relocated")));
  QCOMPARE(nameOf(BlockRemoved{1, {}, RemovalReason::Evicted}), QStringLiteral("Block evicted"));
  BlockLoaded loaded;
  loaded.tier = StoreTier::Disk;
  QVERIFY(nameOf(loaded).startsWith(QLatin1String("Block ")) &&
          nameOf(loaded).contains(QLatin1String("disk")));
  QCOMPARE(nameOf(RunFinished{RunOutcome::Stopped, {}}), QStringLiteral("Run stopped"));
  QCOMPARE(nameOf(TokenGenerated{}), QStringLiteral("Token generated"));
  const EventWords shown =
      detailOf(Event{1, 0, 1, 1, 1, {}, TokenGenerated{3, 77, " Lisbon", " Lisbon", 0.5F, {}}});
  QCOMPARE(std::get<ShortText>(shown.values.at(0)).text, std::string(" Lisbon"));
}

/// Prompt tokens and the other tokens that the policy needs are separate counts, and each token counts once.
void TestReport::accountsSumUpToThePrompt() {
  SegmentInfo hidden;
  hidden.hidden = true;
  hidden.tokens.resize(8);
  SegmentInfo shown;
  shown.visibleBegin = 2;
  shown.tokens.resize(12);
  SessionStarted session;
  session.pool.blockSize = 4;
  const auto lookup = [](std::uint32_t segment, std::int32_t index, std::int32_t tokens, bool relocated) {
    BlockLookedUp block;
    block.segment = segment;
    block.virtualIndex = index;
    block.tokens = tokens;
    block.wanted = 4;
    block.outcome = tokens == 0 ? LookupOutcome::Miss
                    : relocated ? LookupOutcome::Relocated
                                : LookupOutcome::Hit;
    return block;
  };
  TokensRecomputed again;
  again.segments = {{.segment = 1, .tokens = {3, 5}}};
  std::vector<Event> events;
  const auto add = [&](RequestId request, Payload payload) {
    events.push_back({events.size() + 1, 0, 1, 1, request, {}, std::move(payload)});
  };
  add(0, session);
  add(1, SpanTableLaidOut{{hidden, shown}});
  add(1, lookup(0, 0, 4, false));
  add(1, lookup(1, 0, 4, false));
  add(1, lookup(1, 1, 4, true));
  add(1, lookup(1, 2, 0, false));
  QVERIFY(metrics::stats(events).account == metrics::PromptAccount());  // not admitted yet
  add(1, RequestAdmitted{20, 12, 4});
  // No pass has computed anything yet; then one computes half of what is missing.
  QCOMPARE(metrics::stats(events).account.unread, std::int64_t{4});
  QCOMPARE(metrics::stats(events).account.prompt.computed, std::int64_t{0});
  add(0, BatchComputed{{BatchEntry{1, 1, 8, 2, false}}, 1});
  QCOMPARE(metrics::stats(events).account.unread, std::int64_t{2});
  QCOMPARE(metrics::stats(events).account.prompt.computed, std::int64_t{2});
  QCOMPARE(metrics::stats(events).account.total(), std::int64_t{10});
  add(1, again);
  add(0, BatchComputed{{BatchEntry{1, 1, 10, 2, false}}, 1});
  // After a preemption it finds what it computed itself, which is no reuse.
  add(1, RequestPreempted{});
  add(1, lookup(1, 2, 4, false));
  add(1, RequestAdmitted{20, 20, 4, true, 0});

  const metrics::PromptAccount account = metrics::stats(events).account;
  QCOMPARE(account.prompt.hit, std::int64_t{1});        // 2 and 3 without 3
  QCOMPARE(account.prompt.relocated, std::int64_t{3});  // 4 to 7 without 5
  QCOMPARE(account.prompt.again, std::int64_t{2});
  QCOMPARE(account.prompt.computed, std::int64_t{4});
  QCOMPARE(account.prompt.total(), std::int64_t{10});
  QCOMPARE(account.unread, std::int64_t{0});
  QCOMPARE(account.beside, std::int64_t{10});
  const QString table = QString::fromStdString(metrics::statsTable(metrics::stats(events))).simplified();
  QVERIFY2(table.contains(QStringLiteral("%1 10 %2 4 of them %3 3 %4 2 %5 4 %6 10")
                              .arg(named("prompt-tokens"), shortly("cached-tokens"),
                                   shortly("relocated-tokens"), shortly("tokens-computed-again"),
                                   shortly("computed-tokens"), named("tokens-beside-the-prompt"))),
           qPrintable(table));
}

/// Tokens that a policy computes a second time count once: as computed again where they were found, else
/// beside the prompt, because they already count as computed.
void TestReport::tokensComputedTwiceCount() {
  SegmentInfo shown;
  shown.tokens.resize(8);
  SessionStarted session;
  session.pool.blockSize = 4;
  TokensRecomputed again;
  again.segments = {{.segment = 0, .tokens = {1, 2, 5, 6, 7}}};
  const auto accountWith = [&](std::int32_t found) {
    std::vector<Event> events;
    const auto add = [&](RequestId request, Payload payload) {
      events.push_back({events.size() + 1, 0, 1, 1, request, {}, std::move(payload)});
    };
    BlockLookedUp block;
    block.tokens = found;
    block.wanted = 4;
    block.outcome = found == 0 ? LookupOutcome::Miss : LookupOutcome::Hit;
    add(0, session);
    add(1, SpanTableLaidOut{{shown}});
    add(1, block);
    add(1, RequestAdmitted{8, found, 0});
    add(0, BatchComputed{{BatchEntry{1, 0, found, 8 - found, false}}, 1});
    add(1, again);
    return metrics::stats(events).account;
  };
  const metrics::PromptAccount cold = accountWith(0);
  QCOMPARE(cold.prompt.computed, std::int64_t{8});
  QCOMPARE(cold.prompt.again, std::int64_t{0});
  QCOMPARE(cold.beside, std::int64_t{5});
  const metrics::PromptAccount warm = accountWith(4);
  QCOMPARE(warm.prompt.computed, std::int64_t{4});
  QCOMPARE(warm.prompt.again, std::int64_t{2});
  QCOMPARE(warm.beside, std::int64_t{3});
  QCOMPARE(warm.total(), std::int64_t{8});
}

/// Tokens that `link` computes again count as recomputed if the document itself was a cache hit, as soon as a
/// pass has computed them. Tokens that the layout added and left out have separate counts.
void TestReport::foundBeginningsAreComputedAgain() {
  SegmentInfo link;
  link.scope = 1;
  link.node = "/0";
  link.tokens = {7, 8};
  SegmentInfo rest = link;
  rest.tokens = {7, 8, 9, 10, 11, 12};
  rest.visibleBegin = 2;
  SessionStarted session;
  session.pool.blockSize = 4;
  BlockLookedUp found;
  found.segment = 1;
  found.tokens = 4;
  found.wanted = 4;
  found.outcome = LookupOutcome::Relocated;
  BlockLookedUp missed;
  missed.wanted = 2;
  LayoutApplied applied;
  applied.runs = {{.segment = 1, .begin = 5, .count = 1, .role = LayoutRole::Pad},
                  {.segment = 1, .begin = 4, .count = 1, .role = LayoutRole::PlusMarker}};
  applied.cropped = {{.before = 3, .node = "/0", .tokens = {1, 2, 3}, .texts = {}}};
  std::vector<Event> events;
  const auto add = [&](RequestId request, Payload payload) {
    events.push_back({events.size() + 1, 0, 1, 1, request, {}, std::move(payload)});
  };
  add(0, session);
  add(1, SpanTableLaidOut{{link, rest}});
  add(1, applied);
  add(1, missed);
  add(1, found);
  add(1, RequestAdmitted{8, 4, 4});
  const auto account = [&events] { return metrics::stats(events).account; };
  QCOMPARE(account().unread, std::int64_t{4});
  QCOMPARE(account().prompt.again + account().prompt.computed, std::int64_t{0});
  add(0, BatchComputed{{BatchEntry{1, 0, 0, 1, false}}, 1});
  QCOMPARE(account().prompt.again, std::int64_t{1});
  QCOMPARE(account().prompt.computed, std::int64_t{0});
  add(0, BatchComputed{{BatchEntry{1, 0, 1, 1, false}, BatchEntry{1, 1, 4, 2, false}}, 1});
  QCOMPARE(account().unread, std::int64_t{0});
  QCOMPARE(account().prompt.relocated, std::int64_t{2});
  QCOMPARE(account().prompt.again, std::int64_t{2});
  QCOMPARE(account().prompt.computed, std::int64_t{2});
  QCOMPARE(account().prompt.padding, std::int64_t{1});
  QCOMPARE(account().prompt.delimiters, std::int64_t{1});
  QCOMPARE(account().prompt.cropped, std::int64_t{3});
  QCOMPARE(account().total(), std::int64_t{6});
  QCOMPARE(account().text(), std::int64_t{7});
  QCOMPARE(account().beside, std::int64_t{2});
  const QString table = QString::fromStdString(metrics::statsTable(metrics::stats(events))).simplified();
  QVERIFY2(table.contains(QStringLiteral("%1 2 %2 2 of all these %3 1 of all these %4 1 %5 3 %6 2")
                              .arg(shortly("tokens-computed-again"), shortly("computed-tokens"),
                                   shortly("padding-tokens"), shortly("delimiter-tokens"),
                                   named("cropped-tokens"), named("tokens-beside-the-prompt"))),
           qPrintable(table));
}

void TestReport::sums() {
  std::vector<Event> events;
  const auto add = [&](RunId run, RequestId request, Payload payload) {
    events.push_back(Event{events.size() + 1,
                           static_cast<std::int64_t>(events.size()) * 500'000'000,
                           1,
                           run,
                           request,
                           {},
                           std::move(payload)});
  };
  add(0, 0, SessionStarted{});
  add(1, 0, RunStarted{});
  add(1, 1, StepStarted{});
  add(1, 2, StepStarted{});
  BlockLookedUp lookup;
  for (const LookupOutcome outcome : {LookupOutcome::Hit, LookupOutcome::Hit, LookupOutcome::Relocated,
                                      LookupOutcome::Partial, LookupOutcome::Miss}) {
    lookup.outcome = outcome;
    add(1, 1, lookup);
  }
  add(1, 1, RequestAdmitted{100, 64, 16});
  add(1, 1, BlockAllocated{});
  add(1, 1, BlockStored{});
  add(1, 1, BlockStored{});
  add(1, 1, BlockRemoved{1, {}, RemovalReason::Evicted});
  add(1, 1, BlockRemoved{1, {}, RemovalReason::Grown});
  add(1, 1, BlockCopied{});
  add(1, 0, BatchComputed{{BatchEntry{1, 0, 0, 36, false}, BatchEntry{2, 0, 0, 4, false}}, 1'000'000'000});
  add(1, 0, BatchComputed{{BatchEntry{1, 0, 0, 1, true}}, 500'000'000});
  add(1, 1, StepMetrics{0, 100, 64, 16, 36, 3, 0.5, 0.25, 0});
  add(1, 1, StepFinished{});
  add(2, 2, StepMetrics{0, 60, 16, 0, 44, 1, 1.5, 0, 0});
  add(2, 0, MessageLogged{Severity::Warning, {}});
  add(2, 0, MessageLogged{Severity::Error, {}});
  add(2, 0, Snapshot{{}, 5});

  metrics::TraceStats expected;
  expected.events = events.size();
  expected.lost = 5;
  expected.duration = 0.5 * static_cast<double>(events.size() - 1);
  expected.runs = 2;
  expected.requests = 2;
  expected.finishedRequests = 1;
  expected.promptTokens = 160;
  expected.cachedTokens = 80;
  expected.relocatedTokens = 16;
  expected.computedTokens = 80;
  expected.generatedTokens = 4;
  expected.account.prompt = {.hit = 64, .relocated = 16, .computed = 80, .again = 0};
  expected.hitRate = 0.5;
  expected.recent = {.requests = 1, .asked = 100, .found = 64};
  expected.blocksLookedUp = 5;
  expected.blocksHit = 2;
  expected.blocksRelocated = 1;
  expected.blocksPartial = 1;
  expected.blocksMissed = 1;
  expected.blocksAllocated = 1;
  expected.blocksStored = 2;
  expected.blocksEvicted = 1;
  expected.blocksCopied = 1;
  expected.passes = 2;
  expected.meanRowsPerPass = 20.5;
  expected.passTime = 1.5;
  expected.timeToFirstToken = 1.0;
  expected.interTokenLatency = 0.25;
  expected.warnings = 1;
  expected.errors = 1;
  QCOMPARE(QString::fromStdString(metrics::statsTable(metrics::stats(events))),
           QString::fromStdString(metrics::statsTable(expected)));
  QVERIFY(metrics::stats(events) == expected);
}

void TestReport::sumsWithoutMetrics() {
  // A request that was stopped has no metrics; what it did counts all the same.
  const std::vector<Event> events{
      {1, 0, 1, 1, 1, {}, RequestAdmitted{50, 20, 10}},
      {2, 0, 1, 1, 0, {}, BatchComputed{{BatchEntry{1, 0, 20, 25, false}}, 1}},
      {3, 0, 1, 1, 1, {}, TokenGenerated{}},
  };
  const metrics::TraceStats found = metrics::stats(events);
  QCOMPARE(found.promptTokens, std::int64_t{50});
  QCOMPARE(found.cachedTokens, std::int64_t{20});
  QCOMPARE(found.relocatedTokens, std::int64_t{10});
  QCOMPARE(found.computedTokens, std::int64_t{25});
  QCOMPARE(found.generatedTokens, std::int64_t{1});
  QCOMPARE(found.timeToFirstToken, 0.0);
}

void TestReport::medians_data() {
  QTest::addColumn<QList<double>>("values");
  QTest::addColumn<double>("median");
  QTest::newRow("one") << QList<double>{3} << 3.0;
  QTest::newRow("two") << QList<double>{5, 3} << 4.0;
  QTest::newRow("three") << QList<double>{9, 1, 2} << 2.0;
  QTest::newRow("four") << QList<double>{9, 1, 2, 4} << 3.0;
}

void TestReport::medians() {
  QFETCH(QList<double>, values);
  QFETCH(double, median);
  std::vector<Event> events;
  for (const double value : values) {
    StepMetrics metrics;
    metrics.generatedTokens = 2;
    metrics.timeToFirstToken = value;
    metrics.interTokenLatency = 2 * value;
    const std::uint64_t number = events.size() + 1;
    events.push_back(Event{number, 0, 1, 1, static_cast<RequestId>(number), {}, metrics});
  }
  QCOMPARE(metrics::stats(events).timeToFirstToken, median);
  QCOMPARE(metrics::stats(events).interTokenLatency, 2 * median);
}

void TestReport::nothing() {
  QVERIFY(metrics::stats({}) == metrics::TraceStats());
}

void TestReport::table() {
  metrics::TraceStats some;
  some.events = 12;
  some.account.prompt = {.hit = 5, .computed = 3};
  some.timeToFirstToken = 0.0125;
  const auto has = [](const std::string& table, const QString& name, const QString& value) {
    const QStringList lines = QString::fromStdString(table).split('\n');
    return std::any_of(lines.begin(), lines.end(),
                       [&](const QString& line) { return line.simplified() == name + ' ' + value; });
  };
  const std::string text = metrics::statsTable(some);
  QVERIFY(has(text, "events", "12"));
  QVERIFY(has(text, "duration", "0.000 s"));
  QVERIFY(has(text, named("hit-rate"), "62.5 %"));
  QVERIFY(has(text, named("time-to-first-token"), "12.50 ms (median)"));
  QVERIFY(text.ends_with("\n"));
  const QString all = QString::fromStdString(text);
  QVERIFY(!all.contains(shortly("recent-hit-rate")));
  QVERIFY(!all.contains(worded("<time-pool>")));
  QVERIFY(!all.contains("errors"));
  QVERIFY(!all.contains("not delivered"));
  some.requests = 1200;
  some.recent = {.requests = 1000, .asked = 400, .found = 100};
  some.residency = {.evicted = 3, .gaps = 2, .lifetime = 12.5, .idle = 0.004, .gap = 0.25};
  const std::string more = metrics::statsTable(some);
  QVERIFY2(has(more, shortly("recent-hit-rate"), "25.0 % of 1000 requests"), more.c_str());
  QVERIFY2(has(more, worded("<time-pool>"), "12.50 s until evicted (median)"), more.c_str());
  QVERIFY2(has(more, worded("<idle-end>"), "4.00 ms (median)"), more.c_str());
  QVERIFY2(has(more, "between uses", "250.00 ms (median)"), more.c_str());
}

void TestReport::hostileSums() {
  StepMetrics most;
  most.promptTokens = most.cachedTokens = std::numeric_limits<std::int64_t>::max();
  most.generatedTokens = std::numeric_limits<std::int64_t>::min();
  std::vector<Event> events;
  for (RequestId id = 1; id < 5; ++id) events.push_back(Event{id, 0, 1, 1, id, {}, most});
  events.front().time = std::numeric_limits<std::int64_t>::min();
  events.back().time = std::numeric_limits<std::int64_t>::max();
  QCOMPARE(metrics::stats(events).promptTokens, std::numeric_limits<std::int64_t>::max());
  test::RandomValue random(5);
  events.clear();
  for (std::size_t i = 0; i < 2000; ++i) {
    Event event;
    random.fill(event.time);
    random.fill(event.request);
    event.payload = random.payload(i % std::variant_size_v<Payload>);
    events.push_back(std::move(event));
  }
  QVERIFY(!metrics::statsTable(metrics::stats(events)).empty());
}

SPANSCOPE_TEST(tst_report, TestReport)
#include "tst_report.moc"
