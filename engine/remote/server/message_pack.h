// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spanscope::server {

/// Writes MessagePack: every value in the shortest form, except that numbers with a point take 8 bytes, as
/// msgspec writes it. A container is followed by as many values as it was begun with (twice as many for a
/// map).
class MessagePack {
 public:
  void beginArray(std::size_t size);
  void beginMap(std::size_t size);
  /// A map of at most 65535 pairs whose size takes two bytes, however small it is: so msgspec writes a struct
  /// that could have more than 15 fields.
  void beginLongMap(std::size_t size);
  void add(std::string_view text);  ///< in UTF-8
  void add(std::uint64_t number);
  void add(std::int64_t number);
  void add(double number);
  void addNil();

  const std::string& bytes() const { return m_bytes; }

 private:
  void byte(std::uint64_t value) { m_bytes += static_cast<char>(static_cast<unsigned char>(value)); }
  void bigEndian(std::uint64_t value, int count);

  std::string m_bytes;
};

}  // namespace spanscope::server
