// SPDX-License-Identifier: GPL-3.0-or-later
// The end tokens of an answer, by the files of a tokenizer and by a chat template.
#include "engine/base/error.h"
#include "engine/text/end_tokens.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <optional>

using namespace spanscope;
using namespace spanscope::text;
using namespace spanscope::text::test;

namespace {

constexpr const char* kConfig = "tokenizer_config.json";
constexpr const char* kMap = "special_tokens_map.json";

/// A byte-level tokenizer with the markers <|user|> and <|end|>.
std::unique_ptr<Tokenizer> tokenizerWithMarkers() {
  return loadTokenizer(std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "tokenizers" / "llama3");
}

/// A folder with the two files; an empty text is no file.
struct Folder {
  Folder(const std::string& config, const std::string& map) : directory(folder.path().toStdString()) {
    if (!config.empty()) writeFile(directory / kConfig, config);
    if (!map.empty()) writeFile(directory / kMap, map);
  }
  QTemporaryDir folder;
  std::filesystem::path directory;
};

/// "3 by a, b; 4 by c".
std::string shown(const std::vector<EndToken>& tokens) {
  std::string text;
  for (const EndToken& end : tokens) {
    text += (text.empty() ? "" : "; ") + std::to_string(end.token) + " by";
    for (const std::string& source : end.sources) text += " " + source;
  }
  return text;
}

}  // namespace

class TestEndTokens : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void filesOfATokenizer_data();
  void filesOfATokenizer();
  void refuses_data();
  void refuses();
  void piecesOfTheVocabulary();
  void ggufIds_data();
  void ggufIds();
  void closingPiece_data();
  void closingPiece();
};

void TestEndTokens::filesOfATokenizer_data() {
  QTest::addColumn<QByteArray>("config");
  QTest::addColumn<QByteArray>("map");
  QTest::addColumn<QString>("expected");  // E and U are the ids of <|end|> and <|user|>.
  const auto row = [](const char* name, const char* config, const char* map, const char* expected) {
    QTest::newRow(name) << QByteArray(config) << QByteArray(map) << QString(expected);
  };
  const char* both = R"({"eos_token": "<|end|>"})";
  row("no files", "", "", "");
  row("a text", both, "", "E by tokenizer_config.json");
  row("an object", R"({"eos_token": {"content": "<|end|>", "lstrip": false}})", "",
      "E by tokenizer_config.json");
  row("only in the other file", "{}", both, "E by special_tokens_map.json");
  row("both say the same", both, both, "E by tokenizer_config.json special_tokens_map.json");
  row("the two disagree", both, R"({"eos_token": {"content": "<|user|>"}})",
      "E by tokenizer_config.json; U by special_tokens_map.json");
  row("a list", R"({"eos_token": ["<|user|>", {"content": "<|end|>"}, "<|user|>"]})", "",
      "U by tokenizer_config.json; E by tokenizer_config.json");
  row("null", R"({"eos_token": null})", "", "");
  row("an empty text", R"({"eos_token": ""})", "", "");
  row("an empty list", R"({"eos_token": []})", "", "");
  row("an id that only the configuration gives",
      R"({"added_tokens_decoder": {"7": {"content": "<|other|>"}}, "eos_token": "<|other|>"})", "",
      "7 by tokenizer_config.json");
}

void TestEndTokens::filesOfATokenizer() {
  QFETCH(QByteArray, config);
  QFETCH(QByteArray, map);
  QFETCH(QString, expected);
  const auto tokenizer = tokenizerWithMarkers();
  expected.replace("E", QString::number(tokenizer->controlId("<|end|>")));
  expected.replace("U", QString::number(tokenizer->controlId("<|user|>")));
  const Folder folder(config.toStdString(), map.toStdString());
  std::vector<EndToken> tokens;
  addTokenizerEndTokens(folder.directory, *tokenizer, tokenizer->vocabularySize(), tokens);
  QCOMPARE(QString::fromStdString(shown(tokens)), expected);
  // What is known already stays and is named once more, not added twice.
  std::vector<EndToken> again = tokens;
  addTokenizerEndTokens(folder.directory, *tokenizer, tokenizer->vocabularySize(), again);
  QCOMPARE(again, tokens);
}

void TestEndTokens::refuses_data() {
  QTest::addColumn<QByteArray>("config");
  QTest::addColumn<int>("vocabulary");
  QTest::addColumn<QString>("place");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* name, const char* config, int vocabulary, const char* place,
                      const char* found) {
    QTest::newRow(name) << QByteArray(config) << vocabulary << QString(place) << QString(found);
  };
  row("a piece that there is not", "{\n \"eos_token\": \"<|stop|>\"}", 100000, "2:15: /eos_token",
      "<|stop|>");
  row("the same in an object", "{\"eos_token\":\n{\"content\": \"<|stop|>\"}}", 100000,
      "2:13: /eos_token/content", "<|stop|>");
  row("the same in a list", "{\"eos_token\": [\"<|end|>\",\n\"<|stop|>\"]}", 100000, "2:1: /eos_token/1",
      "<|stop|>");
  row("beyond the model's vocabulary", "{\"eos_token\": \"<|end|>\"}", 1, "1:15: /eos_token", "<|end|>");
  row("a number", "{\"eos_token\": 3}", 100000, "1:15: /eos_token", "3");
  row("an object without content", "{\"eos_token\": {}}", 100000, "1:15: /eos_token/content", "nothing");
  row("a list in a list", "{\"eos_token\": [[]]}", 100000, "1:16: /eos_token/0", "array");
  row("no JSON", "{\n\"eos_token\" 3}", 100000, "2:13", "3");
}

