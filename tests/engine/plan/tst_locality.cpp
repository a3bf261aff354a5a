// SPDX-License-Identifier: GPL-3.0-or-later
// Attention locality: judges of many become trees of judges of few.
#include "engine/plan/explain.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "tests/engine/plan/plan_text.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <functional>
#include <set>

using namespace spanscope;
using namespace spanscope::plan;
using namespace spanscope::plan::testing;
using spanscope::product_text::says;

namespace {

query::Node parse(const std::string& json) {
  query::ParseResult result = query::parseJson(json);
  if (!result.query) throw Failure({"", "", json, "a query"});
  return *result.query;
}

std::string g(const std::string& input, int maxTokens = 5) {
  return R"({"g":{"model":"m","max_tokens":)" + std::to_string(maxTokens) + R"(,"input":)" + input + "}}";
}

/// A judge of n candidates: cross(system, plus(g ×n), user).
query::Node judgeOf(int n) {
  std::string candidates;
  for (int i = 0; i < n; ++i) {
    candidates += (i > 0 ? "," : "") + g(R"({"user":"c)" + std::to_string(i) + "\"}", 20);
  }
  return parse(g(R"({"cross":[{"system":"s"},{"plus":[)" + candidates + R"(]},{"user":"best?"}]})"));
}

PlanOptions optionsOf(std::uint32_t k, LocalityShape shape = LocalityShape::Tree) {
  PlanOptions options;
  options.locality.fanIn = k;
  options.locality.shape = shape;
  return options;
}

Plan planOf(const query::Node& query, const PlanOptions& options) {
  PlanResult planned = makePlan(query, options);
  if (!planned.plan) throw Failure(planned.problems.front());
  return std::move(*planned.plan);
}

std::vector<StepIndex> stepsReadBy(const PromptNode& node) {
  std::vector<StepIndex> steps;
  const std::function<void(const PromptNode&)> visit = [&](const PromptNode& at) {
    if (const auto* output = std::get_if<PromptOutput>(&at.value)) {
      steps.push_back(output->step);
    } else if (const auto* run = std::get_if<PromptRun>(&at.value)) {
      for (const PromptNode& child : run->children) visit(child);
    } else if (const auto* plus = std::get_if<PromptPlus>(&at.value)) {
      for (const PromptNode& child : plus->children) visit(child);
    }
  };
  visit(node);
  return steps;
}

}  // namespace

class TestLocality : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void shapes_data();
  void shapes();
  void everyWidth();
  void distribution();
  void notWhereOrderMatters_data();
  void notWhereOrderMatters();
  void copies();
  void cost();
  void equalTextsAreMeasuredOnce();
  void explained();
  void limits();
  void writtenOutIsTheSame();
};

