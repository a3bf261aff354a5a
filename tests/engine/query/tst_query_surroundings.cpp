// SPDX-License-Identifier: GPL-3.0-or-later
// What a query needs beside its text: its form by name and content, files, answers, parameters with kinds and
// defaults.
#include "engine/query/files/file_access.h"
#include "engine/query/json/json.h"
#include "engine/query/parameters.h"
#include "engine/query/query_form.h"
#include "tests/engine/query/diagnostic_lines.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <string>

using namespace spanscope::query;
using spanscope::product_text::worded;
using spanscope::query::testing::textOf;

namespace {

using Values = std::map<std::string, std::string>;

Node parsed(const char* json) {
  return *parseJson(json).query;
}

/// Answers every question but "no?".
class User final : public Surroundings {
 public:
  explicit User(const FileAccess& files) : m_files(files) {}
  std::variant<std::string, NotGiven> readFile(const std::string& path) override {
    return m_files.read(path);
  }
  std::variant<std::string, NotGiven> ask(const std::string& prompt) override {
    if (prompt == "no?") return NotGiven{"no answer", "an answer", "say it"};
    return "answer to " + prompt;
  }

 private:
  const FileAccess& m_files;
};

}  // namespace

class TestQuerySurroundings : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void forms_data();
  void forms();
  void formsBehindAByteOrderMark();
  void everyFormIsReadAndWritten();
  void files_data();
  void files();
  void otherFolders();
  void largeFilesAreRefused();
  void lists_data();
  void lists();
  void listsHaveLimits();
  void patterns_data();
  void patterns();
  void sugarIsResolved();
  void aByteOrderMarkIsNoText();
  void whatIsNotGivenIsSaid();
  void textFilesAreWholeText_data();
  void textFilesAreWholeText();
  void parameterKinds();
  void parameterValues_data();
  void parameterValues();
  void valuesAreChecked();
  void defaultsFillIn();

 private:
  QTemporaryDir m_folder;

  std::string path(const char* name) const {
    return m_folder.filePath(QString::fromUtf8(name)).toStdString();
  }
  void write(const char* name, const QByteArray& bytes) {
    QFile file(m_folder.filePath(QString::fromUtf8(name)));
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
  }
};

void TestQuerySurroundings::initTestCase() {
  QVERIFY(m_folder.isValid());
  QDir folder(m_folder.path());
  QVERIFY(folder.mkpath("query/below"));
  QVERIFY(folder.mkpath("query-beside"));
  QVERIFY(folder.mkpath("other"));
  write("outside.txt", "outside");
  write("other/o.txt", "other");
  write("query-beside/b.txt", "beside");
  write("query/a.txt", "text of a");
  write("query/below/c.txt", "text of c");
  write("query/latin.txt", "caf\xe9");
  write("query/marked.txt", "\xEF\xBB\xBF\xEF\xBB\xBFmarked");
  write("query/marked.json", "\xEF\xBB\xBF[\"p\"]");
  QVERIFY(QFile::link(m_folder.filePath("outside.txt"), m_folder.filePath("query/out.txt")));
  QVERIFY(QFile::link(m_folder.filePath("query/a.txt"), m_folder.filePath("query/in.txt")));
}

void TestQuerySurroundings::forms_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("form");
  const auto row = [](const char* name, const char* text, const char* form) {
    QTest::newRow(qPrintable(QStringLiteral("%1 '%2'").arg(name, text)))
        << QString::fromUtf8(name) << QString::fromUtf8(text) << QString::fromUtf8(form);
  };
  row("a.json", "user: x", "JSON");
  row("a.yaml", "{}", "YAML");
  row("a.YML", "{}", "YAML");
  row("a.lisp", "{}", "Lisp");
  row("a.spnl", "{}", "Lisp");
  row("-", "", "JSON");
  row("-", " {\"user\": \"x\"}", "JSON");
  row("-", "{user: x}", "JSON");
  row("-", "[1]", "JSON");
  row("-", "\"user\"", "JSON");
  row("-", "hello there: you", "JSON");
  row("-", "\n (user \"x\")", "Lisp");
  row("-", "; a comment", "Lisp");
  row("-", "user: x", "YAML");
  row("-", "seq:\n- user: x", "YAML");
  row("-", "\"user\": x", "YAML");
  row("-", "--- x", "YAML");
  row("-", "# a comment", "YAML");
  row("-", "- user: x", "YAML");
  row("lisp", "user: x", "YAML");
}

