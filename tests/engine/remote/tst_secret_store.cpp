// SPDX-License-Identifier: GPL-3.0-or-later
// Keys in the desktop's secret store: in a session bus of their own with gnome-keyring, where both are
// installed; and where there is no store, which is said.
#include "engine/base/error.h"
#include "engine/remote/secrets/secret_store.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QFile>
#include <QObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <string>

using namespace spanscope;
using spanscope::product_text::worded;

namespace {

constexpr const char* kInside = "SPANSCOPE_TEST_INSIDE";
constexpr const char* kKey = "sk-the-key-of-a-person";

QString problemOf(const std::function<void()>& act) {
  try {
    act();
  } catch (const Failure& failure) {
    return QString::fromUtf8(failure.what());
  }
  return {};
}

}  // namespace

class TestSecretStore : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Runs this program again in a session bus with an empty keyring of its own.
  void inASession() {
    if (qEnvironmentVariableIsSet(kInside)) QSKIP("this is the session");
    const QString bus = QStandardPaths::findExecutable(QStringLiteral("dbus-run-session"));
    const QString keyring = QStandardPaths::findExecutable(QStringLiteral("gnome-keyring-daemon"));
    if (bus.isEmpty() || keyring.isEmpty()) QSKIP("dbus-run-session or gnome-keyring-daemon is missing");
    const QTemporaryDir home;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"})
      environment.insert(QString::fromLatin1(name), home.path());
    environment.insert(QString::fromLatin1(kInside), QStringLiteral("1"));
    QFile::setPermissions(home.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    QProcess process;
    process.setProcessEnvironment(environment);
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(bus, {QStringLiteral("--"), QStringLiteral("sh"), QStringLiteral("-c"),
                        QStringLiteral("printf secret | %1 --unlock --components=secrets >/dev/null 2>&1; "
                                       "exec \"$0\" tst_secret_store")
                            .arg(keyring),
                        QFile::symLinkTarget(QStringLiteral("/proc/self/exe"))});
    QVERIFY(process.waitForFinished(60'000));
    const QByteArray said = process.readAll();
    QVERIFY2(process.exitCode() == 0, said.constData());
    QVERIFY2(said.contains("keepsFindsAndForgets"), said.constData());
    QVERIFY(!said.contains(kKey));
    // The contents of the home are not readable directly.
    QProcess grep;
    grep.start(QStringLiteral("grep"), {QStringLiteral("-r"), QString::fromLatin1(kKey), home.path()});
    QVERIFY(grep.waitForFinished());
    QCOMPARE(grep.exitCode(), 1);
  }

  void keepsFindsAndForgets() {
    if (!qEnvironmentVariableIsSet(kInside)) QSKIP("runs in the session");
    QVERIFY(!remote::findSecret("gpu-3"));
    remote::keepSecret("gpu-3", kKey);
    remote::keepSecret("another", "other");
    QVERIFY(remote::findSecret("gpu-3") == std::string(kKey));
    remote::keepSecret("gpu-3", "newer");
    QVERIFY(remote::findSecret("gpu-3") == std::string("newer"));
    remote::forgetSecret("gpu-3");
    QVERIFY(!remote::findSecret("gpu-3"));
    QVERIFY(remote::findSecret("another") == std::string("other"));
    remote::forgetSecret("gpu-3");
  }

  void withoutAStoreItIsSaid() {
    if (qEnvironmentVariableIsSet(kInside)) QSKIP("there is one");
    qputenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
    for (const QString& problem : {problemOf([] { remote::findSecret("gpu-3"); }),
                                   problemOf([] { remote::keepSecret("gpu-3", kKey); }),
                                   problemOf([] { remote::forgetSecret("gpu-3"); })}) {
      QVERIFY2(problem.contains(worded("<desktops-secret-store>")), qPrintable(problem));
      QVERIFY(!problem.contains(QLatin1String(kKey)));
    }
  }
};

SPANSCOPE_TEST(tst_secret_store, TestSecretStore)
#include "tst_secret_store.moc"
