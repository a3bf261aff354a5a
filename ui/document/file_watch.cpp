// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/file_watch.h"

#include <QFileInfo>

#include <algorithm>
#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

/// Milliseconds without a message: a file that is being written is looked at when that is over.
constexpr int kSettle = 120;
constexpr qint64 kCoarse = 2000;  ///< milliseconds: the coarsest clock of a file system in use

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
  // Who is told may ask for other files to be watched.
  std::vector<std::uint32_t> ids;
  for (const auto& [id, file] : m_files) ids.push_back(id);
  for (const std::uint32_t id : ids) look(id);
}

void FileWatch::look(std::uint32_t id) {
  const auto found = m_files.find(id);
  if (found != m_files.end()) look(id, found->second);
}

void FileWatch::look(std::uint32_t id, File& file) {
  // Whoever replaced the file has ended the watch on what was there.
  follow(file);
  const QFileInfo info(file.path);
  const QDateTime touched = info.exists() ? info.metadataChangeTime() : QDateTime();
  if (touched.isValid() && touched == file.touched) return;
  // Clocks of file systems are coarse: what was changed just now may be changed again at the same time.
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

}  // namespace spanscope::ui
