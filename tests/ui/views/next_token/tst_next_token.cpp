// SPDX-License-Identifier: GPL-3.0-or-later
// The alternatives of the next token: computed by the engine, shown side by side.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/views/common/answer_tokens.h"
#include "ui/views/next_token/facing_bars.h"
#include "ui/views/next_token/next_token_view.h"

#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QPainter>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include <cmath>
#include <memory>
#include <optional>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;

namespace {

jobs::NextToken madeToken(TokenId drawn, double own, double other) {
  jobs::NextToken token;
  token.drawn = drawn;
  token.divergence = std::abs(own - other);
  token.alternatives = {{.token = 5, .text = " Lisbon", .own = own, .other = other},
                        {.token = 6, .text = " Porto", .own = 1 - own, .other = 1 - other}};
  token.ownBest = own > 0.5 ? 5 : 6;
  token.otherBest = other > 0.5 ? 5 : 6;
  return token;
}

}  // namespace

class TestNextToken : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QApplication::setStyle(QStringLiteral("Fusion"));
    test::RunRecorder recorder;
    const document::Document document = test::exampleDocument("rag.json");
    recorder.run(document, *policy::findPolicy("prefix"));
    recorder.run(document);
    m_input = recorder.recorded().input();
    m_input.replay.origin = TraceOrigin::Session;
    const NextTokenModel model = nextTokenModel(m_input, 0);
    for (std::size_t i = 0; i < model.answerTokens; ++i)
      m_tokens.push_back(madeToken(5, 0.9, i == 2 ? 0.2 : 0.85));
    m_computed = test::withResult<jobs::NextTokenJob>(m_input, model.choice, m_tokens);
  }

  void whatCanBeComparedWith() {
    const NextTokenModel model = nextTokenModel(m_input, 0);
    QCOMPARE(model.choice.request, RequestId{2});
    QCOMPARE(model.others, std::vector<RequestId>{1});
    QCOMPARE(model.otherNames.front(), QStringLiteral("run 1 · prefix"));
    QCOMPARE(model.ownName, QStringLiteral("this run · spans"));
    QCOMPARE(model.otherName, QStringLiteral("full prefill"));
    QVERIFY(model.reason.isEmpty());
    QVERIFY(!model.isComputed());
    QCOMPARE(nextTokenModel(m_input, 1).otherName, QStringLiteral("run 1 · prefix"));
    // A request that is none of them leaves the full prefill.
    QCOMPARE(nextTokenModel(m_input, 7).choice.other, RequestId{0});
    ViewInput file = m_input;
    file.replay.origin = TraceOrigin::File;
    QVERIFY(!nextTokenModel(file, 0).reason.isEmpty());
    // A recording has what was computed.
    ViewInput recorded = m_computed;
    recorded.replay.origin = TraceOrigin::File;
    QVERIFY(nextTokenModel(recorded, 0).isComputed());
  }

  /// Without a selected token, the view begins at the first token with another most likely token.
  void opensAtTheFirstDifference() {
    ViewInput input = m_computed;
    QCOMPARE(nextTokenModel(input, 0).place, std::size_t{2});
    // The selection of a token of the prompt does not count.
    input.selection.token = placeOfAnswer(m_input, nextTokenModel(m_input, 0), 0);
    input.selection.token->local -= 1;
    QCOMPARE(nextTokenModel(input, 0).place, std::size_t{2});
    std::vector<jobs::NextToken> tokens(m_tokens.size(), madeToken(5, 0.9, 0.85));
    tokens[4].divergence = 0.3;
    QCOMPARE(nextTokenModel(computed(tokens), 0).place, std::size_t{4});
  }

  void differencesAreInWords() {
    NextTokenModel model = nextTokenModel(m_computed, 0);
    const QString count = QString::number(model.answerTokens);
    QVERIFY2(says(nextTokenHeadline(model), QStringLiteral("<next-token-differs|1|%1|3>").arg(count)),
             qPrintable(nextTokenHeadline(model)));
    QVERIFY2(says(nextTokenSentence(model, 0), "<next-token-one-best|…|Lisbon>"),
             qPrintable(nextTokenSentence(model, 0)));
    QVERIFY2(says(nextTokenSentence(model, 2), "<next-token-two-bests|…|Lisbon|…|Porto>"),
             qPrintable(nextTokenSentence(model, 2)));

    // Below the scale, there is no difference.
    std::vector<jobs::NextToken> tokens(m_tokens.size(), madeToken(5, 0.9, 0.9));
    tokens[1].divergence = 0.9 * kLeastNats;
    model = nextTokenModel(computed(tokens), 0);
    QVERIFY2(says(nextTokenHeadline(model), "<next-token-no-difference>"),
             qPrintable(nextTokenHeadline(model)));
    QVERIFY(says(nextTokenSentence(model, 1), "<next-token-same-here>"));
    tokens[1].divergence = 1.1 * kLeastNats;
    model = nextTokenModel(computed(tokens), 0);
    QVERIFY(says(nextTokenHeadline(model), QStringLiteral("<next-token-same-best|%1>").arg(count)));
    QVERIFY(!says(nextTokenSentence(model, 1), "<next-token-same-here>"));
  }

  /// Bars of different runs can be compared, because their scale does not depend on the run.
  void theScaleIsFixed() {
    QCOMPARE(divergenceLength(0), 0.0);
    QCOMPARE(divergenceLength(kLeastNats), 0.0);
    QCOMPARE(divergenceLength(0.01), 0.5);
    QCOMPARE(divergenceLength(1), 1.0);
    QCOMPARE(divergenceLength(7), 1.0);
  }

  void csvHasEachAlternative() {
    const QStringList lines =
        nextTokenCsv(nextTokenModel(m_computed, 0)).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), static_cast<qsizetype>(1 + 2 * m_tokens.size()));
    QCOMPARE(lines[1], QStringLiteral("0,1,5,Lisbon,0.9,full prefill,0.85,1,1,0.05"));
  }

  void theViewAsksAndShows() {
    NextTokenView view;
    view.resize(683, 467);
    ViewInput input = m_input;
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    connect(&view, &View::selectionWanted, &view, [&](const Selection& selection) {
      input.selection = selection;
      view.setInput(input);
    });
    QVERIFY(view.canCompute());
    QSignalSpy wanted(&view, &View::commandWanted);
    auto* compute = view.findChild<QPushButton*>();
    QTest::mouseClick(compute, Qt::LeftButton);
    QCOMPARE(wanted.back().front().toString(), QStringLiteral("run.next-token"));
    ViewInput running = m_input;
    running.replay.running = {.call = jobs::callOf<jobs::NextTokenJob>(view.shownModel().choice)};
    view.setInput(running);
    QVERIFY(!view.canCompute());
    QTest::mouseClick(compute, Qt::LeftButton);
    QCOMPARE(wanted.back().front().toString(), QStringLiteral("run.stop"));
    input = m_computed;
    view.setInput(input);
    QVERIFY(view.shownModel().isComputed() && !view.canCompute());
    auto* answer = view.findChild<AnswerTokens*>();
    auto* bars = view.findChild<FacingBars*>();
    QCOMPARE(view.shownModel().place, std::size_t{2});
    QTest::keyClick(answer, Qt::Key_Left);
    QCOMPARE(view.shownModel().place, std::size_t{1});
    QCOMPARE(input.selection.token, std::optional(placeOfAnswer(input, view.shownModel(), 1)));
    QTest::keyClick(answer, Qt::Key_End);
    QCOMPARE(view.shownModel().place, view.shownModel().answerTokens - 1);
    QTest::keyClick(answer, Qt::Key_PageUp);
    QCOMPARE(view.shownModel().place, std::size_t{2});
    QVERIFY(says(bars->itemText(1), QStringLiteral("<next-token-alternative|Porto|10\u00A0%|…|80\u00A0%>")));
    const auto middleOf = [answer](int token) {
      return answer->visualRect(answer->model()->index(token, 0)).center();
    };
    QTest::mouseClick(answer->viewport(), Qt::LeftButton, {}, middleOf(4));
    QCOMPARE(view.shownModel().place, std::size_t{4});
    // A click on the shown token selects it, too.
    input.selection.token.reset();
    view.setInput(input);
    QCOMPARE(view.shownModel().place, std::size_t{2});
    QTest::mouseClick(answer->viewport(), Qt::LeftButton, {}, middleOf(2));
    QCOMPARE(input.selection.token, std::optional(placeOfAnswer(input, view.shownModel(), 2)));
    view.compareWith(1);
    QVERIFY(view.canCompute());
    QCOMPARE(view.shownModel().choice.other, RequestId{1});
  }

  /// A long answer scrolls, and leaves half of the view to the alternatives.
  void longAnswersScroll() {
    NextTokenView view;
    view.resize(160, 300);
    view.setInput(m_computed);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    auto* answer = view.findChild<AnswerTokens*>();
    QVERIFY(answer->height() <= view.height() / 2);
    QVERIFY(answer->heightFor(answer->viewport()->width()) > answer->height());
    const int last = static_cast<int>(view.shownModel().answerTokens) - 1;
    QTest::keyClick(answer, Qt::Key_End);
    QVERIFY(answer->viewport()->rect().contains(answer->visualRect(answer->model()->index(last, 0))));
    QVERIFY(view.findChild<FacingBars*>()->height() > 0);
  }

  /// For the developer to look at, where SPANSCOPE_PICTURES names a folder.
  void pictures() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      for (const QSize size : {QSize(683, 467), QSize(400, 340), QSize(300, 220)}) {
        ViewInput input = m_computed;
        input.theme = Theme(scheme);
        input.selection.token = placeOfAnswer(m_input, nextTokenModel(m_input, 0), 2);
        NextTokenView view;
        view.setInput(input);
        QImage image(size, QImage::Format_ARGB32_Premultiplied);
        QPainter painter(&image);
        view.paintTo(painter, size);
        painter.end();
        QVERIFY(image.pixelColor(2, 2) == input.theme.color(Role::Surface));
        const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
        if (folder.isEmpty()) continue;
        const QString name =
            QStringLiteral("/next-token-%1-%2.png")
                .arg(scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light"))
                .arg(size.width());
        QVERIFY(image.save(folder + name));
      }
    }
  }

 private:
  ViewInput computed(const std::vector<jobs::NextToken>& tokens) const {
    return test::withResult<jobs::NextTokenJob>(m_input, nextTokenModel(m_input, 0).choice, tokens);
  }

  ViewInput m_input;
  std::vector<jobs::NextToken> m_tokens;
  ViewInput m_computed;  ///< m_input with these
};

SPANSCOPE_TEST(tst_next_token, TestNextToken, QApplication)
#include "tst_next_token.moc"
