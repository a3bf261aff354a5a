// SPDX-License-Identifier: GPL-3.0-or-later
// Tells when a file that is open here holds something else than what was read or written last.
#pragma once

#include "ui/document/file_stamp.h"

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <map>

namespace spanscope::document {

/// Watches any number of files, each under an id of the caller's. Files are replaced as a whole by editors
/// and version control, so their folders are watched too. Only content counts: a file that was written again
/// with what it held has not changed.
class FileWatch : public QObject {
  Q_OBJECT
 public:
  explicit FileWatch(QObject* parent = nullptr);

  /// From here on; `known` is what the caller has of the file. An empty path, or forget(), ends it.
  void watch(std::uint32_t id, const QString& path, FileStamp known);
  void forget(std::uint32_t id);
  /// What the file was found to hold last is what the caller has, or wants to know no more about.
  void accept(std::uint32_t id);
  /// The caller has read this of the file.
  void accept(std::uint32_t id, FileStamp read);
  /// Looks at once, where no message of the system can be relied on (network drives).
  void look();
  void look(std::uint32_t id);

  /// The file holds something else than the caller has.
  bool isChanged(std::uint32_t id) const;
  bool isGone(std::uint32_t id) const;  ///< and that is: it is not there any more

 Q_SIGNALS:
  /// The file was found to hold something else than when it was looked at before.
  void changed(std::uint32_t id);

 private:
  struct File {
    QString path;
    FileStamp known;
    FileStamp found;
    /// When anything about it changed last, where that was well before it was read: what it holds is read
    /// no more often than needed. Not valid: it is read.
    QDateTime touched;
  };
  void look(std::uint32_t id, File& file);
  void follow(const File& file);
  void leave(const File& file);

  QFileSystemWatcher m_watcher;
  QTimer m_settle;
  std::map<std::uint32_t, File> m_files;
};

}  // namespace spanscope::document
