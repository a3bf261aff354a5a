// SPDX-License-Identifier: GPL-3.0-or-later
// A gateway between a client and upstream servers that send exactly the bytes that a test sets.
#include "engine/base/error.h"
#include "engine/doctor/log_reader.h"
#include "engine/remote/gateway/gateway.h"
#include "engine/trace/event.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/engine/remote/server/stand_in_engine.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTest>

#include <brotli/encode.h>
#include <dirent.h>
#include <nlohmann/json.hpp>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::gateway;
using remote::test::ServerOfMany;
using server::test::HttpAnswer;
using server::test::HttpClient;
using server::test::requestText;

namespace {

using Json = nlohmann::json;
constexpr std::chrono::seconds kMost{10};

std::string reply(const std::string& body, const std::string& more = {}) {
  return "HTTP/1.1 200 Fine\r\nX-Odd:  two  \r\nContent-Type: application/json\r\n" + more +
         "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string chatReply(const std::string& text, int prompt, int cached) {
  return reply(R"({"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":)"
               R"({"role":"assistant","content":")" +
               text + R"("},"finish_reason":"stop"}],"usage":{"prompt_tokens":)" + std::to_string(prompt) +
               R"(,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":)" +
               std::to_string(cached) + "}}}");
}

std::string chunk(const std::string& text) {
  char size[20];
  std::snprintf(size, sizeof size, "%zX", text.size());
  return std::string(size) + "\r\n" + text + "\r\n";
}

std::string dataOf(const std::string& content) {
  return R"(data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":")" + content +
         "\"}}]}\n\n";
}

const std::string kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

/// An upstream server that answers calls with `answer`, and questions about itself like vLLM.
struct Fake {
  using Answer = std::function<std::string(const std::string& request)>;
  explicit Fake(Answer answer, remote::test::Server::After after = remote::test::Server::After::Close)
      : server(
            [this, answer = std::move(answer)](const QByteArray& bytes) {
              const std::string request = bytes.toStdString();
              if (request.starts_with("GET /v1/models "))
                return QByteArray::fromStdString(
                    reply(R"({"data":[{"id":"m","owned_by":"vllm","max_model_len":4096}]})"));
              if (request.starts_with("GET /version "))
                return QByteArray::fromStdString(reply(R"({"version":"0.33.0"})"));
              if (request.starts_with("GET /metrics "))
                return QByteArray::fromStdString(
                    reply("vllm:cache_config_info{block_size=\"4\",enable_prefix_caching=\"True\","
                          "num_gpu_blocks=\"1000\"} 1.0\n"));
              const bool isPassed = request.starts_with("POST /v1/chat/completions") ||
                                    request.starts_with("POST /v1/completions ") ||
                                    request.starts_with("POST /v1/embeddings ") ||
                                    request.starts_with("PUT /any ");
              if (!isPassed) return QByteArray("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
              {
                const std::lock_guard lock(mutex);
                requests.push_back(request);
              }
              return QByteArray::fromStdString(answer(request));
            },
            after) {}

  std::string last() {
    const std::lock_guard lock(mutex);
    return requests.empty() ? std::string() : requests.back();
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return requests.size();
  }
  std::string host() const {
    const std::string address = server.address().substr(7);
    return address.substr(0, address.find('/'));
  }

  std::mutex mutex;
  std::vector<std::string> requests;
  ServerOfMany server;
};

struct Running {
  explicit Running(const std::vector<std::string>& urls, std::function<void(GatewayConfig&)> change = {}) {
    GatewayConfig config;
    config.port = 0;
    for (const std::string& url : urls)
      config.upstreams.push_back({.name = "up-" + std::to_string(config.upstreams.size() + 1), .url = url});
    config.tokenizer = std::make_shared<server::test::ByteTokenizer>();
    config.chat = engine.model().chat;
    config.model = "stand-in";
    config.program = "test";
    config.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex);
      log += line;
    };
    if (change) change(config);
    gateway = std::make_unique<Gateway>(std::move(config));
    for (const auto& recorder : gateway->recorders()) {
      recorder->addListener([this](const trace::Event& event) {
        const std::lock_guard lock(mutex);
        events.push_back(event);
      });
    }
    gateway->start();
  }

  HttpAnswer post(const std::string& body, const server::test::Headers& headers = {},
                  const std::string& path = "/v1/chat/completions") {
    return server::test::ask(gateway->port(), "POST", path, body, headers);
  }
  /// All events of a type so far.
  template <class Payload>
  std::vector<Payload> all() {
    const std::lock_guard lock(mutex);
    std::vector<Payload> found;
    for (const trace::Event& event : events)
      if (const auto* payload = std::get_if<Payload>(&event.payload)) found.push_back(*payload);
    return found;
  }

  server::test::StandInEngine engine;
  std::mutex mutex;
  std::vector<trace::Event> events;
  std::string log;
  std::unique_ptr<Gateway> gateway;
};

std::string chatOf(const std::vector<std::string>& texts, const std::string& members = {}) {
  Json messages = Json::array();
  for (const std::string& text : texts) messages.push_back({{"role", "user"}, {"content", text}});
  return R"({"model":"m",)" + members + R"("messages":)" + messages.dump() + "}";
}

