// SPDX-License-Identifier: GPL-3.0-or-later
// What packaging/deb has CPack make, as dpkg reads it; packed loosely, which is quicker.
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QIODevice>
#include <QObject>
#include <QProcess>
#include <QStandardPaths>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

namespace {

/// What a program prints; empty where it fails.
QString said(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  if (!process.waitForFinished(120'000) || process.exitCode() != 0) {
    qWarning("%s: %s%s", qPrintable(program), process.readAllStandardOutput().constData(),
             process.readAllStandardError().constData());
    return {};
  }
  return QString::fromUtf8(process.readAllStandardOutput());
}

}  // namespace

class TestDebianPackages : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void areOneForEachPart();
  void sayWhatTheyAre_data();
  void sayWhatTheyAre();
  void haveWhatDebianAsksFor_data();
  void haveWhatDebianAsksFor();
  void nameNothingOfThisMachine_data();
  void nameNothingOfThisMachine();

 private:
  QTemporaryDir m_folder;

  QString path(const QString& name) const { return m_folder.filePath(name); }
  QString file(const QString& package) const {
    const QStringList found = QDir(path("packages")).entryList({package + "_*.deb"}, QDir::Files);
    return found.size() == 1 ? path("packages/" + found.front()) : QString();
  }
  QString field(const QString& package, const QString& name) const {
    return said("dpkg-deb", {"--field", file(package), name}).trimmed();
  }
  void rows() const;
};

void TestDebianPackages::initTestCase() {
  for (const char* program : {"dpkg-deb", "dpkg-shlibdeps", "file"}) {
    if (QStandardPaths::findExecutable(program).isEmpty())
      QSKIP(qPrintable(QString("there is no ") + program));
  }
  QVERIFY(!said(SPANSCOPE_CPACK, {"--config", SPANSCOPE_BUILD_DIR "/CPackConfig.cmake", "-G", "DEB", "-D",
                                  "CPACK_DEBIAN_COMPRESSION_TYPE=none", "-B", path("packages")})
               .isEmpty());
}

void TestDebianPackages::rows() const {
  QTest::addColumn<QString>("package");
  QTest::newRow("programs") << "spanscope";
  if (SPANSCOPE_HAS_CUDA) QTest::newRow("library for cards") << "spanscope-cuda";
}

void TestDebianPackages::areOneForEachPart() {
  const QStringList found = QDir(path("packages")).entryList({"*.deb"}, QDir::Files);
  QCOMPARE(found.size(), SPANSCOPE_HAS_CUDA ? 2 : 1);
  for (const QString& name : found)
    QCOMPARE(name.section('_', 1, 1), field(name.section('_', 0, 0), "Version"));
}

void TestDebianPackages::sayWhatTheyAre_data() {
  rows();
}

void TestDebianPackages::sayWhatTheyAre() {
  QFETCH(QString, package);
  const bool isForCards = package != "spanscope";
  QCOMPARE(field(package, "Package"), package);
  QCOMPARE(field(package, "Maintainer"), QString("The Spanscope authors <authors@spanscope.invalid>"));
  QCOMPARE(field(package, "Section"), QString(isForCards ? "contrib/devel" : "devel"));
  const QString depends = field(package, "Depends");
  QVERIFY2(depends.contains("libc6 (>= "), qPrintable(depends));
  const QString most = isForCards ? "spanscope (= " + field("spanscope", "Version") + ")" : "libqt6widgets6";
  QVERIFY2(depends.contains(most), qPrintable(depends));
  // A short line, and a paragraph or more.
  const QStringList description = field(package, "Description").split('\n');
  QVERIFY(description.size() > 3);
  QVERIFY(description.front().startsWith("workbench") && description.front().size() < 80);
  if (isForCards) QVERIFY(description.join('\n').contains("\"spanq devices\""));
}

void TestDebianPackages::haveWhatDebianAsksFor_data() {
  rows();
}

void TestDebianPackages::haveWhatDebianAsksFor() {
  QFETCH(QString, package);
  QStringList files;
  for (const QString& line :
       said("dpkg-deb", {"--contents", file(package)}).split('\n', Qt::SkipEmptyParts)) {
    const QStringList words = line.simplified().split(' ');
    QVERIFY(words.size() > 5);
    QVERIFY2(words[0] == "drwxr-xr-x" || words[0] == "-rw-r--r--" ||
                 (words[0] == "-rwxr-xr-x" &&
                  (words[5].startsWith("./usr/bin/") || words[5].startsWith("./usr/libexec/spanscope/"))),
             qPrintable(line));
    QCOMPARE(words[1], QString("root/root"));
    QVERIFY2(words[5].startsWith("./usr/"), qPrintable(line));
    files << words[5].mid(1);
  }
  const QString documents = "/usr/share/doc/" + package;
  QStringList expected{documents + "/copyright", documents + "/changelog.gz"};
  if (package == "spanscope") {
    expected << "/usr/bin/spanq"
             << "/usr/bin/spanscope"
             << "/usr/libexec/spanscope/chat-template"
             << "/usr/libexec/spanscope/pdf-text"
             << "/usr/share/man/man1/spanq-run.1.gz"
             << "/usr/share/zsh/vendor-completions/_spanq"
             << "/usr/share/spanscope/models/spanlet/model.safetensors";
  } else {
    expected << "/usr/lib/spanscope/libspanscope_cuda.so";
  }
  for (const QString& name : expected) QVERIFY2(files.contains(name), qPrintable(name));
}

void TestDebianPackages::nameNothingOfThisMachine_data() {
  rows();
}

void TestDebianPackages::nameNothingOfThisMachine() {
  QFETCH(QString, package);
  const QString root = path(package + " unpacked");
  QProcess::execute("dpkg-deb", {"--raw-extract", file(package), root});
  int programs = 0;
  for (QDirIterator each(root, QDir::Files, QDirIterator::Subdirectories); each.hasNext();) {
    QFile one(each.next());
    QVERIFY(one.open(QIODevice::ReadOnly));
    const QByteArray bytes = one.readAll();
    QVERIFY2(!bytes.contains(SPANSCOPE_SOURCE_DIR) && !bytes.contains(SPANSCOPE_BUILD_DIR),
             qPrintable(one.fileName()));
    if (!bytes.startsWith("\x7f"
                          "ELF"))
      continue;
    ++programs;
    const QString dynamic = said("readelf", {"--dynamic", one.fileName()});
    QVERIFY2(dynamic.contains("(NEEDED)") && !dynamic.contains("PATH)"), qPrintable(dynamic));
  }
  QCOMPARE(programs, package == "spanscope" ? 3 : 1);
}

SPANSCOPE_TEST(tst_debian_packages, TestDebianPackages, QCoreApplication)
#include "tst_debian_packages.moc"
