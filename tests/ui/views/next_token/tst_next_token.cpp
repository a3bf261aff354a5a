// SPDX-License-Identifier: GPL-3.0-or-later
// The alternatives of the next token: computed by the engine, shown side by side.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
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

using namespace spanscope;
using namespace spanscope::ui;

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

  void sentences() {
    NextTokenModel model = nextTokenModel(m_computed, 0);
    QVERIFY(model.isComputed());
    QVERIFY2(nextTokenSentence(model).contains(QStringLiteral("“Lisbon” in both")),
             qPrintable(nextTokenSentence(model)));
    QVERIFY(nextTokenSentence(model).contains(
        QStringLiteral("differs at 1 of %1 tokens").arg(model.answerTokens)));
    ViewInput input = m_computed;
    input.selection.token = placeOfAnswer(m_input, model, 2);
    model = nextTokenModel(input, 0);
    QCOMPARE(model.place, std::size_t{2});
    QVERIFY2(nextTokenSentence(model).contains(
                 QStringLiteral("“Lisbon” in this run · spans, and “Porto” in full prefill")),
             qPrintable(nextTokenSentence(model)));
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
    auto* bars = view.findChild<NextTokenBars*>();
    QTest::keyClick(bars, Qt::Key_Right);
    QCOMPARE(view.shownModel().place, std::size_t{1});
    QTest::keyClick(bars, Qt::Key_Home);
    QTest::keyClick(bars, Qt::Key_PageDown);
    QCOMPARE(view.shownModel().place, std::size_t{2});
    QVERIFY(bars->accessibleDescription().contains(QStringLiteral("“Porto”: 10.0 %, there 80.0 %")));
    view.compareWith(1);
    QVERIFY(view.canCompute());
    QCOMPARE(view.shownModel().choice.other, RequestId{1});
  }

  /// For the developer to look at, where SPANSCOPE_PICTURES names a folder.
  void pictures() {
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      for (const QSize size : {QSize(683, 467), QSize(400, 340)}) {
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
  ViewInput m_input;
  std::vector<jobs::NextToken> m_tokens;
  ViewInput m_computed;  ///< m_input with these
};

SPANSCOPE_TEST(tst_next_token, TestNextToken, QApplication)
#include "tst_next_token.moc"
