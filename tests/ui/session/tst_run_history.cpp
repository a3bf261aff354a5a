// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "ui/session/run_archive.h"
#include "ui/session/run_history.h"
#include "ui/session/run_list.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

trace::Event event(std::uint64_t sequence, RunId run, RequestId request, trace::Payload payload) {
  trace::Event event;
  event.sequence = sequence;
  event.time = static_cast<std::int64_t>(sequence) * 1000;
  event.session = 1;
  event.run = run;
  event.request = request;
  event.payload = std::move(payload);
  return event;
}

/// A session of one run with one step of 32 prompt tokens.
std::shared_ptr<const TraceStore> sessionOf(RunId run, const std::string& answer, const std::string& model) {
  auto trace = std::make_shared<TraceStore>();
  trace::SessionStarted session;
  session.model = model;
  session.pool.blockSize = 16;
  session.pool.blocks.resize(4);
  session.pool.freeOrder = {1, 2, 3};
  std::uint64_t sequence = 0;
  const auto add = [&](RequestId request, trace::Payload payload) {
    ++sequence;
    trace->append(event(sequence, sequence == 1 ? 0 : run, request, std::move(payload)));
  };
  add(0, session);
  add(0, trace::RunStarted{.queryJson = R"({"g":{"model":"gpt","input":{"user":"a"}}})",
                           .policy = "spans",
                           .seed = ~std::uint64_t{0}});
  add(0,
      trace::PlanMade{.steps = {{.step = 0, .node = "", .copy = 0, .ply = 0, .needs = {}}}, .explain = "e"});
  add(0, trace::MessageLogged{.severity = Severity::Warning, .text = "beware"});
  add(run, trace::StepStarted{.step = 0, .copy = 0});
  add(run, trace::StepMetrics{.step = 0,
                              .promptTokens = 32,
                              .cachedTokens = 16,
                              .relocatedTokens = 16,
                              .computedTokens = 16,
                              .generatedTokens = 2,
                              .timeToFirstToken = 0.25,
                              .interTokenLatency = 0.5,
                              .queueTime = 0});
  add(run, trace::StepFinished{.step = 0, .outcome = trace::StepOutcome::EndToken, .text = answer});
  add(0, trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = answer});
  if (!trace->contradictions().empty()) qFatal("%s", trace->contradictions().front().message().c_str());
  return trace;
}

RunRecord recordOf(RunId run, std::shared_ptr<const TraceStore> trace) {
  RunRecord record;
  record.run = run;
  record.tab = 1;
  record.document = QStringLiteral("rag");
  record.model = QStringLiteral("spanlet");
  record.settings.seed = ~std::uint64_t{0};
  record.settings.layers = {1, 3};
  record.startedAt = 1'700'000'000'000 + run;
  record.trace = std::move(trace);
  return record;
}

void addTo(RunHistory& history, RunId run, const std::shared_ptr<const TraceStore>& trace) {
  const trace::RunState& state = trace->newest().progress().runs.at(run);
  history.begin(recordOf(run, trace), *state.queryJson);
  history.end(run);
}

}  // namespace

