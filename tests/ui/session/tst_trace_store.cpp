// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/trace_file.h"
#include "tests/engine/trace/replay_state.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/session/trace_store.h"

#include <QCoreApplication>
#include <QDebug>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr std::int32_t kBlocks = 9;

/// Appends the next event.
void add(std::vector<trace::Event>& events, RunId run, RequestId request, trace::Payload payload) {
  trace::Event event;
  event.sequence = events.size() + 1;
  event.time = static_cast<std::int64_t>(events.size()) * 1000;
  event.session = 1;
  event.run = run;
  event.request = request;
  event.payload = std::move(payload);
  events.push_back(std::move(event));
}

/// A session in which requests come, look up, take blocks, compute and give blocks back.
std::vector<trace::Event> makeEvents(std::size_t requests) {
  std::vector<trace::Event> events;
  const auto send = [&events](RunId run, RequestId request, trace::Payload payload) {
    add(events, run, request, std::move(payload));
  };
  trace::SessionStarted session;
  session.pool.blockSize = 4;
  session.pool.blocks.resize(kBlocks);
  for (BlockId block = 1; block < kBlocks; ++block) session.pool.freeOrder.push_back(block);
  send(0, 0, session);
  for (std::size_t i = 1; i <= requests; ++i) {
    const auto run = static_cast<RunId>(i);
    const auto request = static_cast<RequestId>(i);
    const auto block = static_cast<BlockId>(1 + i % (kBlocks - 1));
    send(run, 0, trace::RunStarted{.queryJson = "{}", .policy = "spans", .seed = i});
    send(run, request, trace::StepStarted{});
    trace::SegmentInfo segment;
    segment.tokens = {1, 2};
    segment.texts = {"a", "b"};
    segment.runs = {{.count = 2, .source = trace::TokenSource::Text, .node = {}}};
    send(run, request, trace::SpanTableLaidOut{.segments = {segment}});
    trace::BlockLookedUp lookup;
    lookup.wanted = 2;
    send(run, request, lookup);
    send(run, request, trace::BlockAllocated{.block = block, .segment = 0, .virtualIndex = 0});
    send(run, 0,
         trace::BatchComputed{
             .entries = {{.request = request, .segment = 0, .begin = 0, .count = 2, .decode = false}},
             .nanoseconds = 500});
    send(run, request,
         trace::TokenGenerated{
             .index = 0, .token = 3, .text = "c", .shown = "c", .probability = 1, .segmentMass = {}});
    send(run, request, trace::BlockReleased{.block = block, .references = 0});
    send(run, request, trace::StepFinished{.step = 0, .outcome = trace::StepOutcome::EndToken, .text = "c"});
    send(run, 0, trace::MessageLogged{.severity = Severity::Note, .text = "done"});
    send(run, 0, trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = "c"});
  }
  return events;
}

TraceStore storeOf(const std::vector<trace::Event>& events) {
  TraceStore store;
  for (const trace::Event& event : events) store.append(event);
  return store;
}

}  // namespace

