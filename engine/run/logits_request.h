// SPDX-License-Identifier: GPL-3.0-or-later
// Logits of one prompt.
#pragma once

#include "engine/layout/span_table.h"
#include "engine/policy/row_plan.h"

#include <cstdint>
#include <vector>

namespace spanscope::run {

/// Logits of chosen tokens of one span table.
struct LogitsRequest {
  layout::SpanTable table;
  policy::RowPlan rows{};   ///< of the table
  bool everyToken = false;  ///< of every token that has to be computed; else only of the very last one
};
struct LogitsResult {
  std::vector<std::vector<float>> logits;  ///< [vocabularySize] each, in view order
  std::int64_t cachedTokens = 0;
};

}  // namespace spanscope::run
