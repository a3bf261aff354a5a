// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the KV events that vLLM, SGLang and spanq serve publish. Open this file when the events of a server
// cannot be read.
#pragma once

#include "engine/remote/server/kv_events.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spanscope::watch {

/// Reads MessagePack from the beginning to the end. The bytes come from another program, so every function
/// throws Failure for wrong bytes. The error has the place "byte N". The bytes must outlive the reader.
class MessagePackReader {
 public:
  explicit MessagePackReader(std::string_view bytes) : m_bytes(bytes) {}

  enum class Kind : std::uint8_t { Nil, Boolean, Integer, Number, Text, Bytes, Array, Map, Other };
  /// The kind of the next value. There must be a next byte.
  Kind next() const;

  bool isAtEnd() const { return m_at == m_bytes.size(); }
  std::size_t position() const { return m_at; }
  /// Number of elements of an array. A message cannot have more elements than bytes, so the result bounds the
  /// memory of a list.
  std::size_t array();
  std::size_t map();  ///< number of pairs
  /// An integer. Values from 2^63 on become negative, with the same bits.
  std::int64_t integer();
  double number();  ///< an integer or a floating-point number
  /// A text or bytes.
  std::string_view text();
  /// Reads nil, and returns true. Returns false and reads nothing if the next value is not nil.
  bool nil();
  /// Reads one value of any kind. Refuses values that are nested too deeply.
  void skip();

  [[noreturn]] void refuse(std::size_t place, const std::string& found, const std::string& expected) const;

 private:
  std::uint8_t byte();
  std::uint64_t bigEndian(std::size_t count);
  std::string_view take(std::size_t count);
  std::size_t elements(std::size_t count, std::size_t each);
  void skip(int depth);

  std::string_view m_bytes;
  std::size_t m_at = 0;
};

/// Reads the payload of a message. An event can have both forms of vLLM:
/// - a map with the key "type" (vLLM 0.26 and later), in any order of keys;
/// - an array that begins with the type (vLLM 0.23 and earlier, SGLang).
///
/// Unknown keys, further elements and unknown types of events are left out. A hash of bytes becomes its last
/// 64 bits, as in vLLM. Throws Failure for a damaged payload.
server::KvBatch readBatch(std::string_view payload);

}  // namespace spanscope::watch
