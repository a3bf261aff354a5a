// SPDX-License-Identifier: GPL-3.0-or-later
// Receives KV events over ZeroMQ from our own publisher, and from a publisher that loses messages.
#include "engine/base/error.h"
#include "engine/remote/server/kv_events.h"
#include "engine/remote/watch/event_subscriber.h"
#include "engine/remote/watch/watched_cache.h"
#include "engine/trace/recorder.h"
#include "tests/engine/remote/watch/any_publisher.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::watch;

namespace {

constexpr int kPatience = 20'000;  // milliseconds
const WatchedLane kDevice{.publisher = 0, .group = 0, .medium = "GPU"};

/// A cache that a subscriber feeds.
class Follower final : public SubscriberListener {
 public:
  Follower() : cache(sink, {.program = "server", .address = "a", .model = "m"}, nullptr) {}

  void received(std::uint64_t number, const KvBatch& batch) override {
    const std::lock_guard lock(mutex);
    numbers.push_back(number);
    cache.take(0, batch, 0);
  }
  void startedLate(std::uint64_t first) override {
    late = first;
    const std::lock_guard lock(mutex);
    cache.startLate(0, 0);
  }
  void gapBegan(std::uint64_t missing) override {
    ++gaps;
    const std::lock_guard lock(mutex);
    cache.beginGap(0, missing, 0);
  }
  void gapEnded(bool isFilled) override {
    isFilled ? ++filled : ++unfilled;
    const std::lock_guard lock(mutex);
    cache.endGap(0, isFilled, 0);
  }
  void restarted() override {
    ++restarts;
    const std::lock_guard lock(mutex);
    cache.restart(0, 0);
  }
  void refused(const Error& /*error*/) override { ++refusals; }

  std::vector<std::uint64_t> hashes() {
    const std::lock_guard lock(mutex);
    return cache.hashes(kDevice);
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return numbers.size();
  }

  trace::NoSink sink;
  std::mutex mutex;
  WatchedCache cache;
  std::vector<std::uint64_t> numbers;
  std::atomic<int> gaps = 0;
  std::atomic<int> filled = 0;
  std::atomic<int> unfilled = 0;
  std::atomic<int> restarts = 0;
  std::atomic<int> refusals = 0;
  std::atomic<std::uint64_t> late = 0;
};

KvBlocksStored block(std::uint64_t hash) {
  return {.hashes = {hash}, .parent = {}, .tokens = {static_cast<TokenId>(hash % 1000), 1}, .blockSize = 2};
}

std::string payloadOf(std::uint64_t hash, double time = 1) {
  return packed({.time = time, .events = {block(hash)}});
}

}  // namespace

class TestEventSubscriber : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { m_number = m_number + 1; }
  void attachedLate();
  void killedAndResumed();
  void gaps();
  void startedBetween();
  void replaysWithHoles();
  void lostInTheMiddle();
  void noReplay();
  void restarts();
  void damagedMessages();
  void endsSoon();
  void wrongEndpoints();

 private:
  std::string endpoint(const char* name) const {
    return "ipc://" + m_folder.filePath(QString::fromLatin1(name) + QString::number(m_number)).toStdString();
  }

  QTemporaryDir m_folder;
  int m_number = 0;
};

