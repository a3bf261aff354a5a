// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <mutex>
#include <utility>

namespace spanscope::workbench {

/// A value that any thread may set, and may read as a copy.
template <class T>
class Published {
 public:
  Published() = default;
  explicit Published(T value) : m_value(std::move(value)) {}

  T get() const {
    const std::lock_guard lock(m_mutex);
    return m_value;
  }
  void set(T value) {
    const std::lock_guard lock(m_mutex);
    m_value = std::move(value);
  }

 private:
  mutable std::mutex m_mutex;
  T m_value{};
};

}  // namespace spanscope::workbench
