// SPDX-License-Identifier: GPL-3.0-or-later
// Exit codes of every command: what they mean is one table of the manual.
#include "engine/experiment/experiment.h"
#include "engine/simulator/servers.h"
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QProcess>
#include <QRegularExpression>
#include <QRegularExpressionMatch>
#include <QRegularExpressionMatchIterator>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

using spanscope::test::spanq;

namespace {

const QString kSource = QStringLiteral(SPANSCOPE_SOURCE_DIR);
constexpr int kPatience = 60'000;  // milliseconds

/// A pipe that takes nothing more, because it is full and nobody reads it.
class FullPipe {
 public:
  FullPipe() {
    if (::pipe2(m_ends.data(), O_CLOEXEC) != 0) return;
    ::fcntl(m_ends[1], F_SETFL, O_NONBLOCK);
    const std::array<char, 4096> bytes{};
    while (::write(m_ends[1], bytes.data(), bytes.size()) > 0) {
    }
    while (::write(m_ends[1], bytes.data(), 1) > 0) {
    }
    ::fcntl(m_ends[1], F_SETFL, 0);
  }
  ~FullPipe() {
    for (const int end : m_ends) ::close(end);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  int writingEnd() const { return m_ends[1]; }

 private:
  std::array<int, 2> m_ends = {-1, -1};
};

/// Whether the program holds interrupts back, as it does from its first lines on; before that one ends it as
/// it ends any.
bool holdsBack(qint64 process) {
  QFile status(QStringLiteral("/proc/%1/status").arg(process));
  if (!status.open(QIODevice::ReadOnly)) return false;
  const QRegularExpressionMatch blocked =
      QRegularExpression("SigBlk:\\s*([0-9a-f]+)").match(QString::fromLatin1(status.readAll()));
  return ((blocked.captured(1).toULongLong(nullptr, 16) >> (SIGINT - 1)) & 1U) != 0;
}

/// Ends the program, even if it does not end alone.
int exitCodeOf(QProcess& process) {
  if (!process.waitForFinished(kPatience)) {
    process.kill();
    process.waitForFinished();
    return -1;
  }
  return process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
}

/// `output`: where standard output goes; −1: nowhere in particular.
int exitCode(const QStringList& arguments, int output = -1) {
  QProcess process;
  if (output >= 0) process.setChildProcessModifier([output] { ::dup2(output, STDOUT_FILENO); });
  process.start(QStringLiteral(SPANSCOPE_SPANQ), arguments);
  return exitCodeOf(process);
}

/// Of what is interrupted as it begins, or as it reads or writes what nobody else writes or reads.
int interruptedExitCode(const QStringList& arguments, int output) {
  QProcess process;
  process.setChildProcessModifier([output] { ::dup2(output, STDOUT_FILENO); });
  process.start(QStringLiteral(SPANSCOPE_SPANQ), arguments);
  if (!process.waitForStarted() ||
      !QTest::qWaitFor([&] { return holdsBack(process.processId()); }, kPatience))
    return -2;
  ::kill(static_cast<pid_t>(process.processId()), SIGINT);
  return exitCodeOf(process);
}

QString textOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// The words that the completion offers after a command.
QStringList completed(const std::vector<std::string>& words) {
  QStringList lines = QString::fromStdString(spanq(words).out).split('\n', Qt::SkipEmptyParts);
  if (!lines.isEmpty()) lines.removeFirst();
  for (QString& line : lines) line = line.section('\t', 0, 0);
  return lines;
}

/// All commands that do something, as the completion knows them.
QStringList commands() {
  const QStringList groups{"trace", "model", "cache", "bench", "remote", "simulate", "lesson"};
  QStringList found;
  for (const QString& command : completed({"__complete", ""})) {
    if (!groups.contains(command)) found << command;
    if (!groups.contains(command)) continue;
    for (const QString& one : completed({"__complete", command.toStdString(), ""}))
      found << command + ' ' + one;
  }
  return found;
}

}  // namespace

class TestSpanqExitCodes : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void everyCommandIsThere();
  void codes_data();
  void codes();
  void outputFiles_data();
  void outputFiles();
  void faultsOfTheStoreAreToldOf();

 private:
  struct Row {
    QString command;
    QStringList fine;   ///< arguments with which it ends well; empty: not within the time of a test, or it
                        ///< writes nothing
    QStringList wrong;  ///< with which its input is wrong; empty: it has none
  };
  std::vector<Row> rows() const;

  QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }

  QTemporaryDir m_folder;
};

