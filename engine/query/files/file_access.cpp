// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/files/file_access.h"

#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

namespace spanscope::query {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownCharacters = 200;

NotGiven notGiven(const std::string& path, const std::string& what, std::string expected,
                  std::string hint = {}) {
  return {"the file \"" + cutText(path, kShownCharacters) + "\"" + what, std::move(expected),
          std::move(hint)};
}

}  // namespace

FileAccess::FileAccess(fs::path folder, std::vector<fs::path> others) : m_folder(std::move(folder)) {
  if (m_folder.empty()) m_folder = ".";
  others.push_back(m_folder);
  for (const fs::path& root : others) {
    std::error_code error;
    fs::path canonical = fs::canonical(root, error);
    if (!error) m_roots.push_back(std::move(canonical));
  }
}

bool FileAccess::isAllowed(const fs::path& file) const {
  return std::ranges::any_of(m_roots, [&](const fs::path& root) {
    const fs::path inside = file.lexically_relative(root);
    return !inside.empty() && *inside.begin() != "..";
  });
}

std::variant<fs::path, NotGiven> FileAccess::locate(const std::string& path) const {
  if (path.empty() || path.find('\0') != std::string::npos)
    return notGiven(path, "", /*id:path-file*/ "the path of a file");
  std::error_code error;
  fs::path file = fs::canonical(m_folder / path, error);
  std::error_code unknown;
  const fs::path folder = fs::canonical(m_folder, unknown);
  const std::string inFolder = " in " + cutText((unknown ? m_folder : folder).string(), kShownCharacters);
  if (error) return notGiven(path, " that cannot be opened (" + error.message() + ")", "a file" + inFolder);
  if (!isAllowed(file)) {
    return notGiven(path, /*id:outside-querys-folder*/ " outside of the query's folder", "a file" + inFolder,
                    "the user can allow other folders");
  }
  return file;
}

std::variant<std::string, NotGiven> FileAccess::read(const std::string& path) const {
  auto located = locate(path);
  if (auto* refused = std::get_if<NotGiven>(&located)) return std::move(*refused);
  const fs::path& file = std::get<fs::path>(located);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return notGiven(path, " that is not a regular file", "a file");

  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    return notGiven(path, /*id:cannot-opened*/ " that cannot be opened", "a file that may be read");
  std::string bytes;
  std::vector<char> buffer(std::size_t{1} << 16U);
  while (stream && bytes.size() <= kMaxFileBytes) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    bytes.append(buffer.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) return notGiven(path, " that cannot be read to its end", "a file that may be read");
  if (bytes.size() > kMaxFileBytes) {
    return notGiven(path, " of more than " + std::to_string(kMaxFileBytes) + " bytes",
                    "at most " + std::to_string(kMaxFileBytes) + " bytes");
  }
  return bytes;
}

namespace {

namespace fs = std::filesystem;

NotGiven listNotGiven(const std::string& path, const std::string& what, std::string expected) {
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
  /// `names`: the pattern for paths below the folder; nothing: all paths fit.
  Walk(std::string asked, std::vector<std::string_view> names)
      : m_asked(std::move(asked)), m_names(std::move(names)) {}

  FileList result;

  /// Returns nothing, or the reason why the walk stopped. `shown` is the folder as the query writes it.
  std::optional<NotGiven> enter(const fs::path& folder, const std::string& shown, const std::string& below,
                                std::size_t depth) {
    std::error_code error;
    fs::directory_iterator at(folder, error);
    std::vector<Entry> entries;
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      if (++m_visited > kMaxVisitedEntries) {
        return listNotGiven(m_asked, ", with more than " + std::to_string(kMaxVisitedEntries) + " entries",
                            "fewer entries");
      }
      std::string name = at->path().filename().string();
      if (name.starts_with('.')) continue;
      std::error_code unknown;
      const bool isFolder = at->is_directory(unknown) && !at->is_symlink(unknown);
      if (!isFolder && !at->is_regular_file(unknown)) continue;
      entries.push_back({std::move(name), isFolder});
    }
    if (error) {
      result.leftOut.push_back(listNotGiven(shown, ", a folder that cannot be read (" + error.message() + ")",
                                            "a folder that may be read"));
    }
    for (const Entry& entry : entries) {
      const std::string path = joined(shown, entry.name);
      const std::string inside = joined(below, entry.name);
      if (!entry.isFolder) {
        if (!m_names.empty() && !pathFits(pathNames(inside), m_names)) continue;
        if (result.paths.size() == kMaxListedFiles) {
          return listNotGiven(m_asked,
                              ", which matches more than " + std::to_string(kMaxListedFiles) + " files",
                              "at most " + std::to_string(kMaxListedFiles) + " files");
        }
        result.paths.push_back(path);
      } else if (depth == kMaxFolderDepth) {
        result.leftOut.push_back(listNotGiven(path, ", a folder inside " + std::to_string(depth) + " others",
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
    return m_names.empty() || depth < m_names.size() || std::ranges::find(m_names, "**") != m_names.end();
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
    if (isPattern) return listNotGiven(folder, ", which is not a folder", "a folder");
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
  std::ranges::sort(files.paths);
  if (files.paths.empty()) {
    if (!files.leftOut.empty()) return std::move(files.leftOut.front());
    return listNotGiven(
        path, isPattern ? /*id:no-file-fits*/ ", which does not match any file" : ", a folder without files",
        "at least one file");
  }
  return files;
}

namespace {

/// Length of the character that begins at `at`. If it is not UTF-8, each byte counts as a character.
std::size_t characterLength(std::string_view text, std::size_t at) {
  std::size_t length = 1;
  if (static_cast<unsigned char>(text[at]) < 0xC0U) return length;
  while (at + length < text.size() && (static_cast<unsigned char>(text[at + length]) & 0xC0U) == 0x80U)
    ++length;
  return length;
}

}  // namespace

bool isPathPattern(std::string_view path) {
  return path.find_first_of("*?") != std::string_view::npos;
}

std::vector<std::string_view> pathNames(std::string_view path) {
  std::vector<std::string_view> names = splitAt(path, '/');
  std::erase_if(names, [](std::string_view name) { return name.empty(); });
  return names;
}

bool nameFits(std::string_view name, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in = 0;
  // Only the last star may need more characters. Everything before this star fits as early as possible.
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (at < name.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      taken = at;
    } else if (in < pattern.size() && pattern[in] == '?') {
      at += characterLength(name, at);
      ++in;
    } else if (in < pattern.size() && pattern[in] == name[at]) {
      ++at;
      ++in;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      taken += characterLength(name, taken);
      at = taken;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in] == '*') ++in;
  return in == pattern.size();
}

bool pathFits(const std::vector<std::string_view>& path, const std::vector<std::string_view>& pattern) {
  // fits[i]: whether the first i names fit the part of the pattern so far.
  std::vector<bool> fits(path.size() + 1, false);
  fits[0] = true;
  for (const std::string_view part : pattern) {
    std::vector<bool> next(path.size() + 1, false);
    if (part == "**") {
      bool any = false;
      for (std::size_t i = 0; i <= path.size(); ++i) {
        any = any || fits[i];
        next[i] = any;
      }
    } else {
      for (std::size_t i = 0; i < path.size(); ++i) next[i + 1] = fits[i] && nameFits(path[i], part);
    }
    fits = std::move(next);
  }
  return fits[path.size()];
}

}  // namespace spanscope::query
