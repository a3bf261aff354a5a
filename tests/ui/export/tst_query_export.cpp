// SPDX-License-Identifier: GPL-3.0-or-later
// What is exported is what a shell, Python and a reader of JSON take it for, whatever the texts hold.
#include "engine/query/json/json.h"
#include "engine/query/query_form.h"
#include "engine/spnl/request_text.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/export/export_settings.h"
#include "ui/session/problem_finder.h"

#include <QByteArray>
#include <QDebug>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QList>
#include <QObject>
#include <QProcess>
#include <QRandomGenerator>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using exports::Effect;
using exports::ExportStage;
using spanscope::product_text::says;
using spanscope::product_text::worded;

class TestQueryExport : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void examplesExportTheirQuery_data();
  void examplesExportTheirQuery();
  void stagesRewriteTheQuery();
  void chatHasARequestAStep();
  void shellWordsSurvive();
  void curlPassesTheBody_data();
  void curlPassesTheBody();
  void pythonLiteralsSurvive();
  void pythonProgramSendsTheBody_data();
  void pythonProgramSendsTheBody();
  void requestIsWhatTheServerTakes();
  void incompleteDocumentsSayWhatIsMissing();
  void modelIsReplacedEverywhere();
  void parametersAreResolvedWhereTheyCan();
  void remarks_data();
  void remarks();
  void endpointsAreChecked();
  void takenOutIsSaid();
  void oneTokenIsNotStreamed();
  void theModelThatRunsIsFilledIn();
  void filesAreWrittenInline();
  void whatARunRefusesIsSaid();
};

namespace {

Document documentOf(const QByteArray& json) {
  const query::ParseResult parsed = query::parseJson(json.toStdString());
  return parsed.query ? document::fromQuery(*parsed.query) : Document();
}

QueryExport exported(const Document& document, const QueryExportOptions& options = {}) {
  auto made = exportQuery(document, options);
  if (auto* why = std::get_if<QString>(&made)) {
    qWarning("%s", qPrintable(*why));
    return {};
  }
  return std::get<QueryExport>(std::move(made));
}

/// A row of the table; the tests name those that there are.
const exports::ExportTarget& target(const char* name) {
  return *exports::findExportTarget(name);
}

std::string textOf(const Document& document, const exports::ExportTarget& target,
                   ExportStage stage = ExportStage::Read) {
  return exported(document, {.target = &target, .settings = {.stage = stage}}).text;
}

/// JSON on one line.
std::string canonicalOf(const Document& document) {
  return exported(document, {.settings = {.oneLine = true}}).text;
}

QByteArray bytes(const std::string& text) {
  return QByteArray(text.data(), static_cast<qsizetype>(text.size()));
}

/// Text with everything that quoting gets wrong.
std::string randomText(QRandomGenerator& random) {
  static const QStringList pieces{
      "'",    "''",   "\\",           "\"",   "$HOME", "`id`", "!",   "\n",     "\r\n",   "\t",
      " ",    "%s",   "%%",           "-n",   "\\n",   "#",    "&",   ";",      "*",      "~",
      "{}",   "EOF",  "END_OF_QUERY", "\n\n", "ä",     "→",    "😀",   "\u2028", "\ufeff", "\u0085",
      "\x01", "\x1b", "\x7f",         "a",    "B",     "9",    "'''", "\"\"\"", "@-"};
  QString text;
  const int count = random.bounded(1, 40);
  for (int i = 0; i < count; ++i) text += pieces[random.bounded(static_cast<int>(pieces.size()))];
  return text.toStdString();
}

QByteArray outputOf(const QString& program, const QStringList& arguments,
                    const QStringList& environment = {}) {
  QProcess process;
  process.setEnvironment(QProcess::systemEnvironment() + environment);
  process.start(program, arguments);
  if (!process.waitForFinished(60000) || process.exitCode() != 0) {
    return "failed: " + process.readAllStandardError();
  }
  return process.readAllStandardOutput();
}

QString python() {
  return QStandardPaths::findExecutable("python3");
}

std::string bodyWith(const std::string& text) {
  return query::writeCanonical({query::Repeat{
      .count = std::uint8_t{1},
      .generate = {.settings = {.model = "m", .maxTokens = 8, .temperature = 0.5F},
                   .input = query::Node{query::Message{.role = query::Role::User, .text = text}}}}});
}

}  // namespace

