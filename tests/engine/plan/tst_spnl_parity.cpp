// SPDX-License-Identifier: GPL-3.0-or-later
// What the reference's simplify, optimizer and server endpoint do, held against its recorded results.
#include "engine/plan/planner.h"
#include "engine/plan/spnl/optimize.h"
#include "engine/plan/spnl/server_body.h"
#include "engine/plan/spnl/simplify.h"
#include "engine/query/json.h"
#include "golden_rows.h"
#include "plan_text.h"

#include <QTest>

using namespace spanscope;
using namespace spanscope::plan;

namespace {

query::Node parse(const std::string& json) {
  query::ParseResult result = query::parseJson(json);
  if (!result.query) throw Failure({"", "", json, "a query"});
  return *result.query;
}

std::string g(const std::string& model, const std::string& input) {
  return R"({"g":{"model":")" + model + R"(","max_tokens":0,"temperature":0.5,"input":)" + input + "}}";
}
std::string u(const std::string& text) {
  return R"({"user":")" + text + R"("})";
}
std::string join(const std::string& kind, const std::string& children) {
  return "{\"" + kind + "\":[" + children + "]}";
}

QString text(const spnl::Rewritten& rewritten) {
  return rewritten.query ? QString::fromStdString(plan::testing::comparable(*rewritten.query)) : QString();
}

}  // namespace

class TestSpnlParity : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void goldenRows();
  void goldenYamlRows();
  void simplify_data();
  void simplify();
  void optimize_data();
  void optimize();
  void departures_data();
  void departures();
  void tooLarge();
  void serverBodies();
};

void TestSpnlParity::goldenRows() {
  const std::vector<plan::testing::GoldenRow> rows = plan::testing::goldenRows();
  QCOMPARE(rows.size(), std::size_t{455});
  int accepted = 0;
  for (const plan::testing::GoldenRow& row : rows) {
    QVERIFY2(!row.simplified.empty() && !row.optimized.empty(), row.id.c_str());
    const QString simple = text(spnl::simplifyOnce(row.query));
    QVERIFY2(simple == QString::fromStdString(row.simplified),
             (row.id + ": " + simple.toStdString()).c_str());
    const QString best = text(spnl::optimize(row.query));
    QVERIFY2(best == QString::fromStdString(row.optimized), (row.id + ": " + best.toStdString()).c_str());
    QVERIFY2(spnl::isServerBody(row.query) == row.serverAccepts, row.id.c_str());
    accepted += row.serverAccepts ? 1 : 0;
  }
  QCOMPARE(accepted, 106);
}

void TestSpnlParity::goldenYamlRows() {
  const std::vector<plan::testing::GoldenRow> rows = plan::testing::goldenYamlRows();
  if (rows.empty()) QSKIP("no golden/spnl/yaml.jsonl: set SPANSCOPE_GOLDEN_DIR");
  QCOMPARE(rows.size(), std::size_t{71});
  for (const plan::testing::GoldenRow& row : rows) {
    QVERIFY2(text(spnl::simplifyOnce(row.query)) == QString::fromStdString(row.simplified), row.id.c_str());
    QVERIFY2(text(spnl::optimize(row.query)) == QString::fromStdString(row.optimized), row.id.c_str());
  }
}

