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

std::vector<TokenId> tokensFrom(TokenId first, std::size_t count) {
  std::vector<TokenId> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

Answer served(Simulator& simulator, const std::vector<TokenId>& prompt,
              const std::vector<TokenId>& answer = {}, std::string_view salt = {}) {
  return simulator.serve({.prompt = prompt, .answer = answer, .salt = salt});
}

std::string fatesText(const Answer& answer) {
  std::string text;
  for (const FateRun& run : answer.fates)
    text += std::to_string(run.count) + " " + fateName(run.fate) + (run == answer.fates.back() ? "" : ", ");
  return text;
}

/// Events without repeated resets. The recorder reset the server before each scenario too, so a reset before
/// the first step is skipped.
Json withoutRepeatedResets(const Json& events, bool isFirst) {
  Json kept = Json::array();
  for (const Json& event : events) {
    const bool isReset = event.contains("cleared");
    const bool isAgain = kept.empty() ? isFirst : kept.back().contains("cleared");
    if (!isReset || !isAgain) kept.push_back(event);
  }
  return kept;
}

/// The names of the blocks in events. Chunked prefill splits the events of one prompt at other places.
struct NamesInEvents {
  std::vector<Json> stored;
  std::vector<Json> removed;
  int cleared = 0;
  bool operator==(const NamesInEvents&) const = default;
};

NamesInEvents namesIn(const Json& events) {
  NamesInEvents names;
  for (const Json& event : events) {
    if (event.contains("cleared")) ++names.cleared;
    if (event.contains("stored"))
      names.stored.insert(names.stored.end(), event["stored"].begin(), event["stored"].end());
    if (event.contains("removed"))
      names.removed.insert(names.removed.end(), event["removed"].begin(), event["removed"].end());
  }
  return names;
}

}  // namespace