/// Everything that arrives until the other side closes or is silent.
std::string readAll(HttpClient& client) {
  std::string all;
  while (true) {
    const std::string more = client.read(std::chrono::milliseconds(400));
    if (more.empty()) return all;
    all += more;
  }
}

std::size_t openDescriptors() {
  std::size_t count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

}  // namespace

class TestGateway : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bytesPassUnchanged();
  void streamsPassUnchanged();
  void otherPathsPass();
  void unreachableServersAreTypedErrors();
  void refusedRequestsAreRuns();
  void compressedAnswersAreRead_data();
  void compressedAnswersAreRead();
  void severalAnswers();
  void brokenAnswersAreTypedErrors_data();
  void brokenAnswersAreTypedErrors();
  void brokenStreamsEndWithAnError();
  void leavingClientsLeaveNothing();
  void ordersForTheCache();
  void notesTheWrittenOrder();
  void wrongMarksAreRefused();
  void failedPromptsAreNotCached_data();
  void failedPromptsAreNotCached();
  void refusedQueriesAreKnown();
  void lateRefusalsLeaveNothing();
  void recordsRuns();
  void recordsNoSecrets();
  void logsForTheDoctor();
  void logsOfFailures();
  void sendsToTheServerWithTheCache();
  void isFairUnderLoad();
  void failingServersAreSkipped();
  void answersSpanQueries();
  void limitsAndAccess();
  void slowClientsBlockNobody();
};

void TestGateway::bytesPassUnchanged() {
  const std::string answer = chatReply("yes", 10, 4);
  Fake up([&](const std::string&) { return answer; });
  Running running({up.server.address()});
  HttpClient client(running.gateway->port());
  const std::string body = chatOf({"a"}, "\"odd\" :  1.50,");
  const std::string sent =
      "POST /v1/chat/completions?x=%20y HTTP/1.1\r\nhost: localhost\r\nx-ODD:  Value \r\n"
      "Authorization: Bearer secret-of-client\r\nConnection: keep-alive, X-Hop\r\n"
      "X-Hop: 1\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\nAccept: */*\r\n\r\n" + body;
  QVERIFY(client.send(sent));
  QCOMPARE(readAll(client), answer);
  QCOMPARE(up.last(), "POST /v1/chat/completions?x=%20y HTTP/1.1\r\nHost: " + up.host() +
                          "\r\nx-ODD:  Value \r\nAuthorization: Bearer secret-of-client\r\nContent-Length: " +
                          std::to_string(body.size()) + "\r\nAccept: */*\r\n\r\n" + body);
  // The connection takes another request.
  QVERIFY(client.send(sent));
  QCOMPARE(readAll(client), answer);
}

void TestGateway::streamsPassUnchanged() {
  const std::string answer = kStreamHead + chunk(dataOf("a")) + chunk(": still here\n\n" + dataOf("b")) +
                             chunk("data: [DO") + chunk("NE]\n\n") + "0\r\n\r\n";
  Fake up([&](const std::string&) { return answer; });
  Running running({up.server.address()});
  HttpClient client(running.gateway->port());
  QVERIFY(client.send(requestText("POST", "/v1/chat/completions", chatOf({"a"}, "\"stream\":true,"))));
  QCOMPARE(readAll(client), answer);
  QTRY_COMPARE(running.all<trace::ServerReported>().size(), std::size_t(1));
  QVERIFY(running.all<trace::ServerReported>().front().timeToFirstToken.has_value());
}

void TestGateway::otherPathsPass() {
  const std::string answer = reply("vectors");
  Fake up([&](const std::string&) { return answer; });
  Running running({up.server.address()});
  HttpClient client(running.gateway->port());
  QVERIFY(client.send(requestText("POST", "/v1/embeddings", "{}")));
  QCOMPARE(readAll(client), answer);
  QVERIFY(client.send(requestText("PUT", "/any", "x", {"Content-Type: multipart/form-data; boundary=b"})));
  QCOMPARE(readAll(client), answer);
  QCOMPARE(server::test::ask(running.gateway->port(), "GET", "/v1/models").status, 200);
  QVERIFY(running.all<trace::RunStarted>().empty());
}

void TestGateway::unreachableServersAreTypedErrors() {
  const std::string address = "http://127.0.0.1:" + std::to_string(remote::test::closedPort());
  Running running({address});
  const HttpAnswer answer = running.post(chatOf({"a"}));
  QCOMPARE(answer.status, 502);
  const Json error = Json::parse(answer.body)["error"];
  QCOMPARE(error["type"].get<std::string>(), std::string("upstream_error"));
  QCOMPARE(error["code"].get<std::string>(), std::string("upstream_unreachable"));
}

