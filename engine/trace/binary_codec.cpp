// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/binary_codec.h"

#include "engine/base/counted.h"

namespace spanscope::trace {

void MemoryBudget::throwExceeded(std::uint64_t bytes) const {
  throw Failure(Error{"", "", "content that needs " + counted(bytes, "byte") + " more memory",
                      "at most " + counted(m_left, "byte") + ", the rest of the memory limit"});
}

void ByteReader::fail(std::string found, std::string expected) const {
  throw Failure(Error{"", m_field, std::move(found), std::move(expected)});
}

std::uint64_t ByteReader::longNumber() {
  constexpr int kLastShift = 63;
  std::uint64_t value = 0;
  for (int shift = 0; shift <= kLastShift; shift += 7) {
    const std::uint8_t next = byte();
    const std::uint64_t bits = next & 0x7F;
    if (shift == kLastShift && bits > 1)
      fail(/*id:number-more-bits*/ "a number of more than 64 bits", "a number of 64 bits");
    value |= bits << shift;
    if (next < 0x80) {
      if (next == 0 && shift > 0)
        fail(/*id:number-leading-zeros*/ "a number with leading zeros", "the shortest form");
      return value;
    }
  }
  fail("a number of more than 64 bits", "a number of 64 bits");
}

void ByteReader::throwEnd() const {
  fail("the end", "more bytes");
}

void ByteReader::throwCount(std::uint64_t count, std::size_t minimum) const {
  fail("a count of " + std::to_string(count), "at most " + std::to_string(remaining() / minimum) +
                                                  /*id:bytes-left-can*/ ", the max for the remaining bytes");
}

}  // namespace spanscope::trace
