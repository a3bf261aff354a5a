// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/trace/trace_file.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/commands/command_palette.h"
#include "ui/document/document_file.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/views/scrubber/scrubber.h"
#include "ui/window/dock.h"
#include "ui/window/document_tabs.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/main_window.h"
#include "ui/window/trace_controller.h"

#include <QAction>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QList>
#include <QObject>
#include <QPlainTextEdit>
#include <QPointF>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QUndoStack>
#include <QUndoView>

#include <algorithm>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

}  // namespace

class TestMainWindow : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  std::unique_ptr<QSettings> m_settings;
  std::unique_ptr<MainWindow> m_window;

  void makeWindow() {
    m_window = std::make_unique<MainWindow>(*m_settings, m_folder->filePath(QStringLiteral("autosave")),
                                            test::cpuBackends());
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
  }

  QPushButton* button(const QString& name) const {
    for (QPushButton* button : m_window->findChildren<QPushButton*>()) {
      if (button->accessibleName() == name || button->text() == name) return button;
    }
    return nullptr;
  }

  const trace::Progress& progress() { return m_window->workspace().input().state().progress(); }
  const trace::RequestState& newestRequest() { return progress().requests.rbegin()->second; }

  /// Waits until the window shows the end of the run with that number.
  void waitForRun(RunId run, QSignalSpy& ended) {
    QVERIFY(!ended.isEmpty() || ended.wait(kPatience));
    QCOMPARE(ended.front().front().toString(), QString());
    QTRY_VERIFY(progress().runs.contains(run) && progress().runs.at(run).outcome.has_value());
  }

 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_settings =
        std::make_unique<QSettings>(m_folder->filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    makeWindow();
  }
  void cleanup() {
    m_window.reset();
    m_settings.reset();
    m_folder.reset();
  }

  /// From the start of the program to the answer of an example: one click on its card and one on Run.
  void twoClicksToAnAnswer() {
    QVERIFY(m_window->isWelcome());
    QAbstractButton* card = nullptr;
    for (QAbstractButton* candidate : m_window->findChildren<QAbstractButton*>()) {
      if (candidate->accessibleName().contains(QStringLiteral("RAG")) && card == nullptr) card = candidate;
    }
    QVERIFY(card != nullptr);
    QTest::mouseClick(card, Qt::LeftButton);
    QVERIFY(!m_window->isWelcome());
    QPushButton* run = button(QStringLiteral("Run"));
    QVERIFY(run != nullptr && run->isEnabled());
    QSignalSpy ended(&m_window->workspace(), &Workspace::jobEnded);
    QTest::mouseClick(run, Qt::LeftButton);
    waitForRun(1, ended);
    QVERIFY2(progress().runs.rbegin()->second.answer.find("Biscuit") != std::string::npos,
             progress().runs.rbegin()->second.answer.c_str());
  }

  /// Settings have entries of their own in the menu, and lists of their own in the history.
  void settingsAreUndoneApart() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    DocumentModel& model = *m_window->workspace().model();
    model.change(QStringLiteral("Rename"),
                 [](document::Document& value) { document::setName(value, value.root(), "mine"); });
    model.change(QStringLiteral("Policy"),
                 [](document::Document& value) { value.settings.policy = "prefix"; });
    const auto text = [this](const char* id) {
      return m_window->findChild<QAction*>(QLatin1String(id))->text();
    };
    QCOMPARE(text("edit.undo"), QStringLiteral("Undo “Rename”"));
    QCOMPARE(text("edit.undo-setting"), QStringLiteral("Undo setting “Reuse policy: spans → prefix”"));

    QStringList listed;
    QTimer::singleShot(0, this, [&listed] {
      QWidget* dialog = QApplication::activeModalWidget();
      for (const QUndoView* list : dialog->findChildren<QUndoView*>())
        listed += list->stack()->text(list->stack()->count() - 1);
      dialog->close();
    });
    m_window->perform(QStringLiteral("edit.history"));
    QCOMPARE(listed, (QStringList{QStringLiteral("Rename"), QStringLiteral("Reuse policy: spans → prefix")}));

    m_window->perform(QStringLiteral("edit.undo"));
    QCOMPARE(model.document().settings.policy, std::string("prefix"));
    QCOMPARE(model.document().at(model.document().root()).name, std::string());
    m_window->perform(QStringLiteral("edit.undo-setting"));
    QCOMPARE(model.document().settings.policy, std::string("spans"));
    QCOMPARE(text("edit.redo-setting"), QStringLiteral("Redo setting “Reuse policy: spans → prefix”"));
    QVERIFY(!model.isModified());
    m_window->perform(QStringLiteral("edit.redo-setting"));
    QCOMPARE(model.document().settings.policy, std::string("prefix"));
  }

  /// Hints and tips name the user's keys, and none where there is none.
  void hintsNameTheKeysInForce() {
    const auto says = [this](const QString& text) {
      const QList<QLabel*> labels = m_window->findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(),
                         [&text](const QLabel* label) { return label->text() == text; });
    };
    QVERIFY(says(worded("<open-example-then|Ctrl+Return>")));
    QCOMPARE(button(worded("<create-query>"))->toolTip(), worded("<new-query> (Ctrl+N)"));
    m_window.reset();
    m_settings->setValue(QStringLiteral("keys/run.run"), QStringLiteral("Ctrl+J"));
    m_settings->setValue(QStringLiteral("keys/file.new"), QString());
    m_settings->setValue(QStringLiteral("keys/node.add"), QStringLiteral("Ctrl+E"));
    m_settings->setValue(QStringLiteral("keys/run.older"), QStringLiteral("Ctrl+9"));
    makeWindow();
    QVERIFY(says(worded("<open-example-then|Ctrl+J>")));
    QCOMPARE(button(worded("<create-query>"))->toolTip(), worded("<new-query>"));

    m_window->newDocument();
    QTRY_VERIFY(m_window->canvas().accessibleDescription().contains(QStringLiteral("Ctrl+E adds a node")));
    QVERIFY(m_window->workspace().runs().start().contains(QStringLiteral("(Ctrl+E)")));
    m_window->perform(QStringLiteral("view.explain"));
    const auto* runs = m_window->findChild<Scrubber*>()->findChild<QComboBox*>();
    QTRY_VERIFY2(runs->toolTip().contains(QStringLiteral("Ctrl+9: the older run")),
                 qPrintable(runs->toolTip()));
    QVERIFY(runs->toolTip().contains(QStringLiteral("Alt+Shift+Right: the newer run")));
  }

  /// A canvas that shows the whole query shows it whole again when its tab comes back, after any size in
  /// between; one that the user moved stays where it was.
  void tabsComeBackFitted() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QTRY_VERIFY(m_window->canvas().place().isFitted);
    QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
    QTRY_VERIFY(m_window->canvas().place().isFitted);
    m_window->resize(1700, 1100);
    Workspace& workspace = m_window->workspace();
    workspace.setCurrent(workspace.documents().front().get());
    QTRY_VERIFY(m_window->canvas().place().isFitted);
    QTRY_COMPARE(m_window->canvas().width() > 700, true);
    const CanvasPlace back = m_window->canvas().place();
    m_window->perform(QStringLiteral("view.fit-all"));
    const CanvasPlace fitted = m_window->canvas().place();
    QCOMPARE(back.zoom, fitted.zoom);
    QVERIFY((back.center - fitted.center).manhattanLength() < 2);

    m_window->canvas().setPlace({.zoom = 0.5, .center = QPointF(30, 40), .isFitted = false});
    workspace.setCurrent(workspace.documents().back().get());
    workspace.setCurrent(workspace.documents().front().get());
    QTest::qWait(50);
    QCOMPARE(m_window->canvas().place().zoom, 0.5);
  }

  void keysRunMoveAndRunAgain() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->activateWindow();
    m_window->canvas().setFocus();
    QSignalSpy first(&m_window->workspace(), &Workspace::jobEnded);
    QTest::keyClick(&m_window->canvas(), Qt::Key_Return, Qt::ControlModifier);
    waitForRun(1, first);
    const std::string answer = progress().runs.rbegin()->second.answer;

    const document::Document& document = m_window->workspace().model()->document();
    Selection selection;
    for (const document::NodeId id : document.ids()) {
      const auto* join = document.at(id).own.as<query::Join>();
      if (join != nullptr && join->kind == query::JoinKind::Plus)
        selection.nodes = {document.at(id).children[0]};
    }
    m_window->workspace().select(selection);
    QTest::keyClick(&m_window->canvas(), Qt::Key_Down, Qt::ControlModifier);
    QCOMPARE(m_window->workspace().model()->undoStack().count(), 1);
    QSignalSpy second(&m_window->workspace(), &Workspace::jobEnded);
    QTest::keyClick(&m_window->canvas(), Qt::Key_Return, Qt::ControlModifier);
    waitForRun(2, second);
    QCOMPARE(progress().runs.rbegin()->second.answer, answer);
    QVERIFY(newestRequest().relocatedTokens > 0);
    QTest::keyClick(&m_window->canvas(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(!m_window->workspace().model()->isModified());
  }

  /// Saved, closed and opened again a document is the same, layout included; as query JSON it is what ran.
  /// From a text that is being edited the keyboard leads back to the canvas.
  void escapeAndF6LeadBackToTheCanvas() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QApplication::setActiveWindow(m_window.get());
    QWidget* canvas = &m_window->canvas();
    QWidget* text = nullptr;
    for (QPlainTextEdit* edit : m_window->findChildren<QPlainTextEdit*>()) {
      if (edit->isVisible() && !edit->isReadOnly()) text = edit;
    }
    QVERIFY(text != nullptr);
    for (const Qt::Key key : {Qt::Key_Escape, Qt::Key_F6}) {
      text->setFocus();
      QTRY_COMPARE(QApplication::focusWidget(), text);
      QTest::keyClick(text, key);
      QTRY_COMPARE(QApplication::focusWidget(), canvas);
    }
  }

  /// The palette offers a command of the canvas only where the canvas would do something.
  void thePaletteOffersWhatWouldDoSomething() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QStringList offered;
    const auto look = [&] {
      m_window->perform(QStringLiteral("help.palette"));
      auto* palette = m_window->findChild<CommandPalette*>();
      QVERIFY(palette != nullptr);
      const PaletteModel* rows = &palette->model();
      offered.clear();
      for (int row = 0; row < rows->rowCount(); ++row)
        if (rows->isEnabledAt(row)) offered.append(rows->index(row, 0).data(Qt::DisplayRole).toString());
      palette->hide();
    };
    look();
    QVERIFY(offered.contains(QStringLiteral("Find…")));
    QVERIFY(!offered.contains(QStringLiteral("Tidy layout")));
    QVERIFY(!offered.contains(worded("<make-query>")));
    m_window->workspace().model()->change(QStringLiteral("Move"), [](document::Document& document) {
      document::setPosition(document, document.root(), document::Point{.x = 700, .y = 20});
    });
    look();
    QVERIFY(offered.contains(QStringLiteral("Tidy layout")));
  }

  /// Keys work in the window of a dock that floats as they do in the main window.
  void keysWorkInADockThatFloats() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->docks().setLayout(LayoutId::Explain);
    for (const QString& id : {QStringLiteral("canvas"), QStringLiteral("attention")}) {
      Dock* dock = m_window->docks().dock(id);
      dock->setFloating(true);
      QVERIFY(dock->isWindow());
      dock->activateWindow();
      QTRY_VERIFY(dock->isActiveWindow());
      dock->widget()->setFocus();
      const Scheme scheme = m_window->scheme();
      QTest::keyClick(dock, Qt::Key_L, Qt::ControlModifier | Qt::ShiftModifier);
      QVERIFY(m_window->scheme() != scheme);
      QTest::keyClick(dock, Qt::Key_F11, Qt::ShiftModifier);
      QVERIFY(!dock->isFloating());
    }
  }

  void thePaletteFindsLessons() {
    m_window->perform(QStringLiteral("help.palette"));
    auto* palette = m_window->findChild<CommandPalette*>();
    QVERIFY(palette != nullptr);
    QTest::keyClicks(palette->field(), QStringLiteral("relocation"));
    QCOMPARE(palette->model().idAt(0), QStringLiteral("learn.lesson:5-relocation.md"));
    QTest::keyClick(palette->field(), Qt::Key_Return);
    QVERIFY(m_window->lessons().reader().course() != nullptr);
    QVERIFY(m_window->lessons().reader().course()->file().path.endsWith(QStringLiteral("5-relocation.md")));
    m_window->perform(QStringLiteral("learn.leave"));
  }

  /// A dock that was closed comes back when its name is typed.
  void thePaletteFindsDocks() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    Dock* attention = m_window->docks().dock(QStringLiteral("attention"));
    QVERIFY(attention != nullptr);
    m_window->docks().setLayout(LayoutId::Explain);
    attention->close();
    QVERIFY(attention->isHidden());
    m_window->perform(QStringLiteral("help.palette"));
    auto* palette = m_window->findChild<CommandPalette*>();
    QVERIFY(palette != nullptr);
    QTest::keyClicks(palette->field(), attention->windowTitle());
    QCOMPARE(palette->model().idAt(0), QStringLiteral("view.dock:attention"));
    QTest::keyClick(palette->field(), Qt::Key_Return);
    QVERIFY(!attention->isHidden());
  }

  void savesAndOpens() {
    QVERIFY(m_window->openExample(QStringLiteral("judge-2.json")));
    DocumentModel& model = *m_window->workspace().model();
    model.change(QStringLiteral("Name"), [](document::Document& document) {
      document::setName(document, document.root(), "the judge");
      document::setPosition(document, document.root(), document::Point{.x = 700, .y = 20});
    });
    const QString path = m_folder->filePath(QStringLiteral("judge.span"));
    model.setFilePath(path);
    const auto whole = document::toQuery(model.document(), document::TakeOut::Nothing).query;
    m_window->perform(QStringLiteral("file.save"));
    QVERIFY(!model.isModified());
    m_window->perform(QStringLiteral("file.close"));
    QVERIFY(m_window->workspace().current() == nullptr);
    QVERIFY(m_window->isWelcome());

    QVERIFY(m_window->openFile(path));
    const document::Document& opened = m_window->workspace().model()->document();
    QCOMPARE(opened.at(opened.root()).name, std::string("the judge"));
    QVERIFY(opened.at(opened.root()).position.has_value());
    QVERIFY(document::toQuery(opened, document::TakeOut::Nothing).query == whole);
    // The same file is not opened twice.
    QVERIFY(m_window->openFile(path));
    QCOMPARE(m_window->workspace().documents().size(), std::size_t(1));
  }

  /// A dock says what its trace does not report, above what it does, or in place of it.
  void docksSayWhatATraceDoesNotReport() {
    std::vector<trace::Event> events;
    const auto add = [&events](RequestId request, trace::Payload payload) {
      trace::Event event;
      event.sequence = events.size() + 1;
      event.session = 1;
      event.run = events.empty() ? 0 : 1;
      event.request = request;
      event.payload = std::move(payload);
      events.push_back(std::move(event));
    };
    add(0, trace::SessionStarted{});
    add(0, trace::RunStarted{.queryJson = R"({"g":{"model":"m","input":{"user":"a"}}})", .policy = "prefix"});
    add(1, trace::StepStarted{});
    add(1, trace::TokenGenerated{.text = "a", .shown = "a", .segmentMass = {}});
    add(1, trace::StepFinished{.text = "a"});
    add(0, trace::RunFinished{.answer = "a"});
    const QString path = m_folder->filePath(QStringLiteral("served.trace"));
    trace::writeTrace(path.toStdString(), events, {.program = "a server", .createdAt = 0});
    QVERIFY(m_window->openFile(path));
    const auto said = [this](const char* id) {
      Dock* const dock = m_window->findChild<Dock*>(QStringLiteral("dock-") + QLatin1String(id));
      dock->openView();
      const auto* label = dock->findChild<QLabel*>(QStringLiteral("dockUnreported"));
      return label == nullptr || label->isHidden() ? QString() : label->text();
    };
    const auto isViewHidden = [this](const char* id) {
      return m_window->findChild<Dock*>(QStringLiteral("dock-") + QLatin1String(id))->view()->isHidden();
    };
    QCOMPARE(said("attention"), worded("<not-reported|attention>"));
    QVERIFY(isViewHidden("attention"));
    QCOMPARE(said("pool"), worded("<not-reported|the pool>"));
    QCOMPARE(said("timeline"), worded("<not-reported|%1>").arg(worded("<passes-rates>")));
    QVERIFY(!isViewHidden("timeline"));
    QCOMPARE(said("output"), QString());
    // What takes several lines is there as a whole.
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
    m_window->perform(QStringLiteral("view.explain"));
    QTest::qWait(50);
    Dock* const output = m_window->docks().dock(QStringLiteral("output"));
    output->setUnreported(worded("<not-reported|%1>").arg(QStringLiteral("a fact, ").repeated(30)), false);
    const auto* note = output->findChild<QLabel*>(QStringLiteral("dockUnreported"));
    QTest::qWait(20);
    QVERIFY(note->isVisible() && note->heightForWidth(note->width()) > 2 * note->fontMetrics().height());
    QCOMPARE(note->height(), note->heightForWidth(note->width()));
    // What a title says of the view is said with the view only.
    Dock* const attention = m_window->docks().dock(QStringLiteral("attention"));
    const auto* summary = attention->findChild<QLabel*>(QStringLiteral("dockSummary"));
    Q_EMIT attention->view()->summaryChanged(QStringLiteral("run 1"));
    QCOMPARE(summary->text(), QString());
    attention->setUnreported({}, false);
    QCOMPARE(summary->text(), QStringLiteral("run 1"));
    // A tab of the session has all of it.
    m_window->perform(QStringLiteral("file.new"));
    QCOMPARE(said("attention"), QString());
    QVERIFY(!isViewHidden("attention"));
  }

  void layoutsShowTheirDocks_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QStringList>("shown");
    QTest::newRow("author") << QStringLiteral("view.author")
                            << QStringList{QStringLiteral("add"),       QStringLiteral("canvas"),
                                           QStringLiteral("inspector"), QStringLiteral("json"),
                                           QStringLiteral("problems"),  QStringLiteral("output")};
    QTest::newRow("explain") << QStringLiteral("view.explain")
                             << QStringList{QStringLiteral("canvas"),      QStringLiteral("tokens"),
                                            QStringLiteral("block-table"), QStringLiteral("why"),
                                            QStringLiteral("output"),      QStringLiteral("attention"),
                                            QStringLiteral("scrubber")};
    QTest::newRow("measure") << QStringLiteral("view.measure")
                             << QStringList{QStringLiteral("metrics"), QStringLiteral("timeline"),
                                            QStringLiteral("compare")};
  }

  void layoutsShowTheirDocks() {
    QFETCH(QString, command);
    QFETCH(QStringList, shown);
    QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(command);
    for (const QString& id : shown) {
      const Dock* dock = m_window->docks().dock(id);
      QVERIFY2(dock != nullptr, qPrintable(id));
      QVERIFY2(dock->isVisible(), qPrintable(id));
      QTRY_VERIFY2(dock->width() > 40 && dock->height() > 20, qPrintable(id));
    }
  }

  void themeSwitchesEverywhere() {
    QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
    const Scheme before = m_window->scheme();
    m_window->perform(QStringLiteral("view.theme"));
    QVERIFY(m_window->scheme() != before);
    QCOMPARE(m_window->workspace().input().theme.scheme(), m_window->scheme());
    QCOMPARE(QApplication::palette().color(QPalette::Window), Theme(m_window->scheme()).color(Role::Window));
    m_window->perform(QStringLiteral("view.theme"));
    QCOMPARE(m_window->scheme(), before);
  }

  void tabsHaveTheirOwnDocuments() {
    m_window->openExample(QStringLiteral("chat.json"));
    m_window->openExample(QStringLiteral("rag.json"));
    QCOMPARE(m_window->workspace().documents().size(), std::size_t(2));
    auto* tabs = m_window->findChild<DocumentTabs*>()->findChild<QTabBar*>();
    QVERIFY(tabs != nullptr);
    QCOMPARE(tabs->count(), 2);
    QCOMPARE(tabs->currentIndex(), 1);
    tabs->setCurrentIndex(0);
    QCOMPARE(m_window->workspace().current(), m_window->workspace().documents()[0].get());
    QCOMPARE(m_window->workspace().model()->title(), QStringLiteral("chat"));
  }

  /// Every command of the table does something or nothing, but breaks nothing, whatever is open.
  void commandsHoldWithoutADocument() {
    // Those of the program whose text ends with an ellipsis wait for a dialog.
    const QStringList others{QStringLiteral("file.new"), QStringLiteral("file.quit"),
                             QStringLiteral("help.keys"), QStringLiteral("help.about")};
    for (const CommandInfo& info : commandTable()) {
      const bool waits = info.subject == CommandSubject::Program && info.text.endsWith(QChar(u'…'));
      if (!waits && !others.contains(info.id)) m_window->perform(info.id);
    }
    QVERIFY(m_window->workspace().current() == nullptr);
  }

  /// As the menu does: a command that stops something is found by that.
  void thePaletteNamesWhatACommandDoesNow() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QVERIFY(m_window->traces().recordTo(m_folder->filePath(QStringLiteral("a.trace"))));
    m_window->perform(QStringLiteral("help.palette"));
    const auto* palette = m_window->findChild<CommandPalette*>();
    QVERIFY(palette != nullptr);
    const PaletteModel& model = palette->model();
    int row = 0;
    while (row < model.rowCount() && model.idAt(row) != QLatin1String("run.record")) ++row;
    QVERIFY(row < model.rowCount());
    QVERIFY(model.data(model.index(row), Qt::DisplayRole).toString() !=
            findCommand(QStringLiteral("run.record"))->text);
  }

  void stateOutlivesTheWindow() {
    const QString path = m_folder->filePath(QStringLiteral("kept.json"));
    QVERIFY(QFile::copy(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/chat.json"), path));
    QVERIFY(m_window->openFile(path));
    QVERIFY(m_window->close());
    m_window.reset();
    makeWindow();
    m_window->restoreSession();
    QCOMPARE(m_window->workspace().documents().size(), std::size_t(1));
    QCOMPARE(m_window->workspace().model()->filePath(), path);
  }
};

SPANSCOPE_TEST(tst_main_window, TestMainWindow, QApplication)
#include "tst_main_window.moc"
