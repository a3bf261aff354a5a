// SPDX-License-Identifier: GPL-3.0-or-later
// Maps files into memory. An error is no Failure here: each caller words the error itself.
#pragma once

#include "engine/base/descriptor.h"

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace spanscope {

// Handles files that are mapped into memory and get shorter while they are read. When a thread reads a page
// that is gone, the system sends the signal SIGBUS, which would end the program. The handler here answers the
// signal where it occurs: it maps zeros there and notes that bytes read since then mean nothing.
//
// A process has one handler for a signal, and the handler gets only an address. So this is the one place of
// the engine with a table that the whole process shares. If the address is in no registered range, the signal
// goes to the handler that was set before the first range was registered.

/// An entry of the table for one range.
struct MappedRangeSlot;

/// Registers the bytes of a file that mmap() mapped. Register them before the first read, and release them
/// before they are unmapped.
class MappedRange {
 public:
  MappedRange() = default;
  /// `bytes`: not empty, and they begin at the beginning of a page. Throws std::bad_alloc if the table cannot
  /// grow.
  explicit MappedRange(std::span<const std::byte> bytes);
  ~MappedRange();
  MappedRange(MappedRange&& other) noexcept : m_slot(std::exchange(other.m_slot, nullptr)) {}
  MappedRange& operator=(MappedRange&& other) noexcept;
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;

  /// Whether a read touched a page that is gone, and so got zeros. If the file ends within the last page, the
  /// rest of the page reads as zeros without a signal: check the size of the file to notice this.
  bool wasCut() const;

 private:
  void release() noexcept;

  MappedRangeSlot* m_slot = nullptr;
};

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

/// Identifies a file, whatever path led to it: symbolic and hard links of one file have the same identity.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;  ///< of the file on the device

  bool operator==(const FileIdentity&) const = default;
};

/// The identity of the file that the path leads to. Nothing if there is no such file, or it cannot be
/// reached.
std::optional<FileIdentity> identityOf(const std::filesystem::path& path);

}  // namespace spanscope
