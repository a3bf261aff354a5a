// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "ui/session/trace_source.h"

#include <QCoreApplication>
#include <QObject>
#include <QStringLiteral>
#include <QTest>

#include <cstdint>
#include <memory>
#include <utility>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// A session with so many runs that did nothing.
void fill(TraceStore& store, RunId runs) {
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
