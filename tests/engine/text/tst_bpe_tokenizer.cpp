// SPDX-License-Identifier: GPL-3.0-or-later
// Tokenizers that encode words by byte pairs, compared with the ids of Hugging Face tokenizers for the same
// texts.
#include "engine/base/error.h"
#include "engine/text/bpe_encoder.h"
#include "engine/text/text_pattern.h"
#include "engine/text/tokenizer.h"
#include "engine/text/unicode.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/processor_timer.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>

using namespace spanscope;
using namespace spanscope::text;
using namespace spanscope::text::test;

namespace {

/// The cases beside this test, or those of a longer comparison.
std::filesystem::path casesDirectory() {
  const std::string given = qEnvironmentVariable("SPANSCOPE_TOKENIZER_CASES").toStdString();
  return given.empty() ? std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "tokenizers"
                       : std::filesystem::path(given);
}

std::unique_ptr<Tokenizer> loadCase(const char* name) {
  return loadTokenizer(std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "tokenizers" / name);
}

std::string joinedIds(const std::vector<TokenId>& ids) {
  std::string text;
  for (const TokenId id : ids) text += std::to_string(id) + " ";
  return text;
}

nlohmann::json description(const char* name) {
  return nlohmann::json::parse(
      readFile(std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "tokenizers" / name / "tokenizer.json"));
}

/// What loading a changed description fails with; nothing if it does not.
std::optional<Error> loadError(const std::string& json) {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  writeFile(directory / "tokenizer.json", json);
  try {
    loadTokenizer(directory);
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

}  // namespace

class TestBpeTokenizer : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void asHuggingFaceEncodes_data();
  void asHuggingFaceEncodes();
  void textComesBack_data();
  void textComesBack();
  void markersAreNeverText();
  void addedTokens();
  void unknownAndByteFallback();
  void namesCharactersWithoutPieces();
  void displaysPieces();
  void modelsOfWords();
  void longWordsAreQuick_data();
  void longWordsAreQuick();
  void longWordsInPartsAsAWhole();
  void wholeWordsOnlyAsWords();
  void queueGivesTheLeastFirst();
  void mergesOfMarkersAreNotMade();
  void namesWhatItDoesNotSupport_data();
  void namesWhatItDoesNotSupport();
  void errorsHaveLineAndColumn_data();
  void errorsHaveLineAndColumn();
  void refusesDamagedFiles();
};

void TestBpeTokenizer::asHuggingFaceEncodes_data() {
  QTest::addColumn<QString>("folder");
  for (const auto& entry : std::filesystem::directory_iterator(casesDirectory())) {
    QTest::newRow(entry.path().filename().c_str()) << QString::fromStdString(entry.path().string());
  }
}

void TestBpeTokenizer::asHuggingFaceEncodes() {
  QFETCH(QString, folder);
  const std::filesystem::path directory = folder.toStdString();
  const auto tokenizer = loadTokenizer(directory);
  std::istringstream lines(readFile(directory / "cases.jsonl"));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    const nlohmann::json row = nlohmann::json::parse(line);
    const auto ids = tokenizer->encode(row["text"].get<std::string>());
    const auto expected = row["ids"].get<std::vector<TokenId>>();
    ++count;
    if (ids == expected) continue;
    QFAIL((line + "\nfound " + joinedIds(ids) + "\nexpected " + joinedIds(expected)).c_str());
  }
  QVERIFY(count > 100);
  qInfo("%d texts", count);
}

void TestBpeTokenizer::textComesBack_data() {
  QTest::addColumn<QString>("folder");
  for (const char* name : {"gpt2", "llama3", "starcoder", "possessive"}) QTest::newRow(name) << QString(name);
}

void TestBpeTokenizer::textComesBack() {
  QFETCH(QString, folder);
  const auto tokenizer = loadCase(qPrintable(folder));
  // "possessive" takes characters apart, "starcoder" has a token that takes the white space beside it.
  const bool normalizes = folder == "possessive";
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 2000; ++round) {
    const std::string text = randomText(random, random() % 12);
    const std::string expected = normalizes ? normalized(text, NormalForm::D) : text;
    const std::vector<TokenId> ids = tokenizer->encode(text);
    QCOMPARE(tokenizer->decode(ids), expected);
    QVERIFY(std::none_of(ids.begin(), ids.end(), [&](TokenId id) { return tokenizer->isControl(id); }));
    StreamDecoder decoder(*tokenizer);
    std::string streamed;
    for (const TokenId id : ids) streamed += decoder.push(id);
    QCOMPARE(streamed + decoder.finish(), expected);
  }
  QCOMPARE(tokenizer->encode("a\xFFz"), tokenizer->encode("a\xEF\xBF\xBDz"));
}

