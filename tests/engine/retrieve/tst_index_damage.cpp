// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever was done to the file of an index: what it answers is what a fresh one answers, or it is an error.
// SPANSCOPE_TRIALS sets how often bytes and pages are changed.
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/retrieve/passage_index.h"
#include "engine/retrieve/ranking.h"
#include "tests/engine/retrieve/generated_documents.h"
#include "tests/engine/retrieve/stand_ins.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::retrieve;
using spanscope::retrieve::test::FirstWords;
using spanscope::retrieve::test::WordEmbedder;
using spanscope::text::test::readFile;
using spanscope::text::test::testSeed;
using spanscope::text::test::writeFile;

class TestIndexDamage : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void changedRowsAreMadeAnew_data();
  void changedRowsAreMadeAnew();
  void onlyWhatIsDamagedIsMadeAnew();
  void damageIsNotSearched_data();
  void damageIsNotSearched();
  void otherTablesAreRefused_data();
  void otherTablesAreRefused();
  void changedBytesChangeNoAnswer();
  void cutFilesChangeNoAnswer();
  void changedPagesChangeNoAnswer();
  void whatIsWholeIsNotMadeAnew();

 private:
  /// What a program does that searches these documents: the documents that it indexed, and all that it finds.
  /// One line says the error where there is one.
  struct Answer {
    QStringList lines;
    std::size_t added = 0;
    bool isError = false;
  };
  Answer ask(const std::string& file) const;
  /// Changes the file, and sees that the answer stays or is an error. Whether it was one.
  bool staysOrFails(const std::string& bytes) const;
  std::string damagedFile(const char* sql) const;
  int trials(int usual) const {
    bool given = false;
    const int wanted = qEnvironmentVariableIntValue("SPANSCOPE_TRIALS", &given);
    return given && wanted > 0 ? wanted : usual;
  }

  std::unique_ptr<text::Tokenizer> m_tokenizer;
  std::vector<SourceDocument> m_documents;
  QTemporaryDir m_folder;
  std::string m_whole;  ///< bytes of an index that has them
  QStringList m_expected;
};

namespace {

/// Empty, or what SQLite says.
std::string execute(const std::string& file, const char* sql) {
  sqlite3* database = nullptr;
  std::string problem;
  if (sqlite3_open(file.c_str(), &database) != SQLITE_OK ||
      sqlite3_exec(database, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    problem = sqlite3_errmsg(database);
  sqlite3_close(database);
  return problem;
}

std::string textIn(const std::string& file, const char* sql) {
  sqlite3* database = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::string text;
  if (sqlite3_open(file.c_str(), &database) == SQLITE_OK &&
      sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, 0));
    text.assign(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, 0)));
  }
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return text;
}

std::size_t pageSizeOf(const std::string& bytes) {
  const auto high = static_cast<unsigned char>(bytes[16]);
  const auto low = static_cast<unsigned char>(bytes[17]);
  return std::size_t{high} << 8U | low;
}

}  // namespace

void TestIndexDamage::initTestCase() {
  m_tokenizer = text::loadTokenizer(text::test::bundledModel());
  m_documents = retrieve::test::generateDocuments(4, 7).documents;
  m_documents.push_back({"a.csv", "Mira lives in Lisbon.\nTarek is a baker.\nOtto drums.\nMira drums.\n"});
  m_documents.push_back({"b.md", "# Pets\nThe pet of Mira is Pepper.\n# Places\nThe cello is in Porto.\n"});
  const std::string file = m_folder.filePath(QStringLiteral("whole")).toStdString();
  const Answer made = ask(file);
  QVERIFY2(!made.isError, qPrintable(made.lines.join('\n')));
  QCOMPARE(made.added, m_documents.size());
  // Documents of others lie between them.
  {
    PassageIndex index(file);
    index.add(retrieve::test::generateDocuments(3, 99).documents, *m_tokenizer);
  }
  m_whole = readFile(file);
  m_expected = ask({}).lines;
  QVERIFY(m_expected.size() > 100);
  QCOMPARE(made.lines, m_expected);
}

