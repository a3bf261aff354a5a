// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as chat completions: one request a step, placeholders for what is not known yet.
#include "engine/export/chat_requests.h"
#include "engine/export/feature_table.h"
#include "engine/query/json/json.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <set>

using namespace spanscope;
using namespace spanscope::exports;
using Json = nlohmann::json;

class TestChatRequests : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void documents_data();
  void documents();
  void batchesNameTheirRequests();
  void placeholdersNameEarlierRequests();
  void copiesHaveTheirOwnSeeds();
  void plainChatsLoseNothing_data();
  void plainChatsLoseNothing();
  void whatCannotBeSentHasAReason_data();
  void whatCannotBeSentHasAReason();
};

namespace {

query::Node read(const QByteArray& json) {
  const query::ParseResult parsed = query::parseJson(json.toStdString());
  if (!parsed.query) qFatal("not a query: %s", json.constData());
  return *parsed.query;
}

ChatRequests requestsOf(const QByteArray& json) {
  return chatRequests(read(json));
}

QByteArray generate(const QByteArray& input, const QByteArray& model = "spnl/m") {
  return R"({"g":{"model":")" + model + R"(","max_tokens":9,"temperature":0.3,"input":)" + input + "}}";
}

/// "user: a | assistant: b" of each request.
QStringList messagesOf(const ChatRequests& made) {
  QStringList lines;
  for (const ChatRequest& request : made.requests) {
    QStringList words;
    for (const ChatMessage& message : request.messages) {
      words += QStringLiteral("%1: %2").arg(QString::fromUtf8(query::roleName(message.role)),
                                            QString::fromStdString(message.content));
    }
    lines += words.join(" | ");
  }
  return lines;
}

}  // namespace

void TestChatRequests::documents_data() {
  QTest::addColumn<QByteArray>("query");
  QTest::addColumn<QStringList>("messages");
  QTest::newRow("one message") << generate(R"({"user":"a"})") << QStringList{"user: a"};
  QTest::newRow("order of a cross") << generate(R"({"cross":[{"system":"s"},{"user":"a"},{"user":"b"}]})")
                                    << QStringList{"system: s | user: a | user: b"};
  QTest::newRow("plus in a row") << generate(
                                        R"({"cross":[{"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]})")
                                 << QStringList{"user: a | user: b | user: q"};
  QTest::newRow("empty messages vanish")
      << generate(R"({"seq":[{"user":""},{"user":"a"},{"print":"p"}]})") << QStringList{"user: a"};
  QTest::newRow("repeat") << QByteArray(R"({"repeat":{"n":3,"g":{"model":"m","input":{"user":"a"}}}})")
                          << QStringList{"user: a", "user: a", "user: a"};
  QTest::newRow("map") << QByteArray(R"({"map":{"metadata":{"model":"m"},"inputs":["a","b"]}})")
                       << QStringList{"user: a", "user: b"};
  QTest::newRow("nested") << generate("{\"cross\":[" + generate(R"({"user":"a"})") + R"(,{"user":"q"}]})")
                          << QStringList{"user: a", "assistant: {{answer of request-0}} | user: q"};
  QTest::newRow("judge") << generate("{\"cross\":[{\"plus\":[" + generate(R"({"user":"a"})") + "," +
                                     generate(R"({"user":"b"})") + R"(]},{"user":"best?"}]})")
                         << QStringList{"user: a", "user: b",
                                        "assistant: {{answer of request-0}} | assistant: {{answer of "
                                        "request-1}} | user: best?"};
  QTest::newRow("monad is not sent") << generate("{\"seq\":[{\"monad\":" + generate(R"({"user":"warm"})") +
                                                 R"(},{"user":"a"}]})")
                                     << QStringList{"user: a"};
  QTest::newRow("zip")
      << generate(R"({"zip":{"first":{"user":"a"},"second":{"seq":[{"user":"1"},{"user":"2"}]}}})")
      << QStringList{"user: a | user: 1 | user: a | user: 2"};
}

void TestChatRequests::documents() {
  QFETCH(QByteArray, query);
  QFETCH(QStringList, messages);
  const ChatRequests made = requestsOf(query);
  QVERIFY(made.problems.empty());
  QCOMPARE(messagesOf(made), messages);
}

void TestChatRequests::batchesNameTheirRequests() {
  const ChatRequests one = requestsOf(generate(R"({"seq":[{"system":"s"},{"user":"a"}]})", "spnl/org/m"));
  QCOMPARE(QString::fromStdString(writeChatRequests(one.requests)),
           QString(R"({"model":"org/m","messages":[{"role":"system","content":"s"},)"
                   R"({"role":"user","content":"a"}],"max_tokens":9,"temperature":0.3})"
                   "\n"));
  QVERIFY(Json::parse(writeChatRequests(one.requests, true)) == Json::parse(chatBody(one.requests[0])));

  const std::string batch = writeChatRequests(
      requestsOf(R"({"map":{"metadata":{"model":"m"},"inputs":["a","b"]}})").requests, true);
  const QStringList lines = QString::fromStdString(batch).split('\n', Qt::SkipEmptyParts);
  QCOMPARE(lines.size(), 2);
  const Json second = Json::parse(lines[1].toStdString());
  QCOMPARE(second["custom_id"].get<std::string>(), chatRequestName(1));
  QCOMPARE(second["method"].get<std::string>(), std::string("POST"));
  QCOMPARE(second["url"].get<std::string>(), std::string("/v1/chat/completions"));
  QCOMPARE(second["body"]["messages"][0]["content"].get<std::string>(), std::string("b"));
  // No limit and the language's own temperature where the query says nothing.
  QVERIFY(!second["body"].contains("max_tokens"));
  QCOMPARE(second["body"]["temperature"].get<double>(), 0.6);
}

