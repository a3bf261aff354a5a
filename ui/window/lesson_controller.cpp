// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/lesson_controller.h"

#include "engine/lesson/lesson_folder.h"
#include "ui/document/problems.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/window/dock_host.h"
#include "ui/window/lesson_marks.h"
#include "ui/window/lesson_page_writer.h"
#include "ui/window/lesson_recording.h"
#include "ui/window/status_line.h"
#include "ui/window/window_parts.h"
#include "ui/window/window_stage.h"
#include "ui/window/workspace.h"

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMainWindow>
#include <QMenu>
#include <QSaveFile>
#include <QSettings>
#include <QTimer>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::ui {
namespace {

constexpr int kLeastUsual = 264;
constexpr int kMostUsual = 380;
constexpr int kFullScreenTime = 200;  // milliseconds
constexpr double kPresentedZoom = 2;  ///< max zoom of a query, readable from the last row
constexpr const char* kReaderSetting = "lessons/width";

/// Whether the step shows a dock after a run, or after actions of the learner. Then the text is about this
/// dock.
bool endsWithDock(const LessonCourse& course) {
  const std::vector<lesson::Block>& blocks = course.lesson().steps[course.step()].blocks;
  bool hasActed = false;
  bool isShown = false;
  for (std::size_t i = 0; i < course.readable(); ++i) {
    const auto* list = std::get_if<lesson::ActionList>(&blocks[i]);
    if (list == nullptr) continue;
    hasActed = hasActed || list->isForLearner;
    isShown = isShown && !list->isForLearner;
    for (const lesson::Action& action : list->actions) {
      hasActed = hasActed || action.kind == lesson::ActionKind::Run;
      isShown = isShown ||
                (hasActed && !list->isForLearner &&
                 (action.kind == lesson::ActionKind::Dock || action.kind == lesson::ActionKind::Compare));
    }
  }
  return hasActed && isShown;
}

}  // namespace

LessonController::LessonController(const WindowParts& parts)
    : m_parts(parts),
      m_window(parts.window),
      m_settings(parts.settings),
      m_workspace(parts.workspace),
      m_docks(parts.docks),
      m_canvas(parts.canvas),
      m_pages(parts.pages),
      m_status(parts.status),
      m_recording(std::make_unique<LessonRecording>(parts)) {
  connect(m_recording.get(), &LessonRecording::beginning, this, [this] {
    if (m_reader != nullptr && m_reader->isVisible()) leave();
  });
  connect(m_recording.get(), &LessonRecording::saved, this, [this](const QString& path) { open(path, 0); });
  connect(m_recording.get(), &LessonRecording::changed, this, &LessonController::changed);
  connect(m_recording.get(), &LessonRecording::documentOpened, this, &LessonController::documentOpened);
}

LessonController::~LessonController() {
  m_recording.reset();
  // The marks and the reader use the stage, which uses the workspace.
  delete m_marks;
  delete m_reader;
}

LessonReader& LessonController::reader() {
  if (m_reader != nullptr) return *m_reader;
  m_stage = new WindowStage(m_parts, *this);
  m_reader = new LessonReader(m_settings, *m_stage);
  m_reader->setTheme(m_workspace.input().theme);
  m_reader->setInput(m_workspace.input());
  m_reader->hide();
  connect(m_reader, &LessonReader::commandWanted, this, &LessonController::commandWanted);
  connect(m_reader, &LessonReader::savingWanted, this, &LessonController::saveAnswersDialog);
  m_marks = new LessonMarks(m_parts, *m_stage, *m_reader);
  connect(m_reader, &LessonReader::stepShown, this, [this] {
    lightDock();
    m_marks->refresh();
    m_marks->showTargetsLater();
    Q_EMIT commandsChanged();
  });
  connect(&m_workspace, &Workspace::jobEnded, m_reader, [this](const QString& problem, std::uint32_t tab) {
    LessonCourse* course = m_reader->course();
    if (course == nullptr || tab != m_stage->tab()) return;
    const OpenDocument* own = m_workspace.find(tab);
    course->jobEnded(problem.isEmpty() && own != nullptr ? own->failure : problem);
  });
  connect(&m_workspace, &Workspace::inputChanged, m_reader,
          [this] { m_reader->setInput(m_workspace.input()); });
  m_pages.addPanel(*m_reader);
  connect(&m_pages, &QSplitter::splitterMoved, this,
          [this] { m_settings.setValue(QLatin1String(kReaderSetting), m_reader->width()); });
  return *m_reader;
}

