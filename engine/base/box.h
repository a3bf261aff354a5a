// SPDX-License-Identifier: GPL-3.0-or-later
// Defines Box, a value on the heap for recursive value types. Open this file to build a recursive type.
#pragma once

#include <memory>
#include <utility>

namespace spanscope {

/// A value on the heap. A Box copies and compares like its value. Recursive value types are built from Boxes.
/// A Box is empty only after it was moved from.
template <class T>
class Box {
 public:
  Box() : m_value(std::make_unique<T>()) {}
  Box(T value) : m_value(std::make_unique<T>(std::move(value))) {}  // NOLINT: meant to convert
  Box(const Box& other) : m_value(std::make_unique<T>(*other)) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) {
    if (this != &other) m_value = std::make_unique<T>(*other);
    return *this;
  }
  Box& operator=(Box&&) noexcept = default;
  ~Box() = default;

  T& operator*() { return *m_value; }
  const T& operator*() const { return *m_value; }
  T* operator->() { return m_value.get(); }
  const T* operator->() const { return m_value.get(); }

  friend bool operator==(const Box& a, const Box& b) { return *a == *b; }

 private:
  std::unique_ptr<T> m_value;
};

}  // namespace spanscope
