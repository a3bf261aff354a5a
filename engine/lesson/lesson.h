// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson: a text in steps whose figures come from the runs that it makes. The file is Markdown:
//
//     ---
//     title: What a KV cache is
//     minutes: 10
//     after: why the second question over the same text is answered sooner
//     model: bundled
//     queries: example:rag.json
//     settings: policy=prefix block_size=16
//     ---
//
//     ## 1. A first run
//
//     Text, in which `{run 1: cached tokens}` is a figure and [this part](node:/g/input/cross/0) is pointed
//     at.
//
//     ```do
//     open example:rag.json
//     run
//     ```
//
//     ```question
//     How many tokens will be computed?
//     number: run 1: computed tokens
//     ```
//
//     ```holds
//     run 1: cached tokens = 0
//     ```
//
// A figure stands in braces without the marks of code. Text may name the runs that stand before it; a
// question may ask for any run of the lesson. A lesson comes from anybody: reading it touches no file.
#pragma once

#include "engine/lesson/actions.h"
#include "engine/lesson/expression.h"
#include "engine/query/diagnostic.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::lesson {

/// A word of the head with its place.
template <class Value>
struct Placed {
  Value value{};
  Offset offset = 0;
};

struct Head {
  std::string title;
  std::int64_t minutes = 0;
  std::string after;  ///< what one knows after it
  /// "bundled", "any" (the learner's own) or a path in the lesson's folder.
  Placed<std::string> model{"bundled", 0};
  std::vector<Placed<std::string>> queries;
  std::vector<Placed<Assignment>> settings;
};

/// A stretch of Markdown, or a figure in it.
using ProsePiece = std::variant<std::string, Expression>;

struct Prose {
  std::vector<ProsePiece> pieces;
  std::vector<Placed<Target>> links;  ///< what its links point at
  Offset offset = 0;
};

struct ActionList {
  std::vector<Action> actions;
  Offset offset = 0;
};

struct QuestionChoice {
  std::string text;
  Comparison isRight;
};

/// The run answers, not the file.
struct Question {
  enum class Kind : std::uint8_t { Number, Choice, Block };
  Kind kind = Kind::Number;
  Prose text;
  std::optional<Expression> answer;     ///< of Number and Block
  std::vector<QuestionChoice> choices;  ///< of Choice, at least two
  Offset offset = 0;
};

/// What must hold in the lesson's runs.
struct ClaimList {
  /// Only where this holds, as on one model: "where run 1: model = "spanlet"". Nothing: always.
  std::optional<Comparison> where;
  std::vector<Comparison> claims;
  Offset offset = 0;
};

using Block = std::variant<Prose, ActionList, Question, ClaimList>;

struct Step {
  std::size_t number = 0;  ///< from 1
  std::string title;
  std::vector<Block> blocks;
  Offset offset = 0;
};

struct Lesson {
  Head head;
  std::vector<Step> steps;
  /// The number of its `run` actions.
  std::uint32_t runs() const;
};

struct ReadLesson {
  Lesson lesson;  ///< what could be read
  std::vector<Fault> faults;
};

/// Reads all of it, without a byte order mark; every fault is found at once, up to kMaxFaults.
ReadLesson readLesson(std::string_view text);

/// Faults as people read them, in the order of the text.
std::vector<query::Diagnostic> diagnosticsOf(std::vector<Fault> faults, std::string_view text);

// How large a lesson may be. Lessons come from anybody; what is larger is refused, with its place.

inline constexpr std::size_t kMaxBytes = std::size_t{256} << 10U;  ///< of the file
inline constexpr std::size_t kMaxSteps = 60;
inline constexpr std::size_t kMaxBlocks = 12;      ///< of one step: paragraphs of text, and fenced blocks
inline constexpr std::size_t kMaxActions = 16;     ///< of one step
inline constexpr std::size_t kMaxRuns = 40;        ///< of a lesson
inline constexpr std::size_t kMaxStepText = 1600;  ///< characters of one step's text: one thought
inline constexpr std::size_t kMaxQueries = 20;
inline constexpr std::size_t kMaxChoices = 6;
inline constexpr std::size_t kMaxTerms = 32;  ///< figures and numbers in one expression
inline constexpr std::int64_t kMaxMinutes = 120;
/// Faults after which reading and checking end.
inline constexpr std::size_t kMaxFaults = 100;

}  // namespace spanscope::lesson
