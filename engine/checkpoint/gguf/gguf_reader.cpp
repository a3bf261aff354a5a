// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/gguf/gguf_reader.h"

#include "engine/base/counted.h"

namespace spanscope::checkpoint {
namespace {

constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{256} << 20U;

}  // namespace

Failure GgufReader::fail(std::string found, std::string expected) const {
  const std::string byte = "byte " + std::to_string(m_position);
  return Failure(
      {*m_file, m_subject.empty() ? byte : m_subject + ", " + byte, std::move(found), std::move(expected)});
}

std::uint64_t GgufReader::integer(std::uint64_t width) {
  requireLeft(width);
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < width; ++i)
    value |= std::to_integer<std::uint64_t>(m_bytes[m_position + i]) << (8 * i);
  m_position += width;
  return value;
}

std::string GgufReader::text(std::uint64_t limit) {
  const std::uint64_t length = integer(8);
  if (length > limit) {
    throw fail("a text of " + std::to_string(length) + " bytes",
               "at most " + std::to_string(limit) + " bytes");
  }
  requireLeft(length);
  std::string text(reinterpret_cast<const char*>(m_bytes.data() + m_position), length);
  m_position += length;
  return text;
}

void GgufReader::skip(std::uint64_t bytes) {
  requireLeft(bytes);
  m_position += bytes;
}

void GgufReader::requireLeft(std::uint64_t bytes) const {
  if (bytes > left()) {
    throw fail("the end of the file after " + counted(left(), "byte"), counted(bytes, "byte") + " or more");
  }
  if (m_position + bytes > kMaxHeaderBytes)
    throw fail("a header of more than " + std::to_string(kMaxHeaderBytes) + " bytes", "a shorter one");
}

}  // namespace spanscope::checkpoint
