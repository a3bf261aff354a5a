// SPDX-License-Identifier: GPL-3.0-or-later
// Maps files into memory, owns file descriptors, and protects standard input, output and error. The functions
// throw no Failure, because each caller words the error. Open this file to read a large file, or to open a
// file with system calls.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace spanscope {

/// Owns the descriptor of an open file and closes it on destruction.
class Descriptor {
 public:
  /// A `number` below 0 means no file.
  explicit Descriptor(int number) : m_number(number) {}
  ~Descriptor() {
    if (m_number >= 0) ::close(m_number);
  }
  Descriptor(Descriptor&& other) noexcept : m_number(std::exchange(other.m_number, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(m_number, other.m_number);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return m_number; }

 private:
  int m_number;
};

/// Opens each of the descriptors 0 to 2 that is closed. Call this at the start of a program, before it opens
/// any file. Otherwise, a file could get such a number, and messages would be written into that file. Reading
/// from such a descriptor returns the end of the file. Writing fails with EBADF, as with a closed descriptor.
void holdStandardDescriptors();

/// Makes a failed write return an error instead of ending the program. Affects pipes without a reader, and
/// files beyond the largest allowed size.
void reportWriteErrors();

// The code below handles mapped files that get shorter during reading. When a thread reads a missing page,
// the system sends the signal SIGBUS, which would end the program. The handler maps zeros at this address,
// and records that later bytes are undefined.
//
// A process has one handler per signal, and the handler gets only an address. The whole process therefore
// shares one table of ranges. For an address outside of all registered ranges, the previous handler gets the
// signal.

/// An entry of the table, for one range.
struct MappedRangeSlot;

/// Registers the bytes of a file that mmap() mapped. Register the bytes before the first read, and release
/// them before munmap().
class MappedRange {
 public:
  MappedRange() = default;
  /// `bytes` must not be empty and must begin at a page boundary. Throws std::bad_alloc if the table cannot
  /// grow.
  explicit MappedRange(std::span<const std::byte> bytes);
  ~MappedRange();
  MappedRange(MappedRange&& other) noexcept : m_slot(std::exchange(other.m_slot, nullptr)) {}
  MappedRange& operator=(MappedRange&& other) noexcept;
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;

  /// Whether a read touched a missing page and returned zeros. If the file now ends within a page, the rest
  /// of this page reads as zeros without a signal. Check the size of the file to detect this case.
  bool wasCut() const;

 private:
  void release() noexcept;

  MappedRangeSlot* m_slot = nullptr;
};

/// The bytes of a file that is mapped for reading. The destructor unmaps the bytes. If the file gets shorter,
/// the missing bytes read as zeros. Call isCut() after reading.
class MappedBytes {
 public:
  MappedBytes() = default;
  /// `bytes`: the result of mmap() for a file that `file` keeps open. `changed`: the time of the file's last
  /// change before the mapping.
  MappedBytes(std::span<const std::byte> bytes, Descriptor file, const struct timespec& changed);
  ~MappedBytes();
  MappedBytes(MappedBytes&& other) noexcept;
  MappedBytes& operator=(MappedBytes&& other) noexcept;
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

  std::span<const std::byte> get() const { return m_bytes; }
  /// Whether the file got shorter. Zero bytes in get() may then be missing bytes.
  bool isCut() const;
  /// Whether the file was written after it was opened, within the resolution of the system's clock.
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
  Refuse,  ///< open() fails for a symbolic link
};

/// A file that is open for reading. Opening a pipe does not wait for a writer.
class ReadableFile {
 public:
  /// Returns nothing if the file cannot be opened. errno then has the reason.
  static std::optional<ReadableFile> open(const std::filesystem::path& path, LinkRule links);

  const struct stat& status() const { return m_status; }
  bool isRegular() const { return S_ISREG(m_status.st_mode); }
  /// Maps the whole file. Pages are read at their first use. An empty file gives no bytes. Returns nothing if
  /// the file cannot be mapped. errno then has the reason.
  std::optional<MappedBytes> map() const;

 private:
  ReadableFile(Descriptor file, const struct stat& status) : m_file(std::move(file)), m_status(status) {}

  Descriptor m_file;
  struct stat m_status;
};

/// Identifies a file independently of its path. Symbolic and hard links to one file have the same identity.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;  ///< number of the file on the device

  bool operator==(const FileIdentity&) const = default;
};

/// Returns the identity of the file at the path. Returns nothing if there is no such file, or if the path
/// cannot be reached.
std::optional<FileIdentity> identityOf(const std::filesystem::path& path);

}  // namespace spanscope
