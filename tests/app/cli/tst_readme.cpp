// SPDX-License-Identifier: GPL-3.0-or-later
// The commands in README and manual exist, and do what these pages show.
#include "engine/jobs/benches.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/job.h"
#include "tests/app/cli/console_examples.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QObject>
#include <QRegularExpression>
#include <QRegularExpressionMatchIterator>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jobs = spanscope::jobs;
using spanscope::test::ConsoleExample;
using spanscope::test::differenceOf;
using spanscope::test::ExampleFile;
using spanscope::test::ExamplePage;
using spanscope::test::examplesIn;
using spanscope::test::spanq;

class TestReadme : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void commandsExist_data();
  void commandsExist();
  void optionsExist_data();
  void optionsExist();
  void everyExampleIsRunOrMarked();
  void everyCommandIsShown();
  void everyCommandIsListed_data();
  void everyCommandIsListed();
  void benchesAreListed();
  void foldersExist();
  void formsOfQueriesAreRead_data();
  void formsOfQueriesAreRead();
  void formsOfDocumentsAreRead();
  void examplesDoWhatIsShown_data();
  void examplesDoWhatIsShown();
  void differencesAreFound_data();
  void differencesAreFound();
};

namespace {

const QString kSource = SPANSCOPE_SOURCE_DIR;

/// README, how to contribute, and every page of the manual, relative to the source.
QStringList pages() {
  QStringList found{"README.md", ".github/CONTRIBUTING.md"};
  QDirIterator files(kSource + "/resources/manual", {"*.md"}, QDir::Files, QDirIterator::Subdirectories);
  while (files.hasNext()) found.append(QDir(kSource).relativeFilePath(files.next()));
  found.sort();
  return found;
}

QString textOf(const QString& page) {
  QFile file(kSource + "/" + page);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// "spanq bench abba --shape 21m" → {"bench", "abba"}.
std::vector<std::string> commandOf(const QStringList& words) {
  std::vector<std::string> command = {words.value(1).toStdString()};
  if (QStringList{"trace", "model", "bench", "lesson", "remote", "simulate"}.contains(words.value(1)))
    command.push_back(words.value(2).toStdString());
  return command;
}

QStringList linesOf(const std::string& text) {
  QStringList lines = QString::fromStdString(text).split('\n');
  if (lines.last().isEmpty()) lines.removeLast();
  return lines;
}

}  // namespace

void TestReadme::commandsExist_data() {
  QTest::addColumn<QStringList>("words");
  for (const QString& page : pages()) {
    for (const ConsoleExample& example : examplesIn(textOf(page)).examples) {
      QTest::newRow(qPrintable(QString("%1:%2").arg(page).arg(example.line))) << example.command;
    }
  }
}

void TestReadme::commandsExist() {
  QFETCH(QStringList, words);
  if (words[0] != "spanq") {
    QVERIFY2(QFileInfo::exists(kSource + "/" + words[0]) || !words[0].contains('/'), qPrintable(words[0]));
    return;
  }
  std::vector<std::string> arguments = commandOf(words);
  arguments.emplace_back("--help");
  const auto help = spanq(arguments);
  QCOMPARE(help.code, 0);
  for (const QString& word : words) {
    if (word.startsWith("-")) {
      const QString option = word.section('=', 0, 0);
      QVERIFY2(QString::fromStdString(help.out).contains(QRegularExpression("[ ,]" + option + "[ ,=:]")),
               qPrintable(word));
    } else if (word.startsWith("resources/") && !word.contains('*')) {
      QVERIFY2(QFileInfo::exists(kSource + "/" + word), qPrintable(word));
    }
  }
}

void TestReadme::optionsExist_data() {
  QTest::addColumn<QString>("page");
  for (const QString& page : pages()) QTest::newRow(qPrintable(page)) << page;
}

/// Code in running text that begins with "--" is an option of spanq, of the window, or of a program named
/// here.
void TestReadme::optionsExist() {
  static const QStringList options = [] {
    // Every command of spanq writes its options in its page.
    QStringList all{"--screenshot",         "--lesson-pages", "--theme",    "--size",
                    "--exit-after-startup", "--build-only",   "--contents", "--into"};
    // Options of vLLM, SGLang, llama-server and other programs.
    all += {"--enable-prompt-tokens-details",
            "--prefix-caching-hash-algo",
            "--block-size",
            "--metrics",
            "--prefix",
            "--exact-tg",
            "--preset",
            "--format"};
    const QTemporaryDir folder;
    spanq({"man", "--into", folder.path().toStdString()});
    const QRegularExpression option(R"(\\-\\-([a-z](?:[a-z0-9]|\\-)*))");
    QDirIterator pages(folder.path(), QDir::Files);
    while (pages.hasNext()) {
      QFile page(pages.next());
      if (!page.open(QIODevice::ReadOnly)) continue;
      for (auto found = option.globalMatch(QString::fromUtf8(page.readAll())); found.hasNext();)
        all += "--" + found.next().captured(1).remove('\\');
    }
    return all;
  }();
  QVERIFY(options.size() > 50);
  QFETCH(QString, page);
  const QRegularExpression code("`[^`\n]*(--[a-z][a-z0-9-]+)[^`\n]*`");
  for (auto found = code.globalMatch(textOf(page)); found.hasNext();) {
    const QString name = found.next().captured(1);
    QVERIFY2(options.contains(name), qPrintable(name));
  }
}

/// What is no command of spanq, or goes into a file or another program, is marked as not run.
void TestReadme::everyExampleIsRunOrMarked() {
  int run = 0;
  for (const QString& page : pages()) {
    for (const ConsoleExample& example : examplesIn(textOf(page)).examples) {
      if (!example.isRun) continue;
      QVERIFY2(example.command[0] == "spanq" && example.isWhole,
               qPrintable(QString("%1:%2").arg(page).arg(example.line)));
      ++run;
    }
    // A command outside of such a block would be neither.
    bool console = false;
    for (const QString& line : textOf(page).split('\n')) {
      if (line.startsWith("```")) console = line.startsWith("```console");
      QVERIFY2(console || !line.startsWith("$ "), qPrintable(page + ": " + line));
    }
  }
  QVERIFY(run > 15);
}

void TestReadme::everyCommandIsShown() {
  QStringList shown;
  for (const QString& page : pages()) {
    for (const ConsoleExample& example : examplesIn(textOf(page)).examples)
      shown += example.command.join(' ');
  }
  const QString all = shown.join('\n');
  for (const char* command :
       {"validate", "explain", "run", "export", "trace show", "trace stats", "trace sources", "model list",
        "model show", "model logits", "devices", "bench ops", "bench abba", "bench speed", "bench needle",
        "bench sources", "lesson check", "lesson run"}) {
    QVERIFY2(all.contains(QString("spanq ") + command), command);
  }
  QVERIFY(textOf("README.md").contains("packaging/run"));
  QVERIFY(textOf("README.md").contains("packaging/test"));
}

void TestReadme::everyCommandIsListed_data() {
  QTest::addColumn<QString>("group");
  QTest::addColumn<QString>("page");
  for (const char* group : {"", "trace", "model", "cache", "bench", "remote", "simulate", "lesson"})
    QTest::newRow(*group == '\0' ? "spanq" : group) << group << "resources/manual/spanq.md";
}

/// The table at the top of a page has every command of the group.
void TestReadme::everyCommandIsListed() {
  QFETCH(QString, group);
  QFETCH(QString, page);
  std::vector<std::string> arguments;
  if (!group.isEmpty()) arguments.push_back(group.toStdString());
  arguments.emplace_back("--help");
  const QString help =
      QString::fromStdString(spanq(arguments).out).section("Subcommands:\n", 1).section("\n\n", 0, 0);
  QString listed;
  const QStringList lines = textOf(page).split('\n');
  for (qsizetype i = lines.indexOf(QRegularExpression("^\\|.*")); lines.value(i).startsWith('|'); ++i)
    listed += lines[i].section('|', 1, 1) + '\n';
  int commands = 0;
  for (const QString& line : help.split('\n')) {
    if (!line.startsWith("  ") || line.startsWith("   ")) continue;
    const QString name = QRegularExpression::escape(line.trimmed().section(' ', 0, 0));
    QVERIFY2(listed.contains(QRegularExpression("\\b" + name + "\\b")), qPrintable(name));
    ++commands;
  }
  QVERIFY(commands > 1);
}

/// The rows of the table of benchmarks are made from the list of benches. SPANSCOPE_WRITE_GOLDEN=1 writes
/// them.
void TestReadme::benchesAreListed() {
  QString wanted;
  QFile file(kSource + "/resources/manual/benchmarks.md");
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QString page = QString::fromUtf8(file.readAll());
  file.close();
  std::set<std::string> kinds;
  for (const jobs::Bench& bench : jobs::benches()) {
    QVERIFY2(bench.question.ends_with('?'), bench.name);
    QString dock;
    if (bench.job != nullptr) {
      const jobs::JobRow* row = jobs::findJob(bench.job);
      QVERIFY2(row != nullptr && row->scope != jobs::Scope::Answer, bench.name);
      kinds.insert(bench.job);
      if (bench.experiment != nullptr) dock = "[Experiments](docks/experiments.md)";
      if (bench.job == std::string(jobs::BenchmarkJob::kId)) dock = "[Benchmark](docks/benchmark.md)";
    }
    QString question = QString::fromStdString(bench.question);
    question.replace("full prefill", "[full prefill](glossary.md#reuse)");
    const QString name = QString::fromUtf8(bench.name);
    const bool hasSection = page.contains(QRegularExpression("\n##+ " + name + "\n"));
    wanted +=
        QString("| [%1](#%2) | %3 | %4 |\n").arg(name, hasSection ? name : "experiments", question, dock);
  }
  QVERIFY(kinds.size() > 1);
  const qsizetype first = page.indexOf("\n| [") + 1;
  qsizetype end = first;
  while (page.mid(end).startsWith("| [")) end = page.indexOf('\n', end) + 1;
  if (qEnvironmentVariableIsSet("SPANSCOPE_WRITE_GOLDEN")) {
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write((page.left(first) + wanted + page.mid(end)).toUtf8());
  } else {
    QVERIFY2(page.mid(first, end - first) == wanted, "run this test with SPANSCOPE_WRITE_GOLDEN=1");
  }
}

void TestReadme::foldersExist() {
  const QRegularExpression place("`((?:app|engine|kernels|ui|tests|resources|packaging)/[\\w./-]+)`");
  bool any = false;
  for (const QString& page : pages()) {
    QRegularExpressionMatchIterator places = place.globalMatch(textOf(page));
    while (places.hasNext()) {
      const QString path = places.next().captured(1);
      QVERIFY2(QFileInfo::exists(kSource + "/" + path), qPrintable(page + ": " + path));
      any = true;
    }
  }
  QVERIFY(any);
}

/// A query or a part of one as the manual writes it, with something in each of its places.
QString filledIn(QString form) {
  const std::vector<std::pair<const char*, QString>> places = {
      {R"(\{…\})", R"({"model": "m", "input": {"user": "u"}})"},
      {R"(, …)", ""},
      {R"(0 … 255)", "3"},
      {R"(\btext\b(?!["\w]))", R"("t")"},
      {R"(\bpath\b)", R"("a.txt")"},
      {R"(\bname\b(?!["\w]))", R"("d")"},
      {R"(\bnode\b(?!["\w]))", R"({"user": "u"})"},
      {R"(\bbyte\b)", "37"},
      {R"(\bn\b(?!["\w]))", "1"},
      {R"(\bx\b(?!["\w]))", "0.5"}};
  for (const auto& [place, value] : places) form.replace(QRegularExpression(place), value);
  return form;
}