void LessonController::showReader() {
  LessonReader& reader = this->reader();
  if (reader.isVisible()) return;
  const int usual = std::clamp(m_window.width() * 27 / 100, kLeastUsual, kMostUsual);
  const int wanted = m_settings.value(QLatin1String(kReaderSetting), usual).toInt();
  const int wide =
      std::clamp(wanted, reader.minimumWidth(), std::max(reader.minimumWidth(), m_window.width() / 2));
  reader.show();
  m_pages.giveWidth(reader, wide);
  m_parts.places.fitLater();
}

void LessonController::showLessons() {
  if (m_recording->recorder() != nullptr) return m_recording->takeFocus();
  LessonReader& reader = this->reader();
  const bool wasShown = reader.isVisible();
  if (reader.course() == nullptr)
    reader.showLessons();
  else if (wasShown && !reader.showsLessons() && reader.isAncestorOf(m_window.focusWidget()))
    reader.showLessons();
  else
    reader.showStep();
  showReader();
  reader.takeFocus();
  Q_EMIT changed();
}

void LessonController::learn() {
  const std::vector<ListedLesson> lessons = listedLessons();
  const bool isNew = std::none_of(lessons.begin(), lessons.end(), [this](const ListedLesson& lesson) {
    return lessonProgress(m_settings, lesson.key).steps > 0;
  });
  if (isNew && !lessons.empty())
    open(lessons.front().path);
  else
    showLessons();
}

bool LessonController::open(const QString& path, std::optional<std::size_t> step) {
  if (m_recording->recorder() != nullptr) {
    m_status.say(tr("A lesson is being recorded. Save or discard the recording first."));
    return false;
  }
  LessonReader& reader = this->reader();
  showReader();
  if (reader.course() != nullptr && reader.course()->isBusy()) {
    m_status.say(tr("The lesson is running a job. Stop the job first."));
    return false;
  }
  const bool isOpen = reader.open(path, step);
  reader.takeFocus();
  m_status.setComparesTimes(reader.course() == nullptr);
  Q_EMIT changed();
  return isOpen;
}

void LessonController::leave() {
  present(false);
  reader().leave();
  reader().hide();
  lightDock();
  m_marks->refresh();
  m_parts.places.fitLater();
  m_status.setComparesTimes(true);
  if (!m_pages.isWelcome()) m_canvas.setFocus(Qt::OtherFocusReason);
  Q_EMIT changed();
}

/// The block table shows larger numbers on a projector.
void LessonController::enlargeBlocks(bool isLarger) {
  const Dock* dock = m_docks.dock(QStringLiteral("block-table"));
  if (dock != nullptr && dock->view() != nullptr)
    dock->view()->perform(isLarger ? QStringLiteral("view.larger") : QStringLiteral("view.usual-size"));
}

void LessonController::lightDock() {
  const LessonCourse* course = m_reader == nullptr ? nullptr : m_reader->course();
  const QString lit = course == nullptr ? QString() : course->dock();
  for (Dock* dock : m_docks.docks()) dock->setLit(dock->id() == lit);
  // The view of a step is larger than its text, unless the step also speaks of nodes on the canvas.
  const std::vector<lesson::Target> targets =
      course == nullptr ? std::vector<lesson::Target>() : course->spokenOf();
  const bool showsNodes = std::any_of(targets.begin(), targets.end(), [](const lesson::Target& target) {
    return target.kind == lesson::Target::Kind::Node;
  });
  const bool isLarge = !showsNodes || lit == QLatin1String("canvas") || endsWithDock(*course);
  m_docks.favour(isLarge ? lit : QString());
  showPages();
  if (!m_isPresenting) return;
  Dock* shown = m_docks.dock(lit.isEmpty() ? QStringLiteral("canvas") : lit);
  if (shown != nullptr && m_docks.maximised() != shown) {
    m_docks.restore();
    m_docks.toggleMaximised(shown);
  }
  enlargeBlocks(true);
}

void LessonController::showDocuments() {
  m_pages.showDocuments();
  Q_EMIT changed();
}

int LessonController::presentedWidth() const {
  return m_window.width() * 2 / 5;
}

void LessonController::fitPresented() {
  if (!m_isPresenting) return;
  m_pages.giveWidth(*m_reader, presentedWidth());
  m_reader->fitText();
}

void LessonController::setTheme(const Theme& theme) {
  if (m_reader != nullptr) m_reader->setTheme(theme);
  m_recording->setTheme(theme);
}

std::map<QString, QByteArray> LessonController::layoutStates() const {
  // A lesson moved the docks, not the user.
  const auto before = m_stage == nullptr ? std::nullopt : m_stage->layoutsBefore();
  return before ? *before : m_docks.layoutStates();
}

