// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <bit>
#include <functional>
#include <optional>
#include <span>

using namespace spanscope;
using namespace spanscope::checkpoint;
using namespace spanscope::text;
using namespace spanscope::text::test;
using spanscope::product_text::worded;

namespace {

checkpoint::GgufMetadata readBytes(const std::string& bytes) {
  return checkpoint::GgufMetadata::parse(std::as_bytes(std::span(bytes)), "model.gguf");
}

std::optional<Error> errorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

std::optional<Error> vocabularyError(const std::string& bytes) {
  return errorOf([&] { makeGgufTokenizer(readBytes(bytes)); });
}

/// A whole byte-level vocabulary, less what `left` names; with "~~" as a marker and "ab" as a piece.
GgufWriter byteLevelFile(const std::string& left = "", const std::string& pre = "gpt-2") {
  GgufWriter file;
  if (left != "model") file.text("tokenizer.ggml.model", "gpt2");
  if (left != "pre") file.text("tokenizer.ggml.pre", pre);
  std::vector<std::string> tokens = byteLevelPieces();
  tokens.insert(tokens.end(), {"ab", "~~", "<think>"});
  std::vector<std::int32_t> types(tokens.size(), 1);
  types[257] = 3;
  types[258] = 4;
  if (left == "a type") types.pop_back();
  if (left != "tokens") file.texts("tokenizer.ggml.tokens", tokens);
  if (left != "types") file.integers("tokenizer.ggml.token_type", types);
  if (left != "merges") file.texts("tokenizer.ggml.merges", {"a b", "~ ~"});
  return file;
}

GgufWriter sentencePieceFile(const std::string& left = "") {
  GgufWriter file;
  file.text("tokenizer.ggml.model", "llama");
  file.texts("tokenizer.ggml.tokens", {"<unk>", "<m>", "\xE2\x96\x81", "a", "b", "ab",
                                       "\xE2\x96\x81"
                                       "a"});
  file.integers("tokenizer.ggml.token_type", {2, 3, 1, 1, 1, 1, 1});
  if (left != "scores") file.floats("tokenizer.ggml.scores", {0, 0, -3, -4, -5, -1, -2});
  return file;
}

}  // namespace

class TestGguf : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void vectors_data();
  void vectors();
  void readsEveryType();
  void byteLevelVocabulary();
  void preTokenizers_data();
  void preTokenizers();
  void sentencePieceVocabulary();
  void namesWhatIsWrong_data();
  void namesWhatIsWrong();
  void refusesDamagedFiles();
  void lengthsAreChecked_data();
  void lengthsAreChecked();
  void precedence();
};

void TestGguf::vectors_data() {
  QTest::addColumn<QString>("base");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(goldenTokenizers(), error)) {
    const std::string base = entry.path().filename().string();
    if (base.ends_with(".gguf") && std::filesystem::exists(goldenTokenizers() / (base + ".out")))
      QTest::newRow(base.c_str()) << QString::fromStdString(base);
  }
  if (error) QTest::newRow("none") << QString();
}

void TestGguf::vectors() {
  QFETCH(QString, base);
  const std::filesystem::path golden = goldenTokenizers();
  const std::string file = base.toStdString();
  if (file.empty()) QSKIP("no golden/tokenizers: set SPANSCOPE_GOLDEN_DIR");
  std::unique_ptr<Tokenizer> tokenizer;
  try {
    tokenizer = makeGgufTokenizer(checkpoint::GgufMetadata::read(golden / file));
  } catch (const Failure& failure) {
    QFAIL(failure.what());
  }
  const std::string separator = "\n__ggml_vocab_test__\n";
  const std::string texts = readFile(golden / (file + ".inp"));
  std::istringstream expected(readFile(golden / (file + ".out")));
  std::string line;
  std::size_t begin = 0;
  int count = 0;
  while (std::getline(expected, line)) {
    const std::size_t end = texts.find(separator, begin);
    if (end == std::string::npos) break;
    const std::string text = texts.substr(begin, end - begin);
    std::istringstream numbers(line);
    std::vector<TokenId> ids;
    for (TokenId id = 0; numbers >> id;) ids.push_back(id);
    QCOMPARE(tokenizer->encode(text), ids);
    // A sentencepiece tokenizer encodes a text with a space before it.
    const std::string decoded = tokenizer->decode(ids);
    QVERIFY2(decoded == text || decoded == " " + text, decoded.c_str());
    begin = end + separator.size();
    ++count;
  }
  QVERIFY(count >= 40);
}