/// A subscriber that connects later gets the earlier messages from the replay endpoint.
void TestEventSubscriber::attachedLate() {
  KvPublisher publisher({.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")});
  for (std::uint64_t hash = 1; hash <= 100; ++hash) publisher.publish({block(hash)});
  Follower follower;
  const EventSubscriber subscriber({.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")}, follower);
  QTRY_COMPARE_WITH_TIMEOUT(follower.hashes().size(), std::size_t{100}, kPatience);
  for (std::uint64_t hash = 101; hash <= 150; ++hash) publisher.publish({block(hash)});
  QTRY_COMPARE_WITH_TIMEOUT(follower.hashes().size(), std::size_t{150}, kPatience);
  QCOMPARE(follower.late.load(), std::uint64_t{0});
}

/// Random events, while the subscriber is replaced several times. At the end the cache is that of all events.
void TestEventSubscriber::killedAndResumed() {
  const int total = qEnvironmentVariableIntValue("SPANSCOPE_WATCH_EVENTS") > 0
                        ? qEnvironmentVariableIntValue("SPANSCOPE_WATCH_EVENTS")
                        : 5'000;
  KvPublisher publisher({.endpoint = endpoint("e"),
                         .replayEndpoint = endpoint("r"),
                         .keptBatches = static_cast<std::size_t>(total) + 1,
                         .keptBytes = std::uint64_t{1} << 32U});
  Follower follower;
  Follower whole;
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> present;
  auto subscriber = std::make_unique<EventSubscriber>(
      SubscriberConfig{.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")}, follower);
  QElapsedTimer timer;
  timer.start();
  for (int i = 0; i < total; ++i) {
    KvEvent event = KvCleared{};
    if (present.size() < 100 || random() % 100 < 55) {
      present.push_back(random());
      event = block(present.back());
    } else if (random() % 2000 == 0) {
      present.clear();
    } else {
      std::swap(present[random() % present.size()], present.back());
      event = KvBlocksRemoved{.hashes = {present.back()}};
      present.pop_back();
    }
    whole.received(static_cast<std::uint64_t>(i), {.time = 0, .events = {event}});
    publisher.publish({std::move(event)});
    if (i % (total / 5) == total / 10) {
      subscriber.reset();
      const std::uint64_t next = follower.count();
      subscriber = std::make_unique<EventSubscriber>(
          SubscriberConfig{.endpoint = endpoint("e"), .replayEndpoint = endpoint("r"), .first = next},
          follower);
    }
  }
  QTRY_COMPARE_WITH_TIMEOUT(subscriber->next(), static_cast<std::uint64_t>(total), 30 * kPatience);
  qInfo("%d events in %lld ms", total, timer.elapsed());
  subscriber.reset();
  QVERIFY(follower.hashes() == whole.hashes());
  QCOMPARE(follower.unfilled.load(), 0);
  // Each message came once, in order.
  for (std::size_t i = 0; i < follower.numbers.size(); ++i) QCOMPARE(follower.numbers[i], std::uint64_t{i});
  QCOMPARE(follower.cache.contradictions(), std::uint64_t{0});
}

void TestEventSubscriber::gaps() {
  Publisher publisher(endpoint("e"), endpoint("r"));
  Follower follower;
  for (std::uint64_t number = 0; number <= 5; ++number) publisher.kept[number] = payloadOf(number + 1);
  const EventSubscriber subscriber({.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")}, follower);
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{6}, kPatience);
  // The messages 6 to 8 are published, but only the replay endpoint has them.
  for (std::uint64_t number = 6; number <= 9; ++number) publisher.kept[number] = payloadOf(number + 1);
  publisher.send(9, payloadOf(10));
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{10}, kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(follower.filled.load(), 1, kPatience);
  QCOMPARE(follower.gaps.load(), 1);
  QCOMPARE(follower.cache.unknownBlocks(), std::int64_t{0});
  // The replay endpoint no longer has the next ones.
  publisher.kept.clear();
  publisher.send(20, payloadOf(21));
  QTRY_COMPARE_WITH_TIMEOUT(follower.unfilled.load(), 1, kPatience);
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{11}, kPatience);
  QCOMPARE(follower.numbers.back(), std::uint64_t{20});
  // A message that comes twice counts once.
  publisher.send(20, payloadOf(21));
  publisher.send(21, payloadOf(22));
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{12}, kPatience);
  QCOMPARE(follower.restarts.load(), 0);
}

/// The first messages come after the first request for a replay, but before the subscription takes effect.
void TestEventSubscriber::startedBetween() {
  Publisher publisher(endpoint("e"), endpoint("r"));
  Follower follower;
  const EventSubscriber subscriber({.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")}, follower);
  QTRY_VERIFY_WITH_TIMEOUT(publisher.asked >= 1, kPatience);
  for (std::uint64_t number = 0; number <= 5; ++number) publisher.kept[number] = payloadOf(number + 1);
  QTest::qWait(300);
  publisher.send(5, payloadOf(6));
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{6}, kPatience);
  QCOMPARE(follower.late.load(), std::uint64_t{0});
  QCOMPARE(follower.numbers.front(), std::uint64_t{0});
}

/// A publisher drops replayed messages that wait for the network. Each request brings only the messages up to
/// the next dropped one.
void TestEventSubscriber::replaysWithHoles() {
  Publisher publisher(endpoint("e"), endpoint("r"));
  Follower follower;
  publisher.dropsEvery = 10;
  for (std::uint64_t number = 0; number < 49; ++number) publisher.kept[number] = payloadOf(number + 1);
  const EventSubscriber subscriber({.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")}, follower);
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{49}, kPatience);
  for (std::size_t i = 0; i < 49; ++i) QCOMPARE(follower.numbers[i], std::uint64_t{i});
  QCOMPARE(follower.unfilled.load(), 0);
  QCOMPARE(follower.cache.unknownBlocks(), std::int64_t{0});
}

/// The replay endpoint has lost messages in the middle. The messages after them are passed on.
void TestEventSubscriber::lostInTheMiddle() {
  Publisher publisher(endpoint("e"), endpoint("r"));
  Follower follower;
  for (std::uint64_t number = 0; number < 30; ++number)
    if (number < 10 || number >= 20) publisher.kept[number] = payloadOf(number + 1);
  const EventSubscriber subscriber({.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")}, follower);
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{20}, kPatience);
  QCOMPARE(follower.numbers[10], std::uint64_t{20});
  QCOMPARE(follower.unfilled.load(), 1);
  // The first ten blocks may have been removed.
  QCOMPARE(follower.cache.unknownBlocks(), std::int64_t{10});
}

void TestEventSubscriber::noReplay() {
  Publisher publisher(endpoint("e"), {});
  Follower follower;
  const EventSubscriber subscriber({.endpoint = endpoint("e")}, follower);
  std::uint64_t number = 7;
  while (follower.count() == 0 && number < 2000) {
    publisher.send(number, payloadOf(number));
    ++number;
    QTest::qWait(5);
  }
  QVERIFY(follower.late >= 7);
  publisher.send(number + 3, payloadOf(1));
  QTRY_COMPARE_WITH_TIMEOUT(follower.unfilled.load(), 1, kPatience);
}

void TestEventSubscriber::restarts() {
  Publisher publisher(endpoint("e"), endpoint("r"));
  Follower follower;
  publisher.kept[0] = payloadOf(1, 1);
  publisher.kept[1] = payloadOf(2, 2);
  const EventSubscriber subscriber({.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")}, follower);
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{2}, kPatience);
  publisher.kept.clear();
  publisher.kept[0] = payloadOf(3, 3);
  publisher.send(0, payloadOf(3, 3));
  QTRY_COMPARE_WITH_TIMEOUT(follower.restarts.load(), 1, kPatience);
  QTRY_VERIFY_WITH_TIMEOUT(follower.hashes() == (std::vector<std::uint64_t>{3}), kPatience);
}

void TestEventSubscriber::damagedMessages() {
  Publisher publisher(endpoint("e"), endpoint("r"));
  Follower follower;
  publisher.kept[0] = payloadOf(1);
  const EventSubscriber subscriber({.endpoint = endpoint("e"), .replayEndpoint = endpoint("r")}, follower);
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{1}, kPatience);
  publisher.send(1, "no message pack");
  QTRY_VERIFY_WITH_TIMEOUT(follower.refusals >= 1, kPatience);
  publisher.send(2, payloadOf(3));
  QTRY_COMPARE_WITH_TIMEOUT(follower.count(), std::size_t{2}, kPatience);
}

/// Without a server, with one that does not answer, and with one that sends.
void TestEventSubscriber::endsSoon() {
  constexpr int kMost = 100;
  constexpr int kSlowMachine = 900;  // other tests use the processor
  Follower follower;
  QElapsedTimer timer;
  for (int wait : {0, 30, 400}) {
    auto subscriber = std::make_unique<EventSubscriber>(
        SubscriberConfig{.endpoint = "tcp://127.0.0.1:9", .replayEndpoint = "tcp://127.0.0.1:9"}, follower);
    QTest::qWait(wait);
    timer.start();
    subscriber.reset();
    QVERIFY2(timer.elapsed() < kMost + kSlowMachine, qPrintable(QString::number(timer.elapsed())));
  }
}

void TestEventSubscriber::wrongEndpoints() {
  Follower follower;
  for (const char* const wrong : {"", "http://localhost:1", "tcp://", "tcp://localhost", "inproc://x"})
    QVERIFY_EXCEPTION_THROWN(EventSubscriber({.endpoint = wrong}, follower), Failure);
}

SPANSCOPE_TEST(tst_event_subscriber, TestEventSubscriber, QCoreApplication)
#include "tst_event_subscriber.moc"