/// A step that is presented before any query is open has the whole screen. So a class does not see the
/// welcome page.
void LessonController::showPages() {
  const bool isShown = !m_isPresenting || !m_pages.isWelcome();
  if (isShown == !m_pages.pages().isHidden()) return;
  m_pages.pages().setVisible(isShown);
  if (isShown && m_isPresenting) m_pages.giveWidth(*m_reader, presentedWidth());
}

void LessonController::present(bool isPresenting) {
  if (m_isPresenting == isPresenting) return;
  m_isPresenting = isPresenting;
  // All docks are visible for a moment between two steps. The docks must not enlarge the window then.
  m_docks.setMinimumSize(isPresenting ? QSize(1, 1) : QSize(0, 0));
  if (isPresenting) m_docks.keepSizes(true);
  // menuWidget() is the bar with tabs and buttons.
  m_window.menuWidget()->setVisible(!isPresenting);
  m_status.setVisible(!isPresenting);
  if (isPresenting) {
    m_wasMaximised = m_window.isMaximized();
    qApp->installEventFilter(this);
    m_window.showFullScreen();
  } else {
    qApp->removeEventFilter(this);
    m_docks.restore();
    enlargeBlocks(false);
    if (m_wasMaximised)
      m_window.showMaximized();
    else
      m_window.showNormal();
  }
  m_typed.clear();
  m_reader->showTyped(m_typed);
  m_reader->setPresenting(isPresenting);
  m_canvas.setMostFitZoom(isPresenting ? kPresentedZoom : 1);
  m_parts.places.fitLater();
  // The window gets its size from the desktop a little later.
  QTimer::singleShot(kFullScreenTime, this, [this] {
    const int wide =
        m_isPresenting ? presentedWidth() : std::clamp(m_window.width() * 27 / 100, kLeastUsual, kMostUsual);
    m_pages.giveWidth(*m_reader, wide);
    if (m_isPresenting) return;
    m_docks.keepSizes(false);
    // The sizes of the presented docks were others, so the dock of the step gets its room once more.
    m_docks.favour(QString());
    lightDock();
  });
  lightDock();
  Q_EMIT changed();
}

/// While a lesson is presented, the keys of a presenter remote go through its steps.
bool LessonController::eventFilter(QObject* watched, QEvent* event) {
  const auto* widget = qobject_cast<QWidget*>(watched);
  if (!m_isPresenting || event->type() != QEvent::KeyPress || widget == nullptr ||
      widget->window() != &m_window)
    return false;
  const auto& key = static_cast<QKeyEvent&>(*event);
  if ((key.modifiers() & ~Qt::KeypadModifier) != Qt::NoModifier) return false;
  if (takeDigit(key)) return true;
  switch (key.key()) {
    case Qt::Key_PageDown:
      // The key first scrolls to the end of the step, then goes to the next step.
      if (!m_reader->readOn()) Q_EMIT commandWanted(QStringLiteral("learn.next"));
      return true;
    case Qt::Key_PageUp:
      Q_EMIT commandWanted(QStringLiteral("learn.back"));
      return true;
    case Qt::Key_Escape:
      present(false);
      return true;
    default:
      return false;
  }
}

bool LessonController::takeDigit(const QKeyEvent& key) {
  // The learner may be typing a text or an answer.
  const QWidget* const focused = QApplication::focusWidget();
  const bool isText = focused != nullptr && focused->testAttribute(Qt::WA_InputMethodEnabled);
  if (!isText && key.key() >= Qt::Key_0 && key.key() <= Qt::Key_9) {
    m_typed = (m_typed + QChar(key.key())).right(2);
  } else if (!m_typed.isEmpty() && (key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter)) {
    const std::size_t step = std::exchange(m_typed, QString()).toUInt();
    LessonCourse* const course = m_reader->course();
    if (course != nullptr && step > 0) course->goTo(step - 1);
  } else if (!m_typed.isEmpty() && key.key() == Qt::Key_Escape) {
    m_typed.clear();
  } else {
    return false;
  }
  m_reader->showTyped(m_typed);
  return true;
}

OpenDocument& LessonController::openQuery(const QString& title, const document::Document& document) {
  auto model = std::make_unique<DocumentModel>(document);
  model->setTitle(tr("%1 (lesson)").arg(title));
  setOfLesson(*model, true);
  OpenDocument& open = m_workspace.open(std::move(model));
  open.isOfLesson = true;
  Q_EMIT documentOpened(open);
  return open;
}

void LessonController::openDialog() {
  const QString path = QFileDialog::getOpenFileName(&m_window, tr("Open a lesson"), m_parts.lastFolder,
                                                    tr("Lessons (*.md);;All files (*)"));
  if (path.isEmpty()) return;
  m_parts.lastFolder = QFileInfo(path).absolutePath();
  open(path);
}

