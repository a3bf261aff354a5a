// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of the answer: shares by document, the separate shares, and their texts.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/traced_requests.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/session/answer_shares.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/attention/share_bars.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/tokens/token_strip_model.h"
#include "ui/words/part_text.h"

#include <QChar>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

ViewInput selecting(ViewInput input, const TokenRef& token) {
  input.selection.token = token;
  input.selection.block = {{.request = token.request, .segment = token.segment, .virtualIndex = 0}};
  input.selection.request = token.request;
  return input;
}

/// The local token of a token of the answer.
TokenRef answerToken(std::int32_t index) {
  return {.request = 1, .segment = test::kTwentyDocuments + 1, .local = 12 + index};
}

double sumOf(const ShareModel& model) {
  return std::accumulate(model.bars.begin(), model.bars.end(), 0.0,
                         [](double sum, const ShareBar& bar) { return sum + bar.share; });
}

}  // namespace

class TestAttentionShares : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void partsKeepTwoFigures_data() {
    QTest::addColumn<double>("part");
    QTest::addColumn<QString>("percent");
    QTest::addColumn<QString>("mass");
    const auto row = [](const char* name, double part, const char* percent, const char* mass) {
      QTest::newRow(name) << part << QString::fromUtf8(percent) + QStringLiteral("\u00A0%")
                          << QString::fromUtf8(mass);
    };
    row("none", 0, "0", "0");
    row("hardly any", 0.00001, "<0.1", "<0.0001");
    row("little", 0.0012, "0.12", "0.0012");
    row("rounds up to the next decade", 0.00996, "1.0", "0.010");
    row("a few", 0.031, "3.1", "0.031");
    row("a third", 0.3333, "33", "0.33");
    row("nearly all", 0.9991, ">99", ">0.99");
    row("all, as floats add up", 0.9999999, "100", "1");
  }
  void partsKeepTwoFigures() {
    QFETCH(double, part);
    QFETCH(QString, percent);
    QFETCH(QString, mass);
    QCOMPARE(partText(part), percent);
    QCOMPARE(massText(part), mass);
  }

  void familiesOfNamesAreShortenedAlike() {
    const QFontMetrics metrics(Theme().smallFont());
    std::vector<NameRoom> names;
    for (int i = 1; i <= 20; ++i)
      names.push_back({QStringLiteral("document %1").arg(i),
                       metrics.horizontalAdvance(QStringLiteral("document 20")) + 1.0});
    names.push_back({QStringLiteral("question"), 200});
    QCOMPARE(shortNames(names, metrics)[4], QStringLiteral("document 5"));

    // One that has less room takes the others with it, and each keeps its number.
    names[2].room = metrics.horizontalAdvance(QStringLiteral("doc…3")) + 1.0;
    std::vector<QString> texts = shortNames(names, metrics);
    for (int i = 0; i < 20; ++i) {
      QVERIFY2(texts[static_cast<std::size_t>(i)].contains(QChar(0x2026)),
               qPrintable(texts[static_cast<std::size_t>(i)]));
      QVERIFY2(texts[static_cast<std::size_t>(i)].endsWith(QString::number(i + 1)),
               qPrintable(texts[static_cast<std::size_t>(i)]));
    }
    QCOMPARE(texts[20], QStringLiteral("question"));

    names[2].room = metrics.horizontalAdvance(QStringLiteral("20")) + 1.0;
    texts = shortNames(names, metrics);
    for (int i = 0; i < 20; ++i) QCOMPARE(texts[static_cast<std::size_t>(i)], QString::number(i + 1));
    // Of a longer name at least three letters are shown, or nothing.
    const double three = metrics.horizontalAdvance(QStringLiteral("que"));
    QCOMPARE(shortName(QStringLiteral("question"), three, metrics), QStringLiteral("que"));
    QCOMPARE(shortName(QStringLiteral("question"), three - 1, metrics), QString());
    QCOMPARE(shortName(QStringLiteral("document 3"), 1, metrics), QString());
  }

  /// Names of files on one axis are cut in one way.
  void filesAreShortenedAlike() {
    const QFontMetrics metrics(Theme().smallFont());
    const QStringList files{QStringLiteral("01-notes.txt"), QStringLiteral("02-a-longer-name.txt"),
                            QStringLiteral("03-plan.md")};
    const auto shortened = [&](const QString& room) {
      std::vector<NameRoom> names;
      for (const QString& file : files) names.push_back({file, metrics.horizontalAdvance(room) + 1.0});
      const std::vector<QString> texts = shortNames(names, metrics);
      return QStringList(texts.begin(), texts.end());
    };
    QCOMPARE(shortened(QStringLiteral("02-a-longer-name.txt")), files);
    for (const QString& text : shortened(QStringLiteral("02-a-longer-name")))
      QVERIFY2(!text.contains(QLatin1Char('.')), qPrintable(text));
    const QStringList cut = shortened(QStringLiteral("02-aaa…"));
    for (qsizetype i = 0; i < cut.size(); ++i)
      QVERIFY2(cut[i].startsWith(files[i].left(3)) && cut[i].size() <= 9, qPrintable(cut[i]));
    QCOMPARE(shortened(QStringLiteral("02")),
             (QStringList{QStringLiteral("01"), QStringLiteral("02"), QStringLiteral("03")}));
  }

  void documentsThatWereReadStandOut() {
    const ShareModel model = shareModel(test::twentyDocuments());
    QCOMPARE(model.bars.size(), test::kTwentyDocuments);
    QCOMPARE(model.tokens, static_cast<std::size_t>(test::kTwentyAnswerTokens));
    QCOMPARE(model.bars[0].name, QStringLiteral("document 1"));
    std::vector<std::uint32_t> tops;
    for (const ShareBar& bar : model.bars) {
      if (bar.isTop) tops.push_back(bar.part);
    }
    QCOMPARE(tops, (std::vector<std::uint32_t>{test::kFirstNeeded, test::kSecondNeeded}));
    QVERIFY(std::abs(sumOf(model) - 1) < 1e-9);
    QVERIFY2(shareSentence(model).startsWith(worded("<answer-attended-to|document 7>")),
             qPrintable(shareSentence(model)));
    // The figures say that they are not those of the map, which has plain attention.
    QVERIFY(model.ofSquares);
    QVERIFY2(spanscope::product_text::says(shareNote(model), "<shares-are-squared>"),
             qPrintable(shareNote(model)));
    QVERIFY(shareTip(model, 6).contains(QStringLiteral("of all attention")));
    const ShareModel mixed = shareModel(test::twentyDocuments(), {.own = true});
    QVERIFY(!mixed.ofSquares);
    QVERIFY(!shareNote(mixed).contains(QStringLiteral("squares")));
    QVERIFY(model.sink.has_value());
    QVERIFY(std::abs(model.sources + model.rest + *model.sink - 1) < 1e-5);
  }

  void ownSegmentAndSinksStandApart() {
    const ViewInput input = test::twentyDocuments();
    const ShareModel own = shareModel(input, {.own = true});
    QCOMPARE(own.bars.size(), test::kTwentyDocuments + 2);
    QCOMPARE(own.bars.front().kind, ShareKind::Context);
    QCOMPARE(own.bars.back().kind, ShareKind::Own);
    QVERIFY(std::abs(sumOf(own) - 1) < 1e-9);
    const ShareModel all = shareModel(input, {.own = true, .sink = true});
    QCOMPARE(all.bars.back().kind, ShareKind::Sink);
    QVERIFY(std::abs(all.bars.back().share - *all.sink) < 1e-4);
    // What was recorded by token only does not know them.
    const ShareModel means = shareModel(test::twentyDocuments({.bySegment = false}), {.sink = true});
    QVERIFY(!means.sink);
    QCOMPARE(means.bars.size(), test::kTwentyDocuments);
  }

  void aTokenOfTheAnswerHasSharesOfItsOwn() {
    const ViewInput input = test::twentyDocuments();
    const ShareModel early = shareModel(selecting(input, answerToken(3)));
    QCOMPARE(early.token, std::optional<QString>(QStringLiteral("word4")));
    const ShareModel late = shareModel(selecting(input, answerToken(20)));
    const auto most = [](const ShareModel& model) {
      return std::max_element(model.bars.begin(), model.bars.end(),
                              [](const ShareBar& a, const ShareBar& b) { return a.share < b.share; })
          ->part;
    };
    QCOMPARE(most(early), test::kFirstNeeded);
    QCOMPARE(most(late), test::kSecondNeeded);
  }

  /// What was computed again of a document's beginning is a segment of its own, and part of the document.
  void linkedBeginningsBelongToTheirDocuments() {
    test::TraceMaker maker(16, 512);
    std::vector<trace::SegmentInfo> table{test::TraceMaker::segment(10, 0, "/g/input/cross/0/plus/0"),
                                          test::TraceMaker::segment(4, 10, "/g/input/cross/0/plus/1"),
                                          test::TraceMaker::segment(12, 10, "/g/input/cross/0/plus/1"),
                                          test::TraceMaker::segment(6, 22, "/g/input/cross/1")};
    table[0].independent = table[2].independent = true;
    for (const std::size_t i : {0U, 1U, 2U}) table[i].depth = 1;
    table[0].scope = 1;
    table[1].scope = table[2].scope = 2;
    table[1].sees = {0};
    table[2].visibleBegin = 4;
    table[3].sees = {0, 1, 2};
    maker.startRun(1, 1, table);
    trace::TokenGenerated token;
    token.segmentMass = {0.3F, 0.1F, 0.2F, 0.4F};
    maker.send(1, 1, token);
    maker.finish(1, 1);
    const ShareModel model = shareModel(maker.input());
    QCOMPARE(model.bars.size(), std::size_t{2});
    QVERIFY2(!model.bars[1].name.contains(QStringLiteral("linked")), qPrintable(model.bars[1].name));
    QVERIFY(std::abs(model.bars[1].share - 0.5) < 1e-6);
    QVERIFY(std::abs(model.bars[1].mass - 0.3) < 1e-6);
    QVERIFY(std::abs(sumOf(model) - 1) < 1e-9);
  }

  /// Attention to answers that were written beside it is shown, though no segment of the prompt has it.
  void answersWrittenBesideItAreTold() {
    test::TraceMaker maker(16, 512);
    std::vector<trace::SegmentInfo> table{test::TraceMaker::segment(10, 0, "/g/input/cross/0/plus/0"),
                                          test::TraceMaker::segment(6, 10, "/g/input/cross/1")};
    table[0].independent = true;
    table[0].depth = table[0].scope = 1;
    table[1].sees = {0};
    maker.startRun(1, 1, table);
    for (const std::int32_t index : {0, 1}) {
      trace::TokenGenerated token;
      token.index = index;
      token.segmentMass = {0.3F, index == 0 ? 0.7F : 0.2F};
      if (index == 1) maker.send(1, 1, trace::TeammateAttention{1, {1, 1}, {0.3F, 0.2F}});
      maker.send(1, 1, token);
    }
    maker.finish(1, 1);
    const ShareModel model = shareModel(maker.input());
    QVERIFY(std::abs(model.beside - 0.25) < 1e-6);
    QVERIFY2(shareNote(model).contains(QStringLiteral("other answers 25")), qPrintable(shareNote(model)));
    QVERIFY(shareCsv(model).contains(worded("<answers-of-team>")));
    QVERIFY(!shareNote(shareModel(test::twentyDocuments())).contains(QStringLiteral("beside")));
  }

  void sharesOfTheMomentAreThoseOfTheTokensSoFar() {
    ViewInput input = test::twentyDocuments();
    const std::shared_ptr<const AnswerShares> whole = answerShares(input, 1);
    QCOMPARE(whole->tokens.size(), static_cast<std::size_t>(test::kTwentyAnswerTokens));
    ViewInput earlier = input;
    earlier.position = whole->tokens[9].event + 1;
    const std::shared_ptr<const AnswerShares> part = answerShares(earlier, 1);
    QCOMPARE(part->tokens.size(), std::size_t{10});
    // Asked for again, and from there on: the same as if it had never been asked before.
    QVERIFY(*answerShares(input, 1) == *whole);
    const ViewInput fresh = test::twentyDocuments();
    QVERIFY(answerShares(fresh, 1)->shares == whole->shares);
    QVERIFY(answerShares(fresh, 77)->isEmpty());
  }

  void selectedDocumentsAreFoundInTheAnswer() {
    ViewInput input = test::twentyDocuments();
    const TokenStrip none = tokenStrip(input);
    QVERIFY(!none.lookedAt);
    QVERIFY(none.tokens.back().looked > 0);  // on all documents
    const document::NodeId node = input.nodeOf(1, "/g/input/cross/1/plus/12");
    QVERIFY(node != document::kNoNode);
    input.selection.nodes = {node};
    const TokenStrip strip = tokenStrip(input);
    QVERIFY(strip.lookedAt);
    QCOMPARE(strip.segments[*strip.lookedAt].part, test::kSecondNeeded);
    QVERIFY(strip.tokens[strip.prompt + 20].looked > 3 * strip.tokens[strip.prompt + 2].looked);
    const QString tip = tokenTip(input, strip, strip.prompt + 20);
    QVERIFY2(tip.contains(QStringLiteral("document 13")), qPrintable(tip));
    QVERIFY(tokenStripCsv(input, strip)
                .section(QLatin1Char('\n'), 0, 0)
                .contains(QStringLiteral("looked at selected,computed again")));
  }

  void aClickOnABarSelectsItsDocument() {
    AttentionView view;
    view.resize(520, 400);
    view.setInput(test::twentyDocuments());
    view.show();
    std::vector<Selection> wanted;
    connect(&view, &View::selectionWanted, &view,
            [&](const Selection& selection) { wanted.push_back(selection); });
    ShareBars& bars = view.bars();
    QVERIFY(bars.isVisible());
    QTest::mouseClick(bars.viewport(), Qt::LeftButton, {}, bars.barRect(6, bars.rect()).center());
    QCOMPARE(wanted.size(), std::size_t{1});
    const ViewInput input = test::twentyDocuments();
    QCOMPARE(wanted[0].currentNode(), input.nodeOf(1, "/g/input/cross/1/plus/6"));
    QCOMPARE(wanted[0].block->segment, test::kFirstNeeded);
    bars.setFocus();
    QTest::keyClick(&bars, Qt::Key_Right);
    QTest::keyClick(&bars, Qt::Key_Return);
    QCOMPARE(wanted.back().block->segment, test::kFirstNeeded + 1);
  }

  void everyBarHasItsNameAtAnyWidth() {
    ShareBars bars;
    bars.setContent(shareModel(test::twentyDocuments()), Theme());
    for (const int width : {260, 400, 700, 1800}) {
      const std::vector<QString> labels = bars.labels(width);
      QCOMPARE(labels.size(), test::kTwentyDocuments);
      for (std::size_t i = 0; i < labels.size(); ++i)
        QVERIFY2(labels[i].endsWith(QString::number(i + 1)),
                 qPrintable(QStringLiteral("%1 at %2").arg(labels[i]).arg(width)));
    }
  }

  /// Hundreds of bars have no room for all names. Those that are there are apart, and the largest has one.
  void namesOfHundredsAreApart() {
    ShareModel model = shareModel(test::twentyDocuments());
    const ShareBar one = model.bars.front();
    model.bars.clear();
    for (int i = 1; i <= 300; ++i) {
      ShareBar bar = one;
      bar.name = QStringLiteral("document %1").arg(i);
      bar.isTop = i == 151;
      bar.share = bar.isTop ? 0.4 : 0.002;
      model.bars.push_back(bar);
    }
    ShareBars bars;
    bars.setContent(model, Theme());
    for (const int width : {330, 900}) {
      const std::vector<QString> labels = bars.labels(width);
      QCOMPARE(labels.size(), std::size_t{300});
      QVERIFY(labels[150].endsWith(QStringLiteral("151")));
      int before = -100;
      int shown = 0;
      for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i].isEmpty()) continue;
        const int center = bars.barRect(i, {0, 0, width, 100}).center().x();
        QVERIFY2(center - before >= 10, qPrintable(labels[i]));
        before = center;
        ++shown;
      }
      QVERIFY(shown >= width / 40);
    }
  }

  /// A value beside a higher bar is at its side and not in it.
  void valuesStandInNoBar() {
    ShareModel model = shareModel(test::twentyDocuments());
    for (ShareBar& bar : model.bars) {
      bar.share = 0.01;
      bar.isTop = false;
    }
    const std::size_t last = model.bars.size() - 1;
    for (const auto& [bar, share] :
         {std::pair{last, 0.43}, std::pair{last - 1, 0.099}, std::pair{last - 5, 0.1}}) {
      model.bars[bar].share = share;
      model.bars[bar].isTop = true;
    }
    ShareBars bars;
    bars.setContent(model, Theme());
    for (const int width : {260, 330, 400, 480, 700, 1800}) {
      const QRect area(0, 0, width, bars.heightForWidth(width));
      const std::vector<ShareBars::Value> values = bars.values(area);
      std::size_t tops = 0;
      for (const ShareBars::Value& value : values) {
        tops += model.bars[value.bar].isTop ? 1 : 0;
        for (std::size_t bar = 0; bar < model.bars.size(); ++bar)
          QVERIFY2(!bars.filledRect(bar, area).intersects(value.place),
                   qPrintable(QStringLiteral("%1 over bar %2 at %3").arg(value.text).arg(bar).arg(width)));
      }
      if (width >= 330) QCOMPARE(tops, std::size_t{3});
    }
  }

  void sharesAreExported() {
    AttentionView view;
    view.setInput(test::twentyDocuments());
    const QString first = view.csv().section(QLatin1Char('\n'), 1, 1);
    QVERIFY2(first.startsWith(QStringLiteral("answer,,,document 1,,,share,")), qPrintable(first));
    QCOMPARE(first.count(QLatin1Char(',')),
             view.csv().section(QLatin1Char('\n'), 0, 0).count(QLatin1Char(',')));
  }
};

SPANSCOPE_TEST(tst_attention_shares, TestAttentionShares, QApplication)

#include "tst_attention_shares.moc"
