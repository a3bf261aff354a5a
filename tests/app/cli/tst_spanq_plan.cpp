// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq explain` and `spanq export`: passes, rules, attention locality, stages.
#include "engine/query/json/json.h"
#include "engine/spnl/request_text.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace spanscope;
using namespace spanscope::test;
using spanscope::product_text::says;
using Json = nlohmann::json;

namespace {

const std::string kJudge = SPANSCOPE_SOURCE_DIR "/resources/queries/judge-4.json";

bool holds(const std::string& text, const std::string& words) {
  return says(text, words);
}

}  // namespace

class TestSpanqPlan : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void explainListsPassesAndTrees();
  void explainWithLocality();
  void explainAsJson();
  void explainAsGraph();
  void rulesAreSwitched();
  void wrongOptions_data();
  void wrongOptions();
  void exportStages_data();
  void exportStages();
  void exportLowered();
  void exportWithLocality();
};

void TestSpanqPlan::explainListsPassesAndTrees() {
  const SpanqResult result = spanq({"explain", kJudge});
  QCOMPARE(result.code, 0);
  for (const char* words : {"Tree as given\n", "  1. expand repeat, applied once\n",
                            "  3. distribute plus, applied once<changes-prompts-hold>\n",
                            "<tree-after-rules>\n", "Cost\n  steps           5\n", "tokens of messages"}) {
    QVERIFY2(holds(result.out, words), words);
  }
  QVERIFY(!holds(result.out, "tree before"));
  const SpanqResult trees = spanq({"explain", "--trees", kJudge});
  QVERIFY(holds(trees.out, "    tree before\n") && holds(trees.out, "← changed"));
}

void TestSpanqPlan::explainWithLocality() {
  const SpanqResult result = spanq({"explain", "--locality", "2", kJudge});
  QCOMPARE(result.code, 0);
  QVERIFY(holds(result.out, "attention locality, applied once"));
  QVERIFY(holds(result.out, "steps           7\n"));
  QVERIFY(holds(result.out, "  without attention locality\n    steps           5\n"));
  const SpanqResult reduce = spanq({"explain", "--locality", "3", "--locality-shape", "map-reduce",
                                    "--reduce-prompt", "Join them.", kJudge});
  QVERIFY(holds(reduce.out, "user \"Join them.\""));
}

void TestSpanqPlan::explainAsJson() {
  const SpanqResult result = spanq({"explain", "--json", "--locality", "2", kJudge});
  QCOMPARE(result.code, 0);
  const Json json = Json::parse(result.out);
  QCOMPARE(json["steps"].size(), std::size_t{7});
  QCOMPARE(json["cost"]["generates"].get<int>(), 7);
  QCOMPARE(json["cost_without_locality"]["generates"].get<int>(), 5);
  QVERIFY(!json["passes"][0]["tree_before"].empty());
}

void TestSpanqPlan::explainAsGraph() {
  const SpanqResult result = spanq({"explain", "--dot", kJudge});
  QCOMPARE(result.code, 0);
  QVERIFY(result.out.starts_with("digraph plan {\n"));
  QVERIFY(holds(result.out, "step4 -> result"));
}

void TestSpanqPlan::rulesAreSwitched() {
  const SpanqResult result = spanq({"explain", "--rule", "distribute-plus=off", kJudge});
  QCOMPARE(result.code, 0);
  QVERIFY(!holds(result.out, "distribute plus"));
  const SpanqResult prepared =
      spanq({"explain", "--rule", "prepare-passages=on", SPANSCOPE_SOURCE_DIR "/resources/queries/rag.json"});
  QVERIFY(holds(prepared.out, "prepare passages, applied once"));
}

void TestSpanqPlan::wrongOptions_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<int>("code");
  QTest::addColumn<QString>("says");
  QTest::newRow("unknown rule") << QStringList{"explain", "--rule", "foo=on"} << 2 << "a rule \"foo\"";
  QTest::newRow("rule without a switch") << QStringList{"explain", "--rule", "zip"} << 2 << "name=off";
  QTest::newRow("needed rule off") << QStringList{"explain", "--rule", "expand-repeat=off"} << 1
                                   << "a repeat <not-written-out>";
  QTest::newRow("one entry a judge") << QStringList{"explain", "--locality", "1"} << 2 << "from 2 to";
  QTest::newRow("two forms") << QStringList{"explain", "--json", "--dot"} << 2 << "--json";
  QTest::newRow("unknown stage") << QStringList{"export", "--to", "spnl", "--stage", "half"} << 2 << "half";
}