void TestQueryExport::examplesExportTheirQuery_data() {
  QTest::addColumn<QString>("path");
  const QDir folder(QString(SPANSCOPE_SOURCE_DIR) + "/resources/queries");
  for (const QString& file : folder.entryList({"*.json"}))
    QTest::newRow(qPrintable(file)) << folder.filePath(file);
}

void TestQueryExport::examplesExportTheirQuery() {
  QFETCH(QString, path);
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QByteArray text = file.readAll();
  const auto read = query::parseJson(text.toStdString()).query;
  const Document document = documentOf(text);
  QCOMPARE(bytes(textOf(document, target("spnl"))), bytes(query::writePretty(*read)));
  QCOMPARE(bytes(canonicalOf(document)), bytes(query::writeCanonical(*read)));
  for (const auto& [name, form] :
       {std::pair("yaml", query::QueryForm::Yaml), std::pair("lisp", query::QueryForm::Lisp)}) {
    const query::ParseResult back = query::parseQuery(textOf(document, target(name)), form);
    QVERIFY(back.query.has_value());
    QCOMPARE(bytes(query::writeCanonical(*back.query)), bytes(query::writeCanonical(*read)));
  }
}

void TestQueryExport::stagesRewriteTheQuery() {
  const Document document = documentOf(
      R"J({"g":{"model":"spnl/m","temperature":0.5,"input":{"seq":[{"seq":[{"user":"j"}]},{"plus":[{"g":{"model":"spnl/m","temperature":0.5,"input":{"user":"a"}}}]}]}}})J");
  const std::string read = textOf(document, target("spnl"));
  const std::string simplified = textOf(document, target("spnl"), ExportStage::Simplified);
  const std::string optimized = textOf(document, target("spnl"), ExportStage::Optimized);
  QVERIFY(read != simplified && simplified != optimized);
  const auto same = [](const std::string& yaml, const std::string& json) {
    return query::writeCanonical(*query::parseQuery(yaml, query::QueryForm::Yaml).query) ==
           query::writeCanonical(*query::parseJson(json).query);
  };
  QVERIFY(same(textOf(document, target("yaml"), ExportStage::Optimized), optimized));
  // The inner generate is a call; the outer one holds an answer.
  const std::string calls = textOf(document, target("spnl"), ExportStage::Lowered);
  QCOMPARE(bytes(calls),
           QByteArray(R"J({"g":{"model":"spnl/m","max_tokens":0,"temperature":0.5,"input":{"user":"a"}}})J"
                      "\n"));
}

void TestQueryExport::chatHasARequestAStep() {
  const Document document =
      documentOf(R"J({"repeat":{"n":3,"g":{"model":"spnl/m","max_tokens":4,"input":{"user":"a"}}}})J");
  const std::string without = textOf(document, target("chat"));
  QCOMPARE(bytes(without).count('\n'), 3);
  QVERIFY(!bytes(without).contains("seed"));
  const std::string with = exported(document, {.target = &target("chat"), .settings = {.seed = 7}}).text;
  QCOMPARE(bytes(with).count("\"seed\""), 3);
  const Document single = documentOf(R"J({"g":{"model":"spnl/m","input":{"user":"a"}}})J");
  QVERIFY(textOf(single, target("chat")).starts_with("{\n  \"model\": \"m\""));
  QVERIFY(textOf(documentOf(R"J({"user":"a"})J"), target("chat")).empty());
}

void TestQueryExport::shellWordsSurvive() {
  const quint32 seed = 20240611;
  QRandomGenerator random(seed);
  for (int i = 0; i < 60; ++i) {
    const std::string text = randomText(random);
    const QString command = QString::fromStdString("printf %s " + spnl::shellQuoted(text));
    QVERIFY2(outputOf("sh", {"-c", command}) == bytes(text),
             qPrintable(QString("seed %1, case %2").arg(seed).arg(i)));
  }
}

void TestQueryExport::curlPassesTheBody_data() {
  QTest::addColumn<int>("characters");
  QTest::newRow("short") << 10;
  QTest::newRow("longest word") << 90'000;
  QTest::newRow("here-document") << 300'000;
}

