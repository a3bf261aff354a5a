// SPDX-License-Identifier: GPL-3.0-or-later
// Queries in other forms than JSON on the command line, the questions they ask and the files they read.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <string>
#include <utility>

using spanscope::product_text::says;
using spanscope::product_text::worded;
using spanscope::test::spanq;
using spanscope::test::SpanqResult;

namespace {

const std::string kQueries = SPANSCOPE_SOURCE_DIR "/resources/queries/";

}  // namespace

class TestSpanqForms : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void everyExampleInEveryForm_data();
  void everyExampleInEveryForm();
  void errorsPointIntoEveryForm_data();
  void errorsPointIntoEveryForm();
  void formIsToldByTheText();
  void wideTextIsRead();
  void exportWarnsOfWhatTheFormCannotSay();
  void exportIsWhatTheReferenceWrites();
  void answersComeFromOptionsThenTheTerminal();
  void oneQuestionIsAskedOnce();
  void questionsCannotCommandTheTerminal();
  void withoutATerminalAnAnswerIsAnOption();
  void filesAreReadBesideTheQuery();
  void otherFoldersMustBeAllowed();
  void validateReadsFilesAndAsksNobody();
  void validateRefusesWhatARunRefuses_data();
  void validateRefusesWhatARunRefuses();
  void validateListsParameters();
  void validateAdvisesOfEmptyMessages_data();
  void validateAdvisesOfEmptyMessages();
  void aChatIsRead();
  void errorsOfARunNameItsFile();
  void unusedSettingsAreWarnedOf();

 private:
  QTemporaryDir m_folder;

  std::string write(const char* name, const QByteArray& text) {
    QFile file(m_folder.filePath(QString::fromUtf8(name)));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) return {};
    return file.fileName().toStdString();
  }
};

void TestSpanqForms::initTestCase() {
  QVERIFY(m_folder.isValid());
  QVERIFY(QDir(m_folder.path()).mkpath("in"));
  QVERIFY(QDir(m_folder.path()).mkpath("beside"));
  write("in/a.txt", "text of a");
  write("beside/b.txt", "text of b");
}

void TestSpanqForms::everyExampleInEveryForm_data() {
  QTest::addColumn<QString>("form");
  for (const QFileInfo& file : QDir(QString::fromStdString(kQueries)).entryInfoList({"*.json"})) {
    for (const char* form : {"yaml", "lisp"}) {
      QTest::newRow(qPrintable(file.completeBaseName() + " " + form)) << QString::fromUtf8(form);
    }
  }
}

void TestSpanqForms::everyExampleInEveryForm() {
  QFETCH(QString, form);
  const std::string example =
      kQueries + QByteArray(QTest::currentDataTag()).split(' ')[0].toStdString() + ".json";
  const SpanqResult written = spanq({"export", "--to", form.toStdString(), example});
  QCOMPARE(written.code, 0);
  const std::string file =
      write(("example." + form.toStdString()).c_str(), QByteArray::fromStdString(written.out));
  QCOMPARE(spanq({"export", "--to", "spnl", file}).out, spanq({"export", "--to", "spnl", example}).out);
  QCOMPARE(spanq({"explain", file}).out, spanq({"explain", example}).out);
  QCOMPARE(spanq({"validate", file}).code, 0);
}

void TestSpanqForms::errorsPointIntoEveryForm_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("place");
  QTest::newRow("a.json") << QByteArray("{\"seq\": [\n  {\"user\": 1}]}")
                          << ":2:12: /seq/0/user: Spanscope found the number 1";
  QTest::newRow("a.yaml") << QByteArray("seq:\n  - user: 1\n")
                          << ":2:11: /seq/0/user: Spanscope found the number 1";
  QTest::newRow("a.lisp") << QByteArray("(seq\n  (user 1))") << ":2:9: Spanscope found the number 1";
  QTest::newRow("plan.yaml")
      << QByteArray(
             "seq:\n  - user: a\n  - augment: {embedding_model: e, body: {g: {model: m, input: {user: q}}}, "
             "doc: [d, {Text: t}]}\n")
      << ":3:41: /seq/1/augment/body: ";
  QTest::newRow("plan.lisp")
      << QByteArray("(seq\n (user \"a\")\n (augment \"e\" (g \"m\" \"q\") (doc \"d\" \"t\")))")
      << ":3:15: /seq/1/augment/body: ";
}

