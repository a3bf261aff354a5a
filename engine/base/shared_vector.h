// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace spanscope {

/// A list of fixed length. Copies share the elements, in chunks, until one copy changes an element. Copying
/// costs one pointer a chunk. Read it like a std::vector; change an element through edit(). Several threads
/// may read copies. But while one copy changes, no other thread may copy or destroy its copies.
template <class T>
class SharedVector {
  static constexpr std::size_t kChunk = 64;
  using Chunk = std::array<T, kChunk>;

 public:
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = const T&;
    using pointer = const T*;

    Iterator() = default;
    Iterator(const SharedVector& list, std::size_t index) : m_list(&list), m_index(index) {}

    const T& operator*() const { return (*m_list)[m_index]; }
    const T* operator->() const { return &**this; }
    const T& operator[](std::ptrdiff_t step) const { return *(*this + step); }
    Iterator& operator+=(std::ptrdiff_t step) {
      m_index = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(m_index) + step);
      return *this;
    }
    Iterator& operator-=(std::ptrdiff_t step) { return *this += -step; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend Iterator operator+(Iterator at, std::ptrdiff_t step) { return at += step; }
    friend Iterator operator+(std::ptrdiff_t step, Iterator at) { return at += step; }
    friend Iterator operator-(Iterator at, std::ptrdiff_t step) { return at -= step; }
    friend std::ptrdiff_t operator-(const Iterator& a, const Iterator& b) {
      return static_cast<std::ptrdiff_t>(a.m_index) - static_cast<std::ptrdiff_t>(b.m_index);
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.m_index == b.m_index; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.m_index <=> b.m_index; }

   private:
    const SharedVector* m_list = nullptr;
    std::size_t m_index = 0;
  };

  SharedVector() = default;
  explicit SharedVector(std::vector<T> values) : m_size(values.size()) {
    for (std::size_t begin = 0; begin < m_size; begin += kChunk) {
      auto chunk = std::make_shared<Chunk>();
      const std::size_t count = std::min(kChunk, m_size - begin);
      for (std::size_t i = 0; i < count; ++i) (*chunk)[i] = std::move(values[begin + i]);
      m_chunks.push_back(std::move(chunk));
    }
  }

  std::size_t size() const { return m_size; }
  bool empty() const { return m_size == 0; }
  const T& operator[](std::size_t index) const { return (*m_chunks[index / kChunk])[index % kChunk]; }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, m_size}; }

  /// The element, for changing. The reference is valid until the list is copied.
  T& edit(std::size_t index) {
    std::shared_ptr<Chunk>& chunk = m_chunks[index / kChunk];
    if (chunk.use_count() > 1) chunk = std::make_shared<Chunk>(*chunk);
    return (*chunk)[index % kChunk];
  }

  /// Calls visit(element) for every element of the chunks that `before` does not share.
  template <class Visit>
  void visitBeside(const SharedVector& before, Visit visit) const {
    for (std::size_t chunk = 0; chunk < m_chunks.size(); ++chunk) {
      if (chunk < before.m_chunks.size() && before.m_chunks[chunk] == m_chunks[chunk]) continue;
      for (const T& element : *m_chunks[chunk]) visit(element);
    }
  }

  std::vector<T> values() const { return {begin(), end()}; }

 private:
  std::vector<std::shared_ptr<Chunk>> m_chunks;
  std::size_t m_size = 0;
};

}  // namespace spanscope
