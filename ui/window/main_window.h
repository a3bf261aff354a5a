// SPDX-License-Identifier: GPL-3.0-or-later
// The window. It connects workspace, canvas, docks, commands and files.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/finder/recent_models.h"
#include "ui/commands/command_actions.h"
#include "ui/commands/command_handlers.h"
#include "ui/document/autosave.h"
#include "ui/document/document_file.h"
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
class QSplitter;
class QToolButton;

namespace spanscope::ui {

class AttentionView;
class CommandPalette;
class LessonMarks;
class LessonPageJob;
class LessonReader;
class LessonRecorder;
class LessonRecorderPanel;
class RecordingFile;
class ManualWindow;
class NoticeBar;
class RequestsPanel;
class RunHint;
struct SeenNow;
struct StatusModel;
class WindowStage;

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

  /// The program itself, which a second time writes pages of lessons. Empty: it cannot.
  void setProgram(const QString& path) { m_program = path; }
  /// Writes a page of the open lesson, which takes as long as its runs; the status bar says when it is there.
  void saveLessonPage(const QString& page);

  /// Keeps the servers that the person gave names to in a file, instead of until the window is closed.
  void setServersFile(const QString& path) { m_workspace.setServersFile(path); }

  /// Opens a document, a query or a recorded run in a tab, or goes to the tab that has it. If something is
  /// wrong with the file, the window says so. Returns whether it is open.
  bool openFile(const QString& path);
  /// Opens each of the files like openFile(). What is a text and no query is offered as documents of one, all
  /// such files in one question. Returns whether all are open.
  bool openFiles(const QStringList& paths);
  /// Opens a copy of a bundled example, without a file of its own.
  bool openExample(const QString& fileName);
  void newDocument();
  /// Opens a lesson beside the views where the learner left it, or at another step (from 0). What is wrong
  /// with the file is shown there. Returns whether it is open.
  bool openLessonFile(const QString& path, std::optional<std::size_t> step = std::nullopt);
  /// Opens a document of a lesson in a tab of its own.
  OpenDocument& openLessonQuery(const QString& title, const document::Document& document);
  /// Shows the page of experiments with this one chosen, and starts nothing.
  void showExperiment(const QString& name);
  /// The panel of lessons, hidden or not.
  LessonReader& lessonReader();
  /// What is lit of what a lesson speaks of; there once the panel is.
  LessonMarks& lessonMarks() { return *m_marks; }
  bool isLessonInView() const;  ///< whether the document in view is the lesson's
  /// What is recorded as a lesson; nullptr: nothing is.
  LessonRecorder* recorder() const { return m_recorder.get(); }
  /// Writes the recorded lesson and its queries, and opens it in the reader, which ends the recording. Where
  /// it cannot be written or read, the panel says so, and the recording goes on. Returns whether it ended.
  bool saveRecordingAs(const QString& path);
  /// Records the events of all runs from now on into a trace file. Returns whether it began; where it did
  /// not, the status bar says why.
  bool recordTo(const QString& path);
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
  const CommandHandlers& commands() const { return m_commands; }

  Workspace& workspace() { return m_workspace; }
  DockHost& docks() { return *m_docks; }
  Canvas& canvas() { return *m_canvas; }
  bool isWelcome() const { return m_pages->currentIndex() == 0; }
  /// Leaves the welcome page, if a document is open.
  void showDocuments();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// Keeps what the mouse does on the canvas, and tells the canvas.
  void useMouse();
  void makeDocks();
  View* makeView(const ViewInfo& info);
  void makeStatusBar();
  void fillMenu();
  void refresh();
  void refreshCommands();
  void addCommands();
  void addLessonCommands();
  void fillLearnMenu(QMenu& menu);
  void showReader();
  void giveWidth(QWidget& beside, int wide);  ///< to the panel beside the views
  void showLessons();
  void learn();  ///< the first lesson for who is new, else all of them
  void leaveLesson();
  void openLessonDialog();
  void saveLessonPageDialog();
  void present(bool isPresenting);
  void lightDock();  ///< of which the lesson speaks
  void showPages();
  int presentedWidth() const { return width() * 2 / 5; }  ///< of the reader, pixels
  void record();
  SeenNow seenNow();
  RunId newestRun() const;
  void recordWork(std::uint32_t tab);  ///< that a tab's work has ended
  /// Asks, if there is a recording. Returns false if it should stay.
  bool mayLoseRecording();
  void endRecording();
  void saveRecording();
  void showRecorder();  ///< the panel of `m_recorder`, which hears what happens from then on
  /// Writes the recording into its side file. Returns false if that cannot be.
  bool keepRecording();
  /// Offers a recording that was not saved when the program ended.
  void offerRecording();
  void offerDocuments();
  /// Goes on with a recording; null: with none. Its runs are made again, one after the other.
  void continueRecording(std::unique_ptr<LessonRecorder> recorder);
  void repeatRecorded();
  void recordedRunEnded(const QString& problem, std::uint32_t tab);
  void endRepeating(const QString& problem);
  /// Whether the thing on which the command acts is there.
  bool hasSubject(const CommandInfo& info) const;
  /// Whether menus and keys offer the command.
  bool isOffered(const CommandInfo& info) const;
  void showInput();
  void showReported(Dock& dock);
  void showCurrent();
  void say(const QString& text);
  /// Shows a text until the next run or message, or until what it speaks of is gone: the document in view has
  /// another value or place, or is not in view any more.
  void complain(const QString& text);
  void forgetComplaint();
  void showHint(const StatusModel& status);
  void explainRun();  ///< shows where the newest answer came from
  QString problemText();
  void countProblems();
  void rememberModel();
  void tellRecentModels();

