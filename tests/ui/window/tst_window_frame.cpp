// SPDX-License-Identifier: GPL-3.0-or-later
// What is around the docks: tabs that stay readable, docks that take the whole window or leave it, fonts.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/plot_library.h"
#include "ui/views/scrubber/scrubber_track.h"
#include "ui/window/document_tabs.h"

#include <QAbstractButton>
#include <QApplication>
#include <QByteArray>
#include <QComboBox>
#include <QGlyphRun>
#include <QList>
#include <QMenu>
#include <QMouseEvent>
#include <QObject>
#include <QPoint>
#include <QPushButton>
#include <QSignalSpy>
#include <QSize>
#include <QStatusBar>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTabBar>
#include <QTest>
#include <QTextDocument>
#include <QTextEdit>
#include <QTextLayout>
#include <QToolButton>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

/// The fonts in which texts of the window would be drawn, apart from its two families.
QStringList foreignFontsIn(const QWidget& window) {
  const QStringList own{QStringLiteral("Inter"), QStringLiteral("JetBrains Mono")};
  QStringList foreign;
  const auto check = [&](const QFont& font, const QObject& where) {
    if (own.contains(font.families().value(0, font.family()))) return;
    foreign += QStringLiteral("%1 %2: %3")
                   .arg(QLatin1String(where.metaObject()->className()), where.objectName(), font.toString());
  };
  for (const QWidget* widget : window.findChildren<QWidget*>()) {
    widget->ensurePolished();
    check(widget->font(), *widget);
    if (const auto* text = qobject_cast<const QTextEdit*>(widget))
      check(text->document()->defaultFont(), *widget);
    const auto* plot = qobject_cast<const QCustomPlot*>(widget);
    if (plot == nullptr) continue;
    for (const QCPLayerable* part : plot->findChildren<QCPLayerable*>()) {
      if (const auto* axis = qobject_cast<const QCPAxis*>(part)) {
        check(axis->tickLabelFont(), *widget);
        check(axis->labelFont(), *widget);
      } else if (const auto* legend = qobject_cast<const QCPLegend*>(part)) {
        check(legend->font(), *widget);
      } else if (const auto* item = qobject_cast<const QCPAbstractLegendItem*>(part)) {
        check(item->font(), *widget);
      } else if (const auto* text = qobject_cast<const QCPItemText*>(part)) {
        check(text->font(), *widget);
      } else if (const auto* element = qobject_cast<const QCPTextElement*>(part)) {
        check(element->font(), *widget);
      }
    }
  }
  foreign.removeDuplicates();
  return foreign;
}

}  // namespace