void TestSpanqExitCodes::initTestCase() {
  qputenv("XDG_CONFIG_HOME", QFile::encodeName(path("settings")));
  const QString rag = kSource + "/resources/queries/rag.json";
  QCOMPARE(exitCode({"run", "--cache-dir", path("spans"), "--trace", path("rag.trace"), rag}), 0);
  QCOMPARE(::mkfifo(QFile::encodeName(path("pipe")).constData(), 0600), 0);
  QFile document(path("document.txt"));
  QVERIFY(document.open(QIODevice::WriteOnly));
  document.write("Mira lives in Lisbon.");
  QFile answers(path("answers.json"));
  QVERIFY(answers.open(QIODevice::WriteOnly));
  answers.write(R"({"lesson": "3-prefix-caching.md", "answers": []})");
  QFile requests(path("requests.jsonl"));
  QVERIFY(requests.open(QIODevice::WriteOnly));
  requests.write(R"({"messages": [{"role": "user", "content": "Hello"}]})");
  QFile scenarios(path("scenarios.jsonl"));
  QVERIFY(scenarios.open(QIODevice::WriteOnly));
  scenarios.write(
      R"({"block_size": 2, "blocks": 3, "tokens": 9, "ops": [], "slots": 1, "context": 9, "requests": []})");
}

std::vector<TestSpanqExitCodes::Row> TestSpanqExitCodes::rows() const {
  const QString rag = kSource + "/resources/queries/rag.json";
  const QString model = kSource + "/resources/models/spanlet";
  const QString lesson = kSource + "/resources/lessons/3-prefix-caching.md";
  const QString none = path("none");
  const QStringList store{"--cache-dir", path("spans")};
  const QStringList noStore{"--cache-dir", none};
  const QStringList noModel{"--model", none};
  std::vector<Row> rows = {
      {"validate", {rag}, {none}},
      {"explain", {rag}, {none}},
      {"run", {rag}, {none}},
      {"export", {"--to", "spnl", rag}, {"--to", "spnl", none}},
      {"trace show", {path("rag.trace")}, {none}},
      {"trace stats", {path("rag.trace")}, {none}},
      {"trace sources", {"--json", path("rag.trace")}, {none}},
      {"model list", {}, {}},
      {"model show", {model}, {none}},
      {"model get", {}, {"no name"}},
      {"model probe", {}, {none}},
      {"model logits", {model, "--ids", "5,6"}, {none, "--ids", "5,6"}},
      {"devices", {}, {}},
      {"doctor", {path("requests.jsonl")}, {none}},
      {"serve", {}, {none}},
      {"watch", {}, {"--events", "tcp://127.0.0.1:1", "--tokenizer", none}},
      {"completion", {"bash"}, {}},
      {"man", {"run"}, {}},
      {"cache list", store, noStore},
      {"cache warm", store + QStringList{path("document.txt")}, store + QStringList{none}},
      {"cache verify", store, noStore},
      {"cache export", store + QStringList{path("copy")}, noStore + QStringList{path("copy")}},
      {"cache clear", store + QStringList{"--of", "nothing"}, noStore},
      {"remote show", {}, {}},
      {"remote run", {}, {"http://127.0.0.1:1", none}},
      {"remote list", {}, {}},
      {"remote add", {}, {"gpu-3", "nowhere at all"}},
      {"remote remove", {}, {"nobody"}},
      {"remote price", {}, {"nobody", "--remove"}},
      {"lesson list", {}, {}},
      {"lesson check", {lesson}, {none}},
      {"lesson run", {lesson}, {none}},
      {"lesson export", {lesson}, {none}},
      {"lesson grade", {lesson, path("answers.json")}, {lesson, none}},
      {"bench run", {"--repeats", "1", rag}, {none}},
      {"bench abba", {"--sizes", "16", "--repeats", "1", "--seconds", "0", "--cold-repeats", "1"}, noModel},
      {"bench start", {"--tokens", "4", "-r", "1"}, noModel},
      {"bench speed", {"-p", "16", "-n", "0", "-r", "1"}, noModel},
      {"bench cache", {"--sizes", "32", "-r", "1", "--folder", m_folder.path()}, {"--folder", none}},
      {"bench ops", {}, noModel},
      {"bench needle", {"--documents", "2", "--hay", "0", "--trials", "1"}, noModel},
      {"bench sources", {"--documents", "3", "--questions", "2"}, noModel}};
  // One program does all experiments.
  const QStringList measured{"--documents", "1", "--words", "5", "--repeats", "1", "--policies", "spans"};
  for (const spanscope::experiment::Experiment* one : spanscope::experiment::experiments()) {
    const QString name = QString::fromLatin1(one->name);
    rows.push_back({"bench " + name, name == "rag" ? measured : QStringList(),
                    name == "conversation" ? QStringList{"--folder", none} : noModel});
  }
  for (const spanscope::simulator::Server* server : spanscope::simulator::servers())
    rows.push_back({QString("simulate ") + server->name, {path("scenarios.jsonl")}, {none}});
  return rows;
}

/// In the table of the manual, and in that of this test.
void TestSpanqExitCodes::everyCommandIsThere() {
  const QString page = textOf(kSource + "/resources/manual/spanq.md");
  const QString section = page.section("\n## Exit codes\n", 1).section("\n## ", 0, 0);
  QVERIFY(!section.isEmpty());
  QStringList inManual;
  const QRegularExpression name("`([a-z. ]+)`");
  for (const QString& line : section.split('\n')) {
    if (!line.startsWith("| `")) continue;
    for (QRegularExpressionMatchIterator each = name.globalMatch(line.section('|', 1, 1)); each.hasNext();)
      inManual << each.next().captured(1);
  }
  QStringList inTest;
  for (const Row& row : rows()) inTest << row.command;
  QStringList expected = commands();
  QVERIFY(expected.size() > 30);
  for (QStringList* list : {&inManual, &inTest, &expected}) list->sort();
  QCOMPARE(inTest, expected);
  QCOMPARE(inManual, expected);
}

