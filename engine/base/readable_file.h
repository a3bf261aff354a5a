// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are mapped into memory: who reads them says what is wrong in words of its own.
#pragma once

#include "engine/base/descriptor.h"
#include "engine/base/mapped_ranges.h"

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace spanscope {

/// What is mapped for reading, until it goes. Where the file loses its end meanwhile, what is gone reads as
/// zeros: who read asks afterwards.
class MappedBytes {
 public:
  MappedBytes() = default;
  /// What mmap() gave of a file that `file` keeps open.
  MappedBytes(std::span<const std::byte> bytes, Descriptor file);
  ~MappedBytes();
  MappedBytes(MappedBytes&& other) noexcept;
  MappedBytes& operator=(MappedBytes&& other) noexcept;
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

  std::span<const std::byte> get() const { return m_bytes; }
  /// Whether what was read may be zeros that do not stand in the file, as it is shorter than it was.
  bool isCut() const;

 private:
  void unmap() noexcept;

  std::span<const std::byte> m_bytes;
  Descriptor m_file{-1};
  MappedRange m_range;
};

enum class LinkRule {
  Follow,
  Refuse,  ///< a file that is a link cannot be opened
};

/// A file that is open for reading, without waiting for anybody who would write to a pipe.
class ReadableFile {
 public:
  /// Nothing, and errno says why, where it cannot be opened.
  static std::optional<ReadableFile> open(const std::filesystem::path& path, LinkRule links);

  const struct stat& status() const { return m_status; }
  bool isRegular() const { return S_ISREG(m_status.st_mode); }
  /// All that it holds, its pages read when they are first touched: no bytes of an empty file. Nothing, and
  /// errno says why, where that cannot be mapped.
  std::optional<MappedBytes> map() const;

 private:
  ReadableFile(Descriptor file, const struct stat& status) : m_file(std::move(file)), m_status(status) {}

  Descriptor m_file;
  struct stat m_status;
};

}  // namespace spanscope
