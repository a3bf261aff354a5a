// SPDX-License-Identifier: GPL-3.0-or-later
// Maps files into memory for reading. Open this file when a truncated or changed file is not noticed.
#pragma once

#include "engine/base/error.h"
#include "engine/base/readable_file.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace spanscope::checkpoint {

/// A regular file mapped into memory for reading. A page is read at its first use. If the file is truncated
/// meanwhile, the missing bytes read as zeros.
class MappedFile {
 public:
  /// Throws Failure if the file cannot be opened, is not a regular file or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return m_bytes.get(); }

  /// Call this after reading bytes, before using them. Throws Failure if the file was truncated since it was
  /// opened.
  void requireWhole() const;
  /// Checks like requireWhole(), and that the file was not written to. For bytes that are read more than
  /// once.
  void requireUnchanged() const;

  /// Returns the result of `parse` for the bytes, and throws the exceptions of `parse`. If the file was
  /// truncated meanwhile, throws a Failure about the truncation instead.
  template <class Parse>
  auto read(const Parse& parse) const {
    try {
      auto result = parse(bytes());
      requireWhole();
      return result;
    } catch (const Failure&) {
      requireWhole();
      throw;
    }
  }

 private:
  std::filesystem::path m_path;
  MappedBytes m_bytes;
};

/// Reads a regular file of at most `limit` bytes. Throws Failure with the path. `what` describes the file,
/// e.g. "a sentencepiece model".
std::string readFileBytes(const std::filesystem::path& path, std::uintmax_t limit, std::string_view what);

/// Throws Failure if the bytes are no file of a model, but one of these:
/// - a Git LFS pointer, which Git LFS stores until the file is fetched;
/// - a web page, which a server sends in place of a file that it refuses.
void refusePointer(std::string_view bytes, const std::filesystem::path& path);

}  // namespace spanscope::checkpoint
