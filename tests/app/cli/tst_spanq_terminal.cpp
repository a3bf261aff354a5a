// SPDX-License-Identifier: GPL-3.0-or-later
// The program on a terminal of its own: whatever a query, a file or a name holds, what reaches the terminal
// is text.
#include "app/cli/terminal_output.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QChar>
#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

using spanscope::test::spanq;
using spanscope::test::SpanqResult;

class TestSpanqTerminal : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void terminalGetsTextAlone_data();
  void terminalGetsTextAlone();
  void fileGetsWhatIsPrinted();
  void errorsAreTextEverywhere_data();
  void errorsAreTextEverywhere();
  void writingThroughTellsOfFailure();

 private:
  struct Seen {
    int code = -1;
    QByteArray terminal;  ///< the bytes that reached it
    QByteArray file;      ///< those of standard output, where that is a file
  };

  QTemporaryDir m_folder;

  QString write(const QString& name, const QByteArray& text);
  /// Runs the program on a terminal, or with only standard error there.
  Seen start(const QStringList& arguments, bool outToo = true);
};

namespace {

constexpr int kPatience = 60'000;      // milliseconds
const QByteArray kWiped = "\r\x1b[K";  // the program's own, before a line of progress
const QByteArray kPrinted = R"({"seq":[{"print":"\u001b[31mred\u009bm \u202egnp \u0007\u007f\tend\nlast"},)"
                            R"({"g":{"model":"m","max_tokens":1,"input":{"user":"Hello."}}}]})";

/// Everything but text, lines and tabs, without what the terminal made of lines and what wipes progress.
QByteArray commandsIn(QByteArray bytes) {
  bytes.replace(kWiped, "").replace("\r\n", "\n");
  QByteArray found;
  for (const char32_t character : QString::fromUtf8(bytes).toUcs4()) {
    const bool isText = character == '\n' || character == '\t' || character == ' ' ||
                        QChar::isPrint(character) || character == 0x200D;
    const bool turnsText =
        (character >= 0x202A && character <= 0x202E) || (character >= 0x2066 && character <= 0x2069);
    if (!isText || turnsText || character == 0xFFFD) found += QByteArray::number(character, 16) + " ";
  }
  return found;
}

class Descriptor {
 public:
  explicit Descriptor(int number) : m_number(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return m_number; }
  void close() {
    if (m_number >= 0) ::close(m_number);
    m_number = -1;
  }

 private:
  int m_number;
};

/// All that comes until the other side is closed.
QByteArray readToTheEnd(int descriptor) {
  QByteArray bytes;
  std::array<char, 4096> buffer{};
  while (true) {
    pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kPatience) <= 0) return bytes;
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<int>(count));
  }
}

}  // namespace

