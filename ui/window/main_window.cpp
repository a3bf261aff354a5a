// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/main_window.h"

#include "engine/base/error.h"
#include "engine/workbench/resource_paths.h"
#include "ui/document/document_file.h"
#include "ui/editor/clipboard.h"
#include "ui/export/view_export_dialog.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/manual/manual_window.h"
#include "ui/session/load_comparison.h"
#include "ui/theme/theme.h"
#include "ui/views/common/choices.h"
#include "ui/views/view.h"
#include "ui/window/command_controller.h"
#include "ui/window/dialogs.h"
#include "ui/window/document_controller.h"
#include "ui/window/focus_keeper.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/lesson_recording.h"
#include "ui/window/log_controller.h"
#include "ui/window/readable_texts.h"
#include "ui/window/run_controller.h"
#include "ui/window/serving_controller.h"
#include "ui/window/session_keeper.h"
#include "ui/window/status_line.h"
#include "ui/window/stream_tabs.h"
#include "ui/window/trace_controller.h"
#include "ui/window/view_controller.h"
#include "ui/window/window_picture.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMimeData>
#include <QScreen>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr int kKeepArrangement = 1000;  // milliseconds after which the places of docks are saved
constexpr const char* kLoads = "measured/loads";

/// The manual page of the dock that has the widget; without a dock, the contents.
QString pageFor(const QWidget* widget) {
  for (; widget != nullptr; widget = widget->parentWidget()) {
    if (const auto* dock = qobject_cast<const Dock*>(widget)) return manualPageOfDock(dock->id());
  }
  return QString::fromLatin1(kManualIndex);
}

constexpr QSize kDesktopFrame(8, 40);  // max size of the frame that the desktop draws around a window
constexpr int kTitle = 34;             // the frame's part above the window

}  // namespace

QSize firstWindowSize(QSize available) {
  constexpr QSize kUsual(1280, 800);
  return kUsual.boundedTo(available - kDesktopFrame);
}

