// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/retrieve/chunker.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <memory>
#include <random>

using namespace spanscope;
using namespace spanscope::retrieve;

class TestChunker : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_tokenizer = text::loadTokenizer(text::test::bundledModel()); }
  void options_data();
  void options();
  void properties();
  void shortTextIsOneChunk();
  void endsWithASentence();
  void endsWithAWordWithoutSentences();
  void overlapBeginsWithASentence();
  void charactersStayWhole();

 private:
  std::vector<Chunk> chunks(const std::string& unit, std::int32_t tokens, std::int32_t overlap) const {
    return chunkUnit(unit, *m_tokenizer, {.tokens = tokens, .overlap = overlap});
  }

  std::unique_ptr<text::Tokenizer> m_tokenizer;
};

namespace {

std::string sentences(std::mt19937_64& random, int count) {
  static const std::vector<std::string> kSentences = {
      "Mira lives in Lisbon. ", "Tarek is a baker! ", "Where does Otto live? ",
      "The lamp gave little light.\n", "Nadia (a nurse) works at Initech, every day. "};
  std::string text;
  for (int i = 0; i < count; ++i) text += kSentences[random() % kSentences.size()];
  return text;
}

bool endsWell(const std::string& text) {
  const std::size_t last = text.find_last_not_of(" \n");
  return last != std::string::npos && std::string_view(".!?").find(text[last]) != std::string_view::npos;
}

}  // namespace

void TestChunker::options_data() {
  QTest::addColumn<int>("tokens");
  QTest::addColumn<int>("overlap");
  QTest::addColumn<bool>("isFine");
  QTest::newRow("default") << ChunkOptions{}.tokens << ChunkOptions{}.overlap << true;
  QTest::newRow("least") << 8 << 2 << true;
  QTest::newRow("too small") << 7 << 0 << false;
  QTest::newRow("negative") << -128 << 0 << false;
  QTest::newRow("too large") << kMaxChunkTokens + 1 << 0 << false;
  QTest::newRow("negative overlap") << 128 << -1 << false;
  QTest::newRow("a quarter") << 128 << 32 << true;
  QTest::newRow("more than a quarter") << 128 << 33 << false;
}

void TestChunker::options() {
  QFETCH(int, tokens);
  QFETCH(int, overlap);
  QFETCH(bool, isFine);
  QCOMPARE(!checkChunkOptions({.tokens = tokens, .overlap = overlap}).has_value(), isFine);
}

void TestChunker::properties() {
  std::mt19937_64 random(text::test::testSeed());
  for (int round = 0; round < 400; ++round) {
    const std::string unit = round % 2 == 0
                                 ? sentences(random, static_cast<int>(random() % 40))
                                 : text::test::randomText(random, static_cast<std::size_t>(random() % 120));
    const auto most = static_cast<std::int32_t>(8 + random() % 60);
    const auto overlap = static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(most / 4 + 1));
    const std::vector<TokenId> ids = m_tokenizer->encode(unit);
    const std::vector<Chunk> found = chunks(unit, most, overlap);
    QCOMPARE(chunks(unit, most, overlap), found);
    QCOMPARE(found.empty(), ids.empty());
    std::size_t covered = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Chunk& chunk = found[i];
      const bool isLast = i + 1 == found.size();
      QVERIFY(chunk.firstToken <= covered);
      if (i > 0) QVERIFY(covered - chunk.firstToken <= static_cast<std::size_t>(overlap));
      covered = chunk.firstToken + chunk.tokenCount;
      QVERIFY(chunk.tokenCount <= static_cast<std::size_t>(most));
      if (!isLast) QVERIFY(chunk.tokenCount * 2 >= static_cast<std::size_t>(most));
      if (i > 0) QVERIFY(chunk.tokenCount >= static_cast<std::size_t>(most) / 4);
      QVERIFY(isValidUtf8(chunk.text));
      const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(chunk.firstToken);
      QCOMPARE(chunk.text,
               m_tokenizer->decode({begin, begin + static_cast<std::ptrdiff_t>(chunk.tokenCount)}));
      if (i > 0) QVERIFY(chunk.firstToken > found[i - 1].firstToken);
    }
    QCOMPARE(covered, ids.size());
  }
}

void TestChunker::shortTextIsOneChunk() {
  const std::string unit = "Mira lives in Lisbon. Mira plays the cello.";
  const std::vector<Chunk> found = chunks(unit, 128, 16);
  QCOMPARE(found.size(), std::size_t{1});
  QCOMPARE(found[0].text, unit);
}

void TestChunker::endsWithASentence() {
  std::mt19937_64 random(text::test::testSeed());
  const std::vector<Chunk> found = chunks(sentences(random, 60), 40, 0);
  QVERIFY(found.size() > 5);
  for (const Chunk& chunk : found) QVERIFY2(endsWell(chunk.text), chunk.text.c_str());
}

void TestChunker::endsWithAWordWithoutSentences() {
  std::string unit;
  for (int i = 0; i < 200; ++i) unit += i % 2 == 0 ? " Grumblewick" : " Zanzibar";
  const std::vector<Chunk> found = chunks(unit, 40, 0);
  QVERIFY(found.size() > 5);
  for (const Chunk& chunk : found) {
    QVERIFY2(chunk.text.ends_with("wick") || chunk.text.ends_with("bar"), chunk.text.c_str());
  }
}

void TestChunker::overlapBeginsWithASentence() {
  std::string unit;
  for (int i = 0; i < 60; ++i) unit += "The lamp gave light. ";
  const std::vector<Chunk> found = chunks(unit, 64, 16);
  QVERIFY(found.size() > 3);
  for (std::size_t i = 1; i < found.size(); ++i) {
    QVERIFY(found[i].firstToken < found[i - 1].firstToken + found[i - 1].tokenCount);
    const std::size_t first = found[i].text.find_first_not_of(' ');
    QVERIFY2(found[i].text.substr(first).starts_with("The lamp"), found[i].text.c_str());
  }
}

void TestChunker::charactersStayWhole() {
  std::string unit;
  // The bundled vocabulary has no piece for it: it takes three tokens, one a byte.
  for (int i = 0; i < 100; ++i) unit += "\u65E5";
  QCOMPARE(m_tokenizer->encode(unit).size(), std::size_t{300});
  std::string joined;
  for (const Chunk& chunk : chunks(unit, 8, 0)) joined += chunk.text;
  QCOMPARE(joined, unit);
}

SPANSCOPE_TEST(tst_chunker, TestChunker, QCoreApplication)
#include "tst_chunker.moc"
