// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recording.h"
#include "tests/ui/views/common/traced_requests.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/views/block_table/block_table_area.h"
#include "ui/views/block_table/block_table_view.h"
#include "ui/words/metric_words.h"
#include "ui/words/short_names.h"

#include <QHelpEvent>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QToolTip>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

using namespace spanscope;
using spanscope::product_text::says;
using spanscope::product_text::worded;

class TestBlockTable : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase();
  void rowsAndSegments();
  void endedBeforeThereWasRoom();
  void theDocumentsOwnRunIsAlwaysThere();
  void linksCross();
  void evicted();
  void freed();
  void neverComputed();
  void partialIsSplit();
  void sharedWhileRunning();
  void sizes_data();
  void sizes();
  void overviewShowsAllSegments_data();
  void overviewShowsAllSegments();
  void namesAreWholeWhereTheTableScrolls();
  void namesAreWholeInOneSegment();
  void bracketsHaveTheWholeNameInATip();
  void namesOutOfSightLeaveNoScraps();
  void namesExtendPastTheirBrackets();
  void cellsFillTheHeight();
  void endsBelowTheLastRow();
  void placesAnswerToClicks();
  void clickSelects();
  void largerForAProjector();
  void keysWalk();
  void csv();
  void windowsAreShown();
  void theFirstMissIsShown();
  void textsBesideAMarkCoverNoLabel();
  void theLegendHasOnlyShownStates();

 private:
  static ui::BlockTable tableOf(const ui::ViewInput& input) {
    ui::BlockHistory history;
    history.follow(input.trace);
    return ui::blockTable(input, history);
  }
  std::unique_ptr<test::Recording> m_recording;
};

/// Blocks that no token of the prompt's end sees in some layers are counted, and lined.
void TestBlockTable::windowsAreShown() {
  const ui::ViewInput input = test::twentyDocuments({.windows = {400, 0, 40, 400}});
  const ui::BlockTable table = tableOf(input);
  const ui::TableRow& row = table.rows.front();
  QCOMPARE(row.cells.front().outsideLayers, 3);
  std::int32_t before = 3;
  bool isOneSomewhere = false;
  for (const ui::TableCell& cell : row.cells) {
    if (cell.outsideLayers == 1) isOneSomewhere = true;
    QVERIFY(cell.outsideLayers <= before);
    before = cell.outsideLayers;
  }
  QVERIFY(isOneSomewhere && before == 0);
  QVERIFY2(row.extras.contains(QStringLiteral("in 3 of 4 layers")),
           qPrintable(row.extras.join(QLatin1Char('\n'))));
  QVERIFY(ui::cellTip(input, table, {0, 0}).contains(QStringLiteral("3 of 4 layers")));
  // Without windows nothing is said of them.
  const ui::BlockTable plain = tableOf(test::twentyDocuments());
  for (const ui::TableCell& cell : plain.rows.front().cells) QCOMPARE(cell.outsideLayers, 0);
}

void TestBlockTable::initTestCase() {
  m_recording = std::make_unique<test::Recording>(128);
  document::Document document = test::Recording::example("rag.json");
  m_recording->run(document);
  for (const document::NodeId id : document.ids()) {
    const auto* join = document.at(id).own.as<query::Join>();
    if (join != nullptr && join->kind == query::JoinKind::Plus)
      QVERIFY(document::swapChildren(document, id, 0, 1));
  }
  m_recording->run(document);
}

/// A request that ends before it is admitted has stopped looking.
void TestBlockTable::endedBeforeThereWasRoom() {
  for (const auto& [outcome, note] :
       {std::pair(trace::StepOutcome::Stopped, QStringLiteral("ended, hits unknown")),
        std::pair(trace::StepOutcome::Failed, QStringLiteral("request failed"))}) {
    test::TraceMaker maker(4, 8);
    maker.startRun(1, 1, {test::TraceMaker::segment(8, 0, "/g/input")});
    QCOMPARE(tableOf(maker.input()).rows.at(0).note, QStringLiteral("hits still unknown"));
    maker.send(1, 1, trace::StepFinished{.outcome = outcome, .text = {}});
    QCOMPARE(tableOf(maker.input()).rows.at(0).note, note);
  }
}

