// SPDX-License-Identifier: GPL-3.0-or-later
// Maps files into memory. An error is no Failure here: each caller words the error itself.
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

/// The bytes of a file that is mapped for reading. They are unmapped on destruction. If the file gets shorter
/// meanwhile, the bytes that are gone read as zeros: after reading, ask isCut().
class MappedBytes {
 public:
  MappedBytes() = default;
  /// `bytes`: what mmap() returned for a file that `file` keeps open, and that was last changed then.
  MappedBytes(std::span<const std::byte> bytes, Descriptor file, const struct timespec& changed);
  ~MappedBytes();
  MappedBytes(MappedBytes&& other) noexcept;
  MappedBytes& operator=(MappedBytes&& other) noexcept;
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

  std::span<const std::byte> get() const { return m_bytes; }
  /// Whether the file is shorter than it was, so that bytes read as zero may not stand in the file.
  bool isCut() const;
  /// Whether the file was written to since it was opened, as far as the system's clock tells the times apart.
  bool isChanged() const;

 private:
  void unmap() noexcept;

  std::span<const std::byte> m_bytes;
  Descriptor m_file{-1};
  struct timespec m_changed {};
  MappedRange m_range;
};

enum class LinkRule {
  Follow,
  Refuse,  ///< a file that is a link cannot be opened
};

/// A file that is open for reading. Opening a pipe does not wait for a writer.
class ReadableFile {
 public:
  /// Nothing if the file cannot be opened; errno then says why.
  static std::optional<ReadableFile> open(const std::filesystem::path& path, LinkRule links);

  const struct stat& status() const { return m_status; }
  bool isRegular() const { return S_ISREG(m_status.st_mode); }
  /// Maps the whole file; pages are read when they are first touched. An empty file gives no bytes. Nothing
  /// if the file cannot be mapped; errno then says why.
  std::optional<MappedBytes> map() const;

 private:
  ReadableFile(Descriptor file, const struct stat& status) : m_file(std::move(file)), m_status(status) {}

  Descriptor m_file;
  struct stat m_status;
};

}  // namespace spanscope