MainWindow::MainWindow(QSettings& settings, QString autosaveDirectory, compute::Backends backends,
                       QWidget* parent)
    : QMainWindow(parent),
      m_settings(settings),
      m_autosaveDirectory(std::move(autosaveDirectory)),
      m_workspace(std::move(backends)) {
  // The font is set before any widget exists. Style sheets keep the font of a widget's first styling.
  QApplication::setFont(Theme().interfaceFont());
  QApplication::instance()->installEventFilter(new ReadableTexts(this));
  setWindowTitle(tr("Spanscope"));
  setAcceptDrops(true);
  resize(firstWindowSize(screen()->availableSize()));

  m_commands = std::make_unique<CommandController>(*this, m_settings, m_workspace);
  m_views = std::make_unique<ViewController>(m_settings, m_workspace, m_commands->actions());
  m_topBar = new TopBar(m_workspace, &m_commands->menu());
  connect(m_topBar, &TopBar::commandWanted, this, &MainWindow::perform);
  connect(m_topBar, &TopBar::tabChosen, this, [this](int index) {
    const std::vector<OpenDocument*> documents = m_workspace.tabs();
    if (index >= 0 && index < static_cast<int>(documents.size())) {
      m_workspace.setCurrent(documents[static_cast<std::size_t>(index)]);
      m_pages->showDocuments();
      refresh();
    }
  });
  connect(m_topBar, &TopBar::tabCloseWanted, this, [this](int index) {
    const std::vector<OpenDocument*> documents = m_workspace.tabs();
    if (index >= 0 && index < static_cast<int>(documents.size()))
      m_documents->closeTab(*documents[static_cast<std::size_t>(index)]);
  });
  keepFocusIn(*m_topBar);
  setMenuWidget(m_topBar);
  new FocusKeeper(this);

  m_welcome = new WelcomePage(exampleTable());
  connect(m_welcome, &WelcomePage::openExample, this, &MainWindow::openExample);
  connect(m_welcome, &WelcomePage::openFile, this, &MainWindow::openFile);
  connect(m_welcome, &WelcomePage::newDocument, this, &MainWindow::newDocument);
  connect(m_welcome, &WelcomePage::openDialog, this, [this] { m_documents->openDialog(); });
  connect(m_welcome, &WelcomePage::openLog, this, [this] { perform(QStringLiteral("file.open-log")); });
  connect(m_welcome, &WelcomePage::learn, this, [this] { m_lessons->learn(); });
  m_notice = new NoticeBar;
  connect(m_notice, &NoticeBar::answered, this, &MainWindow::answerNotice);
  auto* documents = new QWidget;
  keepFocusIn(*documents);
  auto* column = new QVBoxLayout(documents);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_notice);
  column->addWidget(&docks(), 1);
  // In another layout, the canvas has another size.
  connect(&docks(), &DockHost::layoutChanged, this, [this] {
    m_views->places().fitLater();
    m_status->refreshHint();
  });
  m_pages = new PageArea(m_welcome, documents);
  auto* rows = new QSplitter(Qt::Vertical);
  rows->addWidget(m_pages);
  setCentralWidget(rows);
  m_status = new StatusLine(m_settings, m_workspace, docks(), *m_pages);
  setStatusBar(m_status);
  makeRoles();
  keepFocusIn(m_serving->panel());
  rows->addWidget(&m_serving->panel());
  rows->setStretchFactor(0, 1);
  rows->setStretchFactor(1, 0);
  rows->setCollapsible(0, false);
  rows->setCollapsible(1, false);

  m_commands->start(parts(), *m_lessons);

  connect(&m_workspace, &Workspace::inputChanged, this, &MainWindow::showInput);
  connect(&m_workspace, &Workspace::currentChanged, this, &MainWindow::showCurrent);
  connect(&m_workspace, &Workspace::documentsChanged, this, &MainWindow::refresh);
  // The arrangement is saved after each change, so that a killed program does not lose it.
  m_keepArrangement.setSingleShot(true);
  m_keepArrangement.setInterval(kKeepArrangement);
  connect(&m_keepArrangement, &QTimer::timeout, this, &MainWindow::keepArrangement);
  connect(&docks(), &DockHost::rearranged, &m_keepArrangement, qOverload<>(&QTimer::start));
  connect(&docks(), &DockHost::layoutChanged, &m_keepArrangement, qOverload<>(&QTimer::start));
  connect(&m_workspace.engine(), &EngineHost::modelChanged, this, &MainWindow::rememberModel);
  connect(&m_workspace, &Workspace::keepingFailed, m_status, &StatusLine::complain);
  connect(&m_workspace, &Workspace::loadsMeasured, this,
          [this] { m_settings.setValue(QString::fromLatin1(kLoads), loadTexts(m_workspace.loads())); });
  connect(&m_workspace, &Workspace::jobEnded, this, [this](const QString& problem, std::uint32_t tab) {
    if (problem.isEmpty()) return;
    const OpenDocument* other = m_workspace.find(tab);
    if (other == m_workspace.current()) other = nullptr;
    m_status->complain(other == nullptr ? problem : tr("%1: %2").arg(other->model->title(), problem));
  });

  std::map<QString, QByteArray> layouts;
  LayoutId shown = LayoutId::Author;
  for (const LayoutId layout : kLayouts) {
    if (m_settings.value(QStringLiteral("window/layout")) == layoutName(layout)) shown = layout;
    const QByteArray state = m_settings.value(QStringLiteral("layouts/") + layoutName(layout)).toByteArray();
    if (!state.isEmpty()) layouts.emplace(layoutName(layout), state);
  }
  docks().setLayoutStates(std::move(layouts), shown);
  if (restoreGeometry(m_settings.value(QStringLiteral("window/geometry")).toByteArray())) fitScreen();
  m_lastFolder = m_settings.value(QStringLiteral("window/folder")).toString();
  m_welcome->setRecentFiles(RecentFiles(m_settings).paths());

  m_commands->readKeys();
  followSystemScheme();
  m_workspace.setLoads(readLoads(m_settings.value(QString::fromLatin1(kLoads)).toStringList()));
  m_traces->restore();
  m_workspace.engine().prepare({});
  m_workspace.engine().findDevices();
  refresh();
}

