// SPDX-License-Identifier: GPL-3.0-or-later
// What each target refuses or does otherwise: a table of target by feature.
#include "engine/export/feature_table.h"
#include "engine/query/json/json.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>

using namespace spanscope;
using namespace spanscope::exports;
using spanscope::product_text::says;

Q_DECLARE_METATYPE(spanscope::exports::TargetSettings)

class TestTargetRemarks : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void table_data();
  void table();
  void gravestFirst();
  void placesAreThoseOfTheQuery();
  void countsAreSaid();
  void everyRowCanBeMet();
};

namespace {

constexpr std::array kTargets{Target::Query,   Target::Yaml, Target::Lisp,  Target::Calls,
                              Target::Request, Target::Chat, Target::Tokens};

query::Node read(const QByteArray& json) {
  const query::ParseResult parsed = query::parseJson(json.toStdString());
  if (!parsed.query) qFatal("not a query: %s", json.constData());
  return *parsed.query;
}

QByteArray generate(const QByteArray& input, const QByteArray& model = "spnl/m") {
  return R"({"g":{"model":")" + model + R"(","max_tokens":9,"temperature":0.5,"input":)" + input + "}}";
}

char letterOf(Effect effect) {
  switch (effect) {
    case Effect::Refused:
      return 'R';
    case Effect::Differs:
      return 'D';
    case Effect::Note:
      break;
  }
  return 'n';
}

/// What is said of something: the letter of each target's remark that holds the words, '-' where there is
/// none, in the order JSON, YAML, Lisp, calls, request, chat, tokens.
QString effectsOn(const query::Node& query, const QString& words, const TargetSettings& settings) {
  QString effects;
  for (const Target target : kTargets) {
    const std::vector<TargetRemark> remarks = targetRemarks(query, target, settings);
    const auto found = std::find_if(remarks.begin(), remarks.end(), [&words](const TargetRemark& remark) {
      return says(remark.text, words);
    });
    effects += QLatin1Char(found == remarks.end() ? '-' : letterOf(found->effect));
  }
  return effects;
}

}  // namespace

