// SPDX-License-Identifier: GPL-3.0-or-later
// Every text of the window can be translated: a made-up language, made by Qt's own tools from the sources,
// marks each text that it knows, and what is shown without a mark could not be translated.
#include "engine/experiment/experiment.h"
#include "engine/export/export_target.h"
#include "engine/policy/policies.h"
#include "engine/trace/event_kind.h"
#include "engine/trace/miss_reasons.h"
#include "engine/trace/report.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/commands/command_table.h"
#include "ui/operators/operator_table.h"
#include "ui/views/view.h"
#include "ui/window/main_window.h"
#include "ui/words/table_words.h"

#include <QAbstractButton>
#include <QAction>
#include <QChar>
#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QLabel>
#include <QObject>
#include <QProcess>
#include <QRegularExpression>
#include <QRegularExpressionMatch>
#include <QSettings>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTranslator>

#include <utility>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kPatience = 120'000;  // milliseconds

/// What the program said where it failed; empty where it did not.
QString failureOf(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  if (process.waitForFinished(kPatience) && process.exitStatus() == QProcess::NormalExit &&
      process.exitCode() == 0) {
    return {};
  }
  return program + QStringLiteral(": ") + QString::fromUtf8(process.readAllStandardError()) +
         process.errorString();
}

}  // namespace

