// SPDX-License-Identifier: GPL-3.0-or-later
// The pages that man shows: each has what the help of its commands has, and man reads it without a word.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QRegularExpression>
#include <QRegularExpressionMatchIterator>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <string>
#include <utility>
#include <vector>

using spanscope::test::spanq;
using spanscope::test::SpanqResult;

namespace {

const QStringList kGroups{"trace", "model", "cache", "bench", "remote", "simulate", "lesson"};

QString textOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString helpOf(const QStringList& command) {
  std::vector<std::string> words;
  for (const QString& word : command) words.push_back(word.toStdString());
  words.emplace_back("--help");
  return QString::fromStdString(spanq(words).out);
}

/// The commands that a help lists.
QStringList commandsIn(const QString& help) {
  const QRegularExpression line("^  ([a-z.]+) ", QRegularExpression::MultilineOption);
  QStringList found;
  for (QRegularExpressionMatchIterator each =
           line.globalMatch(help.section("\nSubcommands:\n", 1).section("\n\n", 0, 0));
       each.hasNext();)
    found << each.next().captured(1);
  return found;
}

/// The words of a page as somebody reads them.
QString plain(QString page) {
  for (const auto& [code, text] : {std::pair("\\fB", ""),
                                   {"\\fI", ""},
                                   {"\\fR", ""},
                                   {"\\-", "-"},
                                   {"\\(aq", "'"},
                                   {"\\(dq", "\""},
                                   {"\\(ti", "~"},
                                   {"\\(ha", "^"},
                                   {"\\(ga", "`"},
                                   {"\\&", ""},
                                   {"\\e", "\\"}})
    page.replace(code, text);
  return page;
}

}  // namespace

class TestManPages : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void everyCommandHasAPage();
  void whatTheHelpSaysIsThere_data();
  void whatTheHelpSaysIsThere();
  void isWrittenAlone_data();
  void isWrittenAlone();
  void manReadsIt_data();
  void manReadsIt();
  void exitCodesAreThoseOfTheManual();
  void whatCannotBeWrittenIsSaid();

 private:
  QTemporaryDir m_folder;

  QString file(const QString& page) const { return m_folder.filePath(page + ".1"); }
  void pages() const;
};

void TestManPages::initTestCase() {
  const SpanqResult result = spanq({"man", "--into", m_folder.path().toStdString()});
  QVERIFY2(result.code == 0, result.err.c_str());
  QCOMPARE(result.out, std::string());
}

/// A row a page, with the command that it is about.
void TestManPages::pages() const {
  QTest::addColumn<QString>("command");
  for (const QString& name : QDir(m_folder.path()).entryList(QDir::Files)) {
    const QString page = name.chopped(2);
    QTest::newRow(qPrintable(page)) << (page == "spanq" ? QString() : page.section('-', 1));
  }
}

void TestManPages::everyCommandHasAPage() {
  QStringList expected{"spanq.1"};
  for (const QString& command : commandsIn(helpOf({}))) expected << "spanq-" + command + ".1";
  QVERIFY(expected.size() > 10);
  expected.sort();
  QCOMPARE(QDir(m_folder.path()).entryList(QDir::Files, QDir::Name), expected);
}

void TestManPages::whatTheHelpSaysIsThere_data() {
  pages();
}

void TestManPages::whatTheHelpSaysIsThere() {
  QFETCH(QString, command);
  const QString page = textOf(file(QTest::currentDataTag()));
  const QString read = plain(page).simplified();
  QStringList words;
  if (!command.isEmpty()) words << command;
  std::vector<QStringList> commands{words};
  if (kGroups.contains(command)) {
    for (const QString& inner : commandsIn(helpOf(words))) commands.push_back(words + QStringList{inner});
    QVERIFY(commands.size() > 1);
  }
  const QRegularExpression option("^  (?:(-\\w),)?(--[a-z0-9_-]+)", QRegularExpression::MultilineOption);
  for (const QStringList& one : commands) {
    const QString help = helpOf(one);
    // The line that says what it does.
    QString first = help.section('\n', 0, 0);
    if (first.endsWith('.')) first.chop(1);
    QVERIFY2(read.contains(first.simplified()), qPrintable(first));
    int found = 0;
    for (QRegularExpressionMatchIterator each = option.globalMatch(help); each.hasNext(); ++found) {
      const QRegularExpressionMatch match = each.next();
      QString names = "\\fB" + match.captured(2).replace("-", "\\-") + "\\fR";
      if (!match.captured(1).isEmpty())
        names.prepend("\\fB" + match.captured(1).replace("-", "\\-") + "\\fR, ");
      QVERIFY2(page.contains("\n.TP\n" + names), qPrintable(one.join(' ') + ": " + match.captured(2)));
    }
    QVERIFY(found > 0);
    // The descriptions of the options, and the examples.
    for (const QString& line : help.split('\n')) {
      if (line.startsWith("  spanq ") || line.startsWith("                              "))
        QVERIFY2(read.contains(line.simplified()), qPrintable(line));
    }
  }
  // Nothing of the machine that it was written on.
  QVERIFY(!read.contains(SPANSCOPE_SOURCE_DIR));
  QVERIFY(!read.contains(QDir::homePath() + "/"));
}