void TestSpanqForms::errorsPointIntoEveryForm() {
  QFETCH(QByteArray, text);
  QFETCH(QString, place);
  const std::string file = write(QTest::currentDataTag(), text);
  const SpanqResult result = spanq({"explain", file});
  QCOMPARE(result.code, 1);
  QVERIFY2(result.err.find(file + place.toStdString()) == 0, result.err.c_str());
}

void TestSpanqForms::formIsToldByTheText() {
  for (const char* text : {R"({"user": "a"})", "user: a\n", "(user \"a\")"}) {
    const SpanqResult result = spanq({"export", "--to", "spnl", "-"}, text);
    QCOMPARE(result.out, std::string("{\"user\":\"a\"}\n"));
  }
}

/// Editors of Windows write UTF-16 with a byte order mark.
void TestSpanqForms::wideTextIsRead() {
  const QString query =
      QStringLiteral(R"({"g":{"model":"spnl/m","max_tokens":3,"input":{"user":"caf\u00e9?"}}})");
  const std::string narrow = write("narrow.json", query.toUtf8());
  const QString marked = QChar(QChar::ByteOrderMark) + query;
  const QByteArray little(reinterpret_cast<const char*>(marked.utf16()), marked.size() * 2);
  QByteArray big = little;
  for (qsizetype i = 0; i < big.size(); i += 2) std::swap(big[i], big[i + 1]);
  const SpanqResult expected = spanq({"export", "--to", "spnl", narrow});
  QCOMPARE(expected.code, 0);
  for (const QByteArray& bytes : {little, big}) {
    const SpanqResult read = spanq({"export", "--to", "spnl", write("wide.json", bytes)});
    QCOMPARE(QString::fromStdString(read.err), QString());
    QCOMPARE(read.out, expected.out);
  }
  // Half of a character is no text.
  QVERIFY(spanq({"validate", write("half.json", little + QByteArray("\x3D\xD8", 2))}).code != 0);
}

void TestSpanqForms::exportWarnsOfWhatTheFormCannotSay() {
  const std::string file = write("warn.json", "{\"plus\": [{\"user\": \"1\"},\n {\"assistant\": \"b\"}]}");
  const SpanqResult yaml = spanq({"export", "--to", "yaml", file});
  QCOMPARE(yaml.code, 0);
  QCOMPARE(yaml.out, std::string("plus:\n  - user: \"1\"\n  - assistant: b\n"));
  QVERIFY2(yaml.err.find(file + ":1:11: /plus/0/user: warning: Spanscope found the text \"1\"") == 0,
           yaml.err.c_str());
  const SpanqResult lisp = spanq({"export", "--to", "lisp", file});
  QCOMPARE(lisp.code, 0);
  QVERIFY2(lisp.err.find(file + ":2:2: /plus/1: warning: Spanscope found the operator \"assistant\"") == 0,
           lisp.err.c_str());
  QCOMPARE(spanq({"export", "--to", "spnl", file}).err, std::string());
}

/// Byte for byte, where the query has a null and for the edge cases.
void TestSpanqForms::exportIsWhatTheReferenceWrites() {
  int rows = 0;
  for (const char* name : {"/spnl-json.jsonl", "/spnl-json-more.jsonl"}) {
    QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/tests/engine/query/data") + QLatin1String(name));
    QVERIFY(file.open(QIODevice::ReadOnly));
    while (!file.atEnd()) {
      const QJsonObject row = QJsonDocument::fromJson(file.readLine()).object();
      const QString text = row["text"].toString();
      const bool isWanted = row["accepted"].toBool() && (text.contains("null") || text.contains("e39"));
      if (!isWanted) continue;
      const SpanqResult written = spanq({"export", "--to", "spnl", "-"}, text.toStdString());
      QCOMPARE(written.code, 0);
      QCOMPARE(QString::fromStdString(written.out), row["canonical_text"].toString() + '\n');
      ++rows;
    }
  }
  QVERIFY2(rows > 80, qPrintable(QString::number(rows)));
  // What is read from that is another query, and that is said.
  const SpanqResult reported = spanq({"export", "--to", "spnl", "-"},
                                     R"({"g":{"model":"spnl/m","temperature":null,"input":{"user":"a"}}})");
  QVERIFY2(says(reported.err, "<temperature-null-spnl>"), reported.err.c_str());
  const SpanqResult yaml = spanq({"export", "--to", "yaml", "-"},
                                 R"({"g":{"model":"spnl/m","temperature":null,"input":{"user":"a"}}})");
  QCOMPARE(yaml.err, std::string());
}

