// SPDX-License-Identifier: GPL-3.0-or-later
// How bodies of OpenAI's API become queries, and how clients mark a plus.
#include "engine/query/json/json.h"
#include "engine/remote/gateway/passed_call.h"
#include "engine/remote/server/answer.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::gateway;

namespace {

const std::string kFour =
    R"("messages":[{"role":"system","content":"s"},{"role":"user","content":"a"},)"
    R"({"role":"user","content":"b"},{"role":"user","content":"c"},{"role":"user","content":"q"}])";

PassedCall chat(const std::string& members) {
  return readPassedCall(CallKind::Chat, "{" + members + "}");
}

std::string paramOf(const std::string& mark) {
  try {
    chat(kFour + R"(,"spanscope":)" + mark);
  } catch (const server::ApiFailure& failure) {
    return failure.error().param;
  }
  return "accepted";
}

}  // namespace

class TestPassedCall : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void pathsHaveKinds();
  void chatsBecomeQueries();
  void groupsBecomePlus();
  void childrenMayHaveSeveralMessages();
  void groupsMayBeInside();
  void wrongMarksAreRefused();
  void otherContentHasNoTokens();
  void completionsAreOneMessage();
  void deepBodiesAreNotRead();
  void bodiesKeepOtherFields();
};

void TestPassedCall::pathsHaveKinds() {
  QCOMPARE(callKindOf("POST", "/v1/chat/completions"), CallKind::Chat);
  QCOMPARE(callKindOf("POST", "/v1/completions?x=1"), CallKind::Completion);
  QCOMPARE(callKindOf("POST", "/v1/query/execute?stream=true"), CallKind::Query);
  QCOMPARE(callKindOf("GET", "/v1/chat/completions"), CallKind::Other);
  QCOMPARE(callKindOf("POST", "/v1/embeddings"), CallKind::Other);
}

void TestPassedCall::chatsBecomeQueries() {
  const PassedCall call = chat(kFour + R"(,"model":"m","max_tokens":7,"temperature":0)");
  QVERIFY(call.problem.empty());
  QVERIFY(!call.isMarked);
  QCOMPARE(query::writeCanonical(queryOf(call)),
           std::string(R"({"g":{"model":"m","max_tokens":7,"temperature":0.0,"input":{"cross":[)"
                       R"({"system":"s"},{"user":"a"},{"user":"b"},{"user":"c"},{"user":"q"}]}}})"));
  QCOMPARE(call.request.messages.at(2).node, std::string("/g/input/cross/2"));
}

void TestPassedCall::groupsBecomePlus() {
  const PassedCall call = chat(kFour + R"(,"model":"m","spanscope":{"plus":[[1,2,3]]})");
  QVERIFY(call.isMarked);
  QCOMPARE(call.request.groups.size(), std::size_t(1));
  QCOMPARE(call.request.groups.front().bounds, (std::vector<std::size_t>{1, 2, 3, 4}));
  const std::string query = query::writeCanonical(queryOf(call));
  QVERIFY2(
      query.find(R"({"plus":[{"user":"a"},{"user":"b"},{"user":"c"}]},{"user":"q"})") != std::string::npos,
      query.c_str());
  QCOMPARE(call.request.messages.at(2).node, std::string("/g/input/cross/1/plus/1"));
  QCOMPARE(call.request.messages.at(4).node, std::string("/g/input/cross/2"));
}

void TestPassedCall::childrenMayHaveSeveralMessages() {
  const PassedCall call = chat(kFour + R"(,"spanscope":{"plus":[[[1,2],3]]})");
  QCOMPARE(call.request.groups.front().bounds, (std::vector<std::size_t>{1, 3, 4}));
  QCOMPARE(call.request.messages.at(2).node, std::string("/g/input/cross/1/plus/0/cross/1"));
}

