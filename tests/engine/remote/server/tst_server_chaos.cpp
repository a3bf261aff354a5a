// SPDX-License-Identifier: GPL-3.0-or-later
// Clients that misbehave, and many at once: each gets an error or a whole answer, and the server keeps
// nothing of them.
#include "engine/remote/server/server.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/engine/remote/server/stand_in_engine.h"
#include "tests/support/test_program.h"

// Qt Test needs this type to compare JSON values.
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope::server;
using namespace spanscope::server::test;

namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

ServerConfig impatient() {
  ServerConfig config;
  config.port = 0;
  config.limits.toRead = milliseconds(300);
  config.limits.toStall = milliseconds(300);
  config.limits.idle = milliseconds(1000);
  config.limits.bodyBytes = 100'000;
  config.limits.headBytes = 16'384;
  return config;
}

struct ChaosServer {
  explicit ChaosServer(ServerConfig config = impatient()) : server(std::move(config), engine) {
    server.start();
  }
  int port() const { return server.port(); }

  StandInEngine engine;
  Server server;
};

const std::string kBody = R"({"messages":[{"role":"user","content":"Where does Mira live?"}]})";
const std::string kStreamBody = R"({"stream":true,"messages":[{"role":"user","content":"Where?"}]})";

std::string chatRequest(const std::string& body = kBody) {
  return requestText("POST", "/v1/chat/completions", body);
}

/// Whether the server still answers as it should.
bool isWell(const ChaosServer& chaos) {
  const HttpAnswer answer = ask(chaos.port(), "POST", "/v1/chat/completions", kBody);
  return answer.status == 200 && answer.isWhole;
}

}  // namespace

class TestServerChaos : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void brokenRequests_data();
  void brokenRequests();
  void cutRequests();
  void garbage();
  void clientsThatGoAway_data();
  void clientsThatGoAway();
  void slowReaders();
  void slowWriters();
  void manyAtOnce();
  void burstsWait();
  void everyRequestTakesATurn();
  void largeBodiesWaitForMemory();
  void silentLargeBodies();
  void idleClientsGiveWay();
  void silentClientsGiveWay();
  void moreThanItTakes();
  void rangesAreIgnored();
  void nothingIsPacked();
  void formsOfCurlAreRead();
  void bodiesOfOtherMethodsAreNoRequests();
  void oldClientsGetNoChunks();
  void waitingClientsGetAnErrorAtTheEnd();
  void manyOnOneConnection();
  void endsUnderLoad();
};

