// SPDX-License-Identifier: GPL-3.0-or-later
// The templates and the shapes of the reference's built-in queries: each opens, explains, runs on the bundled
// model and exports, and reuses what it is there to show.
#include "engine/query/json/json.h"
#include "engine/query/parameters.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"

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
#include <fstream>
#include <set>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using test::spanq;
using test::SpanqResult;
using Json = nlohmann::ordered_json;

class TestSpanqTemplates : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyQueryIsARow();
  void opens_data() { rows(); }
  void opens();
  void explains_data() { rows(); }
  void explains();
  void runs_data() { rows(); }
  void runs();
  void exports_data() { rows(); }
  void exports();
  void reversedDocumentsAreRelocated();
  void candidatesShareTheirExamples();
  void winnersAloneMakeAShortPrompt();
  void askedQuestionIsAnswered();
  void parametersAreDeclared();
  void parametersTakeValues();

 private:
  static void rows();
};

namespace {

const std::string kQueries = SPANSCOPE_SOURCE_DIR "/resources/queries/";
const std::string kApplicant =
    "My name is Otto. I am a baker with 5 years of experience and need an introductory email to apply for a "
    "position at Globex";

/// What the answer must be where sampling decides its words: a score and one of the candidates.
const QString kJudged = QStringLiteral("<judged>");
const QString kAnything = QStringLiteral("<anything>");

struct Template {
  const char* file;
  int steps;
  int plies;
  QString answer;
  int reuse;  ///< least share of the last step's prompt, in per cent, that is found in a cold run
  int sent;   ///< generates whose prompt is known before anything runs: lines of --to tokens
};

const std::vector<Template>& templates() {
  static const std::vector<Template> kTemplates{
      {"chat.json", 1, 1, "The pet of Priya is Waffles.", 0, 1},
      {"rag.json", 1, 1, "The pet of Tarek is Biscuit.", 0, 1},
      {"parameters.span", 1, 1, "The pet of Tarek is Biscuit.", 0, 1},
      {"retrieve.yaml", 1, 1, "The pet of Tarek is Biscuit.", 0, 1},
      {"judge-2.json", 3, 2, kJudged, 75, 1},
      {"judge-4.json", 5, 2, kJudged, 85, 1},
      {"judge-4-tree.yaml", 7, 3, kJudged, 95, 2},
      {"builtins/email-1.lisp", 1, 1, kAnything, 0, 1},
      {"builtins/email-2.lisp", 4, 2, kJudged, 75, 1},
      {"builtins/email-3.lisp", 4, 2, kJudged, 75, 1},
      {"builtins/bulkmap.json", 2, 1, "Mira lives in Lisbon.\nOtto plays the drums.", 0, 1},
      // What the bundled model makes of a request to extract means nothing.
      {"builtins/gsm8k.lisp", 5, 3, kAnything, 85, 2},
      {"builtins/rag.lisp", 1, 1, "The pet of Tarek is Biscuit.", 0, 1},
      {"builtins/spans.json", 1, 1, "Mira", 0, 1},
      {"builtins/spans-reversed.json", 1, 1, "Mira", 0, 1},
      {"builtins/sweagent.lisp", 4, 2, "4821", 95, 3},
  };
  return kTemplates;
}

const Template& templateNamed(const QString& file) {
  return *std::find_if(templates().begin(), templates().end(),
                       [&file](const Template& known) { return file == known.file; });
}

std::vector<std::string> with(std::vector<std::string> words, const std::string& file) {
  words.insert(words.end(), {"--answer", kApplicant, kQueries + file});
  return words;
}

Json runsOf(const std::vector<std::string>& files, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"run", "--json", "--answer", kApplicant};
  words.insert(words.end(), options.begin(), options.end());
  for (const std::string& file : files) words.push_back(kQueries + file);
  const SpanqResult result = spanq(words);
  if (result.code != 0) {
    qWarning("%s", result.err.c_str());
    return {};
  }
  return Json::parse(result.out)["runs"];
}

bool isJudged(const Json& run) {
  const std::string answer = run["answer"];
  const std::size_t colon = answer.find(": ");
  if (colon == std::string::npos || colon == 0 || colon > 3) return false;
  const auto& steps = run["steps"];
  return std::any_of(steps.begin(), steps.end(),
                     [&](const Json& step) { return step["text"] == answer.substr(colon + 2); });
}

/// Exports a file in a form and reads that back: the canonical JSON of what was read.
std::string throughForm(const QTemporaryDir& folder, const std::string& file, const std::string& form) {
  const SpanqResult written = spanq(with({"export", "--to", form}, file));
  if (written.code != 0) return "not written: " + written.err;
  const QString suffix = form == "spnl" ? QStringLiteral("json") : QString::fromStdString(form);
  const std::string path = folder.filePath("query." + suffix).toStdString();
  std::ofstream(path) << written.out;
  const SpanqResult read = spanq({"export", "--to", "spnl", path});
  return read.code == 0 ? read.out : "not read: " + read.err;
}

}  // namespace