void TestPassedCall::groupsMayBeInside() {
  const PassedCall call = chat(kFour + R"(,"spanscope":{"plus":[[1,2],[[1,2],3]]})");
  QCOMPARE(call.request.groups.size(), std::size_t(2));
  QCOMPARE(call.request.groups.front().bounds, (std::vector<std::size_t>{1, 3, 4}));
  QCOMPARE(call.request.messages.at(2).node, std::string("/g/input/cross/1/plus/0/cross/0/plus/1"));
}

void TestPassedCall::wrongMarksAreRefused() {
  QCOMPARE(paramOf(R"({"plus":[[1,2]]})"), std::string("accepted"));
  QCOMPARE(paramOf("null"), std::string("accepted"));
  QCOMPARE(paramOf("1"), std::string("spanscope"));
  QCOMPARE(paramOf("{}"), std::string("spanscope"));
  for (const char* const mark :
       {R"({"plus":[[1]]})", R"({"plus":[1,2]})", R"({"plus":[[1,3]]})", R"({"plus":[[2,1]]})",
        R"({"plus":[[1,9]]})", R"({"plus":[[1,-1]]})", R"({"plus":[[1,[]]]})", R"({"plus":[[0,1]]})",
        R"({"plus":[[1,2],[2,3]]})", R"({"plus":[["a","b"]]})"})
    QCOMPARE(paramOf(mark), std::string("spanscope.plus"));
}

void TestPassedCall::otherContentHasNoTokens() {
  QVERIFY(!chat(R"("messages":[{"role":"user","content":[{"type":"image_url"}]}])").unknownPrompt.empty());
  QVERIFY(!chat(R"("messages":[{"role":"tool","content":"x"}])").unknownPrompt.empty());
  QVERIFY(!chat(R"("tools":[{}],"messages":[{"role":"user","content":"x"}])").unknownPrompt.empty());
  const PassedCall parts = chat(
      R"("messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}])");
  QVERIFY(parts.unknownPrompt.empty());
  QCOMPARE(parts.request.messages.front().content, std::string("xy"));
}

void TestPassedCall::completionsAreOneMessage() {
  const PassedCall call = readPassedCall(CallKind::Completion, R"({"prompt":["x"],"n":2,"stream":true})");
  QCOMPARE(call.request.messages.front().content, std::string("x"));
  QCOMPARE(call.choices, 2);
  QVERIFY(call.isStream);
  QVERIFY(!readPassedCall(CallKind::Completion, R"({"prompt":[1,2]})").problem.empty());
}

void TestPassedCall::deepBodiesAreNotRead() {
  const std::string deep(100000, '[');
  QVERIFY(!chat(R"("messages":)" + deep).problem.empty());
  QVERIFY(!readPassedCall(CallKind::Chat, "no JSON").problem.empty());
}

void TestPassedCall::bodiesKeepOtherFields() {
  const std::string body = "{" + kFour + R"(,"spanscope":{"plus":[[1,2,3]]},"x":{"y":[1.5,null]}})";
  const nlohmann::ordered_json changed =
      nlohmann::ordered_json::parse(bodyInOrder(body, {.messages = {0, 3, 1, 2, 4}}));
  QVERIFY(!changed.contains("spanscope"));
  QCOMPARE(changed["x"].dump(), std::string(R"({"y":[1.5,null]})"));
  std::string texts;
  for (const auto& message : changed["messages"]) texts += message["content"].get<std::string>();
  QCOMPARE(texts, std::string("scabq"));
  const nlohmann::ordered_json noted = nlohmann::ordered_json::parse(bodyInOrder(
      body, {.messages = {0, 3, 1, 2, 4}, .notes = {{.group = 0, .place = 4, .text = "2, 3, 1"}}}));
  QCOMPARE(noted["messages"].size(), std::size_t(6));
  QCOMPARE(noted["messages"][4].dump(), std::string(R"({"role":"user","content":"2, 3, 1"})"));
  QVERIFY(noted["messages"][5] == changed["messages"][4]);
}

SPANSCOPE_TEST(tst_passed_call, TestPassedCall)
#include "tst_passed_call.moc"
