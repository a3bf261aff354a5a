// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace spanscope {

/// An ordered map whose copies share their values until one of them changes one: copying costs a pointer an
/// entry, however large the values are. Read like a std::map; change a value through edit(). Meant for keys
/// that come in ascending order: adding one in between takes time for all after it. Copies may be read from
/// several threads, but while one changes, its copies must not be copied or destroyed in another.
template <class Key, class Value>
class SharedMap {
  using Entries = std::vector<std::pair<Key, std::shared_ptr<Value>>>;

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
    /// What `->` gives: the entry, for as long as the expression lasts.
    struct pointer {
      Entry entry;
      const Entry* operator->() const { return &entry; }
    };

    Iterator() = default;
    explicit Iterator(typename Entries::const_iterator at) : m_at(at) {}

    Entry operator*() const { return {m_at->first, *m_at->second}; }
    pointer operator->() const { return {**this}; }
    Iterator& operator++() {
      ++m_at;
      return *this;
    }
    Iterator operator++(int) { return Iterator(m_at++); }
    Iterator& operator--() {
      --m_at;
      return *this;
    }
    Iterator operator--(int) { return Iterator(m_at--); }
    bool operator==(const Iterator&) const = default;

   private:
    typename Entries::const_iterator m_at;
  };
  using const_iterator = Iterator;
  using const_reverse_iterator = std::reverse_iterator<Iterator>;

  Iterator begin() const { return Iterator(m_entries.begin()); }
  Iterator end() const { return Iterator(m_entries.end()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }

  std::size_t size() const { return m_entries.size(); }
  bool empty() const { return m_entries.empty(); }
  bool contains(const Key& key) const { return find(key) != end(); }
  Iterator find(const Key& key) const {
    const auto place = placeOf(key);
    return Iterator(place != m_entries.end() && place->first == key ? place : m_entries.end());
  }
  /// Throws std::out_of_range where there is none.
  const Value& at(const Key& key) const {
    const auto place = placeOf(key);
    if (place == m_entries.end() || place->first != key) throw std::out_of_range("SharedMap: no such key");
    return *place->second;
  }

  /// The value of the key, to be changed; a default one where there was none. The reference holds until the
  /// map is copied or the value replaced.
  Value& edit(const Key& key) {
    std::shared_ptr<Value>& value = slot(key);
    if (value == nullptr)
      value = std::make_shared<Value>();
    else if (value.use_count() > 1)
      value = std::make_shared<Value>(*value);
    return *value;
  }
  void set(const Key& key, Value value) { slot(key) = std::make_shared<Value>(std::move(value)); }
  /// Takes over an entry of another map and shares its value. Throws std::out_of_range where there is none.
  void share(const SharedMap& other, const Key& key) {
    const auto place = other.placeOf(key);
    if (place == other.m_entries.end() || place->first != key)
      throw std::out_of_range("SharedMap: no such key");
    slot(key) = place->second;
  }
  void clear() { m_entries.clear(); }

  friend bool operator==(const SharedMap& a, const SharedMap& b) {
    return std::equal(a.m_entries.begin(), a.m_entries.end(), b.m_entries.begin(), b.m_entries.end(),
                      [](const auto& one, const auto& other) {
                        return one.first == other.first &&
                               (one.second == other.second || *one.second == *other.second);
                      });
  }

 private:
  typename Entries::const_iterator placeOf(const Key& key) const {
    if (m_entries.empty() || m_entries.back().first < key) return m_entries.end();
    return std::lower_bound(m_entries.begin(), m_entries.end(), key,
                            [](const auto& entry, const Key& wanted) { return entry.first < wanted; });
  }
  /// Where the key's value is kept; null where the key is new.
  std::shared_ptr<Value>& slot(const Key& key) {
    const auto index = placeOf(key) - m_entries.cbegin();
    const auto place = m_entries.begin() + index;
    if (place != m_entries.end() && place->first == key) return place->second;
    return m_entries.insert(place, {key, nullptr})->second;
  }

  Entries m_entries;  ///< ascending
};

}  // namespace spanscope
