// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line says is read strictly: numbers in the ranges that the help states, names that there
// are, texts in UTF-8; and nothing that was asked for is left out without a word.
#include "engine/workbench/settings.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QChar>
#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QObject>
#include <QRegularExpression>
#include <QRegularExpressionMatch>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <string>
#include <vector>

using spanscope::product_text::says;
using spanscope::product_text::worded;
using spanscope::test::spanq;
using spanscope::test::SpanqResult;

class TestSpanqOptions : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void settingsAreOptions();
  void everyNumberStatesItsRange_data();
  void everyNumberStatesItsRange();
  void numbersAreReadStrictly_data();
  void numbersAreReadStrictly();
  void numbersWithinTheirRangeAreTaken_data();
  void numbersWithinTheirRangeAreTaken();
  void wrongValuesAreUsage_data();
  void wrongValuesAreUsage();
  void emptyValuesAreUsage_data();
  void emptyValuesAreUsage();
  void emptyAnswersAreTaken();
  void textsAreUtf8_data();
  void textsAreUtf8();
  void unusedIsSaid_data();
  void unusedIsSaid();
  void usedIsNotSaid_data();
  void usedIsNotSaid();
  void namesOfFilesAreAnyBytes();
  void shorterChunksOverlapLess();
};

namespace {

const QString kSource = SPANSCOPE_SOURCE_DIR;
const QString kChat = kSource + "/resources/queries/chat.json";
const QString kRetrieve = kSource + "/resources/queries/retrieve.yaml";
const QString kModel = kSource + "/resources/models/spanlet";
const QString kNowhere = "/nowhere/a.json";

SpanqResult start(const QStringList& arguments, const QString& input = {}) {
  std::vector<std::string> words;
  for (const QString& word : arguments) words.push_back(word.toStdString());
  return spanq(words, input.toStdString());
}

const QStringList kCommands{"validate",    "explain",       "run",         "export",       "trace show",
                            "trace stats", "trace sources", "model show",  "model logits", "bench run",
                            "bench ops",   "bench abba",    "bench speed", "bench needle", "bench sources"};

QString helpOf(const QString& command) {
  return QString::fromStdString(start(command.split(' ') + QStringList{"--help"}).out);
}

/// A number as an option, with the range that its help states.
struct Number {
  QString command;
  QString option;
  QString least;
  QString most;
  bool orZero = false;
};

std::vector<Number> numbersOf(const QString& command) {
  static const QRegularExpression options(
      R"(^  (?:-\w,)?(--[\w-]+) N\b[^\n]*?(?:\n {30})?[^\n]*\((0 or )?([\d.]+) to ([\d.e+]+)\)$)",
      QRegularExpression::MultilineOption);
  std::vector<Number> numbers;
  auto match = options.globalMatch(helpOf(command));
  while (match.hasNext()) {
    const QRegularExpressionMatch option = match.next();
    numbers.push_back({.command = command,
                       .option = option.captured(1),
                       .least = option.captured(3),
                       .most = option.captured(4),
                       .orZero = !option.captured(2).isEmpty()});
  }
  return numbers;
}

std::vector<Number> allNumbers() {
  std::vector<Number> numbers;
  for (const QString& command : kCommands) {
    for (const Number& number : numbersOf(command)) numbers.push_back(number);
  }
  return numbers;
}

/// The command with that value, and all that it needs to get beyond its options, to a file that does not
/// exist.
QStringList withValue(const Number& number, const QString& value) {
  QStringList words = number.command.split(' ');
  const QString& option = number.option;
  if (words[0] == "bench") {
    words << "--model"
          << "/nowhere";
    if (words[1] == "run") words << kNowhere;
  } else if (number.command == "model logits") {
    words << "/nowhere"
          << "--ids"
          << "1";
  } else {
    words << kNowhere;
  }
  if (number.command == "explain")
    words << "--predict"
          << "--model"
          << "/nowhere";
  if (option == "--slots" || option == "--cache-reuse")
    words << "--as"
          << "llama.cpp";
  if (number.command == "run")
    words << "--trace"
          << "/nowhere/a.trace";
  if (option == "--observe-limit")
    words << "--observe"
          << "0";
  if (number.command == "export") {
    words << "--to" << (option == "--seed" ? "chat" : "tokens");
    if (option != "--seed")
      words << "--tokenizer"
            << "/nowhere";
    if (option != "--seed" && option != "--pad")
      words << "--pad"
            << "3";
  }
  if (option == "--overlap")
    words << "--chunk"
          << "1048576";
  return words << option + "=" + value;
}

bool isReal(const Number& number) {
  return QStringList{"--top-p", "--good", "--seconds"}.contains(number.option);
}

bool isList(const Number& number) {
  if (number.command == "bench sources" && number.option == "--documents") return true;
  return QStringList{"--observe", "--sizes", "--depth", "--hay", "--portions"}.contains(number.option);
}

/// One more than a whole number of any length.
QString oneMore(const QString& number) {
  QString more = number;
  for (qsizetype i = more.size() - 1; i >= 0; --i) {
    if (more[i] != '9') {
      more[i] = QChar(more[i].unicode() + 1);
      return more;
    }
    more[i] = '0';
  }
  return "1" + more;
}

}  // namespace

