// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/stop_texts.h"

#include <algorithm>
#include <utility>

namespace spanscope::server {

std::string StopTexts::push(std::string_view text) {
  if (m_hasStopped) return {};
  m_held += text;
  std::size_t first = std::string::npos;
  for (const std::string& stop : m_texts) first = std::min(first, m_held.find(stop));
  if (first != std::string::npos) {
    m_hasStopped = true;
    m_held.resize(first);
    return std::exchange(m_held, {});
  }
  std::size_t kept = 0;
  for (const std::string& stop : m_texts) {
    for (std::size_t length = std::min(stop.size() - 1, m_held.size()); length > kept; --length) {
      if (!std::string_view(m_held).ends_with(std::string_view(stop).substr(0, length))) continue;
      kept = length;
    }
  }
  std::string sure = m_held.substr(0, m_held.size() - kept);
  m_held.erase(0, sure.size());
  return sure;
}

std::string StopTexts::finish() {
  return m_hasStopped ? std::string() : std::exchange(m_held, {});
}

}  // namespace spanscope::server
