// SPDX-License-Identifier: GPL-3.0-or-later
// Lessons beside the views.
#include "engine/base/error.h"
#include "engine/experiment/experiment.h"
#include "engine/lesson/lesson_folder.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/lessons/lesson_recorder_panel.h"
#include "ui/views/experiments/experiments_view.h"
#include "ui/window/lesson_marks.h"
#include "ui/window/lesson_page_job.h"
#include "ui/window/main_window.h"
#include "ui/window/window_stage.h"

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMenu>
#include <QSplitter>
#include <QStatusBar>
#include <QTimer>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kLeastUsual = 264;
constexpr int kMostUsual = 380;
constexpr int kFullScreenTime = 200;  // milliseconds
constexpr double kPresentedZoom = 2;  ///< most of a query: it is to be read from the last row
constexpr const char* kReaderSetting = "lessons/width";

}  // namespace

LessonReader& MainWindow::lessonReader() {
  if (m_reader != nullptr) return *m_reader;
  m_stage = new WindowStage(*this);
  m_reader = new LessonReader(m_settings, *m_stage);
  m_reader->setTheme(m_workspace.input().theme);
  m_reader->setInput(m_workspace.input());
  m_reader->hide();
  connect(m_reader, &LessonReader::commandWanted, this, &MainWindow::perform);
  m_marks = new LessonMarks(*this, *m_reader);
  connect(m_reader, &LessonReader::stepShown, this, [this] {
    lightDock();
    m_marks->refresh();
    refreshCommands();
  });
  connect(&m_workspace, &Workspace::workEnded, m_reader, [this](const QString& problem, std::uint32_t tab) {
    LessonCourse* course = m_reader->course();
    if (course == nullptr || tab != m_stage->tab()) return;
    const OpenDocument* own = m_workspace.find(tab);
    course->workEnded(problem.isEmpty() && own != nullptr ? own->failure : problem);
  });
  m_split->insertWidget(0, m_reader);
  m_split->setStretchFactor(0, 0);
  m_split->setStretchFactor(1, 1);
  m_split->setCollapsible(0, false);
  m_split->setCollapsible(1, false);
  connect(m_split, &QSplitter::splitterMoved, this,
          [this] { m_settings.setValue(QLatin1String(kReaderSetting), m_reader->width()); });
  return *m_reader;
}

void MainWindow::showReader() {
  LessonReader& reader = lessonReader();
  if (reader.isVisible()) return;
  const int usual = std::clamp(width() * 27 / 100, kLeastUsual, kMostUsual);
  const int wanted = m_settings.value(QLatin1String(kReaderSetting), usual).toInt();
  const int wide = std::clamp(wanted, reader.minimumWidth(), std::max(reader.minimumWidth(), width() / 2));
  reader.show();
  giveWidth(reader, wide);
  m_fitWanted = true;
}

void MainWindow::giveWidth(QWidget& beside, int wide) {
  QList<int> sizes;
  for (int i = 0; i < m_split->count(); ++i) {
    const QWidget* one = m_split->widget(i);
    sizes.append(one == &beside ? wide : one == m_pages ? std::max(1, width() - wide) : 0);
  }
  m_split->setSizes(sizes);
}

void MainWindow::showLessons() {
  if (m_recorder != nullptr) return m_recorderPanel->takeFocus();
  LessonReader& reader = lessonReader();
  const bool wasShown = reader.isVisible();
  if (reader.course() == nullptr)
    reader.showLessons();
  else if (wasShown && !reader.showsLessons() && reader.isAncestorOf(focusWidget()))
    reader.showLessons();
  else
    reader.showStep();
  showReader();
  reader.takeFocus();
  refresh();
}

void MainWindow::learn() {
  const std::vector<ListedLesson> lessons = listedLessons();
  const bool isNew = std::none_of(lessons.begin(), lessons.end(), [this](const ListedLesson& lesson) {
    return lessonProgress(m_settings, lesson.key).steps > 0;
  });
  if (isNew && !lessons.empty())
    openLessonFile(lessons.front().path);
  else
    showLessons();
}

bool MainWindow::openLessonFile(const QString& path, std::optional<std::size_t> step) {
  if (m_recorder != nullptr) {
    say(tr("A lesson is being recorded: save it first, or throw it away."));
    return false;
  }
  LessonReader& reader = lessonReader();
  showReader();
  if (reader.course() != nullptr && reader.course()->isBusy()) {
    say(tr("The lesson is running something: stop it first."));
    return false;
  }
  m_stage->forgetTabs();
  if (!m_layoutsBefore) m_layoutsBefore = m_docks->layoutStates();
  const bool isOpen = reader.open(path, step);
  reader.takeFocus();
  refresh();
  return isOpen;
}

