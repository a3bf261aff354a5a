// SPDX-License-Identifier: GPL-3.0-or-later
// The rewrite rules: one a file, listed in one place.
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/planner.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace spanscope::plan {

/// What stands around a node while the rules are applied.
struct Surroundings {
  const DraftSettings* enclosing =
      nullptr;  ///< of the generate whose prompt the node is part of; none outside
};

/// What the rules share while one plan is made: the switches, and how much larger the tree may still become.
class RewriteState {
 public:
  RewriteState(const PlanOptions& options, DraftSize size) : m_options(&options), m_size(size) {}

  bool distribute() const { return m_options->distribute; }

  /// Notes that `times` copies of something of this size are about to be added. False, for good, if that goes
  /// beyond the limits; then nothing may be added.
  bool grow(DraftSize each, std::size_t times);
  bool exceeded() const { return m_exceeded; }

  /// A number for a generate whose output is its own.
  std::uint32_t newCall() { return m_nextCall++; }
  void reserveCalls(std::uint32_t used) { m_nextCall = used + 1; }

 private:
  const PlanOptions* m_options;
  DraftSize m_size;
  std::uint32_t m_nextCall = 1;
  bool m_exceeded = false;
};

struct Rule {
  std::string_view name;
  std::string_view reason;  ///< one sentence: why this is worth doing
  bool (*matches)(const Draft& node, const Surroundings& around, const RewriteState& state);
  /// Only called where it matches.
  void (*rewrite)(Draft& node, const Surroundings& around, RewriteState& state);
};

extern const Rule kFlattenRule;
extern const Rule kExpandRepeatRule;
extern const Rule kExpandMapRule;
extern const Rule kZipRule;
extern const Rule kDistributeRule;

/// Every rule, in the order in which they have their turn; after a change the first one has it again.
const std::vector<const Rule*>& rules();

}  // namespace spanscope::plan
