// SPDX-License-Identifier: GPL-3.0-or-later
// The window frames the nodes, blocks, tokens and docks that a step names, and brings them into view.
#include "engine/query/json/json.h"
#include "tests/support/test_program.h"
#include "tests/ui/lessons/lesson_window.h"
#include "ui/editor/canvas.h"
#include "ui/editor/canvas_core.h"
#include "ui/lessons/lesson_question.h"
#include "ui/window/lesson_marks.h"

#include <QApplication>
#include <QFile>
#include <QImage>
#include <QTest>

#include <algorithm>
#include <optional>
#include <string>

using namespace spanscope;
using namespace spanscope::ui;

class TestLessonMarks : public LessonWindow {
  Q_OBJECT

 private Q_SLOTS:
  void init() { QVERIFY(openWindow()); }
  void cleanup() { closeWindow(); }

  void whatIsSpokenOfIsFramed() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    // Five links. One of the nodes is selected as well.
    LessonMarks& marks = m_window->lessons().marks();
    QTRY_COMPARE(marks.frames().size(), std::size_t{5});
    const document::Document& document = m_window->workspace().model()->document();
    for (const lesson::Target& target : course().spokenOf()) {
      const std::optional<Selection> part = selectionOf(target, document, nullptr);
      QVERIFY(part.has_value());
      const QRect place = m_window->canvas().placeOf(part->currentNode());
      const QRect inWindow(m_window->canvas().mapTo(m_window, place.topLeft()), place.size());
      QVERIFY(std::any_of(marks.frames().begin(), marks.frames().end(), [&](const LessonMarks::Frame& frame) {
        return frame.window == m_window && frame.place.contains(inWindow.center());
      }));
    }
    // The marks take no input.
    const QWidget* marked = m_window->findChild<QWidget*>(QStringLiteral("lessonMarks"));
    QVERIFY(marked != nullptr && marked->isVisible());
    QVERIFY(marked->testAttribute(Qt::WA_TransparentForMouseEvents));
    QVERIFY(goTo(2));
    QTRY_COMPARE(marks.frames().size(), std::size_t{0});
    QVERIFY(goTo(1));
    QTRY_COMPARE(marks.frames().size(), std::size_t{5});
    perform("learn.leave");
    QTRY_COMPARE(marks.frames().size(), std::size_t{0});
    QVERIFY(!marked->isVisible());
  }

  /// The frame of a link is around the card of its node, not around a stack.
  void namedNodesLeaveTheirStack() {
    m_window->resize(1024, 700);
    perform("learn.lesson:9-attention-locality.md#2");
    QVERIFY(isIdle());
    const auto isApart = [this](const lesson::Target& target) {
      const auto part = course().selectionFor(target);
      return part && m_window->canvas().findChild<CanvasCore*>()->rectOf(part->currentNode()) != nullptr;
    };
    int nodes = 0;
    for (const lesson::Target& target : course().spokenOf()) {
      if (target.kind != lesson::Target::Kind::Node) continue;
      ++nodes;
      QTRY_VERIFY2(isApart(target), qPrintable(QString::fromStdString(lesson::written(target))));
    }
    QVERIFY(nodes > 0);
  }

  void aWordLeadsToItsPartByKeys() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    LessonMarks& marks = m_window->lessons().marks();
    QTRY_COMPARE(marks.frames().size(), std::size_t{5});
    QVERIFY(!marks.arrowEnd());
    QList<LessonText*> texts = reader().findChildren<LessonText*>();
    const auto linked = std::find_if(texts.begin(), texts.end(), [](const LessonText* text) {
      return text->toPlainText().contains(QStringLiteral("The first message"));
    });
    QVERIFY(linked != texts.end());
    (*linked)->setFocus(Qt::TabFocusReason);
    QCOMPARE((*linked)->pointedLink(), QUrl(QStringLiteral("node:/g/input/cross/0")));
    QTRY_VERIFY(marks.arrowEnd().has_value());
    const auto pointed = [&marks] {
      return std::find_if(marks.frames().begin(), marks.frames().end(),
                          [](const LessonMarks::Frame& frame) { return frame.isPointed; });
    };
    QVERIFY(pointed() != marks.frames().end());
    QVERIFY(pointed()->place.contains(*marks.arrowEnd()));
    QTest::keyClick(*linked, Qt::Key_Tab);
    QCOMPARE((*linked)->pointedLink(), QUrl(QStringLiteral("node:/g/input/cross/2")));
    QTest::keyClick(*linked, Qt::Key_Tab, Qt::ShiftModifier);
    QCOMPARE((*linked)->pointedLink(), QUrl(QStringLiteral("node:/g/input/cross/0")));
    QTest::keyClick(*linked, Qt::Key_Return);
    QCOMPARE(m_window->focusWidget(), static_cast<QWidget*>(&m_window->canvas()));
    const document::DocumentNode& node =
        m_window->workspace().model()->document().at(m_window->workspace().input().selection.currentNode());
    QVERIFY(query::writeCanonical(node.own).find("helpful assistant") != std::string::npos);
    QTRY_VERIFY(!marks.arrowEnd().has_value());
  }

  void partsAreBroughtFromBehindAndFromAfar() {
    const QString path = m_fresh->path(QStringLiteral("parts.md"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nlayout explain\nrun\ndock pool\n```\n\n"
        "See [a block](block:3), [a token](token:40) and [the pool](dock:pool).\n");
    file.close();
    QVERIFY(m_window->lessons().open(path));
    QVERIFY(isIdle());
    LessonMarks& marks = m_window->lessons().marks();
    Dock* table = m_window->docks().dock(QStringLiteral("block-table"));
    Dock* tokens = m_window->docks().dock(QStringLiteral("tokens"));
    // The pool covers the block table; the block is framed in it.
    QVERIFY(table->visibleRegion().isEmpty());
    lesson::Target block{.kind = lesson::Target::Kind::Block, .number = 3};
    lesson::Target token{.kind = lesson::Target::Kind::Token, .number = 40};
    marks.bring(block);
    marks.bring(token);
    QTRY_VERIFY(!marks.frames().empty());
    m_window->docks().dock(QStringLiteral("tokens"))->setFloating(true);
    marks.bring(token);
    QTRY_VERIFY(std::any_of(marks.frames().begin(), marks.frames().end(),
                            [&](const LessonMarks::Frame& frame) { return frame.window == tokens; }));
    tokens->setFloating(false);
    tokens->close();
    const auto isFramedIn = [&](const Dock& dock) {
      const QRect inWindow(dock.mapTo(m_window, QPoint()), dock.size());
      return std::any_of(marks.frames().begin(), marks.frames().end(), [&](const LessonMarks::Frame& frame) {
        return frame.window == m_window && inWindow.contains(frame.place);
      });
    };
    Dock* pool = m_window->docks().dock(QStringLiteral("pool"));
    marks.bring(block);
    QTRY_VERIFY(!pool->visibleRegion().isEmpty() && isFramedIn(*pool));
    // The dock of the step comes back for it; covered by another, it comes to the front.
    pool->close();
    marks.bring(block);
    QTRY_VERIFY(!pool->visibleRegion().isEmpty() && isFramedIn(*pool));
    table->raise();
    QTRY_VERIFY(pool->visibleRegion().isEmpty() && isFramedIn(*table));
    marks.bring({.kind = lesson::Target::Kind::Dock, .dock = "pool"});
    QTRY_VERIFY(!m_window->docks().dock(QStringLiteral("pool"))->visibleRegion().isEmpty());
  }

  /// In the views of attention and of the turn as in those of blocks and tokens.
  void partsOfOtherViewsAreFramedToo_data() {
    QTest::addColumn<QString>("dock");
    QTest::newRow("attention") << QStringLiteral("attention");
    QTest::newRow("rotation") << QStringLiteral("rotation");
  }
  void partsOfOtherViewsAreFramedToo() {
    QFETCH(QString, dock);
    const QString path = m_fresh->path(QStringLiteral("parts.md"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nlayout explain\nrun\nselect token:40\ndock " +
        dock.toUtf8() + "\n```\n\nSee [a token](token:40).\n");
    file.close();
    QVERIFY(m_window->lessons().open(path));
    QVERIFY(isIdle());
    LessonMarks& marks = m_window->lessons().marks();
    Dock* shown = m_window->docks().dock(dock);
    QTRY_VERIFY(
        std::any_of(marks.frames().begin(), marks.frames().end(), [&](const LessonMarks::Frame& frame) {
          const QRect inWindow(shown->mapTo(m_window, QPoint()), shown->size());
          return frame.window == m_window && inWindow.contains(frame.place);
        }));
    // An arrow leads there from the word that keys have reached.
    LessonText* linked = nullptr;
    for (LessonText* text : reader().findChildren<LessonText*>()) {
      if (text->isVisible() && text->focusPolicy() == Qt::StrongFocus) linked = text;
    }
    QVERIFY(linked != nullptr);
    linked->setFocus(Qt::TabFocusReason);
    QTRY_VERIFY(marks.arrowEnd().has_value());
    const QRect inWindow(shown->mapTo(m_window, QPoint()), shown->size());
    QVERIFY(inWindow.contains(*marks.arrowEnd()));
  }

  /// The mark below a token or a block stays visible below the frame.
  void aFrameCoversNoMark_data() {
    QTest::addColumn<QString>("dock");
    QTest::addColumn<QString>("target");
    QTest::newRow("a computed token") << QStringLiteral("tokens") << QStringLiteral("token:83");
    QTest::newRow("the first miss") << QStringLiteral("block-table") << QStringLiteral("block:5");
  }
  void aFrameCoversNoMark() {
    QFETCH(QString, dock);
    QFETCH(QString, target);
    QFile file(m_fresh->path(QStringLiteral("mark.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\nsettings: policy=prefix\n---\n\n"
        "## 1. One\n\nA.\n\n```do\nopen example:rag.json\nlayout explain\nrun\nrun\nselect " +
        target.toUtf8() + "\ndock " + dock.toUtf8() + "\n```\n");
    file.close();
    QVERIFY(m_window->lessons().open(file.fileName()));
    QVERIFY(isIdle());
    LessonMarks& marks = m_window->lessons().marks();
    QCOMPARE(course().spokenOf().size(), std::size_t{1});
    QTRY_VERIFY(marks.isSeen(course().spokenOf().front()));
    View* const view = m_window->docks().dock(dock)->view();
    const auto* drawn = dynamic_cast<const DrawnParts*>(view);
    QVERIFY(drawn != nullptr);
    const QRect place = drawn->placesOf(m_window->workspace().current()->selection).front();
    const QRect inView(drawn->placesIn().mapTo(view, place.topLeft()), place.size());
    const QPoint middle = view->mapTo(m_window, inView.center());
    QTRY_VERIFY(std::any_of(marks.frames().begin(), marks.frames().end(),
                            [&](const LessonMarks::Frame& frame) { return frame.place.contains(middle); }));
    constexpr int kInside = 4;  // pixels
    constexpr int kBelow = 20;  // pixels
    const QRect below(inView.left(), inView.bottom() - kInside, inView.width(), kInside + kBelow);
    const QImage alone = view->grab(below).toImage();
    const QImage marked =
        m_window->grab(QRect(view->mapTo(m_window, below.topLeft()), below.size())).toImage();
    int orange = 0;
    for (int y = 0; y < alone.height(); ++y) {
      for (int x = 0; x < alone.width(); ++x) {
        const QRgb pixel = alone.pixel(x, y);
        if (qRed(pixel) < qBlue(pixel) + 60) continue;
        ++orange;
        QCOMPARE(marked.pixel(x, y), pixel);
      }
    }
    QVERIFY(orange > 0);
  }
};

SPANSCOPE_TEST(tst_lesson_marks, TestLessonMarks, QApplication)
#include "tst_lesson_marks.moc"