void TestSpanqOptions::everyNumberStatesItsRange_data() {
  QTest::addColumn<QString>("command");
  for (const QString& command : kCommands) QTest::newRow(qPrintable(command)) << command;
}

void TestSpanqOptions::everyNumberStatesItsRange() {
  QFETCH(QString, command);
  const QString help = helpOf(command);
  QVERIFY(help.contains("Usage: spanq " + command));
  // What the library calls a number when it reads one itself.
  QVERIFY2(!help.contains(QRegularExpression(R"(\b(U?INT|FLOAT)\b)")), qPrintable(help));
  const auto stated = static_cast<qsizetype>(numbersOf(command).size());
  QCOMPARE(stated,
           help.count(QRegularExpression(R"(^  (-\w,)?--[\w-]+ N\b)", QRegularExpression::MultilineOption)));
}

void TestSpanqOptions::numbersAreReadStrictly_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("option");
  QTest::addColumn<QString>("value");
  QTest::addColumn<QString>("most");
  for (const Number& number : allNumbers()) {
    QStringList wrong{"-1", "010", "nan", "99999999999999999999999",
                      isReal(number) ? number.most + ".5" : oneMore(number.most)};
    if (number.least != "0" && !number.orZero) wrong << "0";
    if (number.orZero) wrong << "1";
    if (isList(number)) wrong << number.least + ",,2" << number.least + "," << number.least + ",x";
    for (const QString& value : wrong) {
      QTest::newRow(qPrintable(number.command + " " + number.option + "=" + value))
          << withValue(number, value) << number.option << value << number.most;
    }
  }
}

void TestSpanqOptions::numbersAreReadStrictly() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, option);
  QFETCH(QString, value);
  QFETCH(QString, most);
  const SpanqResult result = start(arguments);
  QVERIFY2(result.code == 2, result.err.c_str());
  QCOMPARE(result.out, std::string());
  const QString said = QString::fromStdString(result.err).section('\n', 0, 0);
  QVERIFY2(said.startsWith(option + ": Spanscope found \"") && said.contains(" to " + most),
           qPrintable(said));
  if (!value.contains(',')) QVERIFY2(said.contains("\"" + value + "\""), qPrintable(said));
}

void TestSpanqOptions::numbersWithinTheirRangeAreTaken_data() {
  QTest::addColumn<QStringList>("arguments");
  QVERIFY(allNumbers().size() > 40);
  for (const Number& number : allNumbers()) {
    QStringList right{number.least, number.most};
    if (number.orZero) right << "0";
    if (isReal(number))
      right << ".5"
            << "0.5"
            << "5e-1";
    if (isList(number)) right << number.least + "," + number.most;
    for (const QString& value : right) {
      QTest::newRow(qPrintable(number.command + " " + number.option + "=" + value))
          << withValue(number, value);
    }
  }
}

void TestSpanqOptions::numbersWithinTheirRangeAreTaken() {
  QFETCH(QStringList, arguments);
  const SpanqResult result = start(arguments);
  // The command got as far as its file.
  QVERIFY2(result.code == 1, result.err.c_str());
  QVERIFY2(result.err.find("/nowhere") != std::string::npos, result.err.c_str());
}