void TestGguf::readsEveryType() {
  GgufWriter file;
  for (std::uint32_t type = 0; type <= 12; ++type)
    file.anyValue("general.of_type_" + std::to_string(type), type);
  for (std::uint32_t type = 0; type <= 12; ++type)
    file.anyValue("tokenizer.of_type_" + std::to_string(type), type);
  file.nestedList("general.nested", 4);
  file.text("tokenizer.last", "reached");
  const checkpoint::GgufMetadata metadata = readBytes(file.bytes());
  QCOMPARE(*metadata.text("tokenizer.last"), std::string("reached"));
  QVERIFY(*metadata.boolean("tokenizer.of_type_7"));
  QCOMPARE(metadata.texts("tokenizer.of_type_9")->size(), std::size_t{1});
  QCOMPARE(*metadata.text("general.of_type_8"), std::string("1"));
  QCOMPARE(*metadata.number("general.of_type_12"), std::bit_cast<double>(std::uint64_t{1}));
  QVERIFY(metadata.texts("general.nested") == nullptr);
  QVERIFY(errorOf([&] { metadata.text("tokenizer.of_type_7"); }).has_value());
}

void TestGguf::byteLevelVocabulary() {
  const auto tokenizer = makeGgufTokenizer(readBytes(byteLevelFile().bytes()));
  QCOMPARE(tokenizer->vocabularySize(), 259);
  QCOMPARE(tokenizer->encode("ab"), std::vector<TokenId>{256});
  QCOMPARE(tokenizer->controlId("~~"), 257);
  QCOMPARE(tokenizer->encode("~~").size(), std::size_t{2});
  QCOMPARE(tokenizer->encode("a<think>b"), (std::vector<TokenId>{'a', 258, 'b'}));
  QCOMPARE(tokenizer->decode(tokenizer->encode("a~~ <think>\n\xF0\x9F\x98\x80")),
           std::string("a~~ <think>\n\xF0\x9F\x98\x80"));
}

void TestGguf::preTokenizers_data() {
  // "x 'Sab" shows whether contractions are found in any case: then "'S" ends before "ab" begins.
  QTest::addColumn<QString>("pre");
  QTest::addColumn<bool>("anyCase");
  QTest::addColumn<bool>("normalizes");
  QTest::newRow("gpt-2") << "gpt-2" << false << false;
  QTest::newRow("llama-bpe") << "llama-bpe" << true << false;
  QTest::newRow("qwen2") << "qwen2" << true << true;
  QTest::newRow("starcoder") << "starcoder" << false << false;
}

void TestGguf::preTokenizers() {
  QFETCH(QString, pre);
  QFETCH(bool, anyCase);
  QFETCH(bool, normalizes);
  GgufWriter file;
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", pre.toStdString());
  std::vector<std::string> tokens = byteLevelPieces();
  tokens.emplace_back("Sa");
  file.texts("tokenizer.ggml.tokens", tokens);
  file.texts("tokenizer.ggml.merges", {"S a"});
  const auto tokenizer = makeGgufTokenizer(readBytes(file.bytes()));
  const std::vector<TokenId> ids = tokenizer->encode("'Sa");
  QCOMPARE(ids, anyCase ? (std::vector<TokenId>{'\'', 'S', 'a'}) : (std::vector<TokenId>{'\'', 256}));
  const std::string composed = "\xC3\xA9";
  QCOMPARE(tokenizer->decode(tokenizer->encode("e\xCC\x81")),
           normalizes ? composed : std::string("e\xCC\x81"));
}

