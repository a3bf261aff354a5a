// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq remote`, with a server that answers as llama.cpp's does.
#include "tests/app/cli/spanq_process.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

using spanscope::product_text::says;
using spanscope::remote::test::http;
using spanscope::remote::test::Server;
using spanscope::test::spanq;
using spanscope::test::SpanqResult;

namespace {

const std::string kQueries = SPANSCOPE_SOURCE_DIR "/resources/queries/";

/// `completion`: the answer to a chat completion.
Server::Answer llamaServer(const QByteArray& completion) {
  return [completion](const QByteArray& request) {
    const QByteArray path = request.split(' ').value(1);
    if (path == "/v1/models")
      return http(200, R"({"object":"list","data":[{"id":"tiny","owned_by":"llamacpp"}]})");
    if (path == "/props") return http(200, R"({"build_info":"b7","total_slots":4})");
    if (path == "/v1/chat/completions") return completion;
    return http(404, R"({"error":{"message":"File Not Found","code":404}})");
  };
}

QByteArray streamedAnswer() {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
         "data: {\"model\":\"tiny\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Bis\"}}]}\n\n"
         "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"cuit.\"}}]}\n\n"
         "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],"
         "\"timings\":{\"cache_n\":0,\"prompt_n\":83,\"predicted_n\":4}}\n\n"
         "data: [DONE]\n\n";
}

std::string addressOf(const Server& server) {
  return server.address();
}

}  // namespace

