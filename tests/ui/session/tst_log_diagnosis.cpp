// SPDX-License-Identifier: GPL-3.0-or-later
// The diagnosis of a log for the window: stages, settings, stop, comparisons.
#include "engine/base/error.h"
#include "tests/support/test_program.h"
#include "ui/session/log_diagnosis.h"

#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <string>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kDiagnosisPatience = 60'000;  // milliseconds, for slow and instrumented machines

/// A line with a request whose system message contains the time.
QByteArray lineOf(int minute, int turns) {
  QByteArray line = "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"It is 14:" +
                    QByteArray::number(10 + minute % 50) +
                    ". You are a travel assistant. Name your sources in each answer.\"}";
  for (int turn = 0; turn < turns; ++turn) {
    line += ",{\"role\":\"user\",\"content\":\"Question number " + QByteArray::number(turn) +
            " about the trains from Lisbon to Porto\"}";
    if (turn + 1 < turns) line += ",{\"role\":\"assistant\",\"content\":\"Three trains leave before noon.\"}";
  }
  return line + "]}\n";
}

}  // namespace

class TestLogDiagnosis : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(m_folder->isValid());
  }

  void diagnosesAFile() {
    const QString path = write({lineOf(0, 1), lineOf(7, 2)});
    LogDiagnosis log;
    QVERIFY(log.state()->stage == LogState::Stage::None);
    log.open({path});
    QVERIFY(log.state()->isRunning());
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->isComplete(), kDiagnosisPatience);
    const doctor::LogReport& report = *log.state()->report;
    QCOMPARE(report.requests.size(), std::size_t{2});
    QCOMPARE(report.conversations, std::size_t{1});
    QVERIFY(report.lost > 0);
    QVERIFY(report.requests[1].findings.front().finding.cause == doctor::CauseId::Time);
    QCOMPARE(log.state()->progress, 1.0);
  }

  /// The log names a bundled model, whose tokenizer is used without a choice.
  void usesTheModelOfTheLog() {
    QByteArray line = lineOf(0, 1);
    LogDiagnosis log;
    log.open({write({line.replace("\"m\"", "\"spnl/spanlet\"")})});
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->isComplete(), kDiagnosisPatience);
    QVERIFY(!log.state()->report->isEstimated);
    log.open({write({lineOf(0, 1)})});
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->isComplete(), kDiagnosisPatience);
    QVERIFY(log.state()->report->isEstimated);
  }

  /// The first rows are shown before the end, and a stop keeps the rows.
  void stopsSoon() {
    QList<QByteArray> lines;
    for (int i = 0; i < 4000; ++i) lines << lineOf(i, 12);
    LogDiagnosis log;
    log.open({write(lines)});
    QTRY_VERIFY_WITH_TIMEOUT(!log.state()->report->requests.empty(), kDiagnosisPatience);
    QVERIFY(log.state()->isRunning());
    log.stop();
    QTRY_VERIFY_WITH_TIMEOUT(!log.state()->isRunning(), kDiagnosisPatience);
    QVERIFY(log.state()->stage == LogState::Stage::Stopped);
    QVERIFY(!log.state()->report->requests.empty());
    QVERIFY(log.state()->report->requests.size() < 4000);
  }

  void comparesTheChosenRequest() {
    LogDiagnosis log;
    log.open({write({lineOf(0, 1), lineOf(7, 2)})});
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->isComplete(), kDiagnosisPatience);
    log.choose(1);
    QCOMPARE(log.state()->other, std::optional<std::size_t>(0));
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->comparison != nullptr, kDiagnosisPatience);
    const doctor::PromptComparison& made = *log.state()->comparison;
    QCOMPARE(made.common, log.state()->report->requests[1].common);
    QCOMPARE(QString::fromStdString(log.requestAt(1).messages.back().parts.front().text).section(u' ', 0, 2),
             QStringLiteral("Question number 1"));
    QVERIFY_EXCEPTION_THROWN(log.requestAt(2), Failure);
    log.choose(0);
    QVERIFY(!log.state()->other && log.state()->comparison == nullptr);
  }

  /// A sample has the requests that an edit changes. Measured values are for its log only.
  void samplesForQuality() {
    LogDiagnosis log;
    QSignalSpy changes(&log, &LogDiagnosis::changed);
    std::optional<jobs::LogQualityRequest> request;
    connect(&log, &LogDiagnosis::sampled, this, [&](const jobs::LogQualityRequest& made) { request = made; });
    log.sample(4);
    QVERIFY(!log.state()->isSampling);
    log.open({write({lineOf(0, 1), lineOf(7, 2)})});
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->isComplete(), kDiagnosisPatience);
    log.sample(4);
    QVERIFY(log.state()->isSampling);
    QTRY_VERIFY_WITH_TIMEOUT(request.has_value(), kDiagnosisPatience);
    QVERIFY(!log.state()->isSampling);
    QCOMPARE(request->choice.groups.size(), std::size_t{1});
    const doctor::QualityQuestion& question = request->choice.groups.front().questions.front();
    QCOMPARE(question.request, 1U);
    QVERIFY(question.query.empty());

    const auto measured = [&](const std::string& id) {
      jobs::LogQuality quality{.choice = request->choice};
      quality.choice.log = id;
      experiment::ProbedModel& group = quality.groups.emplace_back();
      group.name = "tiny";
      group.questions = {{.name = "q", .samples = {{.tokens = 4, .agreeing = 3, .divergence = 0.5}}}};
      return std::make_shared<const jobs::LogQuality>(quality);
    };
    log.takeQuality(measured("another log"));
    QVERIFY(log.state()->report->qualityModel.empty());
    log.takeQuality(measured(request->choice.log));
    QCOMPARE(log.state()->report->qualityModel, std::string("tiny"));
    QCOMPARE(log.state()->report->ways[1].quality->divergence(), 0.5);

    // A stopped sampling reports nothing.
    request.reset();
    log.sample(4);
    log.stopSampling();
    QTRY_VERIFY_WITH_TIMEOUT(!log.state()->isSampling, kDiagnosisPatience);
    QVERIFY(!request);
  }

  void otherRulesDiagnoseAgain() {
    LogDiagnosis log;
    log.open({write({lineOf(0, 1), lineOf(0, 2)})});
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->isComplete(), kDiagnosisPatience);
    LogSettings settings;
    settings.prices.perMillion = 2;
    log.setSettings(settings);
    QVERIFY(log.state()->isComplete());
    settings.server = QStringLiteral("sglang");
    log.setSettings(settings);
    QVERIFY(log.state()->isRunning());
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->isComplete(), kDiagnosisPatience);
    QVERIFY(log.state()->report->server.find("SGLang") != std::string::npos);
  }

  void settingsAreText() {
    LogSettings settings;
    settings.server = QStringLiteral("sglang");
    settings.prices.tokensPerSecond = 2500;
    settings.model = QStringLiteral("/models/small");
    QVERIFY(LogSettings::of(settings.text()) == settings);
    QVERIFY(LogSettings::of(QStringLiteral("server=none;speed=-4;price=x")) == LogSettings());
  }

  void recognizesLogs() {
    QVERIFY(isLog(write({lineOf(0, 1)})));
    QVERIFY(isLog(write({"damaged {\n", lineOf(0, 1)})));
    QVERIFY(!isLog(write({"Two trains leave before noon.\n"})));
    QVERIFY(!isLog(write({"{\"cross\": [{\"user\": \"Hello\"}]}"})));
    QVERIFY(!isLog(m_folder->path()));
    QVERIFY(!isLog(m_folder->filePath(QStringLiteral("none"))));
    QVERIFY(beginsAsLog(write({"# a comment\n", lineOf(0, 1)})));
    QVERIFY(!beginsAsLog(write({"Send this request:\n", lineOf(0, 1)})));
  }

  void failuresAreShown() {
    LogDiagnosis log;
    log.open({m_folder->filePath(QStringLiteral("none"))});
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->stage == LogState::Stage::Failed, kDiagnosisPatience);
    QVERIFY(!log.state()->problem.isEmpty());
    log.open({write({"{}\n"})});
    QTRY_VERIFY_WITH_TIMEOUT(log.state()->stage == LogState::Stage::Failed, kDiagnosisPatience);
    QVERIFY(!log.state()->problem.isEmpty());
  }

 private:
  QString write(const QList<QByteArray>& lines) {
    const QString path = m_folder->filePath(QStringLiteral("log-%1.jsonl").arg(m_files++));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    for (const QByteArray& line : lines) file.write(line);
    return path;
  }

  std::unique_ptr<QTemporaryDir> m_folder;
  int m_files = 0;
};

SPANSCOPE_TEST(tst_log_diagnosis, TestLogDiagnosis, QCoreApplication)
#include "tst_log_diagnosis.moc"
