// SPDX-License-Identifier: GPL-3.0-or-later
// The program and its outputs: standard output that accepts nothing more, and traces at a path where
// something else exists.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <vector>

using spanscope::product_text::worded;
using spanscope::test::spanq;
using spanscope::test::SpanqResult;
using Json = nlohmann::ordered_json;

namespace {

const QString kQueries = QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/");
const QString kModel = QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
constexpr int kPatience = 60'000;  // milliseconds

/// Far more than any test waits for.
const char* const kLongQuery = R"({"plus":[{"repeat":{"n":255,"g":{"model":"spnl/spanlet","max_tokens":2000,
    "temperature":5,"input":{"user":"Where does Otto live?"}}}}]})";

struct Outcome {
  int code = -1;  ///< -1: it did not end alone
  QString out;
  QString err;
};

Outcome outcomeOf(QProcess& process) {
  if (!process.waitForFinished(kPatience)) {
    process.kill();
    process.waitForFinished();
    return {};
  }
  return {.code = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1,
          .out = QString::fromUtf8(process.readAllStandardOutput()),
          .err = QString::fromUtf8(process.readAllStandardError())};
}

/// Runs the program; `prepare` is called in its process before it begins.
Outcome start(const QStringList& arguments, const std::function<void()>& prepare = {}) {
  QProcess process;
  if (prepare) process.setChildProcessModifier(prepare);
  process.start(QStringLiteral(SPANSCOPE_SPANQ), arguments);
  return outcomeOf(process);
}

/// What standard output may be, for `start`.
void toFullDisk() {
  ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

void toNothing() {
  ::close(STDOUT_FILENO);
}

void toReaderWhoLeft() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) ::_exit(99);
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[0]);
  ::close(ends[1]);
}

QByteArray contentOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QStringList namesIn(const QString& folder) {
  return QDir(folder).entryList(QDir::AllEntries | QDir::System | QDir::Hidden | QDir::NoDotAndDotDot);
}

/// The sums of a trace that is whole; null of any other.
Json sumsOf(const QString& trace) {
  const SpanqResult result = spanq({"trace", "stats", "--json", trace.toStdString()});
  return result.code == 0 && result.err.empty() ? Json::parse(result.out) : Json();
}

}  // namespace

class TestSpanqOutput : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void lostOutputIsTold_data();
  void lostOutputIsTold();
  void readerWhoLeavesEndsTheRun();
  void readerWhoLeavesLeavesTheTraceWhole();
  void closedDescriptorsAreNotWrittenInto();
  void traceDoesNotReplaceWhatIsRead_data();
  void traceDoesNotReplaceWhatIsRead();
  void traceDoesNotReplaceStandardStreams();
  void traceFollowsALink();
  void traceGoesIntoADevice();
  void traceGoesIntoAPipe();
  void waitForAPipeIsStopped();
  void fullDiskLeavesNoTrace();
  void secondInterruptLeavesNoHalfTrace();
  void hangUpLeavesTheTraceWhole();

 private:
  QTemporaryDir m_folder;
  QString m_query;   ///< a copy that may be lost
  QString m_traces;  ///< a folder with nothing in it

  QString write(const QString& name, const QByteArray& text) const {
    QFile file(m_folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size()) return {};
    return file.fileName();
  }
};

void TestSpanqOutput::initTestCase() {
  m_query = write("query.json", contentOf(kQueries + "rag.json"));
  QVERIFY(!m_query.isEmpty());
  QCOMPARE(start({"run", "--trace", m_folder.filePath("whole.trace"), m_query}).code, 0);
  m_traces = m_folder.filePath("traces");
  QVERIFY(QDir().mkdir(m_traces));
}

