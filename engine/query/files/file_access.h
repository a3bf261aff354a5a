// SPDX-License-Identifier: GPL-3.0-or-later
// The files that a query may read. A query comes from anyone, so it sees the folder it lies in and nothing
// else, unless the person who runs it says so.
#pragma once

#include "engine/query/surroundings.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::query {

/// Most bytes of a file that a query reads.
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20U;

/// Most files that a path means, and most entries of folders that are looked at to find them.
inline constexpr std::size_t kMaxListedFiles = 10'000;
inline constexpr std::size_t kMaxVisitedEntries = 200'000;
/// Most folders within each other that are gone into.
inline constexpr std::size_t kMaxFolderDepth = 32;

class FileAccess {
 public:
  /// `folder` is that of the query, against which relative paths are read; files in it and in `others`, and
  /// in the folders below them, may be read.
  explicit FileAccess(std::filesystem::path folder, std::vector<std::filesystem::path> others = {});

  /// The bytes of a regular file of at most kMaxFileBytes. What counts is where the file really lies: "..",
  /// an absolute path or a symbolic link may be used, but do not lead out. Does not throw, but for want of
  /// memory.
  std::variant<std::string, NotGiven> read(const std::string& path) const;

  /// As Surroundings::listFiles, within the limits above. Of folders and patterns, what is hidden (its name
  /// begins with a dot) and what is neither file nor folder is left out without a word; links to folders are
  /// not followed; a file that leads out is left out and said. Does not throw, but for want of memory.
  std::variant<FileList, NotGiven> list(const std::string& path) const;

 private:
  bool isAllowed(const std::filesystem::path& file) const;
  /// Where something really lies, if it may be read.
  std::variant<std::filesystem::path, NotGiven> locate(const std::string& path) const;

  std::filesystem::path m_folder;
  std::vector<std::filesystem::path> m_roots;  ///< canonical
};

}  // namespace spanscope::query
