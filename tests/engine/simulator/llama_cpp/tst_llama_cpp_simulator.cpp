// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/simulator/servers.h"
#include "tests/engine/simulator/scenario_lines.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <numeric>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::simulator;
using namespace spanscope::simulator::testing;
using spanscope::product_text::worded;

namespace {

/// A scenario of its settings and of requests, each "prompt > answer" or "prompt > answer {"id_slot": 1}":
/// token ids as numbers or, with two dots, as runs of them.
Json scenarioOf(const std::string& settings, const QStringList& requests) {
  const auto tokens = [](const QString& text) {
    Json list = Json::array();
    for (const QString& word : text.split(' ', Qt::SkipEmptyParts)) {
      const QStringList ends = word.split("..");
      for (int id = ends.first().toInt(); id <= ends.last().toInt(); ++id) list.push_back(id);
    }
    return list;
  };
  Json scenario = Json::parse(settings);
  for (const QString& text : requests) {
    Json request =
        text.contains('{') ? Json::parse(text.mid(text.indexOf('{')).toStdString()) : Json::object();
    request["prompt"] = tokens(text.section('>', 0, 0));
    scenario["requests"].push_back(
        {{"request", request}, {"tokens", tokens(text.section('>', 1, 1).section('{', 0, 0))}});
  }
  return scenario;
}

/// For each request "slot: found + computed".
QStringList foundIn(const Json& scenario) {
  QStringList found;
  const Json written = replayed(kLlamaCpp, scenario);
  for (const Json& request : written["requests"]) {
    if (request.contains("refused")) {
      found << "refused";
      continue;
    }
    found << QString("%1: %2 + %3")
                 .arg(request["slot"].get<int>())
                 .arg(request["cache_n"].get<int>())
                 .arg(request["prompt_n"].get<int>());
  }
  return found;
}

}  // namespace

