// SPDX-License-Identifier: GPL-3.0-or-later
// The list of operators and the list of problems.
#include "engine/base/error.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/view_bench.h"
#include "ui/operators/operator_table.h"
#include "ui/session/document_predictor.h"
#include "ui/views/add/add_view.h"
#include "ui/views/problems/problems_view.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QScrollBar>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::document::NodeId;
using spanscope::ui::testing::ViewBench;

namespace {

constexpr auto kQuery = R"({"g": {"model": "spanlet", "input": {"cross": [{"user": "a"}, {"user": "b"}]}}})";

void clickRow(QListView* list, int row, bool isDouble) {
  const QPoint place = list->visualRect(list->model()->index(row, 0)).center();
  QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, place);
  if (isDouble) QTest::mouseDClick(list->viewport(), Qt::LeftButton, {}, place);
}

/// The button of a problem that is in sight; null: there is none.
QPushButton* fixOf(const ProblemsView& view, const char* id) {
  auto* button = view.findChild<QPushButton*>(QLatin1String(id));
  return button != nullptr && button->isVisible() ? button : nullptr;
}

}  // namespace

class TestDocumentLists : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyOperatorIsThere();
  void addsByDoubleClick();
  void addsByTyping();
  void typingInTheListSearches();
  void opensExamples();
  void drags();
  void tellsProblems();
  void theProcessorTakesOver();
  void thePoolIsMadeLargeEnough();
  void fixesAreInTheirRows();
  void fixesAreUndoneInTheList();
  void problemsSelectTheirNode();
  void problemsFollowTheDocument();
  void problemModelIsSound();
};

void TestDocumentLists::everyOperatorIsThere() {
  QCOMPARE(operatorTable().size(), document::operatorNames().size());
  for (const OperatorRow& info : operatorTable()) {
    QVERIFY(!info.label.isEmpty());
    QVERIFY(!info.hint.isEmpty());
    QVERIFY(!info.help.isEmpty());
  }
  AddView view;
  ViewBench bench(view, kQuery);
  bench.show({200, 760});
  view.findChild<QListView*>(QStringLiteral("operators"))
      ->setCurrentIndex(view.findChild<QListView*>(QStringLiteral("operators"))->model()->index(5, 0));
  bench.picture(QStringLiteral("add"));
}

void TestDocumentLists::addsByDoubleClick() {
  AddView view;
  ViewBench bench(view, kQuery);
  bench.show({200, 760});
  clickRow(view.findChild<QListView*>(QStringLiteral("operators")), 3, true);
  QCOMPARE(bench.commands(), QStringList({QStringLiteral("node.add:g")}));
}

void TestDocumentLists::addsByTyping() {
  AddView view;
  ViewBench bench(view, kQuery);
  bench.show({200, 760});
  auto* search = view.findChild<QLineEdit*>(QStringLiteral("search"));
  search->setFocus();
  QTest::keyClicks(search, QStringLiteral("any order"));
  QTest::keyClick(search, Qt::Key_Return);
  QCOMPARE(bench.commands(), QStringList({QStringLiteral("node.add:plus")}));
  search->clear();
  QTest::keyClicks(search, QStringLiteral("message"));
  QTest::keyClick(search, Qt::Key_Down);
  QTest::keyClick(search, Qt::Key_Return);
  QCOMPARE(bench.commands().last(), QStringLiteral("node.add:user"));
  search->clear();
  QTest::keyClicks(search, QStringLiteral("nothing like it"));
  QTest::keyClick(search, Qt::Key_Return);
  QCOMPARE(bench.commands().size(), 2);
}

/// Letters that are typed after a click in the list narrow it down. The list does not jump.
void TestDocumentLists::typingInTheListSearches() {
  AddView view;
  ViewBench bench(view, kQuery);
  bench.show({200, 760});
  auto* list = view.findChild<QListView*>(QStringLiteral("operators"));
  const auto* search = view.findChild<QLineEdit*>(QStringLiteral("search"));
  clickRow(list, 1, false);
  QTest::keyClick(list, Qt::Key_S);
  QCOMPARE(search->text(), QStringLiteral("s"));
  QVERIFY(search->hasFocus());
}