/// Each refused request is a run with its error and without counts, also if no upstream server got the
/// request.
void TestGateway::refusedRequestsAreRuns() {
  const std::string refusal = R"({"error":{"message":"too long","type":"invalid_request_error"}})";
  Fake up([&](const std::string&) {
    return "HTTP/1.1 400 Bad Request\r\nContent-Length: " + std::to_string(refusal.size()) + "\r\n\r\n" +
           refusal;
  });
  Running running({up.server.address()});
  QCOMPARE(running.post(chatOf({"a"})).status, 400);
  QCOMPARE(running.post("no JSON").status, 400);
  QCOMPARE(running.post(chatOf({"a", "b"}, "\"spanscope\":{\"plus\":[[1]]},")).status, 400);
  Running alone({"http://127.0.0.1:" + std::to_string(remote::test::closedPort())});
  QCOMPARE(alone.post(chatOf({"a"})).status, 502);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(3));
  QTRY_COMPARE(alone.all<trace::RunFinished>().size(), std::size_t(1));
  std::vector<trace::ServerReported> reports = running.all<trace::ServerReported>();
  // Reports are written after the answers, by several threads: their order may be another one.
  const auto broken = [&reports](const char* by) {
    return std::any_of(reports.begin(), reports.end(), [by](const trace::ServerReported& report) {
      return report.brokenBy.find(by) != std::string::npos;
    });
  };
  QVERIFY(broken("too long"));
  QVERIFY(broken("spanscope.plus"));
  for (const trace::ServerReported& report : alone.all<trace::ServerReported>()) reports.push_back(report);
  QCOMPARE(reports.size(), std::size_t(4));
  for (const trace::ServerReported& report : reports) {
    QVERIFY(!report.brokenBy.empty());
    QVERIFY(!report.promptTokens && !report.generatedTokens && !report.isCachedKnown());
  }
  // The prompt of a request that no server got is not in the simulated cache.
  QVERIFY(alone.all<trace::BlockStored>().empty());
  const std::string query = alone.all<trace::RunStarted>().front().queryJson;
  QVERIFY2(query.find("\"user\":\"a\"") != std::string::npos, query.c_str());
}

void TestGateway::compressedAnswersAreRead_data() {
  QTest::addColumn<QString>("encoding");
  QTest::addColumn<QByteArray>("content");
  const std::string body = chatReply("yes", 10, 4);
  const std::string json = body.substr(body.find("\r\n\r\n") + 4);
  const auto zlib = [&json](int bits) {
    z_stream stream{};
    deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
    QByteArray out(static_cast<qsizetype>(deflateBound(&stream, json.size())), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(json.data()));
    stream.avail_in = static_cast<uInt>(json.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(static_cast<qsizetype>(stream.total_out));
    deflateEnd(&stream);
    return out;
  };
  QByteArray packed(static_cast<qsizetype>(ZSTD_compressBound(json.size())), '\0');
  packed.resize(static_cast<qsizetype>(
      ZSTD_compress(packed.data(), static_cast<std::size_t>(packed.size()), json.data(), json.size(), 3)));
  std::size_t size = BrotliEncoderMaxCompressedSize(json.size());
  QByteArray brotli(static_cast<qsizetype>(size), '\0');
  QVERIFY(BrotliEncoderCompress(BROTLI_DEFAULT_QUALITY, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, json.size(),
                                reinterpret_cast<const std::uint8_t*>(json.data()), &size,
                                reinterpret_cast<std::uint8_t*>(brotli.data())));
  brotli.resize(static_cast<qsizetype>(size));
  QTest::newRow("Brotli") << QStringLiteral("br") << brotli;
  QTest::newRow("gzip") << QStringLiteral("gzip") << zlib(MAX_WBITS + 16);
  QTest::newRow("deflate") << QStringLiteral("Deflate") << zlib(MAX_WBITS);
  QTest::newRow("zstd") << QStringLiteral("zstd") << packed;
  QTest::newRow("damaged") << QStringLiteral("gzip") << QByteArray("\x1f\x8bno gzip at all");
  QTest::newRow("damaged Brotli") << QStringLiteral("br") << QByteArray("no Brotli at all");
  QTest::newRow("unknown") << QStringLiteral("compress") << QByteArray("???");
}

/// A compressed answer passes unchanged. Its text and counts are recorded if the encoding is known.
void TestGateway::compressedAnswersAreRead() {
  QFETCH(QString, encoding);
  QFETCH(QByteArray, content);
  const std::string answer =
      reply(content.toStdString(), "Content-Encoding: " + encoding.toStdString() + "\r\n");
  Fake up([&](const std::string&) { return answer; });
  Running running({up.server.address()});
  HttpClient client(running.gateway->port());
  QVERIFY(client.send(requestText("POST", "/v1/chat/completions", chatOf({"a"}))));
  QCOMPARE(readAll(client), answer);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(1));
  const trace::ServerReported report = running.all<trace::ServerReported>().front();
  const std::string row = QTest::currentDataTag();
  const bool isRead = !row.starts_with("damaged") && row != "unknown";
  QCOMPARE(report.promptTokens, isRead ? std::optional<std::int64_t>(10) : std::nullopt);
  QCOMPARE(report.cachedTokens, std::int64_t(isRead ? 4 : 0));
  QCOMPARE(running.all<trace::StepFinished>().front().text, std::string(isRead ? "yes" : ""));
}