void TestGguf::sentencePieceVocabulary() {
  const auto tokenizer = makeGgufTokenizer(readBytes(sentencePieceFile().bytes()));
  // The best score wins at any place: "ab" before the space and "a".
  QCOMPARE(tokenizer->encode("ab"), (std::vector<TokenId>{2, 5}));
  QCOMPARE(tokenizer->encode("a"), (std::vector<TokenId>{6}));
  QCOMPARE(tokenizer->controlId("<m>"), 1);
  GgufWriter bare = sentencePieceFile();
  bare.boolean("tokenizer.ggml.add_space_prefix", false);
  QCOMPARE(makeGgufTokenizer(readBytes(bare.bytes()))->encode("a"), (std::vector<TokenId>{3}));
  // Padding pieces that are marked as unknown, and a key that names the piece for unknown text.
  GgufWriter padded;
  padded.text("tokenizer.ggml.model", "llama");
  padded.texts("tokenizer.ggml.tokens", {"<unk>", "\xE2\x96\x81", "a", "[PAD1]", "[PAD2]"});
  padded.integers("tokenizer.ggml.token_type", {3, 1, 1, 2, 2});
  padded.floats("tokenizer.ggml.scores", {0, -3, -4, 0, 0});
  QVERIFY(vocabularyError(padded.bytes()).has_value());
  padded.unsignedInteger("tokenizer.ggml.unknown_token_id", 0);
  QCOMPARE(makeGgufTokenizer(readBytes(padded.bytes()))->encode("a"), (std::vector<TokenId>{1, 2}));
}

void TestGguf::namesWhatIsWrong_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QString>("place");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* name, const GgufWriter& file, const char* place, const char* found) {
    const std::string bytes = file.bytes();
    QTest::newRow(name) << QByteArray(bytes.data(), static_cast<int>(bytes.size())) << QString(place)
                        << QString(found);
  };
  row("no model", byteLevelFile("model"), "tokenizer.ggml.model", "nothing");
  row("no pre-tokenizer", byteLevelFile("pre"), "tokenizer.ggml.pre", "nothing");
  row("unknown pre-tokenizer", byteLevelFile("", "of-tomorrow"), "tokenizer.ggml.pre", "of-tomorrow");
  row("no tokens", byteLevelFile("tokens"), "tokenizer.ggml.tokens", "nothing");
  row("no merges", byteLevelFile("merges"), "tokenizer.ggml.merges", "nothing");
  row("a type too few", byteLevelFile("a type"), "tokenizer.ggml.token_type", "258 types");
  row("no scores", sentencePieceFile("scores"), "tokenizer.ggml.scores", "nothing");
  GgufWriter file;
  file.text("tokenizer.ggml.model", "bert");
  row("bert", file, "tokenizer.ggml.model", "bert");
  file = byteLevelFile();
  file.boolean("tokenizer.ggml.add_space_prefix", true);
  row("space prefix", file, "tokenizer.ggml.add_space_prefix", "true");
  file = sentencePieceFile();
  file.boolean("tokenizer.ggml.remove_extra_whitespaces", true);
  row("removes white space", file, "tokenizer.ggml.remove_extra_whitespaces", "white space");
  file = byteLevelFile("types");
  file.integers("tokenizer.ggml.token_type", std::vector<std::int32_t>(259, 9));
  row("type 9", file, "tokenizer.ggml.token_type", "type 9");
  file = byteLevelFile("merges");
  file.texts("tokenizer.ggml.merges", {"a b c"});
  row("merge of three", file, "tokenizer.ggml.merges", "a b c");
  file = byteLevelFile("merges");
  file.texts("tokenizer.ggml.merges", {"a c"});
  row("merge to nothing", file, "tokenizer.ggml.tokens", "\"ac\"");
  file = byteLevelFile("tokens");
  file.texts("tokenizer.ggml.tokens", {"\xFF"});
  row("no UTF-8", file, "tokenizer.ggml.tokens", "not UTF-8");
  file = byteLevelFile("pre");
  file.boolean("tokenizer.ggml.pre", true);
  row("another type", file, "tokenizer.ggml.pre", "another type");
}

