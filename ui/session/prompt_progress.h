// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/replay.h"

#include <algorithm>
#include <cstdint>

namespace spanscope::ui {

/// Returns how many tokens of the request's prompt are cache hits or computed by a forward pass
/// (BatchComputed). Tokens that are recomputed after a preemption still count. For a complete prompt, returns
/// the prompt's length.
inline std::int64_t readTokens(const trace::RequestState& request) {
  return std::min(request.promptTokens, request.cachedTokens + request.computedTokens);
}

}  // namespace spanscope::ui
