// SPDX-License-Identifier: GPL-3.0-or-later
// The page of the probe: its table, its commands, and the button that sets the recommended policy.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/document/document_model.h"
#include "ui/views/probe/probe_view.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <memory>
#include <utility>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

experiment::ProbeSample sampleOf(double divergence, std::int64_t agreeing, std::int64_t recomputed) {
  return {.tokens = 16,
          .agreeing = agreeing,
          .divergence = divergence,
          .mostDivergence = 4 * divergence,
          .sameAnswer = agreeing == 16,
          .promptTokens = 300,
          .recomputed = recomputed,
          .computed = 20,
          .seconds = 0.02};
}

/// `spans` is far from a full prefill, and `link(16)` is close. The second question of `link(64)` failed.
jobs::Probe sampleProbe() {
  jobs::Probe probe;
  probe.choice.policies = {"spans", "link(16)", "link(64)"};
  probe.model = {.name = "model", .device = "CPU", .questions = {}};
  for (int i = 0; i < 2; ++i) {
    experiment::ProbeSample failed;
    failed.problem = "too long";
    probe.model.questions.push_back({.name = "q",
                                     .samples = {sampleOf(0.4, 12, 0), sampleOf(0.01, 16, 64),
                                                 i == 0 ? sampleOf(0.01, 16, 200) : failed}});
  }
  probe.bundled = probe.model;
  probe.bundled->name = "bundled";
  probe.samples = 6;
  probe.measuresBundled = true;
  return probe;
}

ViewInput inputOf(const document::Document& document, jobs::Probe probe,
                  workbench::JobState state = workbench::JobState::Finished) {
  ViewInput input;
  input.document = std::make_shared<const document::Document>(document);
  input.trace = std::make_shared<TraceStore>();
  test::setMeasured<jobs::ProbeJob>(input, std::move(probe), state);
  return input;
}

}  // namespace

class TestProbeView : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    m_rag = test::exampleDocument("rag.json");
    m_rag.settings.policy = "spans";
  }

  void policiesBecomeRows() {
    const ProbeModel model = probeModel(inputOf(m_rag, sampleProbe()));
    QVERIFY(model.isKnown && !model.isRunning);
    QCOMPARE(model.table.rows.size(), std::size_t{3});
    QCOMPARE(model.table.headers.size(), model.table.rows.front().size());
    QVERIFY(model.table.rows[1].front().bold && !model.table.rows[0].front().bold);
    QCOMPARE(model.table.rows[2].front().help, QStringLiteral("too long"));
    QCOMPARE(model.offered, QStringLiteral("link(16)"));
    QVERIFY(!model.verdict.isEmpty() && model.remarks.size() >= 3);
    QCOMPARE(model.chart.panels.size(), std::size_t{2});
    QCOMPARE(probeCsv(sampleProbe()).count(QLatin1Char('\n')), 7);
  }

  /// A policy is offered for the measured model only, and only if the document does not have this policy.
  void theOfferFitsTheDocument() {
    document::Document other = m_rag;
    other.settings.model = "/another";
    const ProbeModel model = probeModel(inputOf(other, sampleProbe()));
    QVERIFY(model.offered.isEmpty() && model.warnings.size() == 1);
    document::Document same = m_rag;
    same.settings.policy = "link(16)";
    QVERIFY(probeModel(inputOf(same, sampleProbe())).offered.isEmpty());
    QVERIFY(probeModel(inputOf(m_rag, sampleProbe(), workbench::JobState::Working)).offered.isEmpty());
  }

  void theDockIsOperated() {
    DocumentModel document(m_rag);
    ProbeView view;
    view.setModel(&document);
    view.resize(640, 500);
    ViewInput input = inputOf(m_rag, {});
    input.measured.clear();
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QVERIFY(view.csv().isEmpty() && view.useButton().isHidden());
    QSignalSpy commands(&view, &View::commandWanted);
    QSignalSpy estimates(&view, &View::estimateWanted);
    auto* own = view.findChild<QCheckBox*>();
    auto* run = qobject_cast<QPushButton*>(view.focusProxy());
    QTest::mouseClick(run, Qt::LeftButton);
    QCOMPARE(commands.takeFirst().front().toString(), QStringLiteral("run.probe:run"));
    QTRY_COMPARE(estimates.size(), 1);
    QVERIFY(own->isEnabled());
    own->setChecked(true);
    QTest::mouseClick(run, Qt::LeftButton);
    QCOMPARE(commands.takeFirst().front().toString(), QStringLiteral("run.probe:own"));

    view.setInput(inputOf(m_rag, sampleProbe(), workbench::JobState::Working));
    QTRY_VERIFY(view.findChild<QProgressBar*>()->isVisible());
    QVERIFY(!own->isEnabled());
    QTest::mouseClick(run, Qt::LeftButton);
    QCOMPARE(commands.takeFirst().front().toString(), QStringLiteral("run.stop:measurement"));

    view.setInput(inputOf(m_rag, sampleProbe()));
    QTRY_VERIFY(view.useButton().isVisible());
    QTest::mouseClick(&view.useButton(), Qt::LeftButton);
    QCOMPARE(document.document().settings.policy, std::string("link(16)"));
    document.settingsUndoStack().undo();
    QCOMPARE(document.document().settings.policy, std::string("spans"));
    view.copy();
    QVERIFY(QApplication::clipboard()->text().contains(view.shownModel().verdict));
  }

 private:
  document::Document m_rag;
};

SPANSCOPE_TEST(tst_probe_view, TestProbeView, QApplication)
#include "tst_probe_view.moc"