void TestBlockTable::rowsAndSegments() {
  const ui::BlockTable table = tableOf(m_recording->input());
  QCOMPARE(table.rows.size(), std::size_t{2});
  QCOMPARE(table.rows[0].title, QStringLiteral("Run 1"));
  QCOMPARE(table.rows[0].note, QStringLiteral("cold"));
  QCOMPARE(table.rows[1].note, QStringLiteral("70 of 83 cached"));
  QVERIFY(table.rows[1].subtitle.contains(QStringLiteral("spans")));
  // system, three documents, question, and the block that only holds the answer
  QCOMPARE(table.rows[1].segments.size(), std::size_t{6});
  QVERIFY(table.rows[1].segments.back().generated);
  for (std::size_t i = 0; i < table.rows[1].cells.size(); ++i)
    QCOMPARE(table.rows[1].cells[i].facts.number, static_cast<std::int32_t>(i));
  QCOMPARE(table.rows[1].cells[0].role, ui::BlockRole::Hit);
  QCOMPARE(table.rows[1].cells[1].role, ui::BlockRole::Relocated);
  QCOMPARE(table.rows[1].cells[7].role, ui::BlockRole::Computed);
}

/// However many requests of other documents came later.
void TestBlockTable::theDocumentsOwnRunIsAlwaysThere() {
  test::Recording recording(512);
  recording.run(test::Recording::example("rag.json"));
  const std::map<RunId, document::NodePaths> own = recording.input().paths;
  const document::Document many = test::Recording::fromJson(
      R"({"plus":[{"repeat":{"n":120,"g":{"model":"m","max_tokens":1,"input":{"user":"Where?"}}}}]})");
  recording.run(many);
  ui::ViewInput input = recording.input();
  QCOMPARE(tableOf(input).rows.size(), ui::kTableRows);
  QCOMPARE(tableOf(input).rows.front().run, RunId{2});
  input.paths = own;
  // A view shows the document's own row, not the newest one.
  ui::BlockTableView view;
  view.resize(800, 300);
  view.setInput(input);
  view.show();
  const auto* area = view.findChild<ui::BlockTableArea*>();
  QVERIFY(area->verticalScrollBar()->maximum() > 0);
  QCOMPARE(area->verticalScrollBar()->value(), 0);
  input.paths = recording.input().paths;
  view.setInput(input);
  QCOMPARE(area->verticalScrollBar()->value(), area->verticalScrollBar()->maximum());
  // It stays in sight while the view gets other sizes, until the user scrolls.
  view.resize(800, 900);
  view.resize(800, 200);
  QCOMPARE(area->verticalScrollBar()->value(), area->verticalScrollBar()->maximum());
  QTest::qWait(0);
  area->verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
  view.resize(800, 260);
  QCOMPARE(area->verticalScrollBar()->value(), 0);
  input.paths = own;
  const ui::BlockTable table = tableOf(input);
  QCOMPARE(table.rows.size(), ui::kTableRows);
  QCOMPARE(table.rows.front().run, RunId{1});
  QCOMPARE(table.rows[1].run, RunId{2});
}

void TestBlockTable::linksCross() {
  const ui::BlockTable table = tableOf(m_recording->input());
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t, ui::BlockRole>> links;
  for (const ui::TableLink& link : table.links) links.emplace_back(link.from, link.to, link.count, link.role);
  using ui::BlockRole;
  const decltype(links) expected{{0, 0, 1, BlockRole::Hit},
                                 {3, 1, 2, BlockRole::Relocated},
                                 {1, 3, 2, BlockRole::Relocated},
                                 {5, 5, 2, BlockRole::Hit}};
  QVERIFY(links == expected);
}

void TestBlockTable::evicted() {
  test::TraceMaker maker(4, 3);
  maker.computedRequest(1, 1, 8, 1);
  QCOMPARE(tableOf(maker.input()).rows[0].cells[1].role, ui::BlockRole::Computed);
  maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input", 50)});
  maker.send(2, 2, trace::BlockRemoved{2, {1, 2}, trace::RemovalReason::Evicted});
  const ui::BlockTable table = tableOf(maker.input());
  QCOMPARE(table.rows[0].cells[0].role, ui::BlockRole::Computed);
  QCOMPARE(table.rows[0].cells[1].role, ui::BlockRole::Evicted);
  QVERIFY(table.rows[0].cells[1].lostAt.has_value());
  QVERIFY(says(ui::cellTip(maker.input(), table, {0, 1}), "<evicted-by-event>"));
  // What has not been looked up yet is free.
  QCOMPARE(table.rows[1].cells[0].role, ui::BlockRole::Free);
}

