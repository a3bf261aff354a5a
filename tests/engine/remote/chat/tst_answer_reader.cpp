// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies of answers in every form that servers send them: each is an answer, or an error in the server's
// words. Nothing that is empty counts as an answer.
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/answer_reader.h"
#include "engine/remote/chat/remote_run.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTest>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace spanscope;
using remote::AnswerReader;
using remote::AnswerText;
using remote::ChatAnswer;

namespace {

QByteArray dataOf(const QByteArray& data) {
  return "data: " + data + "\n\n";
}

QByteArray delta(const QByteArray& fields, const char* finish = nullptr) {
  return R"({"object":"chat.completion.chunk","choices":[{"index":0,"delta":{)" + fields +
         R"(},"finish_reason":)" + (finish == nullptr ? "null" : R"(")" + QByteArray(finish) + R"(")") +
         "}]}";
}

QByteArray piece(const QByteArray& text) {
  return delta(R"("content":")" + text + R"(")");
}

QByteArray whole(const QByteArray& message, const char* finish = "\"stop\"") {
  return R"({"object":"chat.completion","choices":[{"index":0,"message":{)" + message +
         R"(},"finish_reason":)" + finish + R"(}],"usage":{"prompt_tokens":11,"completion_tokens":3}})";
}

const QByteArray kStop = delta({}, "stop");
const QByteArray kUsage = R"({"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":3}})";
const QByteArray kDone = "data: [DONE]\n\n";
const QByteArray kText = "Grüße, 日本 🦙!";

/// What is read of a body, and why it is no answer.
struct Reading {
  ChatAnswer answer;
  std::string pieces;
  std::string error;  ///< empty: it is an answer
  std::optional<std::chrono::milliseconds> patience;
};

Reading readBody(const QByteArray& body, std::size_t step, const char* protocol = "chat") {
  Reading reading;
  std::vector<ChatAnswer> answers(1);
  AnswerReader reader(*remote::findProtocol(protocol)->answers, answers, "sk-very-secret",
                      [&](const std::vector<AnswerText>& came) {
                        for (const AnswerText& text : came) reading.pieces += text.piece;
                      });
  try {
    const std::string_view bytes(body.constData(), static_cast<std::size_t>(body.size()));
    for (std::size_t i = 0; i < bytes.size(); i += step) reader.add(bytes.substr(i, step));
    reading.patience = reader.patience();
    reader.end();
    if (const std::optional<Error> problem = remote::problemOf(answers.front()))
      reading.error = problem->message();
  } catch (const Failure& failure) {
    reading.error = failure.what();
  }
  reading.answer = answers.front();
  return reading;
}

}  // namespace

