// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and computes expressions over metrics of runs. Open this file to change what lessons can compute.
// Examples are "run 2: cached tokens" and "run 1: time to first token / run 2".
//
//      expression  =  term { ("+" | "-" | "*" | "/") term }
//
//      term        =  metric | number | text in double quotes | "(" expression ")"
//
//      metric      =  "run" number [ ":" name [ "of" node ] ]
//
//      comparison  =  expression operator expression
//
//      operator    =  "=" | "!=" | "<" | "<=" | ">" | ">=" | "contains" | "lacks"
//
// Operators * and / come first, from left to right. A metric without a name has the name and the node of the
// previous metric. Words, operators and numbers have spaces between them.
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

/// A fault at a place.
struct Fault {
  Offset offset = 0;
  std::string found;
  std::string expected;
  std::string hint{};
  bool isWarning = false;
};

/// A metric of one run. Runs are those of the lesson, counted from 1 in the order of its `run` actions.
struct MetricRef {
  std::uint32_t run = 0;
  const metrics::Metric* metric = nullptr;
  std::optional<NodePath> node;  ///< nothing: of the whole run
  Offset offset = 0;
};

struct Expression {
  enum class Kind : std::uint8_t { Number, Text, Metric, Sum, Difference, Product, Quotient };
  Kind kind = Kind::Number;
  double number = 0;
  std::string text{};
  MetricRef metric{};
  std::vector<Expression> operands{};  ///< two for an operation, else none
  metrics::Unit unit = metrics::Unit::Number;
  Offset offset = 0;
};

enum class Relation : std::uint8_t { Equal, Unequal, Less, AtMost, More, AtLeast, Contains, Lacks };
const char* relationText(Relation relation);

struct Comparison {
  Expression left;
  Relation relation = Relation::Equal;
  Expression right;
  std::string written{};  ///< as written in the lesson
  Offset offset = 0;
};

/// Reads the whole text, which begins at `offset` of the lesson. Units are checked: tokens cannot be added to
/// times. Returns nothing after a fault, which is added to `faults`.
std::optional<Expression> readExpression(std::string_view text, Offset offset, std::vector<Fault>& faults);
std::optional<Comparison> readComparison(std::string_view text, Offset offset, std::vector<Fault>& faults);

/// Calls `visit` for every metric of the expression, from left to right.
void visitMetrics(const Expression& expression, const std::function<void(const MetricRef&)>& visit);
void visitMetrics(const Comparison& comparison, const std::function<void(const MetricRef&)>& visit);

/// The reason why a metric has no value, in a few words.
struct Missing {
  std::string reason;
};
using Evaluated = std::variant<metrics::Value, Missing>;

/// Returns the facts of a run of the lesson. Null: this run has not happened.
using FactsOf = std::function<const metrics::RunFacts*(std::uint32_t run)>;

Evaluated evaluate(const Expression& expression, const FactsOf& factsOf);
/// Returns whether the comparison is true, or the reason why this is unknown.
std::variant<bool, Missing> holds(const Comparison& comparison, const FactsOf& factsOf);

/// Returns the value in words: a ratio, a count, a time.
std::string textOf(const Expression& expression, const metrics::Value& value);
/// Returns the expression as written.
std::string written(const Expression& expression);

}  // namespace spanscope::lesson
