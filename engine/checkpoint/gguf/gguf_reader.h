// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the numbers and texts of the header of a GGUF file. All numbers are little-endian.
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace spanscope::checkpoint {

class GgufReader {
 public:
  /// `bytes` is the whole file, and `file` its name in errors; both must outlive the reader.
  GgufReader(std::span<const std::byte> bytes, const std::string& file) : m_bytes(bytes), m_file(&file) {}

  /// The bytes that were read so far.
  std::uint64_t position() const { return m_position; }
  std::uint64_t left() const { return m_bytes.size() - m_position; }

  /// What is being read: the name of a key or of a tensor; errors name it.
  void setSubject(std::string subject) { m_subject = std::move(subject); }
  Failure fail(std::string found, std::string expected) const;

  /// An unsigned number of `width` bytes, at most 8.
  std::uint64_t integer(std::uint64_t width);
  /// A text of at most `limit` bytes; its length stands before it.
  std::string text(std::uint64_t limit);
  void skip(std::uint64_t bytes);
  /// Throws Failure unless so many bytes are left, and the header does not get absurdly long with them.
  void requireLeft(std::uint64_t bytes) const;

 private:
  std::span<const std::byte> m_bytes;
  std::uint64_t m_position = 0;
  const std::string* m_file;
  std::string m_subject;
};

}  // namespace spanscope::checkpoint
