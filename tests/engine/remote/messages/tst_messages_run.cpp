// SPDX-License-Identifier: GPL-3.0-or-later
// Anthropic's Messages API: what is sent, and what vLLM 0.32, llama-server and Anthropic answer.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/answer_reader.h"
#include "engine/remote/chat/remote_run.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace spanscope;
using Json = nlohmann::json;
using remote::ChatAnswer;
using remote::ServerKind;
using remote::test::http;
using remote::test::Server;

namespace {

const remote::Protocol& messages() {
  return *remote::findProtocol("messages");
}

std::vector<exports::ChatRequest> messageRequests(const char* json) {
  return exports::chatRequests(*query::parseJson(json).query, 7).requests;
}

QByteArray messageEvent(const char* name, const QByteArray& data) {
  return "event: " + QByteArray(name) + "\ndata: " + data + "\n\n";
}

QByteArray blockDelta(const QByteArray& of) {
  return messageEvent("content_block_delta",
                      R"({"type":"content_block_delta","index":0,"delta":{)" + of + "}}");
}

const QByteArray kMessageStop = messageEvent("message_stop", R"({"type":"message_stop"})");

// As the servers wrote them.
const QByteArray kVllm =
    messageEvent(
        "message_start",
        R"({"type":"message_start","message":{"id":"c","type":"message","role":"assistant","content":[],)"
        R"("model":"smol","stop_reason":null,"usage":{"input_tokens":36,"output_tokens":0}}})") +
    messageEvent("content_block_start",
                 R"({"type":"content_block_start","content_block":{"type":"text","text":""},"index":0})") +
    blockDelta(R"("type":"text_delta","text":"Yes")") + blockDelta(R"("type":"text_delta","text":".")") +
    messageEvent("content_block_stop", R"({"type":"content_block_stop","index":0})") +
    messageEvent(
        "message_delta",
        R"({"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":)"
        R"({"input_tokens":4,"output_tokens":2,"cache_creation_input_tokens":32,"cache_read_input_tokens":0}})") +
    kMessageStop;
const QByteArray kLlama =
    messageEvent(
        "message_start",
        R"({"type":"message_start","message":{"type":"message","role":"assistant","content":[],"model":"m",)"
        R"("usage":{"cache_read_input_tokens":27,"input_tokens":1,"output_tokens":0}}})") +
    blockDelta(R"("type":"text_delta","text":"L")") + blockDelta(R"("type":"text_delta","text":"is")") +
    messageEvent("message_delta", R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},)"
                                  R"("usage":{"output_tokens":2}})") +
    kMessageStop;
const QByteArray kThinking =
    messageEvent(
        "message_start",
        R"({"type":"message_start","message":{"type":"message","role":"assistant","content":[],"model":"m",)"
        R"("usage":{"input_tokens":9,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,)"
        R"("output_tokens":1}}})") +
    messageEvent("ping", R"({"type": "ping"})") +
    messageEvent(
        "content_block_start",
        R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}})") +
    blockDelta(R"("type":"thinking_delta","thinking":"Let me")") +
    blockDelta(R"("type":"signature_delta","signature":"Eqo")") +
    messageEvent(
        "content_block_start",
        R"({"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"E"}})") +
    messageEvent("content_block_start",
                 R"({"type":"content_block_start","index":2,"content_block":{"type":"text","text":"A"}})") +
    blockDelta(R"("type":"text_delta","text":" \ud83e")") +
    blockDelta(R"("type":"text_delta","text":"\udd99")") +
    messageEvent(
        "message_delta",
        R"({"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}})") +
    kMessageStop;
const QByteArray kWholeMessage =
    R"({"id":"c","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm"},)"
    R"({"type":"text","text":"Lisbon"}],"model":"m","stop_reason":"end_turn","stop_sequence":null,)"
    R"("usage":{"cache_read_input_tokens":27,"input_tokens":1,"output_tokens":5}})";

struct MessageReading {
  ChatAnswer answer;
  std::string pieces;
  std::string error;  ///< empty: it is an answer
};

MessageReading readMessage(const QByteArray& body, const remote::Protocol& protocol = messages()) {
  std::vector<ChatAnswer> answers(1);
  MessageReading reading;
  remote::AnswerReader reader(*protocol.answers, answers, {},
                              [&reading](const std::vector<remote::AnswerText>& came) {
                                for (const remote::AnswerText& text : came) reading.pieces += text.piece;
                              });
  try {
    reader.add(body.toStdString());
    reader.end();
    if (const std::optional<Error> problem = remote::problemOf(answers.front()))
      reading.error = problem->message();
  } catch (const Failure& failure) {
    reading.error = failure.what();
  }
  reading.answer = answers.front();
  return reading;
}

