// SPDX-License-Identifier: GPL-3.0-or-later
// spanq serve as a program, with the bundled model.
#include "tests/engine/remote/server/http_client.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
// Qt Test needs this type to compare JSON values.
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <csignal>
#include <string>

using namespace spanscope::server::test;
using spanscope::product_text::says;

namespace {

using Json = nlohmann::json;

constexpr int kPatience = 60'000;
const std::string kChat =
    R"({"max_tokens":6,"temperature":0,"messages":[{"role":"user","content":"Where does Mira live?"}]})";

/// The program, from when it says where it serves.
class ServeProcess {
 public:
  explicit ServeProcess(const QStringList& arguments, const QStringList& environment = {}) {
    QStringList all = QProcess::systemEnvironment();
    all.removeIf([](const QString& one) { return one.startsWith("SPANQ_API_KEY="); });
    process.setEnvironment(all + environment);
    process.start(QStringLiteral(SPANSCOPE_SPANQ),
                  QStringList{"serve", "--port", "0", "--threads", "1"} + arguments);
    while (process.state() != QProcess::NotRunning && !process.canReadLine() &&
           process.waitForReadyRead(kPatience)) {
    }
    line = QString::fromUtf8(process.readLine());
    const QRegularExpression url("https?://[^ ]+:(\\d+)");
    port = url.match(line).captured(1).toInt();
  }
  ~ServeProcess() {
    if (process.state() != QProcess::NotRunning) process.kill();
    process.waitForFinished(kPatience);
  }
  int endBy(int signal) {
    ::kill(static_cast<pid_t>(process.processId()), signal);
    return process.waitForFinished(kPatience) && process.exitStatus() == QProcess::NormalExit
               ? process.exitCode()
               : -1;
  }

  QProcess process;
  QString line;
  int port = 0;
};

}  // namespace

class TestSpanqServe : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answersUntilItIsInterrupted();
  void keysComeFromAFileOrTheEnvironment();
  void refusals_data();
  void refusals();
  void anEmptyKeyIsRefused();
};

