// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of every form and protocol, and logs that should harm the reader.
#include "engine/base/error.h"
#include "engine/doctor/log_reader.h"
#include "engine/doctor/prompt_tokens.h"
#include "engine/doctor/redaction.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::doctor;
using Json = nlohmann::ordered_json;

namespace {

struct ReadLog {
  std::vector<LoggedRequest> requests;
  std::vector<LogProblem> problems;
};

ReadLog readText(const std::string& text) {
  ReadLog read;
  LogReader({{.name = "log", .path = {}, .text = text}})
      .read([&](LoggedRequest&& request) { read.requests.push_back(std::move(request)); },
            [&](const LogProblem& problem) { read.problems.push_back(problem); });
  return read;
}

const Json kSchema =
    Json::parse(R"({"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}})");

/// One request with tools, a call, its result and an answer, in the form of a protocol.
std::string openAiChat() {
  Json body{{"model", "m"},
            {"messages",
             {{{"role", "system"}, {"content", "Be brief."}},
              {{"role", "user"}, {"content", "Weather in Oslo?"}},
              {{"role", "assistant"},
               {"content", nullptr},
               {"tool_calls",
                {{{"id", "c1"},
                  {"type", "function"},
                  {"function", {{"name", "weather"}, {"arguments", R"({"city": "Oslo", "days": 2})"}}}}}}},
              {{"role", "tool"}, {"tool_call_id", "c1"}, {"content", "Rain."}},
              {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "And tomorrow?"}}}}}}},
            {"tools",
             {{{"type", "function"},
               {"function", {{"name", "weather"}, {"description", "Forecast"}, {"parameters", kSchema}}}}}}};
  Json response{{"choices", {{{"message", {{"role", "assistant"}, {"content", "Sun."}}}}}},
                {"usage",
                 {{"prompt_tokens", 50},
                  {"completion_tokens", 3},
                  {"prompt_tokens_details", {{"cached_tokens", 32}}}}}};
  return Json{{"request", body}, {"response", response}}.dump();
}

std::string openAiResponses() {
  Json body{
      {"model", "m"},
      {"instructions", "Be brief."},
      {"input",
       {{{"role", "user"}, {"content", {{{"type", "input_text"}, {"text", "Weather in Oslo?"}}}}},
        {{"type", "function_call"},
         {"call_id", "c1"},
         {"name", "weather"},
         {"arguments", R"({"city":"Oslo","days":2})"}},
        {{"type", "function_call_output"}, {"call_id", "c1"}, {"output", "Rain."}},
        {{"role", "user"}, {"content", "And tomorrow?"}}}},
      {"tools",
       {{{"type", "function"}, {"name", "weather"}, {"description", "Forecast"}, {"parameters", kSchema}}}}};
  Json response{
      {"object", "response"},
      {"output",
       {{{"type", "message"},
         {"role", "assistant"},
         {"content", {{{"type", "output_text"}, {"text", "Sun."}}}}}}},
      {"usage",
       {{"input_tokens", 50}, {"output_tokens", 3}, {"input_tokens_details", {{"cached_tokens", 32}}}}}};
  return Json{{"body", body}, {"response", {{"status_code", 200}, {"body", response}}}}.dump();
}

std::string anthropicMessages() {
  Json body{
      {"model", "m"},
      {"system", {{{"type", "text"}, {"text", "Be brief."}, {"cache_control", {{"type", "ephemeral"}}}}}},
      {"messages",
       {{{"role", "user"}, {"content", "Weather in Oslo?"}},
        {{"role", "assistant"},
         {"content",
          {{{"type", "tool_use"},
            {"id", "c1"},
            {"name", "weather"},
            {"input", {{"city", "Oslo"}, {"days", 2}}}}}}},
        {{"role", "user"},
         {"content",
          {{{"type", "tool_result"}, {"tool_use_id", "c1"}, {"content", "Rain."}},
           {{"type", "text"}, {"text", "And tomorrow?"}}}}}}},
      {"tools", {{{"name", "weather"}, {"description", "Forecast"}, {"input_schema", kSchema}}}}};
  // A streamed answer.
  const std::string stream =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":8,"
      "\"cache_read_input_tokens\":32,\"cache_creation_input_tokens\":10}}}\n\n"
      "data: "
      "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
      "data: "
      "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Su\"}}\n\n"
      "data: "
      "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"n.\"}}\n\n"
      "data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":3}}\n\ndata: "
      "{\"type\":\"message_stop\"}\n\n";
  return Json{{"request", {{"body", body.dump()}}}, {"response", stream}}.dump();
}

