// SPDX-License-Identifier: GPL-3.0-or-later
// The docks of the Diagnose layout: rows, bars and token strips of a diagnosed log.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/views/common/table_view.h"
#include "ui/views/diagnosis/log_costs_view.h"
#include "ui/views/diagnosis/log_requests_model.h"
#include "ui/views/diagnosis/log_requests_view.h"
#include "ui/views/diagnosis/log_strips_area.h"
#include "ui/views/diagnosis/log_strips_view.h"

#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>

#include <memory>
#include <string>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// A conversation whose system message contains the time, and another conversation.
std::string logText() {
  const auto line = [](const std::string& time, const std::string& rest) {
    return R"({"model":"m","messages":[{"role":"system","content":"It is )" + time +
           R"(. You are a travel assistant. Answer in short sentences and name your sources."},)" + rest +
           "]}\n";
  };
  const std::string first =
      R"({"role":"user","content":"Which trains go from Lisbon to Porto in the morning?"})";
  return line("14:03", first) +
         line("14:07", first + R"(,{"role":"assistant","content":"Three trains leave before noon."},)"
                               R"({"role":"user","content":"Which one is the fastest?"})") +
         R"({"model":"m","messages":[{"role":"user","content":"A wholly different question about bread."}]})" +
         "\n";
}

/// Requests of 40 conversations in turn.
std::string interleavedText(int requests) {
  std::string text;
  for (int i = 0; i < requests; ++i)
    text += R"({"session_id":"s)" + std::to_string(i % 40) +
            R"(","model":"m","messages":[{"role":"user","content":"Q )" + std::to_string(i) + R"("}]})" +
            "\n";
  return text;
}

std::string failedText() {
  return R"({"status":400,"request":{"messages":[{"role":"user","content":"Hello"}]}})" + std::string("\n");
}

LogState diagnosedState(const std::string& text) {
  const auto tokenizer = doctor::makeEstimate();
  const doctor::LogReader log({{.name = "log.jsonl", .path = {}, .text = text}});
  LogState state;
  state.stage = LogState::Stage::Finished;
  state.files = {QStringLiteral("log.jsonl")};
  state.progress = 1;
  state.report = std::make_shared<const doctor::LogReport>(doctor::diagnose(log, *tokenizer, {}));
  state.chosen = 1;
  state.other = 0;
  state.comparison = std::make_shared<const doctor::PromptComparison>(
      doctor::comparePrompts(log.again(state.report->requests[0].place),
                             log.again(state.report->requests[1].place), *tokenizer, 64));
  return state;
}

ViewInput inputOf(LogState state) {
  ViewInput input;
  input.document = std::make_shared<const document::Document>();
  input.trace = std::make_shared<TraceStore>();
  test::setMeasured<LogDiagnosisKind>(input, std::move(state));
  return input;
}

}  // namespace

