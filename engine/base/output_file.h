// SPDX-License-Identifier: GPL-3.0-or-later
// Writes files; every file that the program writes goes through here.
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

/// The temporary names of the files that are being written now, for a program that must end at once. Any
/// thread may call any function.
class UnfinishedFiles {
 public:
  /// `part`: a file, or a folder; files that are added later lie in that folder.
  void add(const std::filesystem::path& part);
  void drop(const std::filesystem::path& part);
  /// Removes all of them, the last added first. Bytes that are written to them later are lost.
  void removeAll() noexcept;

 private:
  std::mutex m_mutex;
  std::vector<std::filesystem::path> m_parts;
};

struct OutputRules {
  std::vector<FileIdentity> inputs;  ///< the files that the same command reads; they must not be overwritten
  UnfinishedFiles* unfinished = nullptr;  ///< gets the temporary name; must outlive the OutputFile
  /// Ends the wait for a reader of a pipe. If nobody can request a stop, the constructor does not wait for
  /// one.
  std::stop_token stop{};
  bool replacesNewer =
      true;                  ///< whether commit() may replace a file that is not the one that was there first
  bool keepsBroken = false;  ///< after an error, what was written before stays under the temporary name
};

/// A file that is being written. What happens depends on what the path leads to:
/// - nothing, or a regular file: the bytes go to a temporary file in the same folder, "a.x7g2kq.trace.part"
///   for "a.trace". commit() puts the temporary file in the place of the old one in one step. If the path is
///   a symbolic link, the link stays and its target is replaced. The new file gets the permissions of the old
///   one or, where there was none, those that the umask leaves.
/// - a pipe, a terminal or another device: each write goes to it directly.
/// - a folder, a file without write permission, one of the inputs, or the file behind standard output or
///   standard error of this program: the constructor throws.
/// Without commit() no part of the new file is left, and an older file is as it was. All errors are
/// OutputFailures that name the file by the given path. After an error the object can only be destroyed.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path, const OutputRules& rules = {});
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  void write(std::span<const std::uint8_t> bytes);
  /// Brings the written bytes to the disk and gives the file its name.
  void commit();
  /// Removes what was written; the destructor does the same.
  void discard() noexcept;

  const std::filesystem::path& path() const;
  /// Where the bytes are until commit(). For anything but a regular file: the path.
  const std::filesystem::path& partPath() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// Writes a whole file. After an error nothing new is left, and an older file is as it was.
std::optional<Error> writeFile(const std::filesystem::path& path, std::string_view bytes,
                               const OutputRules& rules = {});

}  // namespace spanscope
