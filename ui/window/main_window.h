// SPDX-License-Identifier: GPL-3.0-or-later
// The window: joins workspace, canvas, docks, commands and files.
#pragma once

#include "engine/compute/backends.h"
#include "ui/commands/command_actions.h"
#include "ui/commands/command_handlers.h"
#include "ui/document/autosave.h"
#include "ui/editor/canvas.h"
#include "ui/session/problem_finder.h"
#include "ui/window/dock_host.h"
#include "ui/window/document_files.h"
#include "ui/window/top_bar.h"
#include "ui/window/welcome_page.h"
#include "ui/window/workspace.h"

#include <QHash>
#include <QLabel>
#include <QMainWindow>
#include <QSettings>
#include <QStackedWidget>
#include <QTimer>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

class QLockFile;

namespace spanscope::ui {

class AttentionView;
class CommandPalette;
class ManualWindow;
class NoticeBar;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `settings` keeps layouts, theme and recent files, and must outlive the window; `autosaveDirectory` is
  /// where unsaved work goes.
  MainWindow(QSettings& settings, QString autosaveDirectory, compute::Backends backends,
             QWidget* parent = nullptr);
  ~MainWindow() override;

  /// Opens a document, a query, or a recorded run in a tab (or goes to the tab that has it). Says what was
  /// wrong in the window.
  bool openFile(const QString& path);
  /// A copy of a bundled example, without a file of its own.
  bool openExample(const QString& fileName);
  void newDocument();
  /// Offers what an earlier run of the program could not save.
  void offerRecovery();
  /// Opens what was open when the window was closed last.
  void restoreSession();
  /// Keeps what is open, with the changes that no file has, for the next start of the program, and stops what
  /// runs. Asks nothing: for when there is nobody to answer any more.
  void leave();

  void setScheme(Scheme scheme);
  /// Takes the desktop's scheme, now and when it changes, unless a person has chosen one.
  void followSystemScheme();
  Scheme scheme() const { return m_workspace.input().theme.scheme(); }

  /// Carries out a command of the table, or one with an argument ("node.add:plus",
  /// "file.open-example:rag.json", "view.dock:settings", "help.manual:numbers.md"); nothing if it cannot now.
  void perform(const QString& command);
  /// The window's own; those of nodes are the canvas's.
  const CommandHandlers& commands() const { return m_commands; }

  Workspace& workspace() { return m_workspace; }
  DockHost& docks() { return *m_docks; }
  Canvas& canvas() { return *m_canvas; }
  bool isWelcome() const { return m_pages->currentIndex() == 0; }
  /// Leaves the welcome page, if anything is open.
  void showDocuments();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void makeDocks();
  View* makeView(const ViewInfo& info);
  void makeStatusBar();
  void fillMenu();
  void refresh();
  void refreshCommands();
  void addCommands();
  /// Whether what the command acts on is there.
  bool hasSubject(const CommandInfo& info) const;
  /// Whether menus and keys offer it.
  bool isOffered(const CommandInfo& info) const;
  void showInput();
  void showCurrent();
  void say(const QString& text);
  void complain(const QString& text);  ///< stays until the next run or message
  QString problemText();
  void countProblems();
  void rememberModel();
  void tellRecentModels();

  bool save(OpenDocument& document, bool askForPath);
  bool mayClose(OpenDocument& document);
  void closeTab(OpenDocument& document);
  /// `read`: what its file held when it was read.
  void watch(OpenDocument& document, document::FileStamp read = {});
  /// Whether the file may be written over where another program has written it.
  enum class SaveOver { Yes, SaveAs, No };
  SaveOver maySaveOver(OpenDocument& document);
  void answer(FileAnswer answer);
  void reload(OpenDocument& document);
  void compareWithFile(const OpenDocument& document);
  /// Asks about what is not saved. False: the window stays.
  bool settleUnsaved();
  /// Writes down what is open; at the end with what is to be kept though it was not saved.
  void keepTabs(bool atEnd);
  /// Whether this window is the one whose tabs are kept: the first of those that run.
  bool ownsSession();
  /// `isModified` false: it was kept because it has no file, not because of changes.
  void openRecovered(const document::Recovery& recovery, bool isModified);
  void remember(const QString& path);
  void openDialog();
  void saveTrace();
  void toggleRecording();
  void toggleKeeping();
  void exportQuery();
  void exportView(const QString& id);
  void openPalette();
  void changeKeys();
  void useKeys();
  void showAbout();
  /// At a page, or where `page` is empty at the page on the dock that has the focus.
  void openManual(const QString& page);
  void fitOnce();
  void notePlace();  ///< where the canvas looks in the tab that it shows
  void run(bool selectedOnly);
  /// `wish`: as benchmarkWish() writes it; empty: shows where it is set up.
  void benchmark(const QString& wish);
  /// Brings the page of experiments to the front, and carries out what is wished for, if anything.
  void experiment(const QString& wish);
  /// Asks the person; what they answered to the same question before is offered again.
  std::optional<QString> answerTo(const QString& question);
  /// Whether texts may be sent to a server; a person who says yes is not asked again.
  bool consentTo(const QString& endpoint);
  void step(int events);
  const AttentionView* shownAttention() const;  ///< nullptr: not in sight

  QSettings& m_settings;
  QString m_autosaveDirectory;
  Workspace m_workspace;
  std::map<std::uint32_t, std::unique_ptr<document::Autosave>>
      m_autosaves;  ///< by tab; end before their models
  DocumentFiles m_files;
  std::map<std::uint32_t, QString> m_tracePaths;  ///< of tabs that show a recorded run
  std::set<std::uint32_t> m_dropped;              ///< tabs whose changes are not to be kept at the end
  std::unique_ptr<QLockFile> m_sessionLock;
  QTimer m_keepTabs;
  std::unique_ptr<QMenu> m_menu;
  CommandHandlers m_commands;
  KeyBindings m_keys;
  CommandActions* m_actions = nullptr;
  TopBar* m_topBar = nullptr;
  QStackedWidget* m_pages = nullptr;
  WelcomePage* m_welcome = nullptr;
  NoticeBar* m_notice = nullptr;
  DockHost* m_docks = nullptr;
  Canvas* m_canvas = nullptr;
  CommandPalette* m_palette = nullptr;
  ManualWindow* m_manual = nullptr;  ///< nullptr: not opened yet
  QLabel* m_status = nullptr;
  QLabel* m_statusRight = nullptr;
  QString m_lastFolder;
  QHash<QString, QString> m_answers;                    ///< to the questions of queries, as given last
  std::uint32_t m_shown = 0;                            ///< tab that the canvas shows
  std::map<std::uint32_t, CanvasPlace> m_places;        ///< where it looked in each tab
  std::shared_ptr<const document::Document> m_checked;  ///< whose problems were counted
  std::shared_ptr<const text::Tokenizer> m_checkedWith;
  std::uint64_t m_checkedCounts = 0;
  std::shared_ptr<const std::vector<compute::Device>> m_checkedDevices;
  ProblemFinder m_finder;
  QString m_problems;  ///< how many of what kind
  QTimer m_countProblems;
  bool m_fitWanted = false;  ///< the canvas shows the whole query once the docks have their sizes
};

/// What was wrong with a file, a line each.
QString diagnosticsText(const std::vector<query::Diagnostic>& diagnostics, const QString& file);

}  // namespace spanscope::ui
