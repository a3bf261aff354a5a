// SPDX-License-Identifier: GPL-3.0-or-later
// spanq serve --upstream as a program, before a server of the test.
#include "tests/engine/remote/server/http_client.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <string>

using namespace spanscope::server::test;
using spanscope::remote::test::http;
using spanscope::remote::test::ServerOfMany;

namespace {

constexpr int kGatewayPatience = 60'000;

QByteArray answerTo(const QByteArray& request) {
  const QByteArray path = request.split(' ').value(1);
  if (path == "/v1/models") return http(200, R"({"object":"list","data":[{"id":"tiny","owned_by":"vllm"}]})");
  if (path == "/version") return http(200, R"({"version":"0.33.0"})");
  if (path != "/v1/chat/completions") return http(404, "{}");
  return http(200, R"({"object":"chat.completion","model":"tiny","choices":[{"index":0,"message":)"
                   R"({"role":"assistant","content":"In Lisbon."},"finish_reason":"stop"}],)"
                   R"("usage":{"prompt_tokens":9,"completion_tokens":3}})");
}

}  // namespace

class TestSpanqGateway : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void recordsAndLogsUntilItIsInterrupted();
  void refusesWrongServers();
};

void TestSpanqGateway::recordsAndLogsUntilItIsInterrupted() {
  ServerOfMany server(answerTo);
  const QTemporaryDir folder;
  const QString trace = folder.filePath("day.trace");
  const QString log = folder.filePath("day.jsonl");
  QProcess process;
  process.start(QStringLiteral(SPANSCOPE_SPANQ),
                {"serve", "--port", "0", "--upstream", QString::fromStdString(server.address()), "--record",
                 trace, "--log", log});
  while (process.state() != QProcess::NotRunning && !process.canReadLine() &&
         process.waitForReadyRead(kGatewayPatience)) {
  }
  const QString line = QString::fromUtf8(process.readLine());
  const int port = QRegularExpression("https?://[^ ]+:(\\d+)").match(line).captured(1).toInt();
  QVERIFY2(port > 0, qPrintable(line + process.readAllStandardError()));
  const HttpAnswer answer =
      ask(port, "POST", "/v1/chat/completions",
          R"({"model":"tiny","messages":[{"role":"user","content":"Where does Mira live?"}]})");
  QCOMPARE(answer.status, 200);
  QTRY_VERIFY_WITH_TIMEOUT(QFile(log).size() > 0, kGatewayPatience);
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  QVERIFY(process.waitForFinished(kGatewayPatience));
  QCOMPARE(process.exitCode(), 0);
  QProcess show;
  show.start(QStringLiteral(SPANSCOPE_SPANQ), {"trace", "show", trace, "--json"});
  QVERIFY(show.waitForFinished(kGatewayPatience));
  const QByteArray events = show.readAllStandardOutput();
  QVERIFY(events.contains("In Lisbon."));
  QVERIFY(events.contains("server_reported"));
  QProcess doctor;
  doctor.start(QStringLiteral(SPANSCOPE_SPANQ), {"doctor", log});
  QVERIFY(doctor.waitForFinished(kGatewayPatience));
  QCOMPARE(doctor.exitCode(), 0);
}

void TestSpanqGateway::refusesWrongServers() {
  for (const QString& url : {QString("ftp://host"), QString("no-such-name"), QString("http://u:p@host")}) {
    QProcess process;
    process.start(QStringLiteral(SPANSCOPE_SPANQ), {"serve", "--port", "0", "--upstream", url});
    QVERIFY(process.waitForFinished(kGatewayPatience));
    QVERIFY(process.exitCode() != 0);
    QVERIFY(!process.readAllStandardError().isEmpty());
  }
}

SPANSCOPE_TEST(tst_spanq_gateway, TestSpanqGateway)
#include "tst_spanq_gateway.moc"
