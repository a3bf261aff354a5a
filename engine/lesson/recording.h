// SPDX-License-Identifier: GPL-3.0-or-later
// Records the user's work as a lesson. Changes of a document become actions, and a lesson becomes a text.
// Open this file to record another change.
#pragma once

#include "engine/lesson/actions.h"
#include "engine/lesson/lesson.h"
#include "engine/workbench/document/document.h"

#include <optional>
#include <string>
#include <vector>

namespace spanscope::lesson {

struct RecordedChange {
  std::vector<Action> actions;  ///< the actions that turn the old state into the new one
  /// Whether the actions make the whole change. Actions only change texts, the order of two children, and
  /// settings that a lesson may set. Actions do not add, remove or move nodes. Changes that only the canvas
  /// shows do not count.
  bool isWhole = true;
};

/// `before` and `after` are states of one document. The nodes of the two states therefore have the same ids.
RecordedChange actionsBetween(const document::Document& before, const document::Document& after);

/// Returns the value of a setting as assign() reads it.
std::string valueText(const workbench::Setting& setting, const workbench::RunSettings& settings);

/// Returns the file that readLesson() reads as this lesson. The lesson must have no faults.
std::string written(const Lesson& lesson);

/// One of several answers, as typed: its text, and the comparison that makes it right.
struct RecordedChoice {
  std::string text;
  std::string isRight;
  bool operator==(const RecordedChoice&) const = default;
};

/// A question as typed, unchecked.
struct RecordedQuestion {
  std::optional<Question::Kind> kind{};  ///< nothing: there is no question
  std::string text{};
  std::string answer{};                   ///< the metric, of Number and Block
  std::vector<RecordedChoice> choices{};  ///< of Choice
  bool operator==(const RecordedQuestion&) const = default;
};

/// A step as recorded. The user has typed the texts of the step: Markdown with metrics in braces, unchecked.
struct RecordedStep {
  std::string title{};
  std::string text{};  ///< read first
  RecordedQuestion question{};
  std::vector<Action> actions{};
  std::string after{};  ///< read when all actions are done; the text may name results of the step's runs
  std::string holds{};  ///< comparisons of these results, a line each; empty: none
};

/// Adds an action to a step. An action that only shows something replaces an earlier one of its kind, up to
/// the last change or run. Repetitions are left out.
void addAction(std::vector<Action>& actions, Action action);

/// Returns the settings that a lesson may set and that differ from the given settings.
std::vector<Assignment> settingsUnlike(const workbench::RunSettings& settings,
                                       const workbench::RunSettings& standard);

/// Returns the file of a recorded lesson. In a step with a question, preparations of its first run come
/// before the question, and the run after it. The preparations come before the text too if the text has a
/// link to a section. Title and words of the front matter, choices and comparisons lose line ends.
std::string written(const Head& head, const std::vector<RecordedStep>& steps);

}  // namespace spanscope::lesson