void TestDocumentLists::opensExamples() {
  AddView view;
  ViewBench bench(view, kQuery);
  bench.show({200, 760});
  auto* examples = view.findChild<QListWidget*>(QStringLiteral("examples"));
  QCOMPARE(examples->item(2)->text(), QStringLiteral("RAG, swapped"));
  clickRow(examples, 2, true);
  QCOMPARE(bench.commands(), QStringList({QStringLiteral("file.open-example:rag-swapped.json")}));
}

void TestDocumentLists::drags() {
  OperatorListModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  QVERIFY((model.flags(model.index(0)) & Qt::ItemIsDragEnabled) != 0);
  const std::unique_ptr<QMimeData> data(model.mimeData({model.index(3)}));
  QCOMPARE(data->data(QStringLiteral("application/x-spanscope-operator")), QByteArray("g"));
}

void TestDocumentLists::tellsProblems() {
  ProblemsView view;
  ViewBench bench(view, kQuery);
  bench.show({700, 160});
  auto* empty = view.findChild<QLabel*>(QStringLiteral("empty"));
  QTRY_COMPARE(bench.summary(), QStringLiteral("none"));
  QVERIFY(empty->isVisible());
  bench.picture(QStringLiteral("problems-none"));
  bench.model().change(QStringLiteral("Break"), [](document::Document& d) {
    const NodeId cross = d.at(d.root()).children.at(0);
    document::connect(d, document::addNode(d, document::makeOperator("zip")), {.parent = cross, .index = 0});
    document::setName(d, d.at(cross).children.at(0), "pairs");
    document::connect(d, document::addNode(d, document::makeOperator("plus")), {.parent = cross, .index = 1});
  });
  QTRY_COMPARE(bench.summary(), QStringLiteral("2 errors, 1 warning"));
  QVERIFY(!empty->isVisible());
  bench.picture(QStringLiteral("problems"));
  QVERIFY(view.csv().startsWith(QStringLiteral("severity,node,problem,hint\n")));
  QCOMPARE(view.csv().count(QLatin1Char('\n')), 4);
}

void TestDocumentLists::theProcessorTakesOver() {
  ProblemsView view;
  ViewBench bench(view, kQuery);
  bench.show({700, 160});
  const auto fix = [&view] { return fixOf(view, "useProcessor"); };
  bench.model().change(QStringLiteral("Device"), [](document::Document& d) { d.settings.device = "cuda:1"; });
  QTRY_COMPARE(bench.summary(), QStringLiteral("none"));
  QVERIFY(fix() == nullptr);
  bench.setDevices({{.name = "cpu", .description = "AMD EPYC", .memoryBytes = 0, .reason = {}},
                    {.name = "cuda", .description = {}, .memoryBytes = 0, .reason = "no driver"}});
  QTRY_COMPARE(bench.summary(), QStringLiteral("1 error"));
  QTRY_VERIFY(fix() != nullptr);
  // In a dock that has room for one problem and the button, both are in sight.
  QVERIFY2(view.minimumSizeHint().height() <= 28 + 2 + fix()->sizeHint().height() + 4 * kSpace,
           qPrintable(QString::number(view.minimumSizeHint().height())));
  bench.picture(QStringLiteral("problems-device"));
  QTest::mouseClick(fix(), Qt::LeftButton);
  QCOMPARE(bench.document().settings.device, std::string("cpu"));
  QTRY_COMPARE(bench.summary(), QStringLiteral("none"));
  QVERIFY(fix() == nullptr);
  bench.model().settingsUndoStack().undo();
  QTRY_COMPARE(bench.summary(), QStringLiteral("1 error"));
}

