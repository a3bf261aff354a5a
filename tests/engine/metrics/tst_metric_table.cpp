// SPDX-License-Identifier: GPL-3.0-or-later
// The table of metrics: what each comes to on a small trace, that it agrees with the other sums over a trace,
// and that the manual lists it.
#include "engine/metrics/metric_table.h"
#include "engine/metrics/token_account.h"
#include "tests/engine/trace/simulated_engine.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <QTest>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::metrics;
using namespace spanscope::trace;

namespace {

SegmentInfo segment(NodePath node, bool independent, std::int64_t base, std::vector<TokenRunInfo> runs) {
  SegmentInfo info;
  info.node = std::move(node);
  info.independent = independent;
  info.base = base;
  info.runs = std::move(runs);
  for (const TokenRunInfo& run : info.runs) {
    for (std::int32_t i = 0; i < run.count; ++i) {
      info.tokens.push_back(static_cast<TokenId>(info.tokens.size() + 1));
      info.texts.emplace_back("t");
    }
  }
  return info;
}

BlockLookedUp lookup(std::uint32_t segment, std::int32_t index, LookupOutcome outcome, std::int32_t tokens,
                     std::int32_t wanted) {
  BlockLookedUp block;
  block.segment = segment;
  block.virtualIndex = index;
  block.outcome = outcome;
  block.reason = outcome == LookupOutcome::Miss ? MissReason::NeverSeen : MissReason::None;
  block.tokens = tokens;
  block.wanted = wanted;
  return block;
}

/// Run 3 of a session with blocks of 4 tokens. Its one prompt has a system message of 3 tokens, a document of
/// 6 at position 3 that was found elsewhere, and a question of 2 at position 9; it generates two tokens.
RunFacts smallRun() {
  test::ListSink sink;
  RunFactsCollector collector;
  SessionStarted session;
  session.model = "models/tiny";
  session.layers = 2;
  session.pool.blockSize = 4;
  session.pool.blocks.resize(9);
  for (BlockId id = 1; id < 9; ++id) session.pool.freeOrder.push_back(id);
  sink.send(0, 0, {}, session);
  sink.send(3, 0, {}, RunStarted{"{}", "spans", 0});
  sink.send(3, 7, "/g", StepStarted{});
  sink.send(
      3, 7, "/g",
      SpanTableLaidOut{SharedList<SegmentInfo>{
          segment("/g", false, 0, {{3, TokenSource::Text, "/g/input/cross/0"}}),
          segment("/g/input/cross/1/plus/0", true, 3, {{6, TokenSource::Text, "/g/input/cross/1/plus/0"}}),
          segment("/g", false, 9, {{2, TokenSource::Text, "/g/input/cross/2"}})}});
  // Token 0 of the document is a delimiter; two tokens of it and one of the question are padding.
  LayoutApplied layout;
  layout.runs = {{1, 0, 1, LayoutRole::PlusMarker}, {1, 4, 2, LayoutRole::Pad}, {2, 1, 1, LayoutRole::Pad}};
  layout.cropped.push_back({.before = 11, .node = "/g", .tokens = {1, 2}, .texts = {"a", "b"}});
  sink.send(3, 7, "/g", layout);
  sink.send(3, 7, "/g", lookup(0, 0, LookupOutcome::Miss, 0, 3));
  sink.send(3, 7, "/g", lookup(1, 0, LookupOutcome::Relocated, 4, 4));
  sink.send(3, 7, "/g", lookup(1, 1, LookupOutcome::Relocated, 2, 2));
  sink.send(3, 7, "/g", lookup(2, 0, LookupOutcome::Miss, 0, 2));
  sink.send(3, 7, "/g", RequestAdmitted{11, 6, 6, false, 0});
  BatchComputed prompt;
  prompt.nanoseconds = 1'000'000;
  prompt.entries = {{7, 0, 0, 3, false, false}, {7, 2, 0, 2, false, false}};
  sink.send(0, 0, {}, prompt);
  sink.send(3, 7, "/g", TokenGenerated{});
  BatchComputed decode;
  decode.nanoseconds = 2'000'000;
  decode.entries = {{7, 2, 2, 1, true, false}};
  sink.send(0, 0, {}, decode);
  TokenGenerated second;
  second.index = 1;
  sink.send(3, 7, "/g", second);
  sink.send(3, 7, "/g", StepFinished{0, StepOutcome::EndToken, "yes"});
  StepMetrics metrics;
  metrics.promptTokens = 11;
  metrics.cachedTokens = 6;
  metrics.relocatedTokens = 6;
  metrics.computedTokens = 5;
  metrics.generatedTokens = 2;
  metrics.timeToFirstToken = 0.25;
  metrics.interTokenLatency = 0.5;
  sink.send(3, 7, "/g", metrics);
  sink.send(3, 0, {}, RunFinished{RunOutcome::Finished, "yes"});
  FidelityMeasured first;
  first.tokens.resize(2);
  first.tokens[0].divergence = 3;
  sink.send(3, 7, "/g", first);
  FidelityMeasured newest = first;
  newest.tokens[0].divergence = 1;
  sink.send(3, 7, "/g", newest);
  for (const Event& event : sink.events) {
    if (const std::optional<Error> error = collector.take(event)) qWarning("%s", error->message().c_str());
  }
  return collector.of(3).value_or(RunFacts{});
}

QString shown(const std::optional<Value>& value) {
  if (!value) return "–";
  if (const auto* text = std::get_if<std::string>(&*value)) return QString::fromStdString(*text);
  return QString::number(std::get<double>(*value));
}

}  // namespace