  bool save(OpenDocument& document, bool askForPath);
  /// Where to save: at `path`, or elsewhere if the person wants to keep what saving there would remove.
  /// Empty: nowhere.
  QString pathWithoutLoss(OpenDocument& document, const QString& path);
  /// Asks about JSON text that is no query. Returns false if the document cannot be saved or exported now.
  bool settleTyped(OpenDocument& document, const QString& title);
  /// Tells on opening what of a file the document cannot hold.
  void noteUnread(OpenDocument& document, const OpenedFile& file);
  bool mayClose(OpenDocument& document);
  void closeTab(OpenDocument& document);
  /// Watches the document's file. `read` is what the file held when it was read.
  void watch(OpenDocument& document, FileStamp read = {});
  /// Asks whether to overwrite a file that another program has written.
  enum class SaveOver { Yes, SaveAs, No };
  SaveOver maySaveOver(OpenDocument& document);
  void answer(FileAnswer answer);
  void reload(OpenDocument& document);
  void compareWithFile(const OpenDocument& document);
  /// Asks about unsaved changes. Returns false if the window should stay.
  bool settleUnsaved();
  /// Writes the list of open documents to the settings. If `atEnd`, unsaved changes that should be kept are
  /// written to side files.
  void keepTabs(bool atEnd);
  /// Whether the tabs of this window are kept. Only the first of several running windows keeps its tabs.
  bool ownsSession();
  /// Opens a recovered document. If `isModified` is false, it was kept because it has no file, not because of
  /// changes.
  void openRecovered(const Recovery& recovery, bool isModified);
  void remember(const QString& path);
  void openDialog();
  enum class Opening { Opened, Failed, IsText };
  /// Opens a file in a tab. IsText: it is no query, but a text, and nothing was said of it.
  Opening openOne(const QString& path);
  /// Whether a query is in view that can be changed.
  bool isQueryShown() const;
  /// Asks whether texts should become documents of a query. Returns whether they have.
  bool offerDocuments(const QStringList& paths);
  enum class AddTo { ThisQuery, NewQuery };
  /// Adds the texts of files and folders to the query in view (a new one if there is none), or says why none
  /// of them was added. Returns whether they were.
  bool addFiles(const QStringList& paths, AddTo where);
  /// Opens dropped queries, and makes other texts documents of the query in view.
  void takeDropped(const QStringList& paths);
  void addFilesDialog();
  void addFolderDialog();
  void saveTrace();
  void toggleRecording();
  void endTrace();           ///< of the recording into trace files
  void makeTraceState();     ///< the button of the status bar that says so
  void keepCutRecordings();  ///< of a program that was killed while it recorded
  void toggleKeeping();
  void exportQuery();
  void exportView(const QString& id);
  void openPalette();
  void changeKeys();
  void useKeys();
  void showAbout();
  void showUndoHistory();
  /// Opens the manual at a page. If `page` is empty, at the page about the dock that has the focus.
  void openManual(const QString& page);
  void fitOnce();
  void notePlace();  ///< remembers the place of the canvas for its tab
  void run(bool selectedOnly);
  /// Runs a benchmark. `wish` is a text of benchmarkWish(); if it is empty, shows the page where a person
  /// sets up a benchmark.
  void benchmark(const QString& wish);
  /// Compares policies, or chooses which. `wish` is a text of policyWish(); if it is empty, shows the page
  /// where a person chooses them.
  void comparePolicies(const QString& wish);
  /// Shows the model's chat template and lets the person choose another.
  void chooseTemplate();
  /// The servers that queries can run on.
  void openServers();
  void makeRequests();  ///< the panel of what clients ask, and the button of the status bar
  /// Begins to serve, or ends it.
  void toggleServing();
  void showServing();
  /// Shows a request of a client as a document.
  void showRequest(std::uint64_t number);
  /// The same, and the document is the person's own from then on.
  void keepRequest(std::uint64_t number);
  /// Brings the page of experiments to the front. If `wish` is not empty, runs that experiment.
  void experiment(const QString& wish);
  /// Asks the person a question, and offers the person's last answer to the same question. Returns nothing if
  /// the person declines.
  std::optional<QString> answerTo(const QString& question);
  /// Asks whether texts may be sent to a server. A person who has agreed is not asked again.
  bool consentTo(const QString& endpoint);
  void step(int events);
  const AttentionView* shownAttention() const;  ///< nullptr: the view is not in sight

