// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/bundled.h"

#include "engine/base/error.h"
#include "engine/lesson/lesson_folder.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

namespace spanscope::lesson {
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
  std::sort(lessons.begin(), lessons.end(), [](const BundledLesson& a, const BundledLesson& b) {
    return std::pair(numberOf(a.file), a.file) < std::pair(numberOf(b.file), b.file);
  });
  return lessons;
}

}  // namespace spanscope::lesson