class TestMetricTable : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void idsAreWords();
  void ofARun_data();
  void ofARun();
  void ofANode_data();
  void ofANode();
  void theFinalStepAlone();
  void blocksOfAPrompt();
  void ofAPool_data();
  void ofAPool();
  void ofAPrediction();
  void agreesWithOtherSums();
  void texts_data();
  void texts();
  void theManualListsThem();
};

void TestMetricTable::idsAreWords() {
  const QRegularExpression form("^[a-z]+(-[a-z]+)*$");
  std::set<std::string_view> ids;
  for (const Metric& metric : all()) {
    QVERIFY2(form.match(metric.id).hasMatch(), metric.id);
    QVERIFY2(ids.insert(metric.id).second, metric.id);
    QCOMPARE(find(metric.id), &metric);
    QCOMPARE(find(lessonName(metric)), &metric);
    QVERIFY2(*metric.name != '\0' && *metric.shortName != '\0', metric.id);
    QVERIFY2(*metric.meaning != '\0' && *metric.events != '\0' && metric.scopes != 0, metric.id);
    const bool isOfTotals =
        metric.ofTotals != nullptr || metric.ofTokens != nullptr || metric.meter != nullptr;
    const bool isOfRun = isOfTotals || metric.ofRun != nullptr || metric.ofFidelity != nullptr;
    QVERIFY2(!metric.isOf(Scope::Run) || isOfRun || metric.ofLayout != nullptr, metric.id);
    QCOMPARE(metric.isOf(Scope::Pool), metric.ofPool != nullptr);
    if (metric.isOf(Scope::Prediction))
      QVERIFY2(metric.ofPrediction != nullptr || metric.ofLayout != nullptr, metric.id);
    QVERIFY2(!metric.isOf(Scope::Request) || isOfTotals, metric.id);
    QVERIFY2(!metric.isOf(Scope::Node) || metric.ofNode != nullptr || metric.ofTokens != nullptr, metric.id);
    // "of" begins a node in a lesson.
    QVERIFY2(!QString(metric.id).split('-').contains("of"), metric.id);
  }
  QVERIFY(ids.size() > 30);
  QVERIFY(find("cached") == nullptr);
  QCOMPARE(lessonName(get("inter-token-latency")), std::string("inter-token latency"));
}