/// Blocks that are their request's alone are given back, and nobody evicts them.
void TestBlockTable::freed() {
  test::TraceMaker maker(4, 3);
  maker.startRun(1, 1, {test::TraceMaker::segment(4, 0, "/g/input")});
  maker.send(1, 1, test::lookupOf(4));
  maker.send(1, 1, trace::BlockAllocated{1, 0, 0});
  // It is not said to be computed before a pass has computed it.
  QCOMPARE(tableOf(maker.input()).rows[0].cells[0].role, ui::BlockRole::Free);
  const auto pass = [](RequestId request) {
    return trace::BatchComputed{.entries = {{.request = request, .segment = 0, .begin = 0, .count = 4}}};
  };
  maker.send(1, 0, pass(1));
  QCOMPARE(tableOf(maker.input()).rows[0].cells[0].role, ui::BlockRole::Computed);
  maker.send(1, 1, trace::BlockReleased{1, 0});
  maker.finish(1, 1);
  const auto check = [&maker] {
    const ui::BlockTable table = tableOf(maker.input());
    const ui::TableCell& cell = table.rows[0].cells[0];
    QVERIFY(cell.isFreed && !cell.isThere());
    QCOMPARE(cell.role, ui::BlockRole::Computed);
    QVERIFY(ui::cellTip(maker.input(), table, {0, 0}).contains(worded("<freed-request-never>")));
    QVERIFY(ui::blockTableCsv(table).contains(QStringLiteral(",freed,")));
  };
  check();
  // Another request is given the block.
  maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input", 50)});
  maker.send(2, 2, test::lookupOf(4));
  maker.send(2, 2, trace::BlockAllocated{1, 0, 0});
  maker.send(2, 0, pass(2));
  check();
  QCOMPARE(tableOf(maker.input()).rows[1].cells[0].role, ui::BlockRole::Computed);
}

/// A request that was stopped gives back a block that no pass has computed: it is not said to be computed.
void TestBlockTable::neverComputed() {
  test::TraceMaker maker(4, 3);
  maker.startRun(1, 1, {test::TraceMaker::segment(4, 0, "/g/input")});
  maker.send(1, 1, test::lookupOf(4));
  maker.send(1, 1, trace::BlockAllocated{1, 0, 0});
  maker.send(1, 1, trace::BlockReleased{1, 0});
  maker.send(1, 1, trace::StepFinished{.step = 0, .outcome = trace::StepOutcome::Stopped, .text = {}});
  const ui::BlockTable table = tableOf(maker.input());
  QVERIFY(table.rows[0].cells[0].isFreed);
  QCOMPARE(table.rows[0].cells[0].role, ui::BlockRole::Free);
}

void TestBlockTable::partialIsSplit() {
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 4, 1);
  maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input")});
  trace::BlockLookedUp lookup = test::lookupOf(4);
  lookup.block = 1;
  lookup.outcome = trace::LookupOutcome::Partial;
  lookup.reason = trace::MissReason::LastToken;
  lookup.tokens = 3;
  lookup.storedByRun = 1;
  lookup.storedByRequest = 1;
  maker.send(2, 2, lookup);
  maker.send(2, 2, trace::BlockShared{1, 0, 0, 1});
  maker.send(2, 2, trace::BlockAllocated{2, 0, 0});
  const ui::BlockTable table = tableOf(maker.input());
  const ui::TableCell& cell = table.rows[1].cells[0];
  QCOMPARE(cell.role, ui::BlockRole::Computed);
  QCOMPARE(cell.facts.found, 3);
  QCOMPARE(cell.facts.foundRole, ui::BlockRole::Hit);
  QCOMPARE(table.links.size(), std::size_t{1});
  QVERIFY(table.links[0].copied);
  QVERIFY(says(ui::cellTip(maker.input(), table, {1, 0}), "<first-tokens-were|3|1>"));
}

void TestBlockTable::sharedWhileRunning() {
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 4, 1);
  for (const RequestId id : {RequestId{2}, RequestId{3}}) {
    maker.startRun(id, id, {test::TraceMaker::segment(4, 0, "/g/input")});
    trace::BlockLookedUp lookup = test::lookupOf(4);
    lookup.block = 1;
    lookup.outcome = trace::LookupOutcome::Hit;
    lookup.reason = trace::MissReason::None;
    lookup.tokens = 4;
    maker.send(id, id, lookup);
    maker.send(id, id, trace::BlockShared{1, 0, 0, static_cast<std::int32_t>(id) - 1});
  }
  const ui::BlockTable table = tableOf(maker.input());
  for (const ui::TableRow& row : table.rows) QCOMPARE(row.cells[0].references, 2);
}

