// SPDX-License-Identifier: GPL-3.0-or-later
// Properties of the rewrite rules: each says what it is, can be switched off, comes to an end, and does to
// the answers what it says it does. Random queries; a stub generator whose answer is a hash of the exact
// prompt.
#include "engine/plan/draft.h"
#include "engine/plan/explain.h"
#include "engine/plan/planner.h"
#include "engine/plan/rules/rules.h"
#include "engine/query/json/json.h"
#include "tests/engine/plan/plan_text.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <set>

using namespace spanscope;
using namespace spanscope::plan;
using namespace spanscope::plan::testing;
using spanscope::product_text::says;
using spanscope::product_text::worded;

namespace {

constexpr int kQueries = 1500;

std::uint32_t testSeed() {
  bool isSet = false;
  const uint given = qEnvironmentVariable("SPANSCOPE_TEST_SEED").toUInt(&isSet);
  const std::uint32_t seed = isSet ? given : 20251U;
  qInfo("SPANSCOPE_TEST_SEED=%u", seed);
  return seed;
}

Draft draftOf(const query::Node& query) {
  std::vector<Error> problems;
  Draft draft = makeDraft(query, 0.5F, OutputForm::Recomputed, 512, problems);
  if (!problems.empty()) throw Failure(problems.front());
  return draft;
}

/// Applies one rule to every node once, children first. How often it matched.
int applyOnce(const Rule& rule, Draft& draft, const RuleSite& around, RewriteState& state) {
  RuleSite inside = around;
  if (draft.is<query::Generate>() || draft.is<query::Repeat>()) {
    inside.enclosing = &draft.settings;
  }
  if (draft.is<query::Monad>()) inside.enclosing = nullptr;
  int applied = 0;
  for (Draft& child : draft.children) applied += applyOnce(rule, child, inside, state);
  if (!rule.matches(draft, around, state)) return applied;
  rule.rewrite(draft, around, state);
  return applied + 1;
}

PlanOptions withEveryRule() {
  PlanOptions options;
  options.locality.fanIn = 2;
  options.rules["prepare passages"] = true;
  return options;
}

/// The rules that some plan cannot do without.
bool isNeeded(const Rule& rule) {
  return &rule == &kExpandRepeatRule || &rule == &kExpandMapRule || &rule == &kZipRule;
}

query::Node parse(const std::string& json) {
  query::ParseResult result = query::parseJson(json);
  if (!result.query) throw Failure({"", "", json, "a query"});
  return *result.query;
}

}  // namespace

class TestRules : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void table();
  void switches();
  void unknownRules();
  void neededRules_data();
  void neededRules();
  void eachTerminates();
  void allTogetherAreAFixedPoint();
  void keptMeaning();
  void changedPromptsAreDeclared();
  void passes();
  void longTreesAreCut();
  void prepare();
  void graph();
  void json();
};

void TestRules::table() {
  std::set<std::string_view> names;
  for (const Rule* rule : rules()) {
    QVERIFY(names.insert(rule->name).second);
    for (const std::string_view text : {rule->precondition, rule->before, rule->after, rule->reason}) {
      QVERIFY2(!text.empty(), std::string(rule->name).c_str());
    }
    QVERIFY(rule->matches != nullptr && rule->rewrite != nullptr);
    QVERIFY(findRule(rule->name) == rule);
  }
  QVERIFY(findRule("distribute-plus") == &kDistributeRule);
  QVERIFY(findRule("distribute") == nullptr);
  QVERIFY(kDistributeRule.meaning == Meaning::ChangesPrompts);
  QVERIFY(kLocalityRule.meaning == Meaning::ChangesPrompts);
}

void TestRules::switches() {
  PlanOptions options;
  for (const Rule* rule : rules()) {
    const bool isSpecial = rule == &kLocalityRule || rule == &kPrepareRule;
    QCOMPARE(isOn(*rule, options), !isSpecial);
    options.rules = {{std::string(rule->name), false}};
    QVERIFY(!isOn(*rule, options));
    options.rules = {};
  }
  options.rules["prepare-passages"] = true;
  QVERIFY(isOn(kPrepareRule, options));
  options.locality.fanIn = 3;
  QVERIFY(isOn(kLocalityRule, options));
  options.rules["attention locality"] = false;
  QVERIFY(!isOn(kLocalityRule, options));
  options.distribute = false;
  options.rules["distribute plus"] = true;
  QVERIFY(!isOn(kDistributeRule, options));
}

