// SPDX-License-Identifier: GPL-3.0-or-later
// While an answer comes, token by token, all of it can be read.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recording.h"
#include "ui/views/output/answer_card.h"
#include "ui/views/output/output_view.h"

#include <QLabel>
#include <QTest>

#include <algorithm>
#include <variant>

using namespace spanscope;

class TestOutputStreaming : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyTokenIsShownAsItComes() {
    test::Recording recording(256);
    recording.run(test::Recording::fromJson(
        R"({"g":{"model":"","max_tokens":60,"temperature":2,"input":{"user":"Tell a long story."}}})"));
    ui::ViewInput input = recording.input();
    const std::size_t all = input.position;
    ui::OutputView view;
    // As wide as the dock is in a window of 1024 × 700.
    view.resize(330, 420);
    QString said;
    int tokens = 0;
    for (std::size_t event = 0; event < all; ++event) {
      const auto* token = std::get_if<trace::TokenGenerated>(&input.trace->event(event).payload);
      if (token == nullptr) continue;
      ++tokens;
      ui::ViewInput then = input;
      then.position = event + 1;
      view.setInput(then);
      view.show();
      QCoreApplication::processEvents();
      QCOMPARE(view.model().answers.size(), std::size_t{1});
      const ui::Answer& answer = view.model().answers.front();
      QVERIFY(answer.text.startsWith(said));
      said = answer.text;
      if (said.isEmpty()) continue;
      const auto labels = view.cards().front()->findChildren<QLabel*>();
      const auto shown = std::find_if(labels.begin(), labels.end(),
                                      [&](const QLabel* label) { return label->text() == said; });
      QVERIFY2(shown != labels.end(), qPrintable(said));
      const QLabel* label = *shown;
      QVERIFY(label->height() >= label->heightForWidth(label->width()));
      const QRect place(label->mapTo(&view, QPoint()), label->size());
      QVERIFY2(view.rect().contains(place), qPrintable(QStringLiteral("after %1 tokens").arg(tokens)));
    }
    QVERIFY(tokens > 10);
    QCOMPARE(view.model().answers.front().text, said);
  }
};

SPANSCOPE_TEST(tst_output_streaming, TestOutputStreaming, QApplication)
#include "tst_output_streaming.moc"
