// SPDX-License-Identifier: GPL-3.0-or-later
// What a lesson may read: files in its own folder and in the folders below it, and the bundled queries.
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

/// What a name of a bundled query begins with: "example:rag.json".
inline constexpr std::string_view kExample = "example:";

/// Throws Failure if the file cannot be read, is larger than a lesson may be, or is no UTF-8. A byte order
/// mark is left out.
std::string readLessonFile(const std::filesystem::path& file);
/// The lessons that come with the program, in the order of their names.
std::filesystem::path bundledLessonDirectory();

class LessonFolder {
 public:
  explicit LessonFolder(std::filesystem::path folder);

  const std::filesystem::path& path() const { return m_folder; }

  /// The text of a query. The path is relative, has no "..", and leads, links followed, to a file in the
  /// folder; or it is example:NAME.
  std::variant<std::string, query::NotGiven> read(const std::string& path) const;
  /// The place of a model in the folder: a directory or a file.
  std::variant<std::filesystem::path, query::NotGiven> modelAt(const std::string& path) const;
  /// The folder that a query of this path may read files from.
  std::filesystem::path folderOf(const std::string& path) const;

 private:
  std::filesystem::path m_folder;
};

/// Why a path cannot be one of a lesson, whatever is on the disk; nothing: it can.
std::optional<query::NotGiven> refusedPath(const std::string& path);

/// A lesson that comes with the program.
struct BundledLesson {
  std::filesystem::path file;
  Head head;
};

/// In the order of their numbers, which their names begin with. Throws Failure if there are none.
std::vector<BundledLesson> bundledLessons();

}  // namespace spanscope::lesson