void TestQueryExport::curlPassesTheBody() {
  QFETCH(int, characters);
  QRandomGenerator random(7);
  std::string text;
  while (text.size() < static_cast<std::size_t>(characters)) text += randomText(random);
  const std::string body = bodyWith(text);
  const std::string line = spnl::curlLine(body, "http://host:8000/v1/query/execute?key=a'b", true);
  // curl is a function here that prints its arguments and, where asked for, its input.
  QTemporaryDir folder;
  QFile script(folder.filePath("line.sh"));
  QVERIFY(script.open(QIODevice::WriteOnly));
  script.write(R"(curl() { for word; do printf '%s\0' "$word"; done; case $word in @-) cat;; esac; }
)");
  script.write(bytes(line));
  script.close();
  QList<QByteArray> words = outputOf("sh", {script.fileName()}).split('\0');
  const QByteArray input = words.takeLast();
  QVERIFY(words.contains("http://host:8000/v1/query/execute?key=a'b&stream=true"));
  QVERIFY(words.contains("Content-Type: text/plain"));
  QVERIFY(words.contains("POST"));
  if (body.size() <= spnl::kMaxCurlWord) {
    QCOMPARE(words.last(), bytes(body));
    QCOMPARE(input, QByteArray());
  } else {
    QCOMPARE(words.last(), QByteArray("@-"));
    QCOMPARE(input, bytes(body) + "\n");
  }
}

void TestQueryExport::pythonLiteralsSurvive() {
  if (python().isEmpty()) QSKIP("python3 is not installed");
  QRandomGenerator random(42);
  std::string program = "import sys\nout = sys.stdout.buffer\n";
  QByteArray expected;
  for (int i = 0; i < 200; ++i) {
    const std::string text = randomText(random);
    program += "out.write(" + spnl::pythonLiteral(text) + ".encode('utf-8'))\n";
    expected += bytes(text);
  }
  QCOMPARE(outputOf(python(), {"-c", QString::fromStdString(program)}), expected);
}

void TestQueryExport::pythonProgramSendsTheBody_data() {
  QTest::addColumn<bool>("stream");
  QTest::newRow("streamed") << true;
  QTest::newRow("in one piece") << false;
}

void TestQueryExport::pythonProgramSendsTheBody() {
  if (python().isEmpty()) QSKIP("python3 is not installed");
  QFETCH(bool, stream);
  // A package of the same name replaces requests: it writes down the sent bytes and answers as the server
  // does.
  QTemporaryDir folder;
  QFile package(folder.filePath("requests.py"));
  QVERIFY(package.open(QIODevice::WriteOnly));
  package.write(R"PY(
import os
class Response:
    def __enter__(self): return self
    def __exit__(self, *rest): return False
    def raise_for_status(self): pass
    def iter_lines(self):
        return [b'data: {"choices":[{"text":"Hello"}]}', b'', b'data: {"choices":[{"delta":{"content":" you"}}]}', b'data: [DONE]']
    def json(self): return {'choices': [{'message': {'content': 'Hello you'}}]}
def post(url, params, headers, data, timeout, stream=False):
    with open(os.environ['SENT'], 'wb') as sent:
        sent.write('\n'.join([url, params['stream'], headers['Content-Type'], str(stream)]).encode() + b'\n' + data)
    return Response()
)PY");
  package.close();
  QRandomGenerator random(3);
  const std::string body = bodyWith(randomText(random) + randomText(random));
  const QString program = folder.filePath("program.py");
  QFile file(program);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(bytes(spnl::pythonProgram(body, "http://host/it's", stream)));
  file.close();
  const QByteArray answer = outputOf(
      python(), {program},
      {"PYTHONPATH=" + folder.path(), "SENT=" + folder.filePath("sent"), "PYTHONDONTWRITEBYTECODE=1"});
  QCOMPARE(answer, QByteArray("Hello you\n"));
  QFile sent(folder.filePath("sent"));
  QVERIFY(sent.open(QIODevice::ReadOnly));
  const QByteArray head =
      stream ? "http://host/it's\ntrue\ntext/plain\nTrue\n" : "http://host/it's\nfalse\ntext/plain\nFalse\n";
  QCOMPARE(sent.readAll(), head + bytes(body));
}