void TestBpeTokenizer::markersAreNeverText() {
  for (const char* name :
       {"gpt2", "llama3", "qwen2", "sentencepiece", "metaspace_first", "unigram", "wordpiece"}) {
    const auto tokenizer = loadCase(name);
    const TokenId end = tokenizer->controlId("<|end|>");
    QVERIFY(end >= 0);
    QVERIFY(tokenizer->isControl(end));
    QVERIFY(tokenizer->bytes(end).empty());
    QCOMPARE(tokenizer->display(end), std::string("<|end|>"));
    QCOMPARE(tokenizer->controlId("<think>"), -1);
    for (const char* text : {"<|end|>", "a<|end|>b", "<|end|><|end|>", " <|end|> ", "<|user|>", "<unk>"}) {
      for (const TokenId id : tokenizer->encode(text)) QVERIFY2(!tokenizer->isControl(id), text);
    }
  }
}

void TestBpeTokenizer::addedTokens() {
  const auto tokenizer = loadCase("qwen2");
  const auto idOf = [&](const char* text) {
    const std::vector<TokenId> ids = tokenizer->encode(text);
    return ids.size() == 1 ? ids.front() : -1;
  };
  const TokenId think = idOf("<think>");
  QVERIFY(think >= 0);
  QVERIFY(!tokenizer->isControl(think));
  QCOMPARE(tokenizer->bytes(think), std::string("<think>"));
  // A token that takes the white space on both sides, and one that does not.
  QCOMPARE(tokenizer->encode("  <tool>  "), std::vector<TokenId>{idOf("<tool>")});
  QVERIFY(tokenizer->encode(" <think>").size() == 2);
  // Only without a word next to it.
  QVERIFY(idOf("<word>") >= 0);
  QVERIFY(tokenizer->encode("x<word>").back() != idOf("<word>"));
  // Looked for after normalization: the token is spelled with a combining mark.
  QCOMPARE(idOf("na\xC3\xAFve"), idOf("nai\xCC\x88ve"));
}

void TestBpeTokenizer::unknownAndByteFallback() {
  const auto fallback = loadCase("sentencepiece");
  // U+16A0 is in no training text.
  const std::vector<TokenId> ids = fallback->encode("\xE1\x9A\xA0");
  QCOMPARE(ids.size(), std::size_t{4});
  QCOMPARE(fallback->display(ids[1]), std::string("<0xE1>"));
  QCOMPARE(fallback->decode(ids), std::string(" \xE1\x9A\xA0"));

  const auto fused = loadCase("metaspace_first");
  QCOMPARE(fused->decode(fused->encode("a\xE1\x9A\xA0\xE1\x9A\xA0z")), std::string(" a\xEF\xBF\xBDz"));
  const auto apart = loadCase("metaspace_always");
  QCOMPARE(apart->decode(apart->encode("a\xE1\x9A\xA0\xE1\x9A\xA0z")),
           std::string(" a\xEF\xBF\xBD\xEF\xBF\xBDz"));
}

void TestBpeTokenizer::namesCharactersWithoutPieces() {
  nlohmann::json json = description("gpt2");
  json["model"]["vocab"].erase("\xC4\x87");  // Byte 0x07 in GPT-2's alphabet.
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  writeFile(directory / "tokenizer.json", json.dump());
  const auto tokenizer = loadTokenizer(directory);
  QVERIFY(!tokenizer->encode("text").empty());
  try {
    tokenizer->encode("a\x07");
    QFAIL("a character without a piece was left out");
  } catch (const Failure& failure) {
    QVERIFY(failure.error().found.find("0x07") != std::string::npos);
    QCOMPARE(failure.error().file, (directory / "tokenizer.json").string());
  }
}

