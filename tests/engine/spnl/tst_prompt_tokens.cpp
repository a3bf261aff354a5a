// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as prompt ids. That the ids are those of the reference is tested with `spanq export`.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/spnl/prompt_tokens.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace spanscope;
using namespace spanscope::spnl;
using Json = nlohmann::json;

class TestPromptTokens : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void callsInOrder();
  void blocksAreLines();
  void endCanBeAskedFor();
  void aStopWithinATextEndsIt();
  void idsMustBeInTheVocabulary_data();
  void idsMustBeInTheVocabulary();

 private:
  std::unique_ptr<text::Tokenizer> m_tokenizer;
  const text::ChatTemplate* m_chat = nullptr;

  std::vector<CallTokens> tokens(const char* json, const PromptTokenOptions& options = {},
                                 const std::stop_token& stop = {}) const {
    const auto query = query::parseJson(json).query;
    if (!query) qFatal("not a query: %s", json);
    return promptTokens(*query, *m_tokenizer, *m_chat, options, stop);
  }
};

namespace {

constexpr char kJudge[] =
    R"({"g":{"model":"m","input":{"plus":[{"g":{"model":"m","input":{"user":"A longer text than a block."}}},{"map":{"metadata":{"model":"m"},"inputs":["b","c"]}}]}}})";

}  // namespace

void TestPromptTokens::initTestCase() {
  const std::string folder = SPANSCOPE_SOURCE_DIR "/resources/models/spanlet";
  m_tokenizer = text::loadTokenizer(folder);
  m_chat = &text::findChatTemplate(folder);
}

void TestPromptTokens::callsInOrder() {
  const std::vector<CallTokens> calls = tokens(kJudge, {.pad = 3, .plus = 5});
  QCOMPARE(calls.size(), std::size_t{2});
  QCOMPARE(calls[0].node, NodePath("/g/input/plus/0"));
  QVERIFY(!calls[0].isMap);
  QCOMPARE(calls[0].prompts.size(), std::size_t{1});
  QVERIFY(calls[1].isMap);
  QCOMPARE(calls[1].prompts.size(), std::size_t{2});
  // An input of a map is a plus child, padded at its end.
  QCOMPARE(calls[1].prompts[0].front(), 5);
  QCOMPARE(calls[1].prompts[0].size() % 16, std::size_t{0});
}

void TestPromptTokens::blocksAreLines() {
  const std::vector<CallTokens> calls = tokens(kJudge, {.blockSize = 4, .pad = 3, .plus = 5});
  for (const CallTokens& call : calls) {
    const Json line = Json::parse(tokensOnOneLine(call));
    QVERIFY(Json::parse(tokensByBlock(call, 4)) == line);
    QVERIFY(line["ids"] == (call.isMap ? Json(call.prompts) : Json(call.prompts[0])));
    QVERIFY(tokensOnOneLine(call).find_first_of(" \n") == std::string::npos);
  }
  const QStringList lines = QString::fromStdString(tokensByBlock(calls[0], 4)).split('\n');
  const auto blocks = static_cast<qsizetype>((calls[0].prompts[0].size() + 3) / 4);
  QCOMPARE(lines.size(), blocks + 3);  // the bracket before, the bracket after, the last line break
  QCOMPARE(lines[1].count(','), 4);
}

void TestPromptTokens::endCanBeAskedFor() {
  std::stop_source source;
  source.request_stop();
  QVERIFY(tokens(kJudge, {}, source.get_token()).empty());
}

/// Asks for a stop while it encodes the first text.
class StoppingTokenizer final : public text::Tokenizer {
 public:
  StoppingTokenizer(const text::Tokenizer& own, std::stop_source& stop) : m_own(own), m_stop(stop) {}

  void encodeTo(std::string_view text, const std::stop_token& stop,
                const text::TokenSink& sink) const override {
    m_stop.request_stop();
    m_own.encodeTo(text, stop, sink);
  }
  TokenId controlId(std::string_view piece) const override { return m_own.controlId(piece); }
  std::string bytes(TokenId id) const override { return m_own.bytes(id); }
  std::string display(TokenId id) const override { return m_own.display(id); }
  bool isControl(TokenId id) const override { return m_own.isControl(id); }
  std::int32_t vocabularySize() const override { return m_own.vocabularySize(); }

 private:
  const text::Tokenizer& m_own;
  std::stop_source& m_stop;
};

void TestPromptTokens::aStopWithinATextEndsIt() {
  std::stop_source source;
  const StoppingTokenizer tokenizer(*m_tokenizer, source);
  const auto query = query::parseJson(kJudge).query;
  QVERIFY(query);
  QVERIFY(promptTokens(*query, tokenizer, *m_chat, {}, source.get_token()).empty());
  QVERIFY(source.stop_requested());
}

void TestPromptTokens::idsMustBeInTheVocabulary_data() {
  QTest::addColumn<int>("pad");
  QTest::addColumn<int>("plus");
  QTest::addColumn<int>("blockSize");
  QTest::addColumn<QString>("place");
  QTest::newRow("pad") << -1 << 5 << 16 << "pad";
  QTest::newRow("plus") << 3 << 2048 << 16 << "plus";
  QTest::newRow("no block") << 3 << 5 << 0 << "block size";
}

void TestPromptTokens::idsMustBeInTheVocabulary() {
  QFETCH(int, pad);
  QFETCH(int, plus);
  QFETCH(int, blockSize);
  QFETCH(QString, place);
  try {
    tokens(kJudge, {.blockSize = blockSize, .pad = pad, .plus = plus});
    QFAIL("was taken");
  } catch (const Failure& failure) {
    QCOMPARE(QString::fromStdString(failure.error().place), place);
  }
}

SPANSCOPE_TEST(tst_prompt_tokens, TestPromptTokens)
#include "tst_prompt_tokens.moc"
