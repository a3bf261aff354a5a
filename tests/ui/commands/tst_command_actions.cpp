// SPDX-License-Identifier: GPL-3.0-or-later
// Keys reach the command that the table gives them, where it says and nowhere else.
#include "tests/support/test_program.h"
#include "ui/commands/command_table.h"

#include <QAction>
#include <QLineEdit>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QObject>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QTest>
#include <QVBoxLayout>

#include <memory>

using namespace spanscope::ui;

class TestCommandActions : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void cleanup();
  void everyCommandHasAnAction();
  void windowKeysWorkEverywhere();
  void canvasKeysWorkOnTheCanvasOnly();
  void textFieldsKeepTheirKeys_data();
  void textFieldsKeepTheirKeys();
  void controlKeysWorkInTextFields();
  void disabledActionsDoNothing();
  void menusFollowTheTable();

 private:
  std::unique_ptr<QMainWindow> m_window;
  QWidget* m_canvas = nullptr;
  QLineEdit* m_field = nullptr;
  QPlainTextEdit* m_text = nullptr;
  CommandActions* m_actions = nullptr;
};

void TestCommandActions::init() {
  m_window = std::make_unique<QMainWindow>();
  auto* middle = new QWidget;
  auto* column = new QVBoxLayout(middle);
  m_canvas = new QWidget;
  m_canvas->setFocusPolicy(Qt::StrongFocus);
  m_canvas->setMinimumSize(50, 50);
  m_field = new QLineEdit;
  m_text = new QPlainTextEdit;
  column->addWidget(m_canvas);
  column->addWidget(m_field);
  column->addWidget(m_text);
  m_window->setCentralWidget(middle);
  m_actions = new CommandActions(m_window.get());
  m_actions->addCanvas(m_canvas);
  m_window->show();
  QApplication::setActiveWindow(m_window.get());
  QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void TestCommandActions::cleanup() {
  m_window.reset();
}

void TestCommandActions::everyCommandHasAnAction() {
  for (const CommandInfo& info : commandTable()) {
    const QAction* action = m_actions->action(info.id);
    QVERIFY2(action != nullptr, qPrintable(info.id));
    QCOMPARE(action->text(), info.text);
    QVERIFY(action->toolTip().startsWith(info.help));
    QCOMPARE(action->shortcuts().size(), info.keys.size());
    if (!info.keys.isEmpty()) {
      QVERIFY(action->toolTip().contains(QKeySequence(info.keys[0]).toString(QKeySequence::NativeText)));
    }
  }
  QCOMPARE(m_actions->action("no.such"), nullptr);
}

void TestCommandActions::windowKeysWorkEverywhere() {
  QSignalSpy triggered(m_actions, &CommandActions::triggered);
  for (QWidget* widget : {m_canvas, static_cast<QWidget*>(m_field), static_cast<QWidget*>(m_text)}) {
    widget->setFocus();
    triggered.clear();
    QTest::keyClick(widget, Qt::Key_K, Qt::ControlModifier);
    QCOMPARE(triggered.size(), 1);
    QCOMPARE(triggered[0][0].toString(), QString("help.palette"));
  }
}

void TestCommandActions::canvasKeysWorkOnTheCanvasOnly() {
  QSignalSpy triggered(m_actions, &CommandActions::triggered);
  m_canvas->setFocus();
  QTest::keyClick(m_canvas, Qt::Key_M);
  QTest::keyClick(m_canvas, Qt::Key_Delete);
  QTest::keyClick(m_canvas, Qt::Key_Tab);
  QTest::keyClick(m_canvas, Qt::Key_Question);
  QCOMPARE(triggered.size(), 4);
  QCOMPARE(triggered[0][0].toString(), QString("node.mute"));
  QCOMPARE(triggered[1][0].toString(), QString("edit.delete"));
  QCOMPARE(triggered[2][0].toString(), QString("node.add"));
  QCOMPARE(triggered[3][0].toString(), QString("help.keys"));

  triggered.clear();
  m_text->setFocus();
  QTest::keyClick(m_text, Qt::Key_D, Qt::ControlModifier);
  QCOMPARE(triggered.size(), 0);
}

void TestCommandActions::textFieldsKeepTheirKeys_data() {
  QTest::addColumn<bool>("readOnly");
  QTest::addColumn<bool>("insideCanvas");
  QTest::newRow("field") << false << false;
  QTest::newRow("read-only field") << true << false;
  QTest::newRow("field inside the canvas") << false << true;
}

void TestCommandActions::textFieldsKeepTheirKeys() {
  QFETCH(bool, readOnly);
  QFETCH(bool, insideCanvas);
  QLineEdit* field = m_field;
  if (insideCanvas) {
    field = new QLineEdit(m_canvas);
    field->show();
  }
  field->setReadOnly(readOnly);
  QSignalSpy triggered(m_actions, &CommandActions::triggered);
  field->setFocus();
  QVERIFY(field->hasFocus());
  QTest::keyClicks(field, "xmzhf.?");
  if (!readOnly) QCOMPARE(field->text(), QString("xmzhf.?"));
  QTest::keyClick(field, Qt::Key_Home);
  QTest::keyClick(field, Qt::Key_Delete);
  QTest::keyClick(field, Qt::Key_Return);
  QCOMPARE(triggered.size(), 0);
  if (!readOnly) QCOMPARE(field->text(), QString("mzhf.?"));
}

void TestCommandActions::controlKeysWorkInTextFields() {
  QSignalSpy triggered(m_actions, &CommandActions::triggered);
  m_field->setFocus();
  QTest::keyClick(m_field, Qt::Key_Return, Qt::ControlModifier);
  QTest::keyClick(m_field, Qt::Key_F1);
  QCOMPARE(triggered.size(), 2);
  QCOMPARE(triggered[0][0].toString(), QString("run.run"));
  QCOMPARE(triggered[1][0].toString(), QString("help.manual"));
}

void TestCommandActions::disabledActionsDoNothing() {
  QSignalSpy triggered(m_actions, &CommandActions::triggered);
  m_canvas->setFocus();
  m_actions->action("run.run")->setEnabled(false);
  QTest::keyClick(m_canvas, Qt::Key_Return, Qt::ControlModifier);
  QCOMPARE(triggered.size(), 0);
}

void TestCommandActions::menusFollowTheTable() {
  QStringList titles;
  qsizetype count = 0;
  for (const CommandCategory category : kCommandCategories) {
    titles += categoryTitle(category);
    m_window->menuBar()->addMenu(titles.last())->addActions(m_actions->actions(category));
    for (const QAction* action : m_actions->actions(category)) {
      QCOMPARE(findCommand(action->objectName())->category, category);
      ++count;
    }
  }
  QCOMPARE(titles, (QStringList{"File", "Edit", "Node", "Run", "View", "Learn", "Help"}));
  QCOMPARE(static_cast<std::size_t>(count), commandTable().size());
  // In the menus as well, canvas keys still need the canvas.
  QSignalSpy triggered(m_actions, &CommandActions::triggered);
  m_text->setFocus();
  QTest::keyClick(m_text, Qt::Key_D, Qt::ControlModifier);
  QCOMPARE(triggered.size(), 0);
}

SPANSCOPE_TEST(tst_command_actions, TestCommandActions, QApplication)
#include "tst_command_actions.moc"
