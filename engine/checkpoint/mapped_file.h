// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/readable_file.h"

#include <cstddef>
#include <filesystem>
#include <span>

namespace spanscope::checkpoint {

/// A regular file mapped into memory for reading. Its pages are read when they are first touched. The file
/// must not be cut while it is mapped.
class MappedFile {
 public:
  /// Throws Failure if the file cannot be opened, is not a regular file or cannot be mapped.
  explicit MappedFile(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return m_bytes.get(); }

 private:
  MappedBytes m_bytes;
};

}  // namespace spanscope::checkpoint