class TestTranslation : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const QString lupdate = QStringLiteral(SPANSCOPE_LUPDATE);
    const QString lrelease = QStringLiteral(SPANSCOPE_LRELEASE);
    if (!QFileInfo::exists(lupdate) || !QFileInfo::exists(lrelease)) {
      QSKIP("lupdate and lrelease (qt6-l10n-tools) are not installed");
    }
    QVERIFY(m_folder.isValid());
    const QString source = m_folder.filePath(QStringLiteral("spanscope_marked.ts"));
    const QString root = QStringLiteral(SPANSCOPE_SOURCE_DIR);
    QCOMPARE(failureOf(lupdate, {QStringLiteral("-recursive"), root + QStringLiteral("/ui"),
                                 root + QStringLiteral("/app"), root + QStringLiteral("/engine"),
                                 QStringLiteral("-tr-function-alias"),
                                 QStringLiteral("QT_TRANSLATE_NOOP+=forTranslation"), QStringLiteral("-I"),
                                 root, QStringLiteral("-ts"), source}),
             QString());
    translate(source);
    QCOMPARE(failureOf(lrelease, {source}), QString());
    QVERIFY(m_translator.load(QStringLiteral("spanscope_marked"), m_folder.path()));
    QVERIFY(QCoreApplication::installTranslator(&m_translator));
    m_isReady = true;
  }

  void tablesAreTranslated() {
    if (!m_isReady) QSKIP("nothing to translate with");
    for (const CommandInfo& command : commandTable()) {
      check(categoryTitle(command.category));
      check(command.text);
      check(command.help);
    }
    for (const ViewInfo& view : viewTable()) {
      check(view.title);
      check(view.help);
    }
    for (const OperatorRow& info : operatorTable()) {
      check(info.hint);
      check(info.help);
      check(info.promise);
    }
    for (const exports::ExportTarget& target : exports::exportTargets()) {
      check(QCoreApplication::translate("Export", target.title));
      check(QCoreApplication::translate("Export", target.help));
    }
    for (const policy::Policy* policy : policy::policies()) {
      check(policyWord(policy->help));
      for (const policy::Parameter& parameter : policy->parameters) {
        check(policyWord(parameter.label));
        check(policyWord(parameter.help));
      }
    }
    for (const trace::MissReasonInfo& info : trace::kMissReasons) {
      for (const char* text : {info.words, info.prediction, info.sentence, info.specialCase})
        if (*text != '\0') check(missWord(text));
    }
    checkEvents(std::make_index_sequence<trace::kEventKinds>());
    for (const experiment::Experiment* one : experiment::experiments()) {
      for (const char* text : {one->title, one->brief, one->xName}) check(experimentWord(text));
      if (*one->yName != '\0') check(experimentWord(one->yName));
      for (const experiment::ExperimentField& field : experiment::fieldsOf(*one)) {
        check(experimentWord(field.name));
        check(experimentWord(field.help));
      }
      for (const experiment::Measure& measure : one->measures) check(experimentWord(measure.name));
    }
    QVERIFY2(m_unmarked.isEmpty(), qPrintable(m_unmarked.join(QStringLiteral("\n"))));
  }

  void theWindowIsTranslated() {
    if (!m_isReady) QSKIP("nothing to translate with");
    QSettings settings(m_folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    MainWindow window(settings, m_folder.filePath(QStringLiteral("autosave")), test::cpuBackends());
    window.resize(1280, 800);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    checkTexts(window);
    QVERIFY(window.openFile(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json")));
    QSignalSpy ended(&window.workspace(), &Workspace::jobEnded);
    window.perform(QStringLiteral("run.run"));
    QVERIFY(ended.wait(kPatience));
    for (const char* layout : {"view.author", "view.explain", "view.measure"}) {
      window.perform(QString::fromLatin1(layout));
      QTest::qWait(200);
      checkTexts(window);
    }
    QVERIFY(m_checked > 100);
    QVERIFY2(m_unmarked.isEmpty(), qPrintable(m_unmarked.join(QStringLiteral("\n"))));
  }

 private:
  /// Translates every text into itself between marks.
  static void translate(const QString& path) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    file.close();
    static const QRegularExpression message(
        QStringLiteral("(<source>([^<]*)</source>.*?)<translation type=\"unfinished\">(.*?)</translation>"),
        QRegularExpression::DotMatchesEverythingOption);
    QString translated;
    qsizetype end = 0;
    for (auto found = message.globalMatch(text); found.hasNext();) {
      const QRegularExpressionMatch match = found.next();
      const QString marked = QStringLiteral("⟦%1⟧").arg(match.captured(2));
      const bool counts = match.captured(3).contains(QLatin1String("<numerusform>"));
      translated += text.mid(end, match.capturedStart() - end) + match.captured(1);
      translated +=
          counts ? QStringLiteral("<translation><numerusform>%1</numerusform></translation>").arg(marked)
                 : QStringLiteral("<translation>%1</translation>").arg(marked);
      end = match.capturedEnd();
    }
    translated += text.mid(end);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(translated.toUtf8());
  }

  template <std::size_t... I>
  void checkEvents(std::index_sequence<I...> /*kinds*/) {
    (checkEvent(std::variant_alternative_t<I, trace::Payload>()), ...);
  }
  template <class T>
  void checkEvent(const T& payload) {
    trace::Event event;
    event.payload = payload;
    const trace::EventWords words = trace::wordsOf(event);
    if (*words.text != '\0') check(QCoreApplication::translate("Events", words.text));
  }

  void check(const QString& text) {
    static const QRegularExpression words(QStringLiteral("[[:lower:]]{2}"));
    // Names, paths, answers and what the engine says of itself are the same in every language; Qt brings
    // translations of its own texts.
    static const QRegularExpression others(
        QStringLiteral("^(spanlet|spans ▾|rag\\.json|/.*|.*(block attention|full prefill) [✓≈].*|#\\d+ .*|"
                       "The pet of Tarek is Biscuit\\.|Scroll (Left|Right)|Float|Close( Tab)?)$"));
    if (text.contains(QChar(0x27E6)) || !words.match(text).hasMatch() || others.match(text).hasMatch())
      return;
    if (!m_unmarked.contains(text)) m_unmarked.append(text);
  }

  void checkTexts(const QWidget& window) {
    for (const QLabel* label : window.findChildren<QLabel*>()) take(label->text());
    for (const QAbstractButton* button : window.findChildren<QAbstractButton*>()) take(button->text());
    for (const QAction* action : window.findChildren<QAction*>()) take(action->text());
    for (const QTabBar* tabs : window.findChildren<QTabBar*>()) {
      for (int i = 0; i < tabs->count(); ++i) take(tabs->tabText(i));
    }
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
      take(widget->toolTip());
      take(widget->accessibleName());
    }
  }
  void take(const QString& text) {
    ++m_checked;
    check(text);
  }

  QTemporaryDir m_folder;
  QTranslator m_translator;
  QStringList m_unmarked;
  int m_checked = 0;
  bool m_isReady = false;
};

SPANSCOPE_TEST(tst_translation, TestTranslation, QApplication)
#include "tst_translation.moc"