void TestMetricTable::ofARun_data() {
  QTest::addColumn<QString>("value");
  const std::map<std::string, QString> values{{"prompt tokens", "11"},
                                              {"cached tokens", "6"},
                                              {"hit tokens", "0"},
                                              {"relocated tokens", "6"},
                                              {"computed tokens", "5"},
                                              {"tokens computed again", "0"},
                                              {"cropped tokens", "2"},
                                              {"tail tokens", "7"},
                                              {"longest prompt", "11"},
                                              {"final prompt tokens", "11"},
                                              {"final cached tokens", "6"},
                                              {"final computed tokens", "5"},
                                              {"final time to first token", "0.25"},
                                              {"generated tokens", "2"},
                                              {"hit rate", QString::number(6.0 / 11)},
                                              {"prompts", "1"},
                                              {"blocks", "4"},
                                              {"hit blocks", "0"},
                                              {"relocated blocks", "2"},
                                              {"partial blocks", "0"},
                                              {"missed blocks", "2"},
                                              {"stored blocks", "0"},
                                              {"evicted blocks", "0"},
                                              {"block size", "4"},
                                              {"pool blocks", "8"},
                                              {"first missing block", "0"},
                                              {"unread tokens", "0"},
                                              {"tokens beside the prompt", "0"},
                                              {"allocated blocks", "0"},
                                              {"prefix-equivalent tokens", "0"},
                                              {"recent hit rate", QString::number(6.0 / 11)},
                                              {"prefill speed", "5000"},
                                              {"decode speed", "500"},
                                              {"first relocated block", "1"},
                                              {"passes", "2"},
                                              {"decode passes", "1"},
                                              {"largest pass", "5"},
                                              {"time to first token", "0.25"},
                                              {"inter-token latency", "0.5"},
                                              {"whole run", QString::number(150e-6)},
                                              {"padding tokens", "3"},
                                              {"padding blocks", "2"},
                                              {"delimiter tokens", "1"},
                                              {"added tokens", QString::number(2.0 / 9)},
                                              {"divergence", "0.5"},
                                              {"median divergence", "0.5"},
                                              {"largest divergence", "1"},
                                              {"agreeing tokens", "2"},
                                              {"compared tokens", "2"},
                                              {"attention deviation", "–"},
                                              {"answer", "yes"},
                                              {"policy", "spans"},
                                              {"model", "tiny"},
                                              {"layers", "2"}};
  for (const auto& [name, value] : values) QTest::newRow(name.c_str()) << value;
}

void TestMetricTable::ofARun() {
  QFETCH(QString, value);
  static const RunFacts run = smallRun();
  const Metric* const metric = find(QTest::currentDataTag());
  QVERIFY(metric != nullptr && metric->isOf(Scope::Run));
  QCOMPARE(shown(metric->of(run)), value);
  // Of a run that reported nothing, no count is made up.
  if (metric->unit == Unit::Tokens && std::string_view(metric->id) != "block-size")
    QVERIFY(!metric->of(RunFacts{}));
}

void TestMetricTable::ofANode_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QString>("node");
  QTest::addColumn<QString>("value");
  const auto row = [](const char* name, const char* node, const char* value) {
    QTest::addRow("%s of %s", name, node) << QString(name) << QString(node) << QString(value);
  };
  row("prompt tokens", "/g/input/cross/1/plus/0", "6");
  row("prompt tokens", "/g/input/cross/1", "6");
  row("prompt tokens", "", "11");
  row("prompt tokens", "/g/input/cross/1/plus", "6");
  row("prompt tokens", "/g/input/cross/1/plus/1", "–");
  // A name that only begins alike is another one.
  row("prompt tokens", "/g/input/cross/1/pl", "–");
  row("cached tokens", "/g/input/cross/1/plus/0", "6");
  row("cached tokens", "/g/input/cross/2", "0");
  row("relocated tokens", "/g/input/cross/1/plus/0", "6");
  row("computed tokens", "/g/input/cross/0", "3");
  row("position", "/g/input/cross/1/plus/0", "3");
  row("position", "/g/input/cross/2", "9");
  row("blocks", "/g/input/cross/1/plus/0", "2");
  row("tail tokens", "/g/input/cross/1/plus/0", "2");
  row("tail tokens", "/g/input/cross/0", "3");
  row("tail tokens", "/g/input/cross/7", "–");
}

