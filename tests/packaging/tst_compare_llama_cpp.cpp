// SPDX-License-Identifier: GPL-3.0-or-later
// packaging/compare-llama-cpp, with stand-ins for spanq and llama.cpp's programs that write down how they
// were called and give known figures.
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QScopedPointer>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

class TestCompareLlamaCpp : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void init();
  void bothRunInTurnAndOneTableSaysAll();
  void theOrderIsSwappedForBoth();
  void arithmeticReachesSpanqAlone_data();
  void arithmeticReachesSpanqAlone();
  void failuresAreSentences_data();
  void failuresAreSentences();
  void wrongArgumentsDoNothing_data();
  void wrongArgumentsDoNothing();
  void helpDoesNothing();

 private:
  struct Result {
    int code = 0;
    QString output;
    QString said;       ///< on standard error
    QStringList calls;  ///< of the stand-ins
  };

  QScopedPointer<QTemporaryDir> m_folder;

  QString path(const QString& name) const { return m_folder->filePath(name); }
  void write(const QString& name, const QByteArray& text, bool executable = false) const;
  Result start(const QStringList& arguments) const;
  /// The build and the model, after these options.
  QStringList with(QStringList options) const { return options << path("llama") << path("tiny-Q8_0.gguf"); }
};

namespace {

/// Rows of two depths, whose rate is 100 for a prompt, 10 for generated tokens, and falls with the depth. The
/// n-th call is n tokens a second faster.
constexpr const char* kSpeed = R"py(
def rows(arguments, name, figure):
    value = dict(zip(arguments, arguments[1:]))
    calls = sum(1 for _ in open(CALLS))
    for depth in value["-d"].split(","):
        prompt, generated = int(value["-p"]), int(value["-n"])
        rate = (100 if prompt else 10) / (2 if int(depth) else 1) + calls
        yield prompt, generated, int(depth), rate
)py";

QByteArray standIn(const QString& calls, const char* body) {
  return "#!/usr/bin/env python3\nimport json, os, sys\nCALLS = '" + calls.toUtf8() +
         "'\nopen(CALLS, 'a').write(os.path.basename(sys.argv[0]) + ' ' + ' '.join(sys.argv[1:]) + '\\n')\n" +
         kSpeed + body;
}

constexpr const char* kSpanq = R"py(
if sys.argv[2] == "speed":
    found = []
    for prompt, generated, depth, rate in rows(sys.argv, "pp", "tg"):
        name = (f"pp{prompt}" if prompt else f"tg{generated}") + (f" @ d{depth}" if depth else "")
        found.append({"test": name, "tokens_per_second": {"samples": [rate]}, "share_of_limit": 0.5,
                      "machine_flops_per_second": 236e9, "machine_bytes_per_second": 63e9})
    print(json.dumps({"device": "A processor, 2 threads", "kv_type": "f32", "rows": found}))
else:
    case = lambda *ms: {"samples": ms, "cached_tokens": 0 if len(ms) == 1 else 152}
    print(json.dumps({"rows": [{"prompt_tokens": 184, "cold_ms": case(80), "same_order_ms": case(10, 10, 10),
                                "swapped_order_ms": case(10, 20, 30)}]}))
)py";

constexpr const char* kBench = R"py(
print(json.dumps([{"n_prompt": prompt, "n_gen": generated, "n_depth": depth, "samples_ts": [rate / 2],
                   "type_k": "f16", "build_commit": "abc"}
                  for prompt, generated, depth, rate in rows(sys.argv, "pp", "tg")]))
)py";

