// SPDX-License-Identifier: GPL-3.0-or-later
// Checks and runs a lesson without a window, on the embedded engine. Nodes are checked against the open
// queries, and metrics against the earlier runs. The run executes the lesson's actions in order: open, set,
// edit, run and measure. Actions that only show something are skipped. Open this file to add a check, or to
// change headless runs.
#pragma once

#include "engine/compute/backends.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_folder.h"
#include "engine/metrics/run_facts.h"
#include "engine/workbench/settings.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::lesson {

struct LessonRunOptions {
  compute::Backends backends;
  /// Settings of the machine: device, arithmetic and threads, and a model in place of the lesson's model. The
  /// lesson decides all other settings.
  workbench::RunSettings machine{};
  bool choosesModel = false;  ///< `machine` chooses the model
  std::stop_token stop{};
  /// Called on the calling thread with the next job: "step 3: run 2".
  std::function<void(const std::string& doing)> report{};
};

/// The facts of the lesson's runs: entry n − 1 is run n.
using LessonFacts = std::vector<metrics::RunFacts>;

/// The lesson must have no faults. Throws Failure if a run fails, if the model cannot be loaded, or when
/// stopped.
LessonFacts runLesson(const Lesson& lesson, const LessonFolder& folder, const LessonRunOptions& options);

struct LessonCounts {
  std::size_t steps = 0;
  std::size_t actions = 0;
  std::size_t tasks = 0;  ///< actions of the learner, which are also in `actions`
  std::uint32_t runs = 0;
  std::size_t questions = 0;
  std::size_t claims = 0;
  std::size_t metrics = 0;  ///< in texts
  std::size_t words = 0;    ///< that a learner reads, including questions, choices and reasons
  bool operator==(const LessonCounts&) const = default;
};

LessonCounts countsOf(const Lesson& lesson);

/// The estimated time of a learner whose first language is not English, in minutes, from 1. Reading takes a
/// minute for 150 words, and the view of a step 15 seconds. A question or an action takes half a minute.
std::int64_t estimatedMinutes(const LessonCounts& counts);

/// Returns faults that readLesson() does not find. Warnings report probable mistakes.
std::vector<Fault> checkLesson(const Lesson& lesson, const LessonFolder& folder);

}  // namespace spanscope::lesson