class TestDiagnosisViews : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { QApplication::setStyle(QStringLiteral("Fusion")); }

  void requestsAreGrouped() {
    LogRequestsModel model;
    model.setState(std::make_shared<const LogState>(diagnosedState(logText())), Theme());
    QCOMPARE(model.rowCount(), 3);
    const auto text = [&](int row, int column) { return model.index(row, column).data().toString(); };
    QCOMPARE(text(0, LogRequestsModel::Turn), QStringLiteral("1.1"));
    QCOMPARE(text(1, LogRequestsModel::Turn), QStringLiteral("1.2"));
    QCOMPARE(text(2, LogRequestsModel::Turn), QStringLiteral("2.1"));
    QVERIFY(text(1, LogRequestsModel::Change).contains(QStringLiteral("14:03 → 14:07")));
    QVERIFY(!text(1, LogRequestsModel::Help).isEmpty());
    QCOMPARE(model.rowOf(1), 1);
    QCOMPARE(model.rowOf({}), -1);
    QCOMPARE(model.csv().count(QLatin1Char('\n')), 4);
  }

  /// Numbers that are known only at the end are not shown as 0.
  void unknownNumbersAreOpen() {
    LogState state = diagnosedState(logText());
    state.stage = LogState::Stage::Reading;
    LogRequestsModel model;
    model.setState(std::make_shared<const LogState>(state), Theme());
    QCOMPARE(model.index(1, LogRequestsModel::Lost).data().toString(), QStringLiteral("…"));
  }

  void rowsChooseAndOpenRequests() {
    LogRequestsView view;
    view.resize(900, 400);
    view.show();
    LogState state = diagnosedState(logText());
    state.chosen.reset();
    view.setInput(inputOf(std::move(state)));
    QVERIFY(view.table().isVisible());
    QVERIFY(view.table().isColumnHidden(LogRequestsModel::Price));
    QSignalSpy wanted(&view, &View::commandWanted);
    view.table().selectRow(2);
    QCOMPARE(wanted.takeLast().at(0).toString(), QStringLiteral("log.choose:2"));
    Q_EMIT view.table().rowActivated(1);
    QCOMPARE(wanted.takeLast().at(0).toString(), QStringLiteral("log.document:1"));
  }

  /// Models that were never loaded can be chosen, too.
  void offersTokenizers() {
    LogRequestsView view;
    view.resize(900, 400);
    view.show();
    LogState state = diagnosedState(logText());
    state.settings.model = QStringLiteral("/models/other.gguf");
    ViewInput input = inputOf(std::move(state));
    input.models.recent = {"/models/recent"};
    view.setInput(input);
    const QComboBox& tokens = *view.findChildren<QComboBox*>().at(1);
    QStringList models;
    for (int i = 0; i < tokens.count(); ++i) models << tokens.itemData(i).toString();
    QVERIFY(models.contains(QLatin1String(LogSettings::kModelOfLog)));
    QVERIFY(models.contains(QString()));
    QVERIFY(models.filter(QStringLiteral("spanlet")).size() >= 1);  // bundled
    QCOMPARE(tokens.currentData().toString(), QStringLiteral("/models/other.gguf"));
    QVERIFY(models.at(models.size() - 1).startsWith(QLatin1Char('\n')));
  }

  /// The table grows while the log is read. The user stays at the same rows.
  void growingTableKeepsItsPlace() {
    const std::string text = interleavedText(80);
    LogRequestsView view;
    view.resize(900, 300);
    view.show();
    LogState state = diagnosedState(text);
    state.stage = LogState::Stage::Reading;
    auto report = std::make_shared<doctor::LogReport>(*state.report);
    const std::vector<doctor::RequestReport> all = report->requests;
    report->requests.resize(40);
    state.report = report;
    state.chosen = 2;
    view.setInput(inputOf(state));
    TableView& table = view.table();
    table.scrollTo(table.shownIndex(20), QAbstractItemView::PositionAtTop);
    const auto top = [&] { return view.model().requestOf(table.rowOf(table.indexAt(QPoint(0, 0)))); };
    const std::size_t before = top();
    QVERIFY(before > 0);
    report->requests = all;
    view.setInput(inputOf(state));
    QTRY_COMPARE(view.model().rowCount(), 80);
    QCOMPARE(top(), before);
    QCOMPARE(view.model().requestOf(table.selectedRow()), std::size_t{2});
  }

  void failedRequestsAreMarked() {
    LogRequestsModel model;
    LogState state;
    const doctor::LogReader log({{.name = "log", .path = {}, .text = failedText()}});
    state.report =
        std::make_shared<const doctor::LogReport>(doctor::diagnose(log, *doctor::makeEstimate(), {}));
    model.setState(std::make_shared<const LogState>(state), Theme());
    QVERIFY(model.index(0, LogRequestsModel::Cause).data().toString().contains(QStringLiteral("400")));
  }

  void barsHaveAllCausesAndWays() {
    const LogState state = diagnosedState(logText());
    const std::vector<LogBarGroup> groups = logBarsOf(state);
    QVERIFY(groups.size() >= 2);
    QCOMPARE(groups[0].bars.front().request, std::optional<std::size_t>(1));
    QCOMPARE(groups[1].bars.size(), std::size_t{5});
    for (const LogBarGroup& group : groups)
      for (const LogBar& bar : group.bars) QVERIFY(bar.length >= 0 && bar.length + bar.rest <= 1.0001);
  }

  /// The button measures a complete log, and stops a running measurement.
  void qualityIsMeasured() {
    LogCostsView view;
    view.resize(500, 500);
    view.show();
    LogState state = diagnosedState(logText());
    view.setInput(inputOf(state));
    const QSpinBox& most = *view.findChild<QSpinBox*>();
    auto& button = *view.findChild<QPushButton*>();
    const QProgressBar& progress = *view.findChild<QProgressBar*>();
    QVERIFY(button.isVisible() && !progress.isVisible());
    const QString measure = button.text();
    QSignalSpy wanted(&view, &View::commandWanted);
    button.click();
    QCOMPARE(wanted.takeLast().at(0).toString(), QStringLiteral("log.quality:%1").arg(most.value()));

    jobs::LogQuality quality;
    quality.choice.groups = {{.policies = {{.policy = "prefix", .ways = {"edits"}}},
                              .questions = {{.request = 1, .query = {}}, {.request = 2, .query = {}}}}};
    quality.groups.emplace_back().questions = {{.name = "q", .samples = {{.tokens = 4, .agreeing = 3}}}};
    ViewInput running = inputOf(state);
    test::setMeasured<jobs::LogQualityJob>(running, quality, workbench::JobState::Working);
    view.setInput(running);
    QTRY_VERIFY(progress.isVisible());
    QCOMPARE(2 * progress.value(), progress.maximum());
    QVERIFY(button.text() != measure && !most.isEnabled());
    button.click();
    QCOMPARE(wanted.takeLast().at(0).toString(), QStringLiteral("log.quality:stop"));

    auto report = std::make_shared<doctor::LogReport>(*state.report);
    report->qualityModel = "tiny";
    report->ways[1].quality = {.requests = {{.request = 1, .divergence = 0.5, .tokens = 4, .agreeing = 3}}};
    state.report = report;
    const std::vector<LogBarGroup> groups = logBarsOf(state);
    const QString value = QString::fromStdString(doctor::qualityText(report->ways[1].quality));
    QCOMPARE(groups[1].bars[1].quality, value);
    QVERIFY(groups[1].bars[1].help.contains(value) && groups[1].bars[0].quality.isEmpty());
    view.setInput(inputOf(state));
    QTRY_COMPARE(button.text(), measure);
    QVERIFY(view.csv().contains(value));

    state.stage = LogState::Stage::Reading;
    view.setInput(inputOf(state));
    QTRY_VERIFY(!button.isVisible());
  }

  void tokensHaveTheirState() {
    const LogState state = diagnosedState(logText());
    const doctor::RequestReport& request = state.report->requests[1];
    LogStripsArea area;
    area.resize(600, 400);
    area.show({.comparison = state.comparison, .cached = request.cached, .block = 16}, Theme());
    QVERIFY(area.contentSize().height() > 100);
    const std::size_t common = state.comparison->common;
    QCOMPARE(common, request.common);
    for (std::size_t token = 0; token < state.comparison->now.texts.size(); ++token) {
      const BlockRole role = area.roleOf(true, token);
      if (token < request.cached) QVERIFY(role == BlockRole::Hit);
      if (token >= common) QVERIFY(role == BlockRole::Computed || role == BlockRole::Relocated);
    }
  }

  /// Each dock paints itself in both themes, with and without a log.
  void picturesOfAllStates() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      for (const bool hasLog : {false, true}) {
        ViewInput input = inputOf(hasLog ? diagnosedState(logText()) : LogState());
        input.theme = Theme(scheme);
        LogRequestsView requests;
        LogStripsView strips;
        LogCostsView costs;
        for (View* view :
             {static_cast<View*>(&requests), static_cast<View*>(&strips), static_cast<View*>(&costs)}) {
          view->setInput(input);
          QImage image(700, 400, QImage::Format_RGB32);
          image.fill(Qt::magenta);
          QPainter painter(&image);
          view->paintTo(painter, image.size());
          painter.end();
          QVERIFY(image.pixelColor(350, 395) != QColor(Qt::magenta));
        }
      }
    }
  }
};

SPANSCOPE_TEST(tst_diagnosis_views, TestDiagnosisViews, QApplication)
#include "tst_diagnosis_views.moc"
