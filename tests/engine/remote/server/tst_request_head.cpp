// SPDX-License-Identifier: GPL-3.0-or-later
// The heads of requests, read strictly, and the gate before which requests wait.
#include "engine/remote/server/answer.h"
#include "engine/remote/server/connection.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope::server;

namespace {

constexpr std::size_t kMostBody = 1000;

/// The status of the refusal; 0: there is none.
int refusalOf(const std::string& text) {
  try {
    readHead(text, kMostBody);
  } catch (const ApiFailure& failure) {
    return failure.error().status;
  }
  return 0;
}

std::string postWith(const std::string& fields) {
  return "POST /tokenize HTTP/1.1\r\n" + fields + "\r\n";
}

bool never() {
  return false;
}

}  // namespace

class TestRequestHead : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void readsWhatClientsSend();
  void absoluteTargets();
  void refusals_data();
  void refusals();
  void theLibraryLearnsLittle();
  void entersInOrder();
  void waitingCanBeGivenUp();
};

void TestRequestHead::readsWhatClientsSend() {
  const RequestHead head =
      readHead(postWith("HOST: localhost:8000\r\nAuthorization:Bearer a%2Bb \r\ncontent-length: 12\r\n"
                        "Connection: Keep-Alive, CLOSE\r\nX:\t\r\n"),
               kMostBody);
  QCOMPARE(head.method, std::string("POST"));
  QCOMPARE(head.target, std::string("/tokenize"));
  QCOMPARE(head.value("host"), std::string_view("localhost:8000"));
  QCOMPARE(head.value("authorization"), std::string_view("Bearer a%2Bb"));
  QCOMPARE(head.count("x"), std::size_t{1});
  QVERIFY(head.value("x").empty());
  QCOMPARE(head.length, std::uint64_t{12});
  QVERIFY(head.closes && head.hasBody() && !head.isChunked && !head.isOld);
  const RequestHead chunked = readHead(postWith("Transfer-Encoding: Chunked\r\n"), kMostBody);
  QVERIFY(chunked.isChunked && chunked.hasBody() && !chunked.closes);
  const RequestHead old = readHead("GET / HTTP/1.0\r\n\r\n", kMostBody);
  QVERIFY(old.isOld && old.closes && !old.hasBody());
  QVERIFY(!readHead("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", kMostBody).closes);
}

/// Clients of a proxy send the whole address; its host counts, and not the field.
void TestRequestHead::absoluteTargets() {
  const auto read = [](const std::string& target) {
    return readHead("GET " + target + " HTTP/1.1\r\nHost: other\r\n\r\n", kMostBody);
  };
  for (const char* target : {"http://localhost:8000/v1/models?a=b", "HTTPS://localhost:8000/v1/models?a=b"}) {
    const RequestHead head = read(target);
    QCOMPARE(head.target, std::string("/v1/models?a=b"));
    QCOMPARE(head.value("host"), std::string_view("localhost:8000"));
    QCOMPARE(head.count("host"), std::size_t{1});
  }
  QCOMPARE(read("http://[::1]:80").target, std::string("/"));
  QCOMPARE(read("http://a?b").target, std::string("/?b"));
  QCOMPARE(read("/http://a").target, std::string("/http://a"));
  QCOMPARE(read("/http://a").value("host"), std::string_view("other"));
}

