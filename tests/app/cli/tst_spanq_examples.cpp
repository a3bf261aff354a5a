// SPDX-License-Identifier: GPL-3.0-or-later
// The bundled queries on the bundled model: every one is answered correctly under both policies, and what the
// cache does for them is what the documentation says.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDebug>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

using spanscope::test::spanq;
using spanscope::test::SpanqResult;
using Json = nlohmann::ordered_json;

class TestSpanqExamples : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answers_data();
  void answers();
  void retrievedPassagesAreRead_data();
  void retrievedPassagesAreRead();
  void foldersAreRetrievedFrom_data();
  void foldersAreRetrievedFrom();
  void judgePicksTheBest_data();
  void judgePicksTheBest();
  void serverThatDoesNotEmbedIsAnError();
  void swappedDocumentsAreRelocatedHits();
  void everyOrderOfDocumentsStands();
  void prefixPolicyLosesSwappedDocuments();
  void closuresReuseInnerPrompts();
  void outputFormsGiveAnswers_data();
  void outputFormsGiveAnswers();
  void narrowKeysAndValuesAnswerToo();
};

namespace {

const std::string kQueries = SPANSCOPE_SOURCE_DIR "/resources/queries/";

Json runJson(const std::vector<std::string>& arguments, const std::string& input = {}) {
  std::vector<std::string> words = {"run", "--json"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const SpanqResult result = spanq(words, input);
  if (result.code != 0) {
    qWarning("%s", result.err.c_str());
    return {};
  }
  return Json::parse(result.out)["runs"];
}

/// What the bundled model's world gives for an e-mail: the more it names, the better.
int scoreOf(const std::string& email) {
  if (email.find("I am Shiloh") != std::string::npos) return 95;
  if (email.find("10 years") != std::string::npos) return 85;
  if (email.find("IBM") != std::string::npos) return 60;
  return 20;
}

std::string ragWithDocuments(const std::vector<std::string>& documents) {
  Json plus = Json::array();
  for (const std::string& text : documents) plus.push_back({{"user", text}});
  Json cross = Json::array();
  cross.push_back({{"system", "You are a helpful assistant. Answer from the documents."}});
  cross.push_back({{"plus", plus}});
  cross.push_back({{"user", "Where does Mira live?"}});
  Json query;
  query["g"] = {
      {"model", "spnl/spanlet"}, {"max_tokens", 40}, {"temperature", 0}, {"input", {{"cross", cross}}}};
  return query.dump();
}

}  // namespace

void TestSpanqExamples::answers_data() {
  QTest::addColumn<QString>("query");
  QTest::addColumn<QString>("policy");
  QTest::addColumn<QString>("answer");
  const std::vector<std::pair<const char*, const char*>> expected = {
      {"chat", "The pet of Priya is Waffles."},
      {"rag", "The pet of Tarek is Biscuit."},
      {"rag-swapped", "The pet of Tarek is Biscuit."},
      {"needle", "4821"},
      {"list-and-combine", R"(["Tom", "Shadow", "Waffles", "Bandit"])"}};
  for (const auto& [query, answer] : expected) {
    for (const char* policy : {"prefix", "spans"}) {
      QTest::addRow("%s, %s", query, policy) << QString(query) << QString(policy) << QString(answer);
    }
  }
}

void TestSpanqExamples::answers() {
  QFETCH(QString, query);
  QFETCH(QString, policy);
  QFETCH(QString, answer);
  const Json runs = runJson({"--policy", policy.toStdString(), kQueries + query.toStdString() + ".json"});
  QCOMPARE(runs.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(runs[0]["answer"]), answer);
  for (const Json& step : runs[0]["steps"])
    QCOMPARE(step["outcome"].get<std::string>(), std::string("end_token"));
}

void TestSpanqExamples::retrievedPassagesAreRead_data() {
  QTest::addColumn<QString>("policy");
  QTest::newRow("prefix") << "prefix";
  QTest::newRow("spans") << "spans";
}

void TestSpanqExamples::retrievedPassagesAreRead() {
  QFETCH(QString, policy);
  const Json runs = runJson({"--policy", policy.toStdString(), kQueries + "retrieve.yaml"});
  QCOMPARE(runs.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(runs[0]["answer"]), QString("The pet of Tarek is Biscuit."));
  const SpanqResult written =
      spanq({"export", "--to", "spnl", "--retrieve", "--passages", "1", kQueries + "retrieve.yaml"});
  QVERIFY(
      written.out.find(R"({"plus":[{"user":"Tarek is a baker. The pet of Tarek is called Biscuit."}]})") !=
      std::string::npos);
  const SpanqResult kept = spanq({"export", "--to", "spnl", kQueries + "retrieve.yaml"});
  QVERIFY(kept.out.find(R"({"augment":)") != std::string::npos);
}

void TestSpanqExamples::judgePicksTheBest_data() {
  QTest::addColumn<int>("emails");
  QTest::addColumn<QString>("policy");
  QTest::addColumn<int>("seed");
  for (const int emails : {2, 4}) {
    for (const char* policy : {"prefix", "spans"}) {
      for (const int seed : {0, 1, 2}) {
        QTest::addRow("%d e-mails, %s, seed %d", emails, policy, seed) << emails << QString(policy) << seed;
      }
    }
  }
}

void TestSpanqExamples::judgePicksTheBest() {
  QFETCH(int, emails);
  QFETCH(QString, policy);
  QFETCH(int, seed);
  const Json runs = runJson({"--policy", policy.toStdString(), "--seed", std::to_string(seed),
                             kQueries + "judge-" + std::to_string(emails) + ".json"});
  QCOMPARE(runs.size(), std::size_t{1});
  const Json& steps = runs[0]["steps"];
  QCOMPARE(steps.size(), static_cast<std::size_t>(emails) + 1);
  int best = 0;
  for (int i = 0; i < emails; ++i) best = std::max(best, scoreOf(steps[static_cast<std::size_t>(i)]["text"]));
  // The answer is the best score and, word for word, an e-mail that has it.
  const std::string answer = runs[0]["answer"];
  const bool found = std::any_of(steps.begin(), steps.end() - 1, [&](const Json& step) {
    const std::string text = step["text"];
    return scoreOf(text) == best && answer == std::to_string(best) + ": " + text;
  });
  QVERIFY2(found, answer.c_str());
}

void TestSpanqExamples::foldersAreRetrievedFrom_data() {
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<int>("documents");
  QTest::newRow("by words") << QStringList{} << 8;
  QTest::newRow("by both") << QStringList{"--rank", "hybrid"} << 8;
  QTest::newRow("with summaries") << QStringList{"--summaries"} << 8;
}

void TestSpanqExamples::foldersAreRetrievedFrom() {
  QFETCH(QStringList, options);
  QFETCH(int, documents);
  const char* const people[] = {
      "Mira lives in Lisbon.", "Priya is a nurse.",
      "Otto works at Globex.", "Nadia was born in May.",
      "Mira plays the cello.", "Otto lives in Porto.",
      "Priya lives in Oslo.",  "Tarek is a baker. The pet of Tarek is called Biscuit."};
  const QTemporaryDir folder;
  QVERIFY(QDir(folder.path()).mkpath("people"));
  const auto write = [&](const QString& name, const QByteArray& bytes) {
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
  };
  for (int i = 0; i < documents; ++i) write(QStringLiteral("people/%1.txt").arg(i), people[i]);
  write("people/picture.png", QByteArray("\x89PNG\0", 5));
  write("query.json",
        R"({"g":{"model":"spnl/spanlet","max_tokens":40,"temperature":0.0,"input":{"cross":[
           {"system":"You are a helpful assistant. Answer from the documents."},
           {"augment":{"embedding_model":"none","body":{"user":"What is the name of the pet of Tarek?"},
                       "doc":["people",{"Text":""}]}},
           {"user":"What is the name of the pet of Tarek?"}]}}})");
  const QString index = folder.filePath("index");
  std::vector<std::string> arguments = {"run", "--json", "--passages", "3", "--index", index.toStdString()};
  for (const QString& option : options) arguments.push_back(option.toStdString());
  arguments.push_back(folder.filePath("query.json").toStdString());
  for (int round = 0; round < 2; ++round) {
    const SpanqResult result = spanq(arguments);
    QVERIFY2(result.code == 0, result.err.c_str());
    QVERIFY2(result.err.find("people/picture.png: a picture, but") != std::string::npos, result.err.c_str());
    const Json runs = Json::parse(result.out)["runs"];
    QCOMPARE(QString::fromStdString(runs[0]["answer"]), QString("The pet of Tarek is Biscuit."));
  }
  QVERIFY(QFile::exists(index));
}

