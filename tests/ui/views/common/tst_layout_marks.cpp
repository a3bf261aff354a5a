// SPDX-License-Identifier: GPL-3.0-or-later
// How views show a layout that is not exact: padding, delimiters and cropped tokens, each distinct from the
// others and from the prompt's own tokens; and every result names its layout.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recording.h"
#include "ui/session/run_list.h"
#include "ui/views/block_table/block_table_model.h"
#include "ui/views/common/layout_marks.h"
#include "ui/views/common/marker_tokens.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/compare/compare_model.h"
#include "ui/views/output/output_model.h"
#include "ui/views/tokens/token_strip_area.h"
#include "ui/views/tokens/token_strip_view.h"
#include "ui/views/why/why_view.h"
#include "ui/words/metric_words.h"

#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr char kQuery[] =
    R"({"g":{"model":"m","max_tokens":4,"temperature":0,"input":{"cross":[{"system":"Answer."},)"
    R"({"plus":[{"user":"Mira lives in Lisbon by the sea."},{"assistant":"Tarek plays the cello in Porto."}]},)"
    R"({"user":"Who lives in Lisbon?"}]}}})";

BlockTable blockTableOf(const ViewInput& input) {
  BlockHistory history;
  history.follow(input.trace);
  return blockTable(input, history);
}

std::size_t countOf(const TokenStrip& strip, StripPart part) {
  return static_cast<std::size_t>(
      std::count_if(strip.tokens.begin(), strip.tokens.end(),
                    [part](const StripToken& token) { return token.part == part; }));
}

}  // namespace

