// SPDX-License-Identifier: GPL-3.0-or-later
// The main window connects workspace, canvas, docks, commands and files.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/finder/recent_models.h"
#include "ui/session/model_choices.h"
#include "ui/window/command_controller.h"
#include "ui/window/dock_host.h"
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
class LogController;
class ManualWindow;
class NoticeBar;
struct Notice;
enum class NoticeAnswer;
class RunController;
class ServingController;
class SessionKeeper;
class StatusLine;
class StreamTabs;
class TraceController;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `settings` keeps layouts, theme and recent files, and must outlive the window. `autosaveDirectory` is
  /// the folder for unsaved work.
  MainWindow(QSettings& settings, QString autosaveDirectory, compute::Backends backends,
             QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Stores the recently opened models in a file, which other programs of the user can read. Without a file,
  /// the window forgets these models when it closes.
  void setRecentModelsFile(const QString& path);

  /// Stores the servers that the user has named in a file. Without a file, the window forgets these servers
  /// when it closes.
  void setServersFile(const QString& path) { m_workspace.serverRuns().setServersFile(path); }

  /// Opens a document, a query or a recorded run in a tab, or switches to the file's tab. A message reports
  /// errors of the file. Returns whether the file is open.
  bool openFile(const QString& path);
  /// Opens each file like openFile(). Asks one question whether all text files should become documents of a
  /// query. Returns whether all files are open.
  bool openFiles(const QStringList& paths);
  /// Opens a copy of a bundled example, without a file of its own.
  bool openExample(const QString& fileName);
  void newDocument();
  /// Offers unsaved work from an earlier run of the program.
  void offerRecovery();
  /// Opens the documents that were open when the window was last closed.
  void restoreSession();
  /// Stores the open documents and their unsaved changes for the next start of the program, and stops the
  /// engine. Asks nothing, because the user may be absent.
  void leave();

  void setScheme(Scheme scheme);
  /// Uses the desktop's scheme now and after each change, unless the user has chosen a scheme.
  void followSystemScheme();
  Scheme scheme() const { return m_workspace.input().theme.scheme(); }

  /// Carries out a command of the table, or a command with an argument. Examples are "node.add:plus",
  /// "file.open-example:rag.json", "view.dock:settings" and "help.manual:numbers.md". Does nothing if the
  /// command is not available now.
  void perform(const QString& command);
  /// The commands that the window itself carries out. The canvas has the commands of nodes.
  const CommandHandlers& commands() const { return m_commands->handlers(); }

  Workspace& workspace() { return m_workspace; }
  LessonController& lessons() { return *m_lessons; }
  TraceController& traces() { return *m_traces; }
  DockHost& docks() { return m_views->docks(); }
  Canvas& canvas() { return m_views->canvas(); }
  /// The parts of the window that its roles use.
  WindowParts parts();
  bool isWelcome() const { return m_pages->isWelcome(); }
  /// Leaves the welcome page if a document is open.
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
  void keepArrangement();  ///< stores the places of window and docks in the settings
  void fitScreen();        ///< moves or shrinks the window until its screen shows all of it
  void refresh();
  void showInput();
  void showCurrent();
  void rememberModel();
  void updateRecentModels();

  void exportView(const QString& id);
  void showAbout();
  /// The notice about the file or the policy of the current document.
  Notice currentNotice();
  void answerNotice(NoticeAnswer answer);
  /// Opens the manual at a page. If `page` is empty, opens the page about the dock that has the focus.
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
  std::unique_ptr<LogController> m_logs;
  std::unique_ptr<SessionKeeper> m_session;
  std::unique_ptr<LessonController> m_lessons;
  std::unique_ptr<RunController> m_runs;
  std::unique_ptr<ServingController> m_serving;
  std::unique_ptr<TraceController> m_traces;
  StreamTabs* m_streams = nullptr;
  WelcomePage* m_welcome = nullptr;
  NoticeBar* m_notice = nullptr;
  PolicyChanges m_policyChanges;
  ManualWindow* m_manual = nullptr;  ///< nullptr: the manual was not opened yet
  QString m_lastFolder;
  QTimer m_keepArrangement;
};

/// The size of the window at the first start of the program. `available`: the room on the screen.
QSize firstWindowSize(QSize available);

}  // namespace spanscope::ui