void TestQuerySurroundings::forms() {
  QFETCH(QString, name);
  QFETCH(QString, text);
  QFETCH(QString, form);
  QCOMPARE(QString::fromUtf8(queryFormName(queryFormOf(name.toStdString(), text.toStdString()))), form);
}

void TestQuerySurroundings::formsBehindAByteOrderMark() {
  // Written as bytes: Qt drops the mark on the way into a QString.
  QVERIFY(queryFormOf("-", "\xEF\xBB\xBF(user \"x\")") == QueryForm::Lisp);
  QVERIFY(queryFormOf("-", "\xEF\xBB\xBFuser: x") == QueryForm::Yaml);
  QVERIFY(queryFormOf("-", "\xEF\xBB\xBF{\"user\": \"x\"}") == QueryForm::Json);
}

void TestQuerySurroundings::everyFormIsReadAndWritten() {
  const Node node = parsed(R"({"cross":[{"user":"a"},{"plus":[{"system":"b"},{"user":"1"}]}]})");
  for (const QueryForm form : {QueryForm::Json, QueryForm::Yaml, QueryForm::Lisp}) {
    const std::string text = writeQuery(node, form);
    QVERIFY(text.ends_with('\n'));
    QVERIFY(parseQuery(text, form).query == node);
    // The written text is unambiguous without a name.
    QCOMPARE(static_cast<int>(queryFormOf("-", text)), static_cast<int>(form));
  }
  QVERIFY(formRemarks(node, QueryForm::Json).empty());
  QCOMPARE(formRemarks(node, QueryForm::Yaml).size(), std::size_t{1});
  QVERIFY(formRemarks(node, QueryForm::Lisp).empty());
}

void TestQuerySurroundings::files_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<QString>("expected");  // the text, or "!" and a part of the refusal
  QTest::newRow("beside the query") << "a.txt"
                                    << "text of a";
  QTest::newRow("below it") << "./below/c.txt"
                            << "text of c";
  QTest::newRow("out and in again") << "../query/a.txt"
                                    << "text of a";
  QTest::newRow("absolute, inside") << QString::fromStdString(path("query/a.txt")) << "text of a";
  QTest::newRow("a link that stays inside") << "in.txt"
                                            << "text of a";
  QTest::newRow("above it") << "../outside.txt"
                            << "!<outside-querys-folder>";
  QTest::newRow("a folder whose name begins alike") << "../query-beside/b.txt"
                                                    << "!<outside-querys-folder>";
  QTest::newRow("absolute, outside") << QString::fromStdString(path("outside.txt"))
                                     << "!<outside-querys-folder>";
  QTest::newRow("a link that leads out") << "out.txt"
                                         << "!<outside-querys-folder>";
  QTest::newRow("a device") << "/dev/zero"
                            << "!<outside-querys-folder>";
  QTest::newRow("a folder") << "below"
                            << "!not a regular file";
  QTest::newRow("nothing") << ""
                           << "!the file \"\"";
  QTest::newRow("missing") << "missing.txt"
                           << "!cannot be opened";
}

void TestQuerySurroundings::files() {
  QFETCH(QString, name);
  QFETCH(QString, expected);
  const FileAccess files(path("query"));
  const auto given = files.read(name.toStdString());
  if (const auto* text = std::get_if<std::string>(&given)) {
    QCOMPARE(QString::fromStdString(*text), expected);
  } else {
    const QString found = QString::fromStdString(std::get<NotGiven>(given).found);
    QVERIFY2(expected.startsWith('!') && found.contains(worded(expected.mid(1))), qPrintable(found));
  }
}

void TestQuerySurroundings::otherFolders() {
  const FileAccess files(path("query"), {path("other")});
  QCOMPARE(std::get<std::string>(files.read("../other/o.txt")), std::string("other"));
  QVERIFY(std::holds_alternative<NotGiven>(files.read("../outside.txt")));
  QVERIFY(std::holds_alternative<NotGiven>(FileAccess(path("nowhere")).read("a.txt")));
}

