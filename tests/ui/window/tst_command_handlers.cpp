// SPDX-License-Identifier: GPL-3.0-or-later
// Every command of the table is carried out by one part of the window, and those that cannot do nothing.
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/commands/command_table.h"

#include <QAction>
#include <QClipboard>
#include <QObject>
#include <QPointF>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <memory>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// All that a command could change where it opens no dialog.
struct Shown {
  std::size_t documents = 0;
  bool isWelcome = false;
  document::Document document;
  int undoIndex = 0;
  std::vector<document::NodeId> selection;
  std::size_t position = 0;
  EngineState engine = EngineState::Idle;
  LayoutId layout = LayoutId::Author;
  Scheme scheme = Scheme::Light;
  double zoom = 0;
  QPointF center;
  QString clipboard;
  bool operator==(const Shown&) const = default;
};

Shown shown(MainWindow& window) {
  Workspace& workspace = window.workspace();
  Shown now;
  now.documents = workspace.documents().size();
  now.isWelcome = window.isWelcome();
  if (DocumentModel* model = workspace.model()) {
    now.document = model->document();
    now.undoIndex = model->undoStack().index();
  }
  now.selection = workspace.input().selection.nodes;
  now.position = workspace.input().position;
  now.engine = workspace.engine().state();
  now.layout = window.docks().layout();
  now.scheme = window.scheme();
  now.zoom = window.canvas().place().zoom;
  now.center = window.canvas().place().center;
  now.clipboard = QGuiApplication::clipboard()->text();
  return now;
}

}  // namespace

class TestCommandHandlers : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  QStringList handled() const {
    QStringList ids;
    for (const CommandHandlers* handlers : {&m_window->commands(), &m_window->canvas().commands()}) {
      for (const CommandHandler& handler : handlers->rows()) ids += handler.id;
    }
    return ids;
  }

  QStringList offered() const {
    QStringList ids;
    for (const CommandInfo& info : commandTable()) {
      if (m_window->findChild<QAction*>(info.id)->isEnabled()) ids += info.id;
    }
    return ids;
  }

  void settle() {
    QTRY_COMPARE_WITH_TIMEOUT(m_window->workspace().engine().state(), EngineState::Idle, 60'000);
    QTest::qWait(100);
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show());
  }
  void cleanup() {
    m_window = nullptr;
    m_fresh.reset();
  }

  void everyCommandHasOneHandler() {
    const QStringList ids = handled();
    for (const CommandInfo& info : commandTable()) QVERIFY2(ids.count(info.id) == 1, qPrintable(info.id));
    for (const QString& link : linkCommands()) QVERIFY2(ids.count(link) == 1, qPrintable(link));
  }

  void noHandlerIsUnknown() {
    for (const QString& id : handled()) {
      QVERIFY2(findCommand(id) != nullptr || linkCommands().contains(id), qPrintable(id));
    }
  }

  void handlersAreComplete() {
    for (const CommandHandlers* handlers : {&m_window->commands(), &m_window->canvas().commands()}) {
      for (const CommandHandler& handler : handlers->rows()) {
        QVERIFY2(handler.when && handler.does, qPrintable(handler.id));
      }
    }
  }

  void whatCannotDoesNothing() {
    CommandHandlers handlers;
    bool can = false;
    QStringList done;
    handlers.add(
        "edit.undo", [&can] { return can; }, [&done] { done += QStringLiteral("undo"); });
    handlers.addWithArgument(
        "view.dock", [&can] { return can; }, [&done](const QString& dock) { done += dock; });
    QVERIFY(!handlers.can(QStringLiteral("edit.undo")) && !handlers.can(QStringLiteral("view.dock:log")));
    QVERIFY(handlers.perform(QStringLiteral("edit.undo")) &&
            handlers.perform(QStringLiteral("view.dock:log")));
    QVERIFY(done.isEmpty());
    can = true;
    QVERIFY(handlers.can(QStringLiteral("edit.undo")) && handlers.can(QStringLiteral("view.dock:log")));
    QVERIFY(handlers.perform(QStringLiteral("edit.undo")) &&
            handlers.perform(QStringLiteral("view.dock:log")));
    QCOMPARE(done, QStringList({QStringLiteral("undo"), QStringLiteral("log")}));
    QVERIFY(!handlers.perform(QStringLiteral("file.nothing")) &&
            !handlers.can(QStringLiteral("file.nothing")));
  }

  void withoutADocumentTheProgramIsLeft() {
    settle();
    QCOMPARE(offered(), QStringList({"file.new",        "file.open",        "file.open-log", "file.add-files",
                                     "file.add-folder", "file.welcome",     "file.quit",     "run.get-model",
                                     "run.servers",     "run.watch",        "run.gateway",   "run.serve",
                                     "run.requests",    "run.keep",         "view.theme",    "view.motion",
                                     "learn.lessons",   "learn.open-file",  "help.palette",  "help.manual",
                                     "help.keys",       "help.change-keys", "help.about"}));
    for (const CommandInfo& info : commandTable()) {
      if (offered().contains(info.id)) continue;
      const Shown before = shown(*m_window);
      m_window->perform(info.id);
      QVERIFY2(shown(*m_window) == before, qPrintable(info.id));
    }
  }

  void disabledCommandsDoNothingInADocument() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    settle();
    const QStringList expected{"file.stop-log",      "edit.undo",
                               "edit.redo",          "edit.undo-setting",
                               "edit.redo-setting",  "edit.history",
                               "run.stop",           "run.attention",
                               "run.fidelity",       "run.use-adapter",
                               "view.back",          "view.forward",
                               "run.rotation",       "run.next-token",
                               "learn.next",         "learn.back",
                               "learn.return",       "learn.present",
                               "learn.leave",        "learn.save-page",
                               "run.show-predicted", "run.remove-predicted",
                               "learn.server"};
    int disabled = 0;
    for (const CommandInfo& info : commandTable()) {
      const bool ofCanvas = m_window->canvas().commands().find(info.id) != nullptr;
      QCOMPARE(offered().contains(info.id), !expected.contains(info.id));
      if (ofCanvas ? m_window->canvas().canPerform(info.id) : offered().contains(info.id)) continue;
      ++disabled;
      const Shown before = shown(*m_window);
      m_window->perform(info.id);
      QVERIFY2(shown(*m_window) == before, qPrintable(info.id));
    }
    // Nothing is selected: most of what nodes can do is not to be done.
    QVERIFY(disabled > 15);
  }

  void theWelcomePageHidesWhatNeedsADocument() {
    const QStringList before = offered();
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    settle();
    QVERIFY(offered().size() > before.size());
    m_window->perform(QStringLiteral("file.welcome"));
    QCOMPARE(offered(), before);
  }

  void undoIsCalledByWhatItTakesBack() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    settle();
    const auto* undo = m_window->findChild<QAction*>(QStringLiteral("edit.undo"));
    QCOMPARE(undo->text(), QStringLiteral("Undo"));
    m_window->perform(QStringLiteral("edit.select-all"));
    m_window->perform(QStringLiteral("node.mute"));
    QCOMPARE(undo->text(), QStringLiteral("Undo “Mute”"));
    QVERIFY(undo->isEnabled());
    m_window->perform(QStringLiteral("edit.undo"));
    QVERIFY(!undo->isEnabled());
    QCOMPARE(m_window->findChild<QAction*>(QStringLiteral("edit.redo"))->text(),
             QStringLiteral("Redo “Mute”"));
  }
};

SPANSCOPE_TEST(tst_command_handlers, TestCommandHandlers, QApplication)
#include "tst_command_handlers.moc"