/// The forms in a cell: the text between ` that begins as JSON does.
QStringList formsIn(const QString& cell) {
  QStringList forms;
  const QRegularExpression form("`(\\{[^`]*)`");
  for (QRegularExpressionMatchIterator each = form.globalMatch(cell); each.hasNext();)
    forms << each.next().captured(1);
  return forms;
}

void TestReadme::formsOfQueriesAreRead_data() {
  QTest::addColumn<QString>("form");
  const QString section =
      textOf("resources/manual/files.md").section("\n## Queries\n", 1).section("\n## ", 0, 0);
  for (const QString& line : section.split('\n')) {
    const QStringList cells = line.split('|');
    if (!line.startsWith("| `") || cells.size() < 4) continue;
    const QStringList forms = formsIn(cells[2]);
    QVERIFY2(forms.size() == 1, qPrintable(line));
    const QRegularExpression named("`(\\w+)`");
    const QString shown = forms.front().section('"', 1, 1);
    // One form covers all forms that the line names.
    for (QRegularExpressionMatchIterator each = named.globalMatch(cells[1]); each.hasNext();) {
      const QString name = each.next().captured(1);
      QTest::newRow(qPrintable(name)) << QString(forms.front()).replace('"' + shown + '"', '"' + name + '"');
    }
    if (shown == "augment") {
      for (const QString& other : formsIn(cells[3])) {
        QTest::newRow(qPrintable(other)) << QString(forms.front()).replace(R"({"Text": text})", other);
      }
    }
  }
}

