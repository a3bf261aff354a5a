// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps what has been typed but not saved in a side file, so that it outlives the program.
//
// A side file is one line of JSON ({"autosave": 1, "path": …, "title": …, "time": …}) and then the document
// as writeDocument() gives it. Beside it lies a lock for as long as the program that writes it lives.
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

namespace spanscope::document {

/// Where side files are kept unless another place is given: `autosave` in the application's data folder.
QString autosaveDirectory();

/// Watches one document, which must outlive it. The side file is written beside the event loop; it is removed
/// when nothing is left unsaved and on destruction, which is a clean close. A side file that somebody else
/// left behind is never touched.
class Autosave : public QObject {
  Q_OBJECT
 public:
  explicit Autosave(DocumentModel& model, QString directory = autosaveDirectory(), QObject* parent = nullptr);
  ~Autosave() override;

  /// A change is in the side file not later than this after it was made, and the time that writing takes.
  void setInterval(std::chrono::milliseconds interval);
  std::chrono::milliseconds interval() const { return m_interval; }

  QString sideFile() const { return m_sideFile; }  ///< empty: there is none now
  /// Has the side file hold what is unsaved now, and waits for that: for when saving has failed.
  void writeNow();
  /// Forgets what is unsaved: the side file goes.
  void discard();
  /// Leaves what the document holds now in a side file for a later start of the program, and watches no more.
  /// Its path; empty where it could not be written, and then an older state may still be there.
  QString keep();

 Q_SIGNALS:
  void written();  ///< the side file holds another state
  void failed(
      const spanscope::Error& error);  ///< it could not be written; it is tried again after the next change

 private:
  void schedule();
  bool beginWriting();
  void write();
  void finishWriting(const std::optional<Error>& error, const QString& path);
  void followState();
  bool takeSideFile();
  QByteArray header() const;

  DocumentModel& m_model;
  QString m_directory;
  QString m_sideFile;
  QString m_sideFilePath;  ///< path of the document when the side file was named
  std::unique_ptr<QLockFile> m_lock;
  std::chrono::milliseconds m_interval{5000};
  QTimer m_timer;
  QElapsedTimer m_sinceWriting;
  QThreadPool m_writer;  ///< one thread: states are written in order
  bool m_isWriting = false;
  bool m_isDirty = false;
};

/// What a program that did not end cleanly left behind.
struct Recovery {
  QString sideFile;
  QString filePath;  ///< empty: the document never had one
  QString title;
  QDateTime time;
  Document document;
};

/// Side files in the directory that no running program writes and that hold something else than the file they
/// belong to, the newest first.
std::vector<Recovery> findRecoveries(const QString& directory = autosaveDirectory());
/// That of one side file, under the same conditions.
std::optional<Recovery> findRecovery(const QString& sideFile);
/// For when the person has taken it or does not want it.
void removeRecovery(const Recovery& recovery);

}  // namespace spanscope::document
