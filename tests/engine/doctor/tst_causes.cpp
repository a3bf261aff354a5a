// SPDX-License-Identifier: GPL-3.0-or-later
// Every cause in the smallest log that shows it, and logs without any cause.
#include "engine/doctor/causes.h"
#include "tests/engine/doctor/log_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::doctor;
using namespace spanscope::doctor::testing;

namespace {

const std::string kSystem =
    "You are a patient assistant of a travel agency. You answer from the documents of the agency, you never "
    "guess "
    "prices, and you always name the document that you used for your answer.";
const std::string kFirst =
    "Which trains go from Lisbon to Porto in the morning, and where do they stop on the way?";
const std::string kAnswer =
    "Three trains leave before noon. They stop in Santarem, Coimbra and Aveiro on the way.";
const std::string kSecond = "How long does the fastest of them take?";

/// Two turns of a conversation.
Said firstTurn(const std::string& system = kSystem) {
  return {{"system", system}, {"user", kFirst}};
}
Said secondTurn(const std::string& system = kSystem) {
  return {{"system", system}, {"user", kFirst}, {"assistant", kAnswer}, {"user", kSecond}};
}

Json tool(const std::string& name, const std::string& description, const std::string& parameters) {
  return {
      {"type", "function"},
      {"function", {{"name", name}, {"description", description}, {"parameters", Json::parse(parameters)}}}};
}

Json withTools(Json body, std::vector<Json> tools) {
  body["tools"] = std::move(tools);
  return body;
}

struct Case {
  std::string log;
  DoctorOptions options{};
};

/// Marks the first message with Anthropic's cache_control. `life`: "1h", or "" for the default of 5 minutes.
Json marked(Json body, const char* life) {
  Json mark{{"type", "ephemeral"}};
  if (*life != '\0') mark["ttl"] = life;
  Json& content = body["messages"][0]["content"];
  content = Json::array({{{"type", "text"}, {"text", content}, {"cache_control", mark}}});
  return body;
}

}  // namespace

Q_DECLARE_METATYPE(Case)