void TestLocality::shapes_data() {
  QTest::addColumn<QString>("query");
  QTest::addColumn<int>("k");
  QTest::addColumn<bool>("mapReduce");
  QTest::addColumn<QString>("reduce");  ///< its prompt; empty: none
  QTest::addColumn<QString>("judges");  ///< the prompts of the steps that are no candidates, a line each
  const auto row = [](const char* name, const std::string& query, int k, bool mapReduce, const char* reduce,
                      const char* judges) {
    QTest::newRow(name) << QString::fromStdString(query) << k << mapReduce << QString(reduce)
                        << QString(judges);
  };
  const auto judge = [](int n) { return query::writeCanonical(judgeOf(n)); };
  row("off", judge(4), 0, false, "", "[s:s {=0 =1 =2 =3} u:best?]\n");
  row("not wider than k", judge(4), 4, false, "", "[s:s {=0 =1 =2 =3} u:best?]\n");
  row("two plies of two", judge(4), 2, false, "",
      "[s:s {=0 =1} u:best?]\n[s:s {=3 =4} u:best?]\n[s:s {=2 =5} u:best?]\n");
  row("one that is alone is handed on", judge(3), 2, false, "",
      "[s:s {=0 =1} u:best?]\n[s:s {=2 =3} u:best?]\n");
  row("unless it answers another question", judge(3), 2, false, "Join.",
      "[s:s {=0 =1} u:best?]\n[s:s {=3} u:best?]\n[s:s {=2 =4} u:Join.]\n");
  row("chunks are even", judge(5), 4, false, "",
      "[s:s {=0 =1 =2} u:best?]\n[s:s {=4 =5} u:best?]\n[s:s {=3 =6} u:best?]\n");
  row("map and reduce is one ply", judge(6), 2, true, "Join.",
      "[s:s {=0 =1} u:best?]\n[s:s {=3 =4} u:best?]\n[s:s {=6 =7} u:best?]\n[s:s {=2 =5 =8} u:Join.]\n");
  row("a repeat",
      g(R"({"cross":[{"repeat":{"n":3,"g":{"model":"m","max_tokens":20,"input":{"user":"c"}}}},{"user":"best?"}]})"),
      2, false, "", "[{=0 =1} u:best?]\n[{=2 =3} u:best?]\n");
  row("a map", g(R"({"plus":[{"map":{"metadata":{"model":"m","max_tokens":20},"inputs":["a","b","c"]}}]})"),
      2, false, "", "{=0 =1}\n{=2 =3}\n");
  row("nothing is asked: the reduce prompt comes last",
      g(R"({"map":{"metadata":{"model":"m","max_tokens":20},"inputs":["a","b","c"]}})"), 2, false, "Join.",
      "{=0 =1}\n{=3}\n[{=2 =4} u:Join.]\n");
  row("what stands before the candidates is no question",
      g(R"({"seq":[{"user":"look:"},{"map":{"metadata":{"model":"m","max_tokens":20},"inputs":["a","b","c"]}}]})"),
      2, true, "Join.", "[u:look: {=0 =1}]\n[u:look: {=3}]\n[u:look: {=2 =4} u:Join.]\n");
  const char* documents =
      R"({"cross":[{"system":"s"},{"plus":[{"user":"a"},{"user":"b"},{"user":"c"},{"user":"d"}]},{"user":"names?"}]})";
  row("documents are entries of map and reduce", g(documents), 2, true, "Join.",
      "[s:s {u:a u:b} u:names?]\n[s:s {u:c u:d} u:names?]\n[s:s {=0 =1} u:Join.]\n");
  row("and not of a tree", g(documents), 2, false, "", "[s:s {u:a u:b u:c u:d} u:names?]\n");
}

void TestLocality::shapes() {
  QFETCH(QString, query);
  QFETCH(int, k);
  QFETCH(bool, mapReduce);
  QFETCH(QString, reduce);
  QFETCH(QString, judges);
  PlanOptions options =
      optionsOf(static_cast<std::uint32_t>(k), mapReduce ? LocalityShape::MapReduce : LocalityShape::Tree);
  options.distribute = false;
  if (!reduce.isEmpty()) options.locality.reducePrompt = reduce.toStdString();
  const Plan plan = planOf(parse(query.toStdString()), options);
  std::string shown;
  for (const Step& step : plan.steps) {
    if (step.maxTokens != 20) shown += show(step.prompt) + "\n";
  }
  QCOMPARE(QString::fromStdString(shown), judges);
  QCOMPARE(plan.result.size(), std::size_t{1});
  QCOMPARE(std::get<StepIndex>(plan.result.front().value), static_cast<StepIndex>(plan.steps.size() - 1));
}

/// Any number of candidates, any k, both shapes: every candidate is read exactly once, no judge of a tree
/// reads more than k, the number of levels is right, and the candidates keep their order.
void TestLocality::everyWidth() {
  for (int n = 1; n <= 40; ++n) {
    const query::Node query = judgeOf(n);
    for (std::uint32_t k = 2; k <= 9; ++k) {
      for (const bool hasReduce : {false, true}) {
        PlanOptions options = optionsOf(k);
        options.distribute = false;
        if (hasReduce) options.locality.reducePrompt = "Join.";
        const Plan plan = planOf(query, options);
        std::vector<int> reads(plan.steps.size());
        std::vector<StepIndex> candidates;
        std::uint32_t plies = 0;
        for (const Step& step : plan.steps) {
          plies = std::max(plies, step.ply);
          if (step.maxTokens == 20) continue;
          const std::vector<StepIndex> read = stepsReadBy(step.prompt);
          QVERIFY(read.size() <= k);
          QVERIFY(!read.empty());
          for (const StepIndex index : read) {
            ++reads[index];
            if (plan.steps[index].maxTokens == 20) candidates.push_back(index);
          }
        }
        QCOMPARE(std::count(reads.begin(), reads.end() - 1, 1),
                 static_cast<std::ptrdiff_t>(reads.size()) - 1);
        QCOMPARE(reads.back(), 0);
        QCOMPARE(static_cast<int>(candidates.size()), n);
        std::uint32_t wanted = 1;
        for (std::size_t reach = k; reach < static_cast<std::size_t>(n); reach *= k) ++wanted;
        QCOMPARE(plies, wanted);
      }

      PlanOptions mapReduce = optionsOf(k, LocalityShape::MapReduce);
      const Plan plan = planOf(query, mapReduce);
      const std::size_t chunks = n > static_cast<int>(k) ? (static_cast<std::size_t>(n) + k - 1) / k : 0;
      QCOMPARE(plan.steps.size(), static_cast<std::size_t>(n) + chunks + 1);
    }
  }
}