Json messageBody(const exports::ChatRequest& request, ServerKind kind = ServerKind::OpenAi,
                 std::optional<std::int64_t> context = {}) {
  const std::vector<std::string> replies;
  const std::string model = "m";
  return Json::parse(messages()
                         .write({.request = request,
                                 .replies = replies,
                                 .model = model,
                                 .kind = remote::infoOf(kind),
                                 .prompt = {},
                                 .context = context})
                         .body);
}

}  // namespace

class TestMessagesRun : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answers_data() {
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("reasoning");
    QTest::addColumn<QString>("finish");
    QTest::addColumn<QList<qint64>>("counts");  // prompt, cached, written, generated
    const auto row = [](const char* name, const QByteArray& body, const char* text, const char* reasoning,
                        const char* finish, const QList<qint64>& counts) {
      QTest::newRow(name) << body << QString::fromUtf8(text) << QString(reasoning) << QString(finish)
                          << counts;
    };
    row("vLLM", kVllm, "Yes.", "", "end_turn", {36, 0, 32, 2});
    row("llama-server", kLlama, "Lis", "", "max_tokens", {28, 27, -1, 2});
    row("thinking", kThinking, "A 🦙", "Let me", "end_turn", {1109, 1000, 100, 20});
    row("in one piece", kWholeMessage, "Lisbon", "Hm", "end_turn", {28, 27, -1, 5});
    row("nothing is said of the cache",
        R"({"type":"message","role":"assistant","content":[{"type":"text","text":"a"}],"stop_reason":)"
        R"("stop_sequence","usage":{"input_tokens":3,"output_tokens":1}})",
        "a", "", "stop_sequence", {3, -1, -1, 1});
    row("without the end of the stream", QByteArray(kVllm).replace(kMessageStop, {}), "Yes.", "", "end_turn",
        {36, 0, 32, 2});
  }
  void answers() {
    QFETCH(QByteArray, body);
    QFETCH(QString, text);
    QFETCH(QString, reasoning);
    QFETCH(QString, finish);
    QFETCH(QList<qint64>, counts);
    const MessageReading reading = readMessage(body);
    QCOMPARE(QString::fromStdString(reading.error), QString());
    const ChatAnswer& answer = reading.answer;
    QCOMPARE(QString::fromStdString(answer.text), text);
    QCOMPARE(reading.pieces, answer.text);
    QCOMPARE(QString::fromStdString(answer.reasoning), reasoning);
    QCOMPARE(QString::fromStdString(answer.finish), finish);
    QCOMPARE((QList<qint64>{answer.promptTokens.value_or(-1), answer.cachedTokens.value_or(-1),
                            answer.writtenTokens.value_or(-1), answer.generatedTokens.value_or(-1)}),
             counts);
  }

  void whatIsNoAnswer_data() {
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const QByteArray& body, const char* said) {
      QTest::newRow(name) << body << QString(said);
    };
    const QByteArray begin = kVllm.left(kVllm.indexOf("event: content_block_stop"));
    row("an error of the stream",
        begin +
            messageEvent("error",
                         R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"),
        "Overloaded");
    row("an error without a name",
        R"(data: {"type":"error","error":{"type":"api_error","message":"no GPU"}})"
        "\n\n",
        "no GPU");
    row("a refusal", QByteArray(kVllm).replace("end_turn", "refusal"), "refusal");
    row("a break", begin, "<stream-ended-before>");
    row("thoughts alone",
        R"({"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm"}],)"
        R"("stop_reason":"max_tokens"})",
        "max_tokens");
    row("a call of a tool",
        R"({"type":"message","role":"assistant","content":[{"type":"tool_use","id":"t","name":"weather",)"
        R"("input":{}}],"stop_reason":"tool_use"})",
        "weather");
    row("nothing", R"({"type":"message","role":"assistant","content":[],"stop_reason":"end_turn"})",
        "end_turn");
    row("a chat completion",
        R"({"choices":[{"index":0,"message":{"content":"Yes"},"finish_reason":"stop"}]})", "OpenAI");
    row("an empty body", "", "empty");
  }
  void whatIsNoAnswer() {
    QFETCH(QByteArray, body);
    QFETCH(QString, said);
    const MessageReading reading = readMessage(body);
    QVERIFY2(spanscope::product_text::says(reading.error, said), reading.error.c_str());
  }

  /// A request in another protocol gets the name of the protocol that reads it.
  void messagesAreNoChat() {
    for (const QByteArray& body : {kVllm, kWholeMessage}) {
      const MessageReading reading = readMessage(body, remote::chatProtocol());
      QVERIFY2(reading.error.find("messages") != std::string::npos, reading.error.c_str());
    }
  }

  void theSystemIsApart() {
    const auto requests =
        messageRequests(R"({"g":{"model":"m","max_tokens":5,"temperature":0.5,"input":{"cross":[)"
                        R"({"system":"You answer."},{"system":"Be short."},{"user":"Where?"},)"
                        R"({"user":"And when?"},{"system":"Hurry."}]}}})");
    const Json body = messageBody(requests.front());
    const Json expected =
        Json::parse(R"({"model":"m","max_tokens":5,"system":"You answer.\n\nBe short.","messages":[)"
                    R"({"role":"user","content":"Where?"},{"role":"user","content":"And when?"},)"
                    R"({"role":"system","content":"Hurry."}],"temperature":0.5,"stream":true})");
    QCOMPARE(QString::fromStdString(body.dump()), QString::fromStdString(expected.dump()));
    const auto alone = messageRequests(R"({"g":{"model":"m","input":{"system":"You answer."}}})");
    QVERIFY_EXCEPTION_THROWN(messageBody(alone.front()), Failure);
  }

  /// The API requires a limit, which must leave room for the prompt.
  void withoutALimitItGetsTheContext() {
    const auto request = messageRequests(R"({"g":{"model":"m","input":{"user":"Where?"}}})").front();
    QVERIFY(messageBody(request)["max_tokens"].get<int>() > 1000);
    const int limit = messageBody(request, ServerKind::Vllm, 8192)["max_tokens"].get<int>();
    QVERIFY(limit > 8000 && limit < 8192);
    QVERIFY(messageBody(request, ServerKind::Vllm, 10)["max_tokens"].get<int>() >= 1);
  }

  /// Anthropic wants its own header for the key; other servers take a bearer token.
  void theKeyAndTheVersionAreSent_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<bool>("hasBearer");
    QTest::newRow("Anthropic") << static_cast<int>(ServerKind::OpenAi) << false;
    QTest::newRow("vLLM") << static_cast<int>(ServerKind::Vllm) << true;
  }
  void theKeyAndTheVersionAreSent() {
    QFETCH(int, kind);
    QFETCH(bool, hasBearer);
    Server server(QByteArray("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") + kVllm);
    remote::RemoteTarget target{
        .name = "here",
        .server = {.url = server.address(), .model = {}, .access = {.key = "sk-1"}},
        .facts = {.kind = static_cast<ServerKind>(kind), .version = {}, .models = {{"m", {}}}, .slots = {}}};
    target.protocol = &messages();
    remote::HttpClient client;
    remote::RemoteWatcher watcher;
    const remote::RemoteResult result = remote::runRemotely(
        client, {target}, {}, messageRequests(R"({"g":{"model":"m","max_tokens":5,"input":{"user":"a"}}})"),
        watcher);
    QVERIFY2(!result.error, result.error ? result.error->message().c_str() : "");
    QCOMPARE(result.steps.at(0).answer.text, std::string("Yes."));
    QVERIFY(result.steps[0].cached.state == remote::CachedState::MeasuredZero);
    const QByteArray request = server.request();
    QVERIFY(request.startsWith("POST /v1/messages "));
    QVERIFY(request.contains("x-api-key: sk-1\r\n") && request.contains("anthropic-version: 2023-06-01\r\n"));
    QCOMPARE(request.contains("Authorization: Bearer sk-1\r\n"), hasBearer);
  }

  /// A server has the endpoint if it clearly refuses an empty body there, and not everywhere.
  void itIsFound_data() {
    QTest::addColumn<int>("status");
    QTest::addColumn<int>("elsewhere");
    QTest::addColumn<bool>("isFound");
    QTest::newRow("vLLM") << 400 << 404 << true;
    QTest::newRow("llama-server") << 500 << 404 << true;
    QTest::newRow("none") << 404 << 404 << false;
    QTest::newRow("a gateway") << 400 << 400 << false;
    QTest::newRow("one that falls over everything") << 500 << 500 << false;
  }
  void itIsFound() {
    QFETCH(int, status);
    QFETCH(int, elsewhere);
    QFETCH(bool, isFound);
    Server server([=](const QByteArray& request) {
      if (request.startsWith("GET /v1/models"))
        return http(200, R"({"data":[{"id":"m","owned_by":"llamacpp"}]})");
      if (request.startsWith("GET ")) return http(404, "{}");
      return http(request.startsWith("POST /v1/messages ") ? status : elsewhere, "{}");
    });
    remote::HttpClient client;
    const remote::ServerFacts facts = remote::askServer(client, server.address() + "/messages", {});
    QCOMPARE(facts.takes("messages"), isFound);
    QCOMPARE(remote::protocolFor(facts), &remote::chatProtocol());
  }
};

SPANSCOPE_TEST(tst_messages_run, TestMessagesRun)
#include "tst_messages_run.moc"
