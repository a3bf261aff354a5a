// SPDX-License-Identifier: GPL-3.0-or-later
// The window. It connects workspace, canvas, docks, commands and files.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/finder/recent_models.h"
#include "ui/window/command_controller.h"
#include "ui/window/dock_host.h"
#include "ui/window/page_area.h"
#include "ui/window/top_bar.h"
#include "ui/window/view_controller.h"
#include "ui/window/welcome_page.h"
#include "ui/window/window_parts.h"
#include "ui/window/workspace.h"

#include <QMainWindow>
#include <QSettings>
#include <QTimer>

#include <memory>
#include <optional>

namespace spanscope::ui {

class DocumentController;
class LessonController;
class ManualWindow;
class NoticeBar;
class RunController;
class ServingController;
class SessionKeeper;
class StatusLine;
class TraceController;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `settings` keeps layouts, theme and recent files, and must outlive the window. `autosaveDirectory` is
  /// the folder for unsaved work.
  MainWindow(QSettings& settings, QString autosaveDirectory, compute::Backends backends,
             QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Keeps the models that were opened last in a file, which other programs of the person's may read, instead
  /// of until the window is closed.
  void setRecentModelsFile(const QString& path);

  /// Keeps the servers that the person gave names to in a file, instead of until the window is closed.
  void setServersFile(const QString& path) { m_workspace.serverRuns().setServersFile(path); }

  /// Opens a document, a query or a recorded run in a tab, or goes to the tab that has it. If something is
  /// wrong with the file, the window says so. Returns whether it is open.
  bool openFile(const QString& path);
  /// Opens each of the files like openFile(). What is a text and no query is offered as documents of one, all
  /// such files in one question. Returns whether all are open.
  bool openFiles(const QStringList& paths);
  /// Opens a copy of a bundled example, without a file of its own.
  bool openExample(const QString& fileName);
  void newDocument();
  /// Offers unsaved work that an earlier run of the program left behind.
  void offerRecovery();
  /// Opens the documents that were open when the window was last closed.
  void restoreSession();
  /// Keeps the open documents with their unsaved changes for the next start of the program, and stops the
  /// engine. It asks nothing, because there may be nobody to answer.
  void leave();

  void setScheme(Scheme scheme);
  /// Takes the desktop's scheme now and whenever it changes, unless the person has chosen a scheme.
  void followSystemScheme();
  Scheme scheme() const { return m_workspace.input().theme.scheme(); }

  /// Carries out a command of the table, or a command with an argument ("node.add:plus",
  /// "file.open-example:rag.json", "view.dock:settings", "help.manual:numbers.md"). Does nothing if the
  /// command cannot be carried out now.
  void perform(const QString& command);
  /// The commands that the window itself carries out. The canvas has those of nodes.
  const CommandHandlers& commands() const { return m_commands->handlers(); }

  Workspace& workspace() { return m_workspace; }
  LessonController& lessons() { return *m_lessons; }
  TraceController& traces() { return *m_traces; }
  DockHost& docks() { return m_views->docks(); }
  Canvas& canvas() { return m_views->canvas(); }
  /// What the window gives to its roles.
  WindowParts parts();
  bool isWelcome() const { return m_pages->isWelcome(); }
  /// Leaves the welcome page, if a document is open.
  void showDocuments();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void makeRoles();
  void addCommands(CommandHandlers& rows);
  void keepArrangement();  ///< in the settings: where the window and its docks are
  void fitScreen();        ///< moves the window, or makes it smaller, until its screen shows all of it
  void refresh();
  void showInput();
  void showCurrent();
  void rememberModel();
  void updateRecentModels();

  void exportView(const QString& id);
  void showAbout();
  /// Opens the manual at a page. If `page` is empty, at the page about the dock that has the focus.
  void openManual(const QString& page);

  QSettings& m_settings;
  QString m_autosaveDirectory;
  workbench::RecentModels m_recentModels;
  Workspace m_workspace;
  std::unique_ptr<CommandController> m_commands;
  std::unique_ptr<ViewController> m_views;
  TopBar* m_topBar = nullptr;
  PageArea* m_pages = nullptr;
  StatusLine* m_status = nullptr;
  std::unique_ptr<DocumentController> m_documents;
  std::unique_ptr<SessionKeeper> m_session;
  std::unique_ptr<LessonController> m_lessons;
  std::unique_ptr<RunController> m_runs;
  std::unique_ptr<ServingController> m_serving;
  std::unique_ptr<TraceController> m_traces;
  WelcomePage* m_welcome = nullptr;
  NoticeBar* m_notice = nullptr;
  ManualWindow* m_manual = nullptr;  ///< nullptr: the manual was not opened yet
  QString m_lastFolder;
  QTimer m_keepArrangement;
};

/// The size of the window at the first start of the program, on a screen with this much room for it.
QSize firstWindowSize(QSize available);

}  // namespace spanscope::ui
