// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which files a query may read. A query may have an unknown author. A query therefore reads only its
// own folder, unless the user allows more. Open this file to change the allowed folders or the patterns of
// paths.
#pragma once

#include "engine/query/surroundings.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::query {

/// Max size in bytes of a file that a query may read.
inline constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20U;

/// Max number of files for one path.
///
/// kMaxVisitedEntries is the max number of folder entries that the search for these files examines.
inline constexpr std::size_t kMaxListedFiles = 10'000;
inline constexpr std::size_t kMaxVisitedEntries = 200'000;
/// Max depth of folders in the search.
inline constexpr std::size_t kMaxFolderDepth = 32;

class FileAccess {
 public:
  /// `folder` is the query's folder, and relative paths start there. The query may read files in `folder`, in
  /// `others`, and in all folders below them.
  explicit FileAccess(std::filesystem::path folder, std::vector<std::filesystem::path> others = {});

  /// Returns the bytes of a regular file of at most kMaxFileBytes. The real place of the file counts. The
  /// place must be in the allowed folders, also for a path with "..", an absolute path or a symbolic link.
  /// Throws only if memory is short.
  std::variant<std::string, NotGiven> read(const std::string& path) const;

  /// Lists files like Surroundings::listFiles, within the limits above. Throws only if memory is short. From
  /// folders and patterns, the function leaves out these entries:
  /// - hidden entries, whose names begin with a dot, without a remark;
  /// - entries that are neither file nor folder, without a remark;
  /// - links to folders;
  /// - files outside the allowed folders, with a remark.
  std::variant<FileList, NotGiven> list(const std::string& path) const;

 private:
  bool isAllowed(const std::filesystem::path& file) const;
  /// Returns the real place of a file or folder if the query may read it.
  std::variant<std::filesystem::path, NotGiven> locate(const std::string& path) const;

  std::filesystem::path m_folder;
  std::vector<std::filesystem::path> m_roots;  ///< canonical
};

// Patterns of file paths:
// - `*` matches any characters of one name.
// - `?` matches one character.
// - `**` as a whole name matches any number of folders, also none.
// - Every other character matches only the same character.

bool isPathPattern(std::string_view path);

/// Splits a path at its slashes. Leaves out empty names.
std::vector<std::string_view> pathNames(std::string_view path);

/// Whether a name matches the pattern of a name. The time is at most proportional to the product of the
/// lengths.
bool nameFits(std::string_view name, std::string_view pattern);

/// Whether all names of a path match the names of a pattern. The time is at most proportional to the product
/// of the lengths.
bool pathFits(const std::vector<std::string_view>& path, const std::vector<std::string_view>& pattern);

}  // namespace spanscope::query
