// SPDX-License-Identifier: GPL-3.0-or-later
// What a person did, as a lesson: changes of a document become actions, and a lesson becomes a text again.
#pragma once

#include "engine/lesson/actions.h"
#include "engine/lesson/lesson.h"
#include "engine/workbench/document/document.h"

#include <optional>
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

/// One answer of several, as it was typed: its text, and the comparison that makes it right.
struct RecordedChoice {
  std::string text;
  std::string isRight;
  bool operator==(const RecordedChoice&) const = default;
};

/// A question as it was typed, unchecked.
struct RecordedQuestion {
  std::optional<Question::Kind> kind{};  ///< nothing: nothing is asked
  std::string text{};
  std::string answer{};                   ///< the figure, of Number and Block
  std::vector<RecordedChoice> choices{};  ///< of Choice
  bool operator==(const RecordedQuestion&) const = default;
};

/// A step as it was recorded. Its texts are what a person typed: Markdown with figures in braces, unchecked.
struct RecordedStep {
  std::string title{};
  std::string text{};  ///< read first
  RecordedQuestion question{};
  std::vector<Action> actions{};
  std::string after{};  ///< read when all actions are done, so that it may name what the step's runs came to
  std::string holds{};  ///< comparisons of that, a line each; empty: nothing must hold
};

/// Adds an action to those of a step. One that only shows something takes the place of one of its kind since
/// the last that changed or ran something, and what would be said twice is said once.
void addAction(std::vector<Action>& actions, Action action);

/// The settings that a lesson may set, where they are not `standard`.
std::vector<Assignment> settingsUnlike(const workbench::RunSettings& settings,
                                       const workbench::RunSettings& standard);

/// The file of a recorded lesson. In a step with a question, what prepares its first run stands before the
/// question, and the run after it; and before the text too, where that has a link to a part of the query or
/// of a run, which must be there by then. Title and words of the head, choices and comparisons lose line
/// ends.
std::string written(const Head& head, const std::vector<RecordedStep>& steps);

}  // namespace spanscope::lesson