void TestBpeTokenizer::displaysPieces() {
  const auto tokenizer = loadCase("gpt2");
  const std::vector<TokenId> ids = tokenizer->encode("\xF0\x9F\x99\x8D");
  QVERIFY(ids.size() > 1);
  std::string shown;
  for (const TokenId id : ids) shown += tokenizer->display(id);
  QCOMPARE(shown, std::string("<0xF0><0x9F><0x99><0x8D>"));
  QVERIFY(tokenizer->bytes(-1).empty());
  QCOMPARE(tokenizer->display(1 << 30), "<id " + std::to_string(1 << 30) + ">");
  QVERIFY(!tokenizer->isControl(tokenizer->vocabularySize()));
}

/// Unigram and WordPiece: unknown text, decoding, and errors of their own.
void TestBpeTokenizer::modelsOfWords() {
  const auto unigram = loadCase("unigram");
  QCOMPARE(unigram->decode(unigram->encode("The tokens of Mira")), std::string(" the tokens of mira"));
  const auto bytes = loadCase("unigram_map");
  QCOMPARE(bytes->decode(bytes->encode("\xE1\x9A\xA0")), std::string(" \xE1\x9A\xA0"));
  const auto pieces = loadCase("wordpiece");
  QCOMPARE(pieces->decode(pieces->encode("Lisbon, tokens")), std::string(" lisbon , tokens"));
  QCOMPARE(pieces->decode(pieces->encode("a \xE1\x9A\xA0 z")), std::string(" a\xEF\xBF\xBD z"));
  const auto errorWith = [](const char* name, const char* patch) {
    nlohmann::json json = description(name);
    json.merge_patch(nlohmann::json::parse(patch));
    return loadError(json.dump());
  };
  QVERIFY(!errorWith("unigram", "{}") && !errorWith("wordpiece", "{}"));
  for (const char* patch :
       {R"({"model": {"unk_id": 99999}})", R"({"model": {"vocab": []}})",
        R"({"model": {"vocab": [["a", 0], ["a", 1]]}})", R"({"model": {"vocab": [["a"]]}})",
        R"({"pre_tokenizer": {"type": "ByteLevel"}})"})
    QVERIFY2(errorWith("unigram", patch), patch);
  for (const char* patch :
       {R"({"model": {"unk_token": "<none>"}})", R"({"model": {"max_input_chars_per_word": 0}})"})
    QVERIFY2(errorWith("wordpiece", patch), patch);
}

void TestBpeTokenizer::longWordsAreQuick_data() {
  QTest::addColumn<QString>("folder");
  QTest::addColumn<QByteArray>("unit");
  for (const char* name : {"gpt2", "llama3", "cased", "sentencepiece", "splits", "unigram", "wordpiece"}) {
    for (const char* unit : {"a", " ", "the", "\xCC\x81\xCC\xA3", "1"}) {
      QTest::addRow("%s %s", name, QByteArray(unit).toHex().constData()) << QString(name) << QByteArray(unit);
    }
  }
}