void TestTargetRemarks::table_data() {
  QTest::addColumn<QByteArray>("query");
  QTest::addColumn<QString>("words");
  QTest::addColumn<QString>("effects");
  QTest::addColumn<TargetSettings>("settings");
  const TargetSettings asIs;
  const QByteArray inner = generate(R"({"user":"a"})");
  const auto row = [](const char* name, const QByteArray& query, const char* words, const char* effects,
                      const TargetSettings& settings = {}) {
    QTest::newRow(name) << query << QString::fromUtf8(words) << QString::fromUtf8(effects) << settings;
  };
  row("ask", generate(R"({"ask":"who?"})"), "An ask node", "RRRRRRR");
  row("file", generate(R"({"file":"a.txt"})"), "A file node", "RRRRRRR");
  row("number without a value", R"({"g":{"model":"spnl/m","max_tokens":"{n}","input":{"user":"a"}}})",
      "<name-stands-where|n>", "RRRRRRR");
  row("text without a value", generate(R"({"user":"{topic}"})"), "{topic} has no value", "nnnnnnn");
  row("no model", generate(R"({"user":"a"})", ""), "names no model", "RRRRRR-");
  row("no provider", generate(R"({"user":"a"})", "m"), "“m” has no provider", "RRR----");
  row("no provider, for servers", generate(R"({"user":"a"})", "m"), "must serve “m”", "----nn-");
  row("provider spnl", generate(R"({"user":"a"})", "spnl/org/m"), "must serve “org/m”", "----nn-");
  row("other provider", generate(R"({"user":"a"})", "ollama/m"), "plain chat", "DDD----");
  row("other provider, for chat", generate(R"({"user":"a"})", "ollama/m"), "without its provider", "-----n-");
  row("not a generate", R"({"plus":[{"user":"a"}]})", "begins with plus", "----R--");
  row("nothing generates", R"({"user":"a"})", "<no-generate-repeat>", "---R--R");
  row("inner generate", generate("{\"seq\":[" + inner + "]}"), "another generate", "----RD-");
  row("inner generate, the outer call", generate("{\"seq\":[" + inner + "]}"), "<call-withheld> generate",
      "---D--D");
  row("inner prompt under plus", generate("{\"plus\":[" + inner + "]}"), "<shared-prompt>", "-----D-");
  row("inner prompt of another model", generate("{\"plus\":[" + inner + "]}", "spnl/other"),
      "<shared-prompt>", "-------");
  row("message outside", "{\"seq\":[{\"user\":\"x\"}," + inner + "]}", "<message-stands-no>", "---DDDD");
  row("augment",
      generate(R"({"augment":{"embedding_model":"e","body":{"user":"q"},"doc":["d",{"Text":"t"}]}})"),
      "augment", "--RRRRR");
  row("zip", generate(R"({"zip":{"first":{"user":"a"},"second":{"user":"b"}}})"), "zip", "--RRRnR");
  row("monad", generate("{\"seq\":[{\"user\":\"a\"},{\"monad\":" + inner + "}]}"), "monad", "--RDRDD");
  row("print", generate(R"({"seq":[{"user":"a"},{"print":"p"}]})"), "A print", "---DRDD");
  row("repeat", R"({"repeat":{"n":2,"g":{"model":"spnl/m","input":{"user":"a"}}}})", "A repeat", "-----D-");
  row("map", R"({"map":{"metadata":{"model":"spnl/m"},"inputs":["a"]}})", "A map", "-----D-");
  const QByteArray plus = generate(R"({"cross":[{"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]})");
  row("plus", plus, "span patch", "---nn--");
  row("plus in a row", plus, "<plus-in-a-row>", "-----D-");
  row("plus alone is no plus", generate(R"({"plus":[{"user":"a"}]})"), "<plus-in-a-row>", "-------");
  row("plus of one after others", generate(R"({"seq":[{"system":"s"},{"plus":[{"user":"a"}]}]})"),
      "<plus-in-a-row>", "-----D-");
  row("plus without a marker", plus, "<without-plus-marker>", "------D", {.hasPlusMarker = false});
  row("plus with a marker", plus, "<without-plus-marker>", "-------");
  row("markers", plus, "VLLM_V1_SPANS_TOKEN_PLUS", "------n");
  row("cross without a marker", plus, "<without-cross-marker>", "------D", {.hasCrossMarker = false});
  row("assistant", generate(R"({"seq":[{"assistant":"b"},{"user":"a"}]})"), "truncate", "---DD-D");
  row("temperature below 0", R"({"g":{"model":"spnl/m","temperature":-1,"input":{"user":"a"}}})",
      "below 0 or not finite", "DDDDD--");
  row("temperature below 0, for chat", R"({"g":{"model":"spnl/m","temperature":-1,"input":{"user":"a"}}})",
      "<finite-number-up>", "-----R-");
  row("no temperature", R"({"g":{"model":"spnl/m","max_tokens":3,"input":{"user":"a"}}})", "0.6", "nnnnnn-");
  const QByteArray nulls =
      R"({"g":{"model":"spnl/m","max_tokens":null,"temperature":null,"input":{"user":"a"}}})";
  row("null temperature left out", nulls, "<temperature-null-spnl>", "D--D---", {.leavesOutNulls = true});
  row("null number left out", nulls, "<number-tokens-null>", "n--n---", {.leavesOutNulls = true});
  row("null kept", nulls, "is null", "-------");
  row("no number of tokens", R"({"g":{"model":"spnl/m","temperature":0,"input":{"user":"a"}}})",
      "no max tokens", "nnnnnn-");
  row("YAML number", generate(R"({"user":"12"})"), "<ibm-spnl-may>", "-R-----");
  row("empty prompt", generate(R"({"seq":[]})"), "has no message", "-----R-");
  row("late system", generate(R"({"seq":[{"user":"a"},{"system":"s"}]})"), "<system-message-not>", "-----n-");
  row("two users", generate(R"({"seq":[{"user":"a"},{"user":"b"}]})"), "same role", "-----n-");
  row("several requests", R"({"map":{"metadata":{"model":"spnl/m"},"inputs":["a","b"]}})", "2 requests",
      "-----n-");
  const QByteArray systems =
      "{\"plus\":[" + generate(R"({"system":"a"})") + "," + generate(R"({"system":"b"})") + "]}";
  row("role lost by simplify", systems, "<simplify-makes-map>", "DDD----",
      {.stage = ExportStage::Simplified});
  row("role kept as read", systems, "<simplify-makes-map>", "-------");
  row("role kept without a map",
      R"({"plus":[{"g":{"model":"ollama/m","input":{"system":"a"}}},{"g":{"model":"ollama/m","input":{"system":"b"}}}]})",
      "<simplify-makes-map>", "-------", {.stage = ExportStage::Optimized});
  row("plain chat", generate(R"({"seq":[{"system":"s"},{"user":"a"}]})"), "", "----nn-");
}

