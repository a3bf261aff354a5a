// SPDX-License-Identifier: GPL-3.0-or-later
// What outlives the window: tabs, unsaved changes, recovery, and windows beside each other.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/file_window.h"
#include "ui/window/dialogs.h"

#include <QFile>
#include <QMenu>
#include <QObject>
#include <QScreen>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <random>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

/// What Qt had to say.
QStringList& messages() {
  static QStringList said;
  return said;
}

}  // namespace

class TestWindowSessions : public QObject, private FileWindow {
  Q_OBJECT

 private Q_SLOTS:
  void init() { setUp(); }
  void cleanup() { tearDown(); }

  /// The system ends the program: nobody answers questions, and all is there at the next start.
  void leavingKeepsAllWithoutAQuestion() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "of a file");
    m_window->newDocument();
    rename(model(), "new");
    m_window->leave();
    QVERIFY(QApplication::activeModalWidget() == nullptr);
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string());
    restart();
    QCOMPARE(titles(), (QStringList{QStringLiteral("query.span*"), QStringLiteral("Untitled*")}));
    QCOMPARE(nameIn(m_window->workspace().documents()[0]->model->document()), std::string("of a file"));
    QCOMPARE(nameIn(model().document()), std::string("new"));
    QVERIFY(findRecoveries(sideFiles()).empty());
  }

  /// A program that is killed has not lost where docks were put.
  void theArrangementIsKeptBeforeTheEnd() {
    QVERIFY(m_window->openFile(m_path));
    QTest::qWait(50);
    m_window->docks().dock(QStringLiteral("json"))->setFloating(true);
    QTRY_VERIFY(m_settings->contains(QStringLiteral("layouts/author")));
    m_window->docks().setLayout(LayoutId::Measure);
    QTRY_COMPARE(m_settings->value(QStringLiteral("window/layout")).toString(), QStringLiteral("measure"));
    QVERIFY(m_settings->contains(QStringLiteral("layouts/author")));
  }

  void aLargeWindowFitsASmallScreen() {
    m_window->resize(3000, 2000);
    m_window->move(700, 600);
    m_window->leave();
    const MainWindow next(*m_settings, sideFiles(), test::cpuBackends());
    const QRect screen = next.screen()->availableGeometry();
    QVERIFY2(screen.contains(next.geometry()), qPrintable(QStringLiteral("%1 × %2 at %3, %4")
                                                              .arg(next.width())
                                                              .arg(next.height())
                                                              .arg(next.x())
                                                              .arg(next.y())));
  }

  /// Qt would draw a list that is higher than the screen in columns.
  void menusFitASmallScreen() {
    constexpr int kHeight = 700;  // of a screen of 1024 × 700
    QVERIFY(m_window->openFile(m_path));
    int shown = 0;
    for (QWidget* widget : QApplication::allWidgets()) {
      auto* menu = qobject_cast<QMenu*>(widget);
      if (menu == nullptr || menu->actions().size() < 8) continue;
      ++shown;
      int height = 0;
      for (QAction* action : menu->actions()) height += menu->actionGeometry(action).height();
      QVERIFY2(height <= kHeight, qPrintable(QStringLiteral("%1: %2").arg(menu->title()).arg(height)));
    }
    QVERIFY(shown >= 5);
  }

  void twoWindowsKnowOfEachOther() {
    QVERIFY(m_window->openFile(m_path));
    const std::unique_ptr<MainWindow> second = makeWindow();
    QVERIFY(second->openFile(m_path));
    QVERIFY(second->findChild<NoticeBar*>()->isVisible());
    QTRY_VERIFY(bar().isVisible());
    QVERIFY(bar().notice().text.contains(QStringLiteral("another Spanscope window")));
    button(bar(), QStringLiteral("OK"))->click();
    QVERIFY(bar().isHidden());
    // A change that is saved in one window is reported in the other.
    rename(*second->workspace().model(), "theirs");
    second->perform(QStringLiteral("file.save"));
    QTRY_VERIFY(bar().isVisible());
    QVERIFY(bar().notice().answers.front() == NoticeAnswer::Reload);
  }

  void quittingAsksOnceAndKeepsTheRest() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "saved");
    QVERIFY(m_window->openExample(QStringLiteral("judge-2.json")));
    rename(model(), "dropped");
    m_window->newDocument();
    rename(model(), "kept");
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    Answers cancel({QStringLiteral("Cancel")});
    QVERIFY(!m_window->close());
    QCOMPARE(cancel.said().size(), 3);
    // Of three, one is saved and the others come back.
    Answers save({worded("<quit-save>")}, {1, 2});
    QVERIFY(m_window->close());
    QVERIFY(save.isDone());
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string("saved"));
    restart();
    QCOMPARE(titles(), (QStringList{QStringLiteral("query.span"), QStringLiteral("judge-2*"),
                                    QStringLiteral("Untitled*"), QStringLiteral("rag")}));
    QCOMPARE(m_window->workspace().current()->model->title(), QStringLiteral("rag"));
    QCOMPARE(nameIn(m_window->workspace().documents()[2]->model->document()), std::string("kept"));
    QVERIFY(findRecoveries(sideFiles()).empty());
    // Dropped is dropped.
    Answers drop({worded("<quit-discard>")});
    QVERIFY(m_window->close());
    restart();
    QCOMPARE(titles(), (QStringList{QStringLiteral("query.span"), QStringLiteral("rag")}));
  }

  void changesOfAFileAreKept() {
    QVERIFY(m_window->openFile(m_path));
    rename(model(), "mine");
    Answers keep({worded("<quit-keep>")});
    QVERIFY(m_window->close());
    QCOMPARE(nameIn(*openDocument(m_path).document), std::string());
    restart();
    QCOMPARE(titles(), QStringList{QStringLiteral("query.span*")});
    QCOMPARE(nameIn(model().document()), std::string("mine"));
    model().undoStack().undo();
    QCOMPARE(nameIn(model().document()), std::string());
    QVERIFY(!model().isModified());
  }

  /// The second of two windows keeps no tabs, and nothing that is kept is lost.
  void theFirstWindowKeepsTheTabs() {
    QVERIFY(m_window->openFile(m_path));
    QTRY_VERIFY(!m_settings->value(QStringLiteral("window/tabs")).toStringList().isEmpty());
    std::unique_ptr<MainWindow> second = makeWindow();
    second->restoreSession();
    QVERIFY(second->isWelcome());
    QVERIFY(second->openExample(QStringLiteral("rag.json")));
    rename(*second->workspace().model(), "of the second");
    {
      Answers keep({worded("<quit-keep>")});
      QVERIFY(second->close());
    }
    second.reset();
    QVERIFY(m_window->close());
    restart();
    QCOMPARE(titles(), QStringList{QStringLiteral("query.span")});
    Answers open({QStringLiteral("Open checked")});
    m_window->offerRecovery();
    QVERIFY(open.isDone());
    QCOMPARE(titles(), (QStringList{QStringLiteral("query.span"), QStringLiteral("rag*")}));
  }

  /// For any content of the settings file: a user at a terminal could do nothing with a line of Qt's.
  void damagedSettingsSayNothing() {
    QVERIFY(m_window->openFile(m_path));
    m_window->newDocument();
    rename(model(), "kept");
    m_window->leave();
    m_window.reset();
    const QString file = m_settings->fileName();
    m_settings.reset();
    QFile whole(file);
    QVERIFY(whole.open(QIODevice::ReadOnly));
    const QByteArray good = whole.readAll();
    QVERIFY(good.contains("tabs="));
    constexpr std::uint32_t kSeed = 20;
    qInfo("seed %u", kSeed);
    std::mt19937 random(kSeed);
    messages().clear();
    const QtMessageHandler before = qInstallMessageHandler(
        [](QtMsgType, const QMessageLogContext&, const QString& text) { messages() << text; });
    for (int i = 0; i < 16; ++i) {
      QByteArray damaged = good;
      for (int k = 0; k < 12; ++k)
        damaged[static_cast<qsizetype>(random() % static_cast<std::uint32_t>(damaged.size()))] =
            static_cast<char>(' ' + random() % 95);
      QFile written(file);
      if (!written.open(QIODevice::WriteOnly) || written.write(damaged) != damaged.size()) break;
      written.close();
      m_settings = std::make_unique<QSettings>(file, QSettings::IniFormat);
      m_window = makeWindow();
      m_window->restoreSession();
      m_window.reset();
      m_settings.reset();
    }
    qInstallMessageHandler(before);
    messages().removeAll(QStringLiteral("This plugin does not support propagateSizeHints()"));
    QCOMPARE(messages(), QStringList());
  }

  void recoveryIsOneDialog() {
    // Side files as a killed program leaves them.
    for (const char* name : {"first", "second", "third"}) {
      DocumentModel lost;
      lost.setTitle(QString::fromLatin1(name));
      rename(lost, name);
      Autosave autosave(lost, sideFiles());
      QVERIFY(!autosave.keep().isEmpty());
    }
    QCOMPARE(findRecoveries(sideFiles()).size(), std::size_t{3});
    {
      Answers later({QStringLiteral("Ask again later")});
      m_window->offerRecovery();
      QCOMPARE(later.said().size(), 3);
    }
    {
      Answers drop(
          {QStringLiteral("Delete checked…"), worded("<delete-changes>"), QStringLiteral("Open checked")},
          {0, 1});
      m_window->offerRecovery();
      QVERIFY(drop.isDone());
    }
    QCOMPARE(m_window->workspace().documents().size(), std::size_t{2});
    QVERIFY(findRecoveries(sideFiles()).empty());
  }
};

SPANSCOPE_TEST(tst_window_sessions, TestWindowSessions, QApplication)
#include "tst_window_sessions.moc"
