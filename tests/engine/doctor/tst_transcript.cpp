// SPDX-License-Identifier: GPL-3.0-or-later
// Transcripts of coding agents, and responses that continue earlier responses.
#include "engine/doctor/transcript.h"
#include "engine/trace/trace_file.h"
#include "tests/engine/doctor/log_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::doctor;
using namespace spanscope::doctor::testing;

namespace {

struct Read {
  std::vector<LoggedRequest> requests;
  std::vector<LogProblem> problems;
};

/// Reads a log, and reads each request again.
Read readAll(const std::string& text) {
  Read read;
  const LogReader log({{.name = "log", .path = {}, .text = text}});
  log.read([&](LoggedRequest&& request) { read.requests.push_back(std::move(request)); },
           [&](const LogProblem& problem) { read.problems.push_back(problem); });
  for (const LoggedRequest& request : read.requests) {
    const LoggedRequest again = log.again(request.place);
    if (again.messages != request.messages || again.answer != request.answer || again.usage != request.usage)
      qFatal("a request differs when read again");
  }
  return read;
}

std::string textAt(const LoggedRequest& request, std::size_t message) {
  return messageText(request.messages.at(message));
}

/// A line of Claude Code.
Json claude(const std::string& type, const std::string& id, const std::string& parent, Json message) {
  return {{"parentUuid", parent.empty() ? Json(nullptr) : Json(parent)},
          {"isSidechain", false},
          {"sessionId", "s1"},
          {"type", type},
          {"message", std::move(message)},
          {"uuid", id},
          {"timestamp", "2026-08-31T14:03:07.250Z"}};
}
Json asked(const std::string& id, const std::string& parent, const std::string& text) {
  return claude("user", id, parent, {{"role", "user"}, {"content", text}});
}
Json answered(const std::string& id, const std::string& parent, const std::string& message, Json block,
              int cached) {
  return claude(
      "assistant", id, parent,
      {{"id", message},
       {"model", "claude-x"},
       {"role", "assistant"},
       {"type", "message"},
       {"content", Json::array({std::move(block)})},
       {"usage",
        {{"input_tokens", 3}, {"cache_creation_input_tokens", 7}, {"cache_read_input_tokens", cached}}}});
}
Json said(const std::string& text) {
  return {{"type", "text"}, {"text", text}};
}
Json called(const std::string& id) {
  return {{"type", "tool_use"}, {"id", id}, {"name", "Read"}, {"input", {{"path", "a.py"}}}};
}
Json resultOf(const std::string& id, const std::string& parent, const std::string& call) {
  const Json block{{"type", "tool_result"}, {"tool_use_id", call}, {"content", "text of " + call}};
  return claude("user", id, parent, {{"role", "user"}, {"content", Json::array({block})}});
}

Json codex(const std::string& type, Json payload) {
  return {{"timestamp", "2026-08-31T14:03:07.250Z"}, {"type", type}, {"payload", std::move(payload)}};
}
Json item(const std::string& role, const std::string& text) {
  return codex(
      "response_item",
      {{"type", "message"},
       {"role", role},
       {"content",
        Json::array({{{"type", role == "assistant" ? "output_text" : "input_text"}, {"text", text}}})}});
}

}  // namespace