void TestServerChaos::brokenRequests_data() {
  QTest::addColumn<QByteArray>("request");
  QTest::addColumn<int>("status");  ///< 0: it may close without a word
  const auto row = [](const char* name, const std::string& request, int status) {
    QTest::newRow(name) << QByteArray::fromStdString(request) << status;
  };
  row("no HTTP", "hello\r\n\r\n", 400);
  row("an empty line", "\r\n\r\n", 400);
  row("no version", "GET /health\r\n\r\n", 400);
  row("another version", "GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n", 400);
  row("no Host", "GET /health HTTP/1.1\r\n\r\n", 403);
  row("two Hosts", "GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n", 400);
  row("a head without an end", "GET /health HTTP/1.1\r\nHost: localhost\r\n", 408);
  row("a body that is longer", "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n{}",
      408);
  row("a long address", "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: localhost\r\n\r\n", 414);
  row("a long header",
      "GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n", 431);
  row("NUL in Host", std::string("GET /health HTTP/1.1\r\nHost: localhost\0.evil\r\n\r\n", 47), 400);
  std::string many = "GET /health HTTP/1.1\r\nHost: localhost\r\n";
  for (int i = 0; i < 2000; ++i) many += "X-" + std::to_string(i) + ": aaaaaaaaaaaaaaa\r\n";
  row("many headers", many + "\r\n", 431);
  row("a huge length",
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n{}", 413);
  row("a negative length", "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n{}", 400);
  row("a length with letters",
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15abc\r\n\r\n{}", 400);
  row("two lengths",
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400);
  row("a length and chunks",
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
      400);
  row("PUT without a body", "PUT /tokenize HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
  row("PATCH without a body", "PATCH /tokenize HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
  row("several parts",
      requestText("POST", "/tokenize", "--b\r\n\r\nx\r\n--b--\r\n",
                  {"Content-Type: multipart/form-data; boundary=b"}),
      415);
  row("chunks without an end",
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n",
      408);
  row("chunks of garbage",
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
      0);
  row("a packed body",
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
      415);
  std::string chunks = "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 300; ++i) chunks += "400\r\n" + std::string(1024, 'a') + "\r\n";
  row("more chunks than it takes", chunks, 413);
  row("an unknown method", "BREW /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 0);
  row("bytes that are no text", requestText("POST", "/tokenize", "{\"prompt\":\"\xFF\xFE\"}"), 400);
  row("deep", requestText("POST", "/tokenize", std::string(5000, '[')), 400);
  row("nothing", requestText("POST", "/tokenize", ""), 400);
}

void TestServerChaos::brokenRequests() {
  QFETCH(QByteArray, request);
  QFETCH(int, status);
  ChaosServer chaos;
  HttpClient client(chaos.port());
  QVERIFY(client.send(request.toStdString()));
  const HttpAnswer answer = client.answer(std::chrono::seconds(5));
  if (status != 0) QCOMPARE(answer.status, status);
  QVERIFY(answer.status == 0 || answer.status >= 400);
  if (answer.status != 0) {
    QVERIFY(answer.isWhole);
    QVERIFY(Json::parse(answer.body).at("error").contains("message"));
  }
  QVERIFY(isWell(chaos));
}

/// Every beginning of a request, and then the client is gone.
void TestServerChaos::cutRequests() {
  ChaosServer chaos;
  const std::string whole = chatRequest();
  for (std::size_t length = 0; length < whole.size(); length += 3) {
    HttpClient client(chaos.port());
    QVERIFY(client.send(std::string_view(whole).substr(0, length)));
  }
  QVERIFY(isWell(chaos));
  QTRY_COMPARE(chaos.engine.going(), 0);
}

void TestServerChaos::garbage() {
  ChaosServer chaos;
  const std::uint32_t seed = 20261126;
  std::mt19937 random(seed);
  const std::string whole = chatRequest();
  for (int round = 0; round < 150; ++round) {
    std::string text = whole;
    for (int i = 0; i < 4; ++i) {
      const std::size_t place = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[place] = static_cast<char>(random());
          break;
        case 1:
          text.erase(place, random() % 9);
          break;
        default:
          text.insert(place, text.substr(random() % text.size(), random() % 9));
      }
    }
    HttpClient client(chaos.port());
    client.send(text);
    // Some of it asks for more than it sends: nobody waits for the answer to that.
    const HttpAnswer answer = client.answer(milliseconds(50));
    if (answer.isWhole && answer.status >= 400 && answer.status != 404)
      QVERIFY2(Json::accept(answer.body), qPrintable(QString("seed %1 round %2").arg(seed).arg(round)));
  }
  QVERIFY(isWell(chaos));
  QTRY_COMPARE(chaos.engine.going(), 0);
}

void TestServerChaos::clientsThatGoAway_data() {
  QTest::addColumn<bool>("streams");
  QTest::newRow("before the answer") << false;
  QTest::newRow("within the stream") << true;
}

void TestServerChaos::clientsThatGoAway() {
  QFETCH(bool, streams);
  ChaosServer chaos;
  chaos.engine.perToken = milliseconds(50);
  for (int i = 0; i < 4; ++i) {
    HttpClient client(chaos.port());
    QVERIFY(client.send(chatRequest(streams ? kStreamBody : kBody)));
    if (streams) QVERIFY(!client.read(std::chrono::seconds(5)).empty());
    QTRY_COMPARE(chaos.engine.begun(), i + 1);
  }
  QTRY_COMPARE(chaos.engine.stopped(), 4);
  QCOMPARE(chaos.engine.going(), 0);
  const std::string metricValues = ask(chaos.port(), "GET", "/metrics").body;
  QVERIFY2(metricValues.find("spanscope_clients_gone_total 4\n") != std::string::npos, metricValues.c_str());
}

/// A client that reads nothing is left, and its request with it.
void TestServerChaos::slowReaders() {
  ChaosServer chaos;
  chaos.engine.reply = std::string(200'000, 'x');
  HttpClient client(chaos.port());
  QVERIFY(client.send(chatRequest(kStreamBody)));
  QTRY_COMPARE(chaos.engine.begun(), 1);
  QTRY_COMPARE_WITH_TIMEOUT(
      ask(chaos.port(), "GET", "/metrics").body.find("clients_gone_total 1\n") != std::string::npos, true,
      20'000);
  chaos.engine.reply = "short";
  QVERIFY(isWell(chaos));
}

void TestServerChaos::slowWriters() {
  ChaosServer chaos;
  HttpClient client(chaos.port());
  const std::string whole = chatRequest();
  // A byte now and then keeps no request alive for longer than it may take.
  const auto begin = std::chrono::steady_clock::now();
  std::size_t sent = 0;
  while (sent < whole.size() && client.send(whole.substr(sent, 1))) {
    ++sent;
    std::this_thread::sleep_for(milliseconds(20));
    if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(3)) break;
  }
  QVERIFY(sent < whole.size());
  QCOMPARE(chaos.engine.begun(), 0);
  QVERIFY(isWell(chaos));
}

void TestServerChaos::manyAtOnce() {
  ServerConfig config = impatient();
  config.limits.requests = 200;
  config.limits.toRead = std::chrono::seconds(20);
  config.limits.toStall = std::chrono::seconds(20);
  ChaosServer chaos(config);
  chaos.engine.perToken = milliseconds(2);
  constexpr int kClients = 100;
  std::atomic<int> right = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      const bool streams = i % 2 == 0;
      const HttpAnswer answer =
          ask(chaos.port(), "POST", "/v1/chat/completions", streams ? kStreamBody : kBody);
      if (answer.status != 200 || !answer.isWhole) return;
      std::string text;
      if (streams) {
        for (const std::string& event : eventsIn(answer.body)) {
          if (event != "[DONE]") text += Json::parse(event)["choices"][0]["delta"].value("content", "");
        }
      } else {
        text = Json::parse(answer.body)["choices"][0]["message"]["content"].get<std::string>();
      }
      if (text == "Mira lives in Lisbon.") ++right;
    });
  }
  clients.clear();
  QCOMPARE(right.load(), kClients);
  QTRY_COMPARE(chaos.engine.going(), 0);
  QVERIFY(chaos.server.requests().list().size() <= 64);
}

/// A hundred requests at once. Two at a time are at work, over fewer connections than there are clients.
void TestServerChaos::burstsWait() {
  ServerConfig config = impatient();
  config.limits.requests = 2;
  config.limits.clients = 20;
  config.limits.toRead = std::chrono::seconds(20);
  config.limits.idle = std::chrono::seconds(20);
  ChaosServer chaos(config);
  std::atomic<int> right = 0;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 100; ++i) {
    clients.emplace_back([&] {
      const HttpAnswer answer = ask(chaos.port(), "POST", "/v1/chat/completions", kBody);
      if (answer.status == 200 && answer.isWhole) ++right;
    });
  }
  clients.clear();
  QCOMPARE(right.load(), 100);
}

void TestServerChaos::everyRequestTakesATurn() {
  ServerConfig config = impatient();
  config.limits.requests = 1;
  ChaosServer chaos(config);
  chaos.engine.perToken = std::chrono::seconds(60);
  auto running = std::make_unique<HttpClient>(chaos.port());
  QVERIFY(running->send(chatRequest()));
  QTRY_COMPARE(chaos.engine.begun(), 1);
  std::vector<std::unique_ptr<HttpClient>> waiting;
  for (const char* path : {"/tokenize", "/v1/chat/completions"}) {
    waiting.push_back(std::make_unique<HttpClient>(chaos.port()));
    QVERIFY(waiting.back()->send(
        requestText("POST", path, path[1] == 't' ? std::string(R"({"prompt":"Hi"})") : kBody)));
  }
  QVERIFY(waiting[0]->read(milliseconds(200)).empty());
  QCOMPARE(chaos.engine.begun(), 1);
  // A request without a client makes room.
  chaos.engine.perToken = milliseconds(0);
  running.reset();
  QCOMPARE(waiting[0]->answer().status, 200);
  QCOMPARE(waiting[1]->answer().status, 200);
}

void TestServerChaos::largeBodiesWaitForMemory() {
  ServerConfig config = impatient();
  config.limits.bodyBytes = 1'000'000;
  config.limits.largeBodyBytes = config.limits.bodyBytes;
  ChaosServer chaos(config);
  chaos.engine.perToken = std::chrono::seconds(60);
  const std::string padding = R"("user":")" + std::string(600'000, 'x') + "\",";
  auto running = std::make_unique<HttpClient>(chaos.port());
  QVERIFY(running->send(chatRequest("{" + padding + kBody.substr(1))));
  QTRY_COMPARE(chaos.engine.begun(), 1);
  HttpClient waiting(chaos.port());
  QVERIFY(waiting.send(requestText("POST", "/tokenize", "{" + padding + R"("prompt":"Hi"})")));
  // Small ones pass, for longer than a body may take.
  for (int i = 0; i < 5; ++i) {
    QCOMPARE(ask(chaos.port(), "POST", "/tokenize", R"({"prompt":"Hi"})").status, 200);
    std::this_thread::sleep_for(config.limits.toRead / 4);
  }
  QVERIFY(waiting.read(milliseconds(1)).empty());
  running.reset();
  QCOMPARE(waiting.answer().status, 200);
}

