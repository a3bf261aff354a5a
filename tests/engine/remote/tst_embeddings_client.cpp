// SPDX-License-Identifier: GPL-3.0-or-later
// Against a server of the test's own, which answers as the test sets it.
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/remote/embeddings_client.h"
#include "engine/remote/http/http_client.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <thread>

using namespace spanscope;
using namespace spanscope::remote;
using spanscope::product_text::worded;
using spanscope::remote::test::http;
using spanscope::remote::test::Server;
using Json = nlohmann::json;

namespace {

EmbeddingsServer settingsOf(const Server& server) {
  return {.url = server.address() + "/",
          .model = "minilm",
          .key = "secret",
          .connectTimeout = std::chrono::milliseconds(2000),
          .timeout = std::chrono::milliseconds(2000)};
}

const std::vector<std::string> kTexts = {"Mira lives in Lisbon.", "caf\u00E9 \"quoted\"\n"};

}  // namespace

class TestEmbeddingsClient : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void addressesAreRead_data();
  void addressesAreRead();
  void vectorsComeInTheOrderOfTheTexts();
  void refusesWhatIsNoAnswer_data();
  void refusesWhatIsNoAnswer();
  void replies_data();
  void replies();
  void aReplyMayBeTooLarge();
  void largestNumbersAreTaken();
  void anyBytesAreVectorsOrAFailure();
  void noServerIsAnError();
  void otherAddressesAreRefused();
  void aModelIsNamed();
  void silenceEndsInTime();
  void stopGivesUp();
};

void TestEmbeddingsClient::addressesAreRead_data() {
  QTest::addColumn<QString>("url");
  QTest::addColumn<QString>("host");
  QTest::addColumn<bool>("isLoopback");
  const auto row = [](const char* url, const char* host, bool isLoopback) {
    QTest::newRow(*url == '\0' ? "nothing" : url) << QString(url) << QString(host) << isLoopback;
  };
  row("http://localhost:8000/v1", "localhost", true);
  row("https://LOCALHOST", "LOCALHOST", true);
  row("http://127.0.0.1:8000/v1/", "127.0.0.1", true);
  row("http://127.9.8.7", "127.9.8.7", true);
  row("http://[::1]:80/v1", "::1", true);
  row("http://[2001:db8::1]/", "2001:db8::1", false);
  row("https://api.example.com/v1", "api.example.com", false);
  row("http://127.0.0.1.example.com/v1", "127.0.0.1.example.com", false);
  row("http://localhost.example.com", "localhost.example.com", false);
  row("http://10.0.0.1", "10.0.0.1", false);
  for (const char* refused :
       {"", "localhost", "localhost:8000", "ftp://localhost", "file:///etc/passwd", "http://",
        "http://local host", "http://localhost\n/v1", "http://localhost:99999", "http://user@localhost",
        "http://user:secret@localhost", "http://localhost/v1?key=secret", "http://localhost/v1#part",
        "gopher://x"})
    row(refused, "", false);
}

void TestEmbeddingsClient::addressesAreRead() {
  QFETCH(QString, url);
  QFETCH(QString, host);
  QFETCH(bool, isLoopback);
  const auto read = readServerAddress(url.toStdString());
  if (const auto* address = std::get_if<ServerAddress>(&read)) {
    QCOMPARE(QString::fromStdString(address->host), host);
    QCOMPARE(address->isLoopback, isLoopback);
    return;
  }
  QVERIFY2(host.isEmpty(), qPrintable(host));
  const std::string message = std::get<Error>(read).message();
  QVERIFY(!message.empty());
  QVERIFY2(message.find("user:secret") == std::string::npos, message.c_str());
}

