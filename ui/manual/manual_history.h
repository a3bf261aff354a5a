// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

/// The pages that a person has read, to go back and forward.
class ManualHistory {
 public:
  struct Place {
    QString page;
    int scroll = 0;  ///< pixels from the top when the person left the page
  };

  /// Adds a page after the present one, and forgets the pages ahead.
  void open(const QString& page);
  /// Puts another page in the place of the present one.
  void change(const QString& page);
  /// Remembers the scroll position of the present page.
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