/// In the words of the run, from the prediction.
void TestDocumentLists::thePoolIsMadeLargeEnough() {
  ProblemsView view;
  ViewBench bench(view, kQuery);
  bench.show({700, 160});
  const auto fix = [&view] { return fixOf(view, "enlargePool"); };
  QTRY_COMPARE(bench.summary(), QStringLiteral("none"));
  QVERIFY(fix() == nullptr);
  auto prediction = std::make_shared<DocumentPrediction>();
  prediction->gap = PredictionGap::None;
  prediction->fit = {.error = errorAt("", "a prompt that needs 244 blocks", "fewer"),
                     .isCertain = true,
                     .blocksNeeded = 245};
  bench.setPrediction(prediction);
  QTRY_COMPARE(bench.summary(), QStringLiteral("1 error"));
  QTRY_VERIFY(fix() != nullptr);
  QVERIFY(fix()->text().contains(QStringLiteral("245")));
  bench.picture(QStringLiteral("problems-pool"));
  QTest::mouseClick(fix(), Qt::LeftButton);
  QCOMPARE(bench.document().settings.blockCount, 245);
  bench.setPrediction(std::make_shared<DocumentPrediction>());
  QTRY_COMPARE(bench.summary(), QStringLiteral("none"));
  QVERIFY(fix() == nullptr);
}

/// Of several problems each has its own button, in its own row, at every width.
void TestDocumentLists::fixesAreInTheirRows() {
  ProblemsView view;
  ViewBench bench(view, R"({"g": {"model": "a&b/c", "max_tokens": 3, "input": {"user": "Hello."}}})");
  const auto* list = view.findChild<QListView*>(QStringLiteral("problems"));
  bench.show({700, 300});
  bench.model().change(QStringLiteral("Device"), [](document::Document& d) { d.settings.device = "cuda:1"; });
  bench.setDevices({{.name = "cpu", .description = "AMD EPYC", .memoryBytes = 0, .reason = {}},
                    {.name = "cuda", .description = {}, .memoryBytes = 0, .reason = "no driver"}});
  auto prediction = std::make_shared<DocumentPrediction>();
  prediction->gap = PredictionGap::None;
  prediction->fit = {.error = errorAt("", "a prompt that needs 244 blocks", "fewer"),
                     .isCertain = true,
                     .blocksNeeded = 245};
  bench.setPrediction(prediction);
  const auto* model = static_cast<const ProblemListModel*>(list->model());
  QTRY_COMPARE(model->rowCount(), 3);
  const auto idOf = [](const Problem& problem) -> const char* {
    return problem.isOfDevice ? "useProcessor" : problem.poolNeeded > 0 ? "enlargePool" : "runHere";
  };
  for (const int width : {1200, 700, 470, 240}) {
    view.resize(width, 400);
    for (int row = 0; row < 3; ++row) {
      const char* id = idOf(model->rows().at(static_cast<std::size_t>(row)).problem);
      const QRect place = list->visualRect(model->index(row, 0));
      QTRY_VERIFY2(fixOf(view, id) != nullptr, id);
      QTRY_VERIFY2(list->visualRect(model->index(row, 0)).contains(fixOf(view, id)->geometry()), id);
      QVERIFY(!place.isEmpty());
    }
  }
  QPushButton* here = fixOf(view, "runHere");
  QVERIFY(here->accessibleName().contains(QStringLiteral("a&b/c")));
  // In a low dock it is out of sight with its row, and comes back with it.
  view.resize(470, 60);
  QTRY_VERIFY(list->verticalScrollBar()->maximum() > 0);
  for (int row = 0; row < 3; ++row) {
    const char* id = idOf(model->rows().at(static_cast<std::size_t>(row)).problem);
    list->verticalScrollBar()->setValue(list->visualRect(model->index(row, 0)).top() +
                                        list->verticalScrollBar()->value());
    QTRY_VERIFY2(fixOf(view, id) != nullptr, id);
    QVERIFY(list->visualRect(model->index(row, 0)).contains(fixOf(view, id)->geometry()));
  }
  QTest::mouseClick(fixOf(view, "enlargePool"), Qt::LeftButton);
  QCOMPARE(bench.document().settings.blockCount, 245);
}