class TestLayoutMarks : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Run 1 as it is, run 2 cropped.
  void initTestCase() {
    m_recording = std::make_unique<test::Recording>(256, 4);
    document::Document document = test::Recording::fromJson(kQuery);
    m_recording->run(document);
    document.settings.layout = "cropped";
    m_recording->run(document);
    m_input = m_recording->input();
  }

  /// A delimiter token has the same text in *Why* as in *Tokens*.
  void delimitersHaveOneText() {
    const TokenStrip strip = tokenStrip(m_input);
    const auto marker = std::ranges::find(strip.tokens, StripPart::Marker, &StripToken::part);
    QVERIFY(marker != strip.tokens.end());
    ViewInput input = m_input;
    input.selection.block =
        BlockRef{2, marker->place.segment, marker->place.local / std::max(1, strip.blockSize)};
    BlockHistory history;
    history.follow(input.trace);
    const Why explained = why(input, history);
    const WhyFact* tokens = explained.fact(QStringLiteral("Tokens"));
    QVERIFY(tokens != nullptr);
    QVERIFY2(tokens->value.text.contains(marker->text), qPrintable(tokens->value.text));
    QVERIFY2(!tokens->value.text.contains(QStringLiteral("0x")), qPrintable(tokens->value.text));
  }

  /// A token of one visible byte is written as its character.
  void visibleBytesAreCharacters() {
    QCOMPARE(tokenInLine("<0x2B>"), QStringLiteral("+"));
    QCOMPARE(shownToken("<0x2B>"), QStringLiteral("+"));
    QVERIFY(!isMarker("<0x2B>"));
    QVERIFY(isMarker("<0x0A>") && isMarker("<0xE2>") && isMarker("<0xZZ>"));
  }

  void marksAreThoseOfTheRun() {
    QVERIFY(layoutMarks(m_input, 1).isExact());
    QVERIFY(layoutSummary(layoutMarks(m_input, 1)).isEmpty());
    const LayoutMarks marks = layoutMarks(m_input, 2);
    QCOMPARE(marks.layout, QStringLiteral("cropped"));
    QVERIFY(marks.sums.pads > 0 && marks.sums.cropped > 0);
    QCOMPARE(marks.sums.markers, 3);
    QVERIFY(layoutSummary(marks).contains(metricPhrase("delimiter-tokens", 3)));
    QVERIFY(layoutSummary(marks).contains(metricPhraseOf("cropped-tokens", marks.sums)));
    // Before they were reported, nothing is known of them.
    ViewInput early = m_input;
    early.position = m_input.trace->request(2)->of<trace::LayoutApplied>().front();
    QVERIFY(layoutMarks(early, 2).runs.empty());
  }

  void stripTellsThePartsApart() {
    const TokenStrip strip = tokenStrip(m_input);
    const LayoutMarks marks = layoutMarks(m_input, 2);
    QCOMPARE(strip.layout, QStringLiteral("cropped"));
    QCOMPARE(countOf(strip, StripPart::Pad), static_cast<std::size_t>(marks.sums.pads));
    QCOMPARE(countOf(strip, StripPart::Marker), std::size_t{3});
    QCOMPARE(countOf(strip, StripPart::Cropped), static_cast<std::size_t>(marks.sums.cropped));
    QCOMPARE(strip.prompt - strip.cropped, static_cast<std::size_t>(marks.sums.tokens));
    std::int64_t own = 0;
    for (std::size_t i = 0; i < strip.tokens.size(); ++i) {
      const StripToken& token = strip.tokens[i];
      if (token.part == StripPart::Marker) QVERIFY(token.opensBlock && token.position % 4 == 0);
      const QString tip = tokenTip(m_input, strip, i);
      QCOMPARE(tip.contains(QStringLiteral("Padding: ")), token.part == StripPart::Pad);
      QCOMPARE(tip.contains(QStringLiteral("delimiter: ")), token.part == StripPart::Marker);
      QCOMPARE(tip.contains(QStringLiteral("Cropped: ")), token.part == StripPart::Cropped);
      if (token.part == StripPart::Cropped) {
        QVERIFY(!token.computed && token.block < 0);
      } else {
        // The others have their old places.
        QCOMPARE(token.position, own++);
      }
    }
    // The rest of the answer's end ends a block, and the cropped tokens are after it.
    const auto first = std::find_if(strip.tokens.begin(), strip.tokens.end(),
                                    [](const StripToken& token) { return token.part == StripPart::Cropped; });
    QCOMPARE((first - 1)->position % 4, 3);
    QVERIFY(strip.summary.contains(QStringLiteral("cropped: ")));
    const QString csv = tokenStripCsv(m_input, strip);
    QVERIFY(csv.contains(QStringLiteral(",pad\n")) && csv.contains(QStringLiteral(",marker\n")) &&
            csv.contains(QStringLiteral(",cropped\n")));
  }

  void exactStripsHaveNone() {
    ViewInput input = m_input;
    input.selection.request = 1;
    const TokenStrip strip = tokenStrip(input);
    QCOMPARE(strip.request, RequestId{1});
    QCOMPARE(countOf(strip, StripPart::Own), strip.tokens.size());
    QVERIFY(strip.layout.isEmpty());
  }

  /// Arrows go over what has no place.
  void keysStepOverWhatWasCropped() {
    TokenStripView view;
    view.resize(900, 400);
    ViewInput input = m_input;
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* area = view.findChild<TokenStripArea*>();
    QVERIFY(area != nullptr);
    connect(&view, &View::selectionWanted, this, [&](const Selection& selection) {
      input.selection = selection;
      view.setInput(input);
    });
    const TokenStrip strip = tokenStrip(m_input);
    const auto first = std::find_if(strip.tokens.begin(), strip.tokens.end(),
                                    [](const StripToken& token) { return token.part == StripPart::Cropped; });
    const auto after = std::find_if(first, strip.tokens.end(),
                                    [](const StripToken& token) { return token.part != StripPart::Cropped; });
    input.selection.token = (first - 1)->place;
    input.selection.request = 2;
    view.setInput(input);
    QTest::keyClick(area, Qt::Key_Right);
    QVERIFY(input.selection.token.has_value());
    QVERIFY(*input.selection.token == after->place);
    QTest::keyClick(area, Qt::Key_Left);
    QVERIFY(*input.selection.token == (first - 1)->place);
  }

  void blocksCountThem() {
    const BlockTable table = blockTableOf(m_input);
    QCOMPARE(table.rows.size(), std::size_t{2});
    const LayoutMarks marks = layoutMarks(m_input, 2);
    QCOMPARE(table.rows[1].title, QStringLiteral("Run 2 · cropped"));
    QCOMPARE(table.rows[0].title, QStringLiteral("Run 1"));
    std::int64_t pads = 0;
    std::int64_t markers = 0;
    std::int64_t cropped = 0;
    for (const TableCell& cell : table.rows[0].cells) QVERIFY(cell.pads + cell.markers + cell.cropped == 0);
    for (std::size_t i = 0; i < table.rows[1].cells.size(); ++i) {
      const TableCell& cell = table.rows[1].cells[i];
      pads += cell.pads;
      markers += cell.markers;
      cropped += cell.cropped;
      const QString tip = cellTip(m_input, table, {1, i});
      QCOMPARE(tip.contains(QStringLiteral("The layout added: ")), cell.pads + cell.markers > 0);
      QCOMPARE(tip.contains(metricPhrase("cropped-tokens", static_cast<double>(cell.cropped))),
               cell.cropped > 0);
    }
    QCOMPARE(pads, marks.sums.pads);
    QCOMPARE(markers, marks.sums.markers);
    QCOMPARE(cropped, marks.sums.cropped);
    QVERIFY(blockTableCsv(table)
                .section(QLatin1Char('\n'), 0, 0)
                .endsWith(QStringLiteral("pads,markers,cropped,outside_layers,again")));
  }

  void resultsSayTheirLayout() {
    const std::vector<ListedRun> runs = listRuns(m_input);
    QCOMPARE(runs.size(), std::size_t{2});
    QVERIFY(runs[0].layout() == layout::Layout::Exact);
    QVERIFY(runs[1].layout() == layout::Layout::Cropped);
    QCOMPARE(runs[1].policyText(), QStringLiteral("spans, cropped"));
    QVERIFY(differencesOf(runs[0], runs[1]).contains(QStringLiteral("layout cropped")));
    const OutputModel output = outputModel(m_input);
    const Answer& newest = output.answers.front();
    QCOMPARE(newest.run, RunId{2});
    QVERIFY(exactnessText(newest).contains(worded("<over-padded-cropped>")));
    QVERIFY(!exactnessText(output.answers.back()).contains(worded("<over-padded-cropped>")));
    QVERIFY(outputCsv(output).contains(QStringLiteral(",cropped,")));
    const CompareModel compared = compareModel(m_input, 1, 2);
    QVERIFY(std::any_of(compared.rows.begin(), compared.rows.end(), [](const CompareRow& row) {
      return row.left == QStringLiteral("spans") && row.right == QStringLiteral("spans, cropped");
    }));
  }

 private:
  std::unique_ptr<test::Recording> m_recording;
  ViewInput m_input;
};

SPANSCOPE_TEST(tst_layout_marks, TestLayoutMarks, QApplication)
#include "tst_layout_marks.moc"
