// SPDX-License-Identifier: GPL-3.0-or-later
// The window on small, large and changing screens: what it asks for, what its docks get, what stays readable.
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/editor/canvas_view.h"
#include "ui/views/output/output_view.h"
#include "ui/window/document_tabs.h"
#include "ui/window/whole_tabs.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QObject>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QSize>
#include <QStatusBar>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTabBar>
#include <QTest>
#include <QToolButton>

#include <cstdlib>
#include <map>
#include <memory>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr QSize kUsual{1440, 900};
constexpr QSize kSmall{1024, 700};
constexpr QSize kLarge{2000, 1200};
constexpr QSize kTwice{720, 450};    // logical pixels of a screen of 1440×900 at scale 2
constexpr int kDesktopTitle = 30;    // what the desktop needs of it at least
constexpr int kLongestRun = 120000;  // milliseconds

}  // namespace

class TestScreens : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  Dock& dock(const char* id) const { return *m_window->docks().dock(QLatin1String(id)); }
  bool isSeen(const char* id) const { return !dock(id).visibleRegion().isEmpty(); }
  void resize(QSize size) const {
    QSignalSpy settled(&m_window->docks(), &DockHost::settled);
    if (m_window->size() != size) {
      m_window->resize(size);
      settled.wait(1000);
    }
    QTest::qWait(60);
  }
  void show(const char* layout) const {
    m_window->perform(QStringLiteral("view.") + QLatin1String(layout));
    QTest::qWait(200);
  }
  /// The docks that can be seen, and their sizes.
  std::map<QString, QSize> sizes() const {
    std::map<QString, QSize> sizes;
    for (const Dock* each : m_window->docks().docks()) {
      if (!each->visibleRegion().isEmpty()) sizes[each->id()] = each->size();
    }
    return sizes;
  }
  /// Runs the open document and waits for its end.
  void run() const {
    m_window->perform(QStringLiteral("run.run"));
    const auto isBusy = [this] {
      return m_window->workspace().engine().isBusy(m_window->workspace().current()->id);
    };
    QTRY_VERIFY_WITH_TIMEOUT(!isBusy(), kLongestRun);
    QTest::qWait(60);
  }
  QTabBar* tabsWith(const QString& title) const {
    for (QTabBar* bar : m_window->docks().findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
      for (int i = 0; i < bar->count(); ++i) {
        if (bar->isVisible() && bar->tabText(i) == title) return bar;
      }
    }
    return nullptr;
  }
  /// How many pixels of a label lie outside what can be seen of it.
  static int cutRows(const QLabel& label) {
    return label.height() - label.visibleRegion().boundingRect().height();
  }
  static void layouts() {
    QTest::addColumn<QString>("layout");
    for (const char* layout : {"author", "explain", "measure"})
      QTest::newRow(layout) << QString(QLatin1String(layout));
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show(kUsual));
  }
  void cleanup() {
    m_window = nullptr;
    m_fresh.reset();
  }

  /// At 1024 × 700 pixels and scale 1.5, no tab of a dock is behind scroll buttons.
  void tabsOfDocksAreWhole() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    resize({683, 467});
    QTabBar* tabs = tabsWith(QStringLiteral("Inspector"));
    QVERIFY(tabs != nullptr && tabs->count() >= 3);
    QVERIFY2(
        tabs->tabRect(tabs->count() - 1).right() <= tabs->width(),
        qPrintable(
            QStringLiteral("%1 of %2").arg(tabs->tabRect(tabs->count() - 1).right()).arg(tabs->width())));
  }

  /// Tabs of docks that have no room are in a list, and no tab is cut in the middle of its name.
  void tabsWithoutRoomAreListed() {
    resize(kSmall);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show("explain");
    resize({720, 700});
    QTabBar* tabs = tabsWith(QStringLiteral("Why"));
    QVERIFY(tabs != nullptr && tabs->count() >= 4);
    const auto isWhole = [tabs](int tab) {
      return tabs->isTabVisible(tab) && tabs->rect().contains(tabs->tabRect(tab));
    };
    const auto* list = tabs->findChild<WholeTabs*>()->list();
    QTRY_VERIFY(list->isVisible());
    const int last = tabs->count() - 1;
    QVERIFY(isWhole(0) && !tabs->isTabVisible(last));
    for (int i = 0; i <= last; ++i) {
      QVERIFY2(!tabs->isTabVisible(i) || isWhole(i), qPrintable(tabs->tabText(i)));
      QVERIFY(!tabs->isTabVisible(i) || !tabs->tabRect(i).intersects(list->geometry()));
    }
    // The list has every dock, and shows the chosen dock.
    QMenu* menu = list->menu();
    Q_EMIT menu->aboutToShow();
    QCOMPARE(menu->actions().size(), last + 1);
    menu->actions().back()->trigger();
    QTRY_VERIFY(isWhole(last));
    // The arrow keys reach every tab.
    for (int i = 0; i < last; ++i) QTest::keyClick(tabs, Qt::Key_Left);
    QCOMPARE(tabs->currentIndex(), 0);
    QVERIFY(isWhole(0));
    resize({2000, 700});
    QTRY_VERIFY(list->isHidden());
    for (int i = 0; i <= last; ++i) QVERIFY(isWhole(i));
  }

  /// At 1024 × 700 pixels and scale 1.5, each layout with runs fits on the screen.
  void layoutsFitASmallScreen() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    run();
    run();
    for (const char* layout : {"author", "explain", "measure", "diagnose"}) {
      show(layout);
      resize({683, 467});
      QVERIFY2(m_window->width() <= 683,
               qPrintable(QStringLiteral("%1: %2").arg(QLatin1String(layout)).arg(m_window->width())));
    }
  }

  /// A long policy and several documents leave the shown document its name.
  void theShownTabIsReadable() {
    for (const char* example : {"rag.json", "rag-swapped.json", "chat.json"})
      QVERIFY(m_window->openExample(QString::fromLatin1(example)));
    m_window->workspace().model()->change(QStringLiteral("a long policy"), [](document::Document& document) {
      document.settings.policy = "link(16)";
      document.settings.layout = "padded";
    });
    auto* bar = m_window->findChild<DocumentTabs*>()->findChild<QTabBar*>();
    auto* back = m_window->findChild<QToolButton*>(QStringLiteral("back"));
    for (const int width : {1600, 1440, 1280, 1152, 1024}) {
      resize({width, 800});
      for (int tab = 0; tab < bar->count(); ++tab) {
        bar->setCurrentIndex(tab);
        QTest::qWait(60);
        const QRect place = bar->tabRect(tab);
        int buttons = 0;
        for (const QToolButton* arrow :
             bar->findChildren<QToolButton*>(QString(), Qt::FindDirectChildrenOnly)) {
          if (arrow->isVisible() && arrow->arrowType() != Qt::NoArrow) buttons += arrow->width();
        }
        const int cut =
            std::max(0, -place.left()) + std::max(0, place.right() + 1 - (bar->width() - buttons));
        QVERIFY2(
            cut <= 2,
            qPrintable(QStringLiteral("%1 pixels of tab %2 are cut at %3").arg(cut).arg(tab).arg(width)));
      }
    }
    // Where there is room, back and forward are there.
    resize({1600, 800});
    QVERIFY(back->isVisible());
  }

  /// What the window says before it is shown takes the place of the state of the run.
  void aMessageAtTheStartHasItsPlace() {
    test::FreshWindow fresh;
    QVERIFY(fresh.window().openExample(QStringLiteral("rag.json")));
    fresh.window().perform(QStringLiteral("view.wheel"));
    QVERIFY(fresh.show(kSmall));
    const auto* state = fresh.window().findChild<QLabel*>(QStringLiteral("runState"));
    QVERIFY(!fresh.window().statusBar()->currentMessage().isEmpty());
    QVERIFY(!state->isVisible());
    fresh.window().statusBar()->clearMessage();
    QVERIFY(state->isVisible());
  }

  /// In a window without room for both, the one that can be pressed is there.
  void runOrStopIsReachable_data() {
    QTest::addColumn<QSize>("size");
    for (const QSize size : {QSize(800, 600), kTwice, kSmall})
      QTest::addRow("%dx%d", size.width(), size.height()) << size;
  }
  void runOrStopIsReachable() {
    QFETCH(const QSize, size);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QVERIFY(m_window->openExample(QStringLiteral("judge-4.json")));
    m_window->workspace().model()->change(QStringLiteral("long names"), [](document::Document& document) {
      document.settings.policy = "link(16)";
      document.settings.layout = "padded";
    });
    resize(size);
    const auto isReachable = [this](const char* name) {
      const auto* button = m_window->findChild<QPushButton*>(QLatin1String(name));
      if (!button->isVisible() || !button->isEnabled()) return false;
      const QRect place(button->mapTo(m_window, QPoint(0, 0)), button->size());
      return m_window->rect().contains(place) && button->width() >= button->sizeHint().width();
    };
    QVERIFY(isReachable("primary"));
    m_window->perform(QStringLiteral("run.run"));
    QTRY_VERIFY(isReachable("stop"));
    QTRY_VERIFY_WITH_TIMEOUT(isReachable("primary"), kLongestRun);
  }

  /// A dock that the layout does not have shares the place of another, however the user opens it.
  void otherDocksShareAPlace_data() { layouts(); }
  void otherDocksShareAPlace() {
    QFETCH(const QString, layout);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show(qPrintable(layout));
    const char* away = layout == QLatin1String("measure") ? "author" : "measure";
    for (const bool isByMenu : {false, true}) {
      for (const char* id : {"rotation", "mask", "next-token"}) {
        m_window->perform(QStringLiteral("view.reset"));
        show(away);
        show(qPrintable(layout));
        QVERIFY(!isSeen(id));
        const std::map<QString, QSize> before = sizes();
        if (isByMenu)
          dock(id).toggleViewAction()->trigger();
        else
          m_window->perform(QStringLiteral("view.dock:") + QLatin1String(id));
        QTRY_VERIFY(isSeen(id));
        QTest::qWait(60);
        QVERIFY2(!m_window->docks().tabifiedDockWidgets(&dock(id)).isEmpty(), id);
        // The docks beside it keep their places, but for the tabs that one gets.
        for (const auto& [other, size] : sizes()) {
          const auto was = before.find(other);
          if (was != before.end())
            QVERIFY2(std::abs(was->second.width() - size.width()) <= 8, qPrintable(other));
        }
      }
    }
  }

  /// On a laptop's screen at scale 1.5 and 2, the window opens inside of it.
  void theFirstSizeIsOnTheScreen() {
    for (const QSize screen : {QSize(960, 600), kTwice, QSize(2560, 1440)}) {
      const QSize first = firstWindowSize(screen);
      QVERIFY2(first.width() <= screen.width() && first.height() + kDesktopTitle <= screen.height(),
               qPrintable(QStringLiteral("%1×%2").arg(first.width()).arg(first.height())));
    }
    QCOMPARE(firstWindowSize({2560, 1440}), QSize(1280, 800));
  }

  /// No view asks for more room than such a screen has, so that nothing keeps the window larger than it.
  void theWindowFitsASmallScreen_data() { layouts(); }
  void theWindowFitsASmallScreen() {
    QFETCH(const QString, layout);
    QVERIFY2(m_window->minimumSizeHint().width() <= kTwice.width(), "the welcome page is too wide");
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show(qPrintable(layout));
    resize(kTwice - QSize(0, kDesktopTitle));
    QTest::qWait(100);
    const QSize least = m_window->minimumSizeHint();
    QVERIFY2(least.width() <= kTwice.width(), qPrintable(QString::number(least.width())));
    QVERIFY2(least.height() + kDesktopTitle <= kTwice.height(), qPrintable(QString::number(least.height())));
    QCOMPARE(m_window->size(), kTwice - QSize(0, kDesktopTitle));
    // And what each place shows is more than its title.
    for (const auto& [id, size] : sizes()) {
      if (id != QLatin1String("scrubber"))
        QVERIFY2(size.height() >= 2 * kDockTitleHeight,
                 qPrintable(QStringLiteral("%1 %2").arg(id).arg(size.height())));
    }
  }

  /// Buttons without room in a title are in a menu button, all of them, and come back.
  void controlsOfATitleAreNeverCut() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show("explain");
    const auto check = [this] {
      for (const Dock* each : m_window->docks().docks()) {
        if (each->visibleRegion().isEmpty() || each->titleBarWidget() == nullptr) continue;
        const QWidget& bar = *each->titleBarWidget();
        for (const QWidget* part : bar.findChildren<QWidget*>()) {
          if (!part->isVisible() || qobject_cast<const QLabel*>(part) != nullptr) continue;
          const int right = part->mapTo(&bar, QPoint(part->width(), 0)).x();
          QVERIFY2(
              right <= bar.width() && part->width() >= part->minimumSizeHint().width(),
              qPrintable(QStringLiteral("%1: %2 px past its edge").arg(each->id()).arg(right - bar.width())));
        }
      }
    };
    for (const QSize size : {kTwice, kSmall, kUsual}) {
      resize(size);
      check();
    }
    QWidget* layer = nullptr;
    for (QComboBox* box : dock("attention").findChildren<QComboBox*>()) {
      if (box->accessibleName() == QStringLiteral("Layer")) layer = box;
    }
    QVERIFY(layer != nullptr && layer->isVisible());
    resize(kTwice);
    QVERIFY(!layer->isVisible());
    QToolButton* drawer = nullptr;
    for (QToolButton* each : dock("attention").titleBarWidget()->findChildren<QToolButton*>()) {
      if (each->accessibleName() == QStringLiteral("Controls of Attention")) drawer = each;
    }
    QVERIFY(drawer != nullptr && drawer->isVisible());
    drawer->click();
    QVERIFY(layer->isVisible());
    layer->window()->close();
    resize(kUsual);
    QVERIFY(layer->isVisible() && !drawer->isVisible());
  }

  /// A window that is made smaller or larger and back again has its earlier docks, to the pixel, whether the
  /// user has sized them or not.
  void docksComeBack_data() {
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("change");
    for (const char* layout : {"author", "explain", "measure"}) {
      for (const char* change : {"none", "closed", "dragged", "kept"})
        QTest::addRow("%s, %s", layout, change)
            << QString(QLatin1String(layout)) << QString(QLatin1String(change));
    }
  }
  void docksComeBack() {
    QFETCH(const QString, layout);
    QFETCH(const QString, change);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show(qPrintable(layout));
    const char* topRight = layout == QLatin1String("author")    ? "inspector"
                           : layout == QLatin1String("explain") ? "output"
                                                                : "compare";
    if (change == QLatin1String("closed"))
      dock(layout == QLatin1String("author") ? "json" : topRight).close();
    if (change == QLatin1String("dragged") || change == QLatin1String("kept")) {
      const QRect place = dock(topRight).geometry();
      QPoint line(place.left(), place.center().y());
      while (line.x() > 0 && !m_window->docks().isSeparator(line)) line.rx() -= 1;
      QTest::mousePress(&m_window->docks(), Qt::LeftButton, {}, line);
      QTest::mouseMove(&m_window->docks(), line + QPoint(-90, 0));
      QTest::qWait(20);
      QTest::mouseRelease(&m_window->docks(), Qt::LeftButton, {}, line + QPoint(-90, 0));
      QTest::qWait(60);
      QVERIFY2(dock(topRight).width() > place.width() + 40,
               qPrintable(QString::number(dock(topRight).width() - place.width())));
    }
    QTest::qWait(60);
    if (change == QLatin1String("kept")) {
      QVERIFY(m_fresh->reopen(kUsual));
      m_window = &m_fresh->window();
      m_window->restoreSession();
      if (m_window->isWelcome()) QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
      QTest::qWait(100);
      // The window has had other sizes since.
      resize(kSmall);
      resize(kUsual);
    }
    QCOMPARE(m_window->docks().isRearranged(), change != QLatin1String("none"));
    const std::map<QString, QSize> before = sizes();
    QVERIFY(before.size() >= 3);
    for (const QSize other : {kSmall, kLarge, kTwice, kLarge}) {
      resize(other);
      if (layout != QLatin1String("author")) {
        const int height = dock("scrubber").height();
        QVERIFY2(height <= 64, qPrintable(QStringLiteral("the scrubber is %1 high").arg(height)));
      }
    }
    resize(kUsual);
    QTest::qWait(100);
    const std::map<QString, QSize> after = sizes();
    for (const auto& [id, size] : before) {
      const auto now = after.find(id);
      QVERIFY2(now != after.end(), qPrintable(id));
      const QSize drift = now->second - size;
      QVERIFY2(std::abs(drift.width()) <= 1 && std::abs(drift.height()) <= 1,
               qPrintable(QStringLiteral("%1 %2×%3, %4 %5")
                              .arg(id)
                              .arg(drift.width())
                              .arg(drift.height())
                              .arg(size.width())
                              .arg(size.height())));
    }
  }

  /// Docks that the user has sized keep their shares of the window, until the user resets them.
  void partsAreKeptAndCanBeReset() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show("explain");
    const std::map<QString, QSize> original = sizes();
    dock("attention").close();
    QTest::qWait(60);
    const auto part = [this](const char* id) {
      return static_cast<double>(dock(id).width()) / m_window->docks().width();
    };
    const double before = part("output");
    resize(kLarge);
    QVERIFY2(std::abs(part("output") - before) < 0.02, qPrintable(QString::number(part("output") - before)));
    resize(kUsual);
    m_window->perform(QStringLiteral("view.reset"));
    QTest::qWait(100);
    QTRY_VERIFY(sizes() == original);
  }

  /// The canvas gets most of a large screen: in Author, it shows twenty documents unstacked.
  void aLargeScreenIsUsed() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    resize({2560, 1440});
    QTest::qWait(100);
    constexpr int kTwentyCards = 1195;
    QVERIFY2(dock("canvas").height() >= kTwentyCards, qPrintable(QString::number(dock("canvas").height())));
    show("explain");
    // Two hundred and forty blocks of the least width, their gaps and the labels of rows.
    constexpr int kLongRow = 1700;
    QVERIFY2(dock("block-table").width() >= kLongRow,
             qPrintable(QString::number(dock("block-table").width())));
  }

  /// Changing tabs, layouts and sizes leaves cards that can be read, however often it happens.
  void cardsStayReadable() {
    resize(kSmall);
    for (const char* example : {"rag.json", "chat.json", "rag.json"})
      QVERIFY(m_window->openExample(QLatin1String(example)));
    show("explain");
    for (int i = 0; i < 6; ++i) {
      m_window->perform(i % 2 == 0 ? QStringLiteral("view.next-tab") : QStringLiteral("view.author"));
      QTest::qWait(60);
      show("explain");
      const double zoom = m_window->canvas().place().zoom;
      QVERIFY2(zoom >= kLeastFitZoom, qPrintable(QString::number(zoom)));
    }
  }

  /// The whole answer can be read beside the query, in the smallest of usual windows.
  void theAnswerStandsBesideTheQuery() {
    resize(kSmall);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show("explain");
    run();
    QVERIFY(isSeen("output") && isSeen("canvas") && isSeen("why"));
    const auto* output = qobject_cast<OutputView*>(dock("output").view());
    QVERIFY(output != nullptr && output->cards().size() == 1);
    const AnswerCard& card = *output->cards().front();
    QVERIFY(!card.answer().text.isEmpty());
    const QLabel* text = nullptr;
    for (const QLabel* label : card.findChildren<QLabel*>()) {
      if (label->text() == card.answer().text) text = label;
    }
    QVERIFY(text != nullptr);
    QVERIFY2(cutRows(*text) == 0, qPrintable(QString::number(cutRows(*text))));
  }

  /// Selecting a block shows why it was a hit or computed, if no other tab was chosen.
  void aBlockIsExplainedWhereItIsSelected() {
    resize(kSmall);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show("explain");
    run();
    m_window->docks().reveal(QStringLiteral("attention"));
    QTRY_VERIFY(!isSeen("why"));
    Selection selection;
    selection.block = BlockRef{.request = 1, .segment = 0, .virtualIndex = 0};
    Q_EMIT dock("block-table").view()->selectionWanted(selection);
    QTRY_VERIFY(isSeen("why"));
    QTabBar* tabs = tabsWith(QStringLiteral("Attention"));
    QVERIFY(tabs != nullptr);
    for (int i = 0; i < tabs->count(); ++i) {
      if (tabs->tabText(i) == QStringLiteral("Attention"))
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(i).center());
    }
    QTRY_VERIFY(isSeen("attention"));
    Q_EMIT dock("block-table").view()->selectionWanted(selection);
    QTest::qWait(60);
    QVERIFY(isSeen("attention") && !isSeen("why"));
  }

  /// A dock that a lesson has brought stays in front of docks that are only offered.
  void anOfferedDockCoversNoBroughtDock() {
    resize(kSmall);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show("explain");
    run();
    m_window->docks().bring(QStringLiteral("attention"));
    QTRY_VERIFY(isSeen("attention") && !isSeen("why"));
    Selection selection;
    selection.block = BlockRef{.request = 1, .segment = 0, .virtualIndex = 0};
    Q_EMIT dock("block-table").view()->selectionWanted(selection);
    QTest::qWait(60);
    QVERIFY(isSeen("attention") && !isSeen("why"));
  }

  /// A card is as wide as its dock, so that its right edge is never lost.
  void answersEndInsideTheirDock() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show("explain");
    run();
    for (const QSize size : {kTwice, kSmall, kUsual}) {
      resize(size);
      const auto* scroll = dock("output").view()->findChild<QScrollArea*>();
      const int lost = scroll->widget()->width() - scroll->viewport()->width();
      QVERIFY2(lost <= 0, qPrintable(QStringLiteral("%1 px at a width of %2").arg(lost).arg(size.width())));
    }
  }

  /// A run shows its answer at the front, unless the user has put another tab there.
  void aRunShowsItsAnswer() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    show("measure");
    m_window->docks().reveal(QStringLiteral("log"));
    QTRY_VERIFY(isSeen("log") && !isSeen("output"));
    run();
    QVERIFY(isSeen("output"));
    QTabBar* tabs = tabsWith(QStringLiteral("Log"));
    QVERIFY(tabs != nullptr);
    for (int i = 0; i < tabs->count(); ++i) {
      if (tabs->tabText(i) == QStringLiteral("Log"))
        QTest::mouseClick(tabs, Qt::LeftButton, {}, tabs->tabRect(i).center());
    }
    QTRY_VERIFY(isSeen("log"));
    run();
    QVERIFY(isSeen("log") && !isSeen("output"));
    dock("output").close();
    run();
    QVERIFY(dock("output").isHidden());
  }
};

SPANSCOPE_TEST(tst_screens, TestScreens, QApplication)
#include "tst_screens.moc"