void TestQuerySurroundings::largeFilesAreRefused() {
  const FileAccess files(path("query"));
  write("query/most.txt", QByteArray(static_cast<qsizetype>(kMaxFileBytes), 'x'));
  QCOMPARE(std::get<std::string>(files.read("most.txt")).size(), kMaxFileBytes);
  write("query/more.txt", QByteArray(static_cast<qsizetype>(kMaxFileBytes) + 1, 'x'));
  QVERIFY(std::get<NotGiven>(files.read("more.txt")).expected.find("16777216") != std::string::npos);
}

void TestQuerySurroundings::lists_data() {
  QTest::addColumn<QString>("path");
  QTest::addColumn<QString>("expected");  // the paths, or "!" and a part of the refusal
  QTest::newRow("a file") << "list/b.txt"
                          << "list/b.txt";
  QTest::newRow("a folder") << "list"
                            << "list/a.md list/b.txt list/deep/c.txt list/deep/er/d.md";
  QTest::newRow("a folder with a slash") << "list/deep/"
                                         << "list/deep/c.txt list/deep/er/d.md";
  QTest::newRow("the folder itself") << "."
                                     << "*list/a.md";
  QTest::newRow("names") << "list/*.txt"
                         << "list/b.txt";
  QTest::newRow("folders") << "*/deep/?.txt"
                           << "list/deep/c.txt";
  QTest::newRow("any depth") << "list/**/*.md"
                             << "list/a.md list/deep/er/d.md";
  QTest::newRow("all below") << "list/deep/**"
                             << "list/deep/c.txt list/deep/er/d.md";
  QTest::newRow("hidden") << "list/.*"
                          << "!<no-file-fits>";
  QTest::newRow("none") << "list/*.pdf"
                        << "!<no-file-fits>";
  QTest::newRow("empty folder") << "list/hollow"
                                << "!a folder without files";
  QTest::newRow("missing") << "lists/*"
                           << "!cannot be opened";
  QTest::newRow("no folder") << "list/b.txt/*"
                             << "!cannot be opened";
  QTest::newRow("outside") << "../other"
                           << "!<outside-querys-folder>";
  QTest::newRow("outside, a pattern") << "../*"
                                      << "!<outside-querys-folder>";
  QTest::newRow("nothing") << ""
                           << "!the file \"\"";
}

void TestQuerySurroundings::lists() {
  QFETCH(QString, path);
  QFETCH(QString, expected);
  QDir folder(m_folder.path());
  QVERIFY(folder.mkpath("query/list/deep/er") && folder.mkpath("query/list/hollow"));
  for (const char* name : {"list/b.txt", "list/a.md", "list/.hidden", "list/deep/c.txt", "list/deep/er/d.md"})
    write(("query/" + std::string(name)).c_str(), "x");
  QFile::link(m_folder.filePath("other"), m_folder.filePath("query/list/link"));
  const FileAccess files(this->path("query"));
  const auto given = files.list(path.toStdString());
  if (const auto* list = std::get_if<FileList>(&given)) {
    QStringList paths;
    for (const std::string& file : list->paths) {
      paths << QString::fromStdString(file);
      QVERIFY(std::holds_alternative<std::string>(files.read(file)) || expected.startsWith('*'));
    }
    if (expected.startsWith('*')) {
      QVERIFY2(paths.contains(expected.mid(1)), qPrintable(paths.join(' ')));
    } else {
      QCOMPARE(paths.join(' '), expected);
    }
  } else {
    const QString found = QString::fromStdString(std::get<NotGiven>(given).found);
    QVERIFY2(expected.startsWith('!') && found.contains(worded(expected.mid(1))), qPrintable(found));
  }
}

