// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of an answer, measured from its card: pressed, shown beside the exactness of its policy, kept with
// the run.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/answering_window.h"
#include "ui/document/document_model.h"
#include "ui/session/run_archive.h"
#include "ui/views/output/output_view.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QAction>
#include <QLabel>
#include <QObject>
#include <QSignalSpy>
#include <QString>
#include <QStringLiteral>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

class TestFidelityButton : public QObject {
  Q_OBJECT

 private:
  test::AnsweringWindow<OutputView> m_shown;
  MainWindow* m_window = nullptr;  ///< its
  OutputView* m_view = nullptr;    ///< its

  QToolButton& button() { return m_view->cards().front()->fidelityButton(); }
  const Answer& answer() const { return m_view->model().answers.front(); }

  void run() {
    const RunId before = m_view->model().answers.empty() ? 0 : answer().run;
    const auto isShown = [&] {
      return !m_view->cards().empty() && answer().run != before && answer().state == AnswerState::Finished &&
             answer().measureReason.isEmpty();
    };
    QCOMPARE(m_shown.run(isShown), QString());
  }

  void measure() {
    QSignalSpy measured(&m_window->workspace(), &Workspace::jobEnded);
    QVERIFY(button().isVisible() && button().isEnabled());
    button().click();
    QTRY_VERIFY_WITH_TIMEOUT(!measured.isEmpty(), test::kPatience);
    QCOMPARE(measured.front().front().toString(), QString());
    // The figures may be there before the view has heard that the work is done.
    QTRY_VERIFY_WITH_TIMEOUT(answer().fidelity.has_value() && !answer().isMeasuring, test::kPatience);
  }

 private Q_SLOTS:
  void init() {
    QVERIFY(m_shown.open("output"));
    m_window = &m_shown.window();
    m_view = &m_shown.view();
  }
  void cleanup() {
    m_view = nullptr;
    m_window = nullptr;
    m_shown.close();
  }

  void standsBesideTheExactness() {
    run();
    QVERIFY(!exactnessText(answer()).contains(QStringLiteral("KL")));
    QCOMPARE(fidelityHeadline(answer()), worded("<not-compared-yet>"));
    QCOMPARE(button().text(), QStringLiteral("Measure fidelity"));
    measure();
    const QString headline = fidelityHeadline(answer());
    QCOMPARE(headline, worded("<same-answer-as-prefill> · KL < 0.001"));
    const auto labels = m_view->cards().front()->findChildren<QLabel*>();
    const auto isHeadline = [&](const QLabel* label) {
      return label->isVisible() && label->text() == headline;
    };
    QVERIFY(std::any_of(labels.begin(), labels.end(), isHeadline));
    const QString text = exactnessText(answer());
    QVERIFY2(text.startsWith(QStringLiteral("block attention ✓ · full prefill ≈ KL ")), qPrintable(text));
    QVERIFY2(text.endsWith(metricPhrase("agreeing-tokens", QStringLiteral("8 of 8")) +
                           QStringLiteral(", same answer")),
             qPrintable(text));
    QVERIFY(m_view->csv().contains(ui::tr("%1, mean").arg(metricHeading("divergence"))));
    QVERIFY(fidelityDetails(answer()).contains(metricPhrase("agreeing-tokens", QStringLiteral("8 of 8"))));
    QTRY_VERIFY(button().isEnabled());
    QCOMPARE(button().text(), QStringLiteral("Measure again"));
  }

  /// Also when another run came in between, which has none.
  void staysWithItsRun() {
    run();
    measure();
    const RunId first = answer().run;
    run();
    QVERIFY(answer().run != first);
    QVERIFY(!answer().fidelity);
    QVERIFY(m_view->model().answers.at(1).fidelity.has_value());
    const RunRecord* record = m_window->workspace().history().find(first);
    QVERIFY(record != nullptr);
    QCOMPARE(record->fidelity.size(), std::size_t{1});
    const std::optional<RunRecord> read = readRecord(recordText(*record));
    QVERIFY(read.has_value());
    QVERIFY(*read->fidelity.begin()->second == *record->fidelity.begin()->second);
  }

  /// An answer in another arithmetic also has its difference from f32, and keeps it.
  void fastIsHeldAgainstF32() {
    m_window->workspace().model()->change(
        QStringLiteral("Arithmetic"), [](document::Document& value) { value.settings.arithmetic = "fast"; });
    run();
    measure();
    QTRY_VERIFY_WITH_TIMEOUT(answer().arithmeticMetrics.has_value(), test::kPatience);
    QCOMPARE(answer().arithmeticMetrics->tokens, answer().fidelity->tokens);
    // The headline reports the job until its end has come too, after its metrics.
    QTRY_VERIFY_WITH_TIMEOUT(
        fidelityHeadline(answer()).contains(QStringLiteral(" · difference between fast and f32: KL ")),
        test::kPatience);
    QVERIFY(fidelityDetails(answer()).contains(QStringLiteral("in fast arithmetic")));
    QVERIFY(m_view->csv().contains(ui::tr("%1, compared with f32").arg(metricHeading("divergence"))));
    const RunRecord* record = m_window->workspace().history().find(answer().run);
    QVERIFY(record != nullptr);
    QCOMPARE(record->arithmetic.size(), std::size_t{1});
    const std::optional<RunRecord> read = readRecord(recordText(*record));
    QVERIFY(read.has_value());
    QVERIFY(*read->arithmetic.begin()->second == *record->arithmetic.begin()->second);
  }

  /// The command of the menu measures every answer of the visible run.
  void commandMeasuresTheRun() {
    run();
    const QAction* command = m_window->findChild<QAction*>(QStringLiteral("run.fidelity"));
    QVERIFY(command != nullptr);
    QTRY_VERIFY(command->isEnabled());
    m_window->perform(QStringLiteral("run.fidelity"));
    // The figures may be there before the view has heard that the work is done.
    QTRY_VERIFY_WITH_TIMEOUT(answer().fidelity.has_value() && !answer().isMeasuring, test::kPatience);
  }
};

SPANSCOPE_TEST(tst_fidelity_button, TestFidelityButton, QApplication)
#include "tst_fidelity_button.moc"
