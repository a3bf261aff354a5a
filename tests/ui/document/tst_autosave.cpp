// SPDX-License-Identifier: GPL-3.0-or-later
// Autosave within one program, and the list of recent files.
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "ui/document/autosave.h"
#include "ui/document/document_file.h"
#include "ui/document/unread_text.h"

#include <QDir>
#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>

#include <csignal>

using namespace spanscope;
using namespace spanscope::document;
using namespace spanscope::ui;
using namespace std::chrono_literals;

namespace {

void name(DocumentModel& model, const char* text) {
  model.change(QStringLiteral("Name"), [&](Document& document) {
    if (document.size() == 0) addNode(document, makeOperator("user"));
    setName(document, document.root(), text);
  });
}

QStringList filesIn(const QTemporaryDir& directory) {
  return QDir(directory.path()).entryList(QDir::Files);
}

rlimit fileSizeLimit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  return limit;
}

/// As with a full disk: writing beyond it fails, and the signal that goes with it is ignored.
void setFileSizeLimit(const rlimit& limit) {
  std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

/// Changes the name, and waits until the side file has the change.
void renameAndKeep(Autosave& autosave, DocumentModel& model, const char* text) {
  autosave.setInterval(1ms);
  QSignalSpy written(&autosave, &Autosave::written);
  name(model, text);
  QTRY_COMPARE(written.count(), 1);
}

}  // namespace

class TestAutosave : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void writesWhatIsUnsaved();
  void writesSoonWithoutBeingTold();
  void writesNothingWithoutAChange();
  void writesAtOnceWhenAsked();
  void keepsAnOlderStateWhereItCannotWrite();
  void goesOnASave();
  void goesOnACleanClose();
  void isNotOfferedWhileItsProgramRuns();
  void leavesWhatOthersLeftBehind();
  void offersOnlyWhatDiffers();
  void keepsTextThatIsNoQuery();
  void saysWhenItCannotWrite();
  void recentFiles();
};

void TestAutosave::writesWhatIsUnsaved() {
  const QTemporaryDir directory;
  DocumentModel model;
  model.setTitle(QStringLiteral("Untitled 7"));
  Autosave autosave(model, directory.path());
  autosave.setInterval(20ms);
  QSignalSpy written(&autosave, &Autosave::written);
  name(model, "one");
  QTRY_COMPARE(written.count(), 1);
  name(model, "two");
  QTRY_COMPARE(written.count(), 2);
  QFile::copy(autosave.sideFile(), directory.filePath(QStringLiteral("copy.span-autosave")));
  const std::vector<Recovery> recoveries = findRecoveries(directory.path());
  QCOMPARE(recoveries.size(), std::size_t{1});
  QCOMPARE(recoveries[0].title, QStringLiteral("Untitled 7"));
  QCOMPARE(recoveries[0].filePath, QString());
  QVERIFY(recoveries[0].time.secsTo(QDateTime::currentDateTimeUtc()) < 60);
  QCOMPARE(recoveries[0].document.at(recoveries[0].document.root()).name, std::string("two"));
  removeRecovery(recoveries[0]);
  QVERIFY(findRecoveries(directory.path()).empty());
}

/// A program that is killed loses at most the last second.
void TestAutosave::writesSoonWithoutBeingTold() {
  const QTemporaryDir directory;
  DocumentModel model;
  Autosave autosave(model, directory.path());
  QVERIFY(autosave.interval() <= 1s);
  name(model, "one");
  QTRY_VERIFY(!findRecoveries(directory.path()).empty() || !autosave.sideFile().isEmpty());
}

void TestAutosave::writesNothingWithoutAChange() {
  const QTemporaryDir directory;
  DocumentModel model;
  Autosave autosave(model, directory.path());
  autosave.setInterval(1ms);
  QTest::qWait(50);
  QVERIFY(filesIn(directory).isEmpty());
  name(model, "one");
  model.undoStack().undo();
  QTest::qWait(50);
  QVERIFY(filesIn(directory).isEmpty());
}

