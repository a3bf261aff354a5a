// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the reference's simplify, optimizer and server endpoint with its recorded results.
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/spnl/optimize.h"
#include "engine/spnl/request_text.h"
#include "tests/engine/plan/plan_text.h"
#include "tests/engine/spnl/golden_rows.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::plan;
using spanscope::product_text::says;

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
std::string repeat(int count, const std::string& model, const std::string& input) {
  return R"({"repeat":{"n":)" + std::to_string(count) + R"(,"g":{"model":")" + model +
         R"(","max_tokens":0,"temperature":0.5,"input":)" + input + "}}}";
}
std::string map(const std::string& model, const std::string& inputs) {
  return R"({"map":{"metadata":{"model":")" + model + R"(","max_tokens":0,"temperature":0.5},"inputs":[)" +
         inputs + "]}}";
}
std::string monad(const std::string& body) {
  return R"({"monad":)" + body + "}";
}
std::string zip(const std::string& first, const std::string& second) {
  return R"({"zip":{"first":)" + first + R"(,"second":)" + second + "}}";
}

/// The texts of the messages that are not empty.
std::string texts(const query::Node& node) {
  if (const auto* message = node.as<query::Message>()) return message->text;
  std::string result;
  for (const query::ChildRef& child : query::childrenOf(node)) result += texts(*child.node);
  return result;
}

bool hasEmptyMessage(const query::Node& node) {
  if (const auto* message = node.as<query::Message>()) return message->text.empty();
  const std::vector<query::ChildRef> children = query::childrenOf(node);
  return std::any_of(children.begin(), children.end(),
                     [](const query::ChildRef& child) { return hasEmptyMessage(*child.node); });
}

QString text(const spnl::Rewritten& rewritten) {
  return rewritten.query ? QString::fromStdString(plan::testing::comparable(*rewritten.query)) : QString();
}

}  // namespace

class TestSpnlParity : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void goldenRows_data();
  void goldenRows();
  void goldenYamlRows();
  void simplify_data();
  void simplify();
  void optimize_data();
  void optimize();
  void everySmallTree();
  void departures_data();
  void departures();
  void tooLarge();
  void partsShareTheLimits();
  void serverBodies();
};

void TestSpnlParity::goldenRows_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<int>("rows");
  QTest::addColumn<int>("accepted");  ///< by the server's endpoint
  QTest::newRow("edge cases and random trees") << "spnl-json.jsonl" << 455 << 106;
  QTest::newRow("more random trees") << "spnl-json-more.jsonl" << 297 << 63;
}

