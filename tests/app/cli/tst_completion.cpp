// SPDX-License-Identifier: GPL-3.0-or-later
// What shells complete after "spanq": each shell runs its script.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
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
#include <vector>

using spanscope::test::spanq;
using spanscope::test::SpanqResult;

class TestCompletion : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void isAScriptForEachShell_data();
  void isAScriptForEachShell();
  void bashCompletes_data();
  void bashCompletes();
  void bashCompletesFiles();
  void bashOffersEveryOption();
  void zshCompletes();
  void fishCompletes();
  void whatIsOfferedIsTaken_data();
  void whatIsOfferedIsTaken();

 private:
  QTemporaryDir m_folder;
  QString m_bash;  ///< empty: there is none

  /// The script of a shell, written to a file.
  QString script(const QString& shell) const {
    const QString path = m_folder.filePath("." + shell);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(QByteArray::fromStdString(spanq({"completion", shell.toStdString()}).out));
    return path;
  }

  /// The sorted lines that a shell writes; it finds the program in its path.
  QStringList linesOf(const QString& shell, const QStringList& arguments) const {
    QProcess process;
    process.setWorkingDirectory(m_folder.path());
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("PATH",
                       QFileInfo(QStringLiteral(SPANSCOPE_SPANQ)).path() + ":" + environment.value("PATH"));
    environment.insert("HOME", m_folder.path());
    environment.insert("XDG_CONFIG_HOME", m_folder.filePath(".config"));
    process.setProcessEnvironment(environment);
    process.start(shell, arguments);
    process.waitForFinished();
    QStringList found = QString::fromUtf8(process.readAllStandardOutput()).split('\n', Qt::SkipEmptyParts);
    const QString said = QString::fromUtf8(process.readAllStandardError());
    if (!said.isEmpty()) found << "the shell says: " + said;
    found.sort();
    return found;
  }

  /// What bash offers where the last of these words is completed; the first is "spanq".
  QStringList offers(const QStringList& words) const {
    // Words reach it as a line of a terminal does: "=" divides them.
    return linesOf(m_bash, QStringList{"--norc", "-c",
                                       "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                                       "_spanq; printf '%s\\n' \"${COMPREPLY[@]}\"",
                                       "bash", m_folder.filePath(".bash")} +
                               words);
  }
};

void TestCompletion::initTestCase() {
  m_bash = QStandardPaths::findExecutable("bash");
  QVERIFY(!script("bash").isEmpty());
  for (const char* name : {"a query.json", "another.txt"}) {
    QFile made(m_folder.filePath(name));
    QVERIFY(made.open(QIODevice::WriteOnly));
  }
  QVERIFY(QDir(m_folder.path()).mkdir("a folder"));
}

void TestCompletion::isAScriptForEachShell_data() {
  QTest::addColumn<QString>("shell");
  QTest::addColumn<QStringList>("check");
  QTest::newRow("bash") << "bash" << QStringList{"--norc", "-n"};
  QTest::newRow("zsh") << "zsh" << QStringList{"-f", "-n"};
  QTest::newRow("fish") << "fish" << QStringList{"--no-execute"};
}

void TestCompletion::isAScriptForEachShell() {
  QFETCH(QString, shell);
  QFETCH(QStringList, check);
  const SpanqResult written = spanq({"completion", shell.toStdString()});
  QCOMPARE(written.code, 0);
  QCOMPARE(written.err, std::string());
  const QString program = QStandardPaths::findExecutable(shell);
  if (program.isEmpty()) QSKIP(qPrintable("there is no " + shell + " to read its script"));
  QCOMPARE(linesOf(program, check + QStringList{script(shell)}), QStringList());
}