class TestCauses : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void tableIsWhole() {
    std::set<std::string> keys;
    for (const Cause& cause : causes()) {
      QVERIFY(keys.insert(cause.key).second);
      QVERIFY(std::string(cause.sentence).ends_with('.'));
      QVERIFY(*cause.example != '\0');
      QVERIFY((cause.matches == nullptr) != (cause.explains == nullptr));
      QVERIFY(&causeOf(cause.id) == &cause);
    }
    QCOMPARE(int(keys.size()), 20);
  }

  void causesOfLogs_data() {
    QTest::addColumn<Case>("given");
    QTest::addColumn<QString>("cause");
    const auto row = [](const char* name, const std::string& cause, const std::vector<Json>& records,
                        DoctorOptions options = {}) {
      QTest::newRow(name) << Case{linesOf(records), std::move(options)} << QString::fromStdString(cause);
    };
    const auto pair = [&](const char* name, const std::string& cause, const std::string& before,
                          const std::string& now) {
      row(name, cause, {bodyOf(firstTurn(before)), bodyOf(secondTurn(now))});
    };
    pair("clock", "time", "It is 14:03. " + kSystem, "It is 14:07. " + kSystem);
    pair("date", "time", "Today is Monday, August 31, 2026. " + kSystem,
         "Today is Tuesday, September 1, 2026. " + kSystem);
    pair("ISO time", "time", kSystem + " Now: 2026-08-31T14:03:22Z.",
         kSystem + " Now: 2026-08-31T14:05:01Z.");
    pair("seconds since 1970", "time", "ts=1788184980 " + kSystem, "ts=1788185103 " + kSystem);
    pair("added time", "time", kSystem, "Current time: 2026-08-31T14:03:22Z. " + kSystem);
    pair("removed time", "time", kSystem + " Now: 14:03.", kSystem);
    pair("longer hour", "time", "At 9:59 AM: " + kSystem, "At 10:01 AM: " + kSystem);
    pair("UUID", "id", "Session 550e8400-e29b-41d4-a716-446655440000. " + kSystem,
         "Session 9b2f1c3e-0c1d-4a6b-8e2f-77a1b2c3d4e5. " + kSystem);
    pair("short checksum", "id", "version=2.1; cch=a9f2b; " + kSystem, "version=2.1; cch=04d1c; " + kSystem);
    pair("counter", "id", "Request 7. " + kSystem, "Request 8. " + kSystem);
    pair("turns", "id", "Turn 1 of 9. " + kSystem, "Turn 2 of 9. " + kSystem);
    pair("random characters", "id", kSystem + " (nonce: kqzrw)", kSystem + " (nonce: pmvxt)");
    pair("spaces", "white_space", kSystem, kSystem + "  ");
    pair("line ends", "white_space", "Rules:\n" + kSystem, "Rules:\r\n" + kSystem);
    pair("system message", "system_edited", kSystem, "You are a terse assistant" + kSystem.substr(27));
    pair("JSON in a text", "key_order", R"(State: {"city":"Lisbon","guests":2} )" + kSystem,
         R"(State: {"guests":2,"city":"Lisbon"} )" + kSystem);

    // A number that changes in JSON is no other order of members.
    pair("a number in JSON", "system_edited", R"(Plan: {"city":"Lisbon","rooms":2.5} )" + kSystem,
         R"(Plan: {"city":"Lisbon","rooms":7.25} )" + kSystem);
    const std::string tone =
        "\n\nTone: always answer in polite and complete sentences of at most twenty words.";
    const std::string style =
        "\n\nStyle: write numbers as digits, and name the unit of every number you give.";
    pair("a new paragraph", "system_edited", kSystem + tone, kSystem + style + tone);

    const Json search =
        tool("search", "Finds trains.",
             R"({"type":"object","properties":{"from":{"type":"string"},"to":{"type":"string"}}})");
    const Json book =
        tool("book", "Books a seat.", R"({"type":"object","properties":{"train":{"type":"string"}}})");
    const Json turned =
        tool("search", "Finds trains.",
             R"({"properties":{"to":{"type":"string"},"from":{"type":"string"}},"type":"object"})");
    row("tool added", "tools",
        {withTools(bodyOf(firstTurn()), {search}), withTools(bodyOf(secondTurn()), {search, book})});
    row("tools moved", "tools",
        {withTools(bodyOf(firstTurn()), {search, book}), withTools(bodyOf(secondTurn()), {book, search})});
    row("keys of a tool", "key_order",
        {withTools(bodyOf(firstTurn()), {search}), withTools(bodyOf(secondTurn()), {turned})});
    row("time in a tool", "time",
        {withTools(bodyOf(firstTurn()), {tool("search", "Valid until 14:03.", "{}")}),
         withTools(bodyOf(secondTurn()), {tool("search", "Valid until 14:09.", "{}")})});
    row("definition changed", "tools",
        {withTools(bodyOf(firstTurn()), {search}),
         withTools(bodyOf(secondTurn()),
                   {tool("search", "Finds trains and buses.", search["function"]["parameters"].dump())})});

    Said longer = secondTurn();
    longer.insert(longer.end(), {{"assistant", "The fastest train takes less than three hours."},
                                 {"user", "And the price?"}});
    Said cut = longer;
    cut.erase(cut.begin() + 1, cut.begin() + 3);
    cut.insert(cut.end(), {{"assistant", "It depends on the class."}, {"user", "Second class, please."}});
    row("front of the history", "history_cut", {bodyOf(longer), bodyOf(cut)});
    Said summary = longer;
    summary.erase(summary.begin() + 1, summary.begin() + 3);
    summary.insert(summary.begin() + 1, {"user", "Summary: the user wants to go to Porto by train."});
    row("summary", "history_cut", {bodyOf(longer), bodyOf(summary)});
    Said edited = longer;
    edited[2].second = "Three trains leave before noon. [stops removed to save space]";
    Said compacted{{"system", kSystem},
                   {"user", "Summary: the user wants to go to Porto by train."},
                   longer.back(),
                   {"assistant", "It depends on the class."},
                   {"user", "Second class, please."}};
    compacted[2].second = longer.back().second = "And what does the fastest one cost in second class?";
    row("summary without an id", "history_cut", {bodyOf(longer), bodyOf(compacted)});
    row("message edited", "message_edited", {bodyOf(secondTurn()), bodyOf(edited)});
    Said inserted = longer;
    inserted.insert(inserted.begin() + 2, {"user", "Please answer in full sentences from now on."});
    row("message inserted", "message_edited", {bodyOf(longer), bodyOf(inserted)});
    Said reminded = firstTurn();
    reminded[1].second += " <reminder>Be careful.</reminder>";
    row("reminder removed", "message_edited", {bodyOf(reminded), bodyOf(secondTurn())});
    row("system message removed", "system_edited",
        {bodyOf(secondTurn()), bodyOf(Said(longer.begin() + 1, longer.end()))});
    Said role = longer;
    role[2].first = "user";
    row("role", "template", {bodyOf(longer), bodyOf(role)});
    Json thinking = bodyOf(secondTurn());
    thinking["messages"][2]["reasoning_content"] =
        "The user asks about trains in the morning, so I look at the timetable.";
    row("reasoning in a message", "template", {thinking, bodyOf(longer)});
    const Json answered{{"request", bodyOf(firstTurn())},
                        {"response",
                         {{"choices",
                           {{{"message",
                              {{"role", "assistant"},
                               {"reasoning_content", "Let me think about the trains."},
                               {"content", kAnswer}}}}}}}}};
    row("reasoning in an answer", "template", {answered, bodyOf(secondTurn())});

    const auto asked = [](const std::vector<int>& numbers, const std::string& question) {
      std::string text;
      for (const int number : numbers) text += document(number) + "\n\n";
      return bodyOf({{"system", kSystem}, {"user", text + question}});
    };
    const auto tagged = [](const std::vector<int>& numbers, const std::string& question) {
      std::string text;
      for (const int number : numbers)
        text += "<document index=\"" + std::to_string(number) + "\">" + document(number) + "</document>\n";
      return bodyOf({{"system", kSystem}, {"user", text + question}});
    };
    row("tagged documents in another order", "document_order",
        {tagged({1, 2, 3}, kFirst), tagged({3, 2, 1}, kSecond)});
    row("documents in another order", "document_order", {asked({1, 2, 3}, kFirst), asked({2, 1, 3}, kFirst)});
    row("another question, other order", "document_order",
        {asked({1, 2, 3}, kFirst), asked({3, 1, 2}, kSecond)});
    row("document at another place", "document_elsewhere", {asked({1, 2}, kFirst), asked({4, 1}, kSecond)});
    const Said inMessages{
        {"system", kSystem}, {"user", document(1)}, {"user", document(2)}, {"user", kFirst}};
    Said swapped = inMessages;
    std::swap(swapped[1], swapped[2]);
    row("messages in another order", "document_order", {bodyOf(inMessages), bodyOf(swapped)});

    Json salted = bodyOf(firstTurn());
    salted["cache_salt"] = "a";
    Json other = bodyOf(secondTurn());
    other["cache_salt"] = "b";
    row("salt", "other_input", {salted, other});
    const auto withImage = [](Said said, const std::string& data) {
      Json body = bodyOf(said);
      body["messages"][1]["content"] = Json::array(
          {{{"type", "text"}, {"text", kFirst}}, {{"type", "image_url"}, {"image_url", {{"url", data}}}}});
      return body;
    };
    row("image", "other_input",
        {withImage(firstTurn(), "data:image/png;base64,AAAA"),
         withImage(secondTurn(), "data:image/png;base64,BBBB")});
    Json model = bodyOf(secondTurn());
    model["model"] = "m2";
    row("model", "model", {bodyOf(firstTurn()), model});

    row("shorter than a block", "shorter_than_block",
        {bodyOf({{"system", "Be brief."}, {"user", kFirst}}),
         bodyOf({{"system", "Be brief."}, {"user", kSystem}})});
    row("after the last block", "after_last_block", {bodyOf(firstTurn()), bodyOf(firstTurn())});
    row("never seen", "never_seen",
        {bodyOf(firstTurn()), bodyOf({{"system", document(3)}, {"user", document(4)}})});
    DoctorOptions small;
    small.blocks = 16;
    row("evicted", "evicted", {bodyOf(firstTurn()), bodyOf({{"user", document(5)}}), bodyOf(secondTurn())},
        small);
    DoctorOptions shortLife;
    shortLife.timeToLive = 300;
    Json early = bodyOf(firstTurn());
    early["timestamp"] = 1788184980;
    Json late = bodyOf(secondTurn());
    late["timestamp"] = 1788184980 + 301;
    row("expired", "expired", {early, late}, shortLife);
    row("expired after the stated time", "expired", {marked(early, ""), marked(late, "")});
    DoctorOptions slots;
    slots.server = "llama.cpp";
    slots.slots = 1;
    slots.blocks = 2048;
    Json reported{{"request", bodyOf(longer)},
                  {"response",
                   {{"usage", {{"prompt_tokens", 900}, {"prompt_tokens_details", {{"cached_tokens", 0}}}}}}}};
    Said wide = longer;
    wide[0].second = document(1) + document(2) + document(3);
    reported["request"] = bodyOf(wide);
    row("reported fewer", "unknown", {bodyOf(wide), reported});
    Json developer = bodyOf(secondTurn());
    developer["messages"][0]["role"] = "developer";
    row("role developer", "template", {bodyOf(firstTurn()), developer});
    Json adapter = bodyOf(firstTurn());
    adapter["lora_path"] = "tone-v3";
    Json otherAdapter = bodyOf(secondTurn());
    otherAdapter["lora_path"] = "tone-v4";
    row("path of an adapter", "other_input", {adapter, otherAdapter});
    const auto overRules = [](const std::vector<int>& numbers, const std::string& question) {
      std::string text;
      for (const int number : numbers)
        text += "<document id=\"HR-" + std::to_string(2000 + number) + "\" title=\"Rules " +
                std::to_string(number) + "\">\n" + document(number) + "\n</document>\n";
      return bodyOf({{"system", kSystem}, {"user", text + question}});
    };
    row("documents with numbers like years", "document_order",
        {overRules({10, 45, 59}, "Why?"), overRules({59, 10, 45}, "How?")});
    row("a document with a number like a year before others", "document_elsewhere",
        {overRules({10, 45}, "Why?"), overRules({38, 10, 45}, "How?")});
  }
  /// The main cause of the last request.
  void causesOfLogs() {
    QFETCH(Case, given);
    QFETCH(QString, cause);
    const LogReport report = diagnosed(given.log, given.options);
    QCOMPARE(int(report.problemCount), 0);
    QCOMPARE(QString::fromStdString(causeIn(report, report.requests.size() - 1)), cause);
    // The first request of a log has no loss.
    QCOMPARE(QString::fromStdString(causeIn(report, 0)), QString("never_seen"));
    QCOMPARE(report.requests.front().lost, std::size_t{0});
  }

  /// Several causes at once: the first difference has the main cause.
  /// The documents of the earlier request, with the texts between them, so that the prompts are equal again.
  void reorderedDocumentsKeepTheTextBetween() {
    const std::string a = "<document title=\"A\">" + document(1) + "</document>";
    const std::string b = "<document title=\"B\">" + document(2) + "</document>";
    for (const char* between : {"\n", "\n\n", " "}) {
      const std::string before = "Read this:" + std::string(between) + a + between + b + between + kFirst;
      const std::string now = "Read this:" + std::string(between) + b + between + a + between + kFirst;
      QCOMPARE(reordered(before, now), std::optional(before));
    }
    QCOMPARE(reordered(document(1) + "\n\n" + document(2) + "\n\n" + kFirst + "\n",
                       document(2) + "\n\n" + document(1) + "\n\n" + kFirst + "\n"),
             std::optional(document(1) + "\n\n" + document(2) + "\n\n" + kFirst + "\n"));
  }

  void severalCauses() {
    const LogReport report =
        diagnosed(linesOf({bodyOf(firstTurn("It is 14:03, run 7f3a91c2. " + kSystem)),
                           bodyOf(secondTurn("It is 14:09, run 05be77d1. " + kSystem + " "))}));
    QVERIFY((causesIn(report, 1) == std::vector<std::string>{"time", "id", "white_space"}));
    QCOMPARE(report.requests[1].findings.front().finding.before, std::string("14:03"));
    QCOMPARE(report.requests[1].findings.front().finding.after, std::string("14:09"));
  }

  void cleanLogs_data() {
    QTest::addColumn<QByteArray>("log");
    const auto row = [](const char* name, const std::vector<Json>& records) {
      QTest::newRow(name) << QByteArray::fromStdString(linesOf(records));
    };
    Said longer = secondTurn();
    longer.insert(longer.end(), {{"assistant", "Less than three hours."}, {"user", "And the price?"}});
    row("conversation", {bodyOf(firstTurn()), bodyOf(secondTurn()), bodyOf(longer)});
    Json early = bodyOf(firstTurn());
    early["timestamp"] = 1788184980;
    Json late = bodyOf(secondTurn());
    late["timestamp"] = 1788184980 + 301;
    row("within the stated hour", {marked(early, "1h"), marked(late, "1h")});
    row("with answers",
        {{{"request", bodyOf(firstTurn())},
          {"response", {{"choices", {{{"message", {{"role", "assistant"}, {"content", kAnswer}}}}}}}}},
         bodyOf(secondTurn())});
    row("constant time in the system message", {bodyOf(firstTurn("Open 9:00 to 17:00. " + kSystem)),
                                                bodyOf(secondTurn("Open 9:00 to 17:00. " + kSystem))});
    Said retried = secondTurn();
    retried.back().second = "Is there a night train, and does it have beds?";
    row("another question in place of the last one", {bodyOf(secondTurn()), bodyOf(retried)});
    const auto numbered = [](int number) {
      return bodyOf({{"system", kSystem}, {"user", "Question " + std::to_string(number) + ": " + kFirst}});
    };
    row("questions that differ by a number", {numbered(1), numbered(2), numbered(3)});
    row("earlier turn again", {bodyOf(longer), bodyOf(secondTurn())});
    const auto onDocument = [](int number) {
      return bodyOf({{"system", kSystem},
                     {"user", "<document id=\"HR-" + std::to_string(2000 + number) + "\" title=\"" +
                                  document(number).substr(0, 40) + "\">\n" + document(number) +
                                  "\n</document>\nWhy?"}});
    };
    row("other documents with numbers like years", {onDocument(10), onDocument(38), onDocument(52)});
    row("programs without a common tool",
        {withTools(bodyOf(firstTurn()), {tool("search", "Searches.", "{}")}),
         withTools(bodyOf({{"system", document(7)}, {"user", "Why?"}}), {tool("read", "Reads.", "{}")})});
    const auto timed = [](const std::string& time, const std::string& question) {
      return bodyOf({{"system", kSystem}, {"user", time + "\n" + question}});
    };
    row("time in the question of another conversation",
        {timed("Monday, 31 August 2026, 08:03", "Which trains go to Porto?"),
         timed("Monday, 31 August 2026, 08:05", "Which trains go to Porto now?")});
  }
  void cleanLogs() {
    QFETCH(QByteArray, log);
    const LogReport report = diagnosed(log.toStdString());
    for (std::size_t i = 1; i < report.requests.size(); ++i) {
      const std::string cause = causeIn(report, i);
      QVERIFY2(cause.empty() || cause == "never_seen" || cause == "after_last_block", cause.c_str());
      QVERIFY(report.requests[i].lost < 16);
    }
  }
};

SPANSCOPE_TEST(tst_causes, TestCauses)
#include "tst_causes.moc"
