// SPDX-License-Identifier: GPL-3.0-or-later
// Windows of several processes that have one file open know of each other: each leaves a lock for each file,
// in a folder that all of them watch.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

class QLockFile;

namespace spanscope::document {

class FilePresence : public QObject {
  Q_OBJECT
 public:
  /// `directory` is made where it is not there. Without one that can be written, nobody knows of anybody.
  explicit FilePresence(QString directory, QObject* parent = nullptr);
  ~FilePresence() override;

  /// Says that the file is open here, under an id of the caller's. An empty path, or leave(), ends it.
  void enter(std::uint32_t id, const QString& path);
  void leave(std::uint32_t id);

  /// Numbers of the processes that have the same file open elsewhere, ascending.
  const std::vector<qint64>& others(std::uint32_t id) const;
  /// Looks again: a process that was killed leaves without a message.
  void look();

 Q_SIGNALS:
  void changed(std::uint32_t id);  ///< others() are

 private:
  struct Presence {
    QString prefix;  ///< of the locks of this file
    std::unique_ptr<QLockFile> lock;
    std::vector<qint64> others;
  };
  std::vector<qint64> findOthers(const Presence& presence) const;

  QString m_directory;
  QFileSystemWatcher m_watcher;
  std::map<std::uint32_t, Presence> m_presences;
};

}  // namespace spanscope::document
