// SPDX-License-Identifier: GPL-3.0-or-later
// The mask of a prompt: what rows see, which of them were computed, and what is said of it.
#include "engine/policy/policies.h"
#include "engine/trace/prompt_parts.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/views/mask/mask_area.h"
#include "ui/views/mask/mask_view.h"

#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <memory>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;

namespace {

/// A run of the example, and a second one with two documents swapped.
ViewInput exampleRuns(const policy::Policy& policy = policy::standardPolicy()) {
  test::RunRecorder recorder;
  const document::Document document = test::exampleDocument("rag.json");
  recorder.run(document, policy);
  recorder.run(test::swapped(document), policy);
  return recorder.recorded().input();
}

const MaskPart& partOf(const MaskModel& model, const QString& name) {
  const auto found = std::find_if(model.parts.begin(), model.parts.end(),
                                  [&name](const MaskPart& part) { return part.name == name; });
  if (found == model.parts.end()) qFatal("no part \"%s\"", qPrintable(name));
  return *found;
}

std::int32_t rowsIn(const MaskModel& model, BlockRole state) {
  std::int32_t rows = 0;
  for (const MaskBand& band : model.bands) rows += band.state == state ? band.rows.count() : 0;
  return rows;
}

const trace::TokensRecomputed* againOf(const ViewInput& input, RequestId request) {
  const trace::TokensRecomputed* again = nullptr;
  for (const trace::Event& event : input.trace->events()) {
    const auto* reported = std::get_if<trace::TokensRecomputed>(&event.payload);
    if (reported != nullptr && event.request == request) again = reported;
  }
  return again;
}

}  // namespace

