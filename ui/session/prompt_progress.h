// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/replay.h"

#include <algorithm>
#include <cstdint>

namespace spanscope::ui {

/// Tokens of the request's prompt that were found in the cache or have been computed, from the rows of its
/// passes (BatchComputed): all of them once it is read. What was preempted and is read again counts as read.
inline std::int64_t readTokens(const trace::RequestState& request) {
  return std::min(request.promptTokens, request.cachedTokens + request.computedTokens);
}

}  // namespace spanscope::ui
