// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/files/file_access.h"
#include "engine/query/files/path_pattern.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace spanscope::query {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownCharacters = 200;

NotGiven notGiven(const std::string& path, const std::string& what, std::string expected) {
  return {"\"" + cutText(path, kShownCharacters) + "\"" + what, std::move(expected), {}};
}

/// Joins "a/b" and "c". An empty folder adds nothing.
std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.ends_with('/') ? folder + name : folder + "/" + name;
}

struct Entry {
  std::string name;
  bool isFolder = false;
};

/// Walks through a folder and the folders below it.
class Walk {
 public:
  /// `names`: the pattern for paths below the folder; none: all paths fit.
  Walk(std::string asked, std::vector<std::string_view> names)
      : m_asked(std::move(asked)), m_names(std::move(names)) {}

  FileList result;

  /// Returns nothing, or why the walk was given up. `shown` is the folder as the query writes it.
  std::optional<NotGiven> enter(const fs::path& folder, const std::string& shown, const std::string& below,
                                std::size_t depth) {
    std::error_code error;
    fs::directory_iterator at(folder, error);
    std::vector<Entry> entries;
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      if (++m_visited > kMaxVisitedEntries) {
        return notGiven(m_asked,
                        ", with more than " + std::to_string(kMaxVisitedEntries) + " entries to look at",
                        "fewer");
      }
      std::string name = at->path().filename().string();
      if (name.starts_with('.')) continue;
      std::error_code unknown;
      const bool isFolder = at->is_directory(unknown) && !at->is_symlink(unknown);
      if (!isFolder && !at->is_regular_file(unknown)) continue;
      entries.push_back({std::move(name), isFolder});
    }
    if (error) {
      result.leftOut.push_back(notGiven(shown, ", a folder that cannot be read (" + error.message() + ")",
                                        "one that may be read"));
    }
    for (const Entry& entry : entries) {
      const std::string path = joined(shown, entry.name);
      const std::string inside = joined(below, entry.name);
      if (!entry.isFolder) {
        if (!m_names.empty() && !pathFits(pathNames(inside), m_names)) continue;
        if (result.paths.size() == kMaxListedFiles) {
          return notGiven(m_asked, ", which means more than " + std::to_string(kMaxListedFiles) + " files",
                          "at most " + std::to_string(kMaxListedFiles));
        }
        result.paths.push_back(path);
      } else if (depth == kMaxFolderDepth) {
        result.leftOut.push_back(notGiven(path, ", a folder within " + std::to_string(depth) + " others",
                                          "at most " + std::to_string(kMaxFolderDepth)));
      } else if (mayHold(depth + 1)) {
        if (auto problem = enter(folder / entry.name, path, inside, depth + 1)) return problem;
      }
    }
    return std::nullopt;
  }

 private:
  /// Whether files at this depth can fit.
  bool mayHold(std::size_t depth) const {
    return m_names.empty() || depth < m_names.size() ||
           std::find(m_names.begin(), m_names.end(), "**") != m_names.end();
  }

  std::string m_asked;
  std::vector<std::string_view> m_names;
  std::size_t m_visited = 0;
};

/// The part of a pattern before its first name with a wildcard: a folder, or empty.
std::string folderOf(const std::string& pattern) {
  const std::size_t slash = pattern.rfind('/', pattern.find_first_of("*?"));
  return slash == std::string::npos ? std::string() : pattern.substr(0, slash + 1);
}

}  // namespace

std::variant<FileList, NotGiven> FileAccess::list(const std::string& path) const {
  const bool isPattern = isPathPattern(path);
  const std::string folder = isPattern ? folderOf(path) : path;
  auto located = locate(folder.empty() && isPattern ? "." : folder);
  if (auto* refused = std::get_if<NotGiven>(&located)) return std::move(*refused);
  const fs::path& start = std::get<fs::path>(located);
  std::error_code error;
  if (!fs::is_directory(start, error)) {
    if (isPattern) return notGiven(folder, ", which is no folder", "a folder");
    return FileList{.paths = {path}, .leftOut = {}};
  }
  std::string rest = isPattern ? path.substr(folder.size()) : std::string();
  Walk walk(path, pathNames(rest));
  const std::string shown = folder == "." || folder == "./" ? std::string() : folder;
  if (auto problem = walk.enter(start, shown, {}, 0)) return std::move(*problem);
  FileList files = std::move(walk.result);
  std::erase_if(files.paths, [&](const std::string& file) {
    auto place = locate(file);
    auto* refused = std::get_if<NotGiven>(&place);
    if (refused != nullptr) files.leftOut.push_back(std::move(*refused));
    return refused != nullptr;
  });
  std::sort(files.paths.begin(), files.paths.end());
  if (files.paths.empty()) {
    if (!files.leftOut.empty()) return std::move(files.leftOut.front());
    return notGiven(path, isPattern ? ", which no file fits" : ", a folder without files",
                    "at least one file");
  }
  return files;
}

}  // namespace spanscope::query
