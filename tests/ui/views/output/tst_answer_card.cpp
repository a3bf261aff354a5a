// SPDX-License-Identifier: GPL-3.0-or-later
// What an answer shows has room in the narrowest dock.
#include "tests/support/test_program.h"
#include "ui/theme/theme.h"
#include "ui/views/common/breaking_label.h"
#include "ui/views/output/output_view.h"

#include <QApplication>
#include <QClipboard>
#include <QKeySequence>
#include <QLabel>
#include <QTest>
#include <QToolButton>

#include <algorithm>

using namespace spanscope;
using ui::Answer;
using ui::AnswerCard;
using ui::AnswerState;

class TestAnswerCard : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void fitsTheNarrowestDock_data() {
    QTest::addColumn<Answer>("answer");
    Answer plain;
    plain.run = 1;
    plain.name = QStringLiteral("generate");
    plain.policy = QStringLiteral("spans");
    plain.exactness = QStringLiteral("block attention ✓ · full prefill ≈");
    plain.model = QStringLiteral("spanlet");
    plain.state = AnswerState::Finished;
    plain.text = QStringLiteral("Cinnamon.");
    plain.timeToFirstToken = 0.355;
    plain.generatedTokens = 11;
    plain.promptTokens = 4539;
    plain.cachedTokens = 4538;
    QTest::newRow("plain") << plain;
    Answer tiny = plain;
    tiny.madeFor = QStringLiteral("short questions about a few sentences");
    QTest::newRow("a tiny model") << tiny;
    Answer offering = plain;
    offering.offersPolicies = true;
    offering.fittingAdapter = QStringLiteral("smollm2-135m-block");
    offering.advice = {QStringLiteral("The checkpoint has no training with block attention.")};
    QTest::newRow("offers") << offering;
    Answer measuring = plain;
    measuring.isMeasuring = true;
    measuring.measuredShare = 0.4;
    QTest::newRow("measuring") << measuring;
  }
  /// In a low dock, long advice leaves the room to the answer until the user wants it.
  void onlyTheFirstAdviceIsInALowDock() {
    Answer answer;
    answer.run = 1;
    answer.name = QStringLiteral("generate");
    answer.state = AnswerState::Finished;
    answer.text = QStringLiteral("Cinnamon.");
    answer.advice = {QStringLiteral("The checkpoint has no training with block attention. ").repeated(3),
                     QStringLiteral("Compare the policies.")};
    answer.offersPolicies = true;
    AnswerCard card;
    card.setContent(answer, ui::Theme(ui::Scheme::Light), false);
    card.resize(340, 400);
    card.show();
    const auto* advice = card.findChild<QLabel*>(QStringLiteral("advice"));
    const auto* brief = card.findChild<QLabel*>(QStringLiteral("briefAdvice"));
    auto* more = card.findChild<QToolButton*>(QStringLiteral("moreAdvice"));
    QVERIFY(advice->isVisible() && !brief->isVisible() && !more->isVisible());
    const int whole = card.heightForWidth(340);
    card.setCompact(true);
    QVERIFY(!advice->isVisible() && brief->isVisible() && more->isVisible());
    QVERIFY(!card.policiesButton().isVisible());
    QVERIFY(card.heightForWidth(340) < whole);
    // The first warning is whole, in several lines.
    QVERIFY(brief->text().contains(answer.advice.front()));
    QVERIFY(brief->height() >= brief->heightForWidth(brief->width()));
    QVERIFY(brief->height() > 2 * brief->fontMetrics().lineSpacing());
    QCOMPARE(brief->toolTip(), advice->text());
    // New tokens come in while the user reads.
    QTest::mouseClick(more, Qt::LeftButton);
    QVERIFY(advice->isVisible() && !brief->isVisible() && !more->isVisible());
    QVERIFY(card.policiesButton().isVisible());
    answer.text += QStringLiteral(" Nutmeg.");
    card.setContent(answer, ui::Theme(ui::Scheme::Light), false);
    QVERIFY(advice->isVisible());
    // A single warning is whole.
    card.setCompact(false);
    answer.advice = {QStringLiteral("Short.")};
    answer.offersPolicies = false;
    card.setContent(answer, ui::Theme(ui::Scheme::Light), false);
    card.setCompact(true);
    QVERIFY(advice->isVisible() && !more->isVisible());
  }
  /// A word without a space does not run out of the card, and is copied without change.
  void longWordsAreBroken() {
    Answer answer;
    answer.run = 1;
    answer.name = QStringLiteral("generate");
    answer.state = AnswerState::Finished;
    answer.text = QStringLiteral("See ") + QString(2000, QLatin1Char('w'));
    AnswerCard card;
    card.setContent(answer, ui::Theme(ui::Scheme::Light), false);
    card.resize(300, 400);
    card.show();
    QVERIFY2(card.minimumSizeHint().width() <= 300,
             qPrintable(QString::number(card.minimumSizeHint().width())));
    const QList<ui::BreakingLabel*> labels = card.findChildren<ui::BreakingLabel*>();
    const auto found = std::find_if(labels.begin(), labels.end(), [&](const ui::BreakingLabel* label) {
      return label->whole() == answer.text;
    });
    QVERIFY(found != labels.end());
    ui::BreakingLabel& label = **found;
    QVERIFY(label.width() <= 300);
    QVERIFY(label.heightForWidth(280) > 20 * label.fontMetrics().lineSpacing());
    label.setSelection(0, static_cast<int>(label.text().size()));
    label.setFocus();
    QTest::keySequence(&label, QKeySequence::Copy);
    QCOMPARE(QApplication::clipboard()->text(), answer.text);
  }
  void breaksOnlyLongWords() {
    const QString plain = QStringLiteral("Some words of a usual length.\nhttps://example.org/a");
    QCOMPARE(ui::withBreaks(plain), plain);
    const QString pairs = QStringLiteral("\U0001F600").repeated(40);
    QString broken = ui::withBreaks(pairs);
    QVERIFY(broken.size() > pairs.size());
    for (qsizetype at = 1; at < broken.size(); ++at)
      QVERIFY(!broken[at].isLowSurrogate() || broken[at - 1].isHighSurrogate());
    QCOMPARE(broken.remove(QChar(0x200B)), pairs);
  }
  /// In which arithmetic an answer was computed is said with it, where it is not the usual one.
  void saysItsArithmetic() {
    Answer answer;
    answer.run = 1;
    answer.name = QStringLiteral("generate");
    answer.state = AnswerState::Finished;
    const auto says = [&answer](const QString& words) {
      AnswerCard card;
      card.setContent(answer, ui::Theme(ui::Scheme::Light), false);
      const QList<QLabel*> labels = card.findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(),
                         [&](const QLabel* label) { return label->text().contains(words); });
    };
    QVERIFY(!says(QStringLiteral("arithmetic")));
    answer.arithmetic = QStringLiteral("fast");
    QVERIFY(says(QStringLiteral("fast arithmetic")));
  }

  /// Beside a button of two words nothing is left of a narrow card: the headline would be a column of words.
  void theHeadlineHasRoom_data() {
    QTest::addColumn<int>("width");
    QTest::addColumn<bool>("isBeside");
    QTest::newRow("a dock beside a lesson at 1024 pixels") << 188 << false;
    QTest::newRow("a wide dock") << 420 << true;
  }
  void theHeadlineHasRoom() {
    QFETCH(int, width);
    QFETCH(bool, isBeside);
    Answer answer;
    answer.run = 1;
    answer.name = QStringLiteral("generate");
    answer.state = AnswerState::Finished;
    answer.text = QStringLiteral("The pet of Tarek is Biscuit.");
    answer.generatedTokens = 8;
    AnswerCard card;
    card.setContent(answer, ui::Theme(ui::Scheme::Light), false);
    card.resize(width, 300);
    card.show();
    QVERIFY(QTest::qWaitForWindowExposed(&card));
    const auto labels = card.findChildren<QLabel*>();
    const auto headline = std::find_if(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->text().startsWith(QStringLiteral("Not compared"));
    });
    QVERIFY(headline != labels.end());
    const QRect text = (*headline)->geometry();
    const QRect button = card.fidelityButton().geometry();
    QCOMPARE(button.top() < text.bottom(), isBeside);
    QVERIFY2(text.width() > 130, qPrintable(QString::number(text.width())));
  }

  /// A window of 683 × 467 leaves the card some 180 pixels: what is wider is cut at its right edge.
  void fitsTheNarrowestDock() {
    QFETCH(Answer, answer);
    constexpr int kRoom = 180;
    AnswerCard card;
    card.setContent(answer, ui::Theme(ui::Scheme::Light), false);
    card.ensurePolished();
    QString wide;
    for (const QWidget* part : card.findChildren<QWidget*>()) {
      if (part->isVisibleTo(&card) && part->minimumSizeHint().width() > kRoom / 2)
        wide += QString::fromLatin1(part->metaObject()->className()) +
                QStringLiteral(" of %1; ").arg(part->minimumSizeHint().width());
    }
    QVERIFY2(card.minimumSizeHint().width() <= kRoom,
             qPrintable(QStringLiteral("%1 px: %2").arg(card.minimumSizeHint().width()).arg(wide)));
  }
};

SPANSCOPE_TEST(tst_answer_card, TestAnswerCard, QApplication)
#include "tst_answer_card.moc"