/// Clients that announce large bodies and send none keep no small request out, and give the memory back soon.
void TestServerChaos::silentLargeBodies() {
  ServerConfig config = impatient();
  config.limits.clients = 4;
  config.limits.bodyBytes = 1'000'000;
  config.limits.largeBodyBytes = config.limits.bodyBytes;
  ChaosServer chaos(config);
  const std::string head =
      "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 900000\r\n\r\n{";
  std::vector<std::unique_ptr<HttpClient>> silent;
  for (int i = 0; i < 6; ++i) {
    silent.push_back(std::make_unique<HttpClient>(chaos.port()));
    QVERIFY(silent.back()->send(head));
  }
  const auto began = std::chrono::steady_clock::now();
  QCOMPARE(ask(chaos.port(), "GET", "/health").status, 200);
  const std::string large = R"({"prompt":")" + std::string(300'000, 'x') + "\"}";
  QCOMPARE(ask(chaos.port(), "POST", "/tokenize", large).status, 200);
  QVERIFY(std::chrono::steady_clock::now() - began < std::chrono::seconds(60));
}

void TestServerChaos::idleClientsGiveWay() {
  ServerConfig config = impatient();
  config.limits.clients = 3;
  config.limits.idle = std::chrono::seconds(600);
  ChaosServer chaos(config);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<HttpClient>(chaos.port()));
    QVERIFY(clients.back()->send(requestText("GET", "/health", {})));
    QCOMPARE(clients.back()->answer().status, 200);
    // A busy machine notes only a little later that the client waits.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  QCOMPARE(ask(chaos.port(), "GET", "/health").status, 200);
  // The one that had waited longest was closed, and no more than had to be.
  QVERIFY(clients[0]->read(std::chrono::seconds(5)).empty());
  QVERIFY(clients[2]->send(requestText("GET", "/health", {})));
  QCOMPARE(clients[2]->answer().status, 200);
  for (int i = 0; i < 5; ++i) QCOMPARE(ask(chaos.port(), "GET", "/health").status, 200);
}

