// SPDX-License-Identifier: GPL-3.0-or-later
// What is found out of a server by asking it: the answers are those of the servers' sources.
#include "engine/base/error.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/server_facts.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QMap>
#include <QTest>

using namespace spanscope;
using remote::test::http;
using remote::test::Server;
using spanscope::product_text::worded;

namespace {

using Paths = QMap<QByteArray, QByteArray>;

Server::Answer by(const Paths& paths, int queryStatus = 404) {
  return [paths, queryStatus](const QByteArray& request) {
    const QByteArray path = request.split(' ').value(1);
    if (path == "/v1/query/execute") return http(queryStatus, "{}");
    return paths.contains(path) ? http(200, paths[path]) : http(404, R"({"error":{"message":"no"}})");
  };
}

}  // namespace

class TestServerFacts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void kinds_data() {
    QTest::addColumn<Paths>("paths");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("version");
    QTest::addColumn<qint64>("context");
    const auto models = [](const char* rest) {
      return QByteArray(R"({"object":"list","data":[{"id":"m","object":"model")") + rest + "}]}";
    };
    QTest::newRow("vLLM") << Paths{{"/v1/models", models(R"(,"owned_by":"vllm","max_model_len":8192)")},
                                   {"/version", R"({"version":"0.33.0"})"}}
                          << "vllm"
                          << "0.33.0" << qint64{8192};
    QTest::newRow("SGLang") << Paths{{"/v1/models", models(R"(,"owned_by":"sglang","max_model_len":4096)")},
                                     {"/server_info", R"({"version":"0.5.23"})"}}
                            << "sglang"
                            << "0.5.23" << qint64{4096};
    QTest::newRow("llama.cpp") << Paths{{"/v1/models", models(R"(,"owned_by":"llamacpp")")},
                                        {"/props",
                                         R"({"build_info":"b1","total_slots":4,"chat_template":"x",)"
                                         R"("default_generation_settings":{"n_ctx":2048}})"}}
                               << "llama.cpp"
                               << "b1" << qint64{2048};
    QTest::newRow("Ollama") << Paths{{"/v1/models", models(R"(,"owned_by":"library")")},
                                     {"/api/version", R"({"version":"0.12"})"}}
                            << "ollama"
                            << "0.12" << qint64{-1};
    QTest::newRow("Ollama with a model of somebody")
        << Paths{{"/v1/models", models(R"(,"owned_by":"me")")}, {"/api/version", R"({"version":"0.12"})"}}
        << "ollama"
        << "0.12" << qint64{-1};
    QTest::newRow("LM Studio") << Paths{{"/v1/models", models(R"(,"owned_by":"organization_owner")")}}
                               << "lmstudio"
                               << "" << qint64{-1};
    QTest::newRow("another") << Paths{{"/v1/models", models(R"(,"owned_by":"system")")}} << "openai"
                             << "" << qint64{-1};
    QTest::newRow("odd fields") << Paths{{"/v1/models", models(R"(,"owned_by":7,"max_model_len":"x")")}}
                                << "openai"
                                << "" << qint64{-1};
  }
  void kinds() {
    QFETCH(Paths, paths);
    QFETCH(QString, kind);
    QFETCH(QString, version);
    QFETCH(qint64, context);
    Server server(by(paths));
    remote::HttpClient client;
    const remote::ServerFacts facts = remote::askServer(client, server.address(), {});
    QCOMPARE(QString(remote::infoOf(facts.kind).name), kind);
    QCOMPARE(QString::fromStdString(facts.version), version);
    QCOMPARE(facts.models.size(), std::size_t{1});
    QCOMPARE(facts.models[0].context.value_or(-1), context);
    QVERIFY(!facts.takes("spnl"));
    QCOMPARE(facts.slots.value_or(-1), kind == QLatin1String("llama.cpp") ? 4 : -1);
  }

  /// What servers say of their caches: how they are set up, as their sources write it.
  void caches_data() {
    QTest::addColumn<Paths>("paths");
    QTest::addColumn<qint64>("slots");
    QTest::addColumn<qint64>("slotTokens");
    QTest::addColumn<qint64>("blockSize");
    QTest::addColumn<qint64>("cacheTokens");
    QTest::addColumn<int>("finds");
    const auto by = [](const char* owner) {
      return QByteArray(R"({"object":"list","data":[{"id":"m","owned_by":"OWNER"}]})")
          .replace("OWNER", owner);
    };
    const QByteArray metrics =
        "# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig\n"
        "# TYPE vllm:cache_config_info gauge\n"
        "vllm:cache_config_info{block_size=\"32\",cache_dtype=\"auto\",enable_prefix_caching=\"True\","
        "engine=\"0\",note=\"a \\\"block_size=\\\"\",num_gpu_blocks=\"101\"} 1.0\n"
        "vllm:num_requests_running{engine=\"0\"} 0.0\n";
    QByteArray off = metrics;
    off.replace("\"True\"", "\"False\"").replace("\"101\"", "\"None\"");
    QTest::newRow("vLLM") << Paths{{"/v1/models", by("vllm")}, {"/metrics", metrics}} << qint64{-1}
                          << qint64{-1} << qint64{32} << qint64{3200} << 1;
    QTest::newRow("vLLM without a cache of prefixes")
        << Paths{{"/v1/models", by("vllm")}, {"/metrics", off}} << qint64{-1} << qint64{-1} << qint64{32}
        << qint64{-1} << 0;
    QTest::newRow("vLLM without figures")
        << Paths{{"/v1/models", by("vllm")}} << qint64{-1} << qint64{-1} << qint64{-1} << qint64{-1} << -1;
    const QByteArray radix =
        R"({"version":"0.5.23","page_size":16,"max_total_num_tokens":4096,"disable_radix_cache":false})";
    QByteArray none = radix;
    none.replace("false", "true");
    QTest::newRow("SGLang") << Paths{{"/v1/models", by("sglang")}, {"/server_info", radix}} << qint64{-1}
                            << qint64{-1} << qint64{16} << qint64{4096} << 1;
    QTest::newRow("SGLang of before") << Paths{{"/v1/models", by("sglang")}, {"/get_server_info", none}}
                                      << qint64{-1} << qint64{-1} << qint64{16} << qint64{4096} << 0;
    QTest::newRow("llama.cpp") << Paths{{"/v1/models", by("llamacpp")},
                                        {"/props",
                                         R"({"total_slots":2,"default_generation_settings":{"n_ctx":512}})"}}
                               << qint64{2} << qint64{512} << qint64{-1} << qint64{-1} << -1;
    QTest::newRow("llama.cpp that says it of its slots")
        << Paths{{"/v1/models", by("llamacpp")},
                 {"/props", "{}"},
                 {"/slots", R"([{"id":0,"n_ctx":256},{"id":1,"n_ctx":256},{"id":2,"n_ctx":256}])"}}
        << qint64{3} << qint64{256} << qint64{-1} << qint64{-1} << -1;
    QTest::newRow("odd fields") << Paths{{"/v1/models", by("sglang")},
                                         {"/server_info", R"({"page_size":"x","max_total_num_tokens":-1})"}}
                                << qint64{-1} << qint64{-1} << qint64{-1} << qint64{-1} << -1;
  }
  void caches() {
    QFETCH(Paths, paths);
    QFETCH(qint64, slots);
    QFETCH(qint64, slotTokens);
    QFETCH(qint64, blockSize);
    QFETCH(qint64, cacheTokens);
    QFETCH(int, finds);
    Server server(by(paths));
    remote::HttpClient client;
    const remote::ServerFacts facts = remote::askServer(client, server.address(), {});
    QCOMPARE(qint64{facts.slots.value_or(-1)}, slots);
    QCOMPARE(qint64{facts.cache.slotTokens.value_or(-1)}, slotTokens);
    QCOMPARE(qint64{facts.cache.blockSize.value_or(-1)}, blockSize);
    QCOMPARE(qint64{facts.cache.cacheTokens.value_or(-1)}, cacheTokens);
    QCOMPARE(facts.cache.findsPrefixes ? int{*facts.cache.findsPrefixes} : -1, finds);
  }

  void labelsOfFigures() {
    const std::string metrics = "ab{x=\"1\"} 1\na{x=\"2\", yx=\"3\",z=\"a,x=4\"} 1\n";
    QCOMPARE(remote::metricLabel(metrics, "a", "x"), std::string("2"));
    QCOMPARE(remote::metricLabel(metrics, "a", "yx"), std::string("3"));
    QCOMPARE(remote::metricLabel(metrics, "a", "z"), std::string("a,x=4"));
    QCOMPARE(remote::metricLabel(metrics, "a", "w"), std::string());
    QCOMPARE(remote::metricLabel(metrics, "c", "x"), std::string());
    for (const char* broken : {"a{", "a{x", "a{x=\"", "a{x=\"1", "a{x=\"\\"})
      QCOMPARE(remote::metricLabel(broken, "a", "x"), std::string());
  }

  void queriesAreFound() {
    const Paths paths{{"/v1/models", R"({"data":[]})"}};
    Server server(by(paths, 400));
    remote::HttpClient client;
    const remote::ServerFacts facts = remote::askServer(client, server.address() + "/", {});
    QVERIFY(facts.takes("spnl"));
    QVERIFY(facts.models.empty());
  }

  /// What a server does with no body at all says which endpoints it has.
  void endpoints_data() {
    QTest::addColumn<int>("queries");
    QTest::addColumn<int>("chats");
    QTest::addColumn<int>("texts");
    QTest::addColumn<bool>("listsModels");
    QTest::addColumn<QString>("taken");
    const auto row = [](const char* name, int queries, int chats, int texts, bool lists, const char* taken) {
      QTest::newRow(name) << queries << chats << texts << lists << QString(taken);
    };
    row("all", 400, 400, 400, true, "spnl chat completions");
    row("no spans", 404, 422, 422, true, "chat completions");
    row("one that falls over nothing", 500, 400, 400, true, "spnl chat completions");
    row("unclear about chats", 404, 403, 500, true, "chat completions");
    row("texts alone", 404, 404, 400, true, "completions");
    row("queries alone", 400, 404, 404, false, "spnl");
    row("queries without a list of models", 422, 405, 501, false, "spnl");
  }
  void endpoints() {
    QFETCH(int, queries);
    QFETCH(int, chats);
    QFETCH(int, texts);
    QFETCH(bool, listsModels);
    QFETCH(QString, taken);
    Server server([=](const QByteArray& request) {
      const QByteArray path = request.split(' ').value(1);
      const bool isGet = request.startsWith("GET");
      if (path == "/v1/query/execute" && isGet) return http(queries == 404 ? 404 : 405, "{}");
      if (path == "/v1/query/execute") return http(queries, "{}");
      if (path == "/v1/chat/completions") return http(chats, "{}");
      if (path == "/v1/completions") return http(texts, "{}");
      if (path == "/v1/models" && listsModels)
        return http(200, R"({"data":[{"id":"m","owned_by":"somebody"}]})");
      return http(404, "{}");
    });
    remote::HttpClient client;
    const remote::ServerFacts facts = remote::askServer(client, server.address(), {});
    QStringList found;
    for (const remote::Protocol* protocol : remote::protocols()) {
      if (protocol->isTakenBy(facts)) found += QString::fromUtf8(protocol->name);
    }
    QCOMPARE(found.join(QLatin1Char(' ')), taken);
    QCOMPARE(facts.listsModels, listsModels);
    QCOMPARE(QString::fromUtf8(remote::protocolFor(facts)->name), found.first());
    if (!listsModels) {
      QVERIFY(facts.kind == remote::ServerKind::Spnl);
      QCOMPARE(remote::servedName(facts, "org/m").value_or(""), std::string("org/m"));
      QVERIFY(!remote::servedName(facts, ""));
    }
  }

  /// A gateway that refuses an empty body at every path has no endpoint of queries.
  void aGatewayTakesNoQueries() {
    Server server([](const QByteArray& request) {
      if (request.startsWith("GET /v1/models"))
        return http(200, R"({"data":[{"id":"m","owned_by":"somebody"}]})");
      return request.startsWith("POST ") ? http(400, R"({"error":"no body"})") : http(404, "{}");
    });
    remote::HttpClient client;
    const remote::ServerFacts facts = remote::askServer(client, server.address(), {});
    QVERIFY(!facts.takes("spnl") && facts.takes("chat") && facts.takes("completions"));
  }

  /// A server that says nothing to nothing is asked once, and is what most servers are.
  void aSilentEndpointIsAskedOnce() {
    Server server([](const QByteArray& request) {
      return request.startsWith("GET /v1/models")
                 ? http(200, R"({"data":[{"id":"m","owned_by":"somebody"}]})")
             : request.startsWith("GET ") ? http(404, "{}")
                                          : QByteArray();
    });
    remote::HttpClient client;
    using namespace std::chrono_literals;
    const remote::ServerFacts facts =
        remote::askServer(client, server.address(), {.limits = {.connect = 1s, .firstByte = 300ms}});
    QVERIFY(facts.takes("chat") && facts.takes("completions") && !facts.takes("spnl"));
    QCOMPARE(server.requests(), 3);
  }

  void refusals_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<QString>("said");
    QTest::newRow("a key") << http(401, R"({"error":{"message":"Invalid API Key"}})") << "Invalid API Key";
    QTest::newRow("no such path") << http(404, "Not Found") << "status 404: Not Found";
    QTest::newRow("a page") << http(200, "<html>") << worded("needs <list-models>");
    QTest::newRow("another object") << http(200, R"({"data":{}})") << worded("needs <list-models>");
  }
  void refusals() {
    QFETCH(QByteArray, answer);
    QFETCH(QString, said);
    Server server(answer);
    remote::HttpClient client;
    try {
      remote::askServer(client, server.address(), {});
      QFAIL("it was taken");
    } catch (const Failure& failure) {
      QVERIFY2(QString::fromUtf8(failure.what()).contains(said), failure.what());
    }
  }

  /// Lists of models in the forms that servers have for them.
  void lists_data() {
    QTest::addColumn<QByteArray>("list");
    QTest::addColumn<QStringList>("names");
    const auto row = [](const char* name, const char* list, const QStringList& names) {
      QTest::newRow(name) << QByteArray(list) << names;
    };
    row("a list alone", R"([{"id":"m","context_length":4096}])", {"m"});
    row("null", R"({"object":"list","data":null})", {});
    row("nothing", R"({"data":[]})", {});
    row("another field", R"({"models":[{"name":"m","model":"m"}]})", {"m"});
    row("names alone", R"({"data":["m","n"]})", {"m", "n"});
    row("no id", R"({"data":[{"name":"m"}]})", {"m"});
    row("a page", "<!doctype html><title>Open WebUI</title>", {});
    row("an empty body", "", {});
  }
  void lists() {
    QFETCH(QByteArray, list);
    QFETCH(QStringList, names);
    Server server([list](const QByteArray& request) {
      if (request.startsWith("GET /v1/models ")) return http(200, list);
      if (request.startsWith("POST /v1/chat/completions ")) return http(400, R"({"error":"no body"})");
      return http(404, R"({"detail":"Not Found"})");
    });
    remote::HttpClient client;
    const remote::ServerFacts facts = remote::askServer(client, server.address(), {});
    QStringList found;
    for (const remote::ServedModel& model : facts.models) found += QString::fromStdString(model.name);
    QCOMPARE(found, names);
    QCOMPARE(facts.listsModels, !names.isEmpty());
    QVERIFY(facts.takes("chat") && facts.kind == remote::ServerKind::OpenAi);
    QCOMPARE(remote::servedName(facts, "m").value_or(""), std::string("m"));
  }

  /// Addresses that hold another version than "/v1" are whole.
  void wholeAddresses_data() {
    QTest::addColumn<QByteArray>("base");
    QTest::addColumn<bool>("hasList");
    QTest::newRow("Google's") << QByteArray("/v1beta/openai") << true;
    QTest::newRow("a version of its own") << QByteArray("/api/v3") << true;
    QTest::newRow("without a list") << QByteArray("/inference") << false;
  }
  void wholeAddresses() {
    QFETCH(QByteArray, base);
    QFETCH(bool, hasList);
    Server server([base, hasList](const QByteArray& request) {
      if (hasList && request.startsWith("GET " + base + "/models "))
        return http(200, R"({"data":[{"id":"m"}]})");
      if (request.startsWith("POST " + base + "/chat/completions "))
        return http(400, R"({"error":"no body"})");
      return http(404, R"({"error":{"message":"Not Found"}})");
    });
    const std::string url = remote::rootOf(server.address()) + base.toStdString();
    remote::HttpClient client;
    for (const std::string& given : {url, url + "/", url + "/chat/completions"}) {
      const remote::ServerFacts facts = remote::askServer(client, given, {});
      QVERIFY(facts.takes("chat") && !facts.takes("completions"));
      QCOMPARE(remote::addressOf(given, facts, "/v1/chat/completions"), url + "/chat/completions");
    }
  }

  /// The key that was sent is in no error, also where the server repeats it.
  void keysStayOutOfErrors() {
    const std::string key = "sk-very/secret";
    for (const int status : {401, 200}) {
      Server server(http(status, R"({"error":{"message":"no such key: sk-very\/secret, sk-very/secret"}})"));
      remote::HttpClient client;
      try {
        remote::askServer(client, server.address(), {.key = key});
        QFAIL("it was taken");
      } catch (const Failure& failure) {
        const std::string what = failure.what();
        QVERIFY2(what.find("no such key") != std::string::npos, what.c_str());
        QVERIFY2(what.find("secret") == std::string::npos, what.c_str());
      }
    }
  }

  void addressesAreCutBack() {
    for (const char* url : {"http://a:1", "http://a:1/", "http://a:1/v1", "http://a:1/v1/",
                            "http://a:1/v1/chat/completions", "http://a:1/v1/models/"})
      QCOMPARE(remote::rootOf(url), std::string("http://a:1"));
    QCOMPARE(remote::rootOf("http://a/api/v1"), std::string("http://a/api"));
  }

  void namesAreFound() {
    const remote::ServerFacts two{.version = {}, .models = {{"org/A-1B", {}}, {"b", {}}}, .slots = {}};
    QCOMPARE(remote::servedName(two, "b").value_or(""), std::string("b"));
    QCOMPARE(remote::servedName(two, "A-1B").value_or(""), std::string("org/A-1B"));
    QCOMPARE(remote::servedName(two, "other/A-1B").value_or(""), std::string("org/A-1B"));
    QVERIFY(!remote::servedName(two, "c"));
    QVERIFY(!remote::servedName(two, ""));
    const remote::ServerFacts one{.version = {}, .models = {{"b", {}}}, .slots = {}};
    QCOMPARE(remote::servedName(one, "c").value_or(""), std::string("b"));
    // A name that was chosen for the server is no other model's.
    QVERIFY(!remote::servedName(one, "c", true));
    QCOMPARE(remote::servedName(one, "b", true).value_or(""), std::string("b"));
    QCOMPARE(remote::servedName(one, "org/b", true).value_or(""), std::string("b"));
    const remote::ServerFacts tagged{.version = {}, .models = {{"b:latest", {}}, {"c:1", {}}}, .slots = {}};
    QCOMPARE(remote::servedName(tagged, "b", true).value_or(""), std::string("b:latest"));
    remote::RemoteTarget target{.name = "there", .server = {}, .facts = one};
    QCOMPARE(remote::servedName(target, "c").value_or(""), std::string("b"));
    target.server.model = "c";
    QVERIFY(!remote::servedName(target, "b"));
    target.server.isUnlisted = true;
    QCOMPARE(remote::servedName(target, "b").value_or(""), std::string("c"));
  }
};

SPANSCOPE_TEST(tst_server_facts, TestServerFacts)
#include "tst_server_facts.moc"
