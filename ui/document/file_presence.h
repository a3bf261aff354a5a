// SPDX-License-Identifier: GPL-3.0-or-later
// Lets windows of several processes that have the same file open know of each other. Each process leaves a
// lock for each open file in a folder that all of them watch.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

class QLockFile;

namespace spanscope::ui {

class FilePresence : public QObject {
  Q_OBJECT
 public:
  /// Creates `directory` if it does not exist. If it cannot be written, processes do not know of each other.
  explicit FilePresence(QString directory, QObject* parent = nullptr);
  ~FilePresence() override;

  /// Announces that the file is open here, under an id that the caller chooses. An empty path, or leave(),
  /// ends that.
  void enter(std::uint32_t id, const QString& path);
  void leave(std::uint32_t id);

  /// The process ids of all other places where the same file is open, ascending.
  const std::vector<qint64>& others(std::uint32_t id) const;
  /// Looks again, because a killed process leaves without a message.
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