void TestBpeTokenizer::longWordsAreQuick() {
  QFETCH(QString, folder);
  QFETCH(QByteArray, unit);
  const auto tokenizer = loadCase(qPrintable(folder));
  const std::string text = unit.repeated(100'000 / static_cast<int>(unit.size())).toStdString();
  spanscope::test::ProcessorTimer timer;
  timer.start();
  tokenizer->encode(text);
  // A quadratic algorithm would take minutes.
  QVERIFY2(timer.elapsed() < 5000, qPrintable(QString::number(timer.elapsed())));
}

/// A long word is encoded part by part, cut where nothing can be joined: with the ids of the whole.
void TestBpeTokenizer::longWordsInPartsAsAWhole() {
  std::mt19937_64 random(testSeed());
  const auto encode = [](const BpeModel& model, const std::string& word) {
    std::vector<TokenId> ids;
    const TokenSink sink = [&ids](std::span<const TokenId> made) {
      ids.insert(ids.end(), made.begin(), made.end());
      return true;
    };
    IdOutput output(sink);
    const std::stop_token stop;
    BpeEncoder(model, word.size(), stop, output).encodeWord(word);
    output.flush();
    return ids;
  };
  std::size_t merged = 0;
  for (int round = 0; round < 300; ++round) {
    std::string letters = "abcdefghijkl";
    letters.resize(2 + random() % 10);
    std::vector<std::string> pieces;
    BpeModel parts(BpeModel::Units::Bytes);
    BpeModel whole(BpeModel::Units::Bytes);
    const auto add = [&](const std::string& piece) {
      if (std::find(pieces.begin(), pieces.end(), piece) != pieces.end()) return;
      for (BpeModel* model : {&parts, &whole}) model->addPiece(piece, static_cast<TokenId>(pieces.size()));
      pieces.push_back(piece);
    };
    const auto idOf = [&](const std::string& piece) {
      return static_cast<TokenId>(std::find(pieces.begin(), pieces.end(), piece) - pieces.begin());
    };
    for (const char letter : letters) add(std::string(1, letter));
    struct Merge {
      std::string left;
      std::string right;
    };
    std::vector<Merge> merges;
    for (std::size_t i = random() % 20; i > 0; --i) {
      const Merge merge{pieces[random() % pieces.size()], pieces[random() % pieces.size()]};
      add(merge.left + merge.right);
      merges.push_back(merge);
    }
    // A merge may come before one that makes a part of it.
    std::shuffle(merges.begin(), merges.end(), random);
    for (std::uint32_t rank = 0; rank < merges.size(); ++rank) {
      const Merge& merge = merges[rank];
      for (BpeModel* model : {&parts, &whole})
        model->addMerge(idOf(merge.left), idOf(merge.right), rank, idOf(merge.left + merge.right));
    }
    parts.finish();
    std::string word;
    for (int i = 0; i < 700; ++i) word += letters[random() % letters.size()];
    const std::vector<TokenId> expected = encode(whole, word);
    QVERIFY(encode(parts, word) == expected);
    if (expected.size() < word.size()) ++merged;
  }
  QVERIFY(merged > 200);
}

/// A word that is a piece stays whole; the same letters within a long word are what the merges say.
void TestBpeTokenizer::wholeWordsOnlyAsWords() {
  BpeModel model(BpeModel::Units::Bytes);
  model.setWholeWordsFirst(true);
  const std::vector<std::string> pieces = {"a", "b", "c", "z", "ab", "bc", "abc"};
  for (std::size_t i = 0; i < pieces.size(); ++i) model.addPiece(pieces[i], static_cast<TokenId>(i));
  model.addMerge(0, 1, 0, 4);
  model.addMerge(1, 2, 1, 5);
  model.finish();
  std::vector<TokenId> ids;
  const TokenSink sink = [&ids](std::span<const TokenId> made) {
    ids.insert(ids.end(), made.begin(), made.end());
    return true;
  };
  IdOutput output(sink);
  const std::stop_token stop;
  BpeEncoder encoder(model, 100, stop, output);
  encoder.encodeWord("abc");
  encoder.encodeWord(std::string(40, 'z') + "abc");
  encoder.encodeWord("abc");
  output.flush();
  std::vector<TokenId> expected = {6};
  expected.insert(expected.end(), 40, 3);
  expected.insert(expected.end(), {4, 2, 6});
  QCOMPARE(ids, expected);
}

/// Whatever is pushed meanwhile: mostly, but not always, what ranks after what was popped.
void TestBpeTokenizer::queueGivesTheLeastFirst() {
  std::mt19937_64 random(testSeed());
  RisingQueue queue;
  for (int round = 0; round < 2000; ++round) {
    std::vector<RisingQueue::Entry> sorted;
    const std::uint64_t ranks = 1 + random() % (std::uint64_t{1} << (1 + random() % 18));
    const auto push = [&](std::uint32_t least) {
      const RisingQueue::Entry entry{least + static_cast<std::uint32_t>(random() % ranks),
                                     static_cast<std::uint32_t>(random() % 50)};
      sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), entry), entry);
      queue.push(entry);
    };
    queue.restart();
    for (std::size_t i = random() % 40; i > 0; --i) push(0);
    for (std::size_t pushes = 60; !sorted.empty();) {
      QVERIFY(!queue.empty());
      const RisingQueue::Entry least = queue.pop();
      QVERIFY(least == sorted.front());
      sorted.erase(sorted.begin());
      for (std::size_t i = random() % 3; i > 0 && pushes > 0; --i, --pushes)
        push(random() % 4 == 0 ? 0 : least.rank);
    }
    QVERIFY(queue.empty());
  }
}