void TestEndTokens::refuses() {
  QFETCH(QByteArray, config);
  QFETCH(int, vocabulary);
  QFETCH(QString, place);
  QFETCH(QString, found);
  const auto tokenizer = tokenizerWithMarkers();
  const Folder folder(config.toStdString(), "");
  std::vector<EndToken> tokens;
  try {
    addTokenizerEndTokens(folder.directory, *tokenizer, vocabulary, tokens);
    QFAIL("it was taken");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, (folder.directory / kConfig).string());
    QCOMPARE(QString::fromStdString(failure.error().place), place);
    QVERIFY2(QString::fromStdString(failure.error().found).contains(found), failure.what());
    QVERIFY(!failure.error().expected.empty());
  }
}

/// Not every checkpoint declares its end token special.
void TestEndTokens::piecesOfTheVocabulary() {
  const auto tokenizer = tokenizerWithMarkers();
  const std::vector<TokenId> ids = tokenizer->encode("a");
  QCOMPARE(ids.size(), std::size_t{1});
  QVERIFY(!tokenizer->isControl(ids[0]));
  const Folder folder(R"({"eos_token": "a"})", "");
  std::vector<EndToken> tokens;
  addTokenizerEndTokens(folder.directory, *tokenizer, tokenizer->vocabularySize(), tokens);
  QCOMPARE(shown(tokens), std::to_string(ids[0]) + " by tokenizer_config.json");
}

void TestEndTokens::ggufIds_data() {
  QTest::addColumn<int>("eos");
  QTest::addColumn<int>("eot");
  QTest::addColumn<int>("eom");
  QTest::addColumn<QString>("expected");
  QTest::newRow("none") << -1 << -1 << -1 << "";
  QTest::newRow("eos") << 256 << -1 << -1 << "256 by model.gguf";
  QTest::newRow("eos and eot") << 256 << 257 << -1 << "256 by model.gguf; 257 by model.gguf";
  QTest::newRow("eot and eom are the same") << -1 << 257 << 257 << "257 by model.gguf";
  QTest::newRow("beyond the vocabulary") << 256 << 258 << -1 << "tokenizer.ggml.eot_token_id";
}

void TestEndTokens::ggufIds() {
  QFETCH(int, eos);
  QFETCH(int, eot);
  QFETCH(int, eom);
  QFETCH(QString, expected);
  GgufWriter writer;
  writer.text("tokenizer.ggml.model", "gpt2");
  writer.text("tokenizer.ggml.pre", "gpt-2");
  std::vector<std::string> pieces = byteLevelPieces();
  pieces.insert(pieces.end(), {"<end>", "<eot>"});
  writer.texts("tokenizer.ggml.tokens", pieces);
  writer.texts("tokenizer.ggml.merges", {});
  if (eos >= 0) writer.unsignedInteger("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(eos));
  if (eot >= 0) writer.unsignedInteger("tokenizer.ggml.eot_token_id", static_cast<std::uint32_t>(eot));
  if (eom >= 0) writer.unsignedInteger("tokenizer.ggml.eom_token_id", static_cast<std::uint32_t>(eom));
  const Folder folder("", "");
  writeFile(folder.directory / "model.gguf", writer.bytes());
  const auto tokenizer = loadTokenizer(folder.directory);
  std::vector<EndToken> tokens;
  try {
    addTokenizerEndTokens(folder.directory, *tokenizer, 258, tokens);
    QCOMPARE(QString::fromStdString(shown(tokens)), expected);
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, (folder.directory / "model.gguf").string());
    QCOMPARE(QString::fromStdString(failure.error().place), expected);
  }
}

void TestEndTokens::closingPiece_data() {
  QTest::addColumn<bool>("control");
  QTest::addColumn<QString>("piece");
  QTest::addColumn<bool>("expected");
  QTest::newRow("a control piece") << true << "<|end|>" << true;
  QTest::newRow("text") << false << "<|end|>" << false;
  QTest::newRow("one that the tokenizer lacks") << true << "<|stop|>" << false;
  QTest::newRow("none") << false << "" << false;
}

void TestEndTokens::closingPiece() {
  QFETCH(bool, control);
  QFETCH(QString, piece);
  QFETCH(bool, expected);
  const auto tokenizer = tokenizerWithMarkers();
  ChatTemplate chat;
  if (!piece.isEmpty()) chat.answerSuffix = {{control, piece.toStdString()}, {false, "\n"}};
  std::vector<EndToken> tokens;
  addClosingPiece(chat, *tokenizer, tokenizer->vocabularySize(), tokens);
  const std::string end = std::to_string(tokenizer->controlId("<|end|>"));
  QCOMPARE(shown(tokens), expected ? end + " by " + "the chat template" : std::string());
  if (expected)
    QVERIFY_EXCEPTION_THROWN(addClosingPiece(chat, *tokenizer, tokenizer->controlId("<|end|>"), tokens),
                             Failure);
}

SPANSCOPE_TEST(tst_end_tokens, TestEndTokens)
#include "tst_end_tokens.moc"