void TestSpanqExitCodes::codes_data() {
  QTest::addColumn<QStringList>("fine");
  QTest::addColumn<QStringList>("wrong");
  for (const Row& row : rows()) {
    const QStringList command = row.command.split(' ');
    const bool isQuick = !row.fine.isEmpty() || row.command == "devices";
    QTest::newRow(qPrintable(row.command)) << (isQuick ? command + row.fine : QStringList())
                                           << (row.wrong.isEmpty() ? QStringList() : command + row.wrong);
  }
}

void TestSpanqExitCodes::codes() {
  QFETCH(QStringList, fine);
  QFETCH(QStringList, wrong);
  const QStringList command = QString::fromLatin1(QTest::currentDataTag()).split(' ');
  QCOMPARE(exitCode(command + QStringList{"--nothing-of-that-name"}), 2);
  if (!wrong.isEmpty()) QCOMPARE(exitCode(wrong), 1);
  if (fine.isEmpty()) return;
  if (::access("/dev/full", W_OK) == 0) {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    QCOMPARE(exitCode(fine, full), 3);
    ::close(full);
    QVERIFY(QDir(path("copy")).removeRecursively());
  }
  // A run brings its output to an end: it waits for its query.
  const QStringList waiting = command.front() == "run" ? QStringList{"run", path("pipe")} : fine;
  const FullPipe pipe;
  QCOMPARE(interruptedExitCode(waiting, pipe.writingEnd()), 130);
  QVERIFY(QDir(path("copy")).removeRecursively());
  QCOMPARE(exitCode(fine), 0);
  QVERIFY(QDir(path("copy")).removeRecursively());
}

void TestSpanqExitCodes::outputFiles_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("into");  ///< where it goes; what it is said to be
  const QString rag = kSource + "/resources/queries/rag.json";
  const QStringList measured{"bench", "rag",       "--documents", "1",          "--words",
                             "5",     "--repeats", "1",           "--policies", "spans"};
  const QString nowhere = path("none/file");
  for (const QString& place : {QStringLiteral("/dev/full"), nowhere}) {
    QTest::addRow("a table into %s", qPrintable(place)) << measured + QStringList{"--csv", place} << place;
    QTest::addRow("a picture into %s", qPrintable(place))
        << measured + QStringList{"--picture", place} << place;
    QTest::addRow("a trace into %s", qPrintable(place)) << QStringList{"run", "--trace", place, rag} << place;
  }
  const QString occupied = path("document.txt");
  QTest::newRow("pictures of needles") << QStringList{"bench", "needle", "--picture", occupied} << occupied;
  QTest::newRow("pictures of sources") << QStringList{"bench", "sources", "--picture", occupied} << occupied;
  const QStringList copied{"cache", "export", "--cache-dir", path("spans")};
  QTest::newRow("a store into nowhere") << copied + QStringList{nowhere} << nowhere;
  QTest::newRow("a store into a file") << copied + QStringList{occupied} << occupied;
}

void TestSpanqExitCodes::outputFiles() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, into);
  QProcess process;
  process.start(QStringLiteral(SPANSCOPE_SPANQ), arguments);
  QCOMPARE(exitCodeOf(process), 3);
  const QString said = QString::fromUtf8(process.readAllStandardError());
  QVERIFY2(said.startsWith(into) &&
               said.contains(QRegularExpression(QStringLiteral(": (Spanscope found|The|This) "))),
           qPrintable(said));
}

/// Not by the code alone.
void TestSpanqExitCodes::faultsOfTheStoreAreToldOf() {
  const QString rag = kSource + "/resources/queries/rag.json";
  QCOMPARE(exitCode({"run", "--cache-dir", path("damaged"), rag}), 0);
  const QDir packs(path("damaged") + "/packs");
  const QStringList names = packs.entryList({"*.pack"}, QDir::Files);
  QCOMPARE(names.size(), 1);
  QFile pack(packs.filePath(names.front()));
  QVERIFY(pack.open(QIODevice::ReadWrite));
  QVERIFY(pack.seek(3000));
  pack.write("damage");
  pack.close();
  for (const bool json : {false, true}) {
    const auto result = spanq(
        json ? std::vector<std::string>{"cache", "verify", "--json", "--cache-dir",
                                        path("damaged").toStdString()}
             : std::vector<std::string>{"cache", "verify", "--cache-dir", path("damaged").toStdString()});
    // The second time it is gone.
    QCOMPARE(result.code, json ? 0 : 1);
    QCOMPARE(QString::fromStdString(result.err),
             json ? QString()
                  : pack.fileName() + worded(": <pack-not-intact> damaged, removed: wrong checksums.\n"));
  }
}

SPANSCOPE_TEST(tst_spanq_exit_codes, TestSpanqExitCodes, QCoreApplication)
#include "tst_spanq_exit_codes.moc"
