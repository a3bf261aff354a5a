// SPDX-License-Identifier: GPL-3.0-or-later
// The text and the canvas in sync, both ways.
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/view_bench.h"
#include "ui/document/unread_text.h"
#include "ui/session/problem_finder.h"
#include "ui/views/json/json_editor.h"
#include "ui/views/json/json_view.h"

#include <QApplication>
#include <QClipboard>
#include <QListWidget>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QTest>
#include <QToolButton>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::document::NodeId;
using spanscope::product_text::worded;
using spanscope::ui::testing::ViewBench;

namespace {

constexpr auto kQuery =
    R"({"g": {"model": "spanlet", "max_tokens": 32, "input": {"cross": [{"system": "Answer."},
  {"plus": [{"user": "Mira lives in Lisbon."}, {"user": "Tarek is a baker."}]}, {"user": "Where?"}]}}})";

/// Puts the cursor after the text and types.
void typeBehind(JsonEditor& editor, const QString& place, const QString& text) {
  const qsizetype at = editor.toPlainText().indexOf(place);
  if (at < 0) qFatal("no %s", qPrintable(place));
  editor.setFocus();
  QTextCursor cursor = editor.textCursor();
  cursor.setPosition(static_cast<int>(at + place.size()));
  editor.setTextCursor(cursor);
  QTest::keyClicks(&editor, text);
}

std::string textOf(const document::Document& document, NodeId id) {
  return document.at(id).own.as<query::Message>()->text;
}

struct Fixture {
  JsonView view;
  ViewBench bench;
  JsonEditor* editor;
  NodeId cross = document::kNoNode;
  NodeId plus = document::kNoNode;
  NodeId last = document::kNoNode;

  explicit Fixture(std::string_view query = kQuery)
      : bench(view, query), editor(view.findChild<JsonEditor*>()) {
    bench.show({380, 320});
    const document::Document& d = bench.document();
    const document::DocumentNode* root = d.find(d.root());
    if (root == nullptr || root->own.as<query::Generate>() == nullptr) return;
    cross = root->children.at(0);
    plus = d.at(cross).children.at(1);
    last = d.at(cross).children.at(2);
  }

  QWidget* bar() const { return view.findChild<QWidget*>(QStringLiteral("conflict")); }
  QListWidget* errors() const { return view.findChild<QListWidget*>(QStringLiteral("errors")); }
  void rename(const char* text) {
    bench.model().change(QStringLiteral("Canvas"), [&](document::Document& d) {
      document::setOwn(d, last, {query::Message{.role = query::Role::User, .text = text}});
    });
  }
};

}  // namespace

class TestJsonView : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void showsTheQuery();
  void sizesSettle();
  void followsTheCanvas();
  void mutedNodesAreMarked();
  void typedTextBecomesTheQuery();
  void typingIsOneCommand();
  void keepsTextThatIsNoQuery();
  void neverOverwritesTypedText();
  void keepTypingWins();
  void textThatIsNoQueryCanBeDiscarded();
  void clickSelectsTheNode();
  void copies();
  void pastesIntoAnEmptyDocument();
  void missingInputsStayMissing();
  void saysWhatTheProblemsSay();
  void lineNumbersFollowTheText();
};

void TestJsonView::showsTheQuery() {
  Fixture f;
  QCOMPARE(f.editor->toPlainText().toStdString() + "\n",
           query::writePretty(document::toTree(f.bench.document(), f.bench.document().root())));
  QCOMPARE(f.bench.summary(), worded("<json-in-sync>"));
  f.bench.select(f.plus);
  f.bench.picture(QStringLiteral("json"));
}

