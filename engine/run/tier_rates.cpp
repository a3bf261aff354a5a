// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/tier_rates.h"

#include <cstdio>
#include <utility>

namespace spanscope::run {
namespace {

std::string microseconds(double nanoseconds) {
  constexpr double kThousand = 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f µs", nanoseconds / kThousand);
  return text.data();
}

}  // namespace

void TierRates::noteLoaded(trace::StoreTier tier, std::int64_t tokens, std::int64_t nanoseconds) {
  const std::lock_guard lock(m_mutex);
  Sum& sum = at(tier).loaded;
  sum.tokens += tokens;
  sum.nanoseconds += nanoseconds;
  judge(tier);
}

void TierRates::noteComputed(std::int64_t rows, std::int64_t nanoseconds) {
  const std::lock_guard lock(m_mutex);
  m_computed.tokens += rows;
  m_computed.nanoseconds += nanoseconds;
  judge(trace::StoreTier::Host);
  judge(trace::StoreTier::Disk);
}

void TierRates::judge(trace::StoreTier which) {
  Tier& tier = at(which);
  const bool isKnown = tier.loaded.tokens >= kFewestTokens && m_computed.tokens >= kFewestTokens;
  if (tier.isTooSlow || !isKnown || tier.loaded.each() <= m_computed.each()) return;
  tier.isTooSlow = true;
  m_verdicts.push_back(
      std::string("loading from ") + (which == trace::StoreTier::Disk ? "the disk" : "host memory") +
      " took " + microseconds(tier.loaded.each()) + " a token, computing " + microseconds(m_computed.each()) +
      ": nothing more is loaded from there in this session");
}

bool TierRates::isWorthIt(trace::StoreTier tier) const {
  const std::lock_guard lock(m_mutex);
  return !m_tiers[static_cast<std::size_t>(tier)].isTooSlow;
}

std::int64_t TierRates::loadedTokens(trace::StoreTier tier) const {
  const std::lock_guard lock(m_mutex);
  return m_tiers[static_cast<std::size_t>(tier)].loaded.tokens;
}

std::vector<std::string> TierRates::takeVerdicts() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_verdicts, {});
}

}  // namespace spanscope::run