void TestBlockTable::sizes_data() {
  QTest::addColumn<int>("tokens");
  QTest::addColumn<int>("size");
  QTest::addColumn<bool>("overview");
  QTest::newRow("few") << 10 << int(ui::CellSize::Large) << false;
  QTest::newRow("some") << 100 << int(ui::CellSize::Small) << false;
  QTest::newRow("many") << 400 << int(ui::CellSize::Strip) << false;
  QTest::newRow("most") << 20000 << int(ui::CellSize::Strip) << true;
}

void TestBlockTable::sizes() {
  QFETCH(int, tokens);
  QFETCH(int, size);
  QFETCH(bool, overview);
  test::TraceMaker maker(4, tokens / 4 + 8);
  maker.computedRequest(1, 1, tokens, 1);
  ui::BlockTableView view;
  view.resize(1000, 300);
  view.setInput(maker.input());
  view.show();
  auto* area = view.findChild<ui::BlockTableArea*>();
  QCOMPARE(int(area->tableLayout().size()), size);
  QCOMPARE(area->hasOverview(), overview);
  if (overview) {
    QVERIFY(area->horizontalScrollBar()->maximum() > 0);
    QTest::mouseClick(area->viewport(), Qt::LeftButton, Qt::NoModifier, QPoint(980, 14));
    QCOMPARE(area->horizontalScrollBar()->value(), area->horizontalScrollBar()->maximum());
  }
  // Larger cells on demand, and back to what fits.
  QTest::keyClick(area, Qt::Key_Plus);
  QCOMPARE(int(area->tableLayout().size()), std::max(0, size - 1));
  QTest::keyClick(area, Qt::Key_0);
  QCOMPARE(int(area->tableLayout().size()), size);
  QVERIFY(!view.grab().isNull());
}

void TestBlockTable::overviewShowsAllSegments_data() {
  QTest::addColumn<int>("width");
  QTest::newRow("a column has more than the gap between segments") << 420;
  QTest::newRow("columns that lie between segments") << 1200;
}

void TestBlockTable::overviewShowsAllSegments() {
  QFETCH(int, width);
  const ui::ViewInput input = test::twentyDocuments();
  ui::BlockTableView view;
  view.resize(width, 300);
  view.setInput(input);
  view.show();
  auto* area = view.findChild<ui::BlockTableArea*>();
  QVERIFY(area->hasOverview());
  // The last third of the bar: segments far after the first.
  const QImage image = area->viewport()->grab().toImage();
  const QRgb empty = input.theme.color(ui::Role::Canvas).rgb();
  int painted = 0;
  const int begin = image.width() * 2 / 3;
  const int end = image.width() - 20;
  for (int x = begin; x < end; ++x) painted += image.pixel(x, 14) != empty;
  QVERIFY2(painted > (end - begin) / 2, qPrintable(QString::number(painted)));
}

/// A table that has to be scrolled anyway gives each name the room that it needs.
void TestBlockTable::namesAreWholeWhereTheTableScrolls() {
  const ui::ViewInput input = test::twentyDocuments();
  for (const int width : {420, 800, 1400}) {
    ui::BlockTableView view;
    view.resize(width, 300);
    view.setInput(input);
    view.show();
    auto* area = view.findChild<ui::BlockTableArea*>();
    QVERIFY(area->hasOverview());
    const std::vector<QString>& names = area->partNames(0);
    for (std::size_t document = 1; document <= test::kTwentyDocuments; ++document)
      QCOMPARE(names.at(document), QStringLiteral("document %1").arg(document));
  }
}