void TestSpanqPlan::wrongOptions() {
  QFETCH(QStringList, arguments);
  QFETCH(int, code);
  QFETCH(QString, says);
  std::vector<std::string> words;
  for (const QString& argument : arguments) words.push_back(argument.toStdString());
  words.push_back(kJudge);
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, code);
  QVERIFY2(holds(result.err, says.toStdString()), result.err.c_str());
}

void TestSpanqPlan::exportStages_data() {
  QTest::addColumn<QString>("stage");
  QTest::addColumn<QString>("expected");
  const QString g = R"({"g":{"model":"spnl/m","max_tokens":0,"temperature":0.5,"input":%1}})";
  const QString inner = g.arg(R"({"seq":[{"system":"s"},{"user":"a"}]})");
  const QString a = R"({"system":"s"},{"user":"a"})";
  QTest::newRow("read") << "read" << g.arg(R"({"seq":[{"seq":[{"user":"j"}]},{"plus":[%1]}]})").arg(inner);
  QTest::newRow("simplified") << "simplified" << g.arg(R"({"seq":[{"user":"j"},{"plus":[%1]}]})").arg(inner);
  QTest::newRow("optimized")
      << "optimized"
      << g.arg(R"({"seq":[{"user":"j"},{"plus":[%1,%2]}]})").arg(a, g.arg(R"({"plus":[%1]})").arg(a));
}

void TestSpanqPlan::exportStages() {
  QFETCH(QString, stage);
  QFETCH(QString, expected);
  const std::string query =
      R"({"g":{"model":"spnl/m","temperature":0.5,"input":{"seq":[{"seq":[{"user":"j"}]},{"plus":[{"g":{"model":"spnl/m","temperature":0.5,"input":{"seq":[{"system":"s"},{"user":"a"}]}}}]}]}}})";
  const SpanqResult result = spanq({"export", "--to", "spnl", "--stage", stage.toStdString(), "-"}, query);
  QCOMPARE(result.code, 0);
  QCOMPARE(QString::fromStdString(result.out), expected + "\n");
}

void TestSpanqPlan::exportLowered() {
  const SpanqResult result = spanq({"export", "--to", "spnl", "--stage", "lowered", kJudge});
  QCOMPARE(result.code, 0);
  const query::ParseResult body = query::parseJson(result.out);
  QVERIFY(body.query && spnl::isServerBody(*body.query));
  QVERIFY(holds(result.err, "<call-prompt-holds-reply>"));
  const SpanqResult none = spanq({"export", "--to", "spnl", "--stage", "lowered", "-"}, R"({"user":"a"})");
  QCOMPARE(none.code, 1);
  QVERIFY(none.out.empty());
}

void TestSpanqPlan::exportWithLocality() {
  const SpanqResult result = spanq({"export", "--to", "spnl", "--locality", "2", kJudge});
  QCOMPARE(result.code, 0);
  const Json json = Json::parse(result.out);
  const Json& judges = json["g"]["input"]["cross"][1]["plus"];
  QCOMPARE(judges.size(), std::size_t{2});
  QCOMPARE(judges[0]["g"]["input"]["cross"][1]["plus"].size(), std::size_t{2});
  // What was written is planned as the rule itself would.
  const SpanqResult written = spanq({"explain", "--no-distribute", "-"}, result.out);
  QVERIFY(holds(written.out, "steps           7\n"));
  const SpanqResult augmented =
      spanq({"export", "--to", "spnl", "--locality", "2", "-"},
            R"({"augment":{"embedding_model":"e","body":{"user":"q"},"doc":["d.txt",{"Text":"t"}]}})");
  QCOMPARE(augmented.code, 1);
  QVERIFY(holds(augmented.err, "augment"));
}

SPANSCOPE_TEST(tst_spanq_plan, TestSpanqPlan)
#include "tst_spanq_plan.moc"
