// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/file_watch.h"

#include "engine/query/diagnostic.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLockFile>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

namespace {

/// Milliseconds without a notification after which a file counts as completely written.
constexpr int kSettle = 120;
constexpr qint64 kCoarse = 2000;  ///< milliseconds: step of the coarsest file system clock

QString folderOf(const QString& path) {
  return QFileInfo(path).absolutePath();
}

}  // namespace

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
  m_settle.setSingleShot(true);
  m_settle.setInterval(kSettle);
  connect(&m_settle, &QTimer::timeout, this, qOverload<>(&FileWatch::look));
  const auto wait = [this] { m_settle.start(); };
  connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, wait);
  connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, wait);
}

void FileWatch::watch(std::uint32_t id, const QString& path, FileStamp known) {
  forget(id);
  if (path.isEmpty()) return;
  File& file = m_files[id];
  file = {.path = path, .known = known, .found = {}, .touched = {}};
  file.found = std::move(known);
  follow(file);
  look(id, file);
}

void FileWatch::forget(std::uint32_t id) {
  const auto found = m_files.find(id);
  if (found == m_files.end()) return;
  const File gone = std::move(found->second);
  m_files.erase(found);
  leave(gone);
}

void FileWatch::accept(std::uint32_t id) {
  const auto found = m_files.find(id);
  if (found != m_files.end()) found->second.known = found->second.found;
}

void FileWatch::accept(std::uint32_t id, FileStamp read) {
  const auto found = m_files.find(id);
  if (found != m_files.end()) found->second.known = std::move(read);
}

void FileWatch::look() {
  // A receiver of changed() may change the list of watched files.
  std::vector<std::uint32_t> ids;
  for (const auto& [id, file] : m_files) ids.push_back(id);
  for (const std::uint32_t id : ids) look(id);
}

void FileWatch::look(std::uint32_t id) {
  const auto found = m_files.find(id);
  if (found != m_files.end()) look(id, found->second);
}

void FileWatch::look(std::uint32_t id, File& file) {
  // Replacing a file ends the watch on the old file.
  follow(file);
  const QFileInfo info(file.path);
  const QDateTime touched = info.exists() ? info.metadataChangeTime() : QDateTime();
  if (touched.isValid() && touched == file.touched) return;
  // Clocks of file systems are coarse: a second change can get the same time as the first.
  const bool isOld = touched.isValid() && touched.msecsTo(QDateTime::currentDateTime()) > kCoarse;
  file.touched = isOld ? touched : QDateTime();
  FileStamp now = stampOf(file.path);
  if (now == file.found) return;
  file.found = std::move(now);
  Q_EMIT changed(id);
}

bool FileWatch::isChanged(std::uint32_t id) const {
  const auto found = m_files.find(id);
  return found != m_files.end() && found->second.found != found->second.known;
}

bool FileWatch::isGone(std::uint32_t id) const {
  const auto found = m_files.find(id);
  return found != m_files.end() && found->second.known.exists && !found->second.found.exists;
}

void FileWatch::follow(const File& file) {
  const QString folder = folderOf(file.path);
  if (!m_watcher.files().contains(file.path) && QFileInfo::exists(file.path)) m_watcher.addPath(file.path);
  if (!m_watcher.directories().contains(folder) && QFileInfo::exists(folder)) m_watcher.addPath(folder);
}

void FileWatch::leave(const File& file) {
  const auto others = [this](const auto& predicate) {
    return std::any_of(m_files.begin(), m_files.end(),
                       [&predicate](const auto& other) { return predicate(other.second); });
  };
  if (!others([&file](const File& other) { return other.path == file.path; }))
    m_watcher.removePath(file.path);
  const QString folder = folderOf(file.path);
  if (!others([&folder](const File& other) { return folderOf(other.path) == folder; }))
    m_watcher.removePath(folder);
}

FileStamp stampOf(const QString& path) {
  const QFileInfo info(path);
  if (!info.isFile()) return {};
  constexpr auto kMostBytes = static_cast<qint64>(query::ParseLimits{}.maxBytes);
  if (info.size() > kMostBytes) {
    return {.exists = true,
            .content = QByteArray::number(info.size()) + ' ' +
                       QByteArray::number(info.lastModified().toMSecsSinceEpoch())};
  }
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  QCryptographicHash hash(QCryptographicHash::Sha256);
  if (!hash.addData(&file)) return {};
  return {.exists = true, .content = hash.result()};
}

namespace {

constexpr auto kSuffix = ".open";

/// Returns the same text for all names of one file.
QString prefixOf(const QString& path) {
  const QString canonical = QFileInfo(path).canonicalFilePath();
  const QByteArray name = (canonical.isEmpty() ? path : canonical).toUtf8();
  return QString::fromLatin1(QCryptographicHash::hash(name, QCryptographicHash::Sha256).toHex().left(32));
}

std::unique_ptr<QLockFile> lockAt(const QString& path) {
  auto lock = std::make_unique<QLockFile>(path);
  // Zero: a lock of any age is valid until the process that made it has ended.
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
    // The lock could be taken: its process was killed. The destructor of `lock` removes the file.
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
