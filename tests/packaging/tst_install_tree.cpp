// SPDX-License-Identifier: GPL-3.0-or-later
// What `cmake --install` makes: programs that find what they open.
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace {

const QString kLibraryName = QStringLiteral("libspanscope_cuda.so");

}  // namespace

class TestInstallTree : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QProcess cmake;
    cmake.start(QStringLiteral(SPANSCOPE_CMAKE),
                {QStringLiteral("--install"), QStringLiteral(SPANSCOPE_BUILD_DIR), QStringLiteral("--prefix"),
                 m_folder.path()});
    QVERIFY(cmake.waitForFinished(120'000));
    QVERIFY2(cmake.exitCode() == 0, cmake.readAllStandardError().constData());
  }

  void theLibraryForCardsIsInstalled() {
    if (!SPANSCOPE_HAS_CUDA) QSKIP("this build has no library for cards");
    QVERIFY(QFileInfo(library()).isFile());
    // Whatever is in the way is no matter of files: there may be no driver.
    const QString obstacle = cards().first().toObject().value(QStringLiteral("obstacle")).toString();
    for (const char* word : {"not built", "cannot open", "another version", ".so"})
      QVERIFY2(!obstacle.contains(QLatin1String(word)), qPrintable(obstacle));
  }

  /// The emulated card in place of those that the machine may have.
  void programsFindItThere() {
    QVERIFY(QDir().mkpath(QFileInfo(library()).path()));
    QFile::remove(library());
    QCOMPARE(cards().first().toObject().value(QStringLiteral("obstacle")).toString(),
             QStringLiteral("not built into this program"));
    QVERIFY(QFile::copy(QStringLiteral(SPANSCOPE_EMULATED_LIBRARY), library()));
    const QJsonObject card = cards().first().toObject();
    QCOMPARE(card.value(QStringLiteral("device")).toString(), QStringLiteral("cuda:0"));
    QVERIFY(card.value(QStringLiteral("is_usable")).toBool());
    QVERIFY(card.value(QStringLiteral("description")).toString().contains(QLatin1String("emulated card")));
  }

 private:
  QString library() const {
    return m_folder.filePath(QStringLiteral(SPANSCOPE_INSTALLED_LIBRARIES) + QLatin1Char('/') + kLibraryName);
  }

  /// What the installed program says of cards.
  QJsonArray cards() const {
    QProcess program;
    program.start(m_folder.filePath(QStringLiteral(SPANSCOPE_INSTALLED_PROGRAMS "/spanq")),
                  {QStringLiteral("devices"), QStringLiteral("--json")});
    if (!program.waitForFinished(60'000) || program.exitCode() != 0)
      qFatal("%s", program.readAllStandardError().constData());
    QJsonArray cards;
    const QJsonObject said = QJsonDocument::fromJson(program.readAllStandardOutput()).object();
    for (const auto& device : said.value(QStringLiteral("devices")).toArray()) {
      if (device.toObject().value(QStringLiteral("device")).toString().startsWith(QLatin1String("cuda")))
        cards.append(device);
    }
    if (cards.isEmpty()) qFatal("no word on cards");
    return cards;
  }

  QTemporaryDir m_folder;
};

SPANSCOPE_TEST(tst_install_tree, TestInstallTree)
#include "tst_install_tree.moc"