void TestSpanqTerminal::initTestCase() {
  QVERIFY(m_folder.isValid());
  write("print.json", kPrinted);
  write("\x1b[31mred\nother.json: fine.json", R"({"g":{"model":"m","input":{"user":"Hello."}}})");
  write("bad.json",
        "{\"g\":{\"model\":\"m\",\"\xC2\x9Bm\x1b[2J\xE2\x80\xAE\":1,\"input\":{\"user\":\"Hello.\"}}}");
  write("asks.json", R"({"g":{"model":"m","max_tokens":1,"input":{"file":"\u001b[2J\u009b.txt"}}})");
  const QDir model(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  QVERIFY(QDir(m_folder.path()).mkpath("\x1b[31m model"));
  for (const QString& name : model.entryList(QDir::Files))
    QVERIFY(QFile::copy(model.filePath(name), m_folder.filePath("\x1b[31m model/" + name)));
  QCOMPARE(start({"run", "--trace", m_folder.filePath("a.trace"), m_folder.filePath("print.json")}).code, 0);
}

QString TestSpanqTerminal::write(const QString& name, const QByteArray& text) {
  QFile file(m_folder.filePath(name));
  if (file.open(QIODevice::WriteOnly)) file.write(text);
  return file.fileName();
}

TestSpanqTerminal::Seen TestSpanqTerminal::start(const QStringList& arguments, bool outToo) {
  int both[2] = {-1, -1};
  if (openpty(&both[0], &both[1], nullptr, nullptr, nullptr) != 0) return {};
  Descriptor ours(both[0]);
  Descriptor theirs(both[1]);
  const QString file = m_folder.filePath("standard output");
  const QByteArray path = file.toLocal8Bit();
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (outToo) {
    posix_spawn_file_actions_adddup2(&actions, theirs.number(), STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path.constData(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  }
  posix_spawn_file_actions_adddup2(&actions, theirs.number(), STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ours.number());
  std::vector<std::string> words{SPANSCOPE_SPANQ};
  for (const QString& argument : arguments) words.push_back(argument.toStdString());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t program = 0;
  const int failed = posix_spawn(&program, SPANSCOPE_SPANQ, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  theirs.close();
  if (failed != 0) return {};
  Seen seen;
  seen.terminal = readToTheEnd(ours.number());
  int status = 0;
  waitpid(program, &status, 0);
  seen.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  QFile written(file);
  if (!outToo && written.open(QIODevice::ReadOnly)) seen.file = written.readAll();
  return seen;
}

void TestSpanqTerminal::terminalGetsTextAlone_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<int>("code");
  QTest::addColumn<QByteArray>("shown");
  const auto at = [this](const char* name) { return m_folder.filePath(name); };
  const QByteArray printed = R"(\u001b[31mred\u009bm \u202egnp \u0007\u007f)";
  const QString named = at("\x1b[31mred\nother.json: fine.json");
  const QByteArray name = R"(\u001b[31mred\nother.json: fine.json)";
  const QString model = at("\x1b[31m model");
  QTest::newRow("printed text") << QStringList{"run", at("print.json")} << 0
                                << printed + "\tend\n" + "last\n";
  QTest::newRow("JSON") << QStringList{"run", "--json", at("print.json")} << 0 << QByteArray("\"runs\"");
  QTest::newRow("plan") << QStringList{"explain", at("print.json")} << 0 << QByteArray("[31mred");
  QTest::newRow("plan as JSON") << QStringList{"explain", "--json", at("print.json")} << 0
                                << QByteArray(R"(\u001b[31m)");
  QTest::newRow("plan as a graph") << QStringList{"explain", "--dot", at("print.json")} << 0
                                   << QByteArray("digraph");
  for (const char* form : {"spnl", "yaml", "lisp"}) {
    QTest::newRow(form) << QStringList{"export", "--to", form, at("print.json")} << 0 << QByteArray("[31m");
  }
  QTest::newRow("events") << QStringList{"trace", "show", at("a.trace")} << 0 << QByteArray("run_started");
  QTest::newRow("events as JSON") << QStringList{"trace", "show", "--json", at("a.trace")} << 0
                                  << QByteArray(R"("run_started")");
  QTest::newRow("name of a file") << QStringList{"validate", named} << 0 << name + ": fine\n";
  QTest::newRow("names of files") << QStringList{"explain", named, named} << 0 << QByteArray("── ");
  QTest::newRow("name of a file that is missing")
      << QStringList{"run", named + "x"} << 1 << name + "x: ";
  QTest::newRow("name of a folder") << QStringList{"model", "show", model} << 0
                                    << QByteArray(R"(\u001b[31m model)");
  QTest::newRow("name of a model") << QStringList{"run", "--model", model, at("print.json")} << 0
                                   << QByteArray(R"(\u001b[31m model)");
  QTest::newRow("key of a query") << QStringList{"validate", at("bad.json")} << 1
                                  << QByteArray("bad.json:1:");
  QTest::newRow("path in a query") << QStringList{"run", at("asks.json")} << 1 << QByteArray("asks.json:1:");
  QTest::newRow("option") << QStringList{"run", "--\x1b[31m\u009b", at("print.json")} << 2
                          << QByteArray(R"(--\u001b[31m\u009b)");
  QTest::newRow("value of an option")
      << QStringList{"run", "--kv", "\x1b[31m", at("print.json")} << 2 << QByteArray(R"(\u001b[31m)");
}

void TestSpanqTerminal::terminalGetsTextAlone() {
  QFETCH(QStringList, arguments);
  QFETCH(int, code);
  QFETCH(QByteArray, shown);
  const Seen seen = start(arguments);
  QVERIFY2(seen.code == code, seen.terminal.constData());
  QCOMPARE(commandsIn(seen.terminal), QByteArray());
  QByteArray lines = seen.terminal;
  lines.replace("\r\n", "\n");
  QVERIFY2(lines.contains(shown), lines.constData());
}

void TestSpanqTerminal::fileGetsWhatIsPrinted() {
  const Seen seen = start({"run", m_folder.filePath("print.json")}, /*outToo=*/false);
  QCOMPARE(seen.code, 0);
  QVERIFY2(seen.file.startsWith("\x1b[31mred\xC2\x9Bm \xE2\x80\xAE"
                                "gnp \x07\x7f\tend\nlast\n"),
           seen.file.constData());
  QCOMPARE(commandsIn(seen.terminal), QByteArray());
}

void TestSpanqTerminal::errorsAreTextEverywhere_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::newRow("file") << QStringList{"validate", "/nowhere/a\nb.json: fine\x1b[2J"};
  QTest::newRow("model") << QStringList{"model", "show", "/nowhere/a\nb\x1b[2J"};
  QTest::newRow("trace") << QStringList{"trace", "stats", "/nowhere/a\nb\x1b[2J"};
}

void TestSpanqTerminal::errorsAreTextEverywhere() {
  QFETCH(QStringList, arguments);
  std::vector<std::string> words;
  for (const QString& word : arguments) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, 1);
  const QByteArray said = QByteArray::fromStdString(result.err);
  QCOMPARE(commandsIn(said), QByteArray());
  QCOMPARE(said.count('\n'), 1);
}

void TestSpanqTerminal::writingThroughTellsOfFailure() {
  // A buffer that takes a few bytes and no more.
  class Full : public std::streambuf {
   protected:
    std::streamsize xsputn(const char* /*text*/, std::streamsize count) override {
      return std::min<std::streamsize>(count, 3);
    }
  };
  Full full;
  spanscope::cli::VisibleBuffer buffer(full);
  std::ostream out(&buffer);
  out << "abc";
  QVERIFY(out.good());
  out << "\x1b";
  QVERIFY(out.bad());
}

SPANSCOPE_TEST(tst_spanq_terminal, TestSpanqTerminal, QCoreApplication)
#include "tst_spanq_terminal.moc"
