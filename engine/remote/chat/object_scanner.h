// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace spanscope::remote {

/// Finds the outermost JSON objects of a text that comes piece by piece: one, one a line, one after the
/// other, or in a list. It looks at braces and quotes alone; whether an object is one, a parser finds.
class ObjectScanner {
 public:
  explicit ObjectScanner(std::function<void(std::string_view object)> receive)
      : m_receive(std::move(receive)) {}

  void add(std::string_view piece) {
    for (const char c : piece) {
      if (m_depth == 0 && c != '{') {
        m_between += c;
        continue;
      }
      m_object += c;
      if (m_isInText) {
        m_isInText = m_isEscaped || c != '"';
        m_isEscaped = !m_isEscaped && c == '\\';
      } else if (c == '"') {
        m_isInText = true;
      } else if (c == '{') {
        ++m_depth;
      } else if (c == '}' && --m_depth == 0) {
        std::string object;
        object.swap(m_object);
        m_receive(object);
      }
    }
  }

  /// Whether an object has begun that has no end yet.
  bool isInside() const { return m_depth > 0; }
  /// Bytes of it.
  std::size_t held() const { return m_object.size(); }
  /// What came outside of objects.
  const std::string& between() const { return m_between; }

 private:
  std::function<void(std::string_view)> m_receive;
  std::string m_object;
  std::string m_between;
  std::size_t m_depth = 0;
  bool m_isInText = false;
  bool m_isEscaped = false;
};

}  // namespace spanscope::remote