class TestWindowFrame : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  QStringList visibleDocks() const {
    QStringList ids;
    for (const Dock* dock : m_window->docks().docks()) {
      if (!dock->isHidden()) ids << dock->id();
    }
    return ids;
  }
  QStringList heights() const {
    QStringList all;
    for (const Dock* dock : m_window->docks().docks()) {
      if (dock->isVisible()) all << QStringLiteral("%1 %2").arg(dock->id()).arg(dock->height());
    }
    return all;
  }
  /// Returns once the docks have stayed as they are for a while. They take their places in several goes, on a
  /// busy machine some time after they were asked to.
  void settle() const {
    QStringList before;
    do {
      before = heights();
      QTest::qWait(250);
    } while (heights() != before);
  }
  QPushButton* button(const QString& text) const {
    for (QPushButton* each : m_window->findChildren<QPushButton*>()) {
      if (each->text() == text) return each;
    }
    return nullptr;
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show({1024, 700}));
  }
  void cleanup() {
    m_window = nullptr;
    m_fresh.reset();
  }

  /// However much there is to say of a run, the window goes on fitting a small screen.
  void longStatusTakesNoRoom() {
    const QString said = QStringLiteral("cached 683 of 809 tokens (84 %) ").repeated(12);
    int lines = 0;
    for (QLabel* label : m_window->findChildren<QLabel*>()) {
      const bool isStatus = label->accessibleName() == worded("<state-newest-run>");
      if (!isStatus && label->objectName() != QStringLiteral("dockSummary")) continue;
      label->setText(said);
      ++lines;
    }
    QVERIFY(lines > 10);
    QTest::qWait(20);
    QVERIFY2(m_window->minimumSizeHint().width() <= 1024,
             qPrintable(QString::number(m_window->minimumSizeHint().width())));
    QCOMPARE(m_window->width(), 1024);
  }

  /// The policy of the document is marked, with the values that it has there.
  void thePolicyMenuMarksTheDocuments() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QMenu* policies = nullptr;
    for (auto* each : m_window->findChildren<QToolButton*>()) {
      if (each->accessibleName() == QStringLiteral("Reuse policy")) policies = each->menu();
    }
    QVERIFY(policies != nullptr);
    const auto marked = [policies] {
      Q_EMIT policies->aboutToShow();
      QStringList texts;
      for (const QAction* action : policies->actions()) {
        if (action->isChecked()) texts << action->text().section(QLatin1Char(':'), 0, 0);
      }
      return texts;
    };
    QCOMPARE(marked(), QStringList("spans"));
    DocumentModel& model = *m_window->workspace().model();
    const auto choose = [&model](const char* policy) {
      model.change(QStringLiteral("Policy"),
                   [policy](document::Document& document) { document.settings.policy = policy; });
    };
    choose("sparse(32)");
    QCOMPARE(marked(), QStringList("sparse(32)"));
    // What is chosen already stays as it is.
    for (QAction* action : policies->actions()) {
      if (action->isChecked()) action->trigger();
    }
    QCOMPARE(model.document().settings.policy, std::string("sparse(32)"));
    choose("blend(0.25,by=values)");
    QCOMPARE(marked(), QStringList("blend(0.25,by=values)"));
  }

  void tenTabsStayReadable() {
    m_window->resize(1440, 900);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QTest::qWait(50);
    QPushButton* explain = button(QStringLiteral("Explain"));
    const QPoint place = explain->mapTo(m_window, QPoint());
    for (int i = 0; i < 9; ++i) QVERIFY(m_window->openExample(QStringLiteral("judge-4.json")));
    QTest::qWait(50);
    QCOMPARE(explain->mapTo(m_window, QPoint()), place);
    auto* tabs = m_window->findChild<DocumentTabs*>();
    auto* bar = tabs->findChild<QTabBar*>();
    QCOMPARE(bar->count(), 10);
    const QFontMetrics metrics(bar->font());
    for (int i = 0; i < bar->count(); ++i) {
      if (!bar->isTabVisible(i)) continue;
      QVERIFY(bar->tabRect(i).width() > metrics.horizontalAdvance(bar->tabText(i)));
      QVERIFY2(bar->rect().contains(bar->tabRect(i)), qPrintable(bar->tabText(i)));
    }
    // What is current is in sight.
    QVERIFY(bar->isTabVisible(9));
    QVERIFY(!bar->isTabVisible(0));
    // The arrow keys also reach tabs that are not visible.
    bar->setFocus();
    for (int i = 9; i > 0; --i) QTest::keyClick(bar, Qt::Key_Left);
    QCOMPARE(bar->currentIndex(), 0);
    QVERIFY(bar->isTabVisible(0) && bar->rect().contains(bar->tabRect(0)));
    for (int i = 0; i < 9; ++i) QTest::keyClick(bar, Qt::Key_Right);
    QVERIFY(bar->isTabVisible(9) && bar->rect().contains(bar->tabRect(9)));
    QMenu* list = tabs->findChild<QMenu*>();
    QVERIFY(tabs->findChild<QToolButton*>(QString(), Qt::FindDirectChildrenOnly)->isVisible());
    Q_EMIT list->aboutToShow();
    QCOMPARE(list->actions().size(), 10);
    list->actions().front()->trigger();
    QCOMPARE(m_window->workspace().current(), m_window->workspace().documents().front().get());
    m_window->perform(QStringLiteral("view.previous-tab"));
    QCOMPARE(m_window->workspace().current(), m_window->workspace().documents().back().get());
    m_window->perform(QStringLiteral("view.next-tab"));
    QCOMPARE(m_window->workspace().current(), m_window->workspace().documents().front().get());
  }

  /// Where not even one tab fits, the name of the shown one is shortened, from neither end.
  void theMenuAndATabAreAlwaysThere_data() {
    QTest::addColumn<int>("width");
    for (const int width : {1024, 960, 720, 683, 640}) QTest::addRow("%d", width) << width;
  }
  /// As on a laptop's screen at scale 1.5 and 2, with a model and a policy that have long names.
  void theMenuAndATabAreAlwaysThere() {
    QFETCH(int, width);
    for (const char* example : {"rag.json", "judge-4.json", "list-and-combine.json"})
      QVERIFY(m_window->openExample(QString::fromLatin1(example)));
    m_window->workspace().model()->change(QStringLiteral("long names"), [](document::Document& document) {
      document.settings.model = "/models/SmolLM2-135M-Instruct-finetuned-for-blocks.Q4_1.gguf";
      document.settings.policy = "blend(0.25,by=values)";
      document.settings.layout = "padded";
    });
    QTest::qWait(50);
    m_window->resize(width, 500);
    settle();
    QCOMPARE(m_window->width(), width);
    const auto isWhole = [](const QWidget& widget) {
      return widget.isVisible() && widget.visibleRegion() == QRegion(widget.rect());
    };
    const auto named = [this](const QString& name) -> QWidget* {
      for (QAbstractButton* each : m_window->findChildren<QAbstractButton*>()) {
        if (each->accessibleName() == name) return each;
      }
      return nullptr;
    };
    for (const char* name : {"Menu", "New query", "Model", "Reuse policy", "Run"}) {
      const QWidget* button = named(QString::fromLatin1(name));
      QVERIFY(button != nullptr);
      QVERIFY2(isWhole(*button), name);
    }
    auto* bar = m_window->findChild<DocumentTabs*>()->findChild<QTabBar*>();
    const QString text = bar->tabText(bar->currentIndex());
    QVERIFY2(text.size() >= 8, qPrintable(text));
    QVERIFY(bar->rect().contains(bar->tabRect(bar->currentIndex()).center()));
    // The layouts can be chosen, as buttons or in a menu.
    QVERIFY(button(QStringLiteral("Explain"))->isVisible() || named(QStringLiteral("Layout"))->isVisible());
  }

  void theShownTabIsWhole_data() {
    QTest::addColumn<int>("width");
    QTest::addColumn<bool>("isModified");
    for (const int width : {150, 190, 260, 700}) {
      QTest::addRow("%d", width) << width << false;
      QTest::addRow("%d, modified", width) << width << true;
    }
  }
  void theShownTabIsWhole() {
    QFETCH(const int, width);
    QFETCH(const bool, isModified);
    DocumentTabs tabs;
    tabs.setTabs({{.title = QStringLiteral("link.span"), .path = {}},
                  {.title = QStringLiteral("a query about twenty reports.span"),
                   .path = {},
                   .isModified = isModified}},
                 1);
    tabs.resize(width, 40);
    tabs.show();
    QVERIFY(QTest::qWaitForWindowExposed(&tabs));
    QTest::qWait(20);
    const auto* bar = tabs.findChild<QTabBar*>();
    const int wanted = tabs.readableWidth();
    const QRect shown = bar->tabRect(1);
    const QString facts = QStringLiteral("%1 … %2 of %3: %4")
                              .arg(shown.left())
                              .arg(shown.right())
                              .arg(bar->width())
                              .arg(bar->tabText(1));
    QVERIFY2(shown.left() >= 0, qPrintable(facts));
    QVERIFY2(shown.right() < bar->width(), qPrintable(facts));
    QVERIFY2(bar->tabText(1).startsWith(QStringLiteral("a")), qPrintable(facts));
    QVERIFY2(bar->tabText(1).endsWith(isModified ? QStringLiteral(" •") : QStringLiteral("n")),
             qPrintable(facts));
    // Shorter names ask for no less room.
    tabs.resize(700, 40);
    QTest::qWait(20);
    QVERIFY(std::abs(tabs.readableWidth() - wanted) <= 2);
    QVERIFY(bar->tabText(1).size() > 15);
  }

  /// The text after the title of a dock is visible if it carries information.
  void summariesLeaveNoScraps() {
    ElidedLabel label;
    label.setText(QStringLiteral("3 of 7 requests"));
    bool isShortened = false;
    for (int width = label.sizeHint().width(); width >= 0; --width) {
      label.resize(width, 20);
      const QString shown = label.shown();
      QVERIFY2(shown == label.text() || shown.isEmpty() || shown.size() > 6, qPrintable(shown));
      isShortened = isShortened || (shown != label.text() && !shown.isEmpty());
    }
    QVERIFY(isShortened);
    QCOMPARE(label.shown(), QString());
  }

  /// A text of several parts loses whole parts, so that no part loses its meaning.
  void partsAreWholeOrAbsent() {
    ElidedLabel label;
    const QString gap = QStringLiteral("     ");
    const QStringList parts{QStringLiteral("Run 2 finished"), QStringLiteral("18× faster than run 1"),
                            QStringLiteral("pool 52 of 511")};
    label.setText(parts.join(gap));
    std::set<qsizetype> counts;
    for (int width = label.sizeHint().width(); width >= 0; --width) {
      label.resize(width, 20);
      const QString shown = label.shown();
      const QStringList left = shown.isEmpty() ? QStringList() : shown.split(gap);
      QCOMPARE(left, parts.mid(0, left.size()));
      counts.insert(left.size());
    }
    QCOMPARE(counts.size(), std::size_t{4});
  }

  /// Nothing is painted before the docks have their sizes, and a dock that is asked for meanwhile does not
  /// make them keep the sizes with which Qt begins.
  void aLayoutIsPaintedWithItsSizes_data() {
    QTest::addColumn<QString>("layout");
    QTest::addColumn<QString>("dock");
    QTest::newRow("author") << QStringLiteral("view.author") << QString();
    QTest::newRow("explain") << QStringLiteral("view.explain") << QString();
    QTest::newRow("author with a dock") << QStringLiteral("view.author") << QStringLiteral("mask");
    QTest::newRow("explain with a dock") << QStringLiteral("view.explain") << QStringLiteral("mask");
  }
  void aLayoutIsPaintedWithItsSizes() {
    QFETCH(QString, layout);
    QFETCH(QString, dock);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    settle();
    /// The least width with which the canvas is painted.
    class Painted : public QObject {
     public:
      int least = 10'000;

     protected:
      bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Paint) least = std::min(least, static_cast<QWidget*>(watched)->width());
        return false;
      }
    } painted;
    m_window->canvas().installEventFilter(&painted);
    m_window->perform(layout);
    if (!dock.isEmpty()) m_window->docks().reveal(dock);
    settle();
    QVERIFY(m_window->canvas().isVisible());
    QVERIFY2(painted.least >= 300, qPrintable(QString::number(painted.least)));
    QVERIFY2(m_window->canvas().width() >= 300, qPrintable(QString::number(m_window->canvas().width())));
    m_window->canvas().removeEventFilter(&painted);
  }

  /// Explain begins with the reason of a miss, also where docks share a place.
  void explainBeginsWithWhy() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    for (const QSize& size : {QSize(1024, 700), QSize(1280, 800)}) {
      m_window->resize(size);
      m_window->perform(QStringLiteral("view.explain"));
      m_window->perform(QStringLiteral("view.reset"));
      QTRY_VERIFY(!m_window->docks().dock(QStringLiteral("why"))->visibleRegion().isEmpty());
    }
  }

  /// The tab that was in front in a layout is in front when it is shown again.
  void aLayoutKeepsItsTabs_data() {
    QTest::addColumn<bool>("isRearranged");
    QTest::newRow("as it comes") << false;
    QTest::newRow("rearranged") << true;
  }
  void aLayoutKeepsItsTabs() {
    QFETCH(const bool, isRearranged);
    m_window->resize(1280, 900);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    DockHost& docks = m_window->docks();
    const auto isSeen = [&docks](const char* id) {
      return !docks.dock(QLatin1String(id))->visibleRegion().isEmpty();
    };
    m_window->perform(QStringLiteral("view.explain"));
    QTRY_VERIFY(isSeen("why"));
    if (isRearranged) docks.dock(QStringLiteral("attention"))->close();
    docks.reveal(QStringLiteral("passages"));
    docks.reveal(QStringLiteral("pool"));
    QTRY_VERIFY(isSeen("passages") && isSeen("pool"));
    QVERIFY(!isSeen("why"));
    m_window->perform(QStringLiteral("view.author"));
    QTRY_VERIFY(isSeen("json"));
    m_window->perform(QStringLiteral("view.explain"));
    QTRY_VERIFY(isSeen("passages") && isSeen("pool"));
    QTest::qWait(50);
    QVERIFY(!isSeen("why") && !isSeen("block-table"));
    QCOMPARE(docks.isRearranged(), isRearranged);
    m_window->perform(QStringLiteral("view.reset"));
    QTRY_VERIFY(isSeen("why") && !isSeen("passages"));
  }

  /// A dock that the layout does not have appears where there is room to read it, by command and by menu.
  void docksOfNoLayoutGetRoom_data() {
    QTest::addColumn<int>("layout");
    QTest::newRow("author") << static_cast<int>(LayoutId::Author);
    QTest::newRow("explain") << static_cast<int>(LayoutId::Explain);
    QTest::newRow("measure") << static_cast<int>(LayoutId::Measure);
  }
  void docksOfNoLayoutGetRoom() {
    QFETCH(int, layout);
    m_window->resize(1440, 900);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    DockHost& docks = m_window->docks();
    docks.setLayout(static_cast<LayoutId>(layout));
    QTest::qWait(50);
    bool byMenu = false;
    int found = 0;
    for (Dock* dock : docks.docks()) {
      if (!dock->isHidden()) continue;
      ++found;
      if (byMenu)
        dock->toggleViewAction()->trigger();
      else
        docks.reveal(dock->id());
      byMenu = !byMenu;
      QTRY_VERIFY2(dock->isVisible() && !dock->visibleRegion().isEmpty(), qPrintable(dock->id()));
      QVERIFY2(docks.dockWidgetArea(dock) != Qt::NoDockWidgetArea && !dock->isFloating(),
               qPrintable(dock->id()));
      QTRY_VERIFY2(dock->width() >= 250 && dock->height() >= 150, qPrintable(dock->id()));
    }
    QVERIFY(found > 3);
    docks.resetLayout();
    for (const char* id : {"mask", "rotation"}) QVERIFY(docks.dock(QLatin1String(id))->isHidden());
  }

  /// Views are made when they are first shown; what the window knows is in them then.
  void aViewIsMadeWhenItIsShown() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QTest::qWait(50);
    DockHost& docks = m_window->docks();
    Dock* compare = docks.dock(QStringLiteral("compare"));
    QVERIFY(compare->view() == nullptr);
    QVERIFY(docks.dock(QStringLiteral("inspector"))->view() != nullptr);
    docks.reveal(QStringLiteral("compare"));
    QVERIFY(compare->view() != nullptr);
    View* made = compare->view();
    QCOMPARE(compare->openView(), made);
    QTRY_VERIFY(made->isVisible());
    QCOMPARE(made->accessibleName(), compare->windowTitle());

    m_window->perform(QStringLiteral("view.measure"));
    Dock* prediction = docks.dock(QStringLiteral("prediction"));
    QVERIFY(prediction->view() == nullptr);
    docks.reveal(QStringLiteral("plan"));
    QTRY_VERIFY(docks.dock(QStringLiteral("plan"))->view()->csv().contains(QLatin1Char('\n')));
    QVERIFY(prediction->view() == nullptr);
  }

  /// Tab leads from a dock's title into its view, in whatever order docks were opened.
  void tabStaysInTheDock() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    DockHost& docks = m_window->docks();
    for (const char* id : {"benchmark", "attention", "compare"}) docks.reveal(QString::fromLatin1(id));
    QTest::qWait(50);
    for (const char* id : {"attention", "benchmark", "json", "inspector"}) {
      Dock* dock = docks.dock(QString::fromLatin1(id));
      QWidget* next = dock->titleBarWidget();
      const auto isTitle = [&](QWidget* own) { return dock->titleBarWidget()->isAncestorOf(own); };
      do {
        next = next->nextInFocusChain();
      } while (isTitle(next) || (next->focusPolicy() & Qt::TabFocus) == 0);
      QVERIFY2(dock->view() == next || dock->view()->isAncestorOf(next), id);
    }
    // And once around through all of them.
    std::set<QWidget*> around;
    for (QWidget* at = m_window; around.insert(at).second;) at = at->nextInFocusChain();
    for (const Dock* dock : docks.docks()) {
      for (QWidget* own : dock->findChildren<QWidget*>()) {
        if (own->isVisible() && !own->isWindow()) QVERIFY2(around.count(own) != 0, qPrintable(dock->id()));
      }
    }
    QCOMPARE((*around.begin())->nextInFocusChain()->previousInFocusChain(), *around.begin());
  }

  /// A control that disappears or cannot be used any more does not give the focus to another dock.
  void theFocusStaysInItsPanel_data() {
    QTest::addColumn<bool>("isHidden");
    QTest::newRow("hidden") << true;
    QTest::newRow("disabled") << false;
  }
  void theFocusStaysInItsPanel() {
    QFETCH(const bool, isHidden);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    Dock& dock = *m_window->docks().dock(QStringLiteral("json"));
    QTRY_VERIFY(dock.isVisible());
    // A new widget is the last one in the order of Tab, so Qt would give the focus to the first widget.
    auto* control = new QPushButton(dock.widget());
    control->show();
    m_window->activateWindow();
    control->setFocus();
    QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(control));
    if (isHidden)
      control->hide();
    else
      control->setEnabled(false);
    const QWidget* const focused = QApplication::focusWidget();
    QVERIFY(focused != nullptr);
    QVERIFY2(focused == &dock || dock.isAncestorOf(focused), qPrintable(focused->objectName()));
  }

  /// With fewer than two runs there is nothing to choose for a comparison, however wide the dock is.
  void controlsWithoutAChoiceAreHidden() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    Dock* compare = m_window->docks().dock(QStringLiteral("compare"));
    const auto offered = [compare] {
      int shown = 0;
      for (const QComboBox* box : compare->findChildren<QComboBox*>()) shown += box->isVisible() ? 1 : 0;
      for (const QToolButton* each : compare->findChildren<QToolButton*>()) {
        const bool isDrawer = each->accessibleName() == QStringLiteral("Controls of Compare");
        shown += isDrawer && each->isVisible() ? 1 : 0;
      }
      return shown;
    };
    for (const QSize size : {QSize(1024, 700), QSize(2560, 1440), QSize(1024, 700)}) {
      m_window->resize(size);
      QTest::qWait(150);
      QVERIFY(compare->isVisible());
      QCOMPARE(offered(), 0);
    }
    for (int run = 0; run < 2; ++run) {
      QSignalSpy ended(&m_window->workspace(), &Workspace::jobEnded);
      m_window->perform(QStringLiteral("run.run"));
      QVERIFY(!ended.isEmpty() || ended.wait(60'000));
    }
    QTRY_VERIFY(offered() > 0);
    m_window->resize(2560, 1440);
    QTRY_COMPARE(offered(), 2);
  }

  void aDockTakesTheWindowAndGivesItBack() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.explain"));
    DockHost& docks = m_window->docks();
    Dock* table = docks.dock(QStringLiteral("block-table"));
    settle();
    const QSize size = table->size();
    const QStringList before = visibleDocks();
    QTest::mouseDClick(table->titleBarWidget(), Qt::LeftButton, {}, QPoint(20, 10));
    QTest::qWait(50);
    QCOMPARE(visibleDocks(), QStringList{QStringLiteral("block-table")});
    QVERIFY(table->width() > 900);
    QTest::mouseDClick(table->titleBarWidget(), Qt::LeftButton, {}, QPoint(20, 10));
    QTest::qWait(50);
    QCOMPARE(visibleDocks(), before);
    // Docks share what is left to them by rows of pixels.
    constexpr int kNear = 8;
    QVERIFY(std::abs(table->width() - size.width()) <= kNear);
    QVERIFY(std::abs(table->height() - size.height()) <= kNear);

    docks.toggleMaximised(table);
    // Another dock that is asked for has to be seen.
    docks.reveal(QStringLiteral("why"));
    QVERIFY(docks.maximised() == nullptr);
    docks.toggleMaximised(table);
    m_window->perform(QStringLiteral("view.author"));
    QVERIFY(docks.maximised() == nullptr);
    m_window->perform(QStringLiteral("view.explain"));
    QTest::qWait(50);
    QCOMPARE(visibleDocks(), before);
    // What is kept of a layout is never the maximised one.
    docks.toggleMaximised(table);
    const auto kept = docks.layoutStates();
    docks.restore();
    docks.setLayoutStates(kept, docks.layout());
    QCOMPARE(visibleDocks(), before);
  }

  /// A layout with default sizes follows the window; one that the user has arranged stays unchanged, over
  /// another layout, another size of the window and the end of the program.
  void anArrangementIsKept() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.explain"));
    QTest::qWait(50);
    const auto dock = [this](const char* id) { return m_window->docks().dock(QString::fromLatin1(id)); };
    QVERIFY(!m_window->docks().isRearranged());
    QVERIFY(m_window->docks().layoutStates().empty());
    m_window->resize(1100, 820);
    settle();
    QVERIFY(!m_window->docks().isRearranged());

    // The line above the attention view is dragged up by 60 pixels, with the mouse as a user does.
    DockHost& docks = m_window->docks();
    const int height = dock("attention")->height();
    const QPoint line = dock("attention")->mapTo(&docks, QPoint(100, -3));
    QTRY_VERIFY(docks.isSeparator(line));
    QTest::mousePress(&docks, Qt::LeftButton, {}, line);
    QTest::mouseMove(&docks, line - QPoint(0, 30));
    QTest::mouseMove(&docks, line - QPoint(0, 60));
    constexpr int kNear = 8;
    QTRY_VERIFY(std::abs(dock("attention")->height() - (height + 60)) <= kNear);
    QTest::mouseRelease(&docks, Qt::LeftButton, {}, line - QPoint(0, 60));
    QTest::qWait(50);
    dock("plan")->close();
    const QStringList seen = visibleDocks();
    const int sized = dock("attention")->height();

    m_window->perform(QStringLiteral("view.explain"));
    QTest::qWait(50);
    QTRY_VERIFY(std::abs(dock("attention")->height() - sized) <= kNear);
    m_window->perform(QStringLiteral("view.measure"));
    QTest::qWait(50);
    m_window->perform(QStringLiteral("view.explain"));
    QTest::qWait(50);
    QCOMPARE(visibleDocks(), seen);
    QTRY_VERIFY(std::abs(dock("attention")->height() - sized) <= kNear);

    QVERIFY(m_fresh->reopen({1100, 820}));
    m_window = &m_fresh->window();
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QTest::qWait(50);
    QCOMPARE(m_window->docks().layout(), LayoutId::Explain);
    QCOMPARE(visibleDocks(), seen);
    QTRY_VERIFY(std::abs(dock("attention")->height() - sized) <= kNear);
    m_window->resize(1280, 900);
    QTest::qWait(50);
    QTRY_VERIFY(dock("attention")->height() >= sized);

    m_window->perform(QStringLiteral("view.reset"));
    QTest::qWait(50);
    QVERIFY(!m_window->docks().isRearranged());
    QVERIFY(!dock("plan")->isHidden());
    m_fresh->settings().setValue(QStringLiteral("layouts/measure"), QByteArray("nothing of ours"));
    QVERIFY(m_fresh->reopen());
    m_window = &m_fresh->window();
    QVERIFY(!m_window->docks().isRearranged());
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    QVERIFY(!dock("metrics")->isHidden());
  }

  void aDockThatFloatsHasAFrame() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    Dock* json = m_window->docks().dock(QStringLiteral("json"));
    const QPoint place = json->mapToGlobal(QPoint());
    json->setFloating(true);
    QTRY_VERIFY(json->windowType() == Qt::Window);
    QVERIFY((json->windowFlags() & Qt::FramelessWindowHint) == 0);
    QVERIFY((json->windowFlags() & Qt::WindowTitleHint) != 0);
    QVERIFY(json->isVisible());
    QVERIFY2(json->mapToGlobal(QPoint()) != place, "it is seen to have left");
    QTest::mouseDClick(json->titleBarWidget(), Qt::LeftButton, {}, QPoint(20, 10));
    QVERIFY(!json->isFloating());
    json->setFloating(true);
    m_window->perform(QStringLiteral("view.reset"));
    QVERIFY(!json->isFloating());
    QTest::qWait(50);
    QVERIFY(!json->isWindow());
  }

  void theCanvasAndTheTimeStripFloatAsWell() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.explain"));
    for (const char* id : {"canvas", "scrubber"}) {
      Dock* dock = m_window->docks().dock(QString::fromLatin1(id));
      m_window->activateWindow();
      QVERIFY(QTest::qWaitForWindowActive(m_window));
      m_window->perform(QStringLiteral("view.dock:") + QString::fromLatin1(id));
      m_window->perform(QStringLiteral("view.float"));
      QVERIFY2(dock->isFloating(), id);
      QTRY_VERIFY(dock->windowType() == Qt::Window);
      QVERIFY((dock->windowFlags() & Qt::FramelessWindowHint) == 0);
      QVERIFY(!dock->windowTitle().isEmpty());
      dock->setFloating(false);
      QVERIFY(dock->isVisible() && !dock->isWindow());
    }
  }

  /// The totals of a range need a line; when the range goes, every dock has its height again.
  void theTimeStripGivesItsHeightBack_data() {
    QTest::addColumn<bool>("isSized");
    QTest::newRow("as laid out") << false;
    QTest::newRow("as a person sized it") << true;
  }
  void theTimeStripGivesItsHeightBack() {
    QFETCH(const bool, isSized);
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QSignalSpy ended(&m_window->workspace(), &Workspace::jobEnded);
    m_window->perform(QStringLiteral("view.explain"));
    m_window->perform(QStringLiteral("run.run"));
    QVERIFY(!ended.isEmpty() || ended.wait(60'000));
    QTRY_VERIFY(m_window->workspace().input().prediction.newest != nullptr);
    settle();
    auto* track = m_window->findChild<ScrubberTrack*>();
    QVERIFY(track != nullptr);
    Dock* strip = m_window->docks().dock(QStringLiteral("scrubber"));
    if (isSized) {
      // As a drag of the line above the strip does.
      DockHost& host = m_window->docks();
      const QPoint line(strip->geometry().center().x(), strip->geometry().top() - 2);
      QTest::mousePress(&host, Qt::LeftButton, {}, line);
      QMouseEvent move(QEvent::MouseMove, line - QPoint(0, 30), host.mapToGlobal(line - QPoint(0, 30)),
                       Qt::NoButton, Qt::LeftButton, {});
      QCoreApplication::sendEvent(&host, &move);
      QTest::mouseRelease(&host, Qt::LeftButton, {}, line - QPoint(0, 30));
    }
    settle();
    QCOMPARE(m_window->docks().isRearranged(), isSized);
    const QStringList before = heights();
    const int height = strip->height();
    track->setFocus();
    QTest::keyClick(track, Qt::Key_Home, Qt::ShiftModifier);
    QVERIFY(!track->marked().isEmpty());
    if (!isSized) QTRY_VERIFY(strip->height() > height);
    settle();
    QTest::keyClick(track, Qt::Key_Escape);
    QVERIFY(track->marked().isEmpty());
    settle();
    QCOMPARE(heights(), before);
  }

  /// Tokens are spelled as they are: the font joins no letters to other signs.
  void tokensAreDrawnLetterByLetter() {
    const auto glyphsOf = [](const QString& text) {
      QTextLayout layout(text, Theme().monoFont());
      layout.beginLayout();
      layout.createLine();
      layout.endLayout();
      QList<quint32> glyphs;
      for (const QGlyphRun& run : layout.glyphRuns()) glyphs += run.glyphIndexes();
      return glyphs;
    };
    for (const QString& text :
         {QStringLiteral("<|end|>"), QStringLiteral("a != b"), QStringLiteral("-> =>")}) {
      QList<quint32> single;
      for (const QChar letter : text) single += glyphsOf(letter);
      QCOMPARE(glyphsOf(text), single);
    }
  }

  /// Every text of the window is in one of its two families, also after the platform has given its classes
  /// fonts of its own.
  void noTextIsInAForeignFont() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    for (Dock* dock : m_window->docks().docks()) dock->openView();
    QStringList foreign = foreignFontsIn(*m_window);
    QVERIFY2(foreign.isEmpty(), qPrintable(foreign.join(QLatin1Char('\n'))));
    // As a platform does when its theme changes.
    for (const char* name : {"QMenu", "QMenuBar", "QMessageBox", "QLabel", "QTipLabel", "QStatusBar",
                             "QPushButton", "QCheckBox", "QRadioButton", "QToolButton", "QAbstractItemView",
                             "QListView", "QHeaderView", "QComboBox", "QComboLineEdit"})
      QApplication::setFont(QFont(QStringLiteral("DejaVu Serif"), 14), name);
    QEvent change(QEvent::ThemeChange);
    QCoreApplication::sendEvent(m_window, &change);
    foreign = foreignFontsIn(*m_window);
    QVERIFY2(foreign.isEmpty(), qPrintable(foreign.join(QLatin1Char('\n'))));
  }

  void fontsStayWhenTheThemeChanges() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    const auto fonts = [this] {
      QList<QFont> found;
      for (const QLabel* label : m_window->statusBar()->findChildren<QLabel*>()) found << label->font();
      return found;
    };
    m_window->setScheme(Scheme::Light);
    const QList<QFont> light = fonts();
    QVERIFY(light.size() >= 2);
    for (const Scheme scheme : {Scheme::Dark, Scheme::Light, Scheme::Dark}) {
      m_window->setScheme(scheme);
      QCOMPARE(fonts(), light);
    }
    for (const QFont& font : light) QCOMPARE(font.pixelSize(), Theme().interfaceFont().pixelSize());
  }
};

SPANSCOPE_TEST(tst_window_frame, TestWindowFrame, QApplication)
#include "tst_window_frame.moc"
