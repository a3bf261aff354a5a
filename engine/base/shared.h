// SPDX-License-Identifier: GPL-3.0-or-later
// Containers whose copies share memory, and Box, a value on the heap for recursive types. Open this file to
// choose a container for snapshots, or to build a recursive type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace spanscope {

/// A value that never changes. All copies of a Shared share the value. Copying costs one pointer for a value
/// of any size. A Shared reads and compares like its value. A default Shared has a default value and takes no
/// memory. Several threads may read and destroy copies.
template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(T value) : m_value(std::make_shared<const T>(std::move(value))) {}  // NOLINT: meant to convert

  const T& operator*() const { return m_value == nullptr ? none() : *m_value; }
  const T* operator->() const { return &**this; }

  /// Whether one object is a copy of the other. This check is faster than a comparison of the values.
  bool isCopyOf(const Shared& other) const { return m_value == other.m_value; }

  friend bool operator==(const Shared& a, const Shared& b) { return a.isCopyOf(b) || *a == *b; }

 private:
  static const T& none() {
    static const T kNone{};
    return kNone;
  }

  std::shared_ptr<const T> m_value;
};

/// A list that never changes. All copies of the list share the elements. Read the list like a std::vector.
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

/// A list of fixed length. Copies share the elements, in chunks, until one copy changes an element. Copying
/// costs one pointer per chunk. Read the list like a std::vector. Change an element through edit(). Several
/// threads may read copies. While a thread changes one copy, no other thread may copy or destroy the other
/// copies.
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

  /// Returns the element for changes. The reference is valid until the list is copied.
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

/// An ordered map. Copies share entries (in chunks) and values, until one copy changes a value. Copying costs
/// one pointer per chunk, for values of any size. Read the map like a std::map. Change a value through
/// edit(). Several threads may read copies. While a thread changes one copy, no other thread may copy or
/// destroy the other copies.
template <class Key, class Value>
class SharedMap {
  static constexpr std::size_t kChunk = 64;
  /// Small values are in the chunk. Larger values are outside, so that a copy of a chunk does not copy these
  /// values.
  static constexpr bool kInline = std::is_trivially_copyable_v<Value> && sizeof(Value) <= 32;
  using Held = std::conditional_t<kInline, Value, std::shared_ptr<Value>>;
  using Entries = std::vector<std::pair<Key, Held>>;     ///< ascending, 1 … kChunk
  using Chunks = std::vector<std::shared_ptr<Entries>>;  ///< ascending

  static const Value& valueOf(const Held& held) {
    if constexpr (kInline) {
      return held;
    } else {
      return *held;
    }
  }

 public:
  using key_type = Key;
  using mapped_type = Value;
  using Entry = std::pair<const Key&, const Value&>;

  class Iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = std::pair<Key, Value>;
    using difference_type = std::ptrdiff_t;
    using reference = Entry;
    /// The result of `->`. The result keeps the entry until the end of the expression.
    struct pointer {
      Entry entry;
      const Entry* operator->() const { return &entry; }
    };

    Iterator() = default;
    Iterator(const Chunks& chunks, std::size_t chunk, std::size_t place)
        : m_chunks(&chunks), m_chunk(chunk), m_place(place) {}

