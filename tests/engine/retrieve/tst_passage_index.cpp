// SPDX-License-Identifier: GPL-3.0-or-later
// SPANSCOPE_KILLS sets how often the indexing program is killed; with SPANSCOPE_DOCUMENTS every known item is
// asked for, not only each third.
#include "engine/base/error.h"
#include "engine/retrieve/passage_index.h"
#include "engine/retrieve/ranking.h"
#include "tests/engine/retrieve/generated_documents.h"
#include "tests/engine/retrieve/stand_ins.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>

using namespace spanscope;
using namespace spanscope::retrieve;
using spanscope::product_text::worded;
using spanscope::retrieve::test::generateDocuments;
using spanscope::text::test::readFile;
using spanscope::text::test::testSeed;
using spanscope::text::test::writeFile;

class TestPassageIndex : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_tokenizer = text::loadTokenizer(text::test::bundledModel()); }
  void knownItemsAreInTheTopThree();
  void onlyChangedDocumentsAreAdded();
  void settingsAreOfTheKey();
  void oneDocumentIsSearched();
  void progressIsReportedAndCanStop();
  void anyQuestionIsText_data();
  void anyQuestionIsText();
  void randomQuestionsAreText();
  void wordsAreStemsWithoutCase();
  void badDocumentLeavesTheOthers();
  void otherFilesAreRefused_data();
  void otherFilesAreRefused();
  void devicesAreRefused();
  void damagedIndexIsAnError();
  void twoProgramsMayUseAFile();
  void vectorsAreKeptByContent();
  void damagedVectorIsAnError();
  void vectorsMayBeNoDirection();
  void lengthsOfVectorsAreThoseOfTheIndex();
  void whatIsUnusedGoes();
  void whatIsTooMuchGoes();
  void roomIsGivenBack();
  void otherProgramsMayTakeOut();
  void survivesKills();
  void survivesKillsWhileTakingOut();

 private:
  IndexedDocuments addWithAll(PassageIndex& index, const std::vector<SourceDocument>& documents) {
    retrieve::test::WordEmbedder words;
    retrieve::test::FirstWords summarizer;
    IndexedDocuments indexed = index.add(documents, *m_tokenizer, {.chunk = {}, .summarizer = &summarizer});
    if (!index.embed(indexed.keys, words)) indexed.keys.clear();
    return indexed;
  }

  std::unique_ptr<text::Tokenizer> m_tokenizer;
};

namespace {

std::size_t countIn(const std::vector<Passage>& passages, const DocumentKey& key) {
  return static_cast<std::size_t>(std::count_if(
      passages.begin(), passages.end(), [&](const Passage& passage) { return passage.document == key; }));
}

/// A rule for a day that a test sets.
KeepRule ruleOf(const Day& day, std::int64_t mostBytes = std::int64_t{1} << 30) {
  return {.unusedDays = 30, .mostBytes = mostBytes, .today = [&day] { return day; }};
}

/// A number from a file that is an index; -1 where there is none.
std::int64_t numberIn(const std::string& file, const std::string& sql) {
  std::int64_t number = -1;
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_open(file.c_str(), &database) == SQLITE_OK &&
      sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return number;
}

/// The faults of an index that a killed program left; empty if there are none.
QString flawOf(const std::string& file) {
  for (const char* none :
       {"SELECT count(*) FROM fragments WHERE document NOT IN (SELECT id FROM documents)",
        "SELECT count(*) FROM documents WHERE size <> (SELECT total(length(CAST(text AS "
        "BLOB))) FROM fragments "
        "WHERE document = documents.id)",
        "SELECT count(*) FROM documents WHERE fragments <> (SELECT count(*) FROM fragments "
        "WHERE document = documents.id)",
        "SELECT count(*) FROM vectors WHERE hash NOT IN (SELECT hash FROM fragments)"}) {
    const std::int64_t count = numberIn(file, none);
    if (count != 0) return QStringLiteral("%1 by %2").arg(count).arg(QString::fromLatin1(none));
  }
  sqlite3* database = nullptr;
  if (sqlite3_open(file.c_str(), &database) != SQLITE_OK) return QStringLiteral("it cannot be opened");
  const int check = sqlite3_exec(database, "INSERT INTO words(words, rank) VALUES('integrity-check', 1)",
                                 nullptr, nullptr, nullptr);
  sqlite3_close(database);
  return check == SQLITE_OK ? QString() : QStringLiteral("words and texts differ");
}

/// A model that computes nothing of use.
class NoNumbers final : public Embedder {
 public:
  std::string name() const override { return "none"; }
  std::string fingerprint() const override { return "none"; }
  std::vector<EmbeddingVector> embed(std::span<const std::string> texts, std::stop_token) override {
    return std::vector<EmbeddingVector>(texts.size(), EmbeddingVector(256, std::nanf("")));
  }
};

std::string failureOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

}  // namespace

