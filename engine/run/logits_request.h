// SPDX-License-Identifier: GPL-3.0-or-later
// Logits of one prompt.
#pragma once

#include "engine/layout/span_table.h"
#include "engine/policy/row_plan.h"

#include <cstdint>
#include <vector>

namespace spanscope::run {

/// Asks for the logits of chosen tokens of one span table.
struct LogitsRequest {
  layout::SpanTable table;
  policy::RowPlan rows{};   ///< row plan of the table
  bool everyToken = false;  ///< true: of every token that has to be computed; false: of the last token only
};
struct LogitsResult {
  std::vector<std::vector<float>> logits;  ///< one row of [vocabularySize] a token, in view order
  std::int64_t cachedTokens = 0;
};

}  // namespace spanscope::run
