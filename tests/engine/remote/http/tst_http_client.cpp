// SPDX-License-Identifier: GPL-3.0-or-later
// Requests to servers that answer, say nothing, stall, break off, send too much.
#include "engine/base/error.h"
#include "engine/remote/http/http_client.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

using namespace spanscope;
using namespace std::chrono_literals;
using remote::HttpAccess;
using remote::HttpClient;
using remote::HttpReply;
using remote::test::http;
using remote::test::Server;

namespace {

HttpAccess hasty() {
  return {.limits = {.connect = 2s, .firstByte = 150ms, .silence = 150ms, .whole = 0ms, .bytes = 100'000}};
}

/// An answer that promises more than it has.
QByteArray promising(const QByteArray& body, int more) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + QByteArray::number(body.size() + more) + "\r\n\r\n" + body;
}

std::string failureOf(const std::string& url, const HttpAccess& access,
                      const remote::HttpReceiver& receive = {}) {
  HttpClient client;
  try {
    client.send({.url = url}, access, {}, receive);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

class TestHttpClient : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sendsAndReceives() {
    Server server(http(200, R"({"a":1})"));
    HttpClient client;
    std::string received;
    const HttpReply reply =
        client.send({.url = server.address() + "/x", .body = "{\"b\":2}"}, {.key = "secret-key"}, {},
                    [&](std::string_view piece) { received += piece; });
    QCOMPARE(reply.status, 200L);
    QCOMPARE(received, std::string(R"({"a":1})"));
    QVERIFY(reply.body.empty() && reply.brokenBy.empty() && !reply.isStopped);
    const QByteArray request = server.request();
    QVERIFY(request.startsWith("POST /v1/x HTTP/1.1\r\n"));
    QVERIFY(request.contains("Authorization: Bearer secret-key\r\n"));
    QVERIFY(request.contains("Content-Type: application/json\r\n"));
    QVERIFY(!request.contains("Expect:"));
    QVERIFY(request.endsWith("{\"b\":2}"));
    client.send({.url = server.address()}, {}, {});
    QVERIFY(server.request().startsWith("GET "));
    QVERIFY(!server.request().contains("Authorization"));
  }

  /// What another status says is for the caller, not for who receives answers.
  void otherStatusesAreReturned() {
    Server server(http(429, "slow down"));
    HttpClient client;
    const HttpReply reply =
        client.send({.url = server.address()}, {}, {}, [](std::string_view) { QFAIL("it was received"); });
    QCOMPARE(reply.status, 429L);
    QCOMPARE(reply.body, std::string("slow down"));
    QCOMPARE(server.requests(), 1);
  }

  /// A header is one line of text.
  void keysThatCannotBeSentAreRefused() {
    Server server(http(200, "{}"));
    HttpClient client;
    for (const std::string& key :
         {std::string("a\r\nX: 1"), std::string("a\0b", 3), std::string("\xff"), std::string(5000, 'k')})
      QVERIFY_EXCEPTION_THROWN(client.send({.url = server.address()}, {.key = key}), Failure);
    QCOMPARE(server.requests(), 0);
  }

  /// A server that repeats a key brings it into no message.
  void repeatedKeysAreRemoved() {
    Server server(http(401, R"({"error":"no such key: sk-very-secret or Bearer sk-very-secret"})"));
    HttpClient client;
    const std::string body = client.send({.url = server.address()}, {.key = "sk-very-secret"}).body;
    QVERIFY(body.find("no such key") != std::string::npos);
    QVERIFY(body.find("very-secret") == std::string::npos);
  }

  /// After the needed bytes have arrived, the response ends soon, and a broken connection is no error.
  void patienceEnds() {
    Server server("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\nhello", Server::After::Hold);
    HttpClient client;
    std::string received;
    const HttpReply reply = client.send(
        {.url = server.address(), .patience = [] { return std::optional(std::chrono::milliseconds(20)); }},
        {}, {}, [&](std::string_view piece) { received += piece; });
    QCOMPARE(received, std::string("hello"));
    QVERIFY(reply.status == 200 && reply.brokenBy.empty());
  }

  /// A key must not go where a server points.
  void redirectsAreNotFollowed() {
    Server other(http(200, "{}"));
    Server server("HTTP/1.1 307 There\r\nLocation: " + QByteArray::fromStdString(other.address()) +
                  "\r\nContent-Length: 0\r\n\r\n");
    HttpClient client;
    QCOMPARE(client.send({.url = server.address()}, {.key = "k"}).status, 307L);
    QCOMPARE(other.requests(), 0);
  }

  void refusesWhatCannotBeHad_data() {
    QTest::addColumn<QString>("url");
    QTest::addColumn<QString>("said");
    QTest::newRow("nobody") << QString("http://127.0.0.1:%1").arg(remote::test::closedPort()) << "127.0.0.1";
    QTest::newRow("file") << "file:///etc/passwd"
                          << "http";
    QTest::newRow("password") << "http://me:secret@host/"
                              << "password";
    QTest::newRow("no name") << "http://no-such-host.invalid/"
                             << "no-such-host.invalid";
  }
  void refusesWhatCannotBeHad() {
    QFETCH(QString, url);
    QFETCH(QString, said);
    const QString found = QString::fromStdString(failureOf(url.toStdString(), hasty()));
    QVERIFY2(found.contains(said), qPrintable(found));
    QVERIFY(!found.contains(QStringLiteral("secret")));
  }

  void silenceEnds() {
    Server silent(QByteArray{});
    QElapsedTimer timer;
    timer.start();
    const std::string said =
        failureOf(silent.address(), {.limits = {.connect = 100ms, .firstByte = 100ms, .silence = 100ms}});
    QVERIFY2(said.find("no data within 0.1 s") != std::string::npos, said.c_str());
    QVERIFY(timer.elapsed() < 20'000);
  }

  /// What came stays, and it is said that there is no more.
  void breaksAreTold_data() {
    QTest::addColumn<bool>("holds");
    QTest::addColumn<QString>("said");
    QTest::newRow("stalls") << true << "no data for 0.15 s";
    QTest::newRow("is cut") << false << "";
  }
  void breaksAreTold() {
    QFETCH(bool, holds);
    QFETCH(QString, said);
    Server server(promising("data: a\n\n", 50), holds ? Server::After::Hold : Server::After::Close);
    HttpClient client;
    std::string received;
    const HttpReply reply = client.send({.url = server.address()}, hasty(), {},
                                        [&](std::string_view piece) { received += piece; });
    QCOMPARE(received, std::string("data: a\n\n"));
    QVERIFY(!reply.brokenBy.empty());
    QVERIFY2(QString::fromStdString(reply.brokenBy).contains(said), reply.brokenBy.c_str());
    // Without a receiver there is nothing to keep.
    QVERIFY(!failureOf(server.address(), hasty()).empty() || holds);
  }

  void tooMuchIsRefused() {
    Server reported(promising("x", 200'000));
    QVERIFY(failureOf(reported.address(), hasty()).find("more than 100000 bytes") != std::string::npos);
    Server untold("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + QByteArray(200'000, 'x'));
    QVERIFY(failureOf(untold.address(), hasty(), [](std::string_view) {}).find("more than 100000 bytes") !=
            std::string::npos);
  }

  /// Few bytes that unpack to many count as what they unpack to.
  void packedAnswersAreBounded() {
    const QByteArray packed = qCompress(QByteArray(5'000'000, '\0'), 9).mid(4);  // zlib, as "deflate" is
    Server server("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: " +
                  QByteArray::number(packed.size()) + "\r\n\r\n" + packed);
    QVERIFY(failureOf(server.address(), hasty(), [](std::string_view) {}).find("more than 100000 bytes") !=
            std::string::npos);
    const QByteArray small = qCompress(QByteArray("hello"), 9).mid(4);
    Server fine("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: " +
                QByteArray::number(small.size()) + "\r\n\r\n" + small);
    HttpClient client;
    QCOMPARE(client.send({.url = fine.address()}, hasty()).body, std::string("hello"));
    QVERIFY(fine.request().contains("Accept-Encoding:"));
  }

  /// A stop reaches the server: the connection is closed, and nothing is sent again.
  void aStopEndsTheRequestAtTheServer() {
    Server server(promising("data: a\n\n", 50), Server::After::Hold);
    std::stop_source stop;
    HttpClient client;
    QElapsedTimer timer;
    timer.start();
    const HttpReply reply = client.send({.url = server.address()}, {}, stop.get_token(),
                                        [&](std::string_view) { stop.request_stop(); });
    QVERIFY(reply.isStopped);
    QVERIFY(timer.elapsed() < 20'000);
    QTRY_COMPARE(server.left(), 1);
    QCOMPARE(server.requests(), 1);
  }

  void aStopFromAnotherThreadEndsTheWait() {
    Server silent(QByteArray{});
    std::stop_source stop;
    std::jthread later([&stop] {
      std::this_thread::sleep_for(50ms);
      stop.request_stop();
    });
    HttpClient client;
    QElapsedTimer timer;
    timer.start();
    QVERIFY(client.send({.url = silent.address()}, {}, stop.get_token()).isStopped);
    QVERIFY(timer.elapsed() < 20'000);
  }

  void whatAReceiverThrowsIsThrown() {
    Server server(http(200, "x"));
    HttpClient client;
    QVERIFY_EXCEPTION_THROWN(client.send({.url = server.address()}, {}, {},
                                         [](std::string_view) { throw std::logic_error("no"); }),
                             std::logic_error);
    // The client can be used again.
    QCOMPARE(client.send({.url = server.address()}, {}).body, std::string("x"));
  }
};

SPANSCOPE_TEST(tst_http_client, TestHttpClient)
#include "tst_http_client.moc"
