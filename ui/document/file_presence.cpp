// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/file_presence.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QLockFile>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr auto kSuffix = ".open";

/// The same for all names of one file.
QString prefixOf(const QString& path) {
  const QString canonical = QFileInfo(path).canonicalFilePath();
  const QByteArray name = (canonical.isEmpty() ? path : canonical).toUtf8();
  return QString::fromLatin1(QCryptographicHash::hash(name, QCryptographicHash::Sha256).toHex().left(32));
}

std::unique_ptr<QLockFile> lockAt(const QString& path) {
  auto lock = std::make_unique<QLockFile>(path);
  // However old: it holds until the process that made it is gone.
  lock->setStaleLockTime(0);
  return lock;
}

}  // namespace

FilePresence::FilePresence(QString directory, QObject* parent)
    : QObject(parent), m_directory(std::move(directory)) {
  connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, &FilePresence::look);
}

FilePresence::~FilePresence() = default;

void FilePresence::enter(std::uint32_t id, const QString& path) {
  leave(id);
  if (path.isEmpty() || !QDir().mkpath(m_directory)) return;
  Presence& presence = m_presences[id];
  presence.prefix = prefixOf(path);
  presence.lock = lockAt(m_directory + QLatin1Char('/') + presence.prefix + QLatin1Char('-') +
                         QUuid::createUuid().toString(QUuid::Id128) + QLatin1String(kSuffix));
  presence.lock->tryLock(0);
  if (!m_watcher.directories().contains(m_directory)) m_watcher.addPath(m_directory);
  presence.others = findOthers(presence);
}

void FilePresence::leave(std::uint32_t id) {
  m_presences.erase(id);
}

const std::vector<qint64>& FilePresence::others(std::uint32_t id) const {
  static const std::vector<qint64> nobody;
  const auto found = m_presences.find(id);
  return found == m_presences.end() ? nobody : found->second.others;
}

void FilePresence::look() {
  std::vector<std::uint32_t> changedIds;
  for (auto& [id, presence] : m_presences) {
    std::vector<qint64> now = findOthers(presence);
    if (now == presence.others) continue;
    presence.others = std::move(now);
    changedIds.push_back(id);
  }
  for (const std::uint32_t id : changedIds) Q_EMIT changed(id);
}

std::vector<qint64> FilePresence::findOthers(const Presence& presence) const {
  std::vector<qint64> others;
  const QStringList names =
      QDir(m_directory)
          .entryList({presence.prefix + QLatin1String("-*") + QLatin1String(kSuffix)}, QDir::Files);
  for (const QString& name : names) {
    const QString path = m_directory + QLatin1Char('/') + name;
    const bool isOwn = std::any_of(m_presences.begin(), m_presences.end(), [&path](const auto& own) {
      return own.second.lock != nullptr && own.second.lock->fileName() == path;
    });
    if (isOwn) continue;
    const std::unique_ptr<QLockFile> lock = lockAt(path);
    // Taken: its process was killed, and what it left goes with this lock.
    if (lock->tryLock(0)) continue;
    qint64 process = 0;
    QString host;
    QString program;
    if (lock->getLockInfo(&process, &host, &program)) others.push_back(process);
  }
  std::sort(others.begin(), others.end());
  return others;
}

}  // namespace spanscope::ui