void TestPassageIndex::knownItemsAreInTheTopThree() {
  const auto generated = generateDocuments(1000, testSeed());
  PassageIndex index;
  const IndexedDocuments indexed = index.add(generated.documents, *m_tokenizer, {});
  QCOMPARE(indexed.added, std::size_t{1000});
  // Every third one, for the time it takes, or all.
  const std::size_t step = qEnvironmentVariableIsSet("SPANSCOPE_DOCUMENTS") ? 1 : 3;
  for (std::size_t i = 0; i < generated.items.size(); i += step) {
    const auto& item = generated.items[i];
    const std::vector<Passage> found = index.find(item.question, 3);
    QVERIFY2(countIn(found, indexed.keys[item.document]) > 0, item.question.c_str());
    QVERIFY(found.size() <= 3);
    for (std::size_t rank = 1; rank < found.size(); ++rank) {
      QVERIFY(found[rank - 1].score >= found[rank].score);
    }
  }
}

void TestPassageIndex::onlyChangedDocumentsAreAdded() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  auto generated = generateDocuments(50, 1);
  std::vector<DocumentKey> keys;
  {
    PassageIndex index(file);
    keys = index.add(generated.documents, *m_tokenizer, {}).keys;
  }
  generated.documents[17].bytes += "One more sentence about quokkas.";
  PassageIndex index(file);
  QVERIFY(index.find("quokka", 3).empty());
  const IndexedDocuments again = index.add(generated.documents, *m_tokenizer, {});
  QCOMPARE(again.added, std::size_t{1});
  for (std::size_t i = 0; i < keys.size(); ++i) QCOMPARE(again.keys[i] == keys[i], i != 17);
  const std::vector<Passage> found = index.find("quokka", 3);
  QCOMPARE(countIn(found, again.keys[17]), found.size());
  QVERIFY(!found.empty());
  QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList{"index"});
}

void TestPassageIndex::settingsAreOfTheKey() {
  const std::vector<SourceDocument> document = {{"a.txt", "# One\nMira lives in Lisbon.\n"}};
  PassageIndex index;
  const DocumentKey key = index.add(document, *m_tokenizer, {}).keys[0];
  QCOMPARE(index.add(document, *m_tokenizer, {}).added, std::size_t{0});
  QVERIFY(index.add(document, *m_tokenizer, {.chunk = {.tokens = 64, .overlap = 16}}).keys[0] != key);
  QVERIFY(index.add(document, *m_tokenizer, {.chunk = {.tokens = 128, .overlap = 8}}).keys[0] != key);
  QVERIFY(index.add({{"a.md", document[0].bytes}}, *m_tokenizer, {}).keys[0] != key);
  QCOMPARE(index.add({{"b.txt", document[0].bytes}}, *m_tokenizer, {}).keys[0], key);
  QCOMPARE(index.documentCount(), std::size_t{4});
  // The number of passages per summary makes another tree of the same summaries.
  retrieve::test::FirstWords pairs(2);
  retrieve::test::FirstWords threes(3);
  const auto keyWith = [&](Summarizer& summarizer) {
    return index.add(document, *m_tokenizer, {.chunk = {}, .summarizer = &summarizer}).keys[0];
  };
  QVERIFY(keyWith(pairs) != key);
  QVERIFY(keyWith(pairs) != keyWith(threes));
}

