// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recording.h"
#include "tests/ui/views/common/traced_requests.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/views/common/marker_tokens.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/tokens/token_strip_area.h"
#include "ui/views/tokens/token_strip_view.h"

#include <QElapsedTimer>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <memory>
#include <utility>

using namespace spanscope;
using product_text::says;
using product_text::worded;

class TestTokenStrip : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase();
  void stripOfARun();
  void specialTokensHaveOneForm();
  void roles();
  void positionBeforeGeneration();
  void reusedTokensKnowTheirOldPositions();
  void eachSectionBeginsALine();
  void attentionIsABarBelowTheAnswer();
  void wrapsWithoutOverlap_data();
  void wrapsWithoutOverlap();
  void clickSelects();
  void aSelectedNodeIsRevealed();
  void aRevealedTokenStaysVisible();
  void aLowStripHasWholeTokens();
  void theLegendNamesTheMarks();
  void keysWalk();
  void hiddenPartsAreLeftOut();
  void aFailedRequestHasNoTokensOfAnother();
  void csv();

 private:
  std::unique_ptr<test::Recording> m_recording;
};

void TestTokenStrip::initTestCase() {
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

void TestTokenStrip::stripOfARun() {
  const ui::TokenStrip strip = ui::tokenStrip(m_recording->input());
  QCOMPARE(strip.run, 2U);
  QCOMPARE(strip.segments.size(), std::size_t{5});
  QStringList names;
  for (const ui::StripSegment& segment : strip.segments) names << segment.name;
  QCOMPARE(names,
           (QStringList{QStringLiteral("system"), QStringLiteral("document 2"), QStringLiteral("document 1"),
                        QStringLiteral("document 3"), QStringLiteral("question")}));
  QCOMPARE(strip.prompt, std::size_t{83});
  QVERIFY(strip.tokens.size() > strip.prompt);
  QVERIFY(strip.summary.startsWith(QStringLiteral("83 tokens · ")));
  QVERIFY(std::any_of(strip.tokens.begin(), strip.tokens.end(), [](const ui::StripToken& token) {
    return token.text == QStringLiteral("‹user›") && token.quiet;
  }));
  // What was sampled last is in no block yet.
  QVERIFY(!strip.tokens.back().computed);
  QVERIFY(strip.tokens[strip.tokens.size() - 2].computed);
}

/// All views write a special token in the same way.
void TestTokenStrip::specialTokensHaveOneForm() {
  const QString end = QStringLiteral("\u2039end\u203A");
  QCOMPARE(shownToken("<|end|>"), end);
  QCOMPARE(markerText("<|end|>"), end);
  QCOMPARE(tokenInLine("<|end|>"), end);
  QCOMPARE(tokenInLine(" a"), QStringLiteral(" a"));
  QCOMPARE(shownToken("<"), QStringLiteral("<"));
}

void TestTokenStrip::roles() {
  const ui::TokenStrip strip = ui::tokenStrip(m_recording->input());
  const auto roleOf = [&](std::size_t segment) { return strip.tokens[strip.segments[segment].first].role; };
  QCOMPARE(roleOf(0), ui::BlockRole::Hit);
  QCOMPARE(roleOf(1), ui::BlockRole::Relocated);
  QCOMPARE(roleOf(2), ui::BlockRole::Relocated);
  QCOMPARE(roleOf(3), ui::BlockRole::Hit);
  QCOMPARE(roleOf(4), ui::BlockRole::Computed);
  // One partial block per segment: the system prompt fills 13 of 16 slots.
  QCOMPARE(strip.tokens[12].tail, 13);
  QVERIFY(strip.tokens[13].opensBlock);
  QCOMPARE(strip.tokens[13].block, 1);
}

/// The first two documents are swapped in the second run.
void TestTokenStrip::reusedTokensKnowTheirOldPositions() {
  const ui::ViewInput input = m_recording->input();
  const ui::TokenStrip strip = ui::tokenStrip(input);
  ui::ViewInput before = input;
  before.selection.request = 1;
  const ui::TokenStrip first = ui::tokenStrip(before);
  std::size_t relocated = 0;
  for (std::size_t i = 0; i < strip.tokens.size(); ++i) {
    const ui::StripToken& token = strip.tokens[i];
    QCOMPARE(token.storedAt >= 0, token.role == ui::BlockRole::Hit || token.role == ui::BlockRole::Relocated);
    if (token.storedAt < 0) continue;
    // The earlier run has the same token at the old position.
    QCOMPARE(first.tokens[static_cast<std::size_t>(token.storedAt)].text, token.text);
    QCOMPARE(token.storedAt != token.position, token.role == ui::BlockRole::Relocated);
    const QString stored = worded("<token-stored-at|%1>").arg(token.storedAt);
    QCOMPARE(ui::tokenTip(input, strip, i).contains(stored), token.role == ui::BlockRole::Relocated);
    relocated += token.role == ui::BlockRole::Relocated ? 1U : 0U;
  }
  QVERIFY(relocated > 20);
  const QString range = QStringLiteral("%1–%2")
                            .arg(strip.tokens[strip.segments[1].first].storedAt)
                            .arg(strip.tokens[strip.segments[2].first - 1].storedAt);
  QVERIFY2(strip.segments[1].facts.endsWith(worded("<strip-stored-at|%1>").arg(range)),
           qPrintable(strip.segments[1].facts));
  QVERIFY(!says(strip.segments[0].facts, "<strip-stored-at>"));
  // The card of the question does not count the generation prompt.
  QVERIFY2(says(strip.segments.back().facts, "<strip-last-begins>"), qPrintable(strip.segments.back().facts));
  QVERIFY(!says(strip.segments[0].facts, "<strip-last-begins>"));
}

void TestTokenStrip::eachSectionBeginsALine() {
  const ui::ViewInput input = m_recording->input();
  const ui::TokenStrip strip = ui::tokenStrip(input);
  const ui::StripLayout layout =
      ui::layOutTokens(strip, 900, input.theme.monoFont(), input.theme.smallFont());
  QCOMPARE(layout.groups.size(), strip.segments.size() + 1);  // and the answer
  for (std::size_t i = 0; i < layout.groups.size(); ++i) {
    const ui::StripGroup& group = layout.groups[i];
    QCOMPARE(group.isAnswer, i == strip.segments.size());
    QCOMPARE(group.first, group.isAnswer ? strip.prompt : strip.segments[i].first);
    const ui::StripLine& line = layout.lines[layout.lineOf(group.first)];
    QCOMPARE(line.first, group.first);
    QVERIFY(group.head.bottom() < line.tile);
    QVERIFY(i == 0 || group.head.top() >= layout.lines[layout.lineOf(group.first - 1)].bottom);
  }
}

void TestTokenStrip::attentionIsABarBelowTheAnswer() {
  ui::ViewInput input = test::twentyDocuments();
  const ui::TokenStrip all = ui::tokenStrip(input);
  input.selection.nodes = {input.nodeOf(1, "/g/input/cross/1/plus/6")};
  const ui::TokenStrip one = ui::tokenStrip(input);
  QVERIFY(!all.lookedAt && one.lookedAt);
  QVERIFY(one.mostLooked > 0 && one.mostLooked < all.mostLooked);
  for (std::size_t i = 0; i < all.tokens.size(); ++i) {
    QCOMPARE(all.tokens[i].looked >= 0, all.tokens[i].generated);
    if (all.tokens[i].generated) QVERIFY(one.tokens[i].looked < all.tokens[i].looked);
  }
  QVERIFY2(
      says(one.answerFacts, QStringLiteral("<strip-attention-bar|%1>").arg(one.segments[*one.lookedAt].name)),
      qPrintable(one.answerFacts));
  // The bars do not cover the tokens, so nothing looks struck out.
  const ui::StripLayout layout = ui::layOutTokens(one, 900, input.theme.monoFont(), input.theme.smallFont());
  for (const ui::StripLine& line : layout.lines) {
    QCOMPARE(line.look >= 0, one.tokens[line.first].generated);
    QVERIFY(line.look < 0 || line.look > layout.tiles[line.first].bottom());
    QVERIFY(line.ruler > std::max(line.look, layout.tiles[line.first].bottom()));
  }
}

void TestTokenStrip::positionBeforeGeneration() {
  ui::ViewInput input = m_recording->input();
  const ui::RequestEvents* events = input.trace->request(2);
  QVERIFY(events != nullptr && !events->of<trace::TokenGenerated>().empty());
  input.position = events->of<trace::BlockLookedUp>().front();
  const ui::TokenStrip early = ui::tokenStrip(input);
  QCOMPARE(early.tokens.size(), early.prompt);
  QCOMPARE(early.tokens.front().role, ui::BlockRole::Free);
}

void TestTokenStrip::wrapsWithoutOverlap_data() {
  QTest::addColumn<int>("width");
  for (const int width : {120, 333, 960, 2000}) QTest::addRow("%d", width) << width;
}

void TestTokenStrip::wrapsWithoutOverlap() {
  QFETCH(int, width);
  const ui::ViewInput input = m_recording->input();
  const ui::TokenStrip strip = ui::tokenStrip(input);
  const ui::StripLayout layout =
      ui::layOutTokens(strip, width, input.theme.monoFont(), input.theme.smallFont());
  QCOMPARE(layout.tiles.size(), strip.tokens.size());
  for (std::size_t i = 0; i < layout.tiles.size(); ++i) {
    QVERIFY(layout.tiles[i].left() >= ui::kStripMargin);
    QVERIFY(layout.tiles[i].right() <= width);
    QVERIFY(layout.tiles[i].bottom() < layout.height);
    QCOMPARE(layout.at(layout.tiles[i].center()), i);
    if (i == 0) continue;
    QVERIFY(!layout.tiles[i].intersects(layout.tiles[i - 1]));
    QVERIFY(!layout.tiles[i].intersects(layout.tails[i - 1]));
  }
}

void TestTokenStrip::clickSelects() {
  ui::TokenStripView view;
  view.resize(900, 300);
  const ui::ViewInput input = m_recording->input();
  view.setInput(input);
  view.show();
  auto* area = view.findChild<ui::TokenStripArea*>();
  QVERIFY(area != nullptr);
  QSignalSpy wanted(&view, &ui::View::selectionWanted);
  QTest::mouseClick(area->viewport(), Qt::LeftButton, Qt::NoModifier, area->stripLayout().tiles[15].center());
  QCOMPARE(wanted.size(), 1);
  const auto selection = wanted.first().first().value<ui::Selection>();
  QCOMPARE(selection.token, std::optional(ui::TokenRef{2, 1, 2}));
  QCOMPARE(selection.block, std::optional(ui::BlockRef{2, 1, 0}));
  QVERIFY(selection.physical != kNullBlock);
  const document::DocumentNode* node = input.document->find(selection.currentNode());
  QVERIFY(node != nullptr && node->own.as<query::Message>() != nullptr);
  QVERIFY(node->own.as<query::Message>()->text.starts_with("Tarek"));
  // The name of a section selects its first token.
  QTest::mouseClick(area->viewport(), Qt::LeftButton, Qt::NoModifier,
                    area->stripLayout().groups[2].head.center() - area->offset());
  QCOMPARE(wanted.size(), 2);
  QCOMPARE(wanted.last().first().value<ui::Selection>().token, std::optional(ui::TokenRef{2, 2, 0}));
}

/// A selected node is revealed, also if the run begins after the selection.
void TestTokenStrip::aSelectedNodeIsRevealed() {
  ui::TokenStripView view;
  view.resize(360, 120);
  ui::ViewInput input = m_recording->input();
  const ui::TokenStrip strip = ui::tokenStrip(input);
  const ui::StripSegment& section = strip.segments[3];
  input.selection.nodes = {section.id};
  const std::size_t end = std::exchange(input.position, 0);
  view.setInput(input);
  view.show();
  auto* area = view.findChild<ui::TokenStripArea*>();
  QVERIFY(ui::tokenStrip(input).tokens.empty());
  const auto isSeen = [&] {
    const std::vector<QRect>& tiles = area->stripLayout().tiles;
    return section.first < tiles.size() &&
           area->viewport()->rect().contains(tiles[section.first].translated(-area->offset()));
  };
  input.position = end;
  view.setInput(input);
  QTRY_VERIFY(isSeen());
  // The user can scroll away.
  area->verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
  view.setInput(input);
  QTest::qWait(50);
  QVERIFY(!isSeen());
}

/// A token that was revealed in a small area is visible after each change of the size.
void TestTokenStrip::aRevealedTokenStaysVisible() {
  ui::TokenStripView view;
  view.resize(160, 40);
  ui::ViewInput input = m_recording->input();
  const std::size_t token = ui::tokenStrip(input).segments[3].first + 4;
  input.selection.token = ui::tokenStrip(input).tokens[token].place;
  view.setInput(input);
  view.show();
  auto* area = view.findChild<ui::TokenStripArea*>();
  const auto isSeen = [&] {
    const std::vector<QRect>& tiles = area->stripLayout().tiles;
    return token < tiles.size() &&
           area->viewport()->rect().contains(tiles[token].translated(-area->offset()));
  };
  for (const QSize size : {QSize(160, 40), QSize(400, 60), QSize(200, 200), QSize(160, 40), QSize(700, 90)}) {
    view.resize(size);
    QTRY_VERIFY2(isSeen(), qPrintable(QStringLiteral("%1 x %2").arg(size.width()).arg(size.height())));
  }
  // The user can scroll away.
  area->verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
  view.resize(300, 60);
  QCoreApplication::processEvents();
  QVERIFY(!isSeen());
}

void TestTokenStrip::aLowStripHasWholeTokens() {
  ui::TokenStripView view;
  view.setInput(m_recording->input());
  view.show();
  auto* area = view.findChild<ui::TokenStripArea*>();
  for (int height = view.minimumSizeHint().height(); height < 140; height += 3) {
    view.resize(400, height);
    QCoreApplication::processEvents();
    const QRect& tile = area->stripLayout().tiles.front();
    const int below = tile.bottom() + ui::kStripServed;
    QVERIFY2(area->offset().y() <= tile.top() && below <= area->offset().y() + area->viewport()->height(),
             qPrintable(QString::number(height)));
  }
}

void TestTokenStrip::theLegendNamesTheMarks() {
  ui::TokenStripView view;
  const std::unique_ptr<QWidget> legend(view.takeTitleControls());
  view.setInput(m_recording->input());
  view.show();
  const auto names = [&](ui::BlockRole role) {
    return legend->accessibleName().contains(ui::Theme::name(role));
  };
  QTRY_VERIFY(legend->accessibleName().size() > 0 && view.strip().request != 0);
  QVERIFY(names(ui::BlockRole::Hit) && names(ui::BlockRole::Relocated) && names(ui::BlockRole::Computed));
  QVERIFY(!names(ui::BlockRole::Evicted) && !names(ui::BlockRole::Free));
  QVERIFY(!says(legend->accessibleName(), "<strip-cropped>"));
  view.setInput(test::twentyDocuments());
  QTRY_VERIFY(says(legend->accessibleName(), "<strip-attention>"));
}

void TestTokenStrip::keysWalk() {
  ui::TokenStripView view;
  view.resize(400, 120);
  ui::ViewInput input = m_recording->input();
  view.setInput(input);
  view.show();
  QObject::connect(&view, &ui::View::selectionWanted, &view, [&](const ui::Selection& selection) {
    input.selection = selection;
    view.setInput(input);
  });
  auto* area = view.findChild<ui::TokenStripArea*>();
  const auto current = [&] { return ui::selectedToken(view.strip(), input.selection); };
  QTest::keyClick(area, Qt::Key_Right);
  QCOMPARE(current(), std::size_t{0});
  QTest::keyClick(area, Qt::Key_Right);
  QCOMPARE(current(), std::size_t{1});
  QTest::keyClick(area, Qt::Key_Right, Qt::ControlModifier);
  QCOMPARE(current(), std::size_t{13});
  QTest::keyClick(area, Qt::Key_Left);
  QCOMPARE(current(), std::size_t{12});
  QTest::keyClick(area, Qt::Key_Down);
  QCOMPARE(area->stripLayout().lineOf(current()), area->stripLayout().lineOf(12) + 1);
  QTest::keyClick(area, Qt::Key_End, Qt::ControlModifier);
  QCOMPARE(current(), view.strip().tokens.size() - 1);
  QVERIFY(area->visibleContent().contains(area->stripLayout().tiles.back()));
  QVERIFY(area->verticalScrollBar()->value() > 0);
  QTest::keyClick(area, Qt::Key_Home, Qt::ControlModifier);
  QCOMPARE(current(), std::size_t{0});
}

void TestTokenStrip::hiddenPartsAreLeftOut() {
  test::TraceMaker maker;
  trace::SegmentInfo hidden = test::TraceMaker::segment(5, 0, "/g/input/cross/0");
  hidden.hidden = true;
  trace::SegmentInfo shown = test::TraceMaker::segment(6, 0, "/g/input/cross/1", 50);
  shown.visibleBegin = 2;
  maker.startRun(1, 1, {hidden, shown});
  const ui::TokenStrip strip = ui::tokenStrip(maker.input());
  QCOMPARE(strip.tokens.size(), std::size_t{4});
  QCOMPARE(strip.tokens.front().text, QStringLiteral("w52"));
  QCOMPARE(strip.segments.size(), std::size_t{1});
  QCOMPARE(strip.tokens.front().place.segment, 1U);
}

/// A request that failed before its prompt was laid out has no tokens, least of all those of an earlier one.
void TestTokenStrip::aFailedRequestHasNoTokensOfAnother() {
  test::TraceMaker maker;
  maker.computedRequest(1, 1, 8, 1);
  QCOMPARE(maker.input().shownRequest(), RequestId{1});
  maker.send(2, 0, trace::RunStarted{"", "spans", 0});
  maker.send(2, 0, trace::PlanMade{{{0, "", 0, 0, {}}}, ""});
  maker.send(2, 2, trace::StepStarted{0, 0});
  // A request that may still get its prompt replaces nothing.
  QCOMPARE(maker.input().shownRequest(), RequestId{1});
  maker.send(2, 2, trace::StepFinished{0, trace::StepOutcome::Failed, ""});
  maker.send(2, 0, trace::RunFinished{trace::RunOutcome::Failed, ""});
  const ui::TokenStrip strip = ui::tokenStrip(maker.input());
  QCOMPARE(strip.request, RequestId{2});
  QVERIFY(strip.tokens.empty() && strip.segments.empty());
}

void TestTokenStrip::csv() {
  ui::TokenStripView view;
  view.setInput(m_recording->input());
  const QStringList lines = view.csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  const ui::TokenStrip strip = ui::tokenStrip(m_recording->input());
  QCOMPARE(static_cast<std::size_t>(lines.size()), strip.tokens.size() + 1);
  QVERIFY(lines.front().startsWith(QStringLiteral("index,segment,name")));
}

SPANSCOPE_TEST(tst_token_strip, TestTokenStrip, QApplication)
#include "tst_token_strip.moc"