void TestSpanqExamples::serverThatDoesNotEmbedIsAnError() {
  const SpanqResult result =
      spanq({"explain", "--rank", "hybrid", "--embeddings-url", "http://127.0.0.1:1/v1", "--embeddings-model",
             "m", kQueries + "retrieve.yaml"});
  QCOMPARE(result.code, 1);
  QVERIFY2(result.err.find("http://127.0.0.1:1/v1/embeddings: ") != std::string::npos, result.err.c_str());
  QCOMPARE(spanq({"explain", "--embeddings-model", "m", kQueries + "retrieve.yaml"}).code, 2);
}

void TestSpanqExamples::swappedDocumentsAreRelocatedHits() {
  const Json runs = runJson({kQueries + "rag.json", kQueries + "rag-swapped.json"});
  QCOMPARE(runs.size(), std::size_t{2});
  QCOMPARE(runs[0]["answer"], runs[1]["answer"]);
  const Json& spans = runs[1]["spans"];
  QCOMPARE(spans["relocated"].get<int>(), 2);  // the two that changed places
  QCOMPARE(spans["plain"].get<int>(), 1);      // the third, which did not
  QCOMPARE(spans["partial"].get<int>() + spans["computed"].get<int>(), 0);
  const Json& step = runs[1]["steps"][0];
  QCOMPARE(step["cached"].get<int>() + step["computed"].get<int>(), step["prompt"].get<int>());
  QVERIFY(step["relocated"].get<int>() > 0);
  QVERIFY(step["computed"].get<int>() < 20);  // the question alone
}

