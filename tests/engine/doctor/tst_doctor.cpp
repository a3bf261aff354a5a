// SPDX-License-Identifier: GPL-3.0-or-later
// Whole diagnoses: conversations, lookups compared with the cache simulators, edits and reports.
#include "engine/doctor/report.h"
#include "engine/simulator/servers.h"
#include "tests/engine/doctor/log_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::doctor;
using namespace spanscope::doctor::testing;

namespace {

std::string turns(int conversation, int count, const std::string& system) {
  Said said{{"system", system}};
  std::vector<Json> records;
  for (int turn = 0; turn < count; ++turn) {
    said.emplace_back("user", document(conversation * 7 + turn) + " Why?");
    records.push_back(bodyOf(said));
    said.emplace_back("assistant", "Because of " + document(conversation + turn * 3).substr(0, 90));
  }
  return linesOf(records);
}

bool summaryHasFailed(const LogReport& report) {
  return markdownReport(report, {}).find("1 request failed") != std::string::npos;
}

}  // namespace

class TestDoctor : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void emptyLog() {
    const LogReport report = diagnosed("");
    QCOMPARE(int(report.requests.size()), 0);
    QVERIFY(!jsonReport(report, {}).empty());
    QVERIFY(!htmlReport(report, {}).empty());
  }

  /// Interleaved conversations are told apart by their texts, and by their ids if there are ids.
  void conversations() {
    const auto one = turns(1, 3, "Be brief.");
    const auto two = turns(2, 3, "Be brief.");
    std::string mixed;
    std::size_t a = 0;
    std::size_t b = 0;
    while (a < one.size()) {
      const std::size_t nextA = one.find('\n', a) + 1;
      const std::size_t nextB = two.find('\n', b) + 1;
      mixed += one.substr(a, nextA - a) + two.substr(b, nextB - b);
      a = nextA;
      b = nextB;
    }
    const LogReport report = diagnosed(mixed);
    QCOMPARE(int(report.conversations), 2);
    for (std::size_t i = 0; i < report.requests.size(); ++i)
      QCOMPARE(report.requests[i].conversation, static_cast<std::uint32_t>(i % 2));
    Json first = bodyOf({{"user", "Hello"}});
    Json second = first;
    first["session_id"] = "a";
    second["session_id"] = "b";
    QCOMPARE(int(diagnosed(linesOf({first, second})).conversations), 2);
  }

  /// Two agents at the same time get the same short results. The history decides, not the single messages.
  void parallelAgents() {
    const auto agent = [](int number, int turns) {
      Said said{{"system", "Be brief."}, {"user", document(number)}};
      for (int turn = 0; turn < turns; ++turn) {
        said.emplace_back("assistant", "Step " + std::string(1, static_cast<char>('a' + number * 8 + turn)));
        said.emplace_back("user", "Error: The tool found no file with this name in the folder.");
      }
      return bodyOf(said);
    };
    std::vector<Json> records;
    for (int turns = 0; turns < 5; ++turns)
      for (int number : {1, 2}) records.push_back(agent(number, turns));
    for (int turns = 5; turns < 8; ++turns) records.push_back(agent(2, turns));
    records.push_back(agent(1, 5));
    const LogReport report = diagnosed(linesOf(records));
    QCOMPARE(int(report.conversations), 2);
    QCOMPARE(report.requests.back().conversation, report.requests.front().conversation);
    QCOMPARE(causeIn(report, records.size() - 1), std::string());
  }

  /// Agents with different system messages share a few tokens. On a server without blocks, such tokens can be
  /// lost, but nobody has edited a message.
  void severalAgentsEditNothing() {
    std::vector<Json> records;
    for (int turns = 0; turns < 3; ++turns) {
      for (int number = 0; number < 6; ++number) {
        Said said{{"system", "You are agent " + std::to_string(number) + ". " + document(number)}};
        for (int turn = 0; turn <= turns; ++turn) {
          if (turn > 0) said.emplace_back("assistant", document(100 + 10 * number + turn));
          said.emplace_back("user", document(200 + 10 * number + turn));
        }
        records.push_back(bodyOf(said));
      }
    }
    DoctorOptions options;
    options.server = "llama.cpp";
    options.slots = 4;
    std::vector<LoggedRequest> edited;
    options.takeEdited = [&](const LoggedRequest& request) { edited.push_back(request); };
    const LogReport report = diagnosed(linesOf(records), options);
    QCOMPARE(edited.size(), records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      QCOMPARE(QString::fromStdString(messageText(edited[i].messages.front())),
               QString::fromStdString(records[i]["messages"][0]["content"].get<std::string>()));
      for (const std::string& cause : causesIn(report, i)) {
        QVERIFY2(cause != "system_edited" && cause != "message_edited" && cause != "id", cause.c_str());
      }
    }
    QCOMPARE(report.ways.at(1).prompt, report.ways.at(0).prompt);
    QCOMPARE(report.ways.at(1).computed, report.ways.at(0).computed);
  }

  /// A server that reports fewer tokens than the rules allow does not make the prompt longer.
  void lossesStayInThePrompt() {
    const std::string text = document(1) + document(2) + document(3) + document(4);
    Json first{{"request", bodyOf({{"user", text}})}};
    Json again = first;
    const auto prompt = static_cast<std::int64_t>(diagnosed(linesOf({first})).prompt);
    again["response"]["usage"] = {{"prompt_tokens", prompt},
                                  {"prompt_tokens_details", {{"cached_tokens", 0}}}};
    const LogReport report = diagnosed(linesOf({first, again}));
    const RequestReport& last = report.requests.back();
    QVERIFY(last.lost > 0);
    QVERIFY(last.couldBeCached() <= last.prompt);
  }

  void equalsSimulators_data() {
    QTest::addColumn<QString>("server");
    QTest::addColumn<int>("block");
    QTest::newRow("vLLM") << "vllm" << 16;
    QTest::newRow("vLLM, large blocks") << "vllm" << 64;
    QTest::newRow("SGLang") << "sglang" << 1;
  }
  /// Without limits, the prefix tree gives the cached tokens of the server's simulator.
  void equalsSimulators() {
    QFETCH(QString, server);
    QFETCH(int, block);
    const std::string log =
        turns(1, 4, "Be brief.") + turns(2, 4, "Be brief.") + turns(1, 2, "Be very brief.");
    DoctorOptions options;
    options.server = server.toStdString();
    options.blockSize = block;
    const LogReport plain = diagnosed(log, options);
    options.blocks = 1 << 16;
    const LogReport simulated = diagnosed(log, options);
    for (std::size_t i = 0; i < plain.requests.size(); ++i)
      QCOMPARE(plain.requests[i].cached, simulated.requests[i].cached);
  }

  /// The edits make the cached tokens of a log with times equal to those of a log without.
  void editsSaveTokens() {
    const std::string system = document(9) + document(10);
    const auto log = [&](bool hasTime) {
      Said said{{"system", system}};
      std::vector<Json> records;
      for (int turn = 0; turn < 5; ++turn) {
        if (hasTime) said[0].second = "Now: 14:0" + std::to_string(turn) + ". " + system;
        said.emplace_back("user", document(turn));
        records.push_back(bodyOf(said));
        said.emplace_back("assistant", document(turn + 20));
      }
      return linesOf(records);
    };
    const LogReport clean = diagnosed(log(false));
    std::vector<LoggedRequest> edited;
    DoctorOptions options;
    options.takeEdited = [&](const LoggedRequest& request) { edited.push_back(request); };
    const LogReport report = diagnosed(log(true), options);
    for (std::size_t i = 1; i < 5; ++i) QCOMPARE(causeIn(report, i), std::string("time"));
    QVERIFY(report.lostShare() > 0.5);
    const Way& asIs = report.ways.at(0);
    const Way& edits = report.ways.at(1);
    QVERIFY(edits.computed * 2 < asIs.computed);
    // Only the new values at the end are computed in addition.
    QVERIFY(edits.computed < clean.ways.at(0).computed + 5 * 32);
    QCOMPARE(asIs.computed - edits.computed, report.lost);
    // The edited log is a log, too, and it has no cause.
    std::string lines;
    for (const LoggedRequest& request : edited) lines += chatLineOf(request) + "\n";
    const LogReport again = diagnosed(lines);
    for (std::size_t i = 1; i < 5; ++i) QCOMPARE(causeIn(again, i), std::string());
    QCOMPARE(again.prompt - again.cached, edits.computed);
  }

  /// Spans reuse documents at other places, which prefixes cannot.
  void spansReuseDocuments() {
    const auto asked = [](int first, int second) {
      return bodyOf({{"user", document(first) + "\n\n" + document(second) + "\n\nWhy?"}});
    };
    const LogReport report = diagnosed(linesOf({asked(1, 2), asked(3, 1), asked(2, 3)}));
    const std::uint64_t asIs = report.ways.at(0).computed;
    const std::uint64_t spans = report.ways.at(3).computed;
    const std::uint64_t linked = report.ways.at(4).computed;
    QVERIFY(spans * 3 < asIs * 2);
    QVERIFY(spans < linked);
    QVERIFY(linked < asIs);
  }

  /// A server that refuses a request computes nothing.
  void failedRequests_data() {
    QTest::addColumn<QByteArray>("failed");
    QTest::addColumn<QString>("reason");
    const Json body = bodyOf({{"system", document(1)}, {"user", document(2)}});
    const auto row = [](const char* name, const Json& record, const char* reason) {
      QTest::newRow(name) << QByteArray::fromStdString(record.dump()) << QString::fromLatin1(reason);
    };
    row("status of the record", {{"status", 400}, {"request", body}}, "status 400");
    row("status of the response",
        {{"request", body}, {"response", {{"status_code", 503}, {"body", {{"error", "busy"}}}}}},
        "status 503: busy");
    row("error of the response", {{"request", body}, {"response", {{"error", {{"message", "no"}}}}}},
        "an error: no");
    row("word of a proxy", {{"request", body}, {"status", "failure"}}, "an error");
    row("gateway without a response", {{"status", 0}, {"request", body}, {"problem", "refused"}},
        "no response: refused");
    row("HAR",
        {{"request", {{"url", "http://h/v1"}, {"method", "POST"}, {"postData", {{"text", body.dump()}}}}},
         {"response", {{"status", 429}, {"content", {{"text", "{}"}}}}}},
        "status 429");
    row("words in a text",
        {{"status", 404}, {"request", body}, {"response", R"({"error":{"message":"No model m."}})"}},
        "status 404: No model m");
    row("words with a key", {{"status", 401}, {"request", body}, {"error", "Bad key sk-abcdefgh12345678"}},
        "status 401: Bad key [redacted]");
    row("a page", {{"status", 502}, {"request", body}, {"response", "<html>Bad</html>"}}, "status 502");
    row("OpenTelemetry",
        {{"spanId", "1"},
         {"attributes",
          {{"gen_ai.input.messages", messagesOf({{"user", "Why?"}}).dump()}, {"error.type", "timeout"}}}},
        "an error: timeout");
  }
  void failedRequests() {
    QFETCH(QByteArray, failed);
    QFETCH(QString, reason);
    const Json body = bodyOf({{"system", document(1)}, {"user", document(2)}});
    const LogReport report = diagnosed(failed.toStdString() + "\n" + linesOf({body, body}));
    QCOMPARE(report.requests.size(), std::size_t{3});
    QCOMPARE(QString::fromStdString(report.requests[0].refusal), reason);
    QCOMPARE(report.requests[0].prompt, std::size_t{0});
    QCOMPARE(report.refused, std::size_t{1});
    QCOMPARE(report.requests[1].cached, std::size_t{0});
    QCOMPARE(causeIn(report, 1), std::string("never_seen"));
    QVERIFY(report.requests[2].cached > 0);
    QVERIFY(rowOf(report, report.requests[0]).cause.find(reason.toStdString()) != std::string::npos);
    QVERIFY(summaryHasFailed(report));
  }

  /// The log of a gateway names its server, whose rules then apply.
  void rulesOfTheLog() {
    const auto record = [](int turn, const Json& server) {
      Json made{{"server", server}};
      made["request"] = bodyOf({{"system", document(1)}, {"user", document(turn)}});
      return made;
    };
    const Json vllm{{"kind", "vllm"}, {"block_size", 64}};
    const Json llama{{"kind", "llama.cpp"}, {"slots", 2}};
    const LogReport one = diagnosed(linesOf({record(2, vllm), record(3, vllm)}));
    QCOMPARE(one.block, std::size_t{64});
    QCOMPARE(one.requests[1].cached % 64, std::size_t{0});
    const LogReport other = diagnosed(linesOf({record(2, llama), record(3, llama)}));
    QVERIFY(other.server.find("2 slots") != std::string::npos);
    QCOMPARE(other.requests[1].cached, other.requests[1].common);
    // The user's choice comes first.
    DoctorOptions options;
    options.server = "sglang";
    QVERIFY(diagnosed(linesOf({record(2, vllm)}), options).server.find("SGLang") == 0);
    // Only llama-server reports timings like these.
    Json timed{{"request", bodyOf({{"user", document(1)}})},
               {"response", {{"choices", Json::array()}, {"timings", {{"cache_n", 0}, {"prompt_n", 5}}}}}};
    QVERIFY(diagnosed(linesOf({timed})).server.find("llama.cpp") == 0);
  }

  /// A name of a model is no cause if the server has one model, or if the responses name the same model.
  void namesOfOneModel() {
    Json first = bodyOf({{"system", document(1)}, {"user", document(2)}});
    Json second = first;
    second["model"] = "alias";
    DoctorOptions options;
    options.server = "llama.cpp";
    const LogReport single = diagnosed(linesOf({first, second}), options);
    QVERIFY(causeIn(single, 1) != "model");
    QVERIFY(single.requests[1].cached > 0);
    const auto answered = [](const Json& body) {
      return Json{{"request", body}, {"response", {{"model", "base"}, {"choices", Json::array()}}}};
    };
    const LogReport named = diagnosed(linesOf({answered(first), answered(second), second}));
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
      QVERIFY(causeIn(named, i) != "model");
      QVERIFY(named.requests[i].cached > 0);
    }
    QCOMPARE(causeIn(diagnosed(linesOf({first, second})), 1), std::string("model"));
  }

  /// Another slot is a cause only if the log or the user names slots.
  void slotsThatNothingNames() {
    std::string log;
    for (int round = 0; round < 2; ++round)
      for (int i = 0; i < 7; ++i)
        log += linesOf({bodyOf({{"system", "Be brief."}, {"user", document(i) + document(i + 30)}})});
    DoctorOptions options;
    options.server = "llama.cpp";
    options.blocks = 2048;
    for (const int slots : {0, 1}) {
      options.slots = slots;
      const LogReport report = diagnosed(log, options);
      for (std::size_t i = 0; i < report.requests.size(); ++i) QVERIFY(causeIn(report, i) != "other_slot");
    }
    // The log names the replicas, and the server reported no hit.
    const auto served = [](const char* replica, int cached) {
      const Json usage{{"prompt_tokens", 900}, {"prompt_tokens_details", {{"cached_tokens", cached}}}};
      return Json{
          {"replica", replica},
          {"request", bodyOf({{"system", document(1) + document(2) + document(3)}, {"user", "Why?"}})},
          {"response", {{"choices", Json::array()}, {"usage", usage}}}};
    };
    const LogReport replicas = diagnosed(linesOf({served("gpu-1", 0), served("gpu-2", 0)}));
    QCOMPARE(causeIn(replicas, 1), std::string("other_slot"));
    QVERIFY(replicas.requests[1].lost > 256);
    QCOMPARE(causeIn(diagnosed(linesOf({served("gpu-1", 0), served("gpu-1", 0)})), 1),
             std::string("unknown"));
  }

  /// Two requests with a common system message. The second one is so long that llama-server chooses another
  /// slot for it. `times`: the start of the second request and the cached tokens that the server reported.
  static LogReport twoInSlots(std::optional<double> secondStart, std::optional<int> reported) {
    std::string text;
    for (int row = 0; row < 1200; ++row)
      text += "Row " + std::to_string(row * 7919 % 10007) + " has " + std::to_string(row * 57 % 9973) + ".\n";
    const std::string system = document(1) + document(30);
    Json first{{"request", bodyOf({{"system", system}, {"user", "Why?"}})}};
    Json second{{"request", bodyOf({{"system", system}, {"user", text}})}};
    for (Json* record : {&first, &second}) (*record)["server"] = {{"kind", "llama.cpp"}, {"slots", 2}};
    if (secondStart) {
      first["start_time"] = 1000;
      first["end_time"] = 1010;
      second["start_time"] = *secondStart;
      second["end_time"] = *secondStart + 10;
    }
    if (reported) {
      const auto all = static_cast<std::int64_t>(diagnosed(linesOf({second})).prompt);
      second["response"]["usage"] = {{"prompt_tokens", all},
                                     {"prompt_tokens_details", {{"cached_tokens", *reported}}}};
    }
    // A proxy writes the lines in the order of the ends.
    return diagnosed(secondStart.value_or(1020) < 1000 ? linesOf({second, first}) : linesOf({first, second}));
  }

  /// The slots of requests at the same time are not known, so no cause is guessed.
  void concurrentRequests() {
    for (const auto& sequential : {twoInSlots({}, {}), twoInSlots(1010, {}), twoInSlots(1020, 0)}) {
      QCOMPARE(causeIn(sequential, 1), std::string("other_slot"));
      QVERIFY(!sequential.requests[1].isConcurrent);
      QVERIFY(sequential.requests[1].lost > kLeastReportedLoss);
    }
    const LogReport concurrent = twoInSlots(1005, {});
    QCOMPARE(causeIn(concurrent, 1), std::string("unknown"));
    QVERIFY(concurrent.requests[0].isConcurrent && concurrent.requests[1].isConcurrent);
    QCOMPARE(causeIn(twoInSlots(1005, 0), 1), std::string("unknown"));
    const LogReport reversed = twoInSlots(995, {});
    for (std::size_t i = 0; i < 2; ++i) QVERIFY(causeIn(reversed, i) != "other_slot");
    const Json json = Json::parse(jsonReport(concurrent, {}));
    QCOMPARE(json["requests"][1]["concurrent"].get<bool>(), true);
  }

  static bool isLossOfLookup(const LogReport& report, std::size_t request) {
    const std::string cause = causeIn(report, request);
    return cause == "other_slot" || cause == "evicted" || cause == "expired" || cause == "unknown";
  }

  /// A reported count is true. A simulated slot with another count is no cause.
  void reportedCountsOfSlots() {
    const std::size_t common = twoInSlots({}, {}).requests[1].common;
    const LogReport found = twoInSlots({}, static_cast<int>(common));
    QVERIFY(!isLossOfLookup(found, 1));
    QCOMPARE(found.requests[1].cached, common);
    QCOMPARE(found.requests[1].lost, std::size_t{0});
    const LogReport most = twoInSlots({}, static_cast<int>(common * 3 / 4));
    QVERIFY(!isLossOfLookup(most, 1));
    QCOMPARE(most.requests[1].cached, common * 3 / 4);
    QVERIFY(most.requests[1].lost < common / 2);
    const LogReport concurrent = twoInSlots(1005, static_cast<int>(common));
    QVERIFY(!isLossOfLookup(concurrent, 1));
    QCOMPARE(concurrent.requests[1].cached, common);
  }

  /// Tokens that the server reported as cached were neither evicted nor expired.
  void reportedCountsOfOtherCauses() {
    const Json first = bodyOf({{"system", document(1) + document(2)}, {"user", "One?"}});
    const Json second = bodyOf({{"system", document(1) + document(2)}, {"user", "Two?"}});
    const Json between = bodyOf({{"user", document(3) + document(4) + document(5)}});
    const auto log = [&](std::optional<std::int64_t> cached) {
      Json last{{"request", second}, {"time", 1788185980}};
      if (cached)
        last["response"]["usage"] = {{"prompt_tokens", diagnosed(linesOf({second})).prompt},
                                     {"prompt_tokens_details", {{"cached_tokens", *cached}}}};
      return linesOf(
          {{{"request", first}, {"time", 1788184980}}, {{"request", between}, {"time", 1788184981}}, last});
    };
    DoctorOptions small;
    small.blocks = static_cast<std::int64_t>(diagnosed(linesOf({between})).prompt / 16 + 2);
    DoctorOptions shortLife;
    shortLife.timeToLive = 300;
    for (const DoctorOptions& options : {small, shortLife}) {
      const LogReport without = diagnosed(log({}), options);
      const std::string cause = causeIn(without, 2);
      QVERIFY2(cause == "evicted" || cause == "expired", cause.c_str());
      QCOMPARE(causeIn(diagnosed(log(0), options), 2), cause);
      const std::size_t all = without.requests[2].cached + without.requests[2].lost;
      const LogReport reported = diagnosed(log(static_cast<std::int64_t>(all)), options);
      QVERIFY(!isLossOfLookup(reported, 2));
      QCOMPARE(reported.requests[2].cached, all);
    }
  }

  /// A request has not lost tokens that the server reported as cached.
  void lossesAreComputed() {
    const auto log = [](std::optional<std::int64_t> cached) {
      Json last{{"request", bodyOf({{"system", "It is 14:07. " + document(1)}, {"user", "Why?"}})}};
      if (cached)
        last["response"]["usage"] = {{"prompt_tokens", diagnosed(linesOf({last})).prompt},
                                     {"prompt_tokens_details", {{"cached_tokens", *cached}}}};
      return linesOf({bodyOf({{"system", "It is 14:03. " + document(1)}, {"user", "Why?"}}), last});
    };
    const LogReport without = diagnosed(log({}));
    QCOMPARE(causeIn(without, 1), std::string("time"));
    QVERIFY(without.requests[1].lost > 100);
    const auto prompt = static_cast<std::int64_t>(without.requests[1].prompt);
    QCOMPARE(diagnosed(log(prompt - 20)).requests[1].lost, std::size_t{20});
    QCOMPARE(diagnosed(log(0)).requests[1].lost, without.requests[1].lost);
  }

  /// The user can choose the server of the log. The log then still gives its sizes.
  void sizesOfTheLog() {
    Json record{{"request", bodyOf({{"user", document(1)}})},
                {"server", {{"kind", "llama.cpp"}, {"slots", 2}}}};
    DoctorOptions options;
    options.server = "llama.cpp";
    QVERIFY(diagnosed(linesOf({record}), options).server.find("2 slots") != std::string::npos);
    options.slots = 3;
    QVERIFY(diagnosed(linesOf({record}), options).server.find("3 slots") != std::string::npos);
    record["server"]["kind"] = "vllm";
    options.slots = 0;
    QVERIFY(diagnosed(linesOf({record}), options).server.find("4 slots") != std::string::npos);
  }

  /// Every output counts requests, parts and conversations from 1.
  void numbersBeginWithOne() {
    const LogReport report =
        diagnosed(turns(1, 2, "Be brief.") + linesOf({bodyOf({{"user", document(40)}})}));
    const Json json = Json::parse(jsonReport(report, {}));
    QCOMPARE(json["requests"][0]["request"].get<int>(), 1);
    QCOMPARE(json["requests"][0]["part"].get<int>(), 1);
    QCOMPARE(json["requests"][0]["conversation"].get<int>(), 1);
    QCOMPARE(json["requests"][1]["best_earlier_request"].get<int>(), 1);
    QCOMPARE(json["requests"][2]["conversation"].get<int>(), 2);
    QVERIFY(csvReport(report).find("\r\nlog,3,1,2,") != std::string::npos);
    QVERIFY(markdownReport(report, {}).find("Conversation 2") != std::string::npos);
  }

  /// Estimated counts are larger than those of the server. Their difference is no loss.
  void reportedCountsHaveTheirUnit() {
    const auto turn = [](const Json& body, int prompt, int cached) {
      const Json usage{{"prompt_tokens", prompt}, {"prompt_tokens_details", {{"cached_tokens", cached}}}};
      return Json{{"request", body}, {"response", {{"choices", Json::array()}, {"usage", usage}}}};
    };
    std::string system;
    for (int i = 0; i < 8; ++i) system += document(i);
    const Json first = bodyOf({{"system", system}, {"user", "One?"}});
    const Json second = bodyOf({{"system", system}, {"user", "Two?"}});
    const auto tokens = static_cast<int>(diagnosed(linesOf({first})).requests[0].prompt);
    QVERIFY(tokens > 1500);
    const int counted = tokens * 4 / 5;
    const LogReport same = diagnosed(linesOf({turn(first, counted, 0), turn(second, counted, counted - 64)}));
    QVERIFY(causeIn(same, 1) != "unknown");
    const LogReport less = diagnosed(linesOf({turn(first, counted, 0), turn(second, counted, 0)}));
    QCOMPARE(causeIn(less, 1), std::string("unknown"));
    QVERIFY(less.requests[1].lost <= static_cast<std::size_t>(counted));
    // The server counts parts that the log lacks.
    const LogReport more = diagnosed(linesOf({turn(first, 9 * tokens, 0), turn(second, 9 * tokens, tokens)}));
    QVERIFY(causeIn(more, 1) != "unknown");
  }

  /// Programs give the histories of several agents one id.
  void branchesOfOneId() {
    const auto branch = [](const std::string& task, int turns) {
      Said said{{"system", document(1)}, {"user", task}};
      for (int i = 0; i < turns; ++i) {
        said.emplace_back("assistant", "Step " + std::to_string(i) + " of: " + task);
        said.emplace_back("user", "Go on with step " + std::to_string(i) + " of: " + task);
      }
      Json record = bodyOf(said);
      record["session_id"] = "s";
      return record;
    };
    const std::string one = "Add a timeout to the scheduler of the jobs.";
    const std::string other = "Explain how the tokens of a login expire.";
    const LogReport report = diagnosed(linesOf({branch(one, 0), branch(other, 0), branch(one, 1),
                                                branch(other, 1), branch(one, 2), branch(other, 2)}));
    for (std::size_t i = 2; i < report.requests.size(); ++i) {
      QCOMPARE(causeIn(report, i), std::string());
      QCOMPARE(report.requests[i].best, std::optional<std::uint32_t>(static_cast<std::uint32_t>(i - 2)));
    }
  }

  /// Headers of responses name the server, also in a HAR file.
  void serversInHeaders() {
    const Json body = bodyOf({{"system", document(1)}, {"user", "Why?"}});
    const auto entry = [&](const char* server) {
      Json made;
      made["request"] = {{"url", "http://x/v1/chat/completions"}, {"method", "POST"}};
      made["request"]["postData"]["text"] = body.dump();
      made["response"]["status"] = 200;
      made["response"]["headers"].push_back({{"name", "X-Served-By"}, {"value", server}});
      return made;
    };
    const auto har = [&](const char* one, const char* other) {
      Json file;
      file["log"]["entries"] = {entry(one), entry(other)};
      return diagnosed(file.dump());
    };
    QCOMPARE(causeIn(har("gpu-0", "gpu-1"), 1), std::string("other_slot"));
    QVERIFY(causeIn(har("gpu-0", "gpu-0"), 1) != "other_slot");
    // A delivery network has no cache of prompts.
    QVERIFY(causeIn(har("cache-fra-1", "cache-fra-2"), 1) != "other_slot");
    const auto record = [&](const char* server) {
      Json made{{"request", body}};
      made["response"]["headers"]["x-pod-name"] = server;
      return made;
    };
    QCOMPARE(causeIn(diagnosed(linesOf({record("a"), record("b")})), 1), std::string("other_slot"));
  }

  /// Each server that the log names has a cache of its own.
  void serversHaveCaches() {
    Said said{{"system", document(1)}, {"user", document(2)}};
    std::vector<Json> requests;
    for (int turn = 0; turn < 4; ++turn) {
      requests.push_back({{"session_id", "s"}, {"request", bodyOf(said)}});
      said.emplace_back("assistant", document(10 + turn));
      said.emplace_back("user", document(20 + turn));
    }
    const auto servedBy = [&](const std::vector<std::string>& names, const DoctorOptions& options = {}) {
      std::vector<Json> records = requests;
      for (std::size_t i = 0; i < records.size(); ++i)
        if (!names[i].empty()) records[i]["upstream"] = names[i];
      return diagnosed(linesOf(records), options);
    };
    const LogReport one = servedBy({"a", "a", "a", "a"});
    const LogReport none = servedBy({"", "", "", ""});
    for (std::size_t i = 0; i < requests.size(); ++i) {
      QCOMPARE(one.requests[i].cached, none.requests[i].cached);
      QVERIFY(causeIn(one, i) != "other_slot");
    }
    QCOMPARE(one.server, none.server);
    // The third turn finds the tokens of the first one at its server, and the fourth those of the second.
    const LogReport two = servedBy({"a", "b", "a", "b"});
    QVERIFY(two.server != one.server && two.server.find("a, b") != std::string::npos);
    QCOMPARE(two.requests[1].cached, std::size_t{0});
    QVERIFY(two.requests[2].cached > 0 && two.requests[2].cached <= one.requests[1].cached);
    QCOMPARE(two.requests[3].cached, one.requests[2].cached);
    for (std::size_t i = 1; i < requests.size(); ++i) {
      QCOMPARE(causeIn(two, i), std::string("other_slot"));
      QCOMPARE(two.requests[i].cached + two.requests[i].lost, one.requests[i].cached);
    }
    // Tokens that the server had before were evicted, and are not lost to the other server.
    DoctorOptions small;
    small.server = "vllm";
    small.blocks = static_cast<std::int64_t>(two.requests[3].prompt / two.block + 1);
    const LogReport full = servedBy({"a", "b", "b", "a"}, small);
    QCOMPARE(causeIn(full, 2), std::string());
    QCOMPARE(causeIn(full, 3), std::string("other_slot"));
    // With limits, each server has its own pool, too.
    QCOMPARE(full.requests[2].cached, one.requests[2].cached);
    // A request without a name goes to the server of the request before it.
    const LogReport partly = servedBy({"", "a", "", "b"});
    QCOMPARE(partly.requests[2].cached, one.requests[2].cached);
    QCOMPARE(causeIn(partly, 3), std::string("other_slot"));
    // The ways use the same caches.
    QVERIFY(two.ways[1].computed > one.ways[1].computed && two.ways[3].computed > one.ways[3].computed);
  }

  /// The row names the difference that its cause explains, also if another request has a longer prefix.
  void differenceOfTheCause() {
    const std::string system = document(1);
    const auto turn = [&](const std::string& text, int turns) {
      Said said{{"system", text}};
      for (int i = 0; i < turns; ++i) {
        if (i > 0) said.emplace_back("assistant", document(i + 20));
        said.emplace_back("user", document(i + 3));
      }
      return bodyOf(said);
    };
    const LogReport report =
        diagnosed(linesOf({turn(system, 1), turn("It is 14:03. " + system, 2), turn(system, 3)}));
    const RequestReport& last = report.requests[2];
    QCOMPARE(causeIn(report, 2), std::string("time"));
    QVERIFY(last.best != last.compared);
    QVERIFY(last.commonCompared < last.common);
    QVERIFY(rowOf(report, last).difference.find("system message") != std::string::npos);
  }

  /// Several causes are sentences, one after another.
  void sentencesOfCauses() {
    const std::string system = document(1);
    const LogReport report = diagnosed(linesOf({bodyOf({{"system", "It is 14:03. " + system}, {"user", "a"}}),
                                                bodyOf({{"system", "It is 14:04. " + system + " "},
                                                        {"user", "a"},
                                                        {"assistant", "b"},
                                                        {"user", "c"}})}));
    QCOMPARE(report.requests[1].findings.size(), std::size_t{2});
    const std::string text = rowOf(report, report.requests[1]).cause;
    QVERIFY(text.find(".;") == std::string::npos);
    QVERIFY(text.ends_with('.'));
  }

  void stopsSoon() {
    std::stop_source source;
    std::string log;
    for (int i = 0; i < 50; ++i) log += turns(i, 4, "Be brief.");
    const auto tokenizer = makeEstimate();
    const LogReport report =
        diagnose(LogReader({{.name = "log", .path = {}, .text = log}}), *tokenizer, {}, source.get_token(),
                 [&](const LogReport&, DoctorPhase, std::size_t count) {
                   if (count == 10) source.request_stop();
                 });
    QVERIFY(report.isStopped);
    QVERIFY(report.requests.size() < 20);
  }

  /// Reports hide secrets, markup and control characters.
  void reportsAreSafe() {
    const std::string secret = "sk-abcdefgh12345678";
    Json first =
        bodyOf({{"system", "Key " + secret + " <script>alert(1)</script>\x1b[31m Hello " + document(1)},
                {"user", document(2)}});
    Json second =
        bodyOf({{"system", "Key sk-other0000000000 <script>alert(2)</script>\x1b[32m Hello " + document(1)},
                {"user", document(2)},
                {"assistant", "a"},
                {"user", "b"}});
    first["session_id"] = second["session_id"] = "=cmd|" + secret;
    std::string edited;
    DoctorOptions options;
    options.takeEdited = [&](const LoggedRequest& request) { edited += chatLineOf(request); };
    const LogReport report = diagnosed(linesOf({first, second}), options);
    QVERIFY(!causeIn(report, 1).empty());
    for (const std::string& text : {jsonReport(report, {}), csvReport(report), markdownReport(report, {}),
                                    htmlReport(report, {}), edited}) {
      QVERIFY(text.find("sk-abc") == std::string::npos);
      QVERIFY(text.find("sk-other") == std::string::npos);
      QVERIFY(text.find('\x1b') == std::string::npos);
    }
    // A changed value that moves to the end of the prompt loses the name before it.
    edited.clear();
    std::vector<Json> records;
    for (const char* value : {"one96768e5d", "two0dbe9027", "three5771a2f"})
      records.push_back(bodyOf({{"system", "Hello.\npassword: pw" + std::string(value) +
                                               "\nCookie: session=ck" + value + "\nBe brief. " + document(1)},
                                {"user", document(2)}}));
    (void)diagnosed(linesOf(records), options);
    QVERIFY(!edited.empty());
    for (const char* part : {"pwtwo", "cktwo", "pwthree", "ckthree"})
      QVERIFY2(edited.find(part) == std::string::npos, edited.c_str());
    QVERIFY(htmlReport(report, {}).find("<script") == std::string::npos);
    QVERIFY(htmlReport(report, {}).find("http://") == std::string::npos);
    QVERIFY(Json::accept(jsonReport(report, {})));
  }
};

SPANSCOPE_TEST(tst_doctor, TestDoctor)
#include "tst_doctor.moc"