void TestSpanqForms::answersComeFromOptionsThenTheTerminal() {
  const std::string file =
      write("ask.lisp", R"((seq (ask "first?") (ask "second?") (system (format "{}!" (ask "third?")))))");
  const SpanqResult result = spanq({"export", "--to", "spnl", "--answer", "a = 1", file}, "b\nc\n", {}, true);
  QCOMPARE(result.code, 0);
  // Where a text belongs, the question is asked when the file is read: before all others.
  QCOMPARE(result.out,
           std::string("{\"seq\":[{\"user\":\"b\"},{\"user\":\"c\"},{\"system\":\"a = 1!\"}]}\n"));
  QCOMPARE(result.err, std::string("first? second? "));
}

void TestSpanqForms::oneQuestionIsAskedOnce() {
  const std::string one = write("one.json", R"({"seq":[{"ask":"who?"},{"ask":"who?"}]})");
  const std::string two = write("two.json", R"({"ask":"who?"})");
  const SpanqResult result = spanq({"explain", one, two}, "me\nyou\n", {}, true);
  QCOMPARE(result.code, 0);
  QCOMPARE(result.err, std::string("who? "));
  QVERIFY(result.out.find("\"you\"") == std::string::npos);
}

void TestSpanqForms::questionsCannotCommandTheTerminal() {
  const std::string file = write("escape.json", R"({"ask":"\u001b[2Jwho?\u0007"})");
  const SpanqResult result = spanq({"explain", file}, "me\n", {}, true);
  QCOMPARE(result.code, 0);
  QCOMPARE(result.err, std::string(" [2Jwho?  "));
}

void TestSpanqForms::withoutATerminalAnAnswerIsAnOption() {
  const std::string file = write("ask.json", R"({"seq":[{"ask":"who?"}]})");
  const SpanqResult result = spanq({"run", file}, "me\n");
  QCOMPARE(result.code, 1);
  QVERIFY2(
      result.err.find(file + ":1:9: /seq/0: Spanscope found the question \"who?\" without an answer") == 0,
      result.err.c_str());
  QVERIFY(result.err.find("--answer TEXT") != std::string::npos);
  // A terminal that is closed gives no answer either.
  QCOMPARE(spanq({"explain", file}, {}, {}, true).code, 1);
}

void TestSpanqForms::filesAreReadBesideTheQuery() {
  const std::string file = write("in/file.json", R"({"seq":[{"file":"a.txt"},{"file":"{name}"}]})");
  const SpanqResult result = spanq({"export", "--to", "spnl", "--set", "name=./a.txt", file});
  QCOMPARE(result.out, std::string("{\"seq\":[{\"user\":\"text of a\"},{\"user\":\"text of a\"}]}\n"));
}

void TestSpanqForms::otherFoldersMustBeAllowed() {
  const std::string file = write("in/beside.yaml", "seq:\n  - file: ../beside/b.txt\n");
  const SpanqResult refused = spanq({"export", "--to", "spnl", file});
  QCOMPARE(refused.code, 1);
  QVERIFY2(refused.err.find(file + ":2:5: /seq/0: Spanscope found the file \"../beside/b.txt\" outside") == 0,
           refused.err.c_str());
  QVERIFY(refused.err.find("--read-from DIR") != std::string::npos);
  const std::string beside = m_folder.filePath("beside").toStdString();
  const SpanqResult allowed = spanq({"export", "--to", "spnl", "--read-from", beside, file});
  QCOMPARE(allowed.out, std::string("{\"seq\":[{\"user\":\"text of b\"}]}\n"));
  for (const char* command : {"export", "run", "explain", "validate"}) {
    QVERIFY(spanq({command, "--help"}).out.find("--read-from DIR") != std::string::npos);
  }
}

void TestSpanqForms::validateReadsFilesAndAsksNobody() {
  const std::string right = write("in/right.lisp", R"((seq (system (file "a.txt")) (user (ask "who?"))))");
  QCOMPARE(spanq({"validate", right}, {}, {}, true).code, 0);
  const std::string wrong = write("in/wrong.lisp", R"((seq (system (file "missing.txt"))))");
  const SpanqResult result = spanq({"validate", wrong});
  QCOMPARE(result.code, 1);
  QVERIFY2(result.err.find(wrong + ":1:14: Spanscope found the file \"missing.txt\"") == 0,
           result.err.c_str());
}

/// Of a query alone: whatever settings and values come with a run, and what options choose.
void TestSpanqForms::validateRefusesWhatARunRefuses_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QStringList>("options");
  const auto repeated = [](int levels) {
    QString text = R"({"user":"a"})";
    for (int i = 0; i < levels; ++i)
      text = QStringLiteral(R"({"repeat":{"n":200,"g":{"model":"","max_tokens":1,"input":%1}}})").arg(text);
    return text;
  };
  const auto asked = [](const QString& prompt) {
    return QStringLiteral(R"({"g":{"model":"","max_tokens":3,"input":%1}})").arg(prompt);
  };
  const auto words = [](int count) {
    return QStringLiteral(R"({"user":"%1"})").arg(QStringLiteral(" a").repeated(count));
  };
  QTest::newRow("repeats that become too large") << repeated(3) << QStringList();
  QTest::newRow("a zip that becomes too large")
      << asked(QStringLiteral(R"({"zip":{"first":%1,"second":%1}})").arg(repeated(2))) << QStringList();
  QTest::newRow("a file outside of the folder")
      << asked(R"({"seq":[{"file":"../beside/b.txt"}]})") << QStringList();
  QTest::newRow("longer than the context")
      << asked(words(33000)) << QStringList{"--model", SPANSCOPE_SOURCE_DIR "/resources/models/spanlet"};
  QTest::newRow("a small pool") << asked(words(1000)) << QStringList{"--blocks", "20"};
  QTest::newRow("no such device") << asked(R"({"user":"a"})") << QStringList{"--device", "cuda:41"};
  QTest::newRow("no such model") << asked(R"({"user":"a"})") << QStringList{"--model", "/nowhere/at/all"};
}

