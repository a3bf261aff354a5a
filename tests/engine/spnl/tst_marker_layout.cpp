// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the layout with markers with the reference's layout.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/spnl/prompt_tokens.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

using namespace spanscope;
using namespace spanscope::spnl;

namespace {

query::Node parse(const std::string& json) {
  query::ParseResult result = query::parseJson(json);
  if (!result.query) throw Failure({"", "", json, "a query"});
  return *result.query;
}

std::vector<TokenId> idsOf(const QJsonValue& value) {
  std::vector<TokenId> ids;
  const QJsonArray list = value.toArray();
  for (const QJsonValue& id : list) ids.push_back(static_cast<TokenId>(id.toInt()));
  return ids;
}

std::optional<TokenId> markerOf(const QJsonValue& value) {
  return value.isNull() ? std::nullopt : std::optional<TokenId>(static_cast<TokenId>(value.toInt()));
}

}  // namespace

class TestMarkerLayout : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void goldenRows();
  void rules_data();
  void rules();
  void refusals_data();
  void refusals();
};

void TestMarkerLayout::goldenRows() {
  QFile file(QStringLiteral(SPANSCOPE_TEST_DATA_DIR "/spnl-layout.jsonl"));
  QVERIFY2(file.open(QIODevice::ReadOnly), "the golden rows are missing");
  int rows = 0;
  while (!file.atEnd()) {
    const QJsonObject row = QJsonDocument::fromJson(file.readLine()).object();
    const QByteArray name = row["id"].toString().toUtf8();
    const query::Node body =
        parse(QJsonDocument(row["query"].toObject()).toJson(QJsonDocument::Compact).toStdString());
    MarkerOptions options;
    options.blockSize = row["block"].toInt();
    options.pad = static_cast<TokenId>(row["pad"].toInt());
    options.plus = markerOf(row["plus"]);
    options.cross = markerOf(row["cross"]);
    options.assistantSuffix = row["assistant_suffix"].toInt();

    BodyTokens tokens;
    tokens.generationPrompt = idsOf(row["generation_prompt_ids"]);
    const std::vector<query::Message> messages = messagesOf(body);
    const QJsonArray given = row["messages"].toArray();
    QVERIFY2(static_cast<qsizetype>(messages.size()) == given.size(), name.constData());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const QJsonObject message = given[static_cast<qsizetype>(i)].toObject();
      QCOMPARE(QString::fromUtf8(query::roleName(messages[i].role)), message["role"].toString());
      QCOMPARE(QString::fromStdString(messages[i].text), message["content"].toString());
      tokens.messages.push_back(idsOf(message["ids"]));
    }

    std::vector<std::vector<TokenId>> expected;
    if (row.contains("ids")) {
      expected.push_back(idsOf(row["ids"]));
    } else {
      const QJsonArray inputs = row["ids_per_input"].toArray();
      for (const QJsonValue& input : inputs) expected.push_back(idsOf(input));
    }
    QVERIFY2(layoutWithMarkers(body, tokens, options) == expected, name.constData());
    ++rows;
  }
  QCOMPARE(rows, 220);
}