/// As the table scrolls, a bracket leaves at either side; its name is whole, shortened so that it can be
/// read, or not there, and never below the labels of the rows.
void TestBlockTable::namesOutOfSightLeaveNoScraps() {
  const ui::Theme theme;
  QFont font = theme.smallFont();
  font.setWeight(QFont::DemiBold);
  const QFontMetrics metrics(font);
  constexpr int kBegin = 1000;
  constexpr int kEnd = 1600;
  for (const QString& name :
       {QStringLiteral("system"), QStringLiteral("document 7"), QStringLiteral("question")}) {
    for (const int width : {24, 150}) {
      for (int left = kBegin - width + 1; left < kEnd; ++left) {
        const QRect bracket(left, 10, width, 20);
        const QRect seen = bracket.intersected(QRect(kBegin, 10, kEnd - kBegin, 20));
        const std::vector<ui::BracketName> names = ui::bracketNames(
            {{.place = seen, .name = name, .isCut = seen != bracket}}, kBegin, kEnd, metrics);
        QCOMPARE(names.size(), std::size_t{1});
        const QString place = QStringLiteral("%1 at %2: “%3”").arg(name).arg(left).arg(names[0].text);
        if (names[0].text.isEmpty()) {
          QVERIFY2(seen != bracket, qPrintable(place));
          continue;
        }
        QVERIFY2(ui::shortForms(name).contains(names[0].text), qPrintable(place));
        QVERIFY2(names[0].left >= kBegin, qPrintable(place));
        QVERIFY2(names[0].left + metrics.horizontalAdvance(names[0].text) <= kEnd, qPrintable(place));
      }
    }
  }
}

/// Names may extend past narrow brackets. They keep a gap, have one form, and all are shown if there is room.
void TestBlockTable::namesExtendPastTheirBrackets() {
  const ui::Theme theme;
  QFont font = theme.smallFont();
  font.setWeight(QFont::DemiBold);
  const QFontMetrics metrics(font);
  const auto bracketsOf = [](const QStringList& names, int width, int gap) {
    std::vector<ui::NamedBracket> brackets;
    int left = 150;
    for (const QString& name : names) {
      brackets.push_back({.place = QRect(left, 10, width, 20), .name = name});
      left += width + gap;
    }
    return brackets;
  };
  const QStringList prompt{QStringLiteral("system"), QStringLiteral("document 1"),
                           QStringLiteral("document 2"), QStringLiteral("question")};
  const auto isApart = [&](const std::vector<ui::BracketName>& names, int begin, int end) {
    int free = begin;
    for (const ui::BracketName& name : names) {
      if (name.text.isEmpty()) continue;
      if (name.left < free) return false;
      const int after = name.left + metrics.horizontalAdvance(name.text);
      if (after > end) return false;
      free = after + 6;
    }
    return true;
  };
  for (int width = 4; width <= 120; width += 2) {
    for (const int end : {400, 700, 1000}) {
      const std::vector<ui::BracketName> names =
          ui::bracketNames(bracketsOf(prompt, width, 4), ui::kTableLabel, end, metrics);
      const QString where = QStringLiteral("%1 until %2").arg(width).arg(end);
      QVERIFY2(isApart(names, ui::kTableLabel, end), qPrintable(where));
      if (!names[1].text.isEmpty() && !names[2].text.isEmpty())
        QCOMPARE(names[1].text.chopped(1), names[2].text.chopped(1));
    }
  }
  // Each name is wider than its bracket, and the first and the last name extend outwards.
  const int wide = metrics.horizontalAdvance(prompt[0]);
  const std::vector<ui::BracketName> two =
      ui::bracketNames(bracketsOf({prompt[0], prompt[3]}, wide - 10, 6), ui::kTableLabel, 700, metrics);
  QCOMPARE(two[0].text, prompt[0]);
  QCOMPARE(two[1].text, prompt[3]);
  // Without room for all, some names stay, each of them readable.
  const std::vector<ui::BracketName> some = ui::bracketNames(
      bracketsOf({QStringLiteral("system"), QStringLiteral("user 1"), QStringLiteral("user 2"),
                  QStringLiteral("document 1"), QStringLiteral("document 2"), QStringLiteral("document 3"),
                  QStringLiteral("question")},
                 16, 4),
      ui::kTableLabel, 400, metrics);
  QVERIFY(isApart(some, ui::kTableLabel, 400));
  QVERIFY(std::ranges::count_if(some, [](const ui::BracketName& name) { return !name.text.isEmpty(); }) >= 4);
  for (const std::size_t user : {1, 2})
    QVERIFY(some[user].text.isEmpty() || some[user].text.startsWith(QStringLiteral("user")));
}