void TestBpeTokenizer::mergesOfMarkersAreNotMade() {
  nlohmann::json json = description("gpt2");
  nlohmann::json& model = json["model"];
  const int id = static_cast<int>(model["vocab"].size());
  model["vocab"]["~~"] = id;
  model["merges"].insert(model["merges"].begin(), "~ ~");
  model["ignore_merges"] = true;
  json["added_tokens"].push_back({{"id", id}, {"content", "~~"}, {"special", true}});
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  writeFile(directory / "tokenizer.json", json.dump());
  const auto tokenizer = loadTokenizer(directory);
  QCOMPARE(tokenizer->controlId("~~"), id);
  QCOMPARE(tokenizer->encode("~~").size(), std::size_t{2});
  QCOMPARE(tokenizer->decode(tokenizer->encode("~~~")), std::string("~~~"));
}

void TestBpeTokenizer::namesWhatItDoesNotSupport_data() {
  QTest::addColumn<QByteArray>("patch");
  QTest::addColumn<QString>("place");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* name, const char* patch, const char* place, const char* found) {
    QTest::newRow(name) << QByteArray(patch) << QString(place) << QString(found);
  };
  row("a model of whole words", R"({"model": {"type": "WordLevel"}})", "/model", "WordLevel");
  row("no model", R"({"model": null})", "/model", "nothing");
  row("dropout", R"({"model": {"dropout": 0.1}})", "/model/dropout", "0.1");
  row("suffix", R"({"model": {"end_of_word_suffix": "</w>"}})", "/model/end_of_word_suffix", "</w>");
  row("prefix", R"({"model": {"continuing_subword_prefix": "@@"}})", "/model/continuing_subword_prefix",
      "@@");
  row("ids", R"({"model": {"vocab": {"a": 1.5}}})", "/model/vocab/a", "1.5");
  row("negative id", R"({"model": {"vocab": {"a": -1}}})", "/model/vocab/a", "-1");
  row("huge id", R"({"model": {"vocab": {"a": 2000000000}}})", "/model", "2000000000");
  row("same id", R"({"model": {"vocab": {"zzzz": 70}}})", "/model", "70");
  row("unknown piece", R"({"model": {"unk_token": "<none>"}})", "/model", "<none>");
  row("byte fallback", R"({"model": {"byte_fallback": true}})", "/model", "byte fallback");
  row("merge of nothing", R"({"model": {"merges": ["a qqqq"]}})", "/model", "qqqq");
  row("merge of three", R"({"model": {"merges": ["a b c"]}})", "/model/merges/0", "a b c");
  row("merge as number", R"({"model": {"merges": [["a", 3]]}})", "/model/merges/0/1", "3");
  row("normalizer", R"({"normalizer": {"type": "Nmt"}})", "/normalizer", "Nmt");
  row("charsmap", R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"}})",
      "/normalizer/precompiled_charsmap", "no table");
  row("pre-tokenizer", R"({"pre_tokenizer": {"type": "UnicodeScripts"}})", "/pre_tokenizer",
      "UnicodeScripts");
  row("after ByteLevel",
      R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Digits"}]}})",
      "/pre_tokenizer/pretokenizers/1", "Digits");
  row("behavior", R"({"pre_tokenizer": {"type": "Split", "pattern": {"String": "a"}, "behavior": "Gone"}})",
      "/pre_tokenizer/behavior", "Gone");
  row("empty pattern",
      R"({"pre_tokenizer": {"type": "Split", "pattern": {"String": ""}, "behavior": "Removed"}})",
      "/pre_tokenizer/pattern/String", "empty");
  row("word boundary",
      R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a\\b"}, "behavior": "Removed"}})",
      "/pre_tokenizer/pattern/Regex", "\\b");
  row("wrong expression",
      R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a"}, "behavior": "Removed"}})",
      "/pre_tokenizer/pattern/Regex", "invalid");
  row("decoder", R"({"decoder": {"type": "CTC"}})", "/decoder", "CTC");
  row("no bytes", R"({"pre_tokenizer": {"type": "Digits"}, "decoder": null, "model": {"unk_token": null}})",
      "/model", "neither");
  row("added id", R"({"added_tokens": [{"id": 3, "content": "<|end|>", "special": true}]})", "/model",
      "<|end|>");
  row("added twice", R"({"added_tokens": [{"id": 900, "content": "<x>"}, {"id": 901, "content": "<x>"}]})",
      "/model", "<x>");
  row("added nothing", R"({"added_tokens": [{"id": 900, "content": ""}]})", "/added_tokens/0/content",
      "0 bytes");
  row("a flag that is none", R"({"added_tokens": [{"id": 900, "content": "<x>", "lstrip": 1}]})",
      "/added_tokens/0/lstrip", "1");
}

