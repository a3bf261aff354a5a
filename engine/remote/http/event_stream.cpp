// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/http/event_stream.h"

#include "engine/base/error.h"

#include <string>

namespace spanscope::remote {

void EventStream::add(std::string_view piece) {
  for (const char c : piece) {
    if (c == '\n' && m_wasReturn) {
      m_wasReturn = false;
      continue;
    }
    m_wasReturn = c == '\r';
    if (c == '\n' || c == '\r') {
      takeLine();
      continue;
    }
    m_line += c;
    if (m_line.size() + m_data.size() > kMostBytes)
      throw Failure(errorAt("event", "more than " + std::to_string(kMostBytes) + " bytes", "a smaller one"));
  }
}

void EventStream::end() {
  if (!m_line.empty()) takeLine();
  dispatch();
}

void EventStream::takeLine() {
  std::string_view line = m_line;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (m_isFirstLine && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  m_isFirstLine = false;
  if (line.empty()) {
    m_line.clear();
    dispatch();
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    // Incomplete data is checked again when it has twice the size. The checks then take little time.
    if (m_hasData && m_hooks.isWhole && m_data.size() >= 2 * m_checked) {
      m_checked = m_data.size();
      if (m_hooks.isWhole(m_data)) dispatch();
    }
    if (m_hasData) m_data += '\n';
    m_data += value;
    m_hasData = true;
  } else if (field == "event") {
    m_name = value;
  } else if (!field.empty() && field != "id" && field != "retry" && m_hooks.stray) {
    m_hooks.stray(line);
  }
  m_line.clear();
}

void EventStream::dispatch() {
  if (m_hasData) {
    std::string data;
    data.swap(m_data);
    m_hasData = false;
    m_receive(data);
  }
  m_name.clear();
  m_checked = 0;
}

}  // namespace spanscope::remote
