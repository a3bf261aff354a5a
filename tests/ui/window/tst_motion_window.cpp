// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures that move in the window: what is played reaches the views, and the setting turns it off.
#include "tests/support/test_program.h"
#include "tests/ui/window/example_window.h"
#include "ui/views/block_table/block_table_view.h"
#include "ui/views/scrubber/scrubber.h"

#include <QApplication>
#include <QImage>
#include <QProxyStyle>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// A style whose animations take this long, as a desktop asks for.
class TimedStyle : public QProxyStyle {
 public:
  explicit TimedStyle(int milliseconds) : QProxyStyle(QStringLiteral("Fusion")), m_time(milliseconds) {}
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* data) const override {
    return hint == SH_Widget_Animation_Duration ? m_time : QProxyStyle::styleHint(hint, option, widget, data);
  }

 private:
  int m_time;
};

}  // namespace

class TestMotionWindow : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { QApplication::setStyle(new TimedStyle(200)); }

  void whatIsPlayedReachesTheViews() {
    test::ExampleWindow<BlockTableView> shown;
    QVERIFY(shown.open("rag.json", "view.explain", "block-table"));
    QSignalSpy ended(&shown.window().workspace(), &Workspace::jobEnded);
    shown.window().perform(QStringLiteral("run.run"));
    QVERIFY(ended.wait(60'000));
    auto* scrubber =
        qobject_cast<Scrubber*>(shown.window().docks().dock(QStringLiteral("scrubber"))->openView());
    QVERIFY(scrubber != nullptr);
    // What arrived has moved, and is at rest soon.
    QTRY_VERIFY(!scrubber->player().isUnderway());
    const ViewInput& input = shown.window().workspace().input();
    std::size_t pass = 0;
    while (!std::holds_alternative<trace::BatchComputed>(input.trace->event(pass).payload)) ++pass;
    shown.window().workspace().setPosition(pass);
    QTRY_COMPARE(scrubber->model().position, pass);

    // Long enough for a busy machine.
    QApplication::setStyle(new TimedStyle(60'000));
    scrubber->player().nudge(0.5);
    QTRY_COMPARE(scrubber->model().position, pass + 1);
    QVERIFY(scrubber->player().isUnderway());
    const QImage half = shown.view()->grab().toImage();
    scrubber->player().settle();
    // A view takes what is played when it is its turn.
    QTRY_VERIFY(shown.view()->grab().toImage() != half);
    QApplication::setStyle(new TimedStyle(200));

    // Turned off, the same leads to the end of it, also after the window was opened again.
    shown.window().perform(QStringLiteral("view.motion"));
    QCOMPARE(shown.settings().value(QStringLiteral("window/motion")).toString(), QStringLiteral("off"));
    shown.window().workspace().setPosition(pass);
    QTRY_COMPARE(scrubber->model().position, pass);
    scrubber->player().nudge(0.5);
    QTRY_COMPARE(scrubber->model().position, pass + 1);
    QVERIFY(!scrubber->player().isUnderway());

    shown.window().perform(QStringLiteral("view.motion"));
    scrubber->player().nudge(-0.5);
    QVERIFY(scrubber->player().isUnderway());
    // A run moves while it goes on, and no longer where none is wanted.
    QSignalSpy moments(scrubber, &Scrubber::momentChanged);
    const auto movesInARun = [&] {
      shown.window().workspace().setPosition(input.trace->size());
      moments.clear();
      shown.window().perform(QStringLiteral("run.run"));
      if (!ended.wait(60'000)) return false;
      return std::any_of(moments.begin(), moments.end(),
                         [](const QList<QVariant>& one) { return one.front().value<Moment>() != Moment(); });
    };
    scrubber->player().settle();
    QVERIFY(movesInARun());
    QTRY_VERIFY(!scrubber->player().isUnderway());
    shown.window().perform(QStringLiteral("view.motion"));
    QVERIFY(!movesInARun());
    shown.window().perform(QStringLiteral("view.motion"));
    // Where the system asks for none, the setting changes nothing.
    QApplication::setStyle(new TimedStyle(0));
    scrubber->player().settle();
    scrubber->player().nudge(-0.5);
    QVERIFY(!scrubber->player().isUnderway());
  }
};

SPANSCOPE_TEST(tst_motion_window, TestMotionWindow, QApplication)
#include "tst_motion_window.moc"
