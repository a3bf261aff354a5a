// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/memory_bytes.h"
#include "engine/trace/recorder.h"
#include "engine/trace/replay.h"
#include "tests/engine/trace/simulated_engine.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <variant>

using namespace spanscope;
using namespace spanscope::trace;
using spanscope::product_text::worded;

namespace {

RecorderOptions small(std::size_t capacity) {
  RecorderOptions options;
  options.queueCapacity = capacity;
  options.keepEvents = true;
  return options;
}

template <class T>
std::size_t countOf(const std::vector<Event>& events) {
  return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [](const Event& event) {
    return std::holds_alternative<T>(event.payload);
  }));
}

std::vector<Event> drained(Recorder& recorder) {
  std::vector<Event> events;
  recorder.drain(events);
  return events;
}

}  // namespace

class TestRecorder : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void numbersAndTimes();
  void everythingArrives();
  void overflowBecomesSnapshot();
  void overflowAgain();
  void tokensGoNext();
  void resultsStay();
  void queueStaysBounded_data();
  void queueStaysBounded();
  void queueStaysWithinItsBytes_data();
  void queueStaysWithinItsBytes();
  void consumerFollows_data();
  void consumerFollows();
  void fileFromTheStart();
  void aKilledRecordingHasItsRuns();
  void fileFromTheMiddle();
  void fileThatFails();
  void fileOfARecorderThatGoes();
  void contradictionIsTold();
  void listenerMissesNothing();
};

void TestRecorder::numbersAndTimes() {
  std::vector<std::int64_t> clock = {100, 150, 150, 120, 400};
  std::size_t tick = 0;
  RecorderOptions options;
  options.session = 9;
  options.clock = [&] { return clock.at(tick++); };
  Recorder recorder(options);
  for (std::uint64_t i = 1; i <= 4; ++i) QCOMPARE(recorder.send(1, 2, "/g", StepStarted{}), i);
  const std::vector<Event> events = drained(recorder);
  QCOMPARE(events.size(), std::size_t{4});
  const std::int64_t times[] = {50, 50, 50, 300};  // a clock that goes back is stopped
  for (std::size_t i = 0; i < 4; ++i) {
    QVERIFY(events[i] == (Event{i + 1, times[i], 9, 1, 2, "/g", StepStarted{}}));
  }
  QCOMPARE(recorder.lastSequence(), std::uint64_t{4});
  QVERIFY(recorder.events().empty());
}

