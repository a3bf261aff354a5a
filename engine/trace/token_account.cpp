// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/token_account.h"

#include <algorithm>

namespace spanscope::trace {

TokenAccount& TokenAccount::operator+=(const TokenAccount& other) {
  hit += other.hit;
  relocated += other.relocated;
  computed += other.computed;
  again += other.again;
  return *this;
}

FoundTokens foundTokens(const BlockLookedUp& block, std::int64_t blockSize) {
  return {.begin = block.virtualIndex * blockSize,
          .count = block.tokens,
          .relocated = block.outcome == LookupOutcome::Relocated ||
                       (block.outcome == LookupOutcome::Partial && block.base != block.storedBase)};
}

TokenAccount accountOf(const std::vector<FoundTokens>& found, const std::vector<std::int32_t>& again,
                       std::int64_t begin, std::int64_t end) {
  TokenAccount account;
  const auto recomputed = [&again](std::int64_t from, std::int64_t to) {
    return std::lower_bound(again.begin(), again.end(), to) -
           std::lower_bound(again.begin(), again.end(), from);
  };
  std::int64_t known = 0;
  for (const FoundTokens& block : found) {
    const std::int64_t from = std::max(begin, block.begin);
    const std::int64_t to = std::min(end, block.begin + block.count);
    if (from >= to) continue;
    const std::int64_t own = recomputed(from, to);
    (block.relocated ? account.relocated : account.hit) += to - from - own;
    account.again += own;
    known += to - from;
  }
  account.computed = end - begin - known;
  return account;
}

}  // namespace spanscope::trace