/// Scroll bars that come and go with each other must not resize the editor for ever.
void TestJsonView::sizesSettle() {
  class Counter : public QObject {
   public:
    int count = 0;
    bool eventFilter(QObject* watched, QEvent* event) override {
      if (event->type() == QEvent::Resize) ++count;
      return QObject::eventFilter(watched, event);
    }
  };
  const Theme theme;
  JsonEditor editor;
  editor.setStyleSheet(theme.styleSheet());
  editor.setTheme(theme);
  Counter counter;
  editor.viewport()->installEventFilter(&counter);
  QStringList lines;
  for (int i = 0; i < 6; ++i)
    lines += QStringLiteral("\"line %1\": \"%2\",").arg(i).arg(QString(3 * i, QLatin1Char('x')));
  editor.setPlainText(lines.join(QLatin1Char('\n')));
  editor.show();
  int most = 0;
  for (int height = 40; height < 160; ++height) {
    for (int width = 150; width < 300; ++width) {
      counter.count = 0;
      editor.resize(width, height);
      most = std::max(most, counter.count);
    }
  }
  // The editor's own, and one for each scroll bar that comes or goes.
  QVERIFY2(most <= 3, qPrintable(QString::number(most)));
}

void TestJsonView::followsTheCanvas() {
  Fixture f;
  f.rename("Why?");
  QVERIFY(f.editor->toPlainText().contains(QStringLiteral("Why?")));
  f.bench.model().undoStack().undo();
  QVERIFY(f.editor->toPlainText().contains(QStringLiteral("Where?")));
  QCOMPARE(f.bench.summary(), worded("<json-in-sync>"));
  QCOMPARE(f.bench.model().undoStack().count(), 1);
}

void TestJsonView::mutedNodesAreMarked() {
  Fixture f;
  const auto struck = [&f] {
    QString text;
    for (const QTextEdit::ExtraSelection& selection : f.editor->extraSelections()) {
      if (selection.format.fontStrikeOut()) text += selection.cursor.selectedText();
    }
    return text;
  };
  QCOMPARE(struck(), QString());
  f.bench.model().change(QStringLiteral("Mute"),
                         [&](document::Document& d) { document::setMuted(d, {f.last}, true); });
  QVERIFY(struck().contains(QStringLiteral("Where?")));
  QVERIFY(!struck().contains(QStringLiteral("plus")));
  QVERIFY(f.bench.summary().contains(QStringLiteral("1 muted")));
  f.bench.model().undoStack().undo();
  QCOMPARE(struck(), QString());
}

void TestJsonView::typedTextBecomesTheQuery() {
  Fixture f;
  document::NodeId second = f.bench.document().at(f.plus).children.at(1);
  typeBehind(*f.editor, QStringLiteral("Tarek is a baker"), QStringLiteral(" of bread"));
  QTRY_COMPARE(textOf(f.bench.document(), second), std::string("Tarek is a baker of bread."));
  QCOMPARE(f.bench.summary(), worded("<json-in-sync>"));
  // White space is the user's own.
  const QString before = f.editor->toPlainText();
  typeBehind(*f.editor, QStringLiteral("\"max_tokens\":"), QStringLiteral("   "));
  QTest::qWait(300);
  QVERIFY(f.editor->toPlainText() != before);
  QVERIFY(f.editor->toPlainText().contains(QStringLiteral("\"max_tokens\":    32")));
}

void TestJsonView::typingIsOneCommand() {
  Fixture f;
  typeBehind(*f.editor, QStringLiteral("Where"), QStringLiteral(" is"));
  QTRY_COMPARE(textOf(f.bench.document(), f.last), std::string("Where is?"));
  typeBehind(*f.editor, QStringLiteral("Where is"), QStringLiteral(" it"));
  QTRY_COMPARE(textOf(f.bench.document(), f.last), std::string("Where is it?"));
  QCOMPARE(f.bench.model().undoStack().count(), 1);
  QCOMPARE(f.bench.model().undoStack().undoText(), QStringLiteral("Edit JSON"));
  QTest::keyClick(f.editor, Qt::Key_Z, Qt::ControlModifier);
  QCOMPARE(textOf(f.bench.document(), f.last), std::string("Where?"));
  QVERIFY(f.editor->toPlainText().contains(QStringLiteral("\"Where?\"")));
}

