// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/replay.h"

#include <algorithm>
#include <cstdint>

namespace spanscope::ui {

/// How many tokens of the request's prompt have been read: found in the cache, or computed in the rows of a
/// pass (BatchComputed). Tokens that are computed again after a preemption still count as read. Once the
/// whole prompt is read, this is the prompt's length.
inline std::int64_t readTokens(const trace::RequestState& request) {
  return std::min(request.promptTokens, request.cachedTokens + request.computedTokens);
}

}  // namespace spanscope::ui
