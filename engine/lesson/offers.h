// SPDX-License-Identifier: GPL-3.0-or-later
// What a person who writes a lesson is offered of a run: its figures with the values that they have now, and
// what can be said of them that must hold.
#pragma once

#include "engine/lesson/expression.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::lesson {

struct OfferedFigure {
  const metrics::Metric* metric = nullptr;
  std::string expression;  ///< "run 2: cached tokens", "run 2: cached tokens of node:/g/input"
  std::string value;       ///< as a person reads it; empty: it cannot be had now
  std::string missing;     ///< why
};

/// The figures of a run in the order of their table, or those of a node in it.
std::vector<OfferedFigure> offeredFigures(std::uint32_t run, const std::optional<NodePath>& node,
                                          const FactsOf& factsOf);

/// Comparisons of such a figure with a value and with the same figure of the run before, as a block `holds`
/// and the right of a choice have them. Where the values are known only those that hold: a count is that
/// count, another number lies within two digits of it, a text contains its first line. A time is held to
/// nothing: there is none.
std::vector<std::string> offeredComparisons(const OfferedFigure& figure, const FactsOf& factsOf);

}  // namespace spanscope::lesson
