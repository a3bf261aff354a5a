// SPDX-License-Identifier: GPL-3.0-or-later
// What a person did, as a lesson: changes of a document become actions, and a lesson becomes a text again.
#pragma once

#include "engine/lesson/actions.h"
#include "engine/lesson/lesson.h"
#include "engine/workbench/document/document.h"

#include <string>
#include <vector>

namespace spanscope::lesson {

struct RecordedChange {
  std::vector<Action> actions;  ///< which make the one of the other
  /// Whether they make all of it. No action adds, removes or moves nodes, or changes more than texts, the
  /// order of two children, and settings that a lesson may set. What only the canvas shows does not count.
  bool isWhole = true;
};

/// Both are states of one document, so that their nodes have the same ids.
RecordedChange actionsBetween(const document::Document& before, const document::Document& after);

/// The value of a setting as assign() reads it.
std::string valueText(const workbench::Setting& setting, const workbench::RunSettings& settings);

/// The file that readLesson() reads as this lesson. A lesson without faults is assumed.
std::string written(const Lesson& lesson);

}  // namespace spanscope::lesson