void TestPassageIndex::oneDocumentIsSearched() {
  const auto generated = generateDocuments(20, 3);
  PassageIndex index;
  const std::vector<DocumentKey> keys = index.add(generated.documents, *m_tokenizer, {}).keys;
  const std::vector<DocumentKey> one = {keys[4]};
  const std::vector<Passage> found = index.find("The lamp gave little light", 50, one);
  QVERIFY(!found.empty());
  QCOMPARE(countIn(found, keys[4]), found.size());
  QVERIFY(index.find("The lamp", 50, std::vector<DocumentKey>{"no such key"}).empty());
  QVERIFY(index.find("The lamp", 50, std::vector<DocumentKey>{}).empty());
  const std::vector<DocumentKey> two = {keys[7], keys[4]};
  const std::vector<Passage> both = index.find("The lamp gave little light", 50, two);
  QCOMPARE(countIn(both, keys[4]) + countIn(both, keys[7]), both.size());
  QVERIFY(countIn(both, keys[4]) == found.size() && both.size() > found.size());
}

void TestPassageIndex::progressIsReportedAndCanStop() {
  const auto generated = generateDocuments(10, 4);
  PassageIndex index;
  std::vector<std::size_t> done;
  std::stop_source stop;
  Watch watch{.progress = {}, .stop = stop.get_token()};
  watch.progress = [&](const IndexProgress& progress) {
    done.push_back(progress.done);
    if (progress.total != 10 || progress.done == 6) stop.request_stop();
  };
  const IndexedDocuments stopped = index.add(generated.documents, *m_tokenizer, {}, watch);
  QCOMPARE(done, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6}));
  QCOMPARE(stopped.keys.size(), std::size_t{6});
  QCOMPARE(index.documentCount(), std::size_t{6});
  QCOMPARE(index.add(generated.documents, *m_tokenizer, {}).added, std::size_t{4});
}

void TestPassageIndex::anyQuestionIsText_data() {
  QTest::addColumn<QByteArray>("question");
  QTest::addColumn<bool>("isFound");
  QTest::newRow("empty") << QByteArray() << false;
  QTest::newRow("no word") << QByteArray("?!\"*^()-:{}") << false;
  QTest::newRow("quotes") << QByteArray("\"Lisbon") << true;
  QTest::newRow("doubled quotes") << QByteArray("\"\"Lisbon\"\"\" OR") << true;
  QTest::newRow("operators") << QByteArray("Lisbon AND NOT Lisbon") << true;
  QTest::newRow("near") << QByteArray("NEAR(Lisbon, 3)") << true;
  QTest::newRow("column") << QByteArray("text: Lisbon") << true;
  QTest::newRow("prefix") << QByteArray("Lisb*") << false;
  QTest::newRow("zero byte") << QByteArray("a\0Lisbon", 8) << true;
  QTest::newRow("dash of another alphabet") << QByteArray("\u2014") << false;
  QTest::newRow("invalid UTF-8") << QByteArray("Lisbon \xFF\xC3") << true;
  QTest::newRow("statement") << QByteArray("'; DROP TABLE words; -- Lisbon") << true;
}

void TestPassageIndex::anyQuestionIsText() {
  QFETCH(QByteArray, question);
  QFETCH(bool, isFound);
  PassageIndex index;
  index.add({{"a.txt", "Mira lives in Lisbon."}}, *m_tokenizer, {});
  QCOMPARE(!index.find(question.toStdString(), 5).empty(), isFound);
}

