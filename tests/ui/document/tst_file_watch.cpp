// SPDX-License-Identifier: GPL-3.0-or-later
// Files that other programs change: changes of content are reported, of any kind, and nothing else is.
#include "tests/support/test_program.h"
#include "ui/document/document_file.h"
#include "ui/document/file_watch.h"

#include <QDir>
#include <QFile>
#include <QSaveFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace spanscope::ui;

namespace {

constexpr int kQuiet = 400;  // milliseconds in which a message would have come

void write(const QString& path, const QByteArray& text) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(text);
}

/// As editors and version control do.
void replace(const QString& path, const QByteArray& text) {
  const QString next = path + QStringLiteral(".new");
  write(next, text);
  QVERIFY(std::rename(QFile::encodeName(next).constData(), QFile::encodeName(path).constData()) == 0);
}

}  // namespace

class TestFileWatch : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<QTemporaryDir> m_folder;
  QString m_path;

 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    m_path = m_folder->filePath(QStringLiteral("query.span"));
    write(m_path, "one");
  }

  void tellsWhatIsWrittenInPlace() {
    FileWatch watch;
    QSignalSpy changed(&watch, &FileWatch::changed);
    watch.watch(7, m_path, stampOf(m_path));
    QVERIFY(!watch.isChanged(7));
    write(m_path, "two");
    QVERIFY(changed.wait());
    QCOMPARE(changed.front().front().toUInt(), 7U);
    QVERIFY(watch.isChanged(7) && !watch.isGone(7));
    watch.accept(7);
    QVERIFY(!watch.isChanged(7));
  }

  void tellsEveryReplacement() {
    FileWatch watch;
    QSignalSpy changed(&watch, &FileWatch::changed);
    watch.watch(1, m_path, stampOf(m_path));
    for (const char* text : {"two", "three", "four"}) {
      changed.clear();
      replace(m_path, text);
      QVERIFY2(changed.wait(), text);
      QVERIFY(watch.isChanged(1));
      watch.accept(1);
    }
    // Back to what was there first: that is a change too.
    changed.clear();
    replace(m_path, "one");
    QVERIFY(changed.wait());
    QVERIFY(watch.isChanged(1));
  }

  void saysNothingWhereContentStays() {
    FileWatch watch;
    QSignalSpy changed(&watch, &FileWatch::changed);
    watch.watch(1, m_path, stampOf(m_path));
    replace(m_path, "one");
    write(m_folder->filePath(QStringLiteral("neighbour")), "text");
    QTest::qWait(kQuiet);
    QCOMPARE(changed.count(), 0);
    QVERIFY(!watch.isChanged(1));
  }

  void knowsWhatIsGoneAndComesBack() {
    FileWatch watch;
    QSignalSpy changed(&watch, &FileWatch::changed);
    watch.watch(1, m_path, stampOf(m_path));
    QVERIFY(QFile::remove(m_path));
    QVERIFY(changed.wait());
    QVERIFY(watch.isChanged(1) && watch.isGone(1));
    write(m_path, "one");
    QVERIFY(changed.wait());
    QVERIFY(!watch.isChanged(1) && !watch.isGone(1));
  }

  /// Between reading a file and watching it, somebody may have written it.
  void seesWhatWasWrittenBefore() {
    const FileStamp read = stampOf(m_path);
    write(m_path, "two");
    FileWatch watch;
    watch.watch(1, m_path, read);
    QVERIFY(watch.isChanged(1));
    watch.accept(1, stampOf(m_path));
    QVERIFY(!watch.isChanged(1));
  }

  void windowsKnowOfEachOther() {
    const QString folder = m_folder->filePath(QStringLiteral("open"));
    FilePresence first(folder);
    FilePresence second(folder);
    QSignalSpy reported(&first, &FilePresence::changed);
    first.enter(1, m_path);
    QVERIFY(first.others(1).empty());
    // Under another name of the same file.
    const QString link = m_folder->filePath(QStringLiteral("link.span"));
    QVERIFY(QFile::link(m_path, link));
    second.enter(5, link);
    QCOMPARE(second.others(5), std::vector<qint64>{QCoreApplication::applicationPid()});
    QVERIFY(reported.wait());
    QCOMPARE(first.others(1).size(), std::size_t{1});
    reported.clear();
    second.leave(5);
    QVERIFY(reported.wait());
    QVERIFY(first.others(1).empty());
    second.enter(5, m_folder->filePath(QStringLiteral("another.span")));
    QVERIFY(second.others(5).empty());
  }

  /// What a killed process left counts for nothing.
  void theDeadAreForgotten() {
    const QString folder = m_folder->filePath(QStringLiteral("open"));
    FilePresence presence(folder);
    presence.enter(1, m_path);
    const QStringList own = QDir(folder).entryList(QDir::Files);
    QCOMPARE(own.size(), 1);
    const QString prefix = own.front().section(QLatin1Char('-'), 0, 0);
    // No process has this number: the most is 2²².
    write(folder + QLatin1Char('/') + prefix + QStringLiteral("-dead.open"),
          QByteArrayLiteral("999999999\nspanscope\n") + QSysInfo::machineHostName().toUtf8() + '\n' +
              QSysInfo::machineUniqueId() + '\n' + QSysInfo::bootUniqueId() + '\n');
    presence.look();
    QVERIFY(presence.others(1).empty());
  }

  void saysWhyNothingCanBeWritten() {
    QCOMPARE(whyNotWritable(m_path), QString());
    QCOMPARE(whyNotWritable(m_folder->filePath(QStringLiteral("new.span"))), QString());
    QVERIFY(QFile::setPermissions(m_path, QFile::ReadOwner));
    QVERIFY(whyNotWritable(m_path).contains(QStringLiteral("read-only")));
    QVERIFY(whyNotWritable(m_folder->path()).contains(QStringLiteral("folder")));
    QVERIFY(whyNotWritable(m_folder->filePath(QStringLiteral("gone/query.span")))
                .contains(QStringLiteral("no longer exists")));
  }
};

SPANSCOPE_TEST(tst_file_watch, TestFileWatch, QCoreApplication)
#include "tst_file_watch.moc"