/// As Spanscope reads queries, which is as IBM/spnl does.
void TestReadme::formsOfQueriesAreRead() {
  QFETCH(QString, form);
  const QString query = filledIn(form);
  const auto result = spanq({"validate", "-"}, query.toStdString());
  // The form is read, but its file is not there.
  const bool namesFile = QTest::currentDataTag() == std::string_view("file");
  QVERIFY2((result.code == 0) != namesFile, qPrintable(query + "\n" + QString::fromStdString(result.err)));
  QVERIFY2(result.err.find("older form") == std::string::npos, result.err.c_str());
}

/// All fields that the manual names in one document, in the forms that it shows.
void TestReadme::formsOfDocumentsAreRead() {
  const QString section =
      textOf("resources/manual/files.md").section("\n## Query files\n", 1).section("\n## ", 0, 0);
  std::map<QString, QStringList> forms;
  for (const QString& line : section.split('\n')) {
    const QStringList cells = line.split('|');
    if (line.startsWith("| `") && cells.size() == 4)
      forms[cells[1].trimmed().remove('`')] = formsIn(cells[2]);
  }
  const QStringList fields{"spanscope",    "query",      "layout.nodes", "layout.frames",
                           "layout.notes", "parameters", "settings",     "drafts"};
  QCOMPARE(QStringList(forms.size() == 8 ? fields : QStringList()), fields);
  // A name without a value is a field whose value the text around it describes.
  const std::vector<std::pair<const char*, const char*>> values = {
      {"title", "\"t\""},         {"area", "[1, 2, 3, 4]"}, {"text", "\"t\""},
      {"value", "\"3\""},         {"default", "\"4\""},     {"description", "\"d\""},
      {"type", "\"max_tokens\""}, {"nodes", "{}"},          {"query", R"({"user": "u"})"}};
  const auto form = [&](const char* field) {
    QString text = forms.at(QString::fromLatin1(field)).value(0);
    text.replace("[x, y, width, height]", "[1, 2, 3, 4]").replace("0 … 5", "5");
    for (const auto& [key, value] : values)
      text.replace(QRegularExpression(QString("\"%1\"(?!:)").arg(key)),
                   QString("\"%1\": %2").arg(key, value));
    return text;
  };
  const QString document =
      QString(
          R"({"spanscope": %1, "query": {"g": {"model": "m", "max_tokens": "{most}", "input": {"user": "{who}"}}},
                  "layout": {"nodes": {"/g/input": {"position": [1, 2], "name": "n", "collapsed": true}},
                             "frames": [%2], "notes": [%3]},
                  "parameters": {"who": "Tarek", "most": %4}, "settings": {"seed": 4}, "drafts": [%5]})")
          .arg(form("spanscope"), form("layout.frames"), form("layout.notes"), form("parameters"),
               form("drafts"));
  const auto result = spanq({"validate", "-"}, document.toStdString());
  QVERIFY2(result.code == 0 && result.err.find("found ") == std::string::npos,
           qPrintable(document + "\n" + QString::fromStdString(result.err)));
}