void TestQueryExport::requestIsWhatTheServerTakes() {
  const auto requestOf = [](const char* json) { return spnl::requestFor(*query::parseJson(json).query); };
  const query::Node wrapped =
      requestOf(R"J({"g":{"model":"spnl/org/m","input":{"user":"a"},"max_tokens":5,"temperature":0.5}})J");
  const auto* repeat = wrapped.as<query::Repeat>();
  QVERIFY(repeat != nullptr);
  QCOMPARE(std::get<std::uint8_t>(repeat->count), std::uint8_t{1});
  QCOMPARE(bytes(repeat->generate.settings.model), QByteArray("org/m"));
  const query::Node map = requestOf(R"J({"map":{"metadata":{"model":"spnl/m"},"inputs":["a","b"]}})J");
  QVERIFY(map.as<query::Map>() != nullptr);
  QCOMPARE(bytes(map.as<query::Map>()->settings.model), QByteArray("m"));
  const Document document = documentOf(R"J({"g":{"model":"spnl/org/m","input":{"user":"a"}}})J");
  QVERIFY(bytes(textOf(document, target("curl"))).contains("\"model\":\"org/m\""));
}

void TestQueryExport::incompleteDocumentsSayWhatIsMissing() {
  Document document;
  const auto message = [&document] {
    const auto made = exportQuery(document);
    const auto* why = std::get_if<QString>(&made);
    // In the words in which a run is refused.
    if (why != nullptr && *why != refusalOf(findProblems(document))) return "other words: " + *why;
    return why == nullptr ? QString() : *why;
  };
  QCOMPARE(message(), worded("<query-empty>. <add-node-canvas>."));
  document.setRoot(document::addTree(document, document::makeOperator("seq")));
  QCOMPARE(message(), QString());
  document::DocumentNode node;
  node.own = document::makeOperator("g");
  node.children = {document::kNoNode};
  node.name = "judge";
  document = {};
  document.setRoot(document.insert(node));
  QCOMPARE(message(), worded("The generate has no input. <connect-node>."));
}

void TestQueryExport::modelIsReplacedEverywhere() {
  const Document document = documentOf(
      R"J({"g":{"model":"a/1","input":{"cross":[{"repeat":{"n":2,"g":{"model":"b/2","input":{"user":"x"}}}},{"map":{"metadata":{"model":"c/3"},"inputs":["y"]}}]}}})J");
  QueryExportOptions options;
  options.model = "spnl/new";
  const std::string text = exported(document, options).text;
  QCOMPARE(bytes(text).count("spnl/new"), 3);
  for (const char* old : {"a/1", "b/2", "c/3"}) QVERIFY(text.find(old) == std::string::npos);
}

void TestQueryExport::parametersAreResolvedWhereTheyCan() {
  Document document = documentOf(
      R"J({"repeat":{"n":"{n}","g":{"model":"spnl/m","input":{"user":"About {topic}"},"max_tokens":"{max}","temperature":"{t}"}}})J");
  document.parameters = {{"topic", "cats"}, {"max", "12"}, {"t", "warm"}};
  const QueryExport made = exported(document, {.settings = {.oneLine = true}});
  QVERIFY(made.text.find("About cats") != std::string::npos);
  QVERIFY(made.text.find("\"max_tokens\":12") != std::string::npos);
  QVERIFY(made.text.find("\"n\":\"{n}\"") != std::string::npos);
  QVERIFY(made.text.find("\"temperature\":\"{t}\"") != std::string::npos);
  const auto refused =
      std::count_if(made.remarks.begin(), made.remarks.end(), [](const ExportRemark& remark) {
        return remark.effect == Effect::Refused && says(remark.text, "<name-stands-where>");
      });
  QCOMPARE(refused, 2);

  document.parameters = {{"n", "3"}, {"max", "12"}, {"t", "0.5"}};
  const QueryExport whole = exported(document);
  QVERIFY(std::any_of(whole.remarks.begin(), whole.remarks.end(), [](const ExportRemark& remark) {
    return remark.effect == Effect::Note && remark.text.startsWith("{topic}");
  }));
}