void MainWindow::fitScreen() {
  const QScreen* at = QGuiApplication::screenAt(geometry().center());
  const QRect room = (at == nullptr ? screen() : at)->availableGeometry();
  // The frame is not known before the window is shown.
  const QRect most = room.adjusted(kDesktopFrame.width() / 2, kTitle, -kDesktopFrame.width() / 2,
                                   kTitle - kDesktopFrame.height());
  QRect place = geometry();
  place.setSize(place.size().boundedTo(most.size()));
  place.moveRight(std::min(place.right(), most.right()));
  place.moveBottom(std::min(place.bottom(), most.bottom()));
  place.moveTopLeft({std::max(place.left(), most.left()), std::max(place.top(), most.top())});
  if (place == geometry()) return;
  const Qt::WindowStates states = windowState();
  setWindowState(Qt::WindowNoState);
  setGeometry(place);
  setWindowState(states);
}

MainWindow::~MainWindow() {
  m_workspace.disconnect(this);
  m_views->release();
  m_runs.reset();
  m_lessons.reset();
  m_session.reset();
  m_logs.reset();
  m_documents.reset();
}

WindowParts MainWindow::parts() {
  return {.window = *this,
          .settings = m_settings,
          .workspace = m_workspace,
          .docks = docks(),
          .canvas = canvas(),
          .places = m_views->places(),
          .pages = *m_pages,
          .status = *m_status,
          .lastFolder = m_lastFolder,
          .autosaveDirectory = m_autosaveDirectory};
}

void MainWindow::makeRoles() {
  CommandHandlers& commands = m_commands->handlers();
  addCommands(commands);
  connect(m_commands.get(), &CommandController::performed, this, [this](const QString& command) {
    m_lessons->recording().noteCommand(command);
    refresh();
  });
  connect(m_commands.get(), &CommandController::keysChanged, this, [this] {
    m_topBar->setKeys(m_commands->keys());
    m_welcome->setKeys(*m_workspace.input().keys);
  });
  m_views->addCommands(commands);
  connect(m_views.get(), &ViewController::commandWanted, this, &MainWindow::perform);
  connect(m_views.get(), &ViewController::commandsChanged, m_commands.get(), &CommandController::refresh);
  connect(m_views.get(), &ViewController::messageWanted, m_status, &StatusLine::say);
  connect(m_views.get(), &ViewController::complaintWanted, m_status, &StatusLine::complain);
  connect(m_views.get(), &ViewController::exportWanted, this, &MainWindow::exportView);
  connect(m_views.get(), &ViewController::filesDropped, this,
          [this](const QStringList& paths) { m_documents->takeDropped(paths); });
  connect(m_views.get(), &ViewController::performed, this, [this](const QString& command) {
    LessonRecorder* recorder = m_lessons->recording().recorder();
    if (const auto runs = comparedRuns(command); runs && recorder != nullptr)
      recorder->noteCompared(runs->first, runs->second);
  });
  m_documents = std::make_unique<DocumentController>(parts());
  m_documents->addCommands(commands);
  connect(m_documents.get(), &DocumentController::changed, this, &MainWindow::refresh);
  connect(m_documents.get(), &DocumentController::closed, this, [this] {
    showCurrent();
    refresh();
  });
  connect(m_documents.get(), &DocumentController::recentChanged, this,
          [this] { m_welcome->setRecentFiles(RecentFiles(m_settings).paths()); });
  connect(&m_documents->saver(), &DocumentSaver::commandWanted, this, &MainWindow::perform);
  m_logs = std::make_unique<LogController>(parts(), *m_documents);
  m_logs->addCommands(commands);
  connect(m_logs.get(), &LogController::commandsChanged, m_commands.get(), &CommandController::refresh);
  m_session = std::make_unique<SessionKeeper>(parts(), *m_documents);
  m_lessons = std::make_unique<LessonController>(parts());
  m_lessons->addCommands(commands);
  connect(m_lessons.get(), &LessonController::commandWanted, this, &MainWindow::perform);
  connect(m_lessons.get(), &LessonController::commandsChanged, m_commands.get(), &CommandController::refresh);
  connect(m_lessons.get(), &LessonController::changed, this, &MainWindow::refresh);
  connect(m_lessons.get(), &LessonController::closeWanted, m_documents.get(), &DocumentController::closeTab);
  connect(m_lessons.get(), &LessonController::documentOpened, this,
          [this](OpenDocument& document) { m_documents->watch(document); });
  m_runs = std::make_unique<RunController>(parts(), m_lessons->recording());
  m_runs->addCommands(commands);
  connect(m_runs.get(), &RunController::changed, this, &MainWindow::refresh);
  m_serving = std::make_unique<ServingController>(parts());
  m_serving->addCommands(commands);
  connect(m_serving.get(), &ServingController::commandWanted, this, &MainWindow::perform);
  connect(m_serving.get(), &ServingController::changed, this, &MainWindow::refresh);
  connect(m_serving.get(), &ServingController::documentShown, this, [this](OpenDocument& document) {
    if (document.isPreview && m_documents->saver().autosave(document) == nullptr)
      m_documents->watch(document);
  });
  connect(m_serving.get(), &ServingController::closeWanted, m_documents.get(), &DocumentController::closeTab);
  m_traces = std::make_unique<TraceController>(parts());
  m_traces->addCommands(commands);
  connect(m_traces.get(), &TraceController::commandsChanged, m_commands.get(), &CommandController::refresh);
  connect(m_traces.get(), &TraceController::openWanted, this, &MainWindow::openFiles);
  m_streams = new StreamTabs(parts(), this);
  m_streams->addCommands(commands);
  connect(m_streams, &StreamTabs::changed, this, &MainWindow::refresh);
  connect(m_streams, &StreamTabs::documentOpened, this,
          [this](OpenDocument& document) { m_documents->watch(document); });
  connect(&m_workspace, &Workspace::inputChanged, m_streams, &StreamTabs::refresh);
  connect(&m_workspace.traces(), &RunTraces::queryShown, this, [this](const OpenDocument& document) {
    if (&document == m_workspace.current())
      m_views->places().fitLater(0);
    else
      m_views->places().forget(document.id);
  });
}

