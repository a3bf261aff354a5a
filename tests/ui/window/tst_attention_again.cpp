// SPDX-License-Identifier: GPL-3.0-or-later
// Attention that a run did not record, computed again from the attention view: pressed, shown, labelled, and
// where it cannot be, said why.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/answering_window.h"
#include "ui/views/attention/attention_controls.h"
#include "ui/views/attention/attention_plot.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/tokens/token_strip_area.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QObject>
#include <QPushButton>
#include <QSignalSpy>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <cmath>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;

namespace {

constexpr std::int32_t kLayer = 4;

}  // namespace

class TestAttentionAgain : public QObject {
  Q_OBJECT

 private:
  test::AnsweringWindow<AttentionView> m_shown;
  MainWindow* m_window = nullptr;   ///< its
  AttentionView* m_view = nullptr;  ///< its

  QString offered() const { return m_view->replay().text; }
  QPushButton& button() { return m_view->replayStrip().button(); }
  const QAction& command() const { return *m_window->findChild<QAction*>(QStringLiteral("run.attention")); }

  void run() {
    const auto isShown = [this] {
      const ViewInput& input = m_window->workspace().input();
      return m_view->model().recorded && !input.replay.engineIsBusy && m_view->model().answer.tokens > 0 &&
             input.state().progress().runs.rbegin()->second.outcome;
    };
    QCOMPARE(m_shown.run(isShown), QString());
  }

  void choose(std::int32_t layer, const std::optional<std::int32_t>& head) {
    AttentionOptions options = m_view->options();
    options.layer = layer;
    options.head = head;
    m_view->setOptions(options);
  }

  void press() {
    QSignalSpy computed(&m_window->workspace(), &Workspace::jobEnded);
    QTRY_VERIFY(button().isVisible() && button().isEnabled());
    QTest::mouseClick(&button(), Qt::LeftButton);
    QVERIFY(says(offered(), "<computing-again-answer>"));
    QCOMPARE(button().text(), QStringLiteral("Stop"));
    QTRY_VERIFY_WITH_TIMEOUT(!computed.isEmpty(), test::kPatience);
    QCOMPARE(computed.front().front().toString(), QString());
    QTRY_VERIFY(!m_view->replay().choice);
  }

  /// Of the answer's rows, cells of segment 1 that hold something.
  std::size_t measured() const {
    const AttentionModel& model = m_view->model();
    const AttentionSegment& segment = model.segments.at(1);
    std::size_t count = 0;
    for (std::size_t row = 0; row < model.rows.size(); ++row) {
      for (std::int32_t c = 0; c < segment.columns; ++c) {
        const std::size_t cell = model.at(static_cast<std::int32_t>(row), segment.firstColumn + c);
        count += model.states[cell] == CellState::Measured ? 1U : 0U;
      }
    }
    return count;
  }

 private Q_SLOTS:
  void init() {
    QVERIFY(m_shown.open("attention"));
    m_window = &m_shown.window();
    m_view = &m_shown.view();
  }
  void cleanup() {
    m_view = nullptr;
    m_window = nullptr;
    m_shown.close();
  }

  void pressedItFillsTheMap() {
    run();
    QVERIFY(offered().isEmpty());  // of all layers, what was recorded is what is shown
    QVERIFY(!command().isEnabled());
    choose(kLayer, 2);
    QVERIFY2(offered().startsWith(worded("<blocks-tokens-were|layer 4, head 2>")), qPrintable(offered()));
    QVERIFY(m_view->wordsArea().isVisible());
    AttentionOptions opened = m_view->options();
    opened.opened[1] = AttentionGrain::Tokens;
    m_view->setOptions(opened);
    QCOMPARE(measured(), std::size_t{0});
    QTRY_VERIFY(command().isEnabled());

    press();
    const AttentionModel& model = m_view->model();
    QCOMPARE(measured(), model.rows.size() * static_cast<std::size_t>(model.segments[1].columns));
    QVERIFY(model.recomputed);
    QVERIFY2(says(offered(), "<layer-computed-again|Layer 4, head 2>"), qPrintable(offered()));
    QVERIFY(!button().isVisible());
    QVERIFY(!command().isEnabled());
    const std::int32_t column = model.segments[1].firstColumn;
    QVERIFY(attentionReadout(model, m_view->options(), 0, column)
                .contains(worded("layer 4, head 2<computed-again-after>")));
    QVERIFY(m_view->csv().contains(QStringLiteral("recomputed")));
    // The first tokens (attention sinks) are left out unless the user wants them.
    AttentionOptions whole = m_view->options();
    whole.withFirst = true;
    m_view->setOptions(whole);
    double sum = 0;
    for (std::int32_t c = 0; c < model.columns; ++c) sum += static_cast<double>(model.mass[model.at(0, c)]);
    QVERIFY2(std::abs(sum - 1) < 1e-3, qPrintable(QString::number(sum)));

    // Another head or layer was not, and is offered.
    choose(kLayer, 1);
    QTRY_VERIFY(button().isVisible() && button().isEnabled());
    QVERIFY2(offered().startsWith(worded("<blocks-tokens-were|layer 4, head 1>")), qPrintable(offered()));
    choose(1, 2);
    QVERIFY2(offered().startsWith(worded("<blocks-tokens-were|layer 1, head 2>")), qPrintable(offered()));
    choose(kLayer, 2);
    QVERIFY(!button().isVisible());
  }

