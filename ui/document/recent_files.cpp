// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/recent_files.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr QLatin1String kKey("recentFiles");

}  // namespace

QStringList RecentFiles::paths() const {
  QStringList paths = m_settings->value(kKey).toStringList();
  paths.removeAll(QString());
  paths.removeDuplicates();
  std::stable_partition(paths.begin(), paths.end(),
                        [](const QString& path) { return QFileInfo::exists(path); });
  return paths.mid(0, kMostRecentFiles);
}

void RecentFiles::add(const QString& path) {
  if (path.isEmpty()) return;
  const QString absolute = QFileInfo(path).absoluteFilePath();
  QStringList paths = m_settings->value(kKey).toStringList();
  paths.removeAll(absolute);
  paths.prepend(absolute);
  m_settings->setValue(kKey, QStringList(paths.mid(0, kMostRecentFiles)));
}

void RecentFiles::remove(const QString& path) {
  QStringList paths = m_settings->value(kKey).toStringList();
  paths.removeAll(QFileInfo(path).absoluteFilePath());
  m_settings->setValue(kKey, paths);
}

void RecentFiles::clear() {
  m_settings->remove(kKey);
}

}  // namespace spanscope::ui