/// Documents in one segment have their names above their own blocks.
void TestBlockTable::namesAreWholeInOneSegment() {
  std::string json =
      R"({"g": {"model": "spnl/spanlet", "max_tokens": 1, "temperature": 0.0, "input": {"plus": [)";
  for (int i = 0; i < 12; ++i) {
    if (i > 0) json += ",";
    json += R"({"user": ")";
    for (int word = 0; word < 20; ++word) json += "Mira lives in Lisbon. ";
    json += std::to_string(i) + R"("})";
  }
  json += "]}}}";
  test::Recording recording(512);
  recording.run(test::Recording::fromJson(json), *policy::findPolicy("prefix"));
  ui::BlockTableView view;
  view.resize(420, 300);
  view.setInput(recording.input());
  view.show();
  auto* area = view.findChild<ui::BlockTableArea*>();
  QVERIFY(area->hasOverview());
  for (std::size_t document = 1; document <= 12; ++document)
    QCOMPARE(area->partNames(0).at(document - 1), QStringLiteral("doc %1").arg(document));
}

/// The name above a bracket may be short or missing. The tool tip has the whole name.
void TestBlockTable::bracketsHaveTheWholeNameInATip() {
  ui::BlockTableView view;
  view.resize(1000, 300);
  view.setInput(m_recording->input());
  view.show();
  auto* area = view.findChild<ui::BlockTableArea*>();
  const std::vector<ui::TablePart>& parts = view.table().rows[0].parts;
  QVERIFY(parts.size() >= 5);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const QPoint place = area->inViewport(area->tableLayout().bracket(0, i)).center();
    QHelpEvent help(QEvent::ToolTip, place, area->viewport()->mapToGlobal(place));
    QCoreApplication::sendEvent(area->viewport(), &help);
    QCOMPARE(QToolTip::text(), parts[i].name);
  }
  QToolTip::hideText();
}

/// A high dock is used: cells of small sizes grow until the rows fill it, or are as high as a row can be
/// read.
void TestBlockTable::cellsFillTheHeight() {
  const ui::BlockTable table = tableOf(m_recording->input());
  const auto rows = static_cast<int>(table.rows.size());
  for (const ui::CellSize size : {ui::CellSize::Large, ui::CellSize::Small, ui::CellSize::Strip}) {
    const ui::TableLayout least(table, size, false);
    for (const int more : {-50, 0, 7, 40, 2000}) {
      ui::TableLayout layout(table, size, false);
      const int height = least.contentSize().height() + more;
      layout.fillHeight(height);
      QVERIFY(layout.cellHeight() >= least.cellHeight());
      QVERIFY(layout.contentSize().height() <= std::max(height, least.contentSize().height()));
      if (size == ui::CellSize::Large) continue;
      // What is left is less than a pixel a row, unless the cells are as high as they get.
      if (layout.cellHeight() < 48 && more >= 0) QVERIFY(height - layout.contentSize().height() < rows);
      if (more == 2000) QCOMPARE(layout.cellHeight(), 48);
      const ui::CellPlace place{table.rows.size() - 1, 0};
      QCOMPARE(layout.at(layout.cell(place).center()), std::optional(place));
    }
  }
}

/// Links leave every row but the last: what is kept for them would make a table scroll that could be seen
/// whole.
void TestBlockTable::endsBelowTheLastRow() {
  const ui::BlockTable table = tableOf(m_recording->input());
  const ui::TableLayout layout(table, ui::CellSize::Large, false);
  const std::size_t last = table.rows.size() - 1;
  const int numbers = layout.cell({last, 0}).bottom() + 20;
  const int end = layout.contentSize().height();
  QVERIFY2(end > numbers && end < numbers + 20, qPrintable(QString::number(end - numbers)));
  // Five lines of a label begin where the cells do.
  QVERIFY(end >= layout.cellTop(last) + 5 * 16);
}

void TestBlockTable::placesAnswerToClicks() {
  const ui::BlockTable table = tableOf(m_recording->input());
  for (const ui::CellSize size : {ui::CellSize::Large, ui::CellSize::Small, ui::CellSize::Strip}) {
    const ui::TableLayout layout(table, size, false);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      for (std::size_t cell = 0; cell < table.rows[row].cells.size(); ++cell) {
        const ui::CellPlace place{row, cell};
        QCOMPARE(layout.at(layout.cell(place).center()), std::optional(place));
      }
    }
    QVERIFY(!layout.at({2, 2}));
  }
}