void MainWindow::addCommands(CommandHandlers& rows) {
  rows.add("file.welcome", [this] {
    m_welcome->setRecentFiles(RecentFiles(m_settings).paths());
    m_pages->showWelcome();
  });
  rows.add("file.export-view", [this] { exportView(QStringLiteral("canvas")); });
  rows.add("file.export-window", [this] { exportView(QStringLiteral("window")); });
  rows.add("file.quit", [this] { close(); });
  rows.add("run.choose-model", [this] { m_topBar->showModels(); });
  rows.add("view.next-tab", [this] { m_topBar->tabs().go(1); });
  rows.add("view.previous-tab", [this] { m_topBar->tabs().go(-1); });
  rows.add("view.tabs", [this] { m_topBar->tabs().showList(); });
  rows.add("view.theme", [this] {
    setScheme(scheme() == Scheme::Light ? Scheme::Dark : Scheme::Light);
    m_settings.setValue(QStringLiteral("window/scheme"),
                        scheme() == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light"));
  });
  rows.addWithArgument(
      "help.manual", [] { return true; }, [this](const QString& page) { openManual(page); });
  rows.add("help.about", [this] { showAbout(); });
}

void MainWindow::perform(const QString& command) {
  m_commands->perform(command);
}

bool MainWindow::openFile(const QString& path) {
  return m_documents->openFile(path);
}

bool MainWindow::openFiles(const QStringList& paths) {
  return m_documents->openFiles(paths);
}

bool MainWindow::openExample(const QString& fileName) {
  return m_documents->openExample(fileName);
}

void MainWindow::newDocument() {
  m_documents->newDocument();
}

void MainWindow::restoreSession() {
  m_session->restore();
}

void MainWindow::offerRecovery() {
  m_session->offerDocuments();
  m_lessons->recording().offer();
  m_traces->keepCutRecordings();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  // A lesson recording is offered at the next start.
  if (!m_lessons->recording().mayEnd() || !m_session->settleUnsaved()) {
    event->ignore();
    return;
  }
  leave();
  event->accept();
}

void MainWindow::leave() {
  m_lessons->recording().keep();
  m_session->keepAtEnd();
  m_keepArrangement.stop();
  keepArrangement();
  m_documents->saver().discardAutosaves();
  m_workspace.engine().stopAll();
  // The program may be killed before its destructors run.
  m_settings.sync();
}

void MainWindow::keepArrangement() {
  m_settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
  m_settings.setValue(QStringLiteral("window/folder"), m_lastFolder);
  m_settings.remove(QStringLiteral("layouts"));
  for (const auto& [name, state] : m_lessons->layoutStates())
    m_settings.setValue(QStringLiteral("layouts/") + name, state);
  m_settings.setValue(QStringLiteral("window/layout"), layoutName(docks().layout()));
}

void MainWindow::setScheme(Scheme scheme) {
  const Theme theme(scheme);
  QApplication::setPalette(theme.palette());
  setStyleSheet(theme.styleSheet());
  m_welcome->setTheme(theme);
  m_commands->setTheme(theme);
  m_workspace.setTheme(theme);
  if (m_manual != nullptr) m_manual->setTheme(theme);
  m_lessons->setTheme(theme);
  m_serving->setTheme(theme);
}

void MainWindow::followSystemScheme() {
  const QString chosen = m_settings.value(QStringLiteral("window/scheme")).toString();
  setScheme(chosen == QLatin1String("dark")    ? Scheme::Dark
            : chosen == QLatin1String("light") ? Scheme::Light
                                               : systemScheme());
}

bool MainWindow::event(QEvent* event) {
  if (event->type() == QEvent::ThemeChange) {
    // The platform has set fonts for classes of widgets again. This call removes these fonts.
    QApplication::setFont(Theme().interfaceFont());
    followSystemScheme();
  }
  if (event->type() == QEvent::WindowActivate && m_documents != nullptr) m_documents->saver().files().look();
  const bool isDone = QMainWindow::event(event);
  // A desktop may resize the window to the whole screen only later.
  if (event->type() == QEvent::Resize && m_lessons != nullptr) m_lessons->fitPresented();
  return isDone;
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  // No widget has used the key, so it moves the focus from a text or a dock to the canvas.
  if (event->key() == Qt::Key_Escape && event->modifiers() == Qt::NoModifier && canvas().isVisible()) {
    canvas().setFocus(Qt::ShortcutFocusReason);
    event->accept();
    return;
  }
  QMainWindow::keyPressEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  if (const QStringList paths = localFiles(*event->mimeData()); !paths.isEmpty())
    m_documents->takeDropped(paths);
}

void MainWindow::showInput() {
  m_status->forgetComplaint();
  m_views->showInput();
  m_serving->refresh();
  m_status->refresh();
  refresh();
}

void MainWindow::rememberModel() {
  const std::string directory = m_workspace.engine().model().directory;
  if (directory.empty()) return;
  m_recentModels.note(directory);
  updateRecentModels();
}

void MainWindow::setRecentModelsFile(const QString& path) {
  m_recentModels = workbench::RecentModels(path.toStdString());
  updateRecentModels();
}

void MainWindow::updateRecentModels() {
  std::vector<std::string> models;
  for (const std::filesystem::path& model : m_recentModels.list()) models.push_back(model.string());
  m_workspace.setRecentModels(std::move(models));
}

void MainWindow::showCurrent() {
  m_status->countAtOnce();
  m_views->showCurrent();
  if (m_workspace.current() == nullptr) m_pages->showWelcome();
}

void MainWindow::refresh() {
  const OpenDocument* current = m_workspace.current();
  m_topBar->refresh(docks().layout(), isWelcome());
  setWindowTitle(current == nullptr ? tr("Spanscope") : tr("%1[*] — Spanscope").arg(current->model->title()));
  setWindowModified(current != nullptr && current->model->isModified());
  m_notice->setNotice(currentNotice());
  m_lessons->showPages();
  m_commands->refresh();
}

Notice MainWindow::currentNotice() {
  const OpenDocument* current = m_workspace.current();
  if (current == nullptr) return {};
  // A lesson chooses its own policies.
  if (!current->isOfLesson) m_policyChanges.follow(current->id, current->model->document().settings);
  Notice notice = noticeOf(m_documents->saver().files().situation(current->id));
  const PolicyChange* change = m_policyChanges.of(current->id);
  if (notice.text.isEmpty() && change != nullptr) notice = noticeOf(*change);
  return notice.text.isEmpty() ? m_streams->notice() : notice;
}

void MainWindow::answerNotice(NoticeAnswer answer) {
  if (answer == NoticeAnswer::CopyAddress) return m_streams->copyAddress();
  OpenDocument* current = m_workspace.current();
  const PolicyChange* change = current == nullptr ? nullptr : m_policyChanges.of(current->id);
  if (change == nullptr || (answer != NoticeAnswer::RestorePolicy && answer != NoticeAnswer::KeepPolicy))
    return m_documents->saver().answer(answer);
  const std::string before = change->from;
  m_policyChanges.dismiss(current->id);
  if (answer == NoticeAnswer::RestorePolicy)
    current->model->change(tr("Policy %1").arg(QString::fromStdString(before)),
                           [&before](document::Document& document) { document.settings.policy = before; });
  refresh();
}

void MainWindow::showDocuments() {
  if (m_workspace.current() != nullptr) m_pages->showDocuments();
  refresh();
}

void MainWindow::exportView(const QString& id) {
  // The picture contains the query.
  if (!m_documents->saver().settleTyped(*m_workspace.current(), tr("Export"))) return;
  std::vector<ExportItem> items;
  items.push_back(windowItem(*this));
  const ViewInput& input = m_workspace.input();
  items.push_back(canvasItem(inputForPicture(QStringLiteral("canvas"), input), canvas().size()));
  for (const ViewInfo& info : viewTable()) {
    const Dock* dock = docks().dock(info.id);
    const QSize size = dock != nullptr && dock->isVisible() ? dock->view()->size() : QSize(800, 500);
    items.push_back(exportItem(info, inputForPicture(info.id, input), size));
  }
  ViewExportDialog(std::move(items), id, m_workspace.input().theme, this,
                   document::writeDocument(m_workspace.model()->document()))
      .exec();
}

void MainWindow::showAbout() {
  const LoadedModel& model = m_workspace.engine().model();
  AboutBox(model.device, m_workspace.input().theme, this).exec();
}

void MainWindow::openManual(const QString& page) {
  const QString wanted = page.isEmpty() ? pageFor(isWelcome() ? nullptr : QApplication::focusWidget()) : page;
  if (m_manual == nullptr) {
    try {
      const QString folder = QString::fromStdString((workbench::resourceDirectory() / "manual").string());
      m_manual = new ManualWindow(folder, this);
    } catch (const Failure& failure) {
      m_status->say(QString::fromUtf8(failure.what()));
      return;
    }
    connect(m_manual, &ManualWindow::dockWanted, this, [this](const QString& id) {
      // A dock shows nothing without a document.
      if (m_workspace.current() == nullptr) newDocument();
      showDocuments();
      docks().reveal(id);
      activateWindow();
    });
    connect(m_manual, &ManualWindow::commandWanted, this, [this](const QString& id) {
      const CommandInfo* info = findCommand(id);
      // Most commands need a document to act on.
      if (info != nullptr && !m_commands->hasSubject(*info)) newDocument();
      if (info != nullptr && info->subject == CommandSubject::Document) showDocuments();
      activateWindow();
      perform(id);
    });
    connect(m_manual, &ManualWindow::exampleWanted, this, [this](const QString& fileName) {
      openExample(fileName);
      activateWindow();
    });
  }
  m_manual->setTheme(m_workspace.input().theme);
  m_manual->openPage(wanted);
  m_manual->show();
  m_manual->raise();
  m_manual->activateWindow();
}

}  // namespace spanscope::ui