void TestRules::unknownRules() {
  PlanOptions options;
  options.rules = {{"flaten", false}, {"unwrap", false}};
  options.locality.fanIn = 1;
  const PlanResult planned = makePlan(parse(R"({"user":"a"})"), options);
  QVERIFY(!planned.plan.has_value());
  QCOMPARE(planned.problems.size(), std::size_t{2});
  QCOMPARE(planned.problems[0].found, std::string("a rule \"flaten\""));
  QVERIFY(planned.problems[0].expected.find("flatten plus") != std::string::npos);
  QVERIFY(planned.problems[1].found.find("1 candidate") != std::string::npos);
}

void TestRules::neededRules_data() {
  QTest::addColumn<QString>("rule");
  QTest::addColumn<QString>("query");
  QTest::addColumn<QString>("found");
  QTest::newRow("repeat") << "expand-repeat"
                          << R"({"seq":[{"repeat":{"n":2,"g":{"model":"m","input":{"user":"a"}}}}]})"
                          << worded("a repeat <not-written-out>");
  QTest::newRow("map") << "expand map"
                       << R"({"map":{"metadata":{"model":"m"},"inputs":["a"]}})"
                       << worded("a map <not-written-out>");
  QTest::newRow("zip") << "zip"
                       << R"({"zip":{"first":{"user":"a"},"second":{"user":"b"}}})"
                       << worded("a zip <not-written-out>");
}

void TestRules::neededRules() {
  QFETCH(QString, rule);
  QFETCH(QString, query);
  QFETCH(QString, found);
  PlanOptions options;
  options.rules[rule.toStdString()] = false;
  const PlanResult planned = makePlan(parse(query.toStdString()), options);
  QVERIFY(!planned.plan.has_value());
  QCOMPARE(planned.problems.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(planned.problems.front().found), found);
}

