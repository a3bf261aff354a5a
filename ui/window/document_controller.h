// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/commands/command_table.h"
#include "ui/window/document_saver.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <map>

namespace spanscope::ui {

/// Opens and closes documents in tabs, and adds texts of files to queries as documents.
class DocumentController : public QObject {
  Q_OBJECT
 public:
  explicit DocumentController(const WindowParts& parts);

  DocumentSaver& saver() { return m_saver; }
  /// Adds the commands for files, and for undo and redo.
  void addCommands(CommandHandlers& rows);

  /// Opens a document, a query or a recorded run in a tab, or switches to the file's tab. A message reports
  /// errors of the file. Returns whether the file is open.
  bool openFile(const QString& path);
  /// Opens each file like openFile(). Asks once whether all text files should become documents of a query.
  /// Returns whether all files are open.
  bool openFiles(const QStringList& paths);
  /// Opens a copy of a bundled example, without a file of its own.
  bool openExample(const QString& fileName);
  void newDocument();
  void openDialog();
  /// Opens dropped queries, and adds dropped texts to the current query. A single model becomes the
  /// document's model.
  void takeDropped(const QStringList& paths);
  /// Shows an opened document and watches its file. `read`: the state of the file when it was read.
  void watch(OpenDocument& document, FileStamp read = {});
  /// The path of the trace file that a tab shows; empty: the tab shows no trace file.
  QString tracePath(std::uint32_t tab) const;
  void closeTab(OpenDocument& document);
  /// Adds a file to the recent files.
  void remember(const QString& path);
  void exportQuery();
  void showUndoHistory();

 Q_SIGNALS:
  void changed();  ///< titles, tabs or commands of the window may have changed
  void closed();   ///< a tab was closed, so another document may be current
  void recentChanged();
  /// The user opened logs of requests.
  void logsWanted(const QStringList& paths);

 private:
  void addHistoryCommands(CommandHandlers& rows);
  enum class Opening { Opened, Failed, IsText, IsLog };
  /// Opens a file in a tab. IsText and IsLog: the file is a text or a log of requests, not a query. No
  /// message was shown.
  Opening openOne(const QString& path);
  /// Whether the current tab shows a query that the user can change.
  bool isQueryShown() const;
  /// Asks whether texts should become documents of a query. Returns whether the texts were added.
  bool offerDocuments(const QStringList& paths);
  enum class AddTo { ThisQuery, NewQuery };
  /// Adds the texts of files and folders to the current query, or to a new query if there is none. If no text
  /// can be added, a message explains why. Returns whether texts were added.
  bool addFiles(const QStringList& paths, AddTo where);
  void addFilesDialog();
  void addFolderDialog();

  const WindowParts m_parts;
  DocumentSaver m_saver;
  std::map<std::uint32_t, QString> m_tracePaths;  ///< trace files of tabs that show a recorded run
};

}  // namespace spanscope::ui
