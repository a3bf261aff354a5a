// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/readable_file.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

using namespace spanscope;

class TestReadableFile : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;

  std::filesystem::path write(const char* name, const QByteArray& bytes) {
    QFile file(m_folder.filePath(QString::fromLatin1(name)));
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) qFatal("no file");
    return file.fileName().toStdString();
  }

 private Q_SLOTS:
  void mapsWhatItHolds() {
    const std::filesystem::path path = write("full", "abc");
    const auto file = ReadableFile::open(path, LinkRule::Refuse);
    QVERIFY(file && file->isRegular());
    auto bytes = file->map();
    QVERIFY(bytes);
    const MappedBytes moved = std::move(*bytes);
    QVERIFY(bytes->get().empty());
    QCOMPARE(std::string_view(reinterpret_cast<const char*>(moved.get().data()), moved.get().size()),
             std::string_view("abc"));
  }

  void mapsNothingOfAnEmptyFile() {
    const auto file = ReadableFile::open(write("empty", {}), LinkRule::Follow);
    QVERIFY(file && file->map() && file->map()->get().empty());
  }

  void followsLinksWhereItMay() {
    const std::filesystem::path path = write("target", "x");
    const std::filesystem::path link = m_folder.filePath(QStringLiteral("link")).toStdString();
    std::filesystem::create_symlink(path, link);
    QVERIFY(ReadableFile::open(link, LinkRule::Follow));
    QVERIFY(!ReadableFile::open(link, LinkRule::Refuse));
    QCOMPARE(errno, ELOOP);
  }

  void saysWhatIsNotThere() {
    QVERIFY(!ReadableFile::open(m_folder.filePath(QStringLiteral("none")).toStdString(), LinkRule::Follow));
    QCOMPARE(errno, ENOENT);
  }

  /// Nobody writes to it: to wait would be for ever.
  void doesNotWaitForPipes() {
    const std::filesystem::path pipe = m_folder.filePath(QStringLiteral("pipe")).toStdString();
    QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
    const auto file = ReadableFile::open(pipe, LinkRule::Follow);
    QVERIFY(file && !file->isRegular());
  }
};

SPANSCOPE_TEST(tst_readable_file, TestReadableFile)
#include "tst_readable_file.moc"