void TestPassageIndex::randomQuestionsAreText() {
  PassageIndex index;
  index.add({{"a.txt", "Mira lives in Lisbon."}}, *m_tokenizer, {});
  std::mt19937_64 random(testSeed());
  for (int i = 0; i < 2000; ++i) {
    std::string question = "Lisbon ";
    for (std::size_t length = random() % 30; length > 0; --length) question += static_cast<char>(random());
    // The random bytes are after the word.
    QCOMPARE(index.find(question, 5).size(), std::size_t{1});
  }
  std::string longQuestion;
  for (std::size_t i = 0; i < 20'000; ++i) longQuestion += retrieve::test::wordOf(i) + ' ';
  QVERIFY(index.find(longQuestion, 5).empty());
  QCOMPARE(index.find("Lisbon " + longQuestion, 5).size(), std::size_t{1});
}

void TestPassageIndex::wordsAreStemsWithoutCase() {
  PassageIndex index;
  index.add({{"a.txt", "Mira lives in the caf\u00E9."}}, *m_tokenizer, {});
  for (const char* question : {"living", "LIVE", "cafe", "CAF\u00C9"}) {
    QCOMPARE(index.find(question, 5).size(), std::size_t{1});
  }
  QVERIFY(index.find("dies", 5).empty());
  QCOMPARE(matchAnyWord("A b, a B-c", 2), std::string("\"a\" OR \"b\""));
}

void TestPassageIndex::badDocumentLeavesTheOthers() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  PassageIndex index(file);
  const std::vector<SourceDocument> documents = {{"a.txt", "Mira"}, {"b.jsonl", "{"}, {"c.txt", "Tarek"}};
  const IndexedDocuments indexed = index.add(documents, *m_tokenizer, {});
  QCOMPARE(indexed.added, std::size_t{2});
  QCOMPARE(indexed.skipped.size(), std::size_t{1});
  QVERIFY(indexed.skipped[0].message().starts_with("b.jsonl: line 1: Spanscope found"));
  QVERIFY(indexed.keys[1].empty() && !indexed.keys[0].empty());
  QCOMPARE(index.find("Tarek", 5).size(), std::size_t{1});
  QVERIFY(!failureOf([&] {
             index.add(documents, *m_tokenizer, {.chunk = {.tokens = 1, .overlap = 0}});
           }).empty());
}

void TestPassageIndex::otherFilesAreRefused_data() {
  QTest::addColumn<QByteArray>("sql");
  QTest::newRow("text") << QByteArray();
  QTest::newRow("a database") << QByteArray("CREATE TABLE t(a)");
  QTest::newRow("another version") << QByteArray(
      "CREATE TABLE t(a); PRAGMA application_id = 1399873902; PRAGMA user_version = 99");
}

void TestPassageIndex::otherFilesAreRefused() {
  QFETCH(QByteArray, sql);
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("other")).toStdString();
  if (sql.isEmpty()) {
    writeFile(file, std::string(5000, 'x'));
  } else {
    sqlite3* database = nullptr;
    QCOMPARE(sqlite3_open(file.c_str(), &database), SQLITE_OK);
    QCOMPARE(sqlite3_exec(database, sql.constData(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
  }
  const std::string before = readFile(file);
  const std::string message = failureOf([&] { const PassageIndex index(file); });
  QVERIFY2(message.starts_with(file), message.c_str());
  QVERIFY(readFile(file) == before);
  QVERIFY(
      !failureOf([&] { const PassageIndex index(folder.path().toStdString() + "/no/such/folder"); }).empty());
}

void TestPassageIndex::devicesAreRefused() {
  const QTemporaryDir folder;
  const std::string device = folder.filePath(QStringLiteral("null")).toStdString();
  if (::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) QSKIP("devices are only for root to make");
  const std::string link = folder.filePath(QStringLiteral("link")).toStdString();
  QCOMPARE(::symlink("null", link.c_str()), 0);
  for (const std::string& file : {device, link}) {
    QCOMPARE(
        failureOf([&] { PassageIndex index(file); }),
        file + worded(std::string(": Spanscope found <something-no-regular>, but needs <index-can-read>")));
  }
  // A journal beside it would be one more file in /dev.
  QCOMPARE(QDir(folder.path()).entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot).size(), 2);
}

void TestPassageIndex::damagedIndexIsAnError() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  const auto generated = generateDocuments(30, 5);
  PassageIndex(file).add(generated.documents, *m_tokenizer, {});
  const std::string whole = readFile(file);
  std::mt19937_64 random(testSeed());
  int failures = 0;
  for (int i = 0; i < 60; ++i) {
    std::string damaged = whole;
    if (i % 4 == 0) damaged.resize(random() % whole.size());
    for (int byte = 0; byte < 200 && !damaged.empty(); ++byte) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    writeFile(file, damaged);
    const std::string message = failureOf([&] {
      PassageIndex index(file);
      index.find("The lamp gave little light", 5);
      index.add({{"new.txt", "Mira lives in Lisbon."}}, *m_tokenizer, {});
    });
    if (!message.empty()) ++failures;
  }
  QVERIFY(failures > 30);
}

