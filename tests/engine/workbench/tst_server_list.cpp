// SPDX-License-Identifier: GPL-3.0-or-later
// The servers that the user named: what is kept, what is refused, and where keys come from.
#include "engine/base/error.h"
#include "engine/workbench/servers/server_list.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

#include <optional>
#include <string>

using namespace spanscope;
using workbench::KeyPlace;
using workbench::NamedServer;
using workbench::ServerList;

namespace {

std::filesystem::path fileIn(const QTemporaryDir& folder) {
  return std::filesystem::path(folder.path().toStdString()) / "settings" / "servers.json";
}

void writeFileText(const std::filesystem::path& path, const QByteArray& text) {
  std::filesystem::create_directories(path.parent_path());
  QFile file(QString::fromStdString(path.string()));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
}

}  // namespace

class TestServerList : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void keepsServersByName() {
    const QTemporaryDir folder;
    ServerList list(fileIn(folder));
    QVERIFY(list.list().empty());
    NamedServer there{.name = "gpu-3", .url = "http://gpu-3:8000"};
    there.model = "org/m";
    there.key = KeyPlace::Environment;
    there.keyVariable = "GPU_KEY";
    there.certificateFile = "/etc/own.pem";
    there.protocol = "completions";
    there.atOnce = 3;
    there.isUnlisted = true;
    list.put(there);
    list.put({.name = "Büro", .url = "https://[::1]:8443/v1"});
    const ServerList other(fileIn(folder));
    QCOMPARE(other.list().size(), std::size_t{2});
    QVERIFY(other.find("gpu-3") == there);
    QVERIFY(!other.find("gpu-4"));
    there.url = "http://gpu-3:9000";
    list.put(there);
    QVERIFY(other.find("gpu-3") == there);
    list.remove("gpu-3");
    list.remove("gpu-3");
    QVERIFY(!other.find("gpu-3") && other.find("Büro"));
  }

  void refusesWhatIsNone_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("url");
    QTest::addColumn<bool>("wantsVariable");
    QTest::addColumn<QString>("place");
    const auto row = [](const char* title, const QString& name, const char* url, bool wantsVariable,
                        const char* place) {
      QTest::newRow(title) << name << QString::fromLatin1(url) << wantsVariable << QString::fromLatin1(place);
    };
    row("no name", "", "http://a", false, "name");
    row("a name of two lines", "a\nb", "http://a", false, "name");
    row("a name that is long", QString(101, QLatin1Char('a')), "http://a", false, "name");
    row("the word for the engine", "embedded", "http://a", false, "name");
    row("no address", "a", "", false, "address");
    row("another scheme", "a", "ftp://a", false, "address");
    row("a key in the address", "a", "http://me:secret@a", false, "address");
    row("a query in the address", "a", "http://a/?key=secret", false, "address");
    row("no variable", "a", "http://a", true, "key");
  }
  void refusesWhatIsNone() {
    QFETCH(QString, name);
    QFETCH(QString, url);
    QFETCH(bool, wantsVariable);
    QFETCH(QString, place);
    NamedServer server{.name = name.toStdString(), .url = url.toStdString()};
    if (wantsVariable) server.key = KeyPlace::Environment;
    ServerList list;
    try {
      list.put(server);
      QFAIL("it was kept");
    } catch (const Failure& failure) {
      QCOMPARE(QString::fromStdString(failure.error().place), place);
      QVERIFY(!QString::fromUtf8(failure.what()).contains(QStringLiteral("secret")));
    }
    QVERIFY(list.list().empty());
  }

  /// A file of another program, or of none, is no reason to fail; what is sound in it counts.
  void readsWhatIsSound_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("count");
    QTest::newRow("nothing") << QByteArray() << 0;
    QTest::newRow("no JSON") << QByteArray("servers") << 0;
    QTest::newRow("a list") << QByteArray("[]") << 0;
    // No raw texts with slashes: moc takes them for comments.
    QTest::newRow("one of four")
        << QByteArray(
               "{\"servers\":[{\"name\":\"a\",\"url\":\"http://a\"},{\"name\":\"b\"},7,"
               "{\"name\":\"a\",\"url\":\"http://again\"}]}")
        << 1;
    QTest::newRow("wrong kinds") << QByteArray("{\"servers\":[{\"name\":5,\"url\":\"http://a\"}]}") << 0;
    QTest::newRow("no UTF-8") << QByteArray("{\"servers\":[{\"name\":\"\xff\",\"url\":\"http://a\"}]}") << 0;
  }
  void readsWhatIsSound() {
    QFETCH(QByteArray, text);
    QFETCH(int, count);
    const QTemporaryDir folder;
    writeFileText(fileIn(folder), text);
    QCOMPARE(static_cast<int>(ServerList(fileIn(folder)).list().size()), count);
  }

  /// What cannot be read is reported, and kept under another name before the list is written.
  void damagedFilesAreKept() {
    QFETCH(QByteArray, text);
    QFETCH(int, count);
    const QTemporaryDir folder;
    for (int round = 1; round <= 2; ++round) {
      writeFileText(fileIn(folder), text);
      ServerList list(fileIn(folder));
      const std::optional<Error> problem = list.problem();
      QVERIFY(problem.has_value());
      QCOMPARE(problem->file, fileIn(folder).string());
      list.put({.name = "new", .url = "http://new"});
      QCOMPARE(static_cast<int>(list.list().size()), count + 1);
      QVERIFY(!list.problem());
      QVERIFY(list.keptAside() != fileIn(folder));
      QFile kept(QString::fromStdString(list.keptAside().string()));
      QVERIFY(kept.open(QIODevice::ReadOnly));
      QCOMPARE(kept.readAll(), text);
      QCOMPARE(
          QDir(QString::fromStdString(fileIn(folder).parent_path().string())).entryList(QDir::Files).size(),
          round + 1);
    }
  }
  void damagedFilesAreKept_data() { readsWhatIsSound_data(); }

  void soundFilesAreNotKeptTwice() {
    const QTemporaryDir folder;
    ServerList list(fileIn(folder));
    QVERIFY(!list.problem());
    list.put({.name = "a", .url = "http://a"});
    list.put({.name = "b", .url = "http://b"});
    list.remove("a");
    QVERIFY(list.keptAside().empty() && !list.problem());
    QVERIFY(!ServerList().problem());
  }

  /// A key goes into a header: nothing that is no text of one line is sent.
  void keysThatCannotBeSent_data() {
    QTest::addColumn<QByteArray>("key");
    QTest::newRow("CR") << QByteArray("a\rb");
    QTest::newRow("LF") << QByteArray("sk-1\nX-Other: 1");
    QTest::newRow("a control character") << QByteArray("sk\x01");
    QTest::newRow("no UTF-8") << QByteArray("sk-\xff");
    QTest::newRow("long") << QByteArray(4097, 'k');
  }
  void keysThatCannotBeSent() {
    QFETCH(QByteArray, key);
    NamedServer server{.name = "a", .url = "http://a"};
    server.key = KeyPlace::Environment;
    server.keyVariable = "SPANSCOPE_TEST_SERVER_KEY";
    qputenv("SPANSCOPE_TEST_SERVER_KEY", key);
    try {
      workbench::accessTo(server);
      QFAIL("it was taken");
    } catch (const Failure& failure) {
      QVERIFY(!QByteArray(failure.what()).contains(key));
      QCOMPARE(QString::fromStdString(failure.error().place), QStringLiteral("key"));
    }
    qunsetenv("SPANSCOPE_TEST_SERVER_KEY");
  }

  void protocolsAreThoseThatThereAre() {
    const QTemporaryDir folder;
    ServerList list(fileIn(folder));
    try {
      list.put({.name = "a", .url = "http://a", .protocol = "grpc"});
      QFAIL("it was kept");
    } catch (const Failure& failure) {
      QCOMPARE(QString::fromStdString(failure.error().place), QStringLiteral("protocol"));
    }
    // Of a later version: the server stays, and is asked in what it takes.
    writeFileText(fileIn(folder),
                  "{\"servers\":[{\"name\":\"a\",\"url\":\"http://a\",\"protocol\":\"grpc\"}]}");
    QCOMPARE(list.list().size(), std::size_t{1});
    QCOMPARE(list.list().front().protocol, std::string());
  }

  void keysAreLookedUpWhenTheyAreNeeded() {
    NamedServer server{.name = "a", .url = "http://a"};
    QVERIFY(workbench::accessTo(server).key.empty());
    server.key = KeyPlace::Environment;
    server.keyVariable = "SPANSCOPE_TEST_SERVER_KEY";
    server.certificateFile = "/own.pem";
    qunsetenv("SPANSCOPE_TEST_SERVER_KEY");
    QVERIFY_EXCEPTION_THROWN(workbench::accessTo(server), Failure);
    qputenv("SPANSCOPE_TEST_SERVER_KEY", "very-secret");
    const remote::HttpAccess access = workbench::accessTo(server);
    qunsetenv("SPANSCOPE_TEST_SERVER_KEY");
    QCOMPARE(access.key, std::string("very-secret"));
    QCOMPARE(access.certificateFile, std::string("/own.pem"));
  }

  void filesHoldNoKeys() {
    const QTemporaryDir folder;
    ServerList list(fileIn(folder));
    NamedServer server{.name = "a", .url = "http://a"};
    server.key = KeyPlace::Secrets;
    list.put(server);
    QFile file(QString::fromStdString(fileIn(folder).string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray("{\n  \"servers\": [\n    {\n      \"name\": \"a\",\n      \"url\": "
                                        "\"http://a\",\n      \"key\": \"secrets\"\n    }\n  ]\n}\n"));
    QVERIFY(ServerList(fileIn(folder)).find("a") == server);
  }
};

SPANSCOPE_TEST(tst_server_list, TestServerList)
#include "tst_server_list.moc"