/// A client that connects and sends nothing does not keep others out.
void TestServerChaos::silentClientsGiveWay() {
  ServerConfig config = impatient();
  config.limits.clients = 2;
  config.limits.idle = std::chrono::seconds(600);
  ChaosServer chaos(config);
  const HttpClient first(chaos.port());
  const HttpClient second(chaos.port());
  for (int i = 0; i < 3; ++i) QCOMPARE(ask(chaos.port(), "GET", "/health").status, 200);
}

void TestServerChaos::moreThanItTakes() {
  ServerConfig config = impatient();
  config.limits.clients = 1;
  config.limits.waitingClients = 1;
  ChaosServer chaos(config);
  chaos.engine.perToken = milliseconds(50);
  HttpClient first(chaos.port());
  QVERIFY(first.send(chatRequest()));
  QTRY_COMPARE(chaos.engine.begun(), 1);
  HttpClient second(chaos.port());
  QVERIFY(second.send(requestText("GET", "/health", {})));
  HttpClient third(chaos.port());
  const HttpAnswer refused = third.answer();
  QCOMPARE(refused.status, 503);
  QCOMPARE(Json::parse(refused.body)["error"]["code"].get<std::string>(), std::string("too_many_clients"));
  QCOMPARE(first.answer().status, 200);
  QCOMPARE(second.answer().status, 200);
}

void TestServerChaos::rangesAreIgnored() {
  ChaosServer chaos;
  const std::string body = R"({"prompt":")" + std::string(50'000, 'w') + "\"}";
  const HttpAnswer plain = ask(chaos.port(), "POST", "/tokenize", body);
  QCOMPARE(plain.status, 200);
  std::string ranges = "Range: bytes=0-";
  for (int i = 0; i < 2000; ++i) ranges += ",0-";
  const HttpAnswer answer = ask(chaos.port(), "POST", "/tokenize", body, {ranges});
  QCOMPARE(answer.status, 200);
  QCOMPARE(answer.body, plain.body);
}

