// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/message_pack.h"

#include <bit>

namespace spanscope::server {

void MessagePack::bigEndian(std::uint64_t value, int count) {
  constexpr int kByteBits = 8;
  for (int i = count - 1; i >= 0; --i) byte(value >> static_cast<unsigned>(i * kByteBits));
}

void MessagePack::beginArray(std::size_t size) {
  if (size < 16) return byte(0x90U + size);
  byte(size <= 0xFFFF ? 0xDC : 0xDD);
  bigEndian(size, size <= 0xFFFF ? 2 : 4);
}

void MessagePack::beginMap(std::size_t size) {
  if (size < 16) return byte(0x80U + size);
  byte(size <= 0xFFFF ? 0xDE : 0xDF);
  bigEndian(size, size <= 0xFFFF ? 2 : 4);
}

void MessagePack::beginLongMap(std::size_t size) {
  byte(0xDE);
  bigEndian(size, 2);
}

void MessagePack::add(std::string_view text) {
  const std::size_t size = text.size();
  if (size < 32) {
    byte(0xA0U + size);
  } else {
    byte(size <= 0xFF ? 0xD9 : size <= 0xFFFF ? 0xDA : 0xDB);
    bigEndian(size, size <= 0xFF ? 1 : size <= 0xFFFF ? 2 : 4);
  }
  m_bytes += text;
}

void MessagePack::add(std::uint64_t number) {
  if (number < 0x80) return byte(number);
  const int bytes = number <= 0xFF ? 0 : number <= 0xFFFF ? 1 : number <= 0xFFFFFFFF ? 2 : 3;
  byte(0xCCU + static_cast<unsigned>(bytes));
  bigEndian(number, 1 << bytes);
}

void MessagePack::add(std::int64_t number) {
  if (number >= 0) return add(static_cast<std::uint64_t>(number));
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= -32) return byte(bits);
  const int bytes = number >= -0x80 ? 0 : number >= -0x8000 ? 1 : number >= -0x80000000LL ? 2 : 3;
  byte(0xD0U + static_cast<unsigned>(bytes));
  bigEndian(bits, 1 << bytes);
}

void MessagePack::add(double number) {
  byte(0xCB);
  bigEndian(std::bit_cast<std::uint64_t>(number), 8);
}

void MessagePack::addNil() {
  byte(0xC0);
}

}  // namespace spanscope::server