void TestTargetRemarks::table() {
  QFETCH(QByteArray, query);
  QFETCH(QString, words);
  QFETCH(QString, effects);
  QFETCH(TargetSettings, settings);
  QCOMPARE(effectsOn(read(query), words, settings), effects);
}

void TestTargetRemarks::gravestFirst() {
  const query::Node query = read(generate(
      R"({"cross":[{"plus":[{"user":"a"},{"user":"1"}]},{"ask":"q"},{"assistant":"b"},{"print":"p"}]})"));
  for (const Target target : kTargets) {
    const std::vector<TargetRemark> remarks = targetRemarks(query, target);
    QVERIFY(!remarks.empty());
    QVERIFY(std::is_sorted(remarks.begin(), remarks.end(),
                           [](const TargetRemark& a, const TargetRemark& b) { return a.effect < b.effect; }));
  }
}

void TestTargetRemarks::placesAreThoseOfTheQuery() {
  const query::Node query = read(generate("{\"cross\":[{\"plus\":[" + generate(R"({"user":"a"})") + "," +
                                          generate(R"({"user":"b"})") + R"(]},{"user":"q"}]})"));
  for (const TargetRemark& remark : targetRemarks(query, Target::Chat)) {
    for (const NodePath& place : remark.places) QVERIFY2(query::nodeAt(query, place), place.c_str());
    if (remark.text.find("2 generate nodes") == 0) {
      QCOMPARE(remark.places, (std::vector<NodePath>{"/g/input/cross/0/plus/0", "/g/input/cross/0/plus/1"}));
      return;
    }
  }
  QFAIL("inner generates are not told of");
}

void TestTargetRemarks::countsAreSaid() {
  const query::Node query = read(generate(R"({"seq":[{"print":"a"},{"user":"x"},{"print":"b"}]})"));
  QCOMPARE(effectsOn(query, "2 prints", {}), QString("---DRDD"));
}

/// A row that no target shows, or that says nothing, would be forgotten.
void TestTargetRemarks::everyRowCanBeMet() {
  std::set<std::tuple<int, std::string, int>> seen;
  for (const FeatureRow& row : featureTable()) {
    QVERIFY(!row.one.empty());
    QVERIFY2(row.many.empty() || row.many.find("{n}") != std::string_view::npos, row.many.data());
    QVERIFY(row.one.find("{n}") == std::string_view::npos);
    int shown = 0;
    for (const Target target : kTargets) {
      if (!row.targets.has(target)) continue;
      ++shown;
      // Two rows for one pair are duplicates, unless conditions distinguish them.
      if (row.condition == RowCondition::Always)
        QVERIFY2(seen.insert({static_cast<int>(row.feature), std::string(row.name), static_cast<int>(target)})
                     .second,
                 row.one.data());
    }
    QVERIFY2(shown > 0, row.one.data());
  }
}

SPANSCOPE_TEST(tst_target_remarks, TestTargetRemarks)
#include "tst_target_remarks.moc"
