// SPDX-License-Identifier: GPL-3.0-or-later
// The texts of a policy comparison, and the user's actions in the dock.
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/sample_policies.h"
#include "ui/views/policies/policies_view.h"
#include "ui/words/metric_words.h"
#include "ui/words/table_words.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QMenu>
#include <QObject>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>
#include <QTextBlock>
#include <QTextCursor>

#include <memory>
#include <utility>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

ViewInput inputOf(const document::Document& document, PolicyComparison comparison,
                  workbench::JobState state = workbench::JobState::Finished) {
  ViewInput input;
  input.document = std::make_shared<const document::Document>(document);
  input.trace = std::make_shared<TraceStore>();
  test::setMeasured<jobs::PolicyComparisonJob>(input, std::move(comparison), state);
  input.measured[jobs::PolicyComparisonJob::kId].chosen = policyChoice(usualPolicies()).arguments;
  return input;
}

PaintedCell cell(const PoliciesModel& model, std::size_t row, const QString& column) {
  for (std::size_t c = 1; c < model.table.headers.size(); ++c) {
    if (model.table.headers[c] == column) return model.table.rows[row][c];
  }
  return {.text = QStringLiteral("no such column")};
}

/// The pieces of the text that are underlined.
QStringList underlined(const QTextDocument& document) {
  QStringList pieces;
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    for (auto piece = block.begin(); !piece.atEnd(); ++piece) {
      if (piece.fragment().charFormat().underlineStyle() != QTextCharFormat::NoUnderline)
        pieces += piece.fragment().text();
    }
  }
  return pieces;
}

}  // namespace