void TestQueryExport::remarks_data() {
  QTest::addColumn<QByteArray>("json");
  QTest::addColumn<QString>("text");
  QTest::addColumn<Effect>("effect");
  QTest::addColumn<QByteArray>("target");
  const auto generate = [](const char* input, const char* model = "spnl/m") {
    return QByteArray(R"J({"g":{"model":")J") + model + R"J(","input":)J" + input + "}}";
  };
  using enum Effect;
  QTest::newRow("ask") << generate(R"J({"ask":"who?"})J") << "ask node" << Refused << QByteArray("spnl");
  QTest::newRow("no provider") << generate(R"J({"user":"a"})J", "m") << "no provider" << Refused
                               << QByteArray("yaml");
  QTest::newRow("nested") << generate(R"J({"plus":[{"g":{"model":"spnl/m","input":{"user":"a"}}}]})J")
                          << "inside another generate" << Refused << QByteArray("curl");
  QTest::newRow("the same") << generate(R"J({"plus":[{"g":{"model":"spnl/m","input":{"user":"a"}}}]})J")
                            << "inside another generate" << Refused << QByteArray("python");
  QTest::newRow("placeholder") << generate(R"J({"plus":[{"g":{"model":"spnl/m","input":{"user":"a"}}}]})J")
                               << "inside another generate" << Differs << QByteArray("chat");
  QTest::newRow("withheld") << generate(R"J({"plus":[{"g":{"model":"spnl/m","input":{"user":"a"}}}]})J")
                            << "not contain this generate" << Differs << QByteArray("tokens");
  QTest::newRow("assistant") << generate(R"J({"assistant":"a"})J") << "macro" << Refused
                             << QByteArray("lisp");
  QTest::newRow("layout") << generate(R"J({"user":"a"})J") << "Layout" << Note << QByteArray("spnl");
}

void TestQueryExport::remarks() {
  QFETCH(QByteArray, json);
  QFETCH(QString, text);
  QFETCH(Effect, effect);
  QFETCH(QByteArray, target);
  const Document document = documentOf(json);
  const QueryExport made = exported(document, {.target = exports::findExportTarget(target.constData())});
  const auto found = std::find_if(made.remarks.begin(), made.remarks.end(),
                                  [&text](const ExportRemark& remark) { return remark.text.contains(text); });
  QVERIFY(found != made.remarks.end());
  QCOMPARE(found->effect, effect);
  QVERIFY(std::is_sorted(made.remarks.begin(), made.remarks.end(),
                         [](const ExportRemark& a, const ExportRemark& b) { return a.effect < b.effect; }));
}

void TestQueryExport::endpointsAreChecked() {
  const Document document = documentOf(R"J({"g":{"model":"spnl/m","input":{"user":"a"}}})J");
  const auto refuses = [&document](const exports::ExportTarget& target, const std::string& endpoint) {
    const QueryExport made = exported(document, {.target = &target, .settings = {.endpoint = endpoint}});
    return std::any_of(made.remarks.begin(), made.remarks.end(), [](const ExportRemark& remark) {
      return remark.effect == Effect::Refused && remark.text.contains("endpoint");
    });
  };
  QVERIFY(!refuses(target("curl"), "https://gpu:8000/v1/query/execute"));
  QVERIFY(refuses(target("curl"), "gpu:8000"));
  QVERIFY(refuses(target("python"), "ftp://gpu/"));
  QVERIFY(!refuses(target("spnl"), "gpu:8000"));
}

void TestQueryExport::takenOutIsSaid() {
  Document document = documentOf(
      R"J({"g":{"model":"spnl/m","input":{"cross":[{"user":"kept"},{"user":"muted"},{"g":{"model":"spnl/m","input":{"user":"x"}}}]}}})J");
  const auto join = document.at(document.at(document.root()).children[0]);
  document::setMuted(document, {join.children[1]}, true);
  document::setFrozen(document, join.children[2], {"the answer"});
  document::addTree(document, document::makeOperator("user"));
  const QueryExport made = exported(document, {.settings = {.oneLine = true}});
  QVERIFY(made.text.find("muted") == std::string::npos);
  QVERIFY(made.text.find(R"J({"assistant":"the answer"})J") != std::string::npos);
  QString all;
  for (const ExportRemark& remark : made.remarks) all += remark.text + '\n';
  QVERIFY(all.contains(worded("<muted-node-left>")));
  QVERIFY(all.contains(worded("<frozen-node-sent>")));
  QVERIFY(all.contains(worded("<tree-beside-query>")));
  QVERIFY(!all.contains("inside another generate"));
}

void TestQueryExport::oneTokenIsNotStreamed() {
  const Document one = documentOf(R"J({"g":{"model":"spnl/m","input":{"user":"a"},"max_tokens":1}})J");
  QVERIFY(textOf(one, target("curl")).find("stream=false") != std::string::npos);
  const Document two = documentOf(R"J({"g":{"model":"spnl/m","input":{"user":"a"},"max_tokens":2}})J");
  QVERIFY(textOf(two, target("curl")).find("stream=true") != std::string::npos);
}

void TestQueryExport::theModelThatRunsIsFilledIn() {
  const Document document = documentOf(R"({"g":{"model":"","input":{"cross":[{"user":"a"},
      {"g":{"model":"other","input":{"user":"b"}}}]}}})");
  const QueryExport made = exported(document, {.usualModel = "spnl/spanlet"});
  QVERIFY2(made.text.find("spnl/spanlet") != std::string::npos, made.text.c_str());
  QVERIFY2(made.text.find("\"other\"") != std::string::npos, made.text.c_str());
  for (const ExportRemark& remark : made.remarks) QVERIFY(!remark.text.contains("no model"));
  const QueryExport chosen = exported(document, {.model = "spnl/m", .usualModel = "spnl/spanlet"});
  QVERIFY(chosen.text.find("spanlet") == std::string::npos);
}

