// SPDX-License-Identifier: GPL-3.0-or-later
// While an answer comes, token by token, all of it can be read.
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recording.h"
#include "ui/views/output/output_view.h"

#include <QLabel>
#include <QScrollArea>
#include <QScrollBar>
#include <QTest>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

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

  /// A new answer is in sight at any scroll position of the list, and so is the earlier run that the user
  /// selected.
  void theRunInViewIsInSight() {
    test::Recording recording(256);
    const auto story = test::Recording::fromJson(
        R"({"g":{"model":"","max_tokens":40,"temperature":2,"input":{"user":"Tell a long story."}}})");
    std::vector<std::size_t> ends;
    for (int run = 0; run < 4; ++run) {
      recording.run(story);
      ends.push_back(recording.input().position);
    }
    ui::ViewInput input = recording.input();
    ui::RunRecords records;
    for (RunId run = 1; run <= 4; ++run) {
      auto record = std::make_shared<ui::RunRecord>();
      record->run = run;
      record->trace = input.trace;
      records.push_back(std::move(record));
      input.paths.try_emplace(run);
    }
    input.records = std::make_shared<const ui::RunRecords>(std::move(records));
    ui::OutputView view;
    view.resize(330, 200);
    const auto show = [&](std::size_t position, bool listsLater) {
      input.position = position;
      input.listsLater = listsLater;
      view.setInput(input);
      view.show();
      QTest::qWait(1);
    };
    const auto isAtTop = [&view](RunId run) {
      const auto& cards = view.cards();
      const auto card = std::find_if(cards.begin(), cards.end(),
                                     [run](const ui::AnswerCard* each) { return each->answer().run == run; });
      if (card == cards.end()) return false;
      const int top = (*card)->mapTo(&view, QPoint()).y();
      return top >= 0 && top < view.height() / 4;
    };
    show(ends[2], false);
    QVERIFY(isAtTop(3));
    auto* bar = view.findChild<QScrollArea*>()->verticalScrollBar();
    QVERIFY(bar->maximum() > 0);
    bar->setValue(bar->maximum());
    show(ends[3], false);
    QTRY_VERIFY(isAtTop(4));
    // Within a run nothing moves.
    bar->setValue(40);
    show(ends[3] - 1, false);
    QCOMPARE(bar->value(), 40);
    show(ends[1], true);
    QTRY_VERIFY(isAtTop(2));
    QCOMPARE(view.cards().front()->answer().run, RunId{4});
  }
};

SPANSCOPE_TEST(tst_output_streaming, TestOutputStreaming, QApplication)
#include "tst_output_streaming.moc"