void TestSpanqOptions::wrongValuesAreUsage_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("said");
  const auto row = [](const char* name, const QStringList& arguments, const char* said) {
    QTest::newRow(name) << arguments << QString(said);
  };
  row("unknown rule", {"explain", "--rule", "flaten=off", kChat},
      "--rule: Spanscope found a rule \"flaten\", but needs one of");
  row("rule that was meant", {"run", "--rule", "flaten=off", kChat}, "Did you mean flatten?");
  row("rule neither on nor off", {"explain", "--rule", "flatten=maybe", kChat}, "--rule");
  row("rule on and off", {"explain", "--rule", "zip=on", "--rule", "zip=off", kChat},
      "--rule: Spanscope found \"zip=off\"");
  row("locality without a number", {"explain", "--rule", "attention-locality=on", kChat}, "--locality");
  row("distribute on and off", {"explain", "--rule", "distribute-plus=on", "--no-distribute", kChat},
      "--no-distribute");
  row("shape of no locality", {"explain", "--locality-shape", "tree", kChat}, "--locality");
  row("question of no locality", {"run", "--reduce-prompt", "Which?", kChat}, "--locality");
  row("unknown template", {"run", "--template", "nosuch", kChat},
      "--template: Spanscope found \"nosuch\", but needs auto,");
  row("unknown template to predict", {"explain", "--predict", "--template", "nosuch", kChat},
      "--template: Spanscope found \"nosuch\"");
  row("unknown template to show", {"model", "show", "--template", "nosuch", kModel},
      "--template: Spanscope found \"nosuch\"");
  row("unknown template to export",
      {"export", "--to", "tokens", "--tokenizer", kModel, "--pad", "3", "--template", "nosuch", kChat},
      "--template: Spanscope found");
  row("more slots than the pool can have", {"run", "--blocks", "3000000", "--block-size", "1024", kChat},
      "--blocks: Spanscope found 3000000, but needs at most 2097151 blocks of 1024 tokens");
  row("more slots to predict", {"explain", "--predict", "--blocks", "3000000", "--block-size", "1024", kChat},
      "--blocks: Spanscope found 3000000");
  row("more slots to measure",
      {"bench", "abba", "--blocks", "3000000", "--block-size", "1024", "--shape", "3m"},
      "--blocks: Spanscope found 3000000");
  row("layer that the model lacks", {"run", "--observe", "0,6", "--trace", "/nowhere/a.trace", kChat},
      "--observe: Spanscope found 6, but needs a layer of spanlet, from 0 to 5");
  row("attention of no trace", {"run", "--observe", "0", kChat}, "--observe requires --trace");
  row("overlap beyond a quarter", {"run", "--chunk", "32", "--overlap", "9", kRetrieve},
      "--overlap: Spanscope found 9, but needs at most 8");
  row("vectors that nothing ranks by",
      {"run", "--rank", "lexical", "--embeddings-url", "http://localhost:1", "--embeddings-model", "m",
       kRetrieve},
      "--rank");
  row("two values", {"run", "--set", "a=1", "--set", "a=2", kChat},
      "--set: Spanscope found two values for \"a\"");
  row("event that there is not",
      {"trace", "show", "--only", "block_stored,token_generate", "/nowhere/a.trace"},
      "--only: Spanscope found \"token_generate\", but needs ");
  row("event that was meant", {"trace", "show", "--only", "token_generate", "/nowhere/a.trace"},
      "Did you mean token_generated?");
  row("folder that there is not", {"validate", "--read-from", "/nowhere", kChat}, "--read-from");
  row("id that is none", {"model", "logits", kModel, "--ids", "1,x"}, "--ids: Spanscope found \"x\"");
  row("id with a leading zero", {"model", "logits", kModel, "--ids", "1,02"},
      "--ids: Spanscope found \"02\"");
  row("id beyond the vocabulary", {"model", "logits", kModel, "--ids", "1,2048"},
      "--ids: Spanscope found 2048, but needs an id from 0 to 2047");
  row("segments that do not add up", {"model", "logits", kModel, "--ids", "1,2", "--segments", "i1"},
      "--segments: Spanscope found \"i1\"");
  row("endpoint of no request", {"export", "--to", "spnl", "--endpoint", "http://a/b", kChat},
      "--endpoint: Spanscope found --to spnl, but needs --to chat-curl or");
  row("one piece of no request", {"export", "--to", "chat", "--no-stream", kChat},
      "--to curl or --to python");
  row("seed of no chat", {"export", "--to", "yaml", "--seed", "1", kChat},
      "--seed: Spanscope found --to yaml");
  row("marker of no tokens", {"export", "--to", "lisp", "--plus", "1", kChat},
      "--plus: Spanscope found --to lisp");
  row("tokenizer of no tokens", {"export", "--to", "spnl", "--tokenizer", kModel, kChat},
      "--tokenizer: Spanscope found");
  row("passages that are not written", {"export", "--to", "spnl", "--passages", "2", kRetrieve},
      "--passages: Spanscope found --to spnl, but needs --retrieve as well");
  row("trees of a graph", {"explain", "--dot", "--trees", kChat}, "--trees");
}