class TestLlamaCppSimulator : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void recorded_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("count");
    QTest::newRow("golden") << SPANSCOPE_GOLDEN_DIR "/llama-server/completions.jsonl.gz" << 40;
    QTest::newRow("live") << SPANSCOPE_GOLDEN_DIR "/llama-live/llama-a.jsonl.gz" << 30;
    QTest::newRow("more") << SPANSCOPE_TEST_DATA_DIR "/llama-server.jsonl.gz" << 60;
    QTest::newRow("conversations") << SPANSCOPE_TEST_DATA_DIR "/llama-server-conversations.jsonl.gz" << 24;
  }
  /// Every scenario that was recorded from the server, request by request, from its requests alone.
  void recorded() {
    QFETCH(QString, file);
    QFETCH(int, count);
    const std::vector<std::string> lines = scenarioLines(file.toStdString());
    if (lines.empty() && file.startsWith(SPANSCOPE_GOLDEN_DIR))
      QSKIP("the golden data of llama-server is missing");
    QCOMPARE(int(lines.size()), count);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Json expected = Json::parse(lines[i]);
      Json scenario = expected;
      strip(scenario, {"slot", "cache_n", "prompt_n", "tokens_evaluated", "tokens_cached", "refused"});
      const Json found = replayed(kLlamaCpp, scenario);
      QCOMPARE(found["requests"].size(), expected["requests"].size());
      for (std::size_t request = 0; request < found["requests"].size(); ++request) {
        QVERIFY2(sameValue(found["requests"][request], expected["requests"][request]),
                 ("line " + std::to_string(i + 1) + ", request " + std::to_string(request) + ": " +
                  found["requests"][request].dump())
                     .c_str());
      }
      QVERIFY(sameValue(found, expected));
      // Earlier results are not read, and are written again.
      for (Json& request : scenario["requests"])
        for (const char* name : {"slot", "cache_n", "refused"}) request[name] = "wrong";
      QVERIFY(sameValue(replayed(kLlamaCpp, scenario), expected));
    }
  }

  void rules_data() {
    QTest::addColumn<QString>("settings");
    QTest::addColumn<QStringList>("requests");
    QTest::addColumn<QStringList>("found");
    const auto row = [](const char* name, const QString& settings, const QStringList& requests,
                        const QStringList& found) { QTest::newRow(name) << settings << requests << found; };
    const QString one = R"({"slots": 1, "context": 1024, "cache_ram": 0})";
    row("the last token of a reply is not kept", one, {"1..10 > 11 12 13", "1..13 20 > 5"},
        {"0: 0 + 10", "0: 12 + 2"});
    row("the last token of a prompt is computed again", one,
        {"1..10 > 11", "1..10 > 11", "1..4 > 9", "1 > 2"}, {"0: 0 + 10", "0: 9 + 1", "0: 3 + 1", "0: 0 + 1"});
    row("a prompt that must not be found", one,
        {"1..10 > 11", R"(1..10 > 11 {"cache_prompt": false})", "1..12 > 1"},
        {"0: 0 + 10", "0: 0 + 10", "0: 10 + 2"});
    row("a prompt must leave a token of room", R"({"slots": 2, "context": 512})",
        {"1..255 > 1", "1..256 > 1", "1..254 > 1"}, {"1: 0 + 255", "refused", "1: 253 + 1"});
    row("room is rounded up to 256", R"({"slots": 3, "context": 300})", {"1..255 > 1", "1..256 > 1"},
        {"2: 0 + 255", "refused"});

    const QString two = R"({"slots": 2, "context": 2048, "cache_ram": 0})";
    row("of unused slots the last, then the one used longest ago", two,
        {"1..20 > 1", "101..120 > 1", "201..220 > 1", "101..125 > 1", "301..320 > 1"},
        {"1: 0 + 20", "0: 0 + 20", "1: 0 + 20", "0: 20 + 5", "1: 0 + 20"});
    row("the slot with the longest beginning", two,
        {"1..20 > 1", "1..4 101..116 > 1", "1..4 101..120 > 1", "1..30 > 1"},
        {"1: 0 + 20", "1: 4 + 16", "1: 20 + 4", "1: 4 + 26"});
    // 2 of 20 tokens are no more than a tenth, 3 are.
    row("a tenth is too little", two, {"1..20 > 1", "1..2 101..118 > 1", "1..3 201..217 > 1"},
        {"1: 0 + 20", "0: 0 + 20", "1: 3 + 17"});
    row("another share", R"({"slots": 2, "context": 2048, "cache_ram": 0, "similarity": 0.5})",
        {"1..20 > 1", "1..10 101..110 > 1", "1..11 201..209 > 1"}, {"1: 0 + 20", "0: 0 + 20", "1: 11 + 9"});
    row("no share", R"({"slots": 2, "context": 2048, "cache_ram": 0, "similarity": 0})",
        {"1..20 > 1", "1..20 > 1", "1..20 > 1"}, {"1: 0 + 20", "0: 0 + 20", "1: 19 + 1"});
    row("a named slot", two, {"1..20 > 1", R"(1..20 > 1 {"id_slot": 0})", R"(1..25 > 1 {"id_slot": 0})"},
        {"1: 0 + 20", "0: 0 + 20", "0: 20 + 5"});

    const QString runs = R"({"slots": 1, "context": 2048, "cache_ram": 0, "cache_reuse": 4})";
    row("a run behind an edit is moved", runs, {"1..20 > 1", "1..5 50 8..20 > 1"},
        {"0: 0 + 20", "0: 5 + 14"});
    row("a run behind what was dropped is moved", runs, {"1..20 > 1", "1..5 10..20 30 31 > 1"},
        {"0: 0 + 20", "0: 16 + 2"});
    row("a run that is too short is not", runs, {"1..20 > 1", "1..5 18..20 > 1"}, {"0: 0 + 20", "0: 5 + 3"});
    row("what was swapped is moved only forwards", runs, {"1..20 > 1", "11..20 1..10 > 1"},
        {"0: 0 + 20", "0: 10 + 10"});
    row("a moved last token is computed again", runs, {"1..20 > 1", "11..20 > 1"}, {"0: 0 + 20", "0: 9 + 1"});
    row("a request asks for other runs", runs,
        {"1..20 > 1", R"(1..5 18..20 > 1 {"n_cache_reuse": 3})", R"(1..4 19..20 > 1 {"n_cache_reuse": 0})"},
        {"0: 0 + 20", "0: 7 + 1", "0: 4 + 2"});

    const QString kept = R"({"slots": 1, "context": 2048})";
    row("what a slot loses is kept beside it", kept,
        {"1..20 > 1", "101..120 > 1", "1..25 > 1", "101..125 > 1"},
        {"0: 0 + 20", "0: 0 + 20", "0: 20 + 5", "0: 20 + 5"});
    // 10 of 20 tokens are half: the tokens after them are lost.
    row("half is not much to lose", kept, {"1..20 > 1", "1..10 101..110 > 1", "1..25 > 1"},
        {"0: 0 + 20", "0: 10 + 10", "0: 10 + 15"});
    row("less than half is", kept, {"1..20 > 1", "1..9 101..110 > 1", "1..25 > 1"},
        {"0: 0 + 20", "0: 9 + 10", "0: 20 + 5"});
    // 5 of 20 tokens are a quarter of what is kept.
    row("a quarter is worth it", kept, {"1..20 > 1", "101..110 > 1", "1..5 201..205 > 1"},
        {"0: 0 + 20", "0: 0 + 10", "0: 5 + 5"});
    row("less than a quarter is not", kept, {"1..20 > 1", "101..110 > 1", "1..4 201..205 > 1"},
        {"0: 0 + 20", "0: 0 + 10", "0: 0 + 9"});
    row("what is longer takes the place of its beginning", kept,
        {"1..20 > 1", "101..120 > 1", "1..10 > 1", "101..130 > 1", "1..30 > 1"},
        {"0: 0 + 20", "0: 0 + 20", "0: 9 + 1", "0: 20 + 10", "0: 10 + 20"});
    // 45 tokens of this model have 1 MiB: the first prompt goes when the third is kept.
    row("room beside the slots", R"({"slots": 1, "context": 2048, "cache_ram": 1})",
        {"1..20 > 1", "101..120 > 1", "201..220 > 1", "301..320 > 1", "1..25 > 1", "301..325 > 1"},
        {"0: 0 + 20", "0: 0 + 20", "0: 0 + 20", "0: 0 + 20", "0: 0 + 25", "0: 20 + 5"});
    row("another model needs more room",
        R"({"slots": 1, "context": 2048, "cache_ram": 1, "state_bytes": {"fixed": 0, "token": 60000}})",
        {"1..20 > 1", "101..120 > 1", "1..25 > 1"}, {"0: 0 + 20", "0: 0 + 20", "0: 0 + 25"});
    row("what is similar in a slot is not looked for beside it", kept,
        {"1..50 > 1", "101..120 > 1", "1..10 51..55 > 1", "1..40 > 1"},
        {"0: 0 + 50", "0: 0 + 20", "0: 0 + 15", "0: 10 + 30"});
    row("in a named slot behind the last nothing is similar", kept,
        {"1..50 > 1", "101..120 > 1", "1..10 51..55 > 1", R"(1..40 > 1 {"id_slot": 1})"},
        {"0: 0 + 50", "0: 0 + 20", "0: 0 + 15", "0: 39 + 1"});

    row("idle slots are kept too", R"({"slots": 2, "context": 4096})",
        {"1..20 > 1", "101..120 > 1", R"(201..220 > 1 {"id_slot": 1})", R"(1..25 > 1 {"id_slot": 0})"},
        {"1: 0 + 20", "0: 0 + 20", "1: 0 + 20", "0: 20 + 5"});
    row("slots that share their room are cleared when others work",
        R"({"slots": 2, "context": 1024, "kv_unified": true})",
        {"1..20 > 1", "101..120 > 1", "1..25 > 1", "101..125 > 1"},
        {"1: 0 + 20", "0: 0 + 20", "1: 20 + 5", "0: 20 + 5"});
    row("what is kept does not come back beside a slot that is in the way",
        R"({"slots": 2, "context": 256, "kv_unified": true})",
        {"1..150 > 1", "301..450 > 1", "1..160 > 1", "1..160 > 1"},
        {"1: 0 + 150", "0: 0 + 150", "1: 0 + 160", "1: 159 + 1"});
    row("or when the room is short", R"({"slots": 2, "context": 256, "cache_ram": 0, "kv_unified": true})",
        {"1..200 > 1", "301..350 > 1", "301..370 > 1", "1..210 > 1"},
        {"1: 0 + 200", "0: 0 + 50", "0: 50 + 20", "1: 0 + 210"});
  }
  /// Each rule by the least requests that show it.
  void rules() {
    QFETCH(QString, settings);
    QFETCH(QStringList, requests);
    QFETCH(QStringList, found);
    QCOMPARE(foundIn(scenarioOf(settings.toStdString(), requests)), found);
  }

  void mistakes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    const QString start = R"({"slots": 1, "context": 256, "requests": [)";
    QTest::newRow("slots")
        << R"({"slots": 0, "context": 256, "requests": []})"
        << worded("line 7: /slots: Spanscope found 0, but needs <whole-number-scenario> 1 to 4096");
    QTest::newRow("similarity")
        << R"({"slots": 1, "context": 256, "similarity": 2, "requests": []})"
        << "line 7: /similarity: Spanscope found 2, but needs a number from 0.000000 to 1.000000";
    QTest::newRow("flag") << R"({"slots": 1, "context": 256, "kv_unified": 1, "requests": []})"
                          << "line 7: /kv_unified: Spanscope found 1, but needs true or false";
    QTest::newRow("no request") << start + "{}]}"
                                << "line 7: /requests/0: Spanscope found no \"request\", but needs a value";
    QTest::newRow("text")
        << start + R"({"request": {"prompt": "Hi"}, "tokens": [1]}]})"
        << worded("line 7: /requests/0/request/prompt: Spanscope found \"Hi\", but needs <list-token-ids>");
    QTest::newRow("no reply")
        << start + R"({"request": {"prompt": [1]}}]})"
        << worded("line 7: /requests/0: Spanscope found no \"tokens\", but needs <ids-reply-twin>");
  }
  void mistakes() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    QCOMPARE(QString::fromStdString(mistakeIn(kLlamaCpp, text.toStdString())), "scenarios.jsonl: " + message);
  }

  void setups_data() {
    QTest::addColumn<QString>("server");
    QTest::addColumn<Settings>("settings");
    QTest::addColumn<QString>("setup");
    QTest::newRow("vLLM") << "vllm" << Settings{} << "blocks of 16 tokens";
    QTest::newRow("vLLM, 32") << "vllm" << Settings{.blockSize = 32} << "blocks of 32 tokens";
    QTest::newRow("SGLang") << "sglang" << Settings{} << "by token";
    QTest::newRow("SGLang, 4") << "sglang" << Settings{.blockSize = 4} << "pages of 4 tokens";
    QTest::newRow("llama.cpp") << "llama.cpp" << Settings{} << "4 slots";
    QTest::newRow("llama.cpp, 1") << "llama.cpp" << Settings{.slots = 1, .chunk = 8}
                                  << worded("one slot, runs of 8 <runs-are-moved>");
  }
  /// How a server is set up, in words, and that it has a reason for everything that becomes of tokens there.
  void setups() {
    QFETCH(QString, server);
    QFETCH(Settings, settings);
    QFETCH(QString, setup);
    const Server& own = *findServer(server.toStdString());
    QCOMPARE(QString::fromStdString(own.setup(settings)), setup);
    for (const Fate fate : {Fate::Found, Fate::Moved, Fate::Differs, Fate::Gone, Fate::NotWhole,
                            Fate::AlwaysRecomputed, Fate::TooLittle})
      QVERIFY(std::string(whyAt(own, fate)).size() > 10);
    // What a block is to one, a branch or a slot is to another.
    QVERIFY(std::string(whyAt(own, Fate::Differs)) != fateSentence(Fate::Differs));
  }

  /// A slot is busy until its answer is complete. If all slots are busy, a request waits for the first one.
  void busySlots() {
    const auto simulator = kLlamaCpp.open({.slots = 2});
    const auto serve = [&simulator](TokenId first, std::int64_t arrival, std::int64_t end) {
      std::vector<TokenId> prompt(40);
      std::iota(prompt.begin(), prompt.end(), first);
      const Answer answer = simulator->serve({.prompt = prompt,
                                              .answer = {},
                                              .salt = {},
                                              .times = RequestTimes{.arrival = arrival, .end = end}});
      return QString("%1 in %2").arg(answer.cached).arg(QString::fromStdString(answer.place).left(6));
    };
    const QString own = serve(0, 0, 100).right(6);
    const QString other = serve(0, 50, 80).right(6);
    QVERIFY(own != other);
    QCOMPARE(serve(0, 90, 120), "39 in " + other);
    QCOMPARE(serve(1000, 95, 130), "0 in " + own);
    QCOMPARE(serve(0, 140, 150), "39 in " + other);
    QCOMPARE(serve(1000, 145, 150), "39 in " + own);
  }

  void fates() {
    const auto simulator = kLlamaCpp.open({.slots = 1, .chunk = 4});
    const auto serve = [&simulator](const std::vector<TokenId>& prompt) {
      return simulator->serve({.prompt = prompt, .answer = {}, .salt = {}});
    };
    using Fates = std::vector<FateRun>;
    const Answer first = serve({1, 2, 3, 4, 5, 6, 7, 8});
    QCOMPARE(first.fates, Fates({{0, 8, Fate::Differs}}));
    QCOMPARE(first.place, std::string("slot 0, which was empty"));
    const auto copy = simulator->copy();
    const Answer edited = serve({1, 2, 5, 6, 7, 8, 9});
    QCOMPARE(edited.cached, 6);
    QCOMPARE(edited.place, worded(std::string("slot 0, which had 8 tokens, 2 <same-beginning>")));
    QCOMPARE(edited.fates, Fates({{0, 2, Fate::Found}, {2, 4, Fate::Moved}, {6, 1, Fate::Differs}}));
    QCOMPARE(serve({1, 2}).fates, Fates({{0, 1, Fate::Found}, {1, 1, Fate::AlwaysRecomputed}}));
    const std::vector<TokenId> prompt{1, 2, 3, 4, 9};
    QCOMPARE(copy->serve({.prompt = prompt, .answer = {}, .salt = {}}).cached, 4);
    QVERIFY_EXCEPTION_THROWN(serve({}), Failure);
  }
};

SPANSCOPE_TEST(tst_llama_cpp_simulator, TestLlamaCppSimulator)
#include "tst_llama_cpp_simulator.moc"