/// With n > 1, the answer passes unchanged. The count of generated tokens is a sum, so no answer has a count.
void TestGateway::severalAnswers() {
  const std::string answer = reply(
      R"({"object":"chat.completion","model":"m","choices":[)"
      R"({"index":1,"message":{"content":"no"},"finish_reason":"stop"},)"
      R"({"index":0,"message":{"content":"yes"},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}})");
  Fake up([&](const std::string&) { return answer; });
  Running running({up.server.address()});
  HttpClient client(running.gateway->port());
  QVERIFY(client.send(requestText("POST", "/v1/chat/completions", chatOf({"a"}, "\"n\":2,"))));
  QCOMPARE(readAll(client), answer);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(1));
  const trace::ServerReported report = running.all<trace::ServerReported>().front();
  QCOMPARE(report.promptTokens, std::optional<std::int64_t>(10));
  QCOMPARE(report.cachedTokens, std::int64_t(4));
  QVERIFY(!report.generatedTokens);
  QCOMPARE(running.all<trace::StepFinished>().front().text, std::string("yes"));
  const std::lock_guard lock(running.mutex);
  const Json line = Json::parse(running.log);
  QCOMPARE(line["response"]["choices"][1]["message"]["content"].get<std::string>(), std::string("no"));
}

void TestGateway::brokenAnswersAreTypedErrors_data() {
  QTest::addColumn<QByteArray>("bytes");
  const std::string whole = chatReply("yes", 10, 4);
  QTest::newRow("no HTTP") << QByteArray("garbage\r\n\r\n");
  QTest::newRow("half a head") << QByteArray("HTTP/1.1 200 OK\r\nContent-");
  QTest::newRow("half a body") << QByteArray::fromStdString(whole.substr(0, whole.size() - 20));
  QTest::newRow("two lengths") << QByteArray(
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx");
}

void TestGateway::brokenAnswersAreTypedErrors() {
  QFETCH(QByteArray, bytes);
  Fake up([&](const std::string&) { return bytes.toStdString(); });
  Running running({up.server.address()});
  const HttpAnswer answer = running.post(chatOf({"a"}));
  QCOMPARE(answer.status, 502);
  QCOMPARE(Json::parse(answer.body)["error"]["code"].get<std::string>(), std::string("upstream_broken"));
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(1));
  QCOMPARE(running.all<trace::RunFinished>().front().outcome, trace::RunOutcome::Failed);
}

void TestGateway::brokenStreamsEndWithAnError() {
  // The connection ends in the middle of a chunk.
  Fake up([&](const std::string&) { return kStreamHead + chunk(dataOf("a")) + "40\r\ndata: {"; });
  Running running({up.server.address()});
  const HttpAnswer answer = running.post(chatOf({"a"}, "\"stream\":true,"));
  QVERIFY(answer.isWhole);
  const std::vector<std::string> events = server::test::eventsIn(answer.body);
  QCOMPARE(events.size(), std::size_t(3));
  QCOMPARE(Json::parse(events[1])["error"]["code"].get<std::string>(), std::string("upstream_broken"));
  QCOMPARE(events[2], std::string("[DONE]"));
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(1));
  QCOMPARE(running.all<trace::StepFinished>().front().text, std::string("a"));
  QVERIFY(!running.all<trace::ServerReported>().front().brokenBy.empty());
}

void TestGateway::leavingClientsLeaveNothing() {
  Fake up([&](const std::string&) { return kStreamHead + chunk(dataOf("a")); },
          remote::test::Server::After::Hold);
  Running running({up.server.address()});
  // This server answers one question only.
  running.gateway->awaitFacts(std::chrono::milliseconds(300));
  const std::size_t before = openDescriptors();
  for (int i = 0; i < 5; ++i) {
    HttpClient client(running.gateway->port());
    QVERIFY(client.send(requestText("POST", "/v1/chat/completions", chatOf({"a"}, "\"stream\":true,"))));
    QVERIFY(!client.read(kMost).empty());
  }
  QTRY_VERIFY(up.server.left() >= 5);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(5));
  QCOMPARE(running.all<trace::RunFinished>().back().outcome, trace::RunOutcome::Stopped);
  QTRY_VERIFY(openDescriptors() <= before + 1);
  QCOMPARE(running.gateway->upstreams().front().running, std::size_t(0));
}

void TestGateway::ordersForTheCache() {
  Fake up([&](const std::string&) { return chatReply("yes", 10, 4); });
  Running running({up.server.address()});
  QVERIFY(running.gateway->awaitFacts(kMost));
  const std::vector<std::string> texts{std::string(40, 'a'), std::string(40, 'b'), std::string(40, 'c'), "q"};
  // The plain request fills the cache.
  QCOMPARE(running.post(chatOf({texts[2], texts[0], texts[1], "p"})).status, 200);
  QVERIFY(running.post(chatOf({texts[2], texts[0], texts[1], "p"})).headers.count("x-spanscope-order") == 0);
  const HttpAnswer answer = running.post(chatOf(texts, R"("spanscope":{"plus":[[0,1,2]]},"seed":7,)"));
  QCOMPARE(answer.status, 200);
  const std::string order = answer.headers.at("x-spanscope-order");
  QVERIFY2(order.find("child 3, child 1, child 2") != std::string::npos, order.c_str());
  const std::string request = up.last();
  const Json body = Json::parse(request.substr(request.find("\r\n\r\n") + 4));
  QVERIFY(!body.contains("spanscope"));
  QCOMPARE(body["seed"].get<int>(), 7);
  QCOMPARE(body["messages"][0]["content"].get<std::string>(), texts[2]);
  QCOMPARE(body["messages"][3]["content"].get<std::string>(), texts[3]);
  // The run has the query as written.
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(3));
  const std::string query = running.all<trace::RunStarted>().back().queryJson;
  const std::string plus = "{\"plus\":[{\"user\":\"aaa";
  QVERIFY2(query.find(plus) != std::string::npos, query.c_str());
}