void TestLocality::distribution() {
  // The first judges read candidates as subquery results; the later ones only answers, or their prompts would
  // not become shorter.
  const Plan plan = planOf(judgeOf(4), optionsOf(2));
  std::string shown;
  for (const Step& step : plan.steps) {
    if (step.maxTokens != 20) shown += show(step.prompt) + "\n";
  }
  QCOMPARE(QString::fromStdString(shown), QString("[s:s {[u:c0 >0] [u:c1 >1]} u:best?]\n"
                                                  "[s:s {[u:c2 >3] [u:c3 >4]} u:best?]\n"
                                                  "[s:s {=2 =5} u:best?]\n"));
  // Copies of the one judge differ.
  std::set<std::uint32_t> copies;
  for (const Step& step : plan.steps) {
    if (step.node.empty()) copies.insert(step.copy);
  }
  QCOMPARE(copies.size(), std::size_t{3});
}

void TestLocality::notWhereOrderMatters_data() {
  QTest::addColumn<QString>("input");
  const std::string three = g(R"({"user":"a"})") + "," + g(R"({"user":"b"})") + "," + g(R"({"user":"c"})");
  for (const char* join : {"seq", "par", "cross"}) {
    QTest::newRow(join) << QString::fromStdString("{\"" + std::string(join) + "\":[" + three + "]}");
  }
  QTest::newRow("two pluses") << QString::fromStdString("{\"seq\":[{\"plus\":[" + three + "]},{\"plus\":[" +
                                                        three + "]}]}");
  QTest::newRow("messages among the candidates")
      << QString::fromStdString("{\"plus\":[{\"user\":\"d\"}," + three + "]}");
}

void TestLocality::notWhereOrderMatters() {
  QFETCH(QString, input);
  const query::Node query = parse(g(input.toStdString()));
  const Plan with = planOf(query, optionsOf(2));
  QVERIFY(with == planOf(query, {}));
}

void TestLocality::copies() {
  // A judge within a repeat: each copy has a tree of its own. A judge that a zip puts in two places: one.
  const std::string judge = query::writeCanonical(judgeOf(3));
  const std::string repeated = R"({"repeat":{"n":2,"g":{"model":"m","max_tokens":5,"input":{"seq":[)" +
                               judge + R"(,{"user":"x"}]}}}})";
  QCOMPARE(planOf(parse(repeated), optionsOf(2)).steps.size(), std::size_t{2 * (3 + 2 + 1)});
  const std::string zipped =
      g(R"({"zip":{"first":)" + judge + R"(,"second":{"seq":[{"user":"x"},{"user":"y"}]}}})");
  QCOMPARE(planOf(parse(zipped), optionsOf(2)).steps.size(), std::size_t{3 + 2 + 1});
}

void TestLocality::cost() {
  PlanOptions plain;
  plain.distribute = false;
  PlanOptions local = optionsOf(2);
  local.distribute = false;
  const query::Node query = judgeOf(8);
  const PlanCost before = costOf(planOf(query, plain), TextMeasure::characters());
  const PlanCost after = costOf(planOf(query, local), TextMeasure::characters());
  QCOMPARE(before.generates, std::uint64_t{9});
  QCOMPARE(after.generates, std::uint64_t{8 + 4 + 2 + 1});
  QCOMPARE(before.longest, (PromptLength{6, 8 * 20, 0}));
  QCOMPARE(after.longest, (PromptLength{6, 2 * 20, 0}));
  QCOMPARE(before.prompts, (PromptLength{8 * 2 + 6, 8 * 20, 0}));
  QCOMPARE(after.prompts, (PromptLength{8 * 2 + 7 * 6, 8 * 20 + 6 * 5, 0}));
  QCOMPARE(before.newTokens, std::uint64_t{8 * 20 + 5});
  QCOMPARE(after.newTokens, std::uint64_t{8 * 20 + 7 * 5});

  const TextMeasure words{[](std::string_view) { return std::uint64_t{3}; }, "token"};
  QCOMPARE(costOf(planOf(query, local), words).longest, (PromptLength{6, 2 * 20, 0}));
  QCOMPARE(
      costOf(
          planOf(parse(R"({"g":{"model":"m","input":{"seq":[{"g":{"model":"m","input":{"user":"äé"}}}]}}})"),
                 {}),
          TextMeasure::characters())
          .longest,
      (PromptLength{0, 0, 1}));

  // A limit that is none leaves the answer length open.
  Plan open = planOf(query, plain);
  const auto generates = static_cast<std::uint32_t>(open.steps.size());
  for (std::size_t i = 0; i < open.steps.size(); ++i) open.steps[i].maxTokens = i % 2 == 0 ? 0 : -1;
  const PlanCost unlimited = costOf(open, TextMeasure::characters());
  QCOMPARE(unlimited.newTokens, std::uint64_t{0});
  QCOMPARE(unlimited.openGenerates, generates);
  QCOMPARE(unlimited.prompts.answerTokens, std::uint64_t{0});
  QCOMPARE(unlimited.prompts.openAnswers, before.prompts.openAnswers + generates - 1);
}