void TestMetricTable::ofANode() {
  QFETCH(QString, name);
  QFETCH(QString, node);
  QFETCH(QString, value);
  const Metric* const metric = find(name.toStdString());
  QVERIFY(metric != nullptr && metric->isOf(Scope::Node));
  QCOMPARE(shown(metric->of(smallRun(), node.toStdString())), value);
}

/// A run of two steps: of the first one here the sums know, the final figures do not.
void TestMetricTable::theFinalStepAlone() {
  test::ListSink sink;
  RunFactsCollector collector;
  SessionStarted session;
  session.pool.blockSize = 4;
  session.pool.blocks.resize(9);
  for (BlockId id = 1; id < 9; ++id) session.pool.freeOrder.push_back(id);
  sink.send(0, 0, {}, session);
  sink.send(1, 0, {}, RunStarted{"{}", "spans", 0});
  const auto step = [&sink](RequestId request, const char* node, std::int32_t tokens, std::int32_t found,
                            double seconds) {
    sink.send(1, request, node, StepStarted{});
    sink.send(1, request, node,
              SpanTableLaidOut{SharedList<SegmentInfo>{
                  segment(node, false, 0, {{tokens, TokenSource::Text, std::string(node) + "/input"}})}});
    if (found > 0) sink.send(1, request, node, lookup(0, 0, LookupOutcome::Hit, found, 4));
    sink.send(1, request, node, RequestAdmitted{tokens, found, 0, false, 0});
    BatchComputed batch;
    batch.entries = {{request, 0, found, tokens - found, false, false}};
    sink.send(0, 0, {}, batch);
    sink.send(1, request, node, TokenGenerated{});
    sink.send(1, request, node, StepFinished{0, StepOutcome::EndToken, "yes"});
    StepMetrics metrics;
    metrics.promptTokens = tokens;
    metrics.cachedTokens = found;
    metrics.computedTokens = tokens - found;
    metrics.generatedTokens = 1;
    metrics.timeToFirstToken = seconds;
    sink.send(1, request, node, metrics);
  };
  step(5, "/g/input/plus/0/g", 20, 0, 0.5);
  step(6, "/g", 10, 4, 0.125);
  sink.send(1, 0, {}, RunFinished{RunOutcome::Finished, "yes"});
  for (const Event& event : sink.events) {
    if (const std::optional<Error> error = collector.take(event)) QFAIL(error->message().c_str());
  }
  const RunFacts run = *collector.of(1);
  const auto value = [&run](const char* name) { return shown(find(name)->of(run)); };
  QCOMPARE(value("prompt tokens"), QString("30"));
  QCOMPARE(value("longest prompt"), QString("20"));
  QCOMPARE(value("final prompt tokens"), QString("10"));
  QCOMPARE(value("final cached tokens"), QString("4"));
  QCOMPARE(value("final computed tokens"), QString("6"));
  QCOMPARE(value("final time to first token"), QString("0.125"));
  QCOMPARE(value("tail tokens"), QString("2"));
}

void TestMetricTable::blocksOfAPrompt() {
  const RunFacts run = smallRun();
  const std::vector<BlockPlace> blocks = blocksInView(run.requests.front(), run.blockSize);
  const std::vector<BlockPlace> expected{{0, 0}, {1, 0}, {1, 1}, {2, 0}};
  QVERIFY(blocks == expected);
  const std::vector<ViewToken> tokens = tokensInView(run.requests.front());
  QCOMPARE(tokens.size(), std::size_t{11});
  QVERIFY((tokens[3] == ViewToken{1, 0}));
  QVERIFY((blockOf(tokens[8], run.blockSize) == BlockPlace{1, 1}));
}