class TestMask : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    m_input = exampleRuns();
  }

  void partsAndSegmentsCoverTheView() {
    const MaskModel model = maskModel(m_input);
    QVERIFY(model.tokens > model.prompt && model.prompt > 0);
    QCOMPARE(model.texts.size(), static_cast<std::size_t>(model.tokens));
    std::int32_t at = 0;
    for (const MaskPart& part : model.parts) {
      QCOMPARE(part.range.begin, at);
      at = part.range.end;
    }
    QCOMPARE(at, model.tokens);
    at = 0;
    for (const MaskBand& band : model.bands) {
      QCOMPARE(band.rows.begin, at);
      at = band.rows.end;
    }
    QCOMPARE(at, model.tokens);
    QCOMPARE(model.parts.back().name, QStringLiteral("answer"));
    QCOMPARE(model.parts.back().range.begin, model.prompt);
  }

  /// For each pair of tokens the picture says what the engine's rule says, under every policy.
  void cellsFollowTheRule_data() {
    QTest::addColumn<const policy::Policy*>("policy");
    for (const policy::Policy* policy : policy::policies()) QTest::newRow(policy->name) << policy;
  }
  void cellsFollowTheRule() {
    QFETCH(const policy::Policy*, policy);
    const ViewInput input = exampleRuns(*policy);
    const MaskModel model = maskModel(input);
    const trace::RequestState& request = input.state().progress().requests.find(model.request)->second;
    const trace::WhoSees mask(request.segments, againOf(input, model.request));
    std::int64_t seen = 0;
    std::int64_t full = 0;
    for (std::int32_t row = 0; row < model.tokens; ++row) {
      const bool isThere = model.bandAt(row)->state != BlockRole::Free;
      for (std::int32_t column = 0; column < model.tokens; ++column) {
        const TokenRef from = model.placeOf(row);
        const TokenRef to = model.placeOf(column);
        const bool sees = trace::isSeen(mask.sight({from.segment, from.local}, {to.segment, to.local}));
        if (model.sees(row, column) != sees)
          QFAIL(qPrintable(QStringLiteral("row %1, column %2").arg(row).arg(column)));
        if (isThere && sees) ++seen;
        if (isThere && column <= row) ++full;
      }
    }
    QCOMPARE(model.seen, seen);
    QCOMPARE(model.full, full);
    if (policy == policy::findPolicy("prefix")) QCOMPARE(seen, full);
    // Only the last token of the answer was in no forward pass.
    QCOMPARE(model.waiting, 1);
    QCOMPARE(model.computed + model.reused + model.waiting, model.tokens);
  }

  void reusedRowsWereNotComputed() {
    const MaskModel second = maskModel(m_input);
    const trace::RequestState& request = m_input.state().progress().requests.find(second.request)->second;
    QVERIFY(request.relocatedTokens > 0);
    QCOMPARE(second.reused, static_cast<std::int32_t>(request.cachedTokens));
    QCOMPARE(rowsIn(second, BlockRole::Relocated), static_cast<std::int32_t>(request.relocatedTokens));
    ViewInput first = m_input;
    first.selection.request = 1;
    QCOMPARE(maskModel(first).reused, 0);
  }

  /// Back in time rows are not there yet; they come in the order in which passes compute them.
  void rowsGrowWithTheTrace() {
    std::int32_t before = 0;
    std::int32_t steps = 0;
    bool sawNone = false;
    ViewInput input = m_input;
    input.selection.request = 1;
    const std::size_t end = input.trace->endOf(1);
    for (input.position = 0; input.position <= end; ++input.position) {
      const MaskModel model = maskModel(input);
      if (model.request != 1) continue;
      sawNone = sawNone || model.computed == 0;
      QVERIFY(model.computed >= before);
      if (model.computed > before) ++steps;
      before = model.computed;
    }
    QVERIFY(sawNone);
    QVERIFY2(steps > 3, "a prompt, then a row for each token");
  }

  void wordsSayWhoAndWhy_data() {
    QTest::addColumn<QString>("rowPart");
    QTest::addColumn<int>("row");
    QTest::addColumn<QString>("columnPart");
    QTest::addColumn<QString>("says");
    const auto part = [](const char* name) { return worded(name); };
    QTest::newRow("beside") << part("document 1") << 2 << part("document 2") << part("<both-children-plus>");
    QTest::newRow("before") << part("document 1") << 2 << part("system") << part("<stands-before-part>");
    QTest::newRow("seen") << part("question") << 1 << part("document 1") << part(" attends to token 0");
    QTest::newRow("later") << part("system") << 0 << part("question") << part("it comes later");
  }
  void wordsSayWhoAndWhy() {
    QFETCH(QString, rowPart);
    QFETCH(int, row);
    QFETCH(QString, columnPart);
    QFETCH(QString, says);
    const MaskModel model = maskModel(m_input);
    const std::int32_t at = partOf(model, rowPart).range.begin + row;
    const std::int32_t key = partOf(model, columnPart).range.begin;
    const QString text = cellText(m_input, model, {at, at + 1}, {key, key + 1});
    QVERIFY2(text.contains(says), qPrintable(text));
    QVERIFY2(text.startsWith(QStringLiteral("Token %1, “").arg(row)), qPrintable(text));
    QVERIFY2(text.contains(rowPart) && text.contains(columnPart), qPrintable(text));
  }

  void aRowInWords() {
    const MaskModel model = maskModel(m_input);
    const MaskRange document = partOf(model, QStringLiteral("document 1")).range;
    const QString text = rowText(m_input, model, {document.begin + 2, document.begin + 3});
    QVERIFY2(text.contains(QStringLiteral("attends to 3 tokens: document 1")), qPrintable(text));
    QVERIFY2(says(text, "to document 2: <both-children-plus>"), qPrintable(text));
    QVERIFY2(text.contains(worded("<not-computed-moved>")), qPrintable(text));
    const QString question = rowText(m_input, model, {model.prompt - 1, model.prompt});
    QVERIFY2(says(question, QStringLiteral("<row-attends|…|%1|…>").arg(model.prompt)), qPrintable(question));
    QVERIFY2(question.contains(worded("<computed-run>")), qPrintable(question));
  }

  /// If no event reports passes, the tokens of the answer do.
  void withoutPasses() {
    const MaskModel model = maskModel(test::twentyDocuments());
    QCOMPARE(model.waiting, 1);
    QCOMPARE(model.computed, model.tokens - 1);
    QCOMPARE(model.parts.size(), test::kTwentyDocuments + 3);
  }

  void windowsAreSaid() {
    const MaskModel model = maskModel(test::twentyDocuments({.windows = {400, 0, 40, 400}}));
    QCOMPARE(model.notes.size(), std::size_t{1});
    QVERIFY(model.notes.front().contains(QStringLiteral("3 of 4 layers")));
    QVERIFY(maskModel(test::twentyDocuments()).notes.empty());
  }

  void aSparseAnswerIsSaid() {
    const MaskModel model = maskModel(exampleRuns(*policy::findPolicy("sparse")));
    QCOMPARE(model.notes.size(), std::size_t{1});
    QVERIFY(model.notes.front().contains(QStringLiteral("sparse")));
  }

  void csvHasALineForEachRow() {
    MaskView view;
    view.setInput(m_input);
    const QStringList lines = view.csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    const MaskModel model = maskModel(m_input);
    QCOMPARE(lines.size(), model.tokens + 1);
    QVERIFY(lines[1].startsWith(QStringLiteral("0,system,")));
    const std::int32_t document = partOf(model, QStringLiteral("document 1")).range.begin;
    QVERIFY2(lines[document + 1].contains(
                 QStringLiteral("relocated hit,1,%1,%2-%2,").arg(document + 1).arg(document)),
             qPrintable(lines[document + 1]));
  }

  void keysWalkAndSelect() {
    MaskView view;
    view.resize(700, 560);
    ViewInput input = m_input;
    input.selection = {};
    input.selection.request = maskModel(m_input).request;
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto follow = [&](const Selection& selection) {
      input.selection = selection;
      view.setInput(input);
    };
    connect(&view, &View::selectionWanted, &view, follow);
    auto* area = view.findChild<MaskArea*>();
    QVERIFY(!area->maskLayout().isByBlock());
    const MaskModel& model = view.mask();
    QTest::keyClick(area, Qt::Key_Up);
    QCOMPARE(input.selection.token->local, model.placeOf(model.tokens - 1).local);
    QTest::keyClick(area, Qt::Key_Up);
    QCOMPARE(selectedRows(model, input.selection)->begin, model.tokens - 2);
    QTest::keyClick(area, Qt::Key_PageUp);
    QCOMPARE(selectedRows(model, input.selection)->begin, model.prompt);
    QVERIFY(view.sentence().contains(QStringLiteral("answer")));
    QTest::keyClick(area, Qt::Key_Home);
    QVERIFY2(view.sentence().contains(QStringLiteral(" attends to token 0, ")), qPrintable(view.sentence()));
    QCOMPARE(area->accessibleDescription(), view.sentence());
    QTest::keyClick(area, Qt::Key_Right);
    QVERIFY2(view.sentence().contains(QStringLiteral(" attends to token 1, ")), qPrintable(view.sentence()));
  }

  /// A lesson that speaks of a token frames what it sees; a click there is one on it.
  void aTokenHasItsRow() {
    MaskView view;
    view.resize(700, 560);
    view.setInput(m_input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const MaskModel& model = view.mask();
    const std::int32_t row = partOf(model, QStringLiteral("question")).range.begin;
    Selection part;
    part.request = model.request;
    part.token = model.placeOf(row);
    const std::vector<QRect> places = view.placesOf(part);
    QCOMPARE(places.size(), std::size_t{1});
    QSignalSpy wanted(&view, &View::selectionWanted);
    QTest::mouseClick(const_cast<QWidget*>(&view.placesIn()), Qt::LeftButton, Qt::NoModifier,
                      places.front().center());
    QVERIFY(!wanted.isEmpty());
    QCOMPARE(selectedRows(model, wanted.last()[0].value<Selection>())->begin, row);
    QVERIFY(view.placesOf({}).empty());
  }

  void aClickSelectsRowAndColumn() {
    MaskView view;
    view.resize(700, 560);
    ViewInput input = m_input;
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QSignalSpy wanted(&view, &View::selectionWanted);
    auto* area = view.findChild<MaskArea*>();
    const MaskModel& model = view.mask();
    const std::int32_t row = partOf(model, QStringLiteral("question")).range.begin;
    const std::int32_t column = partOf(model, QStringLiteral("document 2")).range.begin;
    const MaskLayout& layout = area->maskLayout();
    QTest::mouseClick(
        area->viewport(), Qt::LeftButton, {},
        QPoint(int(layout.x(column) + layout.across / 2), int(layout.y(row) + layout.down / 2)));
    QCOMPARE(wanted.size(), 1);
    const auto selection = wanted.front().front().value<Selection>();
    QCOMPARE(selectedRows(model, selection)->begin, row);
    input.selection = selection;
    view.setInput(input);
    QVERIFY2(view.sentence().contains(QStringLiteral("document 2")), qPrintable(view.sentence()));
  }

  /// Tokens that are too small to distinguish are pointed at by block; zooming in shows them one by one.
  void blocksThenTokens() {
    MaskView view;
    view.resize(460, 420);
    view.setInput(test::twentyDocuments());
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* area = view.findChild<MaskArea*>();
    QVERIFY(area->maskLayout().isByBlock());
    QCOMPARE(area->stretchAt(20), (MaskRange{13, 29}));
    QVERIFY(area->contentSize().width() <= area->viewport()->width());
    for (int i = 0; i < 8 && !area->maskLayout().hasTexts(); ++i) QTest::keyClick(area, Qt::Key_Plus);
    QVERIFY(area->maskLayout().hasTexts());
    QCOMPARE(area->stretchAt(20), (MaskRange{20, 21}));
    QTest::keyClick(area, Qt::Key_0);
    QVERIFY(area->maskLayout().isByBlock());
  }

  /// Rows that were revealed stay visible when the size changes, until the user scrolls.
  void revealedRowsStayVisible() {
    MaskView view;
    view.resize(460, 420);
    view.setInput(test::twentyDocuments());
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* area = view.findChild<MaskArea*>();
    for (int i = 0; i < 8 && !area->maskLayout().hasTexts(); ++i) QTest::keyClick(area, Qt::Key_Plus);
    Selection part;
    part.request = view.mask().request;
    part.token = view.mask().placeOf(view.mask().prompt - 1);
    const auto isVisible = [&] {
      const QRect row = view.placesOf(part).front();
      return area->viewport()->rect().contains(QPoint(row.right() - 2, row.center().y()));
    };
    QVERIFY(!isVisible());
    view.bringIntoSight(part);
    QVERIFY(isVisible());
    view.resize(300, 300);
    QTRY_VERIFY(isVisible());
    area->verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
    view.resize(400, 350);
    QTRY_COMPARE(view.size(), QSize(400, 350));
    QVERIFY(!isVisible());
  }

  /// In a low dock the mask has most of the room; what is said of it is a tip.
  void aLowDockShowsTheMask() {
    MaskView view;
    view.resize(384, 200);
    view.setInput(test::twentyDocuments());
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto* area = view.findChild<MaskArea*>();
    const auto* words = view.findChild<QLabel*>();
    QTRY_VERIFY(area->isVisible());
    QVERIFY2(area->height() >= 110, qPrintable(QString::number(area->height())));
    QCOMPARE(words->toolTip(), view.sentence());
    view.resize(384, 500);
    QTRY_COMPARE(words->text(), view.sentence());
  }

  void aFullPrefillIsAnotherPicture() {
    MaskView view;
    view.setInput(m_input);
    const QSize size(500, 440);
    const auto picture = [&] {
      QImage image(size, QImage::Format_ARGB32_Premultiplied);
      QPainter painter(&image);
      view.paintTo(painter, size);
      return image;
    };
    const QImage own = picture();
    view.setShown(MaskShown::FullPrefill);
    const QImage full = picture();
    QVERIFY(full != own);
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (!folder.isEmpty()) QVERIFY(full.save(folder + QStringLiteral("/mask-full-prefill.png")));
    view.setShown(MaskShown::ThisRun);
    QCOMPARE(picture(), own);
  }

  /// Thousands of tokens: prints the times of a refresh and of a frame for the developer.
  void thousandsOfTokens() {
    const ViewInput input = test::twentyDocuments();
    MaskView view;
    view.resize(760, 520);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QElapsedTimer timer;
    timer.start();
    const MaskModel model = maskModel(input);
    const double model_ms = double(timer.nsecsElapsed()) / 1e6;
    auto* area = view.findChild<MaskArea*>();
    const auto frame = [&] {
      QImage image(area->viewport()->size(), QImage::Format_ARGB32_Premultiplied);
      timer.restart();
      QPainter painter(&image);
      area->paintContent(painter, area->visibleContent());
      painter.end();
      return double(timer.nsecsElapsed()) / 1e6;
    };
    const double fitted = frame();
    for (int i = 0; i < 8 && !area->maskLayout().hasTexts(); ++i) QTest::keyClick(area, Qt::Key_Plus);
    const double tokens = frame();
    qInfo("%d tokens: model %.2f ms, frame %.2f ms, of single tokens %.2f ms", model.tokens, model_ms, fitted,
          tokens);
    QVERIFY(model.tokens > 3500);
  }

 private:
  ViewInput m_input;
};

SPANSCOPE_TEST(tst_mask, TestMask, QApplication)
#include "tst_mask.moc"