class TestTraceStore : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void findsWhatBelongsToARequest() {
    const TraceStore store = storeOf(makeEvents(3));
    QVERIFY(store.contradictions().empty());
    QVERIFY(store.request(4) == nullptr);
    const RequestEvents* second = store.request(2);
    QVERIFY(second != nullptr);
    QCOMPARE(second->run, RunId(2));
    QCOMPARE(second->of<trace::BlockLookedUp>().size(), std::size_t(1));
    QCOMPARE(second->of<trace::BatchComputed>().size(), std::size_t(1));
    QCOMPARE(second->of<trace::TokenGenerated>().size(), std::size_t(1));
    QVERIFY(std::holds_alternative<trace::TokenGenerated>(
        store.event(second->of<trace::TokenGenerated>().front()).payload));
    QCOMPARE(store.runs().size(), std::size_t(3));
    QCOMPARE(store.indicesOf<trace::MessageLogged>().size(), std::size_t(3));
    QCOMPARE(store.indicesOf<trace::BatchComputed>().size(), std::size_t(3));
  }

  /// Any place of the trace gives the state that its first events alone give, in whatever order one goes
  /// there.
  void anyStateIsThatOfItsEvents() {
    const std::vector<trace::Event> events = makeEvents(900);
    const TraceStore store = storeOf(events);
    QVERIFY(store.size() > 8192);
    constexpr unsigned kSeed = 7;
    qInfo("seed %u", kSeed);
    std::mt19937 random(kSeed);
    std::vector<std::size_t> places{0, 1, 4095, 4096, 4097, events.size() - 1, events.size()};
    for (int i = 0; i < 20; ++i) places.push_back(random() % (events.size() + 1));
    for (const std::size_t place : places) {
      trace::Replay expected;
      for (std::size_t i = 0; i < place; ++i) QVERIFY(!expected.apply(events[i]));
      QVERIFY2(trace::test::stateOf(store.stateAt(place)) == trace::test::stateOf(expected),
               qPrintable(QString::number(place)));
    }
  }

  void findsEventsByNumberAndTime() {
    const std::vector<trace::Event> events = makeEvents(2);
    const TraceStore store = storeOf(events);
    QCOMPARE(store.indexOf(1), std::optional<std::size_t>(0));
    QCOMPARE(store.indexOf(5), std::optional<std::size_t>(4));
    QVERIFY(!store.indexOf(0));
    QVERIFY(!store.indexOf(events.size() + 1));
    QCOMPARE(store.countAt(-1), std::size_t(0));
    QCOMPARE(store.countAt(0), std::size_t(1));
    QCOMPARE(store.countAt(1999), std::size_t(2));
    QCOMPARE(store.countAt(1'000'000'000), events.size());
  }

  void findsTheNewestJobUpToAPlace() {
    std::vector<trace::Event> events = makeEvents(2);
    const trace::PackedValue first{.bytes = std::string("1")};
    const trace::PackedValue second{.bytes = std::string("2")};
    std::vector<std::size_t> ends;
    for (const trace::PackedValue& arguments : {first, second, first}) {
      ends.push_back(events.size());
      add(events, 2, 2, trace::JobEnded{.kind = "a", .arguments = arguments, .problem = {}, .result = {}});
      add(events, 2, 0, trace::MessageLogged{.severity = Severity::Note, .text = "done"});
    }
    const TraceStore store = storeOf(events);
    QVERIFY(store.contradictions().empty());
    QVERIFY(store.lastJob("a", first, ends[0]) == nullptr);
    QCOMPARE(store.lastJobEnd(ends[0]), std::size_t(0));
    const auto jobAt = [&store, &ends](std::size_t i) {
      return std::get_if<trace::JobEnded>(&store.event(ends[i]).payload);
    };
    QVERIFY(store.lastJob("a", first, ends[0] + 1) == jobAt(0));
    QVERIFY(store.lastJob("a", first, ends[2]) == jobAt(0));
    QCOMPARE(store.lastJobEnd(ends[2]), ends[1] + 1);
    QVERIFY(store.lastJob("a", first, store.size()) == jobAt(2));
    QVERIFY(store.lastJob("a", second, store.size()) == jobAt(1));
    QVERIFY(store.lastJob("b", second, store.size()) == nullptr);
    QCOMPARE(store.lastJobEnd(store.size()), ends[2] + 1);
  }

  void leavesOutWhatContradicts() {
    std::vector<trace::Event> events = makeEvents(1);
    trace::Event wrong;
    wrong.sequence = events.size() + 1;
    wrong.time = events.back().time;
    wrong.session = 1;
    wrong.run = 1;
    wrong.request = 1;
    wrong.payload = trace::BlockReleased{.block = 5, .references = 3};
    TraceStore store = storeOf(events);
    const auto before = trace::test::stateOf(store.newest());
    store.append(wrong);
    QCOMPARE(store.size(), events.size());
    QCOMPARE(store.contradictions().size(), std::size_t(1));
    QVERIFY(trace::test::stateOf(store.newest()) == before);
  }

  /// Requests that all run on: their span tables are there once, whatever states are kept.
  void keptStatesShareSpanTables() {
    std::vector<trace::Event> events = makeEvents(1);
    events.resize(1);
    constexpr RequestId kRequests = 8;
    trace::SegmentInfo segment;
    segment.tokens.assign(2000, 7);
    for (RequestId request = 1; request <= kRequests; ++request) {
      add(events, 1, request, trace::StepStarted{});
      add(events, 1, request, trace::SpanTableLaidOut{.segments = {segment}});
    }
    for (std::int32_t i = 0; i < 3000; ++i) {
      for (RequestId request = 1; request <= kRequests; ++request) {
        add(events, 1, request,
            trace::TokenGenerated{.index = i, .text = "x", .shown = "x", .segmentMass = {}});
      }
    }
    const TraceStore store = storeOf(events);
    for (std::size_t place = 100; place < store.size(); place += 997) {
      for (RequestId request = 1; request <= kRequests; ++request) {
        QCOMPARE(store.stateAt(place).progress().requests.at(request).segments[0].tokens.data(),
                 store.newest().progress().requests.at(request).segments[0].tokens.data());
      }
    }
    QVERIFY2(store.markBytes() < 2'000'000, qPrintable(QString::number(store.markBytes())));
  }

  /// Long answers, which every state holds again.
  void keptStatesStayWithinTheirBytes() {
    std::vector<trace::Event> events = makeEvents(1);
    events.resize(1);
    constexpr RequestId kRequests = 50;
    const std::string text(400, 'x');
    for (std::int32_t i = 0; i < 600; ++i) {
      for (RequestId request = 1; request <= kRequests; ++request) {
        if (i == 0) add(events, 1, request, trace::StepStarted{});
        add(events, 1, request,
            trace::TokenGenerated{.index = i, .text = text, .shown = {}, .segmentMass = {}});
      }
    }
    const TraceStore store = storeOf(events);
    QVERIFY2(store.markBytes() <= 64U << 20, qPrintable(QString::number(store.markBytes())));
    QVERIFY(store.markBytes() > 1U << 20);
    for (const std::size_t place : {std::size_t(5000), std::size_t(20'000), std::size_t(12'345)}) {
      trace::Replay expected;
      for (std::size_t i = 0; i < place; ++i) QVERIFY(!expected.apply(events[i]));
      QVERIFY(trace::test::stateOf(store.stateAt(place)) == trace::test::stateOf(expected));
    }
  }

  void keepsTheNewestPart() {
    const std::vector<trace::Event> events = makeEvents(300);
    const TraceStore store = storeOf(events);
    QCOMPARE(store.newestPart(store.bytes()).size(), store.size());

    const TraceStore part = store.newestPart(store.bytes() / 2);
    QVERIFY(part.contradictions().empty());
    QVERIFY(part.bytes() <= store.bytes() / 2 + 4096);
    QVERIFY(part.bytes() > store.bytes() / 3);
    QVERIFY(std::holds_alternative<trace::SessionStarted>(part.event(0).payload));
    const auto* said = std::get_if<trace::MessageLogged>(&part.event(1).payload);
    QVERIFY(said != nullptr);
    const std::size_t gone = events.size() - (part.size() - 2);
    QCOMPARE(QString::fromStdString(said->text), worded("<window-keeps-part|%1>").arg(gone));
    QVERIFY(std::holds_alternative<trace::RunStarted>(part.event(2).payload));
    QVERIFY(part.event(2) == events[gone]);
    QVERIFY(part.events().back() == events.back());
    QVERIFY(part.newest().pool().state() == store.newest().pool().state());
    const RequestId last = events.back().run;
    QVERIFY(part.newest().progress().requests.at(last) == store.newest().progress().requests.at(last));
    QVERIFY(!part.newest().progress().requests.contains(1));

    // Those that go next are counted with those before; a run that is too long begins in its middle.
    const TraceStore less = part.newestPart(3000);
    QVERIFY(less.contradictions().empty());
    QVERIFY(less.size() < 20);
    const auto& again = std::get<trace::MessageLogged>(less.event(1).payload);
    QVERIFY(again.text.find(std::to_string(events.size() + 2 - less.size())) != std::string::npos);
  }

  void readsAFile() {
    const QTemporaryDir folder;
    const std::vector<trace::Event> events = makeEvents(20);
    const std::filesystem::path path = folder.filePath(QStringLiteral("run.trace")).toStdString();
    trace::writeTrace(path, events);
    const TraceStore store = TraceStore::open(path);
    QCOMPARE(store.size(), events.size());
    QVERIFY(store.events() == events);
    QVERIFY(trace::test::stateOf(store.newest()) == trace::test::stateOf(storeOf(events).newest()));
    QVERIFY_EXCEPTION_THROWN(TraceStore::open(folder.filePath(QStringLiteral("none.trace")).toStdString()),
                             Failure);
  }
};

SPANSCOPE_TEST(tst_trace_store, TestTraceStore, QCoreApplication)
#include "tst_trace_store.moc"
