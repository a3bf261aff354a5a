// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/retrieving_runs.h"
#include "ui/views/passages/passages_view.h"
#include "ui/words/part_text.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QObject>
#include <QSpinBox>
#include <QString>
#include <QStringLiteral>
#include <QTableView>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using document::PassageMark;

namespace {

void press(QTableView& table, int row, Qt::Key key) {
  table.setCurrentIndex(table.model()->index(row, 0));
  QTest::keyClick(&table, key);
}

}  // namespace

class TestPassages : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { QApplication::setStyle(QStringLiteral("Fusion")); }

  void contentIsOfTheLastRunThatRetrieved() {
    const test::RetrievingRuns run;
    const PassagesContent content = passagesContent(run.input());
    QCOMPARE(content.run, RunId(2));
    QCOMPARE(content.node, run.augment());
    QCOMPARE(content.rows.size(), std::size_t(3));
    QCOMPARE(content.rows[0].found, QStringLiteral("words 1 (8.25) · vectors 2 (0.750)"));
    QCOMPARE(content.rows[0].source, QStringLiteral("people.csv, record 1"));
    QVERIFY(content.rows[0].inPrompt && !content.rows[1].inPrompt && content.canMark);
    QCOMPARE(passagesSummary(content), QStringLiteral("1 in the prompt · 1 document · hybrid"));
    // Back in time, the run before; before anything was retrieved, nothing.
    QCOMPARE(passagesContent(run.input(4)).run, RunId(1));
    QVERIFY(passagesContent(run.input(4)).rows[1].inPrompt);
    QVERIFY(passagesContent(run.input(2)).rows.empty());
    QVERIFY(passagesSummary(passagesContent(run.input(2))).isEmpty());
  }

  void scoresAreShownInOneWay() {
    QCOMPARE(scoreText(12.345), QStringLiteral("12.35"));
    QCOMPARE(scoreText(0.457), QStringLiteral("0.457"));
    QCOMPARE(scoreText(-0.457), QStringLiteral("-0.457"));
    QVERIFY(scoreText(1.0 / 61) != scoreText(1.0 / 62));
    const test::RetrievingRuns run;
    const PaintedTable table = passagesTable(passagesContent(run.input()));
    const QString score = table.rows[2][2].text;
    const QString found = table.rows[2][5].text;
    QVERIFY2(found.contains(QStringLiteral("(%1)").arg(score)), qPrintable(found));
  }

  void selectionChoosesTheAugment() {
    test::RetrievingRuns run;
    document::NodeId other = document::kNoNode;
    run.document.change(QStringLiteral("Add"), [&](document::Document& document) {
      other = document::addNode(document, document::makeOperator("augment"));
    });
    ViewInput input = run.input();
    input.selection.nodes = {other};
    const PassagesContent none = passagesContent(input);
    QVERIFY(none.rows.empty() && none.isAsked);
    input.selection.nodes = {run.augment()};
    QCOMPARE(passagesContent(input).rows.size(), std::size_t(3));
    input.selection.nodes = {run.document.document().root()};
    QCOMPARE(passagesContent(input).node, run.augment());
  }

  void tableTellsStates() {
    test::RetrievingRuns run;
    PaintedTable table = passagesTable(passagesContent(run.input()));
    QCOMPARE(table.rows.size(), std::size_t(3));
    QCOMPARE(table.rows[0][0].text, QStringLiteral("in the prompt"));
    QCOMPARE(table.rows[2][0].text, QStringLiteral("left out"));
    QCOMPARE(table.rows[1][3].text, QStringLiteral("Otto lives in Porto."));
    QCOMPARE(table.rows[2][2].text, QStringLiteral("0.250"));
    run.document.change(QStringLiteral("Marks"), [&](document::Document& document) {
      document::setPassageMark(document, run.augment(), test::kPassageHashes[0], PassageMark::Dropped);
      document::setPassageMark(document, run.augment(), test::kPassageHashes[2], PassageMark::Pinned);
    });
    table = passagesTable(passagesContent(run.input()));
    QCOMPARE(table.rows[0][0].text, QStringLiteral("dropped, next run"));
    QCOMPARE(table.rows[2][0].text, QStringLiteral("pinned, next run"));
  }

  void keysPinAndDrop() {
    test::RetrievingRuns run;
    PassagesView view;
    view.setModel(&run.document);
    view.resize(900, 300);
    view.setInput(run.input());
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* table = view.findChild<QTableView*>(QStringLiteral("passages"));
    const auto marks = [&] { return run.document.document().at(run.augment()).passages; };
    press(*table, 2, Qt::Key_P);
    QCOMPARE(marks(), (std::map<std::string, PassageMark>{{test::kPassageHashes[2], PassageMark::Pinned}}));
    QCOMPARE(run.document.undoStack().undoText(), QStringLiteral("Pin passage"));
    view.setInput(run.input());
    QCOMPARE(table->currentIndex().row(), 2);
    press(*table, 2, Qt::Key_D);
    QCOMPARE(marks(), (std::map<std::string, PassageMark>{{test::kPassageHashes[2], PassageMark::Dropped}}));
    view.setInput(run.input());
    press(*table, 2, Qt::Key_D);
    QVERIFY(marks().empty());
    run.document.undoStack().undo();
    run.document.undoStack().undo();
    run.document.undoStack().undo();
    QVERIFY(marks().empty());
    QVERIFY(!run.document.undoStack().canUndo());
  }

  void controlsChangeTheSettings() {
    test::RetrievingRuns run;
    PassagesView view;
    view.setModel(&run.document);
    view.setInput(run.input());
    const std::unique_ptr<QWidget> controls(view.takeTitleControls());
    auto* count = controls->findChild<QSpinBox*>();
    auto* ranking = controls->findChild<QComboBox*>();
    QCOMPARE(count->value(), 5);
    count->setValue(3);
    QCOMPARE(run.document.document().settings.passages, 3);
    ranking->setCurrentIndex(3);
    Q_EMIT ranking->activated(3);
    QCOMPARE(run.document.document().settings.ranking, std::string("hybrid"));
    run.document.settingsUndoStack().undo();
    view.setModel(&run.document);
    QCOMPARE(ranking->currentData().toString(), QStringLiteral("auto"));
    view.setModel(nullptr);
    QVERIFY(!count->isEnabled() && !ranking->isEnabled());
  }

  /// With SPANSCOPE_PICTURES set to a folder, the pictures stay there to be looked at.
  void draws() {
    test::RetrievingRuns run;
    run.document.change(QStringLiteral("Marks"), [&](document::Document& document) {
      document::setPassageMark(document, run.augment(), test::kPassageHashes[1], PassageMark::Dropped);
      document::setPassageMark(document, run.augment(), test::kPassageHashes[2], PassageMark::Pinned);
    });
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const Theme theme(scheme);
      qApp->setPalette(theme.palette());
      qApp->setStyleSheet(theme.styleSheet());
      for (const std::size_t events : {std::size_t(100), std::size_t(0)}) {
        PassagesView view;
        view.setModel(&run.document);
        view.resize(760, 200);
        ViewInput input = run.input(events);
        input.theme = theme;
        view.setInput(input);
        view.show();
        QVERIFY(QTest::qWaitForWindowExposed(&view));
        QCOMPARE(view.csv().isEmpty(), events == 0);
        const QImage shown = view.grab().toImage();
        QImage painted(760, 200, QImage::Format_ARGB32_Premultiplied);
        QPainter painter(&painted);
        view.paintTo(painter, painted.size());
        painter.end();
        QVERIFY(!shown.isNull());
        QCOMPARE(painted.pixelColor(2, painted.height() - 2), theme.color(Role::Surface));
        if (folder.isEmpty()) continue;
        const QString name =
            QStringLiteral("passages-%1-%2")
                .arg(events == 0 ? QStringLiteral("empty") : QStringLiteral("found"),
                     scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light"));
        QVERIFY(shown.save(QDir(folder).filePath(name + QStringLiteral(".png"))));
        QVERIFY(painted.save(QDir(folder).filePath(name + QStringLiteral("-painted.png"))));
      }
    }
  }
};

SPANSCOPE_TEST(tst_passages, TestPassages, QApplication)
#include "tst_passages.moc"
