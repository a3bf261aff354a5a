// SPDX-License-Identifier: GPL-3.0-or-later
// The server by TLS, with a certificate that the test makes.
#include "engine/base/error.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/server/server.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/engine/remote/server/stand_in_engine.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

using namespace spanscope::server;
using namespace spanscope::server::test;

namespace {

/// Writes a key and a certificate of its own for "localhost".
void writeCertificate(const std::string& certificate, const std::string& privateKey) {
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, void (*)(X509*)> made(X509_new(), X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"),
                             -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  X509_sign(made.get(), key.get(), EVP_sha256());
  const auto write = [](const std::string& path, const auto& put) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose);
    put(file.get());
  };
  write(certificate, [&](std::FILE* file) { PEM_write_X509(file, made.get()); });
  write(privateKey, [&](std::FILE* file) {
    PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

/// Sends a request by TLS and reads until the server closes; empty: there was no connection.
std::string secureAnswer(int port, const std::string& request, int mostVersion = TLS1_3_VERSION) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), mostVersion);
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string text;
  if (connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), SSL_free);
    SSL_set_fd(ssl.get(), descriptor);
    if (SSL_connect(ssl.get()) == 1) {
      SSL_write(ssl.get(), request.data(), static_cast<int>(request.size()));
      char buffer[4096];
      for (int count = 1; count > 0;) {
        count = SSL_read(ssl.get(), buffer, sizeof buffer);
        if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
      }
    }
  }
  ::close(descriptor);
  return text;
}

}  // namespace

class TestServerTls : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    m_config.port = 0;
    m_config.host = "0.0.0.0";
    m_config.keys = {"first-key-of-a-client"};
    m_config.certificate = m_folder.filePath("cert.pem").toStdString();
    m_config.privateKey = m_folder.filePath("key.pem").toStdString();
    writeCertificate(m_config.certificate, m_config.privateKey);
    m_config.limits.toRead = std::chrono::milliseconds(500);
  }
  void answersWithAKey();
  void othersAreRefused();
  void largeAnswers();
  void ourClientTrustsAGivenAuthority();

 private:
  std::string request(const std::string& key, const std::string& members = {}) const {
    return requestText("POST", "/v1/chat/completions",
                       "{" + members + R"("messages":[{"role":"user","content":"Where?"}]})",
                       {"Authorization: Bearer " + key, "Connection: close"});
  }
  QTemporaryDir m_folder;
  ServerConfig m_config;
};

void TestServerTls::answersWithAKey() {
  StandInEngine engine;
  Server server(m_config, engine);
  server.start();
  QVERIFY(server.url().starts_with("https://0.0.0.0:"));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const std::string answer = secureAnswer(server.port(), request("first-key-of-a-client"), version);
    QVERIFY2(answer.starts_with("HTTP/1.1 200"), answer.c_str());
    QVERIFY(answer.find("Mira lives in Lisbon.") != std::string::npos);
  }
  const std::string streamed =
      secureAnswer(server.port(), request("first-key-of-a-client", R"("stream":true,)"));
  QVERIFY(streamed.find("data: [DONE]") != std::string::npos);
}

void TestServerTls::othersAreRefused() {
  StandInEngine engine;
  Server server(m_config, engine);
  server.start();
  QVERIFY(secureAnswer(server.port(), request("some-other-key-of-a-client")).starts_with("HTTP/1.1 401"));
  QCOMPARE(secureAnswer(server.port(), request("first-key-of-a-client"), TLS1_1_VERSION), std::string());
  // In the clear there is nothing; nor for one who says nothing.
  QCOMPARE(ask(server.port(), "GET", "/health").status, 0);
  HttpClient silent(server.port());
  QVERIFY(silent.read(std::chrono::seconds(10)).empty());
  QVERIFY(secureAnswer(server.port(), request("first-key-of-a-client")).starts_with("HTTP/1.1 200"));
  QCOMPARE(engine.begun(), 1);
}

void TestServerTls::largeAnswers() {
  StandInEngine engine;
  engine.reply = std::string(60'000, 'x');
  Server server(m_config, engine);
  server.start();
  const std::string answer = secureAnswer(server.port(), request("first-key-of-a-client"));
  QVERIFY(answer.find("\"" + engine.reply + "\"") != std::string::npos);
}

/// The program's own client: it trusts who is named, and nobody else; a key goes with it.
void TestServerTls::ourClientTrustsAGivenAuthority() {
  namespace remote = spanscope::remote;
  StandInEngine engine;
  Server server(m_config, engine);
  server.start();
  const std::string url = "https://localhost:" + std::to_string(server.port()) + "/v1";
  const auto refusalOf = [&](const remote::HttpAccess& access) {
    remote::HttpClient client;
    try {
      remote::askServer(client, url, access);
    } catch (const spanscope::Failure& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  const std::string& authority = m_config.certificate;
  const std::string key = "first-key-of-a-client";
  QVERIFY(refusalOf({.key = key}).find("certificate") != std::string::npos);
  QVERIFY(refusalOf({.certificateFile = authority}).find("status 401") != std::string::npos);
  remote::HttpClient client;
  const remote::ServerFacts facts =
      remote::askServer(client, url, {.key = key, .certificateFile = authority});
  QVERIFY(facts.kind == remote::ServerKind::Spanscope);
  QVERIFY(facts.takes("spnl"));
  QCOMPARE(facts.models.size(), std::size_t{1});
}

SPANSCOPE_TEST(tst_server_tls, TestServerTls)
#include "tst_server_tls.moc"
