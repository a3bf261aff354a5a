// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/bpe_tokenizer.h"

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text::test {

/// Writes the header of a GGUF file, version 3, key by key.
class GgufWriter {
 public:
  void text(const std::string& key, std::string_view value) {
    begin(key, 8);
    addText(value);
  }
  void unsignedInteger(const std::string& key, std::uint32_t value) {
    begin(key, 4);
    add(value, 4);
  }
  void number(const std::string& key, float value) {
    begin(key, 6);
    add(std::bit_cast<std::uint32_t>(value), 4);
  }
  void boolean(const std::string& key, bool value) {
    begin(key, 7);
    m_values += static_cast<char>(value ? 1 : 0);
  }
  void texts(const std::string& key, const std::vector<std::string>& values) {
    beginList(key, 8, values.size());
    for (const std::string& value : values) addText(value);
  }
  void integers(const std::string& key, const std::vector<std::int32_t>& values) {
    beginList(key, 5, values.size());
    for (const std::int32_t value : values) add(static_cast<std::uint32_t>(value), 4);
  }
  void floats(const std::string& key, const std::vector<float>& values) {
    beginList(key, 6, values.size());
    for (const float value : values) add(std::bit_cast<std::uint32_t>(value), 4);
  }
  /// Writes a value of the type with this number: 1, true, "1", or a list that holds the text "1".
  void anyValue(const std::string& key, std::uint32_t type) {
    if (type == 8) return text(key, "1");
    if (type == 9) return texts(key, {"1"});
    begin(key, type);
    constexpr std::string_view kWidths = "1122444100888";
    add(1, static_cast<std::size_t>(kWidths[type] - '0'));
  }
  /// Writes lists nested `depth` deep. The innermost list is empty.
  void nestedList(const std::string& key, int depth) {
    begin(key, 9);
    for (int i = 1; i < depth; ++i) {
      add(9, 4);
      add(1, 8);
    }
    add(4, 4);
    add(0, 8);
  }

  /// Adds a tensor; its shape is innermost first. Data begins at multiples of 32 bytes.
  void tensor(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type,
              std::string_view data) {
    tensorAt(name, shape, type, m_data.size());
    m_data += data;
    m_data.resize((m_data.size() + 31) / 32 * 32);
  }
  /// Adds only the header entry of a tensor.
  void tensorAt(const std::string& name, const std::vector<std::uint64_t>& shape, std::uint32_t type,
                std::uint64_t offset) {
    GgufWriter entry;
    entry.addText(name);
    entry.add(shape.size(), 4);
    for (const std::uint64_t size : shape) entry.add(size, 8);
    entry.add(type, 4);
    entry.add(offset, 8);
    m_tensors += entry.m_values;
    ++m_tensorCount;
  }

  std::string bytes() const {
    GgufWriter head;
    head.m_values = "GGUF";
    head.add(3, 4);
    head.add(m_tensorCount, 8);
    head.add(m_keys, 8);
    std::string whole = head.m_values + m_values + m_tensors;
    if (m_tensorCount > 0) whole.resize((whole.size() + 31) / 32 * 32);
    return whole + m_data;
  }

 private:
  void add(std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) {
      m_values += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
    }
  }
  void addText(std::string_view value) {
    add(value.size(), 8);
    m_values += value;
  }
  void begin(const std::string& key, std::uint32_t type) {
    ++m_keys;
    addText(key);
    add(type, 4);
  }
  void beginList(const std::string& key, std::uint32_t type, std::size_t size) {
    begin(key, 9);
    add(type, 4);
    add(size, 8);
  }

  std::uint64_t m_keys = 0;
  std::string m_values;
  std::uint64_t m_tensorCount = 0;
  std::string m_tensors;
  std::string m_data;
};

/// One piece for every byte, in order, so that the id of a byte is its value.
inline std::vector<std::string> byteLevelPieces() {
  std::vector<std::string> pieces;
  for (int byte = 0; byte < 256; ++byte) pieces.push_back(byteLetter(static_cast<unsigned char>(byte)));
  return pieces;
}

}  // namespace spanscope::text::test