void TestBpeTokenizer::namesWhatItDoesNotSupport() {
  QFETCH(QByteArray, patch);
  QFETCH(QString, place);
  QFETCH(QString, found);
  nlohmann::json json = description("gpt2");
  QVERIFY(!loadError(json.dump()).has_value());
  // merge_patch takes null for "remove", which is the same here: both are absent.
  json.merge_patch(nlohmann::json::parse(patch.toStdString()));
  const std::optional<Error> error = loadError(json.dump());
  QVERIFY(error.has_value());
  // All on one line here; errorsHaveLineAndColumn() looks at the numbers.
  QVERIFY2(QRegularExpression("^1:\\d+: " + QRegularExpression::escape(place) + "$")
               .match(QString::fromStdString(error->place))
               .hasMatch(),
           error->place.c_str());
  QVERIFY2(QString::fromStdString(error->found).contains(found), error->message().c_str());
  QVERIFY(!error->expected.empty());
}

void TestBpeTokenizer::errorsHaveLineAndColumn_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("place");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* name, const char* text, const char* place, const char* found) {
    QTest::newRow(name) << QByteArray(text) << QString(place) << QString(found);
  };
  row("a value", "{\n  \"model\": {\n    \"type\": \"WordLevel\"}}", "2:12: /model", "WordLevel");
  row("a deeper value", "{\"model\": {\"type\": \"BPE\",\n\"dropout\": 0.5}}", "2:12: /model/dropout", "0.5");
  row("a missing field is where it should be", "{\n\n \"model\": {\"type\": \"BPE\"}}", "3:11: /model/vocab",
      "nothing");
  row("the last of two with one name", "{\"model\": 1,\n\"model\": 2}", "2:10: /model", "2");
  row("an element", "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\n\"a\"]}}",
      "2:1: /model/merges/0", "a");
  row("a name with a slash and a tilde", "{\"model\": {\"type\": \"BPE\",\n \"vocab\": {\"a/b~\": true}}}",
      "2:20: /model/vocab/a~1b~0", "true");
  row("columns are characters", "{\"model\": {\"vocab\": {\"Ж日😀\": null}, \"type\": \"BPE\"}}",
      "1:29: /model/vocab/Ж日😀", "nothing");
  row("behind a byte order mark", "\xEF\xBB\xBF{\"model\": 1}", "1:11: /model", "1");
  row("a comma too many", "{\n\"model\": {},\n}", "2:12", "comma");
  row("no closing brace", "{\n\"model\": {", "2:11", "the end");
  row("a word", "{\"model\":\nnil}", "2:1", "nil");
  row("text after it", "{}\n{}", "2:1", "more text");
  row("empty", "", "1:1", "the end");
  row("no object", "\n[]", "1:1", "a JSON array");
  row("not UTF-8", "{\n\"mod\xFF\": 1}", "2:5", "UTF-8");
}

void TestBpeTokenizer::errorsHaveLineAndColumn() {
  QFETCH(QByteArray, text);
  QFETCH(QString, place);
  QFETCH(QString, found);
  const std::optional<Error> error = loadError(text.toStdString());
  QVERIFY(error.has_value());
  QVERIFY2(QString::fromStdString(error->file).endsWith("/tokenizer.json"), error->message().c_str());
  QCOMPARE(QString::fromStdString(error->place), place);
  QVERIFY2(QString::fromStdString(error->found).contains(found), error->message().c_str());
  QVERIFY(!error->expected.empty());
}

void TestBpeTokenizer::refusesDamagedFiles() {
  const std::string whole = description("qwen2").dump();
  QVERIFY(!loadError(whole).has_value());
  for (const std::string& text : {std::string(), std::string("{}"), std::string("[]"),
                                  std::string(100000, '['), std::string("{\"model\": \"\xFF\"}")}) {
    QVERIFY(loadError(text).has_value());
  }
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    if (round % 2 == 0) {
      damaged.resize(random() % whole.size());
      QVERIFY(loadError(damaged).has_value());
      continue;
    }
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() % 128);
    // Either of the two may happen, and nothing else.
    const std::optional<Error> error = loadError(damaged);
    if (error) QVERIFY(!error->found.empty() && !error->expected.empty());
  }
}

SPANSCOPE_TEST(tst_bpe_tokenizer, TestBpeTokenizer)
#include "tst_bpe_tokenizer.moc"