void TestSpnlParity::goldenRows() {
  QFETCH(QString, file);
  QFETCH(int, rows);
  QFETCH(int, accepted);
  int found = 0;
  int taken = 0;
  QStringList differing;
  for (const plan::testing::GoldenRow& row : plan::testing::goldenRows(file.toStdString())) {
    QVERIFY2(!row.simplified.empty() && !row.optimized.empty(), row.id.c_str());
    const QString id = QString::fromStdString(row.id) + ": ";
    const QString simple = text(spnl::simplifyOnce(row.query));
    if (simple != QString::fromStdString(row.simplified)) differing << id + "simplified " + simple;
    const QString best = text(spnl::optimize(row.query));
    if (best != QString::fromStdString(row.optimized)) differing << id + "optimized " + best;
    if (spnl::isServerBody(row.query) != row.serverAccepts) differing << id + "server_accepts";
    ++found;
    taken += row.serverAccepts ? 1 : 0;
  }
  QVERIFY2(differing.isEmpty(), qPrintable(differing.join('\n')));
  QCOMPARE(found, rows);
  QCOMPARE(taken, accepted);
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
  row("a repeat with a bulk form", repeat(2, "openai/m", join("seq", u("a"))),
      repeat(2, "openai/m", join("seq", u("a"))));
  row("a repeat without", repeat(2, "ollama/m", u("a")),
      join("plus", g("ollama/m", u("a")) + "," + g("ollama/m", u("a"))));
  row("a repeat of none", repeat(0, "gemini/m", u("a")), join("plus", ""));
  row("what is repeated is left alone", repeat(1, "spnl/m", join("seq", u(""))),
      join("plus", g("spnl/m", join("seq", u("")))));
  row("a map with a bulk form", map("spnl/m", R"("a","b")"), map("spnl/m", R"("a","b")"));
  row("a map without", map("gemini/m", R"("a","")"),
      join("plus", g("gemini/m", u("a")) + "," + g("gemini/m", u(""))));
  row("a map of none", map("disable_bulk_map/m", ""), join("plus", ""));
  row("a zip is left alone", zip(join("seq", u("a")), u("")), zip(join("seq", u("a")), u("")));

  // What vanishes is an empty message, an empty seq, an empty plus, and a seq or par of nothing but one of
  // these. A seq that only becomes empty is still there.
  const std::string nothing = join("seq", u("") + "," + u(""));
  const std::string left = join("seq", "");
  row("a seq that becomes empty", nothing, left);
  for (const char* kind : {"plus", "cross", "par"}) {
    const std::string name(kind);
    row(("in a " + name + ": an empty message").c_str(), join(kind, u("a") + "," + u("")),
        join(kind, u("a")));
    row(("in a " + name + ": an empty seq").c_str(), join(kind, u("a") + "," + join("seq", "")),
        join(kind, u("a")));
    row(("in a " + name + ": an empty plus").c_str(), join(kind, u("a") + "," + join("plus", "")),
        join(kind, u("a")));
    row(("in a " + name + ": a seq of one that vanishes").c_str(),
        join(kind, u("a") + "," + join("seq", join("par", u("")))), join(kind, u("a")));
    row(("in a " + name + ": a seq that becomes empty").c_str(), join(kind, u("a") + "," + nothing),
        join(kind, u("a") + "," + left));
    row(("in a " + name + ": a seq of one that becomes empty").c_str(),
        join(kind, u("a") + "," + join("seq", nothing)), join(kind, u("a") + "," + left));
    row(("in a " + name + ": a monad of nothing").c_str(), join(kind, u("a") + "," + monad(u(""))),
        join(kind, u("a") + "," + monad(left)));
  }
  for (const char* kind : {"plus", "par", "seq"}) {
    row((std::string("in a ") + kind + ": an empty cross").c_str(),
        join(kind, u("a") + "," + join("cross", u(""))), join(kind, u("a") + "," + join("cross", "")));
  }
  row("in a seq: a seq that becomes empty", join("seq", u("a") + "," + nothing), join("seq", u("a")));
  row("in a first seq: a seq that becomes empty", join("plus", join("seq", nothing + "," + u("a"))),
      join("plus", left + "," + u("a")));
  row("in a plus: an empty par", join("plus", u("a") + "," + join("par", "")), join("plus", u("a")));
  row("in a cross: an empty par", join("cross", u("a") + "," + join("par", "")),
      join("cross", u("a") + "," + join("plus", "")));
  row("in a seq: a repeat of none", join("seq", u("a") + "," + repeat(0, "spnl/m", u("b"))),
      join("seq", u("a") + "," + join("plus", "")));
  row("a plus of one empty seq", join("plus", join("seq", "")), join("plus", ""));
  row("a plus of one empty message", join("plus", u("")), join("plus", ""));
  row("a plus of empty plus", join("plus", join("plus", "") + "," + join("plus", "")), join("plus", ""));
  row("a generate of nothing", g("m", u("")), g("m", left));
  row("a generate of a seq that becomes empty", g("m", nothing), g("m", left));

  // The rule that rewrites a join is chosen before its children are rewritten. A join whose children are
  // taken over unchanged waits for the next round.
  row("a par of what becomes a plus",
      join("par", join("seq", join("plus", u("a"))) + "," + join("plus", u("b"))),
      join("par", join("plus", u("a")) + "," + join("plus", u("b"))));
  row("a par of plus and what vanishes", join("par", join("plus", u("a")) + "," + u("")),
      join("par", join("plus", u("a"))));
  row("a par of plus leaves what is in them",
      join("par", join("plus", u("")) + "," + join("plus", join("seq", u("a")))),
      join("plus", u("") + "," + join("seq", u("a"))));
  row("a plus of plus leaves what is in them", join("plus", join("plus", u("") + "," + join("plus", u("a")))),
      join("plus", u("") + "," + join("plus", u("a"))));
  row("a plus of what becomes a plus",
      join("plus", join("par", join("plus", u("a"))) + "," + join("plus", u("b"))), join("plus", ab));
  row("a plus whose first entry is a seq of plus",
      join("plus", join("seq", join("plus", u("a"))) + "," + join("plus", u("b"))),
      join("plus", join("plus", u("a")) + "," + join("plus", u("b"))));
  row("a plus whose first entry becomes a seq", join("plus", join("par", join("seq", ab)) + "," + u("c")),
      join("plus", join("seq", ab) + "," + u("c")));
  row("a cross whose last entry becomes a cross",
      join("cross", u("a") + "," + join("seq", join("cross", u("b")))),
      join("cross", u("a") + "," + join("cross", u("b"))));
  row("a cross in a cross in the last place",
      join("cross", join("cross", u("a") + "," + join("cross", u("b")))),
      join("cross", u("a") + "," + join("cross", u("b"))));
  row("a seq of seqs", join("seq", join("seq", join("seq", ab) + "," + u("c")) + "," + join("seq", u("d"))),
      join("seq", ab + "," + u("c") + "," + u("d")));
  row("what is written out in a plus", join("plus", u("a") + "," + repeat(2, "spnl/m", u("b"))),
      join("plus", u("a") + "," + g("spnl/m", u("b")) + "," + g("spnl/m", u("b"))));
  row("what is written out is no map yet", join("plus", repeat(2, "spnl/m", u("b"))),
      join("plus", g("spnl/m", u("b")) + "," + g("spnl/m", u("b"))));

  // A map is made of the entries of the plus before any of them vanishes.
  row("a map of empty messages", join("plus", g("m", u("")) + "," + g("m", u(""))), map("m", R"("","")"));
  row("a map of assistants",
      join("plus", g("m", R"({"assistant":"a"})") + "," + g("m", R"({"assistant":"b"})")),
      map("m", R"("a","b")"));
  row("no map with what vanishes", join("plus", g("m", u("a")) + "," + g("m", u("b")) + "," + u("")),
      join("plus", g("m", u("a")) + "," + g("m", u("b"))));
  row("no map of a seq of one", join("plus", g("m", join("seq", u("a"))) + "," + g("m", u("b"))),
      join("plus", g("m", u("a")) + "," + g("m", u("b"))));
  row("no map of two models", join("plus", g("m", u("a")) + "," + g("n", u("b"))),
      join("plus", g("m", u("a")) + "," + g("n", u("b"))));
  row("null is not what is left out",
      R"({"plus":[{"g":{"model":"m","max_tokens":null,"input":{"user":"a"}}},{"g":{"model":"m","input":{"user":"b"}}}]})",
      R"({"plus":[{"g":{"model":"m","max_tokens":null,"temperature":0.6,"input":{"user":"a"}}},{"g":{"model":"m","max_tokens":0,"temperature":0.6,"input":{"user":"b"}}}]})");
  row("null is null",
      R"({"plus":[{"g":{"model":"m","temperature":null,"input":{"user":"a"}}},{"g":{"model":"m","temperature":null,"input":{"user":"b"}}}]})",
      R"({"map":{"metadata":{"model":"m","max_tokens":0,"temperature":null},"inputs":["a","b"]}})");
  row("minus zero is zero",
      R"({"plus":[{"g":{"model":"m","temperature":-0.0,"input":{"user":"a"}}},{"g":{"model":"m","temperature":0.0,"input":{"user":"b"}}}]})",
      R"({"map":{"metadata":{"model":"m","max_tokens":0,"temperature":-0.0},"inputs":["a","b"]}})");
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
  // A repeat is under a separate plus, and its input is optimized.
  row("a repeat at the root", repeat(2, "m", u("a")), join("plus", repeat(2, "m", u("a"))));
  row("a repeat in a repeat", repeat(3, "openai/m", repeat(2, "spnl/m", u("a"))),
      join("plus", repeat(3, "openai/m", join("plus", repeat(2, "spnl/m", u("a"))))));
  row("a repeat in a cross", join("cross", repeat(1, "m", repeat(0, "m", u("a"))) + "," + u("b")),
      join("cross", join("plus", repeat(1, "m", join("plus", repeat(0, "m", u("a"))))) + "," + u("b")));
  row("a repeat in a seq is left alone", join("seq", repeat(1, "m", repeat(1, "m", u("a"))) + "," + u("b")),
      join("seq", repeat(1, "m", repeat(1, "m", u("a"))) + "," + u("b")));
  row("a repeat in a monad is left alone", monad(repeat(2, "m", u("a"))), monad(repeat(2, "m", u("a"))));
  row("what is repeated is not simplified", repeat(2, "m", join("seq", u("a"))),
      join("plus", repeat(2, "m", join("seq", u("a")))));
  row("but the input of a generate in it is", repeat(2, "m", g("m", join("seq", u("a")))),
      join("plus", repeat(2, "m", g("m", u("a")))));

  // The input of a generate has one round of simplify more for each generate around it. Seen where what is
  // written out is put together again in turn: whether the rounds are odd or even decides.
  const std::string gemini = repeat(2, "gemini/m", u("a"));
  const std::string written = join("plus", g("gemini/m", u("a")) + "," + g("gemini/m", u("a")));
  const std::string together = map("gemini/m", R"("a","a")");
  row("rounds: at the root", gemini, written);
  row("rounds: in a generate", g("m", gemini), g("m", together));
  row("rounds: in two generates", g("m", g("m", gemini)), g("m", g("m", written)));
  row("rounds: a generate in a repeat", repeat(2, "m", g("m", gemini)),
      join("plus", repeat(2, "m", g("m", written))));
  row("rounds: in a seq in a generate", g("m", join("seq", u("j") + "," + gemini)),
      g("m", join("seq", u("j") + "," + together)));
  row("rounds: in a generate that reuses spans", g("spnl/m", repeat(2, "spnl/m", u("a"))),
      g("spnl/m", map("spnl/m", R"("a","a")")));

  // Distribution looks at the simplified input.
  const std::string a = g("spnl/m", u("a"));
  const std::string aa = u("a") + "," + g("spnl/m", join("plus", u("a")));
  const auto judge = [](const std::string& candidates) {
    return g("spnl/m", join("seq", u("j") + "," + candidates));
  };
  row("one candidate", judge(join("plus", a)), judge(join("plus", aa)));
  row("candidates of two models", judge(join("plus", a + "," + g("m", u("b")))),
      judge(join("plus", aa + "," + u("b") + "," + g("m", join("plus", u("b"))))));
  row("candidates that are a map", judge(join("plus", a + "," + a)), judge(map("spnl/m", R"("a","a")")));
  row("a candidate beside the plus", judge(a), judge(a));
  row("a message among the candidates", judge(join("plus", a + "," + u("b"))),
      judge(join("plus", a + "," + u("b"))));
  row("an empty message among the candidates", judge(join("plus", a + "," + u(""))), judge(join("plus", aa)));
  row("a repeat without bulk form in the seq", judge(repeat(1, "spnl/m", u("a"))), judge(join("plus", aa)));
  row("a repeat without bulk form in a plus", judge(join("plus", repeat(1, "spnl/m", u("a")))),
      judge(join("plus", aa)));
  row("a repeat of none", judge(repeat(0, "spnl/m", u("a"))), g("spnl/m", u("j")));
  row("a repeat with bulk form among the candidates", judge(join("plus", a + "," + repeat(2, "m", u("a")))),
      judge(join("plus", a + "," + repeat(2, "m", u("a")))));
  row("a plus of plus of generates", judge(join("plus", join("plus", a + "," + g("m", u("b"))))),
      judge(join("plus", aa + "," + u("b") + "," + g("m", join("plus", u("b"))))));
  row("a seq in the seq", judge(join("seq", join("plus", a) + "," + u("b"))),
      judge(join("plus", aa) + "," + u("b")));
  row("a seq of one is no seq", g("spnl/m", join("seq", join("plus", a))), g("spnl/m", join("plus", a)));
  row("a seq with what vanishes", g("spnl/m", join("seq", join("plus", a) + "," + u(""))),
      g("spnl/m", join("plus", aa)));
  row("a par of one seq", g("spnl/m", join("par", join("seq", u("j") + "," + join("plus", a)))),
      judge(join("plus", aa)));
  row("an inner input of one message twice over",
      judge(join("plus", g("spnl/m", join("seq", join("seq", u("a")))))), judge(join("plus", aa)));
  row("an inner input that is empty", judge(join("plus", g("spnl/m", u("")))),
      judge(join("plus", g("spnl/m", join("seq", "")))));
  const std::string two = g("gemini/m", u("a")) + "," + g("gemini/m", u("a"));
  row("an inner input of two generates", judge(join("plus", g("spnl/m", join("seq", two)))),
      judge(join("plus", two + "," + g("spnl/m", join("plus", two)))));
  row("in a plus", join("plus", judge(join("plus", a)) + "," + u("b")),
      join("plus", judge(join("plus", aa)) + "," + u("b")));
  row("in a repeat, whose input is not simplified afterwards", repeat(2, "m", judge(join("plus", a))),
      join("plus", repeat(2, "m", judge(join("plus", join("plus", aa))))));
  row("not in a seq", join("seq", judge(join("plus", a)) + "," + u("b")),
      join("seq", judge(join("plus", a)) + "," + u("b")));
  row("not in a par", join("par", judge(join("plus", a)) + "," + u("b")),
      join("par", judge(join("plus", a)) + "," + u("b")));
  row("not in a monad", monad(judge(join("plus", a))), monad(judge(join("plus", a))));
  row("not in a zip", zip(u("b"), judge(join("plus", a))), zip(u("b"), judge(join("plus", a))));
  row("not within what was distributed", judge(join("plus", judge(join("plus", a)))),
      judge(join("plus", u("j") + "," + a + "," + g("spnl/m", join("plus", u("j") + "," + a)))));

  // A repeat that is sent as it is becomes a zip of its input and itself.
  const std::string both = R"({"system":"s"},)" + u("a");
  for (const char* model : {"m", "openai/m", "disable_bulk_map/m"}) {
    row((std::string("a repeat with bulk form: ") + model).c_str(), judge(repeat(2, model, u("a"))),
        judge(zip(u("a"), repeat(2, model, join("plus", u("a"))))));
  }
  row("a repeat with bulk form of a seq", judge(repeat(2, "m", join("seq", both))),
      judge(zip(join("plus", both), repeat(2, "m", join("plus", both)))));
  row("a repeat with bulk form of a plus", judge(repeat(0, "m", join("plus", both))),
      judge(zip(join("plus", both), repeat(0, "m", join("plus", join("plus", both))))));
  row("a repeat with bulk form, not simplified", judge(repeat(1, "m", join("seq", join("seq", u("a"))))),
      judge(zip(join("plus", join("seq", u("a"))), repeat(1, "m", join("plus", join("seq", u("a")))))));
  row("a repeat with bulk form on a plain server", g("m", join("seq", u("j") + "," + repeat(2, "m", u("a")))),
      g("m", join("seq", u("j") + "," + repeat(2, "m", u("a")))));
  row("a repeat with bulk form that is all of the input", g("spnl/m", repeat(2, "m", u("a"))),
      g("spnl/m", join("plus", repeat(2, "m", u("a")))));
  row("a repeat of unknown number",
      judge(
          R"({"repeat":{"n":"{n}","g":{"model":"spnl/m","max_tokens":0,"temperature":0.5,"input":{"user":"a"}}}})"),
      judge(zip(
          u("a"),
          R"({"repeat":{"n":"{n}","g":{"model":"spnl/m","max_tokens":0,"temperature":0.5,"input":{"plus":[{"user":"a"}]}}}})")));
}

