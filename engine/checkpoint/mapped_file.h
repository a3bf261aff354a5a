// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return m_bytes; }

 private:
  void unmap() noexcept;

  std::span<const std::byte> m_bytes;
};

}  // namespace spanscope::checkpoint
