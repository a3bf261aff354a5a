// SPDX-License-Identifier: GPL-3.0-or-later
// Target by feature: what each target does with what a query may hold.
#pragma once

#include "engine/export/query_features.h"
#include "engine/export/target.h"
#include "engine/export/target_remarks.h"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace spanscope::exports {

/// A set of targets.
class Targets {
 public:
  constexpr Targets(std::initializer_list<Target> targets) {
    for (const Target target : targets) m_bits |= bit(target);
  }
  constexpr bool has(Target target) const { return (m_bits & bit(target)) != 0; }
  constexpr Targets operator|(Targets other) const {
    Targets both = *this;
    both.m_bits |= other.m_bits;
    return both;
  }

 private:
  static constexpr unsigned bit(Target target) { return 1U << static_cast<unsigned>(target); }
  unsigned m_bits = 0;
};

/// When a row holds besides.
enum class RowCondition {
  Always,
  Rewritten,         ///< the query is written after simplify
  PlusIsMarked,      ///< tokens with a plus marker
  PlusIsNotMarked,   ///< tokens without one
  OnlyPlusIsMarked,  ///< tokens with a plus marker and no cross marker
  NullsAreLeftOut,   ///< JSON as the reference writes it
};

struct FeatureRow {
  Feature feature = Feature::Operator;
  Targets targets{};
  Effect effect = Effect::Note;
  std::string_view one;   ///< what is said of one place; {name} is the feature's
  std::string_view many;  ///< of several, {n} being how many; empty: the same
  RowCondition condition = RowCondition::Always;
  std::string_view name = {};  ///< holds only where the feature has it; empty: whatever it is called

  bool holdsFor(Target target, const TargetSettings& settings) const;
};

/// In the order in which remarks of equal weight are shown.
const std::vector<FeatureRow>& featureTable();

}  // namespace spanscope::exports
