// SPDX-License-Identifier: GPL-3.0-or-later
// Policies are compared from the window: the choice is remembered, the figures stay with their tab, and the
// warning about a checkpoint offers it.
#include "engine/jobs/policy_comparison.h"
#include "engine/workbench/run_options.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/model_choices.h"
#include "ui/views/output/output_view.h"
#include "ui/views/policies/policies_view.h"

#include <QAction>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QList>
#include <QMenu>
#include <QObject>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>
#include <QString>
#include <QStringLiteral>
#include <QTest>
#include <QToolButton>

#include <algorithm>
#include <memory>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

}  // namespace

class TestPoliciesWindow : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  Workspace& workspace() { return m_window->workspace(); }
  PoliciesView& view() {
    return *qobject_cast<PoliciesView*>(m_window->docks().dock(QStringLiteral("policies"))->openView());
  }
  /// nullptr: there is none.
  const MeasuredJob* job() {
    return findMeasured(workspace().input().measured, jobs::PolicyComparisonJob::kId);
  }
  std::shared_ptr<const PolicyComparison> comparison() {
    return measured<jobs::PolicyComparisonJob>(workspace().input().measured);
  }
  bool hasEnded() { return job() != nullptr && !job()->isRunning(); }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    QVERIFY(m_fresh->show());
    m_window = &m_fresh->window();
  }
  void cleanup() { m_fresh.reset(); }

  /// One click compares, and one more key starts it where the command showed the dock.
  void aQueryIsComparedAndKeptWithItsTab() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(QStringLiteral("run.policies"));
    QTRY_VERIFY(view().isVisible());
    QVERIFY(!comparison());
    auto* button = view().findChild<QPushButton*>();
    QCOMPARE(m_window->focusWidget(), button);
    QTest::keyClick(button, Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    const std::shared_ptr<const PolicyComparison> compared = comparison();
    QCOMPARE(job()->problem, QString());
    QCOMPARE(compared->policies.size(), std::size_t(4));
    QCOMPARE(compared->policies[0].policy, std::string("spans"));
    QCOMPARE(compared->policies[1].policy, std::string("prefix"));
    QCOMPARE(compared->policies[1].fidelity()->mostDivergence, 0.0);
    QTRY_COMPARE(view().model().table.rows.size(), std::size_t(4));
    QVERIFY(view().model().warnings.isEmpty());
    // What was compared are no runs of the document.
    QVERIFY(workspace().history().records()->empty());

    QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
    QTRY_VERIFY(!view().model().isKnown);
    workspace().setCurrent(workspace().documents().front().get());
    QTRY_VERIFY(view().model().isKnown);
  }

  /// Before it is started, the page says how long it takes.
  void theTimeIsForetold() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(QStringLiteral("run.policies"));
    QSignalSpy ended(&workspace(), &Workspace::jobEnded);
    m_window->perform(QStringLiteral("run.run"));
    QVERIFY(!ended.isEmpty() || ended.wait(kPatience));
    const auto isSaid = [this] {
      const QList<QLabel*> labels = view().findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
        return label->text().startsWith(QStringLiteral("Takes "));
      });
    };
    QTRY_VERIFY_WITH_TIMEOUT(isSaid(), kPatience);
  }

  void theChoiceIsRemembered() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("run.policies"));
    QTRY_COMPARE(view().menu().text(), QStringLiteral("4 policies ▾"));
    for (QAction* action : view().menu().menu()->actions()) {
      if (action->text().startsWith(QStringLiteral("sparse"))) action->trigger();
    }
    QTRY_COMPARE(view().menu().text(), QStringLiteral("5 policies ▾"));
    QVERIFY(m_fresh->reopen());
    m_window = &m_fresh->window();
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("run.policies"));
    QTRY_COMPARE(view().menu().text(), QStringLiteral("5 policies ▾"));
  }

  void stopKeepsWhatWasMeasured() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("run.policies:run"));
    m_window->perform(QStringLiteral("run.stop"));
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QTRY_VERIFY(!view().model().isRunning);
  }

  void whatCannotRunSaysWhy() {
    m_window->newDocument();
    m_window->perform(QStringLiteral("run.policies:run"));
    QVERIFY(m_window->statusBar()->currentMessage().contains(QStringLiteral("empty")));
    QVERIFY(!comparison());
  }

  /// With its adapter, and with the policy that goes with both.
  void newDocumentsHaveTheModelInUse() {
    const QString untrained = QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/model/data/bf16_gqa_tied");
    const std::string adapter = untrained.toStdString() + "/adapter";
    const auto settings = [this] { return workspace().model()->document().settings; };
    m_window->newDocument();
    QCOMPARE(settings().policy, std::string("spans"));
    chooseModel(*workspace().model(), untrained);
    m_window->newDocument();
    QCOMPARE(settings().model, untrained.toStdString());
    QCOMPARE(settings().policy, std::string("prefix"));
    chooseAdapter(*workspace().model(), adapter);
    m_window->newDocument();
    QCOMPARE(settings().adapter, adapter);
    QCOMPARE(settings().policy, std::string("spans"));
    // An example for the bundled model runs on that.
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QCOMPARE(settings().model + settings().adapter, std::string());
    QCOMPARE(settings().policy, std::string("spans"));
  }

  /// A checkpoint that was not trained for block attention: the warning at the answer offers the comparison.
  void theWarningOffersIt() {
    const QDir source(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet"));
    const QString folder = m_fresh->path(QStringLiteral("untrained"));
    QVERIFY(QDir().mkpath(folder));
    for (const QString& name : source.entryList(QDir::Files))
      QVERIFY(QFile::copy(source.filePath(name), folder + QLatin1Char('/') + name));
    QFile config(folder + QStringLiteral("/config.json"));
    QVERIFY(config.setPermissions(QFile::ReadOwner | QFile::WriteOwner) && config.open(QIODevice::ReadWrite));
    const QByteArray changed =
        config.readAll().replace("\"block_attention\": true", "\"block_attention\": false");
    QVERIFY(config.resize(0) && config.seek(0) && config.write(changed) == changed.size());
    config.close();

    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.explain"));
    m_window->docks().reveal(QStringLiteral("output"));
    auto* output = qobject_cast<OutputView*>(m_window->docks().dock(QStringLiteral("output"))->openView());
    const auto button = [output]() -> QToolButton& { return output->cards().front()->policiesButton(); };
    const auto run = [this] {
      QSignalSpy ended(&workspace(), &Workspace::jobEnded);
      m_window->perform(QStringLiteral("run.run"));
      return !ended.isEmpty() || ended.wait(kPatience);
    };
    QVERIFY(run());
    QTRY_VERIFY(!output->cards().empty() && output->cards().front()->answer().state == AnswerState::Finished);
    QVERIFY(!button().isVisible());
    workspace().model()->change(QStringLiteral("Model"), [&folder](document::Document& document) {
      document.settings.model = folder.toStdString();
    });
    QVERIFY(run());
    // In a low dock, what the advice offers is shown on request.
    QToolButton& more = output->cards().front()->moreButton();
    QTRY_VERIFY(button().isVisible() || more.isVisible());
    if (more.isVisible()) more.click();
    QTRY_VERIFY(button().isVisible());
    button().click();
    QTRY_VERIFY(view().isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(comparison()->policies.size(), std::size_t(4));
  }

  /// Each entry says when to choose the policy and what it is exact against; its tip says who does it so. The
  /// last entry compares.
  void theMenuOfPoliciesOffersIt() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QMenu* policies = nullptr;
    for (auto* each : m_window->findChildren<QToolButton*>()) {
      if (each->accessibleName() == QStringLiteral("Reuse policy")) policies = each->menu();
    }
    QVERIFY(policies != nullptr);
    Q_EMIT policies->aboutToShow();
    const QStringList whos{QStringLiteral("prefix|stock servers"), QStringLiteral("spans|vLLM with spans"),
                           QStringLiteral("link(16)|EPIC"),        QStringLiteral("blend(0.15)|CacheBlend"),
                           QStringLiteral("sparse|Quest"),         QStringLiteral("views|Hogwild!"),
                           QStringLiteral("relay|RelayCaching")};
    for (const QString& who : whos) {
      bool isFound = false;
      for (const QAction* action : policies->actions()) {
        if (!action->text().startsWith(who.section(QLatin1Char('|'), 0, 0))) continue;
        isFound = isFound ||
                  (action->toolTip().contains(QStringLiteral("as in ") + who.section(QLatin1Char('|'), 1)) &&
                   action->text().contains(QStringLiteral("full prefill")));
      }
      QVERIFY2(isFound, qPrintable(who));
    }
    // The default of the model is named.
    const QString usual =
        QString::fromStdString(workbench::usualPolicyOf(m_window->workspace().model()->document().settings));
    QVERIFY2(policies->actions().at(1)->text().endsWith(usual),
             qPrintable(policies->actions().at(1)->text()));
    QCOMPARE(policies->actions().back()->text(), QStringLiteral("Compare policies…"));
    policies->actions().back()->trigger();
    QTRY_VERIFY(view().isVisible());
    QVERIFY(policies->sizeHint().width() <= 1024);
  }
};

SPANSCOPE_TEST(tst_policies_window, TestPoliciesWindow, QApplication)
#include "tst_policies_window.moc"
