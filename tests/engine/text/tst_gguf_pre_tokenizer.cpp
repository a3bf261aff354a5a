// SPDX-License-Identifier: GPL-3.0-or-later
// The words into which the pre-tokenizers of GGUF files split a text, compared with Hugging Face's
// tokenizers.
#include "engine/base/error.h"
#include "engine/text/gguf_pre_tokenizer.h"
#include "engine/text/text_pattern.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/processor_timer.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <optional>

using namespace spanscope;
using namespace spanscope::text;
using namespace spanscope::text::test;
using spanscope::product_text::worded;

namespace {

/// The texts beside this test, or those of a longer comparison.
const nlohmann::json& cases() {
  static const nlohmann::json kCases = [] {
    const std::string given = qEnvironmentVariable("SPANSCOPE_SPLIT_CASES").toStdString();
    const std::filesystem::path own = std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "gguf_splits.json";
    return nlohmann::json::parse(readFile(given.empty() ? own : std::filesystem::path(given)));
  }();
  return kCases;
}

class Words final : public WordSink {
 public:
  void take(const Word& word) override { texts.emplace_back(word.text); }
  std::vector<std::string> texts;
};

std::vector<std::string> wordsOf(const std::vector<std::unique_ptr<const PreTokenizer>>& steps,
                                 const std::string& text) {
  Words words;
  preTokenize(steps, {text, true}, {}, words);
  return words.texts;
}

/// A vocabulary of bytes and one merge, with this pre-tokenizer.
std::string byteLevelFile(const std::string& pre) {
  GgufWriter file;
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", pre);
  std::vector<std::string> tokens = byteLevelPieces();
  tokens.emplace_back("ab");
  file.texts("tokenizer.ggml.tokens", tokens);
  file.texts("tokenizer.ggml.merges", {"a b"});
  return file.bytes();
}

/// The same vocabulary as a tokenizer.json. `last` is its piece of two letters.
std::string byteLevelJson(const std::string& last) {
  nlohmann::json json;
  json["model"] = {{"type", "BPE"}, {"merges", nlohmann::json::array()}};
  TokenId id = 0;
  for (const std::string& piece : byteLevelPieces()) json["model"]["vocab"][piece] = id++;
  json["model"]["vocab"][last] = id;
  json["model"]["merges"].push_back(last.substr(0, 1) + " " + last.substr(1));
  json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  json["decoder"] = {{"type", "ByteLevel"}};
  return json.dump();
}

std::optional<Error> errorOf(const std::filesystem::path& path) {
  try {
    loadTokenizer(path);
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

}  // namespace

class TestGgufPreTokenizer : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void asHuggingFaceSplits_data();
  void asHuggingFaceSplits();
  void knowsTheNamesOfLlamaCpp();
  void longTextsAreQuick_data();
  void longTextsAreQuick();
  void digitGroups_data();
  void digitGroups();
  void tokenizerJsonBesideTheFile();
  void spaceMarks();
  void finalToken();
};

void TestGgufPreTokenizer::asHuggingFaceSplits_data() {
  QTest::addColumn<QString>("name");
  for (const auto& [name, type] : cases()["types"].items())
    QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestGgufPreTokenizer::asHuggingFaceSplits() {
  QFETCH(QString, name);
  const GgufPreTokenizer* rules = findGgufPreTokenizer(name.toStdString());
  QVERIFY(rules != nullptr);
  const auto steps = stepsOf(*rules);
  const nlohmann::json& words = cases()["words"][cases()["types"][name.toStdString()].get<std::string>()];
  const nlohmann::json& texts = cases()["texts"];
  QCOMPARE(words.size(), texts.size());
  QVERIFY(texts.size() >= 20);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto text = texts[i].get<std::string>();
    std::vector<std::string> expected;
    std::size_t begin = 0;
    for (const nlohmann::json& length : words[i]) {
      expected.push_back(text.substr(begin, length.get<std::size_t>()));
      begin += length.get<std::size_t>();
    }
    QCOMPARE(begin, text.size());
    const std::vector<std::string> found = wordsOf(steps, text);
    if (found == expected) continue;
    QString message = QString::fromStdString(text) + "\nfound   ";
    for (const std::string& word : found) message += "[" + QString::fromStdString(word) + "]";
    message += "\nexpected ";
    for (const std::string& word : expected) message += "[" + QString::fromStdString(word) + "]";
    QFAIL(qPrintable(message));
  }
}

void TestGgufPreTokenizer::knowsTheNamesOfLlamaCpp() {
  std::vector<std::string> names;
  for (const auto& [name, type] : cases()["types"].items()) names.push_back(name);
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> known = ggufPreTokenizerNames();
  QVERIFY(std::vector<std::string>(known.begin(), known.end()) == names);
  QVERIFY(findGgufPreTokenizer("") == nullptr);
  QVERIFY(findGgufPreTokenizer("llama") == nullptr);
}

void TestGgufPreTokenizer::longTextsAreQuick_data() {
  QTest::addColumn<QString>("name");
  QStringList names;
  for (const auto& [name, type] : cases()["types"].items()) {
    const GgufPreTokenizer* rules = findGgufPreTokenizer(name);
    QVERIFY(rules != nullptr);
    if (rules->names.front() == name) names << QString::fromStdString(name);
  }
  for (const QString& name : names) QTest::newRow(qPrintable(name)) << name;
}

void TestGgufPreTokenizer::longTextsAreQuick() {
  QFETCH(QString, name);
  const auto steps = stepsOf(*findGgufPreTokenizer(name.toStdString()));
  for (const char* unit :
       {"a", "1", " ", "\n", "aB", "\xE6\xBC\xA2", "\xE0\xA4\xA8\xE0\xA5\x8D", "!", "a "}) {
    const QByteArray text = QByteArray(unit).repeated(20'000);
    spanscope::test::ProcessorTimer timer;
    timer.start();
    try {
      QVERIFY(!wordsOf(steps, text.toStdString()).empty());
    } catch (const Failure& failure) {
      QFAIL(qPrintable(QString("%1: %2").arg(unit, failure.what())));
    }
    // A search with quadratic time would take minutes.
    QVERIFY2(timer.elapsed() < 5000, unit);
  }
}

void TestGgufPreTokenizer::digitGroups_data() {
  QTest::addColumn<int>("groups");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("found");
  const auto row = [](DigitGroups groups, const char* text, const char* found) {
    QTest::addRow("%d %s", static_cast<int>(groups), text) << static_cast<int>(groups) << text << found;
  };
  row(DigitGroups::Numbers, "a1234567b", "1|234|567");
  row(DigitGroups::Numbers,
      "\xC2\xBD"
      "12",
      "\xC2\xBD"
      "12");
  row(DigitGroups::BeforeBoundary, "1234 567", "1|234|567");
  row(DigitGroups::BeforeBoundary, "1234a 12.", "12");
  row(DigitGroups::Begins, "1234567", "234|567");
  row(DigitGroups::Begins, "123a456", "123a|456");
  row(DigitGroups::Begins, "12", "");
}

void TestGgufPreTokenizer::digitGroups() {
  QFETCH(int, groups);
  QFETCH(QString, text);
  QFETCH(QString, found);
  const std::string bytes = text.toStdString();
  QStringList matches;
  for (const ByteRange& range : digitGroupsPattern(static_cast<DigitGroups>(groups))->findAll(bytes))
    matches << QString::fromStdString(bytes.substr(range.begin, range.end - range.begin));
  QCOMPARE(matches.join('|'), found);
}

/// An unknown pre-tokenizer alone is an error. The tokenizer.json of the same model solves it.
void TestGgufPreTokenizer::tokenizerJsonBesideTheFile() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  const std::filesystem::path model = directory / "model.gguf";
  writeFile(model, byteLevelFile("of-tomorrow"));
  const std::optional<Error> alone = errorOf(model);
  QVERIFY(alone.has_value());
  QCOMPARE(alone->place, std::string("tokenizer.ggml.pre"));
  QVERIFY(QString::fromStdString(alone->expected).contains(worded("<tokenizer-json-beside>")));

  writeFile(directory / "tokenizer.json", byteLevelJson("ab"));
  QCOMPARE(loadTokenizer(model)->encode("xab"), (std::vector<TokenId>{'x', 256}));

  writeFile(directory / "tokenizer.json", byteLevelJson("zz"));
  const std::optional<Error> other = errorOf(model);
  QVERIFY(other.has_value());
  QCOMPARE(other->file, (directory / "tokenizer.json").string());
  QVERIFY(other->expected.find("model.gguf") != std::string::npos);

  // A file with a known pre-tokenizer describes its tokenizer alone.
  writeFile(model, byteLevelFile("default"));
  QCOMPARE(loadTokenizer(model)->encode("xab"), (std::vector<TokenId>{'x', 256}));
}

/// Gemma 4's vocabulary: plain UTF-8, U+2581 for a space, and byte pieces.
void TestGgufPreTokenizer::spaceMarks() {
  GgufWriter file;
  file.text("tokenizer.ggml.model", "gemma4");
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back(QString::asprintf("<0x%02X>", static_cast<unsigned>(byte)).toStdString());
  tokens.insert(tokens.end(), {"\xE2\x96\x81", "a", "b", "ab",
                               "\xE2\x96\x81"
                               "ab",
                               "\n", "\n\n"});
  std::vector<std::int32_t> types(tokens.size(), 1);
  std::fill(types.begin(), types.begin() + 256, 6);
  file.texts("tokenizer.ggml.tokens", tokens);
  file.integers("tokenizer.ggml.token_type", types);
  file.texts("tokenizer.ggml.merges", {"a b", "\xE2\x96\x81 ab", "\n \n"});
  const QTemporaryDir folder;
  const std::filesystem::path path = folder.filePath("model.gguf").toStdString();
  writeFile(path, file.bytes());
  const auto tokenizer = loadTokenizer(path);
  const std::string text = "ab ab\n\n\xC3\xA9";
  QCOMPARE(tokenizer->encode(text), (std::vector<TokenId>{259, 260, 262, 0xC3, 0xA9}));
  QCOMPARE(tokenizer->decode(tokenizer->encode(text)), text);
}

/// The piece after a text, by which a model of vectors represents the text.
void TestGgufPreTokenizer::finalToken() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  const auto final = [](const std::filesystem::path& path) {
    return finalTokenOf(path, *loadTokenizer(path));
  };
  nlohmann::json json = nlohmann::json::parse(byteLevelJson("ab"));
  const auto write = [&] { writeFile(directory / "tokenizer.json", json.dump()); };
  write();
  QCOMPARE(final(directory), -1);
  json["added_tokens"] = {{{"id", 300}, {"content", "<|end|>"}, {"special", true}}};
  const nlohmann::json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const nlohmann::json end = {{"SpecialToken", {{"id", "<|end|>"}, {"type_id", 0}}}};
  json["post_processor"] = {{"type", "TemplateProcessing"}, {"single", {end, text}}};
  write();
  QCOMPARE(final(directory), -1);
  const nlohmann::json processor = {{"type", "TemplateProcessing"}, {"single", {text, end}}};
  json["post_processor"] = {{"type", "Sequence"}, {"processors", {{{"type", "ByteLevel"}}, processor}}};
  write();
  QCOMPARE(final(directory), 300);

  GgufWriter file;
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", "qwen2");
  file.texts("tokenizer.ggml.tokens", byteLevelPieces());
  file.texts("tokenizer.ggml.merges", {});
  file.unsignedInteger("tokenizer.ggml.eos_token_id", 7);
  const std::filesystem::path model = directory / "model.gguf";
  writeFile(model, file.bytes());
  QCOMPARE(final(model), -1);
  file.boolean("tokenizer.ggml.add_eos_token", true);
  writeFile(model, file.bytes());
  QCOMPARE(final(model), 7);
}

SPANSCOPE_TEST(tst_gguf_pre_tokenizer, TestGgufPreTokenizer)
#include "tst_gguf_pre_tokenizer.moc"