void TestAutosave::writesAtOnceWhenAsked() {
  const QTemporaryDir directory;
  DocumentModel model;
  Autosave autosave(model, directory.path());
  autosave.writeNow();
  QVERIFY2(filesIn(directory).isEmpty(), "nothing is unsaved");
  const QSignalSpy written(&autosave, &Autosave::written);
  for (const char* text : {"one", "two", "three"}) {
    name(model, text);
    // Whether an older state is being written just now or not.
    if (*text == 'o') QTRY_VERIFY(!autosave.sideFile().isEmpty());
    autosave.writeNow();
    QVERIFY(QFile::copy(autosave.sideFile(), directory.filePath(QStringLiteral("copy.span-autosave"))));
    const std::vector<Recovery> recoveries = findRecoveries(directory.path());
    QCOMPARE(recoveries.size(), std::size_t{1});
    QCOMPARE(recoveries[0].document.at(recoveries[0].document.root()).name, std::string(text));
    removeRecovery(recoveries[0]);
  }
  QVERIFY(written.count() >= 3);
}

void TestAutosave::keepsAnOlderStateWhereItCannotWrite() {
  const QTemporaryDir directory;
  DocumentModel model;
  {
    Autosave autosave(model, directory.path());
    name(model, "older");
    autosave.writeNow();
    name(model, "newer");
    const rlimit before = fileSizeLimit();
    setFileSizeLimit({.rlim_cur = 10, .rlim_max = before.rlim_max});
    const QString kept = autosave.keep();
    setFileSizeLimit(before);
    QVERIFY(kept.isEmpty());
  }
  const std::vector<Recovery> recoveries = findRecoveries(directory.path());
  QCOMPARE(recoveries.size(), std::size_t{1});
  QCOMPARE(recoveries[0].document.at(recoveries[0].document.root()).name, std::string("older"));
}

void TestAutosave::goesOnASave() {
  const QTemporaryDir directory;
  DocumentModel model;
  Autosave autosave(model, directory.path());
  autosave.setInterval(1ms);
  QSignalSpy written(&autosave, &Autosave::written);
  name(model, "one");
  QTRY_COMPARE(written.count(), 1);
  QCOMPARE(filesIn(directory).size(), 2);
  model.markSaved();
  QVERIFY(filesIn(directory).isEmpty());
  model.undoStack().undo();
  QTRY_COMPARE(written.count(), 2);
}

void TestAutosave::goesOnACleanClose() {
  const QTemporaryDir directory;
  DocumentModel model;
  {
    Autosave autosave(model, directory.path());
    renameAndKeep(autosave, model, "one");
  }
  QVERIFY(filesIn(directory).isEmpty());
}

void TestAutosave::isNotOfferedWhileItsProgramRuns() {
  const QTemporaryDir directory;
  DocumentModel model;
  Autosave autosave(model, directory.path());
  renameAndKeep(autosave, model, "one");
  QVERIFY(findRecoveries(directory.path()).empty());
  QVERIFY(QFile::exists(autosave.sideFile()));
}

void TestAutosave::leavesWhatOthersLeftBehind() {
  const QTemporaryDir directory;
  const QTemporaryDir files;
  const QString path = files.filePath(QStringLiteral("query.span"));
  DocumentModel model;
  model.setFilePath(path);
  QString left;
  {
    Autosave autosave(model, directory.path());
    renameAndKeep(autosave, model, "before");
    left = autosave.sideFile();
    QVERIFY(QFile::copy(left, files.filePath(QStringLiteral("kept"))));
  }
  QVERIFY(QFile::copy(files.filePath(QStringLiteral("kept")), left));
  {
    Autosave autosave(model, directory.path());
    renameAndKeep(autosave, model, "after");
    QVERIFY(autosave.sideFile() != left);
  }
  const std::vector<Recovery> recoveries = findRecoveries(directory.path());
  QCOMPARE(recoveries.size(), std::size_t{1});
  QCOMPARE(recoveries[0].sideFile, left);
  QCOMPARE(recoveries[0].filePath, path);
  QCOMPARE(recoveries[0].document.at(recoveries[0].document.root()).name, std::string("before"));
}

