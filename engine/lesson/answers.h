// SPDX-License-Identifier: GPL-3.0-or-later
// The answers of learners to the questions of a lesson: their file, their verdicts, and a table of a class.
// Open this file to change how answers are judged.
#pragma once

#include "engine/lesson/filled.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::lesson {

enum class Grade : std::uint8_t {
  Unknown,  ///< the run has no value
  Right,
  Close,  ///< the number differs by at most a tenth of the right value
  Wrong,
  Skipped,
};
/// Returns "right", "close", "wrong", "skipped" or "unknown".
const char* gradeName(Grade grade);

/// Returns the number at the beginning of a text: 2.9 of "2.9 ms". A comma ends the number: 1 of "1,024".
/// Nothing: the text begins with no number.
std::optional<double> leadingNumber(std::string_view text);

/// An answer of a learner.
struct GivenAnswer {
  std::size_t step = 0;                 ///< from 1
  std::size_t question = 0;             ///< within the step, from 1
  std::string number{};                 ///< as typed: a number, or the number of a block
  std::optional<std::size_t> choice{};  ///< the index of a choice, from 0
  bool isGiven() const { return choice.has_value() || !number.empty(); }
  bool operator==(const GivenAnswer&) const = default;
};

/// Compares an answer with the right one. Only the number and the choice of `answer` count.
Grade gradeOf(const FilledQuestion& question, const GivenAnswer& answer);

/// The answers of one learner.
struct LearnerAnswers {
  std::string lesson;  ///< the name of the lesson's file
  std::vector<GivenAnswer> answers;
  bool operator==(const LearnerAnswers&) const = default;
};

/// Returns the answers as JSON.
std::string written(const LearnerAnswers& answers);
/// Reads the answers that written() returns. Throws Failure. `file` is the name for the error.
LearnerAnswers readAnswers(std::string_view text, const std::filesystem::path& file);

/// A row of the table of a class.
struct GradedLearner {
  std::string learner;
  LearnerAnswers answers;
};

/// Returns a table as CSV. The table has a row for each learner, a column for each question, and the number
/// of right answers. The header names a question by its step and its number in this step: "3.1".
std::string gradesCsv(const FilledLesson& lesson, const std::vector<GradedLearner>& learners);

}  // namespace spanscope::lesson