  void theCommandDoesTheSame() {
    run();
    choose(0, std::nullopt);
    QTRY_VERIFY(command().isEnabled());
    QSignalSpy computed(&m_window->workspace(), &Workspace::jobEnded);
    m_window->perform(QStringLiteral("run.attention"));
    QVERIFY(computed.wait(test::kPatience));
    QTRY_VERIFY2(offered().startsWith(QStringLiteral("Layer 0, all heads was recomputed")),
                 qPrintable(offered()));
    QVERIFY(!m_window->workspace().input().replay.running);
  }

  /// An older run of the session is shown as it was at its end: what is computed then belongs to it.
  void ofAnOlderRunToo() {
    run();
    run();
    QTRY_COMPARE(m_view->model().run, RunId{2});
    m_window->workspace().showRun(1);
    QTRY_COMPARE(m_view->model().run, RunId{1});
    choose(2, 0);
    press();
    QCOMPARE(m_view->model().run, RunId{1});
    QVERIFY(m_view->model().answer.replayed.has_value());
  }

  /// Every layer can be chosen, also those that the run did not observe.
  void layersThatWereNotObserved() {
    DocumentModel& model = *m_window->workspace().model();
    model.change(QStringLiteral("Layers"), [](document::Document& document) {
      document.settings.layers = {0, 1};
    });
    run();
    QCOMPARE(m_view->model().layers.size(), std::size_t{6});
    choose(5, 3);
    press();
    QVERIFY(m_view->model().recorded);
  }

  void saysWhyNot_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("words");
    QTest::newRow("recorded run") << 0 << worded("<answer-of-a-recorded-run>");
    QTest::newRow("ended session") << 1 << worded("<answer-session-ended>");
    QTest::newRow("not finished") << 2 << worded("<answer-not-finished>");
    QTest::newRow("running") << 3 << worded("<query-running>");
    QTest::newRow("other attention") << 4 << worded("<other-attention-being>");
    QTest::newRow("head alone") << 5 << "Choose a layer";
  }

  void saysWhyNot() {
    QFETCH(int, which);
    QFETCH(QString, words);
    run();
    choose(kLayer, 2);
    Workspace& workspace = m_window->workspace();
    if (which == 0) {
      const QString file = m_shown.path(QStringLiteral("run.trace"));
      QCOMPARE(workspace.saveTrace(file), QString());
      QVERIFY(m_window->openFile(file));
    } else if (which == 1) {
      m_window->perform(QStringLiteral("file.new"));
      QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
      workspace.model()->change(QStringLiteral("Blocks"),
                                [](document::Document& document) { document.settings.blockSize = 8; });
      QSignalSpy ended(&workspace, &Workspace::jobEnded);
      m_window->perform(QStringLiteral("run.run"));
      QVERIFY(ended.wait(test::kPatience));
      workspace.setCurrent(workspace.documents().front().get());
    } else if (which == 2) {
      // Back to the moment before the last tokens came.
      const RequestEvents* events = workspace.input().trace->request(m_view->model().request);
      workspace.setPosition(
          events->of<trace::TokenGenerated>().at(events->of<trace::TokenGenerated>().size() / 2));
    } else if (which == 3) {
      workspace.model()->change(QStringLiteral("Long"),
                                [](document::Document& document) { document.settings.seed = 7; });
      Selection shown;
      shown.request = m_view->model().request;
      // A run may end before the window has looked: then it takes another one to see it running.
      constexpr int kMostRuns = 50;
      bool isSeen = false;
      for (int i = 0; i < kMostRuns && !isSeen; ++i) {
        QSignalSpy ended(&workspace, &Workspace::jobEnded);
        m_window->perform(QStringLiteral("run.run"));
        workspace.select(shown);
        QTRY_VERIFY((isSeen = offered().contains(words)) || !ended.isEmpty());
        if (isSeen) QVERIFY(!button().isEnabled());
        QVERIFY(!ended.isEmpty() || ended.wait(test::kPatience));
      }
      QVERIFY2(isSeen, qPrintable(offered()));
      return;
    } else if (which == 4) {
      QSignalSpy computed(&workspace, &Workspace::jobEnded);
      QTRY_VERIFY(button().isEnabled());
      QTest::mouseClick(&button(), Qt::LeftButton);
      choose(1, 1);
      QVERIFY2(offered().contains(words), qPrintable(offered()));
      QVERIFY(!button().isEnabled());
      QTRY_VERIFY_WITH_TIMEOUT(!computed.isEmpty(), test::kPatience);
      QTRY_VERIFY(button().isEnabled());
      return;
    } else {
      AttentionOptions options = m_view->options();
      options.layer.reset();
      options.head = 1;
      m_view->setOptions(options);
    }
    QTRY_VERIFY2(offered().contains(words), qPrintable(offered()));
    QVERIFY(!button().isVisible() || !button().isEnabled());
    QTRY_VERIFY(!command().isEnabled());
    QVERIFY(!m_view->replayStrip().findChild<QLabel*>()->text().isEmpty());
  }

  void stopLeavesTheOffer() {
    run();
    choose(kLayer, 2);
    QSignalSpy computed(&m_window->workspace(), &Workspace::jobEnded);
    QTRY_VERIFY(button().isEnabled());
    QTest::mouseClick(&button(), Qt::LeftButton);
    QTest::mouseClick(&button(), Qt::LeftButton);  // it says Stop
    QTRY_VERIFY_WITH_TIMEOUT(!computed.isEmpty(), test::kPatience);
    QCOMPARE(computed.front().front().toString(), QString());
    QTRY_VERIFY(!m_window->workspace().input().replay.running);
    // Whether it was sooner than the stop or not, nothing is left half done.
    QTRY_VERIFY(button().isEnabled() || m_view->model().answer.replayed.has_value());
  }
};

SPANSCOPE_TEST(tst_attention_again, TestAttentionAgain, QApplication)
#include "tst_attention_again.moc"
