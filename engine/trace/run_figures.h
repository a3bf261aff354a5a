// SPDX-License-Identifier: GPL-3.0-or-later
// One figure is one figure: what is said of a whole run, wherever it is said.
#pragma once

#include "engine/trace/replay.h"

#include <cstdint>
#include <optional>

namespace spanscope::trace {

struct RunFigures {
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< relocated ones included
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;
  std::int64_t generatedTokens = 0;
  std::optional<double> timeToFirstToken;   ///< seconds, median over its steps that made a token
  std::optional<double> interTokenLatency;  ///< seconds, median over its steps that made two or more
  std::optional<double> whole;              ///< seconds from its start to its end
  bool operator==(const RunFigures&) const = default;
};

/// `run`: of `progress`.
RunFigures figuresOf(const Progress& progress, const RunState& run);

}  // namespace spanscope::trace