void TestSpanqServe::answersUntilItIsInterrupted() {
  ServeProcess serve({"--served-name", "gpt-4o", "--blocks", "256"});
  QVERIFY2(serve.port > 0, qPrintable(serve.line + serve.process.readAllStandardError()));
  QVERIFY(serve.line.startsWith("Serving spanlet at http://127.0.0.1:"));
  const HttpAnswer first = ask(serve.port, "POST", "/v1/chat/completions", kChat);
  QCOMPARE(first.status, 200);
  const Json again = Json::parse(ask(serve.port, "POST", "/v1/chat/completions", kChat).body);
  QCOMPARE(again["choices"][0]["message"]["content"],
           Json::parse(first.body)["choices"][0]["message"]["content"]);
  QVERIFY(again["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>() > 0);
  QCOMPARE(Json::parse(ask(serve.port, "GET", "/v1/models").body)["data"].size(), std::size_t{2});

  // A request that runs is answered before the program ends.
  HttpClient client(serve.port);
  QVERIFY(client.send(
      requestText("POST", "/v1/chat/completions",
                  R"({"stream":true,"max_tokens":300,"messages":[{"role":"user","content":"Go on"}]})")));
  std::string text = client.read(std::chrono::seconds(60));
  QVERIFY(text.starts_with("HTTP/1.1 200"));
  QCOMPARE(serve.endBy(SIGTERM), 0);
  for (std::string more = client.read(std::chrono::seconds(1)); !more.empty();
       more = client.read(std::chrono::seconds(1)))
    text += more;
  QVERIFY(text.find(R"("finish_reason":"stop")") != std::string::npos ||
          text.find(R"("finish_reason":"length")") != std::string::npos);
  QVERIFY(text.find("data: [DONE]") != std::string::npos);
  QCOMPARE(serve.process.readAllStandardError(), QByteArray());
}

void TestSpanqServe::keysComeFromAFileOrTheEnvironment() {
  const QTemporaryDir folder;
  QFile file(folder.filePath("keys"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write("# of the team\nkey-of-the-first-client\n\n");
  file.close();
  ServeProcess serve({"--api-key-file", file.fileName(), "--no-texts"},
                     {"SPANQ_API_KEY=key-of-the-second-client"});
  QVERIFY2(serve.port > 0, serve.process.readAllStandardError().constData());
  QCOMPARE(ask(serve.port, "POST", "/v1/chat/completions", kChat).status, 401);
  for (const char* key : {"key-of-the-first-client", "key-of-the-second-client"}) {
    const HttpAnswer answer =
        ask(serve.port, "POST", "/v1/chat/completions", kChat, {std::string("Authorization: Bearer ") + key});
    QCOMPARE(answer.status, 200);
    QCOMPARE(Json::parse(answer.body)["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>(), 0);
  }
  QCOMPARE(serve.endBy(SIGINT), 0);
}

void TestSpanqServe::refusals_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<int>("code");
  QTest::addColumn<QString>("word");
  QTest::newRow("beyond the loopback") << QStringList{"--host", "0.0.0.0"} << 1 << "<no-keys-clients>";
  QTest::newRow("no model") << QStringList{"/nowhere"} << 1 << "/nowhere";
  QTest::newRow("no key file") << QStringList{"--api-key-file", "/nowhere"} << 1 << "/nowhere";
  QTest::newRow("an empty key file") << QStringList{"--api-key-file", "/dev/null"} << 1 << "<key-line>";
  QTest::newRow("a certificate alone") << QStringList{"--tls-cert", "a"} << 2 << "--tls-key";
  QTest::newRow("no certificate") << QStringList{"--tls-cert", "/nowhere", "--tls-key", "/nowhere"} << 1
                                  << "<certificate-pem-form>";
  QTest::newRow("no PEM") << QStringList{"--tls-cert", "/dev/null", "--tls-key", "/dev/null"} << 1
                          << "Spanscope found other content, but needs <certificate-pem-form>";
  QTest::newRow("events for others") << QStringList{"--kv-events", "tcp://*:5557"} << 1
                                     << "authenticate clients";
  QTest::newRow("events in place of a file")
      << QStringList{"--kv-events", "ipc:///proc/version"} << 1 << "not a socket";
  QTest::newRow("events on no port") << QStringList{"--kv-events", "tcp://127.0.0.1:70000"} << 1 << "65535";
  QTest::newRow("events within the program")
      << QStringList{"--kv-events", "inproc://events"} << 1 << "authenticate clients";
  QTest::newRow("events without texts")
      << QStringList{"--no-texts", "--kv-events", "tcp://127.0.0.1:0"} << 2 << "--no-texts";
  QTest::newRow("a port") << QStringList{"--port", "65536"} << 2 << "--port";
}

void TestSpanqServe::refusals() {
  QFETCH(QStringList, arguments);
  QFETCH(int, code);
  QFETCH(QString, word);
  QProcess process;
  process.start(QStringLiteral(SPANSCOPE_SPANQ), QStringList{"serve", "--port", "0"} + arguments);
  QVERIFY(process.waitForFinished(kPatience));
  const QString said = QString::fromUtf8(process.readAllStandardError());
  QVERIFY2(process.exitCode() == code, qPrintable(said));
  QVERIFY2(says(said, word), qPrintable(said));
}

/// A variable without a key is no permission to serve everybody.
void TestSpanqServe::anEmptyKeyIsRefused() {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("SPANQ_API_KEY"), QString());
  process.setProcessEnvironment(environment);
  process.start(QStringLiteral(SPANSCOPE_SPANQ),
                {QStringLiteral("serve"), QStringLiteral("--port"), QStringLiteral("0")});
  QVERIFY(process.waitForFinished(kPatience));
  QCOMPARE(process.exitCode(), 1);
  QVERIFY(process.readAllStandardError().contains("SPANQ_API_KEY"));
}

SPANSCOPE_TEST(tst_spanq_serve, TestSpanqServe, QCoreApplication)
#include "tst_spanq_serve.moc"
