// SPDX-License-Identifier: GPL-3.0-or-later
// Whether loading from a tier is worth it on this machine with this model, as a session measures it.
#pragma once

#include "engine/trace/event.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace spanscope::run {

/// Any thread may call any function.
class TierRates {
 public:
  /// Tokens that have to be loaded from a tier, and computed, before one is held against the other.
  static constexpr std::int64_t kFewestTokens = 1024;

  void noteLoaded(trace::StoreTier tier, std::int64_t tokens, std::int64_t nanoseconds);
  /// Rows of passes that compute prompts. Single rows of replies take longer and say nothing here.
  void noteComputed(std::int64_t rows, std::int64_t nanoseconds);

  /// False once a token took longer to load from the tier than to compute, on average so far; it stays so:
  /// what is not loaded is not measured again.
  bool isWorthIt(trace::StoreTier tier) const;

  /// Tokens that were loaded from the tier so far.
  std::int64_t loadedTokens(trace::StoreTier tier) const;

  /// What was found since the last call, in words.
  std::vector<std::string> takeVerdicts();

 private:
  struct Sum {
    std::int64_t tokens = 0;
    std::int64_t nanoseconds = 0;
    double each() const { return static_cast<double>(nanoseconds) / static_cast<double>(tokens); }
  };
  struct Tier {
    Sum loaded;
    bool isTooSlow = false;
  };

  void judge(trace::StoreTier which);
  Tier& at(trace::StoreTier tier) { return m_tiers[static_cast<std::size_t>(tier)]; }

  mutable std::mutex m_mutex;
  Sum m_computed;
  std::array<Tier, 2> m_tiers;
  std::vector<std::string> m_verdicts;
};

}  // namespace spanscope::run
