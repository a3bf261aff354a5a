// SPDX-License-Identifier: GPL-3.0-or-later
// A question over some documents has one answer: what else an index holds or held, and when it came in, does
// not count. SPANSCOPE_TRIALS sets how many random indexes are grown.
#include "engine/retrieve/passage_index.h"
#include "engine/retrieve/ranking.h"
#include "tests/engine/retrieve/generated_documents.h"
#include "tests/engine/retrieve/stand_ins.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::retrieve;
using spanscope::retrieve::test::FirstWords;
using spanscope::retrieve::test::WordEmbedder;
using spanscope::text::test::testSeed;

class TestSameAnswers : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_tokenizer = text::loadTokenizer(text::test::bundledModel()); }
  void scoresOfAFreshIndexAreThoseOfSqlite();
  void wordsOfOthersDoNotCount();
  void equalOnesStandInTheOrderOfTheDocuments();
  void anyIndexAnswersLikeAFreshOne_data();
  void anyIndexAnswersLikeAFreshOne();

 private:
  std::vector<DocumentKey> addWithAll(PassageIndex& index, const std::vector<SourceDocument>& documents,
                                      bool summaries = false) {
    FirstWords summarizer;
    WordEmbedder words;
    IndexOptions options;
    if (summaries) options.summarizer = &summarizer;
    std::vector<DocumentKey> keys = index.add(documents, *m_tokenizer, options).keys;
    if (!index.embed(keys, words)) keys.clear();
    return keys;
  }

  std::unique_ptr<text::Tokenizer> m_tokenizer;
};

namespace {

using Random = std::mt19937_64;

const std::vector<std::string> kQuestions = {
    "Where does Mira live?",
    "the baker",
    "Tarek is baking, bakes and baked; Tarek",
    "drums \u2014 cello\u2014Porto the of in",
    "Summary of the lamp",
    "nobody",
};

std::size_t below(Random& random, std::size_t end) {
  return random() % end;
}

/// Of few words, so that many passages are alike and many are equal.
std::string randomSentence(Random& random) {
  static const std::vector<std::string> kSentences = {
      "Mira lives in Lisbon.", "Tarek is a baker.",         "Otto drums in Porto.",
      "The baker lives.",      "The cello of Mira. Drums.", "The lamp gave little light."};
  static const std::vector<std::string> kWords = {"Mira",  "Tarek", "the",  "baker", "lives",
                                                  "drums", "Porto", "lamp", "in",    "cello"};
  if (below(random, 3) > 0) return kSentences[below(random, kSentences.size())];
  std::string sentence;
  for (std::size_t words = 1 + below(random, 12); words > 0; --words)
    sentence += kWords[below(random, kWords.size())] + (words > 1 ? " " : ".");
  return sentence;
}

SourceDocument randomDocument(Random& random) {
  static const std::vector<std::string> kNames = {"a.csv", "b.txt", "c.md"};
  SourceDocument document{.name = kNames[below(random, kNames.size())], .bytes = {}};
  for (std::size_t lines = 1 + below(random, 8); lines > 0; --lines) {
    if (document.name == "c.md" && below(random, 3) == 0) document.bytes += "# ";
    document.bytes += randomSentence(random) + "\n";
  }
  return document;
}

std::vector<SourceDocument> randomDocuments(Random& random, std::size_t most) {
  std::vector<SourceDocument> documents(1 + below(random, most));
  for (SourceDocument& document : documents) document = randomDocument(random);
  // The same again, as two files that are equal.
  if (below(random, 3) == 0) documents.push_back(documents.front());
  return documents;
}

std::string shown(const Passage& passage) {
  return passage.document + "#" + std::to_string(passage.number) + " level " + std::to_string(passage.level) +
         " " + passage.place + " " + passage.hash + ": " + passage.text;
}

/// Everything that an index says of a question, with numbers to the last bit.
QStringList answersOf(const PassageIndex& index, const std::vector<DocumentKey>& keys) {
  WordEmbedder words;
  const auto number = [](double value) { return QLatin1Char(' ') + QString::number(value, 'g', 17); };
  QStringList lines;
  for (const std::string& question : kQuestions) {
    for (const Ranking ranking : {Ranking::Lexical, Ranking::Embedding, Ranking::Hybrid}) {
      for (const std::size_t depth : {std::size_t{2}, std::size_t{1000}}) {
        lines << QString::fromStdString(question) + QLatin1String(rankingName(ranking));
        for (const RankedPassage& ranked : rankPassages(index, question, depth, ranking, keys, &words)) {
          QString line = QString::fromStdString(shown(ranked.passage)) + number(ranked.passage.score);
          for (const auto& placing : {ranked.lexical, ranked.embedding})
            if (placing) line += QStringLiteral(" %1").arg(placing->rank) + number(placing->score);
          lines << line;
          const auto first = index.withHash(ranked.passage.hash, keys);
          lines << (first ? QString::fromStdString(shown(*first)) : QString());
        }
      }
    }
  }
  return lines;
}

/// Where two lists differ first; empty if they do not.
QString differenceOf(const QStringList& found, const QStringList& expected) {
  for (qsizetype i = 0; i < std::max(found.size(), expected.size()); ++i) {
    const QString one = i < found.size() ? found[i] : QStringLiteral("nothing");
    const QString other = i < expected.size() ? expected[i] : QStringLiteral("nothing");
    if (one != other) return QStringLiteral("line %1: %2\nfresh: %3").arg(i).arg(one, other);
  }
  return {};
}

std::vector<std::string> textsOf(const std::vector<Passage>& passages) {
  std::vector<std::string> texts;
  std::transform(passages.begin(), passages.end(), std::back_inserter(texts),
                 [](const Passage& passage) { return passage.text; });
  return texts;
}

/// By SQLite's own bm25, the score of each text of an index's file that a question finds.
std::multimap<double, std::string, std::greater<>> scoresBySqlite(const std::string& file,
                                                                  const std::string& question) {
  std::multimap<double, std::string, std::greater<>> scores;
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  const std::string expression = matchAnyWord(question, kMaxQuestionWords);
  if (sqlite3_open(file.c_str(), &database) == SQLITE_OK &&
      sqlite3_prepare_v2(database, "SELECT -bm25(words), text FROM words WHERE words MATCH ?1", -1,
                         &statement, nullptr) == SQLITE_OK) {
    sqlite3_bind_text(statement, 1, expression.c_str(), -1, SQLITE_TRANSIENT);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, 1));
      scores.emplace(sqlite3_column_double(statement, 0),
                     std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, 1))));
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return scores;
}

}  // namespace

