// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

class QSettings;

namespace spanscope::ui {

inline constexpr int kMostRecentFiles = 10;

/// The files that were opened or saved last, kept in the settings. The newest stand first, but files that do
/// not exist now come after all that do.
class RecentFiles {
 public:
  /// `settings` must outlive this object.
  explicit RecentFiles(QSettings& settings) : m_settings(&settings) {}

  QStringList paths() const;
  void add(const QString& path);
  void remove(const QString& path);
  void clear();

 private:
  QSettings* m_settings;
};

}  // namespace spanscope::ui