void TestRules::eachTerminates() {
  std::mt19937 random(testSeed());
  const PlanOptions options = withEveryRule();
  std::vector<int> matched(rules().size());
  for (int i = 0; i < kQueries; ++i) {
    const query::Node query = randomPlannable(random, 7);
    for (std::size_t r = 0; r < rules().size(); ++r) {
      const Rule& rule = *rules()[r];
      Draft draft = draftOf(query);
      // Locality and distribution read the result of the expansions.
      RewriteState state(options, sizeOf(draft));
      state.reserveCalls(100'000);
      if (!isNeeded(rule)) {
        for (const Rule* first : {&kExpandRepeatRule, &kExpandMapRule}) {
          while (applyOnce(*first, draft, {}, state) > 0) {
          }
        }
      }
      int passes = 0;
      while (applyOnce(rule, draft, {}, state) > 0) {
        ++passes;
        ++matched[r];
        QVERIFY2(!rule.isIdempotent || passes == 1, std::string(rule.name).c_str());
        QVERIFY2(passes < 100, std::string(rule.name).c_str());
      }
    }
  }
  // A rule that never matched would have passed without being tested.
  for (std::size_t r = 0; r < rules().size(); ++r) {
    QVERIFY2(matched[r] > 10, std::string(rules()[r]->name).c_str());
  }
}

void TestRules::allTogetherAreAFixedPoint() {
  std::mt19937 random(testSeed() + 1);
  for (int i = 0; i < kQueries; ++i) {
    const query::Node query = randomPlannable(random, 7);
    for (PlanOptions options : {PlanOptions(), withEveryRule()}) {
      Draft draft = draftOf(query);
      Plan plan;
      std::vector<Error> problems;
      applyRules(draft, options, plan, problems);
      QVERIFY(problems.empty());
      Plan again;
      applyRules(draft, options, again, problems);
      QVERIFY(problems.empty());
      QVERIFY2(again.passes.empty(), query::writeCanonical(query).c_str());
    }
  }
}

void TestRules::keptMeaning() {
  std::mt19937 random(testSeed() + 2);
  int compared = 0;
  for (int i = 0; i < kQueries; ++i) {
    const query::Node query = randomPlannable(random, 7);
    for (const Rule* rule : rules()) {
      if (rule->meaning != Meaning::Kept || isNeeded(*rule)) continue;
      PlanOptions options;
      options.distribute = false;
      options.rules[std::string(rule->name)] = true;
      const PlanResult with = makePlan(query, options);
      options.rules[std::string(rule->name)] = false;
      const PlanResult without = makePlan(query, options);
      QVERIFY(with.plan.has_value() && without.plan.has_value());
      const std::string context = std::string(rule->name) + ": " + query::writeCanonical(query);
      QVERIFY2(stubResult(*with.plan) == stubResult(*without.plan), context.c_str());
      // Preparing runs more for its side effect, which is what it is for.
      if (rule != &kPrepareRule) {
        QVERIFY2(stubSideEffects(*with.plan) == stubSideEffects(*without.plan), context.c_str());
      }
      ++compared;
    }
  }
  qInfo("%d pairs of plans", compared);
}

void TestRules::changedPromptsAreDeclared() {
  // The rules that say they change prompts do so somewhere: the declaration is no mere caution.
  std::mt19937 random(testSeed() + 3);
  int distributed = 0;
  int localized = 0;
  for (int i = 0; i < kQueries; ++i) {
    const query::Node query = randomPlannable(random, 7);
    PlanOptions plain;
    plain.distribute = false;
    PlanOptions distribute;
    PlanOptions locality = plain;
    locality.locality.fanIn = 2;
    const std::vector<std::string> answers = stubResult(*makePlan(query, plain).plan);
    const auto changes = [&](const PlanOptions& options, const Rule& rule) {
      const PlanResult planned = makePlan(query, options);
      bool wasApplied = false;
      for (const PassReport& pass : planned.plan->passes) {
        wasApplied = wasApplied || pass.rule == rule.name;
        if (pass.rule == rule.name && pass.keepsMeaning) throw Failure({"", "", pass.rule, "declared"});
      }
      return wasApplied && stubResult(*planned.plan) != answers;
    };
    distributed += changes(distribute, kDistributeRule) ? 1 : 0;
    localized += changes(locality, kLocalityRule) ? 1 : 0;
  }
  QVERIFY(distributed > 20);
  QVERIFY(localized > 2);
}

void TestRules::passes() {
  PlanOptions options;
  options.recordTrees = true;
  const PlanResult planned = makePlan(
      parse(
          R"({"g":{"model":"m","input":{"cross":[{"seq":[{"system":"s"}]},{"plus":[{"repeat":{"n":3,"g":{"model":"m","max_tokens":4,"input":{"user":"a"}}}}]}]}}})"),
      options);
  QVERIFY(planned.plan.has_value());
  std::string text;
  for (const PassReport& pass : planned.plan->passes) {
    text += pass.rule + " " + std::to_string(pass.applied) + " " + std::to_string(pass.changeCount) + "\n";
  }
  QCOMPARE(QString::fromStdString(text),
           QString("unwrap 1 1\nexpand repeat 1 1\nflatten plus 1 1\ndistribute plus 1 1\n"));
  const auto write = [](const std::vector<TreeLine>& tree) {
    std::string lines;
    for (const TreeLine& line : tree) {
      lines += std::string(line.depth, ' ') + line.label + (line.changed ? " *" : "") + "\n";
    }
    return QString::fromStdString(lines);
  };
  const PassReport& expand = planned.plan->passes[1];
  QCOMPARE(
      write(expand.before),
      QString("g m\n cross\n  system \"s\"\n  plus\n   repeat 3 m, at most 4 tokens *\n    user \"a\"\n"));
  QCOMPARE(write(expand.after), QString("g m\n cross\n  system \"s\"\n  plus\n   plus *\n"
                                        "    g m, at most 4 tokens ×3 *\n     user \"a\"\n"));
  QCOMPARE(write(planned.plan->passes[0].after),
           write(expand.before).replace(" *", "").replace(" cross", " cross *"));

  const QString explained = QString::fromStdString(explain(*planned.plan, {}));
  for (const char* words : {"Tree as given\n  g m\n    cross\n      seq\n", "1. unwrap, applied once\n",
                            "4. distribute plus, applied once<changes-prompts-hold>\n",
                            "<tree-after-rules>\n", "<read-prompt> ×3\n", "steps           4\n",
                            "longest prompt  4 characters of messages, at most 12 tokens of answers\n"}) {
    QVERIFY2(says(explained, words), qPrintable(explained));
  }
  ExplainOptions eachTree;
  eachTree.eachTree = true;
  QVERIFY(QString::fromStdString(explain(*planned.plan, eachTree)).contains(QString::fromUtf8("← changed")));
}

void TestRules::longTreesAreCut() {
  query::Map map{{"m", {}, {}}, {}};
  for (int i = 0; i < 3000; ++i) map.inputs.push_back("input " + std::to_string(i));
  PlanOptions options;
  options.recordTrees = true;
  const PlanResult planned = makePlan({map}, options);
  QVERIFY(planned.plan.has_value());
  const PassReport& expand = planned.plan->passes.front();
  QCOMPARE(expand.before.size(), std::size_t{1});
  QCOMPARE(expand.after.size(), kMaxTreeLines + 1);
  QVERIFY(expand.after.back().label.find("more") != std::string::npos);
}

void TestRules::prepare() {
  PlanOptions options;
  options.rules["prepare-passages"] = true;
  const PlanResult planned = makePlan(
      parse(R"({"g":{"model":"m","input":{"cross":[{"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]}}})"),
      options);
  QVERIFY(planned.plan.has_value());
  QCOMPARE(planned.plan->steps.size(), std::size_t{3});
  for (std::size_t i = 0; i < 2; ++i) {
    const Step& step = planned.plan->steps[i];
    QVERIFY(step.dropped);
    QCOMPARE(step.maxTokens.value_or(0), 1);
    QCOMPARE(step.temperature, 0.0F);
    QCOMPARE(show(step.prompt), std::string(i == 0 ? "u:a" : "u:b"));
  }
  QCOMPARE(show(planned.plan->steps[2].prompt), std::string("[{u:a u:b} u:q]"));
}