void TestJsonView::keepsTextThatIsNoQuery() {
  Fixture f;
  const document::Document before = f.bench.document();
  typeBehind(*f.editor, QStringLiteral("\"max_tokens\": 32"), QStringLiteral(" x"));
  const QString typed = f.editor->toPlainText();
  const qsizetype at = typed.indexOf(QStringLiteral("32 x"));
  const qsizetype line = 1 + typed.left(at).count(QLatin1Char('\n'));
  QTRY_VERIFY(f.bench.summary().startsWith(QStringLiteral("line %1: expected ").arg(line)));
  QCOMPARE(f.editor->toPlainText(), typed);
  QVERIFY(f.bench.document() == before);
  QVERIFY(f.errors()->isVisible());
  QVERIFY(f.errors()->item(0)->text().startsWith(QStringLiteral("%1:").arg(line)));
  QVERIFY(!f.editor->extraSelections().isEmpty());
  f.bench.picture(QStringLiteral("json-error"));
  QTest::keyClick(f.editor, Qt::Key_Backspace);
  QTest::keyClick(f.editor, Qt::Key_Backspace);
  QTRY_COMPARE(f.bench.summary(), worded("<json-in-sync>"));
  QVERIFY(!f.errors()->isVisible());
}

void TestJsonView::neverOverwritesTypedText() {
  Fixture f;
  typeBehind(*f.editor, QStringLiteral("\"max_tokens\": 32"), QStringLiteral("["));
  QTRY_VERIFY(f.bench.summary().startsWith(QStringLiteral("line ")));
  const QString typed = f.editor->toPlainText();
  f.rename("From the canvas?");
  QCOMPARE(f.editor->toPlainText(), typed);
  QVERIFY(f.bar()->isVisible());
  f.bench.picture(QStringLiteral("json-conflict"));
  QTest::mouseClick(f.view.findChild<QPushButton*>(QStringLiteral("take")), Qt::LeftButton);
  QVERIFY(!f.bar()->isVisible());
  QVERIFY(f.editor->toPlainText().contains(QStringLiteral("From the canvas?")));
  QCOMPARE(f.bench.summary(), worded("<json-in-sync>"));
  // Text that has not been read yet is not lost either.
  typeBehind(*f.editor, QStringLiteral("From"), QStringLiteral(" far"));
  f.rename("Again?");
  QTest::qWait(300);
  QVERIFY(f.editor->toPlainText().contains(QStringLiteral("From far the canvas?")));
  QCOMPARE(textOf(f.bench.document(), f.last), std::string("Again?"));
  QVERIFY(f.bar()->isVisible());
  // The canvas goes back to the state before the typing: no edit conflicts with it any more.
  f.bench.model().undoStack().undo();
  QTRY_COMPARE(textOf(f.bench.document(), f.last), std::string("From far the canvas?"));
}

void TestJsonView::keepTypingWins() {
  Fixture f;
  typeBehind(*f.editor, QStringLiteral("\"max_tokens\": 32"), QStringLiteral("["));
  QTRY_VERIFY(f.bench.summary().startsWith(QStringLiteral("line ")));
  f.rename("From the canvas?");
  QTest::mouseClick(f.view.findChild<QPushButton*>(QStringLiteral("keep")), Qt::LeftButton);
  QVERIFY(!f.bar()->isVisible());
  QTest::keyClick(f.editor, Qt::Key_Backspace);
  QTRY_COMPARE(textOf(f.bench.document(), f.last), std::string("Where?"));
  f.bench.model().undoStack().undo();
  QCOMPARE(textOf(f.bench.document(), f.last), std::string("From the canvas?"));
}