void TestPassageIndex::twoProgramsMayUseAFile() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  PassageIndex one(file);
  PassageIndex other(file);
  const std::vector<SourceDocument> document = {{"a.txt", "Mira lives in Lisbon."}};
  QCOMPARE(one.add(document, *m_tokenizer, {}).added, std::size_t{1});
  QCOMPARE(other.add(document, *m_tokenizer, {}).added, std::size_t{0});
  QCOMPARE(other.find("Lisbon", 5).size(), std::size_t{1});
}

void TestPassageIndex::vectorsAreKeptByContent() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  const std::vector<SourceDocument> documents = {{"a.csv", "Mira lives in Lisbon.\nTarek is a baker.\n"},
                                                 {"b.csv", "Tarek is a baker.\nOtto drums.\n"}};
  retrieve::test::WordEmbedder words;
  retrieve::test::WordEmbedder others("other words");
  std::vector<std::size_t> done;
  Watch watch{.progress = [&](const IndexProgress& now) { done.push_back(now.done); }, .stop = {}};
  {
    PassageIndex index(file);
    const auto keys = index.add(documents, *m_tokenizer).keys;
    QVERIFY(index.embed(std::vector<DocumentKey>{keys[0]}, words, watch));
    QCOMPARE(index.vectorCount(), std::size_t{2});
    QVERIFY(index.embed(std::nullopt, words, watch));
    QCOMPARE(done, (std::vector<std::size_t>{2, 1}));
    QCOMPARE(words.embedded, std::size_t{3});
  }
  PassageIndex index(file);
  QVERIFY(index.embed(std::nullopt, words));
  QCOMPARE(words.embedded, std::size_t{3});
  const std::string question = "Otto drums";
  const EmbeddingVector vector = words.embed({&question, 1}, {})[0];
  QVERIFY(index.nearest(vector, 3, others).empty());
  QVERIFY(index.embed(std::nullopt, others));
  QCOMPARE(index.vectorCount(), std::size_t{6});
  const std::vector<Passage> found = index.nearest(vector, 2, words);
  QCOMPARE(found.size(), std::size_t{2});
  QCOMPARE(found[0].text, std::string("Otto drums."));
  QCOMPARE(found[0].place, std::string("record 2"));
  QVERIFY(std::abs(found[0].score - 1) < 1e-9 && found[1].score < 0.5);
  QVERIFY(index.nearest(vector, 0, words).empty());
  QVERIFY(index.withHash(found[0].hash, std::nullopt)->text == found[0].text);
}

void TestPassageIndex::damagedVectorIsAnError() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  retrieve::test::WordEmbedder words;
  PassageIndex index(file);
  index.add({{"a.txt", "Mira lives in Lisbon."}}, *m_tokenizer);
  QVERIFY(index.embed(std::nullopt, words));
  sqlite3* database = nullptr;
  QCOMPARE(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  QCOMPARE(sqlite3_exec(database, "UPDATE vectors SET vector = x'00ff'", nullptr, nullptr, nullptr),
           SQLITE_OK);
  sqlite3_close(database);
  const std::string message = failureOf([&] { index.nearest(EmbeddingVector(256, 1.0F), 3, words); });
  QVERIFY2(message.starts_with(file + worded(std::string(": vectors: Spanscope found <another-written>"))),
           message.c_str());
  QVERIFY(index.embed(std::nullopt, words));
  QCOMPARE(index.nearest(EmbeddingVector(256, 1.0F), 3, words).size(), std::size_t{1});
}

/// A direction that is no number is no direction: it is found, and last.
void TestPassageIndex::vectorsMayBeNoDirection() {
  NoNumbers none;
  PassageIndex index;
  index.add({{"a.txt", "Mira lives in Lisbon."}}, *m_tokenizer);
  QVERIFY(index.embed(std::nullopt, none));
  QCOMPARE(index.nearest(EmbeddingVector(256, 1.0F), 3, none)[0].score, 0.0);
}

