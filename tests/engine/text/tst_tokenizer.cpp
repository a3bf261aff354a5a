// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/sentencepiece_tokenizer.h"
#include "engine/text/tokenizer.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <sentencepiece_processor.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <stop_token>
#include <thread>

using namespace spanscope;
using namespace spanscope::text;
using namespace spanscope::text::test;
using spanscope::product_text::worded;

namespace {

/// What loading a directory fails with; nothing if it does not.
std::optional<Error> loadError(const std::filesystem::path& directory) {
  try {
    loadTokenizer(directory);
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

SentencePieceModel tinyModel() {
  using Type = SentencePiece::Type;
  SentencePieceModel model;
  model.algorithm = SentencePieceModel::Algorithm::Bpe;
  model.pieces = {{"<unk>", 0, Type::Unknown},
                  {"x", 0, Type::Control},
                  {"<m>", 0, Type::UserDefined},
                  {"\n\n", 0, Type::UserDefined}};
  float score = 0;
  for (const char* piece : {"\xE2\x96\x81", "a", "b", "x", "<", "m", ">", "\n", "ab", "<m", "<m>", "xx"}) {
    if (std::string_view(piece) == "x" || std::string_view(piece) == "<m>") continue;
    model.pieces.push_back({piece, score -= 1, Type::Normal});
  }
  return model;
}

/// Pieces of a few letters in any order, some of equal scores. If `isOdd`, not every letter is a piece, and
/// some pieces are not used: no trainer makes such models.
SentencePieceModel randomModel(std::mt19937_64& random, SentencePieceModel::Algorithm algorithm,
                               bool isOdd = true) {
  using Type = SentencePiece::Type;
  const std::vector<std::string> letters = {"a", "b", "c", "ü", "日", std::string(kSpaceMark)};
  SentencePieceModel model;
  model.algorithm = algorithm;
  model.byteFallback = random() % 2 == 0;
  model.pieces = {{"<unk>", 0, Type::Unknown}};
  if (model.byteFallback) {
    for (int byte = 0; byte < 256; ++byte)
      model.pieces.push_back(
          {QString::asprintf("<0x%02X>", static_cast<unsigned>(byte)).toStdString(), 0, Type::Byte});
  }
  std::set<std::string> spellings;
  for (const std::string& letter : letters) {
    if (random() % 5 != 0 || !isOdd) spellings.insert(letter);
  }
  const std::size_t most = 5 + random() % 40;
  for (std::size_t i = 0; i < most; ++i) {
    std::string spelling;
    for (std::size_t length = 2 + random() % 4; length > 0; --length)
      spelling += letters[random() % letters.size()];
    spellings.insert(spelling);
  }
  std::vector<std::string> shuffled(spellings.begin(), spellings.end());
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  for (const std::string& spelling : shuffled) {
    const Type type = random() % 12 == 0 && isOdd ? Type::Unused : Type::Normal;
    model.pieces.push_back({spelling, -static_cast<float>(random() % 60) / 7, type});
  }
  // White space alone may be user-defined: it is text.
  if (random() % 2 == 0) model.pieces.push_back({"\n\n", 0, Type::UserDefined});
  const std::string twoSpaces = std::string(kSpaceMark) + std::string(kSpaceMark);
  if (random() % 2 == 0 && !spellings.contains(twoSpaces))
    model.pieces.push_back({twoSpaces, 0, Type::UserDefined});
  model.addDummyPrefix = random() % 2 == 0;
  return model;
}

std::string textOfLetters(std::mt19937_64& random, std::size_t characters) {
  const char* const letters[] = {"a", "b", "c", "ü", "日", " ", "a", "b", "x", "\n"};
  std::string text;
  for (; characters > 0; --characters) text += letters[random() % std::size(letters)];
  return text;
}

/// Pieces of "ininin…" with scores. None of them ends where another begins.
SentencePieceModel unigramModel() {
  using Type = SentencePiece::Type;
  SentencePieceModel model = tinyModel();
  model.algorithm = SentencePieceModel::Algorithm::Unigram;
  for (const char* piece : {"i", "n", "in", "ni", "ini", "nin"})
    model.pieces.push_back({piece, -static_cast<float>(model.pieces.size()), Type::Normal});
  return model;
}

std::unique_ptr<Tokenizer> load(const SentencePieceModel& model, const QTemporaryDir& folder) {
  const std::filesystem::path directory = folder.path().toStdString();
  writeFile(directory / "tokenizer.model", serializeSentencePieceModel(model));
  return loadTokenizer(directory);
}

}  // namespace

class TestTokenizer : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bundledVocabulary();
  void textNeverYieldsMarkers_data();
  void textNeverYieldsMarkers();
  void randomTextComesBack();
  void invalidUtf8IsReplaced();
  void plainTextAsTheLibraryEncodesIt();
  void longTextAsTheLibraryEncodesIt_data();
  void longTextAsTheLibraryEncodesIt();
  void manyTextsAsTheLibraryEncodesThem_data();
  void manyTextsAsTheLibraryEncodesThem();
  void refusesTooMuchWithoutACut();
  void shortTextsAsTheLibraryEncodesThem_data();
  void shortTextsAsTheLibraryEncodesThem();
  void longTextOfAnyModelAsTheLibraryEncodesIt_data();
  void longTextOfAnyModelAsTheLibraryEncodesIt();
  void stopEndsEncoding_data();
  void stopEndsEncoding();
  void timeGrowsAsTheText_data();
  void timeGrowsAsTheText();
  void encodesNoMoreThanIsWanted();
  void streamHoldsBackIncompleteCharacters();
  void streamOfRandomIdsEqualsDecode();
  void idsOutsideTheVocabulary();
  void markersOfAnyModel();
  void unknownCharactersWithoutByteFallback();
  void llamaVectors();
  void refusesWhatIsNoTokenizer_data();
  void refusesWhatIsNoTokenizer();
  void refusesDamagedModels();
  void refusesScoresOfNothing();
  void refusesModelsThatChangeText_data();
  void refusesModelsThatChangeText();

 private:
  QTemporaryDir m_folder;
};

void TestTokenizer::bundledVocabulary() {
  const auto tokenizer = loadTokenizer(bundledModel());
  QCOMPARE(tokenizer->vocabularySize(), 2048);
  QCOMPARE(tokenizer->controlId("<|system|>"), 4);
  QCOMPARE(tokenizer->controlId("<|user|>"), 5);
  QCOMPARE(tokenizer->controlId("<|assistant|>"), 6);
  QCOMPARE(tokenizer->controlId("<|end|>"), 7);
  QCOMPARE(tokenizer->controlId("<|nobody|>"), -1);
  QCOMPARE(tokenizer->controlId("a"), -1);
  QVERIFY(tokenizer->isControl(7));
  QVERIFY(tokenizer->bytes(7).empty());
  QCOMPARE(tokenizer->display(7), std::string("<|end|>"));
  // Id 8 is the first byte piece.
  QVERIFY(!tokenizer->isControl(8 + 0xE2));
  QCOMPARE(tokenizer->bytes(8 + 0xE2), std::string("\xE2"));
  QCOMPARE(tokenizer->display(8 + 0xE2), std::string("<0xE2>"));
  const std::vector<TokenId> ids = tokenizer->encode(" Mira");
  QCOMPARE(tokenizer->bytes(ids.front()).front(), ' ');
  QVERIFY(tokenizer->encode("").empty());
}

void TestTokenizer::textNeverYieldsMarkers_data() {
  QTest::addColumn<QByteArray>("text");
  for (const char* text :
       {"<|user|>", "<|system|> You", "a<|assistant|>b", "<|end|><|end|>", "<s>", "</s>", "<pad>", "<unk>",
        "<0x41>", "\xE2\x96\x81<|user|>\xE2\x96\x81", "<<|user|>|user|>", "\xE2\x96\x81", " \xE2\x96\x81 "}) {
    QTest::newRow(text) << QByteArray(text);
  }
  QTest::newRow("a zero byte") << QByteArray("a\0<|end|>", 9);
}

void TestTokenizer::textNeverYieldsMarkers() {
  QFETCH(QByteArray, text);
  const auto tokenizer = loadTokenizer(bundledModel());
  const std::vector<TokenId> ids = tokenizer->encode(text.toStdString());
  for (const TokenId id : ids) QVERIFY2(!tokenizer->isControl(id), tokenizer->display(id).c_str());
  // A space mark is a space to sentencepiece.
  QCOMPARE(tokenizer->decode(ids), withoutSpaceMarks(text.toStdString()));
}

void TestTokenizer::randomTextComesBack() {
  const auto tokenizer = loadTokenizer(bundledModel());
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 3000; ++round) {
    const std::string text = randomText(random, random() % 12);
    const std::vector<TokenId> ids = tokenizer->encode(text);
    QVERIFY(std::none_of(ids.begin(), ids.end(), [&](TokenId id) { return tokenizer->isControl(id); }));
    QCOMPARE(tokenizer->decode(ids), withoutSpaceMarks(text));
  }
}