void TestCompletion::bashCompletes_data() {
  QTest::addColumn<QStringList>("words");
  QTest::addColumn<QStringList>("offered");
  const auto row = [](const char* name, const QStringList& words, QStringList offered) {
    offered.sort();
    QTest::newRow(name) << words << offered;
  };
  row("commands", {"spanq", ""},
      {"validate", "explain", "run", "export", "trace", "model", "devices", "doctor", "cache", "bench",
       "remote", "simulate", "lesson", "serve", "watch", "completion", "man"});
  row("beginning of a command", {"spanq", "ex"}, {"explain", "export"});
  row("options of the program", {"spanq", "--v"}, {"--version"});
  row("commands of a group", {"spanq", "trace", ""}, {"show", "stats", "sources"});
  row("beginning of one", {"spanq", "cache", "e"}, {"export"});
  row("what is done with lessons", {"spanq", "lesson", ""}, {"list", "check", "run", "export", "grade"});
  row("servers", {"spanq", "simulate", ""}, {"vllm", "sglang", "llama.cpp"});
  row("options", {"spanq", "run", "--top"}, {"--top-k", "--top-p"});
  row("options of a command of a group", {"spanq", "trace", "show", "--o"}, {"--only"});
  row("a choice", {"spanq", "run", "--layout", ""}, {"exact", "padded", "cropped"});
  row("beginning of a choice", {"spanq", "run", "--policy", "bl"}, {"blend"});
  row("after an equals sign", {"spanq", "run", "--layout", "=", "p"}, {"padded"});
  row("at an equals sign", {"spanq", "run", "--kv", "="}, {"auto", "f32", "bf16"});
  row("after an equals sign of a value", {"spanq", "explain", "--rule", "distribute-plus", "=", "o"},
      {"on", "off"});
  row("after a word with an equals sign", {"spanq", "run", "--layout", "=", "padded", "--kv", "b"}, {"bf16"});
  row("policies", {"spanq", "run", "--policy", "sh"}, {"shared-prefix"});
  row("after the end of options", {"spanq", "run", "--", "--lay"}, {});
  row("a second argument", {"spanq", "completion", "bash", ""}, {});
  row("a server", {"spanq", "explain", "--as", "s"}, {"sglang"});
  row("targets", {"spanq", "export", "--to", "c"}, {"chat", "chat-curl", "curl"});
  row("rules", {"spanq", "explain", "--rule", "distribute-plus"},
      {"distribute-plus=on", "distribute-plus=off"});
  row("events", {"spanq", "trace", "show", "--only", "run_"}, {"run_started", "run_finished"});
  row("an argument that is a choice", {"spanq", "completion", ""}, {"bash", "zsh", "fish"});
  row("a number", {"spanq", "run", "--seed", ""}, {});
  row("a text", {"spanq", "run", "--answer", "a"}, {});
  row("an option where a value is wanted", {"spanq", "run", "--layout", "--"}, {});
  row("no such command", {"spanq", "fly", ""}, {});
  row("an experiment", {"spanq", "bench", "rag", "--chart", "li"}, {"lines"});
}

void TestCompletion::bashCompletes() {
  if (m_bash.isEmpty()) QSKIP("there is no bash");
  QFETCH(QStringList, words);
  QFETCH(QStringList, offered);
  QCOMPARE(offers(words), offered);
}

void TestCompletion::bashCompletesFiles() {
  if (m_bash.isEmpty()) QSKIP("there is no bash");
  const QStringList all{"a folder", "a query.json", "another.txt"};
  QCOMPARE(offers({"spanq", "run", "a"}), all);
  QCOMPARE(offers({"spanq", "run", "--json", "an"}), QStringList{"another.txt"});
  QCOMPARE(offers({"spanq", "run", "--trace", "a"}), all);
  QCOMPARE(offers({"spanq", "bench", "rag", "--csv", "=", "an"}), QStringList{"another.txt"});
  QCOMPARE(offers({"spanq", "cache", "list", "--cache-dir", "a"}), QStringList{"a folder"});
  QCOMPARE(offers({"spanq", "model", "show", "a"}), all);
  QCOMPARE(offers({"spanq", "simulate", "llama.cpp", "a"}), all);
  QCOMPARE(offers({"spanq", "cache", "warm", "a"}), all);
  QCOMPARE(offers({"spanq", "devices", "a"}), QStringList());
}

/// As the help of each command lists them.
void TestCompletion::bashOffersEveryOption() {
  if (m_bash.isEmpty()) QSKIP("there is no bash");
  const QRegularExpression option("^  (?:-\\w,)?(--[a-z-]+)", QRegularExpression::MultilineOption);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"validate"},
                                             {"explain"},
                                             {"run"},
                                             {"export"},
                                             {"trace", "show"},
                                             {"model", "logits"},
                                             {"cache", "warm"},
                                             {"bench", "speed"},
                                             {"bench", "accuracy"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("--help");
    const QString help = QString::fromStdString(spanq(arguments).out);
    QStringList expected;
    for (QRegularExpressionMatchIterator found = option.globalMatch(help); found.hasNext();)
      expected << found.next().captured(1);
    expected.sort();
    QVERIFY(!expected.isEmpty());
    QStringList words{"spanq"};
    for (const std::string& word : command) words << QString::fromStdString(word);
    QCOMPARE(offers(words + QStringList{"--"}), expected);
  }
}