void TestPassageIndex::lengthsOfVectorsAreThoseOfTheIndex() {
  const std::vector<SourceDocument> documents = {{"a.csv", "Mira lives in Lisbon.\n"},
                                                 {"b.csv", "Otto drums.\n"}};
  retrieve::test::WordEmbedder words;
  retrieve::test::WordEmbedder others("words", 100);  // another model under the same name
  PassageIndex index;
  const auto keys = index.add(documents, *m_tokenizer).keys;
  QVERIFY(index.embed(std::vector<DocumentKey>{keys[0]}, words));
  const std::string message = failureOf([&] { index.embed(std::nullopt, others); });
  QVERIFY2(message.starts_with("words: vectors: Spanscope found 100 numbers, but needs 256"),
           message.c_str());
  QCOMPARE(index.vectorCount(), std::size_t{1});
  const std::string question =
      failureOf([&] { rankPassages(index, "Otto", 3, Ranking::Embedding, std::nullopt, &others); });
  QVERIFY2(question.starts_with("words: vectors: Spanscope found 100 numbers"), question.c_str());
  QVERIFY(index.embed(std::nullopt, words));
  QCOMPARE(index.vectorCount(), std::size_t{2});
}

void TestPassageIndex::whatIsUnusedGoes() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  const std::vector<SourceDocument> kept = {
      {"a.csv", "Mira lives in Lisbon.\nTarek is a baker.\nOtto drums.\n"}};
  const std::vector<SourceDocument> gone = {
      {"b.csv", "Tarek is a baker.\nAda sings.\nIris paints.\nBo sails.\n"}};
  const std::vector<SourceDocument> later = {{"c.csv", "Mona runs.\n"}};
  Day day = 1000;
  PassageIndex index(file, ruleOf(day));
  const DocumentKey first = addWithAll(index, kept).keys[0];
  const DocumentKey second = addWithAll(index, gone).keys[0];
  QCOMPARE(index.documentCount(), std::size_t{2});
  QVERIFY(!index.find("sails", 3).empty());
  // What is searched again is of use again; the last day on which the other is kept.
  day = 1020;
  QCOMPARE(addWithAll(index, kept).added, std::size_t{0});
  day = 1030;
  addWithAll(index, later);
  QCOMPARE(index.documentCount(), std::size_t{3});
  const std::int64_t summaries = numberIn(file, "SELECT count(*) FROM summaries");
  day = 1031;
  addWithAll(index, later);
  QCOMPARE(index.documentCount(), std::size_t{2});
  QVERIFY(index.find("sails", 3).empty());
  QVERIFY(index.find("baker", 3, std::vector<DocumentKey>{second}).empty());
  QVERIFY(!index.find("baker", 3, std::vector<DocumentKey>{first}).empty());
  QCOMPARE(flawOf(file), QString());
  // Of what both had, the vectors stay.
  retrieve::test::WordEmbedder words;
  const std::string question = "Tarek is a baker.";
  const auto nearest = index.nearest(words.embed({&question, 1}, {})[0], 1, words);
  QVERIFY(nearest.size() == 1 && nearest[0].score > 0.999);
  QVERIFY(numberIn(file, "SELECT count(*) FROM summaries") < summaries);
  QCOMPARE(numberIn(file, "SELECT count(*) FROM embedders"), std::int64_t{1});
  // It comes back as it was.
  QCOMPARE(addWithAll(index, gone).keys[0], second);
  QVERIFY(!index.find("sails", 3, std::vector<DocumentKey>{second}).empty());
  // A clock that goes back takes nothing out.
  day = 10;
  addWithAll(index, later);
  QCOMPARE(index.documentCount(), std::size_t{3});
  // Vectors of an embedder that is not used any more go with it, the texts stay.
  day = 1062;
  index.add(kept, *m_tokenizer, {.chunk = {}, .summarizer = nullptr});
  QCOMPARE(index.vectorCount(), std::size_t{0});
  QCOMPARE(index.documentCount(), std::size_t{1});
  QCOMPARE(flawOf(file), QString());
}