void TestServerChaos::nothingIsPacked() {
  ChaosServer chaos;
  for (const char* packing : {"br", "gzip", "deflate, gzip, br"}) {
    const HttpAnswer answer = ask(chaos.port(), "POST", "/tokenize", R"({"prompt":"Hi"})",
                                  {std::string("Accept-Encoding: ") + packing});
    QCOMPARE(answer.status, 200);
    QVERIFY(!answer.headers.contains("content-encoding"));
    QVERIFY(Json::accept(answer.body));
  }
}

/// curl -d says that its data is a form, and sends it as it is.
void TestServerChaos::formsOfCurlAreRead() {
  ChaosServer chaos;
  const std::string body = R"({"prompt":")" + std::string(20'000, 'w') + "\"}";
  const HttpAnswer answer =
      ask(chaos.port(), "POST", "/tokenize", body, {"Content-Type: application/x-www-form-urlencoded"});
  QCOMPARE(answer.status, 200);
}

void TestServerChaos::bodiesOfOtherMethodsAreNoRequests() {
  ChaosServer chaos;
  HttpClient client(chaos.port());
  const std::string inner = requestText("GET", "/metrics", {});
  QVERIFY(client.send(requestText("GET", "/health", inner)));
  QCOMPARE(client.answer().status, 200);
  QCOMPARE(client.answer(std::chrono::seconds(5)).status, 0);
}

void TestServerChaos::oldClientsGetNoChunks() {
  ChaosServer chaos;
  HttpClient client(chaos.port());
  QVERIFY(client.send("POST /v1/chat/completions HTTP/1.0\r\nHost: localhost\r\nContent-Length: " +
                      std::to_string(kStreamBody.size()) + "\r\n\r\n" + kStreamBody));
  std::string text;
  for (std::string more = client.read(std::chrono::seconds(5)); !more.empty();
       more = client.read(std::chrono::seconds(5)))
    text += more;
  const std::size_t end = text.find("\r\n\r\n");
  QVERIFY(end != std::string::npos);
  QVERIFY2(text.substr(end + 4).starts_with("data: ") && text.ends_with("data: [DONE]\n\n"), text.c_str());
  QVERIFY(text.substr(0, end).find("chunked") == std::string::npos);
}

/// At the end, requests at work get their answers, and those that wait get an error.
void TestServerChaos::waitingClientsGetAnErrorAtTheEnd() {
  ServerConfig config = impatient();
  config.limits.clients = 8;
  config.limits.requests = 4;
  config.limits.toRead = std::chrono::seconds(20);
  ChaosServer chaos(config);
  chaos.engine.perToken = milliseconds(10);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 24; ++i) {
    clients.push_back(std::make_unique<HttpClient>(chaos.port()));
    QVERIFY(clients.back()->send(chatRequest()));
  }
  QTRY_COMPARE(chaos.engine.begun(), 4);
  chaos.server.finish();
  int answered = 0;
  for (const auto& client : clients) {
    const HttpAnswer answer = client->answer(std::chrono::seconds(5));
    QVERIFY2(answer.isWhole && (answer.status == 200 || answer.status == 503),
             std::to_string(answer.status).c_str());
    if (answer.status == 200) ++answered;
  }
  QCOMPARE(answered, 4);
}

void TestServerChaos::manyOnOneConnection() {
  ChaosServer chaos;
  HttpClient client(chaos.port());
  for (int i = 0; i < 50; ++i) {
    QVERIFY(client.send(chatRequest()));
    const HttpAnswer answer = client.answer();
    QCOMPARE(answer.status, 200);
    QVERIFY(answer.isWhole);
  }
}

void TestServerChaos::endsUnderLoad() {
  auto chaos = std::make_unique<ChaosServer>();
  chaos->engine.perToken = milliseconds(30);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<HttpClient>(chaos->port()));
    QVERIFY(clients.back()->send(chatRequest(i % 2 == 0 ? kStreamBody : kBody)));
  }
  QTRY_COMPARE(chaos->engine.begun(), 20);
  chaos.reset();
  for (const auto& client : clients) client->answer(milliseconds(200));
}

SPANSCOPE_TEST(tst_server_chaos, TestServerChaos)
#include "tst_server_chaos.moc"