void TestQuerySurroundings::listsHaveLimits() {
  QDir folder(m_folder.path());
  QString deep = "query/nest";
  for (std::size_t i = 0; i < kMaxFolderDepth + 3; ++i) deep += "/n";
  QVERIFY(folder.mkpath(deep) && folder.mkpath("query/most"));
  write("query/nest/top.txt", "x");
  write((deep.toStdString() + "/bottom.txt").c_str(), "x");
  const FileAccess files(path("query"));
  const auto nested = std::get<FileList>(files.list("nest"));
  QCOMPARE(nested.paths, std::vector<std::string>{"nest/top.txt"});
  QCOMPARE(nested.leftOut.size(), std::size_t{1});
  QVERIFY(nested.leftOut[0].found.find("a folder inside 32 others") != std::string::npos);
  for (std::size_t i = 0; i < kMaxListedFiles; ++i) write(("query/most/" + std::to_string(i)).c_str(), {});
  QCOMPARE(std::get<FileList>(files.list("most")).paths.size(), kMaxListedFiles);
  write("query/most/more", {});
  QVERIFY(std::get<NotGiven>(files.list("most")).expected.find("10000") != std::string::npos);
  QVERIFY(QDir(m_folder.filePath("query/most")).removeRecursively());
  QVERIFY(QDir(m_folder.filePath("query/nest")).removeRecursively());
}

void TestQuerySurroundings::patterns_data() {
  QTest::addColumn<QString>("path");
  QTest::addColumn<QString>("pattern");
  QTest::addColumn<bool>("fits");
  const auto row = [](const char* path, const char* pattern, bool fits) {
    QTest::newRow(
        qPrintable(QStringLiteral("%1 %2").arg(QString::fromUtf8(path), QString::fromUtf8(pattern))))
        << QString::fromUtf8(path) << QString::fromUtf8(pattern) << fits;
  };
  row("a.txt", "*.txt", true);
  row("a.txt", "a*t", true);
  row("a.txt", "*a*t*x*t*", true);
  row("a.txt", "*.md", false);
  row("a.txt", "a.txt.*", false);
  row("a", "?", true);
  row("\u00E9", "?", true);
  row("\u00E9a", "*a", true);
  row("ab", "?", false);
  row("a/b", "*", false);
  row("a/b", "*/*", true);
  row("b", "**/b", true);
  row("a/a/b", "**/b", true);
  row("a/a/b", "a/**", true);
  row("a", "a/**", true);
  row("a/b/c", "**/b", false);
  row("a/b/c/b/d", "**/b/**/d", true);
  row("", "**", true);
  const std::string many(60, 'a');
  std::string stars;
  for (int i = 0; i < 30; ++i) stars += "*a";
  row(many.c_str(), (stars + "b").c_str(), false);
}

void TestQuerySurroundings::patterns() {
  QFETCH(QString, path);
  QFETCH(QString, pattern);
  QFETCH(bool, fits);
  const std::string pathText = path.toStdString();
  const std::string patternText = pattern.toStdString();
  QCOMPARE(pathFits(pathNames(pathText), pathNames(patternText)), fits);
}

void TestQuerySurroundings::sugarIsResolved() {
  const FileAccess files(path("query"));
  User person(files);
  const Node node = parsed(R"({"seq":[{"ask":"who?"},{"g":{"model":"m","input":{"cross":[{"file":"a.txt"}]}}},
      {"monad":{"ask":"a"}},{"zip":{"first":{"ask":"b"},"second":{"file":"a.txt"}}},{"repeat":{"n":1,"g":{"model":"m",
      "input":{"ask":"c"}}}},{"augment":{"embedding_model":"e","body":{"ask":"d"},"doc":["n",{"Text":""}]}}]})");
  const Node expected = parsed(R"({"seq":[{"user":"answer to who?"},{"g":{"model":"m","input":{"cross":[
      {"user":"text of a"}]}}},{"monad":{"user":"answer to a"}},{"zip":{"first":{"user":"answer to b"},"second":
      {"user":"text of a"}}},{"repeat":{"n":1,"g":{"model":"m","input":{"user":"answer to c"}}}},{"augment":
      {"embedding_model":"e","body":{"user":"answer to d"},"doc":["n",{"Text":""}]}}]})");
  const auto resolved = resolveSugar(node, person);
  QVERIFY(std::holds_alternative<Node>(resolved));
  QVERIFY(std::get<Node>(resolved) == expected);
}