bool MainWindow::isLessonInView() const {
  return m_stage != nullptr && m_stage->isInView() && !isWelcome();
}

void MainWindow::leaveLesson() {
  present(false);
  lessonReader().leave();
  lessonReader().hide();
  m_stage->forgetTabs();
  lightDock();
  m_marks->refresh();
  // Where the lesson put docks is no wish of the person's.
  if (m_layoutsBefore)
    m_docks->setLayoutStates(*std::exchange(m_layoutsBefore, std::nullopt), m_docks->layout());
  m_fitWanted = true;
  if (!isWelcome()) m_canvas->setFocus(Qt::OtherFocusReason);
  refresh();
}

void MainWindow::lightDock() {
  const LessonCourse* course = m_reader == nullptr ? nullptr : m_reader->course();
  const QString lit = course == nullptr ? QString() : course->dock();
  for (Dock* dock : m_docks->docks()) dock->setLit(dock->id() == lit);
  showPages();
  if (!m_isPresenting) return;
  Dock* shown = m_docks->dock(lit.isEmpty() ? QStringLiteral("canvas") : lit);
  if (shown != nullptr && m_docks->maximised() != shown) {
    m_docks->restore();
    m_docks->toggleMaximised(shown);
  }
}

/// Nobody in a class is to choose an example: a step that is presented before any query is open has the
/// screen to itself.
void MainWindow::showPages() {
  const bool isShown = !m_isPresenting || !isWelcome();
  if (isShown == !m_pages->isHidden()) return;
  m_pages->setVisible(isShown);
  if (isShown && m_isPresenting) giveWidth(*m_reader, presentedWidth());
}

void MainWindow::present(bool isPresenting) {
  if (m_isPresenting == isPresenting) return;
  m_isPresenting = isPresenting;
  // Between two steps all docks are shown for a moment; the screen stays as large as it is.
  m_docks->setMinimumSize(isPresenting ? QSize(1, 1) : QSize(0, 0));
  if (isPresenting) m_docks->keepSizes(true);
  m_topBar->setVisible(!isPresenting);
  statusBar()->setVisible(!isPresenting);
  if (isPresenting) {
    m_wasMaximised = isMaximized();
    qApp->installEventFilter(this);
    showFullScreen();
  } else {
    qApp->removeEventFilter(this);
    m_docks->restore();
    if (m_wasMaximised)
      showMaximized();
    else
      showNormal();
  }
  m_reader->setPresenting(isPresenting);
  m_canvas->setMostFitZoom(isPresenting ? kPresentedZoom : 1);
  m_fitWanted = true;
  // The window gets its size from the desktop a little later.
  QTimer::singleShot(kFullScreenTime, this, [this] {
    const int wide =
        m_isPresenting ? presentedWidth() : std::clamp(width() * 27 / 100, kLeastUsual, kMostUsual);
    giveWidth(*m_reader, wide);
    if (!m_isPresenting) m_docks->keepSizes(false);
  });
  lightDock();
  refresh();
}

/// While a lesson is presented, keys of a clicker turn its steps.
bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  const auto* widget = qobject_cast<QWidget*>(watched);
  if (!m_isPresenting || event->type() != QEvent::KeyPress || widget == nullptr || widget->window() != this)
    return QMainWindow::eventFilter(watched, event);
  const auto& key = static_cast<QKeyEvent&>(*event);
  if (key.modifiers() != Qt::NoModifier) return false;
  switch (key.key()) {
    case Qt::Key_PageDown:
      // Nobody reads the end of a step that is left before.
      if (!m_reader->readOn()) perform(QStringLiteral("learn.next"));
      return true;
    case Qt::Key_PageUp:
      perform(QStringLiteral("learn.back"));
      return true;
    case Qt::Key_Escape:
      present(false);
      return true;
    default:
      return false;
  }
}

OpenDocument& MainWindow::openLessonQuery(const QString& title, const document::Document& document) {
  auto model = std::make_unique<DocumentModel>(document);
  model->setTitle(tr("%1 (lesson)").arg(title));
  OpenDocument& open = m_workspace.open(std::move(model));
  open.isOfLesson = true;
  watch(open);
  return open;
}

void MainWindow::showExperiment(const QString& name) {
  m_docks->bring(QStringLiteral("experiments"));
  auto* page = qobject_cast<ExperimentsView*>(m_docks->dock(QStringLiteral("experiments"))->openView());
  if (page == nullptr) return;
  try {
    experiment::ExperimentWish wish;
    wish.experiment = name.toStdString();
    page->setWish(experiment::completed(std::move(wish)));
  } catch (const Failure& failure) {
    say(QString::fromUtf8(failure.what()));
  }
}