void TestSameAnswers::scoresOfAFreshIndexAreThoseOfSqlite() {
  Random random(testSeed());
  const QTemporaryDir folder;
  std::size_t compared = 0;
  for (int trial = 0; trial < 6; ++trial) {
    const std::string file = folder.filePath(QString::number(trial)).toStdString();
    const auto generated = retrieve::test::generateDocuments(20, random());
    std::vector<SourceDocument> documents = randomDocuments(random, 12);
    documents.insert(documents.end(), generated.documents.begin(), generated.documents.end());
    PassageIndex index(file);
    const auto keys = index.add(documents, *m_tokenizer).keys;
    std::vector<std::string> questions = kQuestions;
    questions.push_back(generated.items[3].question);
    for (const std::string& question : questions) {
      std::multimap<double, std::string, std::greater<>> found;
      for (const Passage& passage : index.find(question, 10'000, keys))
        found.emplace(passage.score, passage.text);
      const auto expected = scoresBySqlite(file, question);
      QCOMPARE(found.size(), expected.size());
      // Equal ones have an order of their own.
      for (const auto& [score, text] : expected) {
        const auto [begin, end] = found.equal_range(score);
        const auto at = std::find_if(begin, end, [&](const auto& entry) { return entry.second == text; });
        QVERIFY2(at != end, (question + ": " + text).c_str());
        found.erase(at);
        ++compared;
      }
    }
  }
  QVERIFY(compared > 500);
}

void TestSameAnswers::wordsOfOthersDoNotCount() {
  // "baker" is rare and "lisbon" common in the document; in the other one it is the reverse.
  const std::vector<SourceDocument> mine = {
      {"a.csv", "Mira Lisbon.\nOtto Lisbon Lisbon.\nAda Lisbon.\nTarek baker.\n"}};
  PassageIndex fresh;
  const auto keys = fresh.add(mine, *m_tokenizer).keys;
  const std::vector<Passage> expected = fresh.find("baker Lisbon", 2, keys);
  QCOMPARE(expected[0].text, std::string("Tarek baker."));
  PassageIndex index;
  index.add({{"b.csv", "A baker.\nOne baker.\nTwo bakers.\nBaker.\nBaking.\nOld bakers.\nA cello.\n"}},
            *m_tokenizer);
  index.add(mine, *m_tokenizer);
  const std::vector<Passage> found = index.find("baker Lisbon", 2, keys);
  QCOMPARE(textsOf(found), textsOf(expected));
  QCOMPARE(found[0].score, expected[0].score);
  // Twice the same is one document.
  QCOMPARE(index.find("baker Lisbon", 1, std::vector<DocumentKey>{keys[0], keys[0]})[0].score,
           expected[0].score);
}

void TestSameAnswers::equalOnesStandInTheOrderOfTheDocuments() {
  const std::vector<SourceDocument> documents = {{"a.csv", "Mira drums.\nOtto drums.\n"},
                                                 {"b.csv", "Tarek drums.\nAda drums.\n"},
                                                 {"c.txt", "Mira drums.\n"}};
  const std::vector<std::string> inOrder = {"Mira drums.", "Otto drums.", "Tarek drums.", "Ada drums.",
                                            "Mira drums."};
  WordEmbedder words;
  const std::string question = "drums";
  const EmbeddingVector vector = words.embed({&question, 1}, {})[0];
  std::vector<std::size_t> order(documents.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<QStringList> ofAll;
  do {
    PassageIndex index;
    std::vector<DocumentKey> keys(documents.size());
    for (const std::size_t at : order) keys[at] = index.add({documents[at]}, *m_tokenizer).keys[0];
    QVERIFY(index.embed(std::nullopt, words));
    QCOMPARE(textsOf(index.find(question, 9, keys)), inOrder);
    QCOMPARE(textsOf(index.nearest(vector, 9, words, keys)), inOrder);
    // The best few are the first of all.
    QCOMPARE(textsOf(index.find(question, 2, keys)), (std::vector<std::string>{inOrder[0], inOrder[1]}));
    const std::vector<DocumentKey> reversed(keys.rbegin(), keys.rend());
    const std::vector<std::string> lastFirst = {inOrder[4], inOrder[2], inOrder[3], inOrder[0], inOrder[1]};
    QCOMPARE(textsOf(index.find(question, 9, reversed)), lastFirst);
    QCOMPARE(textsOf(index.nearest(vector, 9, words, reversed)), lastFirst);
    const std::string hash = index.find(question, 1, keys)[0].hash;
    QCOMPARE(index.withHash(hash, keys)->document, keys[0]);
    QCOMPARE(index.withHash(hash, reversed)->document, keys[2]);
    // Of all that is in the index, nobody said an order: it is one of the contents.
    QStringList all;
    for (const Passage& passage : index.find(question, 9)) all << QString::fromStdString(shown(passage));
    ofAll.push_back(all);
    QCOMPARE(ofAll.back(), ofAll.front());
  } while (std::next_permutation(order.begin(), order.end()));
}

void TestSameAnswers::anyIndexAnswersLikeAFreshOne_data() {
  QTest::addColumn<bool>("isFile");
  QTest::addColumn<bool>("summaries");
  QTest::newRow("in memory") << false << false;
  QTest::newRow("in memory, with summaries") << false << true;
  QTest::newRow("in a file") << true << false;
  QTest::newRow("in a file, with summaries") << true << true;
}

void TestSameAnswers::anyIndexAnswersLikeAFreshOne() {
  QFETCH(bool, isFile);
  QFETCH(bool, summaries);
  bool given = false;
  const int wanted = qEnvironmentVariableIntValue("SPANSCOPE_TRIALS", &given);
  const int trials = given && wanted > 0 ? wanted : isFile ? 4 : 10;  // a file waits for the disk
  Random random(testSeed());
  for (int trial = 0; trial < trials; ++trial) {
    const QTemporaryDir folder;
    const std::string file = isFile ? folder.filePath(QStringLiteral("index")).toStdString() : std::string();
    const std::vector<SourceDocument> mine = randomDocuments(random, 6);
    Day day = 1000;
    const KeepRule rule{.unusedDays = 3,
                        .mostBytes = static_cast<std::int64_t>(below(random, 2000)),
                        .today = [&day] { return day; }};
    auto index = std::make_unique<PassageIndex>(file, rule);
    for (std::size_t step = below(random, 12); step > 0; --step) {
      if (isFile && below(random, 4) == 0) index = std::make_unique<PassageIndex>(file, rule);
      if (below(random, 2) == 0) day += static_cast<Day>(below(random, 6));
      std::vector<SourceDocument> others = randomDocuments(random, 6);
      switch (below(random, 4)) {
        case 0:  // some of the documents, in another order
          others = mine;
          std::shuffle(others.begin(), others.end(), random);
          others.resize(1 + below(random, others.size()));
          break;
        case 1:  // an older version of one
          others = {mine[below(random, mine.size())]};
          others[0].bytes += randomSentence(random) + "\n";
          break;
        case 2: {  // cut in another way
          index->add(mine, *m_tokenizer, {.chunk = {.tokens = 16, .overlap = 4}, .summarizer = nullptr});
          WordEmbedder wider("wider words", 300);
          QVERIFY(index->embed(std::nullopt, wider));
          break;
        }
        default:
          break;
      }
      const auto keys = addWithAll(*index, others, below(random, 2) == 0);
      if (below(random, 3) == 0) index->find("baker", 3, keys);
    }
    const auto keys = addWithAll(*index, mine, summaries);
    PassageIndex fresh;
    QVERIFY(addWithAll(fresh, mine, summaries) == keys);
    const QStringList expected = answersOf(fresh, keys);
    const QString difference = differenceOf(answersOf(*index, keys), expected);
    QVERIFY2(difference.isEmpty(), qPrintable(QStringLiteral("trial %1, %2").arg(trial).arg(difference)));
    QVERIFY(expected.size() > static_cast<qsizetype>(kQuestions.size()) * 6);
  }
}

SPANSCOPE_TEST(tst_same_answers, TestSameAnswers, QCoreApplication)
#include "tst_same_answers.moc"
