// SPDX-License-Identifier: GPL-3.0-or-later
// Documents on the command line: what is muted, frozen and declared in them, and values for their parameters.
#include "spanq_process.h"

#include <QTemporaryDir>
#include <QtTest>

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

using namespace spanscope::test;
using Json = nlohmann::ordered_json;

class TestSpanqDocuments : public QObject {
  Q_OBJECT

 private slots:
  void runsWithDefaults();
  void valuesComeBeforeDefaults_data();
  void valuesComeBeforeDefaults();
  void wrongValues_data();
  void wrongValues();
  void validateListsParameters();
  void explainListsParameters();
  void mutedAndFrozenAreTakenOut();
  void missingInputIsAnError();
  void mistakesHaveTheirPlace();
  void unusedSettingIsWarnedOf();

 private:
  std::string write(const std::string& text);
  QTemporaryDir m_folder;
};

namespace {

/// A person of the bundled model's world, whose name and number of questions are parameters.
const std::string kQuery =
    R"({"g": {"model": "spnl/spanlet", "max_tokens": "{most}", "temperature": 0, "input":
    {"cross": [{"system": "You are a helpful assistant. Answer from the documents."},
               {"plus": [{"user": "Mira lives in Lisbon."}, {"user": "Otto lives in Oslo."}]},
               {"user": "Where does {who} live?"}]}}})";

std::string documentWith(const std::string& query, const std::string& parameters,
                         const std::string& layout = "{}") {
  return "{\"spanscope\": {\"version\": 1},\n \"query\": " + query + ",\n \"layout\": " + layout +
         ",\n \"parameters\": " + parameters + "}";
}

const std::string kDeclared =
    R"({"who": {"default": "Mira", "description": "whose home is asked for"},
        "most": {"type": "count", "default": "40"}})";

}  // namespace

std::string TestSpanqDocuments::write(const std::string& text) {
  const std::string path = m_folder.filePath("query.span").toStdString();
  std::ofstream(path) << text;
  return path;
}

void TestSpanqDocuments::runsWithDefaults() {
  const SpanqResult result = spanq({"run", write(documentWith(kQuery, kDeclared))});
  QVERIFY2(result.code == 0, result.err.c_str());
  QCOMPARE(QString::fromStdString(result.out).section('\n', 0, 0), QString("Mira lives in Lisbon."));
  QVERIFY(result.err.empty());
}

void TestSpanqDocuments::valuesComeBeforeDefaults_data() {
  QTest::addColumn<QString>("parameters");
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QString>("question");
  const QString declared = QString::fromStdString(kDeclared);
  const QString valued = R"({"who": {"default": "Mira", "value": "Otto"}, "most": "40"})";
  QTest::newRow("the default") << declared << QStringList{} << "Where does Mira live?";
  QTest::newRow("a value of the document") << valued << QStringList{} << "Where does Otto live?";
  QTest::newRow("the command line") << valued << QStringList{"--set", "who=Nadia"}
                                    << "Where does Nadia live?";
  QTest::newRow("an empty one") << declared << QStringList{"--set", "who="} << "Where does  live?";
  QTest::newRow("as before there were declarations")
      << R"({"who": "Otto", "most": "40"})" << QStringList{} << "Where does Otto live?";
}

void TestSpanqDocuments::valuesComeBeforeDefaults() {
  QFETCH(QString, parameters);
  QFETCH(QStringList, options);
  QFETCH(QString, question);
  std::vector<std::string> words = {"export", "--to", "spnl",
                                    write(documentWith(kQuery, parameters.toStdString()))};
  for (const QString& word : options) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words);
  QVERIFY2(result.code == 0, result.err.c_str());
  QVERIFY2(QString::fromStdString(result.out).contains(question), result.out.c_str());
  QVERIFY(result.out.find("\"max_tokens\":40") != std::string::npos);
}

void TestSpanqDocuments::wrongValues_data() {
  QTest::addColumn<QString>("parameters");
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QString>("message");
  const QString declared = QString::fromStdString(kDeclared);
  QTest::newRow("no number") << declared << QStringList{"--set", "most=many"}
                             << "the value \"many\" for the parameter \"most\", expected a whole number from";
  QTest::newRow("no value") << R"({"who": "Otto"})" << QStringList{}
                            << "the parameter \"most\" without a value";
  QTest::newRow("no such type") << R"({"most": {"type": "integer"}})" << QStringList{}
                                << "found \"integer\", expected \"text\" or ";
  QTest::newRow("a wrong default") << R"({"most": {"default": "many"}})" << QStringList{} << "\"many\"";
  QTest::newRow("a type for a text")
      << R"({"most": "4", "who": {"type": "count"}})" << QStringList{"--set", "who=Mira"}
      << "the value \"Mira\" for the parameter \"who\", expected a whole number "
         "from 0 to 255";
}

