// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of the answer: shares by document, the separate shares, and their texts.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/traced_requests.h"
#include "tests/ui/views/common/twenty_documents.h"
#include "ui/session/answer_shares.h"
#include "ui/views/attention/attention_view.h"
#include "ui/views/attention/share_bar.h"
#include "ui/views/attention/source_words.h"
#include "ui/views/common/answer_tokens.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/tokens/token_strip_area.h"
#include "ui/views/tokens/token_strip_model.h"
#include "ui/words/part_text.h"

#include <QChar>
#include <QImage>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
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
  return std::accumulate(model.pieces.begin(), model.pieces.end(), 0.0,
                         [](double sum, const SharePiece& piece) { return sum + piece.mass; });
}

std::vector<SharePiece> sourcesOf(const ShareModel& model) {
  std::vector<SharePiece> sources;
  std::copy_if(model.pieces.begin(), model.pieces.end(), std::back_inserter(sources),
               [](const SharePiece& piece) { return piece.kind == ShareKind::Source; });
  return sources;
}

const SharePiece* pieceOf(const ShareModel& model, ShareKind kind) {
  const auto found = std::find_if(model.pieces.begin(), model.pieces.end(),
                                  [kind](const SharePiece& piece) { return piece.kind == kind; });
  return found == model.pieces.end() ? nullptr : &*found;
}