    Entry operator*() const {
      const auto& [key, held] = (*(*m_chunks)[m_chunk])[m_place];
      return {key, valueOf(held)};
    }
    pointer operator->() const { return {**this}; }
    Iterator& operator++() {
      if (++m_place == (*m_chunks)[m_chunk]->size()) {
        ++m_chunk;
        m_place = 0;
      }
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, ++Iterator(*this)); }
    Iterator& operator--() {
      if (m_place == 0) m_place = (*m_chunks)[--m_chunk]->size();
      --m_place;
      return *this;
    }
    Iterator operator--(int) { return std::exchange(*this, --Iterator(*this)); }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.m_chunk == b.m_chunk && a.m_place == b.m_place;
    }

   private:
    const Chunks* m_chunks = nullptr;
    std::size_t m_chunk = 0;
    std::size_t m_place = 0;
  };
  using const_iterator = Iterator;
  using const_reverse_iterator = std::reverse_iterator<Iterator>;

  SharedMap() = default;
  SharedMap(std::initializer_list<std::pair<Key, Value>> entries) {
    for (const auto& [key, value] : entries) set(key, value);
  }

  Iterator begin() const { return {m_chunks, 0, 0}; }
  Iterator end() const { return {m_chunks, m_chunks.size(), 0}; }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }

  std::size_t size() const { return m_size; }
  bool empty() const { return m_size == 0; }
  bool contains(const Key& key) const { return heldAt(key) != nullptr; }
  /// Returns the first entry whose key is not below `key`.
  // NOLINTNEXTLINE(readability-identifier-naming): named as in std::map.
  Iterator lower_bound(const Key& key) const {
    const std::size_t chunk = chunkOf(key);
    return {m_chunks, chunk, chunk == m_chunks.size() ? 0 : placeIn(*m_chunks[chunk], key)};
  }
  Iterator find(const Key& key) const {
    const Iterator place = lower_bound(key);
    return place != end() && place->first == key ? place : end();
  }
  /// Throws std::out_of_range if the map has no such key.
  const Value& at(const Key& key) const { return valueOf(existing(key)); }

  /// Returns the value of the key for changes. A new key gets a default value. The reference is valid until
  /// the map is changed or copied.
  Value& edit(const Key& key) {
    Held& held = slot(key);
    if constexpr (kInline) {
      return held;
    } else {
      if (held == nullptr) {
        held = std::make_shared<Value>();
      } else if (held.use_count() > 1) {
        held = std::make_shared<Value>(*held);
      }
      return *held;
    }
  }
  void set(const Key& key, Value value) {
    Held& held = slot(key);
    if constexpr (kInline) {
      held = value;
    } else {
      held = std::make_shared<Value>(std::move(value));
    }
  }
  void clear() { *this = SharedMap(); }

  /// Calls visit(key, value) for every entry that differs from `before`. Shared values count as equal without
  /// a comparison.
  template <class Visit>
  void visitChanges(const SharedMap& before, Visit visit) const {
    for (const std::shared_ptr<Entries>& chunk : m_chunks) {
      if (before.hasChunk(chunk)) continue;
      for (const auto& [key, held] : *chunk) {
        const Held* earlier = before.heldAt(key);
        if (earlier == nullptr || !(*earlier == held)) visit(key, valueOf(held));
      }
    }
  }
  /// Returns the bytes of the chunks that `before` does not share, including the small values in them.
  std::size_t bytesBeside(const SharedMap& before) const {
    std::size_t bytes = m_chunks.size() * sizeof(m_chunks[0]);
    for (const std::shared_ptr<Entries>& chunk : m_chunks) {
      if (!before.hasChunk(chunk)) bytes += sizeof(Entries) + chunk->capacity() * sizeof((*chunk)[0]);
    }
    return bytes;
  }

  friend bool operator==(const SharedMap& a, const SharedMap& b) {
    return a.m_size == b.m_size &&
           std::equal(a.begin(), a.end(), b.begin(), [](const Entry& x, const Entry& y) {
             return x.first == y.first && (&x.second == &y.second || x.second == y.second);
           });
  }

 private:
  /// Returns the index of the chunk that has the key or would have it. Returns the number of chunks if the
  /// key comes after all chunks.
  std::size_t chunkOf(const Key& key) const {
    if (m_chunks.empty() || m_chunks.back()->back().first < key) return m_chunks.size();
    const auto chunk = std::partition_point(m_chunks.begin(), m_chunks.end(), [&key](const auto& entries) {
      return entries->back().first < key;
    });
    return static_cast<std::size_t>(chunk - m_chunks.begin());
  }
  static std::size_t placeIn(const Entries& entries, const Key& key) {
    const auto place = std::partition_point(entries.begin(), entries.end(),
                                            [&key](const auto& entry) { return entry.first < key; });
    return static_cast<std::size_t>(place - entries.begin());
  }
  bool hasChunk(const std::shared_ptr<Entries>& entries) const {
    const std::size_t chunk = chunkOf(entries->back().first);
    return chunk < m_chunks.size() && m_chunks[chunk] == entries;
  }
  const Held* heldAt(const Key& key) const {
    const std::size_t chunk = chunkOf(key);
    if (chunk == m_chunks.size()) return nullptr;
    const auto& [found, held] = (*m_chunks[chunk])[placeIn(*m_chunks[chunk], key)];
    return found == key ? &held : nullptr;
  }
  const Held& existing(const Key& key) const {
    const Held* held = heldAt(key);
    if (held == nullptr) throw std::out_of_range("SharedMap: no such key");
    return *held;
  }
  Entries& editChunk(std::size_t chunk) {
    if (m_chunks[chunk].use_count() > 1) m_chunks[chunk] = std::make_shared<Entries>(*m_chunks[chunk]);
    return *m_chunks[chunk];
  }
  /// Returns the place of the key's value, in a chunk that only this map uses. A new key gets a default
  /// value.
  Held& slot(const Key& key) {
    std::size_t chunk = chunkOf(key);
    if (chunk == m_chunks.size()) {
      if (m_chunks.empty() || m_chunks.back()->size() == kChunk) {
        m_chunks.push_back(std::make_shared<Entries>());
      }
      ++m_size;
      return editChunk(m_chunks.size() - 1).emplace_back(key, Held{}).second;
    }
    std::size_t place = placeIn(*m_chunks[chunk], key);
    if ((*m_chunks[chunk])[place].first == key) return editChunk(chunk)[place].second;
    if (m_chunks[chunk]->size() == kChunk) {
      Entries& entries = editChunk(chunk);
      const auto half = entries.begin() + kChunk / 2;
      auto upper =
          std::make_shared<Entries>(std::make_move_iterator(half), std::make_move_iterator(entries.end()));
      entries.erase(half, entries.end());
      m_chunks.insert(m_chunks.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, std::move(upper));
      if (place > kChunk / 2) {
        place -= kChunk / 2;
        ++chunk;
      }
    }
    ++m_size;
    Entries& entries = editChunk(chunk);
    return entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(place), {key, Held{}})->second;
  }

  Chunks m_chunks;
  std::size_t m_size = 0;
};

/// A value on the heap. A Box copies and compares like its value. Recursive value types are built from Boxes.
/// A Box is empty only after a move.
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