TestIndexDamage::Answer TestIndexDamage::ask(const std::string& file) const {
  Answer answer;
  try {
    PassageIndex index(file);
    FirstWords summarizer;
    WordEmbedder words;
    const IndexedDocuments indexed = index.add(
        m_documents, *m_tokenizer, {.chunk = {.tokens = 32, .overlap = 8}, .summarizer = &summarizer});
    answer.added = indexed.added;
    if (!index.embed(indexed.keys, words)) answer.lines << QStringLiteral("not embedded");
    for (const char* question :
         {"Where does Mira live?", "the baker drums", "When did kebaba buy a lamp?", "Summary of the pet"}) {
      for (const Ranking ranking : {Ranking::Lexical, Ranking::Embedding, Ranking::Hybrid}) {
        for (const RankedPassage& ranked : rankPassages(index, question, 12, ranking, indexed.keys, &words)) {
          const Passage& passage = ranked.passage;
          const auto pinned = index.withHash(passage.hash, indexed.keys);
          answer.lines << QStringLiteral("%1 %2 %3 %4 %5 %6: %7 (%8)")
                              .arg(rankingName(ranking))
                              .arg(passage.score, 0, 'g', 17)
                              .arg(QString::fromStdString(passage.document))
                              .arg(passage.number)
                              .arg(passage.level)
                              .arg(QString::fromStdString(passage.place))
                              .arg(QString::fromStdString(passage.text))
                              .arg(pinned ? QString::fromStdString(pinned->document) : QString());
        }
      }
    }
  } catch (const Failure& failure) {
    answer = {.lines = {QString::fromUtf8(failure.what())}, .added = 0, .isError = true};
  }
  return answer;
}

bool TestIndexDamage::staysOrFails(const std::string& bytes) const {
  const std::string file = m_folder.filePath(QStringLiteral("damaged")).toStdString();
  QFile::remove(QString::fromStdString(file + "-journal"));
  writeFile(file, bytes);
  const Answer answer = ask(file);
  if (answer.isError) {
    if (!isValidUtf8(answer.lines.front().toStdString())) QTest::qFail("no text", __FILE__, __LINE__);
    return true;
  }
  if (answer.lines != m_expected) {
    const QString line =
        answer.lines.isEmpty()
            ? QString()
            : *std::find_if(answer.lines.begin(), answer.lines.end() - 1,
                            [this](const QString& found) { return !m_expected.contains(found); });
    QTest::qFail(qPrintable(QStringLiteral("%1 lines of %2, as: %3")
                                .arg(answer.lines.size())
                                .arg(m_expected.size())
                                .arg(line)),
                 __FILE__, __LINE__);
  }
  return false;
}

std::string TestIndexDamage::damagedFile(const char* sql) const {
  const std::string file = m_folder.filePath(QStringLiteral("changed")).toStdString();
  QFile::remove(QString::fromStdString(file + "-journal"));
  writeFile(file, m_whole);
  const std::string problem = execute(file, sql);
  if (!problem.empty()) QTest::qFail((problem + " by " + sql).c_str(), __FILE__, __LINE__);
  return file;
}

