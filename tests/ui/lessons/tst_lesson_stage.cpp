// SPDX-License-Identifier: GPL-3.0-or-later
// What the window shows and hides while a lesson is open, and what it has again afterwards.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/lessons/lesson_window.h"
#include "ui/editor/node_paint.h"
#include "ui/lessons/lesson_question.h"
#include "ui/views/compare/compare_view.h"
#include "ui/views/rotation/rotation_view.h"
#include "ui/window/welcome_page.h"

#include <QApplication>
#include <QCheckBox>
#include <QFile>
#include <QLabel>
#include <QListView>
#include <QScrollArea>
#include <QTest>

#include <algorithm>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;

class TestLessonStage : public LessonWindow {
  Q_OBJECT

 private Q_SLOTS:
  void init() { QVERIFY(openWindow()); }
  void cleanup() { closeWindow(); }

  void aLessonHasAnEmptyStage() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    Workspace& workspace = m_window->workspace();
    const auto runs = [&workspace] {
      std::vector<RunId> all;
      for (const auto& record : *workspace.input().records) all.push_back(record->run);
      return all;
    };
    const auto cachedTokens = [&workspace] {
      std::int64_t cached = 0;
      for (const auto& [request, account] : workspace.input().records->back()->accounts)
        cached += account.prompt.total() - account.prompt.computed;
      return cached;
    };
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy() && runs().size() == 1, kWait);
    QCOMPARE(cachedTokens(), std::int64_t{0});
    perform("view.measure");
    Selection selection;
    selection.nodes = {workspace.model()->document().root()};
    workspace.select(selection);
    const OpenDocument* const own = workspace.current();

    perform("learn.lesson:3-prefix-caching.md#6");
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{5});
    QCOMPARE(workspace.tabs().size(), std::size_t{1});
    QVERIFY(workspace.current() != own);
    const QList<QLabel*> labels = m_window->findChildren<QLabel*>();
    QVERIFY(std::ranges::any_of(
        labels, [](const QLabel* label) { return says(label->text(), "<your-tab-is-hidden>"); }));
    QTRY_COMPARE(runs().size(), course().facts().size());
    QCOMPARE(course().facts().front().account.prompt.total(),
             course().facts().front().account.prompt.computed);
    // The runs of a lesson count from 1, as its text does.
    QCOMPARE(runs().front(), RunId{1});
    // Nothing before the lesson can be undone into its documents.
    const QString title = workspace.model()->title();
    for (int i = 0; i < 20; ++i) perform("edit.undo");
    QCOMPARE(workspace.model()->title(), title);
    QCOMPARE(workspace.model()->document().size(), course().document()->size());
    // The next lesson begins with nothing of this one.
    perform("learn.return");
    perform("learn.lesson:4-block-attention.md#2");
    QVERIFY(isIdle());
    QCOMPARE(workspace.tabs().size(), std::size_t{1});
    QTRY_COMPARE(runs().size(), course().facts().size());
    QCOMPARE(runs().front(), RunId{1});

    perform("learn.leave");
    QCOMPARE(workspace.tabs().size(), std::size_t{1});
    QCOMPARE(workspace.current(), own);
    QCOMPARE(workspace.current()->selection, selection);
    QCOMPARE(m_window->docks().layout(), LayoutId::Measure);
    QVERIFY(!m_window->isWelcome());
    QTRY_COMPARE(runs().size(), std::size_t{1});
    QCOMPARE(workspace.shownRun(), runs().front());
    // The document's cache was not emptied.
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy() && runs().size() == 2, kWait);
    QVERIFY(cachedTokens() > 0);
    QCOMPARE(runs(), (std::vector<RunId>{1, 2}));
  }

  void theWelcomePageComesBackAfterALesson() {
    QVERIFY(m_window->isWelcome());
    perform("learn.lesson:3-prefix-caching.md#4");
    QVERIFY(isIdle());
    QVERIFY(!m_window->isWelcome());
    perform("learn.leave");
    QVERIFY(m_window->isWelcome());
    QVERIFY(m_window->workspace().documents().empty());
    QTRY_VERIFY(m_window->workspace().input().records->empty());
  }

  /// A document that the learner has changed in a lesson stays open after it.
  void aChangedDocumentOfALessonStays() {
    perform("learn.lesson:3-prefix-caching.md#4");
    QVERIFY(isIdle());
    Workspace& workspace = m_window->workspace();
    workspace.model()->change(QStringLiteral("Play"),
                              [](document::Document& document) { document.settings.maxTokens = 3; });
    perform("learn.leave");
    QCOMPARE(workspace.tabs().size(), std::size_t{1});
    QCOMPARE(workspace.tabs().front()->model->document().settings.maxTokens, 3);
    workspace.setCurrent(workspace.tabs().front());
    m_window->showDocuments();
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy() && workspace.input().records->size() == 1, kWait);
    workspace.model()->markSaved();
  }

  void aWaitingQuestionHidesThePrediction() {
    Workspace& workspace = m_window->workspace();
    perform("learn.lesson:3-prefix-caching.md#4");
    QVERIFY(isIdle());
    QTRY_VERIFY_WITH_TIMEOUT(workspace.input().prediction.newest != nullptr, kWait);
    QVERIFY(goTo(4));
    QVERIFY(course().waiting().has_value());
    QTest::qWait(300);
    QVERIFY(workspace.input().prediction.newest == nullptr && workspace.input().prediction.isWithheld);
    // The learner can change the answer until the run.
    course().answer(*course().waiting(), {.number = QStringLiteral("3"), .choice = {}});
    QTest::qWait(300);
    QVERIFY(workspace.input().prediction.newest == nullptr && workspace.input().prediction.isWithheld);
    QVERIFY(goTo(5));
    QTRY_VERIFY_WITH_TIMEOUT(workspace.input().prediction.newest != nullptr, kWait);
  }

  /// The warning that the policy does not reuse swapped documents is the answer to a question of this lesson.
  void aLessonHasNoWarningsAboutItsSettings() {
    const auto warnings = [this] {
      m_window->docks().bring(QStringLiteral("problems"));
      const auto* list = m_window->findChild<QListView*>(QStringLiteral("problems"));
      return list == nullptr ? -1 : list->model()->rowCount();
    };
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->workspace().model()->change(QString(),
                                          [](document::Document& own) { own.settings.policy = "prefix"; });
    QTRY_COMPARE(warnings(), 1);
    perform("learn.lesson:0-first-steps.md#5");
    QVERIFY(isIdle());
    QTest::qWait(500);
    QCOMPARE(warnings(), 0);
  }

  /// A question about a run that has ended shows the run's beginning until it is answered.
  void aWaitingQuestionHidesTheRunThatItAsksAbout() {
    Workspace& workspace = m_window->workspace();
    perform("learn.lesson:2-pages-and-blocks.md#3");
    QVERIFY(isIdle());
    QVERIFY(course().waiting() && course().asksAboutEnded(*course().waiting()));
    const auto laidOut = [&workspace] { return workspace.input().shownRequest() != 0; };
    QTRY_VERIFY(!laidOut());
    QTRY_VERIFY(isHidden(*m_window->docks().dock(QStringLiteral("tokens"))));
    course().answer(*course().waiting(), {.number = QStringLiteral("3"), .choice = {}});
    QTRY_VERIFY(laidOut());
    QCOMPARE(workspace.input().position, workspace.input().trace->size());
    QTRY_VERIFY(!isHidden(*m_window->docks().dock(QStringLiteral("tokens"))));
  }

  /// A comparison would show an unfinished run beside a finished one.
  void aWaitingQuestionHidesTheComparison() {
    perform("learn.lesson:12-views-and-sparse-reading.md#4");
    QVERIFY(isIdle());
    perform("view.dock:compare");
    const Dock& compare = *m_window->docks().dock(QStringLiteral("compare"));
    QVERIFY(!isHidden(compare));
    QVERIFY(goTo(4));
    QVERIFY(course().waiting() && course().asksAboutEnded(*course().waiting()));
    QTRY_VERIFY(isHidden(compare));
    course().answer(*course().waiting(), {.number = QStringLiteral("0"), .choice = {}});
    QVERIFY(isIdle());
    QTRY_VERIFY(!isHidden(compare));
  }

  /// The view of a step is larger than the step's text, and the layout is as before after the lesson.
  void theViewOfAStepIsLargerThanItsText_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<QString>("lesson");
    QTest::addColumn<QString>("dock");
    for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
      const QByteArray name = QByteArray::number(size.width());
      QTest::newRow(name + " kv-growth")
          << size << QStringLiteral("1-what-a-kv-cache-is.md#6") << QStringLiteral("kv-growth");
      QTest::newRow(name + " block-table")
          << size << QStringLiteral("2-pages-and-blocks.md#5") << QStringLiteral("block-table");
    }
  }
  void theViewOfAStepIsLargerThanItsText() {
    QFETCH(QSize, size);
    QFETCH(QString, lesson);
    QFETCH(QString, dock);
    m_window->resize(size);
    m_window->docks().setLayout(LayoutId::Explain);
    const Dock* shown = m_window->docks().dock(dock);
    m_window->perform(QStringLiteral("learn.lesson:") + lesson);
    QVERIFY(isIdle());
    const auto areaOf = [](const QWidget& widget) { return widget.width() * widget.height(); };
    const auto* text = reader().findChild<QScrollArea*>(QStringLiteral("lessonArea"));
    QTRY_VERIFY2(!shown->visibleRegion().isEmpty() && areaOf(*shown) > areaOf(*text),
                 qPrintable(QStringLiteral("%1x%2, text %3x%4")
                                .arg(shown->width())
                                .arg(shown->height())
                                .arg(text->width())
                                .arg(text->height())));
  }

  /// The dock of a step leaves the cards of a small query enough room for texts.
  void cardsBesideTheViewOfAStepHaveTexts_data() {
    QTest::addColumn<QString>("lesson");
    for (const char* lesson :
         {"0-first-steps.md#4", "1-what-a-kv-cache-is.md#6", "8-judge-and-generators.md#2"})
      QTest::newRow(lesson) << QString::fromLatin1(lesson);
  }

  void cardsBesideTheViewOfAStepHaveTexts() {
    QFETCH(QString, lesson);
    m_window->resize(1024, 700);
    m_window->perform(QStringLiteral("learn.lesson:") + lesson);
    QVERIFY(isIdle());
    QTRY_VERIFY2(m_window->canvas().place().zoom >= kTextZoom,
                 qPrintable(QString::number(m_window->canvas().place().zoom)));
  }

  /// The dock of a step in Author leaves the docks beside it enough room for their texts.
  void aDockInAuthorSqueezesNoOther() {
    m_window->resize(1024, 700);
    perform("learn.lesson:0-first-steps.md#1");
    QVERIFY(isIdle());
    QVERIFY(goTo(1));
    const auto dock = [this](const char* id) -> const Dock& {
      return *m_window->docks().dock(QString::fromLatin1(id));
    };
    QTRY_VERIFY(dock("add").isVisible() && dock("json").isVisible());
    QTest::qWait(100);
    QVERIFY(goTo(2));
    course().doTasks();
    QVERIFY(isIdle());
    QCOMPARE(course().dock(), QStringLiteral("output"));
    QTRY_VERIFY(dock("output").height() > 2 * dock("json").height());
    for (const char* id : {"inspector", "json"})
      QVERIFY2(dock(id).height() >= 95, qPrintable(QStringLiteral("%1").arg(dock(id).height())));
    constexpr int kWholeNames = 108;  // pixels
    QVERIFY2(dock("add").width() >= kWholeNames, qPrintable(QStringLiteral("%1").arg(dock("add").width())));
    std::vector<const Dock*> shown;
    for (const Dock* each : m_window->docks().docks()) {
      if (each->visibleRegion().isEmpty()) continue;
      for (const Dock* other : shown) QVERIFY(!each->geometry().intersects(other->geometry()));
      shown.push_back(each);
    }
  }

  /// After a layout action, the docks that an earlier step opened in the same layout are closed.
  void aLayoutActionClosesOtherDocks() {
    QFile file(m_fresh->path(QStringLiteral("lesson.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nlayout explain\ndock paging\n```\n\n"
        "## 2. Two\n\nB.\n\n```do\nlayout author\nlayout explain\ndock mask\n```\n");
    file.close();
    QVERIFY(m_window->lessons().open(file.fileName()));
    QVERIFY(goTo(0));
    const Dock* paging = m_window->docks().dock(QStringLiteral("paging"));
    const Dock* mask = m_window->docks().dock(QStringLiteral("mask"));
    QTRY_VERIFY(!paging->isHidden());
    QVERIFY(goTo(1));
    QTRY_VERIFY(paging->isHidden() && !mask->isHidden());
    QCOMPARE(m_window->docks().layout(), LayoutId::Explain);
    // The learner goes back.
    QVERIFY(goTo(0));
    QTRY_VERIFY(!paging->isHidden() && mask->isHidden());
  }

  /// Its tabs are not opened again with the program, unless the learner has changed them.
  void queriesOfALessonAreNotKept() {
    perform("learn.lesson:3-prefix-caching.md#2");
    QVERIFY(isIdle());
    QCOMPARE(m_window->workspace().documents().size(), std::size_t{1});
    QVERIFY(m_fresh->reopen());
    m_window = &m_fresh->window();
    m_window->restoreSession();
    QVERIFY(m_window->workspace().documents().empty());
  }

  /// The docks that an earlier lesson or the learner has opened do not take the room of a lesson's docks.
  void aLessonBeginsWithItsOwnDocks() {
    perform("learn.lesson:2-pages-and-blocks.md#6");
    QVERIFY(isIdle());
    const Dock* paging = m_window->docks().dock(QStringLiteral("paging"));
    QTRY_VERIFY(!paging->isHidden());
    perform("learn.lesson:3-prefix-caching.md#4");
    QVERIFY(isIdle());
    QTRY_VERIFY(paging->isHidden());
  }

  /// A comparison of an earlier step does not cover the block table of this step, or a dock of another
  /// layout.
  void aComparisonEndsWithItsStep() {
    QFile file(m_fresh->path(QStringLiteral("lesson.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nlayout explain\nrun\nrun\ncompare with run 1\n```\n\n"
        "## 2. Two\n\nB.\n\n```do\ndock block-table\n```\n\n"
        "## 3. Three\n\nC.\n\n```do\nlayout author\n```\n");
    file.close();
    QVERIFY(m_window->lessons().open(file.fileName()));
    QVERIFY(goTo(0));
    const Dock* compare = m_window->docks().dock(QStringLiteral("compare"));
    QTRY_VERIFY(!compare->visibleRegion().isEmpty());
    QVERIFY(goTo(1));
    QTRY_VERIFY(!m_window->docks().dock(QStringLiteral("block-table"))->visibleRegion().isEmpty());
    QVERIFY(goTo(2));
    QTRY_VERIFY(compare->isHidden());
  }

  /// A step with the dock Rotation shows its arrows, also after the learner comes back to it.
  void aStepShowsItsRotation() {
    perform("learn.lesson:5-relocation.md#3");
    QVERIFY(isIdle());
    QCOMPARE(course().dock(), QStringLiteral("rotation"));
    const auto* view =
        qobject_cast<RotationView*>(m_window->docks().dock(QStringLiteral("rotation"))->view());
    QVERIFY(view != nullptr);
    QTRY_VERIFY(isRotationDrawn(view->turn()));
    const std::size_t runs = course().facts().size();
    // The swapped document has another position, so its arrows are computed once more.
    QVERIFY(goTo(6));
    QTRY_VERIFY(isRotationDrawn(view->turn()));
    QCOMPARE(course().facts().size(), runs + 1);
    QVERIFY(!course().isPlaying(&m_window->workspace().model()->document()));
    QVERIFY(goTo(2));
    QTRY_VERIFY(isRotationDrawn(view->turn()));
  }

  /// One run is no evidence for the text of a step.
  void theStatusLineComparesNoTimes() {
    QFile file(m_fresh->path(QStringLiteral("lesson.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nrun\nrun\n```\n");
    file.close();
    QVERIFY(m_window->lessons().open(file.fileName()));
    QVERIFY(isIdle());
    const auto* state = m_window->findChild<QLabel*>(QStringLiteral("runState"));
    QTRY_VERIFY(state->text().contains(QStringLiteral("Run 2")));
    QVERIFY2(!state->text().contains(QStringLiteral("run 1")), qPrintable(state->text()));
  }

  /// A step after a comparison that runs once more, and compares nothing, has the last two runs side by side.
  void aRunAfterAComparisonIsCompared() {
    QFile file(m_fresh->path(QStringLiteral("lesson.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nrun\nrun\nrun\ncompare with run 1\n```\n\n"
        "## 2. Two\n\nB.\n\n```do\nrun\n```\n");
    file.close();
    const bool isOpen = m_window->lessons().open(file.fileName());
    const auto* problems = reader().findChild<QLabel*>(QStringLiteral("lessonProblems"));
    QVERIFY2(isOpen, problems == nullptr ? "" : qPrintable(problems->text()));
    QVERIFY(goTo(0));
    const auto* view = qobject_cast<CompareView*>(m_window->docks().dock(QStringLiteral("compare"))->view());
    QVERIFY(view != nullptr);
    QTRY_COMPARE(view->model().left, 1U);
    QCOMPARE(view->model().right, 3U);
    const auto* only = view->findChild<QCheckBox*>();
    QVERIFY(only->isChecked());
    QVERIFY(goTo(1));
    QTRY_COMPARE(view->model().left, 3U);
    QCOMPARE(view->model().right, 4U);
    perform("learn.leave");
    QVERIFY(!only->isChecked());
  }
};

SPANSCOPE_TEST(tst_lesson_stage, TestLessonStage, QApplication)
#include "tst_lesson_stage.moc"