/// Cells and numbers are larger, and answer to clicks where they are shown.
void TestBlockTable::largerForAProjector() {
  ui::BlockTableView view;
  view.resize(1600, 500);
  view.setInput(m_recording->input());
  view.show();
  QVERIFY(QTest::qWaitForWindowExposed(&view));
  auto* area = view.findChild<ui::BlockTableArea*>();
  ui::Selection part;
  part.block = ui::BlockRef{2, 2, 0};
  const QSize usual = view.placesOf(part).front().size();
  view.perform(QStringLiteral("view.larger"));
  const QRect place = view.placesOf(part).front();
  QVERIFY(place.width() > usual.width() * 3 / 2 && place.height() > usual.height() * 3 / 2);
  QVERIFY(area->viewport()->rect().contains(place));
  QSignalSpy wanted(&view, &ui::View::selectionWanted);
  QTest::mouseClick(area->viewport(), Qt::LeftButton, Qt::NoModifier, place.center());
  QCOMPARE(wanted.size(), 1);
  QCOMPARE(wanted.first().first().value<ui::Selection>().block, part.block);
  view.perform(QStringLiteral("view.usual-size"));
  QCOMPARE(view.placesOf(part).front().size(), usual);
  // Cells that have numbers stay large where they do not all fit.
  view.resize(500, 300);
  view.perform(QStringLiteral("view.larger"));
  QVERIFY(area->tableLayout().size() == ui::CellSize::Large);
}

void TestBlockTable::clickSelects() {
  ui::BlockTableView view;
  view.resize(1000, 300);
  const ui::ViewInput input = m_recording->input();
  view.setInput(input);
  view.show();
  auto* area = view.findChild<ui::BlockTableArea*>();
  QSignalSpy wanted(&view, &ui::View::selectionWanted);
  const QPoint place = area->tableLayout().cell({1, 3}).center() - area->offset();
  QTest::mouseClick(area->viewport(), Qt::LeftButton, Qt::NoModifier, place);
  QCOMPARE(wanted.size(), 1);
  const auto selection = wanted.first().first().value<ui::Selection>();
  QCOMPARE(selection.request, std::optional<RequestId>(2));
  QCOMPARE(selection.block, std::optional(ui::BlockRef{2, 2, 0}));
  QCOMPARE(selection.physical, 2);
  QVERIFY(selection.currentNode() != document::kNoNode);
}

void TestBlockTable::keysWalk() {
  ui::BlockTableView view;
  view.resize(1000, 300);
  ui::ViewInput input = m_recording->input();
  view.setInput(input);
  view.show();
  QObject::connect(&view, &ui::View::selectionWanted, &view, [&](const ui::Selection& selection) {
    input.selection = selection;
    view.setInput(input);
  });
  auto* area = view.findChild<ui::BlockTableArea*>();
  const auto current = [&] { return ui::selectedCell(view.table(), input.selection); };
  QTest::keyClick(area, Qt::Key_Right);
  QCOMPARE(current(), (std::optional<ui::CellPlace>({1, 0})));
  QTest::keyClick(area, Qt::Key_Right);
  QCOMPARE(current(), (std::optional<ui::CellPlace>({1, 1})));
  QTest::keyClick(area, Qt::Key_Up);
  QCOMPARE(current(), (std::optional<ui::CellPlace>({0, 1})));
  QTest::keyClick(area, Qt::Key_End);
  QCOMPARE(current()->cell, view.table().rows[0].cells.size() - 1);
  QVERIFY(!area->accessibleDescription().isEmpty());
}

void TestBlockTable::csv() {
  ui::BlockTableView view;
  view.setInput(m_recording->input());
  const QString csv = view.csv();
  QVERIFY(csv.contains(QStringLiteral("document 1")));
  const ui::BlockTable table = tableOf(m_recording->input());
  QCOMPARE(static_cast<std::size_t>(csv.count(QLatin1Char('\n'))),
           1 + table.rows[0].cells.size() + table.rows[1].cells.size());
}

/// The first miss of a long row is named below the row, visible without a selection, and wide in the
/// overview.
void TestBlockTable::textsBesideAMarkCoverNoLabel() {
  constexpr int kLabel = ui::kTableLabel;
  // To the right of the mark; else to the left; else shortened on the side with more room.
  QCOMPARE(ui::roomBeside(kLabel + 50, 8, 80, kLabel + 200), std::pair(kLabel + 58, 80));
  QCOMPARE(ui::roomBeside(kLabel + 150, 8, 80, kLabel + 200), std::pair(kLabel + 62, 80));
  QCOMPARE(ui::roomBeside(kLabel + 40, 8, 80, kLabel + 110), std::pair(kLabel + 48, 62));
  QCOMPARE(ui::roomBeside(kLabel + 70, 8, 80, kLabel + 110), std::pair(kLabel, 62));
  for (int x = kLabel; x <= kLabel + 110; ++x) {
    const auto [left, width] = ui::roomBeside(x, 8, 80, kLabel + 110);
    QVERIFY(width >= 0 && (width == 0 || (left >= kLabel && left + width <= kLabel + 110)));
  }
}