void TestSpnlParity::simplify_data() {
  QTest::addColumn<QString>("before");
  QTest::addColumn<QString>("after");
  const auto row = [](const char* name, const std::string& before, const std::string& after) {
    QTest::newRow(name) << QString::fromStdString(before) << QString::fromStdString(after);
  };
  const std::string ab = u("a") + "," + u("b");
  row("an empty message", u(""), join("seq", ""));
  row("an empty plus", join("plus", ""), join("seq", ""));
  row("an empty par is an empty plus", join("par", ""), join("plus", ""));
  row("an empty cross stays", join("cross", ""), join("cross", ""));
  row("a seq of one", join("seq", u("a")), u("a"));
  row("a seq that has one left", join("seq", u("") + "," + u("a")), join("seq", u("a")));
  row("a seq in a seq", join("seq", join("seq", ab) + "," + u("c")), join("seq", ab + "," + u("c")));
  row("a par of plus", join("par", join("plus", u("a")) + "," + join("plus", u("b"))), join("plus", ab));
  row("a cross in the last place", join("cross", u("a") + "," + join("cross", u("b"))), join("cross", ab));
  row("a cross in the first place", join("cross", join("cross", u("a")) + "," + u("b")),
      join("cross", join("cross", u("a")) + "," + u("b")));
  row("a plus whose first entry is a seq", join("plus", join("seq", ab) + "," + join("plus", u("c"))),
      join("plus", ab + "," + join("plus", u("c"))));
  row("a plus in a plus elsewhere", join("plus", u("a") + "," + join("plus", u("b"))), join("plus", ab));
  row("generates become a map", join("plus", g("m", u("a")) + "," + g("m", u("b"))),
      R"({"map":{"metadata":{"model":"m","max_tokens":0,"temperature":0.5},"inputs":["a","b"]}})");
  row("defaults are equal to what is left out",
      R"({"plus":[{"g":{"model":"m","input":{"user":"a"}}},{"g":{"model":"m","max_tokens":0,"temperature":0.6,"input":{"user":"b"}}}]})",
      R"({"map":{"metadata":{"model":"m","max_tokens":0,"temperature":0.6},"inputs":["a","b"]}})");
  row("one generate is no map", join("plus", g("m", u("a"))), join("plus", g("m", u("a"))));
  row("roles that differ are no map", join("plus", g("m", u("a")) + "," + g("m", R"({"system":"b"})")),
      join("plus", g("m", u("a")) + "," + g("m", R"({"system":"b"})")));
  row("a repeat with a bulk form",
      R"({"repeat":{"n":2,"g":{"model":"openai/m","max_tokens":0,"temperature":0.5,"input":{"seq":[{"user":"a"}]}}}})",
      R"({"repeat":{"n":2,"g":{"model":"openai/m","max_tokens":0,"temperature":0.5,"input":{"seq":[{"user":"a"}]}}}})");
  row("a repeat without",
      R"({"repeat":{"n":2,"g":{"model":"ollama/m","max_tokens":0,"temperature":0.5,"input":{"user":"a"}}}})",
      join("plus", g("ollama/m", u("a")) + "," + g("ollama/m", u("a"))));
  row("a zip is left alone", R"({"zip":{"first":{"seq":[{"user":"a"}]},"second":{"user":""}}})",
      R"({"zip":{"first":{"seq":[{"user":"a"}]},"second":{"user":""}}})");
}

void TestSpnlParity::simplify() {
  QFETCH(QString, before);
  QFETCH(QString, after);
  QCOMPARE(text(spnl::simplifyOnce(parse(before.toStdString()))), after);
}

void TestSpnlParity::optimize_data() {
  QTest::addColumn<QString>("before");
  QTest::addColumn<QString>("after");
  const auto row = [](const char* name, const std::string& before, const std::string& after) {
    QTest::newRow(name) << QString::fromStdString(before) << QString::fromStdString(after);
  };
  const std::string inner = g("spnl/m", join("seq", R"({"system":"s"},)" + u("a")));
  const std::string judged = g("spnl/m", join("seq", u("j") + "," + join("plus", inner + "," + inner)));
  const std::string own =
      R"({"system":"s"},)" + u("a") + "," + g("spnl/m", join("plus", R"({"system":"s"},)" + u("a")));
  const std::string further = join("seq", R"({"system":"s"},)" + u("a")) + "," +
                              g("spnl/m", join("plus", R"({"system":"s"},)" + u("a")));
  row("a judge on a server that reuses spans", judged,
      g("spnl/m", join("seq", u("j") + "," + join("plus", own + "," + further))));
  const std::string crossed = g("spnl/m", join("cross", u("j") + "," + join("plus", inner)));
  row("not under a cross", crossed, crossed);
  const std::string plain =
      g("ollama/m",
        join("seq", u("j") + "," + join("plus", g("ollama/m", join("seq", u("a") + "," + u("b"))))));
  row("not on a plain server", plain, plain);
  const std::string repeat =
      R"({"repeat":{"n":2,"g":{"model":"m","max_tokens":0,"temperature":0.5,"input":{"user":"a"}}}})";
  row("a repeat at the root", repeat, join("plus", repeat));
}

void TestSpnlParity::optimize() {
  QFETCH(QString, before);
  QFETCH(QString, after);
  QCOMPARE(text(spnl::optimize(parse(before.toStdString()))), after);
}

