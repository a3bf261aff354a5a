// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/views/common/elided_text.h"
#include "ui/window/status_line.h"
#include "ui/words/metric_words.h"

#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <memory>
#include <string_view>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kRunPatience = 20'000;

}  // namespace

class TestRunHint : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;

  MainWindow& window() { return m_fresh->window(); }
  RunHint* hint() { return window().findChild<RunHint*>(); }

  static QString of(std::string_view metric, int tokens) {
    return metricPart(metric, QString::number(tokens), "prompt-tokens", QStringLiteral("83"));
  }
  void run() {
    QSignalSpy ended(&window().workspace(), &Workspace::jobEnded);
    window().perform(QStringLiteral("run.run"));
    QVERIFY(ended.wait(kRunPatience));
    QCOMPARE(ended.front().front().toString(), QString());
    QCoreApplication::processEvents();
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    QVERIFY(m_fresh->show({1024, 700}) && window().openExample(QLatin1String("rag.json")));
    window().perform(QStringLiteral("view.author"));
  }
  void cleanup() { m_fresh.reset(); }

  void says_data() {
    QTest::addColumn<StatusModel>("status");
    QTest::addColumn<QString>("text");
    StatusModel status;
    QTest::newRow("nothing has run") << status << QString();
    status.run = 1;
    status.promptTokens = 83;
    QTest::newRow("running") << status << QString();
    status.outcome = trace::RunOutcome::Failed;
    QTest::newRow("failed") << status << QString();
    status.outcome = trace::RunOutcome::Finished;
    QTest::newRow("on a server") << status << QString();
    status.hasLookups = true;
    QTest::newRow("cold") << status << of("computed-tokens", 83) + QStringLiteral(": see how");
    status.cachedTokens = 70;
    QTest::newRow("warm") << status << of("cached-tokens", 70) + QStringLiteral(": see why");
    status.events = 9;
    QTest::newRow("looking back") << status << QString();
  }
  void says() {
    QFETCH(StatusModel, status);
    QFETCH(QString, text);
    QCOMPARE(runHintText(status), text);
  }

  void leadsToWhatHappened() {
    QVERIFY(hint() != nullptr && !hint()->isVisible());
    run();
    QTRY_VERIFY(hint()->isVisible());
    QCOMPARE(hint()->link().text(), of("computed-tokens", 83) + QStringLiteral(": see how"));
    // The whole sentence is in sight, at the least size of the window, too.
    QVERIFY(hint()->link().width() >= hint()->link().sizeHint().width());
    QVERIFY(window().rect().contains(QRect(hint()->mapTo(&window(), QPoint()), hint()->size())));
    QTest::mouseClick(&hint()->link(), Qt::LeftButton);
    QVERIFY(window().docks().layout() == LayoutId::Explain);
    QVERIFY(window().workspace().input().selection.request.has_value());
    QVERIFY(!hint()->isVisible());
    // A user who knows the way gets no more hints.
    window().perform(QStringLiteral("view.author"));
    run();
    QVERIFY(!hint()->isVisible());
  }

  /// The state of a run has its end in sight beside the hint, also in the smallest window.
  void leavesSpaceForTheState() {
    run();
    run();
    QTRY_VERIFY(hint()->isVisible());
    const auto* state = dynamic_cast<ElidedLabel*>(window().findChild<QLabel*>(QStringLiteral("runState")));
    QVERIFY(state != nullptr);
    QTRY_COMPARE(state->shown(), state->text());
  }

  void whoFindsTheWayIsNotTold() {
    run();
    QTRY_VERIFY(hint()->isVisible());
    window().docks().setLayout(LayoutId::Measure);
    QVERIFY(!hint()->isVisible());
    window().docks().setLayout(LayoutId::Author);
    QVERIFY(hint()->isVisible());
    window().docks().setLayout(LayoutId::Explain);
    QVERIFY(!hint()->isVisible());
    window().perform(QStringLiteral("view.author"));
    QCoreApplication::processEvents();
    run();
    QVERIFY(!hint()->isVisible());
  }

  void isTakenAwayForGood() {
    run();
    QTRY_VERIFY(hint()->isVisible());
    hint()->closeButton().setFocus(Qt::TabFocusReason);
    QTest::keyClick(&hint()->closeButton(), Qt::Key_Space);
    QVERIFY(!hint()->isVisible());
    QVERIFY(window().docks().layout() != LayoutId::Explain);
    QVERIFY(m_fresh->reopen({1024, 700}) && window().openExample(QLatin1String("rag.json")));
    window().perform(QStringLiteral("view.author"));
    run();
    QVERIFY(!hint()->isVisible());
  }
};

SPANSCOPE_TEST(tst_run_hint, TestRunHint, QApplication)
#include "tst_run_hint.moc"
