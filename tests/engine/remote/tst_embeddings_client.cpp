// SPDX-License-Identifier: GPL-3.0-or-later
// Against a server of the test's own, which answers what it is told to.
#include "engine/base/error.h"
#include "engine/remote/embeddings_client.h"

#include <QElapsedTimer>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>
#include <QThread>

#include <nlohmann/json.hpp>

#include <memory>
#include <thread>

using namespace spanscope;
using namespace spanscope::remote;
using Json = nlohmann::json;

namespace {

/// Answers each request with the same bytes, from a thread of its own.
class Server {
 public:
  explicit Server(QByteArray answer) : m_answer(std::move(answer)) {
    m_thread = std::thread([this] { serve(); });
    while (m_port == 0) QThread::msleep(1);
  }
  ~Server() {
    m_ending = true;
    m_thread.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  EmbeddingsServer settings() const {
    return {.url = "http://127.0.0.1:" + std::to_string(m_port) + "/v1/",
            .model = "minilm",
            .key = "secret",
            .connectTimeout = std::chrono::milliseconds(2000),
            .timeout = std::chrono::milliseconds(2000)};
  }
  /// The last request; whole after embed() has come back.
  QByteArray request() const { return m_request; }

 private:
  void serve() {
    QTcpServer server;
    server.listen(QHostAddress::LocalHost);
    m_port = server.serverPort();
    while (!m_ending) {
      if (!server.waitForNewConnection(10)) continue;
      const std::unique_ptr<QTcpSocket> socket(server.nextPendingConnection());
      QByteArray request;
      while (!m_ending && !isWhole(request)) {
        if (!socket->waitForReadyRead(10) && socket->state() != QAbstractSocket::ConnectedState) break;
        request += socket->readAll();
      }
      m_request = request;
      if (m_answer.isEmpty()) {  // a server that says nothing
        while (!m_ending) QThread::msleep(5);
        return;
      }
      socket->write(m_answer);
      socket->waitForBytesWritten(2000);
      socket->disconnectFromHost();
      if (socket->state() != QAbstractSocket::UnconnectedState) socket->waitForDisconnected(2000);
    }
  }

  static bool isWhole(const QByteArray& request) {
    const qsizetype end = request.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const qsizetype at = request.indexOf("Content-Length: ");
    if (at < 0) return true;
    const qsizetype lineEnd = request.indexOf('\r', at);
    return request.size() >= end + 4 + request.mid(at + 16, lineEnd - at - 16).toLongLong();
  }

  QByteArray m_answer;
  QByteArray m_request;
  std::atomic<quint16> m_port = 0;
  std::atomic<bool> m_ending = false;
  std::thread m_thread;
};

QByteArray http(int status, const QByteArray& body) {
  return "HTTP/1.1 " + QByteArray::number(status) +
         " Some\r\nContent-Type: application/json\r\nContent-Length: " + QByteArray::number(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

const std::vector<std::string> kTexts = {"Mira lives in Lisbon.", "caf\u00E9 \"quoted\"\n"};

}  // namespace

class TestEmbeddingsClient : public QObject {
  Q_OBJECT

 private slots:
  void vectorsComeInTheOrderOfTheTexts();
  void refusesWhatIsNoAnswer_data();
  void refusesWhatIsNoAnswer();
  void noServerIsAnError();
  void otherProtocolsAreRefused();
  void silenceEndsInTime();
  void stopGivesUp();
};

void TestEmbeddingsClient::vectorsComeInTheOrderOfTheTexts() {
  const Server server(http(
      200, R"({"data":[{"index":1,"embedding":[0.5,-1]},{"index":0,"embedding":[1,2e-3]}],"model":"m"})"));
  EmbeddingsClient client(server.settings());
  for (int round = 0; round < 2; ++round) {
    const auto vectors = client.embed(kTexts, {});
    QCOMPARE(vectors.size(), std::size_t{2});
    QVERIFY(vectors[0] == (retrieve::EmbeddingVector{1.0F, 0.002F}));
    QVERIFY(vectors[1] == (retrieve::EmbeddingVector{0.5F, -1.0F}));
  }
  const QByteArray request = server.request();
  QVERIFY2(request.startsWith("POST /v1/embeddings HTTP/1.1\r\n"), request.constData());
  QVERIFY(request.contains("Authorization: Bearer secret\r\n"));
  const Json body = Json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
  QCOMPARE(body["model"].get<std::string>(), std::string("minilm"));
  QVERIFY(body["input"].get<std::vector<std::string>>() == kTexts);
  QVERIFY(client.embed({}, {}).empty());
  QVERIFY(client.fingerprint().find("secret") == std::string::npos);
}

void TestEmbeddingsClient::refusesWhatIsNoAnswer_data() {
  QTest::addColumn<QByteArray>("answer");
  QTest::addColumn<QString>("part");
  const auto row = [](const char* name, const QByteArray& answer, const char* part) {
    QTest::newRow(name) << answer << QString(part);
  };
  row("status", http(401, "no key"), "status 401: no key");
  row("redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
      "status 302");
  row("no JSON", http(200, "<html>"), "an object with a list \"data\"");
  row("no data", http(200, R"({"data":3})"), "an object with a list \"data\"");
  row("too few", http(200, R"({"data":[{"embedding":[1]}]})"), "/data: found 1 entries, expected 2");
  row("no list", http(200, R"({"data":[{"embedding":"x"},{"embedding":[1]}]})"), "/data/0: found");
  row("index beyond", http(200, R"({"data":[{"index":2,"embedding":[1]},{"embedding":[1]}]})"),
      "/data/0/index");
  row("index twice", http(200, R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})"),
      "found 0 again");
  row("empty vector", http(200, R"({"data":[{"embedding":[]},{"embedding":[1]}]})"), "found 0 numbers");
  row("lengths differ", http(200, R"({"data":[{"embedding":[1,2]},{"embedding":[1]}]})"),
      "found 1 numbers, expected as many as the first has");
  row("no number", http(200, R"({"data":[{"embedding":[1,"2"]},{"embedding":[1,2]}]})"), "found \"2\"");
  row("no float", http(200, R"({"data":[{"embedding":[1e300]},{"embedding":[1]}]})"), "1e+300");
  row("no HTTP", "hello\r\n\r\n", "expected an answer of the server");
  row("cut short", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "expected an answer of the server");
}

void TestEmbeddingsClient::refusesWhatIsNoAnswer() {
  QFETCH(QByteArray, answer);
  QFETCH(QString, part);
  const Server server(answer);
  EmbeddingsClient client(server.settings());
  try {
    client.embed(kTexts, {});
    QFAIL("taken for an answer");
  } catch (const Failure& failure) {
    const QString message = QString::fromUtf8(failure.what());
    QVERIFY2(message.startsWith("http://127.0.0.1:"), qPrintable(message));
    QVERIFY2(message.contains(part), qPrintable(message));
  }
}

void TestEmbeddingsClient::noServerIsAnError() {
  QTcpServer taken;
  QVERIFY(taken.listen(QHostAddress::LocalHost));
  const quint16 port = taken.serverPort();
  taken.close();
  EmbeddingsServer settings;
  settings.url = "http://127.0.0.1:" + std::to_string(port) + "/v1";
  EmbeddingsClient client(settings);
  QVERIFY_EXCEPTION_THROWN(client.embed(kTexts, {}), Failure);
}

void TestEmbeddingsClient::otherProtocolsAreRefused() {
  for (const char* url : {"file:///etc", "ftp://127.0.0.1", "", "gopher://x"}) {
    EmbeddingsServer settings;
    settings.url = url;
    EmbeddingsClient client(settings);
    QVERIFY_EXCEPTION_THROWN(client.embed(kTexts, {}), Failure);
  }
}

void TestEmbeddingsClient::silenceEndsInTime() {
  const Server server{QByteArray()};
  EmbeddingsServer settings = server.settings();
  settings.timeout = std::chrono::milliseconds(100);
  EmbeddingsClient client(settings);
  QVERIFY_EXCEPTION_THROWN(client.embed(kTexts, {}), Failure);
}

void TestEmbeddingsClient::stopGivesUp() {
  const Server server{QByteArray()};
  EmbeddingsServer settings = server.settings();
  settings.timeout = std::chrono::minutes(5);
  EmbeddingsClient client(settings);
  std::stop_source stop;
  std::thread stopper([&] {
    QThread::msleep(50);
    stop.request_stop();
  });
  QElapsedTimer clock;
  clock.start();
  QVERIFY(client.embed(kTexts, stop.get_token()).empty());
  stopper.join();
  QVERIFY(clock.elapsed() < 60'000);
}

QTEST_GUILESS_MAIN(TestEmbeddingsClient)
#include "tst_embeddings_client.moc"
