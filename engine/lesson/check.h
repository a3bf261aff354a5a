// SPDX-License-Identifier: GPL-3.0-or-later
// Checks a lesson before it starts: actions and their arguments, nodes, settings, metrics and files. Nodes
// are checked against the open queries, and metrics against the earlier runs. Open this file to add a check.
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
  std::size_t metrics = 0;  ///< in texts
  bool operator==(const LessonCounts&) const = default;
};

LessonCounts countsOf(const Lesson& lesson);

/// Returns faults that readLesson() does not find. Warnings report probable mistakes.
std::vector<Fault> checkLesson(const Lesson& lesson, const LessonFolder& folder);

}  // namespace spanscope::lesson
