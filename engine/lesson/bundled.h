// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lesson/lesson.h"

#include <filesystem>
#include <vector>

namespace spanscope::lesson {

/// A lesson that comes with the program.
struct BundledLesson {
  std::filesystem::path file;
  Head head;
};

/// In the order of their numbers, which their names begin with. Throws Failure if there are none.
std::vector<BundledLesson> bundledLessons();

}  // namespace spanscope::lesson
