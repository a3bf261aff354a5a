// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_table.h"
#include "ui/theme/theme.h"
#include "ui/window/window_parts.h"

#include <QByteArray>
#include <QObject>
#include <QString>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>

class QKeyEvent;
class QMenu;

namespace spanscope::document {
class Document;
}

namespace spanscope::ui {

class LessonMarks;
class LessonPageJob;
class LessonReader;
class LessonRecording;
struct OpenDocument;
class WindowStage;

/// Opens, steps and presents lessons beside the views, and owns the recording of lessons.
class LessonController : public QObject {
  Q_OBJECT
 public:
  explicit LessonController(const WindowParts& parts);
  ~LessonController() override;

  /// Adds the commands of lessons.
  void addCommands(CommandHandlers& rows);
  /// Lists the lessons in the menu when the user opens the menu for the first time.
  void fillMenu(QMenu& menu);

  /// Opens a lesson at `step` (from 0), by default at the step where the learner left the lesson. The lesson
  /// panel shows errors of the file. Returns whether the lesson is open.
  bool open(const QString& path, std::optional<std::size_t> step = std::nullopt);
  /// Opens the first lesson if the learner has begun none, else shows the list of lessons.
  void learn();
  void leave();
  /// Shows the documents in place of the welcome page.
  void showDocuments();
  /// Closes a document of a lesson.
  void close(OpenDocument& document) { Q_EMIT closeWanted(document); }
  /// Opens a document of a lesson in its own tab.
  OpenDocument& openQuery(const QString& title, const document::Document& document);

  /// Sets the path of this program. A second process of the program writes pages of lessons. Empty: no pages.
  void setProgram(const QString& path) { m_program = path; }
  /// Starts to write a page of the open lesson, which takes as long as the lesson's runs. The status line
  /// reports the end.
  void savePage(const QString& page);

  /// Writes the answers of the learner for `spanq lesson grade`. Returns an error text; empty: no error.
  QString saveAnswers(const QString& path);

  /// The panel of lessons, visible or hidden.
  LessonReader& reader();
  /// The frames around the areas of the window that a lesson names. Call reader() first.
  LessonMarks& marks() { return *m_marks; }
  LessonRecording& recording() { return *m_recording; }

  void setTheme(const Theme& theme);
  /// Hides the pages while a lesson is presented and no document is shown.
  void showPages();
  /// Resizes a presented lesson after the size of the window has changed.
  void fitPresented();
  /// The arrangements of docks that the user chose, without changes by a lesson.
  std::map<QString, QByteArray> layoutStates() const;

 Q_SIGNALS:
  void commandWanted(const QString& command);
  void commandsChanged();  ///< other commands are available
  void changed();          ///< titles, tabs or commands of the window may have changed
  void documentOpened(spanscope::ui::OpenDocument& document);
  void closeWanted(spanscope::ui::OpenDocument& document);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showReader();
  void showLessons();
  void openDialog();
  void savePageDialog();
  void saveAnswersDialog();
  void present(bool isPresenting);
  void enlargeBlocks(bool isLarger);
  void lightDock();            ///< highlights the dock that the step of the lesson names
  int presentedWidth() const;  ///< width of the reader, pixels
  /// Handles a key of a number that the presenter types to jump to a step. Returns whether the key was used.
  bool takeDigit(const QKeyEvent& key);

  WindowParts m_parts;
  QMainWindow& m_window;
  QSettings& m_settings;
  Workspace& m_workspace;
  DockHost& m_docks;
  Canvas& m_canvas;
  PageArea& m_pages;
  StatusLine& m_status;
  std::unique_ptr<LessonRecording> m_recording;
  LessonReader* m_reader = nullptr;  ///< nullptr: the panel was not used yet
  WindowStage* m_stage = nullptr;    ///< nullptr while m_reader is nullptr
  LessonMarks* m_marks = nullptr;    ///< nullptr while m_reader is nullptr
  QString m_program;
  std::unique_ptr<LessonPageJob> m_pageJob;  ///< null: no page is being written
  bool m_isPresenting = false;
  QString m_typed;              ///< the number of a step that the presenter types
  bool m_wasMaximised = false;  ///< the window was maximised before presenting
};

}  // namespace spanscope::ui
