// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/plan_prediction.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <numeric>
#include <vector>

using namespace spanscope;
using layout::Segment;
using layout::SpanTable;
using run::AnswerPlaces;
using Tokens = std::vector<TokenId>;

namespace {

Segment segment(Tokens tokens, std::vector<std::uint32_t> sees = {}, std::int64_t base = 0) {
  Segment segment;
  segment.tokens = std::move(tokens);
  segment.sees = std::move(sees);
  segment.base = base;
  return segment;
}

SpanTable prompt(Tokens tokens) {
  return {.segments = {segment(std::move(tokens))}};
}

/// A document, and a question that sees it.
SpanTable asked(Tokens document, Tokens question) {
  const auto length = static_cast<std::int64_t>(document.size());
  return {.segments = {segment(std::move(document)), segment(std::move(question), {0}, length)}};
}

}  // namespace

Q_DECLARE_METATYPE(spanscope::layout::SpanTable)

class TestAnswerPlaces : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reach_data();
  void reach();
  void manyUncertainOnesMakeItCareful();
};

/// Blocks of 4; unknown tokens are negative.
void TestAnswerPlaces::reach_data() {
  QTest::addColumn<SpanTable>("earlier");
  QTest::addColumn<SpanTable>("now");
  QTest::addColumn<bool>("continues");
  QTest::addColumn<bool>("ends");
  const auto row = [](const char* name, const SpanTable& earlier, const SpanTable& now, bool continues,
                      bool ends) { QTest::newRow(name) << earlier << now << continues << ends; };
  row("goes on after the prompt", prompt({1, 2, 3}), prompt({1, 2, 3, 4}), true, false);
  row("the same prompt", prompt({1, 2, 3}), prompt({1, 2, 3}), false, false);
  row("differs before the reply", prompt({1, 2, 3}), prompt({1, 2, 4, 5}), false, false);
  row("shorter", prompt({1, 2, 3}), prompt({1, 2}), false, false);
  row("a reply in the middle", prompt({1, 2, -1, 7}), prompt({1, 2, 9}), true, false);
  row("up to a reply in the middle", prompt({1, 2, -1, 7}), prompt({1, 2}), false, false);
  row("begins with a reply", prompt({-1, 7}), prompt({5}), true, false);
  row("a document that ends in the reply's block", prompt({1, 2, 3, 4, 5, 6}), asked({1, 2, 3, 4, 5}, {8}),
      false, true);
  row("a document that ends a block earlier", prompt({1, 2, 3, 4, 5, 6}), asked({1, 2, 3}, {8}), false,
      false);
  row("a question that goes on", asked({1, 2}, {8}), asked({1, 2}, {8, 9}), true, false);
  row("a question after another document", asked({1, 2}, {8}), asked({1, 3}, {8, 9}), false, false);
  row("a question at another distance", asked({1, 2}, {8}), {{segment({1, 2}), segment({8, 9}, {0}, 5)}},
      false, false);
  row("a question that sees a reply", asked({1, -1}, {8}), asked({1, 5}, {8, 9}), true, false);
  row("a question that sees a reply, of other length", asked({1, -1}, {8}), asked({1, 5, 6}, {8}), true,
      false);
  row("a question that sees what the reply cannot be", asked({1, -1}, {8}), asked({2, 5}, {8, 9}), false,
      false);
}

void TestAnswerPlaces::reach() {
  QFETCH(SpanTable, earlier);
  QFETCH(SpanTable, now);
  AnswerPlaces places(4);
  QVERIFY(!places.reach(now).continues);
  places.add(earlier);
  const AnswerPlaces::Reach reach = places.reach(now);
  QTEST(reach.continues, "continues");
  QTEST(reach.ends, "ends");
}

void TestAnswerPlaces::manyUncertainOnesMakeItCareful() {
  AnswerPlaces places(4);
  for (TokenId i = 0; i < 100; ++i) places.add(asked({i, -1 - i}, {8}));
  QVERIFY(places.reach(asked({500, 5}, {9})).continues);
  QVERIFY(!places.reach(prompt({500, 5})).continues);
}

SPANSCOPE_TEST(tst_answer_places, TestAnswerPlaces)
#include "tst_answer_places.moc"
