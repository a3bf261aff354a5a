// SPDX-License-Identifier: GPL-3.0-or-later
// A table of targets and features: what each target does with each thing that a query may contain.
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

/// A further condition of a row.
enum class RowCondition {
  Always,
  Rewritten,         ///< the query is written after simplify
  PlusIsMarked,      ///< tokens with a plus marker
  PlusIsNotMarked,   ///< tokens without a plus marker
  OnlyPlusIsMarked,  ///< tokens with a plus marker and no cross marker
  NullsAreLeftOut,   ///< JSON as the reference writes it
  SentElsewhere,     ///< by another program
  SentHere,
};

struct FeatureRow {
  Feature feature = Feature::Operator;
  Targets targets{};
  Effect effect = Effect::Note;
  std::string_view one;   ///< the remark about one place; {name} is the feature's name
  std::string_view many;  ///< the remark about several places, {n} is their number; empty: the same text
  RowCondition condition = RowCondition::Always;
  std::string_view name = {};  ///< the row applies only to features with this name; empty: to all

  bool holdsFor(Target target, const TargetSettings& settings) const;
};

/// All rows. Remarks of equal weight are shown in this order.
const std::vector<FeatureRow>& featureTable();

}  // namespace spanscope::exports
