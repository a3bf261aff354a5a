// SPDX-License-Identifier: GPL-3.0-or-later
// The one way in which files are written.
#pragma once

#include "engine/base/error.h"
#include "engine/base/file_identity.h"

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

/// The temporary names under which files are being written at the moment, for a program that must end at
/// once. Any thread may call any function.
class UnfinishedFiles {
 public:
  /// `part`: a file, or a folder in which all files are added after it.
  void add(const std::filesystem::path& part);
  void drop(const std::filesystem::path& part);
  /// Removes them all, the last one first. What is written to them after that is lost.
  void removeAll() noexcept;

 private:
  std::mutex m_mutex;
  std::vector<std::filesystem::path> m_parts;
};

struct OutputRules {
  std::vector<FileIdentity> inputs;  ///< files that must not be written over: what the same command reads
  UnfinishedFiles* unfinished = nullptr;  ///< is told of the temporary name; outlives the file
  /// Ends the wait for somebody who reads a pipe. Where nobody can stop it, there is no such wait.
  std::stop_token stop{};
};

/// A file that is being written. What becomes of it depends on what the path leads to:
///  - nothing, or a regular file: all is written under a name of its own in the same folder,
///    "a.x7g2kq.trace.part" for "a.trace", and takes the place of the file as a whole with commit().
///    A symbolic link stays and what it leads to is replaced. The new file has the permissions of the old
///    one or, where there was none, those that the umask leaves.
///  - a pipe, a terminal or another device: it is written to as the bytes come.
///  - a folder, a file that may not be written, one of the inputs or what standard output or standard error
///    of this program are written to: refused.
/// Without commit() nothing of it is left behind and an older file is as it was. All errors are
/// OutputFailures that name the file by the path that was given; after one only destruction is useful.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path, const OutputRules& rules = {});
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;

  void write(std::span<const std::uint8_t> bytes);
  /// Brings what was written to the disk and gives it its name.
  void commit();
  /// Removes what was written, as destruction does.
  void discard() noexcept;

  const std::filesystem::path& path() const;
  /// Where the bytes are until commit(); for what is no regular file, the path.
  const std::filesystem::path& partPath() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

/// Writes a whole file. On an error nothing is left behind and an older file is as it was.
std::optional<Error> writeFile(const std::filesystem::path& path, std::string_view bytes,
                               const OutputRules& rules = {});

}  // namespace spanscope