void TestIndexDamage::changedRowsAreMadeAnew_data() {
  QTest::addColumn<QByteArray>("sql");
  for (const char* sql : {
           "DELETE FROM fragments",
           "DELETE FROM fragments WHERE id % 3 = 0",
           "DELETE FROM fragments WHERE id = (SELECT max(id) FROM fragments)",
           "UPDATE fragments SET text = 'nothing'",
           "UPDATE fragments SET text = CAST(x'4d697261ff' AS TEXT) WHERE text LIKE '%Mira%'",
           "UPDATE fragments SET text = text || ' Lisbon'",
           "UPDATE fragments SET text = 7 WHERE id = 3",
           "UPDATE fragments SET place = 'page 9'",
           "UPDATE fragments SET number = -number",
           "UPDATE fragments SET level = level + 1",
           "UPDATE fragments SET hash = (SELECT hash FROM fragments WHERE id = 1)",
           "UPDATE fragments SET text = (SELECT text FROM fragments WHERE id = 1), "
           "hash = (SELECT hash FROM fragments WHERE id = 1)",
           "UPDATE fragments SET document = 1",
           "UPDATE fragments SET document = 7 - document WHERE document < 7",
           "UPDATE fragments SET id = id + 10000",
           "INSERT INTO fragments(document, number, level, place, hash, text) "
           "SELECT document, number + 100, level, place, hash, text FROM fragments",
           "DELETE FROM documents",
           "DELETE FROM documents WHERE id = 2",
           "UPDATE documents SET words = 1",
           "UPDATE documents SET fragments = fragments + 1",
           "UPDATE documents SET key = 'other ' || key",
           "UPDATE documents SET id = id + 100",
           "UPDATE documents SET checksum = ''",
           "UPDATE documents SET checksum = (SELECT checksum FROM documents WHERE id = 1)",
           "DELETE FROM words_data WHERE id > 10",
           "DELETE FROM words_docsize",
           "UPDATE words_docsize SET sz = x'05'",
           "DELETE FROM words_idx",
           "UPDATE words_data SET block = (SELECT block FROM words_data WHERE id = 1) WHERE id > 10",
           "INSERT INTO words(words) VALUES('delete-all')",
           "INSERT INTO words(words) VALUES('rebuild')",
           "INSERT INTO words(words) VALUES('optimize')",
           "INSERT INTO words(words, rowid, text) SELECT 'delete', id, text FROM fragments WHERE id % 2 = 0",
           "INSERT INTO words(rowid, text) SELECT id, 'Mira baker' FROM fragments",
           "DELETE FROM checks",
           "UPDATE checks SET words = 'x'",
           "DELETE FROM vectors",
           "DELETE FROM vectors WHERE hash < '8'",
           "UPDATE vectors SET vector = x'00ff'",
           "UPDATE vectors SET vector = zeroblob(1024)",
           "UPDATE vectors SET vector = (SELECT vector FROM vectors ORDER BY hash LIMIT 1)",
           "UPDATE vectors SET checksum = 0",
           "UPDATE embedders SET fingerprint = 'others'",
           "DELETE FROM embedders",
           "UPDATE summaries SET text = 'Summary: Lisbon'; DELETE FROM documents",
           "UPDATE summaries SET text = (SELECT max(text) FROM summaries), "
           "checksum = (SELECT checksum FROM summaries ORDER BY text DESC LIMIT 1); DELETE FROM fragments",
           "DELETE FROM summaries; DELETE FROM documents WHERE id > 3",
           "UPDATE fragments SET text = 'x' WHERE document = 2; DELETE FROM words_data WHERE id > 10; "
           "DELETE FROM vectors",
           "DELETE FROM pruned",
           "DELETE FROM sqlite_sequence",
       })
    QTest::newRow(sql) << QByteArray(sql);
}

void TestIndexDamage::changedRowsAreMadeAnew() {
  QFETCH(QByteArray, sql);
  const std::string file = damagedFile(sql.constData());
  QCOMPARE(ask(file).lines, m_expected);
  // It was rebuilt once.
  const Answer again = ask(file);
  QCOMPARE(again.lines, m_expected);
  QCOMPARE(again.added, std::size_t{0});
}

void TestIndexDamage::onlyWhatIsDamagedIsMadeAnew() {
  const std::string file = damagedFile("UPDATE fragments SET text = 'x' WHERE document IN (2, 5)");
  QCOMPARE(ask(file).added, std::size_t{2});
  QCOMPARE(ask(damagedFile("DELETE FROM words_data; DELETE FROM vectors")).added, std::size_t{0});
}

/// By a program that does not index them before: there is nothing to make them of.
void TestIndexDamage::damageIsNotSearched_data() {
  QTest::addColumn<QByteArray>("sql");
  QTest::addColumn<bool>("isOfVectors");
  QTest::newRow("rows gone") << QByteArray("DELETE FROM fragments WHERE id = 2") << false;
  QTest::newRow("all rows gone") << QByteArray("DELETE FROM fragments") << false;
  QTest::newRow("text") << QByteArray("UPDATE fragments SET text = 'x' WHERE id = 2") << false;
  QTest::newRow("count") << QByteArray("UPDATE documents SET fragments = 1") << false;
  QTest::newRow("vector") << QByteArray("UPDATE vectors SET vector = zeroblob(1024)") << true;
}

void TestIndexDamage::damageIsNotSearched() {
  QFETCH(QByteArray, sql);
  QFETCH(bool, isOfVectors);
  const std::string file = damagedFile(sql.constData());
  WordEmbedder words;
  const PassageIndex index(file);
  try {
    rankPassages(index, "Mira", 3, isOfVectors ? Ranking::Embedding : Ranking::Lexical, std::nullopt, &words);
    QFAIL("believed");
  } catch (const Failure& failure) {
    QCOMPARE(failure.error().file, file);
    QVERIFY(failure.error().place.starts_with(isOfVectors ? "vectors" : "document "));
  }
}