void TestTokenizer::invalidUtf8IsReplaced() {
  const auto tokenizer = loadTokenizer(bundledModel());
  QCOMPARE(tokenizer->encode("a\xFFz"), tokenizer->encode("a\xEF\xBF\xBDz"));
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 12, '\0');
    for (char& byte : bytes) byte = static_cast<char>(static_cast<unsigned char>(0x70 + random() % 0x90));
    QCOMPARE(tokenizer->decode(tokenizer->encode(bytes)), toValidUtf8(bytes));
  }
}

void TestTokenizer::plainTextAsTheLibraryEncodesIt() {
  const auto tokenizer = loadTokenizer(bundledModel());
  sentencepiece::SentencePieceProcessor library;
  QVERIFY(library.Load((bundledModel() / "tokenizer.model").string()).ok());
  for (const char* text :
       {"Mira lives in Lisbon.", " Where does Mira live?", "[\"Tom\", \"Shadow\"]", "a\n\nb  c", "日本 😀",
        "You are a helpful assistant. Answer from the documents.", "< | user | >", "a \u2581b\u2581"}) {
    QCOMPARE(tokenizer->encode(text), library.EncodeAsIds(text));
  }
}

void TestTokenizer::longTextAsTheLibraryEncodesIt_data() {
  QTest::addColumn<QString>("model");
  QTest::addColumn<bool>("prefix");  ///< the library puts a space before a text
  QTest::newRow("spanlet") << QString::fromStdString((bundledModel() / "tokenizer.model").string()) << false;
  const std::filesystem::path llama = goldenTokenizers() / "llama2-tokenizer.model";
  if (std::filesystem::exists(llama))
    QTest::newRow("llama") << QString::fromStdString(llama.string()) << true;
}