void TestSpanqForms::validateRefusesWhatARunRefuses() {
  QFETCH(QString, text);
  QFETCH(QStringList, options);
  const std::string file = write("in/refused.json", text.toUtf8());
  const auto with = [&](const char* command) {
    std::vector<std::string> arguments{command, file};
    for (const QString& option : options) arguments.push_back(option.toStdString());
    return arguments;
  };
  const SpanqResult validated = spanq(with("validate"));
  QCOMPARE(validated.code, 1);
  QVERIFY2(validated.out.empty() && !validated.err.empty(), validated.out.c_str());
  QVERIFY(spanq(with("run")).code != 0);
  // Without these options, the same query is fine.
  if (!options.isEmpty()) QCOMPARE(spanq({"validate", file}).code, 0);
}

void TestSpanqForms::validateListsParameters() {
  const std::string file =
      write("parameters.json",
            R"({"repeat":{"n":"{n}","g":{"model":"{model}","input":{"user":"{n} of {topic}"}}}})");
  QCOMPARE(QString::fromStdString(spanq({"validate", "--parameters", file}).out),
           QString::fromStdString(file) +
               ": fine\n"
               "  {n}: count, needs a value, at /repeat/n /repeat/g/input/user\n"
               "  {model}: text, at /repeat/g/model\n"
               "  {topic}: text, at /repeat/g/input/user\n");
}