void MainWindow::openLessonDialog() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Open a lesson"), m_lastFolder,
                                                    tr("Lessons (*.md);;All files (*)"));
  if (path.isEmpty()) return;
  m_lastFolder = QFileInfo(path).absolutePath();
  openLessonFile(path);
}

void MainWindow::saveLessonPageDialog() {
  const QString name = QFileInfo(m_reader->course()->file().path).completeBaseName();
  QString path = chosenSavePath(this, tr("Save the lesson as a page"),
                                m_lastFolder + QLatin1Char('/') + name + QStringLiteral(".html"),
                                tr("Web pages (*.html)"));
  if (path.isEmpty()) return;
  m_lastFolder = QFileInfo(path).absolutePath();
  saveLessonPage(path);
}

void MainWindow::saveLessonPage(const QString& page) {
  m_pageJob = std::make_unique<LessonPageJob>(m_program, m_reader->course()->file().path, page);
  connect(m_pageJob.get(), &LessonPageJob::finished, this, [this](const QString& problem) {
    LessonPageJob* const job = m_pageJob.release();
    // Its own signal led here.
    job->deleteLater();
    if (problem.isEmpty())
      say(tr("The page of the lesson is in %1.").arg(QDir::toNativeSeparators(job->page())));
    else
      complain(tr("The page of the lesson was not written: %1").arg(problem));
    refreshCommands();
  });
  statusBar()->showMessage(tr("Running the lesson once more for its page…"));
  m_pageJob->start();
  refreshCommands();
}

void MainWindow::addLessonCommands() {
  CommandHandlers& rows = m_commands;
  const auto course = [this] { return m_reader == nullptr ? nullptr : m_reader->course(); };
  rows.add("learn.lessons", [this] { showLessons(); });
  rows.add(
      "learn.record", [this] { return m_workspace.current() != nullptr && !isWelcome(); },
      [this] { record(); });
  rows.add("learn.open-file", [this] { openLessonDialog(); });
  rows.add(
      "learn.next", [course] { return course() != nullptr && !course()->isBusy(); },
      [this, course] {
        if (course()->canGoOn())
          course()->next();
        else if (!m_isPresenting)
          m_reader->showLessons();
      });
  rows.add(
      "learn.back", [course] { return course() != nullptr && course()->canGoBack(); },
      [course] { course()->back(); });
  rows.add(
      "learn.return", [course] { return course() != nullptr && !course()->isBusy(); },
      [this, course] {
        showReader();
        m_reader->showStep();
        course()->comeBack();
        m_stage->forgetWantedServer();
        m_reader->setInput(m_workspace.input());
      });
  rows.add(
      "learn.present", [course] { return course() != nullptr; }, [this] { present(!m_isPresenting); });
  rows.add(
      "learn.save-page",
      [this, course] { return course() != nullptr && m_pageJob == nullptr && !m_program.isEmpty(); },
      [this] { saveLessonPageDialog(); });
  rows.add(
      "learn.server", [course] { return course() != nullptr && !course()->isBusy(); },
      [this] { m_stage->chooseServer(); });
  rows.add(
      "learn.leave", [this] { return m_reader != nullptr && m_reader->isVisible(); },
      [this] { leaveLesson(); });
  // "0-first-steps.md", or "0-first-steps.md#3": from its third step.
  rows.addWithArgument(
      "learn.lesson", [] { return true; },
      [this](const QString& wanted) {
        const QString name = wanted.section(QLatin1Char('#'), 0, 0);
        std::optional<std::size_t> step;
        if (const auto number = wanted.section(QLatin1Char('#'), 1).toUInt(); number > 0) step = number - 1;
        const std::vector<ListedLesson> lessons = listedLessons();
        const auto found = std::find_if(lessons.begin(), lessons.end(),
                                        [&name](const ListedLesson& one) { return one.key == name; });
        if (found != lessons.end())
          openLessonFile(found->path, step);
        else
          say(tr("There is no lesson %1.").arg(name));
      });
}

void MainWindow::fillLearnMenu(QMenu& menu) {
  menu.addSeparator();
  // Read when the menu is opened for the first time: starting the program reads no lesson.
  connect(&menu, &QMenu::aboutToShow, &menu, [this, &menu] {
    if (!menu.findChildren<QAction*>(QStringLiteral("lessonAction")).isEmpty()) return;
    for (const ListedLesson& lesson : listedLessons()) {
      QAction* action = menu.addAction(QString(lesson.title).replace(QLatin1Char('&'), QStringLiteral("&&")));
      action->setObjectName(QStringLiteral("lessonAction"));
      action->setParent(&menu);
      connect(action, &QAction::triggered, this,
              [this, key = lesson.key] { perform(QStringLiteral("learn.lesson:") + key); });
    }
  });
}

}  // namespace spanscope::ui