void TestReadme::examplesDoWhatIsShown_data() {
  QTest::addColumn<QString>("page");
  for (const QString& page : pages()) {
    const ExamplePage found = examplesIn(textOf(page));
    if (std::any_of(found.examples.begin(), found.examples.end(),
                    [](const ConsoleExample& example) { return example.isRun; }))
      QTest::newRow(qPrintable(page)) << page;
  }
}

/// Each page in a folder of its own, in which "resources" is what it is in the source.
void TestReadme::examplesDoWhatIsShown() {
  QFETCH(QString, page);
  const QTemporaryDir folder;
  QVERIFY(QFile::link(kSource + "/resources", folder.filePath("resources")));
  const QString before = QDir::currentPath();
  QVERIFY(QDir::setCurrent(folder.path()));
  const ExamplePage found = examplesIn(textOf(page));
  for (const ExampleFile& file : found.files) {
    QFile made(folder.filePath(file.name));
    QVERIFY(made.open(QIODevice::WriteOnly));
    made.write(file.text.toUtf8());
  }
  QStringList problems;
  for (const ConsoleExample& example : found.examples) {
    if (!example.isRun) continue;
    std::vector<std::string> arguments;
    for (const QString& word : example.command.mid(1)) arguments.push_back(word.toStdString());
    const auto result = spanq(arguments);
    QString problem = differenceOf(
        example.output, linesOf(result.err) + (example.isQuiet ? QStringList() : linesOf(result.out)));
    if (problem.isEmpty() && result.code != example.exitCode)
      problem = QString("exit code %1").arg(result.code);
    if (!problem.isEmpty())
      problems +=
          QString("%1:%2: %3: %4").arg(page).arg(example.line).arg(example.command.join(' '), problem);
  }
  QDir::setCurrent(before);
  QVERIFY2(problems.isEmpty(), qPrintable(problems.join('\n')));
}

