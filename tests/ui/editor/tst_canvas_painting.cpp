// SPDX-License-Identifier: GPL-3.0-or-later
// What the window shows after a part of it was painted is what it would show if all of it had been.
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "tests/ui/editor/canvas_driver.h"
#include "tests/ui/editor/recorded_query.h"

#include <QCoreApplication>
#include <QEvent>
#include <QGraphicsView>
#include <QImage>
#include <QObject>
#include <QPoint>
#include <QRect>
#include <QRgb>
#include <QScreen>
#include <QScrollBar>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <cstdlib>
#include <string>

using namespace spanscope;
using document::NodeId;
using test::CanvasDriver;

class TestCanvasPainting : public QObject {
  Q_OBJECT

  static QImage plain(const QPixmap& picture) {
    return picture.toImage().convertToFormat(QImage::Format_RGB32);
  }

  /// Whether two colours are alike but for rounding, which depends on where the painted part begins.
  static bool isAlike(QRgb a, QRgb b) {
    return std::abs(qRed(a) - qRed(b)) <= 1 && std::abs(qGreen(a) - qGreen(b)) <= 1 &&
           std::abs(qBlue(a) - qBlue(b)) <= 1;
  }

  /// Empty, or where the window differs from what the canvas paints when asked for all of it.
  static QRegion stale(CanvasDriver& driver) {
    QCoreApplication::processEvents();
    QWidget* window = driver.canvas().window();
    const QImage shown = plain(window->screen()->grabWindow(window->winId()));
    const QImage painted = plain(window->grab());
    if (shown.size() != painted.size()) return window->rect();
    QRegion region;
    for (int y = 0; y < shown.height(); ++y) {
      for (int x = 0; x < shown.width(); ++x) {
        if (!isAlike(shown.pixel(x, y), painted.pixel(x, y))) region += QRect(x, y, 1, 1);
      }
    }
    return region;
  }

 private Q_SLOTS:
  void nothingStaleIsLeftByMovingTheView_data() {
    QTest::addColumn<double>("zoom");
    for (const double zoom : {1.0, 0.7, 0.41, 0.2}) QTest::addRow("zoom %.2f", zoom) << zoom;
  }
  void nothingStaleIsLeftByMovingTheView() {
    QFETCH(double, zoom);
    CanvasDriver driver(test::exampleDocument("rag.json"));
    auto* view = driver.canvas().findChild<QGraphicsView*>();
    driver.canvas().setPlace({.zoom = zoom, .center = {120, 90}});
    QCOMPARE(stale(driver), QRegion());
    auto* minimap = driver.canvas().findChild<QWidget*>(QStringLiteral("minimap"));
    QCOMPARE(minimap->isVisible(),
             zoom > 0.9);  // a widget over the view, whose picture must not move with it
    for (const QPoint by : {QPoint(0, 12), QPoint(0, -5), QPoint(7, 0), QPoint(-30, 0), QPoint(3, -4)}) {
      view->horizontalScrollBar()->setValue(view->horizontalScrollBar()->value() + by.x());
      view->verticalScrollBar()->setValue(view->verticalScrollBar()->value() + by.y());
      QCOMPARE(stale(driver), QRegion());
    }
  }

  void nothingStaleIsLeftByMovingTheViewOfAChangedDocument() {
    CanvasDriver driver(test::exampleDocument("rag.json"));
    auto* view = driver.canvas().findChild<QGraphicsView*>();
    driver.canvas().setPlace({.zoom = 1, .center = {120, 90}});
    QCOMPARE(stale(driver), QRegion());
    // All before the next paint: a card goes, and the cards below it move up.
    const NodeId generate = driver.document().root();
    const NodeId cross = driver.document().at(generate).children[0];
    const NodeId plus = driver.document().at(cross).children[1];
    driver.click(driver.center(driver.document().at(plus).children[0]));
    view->verticalScrollBar()->setValue(view->verticalScrollBar()->value() + 10);
    driver.key(Qt::Key_Delete);
    view->verticalScrollBar()->setValue(view->verticalScrollBar()->value() + 15);
    driver.canvas().setPlace({.zoom = 0.9, .center = {120, 90}});
    view->verticalScrollBar()->setValue(view->verticalScrollBar()->value() - 4);
    QCOMPARE(stale(driver), QRegion());
  }