void TestQuerySurroundings::aByteOrderMarkIsNoText() {
  const FileAccess files(path("query"));
  User person(files);
  // Only the first is a mark; what follows it is text.
  const auto resolved = resolveSugar(parsed(R"({"file":"marked.txt"})"), person);
  const Node expected{Message{Role::User, "\xEF\xBB\xBFmarked"}};
  QVERIFY(std::get<Node>(resolved) == expected);
  const ParseResult lisp = parseQuery(
      R"((seq (system (file "marked.txt")) (augment "e" "q" (filen "marked.txt")) (take 1 (file "marked.json"))))",
      QueryForm::Lisp, {}, &person);
  QVERIFY2(lisp.query.has_value(), qPrintable(textOf(lisp.diagnostics)));
  QVERIFY(lisp.query ==
          parsed("{\"seq\":[{\"system\":\"\xEF\xBB\xBFmarked\"},{\"augment\":{\"embedding_model\":\"e\","
                 "\"body\":{\"user\":\"q\"},\"doc\":[\"marked.txt\",{\"Text\":\"\xEF\xBB\xBFmarked\"}]}},"
                 "{\"user\":\"p\"}]}"));
}

void TestQuerySurroundings::whatIsNotGivenIsSaid() {
  const FileAccess files(path("query"));
  User person(files);
  const auto resolved =
      resolveSugar(parsed(R"({"seq":[{"ask":"no?"},{"user":"x"},{"file":"latin.txt"}]})"), person);
  QCOMPARE(
      textOf(std::get<std::vector<Diagnostic>>(resolved)),
      worded(
          "/seq/0: Spanscope found no answer, but needs an answer. Say it.\n/seq/2: Spanscope found the file "
          "\"latin.txt\", which is not UTF-8, but needs <text-in-utf8>\n"));
}

/// A file that is read as text is whole text, or is refused.
void TestQuerySurroundings::textFilesAreWholeText_data() {
  using namespace std::string_literals;
  QTest::addColumn<QByteArray>("bytes");
  QTest::addColumn<QByteArray>("text");  // null: it is refused
  const auto row = [](const char* name, const std::string& bytes, const QByteArray& text) {
    QTest::newRow(name) << QByteArray::fromStdString(bytes) << text;
  };
  row("UTF-8 with a mark",
      "\xEF\xBB\xBF"
      "caf\xC3\xA9",
      "caf\xC3\xA9");
  row("empty", "", "");
  row("UTF-16", "\xFF\xFE"s + "a\0"s + "\x3D\xD8\x00\xDE"s, "a\xF0\x9F\x98\x80");
  row("UTF-16 with half of a character", "\xFF\xFE"s + "a\0"s + "\x3D\xD8"s + "b\0"s, {});
  row("UTF-16 that is cut off", "\xFF\xFE"s + "a\0b"s, {});
  row("Latin-1", "caf\xE9", {});
  row("Windows-1252", "\x93quoted\x94", {});
  row("a zero byte", "text\0text"s, {});
  row("a picture", "\x89PNG\r\n\x1A\n", {});
  row("a PDF of ASCII alone", "%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n", {});
}

void TestQuerySurroundings::textFilesAreWholeText() {
  QFETCH(QByteArray, bytes);
  QFETCH(QByteArray, text);
  const QTemporaryDir directory;
  QFile file(directory.filePath(QStringLiteral("a.txt")));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(bytes);
  file.close();
  const FileAccess files(directory.path().toStdString());
  User person(files);
  const auto read = readTextFile(person, "a.txt");
  QCOMPARE(std::holds_alternative<std::string>(read), !text.isNull());
  if (text.isNull())
    QVERIFY(!std::get<NotGiven>(read).expected.empty());
  else
    QCOMPARE(QByteArray::fromStdString(std::get<std::string>(read)), text);
}

