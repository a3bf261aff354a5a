// SPDX-License-Identifier: GPL-3.0-or-later
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

/// A regular file mapped into memory for reading. A page is read when it is first touched. If the file is cut
/// meanwhile, the missing bytes read as zeros.
class MappedFile {
 public:
  /// Throws Failure if the file cannot be opened, is not a regular file or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return m_bytes.get(); }

  /// Call this after reading bytes, before using them. Throws Failure if the file was cut since it was
  /// opened.
  void requireWhole() const;
  /// The same, and if it was written to. For bytes that are read more than once.
  void requireUnchanged() const;

  /// Returns the result of `parse` for the bytes, and throws what it throws. But if the file was cut
  /// meanwhile, it throws a Failure about that instead, whatever `parse` did.
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

/// Reads a regular file of at most `limit` bytes. Throws Failure with the path; `what` is what the file
/// should be, e.g. "a sentencepiece model".
std::string readFileBytes(const std::filesystem::path& path, std::uintmax_t limit, std::string_view what);

/// Throws Failure if the bytes are not those of the file, but what Git LFS puts in its place until the file
/// is fetched.
void refusePointer(std::string_view bytes, const std::filesystem::path& path);

}  // namespace spanscope::checkpoint
