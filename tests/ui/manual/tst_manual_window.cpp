// SPDX-License-Identifier: GPL-3.0-or-later
// The manual in the window: pages load, a search finds, F1 opens the page of the dock, links open docks and
// examples.
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/manual/manual_browser.h"
#include "ui/manual/manual_window.h"
#include "ui/views/view.h"

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QObject>
#include <QScrollBar>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBlock>
#include <QTextTable>
#include <QTreeWidget>

#include <memory>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

const QString kManual = QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/manual");

}  // namespace

class TestManualWindow : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  std::unique_ptr<ManualWindow> m_manual;  ///< of everyPageIsShown()
  MainWindow* m_window = nullptr;          ///< its

  void makeMainWindow() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show());
    QVERIFY(QTest::qWaitForWindowActive(m_window));
  }

  ManualWindow* manual() const { return m_window->findChild<ManualWindow*>(); }

  static ManualBrowser& browser(const ManualWindow& window) { return *window.findChild<ManualBrowser*>(); }

  /// Activates a link of the page with the keyboard: Tab to it, then Return. False: there is none.
  static bool followLink(ManualWindow& window, const QString& target) {
    ManualBrowser& page = browser(window);
    window.show();
    window.activateWindow();
    if (!QTest::qWaitFor([&window] { return QApplication::activeWindow() == &window; })) return false;
    page.setFocus();
    page.moveCursor(QTextCursor::Start);
    constexpr int kMostLinks = 200;
    for (int i = 0; i < kMostLinks; ++i) {
      QTest::keyClick(&page, Qt::Key_Tab);
      if (!page.hasFocus()) return false;
      QTextCursor link = page.textCursor();
      link.setPosition(link.selectionEnd());
      if (link.charFormat().anchorHref() != target) continue;
      QTest::keyClick(&page, Qt::Key_Return);
      return true;
    }
    return false;
  }

 private Q_SLOTS:
  void cleanup() {
    m_window = nullptr;
    m_fresh.reset();
  }

  void everyPageIsShown_data() {
    QTest::addColumn<QString>("path");
    for (const ManualPage& page : readManual(kManual)) QTest::newRow(qPrintable(page.path)) << page.path;
  }

  void everyPageIsShown() {
    QFETCH(QString, path);
    // A window reads the whole manual, so all pages share one.
    if (m_manual == nullptr) m_manual = std::make_unique<ManualWindow>(kManual);
    ManualWindow& window = *m_manual;
    window.openPage(path);
    QCOMPARE(window.page(), path);
    const QTextDocument& document = *browser(window).document();
    const QTextBlock head = document.begin();
    QCOMPARE(head.blockFormat().headingLevel(), 1);
    QVERIFY(document.toPlainText().size() > 200);
    // Qt reads what is no Markdown as text.
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
      if (block.blockFormat().hasProperty(QTextFormat::BlockCodeFence)) continue;
      for (const char* mark : {"](", "```", "| --", "|--"})
        QVERIFY2(!block.text().contains(QLatin1String(mark)), qPrintable(block.text()));
    }
  }

  void contentsListEveryPage() {
    m_manual.reset();
    ManualWindow window(kManual);
    auto* contents = window.findChild<QTreeWidget*>();
    QSet<QString> listed;
    for (QTreeWidgetItemIterator item(contents); *item != nullptr; ++item)
      listed.insert((*item)->data(0, Qt::UserRole).toString());
    QVERIFY(window.pages().size() > 20);
    for (const ManualPage& page : window.pages()) QVERIFY2(listed.contains(page.path), qPrintable(page.path));
  }

  void headingsHaveAnchors() {
    ManualWindow window(kManual);
    window.resize(900, 500);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.openPage(QStringLiteral("numbers.md"));
    QCOMPARE(browser(window).verticalScrollBar()->value(), 0);
    window.openPage(QStringLiteral("numbers.md#fidelity"));
    QVERIFY(browser(window).verticalScrollBar()->value() > 0);
    QCOMPARE(headingAnchor(QStringLiteral("TTFT and ITL")), QStringLiteral("ttft-and-itl"));
    QCOMPARE(headingAnchor(QStringLiteral("Cached, relocated, computed")),
             QStringLiteral("cached-relocated-computed"));
  }

  void searchFindsTextsOfAllPages() {
    ManualWindow window(kManual);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    QTest::keyClick(&window, Qt::Key_F, Qt::ControlModifier);
    auto* field = window.findChild<QLineEdit*>();
    QTRY_VERIFY(field->hasFocus());
    QTest::keyClicks(field, QStringLiteral("relocated hit"));
    const auto* found = window.findChild<QListWidget*>();
    QVERIFY(found->isVisible());
    QVERIFY(found->count() > 2);
    QVERIFY(!window.findChild<QTreeWidget*>()->isVisible());
    for (int row = 0; row < found->count(); ++row)
      QVERIFY(found->item(row)->text().contains(QLatin1Char('\n')));
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(browser(window).hasFocus());
    QVERIFY(!browser(window).extraSelections().isEmpty());
    QVERIFY(browser(window).document()->toPlainText().contains(QStringLiteral("relocated")));
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(field->text().isEmpty());
    QVERIFY(browser(window).extraSelections().isEmpty());
    QVERIFY(window.findChild<QTreeWidget*>()->isVisible());
    QTest::keyClicks(field, QStringLiteral("qqqqq"));
    QCOMPARE(found->count(), 0);
  }

  /// Down, Up, F3 and Shift+F3 walk the hits; each shows its page and its word. Back leads to the page before
  /// the search.
  void keysWalkTheHits() {
    ManualWindow window(kManual);
    window.resize(1180, 700);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.openPage(QStringLiteral("limits.md"));
    auto* field = window.findChild<QLineEdit*>();
    field->setFocus();
    QTest::keyClicks(field, QStringLiteral("evicted"));
    QCOMPARE(window.page(), QStringLiteral("limits.md"));
    auto* found = window.findChild<QListWidget*>();
    QTest::keyClick(field, Qt::Key_Down);
    QTRY_VERIFY(found->hasFocus());
    QCOMPARE(found->currentRow(), 0);
    QVERIFY(found->count() > 8);
    for (int row = 0; row < 8; ++row) {
      QCOMPARE(found->currentRow(), row);
      const QTextCursor place = browser(window).textCursor();
      QVERIFY2(
          place.block().text().mid(place.positionInBlock()).startsWith(field->text(), Qt::CaseInsensitive),
          qPrintable(found->item(row)->text()));
      QVERIFY(browser(window).viewport()->rect().intersects(browser(window).cursorRect()));
      if (row % 2 == 0)
        QTest::keyClick(found, Qt::Key_Down);
      else
        QTest::keyClick(&window, Qt::Key_F3);
    }
    found->setCurrentRow(1);
    QTest::keyClick(&window, Qt::Key_F3, Qt::ShiftModifier);
    QCOMPARE(found->currentRow(), 0);
    QTest::keyClick(found, Qt::Key_Up);
    QTRY_VERIFY(field->hasFocus());
    if (const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES"); !folder.isEmpty()) {
      window.setStyleSheet(Theme().styleSheet());
      window.grab().save(folder + QStringLiteral("/manual-search-light.png"));
    }
    QTest::keyClick(found, Qt::Key_Return);
    QTRY_VERIFY(browser(window).hasFocus());
    QTest::keyClick(&window, Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(window.page(), QStringLiteral("limits.md"));
    QVERIFY(!browser(window).extraSelections().isEmpty());
  }

  /// A sentence is found though the file breaks its line; a row of a table and a line of code are found
  /// alone.
  void searchJoinsBrokenLines() {
    const ManualPage page{
        .path = QStringLiteral("a.md"),
        .title = QStringLiteral("A"),
        .section = {},
        .lines = {QStringLiteral("# A"), QStringLiteral("One *two"), QStringLiteral("three* four."),
                  QStringLiteral("- five"), QStringLiteral("  six"), QStringLiteral("- seven"), QString(),
                  QStringLiteral("## B two"), QStringLiteral("| one | two |"),
                  QStringLiteral("| three | four |"), QStringLiteral("```"), QStringLiteral("$ one"),
                  QStringLiteral("three"), QStringLiteral("```")}};
    const auto texts = [&page](const char* words) {
      QStringList found;
      for (const ManualHit& hit : searchManual({page}, QString::fromLatin1(words)))
        found += hit.heading + QLatin1Char('/') + hit.text;
      return found;
    };
    QCOMPARE(texts("four two"), QStringList{QStringLiteral("A/One two three four.")});
    QCOMPARE(texts("five six"), QStringList{QStringLiteral("A/five six")});
    QCOMPARE(texts("six seven"), QStringList());
    QCOMPARE(texts("two"),
             (QStringList{QStringLiteral("B two/B two"), QStringLiteral("A/One two three four."),
                          QStringLiteral("B two/one  two")}));
    QCOMPARE(texts("one three"), QStringList{QStringLiteral("A/One two three four.")});
    QCOMPARE(texts("two one"),
             (QStringList{QStringLiteral("A/One two three four."), QStringLiteral("B two/one  two")}));
    const ManualPage other{.path = QStringLiteral("b.md"),
                           .title = QStringLiteral("B"),
                           .section = {},
                           .lines = {QStringLiteral("two, then one"), QString(), QStringLiteral("two one")}};
    QCOMPARE(searchManual({page, other}, QStringLiteral("two one")).front().text, QStringLiteral("two one"));
    QCOMPARE(excerptOf(QStringLiteral("aaaa bbbb cccc dddd eeee ffff"), {QStringLiteral("dddd")}, 12),
             QStringLiteral("…dddd eeee ff…"));
    QCOMPARE(withBoldWords(QStringLiteral("a<B>b"), {QStringLiteral("b")}),
             QStringLiteral("a&lt;<b>B</b>&gt;<b>b</b>"));
  }

  void linesAreShownWithoutMarks_data() {
    QTest::addColumn<QString>("markdown");
    QTest::addColumn<QString>("shown");
    QTest::newRow("heading") << "## A head"
                             << "A head";
    QTest::newRow("code") << "Run `spanq run`."
                          << "Run spanq run.";
    QTest::newRow("link") << "See [numbers](numbers.md#x)."
                          << "See numbers.";
    QTest::newRow("bold") << "- **one** of _two_"
                          << "one of two";
    QTest::newRow("table") << "| `a` | b \\| c |"
                           << "a  b | c";
    QTest::newRow("half of an emphasis") << "a *looking"
                                         << "a looking";
    QTest::newRow("pattern") << "as `notes/**/*.md`, or `a_b`"
                             << "as notes/**/*.md, or a_b";
    QTest::newRow("link of code") << "[`run`](spanq.md)"
                                  << "run";
    QTest::newRow("rule") << "|---|:--|"
                          << "";
  }

  void linesAreShownWithoutMarks() {
    QFETCH(QString, markdown);
    QTEST(shownLine(markdown), "shown");
  }

  void backAndForward() {
    ManualWindow window(kManual);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    window.openPage(QStringLiteral("numbers.md"));
    browser(window).verticalScrollBar()->setValue(120);
    window.openPage(QStringLiteral("docks/pool.md"));
    QTest::keyClick(&window, Qt::Key_Left, Qt::AltModifier);
    QCOMPARE(window.page(), QStringLiteral("numbers.md"));
    QCOMPARE(browser(window).verticalScrollBar()->value(), 120);
    QTest::keyClick(&window, Qt::Key_Right, Qt::AltModifier);
    QCOMPARE(window.page(), QStringLiteral("docks/pool.md"));
    QTest::keyClick(&window, Qt::Key_F1);
    QCOMPARE(window.page(), QStringLiteral("index.md"));
    window.openPage(QStringLiteral("nothing.md"));
    QCOMPARE(window.page(), QStringLiteral("index.md"));
  }

  void linksLeadToOtherPages() {
    ManualWindow window(kManual);
    QVERIFY(followLink(window, QStringLiteral("docks/pool.md")));
    QCOMPARE(window.page(), QStringLiteral("docks/pool.md"));
    QVERIFY(followLink(window, QStringLiteral("../numbers.md#pool-and-eviction")));
    QCOMPARE(window.page(), QStringLiteral("numbers.md"));
  }

  void aMissingManualIsSaid() {
    const QTemporaryDir empty;
    ManualWindow window(empty.path());
    QVERIFY(window.pages().empty());
    QVERIFY(!browser(window).toPlainText().isEmpty());
  }

  void keysOpenThePageOfTheDock() {
    makeMainWindow();
    QTest::keyClick(m_window, Qt::Key_F1);
    QVERIFY(manual() != nullptr);
    QTRY_VERIFY(manual()->isVisible());
    QCOMPARE(manual()->page(), QStringLiteral("index.md"));
    QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
    QStringList ids{QStringLiteral("canvas")};
    for (const ViewInfo& info : viewTable()) ids << info.id;
    for (const QString& id : ids) {
      m_window->activateWindow();
      m_window->docks().reveal(id);
      Dock* dock = m_window->docks().dock(id);
      dock->setFocusPolicy(Qt::StrongFocus);
      dock->setFocus();
      QTRY_VERIFY2(dock->isAncestorOf(QApplication::focusWidget()) || QApplication::focusWidget() == dock,
                   qPrintable(id));
      m_window->perform(QStringLiteral("help.manual"));
      QCOMPARE(manual()->page(), manualPageOfDock(id));
    }
    // In the manual the same key is its own.
    QTRY_COMPARE(QApplication::activeWindow(), static_cast<QWidget*>(manual()));
    QTest::keyClick(&browser(*manual()), Qt::Key_F1);
    QCOMPARE(manual()->page(), QStringLiteral("index.md"));
    QTest::keyClick(&browser(*manual()), Qt::Key_Escape);
    QVERIFY(!manual()->isVisible());
  }

  void f1OnTheCanvasOpensItsPage() {
    makeMainWindow();
    QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
    m_window->activateWindow();
    m_window->canvas().setFocus();
    QTest::keyClick(&m_window->canvas(), Qt::Key_F1);
    QVERIFY(manual() != nullptr);
    QCOMPARE(manual()->page(), QStringLiteral("docks/canvas.md"));
  }

  void linksRaiseDocks() {
    makeMainWindow();
    m_window->perform(QStringLiteral("help.manual:docks/pool.md"));
    QVERIFY(m_window->isWelcome());
    QVERIFY(followLink(*manual(), QStringLiteral("dock:pool")));
    QVERIFY(!m_window->isWelcome());
    const Dock* pool = m_window->docks().dock(QStringLiteral("pool"));
    QVERIFY(pool->isVisible());
    m_window->perform(QStringLiteral("view.measure"));
    QVERIFY(followLink(*manual(), QStringLiteral("dock:pool")));
    QTRY_VERIFY(!pool->visibleRegion().isEmpty());
  }

  void linksCarryOutCommands() {
    makeMainWindow();
    m_window->perform(QStringLiteral("help.manual:ten-minutes.md"));
    QVERIFY(followLink(*manual(), QStringLiteral("command:view.explain")));
    QVERIFY(!m_window->isWelcome());
    QCOMPARE(m_window->workspace().documents().size(), std::size_t(1));
    const Dock* why = m_window->docks().dock(QStringLiteral("why"));
    QTRY_VERIFY(why->isVisible());
  }

  void linksOpenExamples() {
    makeMainWindow();
    m_window->perform(QStringLiteral("help.manual:ten-minutes.md"));
    QVERIFY(followLink(*manual(), QStringLiteral("example:rag.json")));
    QCOMPARE(m_window->workspace().documents().size(), std::size_t(1));
    QCOMPARE(m_window->workspace().model()->title(), QStringLiteral("rag"));
  }

  void itFollowsTheTheme_data() {
    QTest::addColumn<QString>("page");
    for (const ManualPage& page : readManual(kManual)) QTest::newRow(qPrintable(page.path)) << page.path;
  }

  void itFollowsTheTheme() {
    QFETCH(QString, page);
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      const Theme theme(scheme);
      qApp->setFont(theme.interfaceFont());
      qApp->setPalette(theme.palette());
      QWidget parent;
      parent.setStyleSheet(theme.styleSheet());
      auto* window = new ManualWindow(kManual, &parent);
      window->setTheme(theme);
      window->openPage(page);
      window->show();
      QVERIFY(QTest::qWaitForWindowExposed(window));
      QCOMPARE(browser(*window).document()->begin().begin().fragment().charFormat().foreground().color(),
               theme.color(Role::Text));
      const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
      if (folder.isEmpty()) continue;
      QString name = page;
      name.replace(QLatin1Char('/'), QLatin1Char('-')).chop(3);
      // The page whole, so that every line of it can be looked at.
      const int height = static_cast<int>(browser(*window).document()->size().height()) + 60;
      window->resize(window->width(), std::clamp(height, 800, 6000));
      QTest::qWait(50);
      window->grab().save(
          folder + QStringLiteral("/manual-%1-%2.png").arg(name, scheme == Scheme::Dark ? "dark" : "light"));
    }
  }
};

SPANSCOPE_TEST(tst_manual_window, TestManualWindow, QApplication)
#include "tst_manual_window.moc"
