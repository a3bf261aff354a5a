// SPDX-License-Identifier: GPL-3.0-or-later
// A learner goes through lessons in the window by keys and buttons, answers questions, and carries out
// actions.
#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/lessons/lesson_window.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_question.h"
#include "ui/session/model_choices.h"
#include "ui/window/dialogs.h"
#include "ui/window/window_stage.h"

#include <QAccessible>
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::says;
using spanscope::product_text::worded;

class TestLessonReader : public LessonWindow {
  Q_OBJECT

 private:
  int m_questions = 0;  ///< number of answered questions where a lesson runs

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

 private Q_SLOTS:
  void init() {
    m_questions = 0;
    QVERIFY(openWindow());
  }
  void cleanup() { closeWindow(); }

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
    QCOMPARE(choices.size(), 3);
    choices[0]->setChecked(true);
    choices[2]->setChecked(true);
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

  /// An answer or a run removes controls of the lesson. The keyboard focus stays in the lesson.
  void theFocusStaysInTheLesson() {
    m_window->activateWindow();
    perform("learn.lesson:0-first-steps.md#5");
    QVERIFY(isIdle());
    const auto isInLesson = [this] { return reader().isAncestorOf(QApplication::focusWidget()); };
    auto* help = reader().findChild<QPushButton*>(QStringLiteral("lessonHelp"));
    QVERIFY(help != nullptr);
    help->setFocus();
    QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(help));
    help->click();
    QTRY_VERIFY_WITH_TIMEOUT(course().waiting().has_value(), kWait);
    QTRY_VERIFY(isInLesson());
    reader().findChildren<QRadioButton*>().front()->setChecked(true);
    QPushButton* answer = button(QStringLiteral("Answer"));
    answer->setFocus();
    QTRY_COMPARE(QApplication::focusWidget(), static_cast<QWidget*>(answer));
    answer->click();
    QTRY_VERIFY(!course().waiting().has_value());
    QTRY_VERIFY(isInLesson());
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
    perform("learn.lesson:0-first-steps.md#5");
    QVERIFY(isIdle());
    QCOMPARE(course().tasks().size(), std::size_t{1});
    const auto second =
        course().selectionFor({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/1/plus/1"});
    QVERIFY(second.has_value());
    m_window->workspace().select(*second);
    perform("node.move-up");
    QTRY_VERIFY(course().tasks().empty());
    QVERIFY(course().waiting().has_value());
    // The text was written before the swap, so its link still means the same document.
    const auto same =
        course().selectionFor({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/1/plus/1"});
    QVERIFY(same.has_value());
    QCOMPARE(same->currentNode(), second->currentNode());
    QVERIFY(goTo(6));
  }

  /// The node that the learner moves stays selected, and not the node that is now at the old place.
  void theMovedDocumentStaysSelected() {
    perform("learn.lesson:0-first-steps.md#5");
    QVERIFY(isIdle());
    const Selection before = m_window->workspace().current()->selection;
    QVERIFY(before.currentNode() != document::kNoNode);
    perform("node.move-up");
    QTRY_VERIFY(course().waiting().has_value());
    QCOMPARE(m_window->workspace().current()->selection, before);
    // The link and the selection are one target.
    QCOMPARE(course().spokenOf().size(), std::size_t{1});
    QVERIFY(goTo(3));
    QVERIFY(goTo(4));
    QCOMPARE(m_window->workspace().current()->selection, before);
  }

  /// A step with several blocks of claims has one note about all of them.
  void aStepIsCheckedOnce() {
    perform("learn.lesson:4-block-attention.md#5");
    QVERIFY(isIdle());
    const std::vector<lesson::Block>& blocks = course().lesson().steps[4].blocks;
    QVERIFY(std::ranges::count_if(blocks, [](const lesson::Block& block) {
              return std::holds_alternative<lesson::ClaimList>(block);
            }) > 1);
    QCOMPARE(shownTexts().count(worded("<checked-on-this-run>")), 1);
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
    // Only one question has a field.
    QVERIFY(course().waiting().has_value());
    course().answer(*course().waiting(), {});
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

  /// A job that is no run, such as the next tokens, does not carry out the actions of the learner.
  void anotherJobOfTheLearnerIsNoRun() {
    perform("learn.lesson:5-relocation.md#6");
    QVERIFY(isIdle());
    QVERIFY(!course().tasks().empty());
    const std::size_t runs = course().facts().size();
    m_window->docks().bring(QStringLiteral("next-token"));
    QSignalSpy ended(&m_window->workspace(), &Workspace::jobEnded);
    QTRY_VERIFY(m_window->docks()
                    .dock(QStringLiteral("next-token"))
                    ->view()
                    ->canPerform(QStringLiteral("run.next-token")));
    perform("run.next-token");
    QTRY_VERIFY_WITH_TIMEOUT(!ended.empty(), kWait);
    QTest::qWait(100);
    QVERIFY(isIdle());
    QVERIFY(!course().tasks().empty() && course().facts().size() == runs);
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