void TestSpanqOptions::wrongValuesAreUsage() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, said);
  const SpanqResult result = start(arguments);
  QVERIFY2(result.code == 2, result.err.c_str());
  QCOMPARE(result.out, std::string());
  QVERIFY2(says(result.err, said), result.err.c_str());
  QVERIFY2(!QString::fromStdString(result.err).contains(QRegularExpression(":\\d+:\\d+:")),
           result.err.c_str());
}

void TestSpanqOptions::emptyValuesAreUsage_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("message");
  const auto row = [](const QString& option, const QStringList& command, const char* wanted) {
    const QString message = option + ": Spanscope found nothing, but needs " + QString::fromLatin1(wanted) +
                            "\nRun with --help for more information.\n";
    QTest::newRow(qPrintable(command.join(' ') + ' ' + option))
        << command + QStringList{option, ""} << message;
    QTest::newRow(qPrintable(command.join(' ') + ' ' + option + '='))
        << command + QStringList{option + "="} << message;
  };
  const QStringList run{"run", "--json", kNowhere};
  for (const char* option : {"--trace", "--index"}) row(option, run, "<name-file>");
  row("--cache-dir", run, "<name-folder>");
  row("--model", run, "<name-folder-file>");
  row("--cache-dir", {"cache", "list"}, "<name-folder>");
  row("--folder", {"bench", "cache"}, "<name-folder>");
  row("--csv", {"bench", "rag"}, "<name-file>");
  row("--policies", {"bench", "rag"}, "a value");
}

/// They would do nothing, and nobody would know.
void TestSpanqOptions::emptyValuesAreUsage() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, message);
  const SpanqResult result = start(arguments);
  QCOMPARE(result.code, 2);
  QCOMPARE(QString::fromStdString(result.err), worded(message));
}

void TestSpanqOptions::emptyAnswersAreTaken() {
  const QString ask = R"({"g":{"model":"m","input":{"cross":[{"user":"Hi"},{"ask":"Who?"}]}}})";
  for (const QStringList& answer : {QStringList{"--answer", ""}, QStringList{"--answer="}})
    QCOMPARE(start(QStringList{"explain"} + answer + QStringList{"-"}, ask).code, 0);
  QCOMPARE(start({"explain", "--locality", "2", "--reduce-prompt", "", kChat}).code, 0);
}

void TestSpanqOptions::textsAreUtf8_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("option");
  QTest::newRow("value") << QStringList{"run", kChat} << "--set=who=";
  QTest::newRow("answer") << QStringList{"run", kChat} << "--answer=";
  QTest::newRow("value of an export") << QStringList{"export", "--to", "spnl", kChat} << "--set=who=";
  QTest::newRow("question of a ply") << QStringList{"explain", "--locality", "2", kChat}
                                     << "--reduce-prompt=";
  QTest::newRow("address") << QStringList{"export", "--to", "curl", kChat} << "--endpoint=";
}

void TestSpanqOptions::textsAreUtf8() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, option);
  for (const char* bytes : {"Mira\xff", "\xc3", "\xed\xa0\x80", "\x9bm"}) {
    std::vector<std::string> words;
    for (const QString& word : arguments) words.push_back(word.toStdString());
    words.push_back(option.toStdString() + bytes);
    const SpanqResult result = spanq(words);
    QVERIFY2(result.code == 2, result.err.c_str());
    const QString name = option.section('=', 0, 0);
    QVERIFY2(QString::fromStdString(result.err).startsWith(name + ": Spanscope found "), result.err.c_str());
    QVERIFY(result.err.find("text in UTF-8") != std::string::npos);
  }
}

void TestSpanqOptions::namesOfFilesAreAnyBytes() {
  // The system knows no encoding of names; the name is shown as text.
  const SpanqResult result = spanq({"run", "/nowhere/\xff.json"});
  QCOMPARE(result.code, 1);
  QVERIFY2(result.err.find("/nowhere/") == 0, result.err.c_str());
}