void TestReadme::differencesAreFound_data() {
  QTest::addColumn<QStringList>("shown");
  QTest::addColumn<QStringList>("written");
  QTest::addColumn<bool>("fits");
  QTest::newRow("equal") << QStringList{"a 1"} << QStringList{"a 1"} << true;
  QTest::newRow("another count") << QStringList{"a 1"} << QStringList{"a 2"} << false;
  QTest::newRow("another time") << QStringList{"a  1.50"} << QStringList{"a 12.25"} << true;
  QTest::newRow("another device") << QStringList{"policy spans on spanlet, A, B, 2 threads"}
                                  << QStringList{"policy spans on spanlet, C, 1 thread"} << true;
  QTest::newRow("rest of a line") << QStringList{"abc…"} << QStringList{"abcdef"} << true;
  QTest::newRow("another line") << QStringList{"abd…"} << QStringList{"abcdef"} << false;
  QTest::newRow("lines between") << QStringList{"a", "…", "c"} << QStringList{"a", "b", "b", "c"} << true;
  QTest::newRow("a line too many") << QStringList{"a"} << QStringList{"a", "b"} << false;
  QTest::newRow("a line too few") << QStringList{"a", "b"} << QStringList{"a"} << false;
  QTest::newRow("not found behind lines") << QStringList{"…", "c"} << QStringList{"a", "b"} << false;
  QTest::newRow("rest") << QStringList{"a", "…"} << QStringList{"a", "b"} << true;
}

void TestReadme::differencesAreFound() {
  QFETCH(QStringList, shown);
  QFETCH(QStringList, written);
  QFETCH(bool, fits);
  QCOMPARE(differenceOf(shown, written).isEmpty(), fits);
}

SPANSCOPE_TEST(tst_readme, TestReadme)
#include "tst_readme.moc"