void TestMetricTable::ofAPool_data() {
  QTest::addColumn<QString>("value");
  const std::map<std::string, QString> values{
      {"blocks-in-use", "5"}, {"shared-blocks", "2"}, {"unshared-blocks", "3"}, {"cached-blocks", "4"},
      {"free-blocks", "1"},   {"filled-blocks", "9"}, {"peak-blocks", "6"},     {"cache-memory", "1024"},
      {"pool-time", "3"},     {"idle-time", "1"},     {"reuse-interval", "0.5"}};
  for (const Metric& metric : all()) {
    if (!metric.isOf(Scope::Pool)) continue;
    const auto value = values.find(metric.id);
    QTest::newRow(metric.id) << (value == values.end() ? QString("no value here") : value->second);
  }
}

void TestMetricTable::ofAPool() {
  QFETCH(QString, value);
  const Metric& metric = get(QTest::currentDataTag());
  PoolFacts pool;
  QCOMPARE(shown(metric.of(pool)), QString("–"));  // not reported
  pool.blocks.emplace();
  for (const int references : {2, 7, 1, 1, 1}) pool.blocks->count(references, true);
  for (const bool isCached : {true, true, true, true, false}) pool.blocks->count(0, isCached);
  pool.peak = 6;
  pool.bytes = 1024;
  pool.residency = {.evicted = 1, .gaps = 1, .lifetime = 3, .idle = 1, .gap = 0.5};
  QCOMPARE(shown(metric.of(pool)), value);
}

/// Each metric of a prediction has a value of its own, before the run and after it.
void TestMetricTable::ofAPrediction() {
  PredictedAccount account;
  std::int64_t next = 1;
  for (CountRange* range : {&account.prompt, &account.cached, &account.relocated, &account.again,
                            &account.computed, &account.beside, &account.evicted}) {
    *range = {.least = next, .most = next + 1};
    next += 2;
  }
  account.padding = next;
  account.delimiters = next + 1;
  account.cropped = next + 2;
  std::set<std::int64_t> seen;
  for (const Metric& metric : all()) {
    const std::optional<CountRange> range = metric.of(account);
    QCOMPARE(range.has_value(), metric.ofPrediction != nullptr);
    if (!range) continue;
    QVERIFY2(metric.isOf(Scope::Prediction) && metric.isOf(Scope::Run), metric.id);
    QVERIFY2(seen.insert(range->least).second, metric.id);
  }
  QCOMPARE(seen.size(), std::size_t{10});
  account.padding.reset();
  QVERIFY(!get("padding-tokens").of(account));
}

/// Over random traces, what is summed here is what other sums over the same events say.
void TestMetricTable::agreesWithOtherSums() {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::ListSink sink;
    test::SimulatedEngine engine(sink, seed, 40);
    engine.start();
    for (int i = 0; i < 400; ++i) engine.step();
    engine.drainRequests();
    RunFactsCollector collector;
    TokenAccounts accounts;
    Replay replay;
    std::map<RunId, std::int64_t> evicted;
    for (const Event& event : sink.events) {
      QVERIFY2(!collector.take(event), qPrintable(QString("seed %1").arg(seed)));
      QVERIFY(!replay.apply(event));
      accounts.take(event.request, event.payload);
      if (const auto* removed = std::get_if<BlockRemoved>(&event.payload))
        evicted[event.run] += removed->reason == RemovalReason::Evicted ? 1 : 0;
    }
    QVERIFY(!collector.runs().empty());
    for (const RunId id : collector.runs()) {
      const RunState& state = replay.progress().runs.find(id)->second;
      const RunFacts facts = *collector.of(id);
      PromptAccount sum;
      for (const RequestId request : state.requests) sum += accounts.of(request);
      QCOMPARE(facts.account.total(), sum.total());
      QCOMPARE(facts.account.prompt.cached(), sum.prompt.cached());
      QCOMPARE(facts.account.prompt.computed, sum.prompt.computed);
      QCOMPARE(facts.measured.generatedTokens, valuesOf(replay.progress(), state).generatedTokens);
      QCOMPARE(facts.blocks.evicted, evicted[id]);
      QCOMPARE(facts.answer, state.answer);
    }
  }
}