void TestManPages::isWrittenAlone_data() {
  pages();
}

void TestManPages::isWrittenAlone() {
  QFETCH(QString, command);
  std::vector<std::string> words{"man"};
  if (!command.isEmpty()) words.push_back(command.toStdString());
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, 0);
  QCOMPARE(QString::fromStdString(result.out), textOf(file(QTest::currentDataTag())));
}

void TestManPages::manReadsIt_data() {
  pages();
}

void TestManPages::manReadsIt() {
  const QString page = file(QTest::currentDataTag());
  const QString man = QStandardPaths::findExecutable("man");
  const QString lexgrog = QStandardPaths::findExecutable("lexgrog");
  if (man.isEmpty() || lexgrog.isEmpty()) QSKIP("there is no man");
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert("LC_ALL", "C.UTF-8");
  environment.insert("MANWIDTH", "80");
  const auto said = [&environment](const QString& program, const QStringList& arguments) {
    QProcess process;
    process.setProcessEnvironment(environment);
    process.start(program, arguments);
    process.waitForFinished();
    const QString complaint = QString::fromUtf8(process.readAllStandardError());
    if (!complaint.isEmpty() || process.exitCode() != 0) return "complaint: " + complaint;
    return QString::fromUtf8(process.readAllStandardOutput());
  };
  const QString name = said(lexgrog, {page});
  QVERIFY2(name.startsWith(page + ": \"" + QTest::currentDataTag() + " - "), qPrintable(name));
  const QString text = said(man, {"--warnings", "--local-file", page});
  QVERIFY2(text.contains("SYNOPSIS\n") && !text.contains("complaint"), qPrintable(text));
}

void TestManPages::exitCodesAreThoseOfTheManual() {
  const QString manual = textOf(SPANSCOPE_SOURCE_DIR "/resources/manual/spanq.md");
  const QString table = manual.section("\n## Exit codes\n", 1).section("\n\n", 0, 0);
  const QRegularExpression row("^\\| (\\d+) \\|", QRegularExpression::MultilineOption);
  QStringList expected;
  for (QRegularExpressionMatchIterator each = row.globalMatch(table); each.hasNext();)
    expected << each.next().captured(1);
  QVERIFY(expected.size() > 3);
  const QRegularExpression entry("\\.TP\n\\\\fB(\\d+)\\\\fR\n");
  const QString section = textOf(file("spanq")).section(".SH \"EXIT STATUS\"", 1).section(".SH", 0, 0);
  QStringList found;
  for (QRegularExpressionMatchIterator each = entry.globalMatch(section); each.hasNext();)
    found << each.next().captured(1);
  QCOMPARE(found, expected);
}

void TestManPages::whatCannotBeWrittenIsSaid() {
  const std::string folder = file("none").toStdString();
  const SpanqResult nowhere = spanq({"man", "--into", folder});
  QCOMPARE(nowhere.code, 3);
  QVERIFY2(nowhere.err.find(folder) != std::string::npos, nowhere.err.c_str());
  const SpanqResult unknown = spanq({"man", "fly"});
  QCOMPARE(unknown.code, 2);
  QVERIFY2(unknown.err.find("COMMAND: Spanscope found \"fly\", but needs one of validate, explain") !=
               std::string::npos,
           unknown.err.c_str());
  QCOMPARE(spanq({"man", "run", "--into", folder}).code, 2);
}

SPANSCOPE_TEST(tst_man_pages, TestManPages, QCoreApplication)
#include "tst_man_pages.moc"
