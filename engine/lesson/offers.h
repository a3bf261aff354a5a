// SPDX-License-Identifier: GPL-3.0-or-later
// Suggests to the author of a lesson the metrics of a run with their values, and comparisons that are true.
// Open this file to change these suggestions.
#pragma once

#include "engine/lesson/expression.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::lesson {

struct OfferedMetric {
  const metrics::Metric* metric = nullptr;
  std::string expression;  ///< "run 2: cached tokens", "run 2: cached tokens of node:/g/input"
  std::string value;       ///< for the user; empty: unknown
  std::string missing;     ///< the reason
};

/// Returns the metrics of a run in the order of their table, or the metrics of a node in it.
std::vector<OfferedMetric> offeredMetrics(std::uint32_t run, const std::optional<NodePath>& node,
                                          const FactsOf& factsOf);

/// Returns comparisons of such a metric with a value, and with the same metric of the run before. A line in a
/// block `holds` and the right side of a choice have this form. If the values are known, only true
/// comparisons are returned. A count is compared with "=". Another number is compared with a bound of two
/// digits. A text is compared with "contains" and its first line. A time has no comparison.
std::vector<std::string> offeredComparisons(const OfferedMetric& metric, const FactsOf& factsOf);

}  // namespace spanscope::lesson