void TestEmbeddingsClient::vectorsComeInTheOrderOfTheTexts() {
  const Server server(http(
      200, R"({"data":[{"index":1,"embedding":[0.5,-1]},{"index":0,"embedding":[1,2e-3]}],"model":"m"})"));
  EmbeddingsClient client(settingsOf(server));
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
    QTest::newRow(name) << answer << worded(part);
  };
  row("status", http(401, "no key"), "status 401: no key");
  row("redirect", "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
      "status 302");
  row("no JSON", http(200, "<html>"), "byte 1: Spanscope found \"<html>\", but needs JSON");
  row("nothing", http(200, ""), "byte 1: Spanscope found \"\", but needs JSON");
  row("cut JSON", http(200, R"({"data":[{"embedding":[1.5)"), "needs JSON");
  row("NaN", http(200, R"({"data":[{"embedding":[0.25, NaN]},{"embedding":[1, 2]}]})"), "NaN");
  row("null", http(200, R"({"data":[{"embedding":[null]},{"embedding":[1]}]})"), "found null");
  row("nested", http(200, R"({"data":[{"embedding":[[1]]},{"embedding":[1]}]})"), "found a list");
  row("error as an object", http(200, R"({"error":{"message":"no such model"}})"), "no such model");
  row("deep", http(200, R"({"data":[{"index":)" + QByteArray(1'000'000, '[')), "deeper than 16");
  row("many", http(200, R"({"data":[)" + QByteArray("0,").repeated(200'000) + "0]}"),
      "more than 131272 values");
  row("no data", http(200, R"({"data":3})"), "<object-list-data>");
  row("too many", http(200, R"({"data":[{"embedding":[1]},{"embedding":[1]},{"embedding":[1]}]})"),
      "/data: Spanscope found 3 entries, but needs 2");
  row("error of the server", http(500, "out of\nmemory \x1b[31m"), "status 500: out of memory");
  row("error that is no UTF-8", http(503, "\xff\xfe busy"), "status 503: \ufffd\ufffd busy.");
  row("nothing to say", "HTTP/1.1 204 No Content\r\n\r\n", "status 204.");
  row("too few", http(200, R"({"data":[{"embedding":[1]}]})"), "/data: Spanscope found 1 entry, but needs 2");
  row("no list", http(200, R"({"data":[{"embedding":"x"},{"embedding":[1]}]})"), "/data/0: ");
  row("index beyond", http(200, R"({"data":[{"index":2,"embedding":[1]},{"embedding":[1]}]})"),
      "/data/0/index");
  row("index twice", http(200, R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})"),
      "found 0 again");
  row("empty vector", http(200, R"({"data":[{"embedding":[]},{"embedding":[1]}]})"), "found 0 numbers");
  row("lengths differ", http(200, R"({"data":[{"embedding":[1,2]},{"embedding":[1]}]})"),
      "Spanscope found 1 number, but needs <many-first>");
  row("no number", http(200, R"({"data":[{"embedding":[1,"2"]},{"embedding":[1,2]}]})"), "found \"2\"");
  row("no float", http(200, R"({"data":[{"embedding":[1e300]},{"embedding":[1]}]})"), "1e+300");
  row("no HTTP", "hello\r\n\r\n", "<answer-server>");
  row("cut short", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "<answer-server>");
}

void TestEmbeddingsClient::refusesWhatIsNoAnswer() {
  QFETCH(QByteArray, answer);
  QFETCH(QString, part);
  const Server server(answer);
  EmbeddingsClient client(settingsOf(server));
  try {
    client.embed(kTexts, {});
    QFAIL("taken for an answer");
  } catch (const Failure& failure) {
    QVERIFY(isValidUtf8(failure.what()));
    const QString message = QString::fromUtf8(failure.what());
    QVERIFY2(message.startsWith("http://127.0.0.1:"), qPrintable(message));
    QVERIFY2(message.contains(part), qPrintable(message));
  }
}