/// The text is the document's, whichever view holds it, until it is a query or discarded.
void TestJsonView::textThatIsNoQueryCanBeDiscarded() {
  Fixture f;
  UnreadText& unread = UnreadText::of(f.bench.model());
  auto* discard = f.view.findChild<QPushButton*>(QStringLiteral("discard"));
  QVERIFY(!discard->isVisible());
  typeBehind(*f.editor, QStringLiteral("\"max_tokens\": 32"), QStringLiteral("["));
  const QString typed = f.editor->toPlainText();
  QCOMPARE(unread.typed(), std::optional(typed));
  unread.settle();  // without a pause
  QVERIFY(f.bench.summary().startsWith(QStringLiteral("line ")));
  QVERIFY(!unread.refusal().isEmpty());
  QVERIFY(discard->isVisible());
  f.bench.picture(QStringLiteral("json-pending"));
  // Another document comes into view, and this one again.
  DocumentModel other;
  f.view.setModel(&other);
  QVERIFY(f.editor->toPlainText() != typed);
  f.view.setModel(&f.bench.model());
  QCOMPARE(f.editor->toPlainText(), typed);
  QVERIFY(f.bench.summary().startsWith(QStringLiteral("line ")));
  QTest::mouseClick(discard, Qt::LeftButton);
  QVERIFY(!discard->isVisible());
  QVERIFY(!unread.typed());
  QCOMPARE(f.bench.summary(), worded("<json-in-sync>"));
  QVERIFY(f.editor->toPlainText() != typed);
  // What changed meanwhile is a conflict, not overwritten.
  typeBehind(*f.editor, QStringLiteral("\"Where"), QStringLiteral(" is it"));
  f.view.setModel(&other);
  f.rename("From the canvas?");
  f.view.setModel(&f.bench.model());
  QVERIFY(f.bar()->isVisible());
  QCOMPARE(textOf(f.bench.document(), f.last), std::string("From the canvas?"));
}

void TestJsonView::clickSelectsTheNode() {
  Fixture f;
  const NodeId first = f.bench.document().at(f.plus).children.at(0);
  const auto at = static_cast<int>(f.editor->toPlainText().indexOf(QStringLiteral("Mira lives")));
  f.editor->setFocus();
  QTextCursor cursor(f.editor->document());
  cursor.setPosition(at);
  const QPoint place = f.editor->cursorRect(cursor).center();
  QTest::mouseClick(f.editor->viewport(), Qt::LeftButton, {}, place);
  QCOMPARE(f.bench.selection().currentNode(), first);
  QVERIFY(!f.editor->extraSelections().isEmpty());
}

void TestJsonView::copies() {
  Fixture f;
  const std::unique_ptr<QWidget> copy(f.view.takeTitleControls());
  QTest::mouseClick(copy.get(), Qt::LeftButton);
  QCOMPARE(QGuiApplication::clipboard()->text(), f.editor->toPlainText());
}

void TestJsonView::pastesIntoAnEmptyDocument() {
  Fixture f("");
  QCOMPARE(f.editor->toPlainText(), QString());
  f.editor->setFocus();
  QGuiApplication::clipboard()->setText(QStringLiteral("{\"user\": \"Hello\"}"));
  f.editor->paste();
  QTRY_COMPARE(f.bench.document().size(), std::size_t{1});
  QCOMPARE(textOf(f.bench.document(), f.bench.document().root()), std::string("Hello"));
}

void TestJsonView::missingInputsStayMissing() {
  Fixture f(R"({"cross": [{"user": "a"}, {"user": "b"}, {"monad": {"user": "c"}}]})");
  NodeId monad = f.bench.document().at(f.bench.document().root()).children.at(2);
  f.bench.model().change(QStringLiteral("Delete"), [&](document::Document& d) {
    document::removeSubtrees(d, {d.at(monad).children.at(0)});
  });
  typeBehind(*f.editor, QStringLiteral("\"a"), QStringLiteral("bc"));
  QTRY_VERIFY(textOf(f.bench.document(), f.bench.document().at(f.bench.document().root()).children.at(0)) ==
              "abc");
  QCOMPARE(f.bench.document().at(monad).children.at(0), document::kNoNode);
}