/// It is cut where no piece can lie across.
void TestTokenizer::longTextAsTheLibraryEncodesIt() {
  QFETCH(QString, model);
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  std::filesystem::copy_file(model.toStdString(), directory / "tokenizer.model");
  const auto tokenizer = loadTokenizer(directory);
  sentencepiece::SentencePieceProcessor library;
  QVERIFY(library.Load(model.toStdString()).ok());
  std::mt19937_64 random(testSeed());
  const auto repeated = [](std::string_view text, std::size_t bytes) {
    std::string result;
    while (result.size() < bytes) result += text;
    return result;
  };
  std::vector<std::string> texts = {repeated("the rest is in the ", 100'000), repeated("ining", 80'000),
                                    repeated(" ", 70'000) + "x", repeated("日本語の文字", 70'000),
                                    "a" + repeated("=", 70'000) + repeated("12 ", 9000)};
  std::string mixed;
  // Markers and the mark of a space are spelled in bytes, which the library does not do. Without them, the
  // neighbouring text could be another one.
  while (mixed.size() < 60'000) mixed += randomText(random, 8);
  for (const char* taken : {"<|user|>", "<|system|>", "<|assistant|>", "<|end|>", "<s>", "</s>", "<unk>",
                            "<pad>", "\xE2\x96\x81"}) {
    for (std::size_t at = mixed.find(taken); at != std::string::npos; at = mixed.find(taken, at))
      mixed.replace(at, std::string_view(taken).size(), "x");
  }
  texts.push_back(mixed);
  std::string letters;
  std::uniform_int_distribution<int> letter(0, 4);
  while (letters.size() < 90'000) letters += "ering"[letter(random)];
  texts.push_back(letters);
  for (const std::string& text : texts) {
    const std::vector<TokenId> ids = tokenizer->encode(text);
    QVERIFY2(ids == library.EncodeAsIds(text), text.substr(0, 20).c_str());
    QCOMPARE(tokenizer->count(text), ids.size());
  }
}

void TestTokenizer::manyTextsAsTheLibraryEncodesThem_data() {
  longTextAsTheLibraryEncodesIt_data();
}

/// With real models, texts of every kind of character.
void TestTokenizer::manyTextsAsTheLibraryEncodesThem() {
  QFETCH(QString, model);
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  std::filesystem::copy_file(model.toStdString(), directory / "tokenizer.model");
  const auto tokenizer = loadTokenizer(directory);
  sentencepiece::SentencePieceProcessor library;
  QVERIFY(library.Load(model.toStdString()).ok());
  const std::string prose =
      readFile(std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources/manual/window.md");
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    if (round % 2 == 0) {
      for (std::size_t i = random() % 30; i > 0; --i) {
        const std::size_t range = random() % 4 == 0 ? 0x11000 : 0x3100;
        const auto c = static_cast<char32_t>(random() % range);
        // Markers have no such letters.
        appendUtf8(text, (c >= 0xD800 && c < 0xE000) || c == '<' ? U'x' : random() % 20 == 0 ? U'\u2581' : c);
      }
    } else {
      text = toValidUtf8(std::string_view(prose).substr(random() % prose.size(), random() % 200));
      std::replace(text.begin(), text.end(), '<', '(');
    }
    if (text.find('\0') != std::string::npos) continue;
    QVERIFY2(tokenizer->encode(text) == library.EncodeAsIds(text), text.c_str());
  }
}

/// A text that has no cut takes the library more memory than it may.
void TestTokenizer::refusesTooMuchWithoutACut() {
  const auto tokenizer = loadTokenizer(bundledModel());
  std::string text;
  while (text.size() < (std::size_t{5} << 20U)) text += "ining";
  try {
    tokenizer->count(text);
    QFAIL("it was encoded");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().place, std::string("text"));
    QCOMPARE(failure.error().file, (bundledModel() / "tokenizer.model").string());
  }
}

void TestTokenizer::shortTextsAsTheLibraryEncodesThem_data() {
  QTest::addColumn<bool>("isUnigram");
  QTest::addColumn<bool>("isOdd");
  QTest::newRow("scores") << true << true;
  QTest::newRow("merges") << false << false;
  QTest::newRow("merges of odd models") << false << true;
}

/// A hundred thousand texts in all.
void TestTokenizer::shortTextsAsTheLibraryEncodesThem() {
  QFETCH(bool, isUnigram);
  QFETCH(bool, isOdd);
  const auto algorithm =
      isUnigram ? SentencePieceModel::Algorithm::Unigram : SentencePieceModel::Algorithm::Bpe;
  std::mt19937_64 random(testSeed());
  const QTemporaryDir folder;
  for (int round = 0; round < 350; ++round) {
    const SentencePieceModel model = randomModel(random, algorithm, isOdd);
    const auto tokenizer = load(model, folder);
    sentencepiece::SentencePieceProcessor library;
    QVERIFY(library.LoadFromSerializedProto(serializeSentencePieceModel(model)).ok());
    for (int i = 0; i < 100; ++i) {
      const std::string text = textOfLetters(random, i == 0 ? 3000 : random() % 60);
      QVERIFY2(tokenizer->encode(text) == library.EncodeAsIds(text), text.c_str());
    }
  }
}

void TestTokenizer::longTextOfAnyModelAsTheLibraryEncodesIt_data() {
  QTest::addColumn<bool>("isUnigram");
  QTest::addColumn<bool>("isOdd");
  QTest::newRow("scores") << true << true;
  QTest::newRow("merges") << false << false;
  QTest::newRow("merges of odd models") << false << true;
}

void TestTokenizer::longTextOfAnyModelAsTheLibraryEncodesIt() {
  QFETCH(bool, isUnigram);
  QFETCH(bool, isOdd);
  std::mt19937_64 random(testSeed());
  const QTemporaryDir folder;
  for (int round = 0; round < 8; ++round) {
    const SentencePieceModel model = randomModel(
        random, isUnigram ? SentencePieceModel::Algorithm::Unigram : SentencePieceModel::Algorithm::Bpe,
        isOdd);
    const auto tokenizer = load(model, folder);
    sentencepiece::SentencePieceProcessor library;
    QVERIFY(library.LoadFromSerializedProto(serializeSentencePieceModel(model)).ok());
    const std::string text = textOfLetters(random, 70'000);
    const std::vector<TokenId> ids = tokenizer->encode(text);
    QVERIFY(ids == library.EncodeAsIds(text));
    QCOMPARE(tokenizer->count(text), ids.size());
  }
}

void TestTokenizer::stopEndsEncoding_data() {
  QTest::addColumn<QString>("folder");
  QTest::addColumn<QByteArray>("part");
  const QString spanlet = QString::fromStdString(bundledModel().string());
  const auto described = [](const char* name) {
    return QString::fromStdString(
        (std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "tokenizers" / name).string());
  };
  QTest::newRow("sentencepiece") << spanlet << QByteArray("The lamp gave little light. ");
  QTest::newRow("sentencepiece, no place for a cut") << spanlet << QByteArray("ining");
  const auto made = [this](const char* name, const SentencePieceModel& model) {
    const std::filesystem::path directory = std::filesystem::path(m_folder.path().toStdString()) / name;
    std::filesystem::create_directories(directory);
    writeFile(directory / "tokenizer.model", serializeSentencePieceModel(model));
    return QString::fromStdString(directory.string());
  };
  QTest::newRow("scores") << made("scores", unigramModel()) << QByteArray("ab\nax ");
  QTest::newRow("scores, all pieces overlap") << made("scores", unigramModel()) << QByteArray("in");
  SentencePieceModel unused = tinyModel();
  unused.pieces.back().type = SentencePiece::Type::Unused;
  QTest::newRow("merges into what is not used") << made("unused", unused) << QByteArray("ab xx");
  QTest::newRow("words") << described("llama3") << QByteArray("The lamp gave little light. ");
  QTest::newRow("one word") << described("gpt2") << QByteArray("ining");
  QTest::newRow("a text as one word") << described("sentencepiece") << QByteArray("The lamp gave light. ");
  QTest::newRow("normal forms") << described("possessive") << QByteArray("e\xCC\x81\xCC\xA7 \xE6\x97\xA5");
  QTest::newRow("white space") << described("llama3") << QByteArray(" \n");
  QTest::newRow("expression") << described("splits") << QByteArray("The lamp gave 12 lights. ");
}

void TestTokenizer::stopEndsEncoding() {
  QFETCH(QString, folder);
  QFETCH(QByteArray, part);
  const auto tokenizer = loadTokenizer(folder.toStdString());
  // The tokenizer refuses more than 4 MiB without a place for a cut.
  const std::string text = part.repeated(3'000'000 / part.size()).toStdString();
  // Early, and after most of it.
  for (const int milliseconds : {0, 1, 30, 200}) {
    std::stop_source stop;
    std::chrono::steady_clock::time_point asked;
    std::jthread person([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      asked = std::chrono::steady_clock::now();
      stop.request_stop();
    });
    try {
      tokenizer->encode(text, {.stop = stop.get_token()});
      // A fast machine may have been done before it was asked.
      const auto done = std::chrono::steady_clock::now();
      person.join();
      QVERIFY2(done < asked + std::chrono::milliseconds(100), "it was encoded");
    } catch (const Failure& failure) {
      QVERIFY2(failure.error().found.find("stop") != std::string::npos, failure.what());
    }
    const std::chrono::duration<double, std::milli> waited = std::chrono::steady_clock::now() - asked;
    qInfo("stopped %d ms after the beginning, answered within %.1f ms", milliseconds, waited.count());
    // A few milliseconds on an idle machine; a busy one takes its time.
    QVERIFY(waited.count() < 1000);
  }
}

void TestTokenizer::timeGrowsAsTheText_data() {
  QTest::addColumn<QString>("folder");
  QTest::addColumn<QString>("kind");
  const std::filesystem::path unigram = std::filesystem::path(m_folder.path().toStdString()) / "unigram";
  std::filesystem::create_directories(unigram);
  SentencePieceModel model =
      parseSentencePieceModel(readFile(bundledModel() / "tokenizer.model"), "tokenizer.model");
  model.algorithm = SentencePieceModel::Algorithm::Unigram;
  for (std::size_t i = 0; i < model.pieces.size(); ++i)
    model.pieces[i].score = -static_cast<float>(i) / static_cast<float>(model.pieces.size());
  writeFile(unigram / "tokenizer.model", serializeSentencePieceModel(model));
  std::vector<std::filesystem::path> folders = {bundledModel(), unigram};
  for (const char* name :
       {"gpt2", "llama3", "cased", "possessive", "splits", "sentencepiece", "metaspace_first"})
    folders.push_back(std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "tokenizers" / name);
  for (const std::filesystem::path& folder : folders) {
    for (const char* kind :
         {"one letter", "letters", "spaces", "digits", "bytes", "emoji", "ideographs", "marks", "words"})
      QTest::addRow("%s, %s", folder.filename().c_str(), kind)
          << QString::fromStdString(folder.string()) << kind;
  }
}

/// Texts that are one word to some tokenizer. A tokenizer may look at the whole text for each of its
/// characters.
void TestTokenizer::timeGrowsAsTheText() {
  QFETCH(QString, folder);
  QFETCH(QString, kind);
  const auto tokenizer = loadTokenizer(folder.toStdString());
  constexpr std::size_t kBytes = 15'000;
  constexpr std::size_t kTimes = 16;
  std::mt19937_64 random(testSeed());
  std::string text;
  while (text.size() < kBytes * kTimes) {
    if (kind == "one letter") text += 'a';
    if (kind == "letters") text += static_cast<char>('a' + random() % 26);
    if (kind == "spaces") text += ' ';
    if (kind == "digits") text += static_cast<char>('0' + random() % 10);
    if (kind == "bytes") text += static_cast<char>(static_cast<unsigned char>(random() % 256));
    if (kind == "emoji") appendUtf8(text, static_cast<char32_t>(0x1F300 + random() % 0x300));
    if (kind == "ideographs") appendUtf8(text, static_cast<char32_t>(0x4E00 + random() % 3000));
    if (kind == "marks") text += "\xCC\x81\xCC\xA3";
    if (kind == "words") text += "the rest is in the ";
  }
  // The quickest of some rounds: others are disturbed.
  const auto best = [&](std::string_view part) {
    std::clock_t least = std::numeric_limits<std::clock_t>::max();
    for (int round = 0; round < 3; ++round) {
      const std::clock_t begin = std::clock();
      tokenizer->count(part);
      least = std::min(least, std::clock() - begin);
    }
    return static_cast<double>(std::max<std::clock_t>(1, least));
  };
  const double factor = best(text) / best(std::string_view(text).substr(0, kBytes));
  // A little more than the length has, for memory that is farther away; the square would be 256.
  QVERIFY2(factor < 4 * kTimes, qPrintable(QString::number(factor)));
}

void TestTokenizer::encodesNoMoreThanIsWanted() {
  for (const std::filesystem::path& folder :
       {bundledModel(), std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / "tokenizers" / "llama3"}) {
    const auto tokenizer = loadTokenizer(folder);
    std::string text;
    while (text.size() < 1'000'000) text += "The lamp gave little light. ";
    const std::vector<TokenId> all = tokenizer->encode(text);
    for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{20'000}, all.size() - 1}) {
      const std::vector<TokenId> some = tokenizer->encode(text, {.mostTokens = most});
      QVERIFY(some.size() > most && some.size() <= most + 10'000);
      QVERIFY(std::equal(some.begin(), some.end(), all.begin()));
      QCOMPARE(tokenizer->count(text, {.mostTokens = most}), some.size());
    }
    QVERIFY(tokenizer->encode(text, {.mostTokens = all.size()}) == all);
    QCOMPARE(tokenizer->count(text), all.size());
  }
}

void TestTokenizer::streamHoldsBackIncompleteCharacters() {
  const auto tokenizer = loadTokenizer(bundledModel());
  const auto byte = [](int value) { return static_cast<TokenId>(8 + value); };
  StreamDecoder decoder(*tokenizer);
  QCOMPARE(decoder.push(byte(0xF0)), std::string());
  QCOMPARE(decoder.push(byte(0x9F)), std::string());
  QCOMPARE(decoder.push(byte(0x98)), std::string());
  QCOMPARE(decoder.push(byte(0x80)), std::string("😀"));
  QCOMPARE(decoder.push(byte(0xE2)), std::string());
  QCOMPARE(decoder.push(byte('a')), std::string("\xEF\xBF\xBD"
                                                "a"));
  QCOMPARE(decoder.push(7), std::string());
  QCOMPARE(decoder.push(byte(0xC3)), std::string());
  QCOMPARE(decoder.finish(), std::string("\xEF\xBF\xBD"));
  QCOMPARE(decoder.finish(), std::string());
}

void TestTokenizer::streamOfRandomIdsEqualsDecode() {
  const auto tokenizer = loadTokenizer(bundledModel());
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 500; ++round) {
    std::vector<TokenId> ids(random() % 40);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % (random() % 2 == 0 ? 264 : 2048));
    StreamDecoder decoder(*tokenizer);
    std::string streamed;
    for (const TokenId id : ids) {
      const std::string part = decoder.push(id);
      QVERIFY(isValidUtf8(part));
      streamed += part;
    }
    streamed += decoder.finish();
    QCOMPARE(streamed, tokenizer->decode(ids));
  }
}

void TestTokenizer::idsOutsideTheVocabulary() {
  const auto tokenizer = loadTokenizer(bundledModel());
  for (const TokenId id : {-1, 2048, 1 << 30}) {
    QVERIFY(tokenizer->bytes(id).empty());
    QVERIFY(!tokenizer->isControl(id));
    QCOMPARE(tokenizer->display(id), "<id " + std::to_string(id) + ">");
  }
}

void TestTokenizer::markersOfAnyModel() {
  const QTemporaryDir folder;
  for (const auto algorithm : {SentencePieceModel::Algorithm::Bpe, SentencePieceModel::Algorithm::Unigram}) {
    SentencePieceModel model = tinyModel();
    model.algorithm = algorithm;
    const auto tokenizer = load(model, folder);
    // A control piece of one character, a user-defined marker, and user-defined white space, which is text.
    QCOMPARE(tokenizer->controlId("x"), 1);
    QCOMPARE(tokenizer->controlId("<m>"), 2);
    QCOMPARE(tokenizer->controlId("\n\n"), -1);
    for (const char* text : {"x", "axb", "<m>", "a<m>b", "xx<m>x",
                             "\xFF"
                             "1"}) {
      for (const TokenId id : tokenizer->encode(text)) QVERIFY2(!tokenizer->isControl(id), text);
    }
    QCOMPARE(tokenizer->encode("a\n\nb").size(), std::size_t{3});
    QCOMPARE(tokenizer->encode("a\n\nb")[1], 3);
    QCOMPARE(tokenizer->decode(tokenizer->encode("ab <m>\n\n")), std::string("ab <m>\n\n"));
  }
}

void TestTokenizer::unknownCharactersWithoutByteFallback() {
  const QTemporaryDir folder;
  const auto tokenizer = load(tinyModel(), folder);
  const std::vector<TokenId> ids = tokenizer->encode("aщb");
  QCOMPARE(tokenizer->decode(ids), std::string("a\xEF\xBF\xBD"
                                               "b"));
}

void TestTokenizer::llamaVectors() {
  const std::filesystem::path golden = goldenTokenizers();
  if (!std::filesystem::exists(golden / "llama2-tokenizer.model")) {
    QSKIP("no golden/tokenizers: set SPANSCOPE_GOLDEN_DIR");
  }
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  writeFile(directory / "tokenizer.model", readFile(golden / "llama2-tokenizer.model"));
  const auto tokenizer = loadTokenizer(directory);
  const std::string separator = "\n__ggml_vocab_test__\n";
  const std::string texts = readFile(golden / "ggml-vocab-llama-spm.gguf.inp");
  std::istringstream expected(readFile(golden / "ggml-vocab-llama-spm.gguf.out"));
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
    // The model declares a dummy prefix: a space that comes back.
    if (!text.empty()) QCOMPARE(tokenizer->decode(ids), " " + text);
    begin = end + separator.size();
    ++count;
  }
  QCOMPARE(count, 46);
}

void TestTokenizer::refusesWhatIsNoTokenizer_data() {
  QTest::addColumn<QByteArray>("bytes");
  QTest::newRow("empty") << QByteArray();
  QTest::newRow("text") << QByteArray("this is not a tokenizer, it is a text");
  QTest::newRow("JSON") << QByteArray("{\"model\": {\"type\": \"BPE\"}}");
  QTest::newRow("zeros") << QByteArray(1000, '\0');
  QTest::newRow("ones") << QByteArray(1000, '\xFF');
  QTest::newRow("length beyond the end") << QByteArray::fromHex("0aff7f");
  QTest::newRow("length of 64 bits") << QByteArray::fromHex("0affffffffffffffffff01");
  QTest::newRow("number of 70 bits") << QByteArray::fromHex("08ffffffffffffffffffff01");
  QTest::newRow("no pieces") << QByteArray::fromHex("12021802");
  QTest::newRow("empty piece") << QByteArray::fromHex("0a00");
}

void TestTokenizer::refusesWhatIsNoTokenizer() {
  QFETCH(QByteArray, bytes);
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  writeFile(directory / "tokenizer.model", bytes.toStdString());
  const std::optional<Error> error = loadError(directory);
  QVERIFY(error.has_value());
  QCOMPARE(error->file, (directory / "tokenizer.model").string());
  QVERIFY(!error->found.empty());
  QVERIFY(!error->expected.empty());
}

void TestTokenizer::refusesDamagedModels() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  const std::filesystem::path path = directory / "tokenizer.model";
  QVERIFY(loadError(directory / "nowhere").has_value());
  QCOMPARE(loadError(directory)->found, worded(std::string("<no-tokenizer>")));
  std::filesystem::create_directory(path);
  QVERIFY(loadError(directory).has_value());
  std::filesystem::remove(path);
  {
    writeFile(path, "");
    std::filesystem::resize_file(path, std::uintmax_t{3} << 30U);
    const std::optional<Error> error = loadError(directory);
    QVERIFY(error.has_value());
    QVERIFY(QString::fromStdString(error->found).contains("3221225472 bytes"));
  }

  // Cut anywhere, or with bytes changed, a model is refused with its path or loads; nothing else may happen.
  const std::string whole = serializeSentencePieceModel(
      parseSentencePieceModel(readFile(bundledModel() / "tokenizer.model"), "tokenizer.model"));
  std::mt19937_64 random(testSeed());
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    const bool cut = round % 2 == 0;
    if (cut) {
      damaged.resize(random() % whole.size());
    } else {
      for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    }
    writeFile(path, damaged);
    const std::optional<Error> error = loadError(directory);
    if (cut) QVERIFY(error.has_value());
    if (error) QCOMPARE(error->file, path.string());
  }
}