/// The functions of zsh that show what is offered write it out.
void TestCompletion::zshCompletes() {
  const QString zsh = QStandardPaths::findExecutable("zsh");
  if (zsh.isEmpty()) QSKIP("there is no zsh");
  const QString file = script("zsh");
  const auto offered = [&](const QStringList& before, const QString& prefix) {
    return linesOf(zsh, QStringList{"-f", "-c",
                                    "compdef() { :; }\n_describe() { print -rl -- \"${(@P)2}\"; }\n"
                                    "_files() { print -r -- files \"$@\" $PREFIX; }\n"
                                    "compset() { PREFIX=${PREFIX#--*=}; }\n"
                                    "source $1; PREFIX=$2; shift 2; words=(\"$@\" \"$PREFIX\"); "
                                    "CURRENT=${#words}; _spanq",
                                    "zsh", file, prefix} +
                            before);
  };
  QCOMPARE(offered({"spanq"}, "val").size(), 1);
  QVERIFY(offered({"spanq"}, "val").front().startsWith("validate:"));
  QVERIFY(offered({"spanq", "run"}, "--layo").front().startsWith("--layout:"));
  QCOMPARE(offered({"spanq", "run"}, "--layout=p"), QStringList{"--layout=padded"});
  QCOMPARE(offered({"spanq", "run", "--policy"}, "bl"), QStringList{"blend"});
  QCOMPARE(offered({"spanq", "run"}, "a q"), QStringList{"files a q"});
  QCOMPARE(offered({"spanq", "run"}, "--trace=a"), QStringList{"files a"});
  QCOMPARE(offered({"spanq", "cache", "list", "--cache-dir"}, ""), QStringList{"files -/"});
  QCOMPARE(offered({"spanq", "run", "--seed"}, ""), QStringList());
}

void TestCompletion::fishCompletes() {
  const QString fish = QStandardPaths::findExecutable("fish");
  if (fish.isEmpty()) QSKIP("there is no fish");
  const QString file = script("fish");
  const auto offered = [&](const QString& line) {
    QStringList words;
    for (const QString& found :
         linesOf(fish, {"--no-config", "-c", "source $argv[1]; complete -C $argv[2]", file, line}))
      words << found.section('\t', 0, 0);
    return words;
  };
  QCOMPARE(offered("spanq val"), QStringList{"validate"});
  QCOMPARE(offered("spanq run --layo"), QStringList{"--layout"});
  QCOMPARE(offered("spanq run --layout=p"), QStringList{"--layout=padded"});
  QCOMPARE(offered("spanq run --policy bl"), QStringList{"blend"});
  QCOMPARE(offered("spanq run an"), QStringList{"another.txt"});
  QCOMPARE(offered("spanq run --trace=an"), QStringList{"--trace=another.txt"});
  QCOMPARE(offered("spanq cache list --cache-dir a"), QStringList{"a folder/"});
  QCOMPARE(offered("spanq run --seed "), QStringList());
}

void TestCompletion::whatIsOfferedIsTaken_data() {
  QTest::addColumn<QString>("option");
  for (const char* option : {"--policy", "--layout", "--kv", "--rule", "--template", "--output-form"})
    QTest::newRow(option) << option;
}

void TestCompletion::whatIsOfferedIsTaken() {
  if (m_bash.isEmpty()) QSKIP("there is no bash");
  QFETCH(QString, option);
  const QStringList words = offers({"spanq", "run", option, ""});
  QVERIFY(words.size() > 1);
  for (const QString& word : words) {
    // What is wrong then is the query, not the command line.
    const SpanqResult result =
        spanq({"run", "--locality", "2", option.toStdString(), word.toStdString(), "/no/such/query.json"});
    QVERIFY2(result.code == 1, qPrintable(word + ": " + QString::fromStdString(result.err)));
  }
}

SPANSCOPE_TEST(tst_completion, TestCompletion, QCoreApplication)
#include "tst_completion.moc"
