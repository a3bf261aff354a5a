// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/manual/manual_history.h"

namespace spanscope::ui {

void ManualHistory::open(const QString& page) {
  m_places.resize(m_now);
  m_places.push_back({.page = page, .scroll = 0});
  m_now = m_places.size();
}

void ManualHistory::change(const QString& page) {
  if (m_now > 0) m_places[m_now - 1] = {.page = page, .scroll = 0};
}

void ManualHistory::leaveAt(int scroll) {
  if (m_now > 0) m_places[m_now - 1].scroll = scroll;
}

const ManualHistory::Place& ManualHistory::goBack() {
  if (canGoBack()) --m_now;
  return m_places[m_now - 1];
}

const ManualHistory::Place& ManualHistory::goForward() {
  if (canGoForward()) ++m_now;
  return m_places[m_now - 1];
}

}  // namespace spanscope::ui
