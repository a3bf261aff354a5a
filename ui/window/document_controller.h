// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_actions.h"
#include "ui/window/document_saver.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <map>

namespace spanscope::ui {

/// Opens documents in tabs, makes texts of files documents of a query, and closes tabs.
class DocumentController : public QObject {
  Q_OBJECT
 public:
  explicit DocumentController(const WindowParts& parts);

  DocumentSaver& saver() { return m_saver; }
  /// Adds the commands of files, and of undoing changes of documents.
  void addCommands(CommandHandlers& rows);

  /// Opens a document, a query or a recorded run in a tab, or goes to the tab that has it. If something is
  /// wrong with the file, the window says so. Returns whether it is open.
  bool openFile(const QString& path);
  /// Opens each of the files like openFile(). What is a text and no query is offered as documents of one, all
  /// such files in one question. Returns whether all are open.
  bool openFiles(const QStringList& paths);
  /// Opens a copy of a bundled example, without a file of its own.
  bool openExample(const QString& fileName);
  void newDocument();
  void openDialog();
  /// Opens dropped queries, and makes other texts documents of the query in view.
  void takeDropped(const QStringList& paths);
  /// Shows and watches a document that was opened. `read` is what its file held when it was read.
  void watch(OpenDocument& document, FileStamp read = {});
  /// The path of the trace file that a tab shows; empty: it shows none.
  QString tracePath(std::uint32_t tab) const;
  void closeTab(OpenDocument& document);
  void exportQuery();
  void showUndoHistory();

 Q_SIGNALS:
  void changed();  ///< what the window shows of itself
  void closed();   ///< a tab, so that another document may be shown
  void recentChanged();

 private:
  void addHistoryCommands(CommandHandlers& rows);
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
  void addFilesDialog();
  void addFolderDialog();
  void remember(const QString& path);

  QMainWindow& m_window;
  QSettings& m_settings;
  Workspace& m_workspace;
  DockHost& m_docks;
  Canvas& m_canvas;
  CanvasPlaces& m_places;
  PageArea& m_pages;
  StatusLine& m_status;
  QString& m_lastFolder;
  DocumentSaver m_saver;
  std::map<std::uint32_t, QString> m_tracePaths;  ///< trace files of tabs that show a recorded run
};

}  // namespace spanscope::ui