  void nothingStaleIsLeftByEdits_data() {
    QTest::addColumn<int>("documents");
    QTest::addColumn<double>("zoom");
    for (const int documents : {3, 20, 1200}) {
      for (const double zoom : {1.0, 0.8, 0.5, 0.2, 0.1})
        QTest::addRow("%d documents, zoom %.2f", documents, zoom) << documents << zoom;
    }
  }
  /// After each edit, and each edit undone, only the parts that changed are painted.
  void nothingStaleIsLeftByEdits() {
    QFETCH(int, documents);
    QFETCH(double, zoom);
    std::string texts = "{\"user\": \"document\"}";
    for (int i = 1; i < documents; ++i) texts += ", {\"user\": \"document " + std::to_string(i) + "\"}";
    CanvasDriver driver(test::documentFromJson(
        "{\"g\": {\"model\": \"m\", \"input\": {\"cross\": [{\"system\": \"Answer.\"}, "
        "{\"plus\": [" +
        texts + "]}, {\"user\": \"Where?\"}]}}}"));
    const NodeId cross = driver.document().at(driver.document().root()).children[0];
    const NodeId plus = driver.document().at(cross).children[1];
    const NodeId first = driver.document().at(plus).children[0];
    const NodeId question = driver.document().at(cross).children[2];
    QCoreApplication::processEvents();
    for (const NodeId node : {first, question, plus}) {
      driver.canvas().reveal(node);
      driver.canvas().setPlace({.zoom = zoom, .center = driver.canvas().place().center});
      QCOMPARE(stale(driver), QRegion());
      for (const char* command : {"node.wrap:plus", "node.wrap:cross", "node.mute", "node.collapse",
                                  "node.up", "node.duplicate", "node.delete"}) {
        const int before = driver.model().undoStack().index();
        if (!driver.canvas().perform(QLatin1String(command))) continue;
        const auto whatIsStale = [&] {
          const QRegion region = stale(driver);
          return region.isEmpty() ? QString()
                                  : QStringLiteral("%1 x %2 at %3, %4")
                                        .arg(region.boundingRect().width())
                                        .arg(region.boundingRect().height())
                                        .arg(region.boundingRect().x())
                                        .arg(region.boundingRect().y());
        };
        QString found = whatIsStale();
        QVERIFY2(found.isEmpty(), qPrintable(QLatin1String(command) + QStringLiteral(": ") + found));
        while (driver.model().undoStack().index() > before) {
          driver.model().undoStack().undo();
          found = whatIsStale();
          QVERIFY2(found.isEmpty(), qPrintable(QLatin1String(command) + QStringLiteral(" undone: ") + found));
        }
      }
    }
  }

  void nothingIsLeftOfTextsThatWereShownBefore() {
    const auto picture = [](CanvasDriver& driver, double zoom) {
      driver.canvas().setPlace({.zoom = zoom, .center = {120, 90}});
      QCoreApplication::processEvents();
      return plain(driver.canvas().findChild<QGraphicsView*>()->grab());
    };
    const auto inputOf = [](CanvasDriver& driver, ui::Scheme scheme) {
      ui::ViewInput input;
      input.trace = std::make_shared<const ui::TraceStore>();
      input.theme = ui::Theme(scheme);
      input.document = driver.model().snapshot();
      return input;
    };
    CanvasDriver changed(test::exampleDocument("rag.json"));
    for (const double zoom : {1.0, 0.6, 0.53}) (void)picture(changed, zoom);
    const document::Document& document = changed.document();
    const NodeId cross = document.at(document.root()).children[0];
    const NodeId first = document.at(document.at(cross).children[1]).children[0];
    changed.model().change(QStringLiteral("edit"), [first](document::Document& edited) {
      query::Message message = *edited.at(first).own.as<query::Message>();
      message.text = "Nobody has written a letter.";
      document::setOwn(edited, first, {message});
    });
    CanvasDriver fresh(changed.document());
    for (const double zoom : {0.6, 1.0, 0.53, 0.95}) QCOMPARE(picture(changed, zoom), picture(fresh, zoom));
    changed.setInput(inputOf(changed, ui::Scheme::Dark));
    CanvasDriver dark(changed.document());
    dark.setInput(inputOf(dark, ui::Scheme::Dark));
    for (const double zoom : {0.95, 0.6}) QCOMPARE(picture(changed, zoom), picture(dark, zoom));
  }

  void whatStaysInSightIsMovedRatherThanPainted() {
    CanvasDriver driver(test::exampleDocument("rag.json"));
    auto* view = driver.canvas().findChild<QGraphicsView*>();
    driver.canvas().setPlace({.zoom = 1, .center = {120, 90}});
    QCoreApplication::processEvents();
    QRegion painted;
    class Watch : public QObject {
     public:
      explicit Watch(QRegion& region) : m_region(region) {}
      bool eventFilter(QObject* /*watched*/, QEvent* event) override {
        if (event->type() == QEvent::Paint) m_region += static_cast<QPaintEvent*>(event)->region();
        return false;
      }

     private:
      QRegion& m_region;
    } watch(painted);
    view->viewport()->installEventFilter(&watch);
    view->verticalScrollBar()->setValue(view->verticalScrollBar()->value() + 10);
    QCoreApplication::processEvents();
    QVERIFY(!painted.isEmpty());
    int pixels = 0;
    for (const QRect& rect : painted) pixels += rect.width() * rect.height();
    QVERIFY2(pixels < view->width() * view->height() / 10, qPrintable(QString::number(pixels)));
  }
};

SPANSCOPE_TEST(tst_canvas_painting, TestCanvasPainting, QApplication)
#include "tst_canvas_painting.moc"