class TestVllmSimulator : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void recorded_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("count");
    QTest::newRow("golden") << SPANSCOPE_GOLDEN_DIR "/vllm/kv-cache-manager.jsonl.gz" << 120;
    QTest::newRow("extra keys") << SPANSCOPE_TEST_DATA_DIR "/vllm-extra-keys.jsonl.gz" << 60;
  }
  /// Every scenario that was recorded from the server, op by op, from its requests alone.
  void recorded() {
    QFETCH(QString, file);
    QFETCH(int, count);
    const std::vector<std::string> lines = scenarioLines(file.toStdString());
    if (lines.empty() && file.startsWith(SPANSCOPE_GOLDEN_DIR)) QSKIP("the golden data of vLLM is missing");
    QCOMPARE(int(lines.size()), count);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Json expected = Json::parse(lines[i]);
      Json scenario = expected;
      strip(scenario,
            {"cached", "hit_blocks", "new_blocks", "hashes", "free_blocks", "events", "refused", "ok"});
      for (Json& op : scenario["ops"])
        if (op.contains("steps")) strip(op["steps"], {"blocks"});
      const Json found = replayed(kVllm, scenario);
      const std::string difference = differenceInOps(found, expected);
      QVERIFY2(difference.empty(), ("line " + std::to_string(i + 1) + ", " + difference).c_str());
      // Earlier results are not read, and are written again.
      for (Json& op : scenario["ops"])
        for (const char* name : {"cached", "refused", "events", "free_blocks", "ok"}) op[name] = "wrong";
      QVERIFY(sameValue(replayed(kVllm, scenario), expected));
    }
  }

  /// Requests to a running server, one after the other: the cached tokens that the server reported, and the
  /// KV events that it published. Events of a reset arrive with the next step.
  void live() {
    const std::vector<std::string> lines =
        scenarioLines(SPANSCOPE_GOLDEN_DIR "/vllm-live/vllm-live.jsonl.gz");
    if (lines.empty()) QSKIP("the golden data of a running vLLM is missing");
    int admitted = 0;
    int compared = 0;
    for (const std::string& line : lines) {
      const Json expected = Json::parse(line);
      Json scenario = expected;
      strip(scenario, {"cached", "events", "ok"});
      const Json found = replayed(kVllm, scenario);
      const std::string where = expected["setup"].get<std::string>() + " " + expected["number"].dump();
      const bool isChunked =
          expected["options"].get<std::string>().find("batched-tokens") != std::string::npos;
      Json events = Json::array();
      bool isFirst = true;
      for (std::size_t op = 0; op < expected["ops"].size(); ++op) {
        const Json& recorded = expected["ops"][op];
        const std::string at = where + ", op " + std::to_string(op);
        if (recorded["op"] == "admit") {
          ++admitted;
          QVERIFY2(found["ops"][op]["cached"] == recorded["cached"], at.c_str());
        }
        for (const Json& event : found["ops"][op]["events"]) events.push_back(event);
        if (!recorded.contains("live_events")) continue;
        const Json live = withoutRepeatedResets(recorded["live_events"], isFirst);
        events = withoutRepeatedResets(events, isFirst);
        isFirst = false;
        QVERIFY2(isChunked ? namesIn(events) == namesIn(live) : sameValue(events, live),
                 (at + ": " + events.dump().substr(0, 400)).c_str());
        events = Json::array();
        ++compared;
      }
    }
    QCOMPARE(admitted, 958);
    QVERIFY(compared > 800);
  }

  /// Fields that the cache simulator does not read are written again.
  void keepsWhatItDoesNotKnow() {
    const Json found = replayed(kVllm, Json::parse(R"({"name": [1], "block_size": 2, "blocks": 3, "ops":
                               [{"note": {"a": 1}, "op": "reset", "ok": 5}], "end": null})"));
    QCOMPARE(
        found.dump().c_str(),
        R"({"name":[1],"block_size":2,"blocks":3,"ops":[{"op":"reset","ok":true,"events":[{"cleared":true}],)"
        R"("note":{"a":1}}],"end":null})");
  }

  /// A request that was refused a block is gone, with all that would have followed.
  void refusedSteps() {
    const Json found = replayed(kVllm, Json::parse(R"({"block_size": 2, "blocks": 2, "ops": [
        {"op": "admit", "request": "a", "prompt": [1, 2]},
        {"op": "decode", "request": "a", "steps": [{"token": 3}, {"token": 4}]},
        {"op": "free", "request": "a"}, {"op": "admit", "request": "a", "prompt": [1, 2]}]})"));
    QCOMPARE(found["ops"][1]["steps"].dump().c_str(),
             R"([{"token":3,"refused":true},{"token":4,"refused":true}])");
    QCOMPARE(found["ops"][2]["free_blocks"].dump().c_str(), "1");
    QCOMPARE(found["ops"][3]["cached"].dump().c_str(), "0");
  }

  void mistakes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("message");
    const QString start = R"({"block_size": 2, "blocks": 9, "ops": [)";
    QTest::newRow("no JSON") << "{\"a\": }"
                             << worded("line 7: Spanscope found <mistake-byte> 7, but needs JSON");
    QTest::newRow("no object") << "[1]"
                               << "line 7: Spanscope found a list, but needs an object";
    QTest::newRow("deep") << "{\"a\":" + QString(100, '[') + QString(100, ']') + "}"
                          << "line 7: Spanscope found more than 64 levels of nesting, but needs fewer levels";
    QTest::newRow("large number")
        << "{\"blocks\": 1e400}"
        << worded("line 7: Spanscope found <number-too-large>, but needs numbers up to 1e308");
    QTest::newRow("no size") << R"({"blocks": 9, "ops": []})"
                             << "line 7: Spanscope found no \"block_size\", but needs a value";
    QTest::newRow("size")
        << R"({"block_size": 0, "blocks": 9, "ops": []})"
        << worded("line 7: /block_size: Spanscope found 0, but needs <whole-number-scenario> 1 to 1048576");
    QTest::newRow("half")
        << R"({"block_size": 1.5, "blocks": 9, "ops": []})"
        << worded("line 7: /block_size: Spanscope found 1.5, but needs <whole-number-scenario> 1 to 1048576");
    QTest::newRow("blocks") << R"({"block_size": 1, "blocks": 18446744073709551615, "ops": []})"
                            << worded(
                                   "line 7: /blocks: Spanscope found 18446744073709551615, but needs "
                                   "<whole-number-scenario> 1 to 2147483647");
    QTest::newRow("hash") << R"({"block_size": 1, "blocks": 9, "hash": "xxhash", "ops": []})"
                          << "line 7: /hash: Spanscope found \"xxhash\", but needs \"sha256_cbor\"";
    QTest::newRow("root")
        << R"({"block_size": 1, "blocks": 9, "none_hash": "0x", "ops": []})"
        << worded("line 7: /none_hash: Spanscope found <other-hash-text>, but needs 64 hexadecimal digits");
    QTest::newRow("op")
        << start + R"({"op": "evict"}]})"
        << "line 7: /ops/0/op: Spanscope found \"evict\", but needs \"admit\", \"decode\", \"free\" or "
           "\"reset\"";
    QTest::newRow("no prompt") << start + R"({"op": "admit", "request": "a"}]})"
                               << "line 7: /ops/0: Spanscope found no \"prompt\", but needs a value";
    QTest::newRow("empty")
        << start + R"({"op": "admit", "request": "a", "prompt": []}]})"
        << worded("line 7: /ops/0/prompt: Spanscope found no token, but needs <prompt-least-token>");
    QTest::newRow("token") << start +
                                  R"({"op": "reset"}, {"op": "admit", "request": "a", "prompt": [1, -2]}]})"
                           << worded(
                                  "line 7: /ops/1/prompt/1: Spanscope found -2, but needs a token id, "
                                  "<whole-number-scenario> 0 to 2147483647");
    QTest::newRow("twice")
        << start +
               R"({"op": "admit", "request": "a", "prompt": [1]}, {"op": "admit", "request": "a", "prompt": [1]}]})"
        << worded(
               "line 7: /ops/1/request: Spanscope found \"a\", which is running, but needs "
               "<no-running-request>");
    QTest::newRow("unknown") << start + R"({"op": "decode", "request": "b", "steps": []}]})"
                             << worded(
                                    "line 7: /ops/0/request: Spanscope found \"b<op-of-no-request>, but "
                                    "needs <a-running-request>");
    QTest::newRow("step") << start + R"({"op": "admit", "request": "a", "prompt": [1]},
                                        {"op": "decode", "request": "a", "steps": [{"token": "x"}]}]})"
                          << worded(
                                 "line 7: /ops/1/steps/0/token: Spanscope found \"x\", but needs "
                                 "<whole-number-scenario> 0 to 2147483647");
  }
  void mistakes() {
    QFETCH(QString, text);
    QFETCH(QString, message);
    QCOMPARE(QString::fromStdString(mistakeIn(kVllm, text.toStdString())), "scenarios.jsonl: " + message);
  }

  /// A conversation: the answer is a cache hit, except its last token and the rest of its block.
  void conversation() {
    const auto simulator = kVllm.open({.cacheTokens = 160, .blockSize = 16});
    const std::vector<TokenId> prompt = tokensFrom(0, 40);
    QCOMPARE(fatesText(served(*simulator, prompt, tokensFrom(40, 25))).c_str(), "40 differs");
    QCOMPARE(fatesText(served(*simulator, tokensFrom(0, 70))).c_str(), "64 found, 6 differs");
    QCOMPARE(fatesText(served(*simulator, tokensFrom(0, 64))).c_str(), "48 found, 16 always_again");
    std::vector<TokenId> edited = tokensFrom(0, 70);
    edited[20] = 7;
    QCOMPARE(fatesText(served(*simulator, edited)).c_str(), "16 found, 4 not_whole, 50 differs");
    QCOMPARE(fatesText(served(*simulator, tokensFrom(0, 64), {}, "tenant")).c_str(), "64 differs");
    QCOMPARE(fatesText(served(*simulator, tokensFrom(0, 161))).c_str(), "161 too_little");
  }

  /// What was computed once, but is not kept any more.
  void whatHadToMakeRoom() {
    const auto simulator = kVllm.open({.cacheTokens = 32, .blockSize = 4});
    served(*simulator, tokensFrom(0, 14));
    served(*simulator, tokensFrom(100, 24));
    QCOMPARE(fatesText(served(*simulator, tokensFrom(0, 16))).c_str(),
             "8 found, 4 gone, 2 not_whole, 2 differs");
  }

  void aCopyIsApart() {
    const auto simulator = kVllm.open({.blockSize = 4});
    const auto copy = simulator->copy();
    served(*copy, tokensFrom(0, 9));
    QCOMPARE(served(*simulator, tokensFrom(0, 9)).cached, 0);
    QCOMPARE(served(*copy, tokensFrom(0, 9)).cached, 8);
    QVERIFY_EXCEPTION_THROWN(served(*copy, {}), Failure);
  }
};

SPANSCOPE_TEST(tst_vllm_simulator, TestVllmSimulator)
#include "tst_vllm_simulator.moc"
