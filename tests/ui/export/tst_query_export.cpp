// SPDX-License-Identifier: GPL-3.0-or-later
// What is exported is what a shell, Python and a reader of JSON take it for, whatever the texts hold.
#include "engine/query/json.h"
#include "ui/document/document_query.h"
#include "ui/document/edits.h"
#include "ui/export/query_export.h"

#include <QDir>
#include <QProcess>
#include <QRandomGenerator>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;

class TestQueryExport : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void examplesExportTheirQuery_data();
  void examplesExportTheirQuery();
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
  void takenOutIsSaid();
  void oneTokenIsNotStreamed();
};

namespace {

Document documentOf(const QByteArray& json) {
  const query::ParseResult parsed = query::parseJson(json.toStdString());
  return parsed.query ? document::fromQuery(*parsed.query) : Document();
}

QueryExport exported(const Document& document, const QueryExportOptions& options = {}) {
  auto made = exportQuery(document, options);
  if (auto* error = std::get_if<Error>(&made)) {
    qWarning("%s", error->message().c_str());
    return {};
  }
  return std::get<QueryExport>(std::move(made));
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

QByteArray run(const QString& program, const QStringList& arguments, const QStringList& environment = {}) {
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
  const QueryExport made = exported(documentOf(text));
  QVERIFY(query::parseJson(made.pretty).query == read);
  QCOMPARE(bytes(made.pretty), bytes(query::writePretty(*read)));
  QCOMPARE(bytes(made.canonical), bytes(query::writeCanonical(*read)));
  QVERIFY(query::parseJson(made.body).query.has_value());
}

void TestQueryExport::shellWordsSurvive() {
  const quint32 seed = 20240611;
  QRandomGenerator random(seed);
  for (int i = 0; i < 60; ++i) {
    const std::string text = randomText(random);
    const QString command = QString::fromStdString("printf %s " + shellQuoted(text));
    QVERIFY2(run("sh", {"-c", command}) == bytes(text),
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
  const std::string line = curlLine(body, "http://host:8000/v1/query/execute?key=a'b", true);
  // curl is a function here that prints its arguments and, where asked for, its input.
  QTemporaryDir folder;
  QFile script(folder.filePath("line.sh"));
  QVERIFY(script.open(QIODevice::WriteOnly));
  script.write(R"(curl() { for word; do printf '%s\0' "$word"; done; case $word in @-) cat;; esac; }
)");
  script.write(bytes(line));
  script.close();
  QList<QByteArray> words = run("sh", {script.fileName()}).split('\0');
  const QByteArray input = words.takeLast();
  QVERIFY(words.contains("http://host:8000/v1/query/execute?key=a'b&stream=true"));
  QVERIFY(words.contains("Content-Type: text/plain"));
  QVERIFY(words.contains("POST"));
  if (body.size() <= kMaxCurlWord) {
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
    program += "out.write(" + pythonLiteral(text) + ".encode('utf-8'))\n";
    expected += bytes(text);
  }
  QCOMPARE(run(python(), {"-c", QString::fromStdString(program)}), expected);
}

void TestQueryExport::pythonProgramSendsTheBody_data() {
  QTest::addColumn<bool>("stream");
  QTest::newRow("streamed") << true;
  QTest::newRow("in one piece") << false;
}

void TestQueryExport::pythonProgramSendsTheBody() {
  if (python().isEmpty()) QSKIP("python3 is not installed");
  QFETCH(bool, stream);
  // A package of the same name stands in for requests: it writes down what is sent and answers as the server
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
  file.write(bytes(pythonProgram(body, "http://host/it's", stream)));
  file.close();
  const QByteArray answer =
      run(python(), {program},
          {"PYTHONPATH=" + folder.path(), "SENT=" + folder.filePath("sent"), "PYTHONDONTWRITEBYTECODE=1"});
  QCOMPARE(answer, QByteArray("Hello you\n"));
  QFile sent(folder.filePath("sent"));
  QVERIFY(sent.open(QIODevice::ReadOnly));
  const QByteArray head =
      stream ? "http://host/it's\ntrue\ntext/plain\nTrue\n" : "http://host/it's\nfalse\ntext/plain\nFalse\n";
  QCOMPARE(sent.readAll(), head + bytes(body));
}

void TestQueryExport::requestIsWhatTheServerTakes() {
  const QueryExport generate = exported(
      documentOf(R"J({"g":{"model":"spnl/org/m","input":{"user":"a"},"max_tokens":5,"temperature":0.5}})J"));
  const auto wrapped = query::parseJson(generate.body).query;
  QVERIFY(wrapped && wrapped->as<query::Repeat>() != nullptr);
  QCOMPARE(std::get<std::uint8_t>(wrapped->as<query::Repeat>()->count), std::uint8_t{1});
  QCOMPARE(bytes(wrapped->as<query::Repeat>()->generate.settings.model), QByteArray("org/m"));
  QVERIFY(generate.canonical.find("spnl/org/m") != std::string::npos);

  const QueryExport map =
      exported(documentOf(R"J({"map":{"metadata":{"model":"spnl/m"},"inputs":["a","b"]}})J"));
  const auto read = query::parseJson(map.body).query;
  QVERIFY(read && read->as<query::Map>() != nullptr);
  QCOMPARE(bytes(read->as<query::Map>()->settings.model), QByteArray("m"));
}

void TestQueryExport::incompleteDocumentsSayWhatIsMissing() {
  Document document;
  const auto message = [&document] {
    const auto made = exportQuery(document);
    const auto* error = std::get_if<Error>(&made);
    return error == nullptr ? QString() : QString::fromStdString(error->message());
  };
  QVERIFY(message().contains("empty document"));
  document.setRoot(document::addTree(document, document::makeOperator("seq")));
  QCOMPARE(message(), QString());
  document::DocumentNode node;
  node.own = document::makeOperator("g");
  node.children = {document::kNoNode};
  node.name = "judge";
  document = {};
  document.setRoot(document.insert(node));
  QVERIFY2(message().contains("judge") && message().contains("no input"), qPrintable(message()));
}

void TestQueryExport::modelIsReplacedEverywhere() {
  const Document document = documentOf(
      R"J({"g":{"model":"a/1","input":{"cross":[{"repeat":{"n":2,"g":{"model":"b/2","input":{"user":"x"}}}},{"map":{"metadata":{"model":"c/3"},"inputs":["y"]}}]}}})J");
  QueryExportOptions options;
  options.model = "spnl/new";
  const QueryExport made = exported(document, options);
  QCOMPARE(bytes(made.canonical).count("spnl/new"), 3);
  for (const char* old : {"a/1", "b/2", "c/3"}) QVERIFY(made.canonical.find(old) == std::string::npos);
}

void TestQueryExport::parametersAreResolvedWhereTheyCan() {
  Document document = documentOf(
      R"J({"repeat":{"n":"{n}","g":{"model":"spnl/m","input":{"user":"About {topic}"},"max_tokens":"{max}","temperature":"{t}"}}})J");
  document.parameters = {{"topic", "cats"}, {"max", "12"}, {"t", "warm"}};
  const QueryExport made = exported(document);
  QVERIFY(made.canonical.find("About cats") != std::string::npos);
  QVERIFY(made.canonical.find("\"max_tokens\":12") != std::string::npos);
  QVERIFY(made.canonical.find("\"n\":\"{n}\"") != std::string::npos);
  QVERIFY(made.canonical.find("\"temperature\":\"{t}\"") != std::string::npos);
  const auto refused =
      std::count_if(made.remarks.begin(), made.remarks.end(), [](const ExportRemark& remark) {
        return remark.kind == RemarkKind::Refused && remark.text.contains("stands where a number belongs");
      });
  QCOMPARE(refused, 2);

  document.parameters = {{"n", "3"}, {"max", "12"}, {"t", "0.5"}};
  const QueryExport whole = exported(document);
  QVERIFY(std::any_of(whole.remarks.begin(), whole.remarks.end(), [](const ExportRemark& remark) {
    return remark.kind == RemarkKind::Note && remark.text.startsWith("{topic}");
  }));
}

void TestQueryExport::remarks_data() {
  QTest::addColumn<QByteArray>("json");
  QTest::addColumn<QString>("text");
  QTest::addColumn<int>("kind");
  QTest::addColumn<int>("scope");
  const int refused = static_cast<int>(RemarkKind::Refused);
  const int ignored = static_cast<int>(RemarkKind::Ignored);
  const int note = static_cast<int>(RemarkKind::Note);
  const int all = static_cast<int>(RemarkScope::Everything);
  const int server = static_cast<int>(RemarkScope::Server);
  const auto generate = [](const char* input, const char* model = "spnl/m") {
    return QByteArray(R"J({"g":{"model":")J") + model + R"J(","input":)J" + input + "}}";
  };
  QTest::newRow("ask") << generate(R"J({"ask":"who?"})J") << "ask node" << refused << all;
  QTest::newRow("file") << generate(R"J({"file":"a.txt"})J") << "file node" << refused << all;
  QTest::newRow("no model") << generate(R"J({"user":"a"})J", "") << "names no model" << refused << all;
  QTest::newRow("no provider") << generate(R"J({"user":"a"})J", "m") << "no provider" << refused << all;
  QTest::newRow("other provider") << generate(R"J({"user":"a"})J", "ollama/m") << "plain chat" << ignored
                                  << all;
  QTest::newRow("nested") << generate(R"J({"plus":[{"g":{"model":"spnl/m","input":{"user":"a"}}}]})J")
                          << "inside another one" << refused << server;
  QTest::newRow("not a generate") << QByteArray(R"J({"plus":[{"user":"a"}]})J") << "begins with plus"
                                  << refused << server;
  QTest::newRow("zip") << generate(R"J({"zip":{"first":{"user":"a"},"second":{"user":"b"}}})J")
                       << "augment, zip" << refused << server;
  QTest::newRow("plus") << generate(R"J({"plus":[{"user":"a"}]})J") << "span patch" << note << server;
  QTest::newRow("temperature") << generate(R"J({"user":"a"})J") << "0.6" << note << all;
  QTest::newRow("tokens") << generate(R"J({"user":"a"})J") << "number of tokens" << note << all;
  QTest::newRow("layout") << generate(R"J({"user":"a"})J") << "Layout" << note << all;
  QTest::newRow("served name") << generate(R"J({"user":"a"})J", "spnl/org/m") << QString::fromUtf8("“org/m”")
                               << note << server;
}

void TestQueryExport::remarks() {
  QFETCH(QByteArray, json);
  QFETCH(QString, text);
  QFETCH(int, kind);
  QFETCH(int, scope);
  const QueryExport made = exported(documentOf(json));
  const auto found = std::find_if(made.remarks.begin(), made.remarks.end(),
                                  [&text](const ExportRemark& remark) { return remark.text.contains(text); });
  QVERIFY(found != made.remarks.end());
  QCOMPARE(static_cast<int>(found->kind), kind);
  QCOMPARE(static_cast<int>(found->scope), scope);
  QVERIFY(std::is_sorted(made.remarks.begin(), made.remarks.end(),
                         [](const ExportRemark& a, const ExportRemark& b) { return a.kind < b.kind; }));
}

void TestQueryExport::takenOutIsSaid() {
  Document document = documentOf(
      R"J({"g":{"model":"spnl/m","input":{"cross":[{"user":"kept"},{"user":"muted"},{"g":{"model":"spnl/m","input":{"user":"x"}}}]}}})J");
  const auto join = document.at(document.at(document.root()).children[0]);
  document::setMuted(document, {join.children[1]}, true);
  document::setFrozen(document, join.children[2], "the answer");
  document::addTree(document, document::makeOperator("user"));
  const QueryExport made = exported(document);
  QVERIFY(made.canonical.find("muted") == std::string::npos);
  QVERIFY(made.canonical.find(R"J({"assistant":"the answer"})J") != std::string::npos);
  QString all;
  for (const ExportRemark& remark : made.remarks) all += remark.text + '\n';
  QVERIFY(all.contains("A muted node is left out"));
  QVERIFY(all.contains("A frozen generate is sent as its answer"));
  QVERIFY(all.contains("A tree beside the query"));
  QVERIFY(!all.contains("inside another one"));
}

void TestQueryExport::oneTokenIsNotStreamed() {
  const QueryExport one =
      exported(documentOf(R"J({"g":{"model":"spnl/m","input":{"user":"a"},"max_tokens":1}})J"));
  QVERIFY(one.curl.find("stream=false") != std::string::npos);
  const QueryExport two =
      exported(documentOf(R"J({"g":{"model":"spnl/m","input":{"user":"a"},"max_tokens":2}})J"));
  QVERIFY(two.curl.find("stream=true") != std::string::npos);
}

QTEST_MAIN(TestQueryExport)
#include "tst_query_export.moc"
