// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

/// What has been read, to go back and forward in.
class ManualHistory {
 public:
  struct Place {
    QString page;
    int scroll = 0;  ///< pixels from the top, as it was left
  };

  /// Opens a page behind the present one; what was ahead is forgotten.
  void open(const QString& page);
  /// Where the present page is scrolled to.
  void leaveAt(int scroll);

  bool canGoBack() const { return m_now > 1; }
  bool canGoForward() const { return m_now < m_places.size(); }
  const Place& goBack();
  const Place& goForward();

 private:
  std::vector<Place> m_places;
  std::size_t m_now = 0;  ///< number of places up to the present one
};

}  // namespace spanscope::ui