void TestSpanqOutput::lostOutputIsTold_data() {
  QTest::addColumn<QStringList>("arguments");
  const QString rag = kQueries + "rag.json";
  const QString trace = m_folder.filePath("whole.trace");
  QTest::newRow("help") << QStringList{"--help"};
  QTest::newRow("help of a command") << QStringList{"run", "--help"};
  QTest::newRow("version") << QStringList{"--version"};
  QTest::newRow("validate") << QStringList{"validate", rag, rag};
  QTest::newRow("explain") << QStringList{"explain", rag, rag};
  QTest::newRow("explain --json") << QStringList{"explain", "--json", rag};
  QTest::newRow("explain --dot") << QStringList{"explain", "--dot", rag};
  QTest::newRow("explain --predict") << QStringList{"explain", "--predict", rag};
  QTest::newRow("run") << QStringList{"run", rag, rag};
  QTest::newRow("run --json") << QStringList{"run", "--json", rag};
  QTest::newRow("run --trace") << QStringList{"run", "--trace", m_folder.filePath("lost.trace"), rag};
  for (const char* form : {"spnl", "yaml", "lisp", "curl", "python"})
    QTest::addRow("export --to %s", form) << QStringList{"export", "--to", form, rag};
  QTest::newRow("export --to chat") << QStringList{"export", "--to", "chat", kQueries + "chat.json"};
  QTest::newRow("export --stage lowered")
      << QStringList{"export", "--to", "spnl", "--stage", "lowered", kQueries + "judge-2.json"};
  QTest::newRow("export --to tokens")
      << QStringList{"export", "--to", "tokens", "--tokenizer", kModel, "--pad", "0", "--plus", "1", rag};
  QTest::newRow("trace show") << QStringList{"trace", "show", trace};
  QTest::newRow("trace show --json") << QStringList{"trace", "show", "--json", trace};
  QTest::newRow("trace stats") << QStringList{"trace", "stats", trace};
  QTest::newRow("trace stats --json") << QStringList{"trace", "stats", "--json", trace};
  QTest::newRow("trace sources --json") << QStringList{"trace", "sources", "--json", trace};
  QTest::newRow("model show") << QStringList{"model", "show", kModel};
  QTest::newRow("model show --json") << QStringList{"model", "show", "--json", kModel};
  QTest::newRow("model logits") << QStringList{"model", "logits", kModel, "--ids", "5,300,301,7,6"};
  QTest::newRow("bench abba") << QStringList{"bench",     "abba", "--sizes",        "16", "--repeats", "1",
                                             "--seconds", "0",    "--cold-repeats", "1"};
  QTest::newRow("bench run") << QStringList{"bench", "run", "--repeats", "1", rag};
  QTest::newRow("bench speed") << QStringList{"bench", "speed", "-p", "16", "-n", "0", "-r", "1"};
  QTest::newRow("bench needle") << QStringList{"bench", "needle", "--documents", "2",
                                               "--hay", "0",      "--trials",    "1"};
  QTest::newRow("bench sources") << QStringList{"bench", "sources", "--documents", "3", "--questions", "2"};
}

void TestSpanqOutput::lostOutputIsTold() {
  QFETCH(QStringList, arguments);
  const Outcome usual = start(arguments);
  QCOMPARE(usual.code, 0);
  QVERIFY(!usual.out.isEmpty());
  const auto message = [](const char* found) {
    return worded(QStringLiteral("standard output: %1 Spanscope needs <can-written>.\n")
                      .arg(QString::fromLatin1(found)));
  };
  if (::access("/dev/full", W_OK) == 0) {
    const Outcome full = start(arguments, toFullDisk);
    QCOMPARE(full.code, 3);
    QCOMPARE(full.err, usual.err + message("<system-reports> No space left on device."));
  }
  const Outcome closed = start(arguments, toNothing);
  QCOMPARE(closed.code, 3);
  QCOMPARE(closed.err, usual.err + message("<output-closed>"));

  const Outcome left = start(arguments, toReaderWhoLeft);
  QCOMPARE(left.code, 0);
  QCOMPARE(left.err, usual.err);
}

void TestSpanqOutput::readerWhoLeavesEndsTheRun() {
  const QString query = write("long.json", kLongQuery);
  QElapsedTimer clock;
  clock.start();
  const Outcome outcome = start({"run", "--blocks", "40000", query}, toReaderWhoLeft);
  QCOMPARE(outcome.code, 0);
  QCOMPARE(outcome.err, QString());
  QVERIFY2(clock.elapsed() < 20'000, qPrintable(QString::number(clock.elapsed())));
}

void TestSpanqOutput::readerWhoLeavesLeavesTheTraceWhole() {
  const QString trace = m_traces + "/a.trace";
  const Outcome outcome = start({"run", "--trace", trace, m_query, m_query}, toReaderWhoLeft);
  QCOMPARE(outcome.code, 0);
  QCOMPARE(outcome.err, QString());
  // Somebody wants the trace still: it has both runs to their ends.
  const Json sums = sumsOf(trace);
  QCOMPARE(sums["runs"].get<int>(), 2);
  QCOMPARE(sums["finished_requests"].get<int>(), 2);
  QCOMPARE(namesIn(m_traces), QStringList("a.trace"));
  QVERIFY(QFile::remove(trace));
}

void TestSpanqOutput::closedDescriptorsAreNotWrittenInto() {
  const QString trace = m_traces + "/a.trace";
  for (const int open : {STDERR_FILENO, -1}) {
    const Outcome outcome = start({"run", "--trace", trace, m_query}, [open] {
      for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if (descriptor != open) ::close(descriptor);
      }
    });
    QCOMPARE(outcome.code, 3);
    QVERIFY(!sumsOf(trace).is_null());
    QVERIFY(QFile::remove(trace));
  }
  // What is to be read from it is not there.
  QCOMPARE(start({"validate", "-"}, [] { ::close(STDIN_FILENO); }).code, 1);
}