class TestSpanqRemote : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void showsWhatAServerCanDo() {
    Server server(llamaServer({}));
    const SpanqResult result = spanq({"remote", "show", addressOf(server)});
    QCOMPARE(result.code, 0);
    for (const char* part : {"llama.cpp b7\n", "tiny", "not reported", "cached tokens: reported\n",
                             "<progress-prompt> reported\n", "span queries: not accepted\n", "slots: 4\n"})
      QVERIFY2(says(result.out, part), result.out.c_str());
    const nlohmann::json json =
        nlohmann::json::parse(spanq({"remote", "show", addressOf(server), "--json"}).out);
    QCOMPARE(json["kind"].get<std::string>(), std::string("llama.cpp"));
    QCOMPARE(json["models"][0]["name"].get<std::string>(), std::string("tiny"));
  }

  void runsAQuery() {
    Server server(llamaServer(streamedAnswer()));
    const SpanqResult result = spanq({"remote", "run", addressOf(server), kQueries + "rag.json"});
    QVERIFY2(result.code == 0, result.err.c_str());
    QVERIFY2(result.out.starts_with("Biscuit.\n\n"), result.out.c_str());
    QVERIFY(result.out.find("83") != std::string::npos);
    QVERIFY2(says(result.err, "<plus-in-a-row>"), result.err.c_str());
    const QByteArray request = server.request();
    const nlohmann::json body =
        nlohmann::json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
    QCOMPARE(body["model"].get<std::string>(), std::string("tiny"));
    QVERIFY(!body.contains("seed"));
  }

  /// Answers are inserted where they are needed, without an option.
  void innerGeneratesAreNoWarning() {
    Server server(llamaServer(streamedAnswer()));
    const SpanqResult result =
        spanq({"remote", "run", addressOf(server), "--seed", "7", kQueries + "judge-2.json"});
    QVERIFY2(result.code == 0, result.err.c_str());
    QVERIFY2(result.err.find("placeholder") == std::string::npos, result.err.c_str());
    QVERIFY(result.out.find("── /g/input/cross/1/plus/0 (copy 2 of 2)\n") != std::string::npos);
    const QByteArray request = server.request();
    const nlohmann::json body =
        nlohmann::json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
    QVERIFY(body.contains("seed"));
    int answers = 0;
    for (const nlohmann::json& message : body["messages"])
      answers += message["content"] == "Biscuit." ? 1 : 0;
    QCOMPARE(answers, 2);
  }

  /// Steps are sent together, and their answers are written in the order of the query, whichever ends first.
  void answersAreWrittenInOrder_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<int>("most");
    QTest::newRow("together") << QStringList() << 4;
    QTest::newRow("two") << QStringList{QStringLiteral("--at-once"), QStringLiteral("2")} << 2;
    QTest::newRow("one after the other")
        << QStringList{QStringLiteral("--at-once"), QStringLiteral("1")} << 1;
  }
  void answersAreWrittenInOrder() {
    QFETCH(QStringList, options);
    QFETCH(int, most);
    std::mutex mutex;
    std::condition_variable changed;
    int came = 0;
    int lastEnded = 4;
    const Server::Answer other = llamaServer({});
    spanscope::remote::test::ServerOfMany server([&](const QByteArray& request) {
      // Endpoints are asked with nothing first.
      if (!request.startsWith("POST") || request.endsWith("\r\n\r\n")) return other(request);
      const nlohmann::json body =
          nlohmann::json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
      const std::string asked = body["messages"][0]["content"].get<std::string>();
      const int leaf = asked.starts_with("Name ") ? asked[5] - '0' : 4;
      if (leaf < 4) {
        std::unique_lock lock(mutex);
        ++came;
        changed.notify_all();
        changed.wait_for(lock, std::chrono::seconds(5), [&] { return came >= most; });
        // Those that came last end first.
        if (most == 4) changed.wait_for(lock, std::chrono::seconds(5), [&] { return lastEnded == leaf + 1; });
        lastEnded = leaf;
        changed.notify_all();
      }
      QByteArray answer = streamedAnswer();
      return answer.replace("Bis", QByteArray::number(leaf) + ": Bis");
    });
    std::string leaves;
    for (int i = 0; i < 4; ++i) {
      const std::string user = "{\"user\":\"Name " + std::to_string(i) + ".\"}";
      leaves += (i == 0 ? "" : ",") + std::string("{\"g\":{\"model\":\"tiny\",\"max_tokens\":4,\"input\":") +
                user + "}}";
    }
    const std::string query =
        "{\"g\":{\"model\":\"tiny\",\"max_tokens\":4,\"input\":{\"cross\":[{\"plus\":[" + leaves +
        "]},{\"user\":\"Which is best?\"}]}}}";
    std::vector<std::string> words{"remote", "run"};
    for (const QString& option : options) words.push_back(option.toStdString());
    words.insert(words.end(), {server.address(), "-"});
    const SpanqResult result = spanq(words, query);
    QVERIFY2(result.code == 0, result.err.c_str());
    QCOMPARE(server.most(), most);
    std::string expected;
    for (int i = 0; i < 4; ++i)
      expected += "── /g/input/cross/0/plus/" + std::to_string(i) + "\n" + std::to_string(i) + ": Biscuit.\n";
    expected += "── the root\n4: Biscuit.\n";
    QVERIFY2(result.out.starts_with(expected), result.out.c_str());
  }

  void writesJson() {
    Server server(llamaServer(streamedAnswer()));
    const SpanqResult result = spanq({"remote", "run", addressOf(server), "--json", kQueries + "rag.json"});
    QCOMPARE(result.code, 0);
    const nlohmann::json step = nlohmann::json::parse(result.out)["steps"][0];
    QCOMPARE(step["text"].get<std::string>(), std::string("Biscuit."));
    QCOMPARE(step["prompt_tokens"].get<int>(), 83);
    QCOMPARE(step["cached_tokens"].get<int>(), 0);
    QCOMPARE(step["cached"].get<std::string>(), std::string("0"));
    QCOMPARE(step["finish"].get<std::string>(), std::string("stop"));
    QVERIFY(step["first_text_ms"].get<double>() <= step["all_ms"].get<double>());
  }

  /// The prediction is next to the report. A file keeps the prompts for the next command.
  void predictsCachedTokens() {
    Server server(llamaServer(streamedAnswer()));
    const QTemporaryDir folder;
    const std::string file = folder.filePath("sent.json").toStdString();
    const auto run = [&](std::vector<std::string> options) {
      std::vector<std::string> words{"remote", "run", addressOf(server), kQueries + "rag.json"};
      words.insert(words.end(), options.begin(), options.end());
      const SpanqResult result = spanq(words);
      if (result.code != 0) qFatal("%s", result.err.c_str());
      return result.out;
    };
    const auto predicted = [&](const std::vector<std::string>& options) {
      return nlohmann::json::parse(run(options))["steps"][0]["predicted"];
    };
    QVERIFY(says(run({}), "<predicted-column>"));
    for (const std::string order : {"cache", "written"}) {
      const nlohmann::json first = predicted({"--json", "--order", order});
      QCOMPARE(first["cached_tokens"].get<int>(), 0);
      QCOMPARE(first["max"].get<int>(), 0);
    }
    QCOMPARE(predicted({"--json", "--sent", file})["cached_tokens"].get<int>(), 0);
    // All tokens but the last are cached.
    QCOMPARE(predicted({"--json", "--sent", file})["cached_tokens"].get<int>(), 82);
    QCOMPARE(predicted({"--json"})["cached_tokens"].get<int>(), 0);
    // A file of another form stays as it is.
    const std::string other = folder.filePath("other.json").toStdString();
    {
      QFile text(QString::fromStdString(other));
      QVERIFY(text.open(QIODevice::WriteOnly) && text.write("[]") == 2);
    }
    const SpanqResult refused =
        spanq({"remote", "run", addressOf(server), kQueries + "rag.json", "--sent", other});
    QCOMPARE(refused.code, 1);
    QVERIFY2(says(refused.err, "<sent-prompts-form>"), refused.err.c_str());
  }

  /// A run there has the same trace as a run here: every command that reads traces reads it.
  void recordsATrace() {
    Server server(llamaServer(streamedAnswer()));
    const QTemporaryDir folder;
    const std::string path = folder.filePath("there.trace").toStdString();
    ::setenv("SPANSCOPE_TEST_KEY", "very-secret", 1);
    const SpanqResult result = spanq({"remote", "run", addressOf(server), "--key-from", "SPANSCOPE_TEST_KEY",
                                      "--trace", path, kQueries + "rag.json"});
    ::unsetenv("SPANSCOPE_TEST_KEY");
    QVERIFY2(result.code == 0, result.err.c_str());
    const SpanqResult shown = spanq({"trace", "show", path});
    QVERIFY2(shown.code == 0, shown.err.c_str());
    for (const char* part : {"llama.cpp b7 at http://127.0.0.1:", "request_sent", "text_received",
                             "prompt 83, cached 0, generated", "run_finished run 1: finished: \"Biscuit.\""})
      QVERIFY2(shown.out.find(part) != std::string::npos, (std::string(part) + "\n" + shown.out).c_str());
    QVERIFY(shown.out.find("very-secret") == std::string::npos);
    const SpanqResult stats = spanq({"trace", "stats", path});
    QVERIFY2(stats.out.find("answered by servers") != std::string::npos, stats.out.c_str());
    // Nothing is left where no run came about.
    const std::string none = folder.filePath("none.trace").toStdString();
    Server refusing(http(500, "{}"));
    QCOMPARE(spanq({"remote", "run", addressOf(refusing), "--trace", none, kQueries + "rag.json"}).code, 3);
    QVERIFY(!QFile::exists(QString::fromStdString(none)));
  }

  void asksInAnotherProtocol_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("said");
    QTest::newRow("spnl where only that is") << QStringList{} << "/v1/query/execute?stream=true"
                                             << "sent by SPNL's query endpoint\n";
    QTest::newRow("spnl") << QStringList{"--protocol", "spnl"} << "/v1/query/execute?stream=true"
                          << "sent by SPNL's query endpoint\n";
    QTest::newRow("text") << QStringList{"--protocol", "completions", "--template", "chatml"}
                          << "/v1/completions "
                          << "sent by text completions, under the template chatml, as text\n";
    QTest::newRow("tokens") << QStringList{"--protocol", "completions", "--tokenizer",
                                           QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet")}
                            << "/v1/completions "
                            << "sent by text completions, under the template spanlet, as tokens\n";
  }
  void asksInAnotherProtocol() {
    QFETCH(QStringList, options);
    QFETCH(QString, path);
    QFETCH(QString, said);
    Server server([](const QByteArray& request) {
      const QByteArray asked = request.split(' ').value(1);
      const bool isEmpty = request.endsWith("\r\n\r\n");
      if (isEmpty && asked == "/v1/query/execute") return http(400, R"({"error":"no query"})");
      if (isEmpty || asked == "/v1/chat/completions") return http(404, R"({"detail":"Not Found"})");
      return QByteArray(
          "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
          "data: {\"choices\":[{\"index\":0,\"text\":\"Biscuit.\",\"finish_reason\":\"stop\"}]}\n\ndata: "
          "[DONE]\n\n");
    });
    std::vector<std::string> words{"remote", "run", addressOf(server)};
    for (const QString& option : options) words.push_back(option.toStdString());
    words.push_back(kQueries + "rag.json");
    const SpanqResult result = spanq(words);
    QVERIFY2(result.code == 0, result.err.c_str());
    QVERIFY2(result.out.starts_with("Biscuit.\n\n"), result.out.c_str());
    QVERIFY2(result.out.find(said.toStdString()) != std::string::npos, result.out.c_str());
    QVERIFY2(server.request().startsWith("POST " + path.toUtf8()), server.request().constData());
    QCOMPARE(says(result.err, "<delimiters-as-text> chatml"), options.contains(QStringLiteral("--template")));
    // The spans are sent as such, or it is said that they are not.
    const bool isWhole = server.request().contains(R"("plus":[)");
    QCOMPARE(!says(result.err, "<plus-in-a-row>"), isWhole);
    QCOMPARE(isWhole, path.contains(QStringLiteral("query")));
  }

  void protocolsThatCannotBe() {
    Server server(llamaServer(streamedAnswer()));
    QCOMPARE(spanq({"remote", "run", "--protocol", "grpc", addressOf(server), kQueries + "rag.json"}).code,
             2);
    const SpanqResult bare =
        spanq({"remote", "run", "--protocol", "completions", addressOf(server), kQueries + "rag.json"});
    QCOMPARE(bare.code, 3);
    QVERIFY2(bare.err.find("--template") != std::string::npos, bare.err.c_str());
    const SpanqResult seeded = spanq(
        {"remote", "run", "--protocol", "spnl", "--seed", "7", addressOf(server), kQueries + "rag.json"});
    QVERIFY2(says(seeded.err, "<seed-not-sent>"), seeded.err.c_str());
    QVERIFY2(seeded.err.find("status 404") != std::string::npos, seeded.err.c_str());
  }

  void serversHaveNames() {
    const QTemporaryDir settings;
    qputenv("XDG_CONFIG_HOME", settings.path().toLocal8Bit());
    QVERIFY(says(spanq({"remote", "list"}).out, "<no-server-name>"));
    Server server(llamaServer(streamedAnswer()));
    QCOMPARE(spanq({"remote", "add", "gpu-3", addressOf(server), "--key-from", "SPANSCOPE_TEST_KEY"}).code,
             0);
    QCOMPARE(spanq({"remote", "add", "gpu-4", "ftp://nowhere"}).code, 1);
    const SpanqResult list = spanq({"remote", "list"});
    QVERIFY2(list.out.find("gpu-3") != std::string::npos, list.out.c_str());
    QVERIFY2(list.out.find("in SPANSCOPE_TEST_KEY") != std::string::npos, list.out.c_str());
    const nlohmann::json json = nlohmann::json::parse(spanq({"remote", "list", "--json"}).out);
    QCOMPARE(json.size(), std::size_t{1});
    QCOMPARE(json[0]["key"].get<std::string>(), std::string("environment"));

    // Without the key nothing is sent.
    QCOMPARE(spanq({"remote", "run", "gpu-3", kQueries + "rag.json"}).code, 3);
    QCOMPARE(server.requests(), 0);
    ::setenv("SPANSCOPE_TEST_KEY", "very-secret", 1);
    const std::string path = settings.filePath("there.trace").toStdString();
    const SpanqResult result = spanq({"remote", "run", "gpu-3", "--trace", path, kQueries + "rag.json"});
    ::unsetenv("SPANSCOPE_TEST_KEY");
    QVERIFY2(result.code == 0, result.err.c_str());
    QVERIFY(server.request().contains("Authorization: Bearer very-secret\r\n"));
    const SpanqResult shown = spanq({"trace", "show", path});
    QVERIFY2(shown.out.find("policy llama.cpp on gpu-3") != std::string::npos, shown.out.c_str());
    QFile file(settings.filePath("spanscope/servers.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(!file.readAll().contains("very-secret"));

    // The list says how it is asked, unless an option does.
    QCOMPARE(spanq({"remote", "add", "gpu-3", addressOf(server), "--protocol", "grpc"}).code, 2);
    QCOMPARE(spanq({"remote", "add", "gpu-3", addressOf(server), "--protocol", "completions"}).code, 0);
    QVERIFY(spanq({"remote", "list"}).out.find("completions") != std::string::npos);
    const std::vector<std::string> words{"remote", "run", "gpu-3", kQueries + "rag.json"};
    const SpanqResult bare = spanq(words);
    QVERIFY2(says(bare.err, "<prompts-text-completions>"), bare.err.c_str());
    std::vector<std::string> chat = words;
    chat.insert(chat.end(), {"--protocol", "chat"});
    const SpanqResult asChat = spanq(chat);
    QVERIFY2(asChat.code == 0, asChat.err.c_str());
    QVERIFY2(asChat.out.find("sent by chat completions") != std::string::npos, asChat.out.c_str());

    QCOMPARE(spanq({"remote", "remove", "gpu-3"}).code, 0);
    const SpanqResult unknown = spanq({"remote", "show", "gpu-3"});
    QCOMPARE(unknown.code, 3);
    QVERIFY2(says(unknown.err, "<no-name-list>gpu-3\""), unknown.err.c_str());
    QCOMPARE(spanq({"remote", "remove", "gpu-3"}).code, 1);
    qunsetenv("XDG_CONFIG_HOME");
  }

  void keysComeFromTheEnvironment() {
    Server server(llamaServer(streamedAnswer()));
    ::setenv("SPANSCOPE_TEST_KEY", "very-secret", 1);
    const SpanqResult result = spanq({"remote", "run", addressOf(server), "--key-from", "SPANSCOPE_TEST_KEY",
                                      "--json", kQueries + "rag.json"});
    ::unsetenv("SPANSCOPE_TEST_KEY");
    QCOMPARE(result.code, 0);
    QVERIFY(server.request().contains("Authorization: Bearer very-secret\r\n"));
    QVERIFY((result.out + result.err).find("very-secret") == std::string::npos);
    QCOMPARE(
        spanq({"remote", "run", addressOf(server), "--key-from", "SPANSCOPE_TEST_KEY", kQueries + "rag.json"})
            .code,
        2);
  }

  void failures_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<QString>("out");
    QTest::addColumn<QString>("said");
    QTest::newRow("refused") << http(500, R"({"error":{"message":"no memory"}})") << ""
                             << "status 500: no memory";
    QTest::newRow("cut") << streamedAnswer().left(160) << "Bis"
                         << "chat completion";
  }
  void failures() {
    QFETCH(QByteArray, answer);
    QFETCH(QString, out);
    QFETCH(QString, said);
    Server server(llamaServer(answer));
    const SpanqResult result = spanq({"remote", "run", addressOf(server), kQueries + "rag.json"});
    QCOMPARE(result.code, 3);
    QVERIFY2(QString::fromStdString(result.out).startsWith(out), result.out.c_str());
    QVERIFY2(QString::fromStdString(result.err).contains(said), result.err.c_str());
  }

  /// An explicit name is no other model's: nothing is sent.
  void chosenModelsAreListed() {
    Server server(llamaServer(streamedAnswer()));
    const auto sent = [&server] { return server.request().startsWith("POST /v1/chat/completions"); };
    std::vector<std::string> words{
        "remote", "run", "--model", "nope", addressOf(server), kQueries + "rag.json"};
    const SpanqResult refused = spanq(words);
    QCOMPARE(refused.code, 3);
    QVERIFY2(refused.err.find("nope") != std::string::npos && refused.err.find("tiny") != std::string::npos,
             refused.err.c_str());
    QVERIFY(!sent());
    words.emplace_back("--unlisted-model");
    const SpanqResult taken = spanq(words);
    QVERIFY2(taken.code == 0, taken.err.c_str());
    QVERIFY(sent() && server.request().contains("\"nope\""));
  }

  /// A request that failed is no reason to speak of the server's report of its cache.
  void failuresGiveNoOtherHints() {
    for (const int status : {400, 200}) {
      Server server([status](const QByteArray& request) {
        if (request.startsWith("GET /v1/models"))
          return http(200, "{\"data\":[{\"id\":\"m\",\"owned_by\":\"vllm\"}]}");
        if (!request.startsWith("POST /v1/chat/completions")) return http(404, "{}");
        return status == 200 ? streamedAnswer().replace("\"cache_n\":0,", "")
                             : http(400, "{\"error\":{\"message\":\"too long\"}}");
      });
      const SpanqResult result = spanq({"remote", "run", addressOf(server), kQueries + "rag.json"});
      QCOMPARE(result.code, status == 200 ? 0 : 3);
      QCOMPARE(result.out.find("--enable-prompt-tokens-details") != std::string::npos, status == 200);
    }
  }

  /// Where a server has span queries, the spans are sent, also where it has chat completions.
  void spansAreSentWhereTheyCanBe() {
    Server server([](const QByteArray& request) {
      if (request.startsWith("GET /v1/models"))
        return http(200, "{\"data\":[{\"id\":\"m\",\"owned_by\":\"spanscope\"}]}");
      if (request.endsWith("\r\n\r\n"))
        return http(request.startsWith("POST /v1/query/execute") ? 400 : 404, "{}");
      return streamedAnswer()
          .replace("\"delta\":{\"content\":\"Bis\"}", "\"text\":\"Bis\"")
          .replace("\"delta\":{\"content\":\"cuit.\"}", "\"text\":\"cuit.\"");
    });
    const SpanqResult result = spanq({"remote", "run", addressOf(server), kQueries + "rag.json"});
    QVERIFY2(result.code == 0, result.err.c_str());
    QVERIFY2(server.request().startsWith("POST /v1/query/execute"), server.request().constData());
    QVERIFY(server.request().contains("\"plus\""));
  }

  /// A server that refuses the query itself is asked for messages, unless its protocol was chosen.
  void refusedQueriesGoOnAsMessages() {
    Server server([](const QByteArray& request) {
      if (request.startsWith("GET /v1/models"))
        return http(200, "{\"data\":[{\"id\":\"m\",\"owned_by\":\"spanscope\"}]}");
      if (request.startsWith("POST /v1/query/execute")) return http(400, R"({"error":"no plus here"})");
      if (request.startsWith("POST /v1/chat/completions")) return streamedAnswer();
      return http(404, "{}");
    });
    const SpanqResult result = spanq({"remote", "run", "--json", addressOf(server), kQueries + "rag.json"});
    QVERIFY2(result.code == 0, result.err.c_str());
    QVERIFY2(result.err.find("no plus here") != std::string::npos, result.err.c_str());
    const nlohmann::json json = nlohmann::json::parse(result.out);
    QCOMPARE(json["protocol"].get<std::string>(), std::string("chat"));
    QCOMPARE(json["steps"][0]["text"].get<std::string>(), std::string("Biscuit."));
    const SpanqResult chosen =
        spanq({"remote", "run", "--protocol", "spnl", addressOf(server), kQueries + "rag.json"});
    QCOMPARE(chosen.code, 3);
    QVERIFY2(chosen.err.find("no plus here") != std::string::npos, chosen.err.c_str());
  }

  void theMessagesApi() {
    Server server([](const QByteArray& request) {
      if (request.startsWith("GET /v1/models")) return http(200, R"({"data":[{"id":"m","type":"model"}]})");
      if (!request.startsWith("POST /v1/messages ")) return http(404, "{}");
      return http(request.endsWith("\r\n\r\n") ? 400 : 200,
                  R"({"type":"message","role":"assistant","content":[{"type":"text","text":"Biscuit."}],)"
                  R"("stop_reason":"end_turn","usage":{"input_tokens":4,"cache_read_input_tokens":32,)"
                  R"("cache_creation_input_tokens":5,"output_tokens":3}})");
    });
    const SpanqResult shown = spanq({"remote", "show", "--json", addressOf(server)});
    QCOMPARE(nlohmann::json::parse(shown.out)["protocols"].dump(), std::string(R"(["messages"])"));
    for (const bool isChosen : {true, false}) {
      std::vector<std::string> words{"remote", "run", "--json", addressOf(server), kQueries + "rag.json"};
      if (isChosen) words.insert(words.end(), {"--protocol", "messages"});
      const SpanqResult result = spanq(words);
      QVERIFY2(result.code == 0, result.err.c_str());
      const nlohmann::json json = nlohmann::json::parse(result.out);
      QCOMPARE(json["protocol"].get<std::string>(), std::string("messages"));
      const nlohmann::json& step = json["steps"][0];
      QCOMPARE(step["prompt_tokens"].get<int>(), 41);
      QCOMPARE(step["cached_tokens"].get<int>(), 32);
      QCOMPARE(step["cache_written_tokens"].get<int>(), 5);
      QCOMPARE(step["finish"].get<std::string>(), std::string("end_turn"));
    }
    for (const char* command : {"run", "add"}) {
      const SpanqResult help = spanq({"remote", command, "--help"});
      QVERIFY2(help.out.find("messages (") != std::string::npos, help.out.c_str());
    }
  }

  /// A list of servers that is damaged is reported, and kept when the list is written.
  void damagedListsAreKept() {
    const QTemporaryDir settings;
    qputenv("XDG_CONFIG_HOME", settings.path().toLocal8Bit());
    QDir(settings.path()).mkpath("spanscope");
    const QString path = settings.filePath("spanscope/servers.json");
    const QByteArray damaged = "{\"servers\":[{\"name\":\"gpu-3\",\"url\":";
    {
      QFile file(path);
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(damaged);
    }
    const SpanqResult list = spanq({"remote", "list"});
    QCOMPARE(list.code, 3);
    QVERIFY2(list.err.find("servers.json") != std::string::npos, list.err.c_str());
    const SpanqResult unknown = spanq({"remote", "show", "gpu-3"});
    QVERIFY2(unknown.err.find("servers.json") != std::string::npos, unknown.err.c_str());
    const SpanqResult added = spanq({"remote", "add", "gpu-4", "http:/\x2Fgpu-4:8000"});
    QCOMPARE(added.code, 0);
    QVERIFY2(added.err.find("servers.json.damaged") != std::string::npos, added.err.c_str());
    QFile kept(path + ".damaged");
    QVERIFY(kept.open(QIODevice::ReadOnly));
    QCOMPARE(kept.readAll(), damaged);
    QVERIFY(spanq({"remote", "list"}).err.empty());
    qunsetenv("XDG_CONFIG_HOME");
  }

  void keysThatCannotBeSentAreRefused() {
    Server server(llamaServer(streamedAnswer()));
    for (const char* key : {"a\nb", "a\rb", "a\xff"}) {
      ::setenv("SPANSCOPE_TEST_KEY", key, 1);
      const SpanqResult result = spanq(
          {"remote", "run", addressOf(server), "--key-from", "SPANSCOPE_TEST_KEY", kQueries + "rag.json"});
      ::unsetenv("SPANSCOPE_TEST_KEY");
      QCOMPARE(result.code, 2);
    }
    QCOMPARE(server.requests(), 0);
  }

  void nobodyThere() {
    const std::string address = "http://127.0.0.1:" + std::to_string(spanscope::remote::test::closedPort());
    for (const SpanqResult& result :
         {spanq({"remote", "show", address}), spanq({"remote", "run", address, kQueries + "rag.json"})}) {
      QCOMPARE(result.code, 3);
      QVERIFY2(result.err.find(address) != std::string::npos, result.err.c_str());
    }
  }
};

SPANSCOPE_TEST(tst_spanq_remote, TestSpanqRemote)
#include "tst_spanq_remote.moc"
