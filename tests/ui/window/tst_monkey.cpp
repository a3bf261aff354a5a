// SPDX-License-Identifier: GPL-3.0-or-later
// Random editing, undoing, running and looking, with keys, the mouse and commands. Nothing in particular is
// expected but that the document stays a tree, that undo leads back to the start, and that nothing breaks.
// SPANSCOPE_MONKEY_SECONDS (default 3) and SPANSCOPE_MONKEY_SEED choose how long and which way.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/window/main_window.h"

#include <QApplication>
#include <QDebug>
#include <QDialog>
#include <QElapsedTimer>
#include <QObject>
#include <QPoint>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <random>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// Commands that open no dialog of their own.
const QStringList& commands() {
  static const QStringList list = [] {
    const QStringList dialogs{QStringLiteral("learn.open-file"),    QStringLiteral("file.open"),
                              QStringLiteral("file.save"),          QStringLiteral("file.save-as"),
                              QStringLiteral("file.export"),        QStringLiteral("file.export-view"),
                              QStringLiteral("file.close"),         QStringLiteral("file.quit"),
                              QStringLiteral("file.new"),           QStringLiteral("run.record"),
                              QStringLiteral("run.save-trace"),     QStringLiteral("help.keys"),
                              QStringLiteral("help.about"),         QStringLiteral("help.palette"),
                              QStringLiteral("help.change-keys"),   QStringLiteral("view.tabs"),
                              QStringLiteral("file.export-window"), QStringLiteral("help.manual"),
                              QStringLiteral("file.welcome"),       QStringLiteral("run.servers"),
                              QStringLiteral("run.serve"),          QStringLiteral("run.get-model"),
                              QStringLiteral("file.open-log"),      QStringLiteral("run.watch")};
    QStringList ids;
    for (const CommandInfo& info : commandTable()) {
      if (!dialogs.contains(info.id)) ids << info.id;
    }
    for (const std::string& op : document::operatorNames())
      ids << QStringLiteral("node.add:") + QString::fromStdString(op);
    return ids;
  }();
  return list;
}

/// Parents and children agree, there are no cycles, and every node has a top above it.
QString brokenTree(const document::Document& document) {
  std::size_t reached = 0;
  for (const document::NodeId top : document.tops()) {
    for (const document::NodeId id : document.subtree(top)) {
      ++reached;
      for (const document::NodeId child : document.at(id).children) {
        if (child != document::kNoNode && document.at(child).parent != id)
          return QStringLiteral("a child with another parent");
      }
    }
    if (reached > document.size()) return QStringLiteral("a cycle");
  }
  if (reached != document.size()) return QStringLiteral("a node that no top leads to");
  if (document.size() > 0 && document.root() == document::kNoNode) return QStringLiteral("no root");
  return {};
}

}  // namespace

class TestMonkey : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void nothingBreaks() {
    const int seconds = qEnvironmentVariableIsSet("SPANSCOPE_MONKEY_SECONDS")
                            ? qEnvironmentVariableIntValue("SPANSCOPE_MONKEY_SECONDS")
                            : 3;
    const unsigned seed = qEnvironmentVariableIsSet("SPANSCOPE_MONKEY_SEED")
                              ? static_cast<unsigned>(qEnvironmentVariableIntValue("SPANSCOPE_MONKEY_SEED"))
                              : 20261121U;
    qInfo("seed %u", seed);
    std::mt19937 random(seed);
    const auto below = [&random](std::size_t count) { return static_cast<std::size_t>(random() % count); };

    const QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    MainWindow window(settings, folder.filePath(QStringLiteral("autosave")), test::cpuBackends());
    window.resize(1100, 760);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.openExample(QStringLiteral("rag.json"));
    window.openExample(QStringLiteral("judge-2.json"));
    window.newDocument();

    // A query may ask something while it is run; a monkey answers by turns.
    QTimer answers;
    connect(&answers, &QTimer::timeout, this, [&answers] {
      // A menu that a command opens, too.
      if (QWidget* const menu = QApplication::activePopupWidget()) {
        menu->close();
        return;
      }
      auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return;
      const bool isEven = answers.property("even").toBool();
      answers.setProperty("even", !isEven);
      isEven ? dialog->accept() : dialog->reject();
    });
    answers.start(20);