void TestQuerySurroundings::parameterKinds() {
  const Node node = parsed(R"({"seq":[{"user":"{topic} {n}"},{"repeat":{"n":"{n}","g":{"model":"{model}",
      "max_tokens":"{k}","temperature":"{k}","input":{"user":"{topic}"}}}}]})");
  const auto parameters = listParameters(
      node, {{"topic", ParameterKind::Count, "3"}, {"unused", std::nullopt, "x"}, {"n", {}, {}}});
  QStringList lines;
  for (const ParameterInfo& parameter : parameters) {
    lines << QStringLiteral("%1 %2 %3 %4 %5")
                 .arg(QString::fromStdString(parameter.name),
                      QString::fromUtf8(parameterKindName(parameter.kind)))
                 .arg(parameter.uses.size())
                 .arg(QString::fromStdString(parameter.defaultValue.value_or("-")))
                 .arg(parameter.needsValue());
  }
  QCOMPARE(lines, (QStringList{"topic count 2 3 0", "n count 2 - 1", "model text 1 - 0", "k max_tokens 2 - 1",
                               "unused text 0 x 0"}));
  QCOMPARE(parameters[1].uses[1].pointer, std::string("/seq/1/repeat/n"));
  for (const auto kind :
       {ParameterKind::Text, ParameterKind::Count, ParameterKind::MaxTokens, ParameterKind::Temperature}) {
    QVERIFY(parameterKindOf(parameterKindName(kind)) == kind);
  }
  QVERIFY(!parameterKindOf("number"));
}

void TestQuerySurroundings::parameterValues_data() {
  QTest::addColumn<QString>("kinds");  // those whose value it is
  QTest::newRow("0") << "text temperature max_tokens count";
  QTest::newRow("255") << "text temperature max_tokens count";
  QTest::newRow("256") << "text temperature max_tokens";
  QTest::newRow("-1") << "text temperature max_tokens";
  QTest::newRow("2147483648") << "text temperature";
  QTest::newRow("0.5") << "text temperature";
  QTest::newRow("1e39") << "text";
  QTest::newRow("1e999") << "text";
  QTest::newRow("") << "text";
  QTest::newRow(" 1") << "text";
  QTest::newRow("0x1") << "text";
}

void TestQuerySurroundings::parameterValues() {
  QFETCH(QString, kinds);
  QStringList found;
  for (const char* name : {"text", "temperature", "max_tokens", "count"}) {
    if (isParameterValue(*parameterKindOf(name), QTest::currentDataTag())) found << QString::fromUtf8(name);
  }
  QCOMPARE(found.join(' '), kinds);
}

void TestQuerySurroundings::valuesAreChecked() {
  const Node node = parsed(R"({"repeat":{"n":"{n}","g":{"model":"{model}","input":{"user":"{number}"}}}})");
  const auto parameters = listParameters(node, {{"number", ParameterKind::MaxTokens, "many"}});
  QCOMPARE(
      textOf(checkValues(parameters, Values{{"n", "256"}, {"model", "m"}, {"modle", "m"}, {"xyz", "1"}})),
      worded("/repeat/n: Spanscope found the value \"256\" for the parameter \"n\", but needs "
             "<whole-number-query-walk>\n"
             "/repeat/g/input/user: Spanscope found the default \"many\" for the parameter \"number\", but "
             "needs "
             "<whole-number> -2147483648 to 2147483647\n"
             "warning Spanscope found a value for \"modle\"<no-parameter-query>, but expects one of n, "
             "model, number. Did "
             "you mean \"model\"?\n"
             "warning Spanscope found a value for \"xyz\"<no-parameter-query>, but expects one of n, model, "
             "number\n"));
  QVERIFY(checkValues(listParameters(node), Values{{"n", "4"}}).empty());
}

void TestQuerySurroundings::defaultsFillIn() {
  const Node node =
      parsed(R"({"repeat":{"n":"{n}","g":{"model":"{model}","max_tokens":"{k}","input":{"user":"q"}}}})");
  const auto parameters = listParameters(node, {{"n", {}, "4"}, {"k", {}, "10"}});
  const auto resolved = resolveParameters(node, withDefaults(parameters, Values{{"k", "20"}}));
  QCOMPARE(
      QString::fromStdString(writeCanonical(std::get<Node>(resolved))),
      QStringLiteral(R"({"repeat":{"n":4,"g":{"model":"{model}","max_tokens":20,"temperature":0.6,"input":)"
                     R"({"user":"q"}}}})"));
}

SPANSCOPE_TEST(tst_query_surroundings, TestQuerySurroundings)
#include "tst_query_surroundings.moc"
