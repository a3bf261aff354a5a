// SPDX-License-Identifier: GPL-3.0-or-later
// What a server remembers of requests, and the limits; and where answers end.
#include "engine/remote/server/answer.h"
#include "engine/remote/server/served_requests.h"
#include "engine/trace/memory_bytes.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;

namespace {

trace::Event said(const std::string& text) {
  trace::Event event;
  event.run = 7;
  event.payload =
      trace::TokenGenerated{.index = 0, .token = 5, .text = text, .shown = text, .segmentMass = {}};
  return event;
}

std::vector<std::uint64_t> numbersIn(const ServedRequests& requests) {
  std::vector<std::uint64_t> numbers;
  for (const ServedRequest& request : requests.list()) numbers.push_back(request.number);
  return numbers;
}

}  // namespace

class TestServedRequests : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theOldestThatEndedGoFirst();
  void eventsAreBounded();
  void whatIsNotKeptIsNotMissed();
  void stopTextsDoNotDependOnPieces();
};

void TestServedRequests::theOldestThatEndedGoFirst() {
  ServedRequests requests({.requests = 2});
  for (int i = 0; i < 3; ++i) requests.add({});
  // What runs is kept, however many there are.
  QCOMPARE(numbersIn(requests), (std::vector<std::uint64_t>{1, 2, 3}));
  requests.end(2, RequestState::Finished);
  QCOMPARE(numbersIn(requests), (std::vector<std::uint64_t>{1, 3}));
  requests.end(3, RequestState::Failed, "out of memory");
  requests.add({});
  QCOMPARE(numbersIn(requests), (std::vector<std::uint64_t>{1, 4}));
}

void TestServedRequests::eventsAreBounded() {
  const std::uint64_t one = trace::memoryBytes(said(std::string(1000, 'x')));
  ServedRequests requests({.requests = 10, .eventBytes = 3 * one, .allBytes = 5 * one});
  requests.add({});
  for (int i = 0; i < 5; ++i) requests.take(1, said(std::string(1000, 'x')));
  QCOMPARE(requests.find(1).events.size(), std::size_t{3});
  QVERIFY(requests.find(1).isCut);
  QCOMPARE(requests.find(1).run, RunId{7});
  requests.end(1, RequestState::Finished);
  requests.add({});
  for (int i = 0; i < 3; ++i) requests.take(2, said(std::string(1000, 'x')));
  // Both together are too much, and the first has ended.
  QCOMPARE(numbersIn(requests), (std::vector<std::uint64_t>{2}));
  QVERIFY(!requests.find(2).isCut);
}

void TestServedRequests::whatIsNotKeptIsNotMissed() {
  ServedRequests requests({.requests = 1}, false);
  requests.add({.queryJson = "{\"user\":\"secret\"}"});
  requests.take(1, said("secret"));
  trace::Event likeliest;
  likeliest.payload = trace::TokenAlternatives{.index = 0, .tokens = {{5, "secret", 0.5F}}};
  requests.take(1, likeliest);
  requests.end(1, RequestState::Failed, "the text \"secret\" cannot be encoded");
  const ServedRequest kept = requests.find(1);
  QVERIFY(kept.queryJson.empty() && kept.problem.empty());
  QVERIFY(std::get<trace::TokenGenerated>(kept.events.at(0).payload).text.empty());
  const auto& likely = std::get<trace::TokenAlternatives>(kept.events.at(1).payload).tokens.at(0);
  QVERIFY(likely.shown.empty() && likely.token != 5);
  requests.add({});
  requests.take(1, said("late"));
  requests.end(1, RequestState::Finished);
  QVERIFY(requests.find(1).events.empty());
  QVERIFY(requests.find(99).events.empty());
}

/// For any division of a text into pieces, the answer ends at the same place.
void TestServedRequests::stopTextsDoNotDependOnPieces() {
  const std::uint32_t seed = 7;
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) text += static_cast<char>('a' + random() % 2);
    std::string stop;
    const std::size_t stopLength = 1 + random() % 6;
    for (std::size_t i = 0; i < stopLength; ++i) stop += static_cast<char>('a' + random() % 2);
    StopTexts pieces({stop});
    std::string reply;
    for (std::size_t place = 0; place < text.size();) {
      const std::size_t length = 1 + random() % 4;
      reply += pieces.push(text.substr(place, length));
      place += length;
    }
    reply += pieces.finish();
    QCOMPARE(reply, text.substr(0, text.find(stop)));
    QCOMPARE(pieces.hasStopped(), text.find(stop) != std::string::npos);
  }
}

SPANSCOPE_TEST(tst_served_requests, TestServedRequests)
#include "tst_served_requests.moc"
