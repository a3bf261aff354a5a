// SPDX-License-Identifier: GPL-3.0-or-later
// packaging/run and packaging/test, run on a copy with stand-ins for dpkg-query, apt-get, sudo, cmake and
// ctest that write down how they were called.
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QRegularExpression>
#include <QScopedPointer>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <unistd.h>

class TestPackagingScripts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void shellcheckIsClean();
  void dependenciesAreOnceEach();
  void nothingMissingInstallsNothing();
  void missingPackagesAreNamedAndInstalled();
  void oldListsAreBroughtUpToDateOnce();
  void withoutRootTheCommandIsPrinted();
  void withoutRootAndSudoTheCommandIsPrinted();
  void sudoWithoutPasswordInstalls();
  void buildOnlyStartsNothing();
  void runStartsTheWindow();
  void runWithoutADisplayRunsTheExample();
  void testRunsCtestWithoutADisplay();
  void failedTestsRunAgainInCi();
  void warningsAreErrorsInCi();
  void sanitizersRunInCiAlone();
  void failuresStopTheScript();
  void helpDoesNothing_data();
  void helpDoesNothing();
  void wrongArgumentsDoNothing_data();
  void wrongArgumentsDoNothing();
  void argumentsReachTheWindow_data();
  void argumentsReachTheWindow();

 private:
  struct Result {
    int code = 0;
    QString output;
    QString calls;  ///< of the stand-ins, one a line
  };

  QScopedPointer<QTemporaryDir> m_folder;

  QString path(const QString& name) const { return m_folder->filePath(name); }
  void write(const QString& name, const QString& text, bool executable = false);
  /// What a program prints and its exit status, for stand-ins.
  void standIn(const QString& name, const QString& script = {});
  Result start(const QStringList& command, bool asRoot = true, const QStringList& environment = {});
};

namespace {

const QString kSource = SPANSCOPE_SOURCE_DIR;
const QString kNobody = "65534";

bool isRoot() {
  return geteuid() == 0;
}

/// Whether the user that some cases run as may write to /dev/null, as on any system in order. Without it no
/// script of a shell works for that user.
bool othersMayWriteToNull() {
  struct stat state = {};
  return !isRoot() || (stat("/dev/null", &state) == 0 && (state.st_mode & S_IWOTH) != 0);
}

}  // namespace

void TestPackagingScripts::write(const QString& name, const QString& text, bool executable) {
  QDir().mkpath(QFileInfo(path(name)).path());
  QFile file(path(name));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text.toUtf8());
  if (executable) file.setPermissions(QFile::Permissions(0x7755));
}

void TestPackagingScripts::standIn(const QString& name, const QString& script) {
  write("bin/" + name, "#!/bin/bash\necho \"" + name + " $*\" >>\"" + path("calls") + "\"\n" + script + "\n",
        true);
}

void TestPackagingScripts::init() {
  m_folder.reset(new QTemporaryDir);
  // Another user runs some of the cases.
  QFile(m_folder->path()).setPermissions(QFile::Permissions(0x7777));
  for (const char* name : {"lib.sh", "run", "test", "deb", "portable", "try", "dependencies.txt"}) {
    QDir().mkpath(path("tree/packaging"));
    QVERIFY(QFile::copy(kSource + "/packaging/" + name, path(QString("tree/packaging/") + name)));
  }
  QFile(path("tree")).setPermissions(QFile::Permissions(0x7777));
  write("calls", "");
  QFile(path("calls")).setPermissions(QFile::Permissions(0x6666));
  standIn("dpkg-query", "echo installed");
  standIn("apt-get");
  standIn("apt-cache");
  standIn("ccache");
  standIn("cmake");
  standIn("ctest");
  for (const char* program : {"spanq", "spanscope"}) {
    write(QString("tree/build/release/bin/") + program,
          QString("#!/bin/bash\necho \"%1 $* from $PWD\"\n").arg(program), true);
  }
  for (const char* folder : {"tree/build", "tree/build/release"}) {
    QFile(path(folder)).setPermissions(QFile::Permissions(0x7777));
  }
}