void TestRequestHead::refusals_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<int>("status");
  const auto row = [](const char* name, const std::string& text, int status) {
    QTest::newRow(name) << QByteArray::fromStdString(text) << status;
  };
  row("a plain request", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 0);
  row("nothing", "", 400);
  row("an empty line first", "\r\n", 400);
  row("no end", "GET / HTTP/1.1\r\n", 400);
  row("lines without CR", "GET / HTTP/1.1\nHost: localhost\n\n", 400);
  row("a blank in the target", "GET /a b HTTP/1.1\r\n\r\n", 400);
  row("no target", "GET HTTP/1.1\r\n\r\n", 400);
  row("another version", "GET / HTTP/2.0\r\n\r\n", 400);
  row("two hosts", postWith("Host: localhost\r\nHost: localhost\r\n"), 400);
  row("an absolute target without a host", "GET http:///v1/models HTTP/1.1\r\n\r\n", 400);
  row("two hosts beside an absolute target",
      "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", 400);
  row("a long target", "GET /" + std::string(kMostTargetBytes, 'a') + " HTTP/1.1\r\n\r\n", 414);
  row("NUL in a value", postWith(std::string("Authorization: Bearer key\0x\r\n", 29)), 400);
  row("NUL in Host", postWith(std::string("Host: localhost\0.evil\r\n", 23)), 400);
  row("CR in a value", postWith("Host: a\rb\r\n"), 400);
  row("a folded line", postWith("Host: a\r\n b\r\n"), 400);
  row("a blank before the colon", postWith("Host : a\r\n"), 400);
  row("a line without a name", postWith(": a\r\n"), 400);
  row("a negative length", postWith("Content-Length: -5\r\n"), 400);
  row("a length with letters", postWith("Content-Length: 15abc\r\n"), 400);
  row("an empty length", postWith("Content-Length: \r\n"), 400);
  row("two lengths", postWith("Content-Length: 5\r\nContent-Length: 5\r\n"), 400);
  row("two lengths in one", postWith("Content-Length: 5, 5\r\n"), 400);
  row("a length and chunks", postWith("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400);
  row("another coding", postWith("Transfer-Encoding: gzip, chunked\r\n"), 400);
  row("chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400);
  row("as much as it takes", postWith("Content-Length: 1000\r\n"), 0);
  row("too much", postWith("Content-Length: 1001\r\n"), 413);
  row("more than any number", postWith("Content-Length: 99999999999999999999999\r\n"), 413);
  row("several parts", postWith("Content-Type: Multipart/Form-Data; boundary=b\r\n"), 415);
}

void TestRequestHead::refusals() {
  QFETCH(QByteArray, text);
  QFETCH(int, status);
  QCOMPARE(refusalOf(text.toStdString()), status);
}

void TestRequestHead::theLibraryLearnsLittle() {
  const auto shown = [](const std::string& text) { return headForLibrary(readHead(text, kMostBody)); };
  QCOMPARE(shown(postWith("Host: localhost\r\nRange: bytes=0-,0-\r\nAccept-Encoding: br\r\n"
                          "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n")),
           postWith("Content-Length: 2\r\n"));
  // A body without a length would be read until the client closes.
  QCOMPARE(shown("PUT /a HTTP/1.1\r\n\r\n"), std::string("PUT /a HTTP/1.1\r\nContent-Length: 0\r\n\r\n"));
  QCOMPARE(shown(postWith("Transfer-Encoding: chunked\r\nConnection: close\r\nExpect: 100-continue\r\n")),
           postWith("Transfer-Encoding: chunked\r\nConnection: close\r\nExpect: 100-continue\r\n"));
}

void TestRequestHead::entersInOrder() {
  Gate gate(10);
  Gate::Pass first = gate.enter(8, never);
  QVERIFY(first);
  std::atomic<int> asked = 0;
  std::atomic<int> entered = 0;
  std::vector<int> order(2);
  std::vector<std::jthread> others;
  // The second needs little, and still waits for the one before it, which needs more than there is.
  for (const int amount : {100, 1}) {
    const int before = asked;
    others.emplace_back([&, amount] {
      const Gate::Pass pass = gate.enter(static_cast<std::uint64_t>(amount), [&] {
        ++asked;
        return false;
      });
      order.at(static_cast<std::size_t>(entered++)) = amount;
    });
    QTRY_VERIFY(asked >= before + 4);
  }
  QCOMPARE(entered.load(), 0);
  first.reduceTo(0);
  others.clear();
  QCOMPARE(order, (std::vector<int>{100, 1}));
  QVERIFY(gate.enter(10, never));
}

void TestRequestHead::waitingCanBeGivenUp() {
  Gate gate(1);
  const Gate::Pass first = gate.enter(1, never);
  QVERIFY(!gate.enter(1, [] { return true; }));
  // A request that gave up does not delay others.
  Gate two(2);
  const Gate::Pass one = two.enter(1, never);
  QVERIFY(!two.enter(2, [] { return true; }));
  QVERIFY(two.enter(1, never));
}

SPANSCOPE_TEST(tst_request_head, TestRequestHead)
#include "tst_request_head.moc"