void TestPassageIndex::whatIsTooMuchGoes() {
  const auto generated = generateDocuments(6, 8);
  const auto size = static_cast<std::int64_t>(generated.documents[0].bytes.size());
  Day day = 100;
  PassageIndex index({}, ruleOf(day, 4 * size));
  // A year is in one document alone.
  const auto has = [&](std::size_t document) {
    return !index.find(std::to_string(1000 + document), 1).empty();
  };
  for (std::size_t i = 0; i < 6; ++i) {
    day = 100 + static_cast<Day>(i);
    index.add({generated.documents[i]}, *m_tokenizer);
  }
  // Those of the last two days are not counted out, whatever they take.
  QVERIFY(index.documentCount() < 6 && index.documentCount() >= 3);
  QVERIFY(!has(0) && has(4) && has(5));
  PassageIndex tight({}, ruleOf(day, 1));
  day = 200;
  tight.add(generated.documents, *m_tokenizer);
  day = 201;
  tight.add({generated.documents[0]}, *m_tokenizer);
  QCOMPARE(tight.documentCount(), std::size_t{6});
  day = 202;
  tight.add({generated.documents[0]}, *m_tokenizer);
  QCOMPARE(tight.documentCount(), std::size_t{1});
}

void TestPassageIndex::roomIsGivenBack() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  Day day = 100;
  PassageIndex index(file, ruleOf(day));
  index.add(generateDocuments(200, 9).documents, *m_tokenizer);
  const qint64 before = QFileInfo(QString::fromStdString(file)).size();
  day = 200;
  index.add({{"a.txt", "Mira lives in Lisbon."}}, *m_tokenizer);
  QCOMPARE(index.documentCount(), std::size_t{1});
  const qint64 after = QFileInfo(QString::fromStdString(file)).size();
  QVERIFY2(after < before / 2, qPrintable(QStringLiteral("%1 of %2 bytes").arg(after).arg(before)));
}

void TestPassageIndex::otherProgramsMayTakeOut() {
  const QTemporaryDir folder;
  const std::string file = folder.filePath(QStringLiteral("index")).toStdString();
  Day day = 100;
  PassageIndex one(file, ruleOf(day));
  const auto mine = one.add({{"a.txt", "Mira lives in Lisbon."}}, *m_tokenizer).keys;
  QCOMPARE(one.find("Lisbon", 3, mine).size(), std::size_t{1});
  Day later = 200;
  PassageIndex other(file, ruleOf(later));
  other.add({{"b.txt", "Otto lives in Lisbon."}}, *m_tokenizer);
  QCOMPARE(other.documentCount(), std::size_t{1});
  // The other's document is not taken for the one that was chosen before.
  QVERIFY(one.find("Lisbon", 3, mine).empty());
  QCOMPARE(one.add({{"a.txt", "Mira lives in Lisbon."}}, *m_tokenizer).added, std::size_t{1});
  QCOMPARE(one.find("Lisbon", 3, mine)[0].text, std::string("Mira lives in Lisbon."));
}

void TestPassageIndex::survivesKillsWhileTakingOut() {
  constexpr std::size_t kDocuments = 300;
  bool given = false;
  const int wanted = qEnvironmentVariableIntValue("SPANSCOPE_KILLS", &given);
  const int kills = given && wanted > 0 ? wanted : 8;
  const std::uint64_t seed = testSeed();
  std::mt19937_64 random(seed + 1);
  const QTemporaryDir folder;
  const std::string full = folder.filePath(QStringLiteral("full")).toStdString();
  Day day = 100;
  addWithAll(*std::make_unique<PassageIndex>(full, ruleOf(day)),
             generateDocuments(kDocuments, seed).documents);
  int killedBetween = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const QString file = folder.filePath(QString::number(kill));
    QVERIFY(QFile::copy(QString::fromStdString(full), file));
    QProcess indexer;
    indexer.start(QStringLiteral(SPANSCOPE_KILL_INDEXER),
                  {file, QStringLiteral("5"), QString::number(seed), QStringLiteral("200")});
    QVERIFY(indexer.waitForStarted());
    QVERIFY(indexer.waitForReadyRead(30000));
    QTest::qSleep(static_cast<int>(random() % 300));
    indexer.kill();
    QVERIFY(indexer.waitForFinished());
    const std::string left = file.toStdString();
    QCOMPARE(flawOf(left), QString());
    const std::int64_t count = numberIn(left, "SELECT count(*) FROM documents");
    QVERIFY(count >= 5 && count <= static_cast<std::int64_t>(kDocuments));
    if (count > 5 && count < static_cast<std::int64_t>(kDocuments)) ++killedBetween;
    // What was left is taken out by the next one.
    day = 200;
    PassageIndex index(left, ruleOf(day));
    addWithAll(index, generateDocuments(5, seed).documents);
    QCOMPARE(index.documentCount(), std::size_t{5});
    QCOMPARE(flawOf(left), QString());
  }
  qInfo("%d of %d kills while documents were taken out", killedBetween, kills);
}