void TestSpanqOutput::traceDoesNotReplaceWhatIsRead_data() {
  QTest::addColumn<QString>("file");
  QTest::addColumn<QString>("trace");
  QTest::newRow("the query") << "query.json"
                             << "query.json";
  QTest::newRow("the query by another path") << "query.json"
                                             << "traces/../query.json";
  QTest::newRow("the query by a symbolic link") << "query.json"
                                                << "soft.json";
  QTest::newRow("the query by a hard link") << "query.json"
                                            << "hard.json";
  QTest::newRow("a file that the query reads") << "note.txt"
                                               << "note.txt";
  QTest::newRow("a document that is searched") << "found/first.txt"
                                               << "found/first.txt";
  QTest::newRow("the index") << "notes.index"
                             << "notes.index";
  QTest::newRow("the weights") << "model/model.safetensors"
                               << "model/model.safetensors";
  QTest::newRow("the template") << "model/tokenizer_config.json"
                                << "model/tokenizer_config.json";
}

void TestSpanqOutput::traceDoesNotReplaceWhatIsRead() {
  QFETCH(QString, file);
  QFETCH(QString, trace);
  if (!QDir(m_folder.filePath("model")).exists()) {
    QVERIFY(QDir(m_folder.path()).mkdir("model"));
    QVERIFY(QDir(m_folder.path()).mkdir("found"));
    for (const QString& name : QDir(kModel).entryList(QDir::Files))
      QVERIFY(QFile::copy(kModel + "/" + name, m_folder.filePath("model/" + name)));
    write("note.txt", "Where does Otto live?");
    write("found/first.txt", "Otto lives in Oslo.");
    write("reads.json", R"({"g":{"model":"m","max_tokens":1,"input":{"plus":[{"file":"note.txt"},
        {"augment":{"embedding_model":"m","body":{"user":"Otto"},"doc":["found",{"Text":""}]}}]}}})");
    QVERIFY(QFile::link(m_query, m_folder.filePath("soft.json")));
    QCOMPARE(::link(m_query.toUtf8().constData(), m_folder.filePath("hard.json").toUtf8().constData()), 0);
  }
  const QStringList arguments = {"run",
                                 "--model",
                                 m_folder.filePath("model"),
                                 "--index",
                                 m_folder.filePath("notes.index"),
                                 m_query,
                                 m_folder.filePath("reads.json")};
  const Outcome without = start(arguments);
  QVERIFY2(without.code == 0, qPrintable(without.err));
  const QByteArray before = contentOf(m_folder.filePath(file));
  QVERIFY(!before.isEmpty());
  const QStringList names = namesIn(m_folder.path());
  const Outcome outcome = start(arguments + QStringList{"--trace", m_folder.filePath(trace)});
  QCOMPARE(outcome.code, 3);
  QCOMPARE(outcome.err, m_folder.filePath(trace) +
                            worded(": Spanscope found <file-command-reads>, but needs another file\n"));
  QCOMPARE(outcome.out, QString());
  QCOMPARE(contentOf(m_folder.filePath(file)), before);
  QCOMPARE(namesIn(m_folder.path()), names);
}

void TestSpanqOutput::traceDoesNotReplaceStandardStreams() {
  const QByteArray query = contentOf(m_query);
  const auto redirect = [](const QString& path, int flags, int descriptor) {
    return [path, flags, descriptor] {
      ::dup2(::open(path.toUtf8().constData(), flags | O_CREAT, 0600), descriptor);
    };
  };
  QCOMPARE(start({"run", "--trace", m_query, "-"}, redirect(m_query, O_RDONLY, STDIN_FILENO)).code, 3);
  QCOMPARE(contentOf(m_query), query);

  const QString answers = m_folder.filePath("answers");
  QCOMPARE(start({"run", "--trace", answers, m_query}, redirect(answers, O_WRONLY, STDOUT_FILENO)).code, 3);
  QCOMPARE(start({"run", "--trace", "/dev/stdout", m_query}, redirect(answers, O_WRONLY, STDOUT_FILENO)).code,
           3);
  QCOMPARE(contentOf(answers), QByteArray());
}

