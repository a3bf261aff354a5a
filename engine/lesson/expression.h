// SPDX-License-Identifier: GPL-3.0-or-later
// Figures by name, and what is computed of them: "run 2: cached tokens", "run 1: time to first token / run
// 2", "run 2: computed tokens of node:/g/input/cross/1/plus/0".
//
//     expression  =  term { ("+" | "-" | "*" | "/") term }      * and / first, from left to right
//     term        =  figure | number | text in double quotes | "(" expression ")"
//     figure      =  "run" number [ ":" name [ "of" node ] ]    without a name: the name and the node of the
//                                                               figure before it
//     comparison  =  expression ("=" | "!=" | "<" | "<=" | ">" | ">=" | "contains" | "lacks") expression
//
// Words, operators and numbers have blanks between them.
#pragma once

#include "engine/base/ids.h"
#include "engine/metrics/metric_table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::lesson {

/// A place in a lesson, in bytes from its beginning.
using Offset = std::size_t;

/// What is wrong at a place.
struct Fault {
  Offset offset = 0;
  std::string found;
  std::string expected;
  std::string hint{};
  bool isWarning = false;
};

/// A figure of one run. Runs are those of the lesson, counted from 1 as its `run` actions stand in it.
struct FigureRef {
  std::uint32_t run = 0;
  const metrics::Metric* metric = nullptr;
  std::optional<NodePath> node;  ///< nothing: of the whole run
  Offset offset = 0;
};

struct Expression {
  enum class Kind : std::uint8_t { Number, Text, Figure, Sum, Difference, Product, Quotient };
  Kind kind = Kind::Number;
  double number = 0;
  std::string text{};
  FigureRef figure{};
  std::vector<Expression> operands{};  ///< two of an operation, else none
  metrics::Unit unit = metrics::Unit::Number;
  Offset offset = 0;
};

enum class Relation : std::uint8_t { Equal, Unequal, Less, AtMost, More, AtLeast, Contains, Lacks };
const char* relationText(Relation relation);

struct Comparison {
  Expression left;
  Relation relation = Relation::Equal;
  Expression right;
  std::string written{};  ///< as it stands in the lesson
  Offset offset = 0;
};

/// Reads the whole text, which begins at `offset` of the lesson. Units are checked: tokens cannot be added to
/// times. Returns nothing after a fault, which is added to `faults`.
std::optional<Expression> readExpression(std::string_view text, Offset offset, std::vector<Fault>& faults);
std::optional<Comparison> readComparison(std::string_view text, Offset offset, std::vector<Fault>& faults);

/// Calls `visit` for every figure of it, from left to right.
void visitFigures(const Expression& expression, const std::function<void(const FigureRef&)>& visit);
void visitFigures(const Comparison& comparison, const std::function<void(const FigureRef&)>& visit);

/// Why a figure cannot be had: a few words, "run 1 was not held against a full prefill".
struct Missing {
  std::string reason;
};
using Evaluated = std::variant<metrics::Value, Missing>;

/// What is known of a run of the lesson; null: it has not been run.
using FactsOf = std::function<const metrics::RunFacts*(std::uint32_t run)>;

Evaluated evaluate(const Expression& expression, const FactsOf& factsOf);
/// Whether it holds; or why that cannot be said.
std::variant<bool, Missing> holds(const Comparison& comparison, const FactsOf& factsOf);

/// The value in words: a ratio, a count, a time.
std::string textOf(const Expression& expression, const metrics::Value& value);
/// The expression as it is written.
std::string written(const Expression& expression);

}  // namespace spanscope::lesson