void TestPassageIndex::survivesKills() {
  constexpr std::size_t kDocuments = 100;
  bool given = false;
  const int wanted = qEnvironmentVariableIntValue("SPANSCOPE_KILLS", &given);
  const int kills = given && wanted > 0 ? wanted : 8;
  const std::uint64_t seed = testSeed();
  std::mt19937_64 random(seed);
  const auto generated = generateDocuments(kDocuments, seed);
  int killedEarly = 0;
  std::size_t begun = 0;
  QTemporaryDir folder;
  for (int kill = 0; kill < kills; ++kill) {
    // Every fourth begins with a new file, so that the making of its tables is hit too.
    const QString file = folder.filePath(QString::number(kill / 4));
    QProcess indexer;
    indexer.start(QStringLiteral(SPANSCOPE_KILL_INDEXER),
                  {file, QString::number(kDocuments), QString::number(seed)});
    QVERIFY(indexer.waitForStarted());
    QVERIFY(indexer.waitForReadyRead(30000));
    QTest::qSleep(static_cast<int>(random() % (kill % 4 == 0 ? 10 : 120)));
    indexer.kill();
    QVERIFY(indexer.waitForFinished());
    if (!indexer.readAllStandardOutput().contains("end")) ++killedEarly;

    PassageIndex index(file.toStdString());
    const std::size_t kept = index.documentCount();
    if (kill % 4 == 0) begun = 0;
    QVERIFY2(kept >= begun, "documents that were in the index are lost");
    begun = kept;
    // What is in the index is whole: its texts are there, and their words lead to them.
    for (std::size_t i = 0; i < kept; i += 7) {
      QVERIFY(!index.find(generated.items[i].question, 3).empty());
    }
    sqlite3* database = nullptr;
    QCOMPARE(sqlite3_open(file.toStdString().c_str(), &database), SQLITE_OK);
    const int check = sqlite3_exec(database, "INSERT INTO words(words, rank) VALUES('integrity-check', 1)",
                                   nullptr, nullptr, nullptr);
    sqlite3_close(database);
    QCOMPARE(check, SQLITE_OK);
  }
  QVERIFY(killedEarly > 0);
  PassageIndex index(folder.filePath(QStringLiteral("0")).toStdString());
  const std::size_t before = index.documentCount();
  retrieve::test::FirstWords summarizer;
  retrieve::test::WordEmbedder embedder;
  const IndexedDocuments rest =
      index.add(generated.documents, *m_tokenizer, {.chunk = {}, .summarizer = &summarizer});
  QCOMPARE(before + rest.added, kDocuments);
  QVERIFY(index.embed(rest.keys, embedder));
  for (const auto& item : generated.items) {
    QVERIFY(countIn(index.find(item.question, 3), rest.keys[item.document]) > 0);
    QVERIFY(!rankPassages(index, item.question, 1, Ranking::Embedding,
                          std::vector<DocumentKey>{rest.keys[item.document]}, &embedder)
                 .empty());
  }
}

SPANSCOPE_TEST(tst_passage_index, TestPassageIndex, QCoreApplication)
#include "tst_passage_index.moc"