class TestPoliciesView : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    m_rag = test::exampleDocument("rag.json");
  }

  void nothingIsKnownAtFirst() {
    ViewInput input = inputOf(m_rag, {});
    input.measured[jobs::PolicyComparisonJob::kId].result = nullptr;
    QVERIFY(!policiesModel(input).isKnown);
  }

  void policiesBecomeRows() {
    const PoliciesModel model = policiesModel(inputOf(m_rag, test::samplePolicies(m_rag)));
    QVERIFY(model.isKnown && !model.isRunning);
    QCOMPARE(model.setup, QStringLiteral("spanlet · CPU, 2 threads · block size 16"));
    QCOMPARE(model.table.rows.size(), std::size_t(4));
    QCOMPARE(model.table.rows[2][0].text, QStringLiteral("link(16)"));
    QCOMPARE(cell(model, 0, QStringLiteral("Cold")).text, QStringLiteral("200 ms"));
    QCOMPARE(cell(model, 0, QStringLiteral("Swapped")).text, QStringLiteral("20 ms"));
    QCOMPARE(cell(model, 0, metricShortTitle("cached-tokens")).text, QStringLiteral("84\u00A0%"));
    QCOMPARE(cell(model, 1, metricShortTitle("computed-tokens")).text, QStringLiteral("84\u00A0%"));
    QCOMPARE(cell(model, 2, metricShortTitle("tokens-computed-again")).text, QStringLiteral("19\u00A0%"));
    QCOMPARE(cell(model, 0, metricShortHeading("divergence")).text, QStringLiteral("0.15"));
    QCOMPARE(cell(model, 1, metricShortHeading("divergence")).text, QStringLiteral("0"));
    QCOMPARE(cell(model, 0, metricShortTitle("agreeing-tokens")).text, QStringLiteral("80\u00A0%"));
    QCOMPARE(cell(model, 1, metricShortHeading("cache-memory")).text, QStringLiteral("7.00"));
    QCOMPARE(cell(model, 3, metricShortHeading("cache-memory")).text, QStringLiteral("–"));
    QVERIFY(
        model.warnings.join(QLatin1Char(' ')).contains(QStringLiteral("blend(0.15): the pool is too small")));
    // Every account adds up to the prompt.
    const QString help = cell(model, 2, metricShortTitle("cached-tokens")).help;
    QVERIFY(help.startsWith(QStringLiteral("83 ")));
    QVERIFY(help.contains(metricPhrase("hit-tokens", 13)));
    QVERIFY(help.contains(metricPhrase("relocated-tokens", 20)));
  }

  void theBestOfAColumnStandsOut() {
    const PoliciesModel model = policiesModel(inputOf(m_rag, test::samplePolicies(m_rag)));
    const auto best = [&model](const QString& column) {
      QStringList names;
      for (std::size_t r = 0; r < model.table.rows.size(); ++r) {
        if (cell(model, r, column).bold) names += model.table.rows[r][0].text;
      }
      return names.join(QLatin1Char(' '));
    };
    // Times that were measured once, and lie within a tenth of each other.
    QCOMPARE(best(QStringLiteral("Cold")), QString());
    QCOMPARE(best(QStringLiteral("Swapped")), QStringLiteral("spans"));
    QCOMPARE(best(metricShortTitle("cached-tokens")), QStringLiteral("spans"));
    QCOMPARE(best(metricShortTitle("tokens-computed-again")), QStringLiteral("spans prefix"));
    QCOMPARE(best(metricShortHeading("divergence")), QStringLiteral("prefix"));
    QCOMPARE(best(metricShortTitle("agreeing-tokens")), QStringLiteral("prefix link(16)"));
    QCOMPARE(best(metricShortHeading("cache-memory")), QStringLiteral("spans"));
    // Where all are alike, none is better.
    PolicyComparison alike = test::samplePolicies(m_rag);
    alike.policies.resize(1);
    const PoliciesModel one = policiesModel(inputOf(m_rag, alike));
    for (const PaintedCell& only : one.table.rows.front()) QVERIFY(!only.bold);
  }

  void answersAreReadTokenByToken() {
    const PoliciesModel model = policiesModel(inputOf(m_rag, test::samplePolicies(m_rag)));
    QCOMPARE(model.answers.size(), std::size_t(3));
    const PolicyAnswer& spans = model.answers[0];
    QCOMPARE(spans.tokens.size(), std::size_t(5));
    QVERIFY(spans.tokens[3].differs && !spans.tokens[2].differs);
    QVERIFY(spans.tokens[3].help.contains(metricShortName("divergence") + QStringLiteral(" 0.5")));
    QVERIFY(spans.tokens[3].help.contains(worded("<full-prefill-would-choose|“ Biscuit”>")));
    QVERIFY(spans.facts.contains(QStringLiteral("4 of 5 tokens agree")));
    for (const AnswerToken& token : model.answers[1].tokens) QVERIFY(!token.differs);
    QVERIFY(model.remarks.contains(worded("<underlined-token-differs>")));
  }

  /// What every token is can be said of tokens that were compared.
  void nothingIsClaimedBeforeTheComparison() {
    PolicyComparison comparison = test::samplePolicies(m_rag);
    comparison.policies.erase(comparison.policies.begin());  // the only one that differs
    const auto remarks = [&] { return policiesModel(inputOf(m_rag, comparison)).remarks.size(); };
    const auto compared = remarks();
    MeasuredPolicy& last = comparison.policies.back();
    last = {.policy = "blend(0.15)", .stage = jobs::PolicyStage::Fidelity, .answer = "Biscuit"};
    QCOMPARE(remarks(), compared - 1);
    comparison.policies.erase(comparison.policies.begin(), comparison.policies.end() - 1);
    QCOMPARE(remarks(), compared - 1);
    comparison.chosenTemperature = true;
    QCOMPARE(remarks(), compared);
  }

  void whatWasEditedSinceIsSaid() {
    const PolicyComparison comparison = test::samplePolicies(m_rag);
    const auto isOutdated = [&](const document::Document& document) {
      return policiesModel(inputOf(document, comparison))
          .warnings.join(QLatin1Char(' '))
          .contains(worded("<measured-before-edit>"));
    };
    document::Document document = m_rag;
    QVERIFY(!isOutdated(document));
    // Each row has a policy of its own, so that of the document changes no figure.
    document.settings.policy = "prefix";
    QVERIFY(!isOutdated(document));
    document.settings.blockSize = 4;
    QVERIFY(isOutdated(document));
  }

  void progressIsTold() {
    PolicyComparison comparison = test::samplePolicies(m_rag);
    comparison.policies[2].stage = jobs::PolicyStage::Fidelity;
    comparison.policies[3] = {.policy = "blend(0.15)"};
    const PoliciesModel model = policiesModel(inputOf(m_rag, comparison, workbench::JobState::Working));
    QVERIFY(model.isRunning);
    QCOMPARE(model.doing, worded("<policy-fidelity-stage|link(16)|3|4>"));
    QVERIFY(qAbs(model.progress - (2 + 1.0 / 3) / 4) < 1e-9);
    comparison.model.clear();
    QCOMPARE(eventText(jobs::PolicyComparisonJob::activity(comparison)),
             QStringLiteral("Policies: preparing"));
  }

  void wishesAreWrittenAndRead() {
    QCOMPARE(comparedPolicies("link(64)", {"prefix", "link", "blend"}),
             (std::vector<std::string>{"link(64)", "prefix", "blend(0.15)"}));
    QCOMPARE(knownPolicies({QStringLiteral("prefix"), QStringLiteral("gone")}),
             std::vector<std::string>{"prefix"});
  }

  void figuresAreExported() {
    const QStringList lines =
        policiesCsv(test::samplePolicies(m_rag)).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 5);
    QVERIFY(lines[0].startsWith(QStringLiteral("policy,%1 cold,").arg(metricHeading("time-to-first-token"))));
    QCOMPARE(lines[3], QStringLiteral("link(16),210,60,83,13,20,34,16,0,0,0,5,0.0375,0.125,5,5242880,"
                                      "The pet is Biscuit.,"));
    QVERIFY(lines[4].endsWith(QStringLiteral(",the pool is too small")));
    // What the layout adds and leaves out has columns of its own.
    PolicyComparison padded = test::samplePolicies(m_rag);
    padded.policies[2].reordered->prompt.padding = 43;
    padded.policies[2].reordered->prompt.delimiters = 4;
    padded.policies[2].reordered->prompt.cropped = 2;
    const QStringList titles = lines[0].split(QLatin1Char(','));
    const QStringList cells = policiesCsv(padded).split(QLatin1Char('\n'))[3].split(QLatin1Char(','));
    QCOMPARE(cells.value(titles.indexOf(metricHeading("padding-tokens"))), QStringLiteral("43"));
    QCOMPARE(cells.value(titles.indexOf(metricHeading("delimiter-tokens"))), QStringLiteral("4"));
    QCOMPARE(cells.value(titles.indexOf(metricHeading("cropped-tokens"))), QStringLiteral("2"));
    for (const QString& line : lines)
      QCOMPARE(line.count(QLatin1Char(',')), lines[0].count(QLatin1Char(',')));
  }

  void theDockIsOperated() {
    PoliciesView view;
    view.resize(640, 400);
    ViewInput input = inputOf(m_rag, {});
    input.measured[jobs::PolicyComparisonJob::kId].result = nullptr;
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* table = view.findChild<TableView*>();
    auto* button = view.findChild<QPushButton*>();
    QVERIFY(!table->isVisible());
    QVERIFY(view.csv().isEmpty());
    QSignalSpy commands(&view, &View::commandWanted);
    QTest::keyClick(button, Qt::Key_Space);
    QCOMPARE(commands.takeFirst().front().toString(), QStringLiteral("run.policies:run"));

    // The document's own policy is always compared; another is taken out and remembered.
    const QList<QAction*> actions = view.menu().menu()->actions();
    QCOMPARE(view.menu().text(), QStringLiteral("4 policies ▾"));
    jobs::JobCall choice;
    connect(&view, &View::jobChosen, [&choice](const jobs::JobCall& call) { choice = call; });
    for (QAction* action : actions) {
      if (action->text().startsWith(QStringLiteral("spans:")))
        QVERIFY(action->isChecked() && !action->isEnabled());
      if (action->text().startsWith(QStringLiteral("link(16):"))) action->trigger();
    }
    QVERIFY(choice == policyChoice({"spans", "prefix", "blend"}));

    PolicyComparison comparison = test::samplePolicies(m_rag);
    test::setMeasured<jobs::PolicyComparisonJob>(input, comparison, workbench::JobState::Working);
    view.setInput(input);
    QTRY_VERIFY(table->isVisible());
    QCOMPARE(button->text(), QStringLiteral("Stop"));
    QVERIFY(view.findChild<QProgressBar*>()->isVisible());
    QVERIFY(!view.menu().isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(commands.takeFirst().front().toString(), QStringLiteral("run.stop:measurement"));

    test::setMeasured<jobs::PolicyComparisonJob>(input, test::samplePolicies(m_rag));
    view.setInput(input);
    QTRY_VERIFY(!view.model().isRunning);
    const QAbstractItemModel& shown = *table->model();
    QCOMPARE(shown.rowCount(), 4);
    QVERIFY(shown.index(1, 6).data(BoldRole).toBool() && !shown.index(0, 6).data(BoldRole).toBool());
    QCOMPARE(shown.index(1, 6).data(Qt::TextAlignmentRole).toInt() & Qt::AlignHorizontal_Mask,
             int(Qt::AlignRight));
    QCOMPARE(underlined(*view.answers().document()), QStringList(QStringLiteral("Coco")));
    view.copy();
    QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("spans: The pet is Coco.")));
    // Sorted by time, not by the text of the time: the policy that failed has none.
    table->sortByColumn(2, Qt::DescendingOrder);
    QStringList sorted;
    for (int row = 0; row < shown.rowCount(); ++row) sorted += shown.index(row, 0).data().toString();
    QCOMPARE(sorted.front(), QStringLiteral("prefix"));
    QCOMPARE(sorted.back(), QStringLiteral("blend(0.15)"));

    // Keys reach each token, and what is known of it.
    view.answers().setFocus();
    auto* token = view.findChild<QLabel*>(QStringLiteral("token"));
    for (int i = 0; i < 4; ++i) QTest::keyClick(&view.answers(), Qt::Key_Right);
    QTRY_VERIFY2(token->isVisible() && token->text().contains(QStringLiteral("Token 4, “ Coco”")),
                 qPrintable(token->text()));
    QTest::keyClick(&view.answers(), Qt::Key_Left);
    QVERIFY2(token->text().contains(QStringLiteral("Token 3, “ is”")), qPrintable(token->text()));
  }

  /// The text below a narrow table is whole: nothing of it is cut off at the right or at its end.
  void nothingIsCutOff() {
    PoliciesView view;
    view.setInput(inputOf(m_rag, test::samplePolicies(m_rag)));
    view.resize(560, 500);  // of the dock at 1024 × 700
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const PolicyAnswers& answers = view.answers();
    QTRY_VERIFY(answers.height() >= answers.document()->size().height());
    QVERIFY(answers.document()->size().width() <= answers.viewport()->width() + 1);
    auto* table = view.findChild<TableView*>();
    QVERIFY2(!table->horizontalScrollBar()->isVisible(),
             qPrintable(QString::number(table->horizontalScrollBar()->maximum())));
    const QFontMetrics metrics(Theme().monoFont());
    for (int c = 1; c < table->model()->columnCount(); ++c) {
      for (int r = 0; r < table->model()->rowCount(); ++r) {
        const QString text = table->model()->index(r, c).data().toString();
        QVERIFY2(metrics.horizontalAdvance(text) <= table->columnWidth(c), qPrintable(text));
      }
    }
  }

 private:
  document::Document m_rag;
};

SPANSCOPE_TEST(tst_policies_view, TestPoliciesView, QApplication)
#include "tst_policies_view.moc"
