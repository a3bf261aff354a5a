// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/policies.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/session/run_history.h"
#include "ui/views/block_table/block_table_model.h"
#include "ui/views/compare/compare_view.h"
#include "ui/views/metrics/metrics_view.h"
#include "ui/views/output/output_view.h"
#include "ui/views/plan/plan_view.h"
#include "ui/views/timeline/timeline_model.h"
#include "ui/words/metric_words.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QHeaderView>
#include <QProcess>
#include <QProcessEnvironment>
#include <QRegularExpression>
#include <QTabBar>
#include <QTableView>
#include <QTest>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <utility>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

/// The runs of the trace as the window keeps them, on models of these names.
void giveRecords(ViewInput& input, const QStringList& models,
                 const QString& document = QStringLiteral("rag")) {
  RunHistory history;
  qsizetype i = 0;
  for (const auto& [id, run] : input.trace->newest().progress().runs) {
    RunRecord record;
    record.run = id;
    record.document = document;
    record.model = models[i++ % models.size()];
    record.trace = input.trace;
    history.begin(std::move(record), *run.queryJson);
    history.end(id);
  }
  input.records = history.records();
}

const CompareRow* rowOf(const CompareModel& model, std::string_view id) {
  for (const CompareRow& row : model.rows) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

}  // namespace

