// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QSettings;

namespace spanscope::document {

inline constexpr int kMostRecentFiles = 10;

/// The files opened or saved last, the newest first, kept in the settings. Files that do not exist (now)
/// stand behind those that do.
class RecentFiles {
 public:
  /// `settings` must outlive this.
  explicit RecentFiles(QSettings& settings) : m_settings(&settings) {}

  QStringList paths() const;
  void add(const QString& path);
  void remove(const QString& path);
  void clear();

 private:
  QSettings* m_settings;
};

}  // namespace spanscope::document