void TestSpnlParity::optimize() {
  QFETCH(QString, before);
  QFETCH(QString, after);
  QCOMPARE(text(spnl::optimize(parse(before.toStdString()))), after);
}

// What the rules imply for any tree of joins and messages: texts and their order stay, enough rounds end, and
// the optimizer is nothing but rounds, one more of them for the input of a generate.
void TestSpnlParity::everySmallTree() {
  using query::JoinKind;
  const auto joined = [](const std::vector<query::Node>& pool) {
    std::vector<query::Node> result;
    for (const JoinKind kind : {JoinKind::Seq, JoinKind::Par, JoinKind::Cross, JoinKind::Plus}) {
      result.push_back({query::Join{kind, {}}});
      for (const query::Node& first : pool) {
        result.push_back({query::Join{kind, {first}}});
        for (const query::Node& second : pool) result.push_back({query::Join{kind, {first, second}}});
      }
    }
    return result;
  };
  const query::Node message{query::Message{query::Role::User, "a"}};
  std::vector<query::Node> pool = joined({message, {query::Message{query::Role::System, ""}}});
  pool.push_back(message);
  for (const query::Node& tree : joined(pool)) {
    const auto rounds = [&tree](int count) {
      query::Node node = tree;
      for (int i = 0; i < count; ++i) node = *spnl::simplifyOnce(std::move(node)).query;
      return node;
    };
    const std::string name = query::writeCanonical(tree);
    for (int i = 0; i < 7; ++i) {
      QVERIFY2(texts(rounds(i)) == texts(tree), name.c_str());
      QVERIFY2(!hasEmptyMessage(rounds(3 + i)), name.c_str());
    }
    QVERIFY2(rounds(6) == rounds(7), name.c_str());
    QVERIFY2(*spnl::optimize(tree).query == rounds(5), name.c_str());
    const query::GenerateSettings settings{"spnl/m", {}, {}};
    const query::Node outer{query::Generate{settings, tree}};
    QVERIFY2(*spnl::optimize(outer).query == (query::Node{query::Generate{settings, rounds(6)}}),
             name.c_str());
  }
}