  QSettings& m_settings;
  QString m_autosaveDirectory;
  workbench::RecentModels m_recentModels;
  Workspace m_workspace;
  std::map<std::uint32_t, std::unique_ptr<Autosave>>
      m_autosaves;  ///< by tab; they are destroyed before their models
  DocumentFiles m_files;
  std::map<std::uint32_t, QString> m_tracePaths;  ///< trace files of tabs that show a recorded run
  std::set<std::uint32_t> m_dropped;              ///< tabs whose unsaved changes will not be kept
  std::unique_ptr<QLockFile> m_sessionLock;
  QTimer m_keepTabs;
  std::unique_ptr<QMenu> m_menu;
  CommandHandlers m_commands;
  KeyBindings m_keys;
  CommandActions* m_actions = nullptr;
  TopBar* m_topBar = nullptr;
  QStackedWidget* m_pages = nullptr;
  QSplitter* m_split = nullptr;                                  ///< the reader of lessons, and the pages
  LessonReader* m_reader = nullptr;                              ///< nullptr: no lesson was asked for yet
  std::optional<std::map<QString, QByteArray>> m_layoutsBefore;  ///< the first lesson; nothing: none is open
  QString m_program;
  std::unique_ptr<LessonPageJob> m_pageJob;        ///< null: no page is written
  std::unique_ptr<LessonRecorder> m_recorder;      ///< null: nothing is recorded
  LessonRecorderPanel* m_recorderPanel = nullptr;  ///< nullptr: nothing is recorded
  RunId m_lastRecordedRun = 0;
  std::set<RunId> m_recordedFidelity;
  std::unique_ptr<RecordingFile> m_recordingFile;  ///< null: nothing is recorded
  QTimer m_keepRecording;
  std::uint32_t m_repeatTab = 0;  ///< in which recorded runs are made again
  std::size_t m_repeated = 0;     ///< entries of the recorder's log that were done again
  bool m_ranPart = false;         ///< the run that was started last is of a subtree
  bool m_isPresenting = false;
  bool m_wasMaximised = false;     ///< the window, before presenting
  WindowStage* m_stage = nullptr;  ///< nullptr as long as the reader is
  LessonMarks* m_marks = nullptr;  ///< nullptr as long as the reader is
  WelcomePage* m_welcome = nullptr;
  NoticeBar* m_notice = nullptr;
  RequestsPanel* m_requests = nullptr;
  QToolButton* m_servingState = nullptr;  ///< in the status bar; hidden while nothing is served
  QToolButton* m_traceState = nullptr;    ///< in the status bar; hidden while nothing is recorded
  DockHost* m_docks = nullptr;
  Canvas* m_canvas = nullptr;
  CanvasMouse m_mouse;
  CommandPalette* m_palette = nullptr;
  ManualWindow* m_manual = nullptr;  ///< nullptr: the manual was not opened yet
  QLabel* m_status = nullptr;
  RunHint* m_hint = nullptr;
  QLabel* m_statusRight = nullptr;
  /// What a complaint in the status bar speaks of.
  struct Complaint {
    std::uint32_t tab = 0;
    std::shared_ptr<const document::Document> document;
    QString path;
    std::optional<QString> typed;  ///< JSON text that is no query
    bool operator==(const Complaint&) const = default;
  };
  Complaint complaintNow() const;
  std::optional<Complaint> m_complaint;  ///< nothing: no complaint is shown
  QString m_lastFolder;
  QHash<QString, QString> m_answers;                    ///< last answers to the questions of queries
  std::uint32_t m_shown = 0;                            ///< tab that the canvas shows now
  std::map<std::uint32_t, CanvasPlace> m_places;        ///< place of the canvas in each tab
  std::shared_ptr<const document::Document> m_checked;  ///< the document whose problems were counted last
  std::shared_ptr<const text::Tokenizer> m_checkedWith;
  std::uint64_t m_checkedCounts = 0;
  std::shared_ptr<const Forecast> m_checkedForecast;
  std::optional<QString> m_checkedPath;
  std::shared_ptr<const std::vector<compute::Device>> m_checkedDevices;
  ProblemFinder m_finder;
  QString m_problems;  ///< text with the number of problems of each kind
  QTimer m_countProblems;
  bool m_fitWanted = false;  ///< the canvas should show the whole query once the docks have their sizes
};

/// The size of the window at the first start of the program, on a screen with this much room for it.
QSize firstWindowSize(QSize available);

/// The problems of a file as text, one in a line.
/// Asks where to save. `filters`: as in QFileDialog; a name without an ending gets the one of the chosen
/// filter before the dialog asks whether to replace a file. Returns an empty text if the user cancels.
QString chosenSavePath(QWidget* parent, const QString& title, const QString& proposed,
                       const QString& filters);
QString diagnosticsText(const std::vector<query::Diagnostic>& diagnostics, const QString& file);

}  // namespace spanscope::ui
