// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson: a text in steps whose metrics come from the runs that it makes. Open this file for the format of
// lessons. The file is Markdown:
//
//      ---
//      title: What a KV cache is
//      minutes: 10
//      after: why the second answer is faster
//      model: bundled
//      queries: example:rag.json
//      settings: policy=prefix block_size=16
//      ---
//
//      ## 1. A first run
//
//      Text with the metric {run 1: cached tokens}
//      and the link [this section](node:/g/input/cross/0).
//
//      ```do
//      open example:rag.json
//      run
//      ```
//
//      ```question
//      How many tokens will be computed?
//      number: run 1: computed tokens
//      why: Nothing is in the cache.
//      ```
//
//      ```try
//      swap node:/g/input/cross/1/plus/0 node:/g/input/cross/1/plus/1
//      ```
//
//      ```holds
//      run 1: cached tokens = 0
//      ```
//
//      ```when
//      run 1: answer contains "Biscuit"
//      The answer is right.
//      otherwise
//      This model does not find the answer.
//      ```
//
// A metric is in braces, without backticks. Text may name earlier runs. A question may ask for any run of the
// lesson. A lesson can come from an unknown source. Reading a lesson opens no file.
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

/// A value of the lesson's front matter (the lines between ---) with its place.
template <class Value>
struct Placed {
  Value value{};
  Offset offset = 0;
};

struct Head {
  std::string title;
  std::int64_t minutes = 0;
  std::string after;  ///< what the learner knows after the lesson
  /// "bundled", "any" (the learner's own) or a path in the lesson's folder.
  Placed<std::string> model{"bundled", 0};
  std::vector<Placed<std::string>> queries;
  std::vector<Placed<Assignment>> settings;
};

/// A piece of Markdown, or a metric in Markdown.
using ProsePiece = std::variant<std::string, Expression>;

struct Prose {
  /// The condition of the text: a block "when". Nothing: the text is always shown.
  std::optional<Comparison> when;
  bool isOtherwise = false;  ///< the text is shown if the condition is false
  std::vector<ProsePiece> pieces;
  std::vector<Placed<Target>> links;  ///< the targets of its links
  Offset offset = 0;
};

struct ActionList {
  std::vector<Action> actions;
  /// The learner carries out the actions in the window, and the lesson waits. Without a window, the lesson
  /// carries out the actions.
  bool isForLearner = false;
  Offset offset = 0;
};

struct QuestionChoice {
  std::string text;
  Comparison isRight;
};

/// A question. The run gives the answer, not the file.
struct Question {
  enum class Kind : std::uint8_t { Number, Choice, Block };
  Kind kind = Kind::Number;
  Prose text;
  std::optional<Expression> answer;     ///< of Number and Block
  std::vector<QuestionChoice> choices;  ///< of Choice, at least two
  std::optional<Prose> why;             ///< the reason of the right answer, in one sentence
  Offset offset = 0;
};

/// Claims that must be true in the lesson's runs.
struct ClaimList {
  /// The condition of the claims, e.g. one model: "where run 1: model = "spanlet"". Nothing: always.
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
  /// Returns the number of `run` actions.
  std::uint32_t runs() const;
};

struct ReadLesson {
  Lesson lesson;  ///< the readable parts of the lesson
  std::vector<Fault> faults;
};

/// Reads the whole text, without a byte order mark. Reports all faults together, up to kMaxFaults.
ReadLesson readLesson(std::string_view text);

/// Returns faults for the user, in the order of the text.
std::vector<query::Diagnostic> diagnosticsOf(std::vector<Fault> faults, std::string_view text);

// The max sizes of a lesson. Lessons can come from unknown sources. The reader refuses larger lessons and
// reports the place where the limit is exceeded.

inline constexpr std::size_t kMaxBytes = std::size_t{256} << 10U;  ///< of the file
inline constexpr std::size_t kMaxSteps = 60;
inline constexpr std::size_t kMaxBlocks = 12;      ///< of one step: paragraphs of text, and fenced blocks
inline constexpr std::size_t kMaxActions = 16;     ///< of one step
inline constexpr std::size_t kMaxRuns = 40;        ///< of a lesson
inline constexpr std::size_t kMaxStepText = 1600;  ///< characters of one step's text
inline constexpr std::size_t kMaxQueries = 20;
inline constexpr std::size_t kMaxChoices = 6;
inline constexpr std::size_t kMaxTerms = 32;  ///< metrics and numbers in one expression
inline constexpr std::int64_t kMaxMinutes = 120;
/// Number of faults after which reading and checking end.
inline constexpr std::size_t kMaxFaults = 100;

}  // namespace spanscope::lesson