std::string ollamaChat() {
  Json body{{"model", "m"},
            {"messages",
             {{{"role", "system"}, {"content", "Be brief."}},
              {{"role", "user"}, {"content", "Weather in Oslo?"}},
              {{"role", "assistant"},
               {"content", ""},
               {"tool_calls",
                {{{"function", {{"name", "weather"}, {"arguments", {{"city", "Oslo"}, {"days", 2}}}}}}}}},
              {{"role", "tool"}, {"content", "Rain."}, {"tool_name", "weather"}},
              {{"role", "user"}, {"content", "And tomorrow?"}}}},
            {"tools",
             {{{"type", "function"},
               {"function", {{"name", "weather"}, {"description", "Forecast"}, {"parameters", kSchema}}}}}},
            {"options", {{"temperature", 0}}}};
  const std::string stream =
      "{\"message\":{\"role\":\"assistant\",\"content\":\"Su\"},\"done\":false}\n"
      "{\"message\":{\"role\":\"assistant\",\"content\":\"n.\"},\"done\":false}\n"
      "{\"done\":true,\"prompt_eval_count\":50,\"prompt_eval_cached_count\":32,\"eval_count\":3}\n";
  return Json{{"req", body}, {"res", stream}}.dump();
}

Json attribute(const std::string& key, const std::string& value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

std::string openTelemetry() {
  const Json input = Json::parse(R"([
    {"role":"user","parts":[{"type":"text","content":"Weather in Oslo?"}]},
    {"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"weather","arguments":{"city":"Oslo","days":2}}]},
    {"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"Rain."}]},
    {"role":"user","parts":[{"type":"text","content":"And tomorrow?"}]}])");
  const Json tools{
      {{"type", "function"}, {"name", "weather"}, {"description", "Forecast"}, {"parameters", kSchema}}};
  Json attributes = Json::array();
  attributes.push_back(attribute("gen_ai.request.model", "m"));
  attributes.push_back(attribute("gen_ai.input.messages", input.dump()));
  attributes.push_back(attribute("gen_ai.system_instructions", R"([{"type":"text","content":"Be brief."}])"));
  attributes.push_back(attribute("gen_ai.tool.definitions", tools.dump()));
  attributes.push_back(attribute("gen_ai.output.messages",
                                 R"([{"role":"assistant","parts":[{"type":"text","content":"Sun."}]}])"));
  attributes.push_back({{"key", "gen_ai.usage.input_tokens"}, {"value", {{"intValue", "50"}}}});
  attributes.push_back({{"key", "gen_ai.usage.cache_read.input_tokens"}, {"value", {{"intValue", "32"}}}});
  attributes.push_back({{"key", "gen_ai.usage.output_tokens"}, {"value", {{"intValue", "3"}}}});
  const Json span{{"spanId", "1"},
                  {"name", "chat m"},
                  {"startTimeUnixNano", "1788184980000000000"},
                  {"attributes", attributes}};
  Json document{
      {"resourceSpans", Json::array({{{"scopeSpans", Json::array({{{"spans", Json::array({span})}}})}}})}};
  return document.dump(1);
}

std::string har() {
  const Json pair = Json::parse(openAiChat());
  Json entry{{"startedDateTime", "2026-08-31T14:03:00.000Z"},
             {"request",
              {{"method", "POST"},
               {"url", "http://localhost/v1/chat/completions"},
               {"headers", {{{"name", "Authorization"}, {"value", "Bearer sk-verysecretkey123456"}}}},
               {"postData", {{"mimeType", "application/json"}, {"text", pair["request"].dump()}}}}},
             {"response", {{"content", {{"text", pair["response"].dump()}}}}}};
  Json page{{"request", {{"method", "GET"}, {"url", "http://localhost/"}}},
            {"response", {{"content", {{"text", "<p>"}}}}}};
  return Json{{"log", {{"version", "1.2"}, {"entries", Json::array({page, entry})}}}}.dump(2);
}

std::string chat(const std::string& question) {
  return Json{{"model", "m"}, {"messages", {{{"role", "user"}, {"content", question}}}}}.dump();
}

}  // namespace

class TestLogReader : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void protocols_data() {
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<bool>("hasAnswer");
    const auto row = [](const char* name, const std::string& log, bool hasAnswer = true) {
      QTest::newRow(name) << QByteArray::fromStdString(log) << hasAnswer;
    };
    row("OpenAI chat", openAiChat());
    row("OpenAI responses", openAiResponses());
    row("Anthropic messages", anthropicMessages());
    row("Ollama chat", ollamaChat());
    row("OpenTelemetry", openTelemetry());
    row("HAR", har());
    row("HAR in one line", Json::parse(har()).dump());
    row("list of records", "[\n" + openAiChat() + "\n]");
    const Json pair = Json::parse(openAiChat());
    row("curl",
        "# a comment\ncurl http://localhost/v1/chat/completions \\\n  -H 'Authorization: Bearer "
        "sk-0123456789abcdef' \\\n  -d '" +
            pair["request"].dump() + "'\n",
        false);
    row("LiteLLM", Json{{"id", "x"},
                        {"call_type", "completion"},
                        {"model", "m"},
                        {"messages", pair["request"]["messages"]},
                        {"model_parameters", {{"tools", pair["request"]["tools"]}}},
                        {"response", pair["response"]}}
                       .dump());
  }
  /// The same conversation is the same request in every form.
  void protocols() {
    QFETCH(QByteArray, log);
    QFETCH(bool, hasAnswer);
    const ReadLog expected = readText(openAiChat());
    const ReadLog read = readText(log.toStdString());
    QCOMPARE(int(read.problems.size()), 0);
    QCOMPARE(int(read.requests.size()), 1);
    const LoggedRequest& request = read.requests.front();
    const LoggedRequest& other = expected.requests.front();
    QCOMPARE(request.model, std::string("m"));
    QCOMPARE(int(request.messages.size()), 5);
    for (std::size_t i = 0; i < 5; ++i) {
      QCOMPARE(request.messages[i].role, other.messages[i].role);
      QCOMPARE(messageText(request.messages[i]), messageText(other.messages[i]));
      QVERIFY(request.messages[i] == other.messages[i]);
    }
    QVERIFY(request.tools == other.tools);
    const auto estimate = makeEstimate();
    QCOMPARE(estimate->tokens(request).prompt, estimate->tokens(other).prompt);
    if (!hasAnswer) return;
    QVERIFY(request.answer == other.answer);
    QVERIFY(request.usage == other.usage);
    QCOMPARE(*request.usage.cached, std::int64_t{32});
    QCOMPARE(*request.usage.prompt, std::int64_t{50});
  }

  /// Counts that the server does not report are not zero.
  void missingUsageIsNotZero() {
    const ReadLog read = readText(
        chat("a") + "\n" +
        Json{{"request", Json::parse(chat("a"))},
             {"response",
              {{"usage", {{"prompt_tokens", 9}, {"prompt_tokens_details", {{"cached_tokens", 0}}}}}}}}
            .dump() +
        "\n");
    QCOMPARE(int(read.requests.size()), 2);
    QVERIFY(!read.requests[0].usage.cached.has_value());
    QCOMPARE(*read.requests[1].usage.cached, std::int64_t{0});
  }

  void times_data() {
    QTest::addColumn<QByteArray>("time");
    for (const char* time :
         {"1788184980", "1788184980.0", "1788184980000", "1788184980000000", "1788184980000000000",
          "\"2026-08-31T14:03:00Z\"", "\"2026-08-31 14:03:00\"", "\"2026-08-31T16:03:00.000+02:00\""})
      QTest::newRow(time) << QByteArray(time);
  }
  void times() {
    QFETCH(QByteArray, time);
    Json record = Json::parse(chat("a"));
    record["timestamp"] = Json::parse(time.toStdString());
    QCOMPARE(readText(record.dump()).requests.at(0).time.value_or(0), std::int64_t{1788184980000});
  }

  void runningTimes_data() {
    QTest::addColumn<QByteArray>("log");
    QTest::addColumn<qint64>("begin");
    QTest::addColumn<qint64>("end");
    QTest::addColumn<bool>("isExact");
    constexpr qint64 kStart = 1788184980000;
    const auto row = [](const char* name, const std::string& log, qint64 begin, qint64 end,
                        bool isExact = true) {
      QTest::newRow(name) << QByteArray::fromStdString(log) << begin << end << isExact;
    };
    const auto record = [](const Json& members) {
      Json made{{"request", Json::parse(chat("a"))}};
      made.update(members);
      return made.dump();
    };
    row("start and end",
        record({{"time", 1788184979}, {"start_time", 1788184980}, {"end_time", 1788184982.5}}), kStart,
        kStart + 2500);
    row("start and length", record({{"startTime", 1788184980}, {"duration_ms", 40}}), kStart, kStart + 40);
    row("end and length", record({{"completed_at", 1788184980}, {"latency_s", 1.5}}), kStart - 1500, kStart);
    row("time and length", record({{"timestamp", 1788184980}, {"latency_ms", 40}}), kStart - 40, kStart + 40,
        false);
    row("recording", record({{"running_ms", {40, 50}}}), 40, 50);
    Json spans = Json::parse(openTelemetry());
    spans["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["endTimeUnixNano"] = "1788184983000000000";
    row("OpenTelemetry", spans.dump(), kStart, kStart + 3000);
    Json file = Json::parse(har());
    file["log"]["entries"][1]["time"] = 120.4;
    row("HAR", file.dump(), kStart, kStart + 121);
  }
  void runningTimes() {
    QFETCH(QByteArray, log);
    QFETCH(qint64, begin);
    QFETCH(qint64, end);
    QFETCH(bool, isExact);
    const LoggedRequest request = readText(log.toStdString()).requests.at(0);
    QVERIFY(request.running.has_value());
    QVERIFY((*request.running == RunningTime{begin, end, isExact}));
  }

  /// The span of an agent contains the spans of its requests, and is no request itself.
  void spansAroundRequests() {
    for (const auto& [name, value] : {std::pair("gen_ai.operation.name", "invoke_agent"),
                                      std::pair("openinference.span.kind", "CHAIN")}) {
      Json spans = Json::parse(openTelemetry());
      Json& list = spans["resourceSpans"][0]["scopeSpans"][0]["spans"];
      Json agent = list[0];
      agent["attributes"].push_back(attribute(name, value));
      list.push_back(agent);
      const ReadLog read = readText(spans.dump());
      QCOMPARE(int(read.requests.size()), 1);
      QCOMPARE(int(read.problems.size()), 0);
    }
  }

  /// The member "time" of a HAR entry is a length.
  void timeOfHar() {
    Json file = Json::parse(har());
    file["log"]["entries"][1]["time"] = 120.4;
    QCOMPARE(readText(file.dump()).requests.at(0).time.value_or(0), std::int64_t{1788184980000});
  }

  /// Proxies write a line at the end of a request. The server got the requests in the order of their starts.
  void orderOfStarts() {
    const auto line = [](const char* question, double start, double end, const char* upstream = "a") {
      Json made{{"request", Json::parse(chat(question))}, {"upstream", upstream}};
      if (start > 0) {
        made["start_time"] = start;
        made["end_time"] = end;
      }
      return made.dump() + "\n";
    };
    const LogReader log(
        {{.name = "one",
          .path = {},
          .text = line("second", 1020, 1030) + line("after", 0, 0) + line("first", 1000, 1040) +
                  line("apart", 1002, 1010, "b") + line("last", 1040, 1050)},
         {.name = "two", .path = {}, .text = line("other", 900, 910)}});
    const auto read = [&] {
      std::string questions;
      log.read(
          [&](LoggedRequest&& request) {
            questions += messageText(request.messages.front()) + (request.isConcurrent ? "* " : " ");
          },
          [](const LogProblem&) {});
      return questions;
    };
    QCOMPARE(read(), std::string("second after first apart last other "));
    log.learnTimes();
    QCOMPARE(read(), std::string("first* apart second* after last other "));
    QCOMPARE(read(), std::string("first* apart second* after last other "));
  }

  /// The line of a long request comes after the lines of many others. It is read ahead, so that the reader
  /// does not hold all of the others.
  void longRequests() {
    constexpr int kOthers = 70;
    std::string text;
    const auto add = [&text](const std::string& question, int start, int end) {
      const Json made{{"request", Json::parse(chat(question))}, {"start_time", start}, {"end_time", end}};
      text += made.dump() + "\n";
    };
    const std::string wide(std::size_t{1} << 20U, 'a');
    for (int i = 0; i < kOthers; ++i) add(wide, 1010 + i, 1011 + i);
    add("first", 1000, 2000);
    const LogReader log({{.name = "log", .path = {}, .text = std::move(text)}});
    log.learnTimes();
    std::vector<std::int64_t> starts;
    log.read(
        [&](LoggedRequest&& request) {
          QCOMPARE(messageText(request.messages.front()), starts.empty() ? "first" : wide);
          QVERIFY(request.isConcurrent);
          starts.push_back(request.running->begin);
        },
        [](const LogProblem&) {});
    QCOMPARE(int(starts.size()), kOthers + 1);
    QVERIFY(std::ranges::is_sorted(starts));
  }

  /// Damaged lines are skipped with their numbers; other lines are read.
  void damagedLines() {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    const std::string huge = R"({"messages":[{"role":"user","content":"a"}],"seed":1e999})";
    std::string wide = "{\"messages\":[],\"x\":{";
    for (int i = 0; i < 2000; ++i) wide += (i > 0 ? "," : "") + ("\"k" + std::to_string(i)) + "\":1";
    wide += "}}";
    const std::string log = chat("one") + "\n{\"messages\": [\n\n" + deep + "\n" + huge + "\n" + wide +
                            "\n\x01\x02\xff\xfe\n{\"a\":1}\n" + std::string("\0\0\0", 3) + "\n" +
                            chat("two") + "\n";
    const ReadLog read = readText(log);
    QCOMPARE(int(read.requests.size()), 2);
    QCOMPARE(read.requests[1].place.line, std::uint64_t{10});
    std::vector<std::uint64_t> lines;
    for (const LogProblem& problem : read.problems) lines.push_back(problem.line);
    QVERIFY((lines == std::vector<std::uint64_t>{2, 4, 5, 6, 7, 8, 9}));
  }

  /// Problems never quote the log.
  void problemsHaveNoText() {
    const ReadLog read = readText("{\"key\": \"sk-0123456789abcdef\n" + chat("one") + "\n");
    QCOMPARE(int(read.problems.size()), 1);
    QVERIFY(read.problems.front().found.find("sk-") == std::string::npos);
  }

  /// Any change of a byte is a request, a problem or nothing, but no crash.
  void changedBytes() {
    const auto seed = std::random_device{}();
    qInfo("seed %u", seed);
    std::mt19937 random(seed);
    const std::string logs[] = {openAiChat() + "\n" + anthropicMessages() + "\n" + ollamaChat(),
                                openTelemetry(), har(), "curl http://a -d '" + chat("it''s") + "'\n"};
    for (int i = 0; i < 600; ++i) {
      std::string log = logs[random() % 4];
      for (unsigned k = 0; k < 1 + random() % 4; ++k)
        log[random() % log.size()] = static_cast<char>(random());
      if (i % 3 == 0) log.resize(random() % log.size());
      const ReadLog read = readText(log);
      const auto estimate = makeEstimate();
      for (const LoggedRequest& request : read.requests) QVERIFY(estimate->tokens(request).prompt > 0);
    }
  }

  /// A record is read again from its place, in lines and in documents.
  void readsAgain() {
    QTemporaryDir folder;
    const std::string forms[] = {chat("one") + "\n\n" + chat("two") + "\n",
                                 "[" + chat("one") + ",\n " + chat("two") + "]",
                                 "{\"requests\": [\n" + chat("one") + ",\n" + chat("two") + "\n]}"};
    for (const std::string& form : forms) {
      const QString path = folder.filePath("log");
      QFile file(path);
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(QByteArray::fromStdString(form));
      file.close();
      const LogReader log({{.name = "log", .path = path.toStdString(), .text = {}}});
      std::vector<LoggedRequest> requests;
      log.read([&](LoggedRequest&& request) { requests.push_back(std::move(request)); },
               [](const LogProblem&) {});
      QCOMPARE(int(requests.size()), 2);
      for (const LoggedRequest& request : requests)
        QVERIFY(log.again(request.place).messages == request.messages);
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write("{}");
      file.close();
      QVERIFY_EXCEPTION_THROWN(log.again(requests[1].place), Failure);
    }
  }

  void stops() {
    std::string log;
    for (int i = 0; i < 100; ++i) log += chat("a") + "\n";
    std::stop_source source;
    int count = 0;
    LogReader({{.name = "log", .path = {}, .text = log}})
        .read(
            [&](LoggedRequest&&) {
              if (++count == 5) source.request_stop();
            },
            [](const LogProblem&) {}, source.get_token());
    QCOMPARE(count, 5);
  }

  void redaction_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("shown");
    const auto row = [](const char* text, const char* shown) {
      QTest::newRow(text) << QByteArray(text) << QByteArray(shown);
    };
    row("key sk-abcdef0123456789 ends", "key [redacted] ends");
    row("sk-ant-api03-AbC_d-123456", "[redacted]");
    row("Authorization: Bearer abcdefgh12345678", "Authorization: [redacted]");
    row("{\"x-api-key\": \"k1234567\", \"a\": 1}", "{\"x-api-key\": \"[redacted]\", \"a\": 1}");
    row("api_key=abcd1234&x=1", "api_key=[redacted]&x=1");
    row("Cookie: a=b; session=12345", "Cookie: [redacted]");
    row("use Bearer abc.def-ghi123", "use Bearer [redacted]");
    row("AKIAIOSFODNN7EXAMPLE", "[redacted]");
    row("the task is-sk done, a token of love", "the task is-sk done, a token of love");
    row("ask-me-anything-today", "ask-me-anything-today");
  }
  void redaction() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, shown);
    QCOMPARE(QByteArray::fromStdString(redacted(text.toStdString())), shown);
  }
  /// Logs can be packed with gzip, also in several streams. Damaged files are refused, and requests are read
  /// again.
  void gzip() {
    const std::string packed = QByteArray::fromHex(
                                   "1f8b0800000000000203ab56ca4d2d2e4e4c4f2d56b28aae562acacf4955b2522a2d4e2d5"
                                   "2d2514acecf2b49cd2b010a78"
                                   "a4e6e4e42bd5c6d67201009083b5ff31000000")
                                   .toStdString();
    for (const int streams : {1, 3}) {
      std::string text;
      for (int i = 0; i < streams; ++i) text += packed;
      const ReadLog read = readText(text);
      QVERIFY(read.problems.empty());
      QCOMPARE(int(read.requests.size()), streams);
      const LogReader log({{.name = "log", .path = {}, .text = text}});
      for (const LoggedRequest& request : read.requests)
        QVERIFY(log.again(request.place).messages == request.messages);
    }
    QVERIFY_EXCEPTION_THROWN(readText(packed.substr(0, packed.size() - 6)), Failure);
    std::string damaged = packed;
    damaged[30] = static_cast<char>(damaged[30] ^ 0x55);
    QVERIFY_EXCEPTION_THROWN(readText(damaged), Failure);
  }

  /// A piece of a secret is hidden, too.
  void partsOfSecretsAreHidden() {
    const std::string text = "key sk-abcdef0123456789 ends";
    for (std::size_t begin = 5; begin < 20; ++begin)
      QVERIFY(redacted(text, begin, begin + 6).find_first_of("0123456789") == std::string::npos);
  }
};

SPANSCOPE_TEST(tst_log_reader, TestLogReader)
#include "tst_log_reader.moc"