class TestTranscript : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  /// Each answer is a request. The lines of an answer belong together, also with results of tools between
  /// them.
  void claudeCode() {
    const Read read = readAll(linesOf(
        {{{"type", "file-history-snapshot"}, {"messageId", "m"}, {"snapshot", Json::object()}},
         {{"type", "summary"}, {"summary", "A session"}, {"leafUuid", "u9"}},
         asked("u1", "", "Repair the parser."),
         answered("a1", "u1", "m1", {{"type", "thinking"}, {"thinking", "Look first."}}, 0),
         answered("a2", "a1", "m1", called("c1"), 0),
         resultOf("r1", "a2", "c1"),
         answered("a3", "a2", "m1", called("c2"), 100),
         resultOf("r2", "a3", "c2"),
         {{"type", "system"}, {"sessionId", "s1"}, {"uuid", "y1"}, {"parentUuid", "r2"}, {"content", "hook"}},
         answered("a4", "y1", "m2", said("Repaired."), 200),
         asked("u2", "a4", "Thank you."),
         answered("a5", "u2", "m3", said("Fine."), 300)}));
    QCOMPARE(int(read.problems.size()), 0);
    QCOMPARE(int(read.requests.size()), 3);
    const LoggedRequest& first = read.requests[0];
    QCOMPARE(int(first.messages.size()), 1);
    QCOMPARE(int(first.answer->parts.size()), 3);
    QCOMPARE(first.usage.cached, std::optional<std::int64_t>(100));
    QCOMPARE(first.usage.prompt, std::optional<std::int64_t>(110));
    QCOMPARE(first.model, std::string("claude-x"));
    QVERIFY(first.time.has_value());
    const LoggedRequest& second = read.requests[1];
    QCOMPARE(int(second.messages.size()), 4);  // question, answer, two results
    QCOMPARE(second.messages[2].role, std::string("tool"));
    QCOMPARE(int(read.requests[2].messages.size()), 6);
    QCOMPARE(textAt(read.requests[2], 5), std::string("Thank you."));
    const LogReport report =
        diagnosed(linesOf({asked("u1", "", document(1)), answered("a1", "u1", "m1", said(document(2)), 0),
                           asked("u2", "a1", "Go on."), answered("a2", "u2", "m2", said("Fine."), 0)}));
    QCOMPARE(int(report.conversations), 1);
    QCOMPARE(causeIn(report, 1), std::string("unknown"));  // the server reported no hit
  }

  /// The user goes back to an earlier message, compacts, and starts an agent.
  void claudeCodeBranches() {
    Json compacted = asked("u4", "b1", "Summary of the session.");
    compacted["isCompactSummary"] = true;
    compacted["isVisibleInTranscriptOnly"] = true;
    Json side = asked("x1", "", "Search the tests.");
    Json sideAnswer = answered("x2", "x1", "m9", said("Found."), 0);
    side["isSidechain"] = sideAnswer["isSidechain"] = true;
    Json failed = answered("e1", "u5", "m8", said("API error"), 0);
    failed["isApiErrorMessage"] = true;
    const Read read = readAll(linesOf({asked("u1", "", "One."),
                                       answered("a1", "u1", "m1", said("First."), 0),
                                       asked("u2", "a1", "Two."),
                                       answered("a2", "u2", "m2", said("Second."), 0),
                                       asked("u3", "a1", "Two again."),
                                       side,
                                       answered("a3", "u3", "m3", said("Third."), 0),
                                       sideAnswer,
                                       {{"type", "system"},
                                        {"subtype", "compact_boundary"},
                                        {"sessionId", "s1"},
                                        {"uuid", "b1"},
                                        {"parentUuid", nullptr}},
                                       compacted,
                                       asked("u5", "u4", "Go on."),
                                       failed,
                                       answered("a4", "u5", "m4", said("Fourth."), 0)}));
    QCOMPARE(int(read.problems.size()), 0);
    QCOMPARE(int(read.requests.size()), 5);
    std::vector<std::string> prompts;
    for (const LoggedRequest& request : read.requests) {
      std::string prompt;
      for (std::size_t i = 0; i < request.messages.size(); ++i) prompt += textAt(request, i) + "|";
      prompts.push_back(prompt);
    }
    std::ranges::sort(prompts);
    QVERIFY((prompts == std::vector<std::string>{"One.|", "One.|First.|Two again.|", "One.|First.|Two.|",
                                                 "Search the tests.|", "Summary of the session.|Go on.|"}));
  }

  /// Records of other programs can have ids with the same names.
  void requestsWithIds() {
    Json record{{"type", "request"}, {"sessionId", "s"}, {"uuid", "u"}};
    record["request"] = bodyOf({{"user", "Hello"}});
    const Read read = readAll(linesOf({record, {{"type", "queue-operation"}, {"sessionId", "s"}}}));
    QCOMPARE(int(read.requests.size()), 1);
    QCOMPARE(int(read.problems.size()), 0);
  }

  void codexRollout() {
    const Json call = codex("response_item", {{"type", "function_call"},
                                              {"name", "shell"},
                                              {"arguments", R"({"command":["ls"]})"},
                                              {"call_id", "c1"}});
    const Json output =
        codex("response_item", {{"type", "function_call_output"}, {"call_id", "c1"}, {"output", "a.py"}});
    const auto counted = [](int prompt, int cached) {
      const Json usage{{"input_tokens", prompt}, {"cached_input_tokens", cached}, {"output_tokens", 4}};
      return codex("event_msg", {{"type", "token_count"}, {"info", {{"last_token_usage", usage}}}});
    };
    const Read read = readAll(linesOf(
        {codex("session_meta",
               {{"id", "t1"}, {"cwd", "/p"}, {"base_instructions", {{"text", "You are a coding agent."}}}}),
         codex("turn_context", {{"model", "gpt-x"}}), item("user", "<environment_context/>"),
         item("user", "List the files."),
         codex("event_msg", {{"type", "user_message"}, {"message", "List."}}),
         codex("response_item",
               {{"type", "reasoning"}, {"summary", Json::array()}, {"encrypted_content", "x"}}),
         call, counted(900, 100), output, item("assistant", "There is a.py."), counted(950, 896),
         codex("compacted",
               {{"message", ""},
                {"replacement_history",
                 Json::array({{{"type", "message"}, {"role", "user"}, {"content", "Short."}}})}}),
         item("user", "Go on."), item("assistant", "Done.")}));
    QCOMPARE(int(read.problems.size()), 0);
    QCOMPARE(int(read.requests.size()), 3);
    QCOMPARE(textAt(read.requests[0], 0), std::string("You are a coding agent."));
    QCOMPARE(int(read.requests[0].messages.size()), 3);
    QCOMPARE(read.requests[0].usage.cached, std::optional<std::int64_t>(100));
    QCOMPARE(read.requests[0].model, std::string("gpt-x"));
    QCOMPARE(int(read.requests[1].messages.size()), 5);
    QCOMPARE(read.requests[1].messages[4].role, std::string("tool"));
    QCOMPARE(read.requests[1].usage.cached, std::optional<std::int64_t>(896));
    QCOMPARE(textAt(read.requests[2], 1), std::string("Short."));
    QCOMPARE(int(read.requests[2].messages.size()), 3);
  }

  /// The gateway records each request as a run. The log can be the recording.
  void recordedTrace() {
    std::vector<trace::Event> events;
    const auto add = [&](RunId run, trace::Payload payload) {
      trace::Event event;
      event.sequence = events.size() + 1;
      event.run = event.request = run;
      event.time = static_cast<std::int64_t>(events.size()) * 1'000'000;
      event.payload = std::move(payload);
      events.push_back(std::move(event));
    };
    const auto ask = [&](RunId run, const std::string& text, std::int64_t cached) {
      const Json messages = Json::array({{{"system", "Be brief."}}, {{"user", text}}});
      const Json query{{"g", {{"model", "m"}, {"input", {{"cross", messages}}}}}};
      trace::RunStarted started;
      started.queryJson = query.dump();
      add(run, started);
      trace::ServerChosen server;
      server.name = "gpu";
      server.kind = "llama.cpp";
      add(run, server);
      add(run, trace::RequestSent{.server = "gpu", .model = "m"});
      add(run, trace::RequestPassed{.slots = 3, .missing = run == 1 ? "tools" : ""});
      add(run, trace::TextReceived{.text = "An "});
      add(run, trace::TextReceived{.text = "answer."});
      trace::ServerReported reported;
      reported.server = "gpu";
      reported.model = "base";
      reported.promptTokens = 40;
      reported.cached = cached > 0 ? trace::CachedState::Found : trace::CachedState::MeasuredZero;
      reported.cachedTokens = cached;
      add(run, reported);
      add(run, trace::RunFinished());
    };
    trace::SessionStarted session;
    session.pool.blockSize = 32;
    session.pool.blocks.resize(136);
    add(0, session);
    ask(1, "Why?", 0);
    ask(2, "Why not?", 30);
    add(3, events[1].payload);
    add(3, trace::RequestSent{.server = "gpu", .model = "m"});
    trace::ServerReported refused;
    refused.server = "gpu";
    refused.brokenBy = "status 404: No model m.";
    add(3, refused);
    add(3, trace::RunFinished{.outcome = trace::RunOutcome::Failed, .answer = {}});
    const std::vector<std::uint8_t> bytes = trace::traceBytes(events);
    const Read read = readAll(std::string(bytes.begin(), bytes.end()));
    // The recording states that the first request had tools.
    QCOMPARE(int(read.problems.size()), 1);
    QVERIFY(read.requests[0].isIncomplete && !read.requests[1].isIncomplete);
    QCOMPARE(int(read.requests.size()), 3);
    QCOMPARE(read.requests[2].failure, std::string("status 404: No model m"));
    QCOMPARE(read.requests[1].server.slots, 3);
    QVERIFY((read.requests[0].running == RunningTime{3, 7}));
    const LoggedRequest& last = read.requests[1];
    QCOMPARE(int(last.messages.size()), 2);
    QCOMPARE(textAt(last, 1), std::string("Why not?"));
    QCOMPARE(last.server.blockSize, 32);
    QCOMPARE(last.server.cacheTokens, std::int64_t(135 * 32));
    QCOMPARE(messageText(*last.answer), std::string("An answer."));
    QCOMPARE(last.usage.cached, std::optional<std::int64_t>(30));
    QCOMPARE(last.server.kind, std::string("llama.cpp"));
    QCOMPARE(last.servedModel(), std::string("base"));
  }

  /// A request of OpenAI's responses has only new messages, and names the response that it continues.
  void continuedResponses_data() {
    QTest::addColumn<QString>("member");
    QTest::newRow("previous_response_id") << "previous_response_id";
    QTest::newRow("conversation") << "conversation";
  }
  void continuedResponses() {
    QFETCH(QString, member);
    const bool isId = member == QLatin1String("previous_response_id");
    const auto turn = [&](int number, const char* instructions) {
      Json body{
          {"model", "m"}, {"instructions", instructions}, {"input", "Question " + std::to_string(number)}};
      if (!isId) body["conversation"] = "conv_1";
      if (isId && number > 0) body["previous_response_id"] = "resp_" + std::to_string(number - 1);
      const Json text{{"type", "output_text"}, {"text", "Answer " + std::to_string(number)}};
      const Json message{{"type", "message"}, {"role", "assistant"}, {"content", Json::array({text})}};
      return Json{{"request", body},
                  {"response",
                   {{"id", "resp_" + std::to_string(number)},
                    {"object", "response"},
                    {"output", Json::array({message})}}}};
    };
    const Read read = readAll(linesOf({turn(0, "Be brief."), turn(1, "Be brief."), turn(2, "Be kind.")}));
    QCOMPARE(int(read.problems.size()), 0);
    QCOMPARE(int(read.requests.size()), 3);
    const LoggedRequest& last = read.requests[2];
    QCOMPARE(int(last.messages.size()), 6);
    QCOMPARE(textAt(last, 0), std::string("Be kind."));
    QCOMPARE(textAt(last, 1), std::string("Question 0"));
    QCOMPARE(textAt(last, 2), std::string("Answer 0"));
    QCOMPARE(textAt(last, 5), std::string("Question 2"));
    const LogReport report =
        diagnosed(linesOf({turn(0, "Be brief."), turn(1, "Be brief."), turn(2, "Be kind.")}));
    QCOMPARE(int(report.conversations), 1);
    QCOMPARE(causeIn(report, 2), std::string("system_edited"));
    // The beginning of the conversation is not in the log.
    if (isId) QCOMPARE(int(readAll(linesOf({turn(1, "Be brief.")})).problems.size()), 1);
  }
};

SPANSCOPE_TEST(tst_transcript, TestTranscript)
#include "tst_transcript.moc"