/// Below text that is in sync is the list of problems, each at its node, and nothing else of the query.
void TestJsonView::saysWhatTheProblemsSay() {
  Fixture f(
      R"({"g": {"model": "", "max_tokens": -1, "input": {"cross": [{"file": "a.txt"}, {"user": ""}, {"user": "b"}]}}})");
  ProblemFinder finder;
  const std::vector<Problem> problems = finder.find(f.bench.document(), nullptr, nullptr, nullptr, QString());
  QCOMPARE(problems.size(), std::size_t{3});
  QTRY_COMPARE(f.errors()->count(), 3);
  for (int i = 0; i < 3; ++i) {
    const QString line = f.errors()->item(i)->text();
    QVERIFY2(line.endsWith(saidOf(problems[static_cast<std::size_t>(i)])), qPrintable(line));
  }
  QVERIFY2(f.errors()->item(0)->text().startsWith(QStringLiteral("3:17  ")),
           qPrintable(f.errors()->item(0)->text()));
  QCOMPARE(f.bench.summary(), worded("<json-in-sync> · 1 error · 2 warnings"));
  f.bench.model().change(QStringLiteral("Canvas"), [](document::Document& d) {
    document::removeSubtrees(d, {d.at(d.at(d.root()).children.front()).children.front()});
  });
  QTRY_COMPARE(f.errors()->count(), 2);
  // Nodes outside of the query have no line.
  f.bench.model().change(QStringLiteral("Draft"),
                         [](document::Document& d) { document::addNode(d, document::makeOperator("plus")); });
  QTRY_COMPARE(f.errors()->count(), 3);
  QVERIFY(f.errors()->item(2)->text().startsWith(worded("warning: <tree-not-part>")));
  f.bench.model().undoStack().undo();
  QTRY_COMPARE(f.errors()->count(), 2);
  QCOMPARE(f.bench.summary(), worded("<json-in-sync> · 2 warnings"));
}

/// The numbers on the screen are those of the lines beside them, after any kind of scrolling.
void TestJsonView::lineNumbersFollowTheText() {
  std::string documents;
  for (int i = 0; i < 40; ++i)
    documents += std::string(i == 0 ? "" : ", ") + R"({"user": "Document )" + std::to_string(i) + "\"}";
  Fixture f(R"({"g": {"model": "spanlet", "input": {"cross": [{"system": "Answer."}, {"plus": [)" +
            documents + R"(]}, {"user": "Where?"}]}}})");
  f.editor->clearFocus();  // the text stays where the user types
  QWidget* window = f.view.window();
  const auto stale = [&] {
    QCoreApplication::processEvents();
    const QImage shown =
        window->screen()->grabWindow(window->winId()).toImage().convertToFormat(QImage::Format_RGB32);
    const QImage whole = window->grab().toImage().convertToFormat(QImage::Format_RGB32);
    return shown != whole;
  };
  QVERIFY(!stale());
  const NodeId cross = f.bench.document().at(f.bench.document().root()).children.at(0);
  const NodeId plus = f.bench.document().at(cross).children.at(1);
  for (const NodeId node :
       {f.last, f.bench.document().at(plus).children.at(0), f.bench.document().at(plus).children.at(25)}) {
    const int before = f.editor->verticalScrollBar()->value();
    f.bench.select(node);
    QVERIFY(f.editor->verticalScrollBar()->value() != before);
    QVERIFY2(!stale(), qPrintable(QStringLiteral("scrolled from %1").arg(before)));
  }
  f.bench.model().change(QStringLiteral("Delete"), [&](document::Document& d) {
    document::removeSubtrees(d, {d.at(plus).children.at(0), d.at(plus).children.at(1)});
  });
  QVERIFY(!stale());
  f.bench.model().undoStack().undo();
  QVERIFY(!stale());
  QTest::keyClick(f.editor, Qt::Key_End, Qt::ControlModifier);
  f.view.setFocus();
  QVERIFY(!stale());
}

SPANSCOPE_TEST(tst_json_view, TestJsonView, QApplication)
#include "tst_json_view.moc"
