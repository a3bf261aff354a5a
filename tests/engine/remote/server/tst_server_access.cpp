// SPDX-License-Identifier: GPL-3.0-or-later
// Who may ask: keys of clients, names of hosts, pages in browsers, and addresses beyond the loopback.
#include "engine/base/error.h"
#include "tests/engine/remote/server/running_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

// Qt Test needs this type to compare JSON values.
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::server::test;
using spanscope::product_text::worded;

namespace {

using Json = nlohmann::json;

}  // namespace

class TestServerAccess : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void keysAreNeeded();
  void keysAreBytes();
  void browsersAreKeptAway_data();
  void browsersAreKeptAway();
  void beyondTheLoopbackKeysAndTlsAreNeeded();
};

void TestServerAccess::keysAreNeeded() {
  ServerConfig config = freePort();
  config.keys = {"first-key-of-a-client", "second-key-of-a-client"};
  Running running(config);
  QCOMPARE(running.get("/health").status, 200);
  for (const char* header :
       {"X: y", "Authorization: Bearer wrong-key-of-a-client", "Authorization: Basic x"}) {
    const HttpAnswer denied = running.post(kChat, chatWith(), {header});
    QCOMPARE(denied.status, 401);
    QCOMPARE(Json::parse(denied.body)["error"]["code"].get<std::string>(), std::string("invalid_api_key"));
    QVERIFY(denied.body.find("wrong-key") == std::string::npos);
  }
  QCOMPARE(running.get("/metrics").status, 401);
  std::vector<std::string> salts;
  for (const char* key : {"first-key-of-a-client", "second-key-of-a-client"}) {
    QCOMPARE(running.post(kChat, chatWith(), {std::string("Authorization: Bearer ") + key}).status, 200);
    salts.push_back(running.engine.lastOptions().salt.value());
    QVERIFY(salts.back().find("key") == std::string::npos);
    running.post(kChat, chatWith(R"("cache_salt":"mine",)"), {std::string("Authorization: Bearer ") + key});
    salts.push_back(running.engine.lastOptions().salt.value());
  }
  for (std::size_t i = 0; i < salts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) QVERIFY(salts[i] != salts[j]);
  StandInEngine engine;
  for (const std::string& key :
       {std::string("short"), std::string("a-key-with-a-line\nend-in-it"),
        std::string("a-key-with-a-NUL\0-in-it", 23), std::string("no UTF-8, but long\xFF"),
        std::string(5000, 'k'), std::string("a-key-with-a-blank-at-its-end ")}) {
    config.keys = {key};
    QVERIFY_EXCEPTION_THROWN(Server(config, engine), Failure);
  }
}

/// A key is what the client sends, byte by byte.
void TestServerAccess::keysAreBytes() {
  ServerConfig config = freePort();
  config.keys = {"a+b%2Bc-of-a-client", "a/b-of-another-client"};
  Running running(config);
  const auto statusOf = [&](const std::string& key) {
    return running.get("/v1/models", {"Authorization: Bearer " + key}).status;
  };
  QCOMPARE(statusOf("a+b%2Bc-of-a-client"), 200);
  QCOMPARE(statusOf("a/b-of-another-client"), 200);
  QCOMPARE(statusOf("a+b+c-of-a-client"), 401);
  QCOMPARE(statusOf("a%2Fb-of-another-client"), 401);
  QCOMPARE(statusOf("a+b%252Bc-of-a-client"), 401);
  QCOMPARE(statusOf(std::string("a/b-of-another-client\0x", 23)), 400);
  QCOMPARE(running.post(kChat, chatWith(), {"Authorization: Bearer a+b%2Bc-of-a-client"}).status, 200);
}

void TestServerAccess::browsersAreKeptAway_data() {
  QTest::addColumn<QString>("header");
  QTest::addColumn<int>("status");
  QTest::newRow("localhost") << "Host: localhost:8000" << 200;
  QTest::newRow("IPv4") << "Host: 127.0.0.1" << 200;
  QTest::newRow("IPv6") << "Host: [::1]:8000" << 200;
  QTest::newRow("another name") << "Host: rebound.example:8000" << 403;
  QTest::newRow("a name that begins like the loopback") << "Host: 127.0.0.1.example" << 403;
  QTest::newRow("a name that was allowed") << "Host: workbench.lan" << 200;
  QTest::newRow("a page") << "Origin: https://evil.example" << 403;
  QTest::newRow("a page from a file") << "Origin: null" << 403;
  QTest::newRow("a page of this machine") << "Origin: http://localhost:3000" << 403;
  QTest::newRow("a page that was allowed") << "Origin: https://app.example" << 200;
  QTest::newRow("a picture on a page") << "Sec-Fetch-Site: cross-site" << 403;
  QTest::newRow("an address that was typed") << "Sec-Fetch-Site: none" << 200;
}

void TestServerAccess::browsersAreKeptAway() {
  QFETCH(QString, header);
  QFETCH(int, status);
  ServerConfig config = freePort();
  config.hosts = {"workbench.lan"};
  config.origins = {"https://app.example"};
  Running running(config);
  QCOMPARE(running.get("/v1/models", {header.toStdString()}).status, status);
  QCOMPARE(running.post(kChat, chatWith(), {header.toStdString()}).status, status);
  if (!header.startsWith("Origin")) return;
  // What a browser asks before it sends a body that is not plain text.
  const HttpAnswer before = ask(running.server.port(), "OPTIONS", kChat, {},
                                {header.toStdString(), "Access-Control-Request-Method: POST",
                                 "Access-Control-Request-Headers: authorization, x-stainless-os"});
  QCOMPARE(before.status, status == 200 ? 204 : 403);
  QCOMPARE(before.headers.contains("access-control-allow-origin"), status == 200);
  if (status == 200)
    QCOMPARE(before.headers.at("access-control-allow-headers"), std::string("authorization, x-stainless-os"));
}

void TestServerAccess::beyondTheLoopbackKeysAndTlsAreNeeded() {
  StandInEngine engine;
  ServerConfig config = freePort();
  config.host = "0.0.0.0";
  const auto problem = [&] {
    try {
      const Server server(config, engine);
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  QVERIFY(problem().find(worded(std::string("<no-keys-clients>"))) != std::string::npos);
  config.keys = {"first-key-of-a-client"};
  QVERIFY(problem().find("no certificate") != std::string::npos);
  config.certificate = "/nowhere/cert.pem";
  config.privateKey = "/nowhere/key.pem";
  QVERIFY(problem().find("/nowhere/cert.pem") != std::string::npos);

  // A port that somebody has is not shared.
  const Server taken(freePort(), engine);
  ServerConfig same = freePort();
  same.port = taken.port();
  QVERIFY_EXCEPTION_THROWN(Server(same, engine), Failure);
}

SPANSCOPE_TEST(tst_server_access, TestServerAccess)
#include "tst_server_access.moc"