void TestSpanqExamples::everyOrderOfDocumentsStands() {
  std::vector<std::string> documents = {
      "Mira lives in Lisbon. Mira plays the cello. The lamp gave little light.",
      "Nadia was born in May. Nadia works at Initech.",
      "Tarek is a baker. The pet of Tarek is called Biscuit."};
  QTemporaryDir folder;
  std::vector<std::string> files;
  do {
    const QString path = folder.filePath(QString::number(files.size()) + ".json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(ragWithDocuments(documents)));
    files.push_back(path.toStdString());
  } while (std::next_permutation(documents.begin(), documents.end()));
  QCOMPARE(files.size(), std::size_t{6});
  const Json runs = runJson(files);
  QCOMPARE(runs.size(), std::size_t{6});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    QCOMPARE(QString::fromStdString(runs[i]["answer"]), QString("Mira lives in Lisbon."));
    if (i == 0) continue;
    QCOMPARE(runs[i]["spans"]["relocated"].get<int>() + runs[i]["spans"]["plain"].get<int>(), 3);
  }
}

void TestSpanqExamples::prefixPolicyLosesSwappedDocuments() {
  const Json runs = runJson({"--policy", "prefix", kQueries + "rag.json", kQueries + "rag-swapped.json"});
  QCOMPARE(runs.size(), std::size_t{2});
  const Json& step = runs[1]["steps"][0];
  QCOMPARE(step["relocated"].get<int>(), 0);
  QVERIFY(step["computed"].get<int>() > step["cached"].get<int>());
}

void TestSpanqExamples::closuresReuseInnerPrompts() {
  const Json runs = runJson({kQueries + "judge-4.json"});
  QCOMPARE(runs.size(), std::size_t{1});
  const Json& outer = runs[0]["steps"][4];
  // All but the judge's own messages, and of each e-mail the last tokens, which no pass has seen yet.
  QVERIFY(outer["cached"].get<int>() > outer["prompt"].get<int>() * 8 / 10);
  const Json prefix = runJson({"--policy", "prefix", kQueries + "judge-4.json"});
  QVERIFY(prefix[0]["steps"][4]["cached"].get<int>() < 16);
}

void TestSpanqExamples::outputFormsGiveAnswers_data() {
  QTest::addColumn<QString>("form");
  QTest::addColumn<QString>("answer");
  QTest::newRow("recomputed") << QString("recomputed")
                              << QString(R"(["Tom", "Shadow", "Waffles", "Bandit"])");
  QTest::newRow("earlier name") << QString("anew") << QString(R"(["Tom", "Shadow", "Waffles", "Bandit"])");
  // Approximate, and it shows. One masked pass of another implementation over the same ids, positions and
  // visibility gives the same words.
  QTest::newRow("reused") << QString("reused") << QString(R"(["Tom", "Shadow"])");
}

void TestSpanqExamples::outputFormsGiveAnswers() {
  QFETCH(QString, form);
  QFETCH(QString, answer);
  const Json runs =
      runJson({"--no-distribute", "--output-form", form.toStdString(), kQueries + "list-and-combine.json"});
  QCOMPARE(runs.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(runs[0]["answer"]), answer);
}

void TestSpanqExamples::narrowKeysAndValuesAnswerToo() {
  const Json runs = runJson({"--kv", "bf16", "--block-size", "8", kQueries + "rag.json"});
  QCOMPARE(runs.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(runs[0]["answer"]), QString("The pet of Tarek is Biscuit."));
}

SPANSCOPE_TEST(tst_spanq_examples, TestSpanqExamples, QCoreApplication)
#include "tst_spanq_examples.moc"