void TestSpanqOutput::traceFollowsALink() {
  const QString real = m_folder.filePath("real.trace");
  QVERIFY(QFile::link(real, m_folder.filePath("link.trace")));
  for (int i = 0; i < 2; ++i) {
    QCOMPARE(start({"run", "--trace", m_folder.filePath("link.trace"), m_query}).code, 0);
    QVERIFY(QFileInfo(m_folder.filePath("link.trace")).isSymLink());
    QVERIFY(!sumsOf(real).is_null());
    QVERIFY(QFile::remove(real) || i == 1);
  }
}

void TestSpanqOutput::traceGoesIntoADevice() {
  const QString device = m_traces + "/null";
  if (::mknod(device.toUtf8().constData(), S_IFCHR | 0666, makedev(1, 3)) != 0)
    QSKIP("devices are only for root to make");
  const bool isUsable = ::access(device.toUtf8().constData(), W_OK) == 0;
  const Outcome outcome = start({"run", "--trace", device, m_query});
  QVERIFY(std::filesystem::is_character_file(device.toStdString()));
  QCOMPARE(namesIn(m_traces), QStringList("null"));
  QVERIFY(QFile::remove(device));
  if (isUsable) QCOMPARE(outcome.code, 0);
}

void TestSpanqOutput::traceGoesIntoAPipe() {
  const QString pipe = m_traces + "/pipe";
  QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
  auto bytes = std::async(std::launch::async, [&pipe] { return contentOf(pipe); });
  QCOMPARE(start({"run", "--trace", pipe, m_query}).code, 0);
  const QString copy = write("from-pipe.trace", bytes.get());
  QVERIFY(!sumsOf(copy).is_null());
  QVERIFY(std::filesystem::is_fifo(pipe.toStdString()));
  QCOMPARE(namesIn(m_traces), QStringList("pipe"));
  QVERIFY(QFile::remove(pipe));
}

void TestSpanqOutput::waitForAPipeIsStopped() {
  const QString pipe = m_folder.filePath("unread");
  QCOMPARE(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
  QProcess process;
  process.start(QStringLiteral(SPANSCOPE_SPANQ), {"run", "--trace", pipe, m_query});
  QVERIFY(process.waitForStarted());
  QVERIFY(!process.waitForFinished(1000));
  process.terminate();
  QCOMPARE(outcomeOf(process).code, 130);
}

void TestSpanqOutput::fullDiskLeavesNoTrace() {
  const QString trace = m_traces + "/a.trace";
  const Outcome outcome = start({"run", "--trace", trace, m_query}, [] {
    const rlimit limit{.rlim_cur = 1000, .rlim_max = 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  });
  QCOMPARE(outcome.code, 3);
  QCOMPARE(outcome.err,
           trace + worded(": <system-reports> File too large. Spanscope needs <file-can-written>.\n"));
  // The answer is there all the same.
  QVERIFY(outcome.out.startsWith("The pet of Tarek is Biscuit."));
  QCOMPARE(namesIn(m_traces), QStringList());
}

void TestSpanqOutput::secondInterruptLeavesNoHalfTrace() {
  const QString query = write("long.json", kLongQuery);
  QProcess process;
  process.start(QStringLiteral(SPANSCOPE_SPANQ),
                {"run", "--blocks", "40000", "--trace", m_traces + "/a.trace", query});
  QVERIFY(process.waitForStarted());
  QTRY_VERIFY_WITH_TIMEOUT(!namesIn(m_traces).isEmpty(), 20'000);
  const auto id = static_cast<pid_t>(process.processId());
  ::kill(id, SIGINT);
  ::kill(id, SIGTERM);
  QCOMPARE(outcomeOf(process).code, 130);
  for (const QString& name : namesIn(m_traces)) QCOMPARE(name, QStringLiteral("a.trace"));
  QFile::remove(m_traces + "/a.trace");
}

void TestSpanqOutput::hangUpLeavesTheTraceWhole() {
  const QString query = write("long.json", kLongQuery);
  const QString trace = m_traces + "/a.trace";
  QProcess process;
  process.start(QStringLiteral(SPANSCOPE_SPANQ), {"run", "--blocks", "40000", "--trace", trace, query});
  QVERIFY(process.waitForStarted());
  QTRY_VERIFY_WITH_TIMEOUT(!namesIn(m_traces).isEmpty(), 20'000);
  ::kill(static_cast<pid_t>(process.processId()), SIGHUP);
  QCOMPARE(outcomeOf(process).code, 130);
  QVERIFY(!sumsOf(trace).is_null());
  QCOMPARE(namesIn(m_traces), QStringList("a.trace"));
  QVERIFY(QFile::remove(trace));
}

SPANSCOPE_TEST(tst_spanq_output, TestSpanqOutput, QCoreApplication)
#include "tst_spanq_output.moc"