/// The note is a message of the body and of the prompt.
void TestGateway::notesTheWrittenOrder() {
  Fake up([&](const std::string&) { return chatReply("yes", 10, 4); });
  Running running({up.server.address()},
                  [](GatewayConfig& config) { config.upstreams.front().hasOrderNote = true; });
  QVERIFY(running.gateway->awaitFacts(kMost));
  const std::vector<std::string> texts{std::string(40, 'a'), std::string(40, 'b'), std::string(40, 'c'), "q"};
  QCOMPARE(running.post(chatOf({texts[2], texts[0], texts[1], "p"})).status, 200);
  const std::string marked = R"("spanscope":{"plus":[[0,1,2]]},)";
  QCOMPARE(running.post(chatOf(texts, marked)).status, 200);
  const std::string request = up.last();
  const Json body = Json::parse(request.substr(request.find("\r\n\r\n") + 4));
  QCOMPARE(body["messages"].size(), std::size_t(5));
  QCOMPARE(body["messages"][2]["content"].get<std::string>(), texts[1]);
  const auto note = body["messages"][3]["content"].get<std::string>();
  QVERIFY2(note.ends_with("2, 3, 1."), note.c_str());
  QCOMPARE(body["messages"][4]["content"].get<std::string>(), texts[3]);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(2));
  std::string prompt;
  for (const trace::SegmentInfo& segment : running.all<trace::SpanTableLaidOut>().back().segments)
    for (const std::string& text : segment.texts) prompt += text;
  QVERIFY2(prompt.find(note) != std::string::npos, prompt.c_str());
  const trace::PromptDivided sections = running.all<trace::PromptDivided>().back();
  const auto isNote = [](const trace::PartInfo& part) { return part.node == "/g/input/cross/0"; };
  QCOMPARE(std::ranges::count_if(sections.parts, isNote), 1);
  // The written order has no note.
  running.post(chatOf({texts[2], texts[0], texts[1], "p"}, marked));
  const std::string kept = up.last();
  QCOMPARE(Json::parse(kept.substr(kept.find("\r\n\r\n") + 4))["messages"].size(), std::size_t(4));
}

void TestGateway::wrongMarksAreRefused() {
  Fake up([&](const std::string&) { return chatReply("yes", 10, 4); });
  Running running({up.server.address()});
  const HttpAnswer answer = running.post(chatOf({"a", "b"}, "\"spanscope\":{\"plus\":[[1]]},"));
  QCOMPARE(answer.status, 400);
  QCOMPARE(Json::parse(answer.body)["error"]["param"].get<std::string>(), std::string("spanscope.plus"));
  QCOMPARE(up.count(), std::size_t(0));
}

/// A prompt counts as cached only if the server has computed the prompt.
void TestGateway::failedPromptsAreNotCached_data() {
  QTest::addColumn<QByteArray>("answer");
  QTest::addColumn<bool>("isCached");
  const auto refusal = [](const char* status) {
    const QByteArray body = R"({"error":{"message":"no"}})";
    return QByteArray("HTTP/1.1 ") + status + "\r\nContent-Length: " + QByteArray::number(body.size()) +
           "\r\n\r\n" + body;
  };
  const std::string whole = chatReply("yes", 44, 0);
  const auto stream = [](const std::string& chunks) {
    return QByteArray::fromStdString(kStreamHead + chunks);
  };
  QTest::newRow("refused") << refusal("400 Bad Request") << false;
  QTest::newRow("too many requests") << refusal("429 Too Many") << false;
  QTest::newRow("error of the server") << refusal("500 Error") << false;
  QTest::newRow("no answer") << QByteArray() << false;
  QTest::newRow("half a head") << QByteArray("HTTP/1.1 200 OK\r\nContent-") << false;
  QTest::newRow("error with status 200")
      << QByteArray::fromStdString(reply(R"({"error":{"message":"no","type":"x"}})")) << false;
  QTest::newRow("stream without text") << stream("40\r\ndata: {") << false;
  QTest::newRow("stream after the first text") << stream(chunk(dataOf("a")) + "40\r\ndata: {") << true;
  QTest::newRow("whole answer") << QByteArray::fromStdString(whole) << true;
}

void TestGateway::failedPromptsAreNotCached() {
  QFETCH(QByteArray, answer);
  QFETCH(bool, isCached);
  std::atomic<bool> fails = true;
  Fake up([&](const std::string&) {
    return fails.exchange(false) ? answer.toStdString() : chatReply("yes", 44, 0);
  });
  Running running({up.server.address()});
  QVERIFY(running.gateway->awaitFacts(kMost));
  const std::string body = chatOf({std::string(39, 'a')}, "\"stream\":true,");
  running.post(body);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(1));
  const bool isSaid =
      std::ranges::any_of(running.all<trace::MessageLogged>(), [](const trace::MessageLogged& message) {
        return message.severity == Severity::Note && message.text.find("cached") != std::string::npos;
      });
  const bool isPredicted = answer.contains("prompt_tokens");
  QCOMPARE(isSaid, !isCached || isPredicted);
  running.post(body);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(2));
  const std::int64_t cached = running.all<trace::RequestAdmitted>().back().cachedTokens;
  QCOMPARE(cached, std::int64_t(isCached ? 40 : 0));
  QVERIFY(!running.gateway->recorders().front()->contradiction());
}

