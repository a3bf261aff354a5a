// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/served_tokens.h"

#include <algorithm>

namespace spanscope::ui {

FoundTokens foundTokens(const trace::BlockLookedUp& block, std::int64_t blockSize) {
  return {.begin = block.virtualIndex * blockSize,
          .count = block.tokens,
          .relocated = block.outcome == trace::LookupOutcome::Relocated ||
                       (block.outcome == trace::LookupOutcome::Partial && block.base != block.storedBase)};
}

void addServed(Served& served, const std::vector<FoundTokens>& found, std::int64_t begin, std::int64_t end) {
  std::int64_t cached = 0;
  for (const FoundTokens& block : found) {
    const std::int64_t shared = std::min(end, block.begin + block.count) - std::max(begin, block.begin);
    if (shared <= 0) continue;
    (block.relocated ? served.relocated : served.hit) += shared;
    cached += shared;
  }
  served.computed += end - begin - cached;
}

}  // namespace spanscope::ui
