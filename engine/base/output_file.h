// SPDX-License-Identifier: GPL-3.0-or-later
// Writes files. All code of the program uses this file to write files. Open this file before you write to the
// disk.
#pragma once

#include "engine/base/error.h"
#include "engine/base/readable_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

namespace spanscope {

/// The temporary names of unfinished files, for a program that must end immediately. Any thread may call any
/// function.
class UnfinishedFiles {
 public:
  /// `part` is a file, or a folder for files that are added later.
  void add(const std::filesystem::path& part);
  void drop(const std::filesystem::path& part);
  /// Removes all these files, the last added first. Later writes to these files are lost.
  void removeAll() noexcept;

 private:
  std::mutex m_mutex;
  std::vector<std::filesystem::path> m_parts;
};

struct OutputRules {
  std::vector<FileIdentity> inputs;  ///< files that the same command reads, and that must not be overwritten
  UnfinishedFiles* unfinished = nullptr;  ///< gets the temporary name; must outlive the OutputFile
  /// Ends the wait for a reader of a pipe. If no stop token is given, the constructor does not wait for a
  /// reader.
  std::stop_token stop{};
  bool replacesNewer = true;  ///< whether commit() may replace a file that appeared or changed after the
                              ///< constructor
  bool keepsBroken = false;   ///< after an error, the file with the temporary name stays
};

/// A file that is being written. Without commit(), no part of the new file remains, and an older file is
/// unchanged. All errors are OutputFailures that name the file by the given path. After an error, the object
/// can only be destroyed. The target of the path decides what happens:
/// - No file, or a regular file. The bytes go to a temporary file in the same folder, e.g.
///   "a.x7g2kq.trace.part" for "a.trace". The function commit() replaces the old file in one step. If the
///   path is a symbolic link, the link stays and its target is replaced. The new file gets the permissions of
///   the old file. Without an old file, the umask sets the permissions.
/// - A pipe, a terminal or another device: each write goes directly to the device.
/// - A folder, a file without write permission, or one of the inputs: the constructor throws. The
///   constructor also throws for the files of standard output and standard error.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path, const OutputRules& rules = {});
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  void write(std::span<const std::uint8_t> bytes);
  /// Syncs the written bytes to the disk, and gives the file its final name.
  void commit();
  /// Removes the written bytes, as the destructor does.
  void discard() noexcept;

  const std::filesystem::path& path() const;
  /// Returns the temporary path of the bytes until commit(). For anything but a regular file, returns the
  /// path.
  const std::filesystem::path& partPath() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// Writes a whole file. After an error, no new file remains, and an older file is unchanged.
std::optional<Error> writeFile(const std::filesystem::path& path, std::string_view bytes,
                               const OutputRules& rules = {});

}  // namespace spanscope