/// The note about the prompt of a span query: a refusal is known, a lost connection is not.
void TestGateway::refusedQueriesAreKnown() {
  std::string answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
  std::vector<std::string> notes;
  for (const std::string& given : {answer, std::string("HTTP/1.1 200 OK\r\nContent-")}) {
    Fake up([&](const std::string&) { return given; });
    Running running({up.server.address()});
    QVERIFY(running.gateway->awaitFacts(kMost));
    running.post(R"({"g":{"model":"m","max_tokens":4,"input":{"user":"hello"}}})", {}, "/v1/query/execute");
    QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(1));
    for (const trace::MessageLogged& message : running.all<trace::MessageLogged>())
      if (message.severity == Severity::Note && message.text.find("cached") != std::string::npos)
        notes.push_back(message.text);
  }
  QCOMPARE(notes.size(), std::size_t(2));
  QVERIFY(notes[0] != notes[1]);
}

/// The server refuses a prompt after it has answered another prompt. Both prompts were in the simulated
/// cache.
void TestGateway::lateRefusalsLeaveNothing() {
  std::atomic<bool> isReleased = false;
  Fake* server = nullptr;
  Fake up([&](const std::string& request) {
    if (request.find("late") == std::string::npos) return chatReply("yes", 44, 0);
    while (!isReleased && !server->server.isEnding()) std::this_thread::yield();
    return std::string("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  });
  server = &up;
  Running running({up.server.address()});
  QVERIFY(running.gateway->awaitFacts(kMost));
  const std::string kept = chatOf({std::string(39, 'b')});
  // The two prompts begin alike.
  const std::string late = chatOf({std::string(20, 'b') + std::string(20, 'c')}, "\"user\":\"late\",");
  const std::string again = chatOf({std::string(20, 'b') + std::string(20, 'c')});
  HttpClient waiting(running.gateway->port());
  QVERIFY(waiting.send(requestText("POST", "/v1/chat/completions", late)));
  QTRY_COMPARE(up.count(), std::size_t(1));
  QCOMPARE(running.post(kept).status, 200);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(1));
  // The prompt in progress counts as computed.
  QCOMPARE(running.all<trace::RequestAdmitted>().back().cachedTokens, std::int64_t(20));
  isReleased = true;
  QVERIFY(!readAll(waiting).empty());
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(2));
  const auto cachedOf = [&](const std::string& body, std::size_t runs) {
    running.post(body);
    return QTest::qWaitFor([&] { return running.all<trace::RunFinished>().size() == runs; }, 10'000)
               ? running.all<trace::RequestAdmitted>().back().cachedTokens
               : -1;
  };
  QCOMPARE(cachedOf(again, 3), std::int64_t(20));
  QCOMPARE(cachedOf(kept, 4), std::int64_t(40));
  QVERIFY(!running.gateway->recorders().front()->contradiction());
  // The trace has the pool of a cache that never had the refused prompt.
  Running other({up.server.address()});
  QVERIFY(other.gateway->awaitFacts(kMost));
  for (const std::string& body : {kept, again, kept}) QCOMPARE(other.post(body).status, 200);
  QTRY_COMPARE(other.all<trace::RunFinished>().size(), std::size_t(3));
  const auto keysOf = [](const Running& own) {
    std::vector<std::uint64_t> keys;
    for (const trace::BlockState& block : own.gateway->recorders().front()->pool().blocks)
      if (block.cached) keys.push_back(block.key.low);
    std::ranges::sort(keys);
    return keys;
  };
  QCOMPARE(keysOf(running), keysOf(other));
}

void TestGateway::recordsRuns() {
  Fake up([&](const std::string&) { return chatReply("yes", 44, 40); });
  Running running({up.server.address()});
  QVERIFY(running.gateway->awaitFacts(kMost));
  const std::string text(39, 'a');
  // The template writes "U:", the text, a line break, and "A:".
  for (int i = 0; i < 2; ++i) QCOMPARE(running.post(chatOf({text})).status, 200);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(2));
  QCOMPARE(running.all<trace::SessionStarted>().size(), std::size_t(1));
  QCOMPARE(running.all<trace::SessionStarted>().front().pool.blockSize, 4);
  const auto admitted = running.all<trace::RequestAdmitted>();
  QCOMPARE(admitted.size(), std::size_t(2));
  QCOMPARE(admitted[0].promptTokens, std::int64_t(44));
  QCOMPARE(admitted[0].cachedTokens, std::int64_t(0));
  QCOMPARE(admitted[1].cachedTokens, std::int64_t(40));
  const auto lookups = running.all<trace::BlockLookedUp>();
  QCOMPARE(lookups.size(), std::size_t(22));
  QCOMPARE(lookups.front().reason, trace::MissReason::NeverSeen);
  QCOMPARE(lookups.back().reason, trace::MissReason::LastToken);
  const auto reported = running.all<trace::ServerReported>();
  QCOMPARE(reported.back().cachedTokens, std::int64_t(40));
  // The answer was not streamed, so its tokens have no times.
  QVERIFY(!reported.back().timeToFirstToken);
  QCOMPARE(running.all<trace::StepMetrics>().back().interTokenLatency, 0.0);
  QCOMPARE(running.all<trace::RunFinished>().back().answer, std::string("yes"));
  bool isCompared = false;
  for (const trace::MessageLogged& message : running.all<trace::MessageLogged>())
    isCompared |= message.text.find("40 of 44 prompt tokens cached") != std::string::npos;
  QVERIFY(isCompared);
  // The list has the request with its events.
  const auto list = running.gateway->requests().list();
  QCOMPARE(list.size(), std::size_t(2));
  QCOMPARE(list.back().state, server::RequestState::Finished);
  QVERIFY(!running.gateway->requests().find(list.back().number).events.empty());
  QVERIFY(!running.gateway->recorders().front()->contradiction());
}

void TestGateway::recordsNoSecrets() {
  const std::string key = "sk-0123456789-secret";
  Fake up([&](const std::string& request) {
    const bool isWrong = request.find("wrong") != std::string::npos;
    const std::string body = R"({"error":{"message":"The key )" + key + R"( is not known."}})";
    return isWrong ? "HTTP/1.1 401 No\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body
                   : chatReply("the key is " + key, 10, 4);
  });
  Running running({up.server.address()});
  const server::test::Headers headers{"Authorization: Bearer " + key};
  QCOMPARE(running.post(chatOf({"right"}), headers).status, 200);
  QCOMPARE(running.post(chatOf({"wrong"}), headers).status, 401);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(2));
  QVERIFY(running.log.find(key) == std::string::npos);
  for (const trace::MessageLogged& message : running.all<trace::MessageLogged>())
    QVERIFY(message.text.find(key) == std::string::npos);
  QVERIFY(running.all<trace::ServerReported>().back().brokenBy.find(key) == std::string::npos);
}

