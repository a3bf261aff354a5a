// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/simulator/servers.h"
#include "tests/engine/simulator/scenario_lines.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::simulator;
using namespace spanscope::simulator::testing;
using spanscope::product_text::worded;

class TestSglangSimulator : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void recorded_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("count");
    QTest::newRow("radix cache") << SPANSCOPE_TEST_DATA_DIR "/sglang.jsonl.gz" << 120;
    QTest::newRow("unified radix cache") << SPANSCOPE_TEST_DATA_DIR "/sglang-unified.jsonl.gz" << 40;
  }
  /// Every scenario that was recorded from the server's trees, op by op, from its requests alone.
  void recorded() {
    QFETCH(QString, file);
    QFETCH(int, count);
    const std::vector<std::string> lines = scenarioLines(file.toStdString());
    QCOMPARE(int(lines.size()), count);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Json expected = Json::parse(lines[i]);
      Json scenario = expected;
      strip(scenario, {"cached", "refused", "ok", "evicted", "free_tokens", "evictable", "protected"});
      const Json found = replayed(kSglang, scenario);
      const std::string difference = differenceInOps(found, expected);
      QVERIFY2(difference.empty(), ("line " + std::to_string(i + 1) + ", " + difference).c_str());
      // Earlier results are not read, and are written again.
      for (Json& op : scenario["ops"])
        for (const char* name : {"cached", "refused", "evicted", "ok"}) op[name] = "wrong";
      QVERIFY(sameValue(replayed(kSglang, scenario), expected));
    }
  }

  void rules_data() {
    QTest::addColumn<QString>("scenario");
    QTest::addColumn<QString>("cached");
    const auto row = [](const char* name, const QString& settings, const QString& ops,
                        const QString& cached) {
      QTest::newRow(name) << "{" + settings + R"(, "ops": [)" + ops + "]}" << cached;
    };
    const auto served = [](const QString& name, const QString& tokens, const QString& more = {}) {
      return QString(R"({"op": "admit", "request": "%1", "prompt": [%2]%3}, {"op": "free", "request": "%1"})")
          .arg(name, tokens, more);
    };
    const QString wide = R"("tokens": 100)";
    const auto list = [](const QStringList& ops) { return ops.join(", "); };
    row("the last token is computed again", wide, list({served("a", "1, 2, 3"), served("b", "1, 2, 3")}),
        "0 2");
    row("by the token", wide,
        list({served("a", "1, 2, 3"), served("b", "1, 2, 4, 5"), served("c", "1, 2, 4, 6")}), "0 2 3");
    row("by the page", R"("tokens": 100, "page_size": 2)",
        list({served("a", "1, 2, 3, 4, 5"), served("b", "1, 2, 3, 4"), served("c", "1, 2, 3, 4, 5"),
              served("d", "1, 2, 3, 9")}),
        "0 2 4 2");
    row("a reply that was computed", wide,
        R"({"op": "admit", "request": "a", "prompt": [1, 2]}, {"op": "decode", "request": "a", "steps": [{"token": 3}]},
           {"op": "free", "request": "a"}, {"op": "admit", "request": "b", "prompt": [1, 2, 3, 4]})",
        "0 3");
    row("a reply only when its request has ended", wide,
        R"({"op": "admit", "request": "a", "prompt": [1, 2]}, {"op": "decode", "request": "a", "steps": [{"token": 3}]},
           {"op": "admit", "request": "b", "prompt": [1, 2, 3, 4]})",
        "0 2");
    row("a salt and a key keep apart", wide,
        list({served("a", "1, 2, 3"), served("b", "1, 2, 3", R"(, "salt": "s")"),
              served("c", "1, 2, 3", R"(, "extra_key": "s")"), served("d", "1, 2, 3", R"(, "salt": "s")")}),
        "0 0 0 2");
    row("what was used longest ago goes first", R"("tokens": 9)",
        list({served("a", "1, 2, 3"), served("b", "11, 12, 13"), served("c", "21, 22, 23"),
              served("d", "1, 2, 3"), served("e", "31, 32, 33"), served("f", "1, 2, 3"),
              served("g", "11, 12, 13")}),
        "0 0 0 2 0 2 0");
    row("a whole node goes", R"("tokens": 9)",
        list({served("a", "1, 2, 3, 4, 5, 6"), served("b", "11, 12, 13, 14"),
              served("c", "1, 2, 3, 4, 5, 6")}),
        "0 0 0");
    row("ends go before beginnings", R"("tokens": 9)",
        list({served("a", "1, 2, 3, 4"), served("b", "1, 2, 5, 6"), served("c", "11, 12, 13, 14"),
              served("d", "1, 2, 3, 4")}),
        "0 2 0 2");
    row("what runs stays", R"("tokens": 6)",
        list({R"({"op": "admit", "request": "a", "prompt": [1, 2, 3]})", served("b", "11, 12, 13"),
              served("c", "21, 22, 23"), served("d", "1, 2, 3, 4, 5, 6, 7"), served("e", "1, 2, 3, 4")}),
        "0 0 0 3r 3");
  }
  /// Each rule by the least requests that show it.
  void rules() {
    QFETCH(QString, scenario);
    QFETCH(QString, cached);
    const Json found = replayed(kSglang, Json::parse(scenario.toStdString()));
    QStringList each;
    for (const Json& op : found["ops"])
      if (op.contains("cached"))
        each << QString::number(op["cached"].get<int>()) + (op.contains("refused") ? "r" : "");
    QCOMPARE(each.join(' '), cached);
  }

  /// Splits keep their realm while the tree grows, whatever its length.
  void manySaltedRuns() {
    const auto simulator = kSglang.open({.cacheTokens = 2000});
    const std::string salt(60, 's');
    const auto cached = [&](std::int32_t common) {
      std::vector<TokenId> prompt;
      for (std::int32_t token = 0; token < common; ++token) prompt.push_back(token);
      prompt.insert(prompt.end(), {1000 + common, 1});
      return simulator->serve({.prompt = prompt, .answer = {}, .salt = salt}).cached;
    };
    for (std::int32_t common = 40; common > 0; --common) QCOMPARE(cached(common), common == 40 ? 0 : common);
    for (std::int32_t common = 40; common > 0; --common) QCOMPARE(cached(common), common + 1);
  }

  void mistakes() {
    QCOMPARE(mistakeIn(kSglang, R"({"ops": []})").c_str(),
             "scenarios.jsonl: line 7: Spanscope found no \"tokens\", but needs a value");
    QCOMPARE(
        QString::fromStdString(
            mistakeIn(kSglang, R"({"tokens": 9, "ops": [{"op": "decode", "request": "a", "steps": []}]})")),
        worded("scenarios.jsonl: line 7: /ops/0/request: Spanscope found \"a<op-of-no-request>, but needs "
               "<a-running-request>"));
    QCOMPARE(QString::fromStdString(mistakeIn(
                 kSglang, R"({"tokens": 9, "ops": [{"op": "admit", "request": "a", "prompt": []}]})")),
             worded("scenarios.jsonl: line 7: /ops/0/prompt: Spanscope found no token, but needs "
                    "<prompt-least-token>"));
  }

  void fates() {
    const auto simulator = kSglang.open({.cacheTokens = 20, .blockSize = 4});
    const auto serve = [&simulator](const std::vector<TokenId>& prompt) {
      return simulator->serve({.prompt = prompt, .answer = {}, .salt = {}}).fates;
    };
    using Fates = std::vector<FateRun>;
    QCOMPARE(serve({1, 2, 3, 4, 5, 6, 7, 8}), Fates({{0, 8, Fate::Differs}}));
    const auto copy = simulator->copy();
    QCOMPARE(serve({1, 2, 3, 4, 5, 6, 7, 8}), Fates({{0, 4, Fate::Found}, {4, 4, Fate::AlwaysRecomputed}}));
    QCOMPARE(serve({1, 2, 3, 4, 5, 6, 7, 8, 9}), Fates({{0, 8, Fate::Found}, {8, 1, Fate::Differs}}));
    QCOMPARE(serve({1, 2, 3, 4, 5, 9, 7, 8}),
             Fates({{0, 4, Fate::Found}, {4, 1, Fate::NotWhole}, {5, 3, Fate::Differs}}));
    QCOMPARE(serve(std::vector<TokenId>(21, 1)), Fates({{0, 21, Fate::TooLittle}}));
    const std::vector<TokenId> prompt{1, 2, 3, 4, 5, 9, 7, 8, 1};
    QCOMPARE(copy->serve({.prompt = prompt, .answer = {}, .salt = {}}).cached, 4);
    QVERIFY_EXCEPTION_THROWN(serve({}), Failure);
  }
};

SPANSCOPE_TEST(tst_sglang_simulator, TestSglangSimulator)
#include "tst_sglang_simulator.moc"