void TestRecorder::everythingArrives() {
  Recorder recorder(small(100'000));
  test::SimulatedEngine engine(recorder, 3, 20);
  std::vector<Event> events;
  engine.start();
  for (int i = 0; i < 500; ++i) {
    engine.step();
    if (i % 10 == 0) {
      const std::size_t before = events.size();
      const std::size_t arrived = recorder.drain(events);
      QCOMPARE(arrived, events.size() - before);
    }
  }
  recorder.drain(events);
  QVERIFY(events == recorder.events());
  QCOMPARE(countOf<Snapshot>(events), std::size_t{0});
  for (std::size_t i = 0; i < events.size(); ++i) QCOMPARE(events[i].sequence, std::uint64_t{i + 1});
  QVERIFY(recorder.pool() == engine.pool());
  QVERIFY(drained(recorder).empty());
}

void TestRecorder::overflowBecomesSnapshot() {
  Recorder recorder(small(400));
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  while (recorder.lastSequence() < 800) engine.step();
  const std::vector<Event> events = drained(recorder);
  const std::vector<Event> all = recorder.events();
  QVERIFY(events.size() <= 401);
  QCOMPARE(countOf<Snapshot>(events), std::size_t{1});
  const auto* snapshot = std::get_if<Snapshot>(&events.back().payload);
  QVERIFY(snapshot != nullptr);
  QCOMPARE(events.back().sequence, recorder.lastSequence());
  QCOMPARE(events.back().time, all.back().time);
  QCOMPARE(snapshot->lost, std::uint64_t{all.size() - (events.size() - 1)});
  QVERIFY(snapshot->pool == engine.pool());

  // What is no detail arrived, each event as it was and in order.
  QCOMPARE(countOf<TokenGenerated>(events), countOf<TokenGenerated>(all));
  QCOMPARE(countOf<StepFinished>(events), countOf<StepFinished>(all));
  QCOMPARE(countOf<RequestAdmitted>(events), countOf<RequestAdmitted>(all));
  QCOMPARE(countOf<BlockAllocated>(events), std::size_t{0});
  for (std::size_t i = 0; i + 1 < events.size(); ++i) QVERIFY(events[i] == all[events[i].sequence - 1]);

  // From there on nothing is missing.
  std::vector<Event> more;
  const std::uint64_t last = recorder.lastSequence();
  for (int i = 0; i < 10; ++i) engine.step();
  recorder.drain(more);
  QCOMPARE(more.front().sequence, last + 1);
  QCOMPARE(more.size(), std::size_t{recorder.lastSequence() - last});

  Replay replay;
  for (const std::vector<Event>& part : {events, more}) {
    for (const Event& event : part) {
      const auto error = replay.apply(event);
      QVERIFY2(!error, error ? error->message().c_str() : "");
    }
  }
  QVERIFY(replay.pool().state() == engine.pool());
  QVERIFY(!replay.progress().gap);
}

void TestRecorder::overflowAgain() {
  Recorder recorder(small(100));
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  std::uint64_t lost = 0;
  std::uint64_t delivered = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 60; ++i) engine.step();
    for (const Event& event : drained(recorder)) {
      if (const auto* snapshot = std::get_if<Snapshot>(&event.payload)) {
        lost += snapshot->lost;
        QVERIFY(snapshot->pool == engine.pool());
      } else {
        ++delivered;
      }
    }
  }
  QVERIFY(lost > 0);
  QCOMPARE(lost + delivered, recorder.lastSequence());
}

void TestRecorder::tokensGoNext() {
  Recorder recorder(small(64));
  recorder.send(1, 1, {}, StepStarted{});
  std::string text;
  for (std::int32_t i = 0; i < 1000; ++i) {
    text += "x";
    recorder.send(1, 1, {}, TokenGenerated{i, 5, "x", "x", 1, {}});
  }
  recorder.send(1, 1, {}, StepMetrics{});
  recorder.send(1, 1, {}, StepFinished{0, StepOutcome::EndToken, text});
  const std::vector<Event> events = drained(recorder);
  QVERIFY(events.size() <= 65);
  QCOMPARE(countOf<StepStarted>(events), std::size_t{1});
  QCOMPARE(countOf<StepMetrics>(events), std::size_t{1});
  QCOMPARE(std::get<Snapshot>(events.back().payload).lost, 1003 - (events.size() - 1));
  Replay replay;
  for (const Event& event : events) QVERIFY(!replay.apply(event).has_value());
  QCOMPARE(replay.progress().requests.at(1).text, text);
  QVERIFY(!replay.progress().requests.at(1).complete);
}