void TestGateway::logsForTheDoctor() {
  Fake up([&](const std::string&) { return chatReply("yes", 44, 40); });
  Running running({up.server.address()});
  QVERIFY(running.gateway->awaitFacts(kMost));
  for (int i = 0; i < 2; ++i) QCOMPARE(running.post(chatOf({std::string(39, 'a')})).status, 200);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(2));
  std::string log;
  QTRY_VERIFY(([&] {
    const std::lock_guard lock(running.mutex);
    log = running.log;
    return std::count(log.begin(), log.end(), '\n') == 2;
  }()));
  const doctor::LogReader reader({{.name = "log", .text = log}});
  std::vector<doctor::LoggedRequest> requests;
  std::vector<std::string> problems;
  reader.read([&](doctor::LoggedRequest&& request) { requests.push_back(std::move(request)); },
              [&](const doctor::LogProblem& problem) { problems.push_back(problem.found); });
  QVERIFY(problems.empty());
  QCOMPARE(requests.size(), std::size_t(2));
  QCOMPARE(requests.back().usage.cached.value_or(-1), std::int64_t(40));
  QVERIFY(requests.back().time.has_value());
  // The requests ran one after the other.
  for (const doctor::LoggedRequest& request : requests)
    QVERIFY(request.running && request.running->isExact && request.running->end >= request.running->begin);
  QVERIFY(requests[0].running->surelyUntil() <= requests[1].running->begin);
  QCOMPARE(running.all<trace::RequestPassed>().size(), std::size_t(2));
  const remote::ServerFacts facts = running.gateway->upstreams().front().facts;
  QCOMPARE(requests.back().server.kind, std::string(remote::infoOf(facts.kind).name));
}

/// The log has the words of the server about an error, and the recording knows what its query lacks.
void TestGateway::logsOfFailures() {
  Fake up([](const std::string&) {
    const std::string body = R"({"error":{"message":"No model \"m\"."}})";
    return "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  });
  Running running({up.server.address()});
  QCOMPARE(running.post(chatOf({"a"}, R"("tools":[{"type":"function"}],)")).status, 404);
  QTRY_COMPARE(running.all<trace::RunFinished>().size(), std::size_t(1));
  std::string log;
  QTRY_VERIFY(([&] {
    const std::lock_guard lock(running.mutex);
    log = running.log;
    return !log.empty();
  }()));
  std::string problem;
  const auto requests = doctor::requestsOf(log, problem);
  QCOMPARE(requests.size(), std::size_t(1));
  QCOMPARE(requests[0].failure, std::string("status 404: No model \"m\""));
  QVERIFY(!running.all<trace::RequestPassed>().front().missing.empty());
}