void TestAutosave::offersOnlyWhatDiffers() {
  const QTemporaryDir directory;
  const QTemporaryDir files;
  const QString path = files.filePath(QStringLiteral("query.span"));
  DocumentModel model;
  model.setFilePath(path);
  Autosave autosave(model, directory.path());
  renameAndKeep(autosave, model, "one");
  const QString copy = directory.filePath(QStringLiteral("copy.span-autosave"));
  QVERIFY(QFile::copy(autosave.sideFile(), copy));
  QVERIFY(!saveDocument(path, model.document()));
  QVERIFY(findRecoveries(directory.path()).empty());
  QVERIFY(QFile::exists(copy));
  QVERIFY(!saveDocument(path, Document()));
  QCOMPARE(findRecoveries(directory.path()).size(), std::size_t{1});
  QFile damaged(directory.filePath(QStringLiteral("damaged.span-autosave")));
  QVERIFY(damaged.open(QIODevice::WriteOnly));
  damaged.write("{\"autosave\": 1}\n{\"user\":");
  damaged.close();
  QCOMPARE(findRecoveries(directory.path()).size(), std::size_t{1});
  QVERIFY(damaged.exists());
}

/// A program that is killed leaves the JSON text that was being typed, also where nothing else has changed.
void TestAutosave::keepsTextThatIsNoQuery() {
  const QTemporaryDir directory;
  const QString path = directory.filePath(QStringLiteral("query.span"));
  DocumentModel model;
  name(model, "one");
  QVERIFY(!saveDocument(path, model.document()).has_value());
  model.setFilePath(path);
  model.markSaved();
  Autosave autosave(model, directory.path());
  autosave.setInterval(1ms);
  UnreadText& unread = UnreadText::of(model);
  unread.setTyped(QStringLiteral("{\"user\": \"a\n"));
  QVERIFY(model.isModified());
  QTRY_VERIFY(!autosave.sideFile().isEmpty() && QFile::exists(autosave.sideFile()));
  autosave.writeNow();
  QFile::copy(autosave.sideFile(), directory.filePath(QStringLiteral("copy.span-autosave")));
  const std::vector<Recovery> recoveries = findRecoveries(directory.path());
  QCOMPARE(recoveries.size(), std::size_t{1});
  QCOMPARE(recoveries[0].typed, unread.typed());
  // Once it is a query or discarded, nothing is unsaved.
  unread.discardTyped();
  QVERIFY(!model.isModified());
  QVERIFY(autosave.sideFile().isEmpty());
}

void TestAutosave::saysWhenItCannotWrite() {
  const QTemporaryDir directory;
  QFile file(directory.filePath(QStringLiteral("file")));
  QVERIFY(file.open(QIODevice::WriteOnly));
  DocumentModel model;
  Autosave autosave(model, directory.filePath(QStringLiteral("file/folder")));
  autosave.setInterval(1ms);
  QSignalSpy failed(&autosave, &Autosave::failed);
  name(model, "one");
  QTRY_COMPARE(failed.count(), 1);
}

void TestAutosave::recentFiles() {
  const QTemporaryDir directory;
  QSettings settings(directory.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
  RecentFiles recent(settings);
  QVERIFY(recent.paths().isEmpty());
  QStringList added;
  for (int i = 0; i < 13; ++i) {
    const QString path = directory.filePath(QStringLiteral("%1.span").arg(i));
    added.prepend(path);
    recent.add(path);
  }
  QCOMPARE(recent.paths(), added.mid(0, 10));
  recent.add(added.at(5));
  QCOMPARE(recent.paths().first(), added.at(5));
  QCOMPARE(recent.paths().size(), 10);
  QFile file(added.at(7));
  QVERIFY(file.open(QIODevice::WriteOnly));
  QCOMPARE(recent.paths().first(), added.at(7));
  recent.remove(added.at(7));
  QVERIFY(!recent.paths().contains(added.at(7)));
  recent.clear();
  QVERIFY(recent.paths().isEmpty());
}

SPANSCOPE_TEST(tst_autosave, TestAutosave, QCoreApplication)
#include "tst_autosave.moc"