void TestGguf::namesWhatIsWrong() {
  QFETCH(QByteArray, bytes);
  QFETCH(QString, place);
  QFETCH(QString, found);
  const std::optional<Error> error = vocabularyError(bytes.toStdString());
  QVERIFY(error.has_value());
  QCOMPARE(QString::fromStdString(error->place), place);
  QCOMPARE(error->file, std::string("model.gguf"));
  QVERIFY2(QString::fromStdString(error->found).contains(found), error->message().c_str());
}

void TestGguf::refusesDamagedFiles() {
  const std::string whole = byteLevelFile().bytes();
  QVERIFY(!vocabularyError(whole).has_value());
  std::mt19937_64 random(testSeed());
  for (std::size_t size = 0; size < whole.size(); size += 1 + random() % 40) {
    QVERIFY(vocabularyError(whole.substr(0, size)).has_value());
  }
  for (int round = 0; round < 500; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    const std::optional<Error> error = vocabularyError(damaged);
    if (error) QVERIFY(!error->found.empty() && !error->expected.empty());
  }
}

void TestGguf::lengthsAreChecked_data() {
  QTest::addColumn<QByteArray>("tail");
  QTest::addColumn<QString>("found");
  // A key of one letter fewer than "tokenizer." is passed over, the other is read.
  const auto row = [](const char* name, const char* key, const char* value, const char* found) {
    QByteArray tail;
    const QByteArray keyBytes(key);
    tail += static_cast<char>(keyBytes.size());
    tail += QByteArray(7, '\0') + keyBytes + QByteArray::fromHex(value);
    QTest::newRow(name) << tail << worded(found);
  };
  row("text, read", "tokenizer.a", "08000000ffffffffffffffff", "a text of 18446744073709551615 bytes");
  row("text beyond the end", "tokenizer.a", "080000000100000000000000", "the end");
  row("list, read", "tokenizer.a", "090000000a000000ffffffffffffffff", "18446744073709551615 elements");
  row("lists of lists, passed over", "general.a", "0900000009000000ffffffffffffffff",
      "18446744073709551615 elements");
  row("list beyond the end", "tokenizer.a", "09000000080000000000300000000000", "the end");
  row("lists of lists beyond the end", "general.a", "09000000090000003000000000000000", "the end");
  row("lists of lists, read", "tokenizer.a", "09000000090000000100000000000000", "<list-lists>");
  row("type 13", "general.a", "0d000000", "type 13");
  row("list of type 200", "general.a", "09000000c80000000100000000000000", "type 200");
}

void TestGguf::lengthsAreChecked() {
  QFETCH(QByteArray, tail);
  QFETCH(QString, found);
  const QByteArray head =
      QByteArray::fromHex("47475546030000000000000000000000") + QByteArray::fromHex("0100000000000000");
  const std::optional<Error> error = errorOf([&] { readBytes((head + tail).toStdString()); });
  QVERIFY(error.has_value());
  QVERIFY2(QString::fromStdString(error->found).contains(found), error->message().c_str());
  QVERIFY(error->place.find("byte") != std::string::npos);
}

void TestGguf::precedence() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  const auto error = [&] { return errorOf([&] { loadTokenizer(directory); }); };
  QVERIFY(error()->expected.find(".gguf") != std::string::npos);
  writeFile(directory / "model-00001-of-00002.gguf", byteLevelFile().bytes());
  writeFile(directory / "model-00002-of-00002.gguf", "the other part");
  QCOMPARE(loadTokenizer(directory)->vocabularySize(), 259);
  writeFile(directory / "other.gguf", byteLevelFile().bytes());
  QVERIFY(error()->found.find("other.gguf") != std::string::npos);
  std::filesystem::copy_file(bundledModel() / "tokenizer.model", directory / "tokenizer.model");
  QCOMPARE(loadTokenizer(directory)->vocabularySize(), 2048);
  writeFile(directory / "tokenizer.json", "{\"model\": {\"type\": \"Unigram\"}}");
  // Another file could say something else, so it is not tried.
  QCOMPARE(error()->file, (directory / "tokenizer.json").string());
}

SPANSCOPE_TEST(tst_gguf, TestGguf)
#include "tst_gguf.moc"
