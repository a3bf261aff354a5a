// SPDX-License-Identifier: GPL-3.0-or-later
// The line below an answer claims no more than what is known of it.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/views/output/output_model.h"
#include "ui/words/metric_words.h"

#include <QTest>

using namespace spanscope;
using spanscope::product_text::worded;
using ui::Answer;
using ui::AnswerState;

class TestFidelityHeadline : public QObject {
  Q_OBJECT

  static Answer finished() {
    Answer answer;
    answer.state = AnswerState::Finished;
    answer.generatedTokens = 11;
    answer.exactness = QStringLiteral("block attention ✓ · full prefill ≈");
    return answer;
  }
  static Answer measured(std::size_t same, std::size_t agreed) {
    Answer answer = finished();
    trace::FidelityMetrics metricValues;
    metricValues.tokens = 11;
    metricValues.agreeing = 10;
    metricValues.meanDivergence = 0.13;
    metricValues.sameAnswers = same;
    metricValues.agreedTokens = agreed;
    answer.fidelity = metricValues;
    return answer;
  }

 private Q_SLOTS:
  void says_data() {
    QTest::addColumn<Answer>("answer");
    QTest::addColumn<QString>("headline");
    QTest::newRow("not measured") << finished() << worded("<not-compared-yet>");
    Answer exact = finished();
    exact.exactness = QStringLiteral("full prefill ✓");
    QTest::newRow("exact") << exact << worded("<exact-equal-prefill>");
    exact.over = worded("<over-padded-cropped>");
    QTest::newRow("exact over other tokens") << exact << worded("<exact-of-these-tokens>");
    Answer running = finished();
    running.state = AnswerState::Streaming;
    QTest::newRow("streaming") << running << QString();
    Answer measuring = finished();
    measuring.isMeasuring = true;
    measuring.measuredShare = 0.42;
    QTest::newRow("measuring") << measuring << QStringLiteral("Measuring fidelity: 42 %");
    QTest::newRow("same answer") << measured(1, 11) << worded("<same-answer-as-prefill> · KL 0.13");
    // Tokens that agree place by place do not make it the same answer.
    QTest::newRow("another answer") << measured(0, 0) << worded("<prefill-differs-at-first> · KL 0.13");
    QTest::newRow("another answer later") << measured(0, 4) << worded("<prefill-differs-after|4> · KL 0.13");
    Answer fast = measured(1, 11);
    fast.arithmetic = QStringLiteral("fast");
    fast.arithmeticMetrics = trace::DivergenceMetrics{.tokens = 11,
                                                      .agreeing = 11,
                                                      .meanDivergence = 3e-4,
                                                      .medianDivergence = 1e-4,
                                                      .mostDivergence = 1e-3};
    QTest::newRow("fast arithmetic")
        << fast << worded("<same-answer-as-prefill> · KL 0.13 · difference between fast and f32: KL < 0.001");
    Answer sampled = measured(0, 0);
    sampled.fidelity->sampledSteps = 1;
    QTest::newRow("sampled") << sampled
                             << worded("<agreement-with-prefill|%1> · KL 0.13")
                                    .arg(ui::metricPhrase("agreeing-tokens", QStringLiteral("10 of 11")));
  }
  void says() {
    QFETCH(Answer, answer);
    QFETCH(QString, headline);
    QCOMPARE(ui::fidelityHeadline(answer), headline);
  }
};

SPANSCOPE_TEST(tst_fidelity_headline, TestFidelityHeadline)
#include "tst_fidelity_headline.moc"
