// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a lesson without a window: it opens, sets, edits, runs and measures as the lesson says, on the
// embedded engine. What only shows something is left out.
#pragma once

#include "engine/compute/backends.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_folder.h"
#include "engine/metrics/run_facts.h"
#include "engine/workbench/settings.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::lesson {

struct LessonRunOptions {
  compute::Backends backends;
  /// What belongs to the machine: device, arithmetic, threads, and the model where one was chosen in place of
  /// the lesson's. Other settings are the lesson's own.
  workbench::RunSettings machine{};
  bool choosesModel = false;  ///< `machine` says the model
  std::stop_token stop{};
  /// Told on the calling thread what begins: "step 3: run 2".
  std::function<void(const std::string& doing)> tell{};
};

/// What the lesson's runs came to: entry n − 1 is run n.
using LessonFacts = std::vector<metrics::RunFacts>;

/// The lesson must have no faults. Throws Failure where a run fails, the model cannot be loaded, or it was
/// stopped.
LessonFacts runLesson(const Lesson& lesson, const LessonFolder& folder, const LessonRunOptions& options);

}  // namespace spanscope::lesson