void TestMarkerLayout::rules_data() {
  QTest::addColumn<QString>("input");
  QTest::addColumn<bool>("plus");
  QTest::addColumn<bool>("cross");
  QTest::addColumn<QString>(
      "expected");  ///< '.' pad, '+' plus, 'x' cross, '>' generation prompt, letters text
  QTest::newRow("a message") << R"({"user":"abc"})" << true << true << "abc>";
  QTest::newRow("plus") << R"({"plus":[{"user":"abc"},{"user":"d"}]})" << true << false << "+abc+d>";
  QTest::newRow("plus pads") << R"({"plus":[{"user":"ab"},{"user":"d"}]})" << true << false << "+ab.+d>";
  QTest::newRow("plus without a marker")
      << R"({"plus":[{"user":"ab"},{"user":"d"}]})" << false << true << "abd>";
  QTest::newRow("both markers, plus is last") << R"({"plus":[{"user":"ab"}]})" << true << true << "+ab.+>";
  QTest::newRow("cross") << R"({"cross":[{"plus":[{"user":"ab"}]},{"user":"q"}]})" << true << true
                         << "+ab.xq>";
  QTest::newRow("a cross of one") << R"({"seq":[{"user":"a"},{"cross":[{"user":"q"}]}]})" << true << true
                                  << "a...xq>";
  QTest::newRow("an assistant message is cropped")
      << R"({"seq":[{"assistant":"abcdefg!"},{"user":"q"}]})" << true << true << "abcdq>";
  QTest::newRow("all of it, if it is short")
      << R"({"seq":[{"user":"ab"},{"assistant":"c!"},{"user":"q"}]})" << true << true << "abq>";
  QTest::newRow("but not its marker")
      << R"({"plus":[{"assistant":"c!"},{"user":"q"}]})" << true << false << "+...+q>";
  // One token for both counts as a cross marker, so the generation prompt gets none of its own.
  QTest::newRow("one token for both") << R"({"plus":[{"user":"ab"}]})" << true << true << "*ab>";
  QTest::newRow("nothing but the closing token") << R"({"assistant":"!"})" << true << false << ">";
}

void TestMarkerLayout::rules() {
  QFETCH(QString, input);
  QFETCH(bool, plus);
  QFETCH(bool, cross);
  QFETCH(QString, expected);
  const query::Node body = parse(R"({"g":{"model":"m","input":)" + input.toStdString() + "}}");
  BodyTokens tokens;
  tokens.generationPrompt = {'>'};
  for (const query::Message& message : messagesOf(body)) {
    tokens.messages.emplace_back(message.text.begin(), message.text.end());
  }
  MarkerOptions options{4, '.', {}, {}, 1};
  if (plus) options.plus = '+';
  if (cross) options.cross = 'x';
  if (expected.startsWith('*')) options.plus = options.cross = '*';
  const std::vector<std::vector<TokenId>> prompts = layoutWithMarkers(body, tokens, options);
  QCOMPARE(prompts.size(), std::size_t{1});
  std::string text;
  for (const TokenId id : prompts.front()) text += static_cast<char>(id);
  QCOMPARE(QString::fromStdString(text), expected);
}

void TestMarkerLayout::refusals_data() {
  QTest::addColumn<QString>("query");
  QTest::addColumn<int>("messages");
  QTest::addColumn<int>("block");
  QTest::addColumn<int>("suffix");
  const QString one = R"({"g":{"model":"m","input":{"user":"a"}}})";
  QTest::newRow("a message is no body") << R"({"user":"a"})" << 1 << 4 << 0;
  QTest::newRow("a prompt that generates")
      << R"({"g":{"model":"m","input":{"g":{"model":"m","input":{"user":"a"}}}}})" << 1 << 4 << 0;
  QTest::newRow("too few messages") << one << 0 << 4 << 0;
  QTest::newRow("too many messages") << one << 2 << 4 << 0;
  QTest::newRow("no block") << one << 1 << 0 << 0;
  QTest::newRow("a negative suffix") << one << 1 << 4 << -1;
}

void TestMarkerLayout::refusals() {
  QFETCH(QString, query);
  QFETCH(int, messages);
  QFETCH(int, block);
  QFETCH(int, suffix);
  BodyTokens tokens;
  tokens.messages.resize(static_cast<std::size_t>(messages), {1});
  MarkerOptions options;
  options.blockSize = block;
  options.assistantSuffix = suffix;
  QVERIFY_EXCEPTION_THROWN(layoutWithMarkers(parse(query.toStdString()), tokens, options), Failure);
}

SPANSCOPE_TEST(tst_marker_layout, TestMarkerLayout)
#include "tst_marker_layout.moc"