void TestRecorder::resultsStay() {
  // Nobody drains, and everything but results floods the queue.
  Recorder recorder(small(256));
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  for (int i = 0; i < 20'000; ++i) engine.step();
  RequestId id = 1'000'000;
  for (int i = 0; i < 20; ++i) {
    recorder.send(1, ++id, {}, StepFinished{0, StepOutcome::EndToken, std::to_string(i)});
    for (std::int32_t k = 0; k < 300; ++k) recorder.send(1, id, {}, TokenGenerated{k, 5, "x", "x", 1, {}});
    for (std::int32_t k = 0; k < 300; ++k) recorder.send(1, id, {}, BatchComputed{});
  }
  recorder.send(1, 0, {}, RunFinished{RunOutcome::Finished, "answer"});
  const std::vector<Event> events = drained(recorder);
  QCOMPARE(countOf<RunFinished>(events), std::size_t{1});
  const auto results = std::count_if(events.begin(), events.end(), [](const Event& event) {
    return event.request > 1'000'000 && std::holds_alternative<StepFinished>(event.payload);
  });
  QCOMPARE(results, std::ptrdiff_t{20});
}

void TestRecorder::queueStaysBounded_data() {
  QTest::addColumn<quint64>("capacity");
  for (const quint64 capacity : {0ULL, 16ULL, 17ULL, 100ULL}) QTest::addRow("%llu", capacity) << capacity;
}

void TestRecorder::queueStaysBounded() {
  QFETCH(quint64, capacity);
  RecorderOptions options;
  options.queueCapacity = capacity;
  Recorder recorder(options);
  for (int i = 0; i < 10'000; ++i) {
    recorder.send(1, 1, {}, StepMetrics{});
    recorder.send(1, 1, {}, TokenGenerated{});
    recorder.send(1, 1, {}, BatchComputed{});
  }
  const std::vector<Event> events = drained(recorder);
  QVERIFY(events.size() <= std::max<std::size_t>(capacity, 16) + 1);
  QVERIFY(events.size() >= std::max<std::size_t>(capacity, 16) / 2);
  QVERIFY(std::is_sorted(events.begin(), events.end(),
                         [](const Event& a, const Event& b) { return a.sequence < b.sequence; }));
}

void TestRecorder::queueStaysWithinItsBytes_data() {
  QTest::addColumn<quint64>("bytes");
  QTest::newRow("less than one event") << quint64{1000};
  QTest::newRow("a few events") << quint64{300'000};
  QTest::newRow("many events") << quint64{2'000'000};
}

void TestRecorder::queueStaysWithinItsBytes() {
  QFETCH(quint64, bytes);
  RecorderOptions options;
  options.queueBytes = bytes;
  options.keepEvents = true;
  Recorder recorder(options);
  AttentionMass mass;
  mass.mass.resize(10'000);
  SegmentInfo segment;
  segment.tokens.resize(10'000);
  TokenGenerated token;
  token.segmentMass.resize(5'000);
  std::uint64_t largest = 0;
  for (int i = 0; i < 100; ++i) {
    recorder.send(1, 1, {}, mass);
    recorder.send(1, 1, {}, SpanTableLaidOut{.segments = {segment}});
    recorder.send(1, 1, {}, token);
    recorder.send(1, 1, {}, StepFinished{0, StepOutcome::EndToken, "x"});
  }
  recorder.send(1, 0, {}, RunFinished{RunOutcome::Finished, "answer"});
  for (const Event& event : recorder.events()) largest = std::max(largest, memoryBytes(event));
  const std::vector<Event> events = drained(recorder);
  std::uint64_t held = 0;
  for (const Event& event : events) held += memoryBytes(event);
  held -= memoryBytes(events.back());
  QVERIFY2(held <= std::max<std::uint64_t>(bytes, largest), qPrintable(QStringLiteral("%1 bytes").arg(held)));
  QCOMPARE(countOf<RunFinished>(events), std::size_t{1});
  QCOMPARE(countOf<AttentionMass>(events), std::size_t{0});
  QCOMPARE(std::get<Snapshot>(events.back().payload).lost, recorder.lastSequence() + 1 - events.size());

  // Once it was emptied, there is room again.
  recorder.send(1, 1, {}, StepMetrics{});
  QCOMPARE(drained(recorder).size(), std::size_t{1});
}

void TestRecorder::consumerFollows_data() {
  QTest::addColumn<quint64>("capacity");
  QTest::newRow("queue that overflows") << quint64{64};
  QTest::newRow("queue that does not") << quint64{1'000'000};
}

void TestRecorder::consumerFollows() {
  QFETCH(quint64, capacity);
  const std::uint64_t seed = test::testSeed(91);
  const QTemporaryDir folder;
  const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "a.trace";
  Recorder recorder(small(capacity));
  recorder.startFile(path, {});
  std::atomic<bool> done = false;
  std::atomic<bool> first = false;
  PoolState enginePool;
  std::map<RequestId, std::string> texts;
  std::thread producer([&] {
    test::SimulatedEngine engine(recorder, seed, 30);
    engine.start();
    for (int i = 0; i < 5000; ++i) {
      engine.step();
      while (!first) std::this_thread::yield();
    }
    engine.drainRequests();
    enginePool = engine.pool();
    texts = engine.texts();
    done = true;
  });

  Replay replay;
  std::string problem;
  std::size_t snapshots = 0;
  std::vector<Event> events;
  for (bool last = false; !last;) {
    last = done;
    events.clear();
    recorder.drain(events);
    first = true;
    snapshots += countOf<Snapshot>(events);
    for (const Event& event : events) {
      if (const auto error = replay.apply(event); error && problem.empty()) problem = error->message();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  producer.join();
  QCOMPARE(QString::fromStdString(problem), QString());
  QVERIFY(replay.pool().state() == enginePool);
  QCOMPARE(replay.progress().sequence, recorder.lastSequence());
  if (capacity > 100'000) {
    QCOMPARE(snapshots, std::size_t{0});
    QCOMPARE(replay.progress().requests.size(), texts.size());
    for (const auto& [id, text] : texts) QCOMPARE(replay.progress().requests.at(id).text, text);
  }
  QVERIFY(!recorder.finishFile().has_value());
  QVERIFY(readTrace(path).events == recorder.events());
}

void TestRecorder::fileFromTheStart() {
  const QTemporaryDir folder;
  const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "a.trace";
  Recorder recorder(small(16));
  const TraceHeader header{"test", 5};
  recorder.startFile(path, header);
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  for (int i = 0; i < 100; ++i) engine.step();
  QVERIFY(!recorder.finishFile().has_value());
  engine.step();
  const TraceFile file = readTrace(path);
  QVERIFY(file.header == header);
  QVERIFY(file.events.size() < recorder.events().size());
  const std::vector<Event> all = recorder.events();
  QVERIFY(std::equal(file.events.begin(), file.events.end(), all.begin()));
  QVERIFY(!recorder.finishFile().has_value());
}

/// What a program leaves that is killed after a run.
void TestRecorder::aKilledRecordingHasItsRuns() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  Recorder recorder(small(16));
  recorder.startFile(directory / "a.trace", {});
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  for (int i = 0; i < 1000 && countOf<RunFinished>(recorder.events()) == 0; ++i) engine.step();
  engine.drainRequests();
  const std::vector<Event> all = recorder.events();
  const auto last = std::find_if(all.rbegin(), all.rend(), [](const Event& event) {
    return std::holds_alternative<RunFinished>(event.payload);
  });
  QVERIFY(last != all.rend());
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
  QCOMPARE(files.size(), std::size_t{1});
  const TraceFile file = readTrace(files.front());
  QVERIFY(file.events.size() >= static_cast<std::size_t>(std::distance(last, all.rend())));
  QVERIFY(std::equal(file.events.begin(), file.events.end(), all.begin()));
}

void TestRecorder::fileFromTheMiddle() {
  const QTemporaryDir folder;
  const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "a.trace";
  Recorder recorder(small(16));
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  for (int i = 0; i < 100; ++i) engine.step();
  const std::uint64_t middle = recorder.lastSequence();
  const PoolState then = engine.pool();
  recorder.startFile(path, {});
  for (int i = 0; i < 100; ++i) engine.step();
  engine.drainRequests();
  // Starting another file ends the first.
  recorder.startFile(std::filesystem::path(folder.path().toStdString()) / "b.trace", {});
  const TraceFile file = readTrace(path);
  QCOMPARE(file.events.front().sequence, middle);
  const auto& session = std::get<SessionStarted>(file.events.front().payload);
  QCOMPARE(session.program, std::string("simulation"));
  QVERIFY(session.pool == then);
  QCOMPARE(file.events.size(), std::size_t{recorder.lastSequence() - middle + 1});
  Replay replay;
  for (const Event& event : file.events) {
    const auto error = replay.apply(event);
    QVERIFY2(!error, error ? error->message().c_str() : "");
  }
  QVERIFY(replay.pool().state() == engine.pool());
}

void TestRecorder::fileThatFails() {
  const QTemporaryDir folder;
  const std::filesystem::path path =
      std::filesystem::path(folder.path().toStdString()) / "missing" / "a.trace";
  Recorder recorder(small(100));
  QVERIFY_EXCEPTION_THROWN(recorder.startFile(path, {}), Failure);
  QVERIFY(!recorder.finishFile().has_value());

  // A file that can be opened but takes nothing more: the session goes on.
  std::filesystem::create_directories(path.parent_path());
  recorder.startFile(path, {});
  std::filesystem::remove_all(path.parent_path());
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  for (int i = 0; i < 20; ++i) engine.step();
  const std::optional<Error> error = recorder.finishFile();
  QVERIFY(error.has_value());
  QCOMPARE(error->file, path.string());
  QVERIFY(recorder.pool() == engine.pool());
}

void TestRecorder::fileOfARecorderThatGoes() {
  const QTemporaryDir folder;
  const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "a.trace";
  std::uint64_t last = 0;
  {
    Recorder recorder(small(16));
    recorder.startFile(path, {});
    test::SimulatedEngine engine(recorder, 3, 20);
    engine.start();
    for (int i = 0; i < 20; ++i) engine.step();
    last = recorder.lastSequence();
  }
  const TraceFile file = readTrace(path);
  QVERIFY(file.warnings.empty());
  QCOMPARE(file.events.back().sequence, last);

  Recorder recorder(small(16));
  recorder.startFile(path, {});
  recorder.send(1, 0, {}, MessageLogged{{}, "x"});
  recorder.discardFile();
  QVERIFY(!recorder.finishFile().has_value());
  QCOMPARE(readTrace(path).events.back().sequence, last);
  QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList("a.trace"));
}

void TestRecorder::contradictionIsTold() {
  Recorder recorder(small(100));
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  QVERIFY(!recorder.contradiction().has_value());
  recorder.send(1, 1, {}, BlockReleased{1, 0});
  recorder.send(1, 1, {}, BlockReleased{2, 0});
  QCOMPARE(QString::fromStdString(recorder.contradiction().value_or(Error()).message()),
           worded("event 2, block 1: Spanscope found <released-though-nobody>, but needs <block-use>"));
  QVERIFY(recorder.pool() == engine.pool());
}

/// Not even where the queue has room for next to nothing.
void TestRecorder::listenerMissesNothing() {
  Recorder recorder(small(16));
  std::vector<std::uint64_t> heard;
  recorder.setListener([&](const Event& event) { heard.push_back(event.sequence); });
  test::SimulatedEngine engine(recorder, 3, 20);
  engine.start();
  for (int i = 0; i < 40; ++i) engine.step();
  QVERIFY(heard.size() > 100);
  for (std::size_t i = 0; i < heard.size(); ++i) QCOMPARE(heard[i], std::uint64_t{i + 1});
  QCOMPARE(heard.back(), recorder.lastSequence());
  recorder.setListener({});
  const std::size_t before = heard.size();
  engine.step();
  QCOMPARE(heard.size(), before);
  QVERIFY(recorder.lastSequence() > heard.back());
}

SPANSCOPE_TEST(tst_recorder, TestRecorder)
#include "tst_recorder.moc"