    std::size_t steps = 0;
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < seconds * 1000LL) {
      ++steps;
      DocumentModel& model = *window.workspace().model();
      const std::vector<document::NodeId> ids = model.document().ids();
      switch (below(9)) {
        case 0:
        case 1:
        case 2:
          window.perform(
              commands()[static_cast<qsizetype>(below(static_cast<std::size_t>(commands().size())))]);
          break;
        case 3: {
          Selection selection;
          for (std::size_t i = 0; !ids.empty() && i <= below(3); ++i)
            selection.nodes.push_back(ids[below(ids.size())]);
          window.workspace().select(selection);
          break;
        }
        case 4: {
          const std::vector<Qt::Key> keys{Qt::Key_Left, Qt::Key_Right,  Qt::Key_Up,     Qt::Key_Down,
                                          Qt::Key_Tab,  Qt::Key_Return, Qt::Key_Escape, Qt::Key_Delete};
          QWidget* target = QApplication::focusWidget() == nullptr ? &window : QApplication::focusWidget();
          QTest::keyClick(target, keys[below(keys.size())]);
          break;
        }
        case 5: {
          const QPoint from(static_cast<int>(below(700)) + 20, static_cast<int>(below(400)) + 20);
          const QPoint to(static_cast<int>(below(700)) + 20, static_cast<int>(below(400)) + 20);
          QWidget* viewport = window.canvas().childAt(from);
          if (viewport == nullptr) break;
          QTest::mousePress(viewport, Qt::LeftButton, {}, viewport->mapFrom(&window.canvas(), from));
          QTest::mouseMove(viewport, viewport->mapFrom(&window.canvas(), (from + to) / 2));
          QTest::mouseMove(viewport, viewport->mapFrom(&window.canvas(), to));
          QTest::mouseRelease(viewport, Qt::LeftButton, {}, viewport->mapFrom(&window.canvas(), to));
          break;
        }
        case 6: {
          // Text typed into a node, as the inspector does it.
          if (ids.empty()) break;
          const document::NodeId id = ids[below(ids.size())];
          query::Node own = model.document().at(id).own;
          if (auto* message = own.as<query::Message>()) message->text += " word";
          model.change(
              QStringLiteral("Edit text"),
              [&](document::Document& document) { document::setOwn(document, id, own); },
              QStringLiteral("text:%1").arg(id));
          break;
        }
        case 7: {
          const auto& documents = window.workspace().documents();
          if (below(8) == 0) window.workspace().setCurrent(documents[below(documents.size())].get());
          break;
        }
        default:
          window.workspace().setPosition(below(window.workspace().input().trace->size() + 1));
          break;
      }
      if (steps % 8 == 0) QTest::qWait(1);
      const QString broken = brokenTree(window.workspace().model()->document());
      QVERIFY2(broken.isEmpty(), qPrintable(QStringLiteral("%1 after %2 steps").arg(broken).arg(steps)));
      // Copies of copies would fill the memory, not find anything.
      if (model.document().size() > 300) {
        while (model.undoStack().canUndo() && model.document().size() > 50) model.undoStack().undo();
      }
    }
    window.workspace().engine().stopAll();
    QTRY_COMPARE_WITH_TIMEOUT(window.workspace().engine().state(), EngineState::Idle, 60'000);
    qInfo("%zu steps", steps);

    for (const auto& open : window.workspace().documents()) {
      QUndoStack& undo = open->model->undoStack();
      // The monkey may have ended on an undo: there is more to redo then than what it saw last.
      const document::Document last = open->model->document();
      const int place = undo.index();
      while (undo.canUndo()) undo.undo();
      while (undo.index() < place) undo.redo();
      QVERIFY(open->model->document() == last);
      while (undo.canRedo()) undo.redo();
      while (undo.canUndo()) undo.undo();
      QVERIFY(brokenTree(open->model->document()).isEmpty());
    }
  }
};

SPANSCOPE_TEST(tst_monkey, TestMonkey, QApplication)
#include "tst_monkey.moc"
