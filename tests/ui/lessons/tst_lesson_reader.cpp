// SPDX-License-Identifier: GPL-3.0-or-later
// A learner goes through lessons in the window: forward, back, playing in between, by keys.
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_question.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/session/model_choices.h"
#include "ui/views/compare/compare_view.h"
#include "ui/window/dialogs.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/lesson_marks.h"
#include "ui/window/lesson_recording.h"
#include "ui/window/welcome_page.h"
#include "ui/window/window_stage.h"

#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QListWidget>
#include <QObject>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;

namespace {

constexpr int kWait = 60'000;  // milliseconds

/// All of the window that a lesson sets.
struct Seen {
  QString title;
  document::Document document;
  LayoutId layout = LayoutId::Author;
  Selection selection;
  RunId run = 0;
  std::size_t position = 0;
  QString dock;  ///< that is lit
  bool operator==(const Seen&) const = default;
};

}  // namespace

class TestLessonReader : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its
  int m_questions = 0;             ///< that were answered where a lesson runs

  LessonReader& reader() { return m_window->lessons().reader(); }
  LessonCourse& course() { return *reader().course(); }
  void perform(const char* command) { m_window->perform(QString::fromLatin1(command)); }
  bool isIdle() {
    return QTest::qWaitFor([this] { return !course().isBusy(); }, kWait);
  }
  /// Answers the next question where the lesson runs; nothing: cancels it. Other rows than the first are
  /// chosen by the server's name.
  void answerQuestion(const std::optional<std::string>& server) {
    QTimer::singleShot(20, this, [this, server] {
      auto* dialog = qobject_cast<LessonServerDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return answerQuestion(server);
      ++m_questions;
      if (!server) return dialog->reject();
      auto* list = dialog->findChild<QListWidget*>(QStringLiteral("lessonServers"));
      for (int row = 0; row < list->count() && !server->empty(); ++row) {
        if (list->item(row)->data(Qt::UserRole).toString().toStdString() == *server) list->setCurrentRow(row);
      }
      dialog->accept();
    });
  }
  bool goTo(std::size_t step) {
    course().goTo(step);
    return isIdle() && course().problem().isEmpty() && course().step() == step;
  }
  Seen seen() {
    Seen now;
    Workspace& workspace = m_window->workspace();
    now.layout = m_window->docks().layout();
    if (workspace.current() == nullptr) return now;
    now.title = workspace.model()->title();
    now.document = workspace.model()->document();
    now.selection = workspace.current()->selection;
    now.run = workspace.shownRun();
    now.position = workspace.input().position;
    now.dock = course().dock();
    return now;
  }
  QStringList shownTexts() {
    QStringList texts;
    for (const QLabel* label : reader().findChildren<QLabel*>()) texts.append(label->text());
    return texts;
  }
  /// Whether a dock shows that a question hides its content.
  static bool isHidden(const Dock& dock) {
    const auto* label = dock.findChild<QLabel*>(QStringLiteral("dockUnreported"));
    return label != nullptr && label->isVisibleTo(&dock) && says(label->text(), "<hidden-until-answered>");
  }
  /// Answers, carries out actions, or goes to the next step. Returns false at the end of the lesson.
  bool continueLesson() {
    if (const std::optional<QuestionPlace> place = course().waiting())
      course().answer(*place, {.number = QStringLiteral("10"), .choice = 0});
    else if (!course().tasks().empty())
      course().doTasks();
    else if (course().canGoOn())
      course().next();
    else
      return false;
    return isIdle() && course().problem().isEmpty();
  }
  /// Whether the view of a dock shows more than a sentence about its future content. The learner fills the
  /// rotation and starts experiments.
  static bool hasContent(Dock& dock) {
    if (isHidden(dock)) return false;
    if (dock.id() == QLatin1String("rotation") || dock.id() == QLatin1String("experiments")) return true;
    return dock.view() == nullptr || dock.view()->csv().trimmed().contains(QLatin1Char('\n'));
  }
  bool canBeDragged(const lesson::Action& swap) {
    constexpr int kLeastHeight = 24;  // pixels
    QRect before;
    for (const lesson::Argument& argument : swap.arguments) {
      const auto part = course().selectionFor(std::get<lesson::Target>(argument.value));
      const QRect place = part ? m_window->canvas().placeOf(part->currentNode()) : QRect();
      if (place.height() < kLeastHeight || place == before) return false;
      before = place;
    }
    return true;
  }
  QPushButton* button(const QString& text) {
    for (QPushButton* one : reader().findChildren<QPushButton*>()) {
      if (one->text() == text && one->isVisible()) return one;
    }
    return nullptr;
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_questions = 0;
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show());
  }
  void cleanup() {
    m_window = nullptr;
    m_fresh.reset();
  }

  void everyLessonHoldsInTheWindow_data() {
    QTest::addColumn<QString>("path");
    for (const ListedLesson& lesson : listedLessons()) QTest::newRow(qPrintable(lesson.key)) << lesson.path;
  }
  void everyLessonHoldsInTheWindow() {
    QFETCH(QString, path);
    QVERIFY(m_window->lessons().open(path));
    for (std::size_t step = 0; step < course().steps(); ++step)
      QVERIFY2(goTo(step), qPrintable(course().problem()));
    const lesson::FilledLesson filled = lesson::fill(course().lesson(), course().facts());
    QStringList failures;
    for (const std::string& failure : filled.failures()) failures.append(QString::fromStdString(failure));
    QCOMPARE(failures, QStringList());
    // The purpose of the model is not repeated with each answer.
    for (const auto& record : *m_window->workspace().history().records()) QVERIFY(record->madeFor.isEmpty());
    // What the lesson did is nothing that would have to be saved.
    for (const auto& document : m_window->workspace().documents()) QVERIFY(!document->model->isModified());
  }

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

  void aLessonSendsNothingToAServer() {
    perform("learn.lesson:0-first-steps.md");
    QVERIFY(isIdle());
    Workspace& workspace = m_window->workspace();
    QVERIFY(m_window->workspace().current() != nullptr || goTo(1));
    const auto runs = workspace.history().records()->size();
    // The learner chooses a server, for the whole query and for a node.
    document::Document changed = workspace.model()->document();
    changed.settings.server = "gpu";
    const document::NodeId top = changed.root();
    workspace.model()->change(QStringLiteral("Server"), [&](document::Document& own) { own = changed; });
    WindowStage stage(m_window->parts(), m_window->lessons());
    answerQuestion(std::nullopt);
    QVERIFY(!stage.startRun().isEmpty());
    QCOMPARE(m_questions, 1);
    changed.settings.server.clear();
    document::setServer(changed, top, "gpu");
    workspace.model()->change(QStringLiteral("Server"), [&](document::Document& own) { own = changed; });
    answerQuestion(std::nullopt);
    QVERIFY(stage.startRun().contains(QStringLiteral("gpu")));
    QCOMPARE(m_questions, 2);
    QCOMPARE(workspace.history().records()->size(), runs);
    workspace.model()->markSaved();
  }

  /// The learner chooses where a lesson runs, in a dialog that names the server, and for this lesson alone.
  void aLessonRunsWhereTheLearnerChose() {
    std::atomic<int> asked = 0;
    remote::test::ServerOfMany server([&asked](const QByteArray& request) -> QByteArray {
      const QByteArray path = request.split(' ').value(1);
      if (path == "/v1/models")
        return remote::test::http(200, R"({"data":[{"id":"m","owned_by":"llamacpp"}]})");
      if (path != "/v1/chat/completions") return remote::test::http(404, "{}");
      ++asked;
      return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
             "data: "
             "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Oslo\"},\"finish_reason\":\"stop\"}]}\n\n"
             "data: [DONE]\n\n";
    });
    Workspace& workspace = m_window->workspace();
    workspace.serverRuns().servers().put({.name = "gpu", .url = server.address()});
    workspace.serverRuns().readServers();
    perform("learn.lesson:0-first-steps.md");
    QVERIFY(isIdle());
    while (workspace.current() == nullptr) QVERIFY(goTo(course().step() + 1));
    QVERIFY(course().facts().empty());

    // The learner sets the query to the server; without another word the lesson stays here.
    workspace.model()->change(QStringLiteral("Server"),
                              [](document::Document& own) { own.settings.server = "gpu"; });
    answerQuestion(std::string());
    while (course().facts().empty()) QVERIFY2(goTo(course().step() + 1), qPrintable(course().problem()));
    QCOMPARE(m_questions, 1);
    QCOMPARE(asked.load(), 0);
    QVERIFY(course().server().empty() && !course().facts().back().isRemote);

    const std::size_t runs = course().facts().size();
    answerQuestion(std::string("gpu"));
    perform("learn.server");
    QCOMPARE(course().server(), std::string("gpu"));
    QCOMPARE(workspace.model()->document().settings.server, std::string("gpu"));
    while (course().facts().size() == runs) {
      if (course().step() + 1 == course().steps()) QSKIP("the lesson has one run");
      QVERIFY2(goTo(course().step() + 1), qPrintable(course().problem()));
    }
    QVERIFY(asked > 0);
    QVERIFY(course().facts().back().isRemote);
    QCOMPARE(m_questions, 2);

    perform("learn.leave");
    perform("learn.lesson:0-first-steps.md");
    QVERIFY(isIdle());
    QVERIFY(course().server().empty());
  }

  void aNewcomerIsLedToTheFirstLesson() {
    QPushButton* learn = nullptr;
    for (QPushButton* one : m_window->findChildren<QPushButton*>()) {
      if (one->text() == worded("<open-lessons>")) learn = one;
    }
    QVERIFY(learn != nullptr);
    QTest::mouseClick(learn, Qt::LeftButton);
    QVERIFY(reader().isVisible() && reader().course() != nullptr);
    QCOMPARE(course().file().key(), QStringLiteral("0-first-steps.md"));
    QVERIFY(m_window->isWelcome());
    QTest::keyClick(m_window, Qt::Key_F8);
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{1});
    QVERIFY(!m_window->isWelcome());
    QCOMPARE(m_window->workspace().input().selection.nodes.size(), std::size_t{1});
    QTest::keyClick(m_window, Qt::Key_F7);
    QCOMPARE(course().step(), std::size_t{0});
  }

  void aQuestionIsAnsweredBeforeItsRun() {
    perform("learn.lesson:0-first-steps.md#5");
    QVERIFY(isIdle());
    course().doTasks();
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{4});
    const std::size_t runs = course().facts().size();
    QVERIFY(course().waiting().has_value());
    QPushButton* answer = button(QStringLiteral("Answer"));
    QVERIFY(answer != nullptr && !answer->isEnabled());
    const QList<QRadioButton*> choices = reader().findChildren<QRadioButton*>();
    QCOMPARE(choices.size(), 2);
    choices[0]->setChecked(true);
    choices[1]->setChecked(true);
    QVERIFY(!choices[0]->isChecked() && answer->isEnabled());
    answer->click();
    QTRY_VERIFY(!course().waiting().has_value());
    QVERIFY(says(shownTexts().join(QLatin1Char('\n')), "<you-said-run>"));
    QCOMPARE(course().facts().size(), runs);
    QVERIFY(goTo(5));
    course().doTasks();
    QVERIFY(isIdle());
    QCOMPARE(course().facts().size(), runs + 1);
    const auto* verdict = reader().findChild<QLabel*>(QStringLiteral("lessonVerdict"));
    QVERIFY(verdict != nullptr);
    QVERIFY2(verdict->text().startsWith(QStringLiteral("✓")), qPrintable(verdict->text()));
  }

  /// The lesson waits until the learner has run the query, and takes this run.
  void theLearnerRunsTheQuery() {
    perform("learn.lesson:0-first-steps.md#3");
    QVERIFY(isIdle());
    QCOMPARE(course().tasks().size(), std::size_t{1});
    QVERIFY(reader().findChild<QLabel*>(QStringLiteral("lessonTask")) != nullptr);
    // Neither the key nor the button of the next step goes on without the run.
    QTest::keyClick(m_window, Qt::Key_F8);
    QTest::keyClick(m_window, Qt::Key_F8);
    QCOMPARE(course().step(), std::size_t{2});
    QVERIFY(course().facts().empty());
    perform("run.run");
    QTRY_COMPARE_WITH_TIMEOUT(course().facts().size(), std::size_t{1}, kWait);
    QVERIFY(course().tasks().empty() && course().problem().isEmpty());
    QCOMPARE(m_window->workspace().history().records()->size(), std::size_t{1});
    QVERIFY(button(worded("<back-to-the-step>")) == nullptr);
    const lesson::FilledLesson filled = lesson::fill(course().lesson(), course().facts());
    for (const lesson::FilledBlock& block : filled.steps[2].blocks) {
      const auto* claims = std::get_if<lesson::FilledClaims>(&block);
      if (claims == nullptr) continue;
      for (const lesson::FilledClaim& claim : *claims) QVERIFY2(claim.holds == true, claim.written.c_str());
    }
    QTest::keyClick(m_window, Qt::Key_F8);
    QTRY_COMPARE(course().step(), std::size_t{3});
    // A short second run is taken, too, and not repeated.
    QVERIFY(goTo(4));
    course().doTasks();
    course().answer(*course().waiting(), {});
    QTest::keyClick(m_window, Qt::Key_F8);
    QTRY_COMPARE(course().tasks().size(), std::size_t{1});
    perform("run.run");
    QTRY_COMPARE_WITH_TIMEOUT(course().facts().size(), std::size_t{2}, kWait);
    QCOMPARE(m_window->workspace().history().records()->size(), std::size_t{2});
  }

  /// A run with another cache is repeated with the cache of the lesson.
  void theLearnersRunHasTheCacheOfTheLesson() {
    perform("learn.lesson:0-first-steps.md#3");
    QVERIFY(isIdle());
    m_window->workspace().model()->change(
        QStringLiteral("Play"), [](document::Document& document) { document.settings.maxTokens = 3; });
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->workspace().engine().isBusy(), kWait);
    QTest::qWait(50);
    QVERIFY(course().facts().empty());
    perform("learn.return");
    QCOMPARE(course().tasks().size(), std::size_t{1});
    perform("run.run");
    QTRY_COMPARE_WITH_TIMEOUT(course().facts().size(), std::size_t{1}, kWait);
    const metrics::TokenAccount& account = course().facts().front().account.prompt;
    QCOMPARE(account.computed, account.total());
  }

  void theLearnerChangesTheQuery() {
    perform("learn.lesson:6-when-nothing-is-found.md#3");
    QVERIFY(isIdle());
    QCOMPARE(course().tasks().size(), std::size_t{1});
    QVERIFY(!course().waiting());
    const auto write = [this](const char* text) {
      const auto part =
          course().selectionFor({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/1/plus/1"});
      m_window->workspace().model()->change(QStringLiteral("Type"), [&](document::Document& own) {
        query::Node node = own.at(part->currentNode()).own;
        *query::textOf(node) = text;
        document::setOwn(own, part->currentNode(), std::move(node));
      });
    };
    write("Tarek was");
    QTest::qWait(100);
    QCOMPARE(course().tasks().size(), std::size_t{1});
    // Spaces and capital letters are free, and the lesson then has its own text.
    write("tarek was a  baker. The pet of Tarek is called Biscuit. the garden needs water.");
    QTRY_VERIFY(course().tasks().empty());
    QVERIFY(course().waiting().has_value());
    QCOMPARE(m_window->workspace().model()->document(), [this] {
      document::Document wanted = *course().document();
      wanted.settings = m_window->workspace().model()->document().settings;
      return wanted;
    }());
    QVERIFY(!m_window->workspace().current()->model->isModified());
  }

  void theLearnerSwapsTwoDocuments() {
    perform("learn.lesson:3-prefix-caching.md#8");
    QVERIFY(isIdle());
    QCOMPARE(course().tasks().size(), std::size_t{1});
    const auto second =
        course().selectionFor({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/1/plus/1"});
    QVERIFY(second.has_value());
    m_window->workspace().select(*second);
    perform("node.move-up");
    QTRY_VERIFY(course().tasks().empty());
    QVERIFY(course().waiting().has_value());
    QVERIFY(goTo(8));
  }

  void theLessonActsForTheLearner() {
    perform("learn.lesson:3-prefix-caching.md#8");
    QVERIFY(isIdle());
    auto* help = reader().findChild<QPushButton*>(QStringLiteral("lessonHelp"));
    QVERIFY(help != nullptr);
    help->click();
    QTRY_VERIFY(course().tasks().empty());
    QVERIFY(course().waiting().has_value());
  }

  /// The keys of a presenter and F8 go to a question that waits, not past it.
  void noKeySkipsAQuestion() {
    perform("learn.lesson:3-prefix-caching.md#3");
    QVERIFY(isIdle());
    QVERIFY(course().waiting().has_value());
    QTest::keyClick(m_window, Qt::Key_F8);
    QCOMPARE(course().step(), std::size_t{2});
    auto* reminder = reader().findChild<QLabel*>(QStringLiteral("lessonReminder"));
    QVERIFY(reminder != nullptr && reminder->isVisible());
    perform("learn.present");
    for (int i = 0; i < 5; ++i) QTest::keyClick(&m_window->canvas(), Qt::Key_PageDown);
    QCOMPARE(course().step(), std::size_t{2});
    QVERIFY(course().waiting().has_value());
    course().answer(*course().waiting(), {});
    for (int i = 0; i < 5 && course().step() == 2; ++i)
      QTest::keyClick(&m_window->canvas(), Qt::Key_PageDown);
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{3});
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
  }

  /// A wrong answer about a run that has ended can be given once more, before the right answer is shown.
  void anAnswerHasASecondTry() {
    perform("learn.lesson:2-pages-and-blocks.md#3");
    QVERIFY(isIdle());
    const auto answer = [this](const char* text) {
      auto* number = reader().findChild<QLineEdit*>();
      if (number == nullptr) return false;
      number->setText(QString::fromLatin1(text));
      button(QStringLiteral("Answer"))->click();
      return true;
    };
    const QuestionPlace place = *course().waiting();
    QVERIFY(answer("77"));
    QTRY_VERIFY(reader().findChild<QLabel*>(QStringLiteral("lessonSecondTry")) != nullptr);
    QVERIFY(course().waiting() == place);
    QVERIFY(reader().findChild<QLabel*>(QStringLiteral("lessonVerdict")) == nullptr);
    QVERIFY(answer("78"));
    QTRY_VERIFY(!course().waiting().has_value());
    QCOMPARE(course().answerTo(place)->number, QStringLiteral("78"));
    QVERIFY(reader().findChild<QLabel*>(QStringLiteral("lessonVerdict")) != nullptr);
  }

  void anAnswerCanBeChangedBeforeItsRun() {
    perform("learn.lesson:3-prefix-caching.md#5");
    QVERIFY(isIdle());
    const QuestionPlace place = *course().waiting();
    course().answer(place, {.number = QStringLiteral("3"), .choice = {}});
    QTRY_VERIFY(button(QStringLiteral("Change answer")) != nullptr);
    button(QStringLiteral("Change answer"))->click();
    QTRY_VERIFY(reader().findChild<QLineEdit*>() != nullptr);
    reader().findChild<QLineEdit*>()->setText(QStringLiteral("0"));
    button(QStringLiteral("Answer"))->click();
    QTRY_COMPARE(course().answerTo(place)->number, QStringLiteral("0"));
    QVERIFY(goTo(5));
    // After the run, the answer stays, and the reason is shown.
    course().changeAnswer(place, {.number = QStringLiteral("7"), .choice = {}});
    QCOMPARE(course().answerTo(place)->number, QStringLiteral("0"));
    const auto* verdict = reader().findChild<QLabel*>(QStringLiteral("lessonVerdict"));
    QVERIFY(verdict != nullptr && verdict->text().contains(QLatin1Char('\n')));
  }

  void answersAreSavedForATeacher() {
    perform("learn.lesson:3-prefix-caching.md#5");
    QVERIFY(isIdle());
    course().answer(*course().waiting(), {.number = QStringLiteral("3"), .choice = {}});
    QVERIFY(reader().findChild<QPushButton*>(QStringLiteral("lessonSaveAnswers")) == nullptr);
    QVERIFY(goTo(course().steps() - 1));
    QVERIFY(reader().findChild<QPushButton*>(QStringLiteral("lessonSaveAnswers")) != nullptr);
    const QString path = m_fresh->path(QStringLiteral("answers.json"));
    QCOMPARE(m_window->lessons().saveAnswers(path), QString());
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const lesson::LearnerAnswers saved = lesson::readAnswers(file.readAll().toStdString(), "answers.json");
    QCOMPARE(saved.lesson, std::string("3-prefix-caching.md"));
    QVERIFY(saved.answers == std::vector<lesson::GivenAnswer>({{.step = 5, .question = 1, .number = "3"}}));
    QVERIFY(!m_window->lessons().saveAnswers(m_fresh->path(QStringLiteral("none/answers.json"))).isEmpty());
  }

  void theLastStepLeadsToTheNextLesson() {
    const std::vector<ListedLesson> lessons = listedLessons();
    perform("learn.lesson:3-prefix-caching.md#11");
    QVERIFY(isIdle());
    QCOMPARE(course().step() + 1, course().steps());
    const QString next = reader().nextLesson();
    QTest::keyClick(m_window, Qt::Key_F8);
    QVERIFY(isIdle());
    QCOMPARE(course().file().path, next);
    QVERIFY(course().file().key().startsWith(QStringLiteral("4-")));
    QVERIFY(m_window->lessons().open(lessons.back().path, 999));
    QVERIFY(reader().nextLesson().isEmpty());
  }

  /// At the end of a lesson, the learner is free to change and run the query.
  void theEndOfALessonIsFree() {
    perform("learn.lesson:0-first-steps.md#9");
    QVERIFY(isIdle());
    QVERIFY(course().isFree());
    m_window->workspace().model()->change(
        QStringLiteral("Play"), [](document::Document& document) { document.settings.maxTokens = 3; });
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->workspace().engine().isBusy(), kWait);
    QTest::qWait(50);
    QVERIFY(button(worded("<back-to-the-step>")) == nullptr);
    QVERIFY(goTo(2));
    QVERIFY(!course().isFree());
  }

  /// Every bundled lesson gives a reason for each answer, and ends with three things that the learner knows.
  void bundledLessonsGiveReasonsAndEndWithThreeFacts() {
    for (const ListedLesson& listed : listedLessons()) {
      const std::shared_ptr<const LessonFile> file = openLesson(listed.path);
      for (const lesson::Step& step : file->lesson.steps) {
        for (const lesson::Block& block : step.blocks) {
          const auto* question = std::get_if<lesson::Question>(&block);
          QVERIFY2(question == nullptr || question->why, qPrintable(listed.key));
        }
      }
      const auto* last = std::get_if<lesson::Prose>(&file->lesson.steps.back().blocks.front());
      QVERIFY2(last != nullptr && last->pieces.size() == 1, qPrintable(listed.key));
      const QStringList lines =
          QString::fromStdString(std::get<std::string>(last->pieces.front())).split(QLatin1Char('\n'));
      QVERIFY2(std::count_if(lines.begin(), lines.end(),
                             [](const QString& line) { return line.startsWith(QStringLiteral("- ")); }) == 3,
               qPrintable(listed.key));
    }
  }

  void aSelectedBlockIsTheAnswer() {
    perform("learn.lesson:2-pages-and-blocks.md");
    QVERIFY(isIdle());
    const auto& steps = course().lesson().steps;
    const auto asks = std::find_if(steps.begin(), steps.end(), [](const lesson::Step& step) {
      return std::any_of(step.blocks.begin(), step.blocks.end(), [](const lesson::Block& block) {
        const auto* question = std::get_if<lesson::Question>(&block);
        return question != nullptr && question->kind == lesson::Question::Kind::Block;
      });
    });
    QVERIFY(asks != steps.end());
    QVERIFY(goTo(static_cast<std::size_t>(asks - steps.begin())));
    auto* number = reader().findChild<QLineEdit*>();
    QVERIFY(number != nullptr);
    // What the lesson itself selected is no answer.
    QTest::qWait(50);
    QVERIFY(number->text().isEmpty());
    const auto* area = reader().findChild<QScrollArea*>(QStringLiteral("lessonArea"));
    QVERIFY(area != nullptr && area->widget()->width() <= area->viewport()->width());
    const metrics::RunFacts& facts = course().facts().back();
    const std::vector<trace::BlockPlace> blocks =
        metrics::blocksInView(facts.requests.front(), facts.blockSize);
    QVERIFY(blocks.size() > 1);
    Selection selection;
    selection.block = BlockRef{facts.requests.front().request, blocks[1].segment, blocks[1].virtualIndex};
    m_window->workspace().select(selection);
    QTRY_COMPARE(number->text(), QStringLiteral("1"));
  }

  void backAndForthAtRandomIsAlwaysTheSame() {
    perform("learn.lesson:6-when-nothing-is-found.md");
    QVERIFY(isIdle());
    std::vector<Seen> states;
    for (std::size_t step = 0; step < course().steps(); ++step) {
      QVERIFY2(goTo(step), qPrintable(course().problem()));
      // A step that was left has the learner's changes.
      if (!course().tasks().empty()) course().doTasks();
      QVERIFY(isIdle());
      states.push_back(seen());
    }
    const lesson::LessonFacts facts = course().facts();
    constexpr unsigned kSeed = 7;
    constexpr int kMoves = 1000;
    constexpr int kRunEvery = 100;
    constexpr int kShown = 250;  // moves with views that draw, which takes most of the time
    std::mt19937 random(kSeed);
    Workspace& workspace = m_window->workspace();
    for (int i = 0; i < kMoves; ++i) {
      const std::size_t step = 1 + random() % (course().steps() - 1);
      const QByteArray where = "seed " + QByteArray::number(kSeed) + ", move " + QByteArray::number(i) +
                               ", step " + QByteArray::number(qulonglong(step));
      if (i % 3 == 0) {
        workspace.model()->change(QStringLiteral("Play"), [i](document::Document& document) {
          document.settings.seed = static_cast<std::uint64_t>(i);
        });
      }
      if (i % 7 == 0) workspace.select({});
      if (i == kShown) m_window->hide();
      if (i % 97 == 0) perform(i % 2 == 0 ? "view.author" : "view.measure");
      if (i % kRunEvery == 0) {
        perform("run.run");
        QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy(), kWait);
      }
      QVERIFY2(goTo(step), where.constData());
      QVERIFY2(seen() == states[step], where.constData());
    }
    QCOMPARE(course().facts().size(), facts.size());
    for (std::size_t i = 0; i < facts.size(); ++i) QVERIFY(course().facts()[i].account == facts[i].account);
  }

  void playingFreelyChangesNoFigure() {
    perform("learn.lesson:0-first-steps.md#3");
    QVERIFY(isIdle());
    course().doTasks();
    QVERIFY(isIdle());
    const Seen before = seen();
    const std::int64_t first = course().facts().front().account.prompt.total();
    // The learner asks what the lesson will ask next, so that the cache would know it.
    m_window->workspace().model()->change(
        QStringLiteral("Play"), [](document::Document& document) { document.settings.maxTokens = 3; });
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->workspace().engine().isBusy(), kWait);
    QTRY_VERIFY(button(worded("<back-to-the-step>")) != nullptr);
    QTest::keyClick(m_window, Qt::Key_F9, Qt::ShiftModifier);
    QCOMPARE(seen(), before);
    QTRY_VERIFY(button(worded("<back-to-the-step>")) == nullptr);
    QVERIFY(goTo(6));
    QCOMPARE(course().facts().front().account.prompt.total(), first);
    const lesson::FilledLesson filled = lesson::fill(course().lesson(), course().facts());
    for (std::size_t step = 0; step < 6; ++step) {
      for (const lesson::FilledBlock& block : filled.steps[step].blocks) {
        const auto* claims = std::get_if<lesson::FilledClaims>(&block);
        if (claims == nullptr) continue;
        for (const lesson::FilledClaim& claim : *claims) QVERIFY2(claim.holds == true, claim.written.c_str());
      }
    }
  }

  void aClickerTurnsThePresentedSteps() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    perform("learn.present");
    auto* bar = m_window->findChild<QWidget*>(QStringLiteral("statusBar"));
    QVERIFY(bar != nullptr && bar->isHidden());
    QVERIFY(button(QStringLiteral("Next ▸")) == nullptr);
    QVERIFY(m_window->docks().maximised() == m_window->docks().dock(QStringLiteral("canvas")));
    QTest::keyClick(&m_window->canvas(), Qt::Key_PageDown);
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{2});
    course().doTasks();
    QVERIFY(isIdle());
    QVERIFY(m_window->docks().maximised() == m_window->docks().dock(QStringLiteral("output")));
    QTest::keyClick(&m_window->canvas(), Qt::Key_PageUp);
    QCOMPARE(course().step(), std::size_t{1});
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QVERIFY(!bar->isHidden() && m_window->docks().maximised() == nullptr);
    QVERIFY(button(QStringLiteral("Next ▸")) != nullptr);
  }

  void aPresenterJumpsToAStep() {
    perform("learn.lesson:3-prefix-caching.md#1");
    QVERIFY(isIdle());
    perform("learn.present");
    const auto* steps = reader().findChild<QComboBox*>();
    QVERIFY(steps != nullptr && steps->isVisible() && steps->count() == int(course().steps()));
    QVERIFY(shownTexts().contains(QStringLiteral("1 of %1").arg(course().steps())));
    QTest::keyClick(&m_window->canvas(), Qt::Key_1);
    QTest::keyClick(&m_window->canvas(), Qt::Key_0);
    QCOMPARE(course().step(), std::size_t{0});
    QTest::keyClick(&m_window->canvas(), Qt::Key_Return);
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{9});
    QVERIFY(shownTexts().contains(QStringLiteral("10 of %1").arg(course().steps())));
    // The first Escape ends the number, the second the presentation.
    QTest::keyClick(&m_window->canvas(), Qt::Key_3);
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QVERIFY(button(QStringLiteral("Next ▸")) == nullptr);
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QVERIFY(button(QStringLiteral("Next ▸")) != nullptr);
    QCOMPARE(course().step(), std::size_t{9});
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

  /// Before a lesson opens a query there is nothing to show beside its step but examples.
  void aFirstStepIsPresentedAlone() {
    perform("learn.lesson:3-prefix-caching.md");
    QVERIFY(isIdle());
    QVERIFY(m_window->isWelcome() && m_window->findChild<WelcomePage*>()->isVisible());
    perform("learn.present");
    QVERIFY(!m_window->findChild<WelcomePage*>()->isVisible() && reader().isVisible());
    QTest::keyClick(&reader(), Qt::Key_PageDown);
    QVERIFY(isIdle());
    QVERIFY(m_window->canvas().isVisible() || m_window->docks().maximised() != nullptr);
    QTRY_VERIFY(reader().width() < m_window->width() / 2);
    QTest::keyClick(&reader(), Qt::Key_PageUp);
    QTest::keyClick(&reader(), Qt::Key_Escape);
    QTRY_VERIFY(reader().width() < m_window->width() / 2);
  }

  /// What a step shows while it is presented is no wish for other sizes.
  void docksHaveTheirSizesAfterPresenting() {
    perform("learn.lesson:3-prefix-caching.md#3");
    QVERIFY(isIdle());
    const auto widthOf = [this](const char* id) {
      return m_window->docks().dock(QString::fromLatin1(id))->width();
    };
    course().answer(*course().waiting(), {});
    // The next step shows a dock that the layout does not have.
    QVERIFY(goTo(3));
    // The dock of the step gets most of the width, a moment after the step.
    QTRY_VERIFY(widthOf("canvas") * 100 > m_window->docks().width() * 62);
    const std::map<const char*, int> before{
        {"output", widthOf("output")}, {"canvas", widthOf("canvas")}, {"tokens", widthOf("tokens")}};
    QVERIFY(goTo(2));
    perform("learn.present");
    for (int i = 0; i < 5 && course().step() == 2; ++i) QTest::keyClick(&reader(), Qt::Key_PageDown);
    QVERIFY(isIdle());
    QTest::qWait(300);
    QTest::keyClick(&reader(), Qt::Key_Escape);
    QTRY_VERIFY(m_window->docks().dock(QStringLiteral("prefix-tree"))->isVisible());
    constexpr int kNear = 20;  // pixels
    for (const auto& [id, width] : before)
      QTRY_VERIFY2(
          std::abs(widthOf(id) - width) <= kNear,
          qPrintable(QStringLiteral("%1: %2, %3 before").arg(QLatin1String(id)).arg(widthOf(id)).arg(width)));
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

  /// A lesson for any model takes the one that the learner has chosen; what holds of the bundled one alone is
  /// not asked of it.
  void aLessonRunsOnTheLearnersModel() {
    const QTemporaryDir folder;
    const QString mine = folder.filePath(QStringLiteral("mine"));
    std::filesystem::copy(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet", mine.toStdString());
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    chooseModel(*m_window->workspace().model(), mine);
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->workspace().engine().isBusy(), kWait);
    QCOMPARE(m_window->workspace().engine().model().name, QStringLiteral("mine"));
    perform("learn.lesson:4-block-attention.md");
    QVERIFY(isIdle());
    for (std::size_t step = 0; step < course().steps(); ++step)
      QVERIFY2(goTo(step), qPrintable(course().problem()));
    QVERIFY(course().facts().size() >= 5);
    for (const metrics::RunFacts& facts : course().facts()) QCOMPARE(facts.model, std::string("mine"));
    const lesson::FilledLesson filled = lesson::fill(course().lesson(), course().facts());
    QVERIFY(filled.failures().empty());
    std::size_t unasked = 0;
    for (const lesson::FilledStep& step : filled.steps) {
      for (const lesson::FilledBlock& block : step.blocks) {
        const auto* claims = std::get_if<lesson::FilledClaims>(&block);
        if (claims != nullptr && claims->empty()) ++unasked;
      }
    }
    QVERIFY(unasked > 0);
    // One on the bundled model takes that one all the same.
    perform("learn.lesson:3-prefix-caching.md");
    QVERIFY(goTo(1));
    QCOMPARE(course().facts().front().model, std::string("spanlet"));
  }

  void everyTargetOfAStepIsVisible_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QSize>("size");
    for (const ListedLesson& lesson : listedLessons()) {
      for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
        const QString name = QStringLiteral("%1 %2x%3").arg(lesson.key).arg(size.width()).arg(size.height());
        QTest::newRow(qPrintable(name)) << lesson.path << size;
      }
    }
  }
  /// At each stop of each step, the dock of the step is visible and has content, and a view shows each node,
  /// block and token that the step names or selects. While a question hides the run, the dock reports this.
  void everyTargetOfAStepIsVisible() {
    QFETCH(QString, path);
    QFETCH(QSize, size);
    m_window->resize(size);
    QVERIFY(m_window->lessons().open(path, 0));
    const LessonMarks& marks = m_window->lessons().marks();
    QVERIFY(isIdle());
    do {
      const std::size_t step = course().step();
      const auto waiting = course().waiting();
      const bool isRunHidden = waiting && course().asksAboutEnded(*waiting);
      const QString at = QStringLiteral("step %1, block %2: ").arg(step + 1).arg(course().readable());
      if (Dock* dock = m_window->docks().dock(course().dock()); dock != nullptr && !m_window->isWelcome()) {
        QTRY_VERIFY2_WITH_TIMEOUT(!dock->visibleRegion().isEmpty(), qPrintable(at + dock->id()), kWait / 3);
        QTRY_VERIFY2_WITH_TIMEOUT((isRunHidden && isHidden(*dock)) || hasContent(*dock),
                                  qPrintable(at + dock->id() + QStringLiteral(" is empty")), kWait / 3);
      }
      if (isRunHidden) continue;
      for (const lesson::Target& target : course().spokenOf()) {
        if (target.kind == lesson::Target::Kind::Dock) continue;
        const QString what = at + QString::fromStdString(lesson::written(target));
        QVERIFY2(course().selectionFor(target).has_value(), qPrintable(what));
        QTRY_VERIFY2_WITH_TIMEOUT(marks.isSeen(target), qPrintable(what), kWait / 3);
      }
      // The learner can drag a node only if the canvas draws the node alone, and large enough.
      for (const LessonCourse::Task& task : course().tasks()) {
        if (task.isDone || task.action->kind != lesson::ActionKind::Swap) continue;
        QTRY_VERIFY2_WITH_TIMEOUT(canBeDragged(*task.action), qPrintable(at + QStringLiteral("swap")),
                                  kWait / 3);
      }
    } while (continueLesson());
    QVERIFY2(course().problem().isEmpty(), qPrintable(course().problem()));
    QCOMPARE(course().step() + 1, course().steps());
  }

  /// The docks that an earlier lesson or the learner has opened do not take the room of a lesson's docks.
  void aLessonBeginsWithItsOwnDocks() {
    perform("learn.lesson:2-pages-and-blocks.md#6");
    QVERIFY(isIdle());
    const Dock* paging = m_window->docks().dock(QStringLiteral("paging"));
    QTRY_VERIFY(!paging->isHidden());
    perform("learn.lesson:3-prefix-caching.md#4");
    QVERIFY(isIdle());
    QVERIFY(paging->isHidden());
    // A comparison of an earlier step does not cover the block table of this step, or a dock of another
    // layout.
    QVERIFY(goTo(6));
    QTRY_VERIFY(!m_window->docks().dock(QStringLiteral("block-table"))->visibleRegion().isEmpty());
    QVERIFY(goTo(7));
    QVERIFY(m_window->docks().dock(QStringLiteral("compare"))->isHidden());
  }

  /// A job that is no run, such as the rotation, does not carry out the actions of the learner.
  void anotherJobOfTheLearnerIsNoRun() {
    perform("learn.lesson:5-relocation.md#6");
    QVERIFY(isIdle());
    QVERIFY(!course().tasks().empty());
    const std::size_t runs = course().facts().size();
    m_window->docks().bring(QStringLiteral("rotation"));
    QSignalSpy ended(&m_window->workspace(), &Workspace::jobEnded);
    QTRY_VERIFY(m_window->docks()
                    .dock(QStringLiteral("rotation"))
                    ->view()
                    ->canPerform(QStringLiteral("run.rotation")));
    perform("run.rotation");
    QTRY_VERIFY_WITH_TIMEOUT(!ended.empty(), kWait);
    QTest::qWait(100);
    QVERIFY(isIdle());
    QVERIFY(!course().tasks().empty() && course().facts().size() == runs);
  }

  /// A presented step shows its dock alone, even if the step also has targets in other docks.
  void aPresentedStepKeepsItsDock() {
    perform("learn.lesson:0-first-steps.md#7");
    QVERIFY(isIdle());
    perform("learn.present");
    QCOMPARE(m_window->docks().maximised(), m_window->docks().dock(QStringLiteral("canvas")));
    course().doTasks();
    QVERIFY(isIdle());
    QTest::qWait(300);
    QCOMPARE(m_window->docks().maximised(), m_window->docks().dock(QStringLiteral("tokens")));
  }

  /// Presenting changes only the block table. It performs no command of another view, such as an experiment
  /// without a name or a computation.
  void presentingStartsNothing() {
    perform("learn.lesson:5-relocation.md#3");
    QVERIFY(isIdle());
    QTRY_VERIFY(m_window->docks()
                    .dock(QStringLiteral("rotation"))
                    ->view()
                    ->canPerform(QStringLiteral("run.rotation")));
    QSignalSpy ended(&m_window->workspace(), &Workspace::jobEnded);
    perform("learn.present");
    QTest::qWait(500);
    QVERIFY(ended.empty() && !m_window->workspace().engine().isBusy());
    perform("learn.lesson:10-repair.md#1");
    QVERIFY(goTo(10));
    QCOMPARE(m_window->docks().maximised(), m_window->docks().dock(QStringLiteral("experiments")));
  }

  void whatIsSpokenOfIsFramed() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    // Three links. One of them is selected as well.
    LessonMarks& marks = m_window->lessons().marks();
    QTRY_COMPARE(marks.frames().size(), std::size_t{3});
    const document::Document& document = m_window->workspace().model()->document();
    for (const lesson::Target& target : course().spokenOf()) {
      const std::optional<Selection> part = selectionOf(target, document, nullptr);
      QVERIFY(part.has_value());
      const QRect place = m_window->canvas().placeOf(part->currentNode());
      const QRect inWindow(m_window->canvas().mapTo(m_window, place.topLeft()), place.size());
      QVERIFY(std::any_of(marks.frames().begin(), marks.frames().end(), [&](const LessonMarks::Frame& frame) {
        return frame.window == m_window && frame.place.contains(inWindow.center());
      }));
    }
    // The marks take no input.
    const QWidget* marked = m_window->findChild<QWidget*>(QStringLiteral("lessonMarks"));
    QVERIFY(marked != nullptr && marked->isVisible());
    QVERIFY(marked->testAttribute(Qt::WA_TransparentForMouseEvents));
    QVERIFY(goTo(2));
    QTRY_COMPARE(marks.frames().size(), std::size_t{0});
    QVERIFY(goTo(1));
    QTRY_COMPARE(marks.frames().size(), std::size_t{3});
    perform("learn.leave");
    QTRY_COMPARE(marks.frames().size(), std::size_t{0});
    QVERIFY(!marked->isVisible());
  }

  void aWordLeadsToItsPartByKeys() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    LessonMarks& marks = m_window->lessons().marks();
    QTRY_COMPARE(marks.frames().size(), std::size_t{3});
    QVERIFY(!marks.arrowEnd());
    QList<LessonText*> texts = reader().findChildren<LessonText*>();
    const auto linked = std::find_if(texts.begin(), texts.end(), [](const LessonText* text) {
      return text->toPlainText().contains(QStringLiteral("The first message"));
    });
    QVERIFY(linked != texts.end());
    (*linked)->setFocus(Qt::TabFocusReason);
    QCOMPARE((*linked)->pointedLink(), QUrl(QStringLiteral("node:/g/input/cross/0")));
    QTRY_VERIFY(marks.arrowEnd().has_value());
    const auto pointed = [&marks] {
      return std::find_if(marks.frames().begin(), marks.frames().end(),
                          [](const LessonMarks::Frame& frame) { return frame.isPointed; });
    };
    QVERIFY(pointed() != marks.frames().end());
    QVERIFY(pointed()->place.contains(*marks.arrowEnd()));
    QTest::keyClick(*linked, Qt::Key_Tab);
    QCOMPARE((*linked)->pointedLink(), QUrl(QStringLiteral("node:/g/input/cross/2")));
    QTest::keyClick(*linked, Qt::Key_Tab, Qt::ShiftModifier);
    QCOMPARE((*linked)->pointedLink(), QUrl(QStringLiteral("node:/g/input/cross/0")));
    QTest::keyClick(*linked, Qt::Key_Return);
    QCOMPARE(m_window->focusWidget(), static_cast<QWidget*>(&m_window->canvas()));
    const document::DocumentNode& node =
        m_window->workspace().model()->document().at(m_window->workspace().input().selection.currentNode());
    QVERIFY(query::writeCanonical(node.own).find("helpful assistant") != std::string::npos);
    QTRY_VERIFY(!marks.arrowEnd().has_value());
  }

  void partsAreBroughtFromBehindAndFromAfar() {
    const QString path = m_fresh->path(QStringLiteral("parts.md"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nlayout explain\nrun\ndock pool\n```\n\n"
        "See [a block](block:3), [a token](token:40) and [the pool](dock:pool).\n");
    file.close();
    QVERIFY(m_window->lessons().open(path));
    QVERIFY(isIdle());
    LessonMarks& marks = m_window->lessons().marks();
    Dock* table = m_window->docks().dock(QStringLiteral("block-table"));
    Dock* tokens = m_window->docks().dock(QStringLiteral("tokens"));
    // The pool covers the block table; the block is framed in it.
    QVERIFY(table->visibleRegion().isEmpty());
    lesson::Target block{.kind = lesson::Target::Kind::Block, .number = 3};
    lesson::Target token{.kind = lesson::Target::Kind::Token, .number = 40};
    marks.bring(block);
    marks.bring(token);
    QTRY_VERIFY(!marks.frames().empty());
    m_window->docks().dock(QStringLiteral("tokens"))->setFloating(true);
    marks.bring(token);
    QTRY_VERIFY(std::any_of(marks.frames().begin(), marks.frames().end(),
                            [&](const LessonMarks::Frame& frame) { return frame.window == tokens; }));
    tokens->setFloating(false);
    tokens->close();
    const auto isFramedIn = [&](const Dock& dock) {
      const QRect inWindow(dock.mapTo(m_window, QPoint()), dock.size());
      return std::any_of(marks.frames().begin(), marks.frames().end(), [&](const LessonMarks::Frame& frame) {
        return frame.window == m_window && inWindow.contains(frame.place);
      });
    };
    Dock* pool = m_window->docks().dock(QStringLiteral("pool"));
    marks.bring(block);
    QTRY_VERIFY(!pool->visibleRegion().isEmpty() && isFramedIn(*pool));
    // The dock of the step comes back for it; covered by another, it comes to the front.
    pool->close();
    marks.bring(block);
    QTRY_VERIFY(!pool->visibleRegion().isEmpty() && isFramedIn(*pool));
    table->raise();
    QTRY_VERIFY(pool->visibleRegion().isEmpty() && isFramedIn(*table));
    marks.bring({.kind = lesson::Target::Kind::Dock, .dock = "pool"});
    QTRY_VERIFY(!m_window->docks().dock(QStringLiteral("pool"))->visibleRegion().isEmpty());
  }

  /// In the views of attention and of the turn as in those of blocks and tokens.
  void partsOfOtherViewsAreFramedToo_data() {
    QTest::addColumn<QString>("dock");
    QTest::newRow("attention") << QStringLiteral("attention");
    QTest::newRow("rotation") << QStringLiteral("rotation");
  }
  void partsOfOtherViewsAreFramedToo() {
    QFETCH(QString, dock);
    const QString path = m_fresh->path(QStringLiteral("parts.md"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nlayout explain\nrun\nselect token:40\ndock " +
        dock.toUtf8() + "\n```\n\nSee [a token](token:40).\n");
    file.close();
    QVERIFY(m_window->lessons().open(path));
    QVERIFY(isIdle());
    LessonMarks& marks = m_window->lessons().marks();
    Dock* shown = m_window->docks().dock(dock);
    QTRY_VERIFY(
        std::any_of(marks.frames().begin(), marks.frames().end(), [&](const LessonMarks::Frame& frame) {
          const QRect inWindow(shown->mapTo(m_window, QPoint()), shown->size());
          return frame.window == m_window && inWindow.contains(frame.place);
        }));
    // An arrow leads there from the word that keys have reached.
    LessonText* linked = nullptr;
    for (LessonText* text : reader().findChildren<LessonText*>()) {
      if (text->isVisible() && text->focusPolicy() == Qt::StrongFocus) linked = text;
    }
    QVERIFY(linked != nullptr);
    linked->setFocus(Qt::TabFocusReason);
    QTRY_VERIFY(marks.arrowEnd().has_value());
    const QRect inWindow(shown->mapTo(m_window, QPoint()), shown->size());
    QVERIFY(inWindow.contains(*marks.arrowEnd()));
  }

  void filesAreReadInTheLessonsFolderOnly() {
    const auto write = [this](const char* name, const QByteArray& text) {
      QFile file(m_fresh->path(QString::fromLatin1(name)));
      return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
    };
    QVERIFY(QDir().mkpath(m_fresh->path(QStringLiteral("own"))));
    QVERIFY(write("outside.txt", "Zed lives in Zurich."));
    QVERIFY(write("own/priya.txt", "Priya lives in Cairo. The pet of Priya is called Waffles."));
    const QByteArray query =
        R"({"g": {"model": "m", "max_tokens": 12, "temperature": 0.0, "input": {"cross": [{"file": "NAME"},)"
        R"({"user": "What is the name of the pet of Priya?"}]}}})";
    QVERIFY(write("own/query.json", QByteArray(query).replace("NAME", "priya.txt")));
    const QByteArray text =
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: query.json\n---\n\n## 1. One\n\n"
        "```do\nopen query.json\nrun\n```\n\n*{run 1: answer}*\n";
    QVERIFY(write("own/lesson.md", text));
    QVERIFY(m_window->lessons().open(m_fresh->path(QStringLiteral("own/lesson.md"))));
    QVERIFY(isIdle());
    QVERIFY2(course().problem().isEmpty(), qPrintable(course().problem()));
    QCOMPARE(course().facts().size(), std::size_t{1});
    QVERIFY(write("own/query.json", QByteArray(query).replace("NAME", "../outside.txt")));
    QVERIFY(!m_window->lessons().open(m_fresh->path(QStringLiteral("own/lesson.md"))));
    const auto* problems = reader().findChild<QLabel*>(QStringLiteral("lessonProblems"));
    QVERIFY(problems != nullptr && problems->text().contains(QStringLiteral("outside.txt")));
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

  void whatIsDoneBecomesALesson() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    Workspace& workspace = m_window->workspace();
    perform("learn.record");
    LessonRecorder* recorder = m_window->lessons().recording().recorder();
    QVERIFY(recorder != nullptr);
    const auto run = [this] {
      perform("run.run");
      return QTest::qWaitFor([this] { return !m_window->workspace().engine().isBusy(); }, kWait);
    };
    recorder->setHead(QStringLiteral("Recorded"), 5, QStringLiteral("what was recorded"));
    recorder->setTexts(QStringLiteral("First"), QStringLiteral("A query."),
                       QStringLiteral("It read {run 1: computed tokens} tokens."));
    QVERIFY(run());
    QTRY_COMPARE(recorder->runs(), 1U);
    recorder->newStep();
    recorder->setTexts(QStringLiteral("Second"), QStringLiteral("Another question, in blocks of four."),
                       QStringLiteral("{run 2: cached tokens} were found."));
    recorder->setQuestion({.kind = lesson::Question::Kind::Number,
                           .text = "How many?",
                           .answer = "run 2: cached tokens",
                           .choices = {}});
    const document::Document& document = workspace.model()->document();
    const auto last =
        selectionOf({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/2"}, document, nullptr);
    QVERIFY(last.has_value());
    workspace.select(*last);
    QTest::qWait(50);
    QVERIFY(recorder->selectedParts().front().name.startsWith(QStringLiteral("What is")));
    recorder->noteSelection();
    workspace.model()->change(QStringLiteral("Type"), [&](document::Document& own) {
      query::Node node = own.at(last->currentNode()).own;
      *query::textOf(node) = "Where does Mira live?";
      document::setOwn(own, last->currentNode(), std::move(node));
    });
    perform("view.explain");
    perform("view.dock:pool");
    QVERIFY(run());
    QTRY_COMPARE(recorder->runs(), 2U);
    // A node that goes makes another query of it.
    recorder->newStep();
    recorder->setTexts(QStringLiteral("Third"), QStringLiteral("One document less."), QString());
    const auto middle = selectionOf({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/1/plus/1"},
                                    document, nullptr);
    QVERIFY(middle.has_value());
    workspace.select(*middle);
    m_window->canvas().perform(QStringLiteral("edit.delete"));
    QVERIFY(run());
    QTRY_COMPARE(recorder->runs(), 3U);
    std::vector<metrics::PromptAccount> recorded;
    for (const auto& record : *workspace.history().records()) {
      metrics::PromptAccount& sum = recorded.emplace_back();
      for (const auto& [request, account] : record->accounts) sum += account;
    }
    const QString path = m_fresh->path(QStringLiteral("My lesson.md"));
    QVERIFY(m_window->lessons().recording().saveAs(path));
    QVERIFY(m_window->lessons().recording().recorder() == nullptr);
    QVERIFY(reader().isVisible() && reader().course() != nullptr);
    QVERIFY(isIdle());
    QVERIFY(reader().width() < m_window->width() / 2);
    QCOMPARE(course().steps(), std::size_t{3});
    for (std::size_t step = 1; step < 3; ++step) QVERIFY2(goTo(step), qPrintable(course().problem()));
    QCOMPARE(course().facts().size(), std::size_t{3});
    for (std::size_t i = 0; i < 3; ++i) QVERIFY(course().facts()[i].account == recorded[i]);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    for (const char* line :
         {"open my-lesson-rag.span\n", "layout explain\n", "dock pool\n", "select node:/g/input/cross/2\n",
          "edit node:/g/input/cross/2 \"Where does Mira live?\"\n", "open my-lesson-rag-2.span\n"})
      QVERIFY2(text.contains(QString::fromLatin1(line)), line);
    // The other selections were only made to work.
    QCOMPARE(text.count(QStringLiteral("select ")), 1);
  }

  void aRecordingThatCannotBeReadStays() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    perform("learn.record");
    LessonRecorder* recorder = m_window->lessons().recording().recorder();
    QVERIFY(recorder != nullptr);
    const QString path = m_fresh->path(QStringLiteral("lesson.md"));
    QVERIFY(!m_window->lessons().recording().saveAs(path));
    QVERIFY(m_window->lessons().recording().recorder() == recorder);
    const auto* problem = m_window->findChild<QLabel*>(QStringLiteral("lessonRecorderProblem"));
    QVERIFY(problem != nullptr && problem->isVisible());
    QVERIFY2(problem->text().contains(worded("<step-without-text>")), qPrintable(problem->text()));
    // No lesson is opened over it.
    perform("learn.lesson:0-first-steps.md");
    QVERIFY(m_window->lessons().recording().recorder() == recorder);
    recorder->setTexts(QStringLiteral("One"), QStringLiteral("Something."), QString());
    QVERIFY(m_window->lessons().recording().saveAs(path));
  }

  void whoHearsTheWindowIsToldOfSteps() {
    // What is said when a step comes, and again when a run has added to it.
    const auto said = [this] {
      const auto* area = reader().findChild<QScrollArea*>(QStringLiteral("lessonArea"));
      return area->widget()->accessibleName() + QLatin1Char('|') + area->widget()->accessibleDescription();
    };
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    QVERIFY2(said().startsWith(QStringLiteral("Step 2: A prompt as a tree|This is a query")),
             qPrintable(said()));
    course().goTo(2);
    QVERIFY2(said().startsWith(QStringLiteral("Step 3: The first run|A run gives")), qPrintable(said()));
    course().doTasks();
    QVERIFY2(said().endsWith(QStringLiteral("Running…")), qPrintable(said()));
    QVERIFY(isIdle());
    QVERIFY2(said().startsWith(QStringLiteral("Step 3: The first run|The model answers")),
             qPrintable(said()));
    // Everything that takes the focus has a name.
    for (const QWidget* widget : reader().findChildren<QWidget*>()) {
      if (!widget->isVisible() || (widget->focusPolicy() & Qt::TabFocus) == 0) continue;
      const QAccessibleInterface* one = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
      QVERIFY(one != nullptr);
      QVERIFY2(!one->text(QAccessible::Name).isEmpty(), widget->metaObject()->className());
    }
  }

  void progressIsKept() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    perform("learn.leave");
    QVERIFY(!reader().isVisible());
    perform("learn.lessons");
    QVERIFY(reader().isVisible() && reader().showsLessons());
    QVERIFY(shownTexts().join(QLatin1Char('\n')).contains(QStringLiteral("at step 2 of 10")));
    perform("learn.lesson:0-first-steps.md");
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{1});
  }

  void aWrongFileSaysWhere() {
    const QString path = m_fresh->path(QStringLiteral("wrong.md"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("---\ntitle: T\nminutes: 5\nafter: a\n---\n\n## 1. One\n\n```do\njump\n```\n");
    file.close();
    QVERIFY(!m_window->lessons().open(path));
    QVERIFY(reader().course() == nullptr);
    const auto* problems = reader().findChild<QLabel*>(QStringLiteral("lessonProblems"));
    QVERIFY(problems != nullptr);
    QVERIFY2(problems->text().contains(QStringLiteral("Line 10, column 1")), qPrintable(problems->text()));
    QVERIFY(!m_window->lessons().open(m_fresh->path(QStringLiteral("none.md"))));
  }

  void theMenuHasEveryLesson() {
    const auto* command = m_window->findChild<QAction*>(QStringLiteral("learn.lessons"));
    QVERIFY(command != nullptr);
    QMenu* learn = nullptr;
    for (QObject* object : command->associatedObjects()) {
      if (auto* menu = qobject_cast<QMenu*>(object)) learn = menu;
    }
    QVERIFY(learn != nullptr);
    Q_EMIT learn->aboutToShow();
    Q_EMIT learn->aboutToShow();
    QCOMPARE(static_cast<std::size_t>(learn->findChildren<QAction*>(QStringLiteral("lessonAction")).size()),
             listedLessons().size());
  }
};

SPANSCOPE_TEST(tst_lesson_reader, TestLessonReader, QApplication)
#include "tst_lesson_reader.moc"