/// The button runs the query. The undo key takes the fix back while the focus is in the list, and nothing
/// else.
void TestDocumentLists::fixesAreUndoneInTheList() {
  ProblemsView view;
  ViewBench bench(view, R"({"g": {"model": "a&b/c", "max_tokens": 3, "input": {"user": "Hello."}}})");
  bench.show({700, 160});
  QTRY_VERIFY(fixOf(view, "runHere") != nullptr);
  bench.model().change(QStringLiteral("Seed"), [](document::Document& d) { d.settings.seed = 7; });
  QTRY_VERIFY(fixOf(view, "runHere") != nullptr);
  QTest::mouseClick(fixOf(view, "runHere"), Qt::LeftButton);
  QCOMPARE(bench.commands(), QStringList({QStringLiteral("run.run")}));
  QTRY_COMPARE(bench.summary(), QStringLiteral("none"));
  const auto focus = [&view] { return view.focusWidget() == nullptr ? &view : view.focusWidget(); };
  QTest::keyClick(focus(), Qt::Key_Z, Qt::ControlModifier);
  QVERIFY(bench.document().settings.standsFor.empty());
  QCOMPARE(bench.document().settings.seed, std::uint64_t{7});
  QTRY_COMPARE(bench.summary(), QStringLiteral("1 warning"));
  // A change that was made elsewhere stays.
  QTest::keyClick(focus(), Qt::Key_Z, Qt::ControlModifier);
  QCOMPARE(bench.document().settings.seed, std::uint64_t{7});
  QTest::keyClick(focus(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  QVERIFY(!bench.document().settings.standsFor.empty());
}

void TestDocumentLists::problemsSelectTheirNode() {
  ProblemsView view;
  ViewBench bench(view, kQuery);
  bench.show({700, 160});
  bench.model().change(QStringLiteral("Draft"),
                       [](document::Document& d) { document::addNode(d, document::makeOperator("g")); });
  QTRY_COMPARE(bench.summary(), QStringLiteral("1 warning"));
  auto* list = view.findChild<QListView*>(QStringLiteral("problems"));
  clickRow(list, 0, false);
  QCOMPARE(bench.selection().currentNode(), bench.document().tops().back());
  bench.select(bench.document().root());
  list->setFocus();
  QTest::keyClick(list, Qt::Key_Return);
  QCOMPARE(bench.selection().currentNode(), bench.document().tops().back());
}

void TestDocumentLists::problemsFollowTheDocument() {
  ProblemsView view;
  ViewBench bench(view, kQuery);
  bench.loadTokenizer();
  bench.show({700, 160});
  QTRY_COMPARE(bench.summary(), QStringLiteral("none"));
  bench.model().change(QStringLiteral("Long"), [](document::Document& d) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += "word and ";
    const NodeId cross = d.at(d.root()).children.at(0);
    document::setOwn(d, d.at(cross).children.at(0),
                     {query::Message{.role = query::Role::User, .text = text}});
  });
  QTRY_COMPARE(bench.summary(), QStringLiteral("1 error"));
  bench.model().undoStack().undo();
  QTRY_COMPARE(bench.summary(), QStringLiteral("none"));
}

void TestDocumentLists::problemModelIsSound() {
  ProblemListModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
  model.setRows({{{Severity::Error, 1, QStringLiteral("a"), {}}, QStringLiteral("user")},
                 {{Severity::Warning, 0, QStringLiteral("b"), QStringLiteral("c")}, {}}});
  QCOMPARE(model.rowCount(), 2);
  QVERIFY(model.index(1).data(Qt::AccessibleTextRole).toString().contains(QStringLiteral("Warning")));
  QCOMPARE(problemSummary(model.rows()), QStringLiteral("1 error, 1 warning"));
  model.setRows({});
  QCOMPARE(model.rowCount(), 0);
}

SPANSCOPE_TEST(tst_document_lists, TestDocumentLists, QApplication)
#include "tst_document_lists.moc"