void TestSpanqOptions::unusedIsSaid_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("query");
  QTest::addColumn<QString>("said");
  const QString plain = R"({"g":{"model":"m","max_tokens":1,"input":{"user":"Hello."}}})";
  const QString asks = R"({"g":{"model":"m","max_tokens":1,"input":{"ask":"Who?"}}})";
  const QString texts = R"({"g":{"model":"m","max_tokens":1,"input":{"user":"Tell {who} of {what}."}}})";
  QTest::newRow("answer without a question")
      << QStringList{"run", "--answer", "Mira"} << plain
      << "--answer: warning: Spanscope found 1, but expects <none-no-question>";
  QTest::newRow("surplus answer") << QStringList{"explain", "--answer", "Mira", "--answer", "Sam"} << asks
                                  << "--answer: warning: Spanscope found 2, but expects 1<no-more-questions>";
  QTest::newRow("surplus answer of an export")
      << QStringList{"export", "--to", "chat", "--answer", "Mira", "--answer", "Sam"} << asks
      << "--answer: warning: Spanscope found 2";
  for (const char* command : {"explain", "validate"}) {
    QTest::newRow(qPrintable(QString("folder that nothing reads, ") + command))
        << QStringList{command, "--read-from", "/"} << plain
        << "--read-from: warning: Spanscope found /, but expects <folder-something-read>";
  }
  QTest::newRow("index without an augment")
      << QStringList{"explain", "--index", "/nowhere/index"} << plain
      << "--index: warning: Spanscope found <unused-augment-option>, but expects <none-no-augment>";
  QTest::newRow("chunk without an augment")
      << QStringList{"export", "--to", "chat", "--chunk", "64"} << plain
      << "--chunk: warning: Spanscope found <unused-augment-option>, but expects <none-no-augment>";
  QTest::newRow("texts without values") << QStringList{"explain"} << texts
                                        << "standard input: warning: Spanscope found {who}, {what} without a "
                                           "value, but expects --set NAME=VALUE";
  QTest::newRow("text without its value")
      << QStringList{"run", "--set", "who=Mira"} << texts
      << "standard input: warning: Spanscope found {what} without a value";
  QTest::newRow("text without a value in an export")
      << QStringList{"export", "--to", "spnl", "--set", "who=Mira"} << texts
      << "standard input: warning: Spanscope found {what} without a value";
}

void TestSpanqOptions::unusedIsSaid() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, query);
  QFETCH(QString, said);
  const SpanqResult result = start(arguments + QStringList{"-"}, query);
  QVERIFY2(result.code == 0, result.err.c_str());
  QVERIFY2(says(result.err, said), result.err.c_str());
}

void TestSpanqOptions::usedIsNotSaid_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("query");
  QTest::newRow("answer") << QStringList{"--answer", "Mira"}
                          << R"({"g":{"model":"m","input":{"cross":[{"ask":"Who?"},{"ask":"Who?"}]}}})";
  QTest::newRow("folder") << QStringList{"--read-from", "OTHER"}
                          << R"({"g":{"model":"m","input":{"file":"../other/a.txt"}}})";
  QTest::newRow("folder of an augment's documents")
      << QStringList{"--read-from", "OTHER", "--chunk", "64"}
      << R"({"g":{"model":"m","input":{"augment":{"embedding_model":"none","body":{"user":"Mira"},"doc":["../other/a.txt",{"Text":""}]}}}})";
  QTest::newRow("value") << QStringList{"--set", "who=Mira"}
                         << R"({"g":{"model":"m","input":{"user":"{who} and { braces } and {1}"}}})";
}

void TestSpanqOptions::usedIsNotSaid() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, query);
  const QTemporaryDir folder;
  const auto write = [&folder](const QString& name, const QString& text) {
    QDir().mkpath(QFileInfo(folder.filePath(name)).path());
    QFile file(folder.filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text.toUtf8());
  };
  write("other/a.txt", "Mira lives in Lisbon.");
  write("own/q.json", query);
  arguments.replaceInStrings("OTHER", folder.filePath("other"));
  const SpanqResult result = start(QStringList{"explain", folder.filePath("own/q.json")} + arguments);
  QVERIFY2(result.code == 0, result.err.c_str());
  QVERIFY2(result.err.find("warning") == std::string::npos, result.err.c_str());
}

void TestSpanqOptions::shorterChunksOverlapLess() {
  for (const char* chunk : {"8", "32", "64"}) {
    const SpanqResult result = start({"explain", "--chunk", chunk, kRetrieve});
    QVERIFY2(result.code == 0, result.err.c_str());
  }
}

void TestSpanqOptions::settingsAreOptions() {
  const QString help = helpOf("run");
  for (const spanscope::workbench::Setting& setting : spanscope::workbench::runSettings()) {
    if (*setting.option.name == '\0') continue;
    const QRegularExpression option("^  " + QString(setting.option.name) + "[ \n]",
                                    QRegularExpression::MultilineOption);
    QVERIFY2(help.contains(option), setting.option.name);
    QVERIFY2(help.contains(QString::fromUtf8(setting.option.help)), setting.option.name);
  }
  // What is said there of the usual overlap is so.
  QVERIFY(help.contains("default: at most " + QString::number(spanscope::workbench::RunSettings().overlap)));
}

SPANSCOPE_TEST(tst_spanq_options, TestSpanqOptions, QCoreApplication)
#include "tst_spanq_options.moc"