// Intended differences of Spanscope's planner. Each row: the reference's result for a query, and the plan
// that the planner makes of it.
//  - "map loses the role": the reference turns inner prompts of one system or assistant message into inputs
//    of a map, which are user messages. The planner keeps each message as it is.
//  - "distribution scatters a scope": the reference puts the inner input into the outer plus entry by entry,
//    so that system and question of one candidate become separate scopes, and so does the answer. The planner
//    keeps the inner prompt and its answer together as one scope (the subquery result), which the inner step
//    computed.
//  - "a plus takes in its first seq": the reference makes separate scopes of messages of one scope, if they
//    come first. The planner keeps a scope whole at any place.
//  - "a fixed number of rounds": the reference ends after five rounds and one for each generate around, with
//    joins left over. The planner continues until no rule matches.
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
  for (int i = 0; i < 2; ++i) left = join("plus", left);
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

void TestSpnlParity::partsShareTheLimits() {
  spnl::Size size{spnl::kMaxNodes - 4, 0};
  QVERIFY(spnl::simplifyPart(parse(repeat(2, "ollama/m", u("a"))), size).has_value());
  QCOMPARE(size.nodes, spnl::kMaxNodes);
  QCOMPARE(size.textBytes, std::size_t{2});
  QVERIFY(!spnl::simplifyPart(parse(repeat(1, "ollama/m", u(""))), size).has_value());
  QVERIFY(!spnl::simplifyPart(parse(map("ollama/m", R"("a","b")")), size).has_value());
  QVERIFY(spnl::simplifyPart(parse(repeat(0, "ollama/m", u("a"))), size).has_value());
  // What is put together again makes room.
  QVERIFY(spnl::simplifyPart(parse(join("plus", g("m", u("a")) + "," + g("m", u("b")))), size).has_value());
  QVERIFY(spnl::simplifyPart(parse(map("ollama/m", R"("a","b")")), size).has_value());
  QCOMPARE(size.nodes, spnl::kMaxNodes);
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
  QVERIFY(says(result.withheld[0].reason, "<call-prompt-holds-reply>"));
  QVERIFY(QString::fromStdString(result.withheld[1].reason).contains("\"zip\""));
}

SPANSCOPE_TEST(tst_spnl_parity, TestSpnlParity)
#include "tst_spnl_parity.moc"