void TestSpanqDocuments::wrongValues() {
  QFETCH(QString, parameters);
  QFETCH(QStringList, options);
  QFETCH(QString, message);
  std::vector<std::string> words = {"run", write(documentWith(kQuery, parameters.toStdString()))};
  for (const QString& word : options) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, 1);
  QVERIFY2(QString::fromStdString(result.err).contains(message), result.err.c_str());
  QVERIFY(result.out.empty());
}

void TestSpanqDocuments::validateListsParameters() {
  const std::string path = write(documentWith(kQuery, kDeclared));
  const SpanqResult result = spanq({"validate", "--parameters", path});
  QCOMPARE(result.code, 0);
  QCOMPARE(QString::fromStdString(result.out),
           QString::fromStdString(path) +
               ": fine\n"
               "  {most}: count, by default 40, at /g/max_tokens\n"
               "  {who}: text, by default Mira, at /g/input/cross/2/user (whose home is asked for)\n");
  const SpanqResult wrong =
      spanq({"validate", write(documentWith(kQuery, R"({"most": {"type": "count", "value": "300"}})"))});
  QCOMPARE(wrong.code, 1);
  QVERIFY2(wrong.err.find("\"300\"") != std::string::npos, wrong.err.c_str());
}

void TestSpanqDocuments::explainListsParameters() {
  const std::string path = write(documentWith(kQuery, kDeclared));
  const SpanqResult text = spanq({"explain", "--set", "who=Otto", path});
  QVERIFY2(text.code == 0, text.err.c_str());
  QVERIFY2(text.out.find("Parameters\n  {most}  count  40 (default)") == 0, text.out.c_str());
  QVERIFY(text.out.find("{who}   text   Otto (given)  whose home is asked for\n") != std::string::npos);
  const Json json = Json::parse(spanq({"explain", "--json", path}).out);
  QCOMPARE(json["parameters"].size(), std::size_t{2});
  QCOMPARE(json["parameters"][1]["value"].get<std::string>(), std::string("Mira"));
  QCOMPARE(json["parameters"][1]["from"].get<std::string>(), std::string("default"));
}

void TestSpanqDocuments::mutedAndFrozenAreTakenOut() {
  const std::string query = R"({"g": {"model": "m", "input": {"cross": [{"user": "kept"}, {"user": "muted"},
      {"g": {"model": "m", "input": {"user": "not asked again"}}}]}}})";
  const std::string layout = R"({"nodes": {"/g/input/cross/1": {"muted": true},
      "/g/input/cross/2": {"frozen": "what it said"}}})";
  const SpanqResult result = spanq({"export", "--to", "spnl", write(documentWith(query, "{}", layout))});
  QVERIFY2(result.code == 0, result.err.c_str());
  QVERIFY(result.out.find(R"("cross":[{"user":"kept"},{"assistant":"what it said"}])") != std::string::npos);
}

void TestSpanqDocuments::missingInputIsAnError() {
  const std::string layout = R"({"nodes": {"/g/input": {"missing": true}}})";
  const std::string path =
      write(documentWith(R"({"g": {"model": "m", "input": {"seq": []}}})", "{}", layout));
  for (const char* command : {"validate", "explain", "run"}) {
    const SpanqResult result = spanq({command, path});
    QCOMPARE(result.code, 1);
    QVERIFY2(result.err.find("a node that lacks an input") != std::string::npos, result.err.c_str());
  }
}

void TestSpanqDocuments::mistakesHaveTheirPlace() {
  const std::string path = write(documentWith("{\"user\": 1}", "{}"));
  const SpanqResult result = spanq({"run", path});
  QCOMPARE(result.code, 1);
  QVERIFY2(result.err.find(path + ":2:20: /query/user: ") == 0, result.err.c_str());
}

void TestSpanqDocuments::unusedSettingIsWarnedOf() {
  const SpanqResult result = spanq({"explain", "--set", "whom=Otto", write(documentWith(kQuery, kDeclared))});
  QCOMPARE(result.code, 0);
  QVERIFY2(result.err.find("did you mean \"who\"?") != std::string::npos, result.err.c_str());
}

QTEST_GUILESS_MAIN(TestSpanqDocuments)
#include "tst_spanq_documents.moc"