class TestAnswerReader : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answers_data() {
    QTest::addColumn<QByteArray>("body");
    const auto row = [](const char* name, const QByteArray& body) { QTest::newRow(name) << body; };
    const auto asMessages = [](QByteArray events) { return events.replace("\"delta\"", "\"message\""); };
    const QByteArray begin = dataOf(delta(R"("role":"assistant","content":"")"));
    const QByteArray pieces = dataOf(piece("Grüße, ")) + dataOf(piece("日本 🦙")) + dataOf(piece("!"));
    const QByteArray end = dataOf(kStop) + dataOf(kUsage) + kDone;
    row("plain", begin + pieces + end);
    row("keep-alives as data", begin + dataOf(": keepalive") + dataOf("") + dataOf("ping") + dataOf("{}") +
                                   dataOf("null") + dataOf(R"({"type":"ping"})") +
                                   "event: ping\ndata: x\n\n" + pieces + end);
    row("words to wait by", dataOf("Waiting for a GPU") +
                                dataOf(R"({"status":"queued","message":"Waiting"})") + begin + pieces + end);
    row("no end mark", begin + pieces + dataOf(kStop));
    row("no reason", begin + pieces + kDone);
    row("after the end",
        begin + pieces + dataOf(kStop) + kDone + dataOf(piece("LATE")) + dataOf(R"({"error":"x"})"));
    row("a byte order mark", "\xEF\xBB\xBF" + begin + pieces + end);
    row("events divided by one line break", QByteArray(begin + pieces + end).replace("\n\n", "\n"));
    row("two objects in one event",
        begin + "data: " + piece("Grüße, ") + "\ndata: " + piece("日本 🦙!") + "\n\n" + end);
    row("two objects in one line", begin + dataOf(piece("Grüße, ") + piece("日本 🦙!")) + end);
    row("objects in a line each",
        piece("Grüße, ") + "\n" + piece("日本 🦙!") + "\n" + kStop + "\n[DONE]\n");
    row("objects in a list",
        "[" + piece("Grüße, ") + ",\r\n" + piece("日本 🦙!") + ",\r\n" + kStop + "]");
    row("one object", whole(R"("role":"assistant","content":")" + kText + R"(")"));
    row("one object without a reason", "\n " + whole(R"("content":")" + kText + R"(")", "null"));
    row("one object as an event", dataOf(whole(R"("content":")" + kText + R"(")")) + kDone);
    row("messages in place of deltas", asMessages(begin + pieces + end));
    row("messages that grow",
        asMessages(begin + dataOf(piece("Grüße, ")) + dataOf(piece("Grüße, 日本 🦙")) +
                   dataOf(piece(kText)) + dataOf(delta(R"("content":")" + kText + R"(")", "stop"))));
    row("a message beside the delta",
        dataOf(piece("Grüße, ").replace("\"delta\"", R"("message":{"content":"Grüße, "},"delta")")) +
            dataOf(piece("日本 🦙!")
                       .replace("\"delta\"", R"("message":{"content":")" + kText + R"("},"delta")")) +
            end);
    row("the whole message at the end",
        begin + pieces + dataOf(whole(R"("content":")" + kText + R"(")")) + kDone);
    row("content as a list", dataOf(delta(R"("content":[{"type":"text","text":"Grüße, "}])")) +
                                 dataOf(delta(R"("content":[{"type":"text","text":"日本 🦙"},"!"])")) +
                                 end);
    row("thoughts in the list",
        whole(
            R"("content":[{"type":"thinking","thinking":[{"type":"text","text":"x"}]},{"type":"text","text":")" +
            kText + R"("}])"));
    row("a delta that is a text",
        dataOf(R"({"choices":[{"delta":")" + kText + R"(","finish_reason":"stop"}]})"));
    row("a completion", dataOf(R"({"choices":[{"text":")" + kText + R"(","finish_reason":"stop"}]})"));
    row("a second choice",
        begin + pieces + dataOf(R"({"choices":[{"index":1,"delta":{"content":"other"}}]})") + end);
    const auto inChoice = [](QByteArray events, const char* index) {
      return events.replace("\"index\":0", QByteArray("\"index\":") + index);
    };
    row("a second choice that comes first", inChoice(dataOf(piece("other")), "1") + begin +
                                                inChoice(dataOf(piece(" words")), "1") + pieces +
                                                inChoice(dataOf(delta({}, "stop")), "1") + end);
    row("a second choice with an error",
        dataOf(R"({"choices":[{"index":1,"error":{"message":"lost"}}]})") + begin + pieces + end);
    row("a lone choice of another index", inChoice(begin + pieces + end, "1"));
    row("a lone choice of another index without an end mark", inChoice(begin + pieces + dataOf(kStop), "3"));
    row("an object with a choice of another index", inChoice(whole(R"("content":")" + kText + R"(")"), "1"));
    row("surrogates", begin + dataOf(piece(R"(Gr\u00fc\u00dfe, \u65e5\u672c \ud83e\udd99!)")) + end);
    row("surrogates in two events",
        begin + dataOf(piece(R"(Grüße, 日本 \ud83e)")) + dataOf(piece(R"(\udd99!)")) + end);
    row("a character in two events",
        begin + dataOf(piece("Grüße, 日本 \xF0\x9F")) + dataOf(piece("\xA6\x99!")) + end);
    row("a character in four events", begin + dataOf(piece("Grüße, 日本 \xF0")) + dataOf(piece("\x9F")) +
                                          dataOf(piece("\xA6")) + dataOf(piece("\x99!")) + end);
    row("blanks beside fields", QByteArray(begin + pieces + end).replace("data:", " data :"));
    row("a reason in every event",
        QByteArray(begin + pieces + end).replace("\"finish_reason\":null", "\"finish_reason\":\"stop\""));
    row("numbers of Python",
        begin + QByteArray(pieces).replace("\"index\":0", "\"index\":0,\"logprobs\":[NaN,-Infinity]") + end);
    row("fields of null", begin + dataOf(delta(R"("content":null,"refusal":null,"tool_calls":null)")) +
                              pieces + dataOf(R"({"error":null,"choices":null})") + end);
    row("other fields", "retry: 3000\nid: 1\nevent: message\n" + begin + ": ping\n\n" + pieces + end);
  }
  void answers() {
    QFETCH(QByteArray, body);
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{100000}}) {
      const Reading reading = readBody(body, step);
      QVERIFY2(reading.error.empty(), reading.error.c_str());
      QCOMPARE(QByteArray::fromStdString(reading.answer.text), kText);
      QCOMPARE(reading.pieces, reading.answer.text);
      QVERIFY(reading.patience || !body.contains("finish_reason\":\"stop"));
    }
  }

  void errors_data() {
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const QByteArray& body, const char* text, const char* said) {
      QTest::newRow(name) << body << QString::fromUtf8(text) << QString::fromUtf8(said);
    };
    const QByteArray half = dataOf(piece("Grü")) + dataOf(piece("ße"));
    row("a text", dataOf(R"({"error":"STREAM_EXPLODED"})") + kDone, "", "STREAM_EXPLODED");
    row("old vLLM", dataOf(R"({"object":"error","message":"context length is 2048","code":400})") + kDone, "",
        "context length is 2048");
    row("an event of errors", "event: error\ndata: {\"message\":\"Overloaded\"}\n\n", "", "Overloaded");
    row("an event of errors after text",
        half + "event: error\ndata: {\"message\":\"Overloaded\"}\n\n" + kDone, "Grüße", "Overloaded");
    row("an event of errors in words", "event: error\ndata: no memory\n\n", "", "no memory");
    row("an event of errors without words", half + "event: error\ndata:\n\n" + kDone, "Grüße", "error");
    row("the name after the data", "data: {\"message\":\"Overloaded\"}\nevent: error\n\n", "", "Overloaded");
    row("a broker's",
        dataOf(R"({"error":{"code":502,"message":"Provider returned error"},"choices":[{"index":0,"delta":)"
               R"({"content":""},"finish_reason":"error"}]})") +
            kDone,
        "", "Provider returned error");
    row("a reason", half + dataOf(delta({}, "error")) + kDone, "Grüße", "error");
    row("a filter", half + dataOf(delta({}, "content_filter")) + kDone, "Grüße", "content_filter");
    row("a field of errors", half + "error: {\"code\":500,\"message\":\"no slot\"}\n\n", "Grüße", "no slot");
    row("words", "Internal Server Error", "", "Internal Server Error");
    row("words as data", half + dataOf("Internal Server Error"), "Grüße", "Internal Server Error");
    row("words as data before the end", dataOf("upstream timed out") + kDone, "", "upstream timed out");
    row("words after text", half + "upstream reset the connection\n", "Grüße", "upstream reset");
    row("an object after text", half + "{\"error\": {\n  \"message\": \"no slot\"\n}}\n", "Grüße", "no slot");
    row("a page", "<html>\r\n<head><title>502 Bad Gateway</title></head></html>", "", "502 Bad Gateway");
    row("a page after text", half + "<html><body><h1>504 Time-out</h1></body></html>\n", "Grüße",
        "504 Time-out");
    row("an error in an object", R"({"error":{"message":"no such model"}})", "", "no such model");
    row("details in an object", R"({"detail":[{"loc":["body","seed"],"msg":"not permitted"}]})", "",
        "body.seed: not permitted");
    row("an error in a list", R"([{"error":{"message":"no quota"}}])", "", "no quota");
    row("words and an object", "Error: {\"error\":{\"message\":\"no slot\"}}", "", "no slot");
    row("keep-alives alone", ": ping\n\n: ping\n\n", "", "of the stream");
    row("another object", R"({"status":"ok"})", "", "status");
    row("half an object", whole(R"("content":"Grüße")").left(80), "", "choices");
    row("no choices", R"({"object":"chat.completion","choices":[]})", "", "without choices");
    row("no choices in a stream", dataOf(kUsage) + kDone, "", "without choices");
    row("no choices before the stream ends", dataOf(kUsage), "", "without choices");
    row("an empty body", "", "", "empty");
    row("blanks", " \n\n", "", "empty");
    row("no end", half, "Grüße", "of the stream");
    row("no text",
        dataOf(delta(R"("role":"assistant","content":"")")) + dataOf(kStop) + dataOf(kUsage) + kDone, "",
        "no text");
    row("the end alone", kDone, "", "no text");
    row("no text in one object", whole(R"("content":null)"), "", "no text");
    row("blanks alone", dataOf(piece(R"( \n )")) + dataOf(kStop) + kDone, " \n ", "empty");
    row("a number", dataOf(delta(R"("content":42)")) + dataOf(kStop) + kDone, "", "42");
    row("a number in a text", dataOf(piece("1")) + dataOf(delta(R"("content":4.5)")) + dataOf(kStop) + kDone,
        "1", "4.5");
    row("an odd object", dataOf(delta(R"("content":{"parts":7})")) + dataOf(kStop) + kDone, "", "parts");
    row("a picture alone", whole(R"("content":[{"type":"image_url","image_url":{"url":"data:,"}}])"), "",
        "image_url");
    row("another choice that breaks off", dataOf(R"({"choices":[{"index":1,"delta":{"content":"Grü"}}]})"),
        "Grü", "of the stream");
    row("another choice with an error",
        dataOf(R"({"choices":[{"index":1,"delta":{},"error":{"message":"lost"}}]})") + kDone, "", "lost");
    row("a refusal",
        dataOf(delta(R"("refusal":"I cannot ")")) + dataOf(delta(R"("refusal":"help.")")) + dataOf(kStop) +
            kDone,
        "", "I cannot help.");
    row("reasoning alone",
        dataOf(delta(R"("reasoning_content":"Let me ")")) +
            dataOf(delta(R"("reasoning_content":"think")", "length")) + kDone,
        "", "reasoning");
    row("a call of a tool",
        dataOf(delta(
            R"("content":null,"tool_calls":[{"index":0,"function":{"name":"weather","arguments":"{}"}}])")) +
            dataOf(delta({}, "tool_calls")) + kDone,
        "", "weather");
    row("a damaged object", half + dataOf(R"({"choices":[{"delta":)"), "Grüße", "JSON");
    row("half a character at the end", dataOf(piece("Grüße\xF0\x9F")) + dataOf(R"({"error":"x y z"})"),
        "Grüße", "x y z");
  }
  void errors() {
    QFETCH(QByteArray, body);
    QFETCH(QString, text);
    QFETCH(QString, said);
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{100000}}) {
      const Reading reading = readBody(body, step);
      QVERIFY(!reading.error.empty());
      QVERIFY2(reading.error.find(said.toStdString()) != std::string::npos, reading.error.c_str());
      QVERIFY(isValidUtf8(reading.error));
      QCOMPARE(QString::fromStdString(reading.answer.text), text);
      QCOMPARE(reading.pieces, reading.answer.text);
    }
  }

  /// An address of another API is named as what it is, streamed or not.
  void otherApis_data() {
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("api");
    const auto row = [](const char* name, const QByteArray& body, const char* api) {
      QTest::newRow(name) << body << QString::fromUtf8(api);
    };
    const auto named = [](const char* type, const char* fields) {
      return "event: " + QByteArray(type) + "\ndata: {\"type\":\"" + type + "\"," + fields + "}\n\n";
    };
    row("responses",
        named("response.created", R"("response":{"id":"r","object":"response","output":[]})") +
            named("response.output_text.delta", R"("delta":"Hi")") +
            named("response.completed", R"("response":{"status":"completed"})"),
        "Responses");
    row("a response",
        R"({"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]})",
        "Responses");
    row("messages",
        named("message_start", R"("message":{"type":"message","role":"assistant","content":[]})") +
            named("content_block_delta", R"("index":0,"delta":{"type":"text_delta","text":"Hi"})") +
            named("message_stop", R"("x":1)"),
        "Anthropic");
    row("a message",
        R"({"type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"})",
        "Anthropic");
    row("llama.cpp", dataOf(R"({"content":"Hi","stop":false})") + dataOf(R"({"content":"","stop":true})"),
        "llama.cpp");
    row("Ollama's chat",
        "{\"message\":{\"role\":\"assistant\",\"content\":\"Hi\"},\"done\":false}\n{\"done\":true,"
        "\"message\":{}}\n",
        "Ollama");
    row("Ollama's generation", "{\"response\":\"Hi\",\"done\":true}\n", "Ollama");
    row("Gemini", R"([{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}])", "Gemini");
    row("TGI", dataOf(R"({"token":{"id":5,"text":"Hi"},"generated_text":null})"), "TGI");
  }
  void otherApis() {
    QFETCH(QByteArray, body);
    QFETCH(QString, api);
    for (const std::size_t step : {std::size_t{1}, std::size_t{100000}}) {
      const Reading reading = readBody(body, step);
      QVERIFY2(reading.error.find(api.toStdString()) != std::string::npos, reading.error.c_str());
    }
  }

  /// What is cut for good becomes the sign for it, and the answer stays.
  void halfCharactersAtTheEnd() {
    for (const char* cut : {"Grüße\xF0\x9F", "Grüße\\ud83e"}) {
      const Reading reading = readBody(dataOf(piece(cut)) + dataOf(kStop) + kDone, 7);
      QVERIFY2(reading.error.empty(), reading.error.c_str());
      QCOMPARE(QString::fromStdString(reading.answer.text), QStringLiteral("Grüße\uFFFD"));
    }
  }

  /// A hostile body takes no more time and memory than its size allows.
  void hostileBodies() {
    const QByteArray lines = "data: {\"a\":[{}\n" + QByteArray("data: ,{}\n").repeated(200000);
    const QByteArray stray = "{\"a\":[{}\n" + QByteArray(",{}\n").repeated(200000);
    const QByteArray deep = "{\"error\":" + QByteArray("[").repeated(1000000);
    for (const QByteArray& body :
         {lines, "x\n" + stray, deep, deep + QByteArray("]").repeated(1000000) + "}"})
      QVERIFY(!readBody(body, 65536).error.empty());
    const QByteArray endless = "{\"a\":\"" + QByteArray(20 << 20, 'x');
    QVERIFY(!readBody(endless, 65536).error.empty());
  }

  /// Every mode of the server of many moods, as a user would run a query there.
  void fakeServer() {
    const QString script = QStringLiteral(SPANSCOPE_GOLDEN_DIR "/../cases/streams/fake_server.py");
    const QString python = QStandardPaths::findExecutable(QStringLiteral("python3"));
    if (!QFile::exists(script) || python.isEmpty()) QSKIP("no cases of streams, or no python3");
    QProcess list;
    list.start(python, {QStringLiteral("-c"),
                        QStringLiteral("import sys, runpy; sys.argv = ['x', '0']; m = runpy.run_path(%1); "
                                       "print(' '.join(list(m['M']) + list(m['LISTS'])))")
                            .arg(QLatin1Char('\'') + script + QLatin1Char('\''))});
    QVERIFY(list.waitForFinished(60000));
    const QStringList modes =
        QString::fromUtf8(list.readAllStandardOutput()).simplified().split(QLatin1Char(' '));
    QVERIFY(modes.size() > 40);
    const quint16 port = remote::test::closedPort();
    QProcess server;
    server.start(python, {script, QString::number(port)});
    QVERIFY(server.waitForReadyRead(60000));
    const QStringList more{"split1", "split7", "gzip", "close-delimited", "http10", "status100"};
    const auto parsed = query::parseJson(R"({"g":{"model":"m","input":{"user":"Hi"}}})");
    const std::vector<exports::ChatRequest> requests = exports::chatRequests(*parsed.query).requests;
    int answered = 0;
    for (const QString& mode : modes + more) {
      const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/" + mode.toStdString() + "/v1";
      remote::HttpClient client;
      remote::RemoteWatcher watcher;
      try {
        const remote::ServerFacts facts = remote::askServer(client, url, {});
        const remote::RemoteResult result = remote::runRemotely(
            client, {{.name = "there", .server = {.url = url, .model = {}}, .facts = facts}}, {}, requests,
            watcher);
        const bool isAnswer = !result.error;
        answered += isAnswer ? 1 : 0;
        QVERIFY2(!isAnswer || !result.steps.at(0).answer.text.empty(), qPrintable(mode));
        if (result.error) QVERIFY2(!result.error->found.empty(), qPrintable(mode));
        // Where the whole text came and nothing else, it is the answer.
        if (isAnswer && mode != QLatin1String("think-inline") && mode != QLatin1String("double-json"))
          QVERIFY2(QByteArray::fromStdString(result.steps.at(0).answer.text) == kText, qPrintable(mode));
      } catch (const Failure& failure) {
        QVERIFY2(mode.startsWith(QLatin1String("ml-")), failure.what());
      }
    }
    QVERIFY(answered > 30);
    server.kill();
    server.waitForFinished(10000);
  }
};

SPANSCOPE_TEST(tst_answer_reader, TestAnswerReader)
#include "tst_answer_reader.moc"