void LessonController::savePageDialog() {
  const QString name = QFileInfo(m_reader->course()->file().path).completeBaseName();
  QString path = chosenSavePath(&m_window, tr("Save the lesson as a page"),
                                m_parts.lastFolder + QLatin1Char('/') + name + QStringLiteral(".html"),
                                tr("Web pages (*.html)"));
  if (path.isEmpty()) return;
  m_parts.lastFolder = QFileInfo(path).absolutePath();
  savePage(path);
}

void LessonController::saveAnswersDialog() {
  const QString name = QFileInfo(m_reader->course()->file().path).completeBaseName();
  const QString path = chosenSavePath(&m_window, tr("Save my answers"),
                                      m_parts.lastFolder + QLatin1Char('/') + name + tr("-answers.json"),
                                      tr("Answers (*.json)"));
  if (path.isEmpty()) return;
  m_parts.lastFolder = QFileInfo(path).absolutePath();
  if (const QString problem = saveAnswers(path); !problem.isEmpty())
    m_status.complain(tr("Your answers were not saved: %1").arg(problem));
  else
    m_status.say(tr("Your answers are in %1.").arg(QDir::toNativeSeparators(path)));
}

QString LessonController::saveAnswers(const QString& path) {
  QSaveFile file(path);
  const std::string text = lesson::written(m_reader->answers());
  const bool isWritten = file.open(QIODevice::WriteOnly) &&
                         file.write(text.data(), static_cast<qint64>(text.size())) == qint64(text.size()) &&
                         file.commit();
  return isWritten ? QString() : file.errorString();
}

void LessonController::savePage(const QString& page) {
  m_pageJob = std::make_unique<LessonPageJob>(m_program, m_reader->course()->file().path, page);
  connect(m_pageJob.get(), &LessonPageJob::finished, this, [this](const QString& problem) {
    LessonPageJob* const job = m_pageJob.release();
    // The job is sending this signal, so it cannot be deleted now.
    job->deleteLater();
    if (problem.isEmpty())
      m_status.say(tr("The web page of the lesson is in %1.").arg(QDir::toNativeSeparators(job->page())));
    else
      m_status.complain(tr("The web page of the lesson was not written: %1").arg(problem));
    Q_EMIT commandsChanged();
  });
  m_status.showMessage(tr("Running the lesson for the web page…"));
  m_pageJob->start();
  Q_EMIT commandsChanged();
}

void LessonController::addCommands(CommandHandlers& rows) {
  const auto course = [this] { return m_reader == nullptr ? nullptr : m_reader->course(); };
  rows.add("learn.lessons", [this] { showLessons(); });
  rows.add(
      "learn.record", [this] { return m_workspace.current() != nullptr && !m_pages.isWelcome(); },
      [this] { m_recording->start(); });
  rows.add("learn.open-file", [this] { openDialog(); });
  rows.add(
      "learn.next", [course] { return course() != nullptr && !course()->isBusy(); },
      [this, course] {
        // An open question is answered or skipped first, and actions of the learner are carried out first.
        if (m_reader->showWaiting()) return;
        if (course()->canGoOn())
          course()->next();
        else if (const QString next = m_reader->nextLesson(); !next.isEmpty())
          open(next);
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
      [this] { savePageDialog(); });
  rows.add(
      "learn.server", [course] { return course() != nullptr && !course()->isBusy(); },
      [this] { m_stage->chooseServer(); });
  rows.add(
      "learn.leave", [this] { return m_reader != nullptr && m_reader->isVisible(); }, [this] { leave(); });
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
          open(found->path, step);
        else
          m_status.say(tr("There is no lesson %1.").arg(name));
      });
}

void LessonController::fillMenu(QMenu& menu) {
  menu.addSeparator();
  // The lessons are read when the menu is first opened, so that the program starts without reading lessons.
  connect(&menu, &QMenu::aboutToShow, &menu, [this, &menu] {
    if (!menu.findChildren<QAction*>(QStringLiteral("lessonAction")).isEmpty()) return;
    for (const ListedLesson& lesson : listedLessons()) {
      QAction* action = menu.addAction(QString(lesson.title).replace(QLatin1Char('&'), QStringLiteral("&&")));
      action->setObjectName(QStringLiteral("lessonAction"));
      action->setParent(&menu);
      connect(action, &QAction::triggered, this,
              [this, key = lesson.key] { Q_EMIT commandWanted(QStringLiteral("learn.lesson:") + key); });
    }
  });
}

}  // namespace spanscope::ui
