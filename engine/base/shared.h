// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope {

/// A value that never changes; all copies of a Shared share it. Copying costs one pointer, however large the
/// value is. A Shared reads and compares as the value in it. A default Shared holds a default value and takes
/// no memory. Several threads may read and destroy copies.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(T value) : m_value(std::make_shared<const T>(std::move(value))) {}  // NOLINT: meant to convert

  const T& operator*() const { return m_value == nullptr ? none() : *m_value; }
  const T* operator->() const { return &**this; }

  /// Whether the two are copies of one another. This check is faster than a comparison of the values.
  bool isCopyOf(const Shared& other) const { return m_value == other.m_value; }

  friend bool operator==(const Shared& a, const Shared& b) { return a.isCopyOf(b) || *a == *b; }

 private:
  static const T& none() {
    static const T kNone{};
    return kNone;
  }

  std::shared_ptr<const T> m_value;
};

/// A list that never changes; all copies of it share the elements. Read it like a std::vector.
template <class T>
class SharedList : public Shared<std::vector<T>> {
 public:
  using value_type = T;

  SharedList() = default;
  SharedList(std::vector<T> values)  // NOLINT: meant to convert
      : Shared<std::vector<T>>(std::move(values)) {}
  SharedList(std::initializer_list<T> values) : SharedList(std::vector<T>(values)) {}

  operator const std::vector<T>&() const { return **this; }  // NOLINT: meant to convert
  std::size_t size() const { return (**this).size(); }
  bool empty() const { return (**this).empty(); }
  const T& operator[](std::size_t index) const { return (**this)[index]; }
  const T& front() const { return (**this).front(); }
  const T& back() const { return (**this).back(); }
  auto begin() const { return (**this).begin(); }
  auto end() const { return (**this).end(); }
};

}  // namespace spanscope
