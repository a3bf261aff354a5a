// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/predicted.h"
#include "engine/workbench/settings.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/session/run_list.h"
#include "ui/session/trace_source.h"

#include <QCoreApplication>
#include <QObject>
#include <QStringLiteral>
#include <QTest>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

/// A session with this number of runs that did nothing.
void fill(TraceStore& store, RunId runs, const std::string& program = "spanscope 1") {
  const auto add = [&store](RunId run, trace::Payload payload) {
    trace::Event event;
    event.sequence = store.size() + 1;
    event.time = static_cast<std::int64_t>(store.size());
    event.session = 1;
    event.run = run;
    event.payload = std::move(payload);
    store.append(std::move(event));
  };
  trace::SessionStarted session;
  session.program = program;
  session.pool.blocks.resize(2);
  session.pool.freeOrder = {1};
  add(0, session);
  for (RunId run = 1; run <= runs; ++run) {
    add(run, trace::RunStarted{.queryJson = "{}", .policy = "spans", .seed = 1});
    add(run, trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = {}});
  }
}

}  // namespace

class TestTraceSource : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A trace of a cache simulator has no times, in this session as in a file.
  void aForetoldOne() {
    const auto store = std::make_shared<TraceStore>();
    fill(*store, 1, "vLLM 0.33.0 (cache simulator)");
    QVERIFY(isPredicted(*store));
    // Older recordings have another mark.
    QVERIFY(spanscope::trace::isPredicted("vLLM 0.33.0 (twin)"));
    const std::shared_ptr<const TraceSource> source = endedSource(store);
    const FileSource file(store, QStringLiteral("told.trace"));
    for (const ReportedFacts& reports : {source->reports(), file.reports()}) {
      for (const Fact fact : {Fact::TokenTimes, Fact::StepTimes, Fact::Passes, Fact::Attention})
        QVERIFY(reports.of(fact) == Reporting::CannotBeReported);
      for (const Fact fact : {Fact::Prompts, Fact::BlockLookups, Fact::Pool, Fact::CachedTokens})
        QVERIFY(reports.of(fact) == Reporting::Reported);
    }
    QVERIFY(source->takesRuns());
    QVERIFY(!file.takesRuns());
    QVERIFY(isPredicted(*file.records()->front()));
    const auto own = std::make_shared<TraceStore>();
    fill(*own, 1);
    QVERIFY(!isPredicted(*own));
    QCOMPARE(endedSource(own)->origin(), TraceOrigin::EndedSession);
  }

  void aLiveOneGoesOn() {
    LiveSource live;
    QCOMPARE(live.origin(), TraceOrigin::Session);
    QVERIFY(live.takesRuns() && !live.records());
    QCOMPARE(live.trace()->size(), std::size_t{0});
    fill(live.store(), 200);
    QCOMPARE(live.trace()->size(), std::size_t{401});
    QVERIFY(live.trace()->contradictions().empty());
  }

  /// What looks at it goes on seeing what it saw.
  void itsOldestEventsGo() {
    LiveSource live;
    fill(live.store(), 200);
    const std::shared_ptr<const TraceStore> before = live.trace();
    const std::size_t gone = live.keepNewest(before->bytes() / 2);
    QVERIFY(gone > 0);
    QCOMPARE(live.trace()->size() + gone, before->size());
    QCOMPARE(before->size(), std::size_t{401});
    QCOMPARE(live.trace()->newest().progress().runs.rbegin()->first, RunId{200});
    QCOMPARE(live.keepNewest(before->bytes()), std::size_t{0});
  }

  void anEndedOneTakesRuns() {
    LiveSource live;
    fill(live.store(), 1);
    const EndedSource ended(live.trace());
    QCOMPARE(ended.origin(), TraceOrigin::EndedSession);
    QCOMPARE(ended.trace(), live.trace());
    QVERIFY(ended.takesRuns() && !ended.records());
  }

  /// What a trace reports follows from its events; what a session will report, from its settings.
  void saysWhatItReports() {
    LiveSource live;
    fill(live.store(), 1);
    QVERIFY(live.reports() == ReportedFacts());
    workbench::RunSettings settings;
    settings.observe = false;
    live.noteRun(settings);
    QCOMPARE(live.reports().of(Fact::Attention), Reporting::NotReported);
    QCOMPARE(live.reports().of(Fact::Pool), Reporting::Reported);
    settings.observe = true;
    live.noteRun(settings);
    QVERIFY(live.reports() == ReportedFacts());

    // A run that did nothing leaves nothing out.
    QVERIFY(FileSource(live.trace(), QStringLiteral("a")).reports() == ReportedFacts());

    auto bare = std::make_shared<TraceStore>();
    std::uint64_t sequence = 0;
    const auto add = [&](RequestId request, trace::Payload payload) {
      trace::Event event;
      event.sequence = ++sequence;
      event.session = 1;
      event.run = sequence == 1 ? 0 : 1;
      event.request = request;
      event.payload = std::move(payload);
      bare->append(std::move(event));
    };
    add(0, trace::SessionStarted{});
    add(0, trace::RunStarted{.queryJson = "{}", .policy = "prefix"});
    add(1, trace::StepStarted{});
    add(1, trace::TokenGenerated{.text = "a", .shown = "a", .segmentMass = {}});
    add(1, trace::StepFinished{.text = "a"});
    QVERIFY(bare->contradictions().empty());
    const ReportedFacts file = FileSource(bare, QStringLiteral("a")).reports();
    for (const Fact fact : {Fact::Prompts, Fact::Pool, Fact::CachedTokens, Fact::Passes, Fact::Attention})
      QCOMPARE(file.of(fact), Reporting::CannotBeReported);
    for (const Fact fact : {Fact::TokenTexts, Fact::TokenTimes, Fact::BlockLookups})
      QCOMPARE(file.of(fact), Reporting::Reported);
    QCOMPARE(EndedSource(bare).reports().of(Fact::Attention), Reporting::NotReported);

    QCOMPARE(unreportedText(file, {Fact::TokenTimes}), QString());
    QCOMPARE(unreportedText(file, {Fact::TokenTimes, Fact::Passes, Fact::CachedTokens}),
             worded("<not-reported|%1>").arg(QStringLiteral("cached tokens, ") + worded("<passes-rates>")));
    QVERIFY(!reportsNothing(file, {Fact::TokenTimes, Fact::Passes}));
    QVERIFY(reportsNothing(file, {Fact::Attention}));
    QVERIFY(!reportsNothing(file, {}));
    QCOMPARE(unreportedText(EndedSource(bare).reports(), {Fact::Attention}), QString());
  }

  void aFileHasRunsOfItsOwn() {
    LiveSource live;
    fill(live.store(), 3);
    const FileSource file(live.trace(), QStringLiteral("runs.trace"));
    QCOMPARE(file.origin(), TraceOrigin::File);
    QVERIFY(!file.takesRuns());
    QCOMPARE(file.records()->size(), std::size_t{3});
    QCOMPARE(file.records()->front()->document, QStringLiteral("runs.trace"));
  }
};

SPANSCOPE_TEST(tst_trace_source, TestTraceSource, QCoreApplication)
#include "tst_trace_source.moc"