void TestGateway::sendsToTheServerWithTheCache() {
  const auto answer = [](const std::string&) { return chatReply("yes", 10, 4); };
  Fake first(answer);
  Fake second(answer);
  Running running({first.server.address(), second.server.address()});
  QVERIFY(running.gateway->awaitFacts(kMost));
  const std::string a(100, 'a');
  const std::string b(100, 'b');
  QCOMPARE(running.post(chatOf({a})).status, 200);
  QCOMPARE(running.post(chatOf({b})).status, 200);
  QCOMPARE(first.count(), std::size_t(1));
  QCOMPARE(second.count(), std::size_t(1));
  for (int i = 0; i < 3; ++i) QCOMPARE(running.post(chatOf({b, "more"})).status, 200);
  QCOMPARE(first.count(), std::size_t(1));
  QCOMPARE(second.count(), std::size_t(4));
  QCOMPARE(running.post(chatOf({a, "more"})).status, 200);
  QCOMPARE(first.count(), std::size_t(2));
}

void TestGateway::isFairUnderLoad() {
  const auto slow = [](const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return chatReply("yes", 10, 4);
  };
  Fake first(slow);
  Fake second(slow);
  Running running({first.server.address(), second.server.address()},
                  [](GatewayConfig& config) { config.mostAhead = 1; });
  QVERIFY(running.gateway->awaitFacts(kMost));
  const std::string text(100, 'a');
  QCOMPARE(running.post(chatOf({text})).status, 200);
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&] { answered += running.post(chatOf({text, "x"})).status == 200 ? 1 : 0; });
  for (std::thread& client : clients) client.join();
  QCOMPARE(answered.load(), 8);
  QVERIFY(second.count() >= 2);
  QVERIFY(first.count() >= 2);
}

void TestGateway::failingServersAreSkipped() {
  Fake up([](const std::string&) { return chatReply("yes", 10, 4); });
  Running running({"http://127.0.0.1:" + std::to_string(remote::test::closedPort()), up.server.address()});
  for (int i = 0; i < 3; ++i) QCOMPARE(running.post(chatOf({"a"})).status, 200);
  QCOMPARE(up.count(), std::size_t(3));
  QVERIFY(!running.gateway->upstreams().front().problem.empty());
}

void TestGateway::answersSpanQueries() {
  Fake up([](const std::string& request) {
    return request.find("\"stream\":true") == std::string::npos
               ? chatReply("yes", 10, 4)
               : kStreamHead + chunk(dataOf("Lis")) + chunk(dataOf("bon")) +
                     chunk(
                         "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n") +
                     chunk("data: [DONE]\n\n") + "0\r\n\r\n";
  });
  Running running({up.server.address()});
  QVERIFY(running.gateway->awaitFacts(kMost));
  const std::string query =
      R"({"g":{"model":"m","max_tokens":8,"input":{"cross":[{"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]}}})";
  const HttpAnswer whole = running.post(query, {}, "/v1/query/execute?stream=false");
  QCOMPARE(whole.status, 200);
  QCOMPARE(Json::parse(whole.body)["choices"][0]["message"]["content"].get<std::string>(),
           std::string("Lisbon"));
  const HttpAnswer streamed = running.post(query, {}, "/v1/query/execute?stream=true");
  QCOMPARE(streamed.status, 200);
  QVERIFY(streamed.isWhole);
  std::string text;
  for (const std::string& data : server::test::eventsIn(streamed.body))
    if (data != "[DONE]") text += Json::parse(data)["choices"][0].value("text", "");
  QCOMPARE(text, std::string("Lisbon"));
  QCOMPARE(running.all<trace::RunFinished>().size(), std::size_t(2));
  QCOMPARE(running.post("{}", {}, "/v1/query/execute").status, 400);
}

void TestGateway::limitsAndAccess() {
  Fake up([](const std::string&) { return chatReply("yes", 10, 4); });
  Running running({up.server.address()}, [](GatewayConfig& config) {
    config.limits.bodyBytes = 1000;
    config.limits.headBytes = 2000;
    config.keys = {"0123456789abcdef"};
    config.upstreams.front().access.key = "key-of-upstream";
  });
  const server::test::Headers key{"Authorization: Bearer 0123456789abcdef"};
  QCOMPARE(running.post(chatOf({"a"})).status, 401);
  QCOMPARE(running.post(chatOf({"a"}), key).status, 200);
  QVERIFY(up.last().find("0123456789abcdef") == std::string::npos);
  QVERIFY(up.last().find("Authorization: Bearer key-of-upstream\r\n") != std::string::npos);
  QCOMPARE(running.post(chatOf({std::string(2000, 'a')}), key).status, 413);
  QCOMPARE(running.post(chatOf({"a"}), {key.front(), "X-Long: " + std::string(3000, 'x')}).status, 431);
  QCOMPARE(running.post(chatOf({"a"}), {key.front(), "Host: evil.example"}).status, 403);
  QCOMPARE(running.post(chatOf({"a"}), {key.front(), "Origin: https://evil.example"}).status, 403);
}

void TestGateway::slowClientsBlockNobody() {
  Fake up([](const std::string&) { return chatReply("yes", 10, 4); });
  Running running({up.server.address()});
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<HttpClient>(running.gateway->port()));
    QVERIFY(slow.back()->send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99"));
  }
  QElapsedTimer timer;
  timer.start();
  QCOMPARE(running.post(chatOf({"a"})).status, 200);
  QVERIFY(timer.elapsed() < 5000);
}

SPANSCOPE_TEST(tst_gateway, TestGateway)
#include "tst_gateway.moc"