void TestMetricTable::texts_data() {
  QTest::addColumn<int>("unit");
  QTest::addColumn<double>("value");
  QTest::addColumn<QString>("text");
  const auto row = [](Unit unit, double value, const char* text) {
    QTest::newRow(text) << static_cast<int>(unit) << value << QString::fromUtf8(text);
  };
  row(Unit::Tokens, 70, "70");
  row(Unit::Tokens, -3, "-3");
  row(Unit::Seconds, 0.00027, "0.27 ms");
  row(Unit::Seconds, 0.0031, "3.1 ms");
  row(Unit::Seconds, 0.12, "120 ms");
  row(Unit::Seconds, 1.25, "1.25 s");
  row(Unit::Share, 0.843, "84 %");
  row(Unit::Share, 0.9999, ">99 %");
  row(Unit::Share, 1, "100 %");
  row(Unit::Share, 0.0001, "<1 %");
  row(Unit::Nats, 0, "0");
  row(Unit::Nats, 0.00123, "0.0012");
  row(Unit::Nats, 9.3e-6, "0.0000093");
  row(Unit::Nats, 0.36, "0.36");
  row(Unit::Nats, 4.5e-12, "4.5e-12");
  row(Unit::Nats, 2.34, "2.3");
  row(Unit::Number, 3.5454, "3.5");
  row(Unit::Number, 85.3, "85");
}

void TestMetricTable::texts() {
  QFETCH(int, unit);
  QFETCH(double, value);
  QFETCH(QString, text);
  QCOMPARE(QString::fromStdString(metrics::text(static_cast<Unit>(unit), value)).replace(u'\u00A0', ' '),
           text);
}

/// The rows of the manual's table are made from this one. SPANSCOPE_WRITE_GOLDEN=1 writes them.
void TestMetricTable::theManualListsThem() {
  QStringList expected;
  for (const Metric& metric : all()) {
    QStringList events;
    for (const QString& event : QString::fromUtf8(metric.events).split(", ")) events << "`" + event + "`";
    QStringList of;
    if (metric.isOf(Scope::Run)) of << "run";
    if (metric.isOf(Scope::Request)) of << "request";
    if (metric.isOf(Scope::Node)) of << "node";
    if (metric.isOf(Scope::Prediction)) of << "prediction";
    if (metric.isOf(Scope::Pool)) of << "pool";
    const QString better = metric.better == Better::More   ? "more"
                           : metric.better == Better::Less ? "less"
                                                           : "";
    expected << QString("| `%1` | %2 | %3 | %4 | %5 | %6 | %7 | %8 |")
                    .arg(QString::fromStdString(lessonName(metric)), QString::fromUtf8(metric.name),
                         QString::fromUtf8(metric.shortName), QString::fromUtf8(unitName(metric.unit)),
                         better, of.join(", "), QString::fromUtf8(metric.meaning), events.join(", "));
  }
  QFile file(SPANSCOPE_SOURCE_DIR "/resources/manual/numbers.md");
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QString page = QString::fromUtf8(file.readAll());
  file.close();
  const qsizetype first = page.indexOf("\n| `", page.indexOf("\n## Metrics\n")) + 1;
  qsizetype end = first;
  while (page.mid(end).startsWith("| `")) end = page.indexOf('\n', end) + 1;
  const QString rows = page.mid(first, end - first);
  const QString wanted = expected.join('\n') + '\n';
  if (qEnvironmentVariableIsSet("SPANSCOPE_WRITE_GOLDEN")) {
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write((page.left(first) + wanted + page.mid(end)).toUtf8());
  } else {
    QVERIFY2(rows == wanted, "run this test with SPANSCOPE_WRITE_GOLDEN=1");
  }
}

SPANSCOPE_TEST(tst_metric_table, TestMetricTable)
#include "tst_metric_table.moc"
