// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_actions.h"
#include "ui/theme/theme.h"
#include "ui/window/window_parts.h"

#include <QByteArray>
#include <QObject>
#include <QString>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>

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

/// Opens, steps and presents lessons beside the views, and has the recording of lessons.
class LessonController : public QObject {
  Q_OBJECT
 public:
  explicit LessonController(const WindowParts& parts);
  ~LessonController() override;

  /// Adds the commands of lessons.
  void addCommands(CommandHandlers& rows);
  /// Lists the lessons in the menu of them, when it is opened for the first time.
  void fillMenu(QMenu& menu);

  /// Opens a lesson where the learner left it, or at another step (from 0). What is wrong with the file is
  /// shown there. Returns whether it is open.
  bool open(const QString& path, std::optional<std::size_t> step = std::nullopt);
  /// Opens the first lesson if the learner has begun none, else shows the list of lessons.
  void learn();
  void leave();
  /// Shows the documents where the welcome page is.
  void showDocuments();
  /// Opens a document of a lesson in a tab of its own.
  OpenDocument& openQuery(const QString& title, const document::Document& document);

  /// The program itself, which a second time writes pages of lessons. Empty: it cannot.
  void setProgram(const QString& path) { m_program = path; }
  /// Writes a page of the open lesson, which takes as long as its runs; the status line says when it is
  /// there.
  void savePage(const QString& page);

  /// The panel of lessons, hidden or not.
  LessonReader& reader();
  /// The frames around what a lesson names. Call reader() first.
  LessonMarks& marks() { return *m_marks; }
  LessonRecording& recording() { return *m_recording; }

  void setTheme(const Theme& theme);
  /// Hides the pages where a presented step does not need them.
  void showPages();
  /// Gives a presented lesson its part of the window, whose size has changed.
  void fitPresented();
  /// The arrangements of docks that the user wants, whatever a lesson has made of them.
  std::map<QString, QByteArray> layoutStates() const;

 Q_SIGNALS:
  void commandWanted(const QString& command);
  void commandsChanged();  ///< other commands can be carried out
  void changed();          ///< what the window shows of itself
  void documentOpened(spanscope::ui::OpenDocument& document);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void showReader();
  void showLessons();
  void openDialog();
  void savePageDialog();
  void present(bool isPresenting);
  void lightDock();            ///< the one that the step of the lesson names
  int presentedWidth() const;  ///< of the reader, pixels

  WindowParts m_parts;
  QMainWindow& m_window;
  QSettings& m_settings;
  Workspace& m_workspace;
  DockHost& m_docks;
  Canvas& m_canvas;
  PageArea& m_pages;
  StatusLine& m_status;
  std::unique_ptr<LessonRecording> m_recording;
  LessonReader* m_reader = nullptr;                              ///< nullptr: no lesson was asked for yet
  WindowStage* m_stage = nullptr;                                ///< nullptr as long as the reader is
  LessonMarks* m_marks = nullptr;                                ///< nullptr as long as the reader is
  std::optional<std::map<QString, QByteArray>> m_layoutsBefore;  ///< the first lesson; nothing: none is open
  QString m_program;
  std::unique_ptr<LessonPageJob> m_pageJob;  ///< null: no page is written
  bool m_isPresenting = false;
  bool m_wasMaximised = false;  ///< the window, before presenting
};

}  // namespace spanscope::ui