class TestCompare : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    test::RunRecorder recorder;
    const document::Document rag = test::exampleDocument("rag.json");
    recorder.run(rag);
    recorder.run(test::swapped(rag));
    m_runs = recorder.recorded();
  }

  /// A long text, such as an answer, leaves room for the other rows.
  void aLongTextHasThreeLines() {
    ViewInput input = m_runs.input();
    giveRecords(input, {QStringLiteral("spanlet")}, QStringLiteral("a long name ").repeated(80));
    CompareView view;
    view.resize(500, 420);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto* table = view.findChild<TableView*>();
    const int most = 4 * QFontMetrics(input.theme.interfaceFont()).lineSpacing();
    for (int r = 0; r < table->model()->rowCount(); ++r) QVERIFY(table->rowHeight(r) < most);
  }

  /// In the narrow dock of a window of 1024 pixels too: names wrap, and values have the room.
  void valuesAreWhole_data() {
    QTest::addColumn<int>("width");
    for (const int width : {346, 420, 700, 1400}) QTest::addRow("%d", width) << width;
  }
  void valuesAreWhole() {
    QFETCH(const int, width);
    ViewInput input = m_runs.input();
    giveRecords(input, {QStringLiteral("spanlet")}, QStringLiteral("blend.span"));
    qApp->setStyleSheet(input.theme.styleSheet());
    CompareView view;
    view.setFont(input.theme.interfaceFont());
    view.resize(width, 420);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QCoreApplication::processEvents();
    const auto* table = view.findChild<TableView*>();
    const QAbstractItemModel& rows = *table->model();
    int sum = 0;
    for (int c = 0; c < rows.columnCount(); ++c) sum += table->columnWidth(c);
    QVERIFY(std::abs(sum - table->viewport()->width()) <= 1);
    for (int r = 0; r < rows.rowCount(); ++r) {
      for (const int c : {1, 2}) {
        const QString text = rows.index(r, c).data().toString();
        const bool isMono = rows.index(r, c).data(MonoRole).toBool();
        const QFontMetrics metrics(isMono ? input.theme.monoFont() : input.theme.interfaceFont());
        const int room = table->columnWidth(c) - 14;  // the style's margins
        for (const QString& word : text.split(QLatin1Char(' ')))
          QVERIFY2(metrics.horizontalAdvance(word) <= room, qPrintable(text));
        // Words wrap, and the row is as high as they are, up to three lines.
        const QRect needed = metrics.boundingRect(QRect(0, 0, room, 1000), Qt::TextWordWrap, text);
        const int most = 3 * metrics.lineSpacing();
        QVERIFY2(std::min(needed.height(), most) <= table->rowHeight(r), qPrintable(text));
        QVERIFY2(table->rowHeight(r) < 4 * QFontMetrics(input.theme.interfaceFont()).lineSpacing(),
                 qPrintable(text));
        if (needed.height() > most)
          QVERIFY2(rows.index(r, c).data(Qt::ToolTipRole).toString().startsWith(text), qPrintable(text));
      }
    }
  }

  /// In the narrow dock of *Measure*, no tab is behind scroll arrows. A name is whole if there is space.
  void tabsAndNamesAreWhole() {
    const ViewInput input = m_runs.input();
    qApp->setStyleSheet(input.theme.styleSheet());
    CompareView view;
    view.setFont(input.theme.interfaceFont());
    view.resize(258, 300);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto* tabs = view.findChild<QTabBar*>();
    QTRY_VERIFY2(tabs->sizeHint().width() <= tabs->width(), qPrintable(QString::number(tabs->width())));
    const auto* box = view.findChild<QCheckBox*>();
    QVERIFY(box->mapTo(&view, QPoint()).x() >= kSpace);
    view.resize(459, 300);
    QTRY_COMPARE(view.width(), 459);
    const auto* table = view.findChild<TableView*>();
    const QFontMetrics metrics(input.theme.interfaceFont());
    for (int row = 0; row < table->model()->rowCount(); ++row) {
      const QString name = table->model()->index(row, 0).data().toString();
      // A name can have several lines, but its words are whole.
      for (const QString& word : name.split(QRegularExpression(QStringLiteral("[ -]"))))
        QTRY_VERIFY2(table->columnWidth(0) >= metrics.horizontalAdvance(word), qPrintable(word));
    }
  }

  void textsWordByWord() {
    const std::vector<DiffPiece> pieces = textDiff(QStringLiteral("The pet is called Biscuit."),
                                                   QStringLiteral("The cat is called Biscuit now."));
    QString left;
    QString right;
    for (const DiffPiece& piece : pieces) {
      if (piece.kind != DiffKind::Right) left += piece.text;
      if (piece.kind != DiffKind::Left) right += piece.text;
    }
    QCOMPARE(left, QStringLiteral("The pet is called Biscuit."));
    QCOMPARE(right, QStringLiteral("The cat is called Biscuit now."));
    QCOMPARE(pieces[0].text, QStringLiteral("The "));
    QVERIFY(pieces[0].kind == DiffKind::Same);
    QCOMPARE(pieces[1].text, QStringLiteral("pet "));
    QVERIFY(pieces[1].kind == DiffKind::Left);
    QVERIFY(textDiff({}, {}).empty());
    QCOMPARE(textDiff(QStringLiteral("a"), QStringLiteral("a")).size(), std::size_t(1));
  }

  /// Documents that changed places are shown as moved, not as gone and new.
  void treesTellWhatMoved() {
    const ViewInput input = m_runs.input();
    const auto& runs = input.state().progress().runs;
    const std::vector<TreeDiffRow> rows = treeDiff(*runs.at(1).queryJson, *runs.at(2).queryJson);
    const auto count = [&rows](DiffKind kind) {
      return std::count_if(rows.begin(), rows.end(), [kind](const auto& row) { return row.kind == kind; });
    };
    QCOMPARE(count(DiffKind::Moved), 2);
    QCOMPARE(count(DiffKind::Left), 0);
    QCOMPARE(count(DiffKind::Right), 0);
    QVERIFY(count(DiffKind::Same) >= 6);
    QVERIFY(treeDiff("not json", "{}").empty());
  }

  /// A document that never ran does not show the runs of another as its own.
  void othersAreComparedOnlyIfChosen() {
    ViewInput input = m_runs.input();
    giveRecords(input, {QStringLiteral("spanlet")});
    input.paths.clear();
    const CompareModel none = compareModel(input);
    QCOMPARE(none.left, RunId(0));
    QVERIFY(none.rows.empty());
    QCOMPARE(none.runs.size(), std::size_t(2));
    QVERIFY(!compareModel(input, 1, 2).rows.empty());
    QVERIFY(!compareModel(input, 1, 0).rows.empty());
  }

  /// Rows are sorted by their values, not by the texts of these, and copied with tabs.
  void rowsAreSortedAndCopied() {
    CompareView view;
    view.resize(700, 420);
    view.setInput(m_runs.input());
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* table = view.findChild<TableView*>();
    const QAbstractItemModel& rows = *table->model();
    const auto place = [&rows](const char* metric) {
      for (int row = 0; row < rows.rowCount(); ++row) {
        const QString name = rows.index(row, 0).data().toString();
        if (name == metricTitle(metric) || name == metricShortTitle(metric)) return row;
      }
      return -1;
    };
    const int before = place("prompt-tokens");
    QVERIFY(before >= 0);
    table->sortByColumn(1, Qt::AscendingOrder);
    QVERIFY(place("generated-tokens") < place("prompt-tokens"));
    table->sortByColumn(1, Qt::DescendingOrder);
    QVERIFY(place("prompt-tokens") < place("generated-tokens"));
    table->selectRow(place("prompt-tokens"));
    table->copySelected();
    // Narrow columns have the short title.
    QStringList cells{rows.index(place("prompt-tokens"), 0).data().toString()};
    const CompareRow& row = *rowOf(view.model(), "prompt-tokens");
    cells << row.left << row.right << row.change;
    QCOMPARE(QApplication::clipboard()->text(), cells.join(QLatin1Char('\t')) + QLatin1Char('\n'));
    // A third click on a header gives back the order of the metrics.
    table->sortByColumn(-1, Qt::AscendingOrder);
    QCOMPARE(place("prompt-tokens"), before);
  }

  /// Blocks of the same step are beside each other: computed at first, relocated then.
  /// The second run of a query computes less, and gives the same answer.
  void onlyRowsThatDiffer() {
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"));
    recorder.run(test::exampleDocument("rag.json"));
    const test::Recorded recorded = recorder.recorded();
    const std::vector<CompareRow> rows = differingRows(compareModel(recorded.input()));
    QVERIFY(!rows.empty());
    QCOMPARE(rows.front().id, std::string_view("computed-tokens"));
    for (const CompareRow& row : rows) QVERIFY2(row.left != row.right, qPrintable(row.name));
    CompareView view;
    view.setInput(recorded.input());
    view.resize(500, 400);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto* table = view.findChild<QTableView*>();
    const int all = table->model()->rowCount();
    view.showOnlyDifferences(true);
    QCOMPARE(table->model()->rowCount(), static_cast<int>(rows.size()));
    view.showOnlyDifferences(false);
    QCOMPARE(table->model()->rowCount(), all);
  }

  void blocksStandBesideEachOther() {
    const CompareModel model = compareModel(m_runs.input(), 1, 2);
    QVERIFY(model.hasBlocks);
    QCOMPARE(model.blocks.size(), std::size_t(1));
    const std::vector<BlockRole>& left = model.blocks[0].left->roles;
    const std::vector<BlockRole>& right = model.blocks[0].right->roles;
    QCOMPARE(std::count(left.begin(), left.end(), BlockRole::Computed), std::ssize(left));
    QVERIFY(std::count(right.begin(), right.end(), BlockRole::Relocated) > 0);
    QCOMPARE(left.size(), right.size());
  }

  /// Of a run that was stopped only what it came to is shown, before its record is kept and after.
  void aStoppedRunIsNoWholeOne() {
    for (const bool isKept : {false, true}) {
      ViewInput input = stopped();
      if (isKept) giveRecords(input, {QStringLiteral("spanlet")});
      const CompareModel model = compareModel(input, 1, 2);
      QVERIFY2(model.rightTitle.endsWith(QStringLiteral("stopped")), qPrintable(model.rightTitle));
      QVERIFY2(!model.leftTitle.contains(QStringLiteral("stopped")), qPrintable(model.leftTitle));
      const StepBlocks& whole = *model.blocks[0].left;
      const StepBlocks& part = *model.blocks[0].right;
      QCOMPARE(std::count(part.roles.begin(), part.roles.end(), BlockRole::Computed), 0);
      QVERIFY(!part.roles.empty());
      QVERIFY(part.left > 0);
      QCOMPARE(std::ssize(part.roles) + part.left, std::ssize(whole.roles));
      QVERIFY2(stepText(part).contains(QStringLiteral("stopped")), qPrintable(stepText(part)));
      QVERIFY2(stepText(part).contains(QStringLiteral("not computed")), qPrintable(stepText(part)));
      QCOMPARE(stepText(whole), rolesText(whole.roles));
      QCOMPARE(rowOf(model, "computed-tokens")->right, QStringLiteral("0"));
      QCOMPARE(rowOf(model, "prompt-tokens")->left, rowOf(model, "prompt-tokens")->right);
      qint64 sum = 0;
      for (const char* name : {"cached-tokens", "tokens-computed-again", "computed-tokens", "unread-tokens"})
        sum += rowOf(model, name)->right.toLongLong();
      QCOMPARE(QString::number(sum), rowOf(model, "prompt-tokens")->right);
    }
    QVERIFY(rowOf(compareModel(m_runs.input(), 1, 2), "unread-tokens") == nullptr);
  }

  /// Times of two models are not compared, and the view names the difference.
  void likeIsComparedWithLike() {
    ViewInput input = m_runs.input();
    giveRecords(input, {QStringLiteral("spanlet")});
    CompareModel model = compareModel(input);
    QVERIFY(model.isLike);
    QCOMPARE(rowOf(model, "computed-tokens")->verdict, Verdict::Better);
    // The first run was cold, so its time is no base.
    QCOMPARE(rowOf(model, "time-to-first-token")->verdict, Verdict::Differs);
    // The swapped documents, on a cache that is warm by then.
    QCOMPARE(model.differences.size(), 2);
    QCOMPARE(model.differences.first(), worded("<same-nodes-other-order>"));

    giveRecords(input, {QStringLiteral("spanlet"), QStringLiteral("smollm2")});
    model = compareModel(input);
    QVERIFY(!model.isLike);
    QCOMPARE(rowOf(model, "time-to-first-token")->verdict, Verdict::Differs);
    QCOMPARE(rowOf(model, "computed-tokens")->verdict, Verdict::Differs);
    QCOMPARE(rowOf(model, "model")->right, QStringLiteral("smollm2"));
    QVERIFY2(likenessText(model).contains(QStringLiteral("model smollm2")), qPrintable(likenessText(model)));
    QVERIFY(model.leftTitle.contains(QStringLiteral("spanlet")));

    // And so in the other views of several runs.
    const MetricsModel metrics = metricsModel(input);
    QCOMPARE(metrics.runs[1].before, RunId(0));
    QCOMPARE(metrics.runs[1].model, QStringLiteral("smollm2"));
    const OutputModel output = outputModel(input);
    QCOMPARE(output.answers[0].sameAs, RunId(1));
    QVERIFY2(sameText(output.answers[0]).contains(QStringLiteral("model spanlet")),
             qPrintable(sameText(output.answers[0])));
    QVERIFY(modelText(output.answers[1]).isEmpty());
    QVERIFY2(modelText(output.answers[0]).contains(QStringLiteral("spnl/spanlet")),
             qPrintable(modelText(output.answers[0])));
  }

  /// A document that never ran shows no run of another one, unless the user selects it.
  void anotherDocumentsRunsAreNotItsOwn() {
    ViewInput input = m_runs.input();
    input.replay.origin = TraceOrigin::Session;
    const auto rowsOf = [](const ViewInput& of) {
      BlockHistory history;
      history.follow(of.trace);
      return blockTable(of, history).rows.size();
    };
    QVERIFY(input.shownRequest() != 0 && planModel(input).run != 0);
    QCOMPARE(timelineModel(input).runs.size(), std::size_t{1});
    QCOMPARE(rowsOf(input), std::size_t{2});
    const RequestId shown = input.shownRequest();
    const std::map<RunId, document::NodePaths> own = std::exchange(input.paths, {});
    QCOMPARE(input.shownRequest(), RequestId{0});
    QCOMPARE(planModel(input).run, RunId{0});
    QVERIFY(timelineModel(input).runs.empty() && !timelineModel(input, true).runs.empty());
    QCOMPARE(rowsOf(input), std::size_t{0});
    input.selection.request = shown;
    QCOMPARE(input.shownRequest(), shown);
    QVERIFY(planModel(input).run != 0);
    input.selection = {};
    // A trace from elsewhere is its document's.
    input.replay.origin = TraceOrigin::File;
    QCOMPARE(input.shownRequest(), shown);
    QCOMPARE(rowsOf(input), std::size_t{2});
    // Beside its own run, the rows of others explain what it found.
    input.replay.origin = TraceOrigin::Session;
    input.paths.insert(*own.rbegin());
    QCOMPARE(rowsOf(input), std::size_t{2});
  }

  /// On a checkpoint that was not trained for it, block attention is not ticked off at the answer.
  void anUntrainedCheckpointIsNoBareTick() {
    const OutputModel output = outputModel(adviced(policy::untrainedAdvice()));
    const Answer& first = output.answers.back();
    QCOMPARE(first.run, RunId(1));
    QVERIFY2(!first.exactness.contains(QStringLiteral("✓")), qPrintable(first.exactness));
    QVERIFY2(first.exactness.contains(QStringLiteral("not trained")), qPrintable(first.exactness));
    QCOMPARE(first.advice.size(), 1);
    QVERIFY(first.offersPolicies && !output.answers.front().offersPolicies);
    // An adapter that fits the loaded model is offered, too.
    QVERIFY(first.fittingAdapter.isEmpty());
    ViewInput fitted = adviced(policy::untrainedAdvice());
    fitted.replay.origin = TraceOrigin::Session;
    fitted.models.fittingAdapter = "/models/smollm2-135m-block";
    const OutputModel offering = outputModel(fitted);
    QCOMPARE(offering.answers.back().fittingAdapter, QStringLiteral("smollm2-135m-block"));
    QVERIFY(offering.answers.front().fittingAdapter.isEmpty());
    QVERIFY(output.answers.front().exactness.contains(QStringLiteral("✓")));
    QVERIFY(output.answers.front().advice.isEmpty());
  }

  /// A checkpoint that was not trained runs under its usual policy: the adapter is offered once, before the
  /// newest answer.
  void theAdapterIsOfferedUnderTheUsualPolicy() {
    test::RunRecorder recorder;
    const document::Document rag = test::exampleDocument("rag.json");
    recorder.run(rag, policy::policyForAnyCheckpoint());
    recorder.run(rag, policy::policyForAnyCheckpoint());
    ViewInput input = recorder.recorded().input();
    const auto offers = [&] {
      QStringList offered;
      for (const Answer& answer : outputModel(input).answers) {
        if (answer.offer.isEmpty() != answer.fittingAdapter.isEmpty()) offered << QStringLiteral("unlike");
        if (!answer.offer.isEmpty())
          offered << QStringLiteral("%1 %2").arg(answer.run).arg(answer.fittingAdapter);
      }
      return offered;
    };
    input.replay.origin = TraceOrigin::Session;
    input.models.loaded = input.trace->newest().progress().model;
    QCOMPARE(offers(), QStringList());
    input.models.fittingAdapter = "/models/smollm2-135m-block";
    QCOMPARE(offers(), QStringList(QStringLiteral("2 smollm2-135m-block")));
    // It says nothing of another model that is loaded now.
    input.models.loaded = "/models/other";
    QCOMPARE(offers(), QStringList());
  }

  /// Nor is anything on a device whose rows are only close; a user who has read it once does not read it as
  /// advice.
  void aCloseDeviceIsNoTick() {
    const Answer first = outputModel(adviced(policy::closeDeviceAdvice())).answers.back();
    QCOMPARE(first.exactness, QStringLiteral("block attention ≈ · full prefill ≈"));
    QVERIFY(first.advice.isEmpty());
  }

  /// One figure is one figure.
  void figuresAreEqualEverywhere() {
    const ViewInput input = m_runs.input();
    const MetricsModel metrics = metricsModel(input);
    const OutputModel output = outputModel(input);
    const CompareModel compare = compareModel(input, 1, 2);
    QCOMPARE(metrics.runs[1].totals.timeToFirstToken, output.answers[0].timeToFirstToken);
    QCOMPARE(metrics.runs[1].totals.account->prompt.cached(), output.answers[0].cachedTokens);
    QCOMPARE(metrics.runs[1].totals.account->total(), output.answers[0].promptTokens);
    QCOMPARE(rowOf(compare, "prompt-tokens")->right, QString::number(output.answers[0].promptTokens));
    QCOMPARE(rowOf(compare, "cached-tokens")->right, QString::number(output.answers[0].cachedTokens));
  }

  /// A title without room ends in an ellipsis: the pixels at its right end are as low as dots are. Each scale
  /// of the screen needs a separate process.
  void titlesAreNotCut_data() {
    QTest::addColumn<QString>("scale");
    for (const char* scale : {"1", "1.5", "2"}) QTest::newRow(scale) << QString::fromLatin1(scale);
  }
  void titlesAreNotCut() {
    QFETCH(QString, scale);
    const QString variable = QStringLiteral("QT_SCALE_FACTOR");
    if (qEnvironmentVariable(variable.toLatin1(), QStringLiteral("1")) == scale) {
      for (const int width : {380, 440, 560, 640}) titlesAreNotCutAt(width);
      return;
    }
    if (qEnvironmentVariableIsSet(variable.toLatin1())) return;  // the process of another scale
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(variable, scale);
    process.setProcessEnvironment(environment);
    process.start(QCoreApplication::applicationFilePath(),
                  {QStringLiteral("tst_compare"), QStringLiteral("titlesAreNotCut:%1").arg(scale)});
    QVERIFY(process.waitForFinished(60'000));
    const QByteArray said = process.readAllStandardOutput();
    QVERIFY2(process.exitCode() == 0 && said.contains("Totals: 3 passed, 0 failed"), said.constData());
  }

  void showsItsPages() {
    CompareView view;
    view.resize(700, 420);
    view.setInput(m_runs.input());
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto* answers = view.findChild<AnswerPair*>();
    QVERIFY(answers != nullptr);
    QVERIFY(answers->left().toPlainText().contains(QStringLiteral("Biscuit")));
    for (int page = 0; page < 4; ++page) {
      view.setPage(page);
      QVERIFY(!view.grab().isNull());
      const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
      if (!folder.isEmpty()) view.grab().save(QStringLiteral("%1/compare-%2.png").arg(folder).arg(page));
    }
    QVERIFY(view.findChild<BlockStrips*>()->accessibleDescription().contains(QStringLiteral("relocated")));
  }

 private:
  void titlesAreNotCutAt(int width) {
    ViewInput input = m_runs.input();
    giveRecords(input, {QStringLiteral("spanlet")},
                QStringLiteral("a document name for which titles have no room"));
    // Runs of one document do not name it.
    auto records = std::make_shared<RunRecords>(*input.records);
    auto other = std::make_shared<RunRecord>(*records->back());
    other->document += QStringLiteral(", the second");
    records->back() = std::move(other);
    input.records = records;
    qApp->setStyleSheet(input.theme.styleSheet());
    CompareView view;
    view.setFont(input.theme.interfaceFont());
    view.resize(width, 420);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QCoreApplication::processEvents();
    QHeaderView* head = view.findChild<TableView*>()->horizontalHeader();
    const QImage shown = head->viewport()->grab().toImage();
    const double ratio = shown.devicePixelRatio();
    const auto isInk = [&shown](int x, int y) { return qGray(shown.pixel(x, y)) < 160; };
    const int bottom = shown.height() - qRound(2 * ratio);  // the line below the titles
    for (const int section : {1, 2}) {
      const int left = qRound(head->sectionViewportPosition(section) * ratio);
      const int end = qRound((head->sectionViewportPosition(section) + head->sectionSize(section)) * ratio);
      int last = std::min(end, shown.width()) - 1;
      const auto heightOf = [&](int x) {
        int first = bottom;
        int lowest = -1;
        for (int y = 0; y < bottom; ++y) {
          if (!isInk(x, y)) continue;
          first = std::min(first, y);
          lowest = y;
        }
        return lowest < 0 ? 0 : lowest - first + 1;
      };
      while (last > left && heightOf(last) == 0) --last;
      QVERIFY(last > left);
      const QString title = head->model()->headerData(section, Qt::Horizontal).toString();
      QVERIFY2(head->fontMetrics().horizontalAdvance(title) < head->sectionSize(section),
               qPrintable(QStringLiteral("%1 px wide, column %2").arg(width).arg(section)));
      QVERIFY(end - last > qRound(3 * ratio));
    }
    qApp->setStyleSheet({});
  }

  /// The runs, the second of them stopped before its first pass.
  ViewInput stopped() const {
    auto trace = std::make_shared<TraceStore>();
    for (const trace::Event& event : m_runs.events) {
      if (event.run == 1 || !std::holds_alternative<trace::BatchComputed>(event.payload) ||
          trace->startOf(2) == std::nullopt) {
        trace->append(event);
        continue;
      }
      trace::Event end = trace->event(trace->size() - 1);
      end.run = 2;
      end.request = trace->newest().progress().runs.at(2).requests.front();
      end.payload = trace::StepFinished{0, trace::StepOutcome::Stopped, ""};
      ++end.sequence;
      trace->append(end);
      end.request = 0;
      end.node.clear();
      end.payload = trace::RunFinished{trace::RunOutcome::Stopped, ""};
      ++end.sequence;
      trace->append(end);
      break;
    }
    ViewInput input = m_runs.input();
    input.trace = trace;
    input.position = trace->size();
    return input;
  }

  /// The runs, the first of them with a warning after its plan.
  ViewInput adviced(const std::string& text) const {
    std::vector<trace::Event> events = m_runs.events;
    const auto planned = std::find_if(events.begin(), events.end(), [](const trace::Event& event) {
      return std::holds_alternative<trace::PlanMade>(event.payload);
    });
    trace::Event advice = *planned;
    advice.payload = trace::MessageLogged{.severity = Severity::Warning, .text = text};
    events.insert(std::next(planned), advice);
    auto trace = std::make_shared<TraceStore>();
    std::uint64_t sequence = 0;
    for (trace::Event event : events) {
      event.sequence = ++sequence;
      trace->append(std::move(event));
    }
    ViewInput input = m_runs.input();
    input.trace = trace;
    input.position = trace->size();
    return input;
  }

  test::Recorded m_runs;
};

SPANSCOPE_TEST(tst_compare, TestCompare, QApplication)
#include "tst_compare.moc"
