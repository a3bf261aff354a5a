// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/base/readable_file.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace spanscope::checkpoint {

/// A regular file mapped into memory for reading. Its pages are read when they are first touched. Of a file
/// that is cut meanwhile, what is gone reads as zeros.
class MappedFile {
 public:
  /// Throws Failure if the file cannot be opened, is not a regular file or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return m_bytes.get(); }

  /// To be called when bytes were read and before they count: throws Failure if the file was cut since it was
  /// opened.
  void requireWhole() const;

  /// What `parse` makes of the bytes. Throws as it does; where the file was cut meanwhile that is said
  /// instead, whatever came of it.
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

}  // namespace spanscope::checkpoint
