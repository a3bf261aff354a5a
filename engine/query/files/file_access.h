// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which files a query may read. A query may come from anyone. So it sees only the folder in which it
// lies, unless the person who runs it allows more.
#pragma once

#include "engine/query/surroundings.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::query {

/// Most bytes of a file that a query may read.
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20U;

/// Most files that one path may stand for, and most entries of folders that are examined to find them.
inline constexpr std::size_t kMaxListedFiles = 10'000;
inline constexpr std::size_t kMaxVisitedEntries = 200'000;
/// Deepest nesting of folders that is searched.
inline constexpr std::size_t kMaxFolderDepth = 32;

class FileAccess {
 public:
  /// `folder` is the query's folder; relative paths start there. Files in `folder` and in `others`, and in
  /// the folders below them, may be read.
  explicit FileAccess(std::filesystem::path folder, std::vector<std::filesystem::path> others = {});

  /// The bytes of a regular file of at most kMaxFileBytes. The real place of the file counts: "..", an
  /// absolute path or a symbolic link may be used, but must not lead out of the allowed folders. Throws only
  /// if memory is short.
  std::variant<std::string, NotGiven> read(const std::string& path) const;

  /// Like Surroundings::listFiles, within the limits above. From folders and patterns it leaves out hidden
  /// entries (their names begin with a dot) and everything that is neither file nor folder, without a remark.
  /// It does not follow links to folders. A file outside the allowed folders is left out with a remark.
  /// Throws only if memory is short.
  std::variant<FileList, NotGiven> list(const std::string& path) const;

 private:
  bool isAllowed(const std::filesystem::path& file) const;
  /// The real place of a file or folder, if it may be read.
  std::variant<std::filesystem::path, NotGiven> locate(const std::string& path) const;

  std::filesystem::path m_folder;
  std::vector<std::filesystem::path> m_roots;  ///< canonical
};

// Patterns of file paths. * stands for any characters of one name, and ? for one character. ** as a whole
// name stands for any number of folders, also none. Every other character stands for itself.

bool isPathPattern(std::string_view path);

/// Splits a path at its slashes; empty names are left out.
std::vector<std::string_view> pathNames(std::string_view path);

/// Whether a name fits the pattern of a name. The time is at most proportional to the product of their
/// lengths.
bool nameFits(std::string_view name, std::string_view pattern);

/// Whether all names of a path fit the names of a pattern. The time is at most proportional to the product of
/// their lengths.
bool pathFits(const std::vector<std::string_view>& path, const std::vector<std::string_view>& pattern);

}  // namespace spanscope::query
