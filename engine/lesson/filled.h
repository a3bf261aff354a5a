// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson with the figures of its runs in their places: plain values, from which text, JSON and pages are
// made.
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
    Figure,  ///< a figure's value
    Missing  ///< why the figure cannot be had
  };
  Kind kind = Kind::Text;
  std::string text;
  std::string figure{};  ///< of Figure and Missing, as it is written in the lesson
};

struct FilledProse {
  std::vector<FilledPiece> pieces;
  /// Markdown with the figures in it; one that cannot be had says so in brackets.
  std::string markdown() const;
};

struct FilledAction {
  std::string line;
  ActionEffect effect = ActionEffect::View;
  std::uint32_t run = 0;  ///< the run that it made; 0: none
};

struct FilledChoice {
  std::string text;
  std::optional<bool> isRight;  ///< nothing: that cannot be said
};

struct FilledQuestion {
  Question::Kind kind = Question::Kind::Number;
  FilledProse text;
  std::string answer;   ///< of Number and Block; empty where it cannot be had
  std::string missing;  ///< why
  std::vector<FilledChoice> choices;
  /// Whether the run answers: a number that can be had, or exactly one right choice.
  bool isAnswered() const;
};

struct FilledClaim {
  std::string written;
  std::optional<bool> holds;  ///< nothing: that cannot be said
  std::string left;           ///< the values of its two sides
  std::string right;
  std::string missing;
};

using FilledActions = std::vector<FilledAction>;
/// None where the block's "where" does not hold.
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

  /// What did not hold, could not be said, or was not answered: "step 3: run 2: cached tokens > 0, but 0 >
  /// 0".
  std::vector<std::string> failures() const;
};

FilledLesson fill(const Lesson& lesson, const LessonFacts& facts);

/// As a person reads it in a terminal: Markdown with figures, actions, answers and what holds.
std::string textOf(const FilledLesson& lesson);

/// Markdown with lines of at most `columns` characters, where words allow it: figures that took the place of
/// their names left lines of any length. Paragraphs and items of lists are filled anew; code, tables,
/// headings and quotations stay as they are, and so does a line that ends in two blanks or a backslash (a
/// forced break).
std::string wrapped(std::string_view markdown, std::size_t columns);

}  // namespace spanscope::lesson