/// An answer whose row attends to a document, to the question before it and to its own tokens, key by key.
ViewInput twoTokens(std::vector<float> keysOfFirst, std::vector<float> keysOfSecond) {
  test::TraceMaker maker(16, 512);
  std::vector<trace::SegmentInfo> table{test::TraceMaker::segment(4, 0, "/g/input/cross/0/plus/0"),
                                        test::TraceMaker::segment(3, 4, "/g/input/cross/1")};
  table[0].independent = true;
  table[0].depth = table[0].scope = 1;
  table[1].sees = {0};
  maker.startRun(1, 1, table);
  for (const std::int32_t index : {0, 1}) {
    const std::vector<float>& keys = index == 0 ? keysOfFirst : keysOfSecond;
    trace::AttentionMass mass;
    mass.layer = -1;
    mass.segment = 1;
    mass.row = 2 + index;
    mass.rows = mass.keySpan = mass.heads = 1;
    mass.keySegments = {0, 1};
    mass.keyBlocks = {4, static_cast<std::int32_t>(keys.size()) - 4};
    mass.mass = keys;
    trace::TokenGenerated token;
    token.index = index;
    token.shown = " w";
    const float document = std::accumulate(keys.begin(), keys.begin() + 4, 0.0F);
    token.segmentMass = {document, 1 - document};
    maker.send(1, 1, mass);
    maker.send(1, 1, token);
  }
  maker.finish(1, 1);
  return maker.input();
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

    // A name with less room shortens the others, too, and each keeps its number.
    const auto textsAt = [&](const QString& room) {
      names[2].room = metrics.horizontalAdvance(room) + 1.0;
      return shortNames(names, metrics);
    };
    std::vector<QString> texts = textsAt(QStringLiteral("docum…3"));
    for (std::size_t i = 0; i < 20; ++i) QCOMPARE(texts[i], QStringLiteral("doc %1").arg(i + 1));
    QCOMPARE(texts[20], QStringLiteral("question"));
    texts = textsAt(QStringLiteral("20"));
    for (std::size_t i = 0; i < 20; ++i) QCOMPARE(texts[i], QString::number(i + 1));
    QCOMPARE(shortName(QStringLiteral("document 3"), 1, metrics), QString());
  }

  void partsOfWordsAreNoNames() {
    const QFontMetrics metrics(Theme().smallFont());
    const auto shortened = [&](const char* name, const char* room) {
      return shortName(QString::fromUtf8(name), metrics.horizontalAdvance(QString::fromUtf8(room)), metrics);
    };
    QCOMPARE(shortened("question", "que"), QString());
    QCOMPARE(shortened("assistant", "assis"), QString());
    QCOMPARE(shortened("question", "question"), QStringLiteral("question"));
    const QString cut = shortened("a handbook for customers", "a handbook for");
    QVERIFY2(cut.indexOf(QChar(0x2026)) >= 4, qPrintable(cut));
    // Other words keep at least four letters before their number.
    QCOMPARE(shortened("passage 12", "pass…12"), QStringLiteral("pass…12"));
    QCOMPARE(shortened("passage 12", "pas…12"), QStringLiteral("12"));
  }

  /// Numbers of several families would be ambiguous.
  void onlyOneFamilyIsShownByItsNumbers() {
    const QFontMetrics metrics(Theme().smallFont());
    const double room = metrics.horizontalAdvance(QStringLiteral("10"));
    std::vector<NameRoom> names{{QStringLiteral("document 1"), room}, {QStringLiteral("document 2"), room}};
    QCOMPARE(shortNames(names, metrics), (std::vector<QString>{QStringLiteral("1"), QStringLiteral("2")}));
    names.push_back({QStringLiteral("answer 1"), room});
    QCOMPARE(shortNames(names, metrics), std::vector<QString>(3));
    names.back().room = metrics.horizontalAdvance(QStringLiteral("answer 1"));
    QCOMPARE(shortNames(names, metrics),
             (std::vector<QString>{QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("answer 1")}));
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
    const std::vector<SharePiece> sources = sourcesOf(model);
    QCOMPARE(sources.size(), test::kTwentyDocuments);
    QCOMPARE(sources[0].name, QStringLiteral("document 1"));
    std::vector<std::uint32_t> tops;
    double shares = 0;
    for (const SharePiece& piece : sources) {
      shares += piece.share;
      if (piece.isTop) tops.push_back(piece.part);
    }
    QVERIFY(std::abs(shares - 1) < 1e-9);
    QCOMPARE(tops, (std::vector<std::uint32_t>{test::kFirstNeeded, test::kSecondNeeded}));
    QVERIFY2(says(shareSentence(model), "<documents-read>"), qPrintable(shareSentence(model)));
    QVERIFY2(says(shareSentence(model), "<largest-document-shares|document 7 (…>"),
             qPrintable(shareSentence(model)));
  }

  /// Views name the base of each share.
  void sharesNameTheirBase() {
    const ShareModel model = shareModel(test::twentyDocuments());
    QVERIFY(says(shareTip(sourcesOf(model)[0]), "<document-share-tip>"));
    QVERIFY(!says(shareTip(*pieceOf(model, ShareKind::Sink)), "<document-share-tip>"));
    AttentionView view;
    view.resize(700, 500);
    view.setInput(test::twentyDocuments());
    view.show();
    QVERIFY(says(view.words().strip.segments[1].facts, "<document-share-facts>"));
  }

  /// Without a picture, the view gives the true reason.
  void anEmptyViewSaysWhy() {
    struct : AttentionView {
      using AttentionView::emptyText;
    } view;
    const auto textOf = [&](test::TraceMaker& maker, bool observes, TraceOrigin origin) {
      ViewInput input = maker.input();
      document::Document document;
      document.settings.observe = observes;
      input.document = std::make_shared<const document::Document>(std::move(document));
      input.replay.origin = origin;
      input.paths[1] = {};
      view.setInput(input);
      view.show();
      return view.emptyText();
    };
    test::TraceMaker none;
    QVERIFY(says(textOf(none, true, TraceOrigin::Session), "<attention-run-first>"));
    QVERIFY(says(textOf(none, false, TraceOrigin::Session), "<attention-switch-on>"));
    test::TraceMaker noAnswer;
    noAnswer.computedRequest(1, 1, 8, 1);
    QVERIFY(says(textOf(noAnswer, true, TraceOrigin::Session), "<attention-no-answer>"));
    test::TraceMaker served;
    served.startRun(1, 1, {test::TraceMaker::segment(8, 0, "/g/input")});
    trace::ServerReported report;
    report.server = "gpu-3";
    served.send(1, 1, report);
    QVERIFY(says(textOf(served, true, TraceOrigin::Server), "<attention-of-server|gpu-3>"));
    test::TraceMaker answered;
    answered.startRun(1, 1, {test::TraceMaker::segment(8, 0, "/g/input")});
    trace::TokenGenerated token;
    token.token = 7;
    answered.send(1, 1, token);
    answered.finish(1, 1);
    QVERIFY(says(textOf(answered, false, TraceOrigin::File), "<attention-not-in-trace>"));
    const QString off = textOf(answered, false, TraceOrigin::Session);
    QVERIFY2(says(off, "<attention-was-off>"), qPrintable(off));
    QVERIFY(says(textOf(answered, true, TraceOrigin::Session), "<attention-not-recorded>"));
  }

  /// The bar is all attention: its pieces follow each other without a gap, and fill the width.
  void theBarIsAllAttention() {
    const ShareModel model = shareModel(test::twentyDocuments());
    QVERIFY(std::abs(sumOf(model) - 1) < 1e-4);
    double sources = 0;
    for (const SharePiece& piece : sourcesOf(model)) sources += piece.mass;
    QVERIFY(std::abs(sources - model.sources) < 1e-9);
    QVERIFY(std::is_sorted(model.pieces.begin(), model.pieces.end(),
                           [](const SharePiece& a, const SharePiece& b) { return a.kind < b.kind; }));
    QVERIFY(pieceOf(model, ShareKind::Sink) != nullptr && pieceOf(model, ShareKind::Own) != nullptr);
    // By block, question and answer cannot be separated.
    QVERIFY(pieceOf(model, ShareKind::Answer) == nullptr);
    // Recorded by token only, first tokens are not known.
    const ShareModel means = shareModel(test::twentyDocuments({.bySegment = false}));
    QVERIFY(pieceOf(means, ShareKind::Sink) == nullptr);
    QVERIFY(std::abs(sumOf(means) - 1) < 1e-4);

    ShareBar bar;
    bar.setContent(model, Theme());
    for (const int width : {260, 700}) {
      const QRect area(0, 0, width, bar.heightForWidth(width));
      int right = bar.pieceRect(0, area).left();
      for (std::size_t i = 0; i < model.pieces.size(); ++i) {
        QCOMPARE(bar.pieceRect(i, area).left(), right);
        right = bar.pieceRect(i, area).left() + bar.pieceRect(i, area).width();
        QVERIFY(area.contains(bar.pieceRect(i, area)));
      }
      QVERIFY(right > width - 6);
    }
    QVERIFY(bar.heightForWidth(260) > bar.heightForWidth(700));
  }

  /// A few percent of all attention are no reason to name a document.
  void aHeadlineNeedsEnoughAttention() {
    for (const double share : {0.038, kEnoughAttention - 0.001, kEnoughAttention, 0.4}) {
      const auto part = static_cast<float>(share / 4);
      const std::vector<float> keys{part, part, part, part, 1 - 4 * part, 0, 0};
      const ViewInput input = twoTokens(keys, keys);
      const ShareModel model = shareModel(input);
      QVERIFY(std::abs(model.sources - share) < 1e-6);
      const QString sentence = shareSentence(model);
      QCOMPARE(says(sentence, "<documents-hardly-read>"), share < kEnoughAttention - 1e-6);
      const QString first =
          shareSentence(shareModel(selecting(input, {.request = 1, .segment = 1, .local = 3})));
      QCOMPARE(says(first, "<token-hardly-read|w>"), share < kEnoughAttention - 1e-6);
      QVERIFY2(!says(sentence, "<largest-document-shares>"), qPrintable(sentence));  // there is only one
    }
  }

  /// With single keys, the answer's attention to its own tokens is a piece of its own.
  void singleKeysSeparateQuestionAndAnswer() {
    const ViewInput input = twoTokens({0.1F, 0.1F, 0.1F, 0.1F, 0.2F, 0.2F, 0.2F},
                                      {0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F, 0.3F});
    const ShareModel model = shareModel(input);
    QVERIFY(std::abs(pieceOf(model, ShareKind::Own)->mass - 0.45) < 1e-6);
    QVERIFY(std::abs(pieceOf(model, ShareKind::Answer)->mass - 0.15) < 1e-6);
    QVERIFY(std::abs(sumOf(model) - 1) < 1e-6);
    const TokenRef second{.request = 1, .segment = 1, .local = 4};
    QVERIFY(std::abs(pieceOf(shareModel(selecting(input, second)), ShareKind::Answer)->mass - 0.3) < 1e-6);
  }

  /// The default display: the attention of the answer, or of one of its tokens, to each word.
  void wordsHaveTheirAttention() {
    const ViewInput input = twoTokens({0.1F, 0.4F, 0.0F, 0.1F, 0.2F, 0.1F, 0.1F},
                                      {0.1F, 0.2F, 0.2F, 0.1F, 0.1F, 0.1F, 0.1F, 0.1F});
    SourceWords words = sourceWords(input, shareModel(input), {}, {});
    QCOMPARE(words.keys, 1);
    QCOMPARE(words.strip.tokens.size(), std::size_t{7});
    QVERIFY(!words.strip.showsCache && !words.strip.segments[0].isPale && words.strip.segments[1].isPale);
    QVERIFY(std::abs(words.strip.tokens[1].looked - 0.3) < 1e-6);
    QVERIFY(std::abs(words.strip.mostLooked - 0.3) < 1e-6);
    QCOMPARE(words.answer.tiles.size(), std::size_t{2});
    QVERIFY(!words.answer.chosen);
    QVERIFY(std::abs(words.answer.tiles[0].value - 1) < 1e-6);
    QVERIFY(says(words.answer.tiles[1].description,
                 QStringLiteral("<answer-token-reads|w|%1>").arg(partText(0.6))));
    QVERIFY(says(sourceWordsNote(words, {}, {}), QStringLiteral("<words-by-token|%1>").arg(partText(0.3))));
    const ViewInput second = selecting(input, words.answerPlaces[1]);
    words = sourceWords(second, shareModel(second), {}, {});
    QCOMPARE(words.answer.chosen, std::optional<std::size_t>(1));
    QVERIFY(std::abs(words.strip.tokens[1].looked - 0.2) < 1e-6);
    QVERIFY(std::abs(words.strip.tokens[2].looked - 0.2) < 1e-6);
    QVERIFY(sourceWordTip(words, 1).contains(partText(0.2)));
    // A layer that was not recorded has no bars.
    words = sourceWords(second, shareModel(second), 0, {});
    QCOMPARE(words.keys, 0);
    QVERIFY(says(sourceWordsNote(words, 0, {}), "<words-not-recorded>"));
  }

  /// Without documents there is no attention to documents to show.
  void wordsWithoutDocumentsHaveNoScaleOfDocuments() {
    SourceWords words;
    words.keys = 16;
    words.target = QStringLiteral("documents");
    QVERIFY(sourceWordsNote(words, {}, {}).contains(words.target));
    words.hasSources = false;
    QVERIFY(!sourceWordsNote(words, {}, {}).contains(words.target));

    test::TraceMaker maker(16, 512);
    maker.startRun(1, 1, {test::TraceMaker::segment(7, 0, "/g/input")});
    trace::TokenGenerated token;
    token.shown = " w";
    token.segmentMass = {1.0F};
    maker.send(1, 1, token);
    maker.finish(1, 1);
    const ViewInput input = maker.input();
    const SourceWords own = sourceWords(input, shareModel(input), {}, {});
    QVERIFY(!own.hasSources);
    QCOMPARE(own.answer.tiles.size(), std::size_t{1});
    QVERIFY(own.answer.top.isEmpty() && own.answer.bottom.isEmpty());
  }

  /// Tokens of an answer without a scale have no lines beside them.
  void tokensWithoutAScaleHaveNoLines() {
    AnswerTiles content;
    for (const char* text : {"one", "two"}) {
      AnswerTile tile;
      tile.text = tile.description = QLatin1String(text);
      content.tiles.push_back(tile);
    }
    const auto linesOf = [](const AnswerTiles& shown) {
      AnswerTokens answer;
      answer.resize(400, 70);
      answer.setContent(shown, Theme());
      answer.show();
      const QImage image = answer.viewport()->grab().toImage();
      // A column to the right of the tokens, without the frame of the focus.
      constexpr int kBeside = 300;
      int lines = 0;
      for (int y = 1; y + 1 < image.height(); ++y)
        lines += image.pixel(kBeside, y) != image.pixel(kBeside, 1) ? 1 : 0;
      return lines;
    };
    QCOMPARE(linesOf(content), 0);
    content.top = partText(0.5);
    content.bottom = partText(0);
    QCOMPARE(linesOf(content), 3);
  }

  /// Recorded by block, the tokens of a block share its attention.
  void wordsOfABlockShareItsAttention() {
    const ViewInput input = test::twentyDocuments();
    const SourceWords words = sourceWords(input, shareModel(input), {}, {});
    QCOMPARE(words.keys, 16);
    QVERIFY(says(sourceWordsNote(words, {}, {}), "<words-by-block|16>"));
    QCOMPARE(words.strip.segments[words.strip.tokens[words.first].segment].part, test::kFirstNeeded);
    double sum = 0;
    for (const StripToken& token : words.strip.tokens) {
      if (token.segment != 7) continue;
      QVERIFY(token.looked > 0);
      sum += token.looked;
    }
    const SharePiece& piece = *shareModel(input).of(test::kFirstNeeded);
    QVERIFY(sum > piece.mass && sum < piece.mass + 0.05);  // blocks include the first token
  }

  void aTokenOfTheAnswerIsClicked() {
    AttentionView view;
    view.resize(700, 500);
    ViewInput input = test::twentyDocuments();
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    connect(&view, &View::selectionWanted, &view, [&](const Selection& selection) {
      input.selection = selection;
      view.setInput(input);
    });
    const auto isSeen = [&view](std::size_t segment) {
      const TokenStripArea& area = view.wordsArea();
      const std::size_t first = view.words().strip.segments[segment].first;
      return area.visibleContent().contains(area.stripLayout().groupRect(first).topLeft());
    };
    QVERIFY(isSeen(test::kFirstNeeded));
    AnswerTokens& answer = view.answer();
    QTest::keyClick(&answer, Qt::Key_End);
    QCOMPARE(input.selection.token, std::optional(answerToken(test::kTwentyAnswerTokens - 1)));
    QTRY_VERIFY(says(shareSentence(view.bar().model()), "<token-reads|word24>"));
    QVERIFY(isSeen(test::kSecondNeeded));
    QTest::keyClick(&answer, Qt::Key_Left);
    QCOMPARE(input.selection.token, std::optional(answerToken(test::kTwentyAnswerTokens - 2)));
    // A word is a token of its document.
    QTest::mouseClick(
        view.wordsArea().viewport(), Qt::LeftButton, {},
        view.wordsArea().stripLayout().tiles[view.words().first].center() - view.wordsArea().offset());
    QCOMPARE(input.selection.token->segment, test::kSecondNeeded);
  }

  /// A lesson that speaks of a document frames its lines, of a token its word.
  void wordsAreFramedAndReached() {
    AttentionView view;
    view.resize(700, 500);
    const ViewInput input = test::twentyDocuments();
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const TokenStripArea& area = view.wordsArea();
    QCOMPARE(&view.placesIn(), static_cast<const QWidget*>(area.viewport()));
    Selection document;
    document.nodes = {input.nodeOf(1, "/g/input/cross/1/plus/19")};
    for (const Selection& part : {document, selectionOfToken(input, {1, 2, 30})}) {
      QCOMPARE(view.placesOf(part).size(), std::size_t{1});
      QVERIFY(!area.viewport()->rect().intersects(view.placesOf(part).front()));
      view.bringIntoSight(part);
      QVERIFY(area.viewport()->rect().intersects(view.placesOf(part).front()));
    }
    QVERIFY(view.placesOf({}).empty());
  }

  void aTokenOfTheAnswerHasSharesOfItsOwn() {
    const ViewInput input = test::twentyDocuments();
    const ShareModel early = shareModel(selecting(input, answerToken(3)));
    QCOMPARE(early.token, std::optional<QString>(QStringLiteral("word4")));
    const ShareModel late = shareModel(selecting(input, answerToken(20)));
    const auto most = [](const ShareModel& model) {
      return std::max_element(model.pieces.begin(), model.pieces.end(),
                              [](const SharePiece& a, const SharePiece& b) { return a.share < b.share; })
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
    QCOMPARE(sourcesOf(model).size(), std::size_t{2});
    QVERIFY2(!model.pieces[1].name.contains(QStringLiteral("linked")), qPrintable(model.pieces[1].name));
    QVERIFY(std::abs(model.pieces[1].share - 0.5) < 1e-6);
    QVERIFY(std::abs(model.pieces[1].mass - 0.3) < 1e-6);
    QVERIFY(std::abs(sumOf(model) - 1) < 1e-6);
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
    const SharePiece* beside = pieceOf(model, ShareKind::Beside);
    QVERIFY(beside != nullptr && std::abs(beside->mass - 0.25) < 1e-6);
    QVERIFY(shareCsv(model).contains(worded("<answers-of-team>")));
    QVERIFY(pieceOf(shareModel(test::twentyDocuments()), ShareKind::Beside) == nullptr);
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

  void aClickOnAPieceSelectsItsDocument() {
    AttentionView view;
    view.resize(1200, 400);
    const ViewInput input = test::twentyDocuments();
    view.setInput(input);
    view.show();
    std::vector<Selection> wanted;
    connect(&view, &View::selectionWanted, &view,
            [&](const Selection& selection) { wanted.push_back(selection); });
    ShareBar& bar = view.bar();
    QVERIFY(bar.isVisible());
    QTest::mouseClick(bar.viewport(), Qt::LeftButton, {}, bar.pieceRect(6, bar.rect()).center());
    QCOMPARE(wanted.size(), std::size_t{1});
    QCOMPARE(wanted[0].currentNode(), input.nodeOf(1, "/g/input/cross/1/plus/6"));
    QCOMPARE(wanted[0].block->segment, test::kFirstNeeded);
    bar.setFocus();
    QTest::keyClick(&bar, Qt::Key_Right);
    QTest::keyClick(&bar, Qt::Key_Return);
    QCOMPARE(wanted.back().block->segment, test::kFirstNeeded + 1);
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