void TestSpanqTemplates::rows() {
  QTest::addColumn<QString>("file");
  for (const Template& known : templates()) QTest::newRow(known.file) << QString(known.file);
}

void TestSpanqTemplates::everyQueryIsARow() {
  QStringList files;
  for (const Template& known : templates()) {
    if (QString(known.file).startsWith("builtins/")) files += QString(known.file).section('/', 1);
  }
  files.sort();
  const QDir folder(QString::fromStdString(kQueries) + "builtins");
  QCOMPARE(files, folder.entryList(QDir::Files, QDir::Name));
}

void TestSpanqTemplates::opens() {
  QFETCH(QString, file);
  const SpanqResult checked = spanq({"validate", kQueries + file.toStdString()});
  QVERIFY2(checked.code == 0 && checked.err.empty(), checked.err.c_str());
  // The window opens it as a document. There, comments and evaluated forms are warnings: a document cannot
  // hold them.
  const document::OpenedDocument opened = ui::openDocument(QString::fromStdString(kQueries) + file);
  QVERIFY(opened.document.has_value());
  for (const query::Diagnostic& diagnostic : opened.diagnostics)
    QVERIFY2(diagnostic.severity == Severity::Warning, diagnostic.located({}).c_str());
  const auto drawn = document::toQuery(*opened.document, document::TakeOut::Nothing);
  QVERIFY(drawn.query.has_value());
  const SpanqResult exported = spanq({"export", "--to", "spnl", kQueries + file.toStdString()});
  if (file == "builtins/email-3.lisp") {  // only the user can answer
    QCOMPARE(exported.code, 1);
    return;
  }
  // What is drawn holds parameters, what is exported their values.
  const auto resolved = query::resolveParameters(*drawn.query, opened.document->declarations, {});
  QVERIFY(std::holds_alternative<query::Node>(resolved));
  QCOMPARE(QString::fromStdString(query::writeCanonical(std::get<query::Node>(resolved)) + "\n"),
           QString::fromStdString(exported.out));
}

void TestSpanqTemplates::explains() {
  QFETCH(QString, file);
  const Template& known = templateNamed(file);
  const SpanqResult result = spanq(with({"explain", "--json"}, known.file));
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json plan = Json::parse(result.out);
  QCOMPARE(static_cast<int>(plan["steps"].size()), known.steps);
  std::set<int> plies;
  for (const Json& step : plan["steps"]) plies.insert(step["ply"].get<int>());
  QCOMPARE(static_cast<int>(plies.size()), known.plies);
  // An outer prompt reuses an inner one only because the planner distributed it.
  std::set<std::string> rules;
  for (const Json& pass : plan["passes"]) rules.insert(pass["rule"].get<std::string>());
  QCOMPARE(rules.contains("distribute plus"), known.plies > 1);
}

void TestSpanqTemplates::runs() {
  QFETCH(QString, file);
  const Template& known = templateNamed(file);
  const Json runs = runsOf({known.file, known.file});
  QCOMPARE(runs.size(), std::size_t{2});
  const Json& steps = runs[0]["steps"];
  QCOMPARE(static_cast<int>(steps.size()), known.steps);
  for (const Json& step : steps) QVERIFY(!step["text"].get<std::string>().empty());
  if (known.answer == kJudged) {
    QVERIFY2(isJudged(runs[0]), runs[0]["answer"].get<std::string>().c_str());
  } else if (known.answer != kAnything) {
    QCOMPARE(QString::fromStdString(runs[0]["answer"]), known.answer);
  }
  const Json& last = steps[steps.size() - 1];
  const int reuse = 100 * last["cached"].get<int>() / last["prompt"].get<int>();
  QVERIFY2(reuse >= known.reuse, qPrintable(QString::number(reuse)));
  // Asked again, nothing is computed but the one token that a prompt needs.
  for (const Json& step : runs[1]["steps"]) QCOMPARE(step["computed"].get<int>(), 1);
  QCOMPARE(runs[1]["answer"], runs[0]["answer"]);
}

void TestSpanqTemplates::exports() {
  QFETCH(QString, file);
  const Template& known = templateNamed(file);
  const QTemporaryDir folder;
  const SpanqResult canonical = spanq(with({"export", "--to", "spnl"}, known.file));
  QVERIFY2(canonical.code == 0, canonical.err.c_str());
  for (const char* form : {"spnl", "yaml", "lisp"}) {
    QCOMPARE(QString::fromStdString(throughForm(folder, known.file, form)),
             QString::fromStdString(canonical.out));
  }
  const SpanqResult tokens =
      spanq(with({"export", "--to", "tokens", "--tokenizer", SPANSCOPE_SOURCE_DIR "/resources/models/spanlet",
                  "--pad", "3", "--plus", "5"},
                 known.file));
  QVERIFY2(tokens.code == 0, tokens.err.c_str());
  QCOMPARE(static_cast<int>(std::count(tokens.out.begin(), tokens.out.end(), '\n')), known.sent);
  const Json ids = Json::parse(tokens.out.substr(0, tokens.out.find('\n')))["ids"];
  QVERIFY(!ids.empty());
}