TestPackagingScripts::Result TestPackagingScripts::start(const QStringList& command, bool asRoot,
                                                         const QStringList& environment) {
  QStringList words = command;
  if (!asRoot && isRoot()) {
    words = QStringList{"setpriv", "--reuid=" + kNobody, "--regid=" + kNobody, "--clear-groups"} + words;
  }
  QProcess process;
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.setStandardInputFile(QProcess::nullDevice());
  QProcessEnvironment settings;
  settings.insert("PATH", path("bin") + ":/usr/bin:/bin");
  settings.insert("HOME", m_folder->path());
  for (const QString& setting : environment)
    settings.insert(setting.section('=', 0, 0), setting.section('=', 1));
  process.setProcessEnvironment(settings);
  process.setWorkingDirectory("/");
  process.start(words[0], words.mid(1));
  Result result;
  if (!process.waitForFinished(60'000)) {
    process.kill();
    result.code = -1;
    return result;
  }
  result.code = process.exitCode();
  result.output = QString::fromUtf8(process.readAll());
  QFile calls(path("calls"));
  if (calls.open(QIODevice::ReadOnly)) result.calls = QString::fromUtf8(calls.readAll());
  return result;
}

void TestPackagingScripts::shellcheckIsClean() {
  if (QStandardPaths::findExecutable("shellcheck").isEmpty()) QSKIP("shellcheck is not installed");
  QProcess process;
  process.setWorkingDirectory(kSource);
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.start("shellcheck", {"-x", "packaging/run", "packaging/test", "packaging/deb", "packaging/portable",
                               "packaging/try", "packaging/try-inside", "packaging/lib.sh", ".ci/run"});
  QVERIFY(process.waitForFinished(60'000));
  QVERIFY2(process.exitCode() == 0, process.readAll().constData());
}

void TestPackagingScripts::dependenciesAreOnceEach() {
  QFile file(kSource + "/packaging/dependencies.txt");
  QVERIFY(file.open(QIODevice::ReadOnly));
  QStringList packages;
  for (QString line : QString::fromUtf8(file.readAll()).split('\n')) {
    line = line.section('#', 0, 0).trimmed();
    if (!line.isEmpty()) packages.append(line);
  }
  QVERIFY(packages.size() > 5);
  for (const QString& package : packages) {
    QVERIFY2(QRegularExpression("^[a-z0-9][a-z0-9+.-]+$").match(package).hasMatch(), qPrintable(package));
    QCOMPARE(packages.count(package), 1);
  }
}

void TestPackagingScripts::nothingMissingInstallsNothing() {
  const Result result = start({path("tree/packaging/run"), "--build-only"});
  QCOMPARE(result.code, 0);
  QVERIFY2(!result.calls.contains("apt-get"), qPrintable(result.calls));
  QVERIFY(!result.output.contains("missing"));
}

void TestPackagingScripts::missingPackagesAreNamedAndInstalled() {
  if (!isRoot()) QSKIP("only root installs without sudo");
  standIn("dpkg-query", "[[ \"$*\" == *ninja-build* || \"$*\" == *libzstd-dev* ]] || echo installed");
  const Result result = start({path("tree/packaging/run"), "--build-only"});
  QVERIFY2(result.code == 0, qPrintable(result.output));
  QVERIFY2(result.output.contains("missing: ninja-build libzstd-dev"), qPrintable(result.output));
  QVERIFY2(result.calls.contains(QRegularExpression("apt-get .*install .*ninja-build libzstd-dev")),
           qPrintable(result.calls));
  QVERIFY(!result.calls.contains("update"));
}

void TestPackagingScripts::oldListsAreBroughtUpToDateOnce() {
  if (!isRoot()) QSKIP("only root installs without sudo");
  standIn("dpkg-query", "[[ \"$*\" == *ninja-build* ]] || echo installed");
  standIn("apt-cache", "exit 100");
  const Result result = start({path("tree/packaging/run"), "--build-only"});
  QCOMPARE(result.code, 0);
  QCOMPARE(result.calls.count(QRegularExpression("apt-get .*update")), 1);
  QVERIFY(result.calls.indexOf("update") < result.calls.indexOf("install"));
}

void TestPackagingScripts::withoutRootTheCommandIsPrinted() {
  if (!othersMayWriteToNull()) QSKIP("only root may write to /dev/null here");
  standIn("dpkg-query", "[[ \"$*\" == *ninja-build* ]] || echo installed");
  standIn("sudo", "exit 1");
  const Result result = start({path("tree/packaging/run")}, false, {"CI=true"});
  QCOMPARE(result.code, 1);
  QVERIFY2(result.output.contains("please run: sudo apt-get install --no-install-recommends ninja-build"),
           qPrintable(result.output));
  QVERIFY(!result.calls.contains("apt-get"));
  QVERIFY(!result.calls.contains("cmake --preset"));
}

void TestPackagingScripts::withoutRootAndSudoTheCommandIsPrinted() {
  if (!othersMayWriteToNull()) QSKIP("only root may write to /dev/null here");
  if (!QStandardPaths::findExecutable("sudo", {"/usr/bin", "/bin"}).isEmpty()) QSKIP("sudo is installed");
  standIn("dpkg-query", "[[ \"$*\" == *ninja-build* ]] || echo installed");
  const Result result = start({path("tree/packaging/run")}, false);
  QCOMPARE(result.code, 1);
  QVERIFY2(result.output.contains("su -c 'apt-get install --no-install-recommends ninja-build'"),
           qPrintable(result.output));
}

void TestPackagingScripts::sudoWithoutPasswordInstalls() {
  if (!othersMayWriteToNull()) QSKIP("only root may write to /dev/null here");
  standIn("dpkg-query", "[[ \"$*\" == *ninja-build* ]] || echo installed");
  standIn("sudo", "while [[ $1 == --* ]]; do shift; done; exec \"$@\"");
  const Result result = start({path("tree/packaging/run"), "--build-only"}, false);
  QVERIFY2(result.code == 0, qPrintable(result.output));
  QVERIFY2(result.calls.contains(QRegularExpression("apt-get .*install .*ninja-build")),
           qPrintable(result.calls));
}

void TestPackagingScripts::buildOnlyStartsNothing() {
  const Result result = start({path("tree/packaging/run"), "--build-only"});
  QCOMPARE(result.code, 0);
  QVERIFY(result.calls.contains("cmake --preset release -DSPANSCOPE_WERROR=OFF"));
  QVERIFY(result.calls.contains("--build build/release"));
  QVERIFY2(!result.output.contains(" from "), qPrintable(result.output));
}

void TestPackagingScripts::runStartsTheWindow() {
  QVERIFY(start({path("tree/packaging/run")}, true, {"DISPLAY=:7"}).output.contains("spanscope  from /"));
  QVERIFY(start({path("tree/packaging/run")}, true, {"WAYLAND_DISPLAY=wayland-0"})
              .output.contains("spanscope  from /"));
  // Files in the arguments are relative to the user's folder.
  QVERIFY(start({path("tree/packaging/run"), "a b.json", "c.span"}, true, {"DISPLAY=:7"})
              .output.contains("spanscope a b.json c.span from /"));
}

void TestPackagingScripts::runWithoutADisplayRunsTheExample() {
  const Result result = start({path("tree/packaging/run")});
  QCOMPARE(result.code, 0);
  QVERIFY2(result.output.contains("no display"), qPrintable(result.output));
  QVERIFY(result.output.contains("spanq run resources/queries/rag.json from " +
                                 QFileInfo(path("tree")).canonicalFilePath()));
}

void TestPackagingScripts::testRunsCtestWithoutADisplay() {
  standIn("ctest", "echo \"platform $QT_QPA_PLATFORM\"; echo '100% tests passed'; exit 8");
  const Result result = start({path("tree/packaging/test"), "-R", "query"});
  QCOMPARE(result.code, 8);
  QVERIFY(result.calls.contains("ctest --preset release -R query"));
  QVERIFY(result.output.contains("platform offscreen"));
  QVERIFY(!result.calls.contains("--rerun-failed"));
}

/// A test that passes the second time is named. A test that fails twice is a failure.
void TestPackagingScripts::failedTestsRunAgainInCi() {
  const QString log = path("tree/build/release/Testing/Temporary/LastTest.log");
  const QString fails = "echo 'FAIL!  : TestA::b() wrong' >" + log + "; exit 8";
  write("tree/build/release/Testing/Temporary/LastTest.log", "");
  standIn("ctest", "if [[ $* == *'--preset release' ]]; then " + fails + "; fi");
  const Result once = start({path("tree/packaging/test")}, true, {"CI=true"});
  QCOMPARE(once.code, 0);
  QVERIFY(once.calls.contains("ctest --preset release --rerun-failed"));
  QCOMPARE(once.output.count("FAIL!  : TestA::b()"), 2);
  standIn("ctest", fails);
  const Result twice = start({path("tree/packaging/test")}, true, {"CI=true"});
  QCOMPARE(twice.code, 8);
  QCOMPARE(twice.calls.count("--preset asan"), once.calls.count("--preset asan"));
}

void TestPackagingScripts::warningsAreErrorsInCi() {
  const Result result = start({path("tree/packaging/test")}, true, {"CI=true"});
  QCOMPARE(result.code, 0);
  QVERIFY(result.calls.contains("-DSPANSCOPE_WERROR=ON"));
}

void TestPackagingScripts::sanitizersRunInCiAlone() {
  QVERIFY(!start({path("tree/packaging/test")}).calls.contains("asan"));
  QVERIFY(!start({path("tree/packaging/test"), "-R", "query"}, true, {"CI=true"}).calls.contains("asan"));
  const Result inCi = start({path("tree/packaging/test")}, true, {"CI=true"});
  QCOMPARE(inCi.code, 0);
  QVERIFY(inCi.calls.contains("--build build/asan"));
  QVERIFY(inCi.calls.contains("ctest --preset asan --label-regex checked"));
  QVERIFY2(inCi.output.contains(QRegularExpression("all of it: \\d+ min \\d+ s")), qPrintable(inCi.output));
}

void TestPackagingScripts::failuresStopTheScript() {
  standIn("cmake", "echo 'the reason'; exit 1");
  const Result result = start({path("tree/packaging/test")});
  QCOMPARE(result.code, 1);
  QVERIFY(result.output.contains("the reason"));
  QVERIFY(!result.calls.contains("ctest"));
}

void TestPackagingScripts::helpDoesNothing_data() {
  QTest::addColumn<QString>("script");
  QTest::addColumn<QStringList>("arguments");
  QTest::newRow("run") << "run" << QStringList{"--help"};
  QTest::newRow("run, short") << "run" << QStringList{"-h"};
  QTest::newRow("run, after another") << "run" << QStringList{"--build-only", "--help"};
  QTest::newRow("test") << "test" << QStringList{"--help"};
  QTest::newRow("test, short") << "test" << QStringList{"-h"};
  QTest::newRow("test, after another") << "test" << QStringList{"-R", "query", "--help"};
  QTest::newRow("deb") << "deb" << QStringList{"--help"};
  QTest::newRow("deb, after another") << "deb" << QStringList{"--contents", "-h"};
  QTest::newRow("portable") << "portable" << QStringList{"--help"};
  QTest::newRow("try") << "try" << QStringList{"--help"};
}

void TestPackagingScripts::helpDoesNothing() {
  QFETCH(QString, script);
  QFETCH(QStringList, arguments);
  standIn("dpkg-query");  // everything is missing
  const Result result = start(QStringList{path("tree/packaging/" + script)} + arguments);
  QCOMPARE(result.code, 0);
  QVERIFY2(result.output.startsWith("Usage: packaging/" + script), qPrintable(result.output));
  QCOMPARE(result.calls, QString());
}

void TestPackagingScripts::wrongArgumentsDoNothing_data() {
  QTest::addColumn<QString>("script");
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("named");
  QTest::newRow("unknown option") << "run" << QStringList{"--buildonly"} << "--buildonly";
  QTest::newRow("unknown option after a file") << "run" << QStringList{"a.json", "--fly"} << "--fly";
  QTest::newRow("files that nothing opens") << "run" << QStringList{"--build-only", "a.json"} << "a.json";
  for (const char* script : {"deb", "portable", "try"})
    QTest::newRow(script) << script << QStringList{"--fly"} << "--fly";
}

void TestPackagingScripts::wrongArgumentsDoNothing() {
  QFETCH(QString, script);
  QFETCH(QStringList, arguments);
  QFETCH(QString, named);
  const Result result =
      start(QStringList{path("tree/packaging/" + script)} + arguments, true, {"DISPLAY=:7"});
  QCOMPARE(result.code, 2);
  QVERIFY2(result.output.contains(named) && result.output.contains("--help"), qPrintable(result.output));
  QCOMPARE(result.calls, QString());
}

void TestPackagingScripts::argumentsReachTheWindow_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QStringList>("environment");
  QTest::addColumn<QString>("started");
  QTest::newRow("options of the window")
      << QStringList{"--", "--theme", "dark", "a.json"} << QStringList{"DISPLAY=:7"}
      << "spanscope --theme dark a.json from /";
  QTest::newRow("files and options") << QStringList{"a.json", "--", "--theme", "dark"}
                                     << QStringList{"DISPLAY=:7"} << "spanscope a.json --theme dark from /";
  // The example replaces no other input; spanscope reports the operation that it cannot do.
  QTest::newRow("files without a display")
      << QStringList{"a.json"} << QStringList{} << "spanscope a.json from /";
}

void TestPackagingScripts::argumentsReachTheWindow() {
  QFETCH(QStringList, arguments);
  QFETCH(QStringList, environment);
  QFETCH(QString, started);
  const Result result = start(QStringList{path("tree/packaging/run")} + arguments, true, environment);
  QCOMPARE(result.code, 0);
  QVERIFY2(result.output.contains(started), qPrintable(result.output));
}

SPANSCOPE_TEST(tst_packaging_scripts, TestPackagingScripts, QCoreApplication)
#include "tst_packaging_scripts.moc"
