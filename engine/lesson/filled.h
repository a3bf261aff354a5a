// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson with the metrics of its runs filled in, as plain values. The text, JSON and page of a lesson are
// made from these values. Open this file to write a lesson in another form.
#pragma once

#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::lesson {

struct FilledPiece {
  enum class Kind : std::uint8_t {
    Text,    ///< Markdown
    Metric,  ///< a metric's value
    Missing  ///< the reason why the metric has no value
  };
  Kind kind = Kind::Text;
  std::string text;
  std::string metric{};  ///< for Figure and Missing: the metric as written in the lesson
};

/// Empty if the condition of the text makes the text disappear.
struct FilledProse {
  std::vector<FilledPiece> pieces;
  /// Returns Markdown with the metrics filled in. A metric without a value has its reason in brackets.
  std::string markdown() const;
};

struct FilledAction {
  std::string line;
  ActionEffect effect = ActionEffect::View;
  std::uint32_t run = 0;      ///< the run that it made; 0: none
  bool isForLearner = false;  ///< the learner carries out the action
};

struct FilledChoice {
  std::string text;
  std::optional<bool> isRight;  ///< nothing: unknown
};

struct FilledQuestion {
  Question::Kind kind = Question::Kind::Number;
  FilledProse text;
  std::string answer;   ///< of Number and Block; empty if it is unknown
  std::string missing;  ///< the reason why the answer is unknown
  std::vector<FilledChoice> choices;
  FilledProse why;  ///< why the answer is right; may be empty.
  /// Whether the run gives the answer: a known number, or exactly one right choice.
  bool isAnswered() const;
};

struct FilledClaim {
  std::string written;
  std::optional<bool> holds;  ///< nothing: unknown
  std::string left;           ///< the values of its two sides
  std::string right;
  std::string missing;
};

using FilledActions = std::vector<FilledAction>;
/// Nothing if the block's "where" is false.
using FilledClaims = std::vector<FilledClaim>;
using FilledBlock = std::variant<FilledProse, FilledActions, FilledQuestion, FilledClaims>;

struct FilledStep {
  std::size_t number = 0;
  std::string title;
  std::vector<FilledBlock> blocks;
};

struct FilledLesson {
  std::string title;
  std::int64_t minutes = 0;
  std::string after;
  std::vector<FilledStep> steps;

  /// Returns the claims that are false or unknown, and questions without an answer. Example: "step 3: run 2:
  /// cached tokens > 0, but 0 > 0".
  std::vector<std::string> failures() const;
};

FilledLesson fill(const Lesson& lesson, const LessonFacts& facts);

/// Returns the text for a terminal: Markdown with metrics, actions, answers and true claims.
std::string textOf(const FilledLesson& lesson);

/// Returns Markdown with lines of at most `columns` characters, if words allow this. Filled-in metrics can
/// make lines longer or shorter. Paragraphs and items of lists are wrapped. Code, tables, headings and
/// quotations do not change. A line that ends in two spaces or a backslash (a forced break) does not change
/// either.
std::string wrapped(std::string_view markdown, std::size_t columns);

}  // namespace spanscope::lesson