void TestIndexDamage::otherTablesAreRefused_data() {
  QTest::addColumn<QByteArray>("sql");
  QTest::newRow("no table") << QByteArray("DROP TABLE vectors");
  QTest::newRow("no index") << QByteArray("DROP INDEX fragments_of_document");
  QTest::newRow("trigger") << QByteArray(
      "CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM fragments; END");
  QTest::newRow("view") << QByteArray("CREATE VIEW v AS SELECT 1");
  QTest::newRow("other words") << QByteArray(
      "DROP TABLE words; CREATE VIRTUAL TABLE words USING fts5(text, content='fragments', "
      "content_rowid='id', tokenize='unicode61'); INSERT INTO words(words) VALUES('rebuild')");
}

void TestIndexDamage::otherTablesAreRefused() {
  QFETCH(QByteArray, sql);
  const std::string file = damagedFile(sql.constData());
  const Answer answer = ask(file);
  QVERIFY(answer.isError);
  QVERIFY2(answer.lines.front().startsWith(QString::fromStdString(file)), qPrintable(answer.lines.front()));
}

void TestIndexDamage::changedBytesChangeNoAnswer() {
  const std::uint64_t seed = testSeed();
  qInfo("seed %llu", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  int errors = 0;
  const int count = trials(60);
  for (int trial = 0; trial < count && !QTest::currentTestFailed(); ++trial) {
    std::string bytes = m_whole;
    for (std::uint64_t change = 1 + random() % 4; change > 0; --change) {
      char& byte = bytes[random() % bytes.size()];
      byte = random() % 2 == 0 ? static_cast<char>(random()) : static_cast<char>(byte ^ (1 << random() % 8));
    }
    if (staysOrFails(bytes)) ++errors;
    if (QTest::currentTestFailed()) qWarning("trial %d", trial);
  }
  qInfo("%d of %d are errors", errors, count);
  QVERIFY(errors < count);
}

void TestIndexDamage::cutFilesChangeNoAnswer() {
  std::mt19937_64 random(testSeed() + 1);
  for (int trial = 0; trial < trials(12) && !QTest::currentTestFailed(); ++trial) {
    const std::size_t page = pageSizeOf(m_whole);
    std::size_t size = random() % m_whole.size();
    if (trial % 2 == 0) size -= size % page;
    staysOrFails(m_whole.substr(0, size));
  }
}

void TestIndexDamage::changedPagesChangeNoAnswer() {
  std::mt19937_64 random(testSeed() + 2);
  const std::size_t page = pageSizeOf(m_whole);
  const std::size_t pages = m_whole.size() / page;
  for (int trial = 0; trial < trials(24) && !QTest::currentTestFailed(); ++trial) {
    std::string bytes = m_whole;
    const std::size_t to = random() % pages * page;
    const std::size_t from = random() % pages * page;
    switch (trial % 3) {
      case 0:  // never written
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(to), page, '\0');
        break;
      case 1:  // written to another place
        bytes.replace(to, page, m_whole, from, page);
        break;
      default:  // changed for each other
        bytes.replace(to, page, m_whole, from, page);
        bytes.replace(from, page, m_whole, to, page);
    }
    staysOrFails(bytes);
    if (QTest::currentTestFailed()) qWarning("trial %d", trial);
  }
}

/// The words of two additions are in two parts, and in one part after a rebuild.
void TestIndexDamage::whatIsWholeIsNotMadeAnew() {
  constexpr const char* kWords = "SELECT group_concat(hex(block)) FROM words_data";
  const std::string file = damagedFile("SELECT 1");
  const std::string before = textIn(file, kWords);
  QVERIFY(before.size() > 1000);
  QCOMPARE(ask(file).lines, m_expected);
  QVERIFY(textIn(file, kWords) == before);
  QCOMPARE(execute(file, "DELETE FROM checks"), std::string());
  QCOMPARE(ask(file).lines, m_expected);
  QVERIFY(textIn(file, kWords) != before);
}

SPANSCOPE_TEST(tst_index_damage, TestIndexDamage, QCoreApplication)
#include "tst_index_damage.moc"