void TestRules::graph() {
  const PlanResult planned = makePlan(
      parse(R"({"g":{"model":"m","input":{"plus":[{"g":{"model":"m","input":{"user":"say \"a\""}}}]}}})"));
  const QString dot = QString::fromStdString(explainGraph(*planned.plan));
  QVERIFY(dot.startsWith(QStringLiteral("digraph plan {")));
  QVERIFY(dot.endsWith(QStringLiteral("}\n")));
  QCOMPARE(dot.count(QLatin1Char('{')), dot.count(QLatin1Char('}')));
  QCOMPARE(dot.count(QStringLiteral("subgraph")), 2);
  QVERIFY(dot.contains(QStringLiteral("continues its prompt")));
  QVERIFY(dot.contains(QStringLiteral("step1 -> result")));
}

void TestRules::json() {
  PlanOptions options;
  options.recordTrees = true;
  const PlanResult planned = makePlan(
      parse(
          R"({"g":{"model":"m","max_tokens":5,"input":{"seq":[{"seq":[{"user":"a"},{"user":"b"}]},{"user":"c"}]}}})"),
      options);
  const QByteArray text = QByteArray::fromStdString(explainJson(*planned.plan));
  const QJsonObject json = QJsonDocument::fromJson(text).object();
  const QJsonObject pass = json["passes"].toArray().first().toObject();
  QCOMPARE(pass["rule"].toString(), QString("flatten"));
  QCOMPARE(pass["applied"].toInt(), 1);
  QVERIFY(pass["keeps_meaning"].toBool());
  QCOMPARE(pass["changes"].toArray().size(), 1);
  QCOMPARE(pass["tree_before"].toArray().size(), 6);
  QCOMPARE(pass["tree_after"].toArray().size(), 5);
  QCOMPARE(json["cost"].toObject()["generates"].toInt(), 1);
  QCOMPARE(json["steps"].toArray().first().toObject()["prompt"].toObject()["run"].toArray().size(), 3);
  QCOMPARE(json["result"].toArray().first().toObject()["reply"].toInt(), 0);
}

SPANSCOPE_TEST(tst_rules, TestRules)
#include "tst_rules.moc"