void TestBlockTable::theFirstMissIsShown() {
  constexpr std::int32_t kBlocks = 300;
  constexpr std::int32_t kMiss = 220;
  test::TraceMaker maker(4, kBlocks + 1);
  maker.startRun(1, 1, {test::TraceMaker::segment(4 * kBlocks, 0, "/g/input")});
  for (std::int32_t i = 0; i < kBlocks; ++i) {
    trace::BlockLookedUp lookup = test::lookupOf(4, 0, i);
    if (i != kMiss) {
      lookup.outcome = trace::LookupOutcome::Hit;
      lookup.reason = trace::MissReason::None;
      lookup.tokens = 4;
    }
    maker.send(1, 1, lookup);
  }
  const ui::ViewInput input = maker.input();
  const ui::BlockTable table = tableOf(input);
  QCOMPARE(ui::firstMiss(table.rows[0]), std::optional<std::size_t>(kMiss));
  ui::BlockTableView view;
  view.resize(600, 200);
  view.setInput(input);
  view.show();
  auto* area = view.findChild<ui::BlockTableArea*>();
  QVERIFY(area->hasOverview());
  const auto isVisible = [&] {
    const QRect cell = area->inViewport(area->tableLayout().cell({0, kMiss}));
    return cell.left() >= ui::kTableLabel && cell.right() < area->viewport()->width();
  };
  QVERIFY(isVisible());
  // It stays visible in a narrower dock, until the user scrolls.
  view.resize(420, 200);
  QTRY_VERIFY(isVisible());
  area->horizontalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
  view.resize(500, 200);
  QCOMPARE(area->horizontalScrollBar()->value(), 0);
  const QImage overview = area->viewport()->grab().toImage();
  const QRgb ink = input.theme.ink(ui::BlockRole::Computed).rgb();
  int wide = 0;
  for (int x = ui::kTableLabel; x < overview.width(); ++x) wide += overview.pixel(x, 16) == ink;
  QVERIFY2(wide >= 5, qPrintable(QString::number(wide)));
  // The tool tip has the words of the mark.
  view.resize(600, 200);
  area->reveal({0, kMiss});
  const QPoint cell = area->inViewport(area->tableLayout().cell({0, kMiss})).center();
  QHelpEvent help(QEvent::ToolTip, cell, area->viewport()->mapToGlobal(cell));
  QCoreApplication::sendEvent(area->viewport(), &help);
  QVERIFY(QToolTip::text().contains(ui::metricPhrase("first-missing-block", QString::number(kMiss))));
  // A cold row has no first miss: every block is one.
  QVERIFY(!ui::firstMiss(tableOf(m_recording->input()).rows[0]));
}

void TestBlockTable::theLegendHasOnlyShownStates() {
  ui::BlockTableView view;
  const std::unique_ptr<QWidget> legend(view.takeTitleControls());
  const int all = legend->sizeHint().width();
  test::TraceMaker maker(4, 16);
  maker.computedRequest(1, 1, 8, 1);
  view.setInput(maker.input());
  view.show();
  QTRY_VERIFY(legend->sizeHint().width() < all);
  QVERIFY(legend->accessibleName().contains(ui::Theme::name(ui::BlockRole::Computed)));
  QVERIFY(!legend->accessibleName().contains(ui::Theme::name(ui::BlockRole::Evicted)));
  trace::BlockLookedUp partial = test::lookupOf(4);
  partial.outcome = trace::LookupOutcome::Partial;
  partial.reason = trace::MissReason::TokensDiffer;
  partial.tokens = 2;
  maker.startRun(2, 2, {test::TraceMaker::segment(4, 0, "/g/input")});
  maker.send(2, 2, partial);
  maker.send(2, 2, trace::BlockAllocated{3, 0, 0});
  maker.send(2, 2, trace::RequestAdmitted{4, 2, 0});
  view.setInput(maker.input());
  QTRY_VERIFY(says(legend->accessibleName(), "<legend-partial>"));
}

SPANSCOPE_TEST(tst_block_table, TestBlockTable, QApplication)
#include "tst_block_table.moc"
