// SPDX-License-Identifier: GPL-3.0-or-later
// Reports when the contents of an open file differ from the contents that were last read or written.
#pragma once

#include <QByteArray>
#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QString>
#include <QTimer>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

class QLockFile;

namespace spanscope::ui {

/// The contents of a file at one time. Two stamps are equal if the contents are equal.
struct FileStamp {
  bool exists = false;  ///< the path is a regular file that can be read
  /// SHA-256 of the file's bytes. For a file that is larger than any document may be: its size and time.
  QByteArray content;
  bool operator==(const FileStamp&) const = default;
};

/// Reads the file and follows links. Anything but a regular file counts as missing.
FileStamp stampOf(const QString& path);

/// Watches any number of files, each under an id that the caller chooses. Editors and version control replace
/// whole files, so this class also watches the folders. Only the content counts: writing a file again with
/// the same content is no change.
class FileWatch : public QObject {
  Q_OBJECT
 public:
  explicit FileWatch(QObject* parent = nullptr);

  /// Starts to watch a file. `known`: the contents that the caller has read. An empty path, or forget(),
  /// stops the watch.
  void watch(std::uint32_t id, const QString& path, FileStamp known);
  void forget(std::uint32_t id);
  /// Takes the last content of the file as known. The caller has this content, or does not need it.
  void accept(std::uint32_t id);
  /// Takes `read` as known: the caller has read this content.
  void accept(std::uint32_t id, FileStamp read);
  /// Checks the files now, for drives whose notifications are not reliable, such as network drives.
  void look();
  void look(std::uint32_t id);

  /// Whether the contents of the file differ from the contents that the caller knows.
  bool isChanged(std::uint32_t id) const;
  bool isGone(std::uint32_t id) const;  ///< whether the file existed for the caller and is now missing

 Q_SIGNALS:
  /// The contents of the file have changed since this object last checked it.
  void changed(std::uint32_t id);

 private:
  struct File {
    QString path;
    FileStamp known;
    FileStamp found;
    /// The time of the file's last change, if that was well before the file was last read. As long as this
    /// time stays the same, the file is not read again. Not valid: the file is read.
    QDateTime touched;
  };
  void look(std::uint32_t id, File& file);
  void follow(const File& file);
  void leave(const File& file);

  QFileSystemWatcher m_watcher;
  QTimer m_settle;
  std::map<std::uint32_t, File> m_files;
};

// Finds other processes that have the same file open. Each process puts a lock for each open file into a
// folder that all of them watch.

class FilePresence : public QObject {
  Q_OBJECT
 public:
  /// Creates `directory` if it does not exist. If that fails, processes do not find each other.
  explicit FilePresence(QString directory, QObject* parent = nullptr);
  ~FilePresence() override;

  /// Announces that the file is open here, under an id that the caller chooses. An empty path, or leave(),
  /// ends the announcement.
  void enter(std::uint32_t id, const QString& path);
  void leave(std::uint32_t id);

  /// The process ids of all other places where the same file is open, ascending.
  const std::vector<qint64>& others(std::uint32_t id) const;
  /// Checks again, because a killed process ends without a notification.
  void look();

 Q_SIGNALS:
  void changed(std::uint32_t id);  ///< others() has changed

 private:
  struct Presence {
    QString prefix;  ///< beginning of the names of this file's locks
    std::unique_ptr<QLockFile> lock;
    std::vector<qint64> others;
  };
  std::vector<qint64> findOthers(const Presence& presence) const;

  QString m_directory;
  QFileSystemWatcher m_watcher;
  std::map<std::uint32_t, Presence> m_presences;
};

}  // namespace spanscope::ui