class TestRunHistory : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aRunIsRemoved() {
    RunHistory history;
    for (RunId run = 1; run <= 3; ++run) addTo(history, run, sessionOf(run, "yes", "/models/spanlet"));
    const auto before = history.records();
    history.remove(2);
    QVERIFY(history.find(2) == nullptr);
    QVERIFY(history.find(1) != nullptr && history.find(3) != nullptr);
    // A list that was handed out does not change.
    QCOMPARE(before->size(), std::size_t{3});
    history.remove(7);
    QCOMPARE(history.records()->size(), std::size_t{2});
  }

  /// Runs that are dropped to free memory leave their metrics, the oldest session first, and never the shown
  /// run.
  void figuresStayWhenTracesGo() {
    RunHistory history;
    std::vector<std::shared_ptr<const TraceStore>> traces;
    for (RunId run = 1; run <= 3; ++run) {
      traces.push_back(sessionOf(run, "answer " + std::to_string(run), "/models/spanlet"));
      addTo(history, run, traces.back());
    }
    QCOMPARE(history.traceBytes(), traces[0]->bytes() + traces[1]->bytes() + traces[2]->bytes());
    const auto isFirst = [&](const TraceStore* trace) { return trace == traces[0].get(); };
    history.bound(history.traceBytes() - 1, isFirst);
    QVERIFY(history.find(1)->trace != nullptr);
    QVERIFY(history.find(2)->trace == nullptr);
    QVERIFY(history.find(3)->trace != nullptr);
    QCOMPARE(history.find(2)->metricValues->runs.at(2).answer, std::string("answer 2"));
    QCOMPARE(history.find(2)->warnings, QStringList{QStringLiteral("beware")});
    QCOMPARE(history.find(2)->otherNames, QStringList{QStringLiteral("gpt")});
    QCOMPARE(history.findByRequest(2)->run, RunId(2));
    QVERIFY(history.find(4) == nullptr);
    const RunValues metricValues =
        valuesOf(*history.find(2)->metricValues, history.find(2)->metricValues->runs.at(2));
    QCOMPARE(metricValues.timeToFirstToken, std::optional<double>(0.25));
  }

  /// A pass that runs share is as long for each of them as it is; what it computed of the others counts for
  /// them. Each run has its own end.
  void runsInProgressAtOnceHaveRatesOfTheirOwn() {
    TraceStore trace;
    std::uint64_t sequence = 0;
    const auto add = [&](RunId run, RequestId request, trace::Payload payload) {
      trace.append(::event(++sequence, run, request, std::move(payload)));
    };
    const auto pass = [&](RunId first, std::vector<trace::BatchEntry> entries) {
      add(first, 0, trace::BatchComputed{.entries = std::move(entries), .nanoseconds = 1'000'000'000});
    };
    trace::SessionStarted session;
    session.pool.blockSize = 16;
    session.pool.blocks.resize(4);
    session.pool.freeOrder = {1, 2, 3};
    add(0, 0, session);
    add(1, 0, trace::RunStarted{.queryJson = "{}", .policy = "spans"});
    add(1, 1, trace::StepStarted{.step = 0, .copy = 0});
    pass(1, {{.request = 1, .count = 40}});
    add(2, 0, trace::RunStarted{.queryJson = "{}", .policy = "spans"});
    add(2, 2, trace::StepStarted{.step = 0, .copy = 0});
    pass(1, {{.request = 1, .count = 1, .decode = true}, {.request = 2, .count = 60}});
    pass(1, {{.request = 1, .count = 1, .decode = true}, {.request = 2, .count = 1, .decode = true}});
    add(1, 0, trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = {}});
    const std::size_t firstEnd = trace.size();
    pass(2, {{.request = 2, .count = 1, .decode = true}});
    add(2, 0, trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = {}});
    add(3, 0, trace::RunStarted{.queryJson = "{}", .policy = "spans"});
    add(3, 0, trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = {}});
    QVERIFY(trace.contradictions().empty());

    const auto areRates = [](const RunRates& rates, double prefill, double decode) {
      return rates.prefill == prefill && rates.decode == decode;
    };
    QVERIFY(areRates(ratesOf(trace, trace.size(), 1), 40, 1));
    QVERIFY(areRates(ratesOf(trace, trace.size(), 2), 60, 1));
    const std::map<RunId, RunRates> all = ratesOfRuns(trace, trace.size());
    QCOMPARE(all.size(), std::size_t{2});
    QVERIFY(all.at(1) == ratesOf(trace, trace.size(), 1));
    QVERIFY(all.at(2) == ratesOf(trace, trace.size(), 2));

    QCOMPARE(trace.endOf(1), firstEnd);
    QCOMPARE(trace.endOf(2), *trace.startOf(3));
    QCOMPARE(trace.endOf(3), trace.size());
    QCOMPARE(trace.endOf(4), trace.size());
    QVERIFY(!trace.startOf(4));
  }

  /// A list that was handed out does not change under its reader.
  void listsAreValues() {
    RunHistory history;
    const std::shared_ptr<const RunRecords> before = history.records();
    addTo(history, 1, sessionOf(1, "a", "/models/spanlet"));
    QVERIFY(before->empty());
    QCOMPARE(history.records()->size(), std::size_t(1));
  }

  void recordsGoThroughTheirText() {
    RunHistory history;
    addTo(history, 7, sessionOf(7, "an answer with “quotes”", "/models/spanlet"));
    RunRecord record = *history.find(7);
    record.madeFor = QStringLiteral("short questions about a made-up world");
    const std::optional<RunRecord> read = readRecord(recordText(record));
    QVERIFY(read);
    QCOMPARE(read->madeFor, record.madeFor);
    QCOMPARE(read->run, RunId(7));
    QCOMPARE(read->document, record.document);
    QCOMPARE(read->model, record.model);
    QVERIFY(read->settings == record.settings);
    QCOMPARE(read->startedAt, record.startedAt);
    QCOMPARE(read->warnings, record.warnings);
    const trace::RunState& run = read->metricValues->runs.at(7);
    const trace::RunState& before = record.metricValues->runs.at(7);
    QCOMPARE(run.answer, before.answer);
    QCOMPARE(*run.queryJson, *before.queryJson);
    QCOMPARE(run.seed, before.seed);
    QCOMPARE(run.requests, before.requests);
    QCOMPARE(read->accounts.size(), before.requests.size());
    QVERIFY(read->accounts == record.accounts);
    QVERIFY(valuesOf(*read->metricValues, run) == valuesOf(*record.metricValues, before));
    QCOMPARE(read->metricValues->requests.at(7).text, record.metricValues->requests.at(7).text);
    QVERIFY(!readRecord("{}"));
    QVERIFY(!readRecord("not json"));
    QVERIFY(!readRecord(R"({"spanscopeRun": 99, "run": 1})"));
  }

  /// The metrics of a run without reported metrics, e.g. because it was stopped.
  void figuresOfAStoppedRun() {
    trace::Progress metricValues;
    metricValues.model = "/models/spanlet";
    metricValues.backend = "CPU";
    trace::RunState& run = metricValues.runs.edit(5);
    run.queryJson = std::string("{}");
    run.policy = "blend(0.15)";
    run.requests = {8, 9};
    run.outcome = trace::RunOutcome::Stopped;
    run.startedAt = 5'000;
    run.finishedAt = 9'000;
    trace::RequestState& request = metricValues.requests.edit(8);
    request.run = 5;
    request.node = "/g";
    request.copy = 2;
    request.promptTokens = 40;
    request.cachedTokens = 16;
    request.relocatedTokens = 8;
    request.computedTokens = 24;
    request.generatedTokens = 3;
    request.text = "a b c";
    request.startedAt = 5'500;
    request.admittedAt = 6'000;
    request.firstTokenAt = 7'000;
    request.lastTokenAt = 8'000;
    request.outcome = trace::StepOutcome::Stopped;
    request.finishedAt = 9'000;
    // A server that reports nothing but text, and a break.
    trace::RequestState& served = metricValues.requests.edit(9);
    served.run = 5;
    served.step = 1;
    served.text = "half";
    served.startedAt = 6'000;
    served.firstTokenAt = 7'000;
    trace::ServerReported reported;
    reported.step = 1;
    reported.server = "gpu-3";
    reported.brokenBy = "it closed";
    served.reported = reported;
    RunRecord record = recordOf(5, nullptr);
    record.metricValues = std::make_shared<const trace::Progress>(metricValues);
    trace::FidelityMeasured measured;
    measured.promptTokens = 40;
    measured.tokens = {{.token = 7, .divergence = 0.1}};
    record.fidelity[8] = std::make_shared<const trace::FidelityMeasured>(measured);
    record.warnings = QStringList{QStringLiteral("beware")};
    const std::optional<RunRecord> read = readRecord(recordText(record));
    QVERIFY(read);
    QCOMPARE(read->warnings, record.warnings);
    QVERIFY(*read->fidelity.at(8) == measured);
    const trace::RunState& again = read->metricValues->runs.at(5);
    QCOMPARE(again.policy, run.policy);
    QVERIFY(again.outcome == run.outcome && again.requests == run.requests);
    QCOMPARE(again.finishedAt - again.startedAt, std::int64_t{4'000});
    const trace::RequestState& one = read->metricValues->requests.at(8);
    QVERIFY(one.node == request.node && one.copy == request.copy && one.outcome == request.outcome);
    QVERIFY(one.promptTokens == 40 && one.cachedTokens == 16 && one.relocatedTokens == 8);
    QVERIFY(one.computedTokens == 24 && one.generatedTokens == 3 && one.text == request.text);
    QVERIFY(one.firstTokenAt - one.startedAt == 1'500 && one.lastTokenAt - one.firstTokenAt == 1'000);
    QVERIFY(!one.metrics && !one.reported);
    const trace::RequestState& other = read->metricValues->requests.at(9);
    QVERIFY(other.text == served.text && other.step == 1 && other.reported == served.reported);
    QVERIFY(other.generatedTokens == 0 && other.firstTokenAt - other.startedAt == 1'000);
  }

  /// The figures were JSON in an earlier version. They come from the trace beside it.
  void recordsOfAnEarlierVersion() {
    const QTemporaryDir folder;
    RunHistory history;
    addTo(history, 7, sessionOf(7, "an answer", "/models/spanlet"));
    {
      RunArchive archive(folder.path());
      archive.save(*history.find(7));
      archive.flush();
    }
    const QString stem =
        folder.filePath(QStringLiteral("%1-7").arg(history.find(7)->startedAt, 16, 10, QLatin1Char('0')));
    QFile small(stem + ".run");
    QVERIFY(small.open(QIODevice::ReadOnly));
    QJsonObject object = QJsonDocument::fromJson(small.readAll()).object();
    small.close();
    object[QStringLiteral("spanscopeRun")] = 1;
    object.remove(QStringLiteral("figures"));
    object[QStringLiteral("query")] = QStringLiteral("{}");
    object[QStringLiteral("answer")] = QStringLiteral("an answer");
    const auto writeOld = [&] {
      if (!small.open(QIODevice::WriteOnly)) qFatal("not written");
      small.write(QJsonDocument(object).toJson(QJsonDocument::Compact));
      small.close();
    };
    writeOld();
    const auto isWhole = [&](const std::vector<RunRecord>& records) {
      return records.size() == 1 && records[0].metricValues->runs.at(7).answer == "an answer" &&
             records[0].metricValues->requests.at(7).metrics.has_value() &&
             records[0].warnings == QStringList{QStringLiteral("beware")} &&
             records[0].accounts == history.find(7)->accounts;
    };
    const RunArchive archive(folder.path());
    QVERIFY(isWhole(archive.load()));
    // It is of this version now.
    QVERIFY(QFile::remove(stem + ".trace"));
    QVERIFY(isWhole(archive.load()));
    // Without a trace the run stays, and says what is missing.
    writeOld();
    const std::vector<RunRecord> left = archive.load();
    QCOMPARE(left.size(), std::size_t{1});
    QCOMPARE(left[0].metricValues->runs.at(7).answer, std::string("an answer"));
    QCOMPARE(left[0].warnings.size(), 2);
  }

  /// Archives of an earlier version have one count of padding and delimiter tokens.
  void paddedTokensOfAnEarlierVersion() {
    RunHistory history;
    addTo(history, 7, sessionOf(7, "an answer", "/models/spanlet"));
    RunRecord record = *history.find(7);
    record.accounts.clear();
    record.accounts[7].prompt = {.computed = 32, .padding = 3, .delimiters = 2};
    const std::optional<RunRecord> whole = readRecord(recordText(record), {});
    QVERIFY(whole && whole->accounts == record.accounts);
    QJsonObject object = QJsonDocument::fromJson(recordText(record)).object();
    QJsonObject account = object[QStringLiteral("accounts")].toArray().at(0).toObject();
    account.remove(QStringLiteral("padding"));
    account.remove(QStringLiteral("delimiters"));
    account[QStringLiteral("padded")] = 5;
    object[QStringLiteral("accounts")] = QJsonArray{account};
    const std::optional<RunRecord> old = readRecord(QJsonDocument(object).toJson(), {});
    QVERIFY(old && old->accounts.size() == 1);
    QCOMPARE(old->accounts.at(7).prompt.padding, std::int64_t{5});
    QCOMPARE(old->accounts.at(7).prompt.computed, std::int64_t{32});
  }

  /// Files take no more room than they may: the oldest runs go.
  void theArchiveIsBounded() {
    const QTemporaryDir folder;
    RunHistory history;
    for (RunId run = 1; run <= 3; ++run) addTo(history, run, sessionOf(run, "a", "/models/spanlet"));
    {
      RunArchive archive(folder.path());
      for (const auto& record : *history.records()) archive.save(*record);
      archive.flush();
      QCOMPARE(archive.load().size(), std::size_t(3));
    }
    qint64 bytes = 0;
    for (const QFileInfo& file : QDir(folder.path()).entryInfoList(QDir::Files)) bytes += file.size();
    RunArchive archive(folder.path(), static_cast<std::uint64_t>(bytes - 1));
    archive.save(*history.find(3));
    archive.flush();
    const std::vector<RunRecord> left = archive.load();
    QCOMPARE(left.size(), std::size_t(2));
    QCOMPARE(left[0].run, RunId(2));
    const TraceStore trace = TraceStore::open(left[1].file.toStdString());
    QVERIFY(trace.contradictions().empty());
    QCOMPARE(trace.newest().progress().runs.at(3).answer, std::string("a"));
    archive.clear();
    archive.flush();
    QVERIFY(archive.load().empty());
  }

  /// A program may end between the files of a run: what is left is counted, and removed once nobody writes it
  /// any more.
  void leftoversAreCountedAndRemoved() {
    const QTemporaryDir folder;
    RunHistory history;
    for (RunId run = 1; run <= 2; ++run) addTo(history, run, sessionOf(run, "a", "/models/spanlet"));
    const auto leave = [&folder](const char* name, qint64 bytes, qint64 age) {
      QFile file(folder.filePath(QString::fromLatin1(name)));
      if (!file.open(QIODevice::WriteOnly)) qFatal("%s", name);
      file.write(QByteArray(static_cast<int>(bytes), 'x'));
      file.flush();
      file.setFileTime(QDateTime::currentDateTime().addSecs(-age), QFileDevice::FileModificationTime);
    };
    const auto isThere = [&folder](const char* name) {
      return QFile::exists(folder.filePath(QString::fromLatin1(name)));
    };
    constexpr qint64 kDay = 86'400;
    leave("0000000000000001-7.trace", 100, kDay);
    leave("0000000000000002-8.abcdef.trace.part", 100, kDay);
    leave("9999999999999999-9.trace", 1'000'000, 0);  // another program writes it
    leave("notes.txt", 100, kDay);
    RunArchive archive(folder.path(), 1'000'000);
    archive.save(*history.find(1));
    archive.flush();
    QVERIFY(!isThere("0000000000000001-7.trace") && !isThere("0000000000000002-8.abcdef.trace.part"));
    QVERIFY(isThere("9999999999999999-9.trace") && isThere("notes.txt"));
    // It fills the room alone.
    QVERIFY(archive.load().empty());
    archive.clear();
    archive.flush();
    QVERIFY(!isThere("9999999999999999-9.trace") && isThere("notes.txt"));
    archive.save(*history.find(2));
    archive.flush();
    QCOMPARE(archive.load().size(), std::size_t(1));
  }

  /// Two programs that keep runs in one folder at once never have a number twice.
  void numbersAreUniqueInAFolder() {
    const QTemporaryDir folder;
    RunArchive one(folder.path());
    RunArchive two(folder.path());
    QCOMPARE(one.reserve({}, 3), (RunNumbers{0, 0}));
    QCOMPARE(two.reserve({}, 2), (RunNumbers{1, 3}));
    QCOMPARE(one.reserve({1, 3}, 1), (RunNumbers{2, 5}));
    // What a program knows already is passed over.
    QCOMPARE(two.reserve({9, 40}, 1), (RunNumbers{9, 40}));
    QCOMPARE(one.reserve({}, 1), (RunNumbers{10, 41}));

    constexpr int kEach = 40;
    std::array<std::vector<RunNumbers>, 2> taken;
    const auto takeMany = [](RunArchive& archive, std::vector<RunNumbers>& numbers) {
      for (int i = 0; i < kEach; ++i) numbers.push_back(archive.reserve({}, 2));
    };
    {
      std::jthread other([&] { takeMany(two, taken[1]); });
      takeMany(one, taken[0]);
    }
    std::set<RunId> runs;
    std::set<RequestId> requests;
    for (const auto& numbers : taken) {
      for (const RunNumbers& number : numbers) {
        QVERIFY(runs.insert(number.run).second);
        QVERIFY(requests.insert(number.request).second);
      }
    }
    QCOMPARE(runs.size(), std::size_t{2 * kEach});
    QCOMPARE(*requests.rbegin() - *requests.begin(), RequestId{2 * (2 * kEach - 1)});

    // The other contents of the file are no number.
    QFile file(folder.filePath(QStringLiteral("numbers")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"run": -5, "request": "many"})");
    file.close();
    QCOMPARE(one.reserve({4, 7}, 1), (RunNumbers{4, 7}));
    QCOMPARE(two.reserve({}, 1), (RunNumbers{5, 8}));
    // Where nothing can be written, a program counts on for itself.
    RunArchive nowhere(QStringLiteral("/proc/nowhere"));
    QCOMPARE(nowhere.reserve({2, 3}, 1), (RunNumbers{2, 3}));
  }

  void saysWhatDiffers() {
    RunHistory history;
    addTo(history, 1, sessionOf(1, "a", "/models/spanlet"));
    addTo(history, 2, sessionOf(2, "a", "/models/spanlet"));
    RunRecord other = recordOf(3, sessionOf(3, "a", "/models/smollm2"));
    other.model = QStringLiteral("smollm2");
    other.settings.blockSize = 32;
    other.settings.distribute = false;
    other.settings.locality = 4;
    history.add(other);
    history.end(3);
    ViewInput input;
    input.document = std::make_shared<document::Document>();
    input.trace = std::make_shared<TraceStore>();
    input.records = history.records();
    const std::vector<ListedRun> runs = listRuns(input);
    QCOMPARE(runs.size(), std::size_t(3));
    QVERIFY(isLike(runs[0], runs[1]));
    QVERIFY(differencesOf(runs[0], runs[1]).isEmpty());
    QVERIFY(!isLike(runs[0], runs[2]));
    const QStringList expected{QStringLiteral("model smollm2"), QStringLiteral("blocks of 32 tokens")};
    const QStringList found = differencesOf(runs[0], runs[2]);
    QCOMPARE(found.mid(0, 2), expected);
    QCOMPARE(found.size(), expected.size() + 2);  // plus distribution and attention locality
    QCOMPARE(RunLabels(runs).of(runs[2]), QStringLiteral("run 3 · smollm2 · spans"));
    QCOMPARE(RunLabels({runs[0], runs[1]}).of(runs[0]), QStringLiteral("run 1 · spans"));
  }
};

SPANSCOPE_TEST(tst_run_history, TestRunHistory, QCoreApplication)
#include "tst_run_history.moc"
