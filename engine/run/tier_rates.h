// SPDX-License-Identifier: GPL-3.0-or-later
// Measures in a session whether loading from a tier takes less time than computing, on this machine with this
// model.
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
  /// Tokens that must have been loaded from a tier, and tokens that must have been computed, before the two
  /// times are compared.
  static constexpr std::int64_t kFewestTokens = 1024;

  void noteLoaded(trace::StoreTier tier, std::int64_t tokens, std::int64_t nanoseconds);
  /// Notes a pass that computed rows of prompts. A pass with single rows of replies takes longer a row, so it
  /// says nothing about prompts and is not noted.
  void noteComputed(std::int64_t rows, std::int64_t nanoseconds);

  /// False once loading a token from the tier took longer on average than computing one. It then stays false,
  /// because a tier that is not loaded from is not measured again.
  bool isWorthIt(trace::StoreTier tier) const;

  /// Tokens that were loaded from the tier so far.
  std::int64_t loadedTokens(trace::StoreTier tier) const;

  /// Sentences about what was found since the last call.
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