void TestSpanqForms::validateAdvisesOfEmptyMessages_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("place");
  QTest::newRow("empty.json") << QByteArray(R"({"g":{"model":"m","input":{"cross":[{"user":"a"},)"
                                            "\n"
                                            R"({"system":""}]}}})")
                              << ":2:1: /g/input/cross/1/system: ";
  QTest::newRow("empty.yaml")
      << QByteArray("g:\n  model: m\n  input:\n    cross:\n    - user: a\n    - system: ''\n")
      << ":6:7: /g/input/cross/1/system: ";
  QTest::newRow("empty.lisp") << QByteArray("(g \"m\" (cross \"a\"\n (system \"\")))")
                              << ":2:2: /g/input/cross/1/system: ";
  QTest::newRow("empty.span")
      << QByteArray(
             R"({"spanscope":{"version":1},"query":{"g":{"model":"","input":{"cross":[{"user":"a"},{"system":""}]}}}})")
      << ":1:84: /query/g/input/cross/1/system: ";
}

void TestSpanqForms::validateAdvisesOfEmptyMessages() {
  QFETCH(QByteArray, text);
  QFETCH(QString, place);
  const std::string file = write(QTest::currentDataTag(), text);
  const SpanqResult result = spanq({"validate", file});
  const QString expected = QString::fromStdString(file) + place + "warning: ";
  QVERIFY2(result.err.starts_with(expected.toStdString()), result.err.c_str());
  QCOMPARE(result.code, 0);
  QCOMPARE(result.out, file + ": fine\n");
}

void TestSpanqForms::aChatIsRead() {
  const std::string file =
      write("chat.json",
            R"({"model":"m","messages":[{"role":"user","content":"Hello"}],"max_tokens":5,"temperature":0})");
  const SpanqResult result = spanq({"export", "--to", "spnl", file});
  QCOMPARE(result.code, 0);
  QCOMPARE(QString::fromStdString(result.out),
           QStringLiteral(
               R"({"g":{"model":"m","max_tokens":5,"temperature":0.0,"input":{"seq":[{"user":"Hello"}]}}})"
               "\n"));
  QVERIFY2(result.err.find(file + ":1:1: warning: Spanscope found a chat-completions request") == 0,
           result.err.c_str());
}

void TestSpanqForms::errorsOfARunNameItsFile() {
  const std::string one = write("one.json", R"({"g":{"model":"m","max_tokens":1,"input":{"user":"a"}}})");
  const std::string long2 = write("two.json", R"({"g":{"model":"m","max_tokens":1,"input":{"user":")" +
                                                  QByteArray(2000, 'x') + R"("}}})");
  const SpanqResult result = spanq({"run", "--blocks", "8", one, long2});
  QCOMPARE(result.code, 3);
  QVERIFY2(result.err.find(long2 + worded(std::string(": error: <prompt-has> "))) != std::string::npos,
           result.err.c_str());
}

void TestSpanqForms::unusedSettingsAreWarnedOf() {
  const std::string one = write("topic.json", R"({"user":"About {topic}"})");
  const std::string two = write("place.json", R"({"user":"In {place}"})");
  const SpanqResult fine = spanq({"explain", "--set", "topic=x", "--set", "place=y", one, two});
  QCOMPARE(fine.code, 0);
  QCOMPARE(fine.err, std::string());
  const std::string expected =
      one +
      worded(std::string(
          ": warning: Spanscope found {topic} without a value, but expects <set-name-value>\n"
          "--set: warning: Spanscope found "
          "a value for \"tpoic\"<no-parameter-query>, but expects one of topic. Did you mean \"topic\"?\n"));
  QCOMPARE(spanq({"explain", "--set", "tpoic=x", one}).err, expected);
  // Of a query that could not be read nobody knows what it has.
  const std::string broken = write("broken.json", "{");
  const SpanqResult unread = spanq({"explain", "--set", "topic=x", broken});
  QCOMPARE(unread.code, 1);
  QVERIFY2(unread.err.find("--set") == std::string::npos, unread.err.c_str());
  QCOMPARE(spanq({"export", "--to", "spnl", "--set", "tpoic=x", one}).err, expected);
}

SPANSCOPE_TEST(tst_spanq_forms, TestSpanqForms)
#include "tst_spanq_forms.moc"