/// As the library does.
void TestTokenizer::refusesScoresOfNothing() {
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  SentencePieceModel model;
  model.pieces = {{"<unk>", 0, SentencePiece::Type::Unknown}, {"<s>", 0, SentencePiece::Type::Control}};
  writeFile(directory / "tokenizer.model", serializeSentencePieceModel(model));
  sentencepiece::SentencePieceProcessor library;
  QVERIFY(!library.LoadFromSerializedProto(serializeSentencePieceModel(model)).ok());
  const std::optional<Error> error = loadError(directory);
  QVERIFY(error.has_value());
  QCOMPARE(error->file, (directory / "tokenizer.model").string());
  model.algorithm = SentencePieceModel::Algorithm::Bpe;
  writeFile(directory / "tokenizer.model", serializeSentencePieceModel(model));
  QVERIFY(library.LoadFromSerializedProto(serializeSentencePieceModel(model)).ok());
  QVERIFY(!loadError(directory).has_value());
}

void TestTokenizer::refusesModelsThatChangeText_data() {
  // The fields of the normalizer (message 3) and the trainer (message 2) that follow the tiny model's own.
  QTest::addColumn<QByteArray>("suffix");
  QTest::addColumn<QString>("expected");
  QTest::newRow("removes white space") << QByteArray::fromHex("1a022001") << "keeps white space";
  QTest::newRow("spaces not escaped") << QByteArray::fromHex("1a022800") << "keeps white space";
  QTest::newRow("character map") << QByteArray::fromHex("1a03120141") << "identity";
  QTest::newRow("space as suffix") << QByteArray::fromHex("1203c00101") << "before the word";
  QTest::newRow("word model") << QByteArray::fromHex("12021803") << "BPE";
}

void TestTokenizer::refusesModelsThatChangeText() {
  QFETCH(QByteArray, suffix);
  QFETCH(QString, expected);
  const QTemporaryDir folder;
  const std::filesystem::path directory = folder.path().toStdString();
  const std::string plain = serializeSentencePieceModel(tinyModel());
  writeFile(directory / "tokenizer.model", plain);
  QVERIFY(!loadError(directory).has_value());
  writeFile(directory / "tokenizer.model", plain + suffix.toStdString());
  const std::optional<Error> error = loadError(directory);
  QVERIFY(error.has_value());
  QVERIFY2(QString::fromStdString(error->expected).contains(expected), error->message().c_str());
}

SPANSCOPE_TEST(tst_tokenizer, TestTokenizer)
#include "tst_tokenizer.moc"