/// The reasons for which a response to two texts is refused: the whole of place and found, between the server
/// and the expected text.
void TestEmbeddingsClient::replies_data() {
  QTest::addColumn<QByteArray>("body");
  QTest::addColumn<QString>("place");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* name, const QByteArray& body, const char* place, const char* found) {
    QTest::newRow(name) << body << QString(place) << worded(found);
  };
  const auto vectors = [](const QByteArray& one, const QByteArray& other = "[1]") {
    return QByteArray(R"({"data":[{"embedding":)") + one + R"(},{"embedding":)" + other + "}]}";
  };
  const auto indices = [](const QByteArray& one, const QByteArray& other) {
    return QByteArray(R"({"data":[{"embedding":[1])") + one + R"(},{"embedding":[1])" + other + "}]}";
  };
  row("no double", vectors("[0.5,1e999]"), "byte 32", "1e999");
  row("no negative double", vectors("[-1e999]"), "byte 29", "-1e999");
  row("no double beside the vectors", R"({"usage":1e400,"data":[]})", "byte 14", "1e400");
  row("no double of many digits", vectors("[" + QByteArray(400, '9') + "]"), "byte 423",
      (QByteArray(199, '9') + "\u2026").constData());
  row("no double in the index", indices(R"(,"index":1e999)", ""), "byte 39", "1e999");
  row("no float", vectors("[1]", "[3.5e38]"), "/data/1/embedding", "3.5e+38");
  row("no negative float", vectors("[-1e39]"), "/data/0/embedding", "-1e+39");
  row("Infinity", vectors("[Infinity]"), "byte 24", R"("ta":[{"embedding":[Infinity]},{"embeddin")");
  row("true", vectors("[true]"), "/data/0/embedding", "true");
  row("object as a number", vectors("[{}]"), "/data/0/embedding", "an object");
  row("text as a vector", vectors("\"AAAA\""), "/data/0", "an object");
  row("number as a vector", vectors("7"), "/data/0", "an object");
  row("longer than any", vectors("[0" + QByteArray(",0").repeated(65'536) + "]"), "/data/0/embedding",
      "65537 numbers");
  row("longer second", vectors("[1]", "[1,2]"), "/data/1/embedding", "2 numbers");
  row("null as an entry", R"({"data":[null,{"embedding":[1]}]})", "/data/0", "null");
  row("list as an entry", R"({"data":[[1],[2]]})", "/data/0", "a list");
  row("no entries", R"({"data":[]})", "/data", "0 entries");
  row("null as data", R"({"data":null})", "reply", R"({"data":null})");
  row("object as data", R"({"data":{}})", "reply", R"({"data":{}})");
  row("a list", "[[1],[1]]", "reply", "[[1],[1]]");
  row("a number", "3", "reply", "3");
  row("null", "null", "reply", "null");
  row("negative index", indices(R"(,"index":-1)", R"(,"index":1)"), "/data/0/index", "-1");
  row("half an index", indices(R"(,"index":0.5)", R"(,"index":1)"), "/data/0/index", "0.5");
  row("text as an index", indices(R"(,"index":"0")", R"(,"index":1)"), "/data/0/index", "\"0\"");
  row("null as an index", indices(R"(,"index":null)", R"(,"index":1)"), "/data/0/index", "null");
  row("huge index", indices(R"(,"index":0)", R"(,"index":18446744073709551615)"), "/data/1/index",
      "18446744073709551615");
  row("huger index", indices(R"(,"index":0)", R"(,"index":18446744073709551616)"), "/data/1/index",
      "1.8446744073709552e+19");
  row("index missing", indices(R"(,"index":0)", ""), "/data/1", "no index");
  row("index once", indices("", R"(,"index":1)"), "/data/1", "an index");
  row("deep objects", QByteArray(R"({"a":)").repeated(100'000), "reply", "<lists-within-lists> 16");
  row("after its end", vectors("[1]") + "]", "byte 47", R"("{"embedding":[1]}]}]")");
  row("NUL", vectors("[1]") + QByteArray("\0[", 2), "byte 47", "a NUL");
  row("no UTF-8", "{\"data\":\"\xff\"}", "byte 10", "\"{\"data\":\"\ufffd\"}\"");
}

void TestEmbeddingsClient::replies() {
  QFETCH(QByteArray, body);
  QFETCH(QString, place);
  QFETCH(QString, found);
  const Server server(http(200, body));
  EmbeddingsClient client(settingsOf(server));
  try {
    client.embed(kTexts, {});
    QFAIL("taken for an answer");
  } catch (const Failure& failure) {
    const Error& error = failure.error();
    QCOMPARE(error.file, server.address() + "/embeddings");
    QCOMPARE(QString::fromStdString(error.place), place);
    QCOMPARE(QString::fromUtf8(error.found.c_str()), found);
    QVERIFY(!error.expected.empty());
    QVERIFY(isValidUtf8(failure.what()));
  }
}

void TestEmbeddingsClient::aReplyMayBeTooLarge() {
  const Server server(
      "HTTP/1.1 200 OK\r\nContent-Length: " + QByteArray::number(quint64{kMaxReplyBytes + 1}) + "\r\n\r\n{");
  EmbeddingsClient client(settingsOf(server));
  try {
    client.embed(kTexts, {});
    QFAIL("taken for an answer");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, server.address() + "/embeddings");
    QCOMPARE(failure.error().place, std::string("reply"));
    QCOMPARE(failure.error().found, "more than " + std::to_string(kMaxReplyBytes) + " bytes");
  }
}

void TestEmbeddingsClient::largestNumbersAreTaken() {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const auto vectors = readEmbeddings(
      R"({"data":[{"embedding":[3.4028235e38,-3.4028234663852886e38,1e-999,18446744073709551616]}]})", 1, "");
  QVERIFY(vectors.at(0) == (retrieve::EmbeddingVector{kLargest, -kLargest, 0.0F, 0x1p64F}));
}

