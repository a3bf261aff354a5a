// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/lesson_folder.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/query/files/file_access.h"
#include "engine/query/shown_text.h"
#include "engine/workbench/resource_paths.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>
#include <utility>

namespace spanscope::lesson {

namespace {

namespace fs = std::filesystem;

constexpr const char* kExpectedPath = "a path in the lesson's folder, without \"..\"";

fs::path exampleFolder() {
  return workbench::resourceDirectory() / "queries";
}

}  // namespace

std::optional<query::NotGiven> refusedPath(const std::string& path) {
  const auto refused = [&path](const char* what) {
    return query::NotGiven{"the path " + query::inQuotes(path) + what, kExpectedPath, {}};
  };
  if (path.empty() || path.find('\0') != std::string::npos) return refused("");
  if (path.find('\\') != std::string::npos) return refused(", which has a backslash");
  const fs::path parts(path);
  if (parts.is_absolute()) return refused(", which is an absolute path");
  if (std::ranges::find(parts, "..") != parts.end()) return refused(", which leads to a parent folder");
  return std::nullopt;
}

std::string readLessonFile(const fs::path& file) {
  const auto failure = [&file](std::string found, std::string expected) {
    return Failure(
        {.file = file.string(), .place = {}, .found = std::move(found), .expected = std::move(expected)});
  };
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    throw failure(error ? error.message() : "no regular file", "a lesson, a Markdown file");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw failure("a file that cannot be opened", "a file that may be read");
  std::string text(kMaxBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) throw failure("a file that cannot be read to its end", "a file that may be read");
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > kMaxBytes)
    throw failure("more than " + std::to_string(kMaxBytes) + " bytes", "at most this number in a lesson");
  return std::string(withoutByteOrderMark(text));
}

fs::path bundledLessonDirectory() {
  return workbench::resourceDirectory() / "lessons";
}

LessonFolder::LessonFolder(fs::path folder) : m_folder(std::move(folder)) {
  if (m_folder.empty()) m_folder = ".";
}

fs::path LessonFolder::folderOf(const std::string& path) const {
  if (path.starts_with(kExample)) return exampleFolder();
  return (m_folder / path).parent_path();
}

std::variant<std::string, query::NotGiven> LessonFolder::read(const std::string& path) const {
  if (path.starts_with(kExample)) {
    const std::string name = path.substr(kExample.size());
    const bool isName = !name.empty() && name.find('/') == std::string::npos && !refusedPath(name);
    if (isName) {
      auto text = query::FileAccess(exampleFolder()).read(name);
      if (std::holds_alternative<std::string>(text)) return text;
    }
    return query::NotGiven{
        "the bundled query " + query::inQuotes(name), "the name of a bundled query, as example:rag.json", {}};
  }
  if (auto refused = refusedPath(path)) return std::move(*refused);
  return query::FileAccess(m_folder).read(path);
}

std::variant<fs::path, query::NotGiven> LessonFolder::modelAt(const std::string& path) const {
  if (auto refused = refusedPath(path)) return std::move(*refused);
  std::error_code error;
  const fs::path root = fs::canonical(m_folder, error);
  const fs::path place = error ? fs::path() : fs::canonical(root / path, error);
  if (error)
    return query::NotGiven{
        "the model " + query::inQuotes(path) + " (" + error.message() + ")", kExpectedPath, {}};
  const fs::path inside = place.lexically_relative(root);
  if (inside.empty() || *inside.begin() == "..")
    return query::NotGiven{
        "the model " + query::inQuotes(path) + ", which lies outside of the lesson's folder",
        kExpectedPath,
        {}};
  return place;
}

namespace {

int numberOf(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  int number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

}  // namespace

std::vector<BundledLesson> bundledLessons() {
  const std::filesystem::path folder = bundledLessonDirectory();
  std::vector<BundledLesson> lessons;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() != ".md") continue;
    lessons.push_back({entry->path(), readLesson(readLessonFile(entry->path())).lesson.head});
  }
  if (lessons.empty())
    throw Failure({.file = folder.string(), .place = {}, .found = "no lessons", .expected = "lessons, *.md"});
  std::ranges::sort(lessons, [](const BundledLesson& a, const BundledLesson& b) {
    return std::pair(numberOf(a.file), a.file) < std::pair(numberOf(b.file), b.file);
  });
  return lessons;
}

}  // namespace spanscope::lesson
