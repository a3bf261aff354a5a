// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps unsaved changes in a side file, which remains if the program ends without saving.
//
// A side file is one line of JSON ({"autosave": 1, "path": …, "title": …, "time": …, "typed": …}), followed
// by the document as writeDocument() writes it. "typed" is JSON text that is no query yet, if there is any
// (ui/document/unread_text.h). A lock file is beside the side file while the program that writes it runs.
#pragma once

#include "engine/base/error.h"
#include "ui/document/document_file.h"
#include "ui/document/document_model.h"

#include <QDateTime>
#include <QElapsedTimer>
#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

class QLockFile;

namespace spanscope::ui {

/// Locks a side file. Returns null if a running program has the lock.
std::unique_ptr<QLockFile> lockSideFile(const QString& sideFile);

/// The default folder for side files: `autosave` in the application's data folder.
QString autosaveDirectory();

/// Watches one document, which must outlive this object. A separate thread writes the side file. The side
/// file is removed when nothing is left unsaved. The destructor also removes the side file, because
/// destruction means a clean close. The class never changes side files of other programs.
class Autosave : public QObject {
  Q_OBJECT
 public:
  explicit Autosave(DocumentModel& model, QString directory = autosaveDirectory(), QObject* parent = nullptr);
  ~Autosave() override;

  /// Sets the longest time between a change and the start of writing it to the side file. If writing takes
  /// long, the wait is ten times as long as the last write, at most five seconds.
  void setInterval(std::chrono::milliseconds interval);
  std::chrono::milliseconds interval() const { return m_interval; }

  QString sideFile() const { return m_sideFile; }  ///< Empty if there is no side file now.
  /// Writes unsaved changes to the side file now, and waits until they are written. For use when saving has
  /// failed.
  void writeNow();
  /// Removes the side file: unsaved changes need no more protection.
  void discard();
  /// Leaves the current document in a side file for a later start of the program, and stops watching. Returns
  /// the path of the side file. Returns an empty path if the file could not be written. The side file may
  /// then still have an older state.
  QString keep();

 Q_SIGNALS:
  void written();  ///< the side file has another state
  void failed(
      const spanscope::Error& error);  ///< the side file could not be written; the next change tries again

 private:
  void schedule();
  bool beginWriting();
  void write();
  void finishWriting(const std::optional<Error>& error, const QString& path);
  void followState();
  void stopWatching();
  bool takeSideFile();
  QByteArray header() const;

  DocumentModel& m_model;
  QString m_directory;
  QString m_sideFile;
  QString m_sideFilePath;  ///< path of the document when the side file was named
  std::unique_ptr<QLockFile> m_lock;
  std::chrono::milliseconds m_interval{1000};
  std::chrono::milliseconds m_writingTook{0};  ///< duration of the last write
  QTimer m_timer;
  QElapsedTimer m_sinceWriting;
  QThreadPool m_writer;  ///< one thread: states are written in order
  bool m_isWriting = false;
  bool m_isDirty = false;
};

/// A side file of a program that did not end cleanly.
struct Recovery {
  QString sideFile;
  QString filePath;  ///< empty: the document never had a file
  QString title;
  QDateTime time;
  document::Document document;
  std::optional<QString> typed = {};  ///< JSON text that was no query yet
};

/// Finds side files in the directory, the newest first. Leaves out files that a running program is writing,
/// and files with the same content as the document's own file.
std::vector<Recovery> findRecoveries(const QString& directory = autosaveDirectory());
/// Like findRecoveries(), for one side file.
std::optional<Recovery> findRecovery(const QString& sideFile);
/// Removes the side file, after the user has opened or refused the document.
void removeRecovery(const Recovery& recovery);

}  // namespace spanscope::ui