/// A right response with some bytes changed, inserted or removed.
void TestEmbeddingsClient::anyBytesAreVectorsOrAFailure() {
  const std::string right =
      R"({"object":"list","data":[{"index":1,"embedding":[0.5,-1e2]},{"index":0,"embedding":[1,2]}],"n":3})";
  static constexpr std::string_view kBytes = "0123456789eE+-.,:[]{}\"\\ntrufalse \x00\x80\xff";
  const unsigned seed = qEnvironmentVariableIsSet("SPANSCOPE_SEED")
                            ? qEnvironmentVariable("SPANSCOPE_SEED").toUInt()
                            : 20250911U;
  qInfo("seed %u", seed);
  std::mt19937 random(seed);
  int refused = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string body = right;
    for (auto change = 1 + random() % 3; change > 0; --change) {
      const std::size_t at = random() % body.size();
      const char byte = kBytes[random() % kBytes.size()];
      switch (random() % 3) {
        case 0:
          body[at] = byte;
          break;
        case 1:
          body.insert(at, 1 + random() % 4, byte);
          break;
        default:
          body.erase(at, 1 + random() % 4);
      }
    }
    try {
      for (const auto& vector : readEmbeddings(body, 2, "http://server")) {
        QVERIFY(!vector.empty());
        for (const float number : vector) QVERIFY2(std::isfinite(number), body.c_str());
      }
    } catch (const Failure& failure) {
      ++refused;
      QCOMPARE(failure.error().file, std::string("http://server"));
      QVERIFY2(!failure.error().place.empty() && !failure.error().found.empty() &&
                   !failure.error().expected.empty(),
               body.c_str());
      QVERIFY2(isValidUtf8(failure.what()), body.c_str());
    }
  }
  QVERIFY(refused > 10'000 && refused < 20'000);
}

void TestEmbeddingsClient::noServerIsAnError() {
  const std::string url = "http://127.0.0.1:" + std::to_string(spanscope::remote::test::closedPort()) + "/v1";
  EmbeddingsClient client({.url = url, .model = "m", .key = {}});
  try {
    client.embed(kTexts, {});
    QFAIL("taken for a server");
  } catch (const Failure& failure) {
    const std::string message = failure.what();
    QVERIFY2(message.starts_with(url + "/embeddings: "), message.c_str());
    QVERIFY2(message.ends_with(worded(std::string("<answer-server>"))), message.c_str());
  }
}

void TestEmbeddingsClient::otherAddressesAreRefused() {
  for (const char* url : {"file:///etc", "", "http://user:secret@127.0.0.1"}) {
    EmbeddingsClient client({.url = url, .model = "m", .key = {}});
    try {
      client.embed(kTexts, {});
      QFAIL("taken for a server");
    } catch (const Failure& failure) {
      QVERIFY(!QByteArray(failure.what()).contains("secret"));
    }
  }
}

void TestEmbeddingsClient::aModelIsNamed() {
  const Server server(http(200, "{}"));
  EmbeddingsServer settings = settingsOf(server);
  settings.model.clear();
  EmbeddingsClient client(settings);
  QVERIFY_EXCEPTION_THROWN(client.embed(kTexts, {}), Failure);
  QVERIFY(server.request().isEmpty());
}

void TestEmbeddingsClient::silenceEndsInTime() {
  const Server server{QByteArray()};
  EmbeddingsServer settings = settingsOf(server);
  settings.timeout = std::chrono::milliseconds(100);
  EmbeddingsClient client(settings);
  QVERIFY_EXCEPTION_THROWN(client.embed(kTexts, {}), Failure);
}

void TestEmbeddingsClient::stopGivesUp() {
  const Server server{QByteArray()};
  EmbeddingsServer settings = settingsOf(server);
  settings.timeout = std::chrono::minutes(5);
  EmbeddingsClient client(settings);
  std::stop_source stop;
  QElapsedTimer clock;
  std::thread stopper([&] {
    while (server.request().isEmpty()) QThread::msleep(1);
    QThread::msleep(20);
    clock.start();
    stop.request_stop();
  });
  QVERIFY(client.embed(kTexts, stop.get_token()).empty());
  stopper.join();
  // Far below the second after which libcurl checks for events; the machine may be busy.
  QVERIFY2(clock.elapsed() < 500, qPrintable(QString::number(clock.elapsed())));
}

SPANSCOPE_TEST(tst_embeddings_client, TestEmbeddingsClient, QCoreApplication)
#include "tst_embeddings_client.moc"