void TestChatRequests::placeholdersNameEarlierRequests() {
  QFile file(SPANSCOPE_SOURCE_DIR "/resources/queries/judge-4.json");
  QVERIFY(file.open(QIODevice::ReadOnly));
  const ChatRequests made = requestsOf(file.readAll());
  QCOMPARE(made.requests.size(), std::size_t{5});
  std::set<std::size_t> named;
  for (std::size_t i = 0; i < made.requests.size(); ++i) {
    for (const ChatMessage& message : made.requests[i].messages) {
      if (!message.answerOf) continue;
      QVERIFY(*message.answerOf < i);
      QCOMPARE(message.content, answerPlaceholder(*message.answerOf));
      named.insert(*message.answerOf);
    }
  }
  QCOMPARE(named, (std::set<std::size_t>{0, 1, 2, 3}));
}

void TestChatRequests::copiesHaveTheirOwnSeeds() {
  const query::Node four = read(R"({"repeat":{"n":4,"g":{"model":"m","input":{"user":"a"}}}})");
  std::set<std::uint32_t> seeds;
  for (const ChatRequest& request : chatRequests(four, 7).requests) {
    QVERIFY(request.seed.has_value() && *request.seed < (std::uint32_t{1} << 31U));
    seeds.insert(*request.seed);
    QVERIFY(Json::parse(chatBody(request))["seed"].get<std::uint32_t>() == *request.seed);
  }
  QCOMPARE(seeds.size(), std::size_t{4});
  QVERIFY(chatRequests(four, 7).requests == chatRequests(four, 7).requests);
  for (const ChatRequest& request : chatRequests(four).requests) {
    QVERIFY(!Json::parse(chatBody(request)).contains("seed"));
  }
}

void TestChatRequests::plainChatsLoseNothing_data() {
  QTest::addColumn<QByteArray>("input");
  QTest::newRow("a message") << QByteArray(R"({"user":"a"})");
  QTest::newRow("a conversation") << QByteArray(
      R"({"seq":[{"system":"s"},{"user":"a"},{"assistant":"b"},{"user":"c"}]})");
  QTest::newRow("as a cross") << QByteArray(R"({"cross":[{"system":"s"},{"user":"a"}]})");
  QTest::newRow("as a par") << QByteArray(R"({"par":[{"system":"s"},{"user":"a"}]})");
  QTest::newRow("joins in joins") << QByteArray(
      R"({"cross":[{"seq":[{"system":"s"},{"user":"a"}]},{"par":[{"assistant":"b"},{"user":"c"}]}]})");
}

void TestChatRequests::plainChatsLoseNothing() {
  QFETCH(QByteArray, input);
  const query::Node query = read(generate(input));
  for (const TargetRemark& remark : targetRemarks(query, Target::Chat)) {
    QVERIFY2(remark.effect == Effect::Note, remark.text.c_str());
  }
  // The messages are those of the query, in its order.
  const ChatRequests made = chatRequests(query);
  QCOMPARE(made.requests.size(), std::size_t{1});
  query::Join join{query::JoinKind::Seq, {}};
  const auto collect = [&join](const auto& self, const query::Node& node) -> void {
    if (node.as<query::Message>() != nullptr) join.children.push_back(node);
    for (const query::ChildRef& child : query::childrenOf(node)) self(self, *child.node);
  };
  collect(collect, query);
  query::Join back{query::JoinKind::Seq, {}};
  for (const ChatMessage& message : made.requests[0].messages) {
    back.children.push_back({query::Message{message.role, message.content}});
  }
  QVERIFY(back == join);
}

void TestChatRequests::whatCannotBeSentHasAReason_data() {
  QTest::addColumn<QByteArray>("query");
  QTest::addColumn<QString>("found");
  QTest::newRow("nothing generates") << QByteArray(R"({"user":"a"})") << "without generate";
  QTest::newRow("no copies") << QByteArray(R"({"repeat":{"n":0,"g":{"model":"m","input":{"user":"a"}}}})")
                             << "without generate";
  QTest::newRow("ask") << generate(R"({"ask":"who?"})") << "question";
  QTest::newRow("parameter") << QByteArray(R"({"g":{"model":"m","max_tokens":"{n}","input":{"user":"a"}}})")
                             << "parameter {n}";
}

void TestChatRequests::whatCannotBeSentHasAReason() {
  QFETCH(QByteArray, query);
  QFETCH(QString, found);
  const ChatRequests made = requestsOf(query);
  QVERIFY(made.requests.empty());
  QCOMPARE(made.problems.size(), std::size_t{1});
  QVERIFY2(QString::fromStdString(made.problems[0].message()).contains(found),
           made.problems[0].message().c_str());
  const auto remarks = targetRemarks(read(query), Target::Chat);
  QVERIFY(!remarks.empty() && remarks[0].effect == Effect::Refused);
}

SPANSCOPE_TEST(tst_chat_requests, TestChatRequests)
#include "tst_chat_requests.moc"