void TestSpanqTemplates::reversedDocumentsAreRelocated() {
  const Json runs = runsOf({"builtins/spans.json", "builtins/spans.json", "builtins/spans-reversed.json"});
  QCOMPARE(runs.size(), std::size_t{3});
  QCOMPARE(runs[1]["spans"]["plain"].get<int>(), 2);
  QCOMPARE(runs[2]["spans"]["relocated"].get<int>(), 2);
  QVERIFY(runs[2]["steps"][0]["computed"].get<int>() < 10);  // the question alone
  const Json stock = runsOf({"builtins/spans.json", "builtins/spans-reversed.json"}, {"--policy", "prefix"});
  QVERIFY(stock[1]["steps"][0]["computed"].get<int>() > 130);  // the documents as well
}

void TestSpanqTemplates::candidatesShareTheirExamples() {
  const Json steps = runsOf({"builtins/sweagent.lisp"})[0]["steps"];
  for (const int later : {1, 2}) {
    QVERIFY(steps[static_cast<std::size_t>(later)]["cached"].get<int>() > 100);
    QVERIFY(steps[static_cast<std::size_t>(later)]["computed"].get<int>() <
            45);  // its own input and the task
  }
}

void TestSpanqTemplates::winnersAloneMakeAShortPrompt() {
  const Json whole = runsOf({"judge-4-tree.yaml"});
  const Json winners = runsOf({"judge-4-tree.yaml"}, {"--no-distribute"});
  const Json flat = runsOf({"judge-4.json"});
  QVERIFY(isJudged(winners[0]));
  const auto longest = [](const Json& run) {
    int most = 0;
    for (const Json& step : run["steps"]) most = std::max(most, step["prompt"].get<int>());
    return most;
  };
  QVERIFY(longest(winners[0]) < longest(flat[0]));
  QVERIFY(longest(flat[0]) < longest(whole[0]));
}

void TestSpanqTemplates::askedQuestionIsAnswered() {
  const SpanqResult asked =
      spanq({"run", kQueries + "builtins/email-3.lisp"}, kApplicant + "\n", {}, /*canAsk=*/true);
  QCOMPARE(asked.code, 0);
  QVERIFY(asked.err.find("Tell me about yourself:") != std::string::npos);
  QVERIFY(asked.out.find("Globex") != std::string::npos);
}

void TestSpanqTemplates::parametersAreDeclared() {
  const std::string path = kQueries + "parameters.span";
  QFile file(QString::fromStdString(path));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const std::string text = file.readAll().toStdString();
  const document::OpenedDocument opened = document::readDocument(text);
  QVERIFY(opened.document.has_value());
  QCOMPARE(opened.document->declarations.size(), std::size_t{2});
  for (const query::ParameterDeclaration& declared : opened.document->declarations) {
    QVERIFY(declared.kind && declared.defaultValue && !declared.description.empty());
  }
  const document::OpenedDocument again = document::readDocument(document::writeDocument(*opened.document));
  QVERIFY(again.document == opened.document);
  const SpanqResult listed = spanq({"validate", "--parameters", path});
  QVERIFY(listed.out.find("{most}: max_tokens, by default 60, at /g/max_tokens") != std::string::npos);
  QVERIFY(listed.out.find("{who}: text, by default Tarek, at /g/input/cross/2/user") != std::string::npos);
}

void TestSpanqTemplates::parametersTakeValues() {
  const Json runs = runsOf({"parameters.span"}, {"--set", "who=Priya"});
  QCOMPARE(QString::fromStdString(runs[0]["answer"]), QString("The pet of Priya is Waffles."));
  for (const char* command : {"explain", "run", "export"}) {
    std::vector<std::string> words = {command, "--set", "most=many", kQueries + "parameters.span"};
    if (words[0] == "export") words.insert(words.end(), {"--to", "spnl"});
    const SpanqResult refused = spanq(words);
    QCOMPARE(refused.code, 1);
    QVERIFY(refused.out.empty());
    QVERIFY2(refused.err.find("the value \"many\" for the parameter \"most\"") != std::string::npos,
             refused.err.c_str());
  }
}

SPANSCOPE_TEST(tst_spanq_templates, TestSpanqTemplates, QCoreApplication)
#include "tst_spanq_templates.moc"