void TestQueryExport::filesAreWrittenInline() {
  const QTemporaryDir folder;
  QFile file(folder.filePath("a.txt"));
  QVERIFY(file.open(QIODevice::WriteOnly));
  QVERIFY(file.write("What the file says") > 0);
  file.close();
  const Document document = documentOf(R"({"g":{"model":"m","input":{"file":"a.txt"}}})");
  const QString path = folder.filePath("query.span");
  QVERIFY(exported(document).text.find("a.txt") != std::string::npos);
  const std::string text = exported(document, {.inlineFiles = true, .documentPath = path}).text;
  QVERIFY2(text.find("What the file says") != std::string::npos, text.c_str());
  QVERIFY(text.find("a.txt") == std::string::npos);
  const auto refused = exportQuery(document, {.inlineFiles = true});
  QVERIFY(std::holds_alternative<QString>(refused));
  QVERIFY2(std::get<QString>(refused).contains(worded("<document-saved>")),
           qPrintable(std::get<QString>(refused)));
}

void TestQueryExport::whatARunRefusesIsSaid() {
  const QTemporaryDir folder;
  const QString path = folder.filePath("query.span");
  const Document document =
      documentOf(R"({"g":{"model":"m","input":{"cross":[{"file":"a.txt"},{"user":"b"}]}}})");
  ProblemFinder finder;
  const std::vector<Problem> problems = finder.find(document, nullptr, nullptr, nullptr, path);
  const QString refused = refusalOf(problems);
  QVERIFY(!refused.isEmpty());
  // The server may have the file.
  const QueryExport made = exported(document, {.problems = problems});
  QVERIFY(!made.text.empty());
  const auto said = std::find_if(made.remarks.begin(), made.remarks.end(),
                                 [&](const ExportRemark& remark) { return remark.text.contains(refused); });
  QVERIFY(said != made.remarks.end());
  QVERIFY(document.contains(said->node));
  QVERIFY(query::infoOf(document.at(said->node).own).resolvedBy == query::ResolvedBy::Files);
  // It is needed where it would be written.
  const auto inlined =
      exportQuery(document, {.inlineFiles = true, .documentPath = path, .problems = problems});
  QVERIFY(std::holds_alternative<QString>(inlined));
  QCOMPARE(std::get<QString>(inlined), refused);
}

SPANSCOPE_TEST(tst_query_export, TestQueryExport, QApplication)
#include "tst_query_export.moc"
