// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the files of a lesson: files in its own folder and the folders below it, and the bundled queries.
// Open this file to change what lessons may read.
#pragma once

#include "engine/lesson/lesson.h"
#include "engine/query/surroundings.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::lesson {

/// The beginning of the name of a bundled query: "example:rag.json".
inline constexpr std::string_view kExample = "example:";

/// Throws Failure if the file cannot be read, is larger than a lesson may be, or is not UTF-8. A byte order
/// mark is left out.
std::string readLessonFile(const std::filesystem::path& file);
/// Returns the folder of the bundled lessons.
std::filesystem::path bundledLessonDirectory();

class LessonFolder {
 public:
  explicit LessonFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const { return m_folder; }

  /// Returns the text of a query. The path is example:NAME, or a relative path without "..". After all links,
  /// the path must lead to a file in the folder.
  std::variant<std::string, query::NotGiven> read(const std::string& path) const;
  /// Returns the place of a model in the folder: a directory or a file.
  std::variant<std::filesystem::path, query::NotGiven> modelAt(const std::string& path) const;
  /// Returns the folder from which a query with this path may read files.
  std::filesystem::path folderOf(const std::string& path) const;

 private:
  std::filesystem::path m_folder;
};

/// Returns the reason why a path is not allowed in a lesson, whatever files exist. Nothing: the path is
/// allowed.
std::optional<query::NotGiven> refusedPath(const std::string& path);

/// A bundled lesson.
struct BundledLesson {
  std::filesystem::path file;
  Head head;
};

/// Returns the bundled lessons by number. The names of bundled lessons begin with the number. Throws Failure
/// if there are none.
std::vector<BundledLesson> bundledLessons();

}  // namespace spanscope::lesson