void TestLocality::equalTextsAreMeasuredOnce() {
  int counted = 0;
  const TextMeasure measure{[&](std::string_view text) {
                              ++counted;
                              return static_cast<std::uint64_t>(text.size());
                            },
                            "byte"};
  const Plan plan = planOf(
      parse(
          R"({"plus":[{"repeat":{"n":9,"g":{"model":"m","input":{"seq":[{"user":"a"},{"user":"bc"}]}}}}]})"),
      {});
  QCOMPARE(costOf(plan, measure).prompts.text, std::uint64_t{9 * 3});
  QCOMPARE(counted, 2);
}

void TestLocality::explained() {
  const query::Node query = judgeOf(4);
  const Plan without = planOf(query, {});
  const Plan with = planOf(query, optionsOf(2));
  ExplainOptions options;
  options.withoutLocality = &without;
  const QString text = QString::fromStdString(explain(with, options));
  for (const char* words :
       {"1. attention locality, applied once<changes-prompts-hold>\n",
        "before  g(cross(system, plus(g(user) ×4), user))\n", "Cost\n  steps           7\n",
        "  without attention locality\n    steps           5\n",
        "characters of messages, at most 40 tokens of answers\n"}) {
    QVERIFY2(says(text, words), qPrintable(text));
  }
  QVERIFY(explainJson(with, options).find("\"cost_without_locality\"") != std::string::npos);
}

void TestLocality::limits() {
  // 40 judges of a long question would not fit.
  PlanOptions options = optionsOf(2);
  options.limits.nodes = 300;
  QVERIFY(!makePlan(judgeOf(80), options).plan.has_value());
  options.locality.fanIn = 0;
  options.distribute = false;
  QVERIFY(makePlan(judgeOf(80), options).plan.has_value());
}

/// For servers that do not know the rule: the query that is exported runs as the plan says.
void TestLocality::writtenOutIsTheSame() {
  for (const int n : {1, 2, 3, 5, 8, 13}) {
    const query::Node query = judgeOf(n);
    for (const std::uint32_t k : {2U, 3U, 4U}) {
      for (const LocalityShape shape : {LocalityShape::Tree, LocalityShape::MapReduce}) {
        PlanOptions options = optionsOf(k, shape);
        options.locality.reducePrompt = "Join.";
        options.distribute = false;
        const LocalizedQuery written = localizedQuery(query, options.locality);
        QVERIFY(written.query.has_value());
        PlanOptions plain;
        plain.distribute = false;
        const Plan plan = planOf(*written.query, plain);
        const Plan expected = planOf(query, options);
        QCOMPARE(plan.steps.size(), expected.steps.size());
        QVERIFY(stubResult(plan) == stubResult(expected));
        // Every place comes from one that there was, and the top from the top.
        QCOMPARE(written.origins.at({}), NodePath());
        for (const auto& [place, origin] : written.origins) {
          QVERIFY2(query::nodeAt(*written.query, place) != nullptr, place.c_str());
          QVERIFY2(query::nodeAt(query, origin) != nullptr, origin.c_str());
        }
        // It can be read back.
        QVERIFY(query::parseJson(query::writeCanonical(*written.query)).query == written.query);
      }
    }
  }
  const LocalizedQuery refused = localizedQuery(parse(R"({"ask":"who?"})"), optionsOf(2).locality);
  QVERIFY(!refused.query.has_value());
  QCOMPARE(refused.problems.size(), std::size_t{1});
  LocalityOptions one;
  one.fanIn = 1;
  QVERIFY(!localizedQuery(judgeOf(3), one).query.has_value());
}

SPANSCOPE_TEST(tst_locality, TestLocality)
#include "tst_locality.moc"