/// Keeps the last prompt and finds its beginning again.
constexpr const char* kServer = R"py(
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    last = []

    def reply(self, value):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def do_GET(self):
        self.reply({"status": "ok"} if self.path == "/health" else {"data": [{"meta": {"n_vocab": 50000}}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt, found = body["prompt"], 0
        while found < min(len(prompt), len(Handler.last)) and prompt[found] == Handler.last[found]:
            found += 1
        Handler.last = prompt
        self.reply({"timings": {"prompt_n": len(prompt) - found, "prompt_ms": len(prompt) - found}})

    def log_message(self, *words):
        pass

HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
)py";

}  // namespace

void TestCompareLlamaCpp::initTestCase() {
  if (QStandardPaths::findExecutable("python3", {"/usr/bin"}).isEmpty()) QSKIP("there is no python3");
}

void TestCompareLlamaCpp::write(const QString& name, const QByteArray& text, bool executable) const {
  QDir().mkpath(QFileInfo(path(name)).path());
  QFile file(path(name));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
  if (executable) file.setPermissions(QFile::Permissions(0x7755));
}

void TestCompareLlamaCpp::init() {
  m_folder.reset(new QTemporaryDir);
  const QString script = "tree/packaging/compare-llama-cpp";
  QDir().mkpath(path("tree/packaging"));
  QVERIFY(QFile::copy(QString(SPANSCOPE_SOURCE_DIR "/packaging/compare-llama-cpp"), path(script)));
  write("calls", "");
  write("tree/build/release/bin/spanq", standIn(path("calls"), kSpanq), true);
  write("llama/bin/llama-bench", standIn(path("calls"), kBench), true);
  write("llama/bin/llama-server", standIn(path("calls"), kServer), true);
  write("tiny-Q8_0.gguf", "GGUF and so on");
}

TestCompareLlamaCpp::Result TestCompareLlamaCpp::start(const QStringList& arguments) const {
  QProcess process;
  process.setStandardInputFile(QProcess::nullDevice());
  QProcessEnvironment settings;
  settings.insert("PATH", "/usr/bin:/bin");
  process.setProcessEnvironment(settings);
  process.setWorkingDirectory(m_folder->path());
  process.start(path("tree/packaging/compare-llama-cpp"), arguments);
  Result result;
  if (!process.waitForFinished(60'000)) {
    process.kill();
    process.waitForFinished();
    result.code = -1;
    return result;
  }
  result.code = process.exitCode();
  result.output = QString::fromUtf8(process.readAllStandardOutput());
  result.said = QString::fromUtf8(process.readAllStandardError());
  QFile calls(path("calls"));
  if (calls.open(QIODevice::ReadOnly))
    result.calls = QString::fromUtf8(calls.readAll()).split('\n', Qt::SkipEmptyParts);
  return result;
}

void TestCompareLlamaCpp::bothRunInTurnAndOneTableSaysAll() {
  const Result result =
      start(with({"-p", "512", "-n", "64", "-d", "0,2048", "-r", "3", "-t", "2", "--documents", "0"}));
  QVERIFY2(result.code == 0, qPrintable(result.said));
  QStringList order;
  for (const QString& call : result.calls) {
    order += call.section(' ', 0, 0);
    QVERIFY2(call.contains("-d 0,2048 -r 1"), qPrintable(call));
    QVERIFY2(call.contains(call.startsWith("spanq") ? "--threads 2" : "-t 2"), qPrintable(call));
  }
  const QStringList own{"spanq", "llama-bench"};
  const QStringList other{"llama-bench", "spanq"};
  QCOMPARE(order, own + own + other + other + own + own);
  // Calls 1, 6 and 9 of spanq read a prompt; those of llama-bench are 2, 5 and 10, at half the rate.
  QVERIFY2(result.output.contains("| tiny-Q8_0 | pp512 | 106 (104–108) | 52.5 (51.8–53.8) | 2.02 | 50 % |"),
           qPrintable(result.output));
  QVERIFY2(result.output.contains("| tiny-Q8_0 | pp512 @ d2048 | 56.0 ("), qPrintable(result.output));
  QVERIFY2(result.output.contains("| tiny-Q8_0 | tg64 | 18.0 ("), qPrintable(result.output));
  QVERIFY2(result.output.contains("| tiny-Q8_0 | tg64 @ d2048 | 13.0 ("), qPrintable(result.output));
  QVERIFY2(result.output.contains("236 GFLOP/s, 63.0 GB/s"), qPrintable(result.output));
  QVERIFY2(result.output.contains("spanq f32, llama.cpp f16"), qPrintable(result.output));
}

void TestCompareLlamaCpp::theOrderIsSwappedForBoth() {
  const Result result = start(with({"-p", "0", "-n", "0", "-r", "3", "-t", "1", "--documents", "64"}));
  QVERIFY2(result.code == 0, qPrintable(result.said));
  QCOMPARE(result.calls.size(), 2);
  QVERIFY2(result.calls[0].startsWith("spanq bench abba") && result.calls[0].contains("--sizes 64"),
           qPrintable(result.calls[0]));
  QVERIFY2(result.calls[1].startsWith("llama-server") && result.calls[1].contains("-t 1"),
           qPrintable(result.calls[1]));
  // The server finds all but the question where the order is the same, and the system's 24 tokens otherwise.
  const QString model = "| tiny-Q8_0 | 2 × 64, ";
  QVERIFY2(result.output.contains(model + "new | 80.0 | 184 | 2.30 | 0 of 184 | 0 of 184 |"),
           qPrintable(result.output));
  QVERIFY2(result.output.contains(model + "same order | 10.0 (10.0–10.0) | 32.0 (32.0–32.0) | 3.20 | 152 of "
                                          "184 | 152 of 184 |"),
           qPrintable(result.output));
  QVERIFY2(result.output.contains(model + "swapped | 20.0 (15.0–25.0) | 160 (160–160) | 8.00 | 152 of 184 | "
                                          "24 of 184 |"),
           qPrintable(result.output));
}

void TestCompareLlamaCpp::arithmeticReachesSpanqAlone_data() {
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QString>("given");
  QTest::newRow("not given") << QStringList{} << QString();
  QTest::newRow("f32") << QStringList{"--arithmetic", "f32"} << "--arithmetic f32";
  QTest::newRow("fast") << QStringList{"--arithmetic=fast"} << "--arithmetic fast";
}

void TestCompareLlamaCpp::arithmeticReachesSpanqAlone() {
  QFETCH(QStringList, options);
  QFETCH(QString, given);
  const Result result = start(with(options + QStringList{"-d", "0", "-r", "1", "--documents", "64"}));
  QVERIFY2(result.code == 0, qPrintable(result.said));
  int own = 0;
  for (const QString& call : result.calls) {
    const bool isOwn = call.startsWith("spanq");
    own += isOwn ? 1 : 0;
    QCOMPARE(call.contains("--arithmetic"), isOwn && !given.isEmpty());
    if (isOwn) QVERIFY2(call.contains(given), qPrintable(call));
  }
  QCOMPARE(own, 3);
}

void TestCompareLlamaCpp::failuresAreSentences_data() {
  QTest::addColumn<QString>("removed");
  QTest::addColumn<QString>("written");  // the contents of the file then; empty: none
  QTest::addColumn<QString>("sentence");
  QTest::newRow("no build") << "llama" << QString() << "there is no folder";
  QTest::newRow("no llama-bench") << "llama/bin/llama-bench" << QString() << "there is no llama-bench in";
  QTest::newRow("no llama-server") << "llama/bin/llama-server" << QString() << "there is no llama-server in";
  QTest::newRow("no spanq") << "tree/build/release/bin/spanq" << QString() << "there is no spanq";
  QTest::newRow("no model") << "tiny-Q8_0.gguf" << QString() << "tiny-Q8_0.gguf cannot be read";
  QTest::newRow("another file") << "tiny-Q8_0.gguf"
                                << "PK"
                                << "tiny-Q8_0.gguf is no GGUF file";
  QTest::newRow("llama-bench fails") << "llama/bin/llama-bench"
                                     << "#!/bin/sh\necho first >&2; echo no such tensor >&2; exit 1\n"
                                     << "no such tensor";
  QTest::newRow("spanq fails") << "tree/build/release/bin/spanq"
                               << "#!/bin/sh\necho too long >&2; exit 1\n"
                               << "too long";
  QTest::newRow("no JSON") << "llama/bin/llama-bench"
                           << "#!/bin/sh\necho hello\n"
                           << "wrote no JSON";
  QTest::newRow("the server ends") << "llama/bin/llama-server"
                                   << "#!/bin/sh\nexit 1\n"
                                   << "llama-server ended";
}

void TestCompareLlamaCpp::failuresAreSentences() {
  QFETCH(QString, removed);
  QFETCH(QString, written);
  QFETCH(QString, sentence);
  QFile::remove(path(removed));
  QDir(path(removed)).removeRecursively();
  if (!written.isEmpty()) write(removed, written.toUtf8(), !removed.endsWith(".gguf"));
  const QStringList arguments{"-d", "0", "-r", "1", path("llama"), path("tiny-Q8_0.gguf")};
  const Result result = start(arguments);
  QCOMPARE(result.code, 1);
  QVERIFY2(result.said.contains(sentence), qPrintable(result.said));
  QVERIFY2(!result.said.contains("Traceback"), qPrintable(result.said));
  // What is missing is said before anything is measured.
  if (written.isEmpty()) QVERIFY(result.calls.isEmpty());
}

void TestCompareLlamaCpp::wrongArgumentsDoNothing_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("named");
  QTest::newRow("nothing") << QStringList{} << "GGUF";
  QTest::newRow("no model") << QStringList{"llama"} << "GGUF";
  QTest::newRow("unknown option") << QStringList{"--fly", "llama", "tiny-Q8_0.gguf"} << "--fly";
  QTest::newRow("no value") << QStringList{"llama", "tiny-Q8_0.gguf", "--depth"} << "--depth wants a value";
  QTest::newRow("no number") << QStringList{"llama", "tiny-Q8_0.gguf", "-d", "0,far"} << "0,far";
  QTest::newRow("no rounds") << QStringList{"llama", "tiny-Q8_0.gguf", "-r", "0"} << "-r wants";
  QTest::newRow("several rounds") << QStringList{"llama", "tiny-Q8_0.gguf", "-r", "1,2"} << "one number";
  QTest::newRow("unknown arithmetic")
      << QStringList{"llama", "tiny-Q8_0.gguf", "--arithmetic", "slow"} << "slow";
  QTest::newRow("no test") << QStringList{"llama", "tiny-Q8_0.gguf", "-p", "0", "-n", "0", "--documents", "0"}
                           << "left out";
}

void TestCompareLlamaCpp::wrongArgumentsDoNothing() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, named);
  const Result result = start(arguments);
  QCOMPARE(result.code, 2);
  QVERIFY2(result.said.contains(named) && result.said.contains("--help"), qPrintable(result.said));
  QVERIFY(result.calls.isEmpty() && result.output.isEmpty());
}

void TestCompareLlamaCpp::helpDoesNothing() {
  for (const char* help : {"-h", "--help"}) {
    const Result result = start({"-r", "3", help});
    QCOMPARE(result.code, 0);
    QVERIFY2(result.output.startsWith("Usage: packaging/compare-llama-cpp"), qPrintable(result.output));
    QVERIFY(result.calls.isEmpty() && result.said.isEmpty());
  }
}

SPANSCOPE_TEST(tst_compare_llama_cpp, TestCompareLlamaCpp)
#include "tst_compare_llama_cpp.moc"