// Where Spanscope's own planner does otherwise on purpose. Each row: what the reference makes of a query, and
// the plan that the planner makes of the same.
//  - "map loses the role": the reference turns inner prompts of one system or assistant message into inputs
//  of
//    a map, which are user messages. The planner keeps each message as it is.
//  - "distribution scatters a scope": the reference puts the inner input into the outer plus entry by entry,
//    so that system and question of one candidate become scopes of their own, and so does the reply. The
//    planner keeps the inner prompt and its reply together as one scope (the closure), which is what the
//    inner step computed.
//  - "a plus takes in its first seq": the reference makes scopes of their own of messages that stood in one
//    scope, if they stand first. The planner keeps a scope whole wherever it stands.
//  - "a fixed number of rounds": the reference ends after five rounds, with joins left over. The planner goes
//    on until no rule matches.
//  - "a map without a bulk form": the reference writes it out and puts it together again in turn. The planner
//    writes every map out once.
void TestSpnlParity::departures_data() {
  QTest::addColumn<QString>("query");
  QTest::addColumn<QString>("reference");
  QTest::addColumn<QString>("prompt");  ///< of the last step, as show() writes it
  const auto row = [](const char* name, const std::string& query, const std::string& reference,
                      const char* prompt) {
    QTest::newRow(name) << QString::fromStdString(query) << QString::fromStdString(reference)
                        << QString(prompt);
  };
  const std::string system = R"({"system":"s"})";
  row("map loses the role", join("plus", g("m", system) + "," + g("m", system)),
      R"({"map":{"metadata":{"model":"m","max_tokens":0,"temperature":0.5},"inputs":["s","s"]}})", "s:s");
  const std::string inner = g("spnl/m", join("seq", system + "," + u("a")));
  row("distribution scatters a scope", g("spnl/m", join("seq", u("j") + "," + join("plus", inner))),
      g("spnl/m", join("seq", u("j") + "," +
                                  join("plus", system + "," + u("a") + "," +
                                                   g("spnl/m", join("plus", system + "," + u("a")))))),
      "[u:j {[[s:s u:a] >0]}]");
  row("a plus takes in its first seq",
      g("m", join("plus", join("seq", u("a") + "," + u("b")) + "," + u("c"))),
      g("m", join("plus", u("a") + "," + u("b") + "," + u("c"))), "{[u:a u:b] u:c}");
  std::string nested = u("x");
  std::string left = u("x");
  for (int i = 0; i < 8; ++i) nested = join("plus", nested);
  for (int i = 0; i < 3; ++i) left = join("plus", left);
  row("a fixed number of rounds", g("m", nested), g("m", left), "{u:x}");
  row("a map without a bulk form",
      R"({"map":{"metadata":{"model":"gemini/m","max_tokens":0,"temperature":0.5},"inputs":["a","b"]}})",
      join("plus", g("gemini/m", u("a")) + "," + g("gemini/m", u("b"))), "u:b");
}

void TestSpnlParity::departures() {
  QFETCH(QString, query);
  QFETCH(QString, reference);
  QFETCH(QString, prompt);
  const query::Node tree = parse(query.toStdString());
  QCOMPARE(text(spnl::optimize(tree)), reference);
  const PlanResult planned = makePlan(tree);
  QVERIFY(planned.plan.has_value());
  QCOMPARE(QString::fromStdString(plan::testing::show(planned.plan->steps.back().prompt)), prompt);
}

void TestSpnlParity::tooLarge() {
  std::string json = u("a");
  for (int i = 0; i < 4; ++i) {
    json = R"({"repeat":{"n":255,"g":{"model":"ollama/m","input":)" + json + "}}}";
  }
  const spnl::Rewritten result = spnl::optimize(parse(json));
  QVERIFY(!result.query.has_value());
  QVERIFY(result.problem.has_value());
  QVERIFY(QString::fromStdString(result.problem->found).contains("too large"));
}

void TestSpnlParity::serverBodies() {
  const std::string inner =
      R"({"repeat":{"n":2,"g":{"model":"m","max_tokens":9,"temperature":0.5,"input":)" +
      join("cross", R"({"print":"x"},)" + u("") + "," + join("plus", u("a") + "," + u("b")) + "," + u("q")) +
      "}}}";
  const std::string map =
      R"({"map":{"metadata":{"model":"m","max_tokens":0,"temperature":0.5},"inputs":["i"]}})";
  const std::string zip = g("m", R"({"zip":{"first":{"user":"a"},"second":{"user":"b"}}})");
  const query::Node tree =
      parse(join("seq", g("m", join("seq", join("plus", inner) + "," + u("best?"))) + "," + map + "," + zip));
  const spnl::ServerBodies result = spnl::serverBodies(tree);
  QCOMPARE(result.bodies.size(), std::size_t{2});
  QCOMPARE(result.bodies[0].node, std::string("/seq/0/g/input/seq/0/plus/0"));
  QCOMPARE(query::writeCanonical(result.bodies[0].body),
           R"({"repeat":{"n":2,"g":{"model":"m","max_tokens":9,"temperature":0.5,"input":)" +
               join("cross", join("plus", u("a") + "," + u("b")) + "," + u("q")) + "}}}");
  QCOMPARE(result.bodies[1].node, std::string("/seq/1"));
  for (const spnl::ServerBody& body : result.bodies) QVERIFY(spnl::isServerBody(body.body));
  QCOMPARE(result.withheld.size(), std::size_t{2});
  QCOMPARE(result.withheld[0].node, std::string("/seq/0"));
  QVERIFY(QString::fromStdString(result.withheld[0].reason).contains("reply"));
  QVERIFY(QString::fromStdString(result.withheld[1].reason).contains("\"zip\""));
}

QTEST_APPLESS_MAIN(TestSpnlParity)
#include "tst_spnl_parity.moc"
