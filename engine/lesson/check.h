// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that can be said of a lesson before it starts: actions and their arguments, nodes against the
// queries that are open there, settings, figures against the runs that were made by then, files.
#pragma once

#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_folder.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::lesson {

struct LessonCounts {
  std::size_t steps = 0;
  std::size_t actions = 0;
  std::uint32_t runs = 0;
  std::size_t questions = 0;
  std::size_t claims = 0;
  std::size_t figures = 0;  ///< in texts
  bool operator==(const LessonCounts&) const = default;
};

LessonCounts countsOf(const Lesson& lesson);

/// What is wrong beside what reading found. Warnings say what is probably not meant.
std::vector<Fault> checkLesson(const Lesson& lesson, const LessonFolder& folder);

}  // namespace spanscope::lesson
