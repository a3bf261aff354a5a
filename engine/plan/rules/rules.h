// SPDX-License-Identifier: GPL-3.0-or-later
// The rewrite rules: one a file, listed in one table (rules.cpp).
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/planner.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::plan {

/// What stands around a node while the rules are applied.
struct RuleSite {
  const DraftSettings* enclosing =
      nullptr;  ///< of the generate whose prompt the node is part of; none outside
};

/// What the rules share while one plan is made: the options, and how much larger the tree may still become.
class RewriteState {
 public:
  RewriteState(const PlanOptions& options, DraftSize size) : m_options(&options), m_size(size) {}

  const LocalityOptions& locality() const { return m_options->locality; }

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

/// What a rule does to the answers.
enum class Meaning {
  Kept,            ///< every prompt reads the same before and after, so every answer is the same
  ChangesPrompts,  ///< some generate reads another prompt than the query as given says
};

/// When a rule runs if nobody says otherwise.
enum class Default {
  On,
  Off,
  OnRequest,  ///< on if and only if its own options ask for it
};

/// One rewrite. It terminates: each application makes something less that no other rule of the table makes
/// more without end (stated where the rule is defined).
struct Rule {
  std::string_view name;          ///< unique; on the command line with '-' for each blank
  std::string_view precondition;  ///< where it matches
  std::string_view before;        ///< the shape that it matches
  std::string_view after;         ///< and what becomes of it
  std::string_view reason;        ///< one sentence: why this is worth doing
  Meaning meaning = Meaning::Kept;
  Default byDefault = Default::On;
  bool isIdempotent = true;  ///< one pass over the tree leaves nothing that it matches
  /// The operator that the engine does not have, of query::Operators, if it is there to write that out.
  std::optional<std::size_t> writesOut = std::nullopt;
  bool (*matches)(const Draft& node, const RuleSite& around, const RewriteState& state) = nullptr;
  /// Only called where it matches.
  void (*rewrite)(Draft& node, const RuleSite& around, RewriteState& state) = nullptr;
};

extern const Rule kDropEmptyRule;
extern const Rule kUnwrapRule;
extern const Rule kFlattenRule;
extern const Rule kFlattenPlusRule;
extern const Rule kExpandRepeatRule;
extern const Rule kExpandMapRule;
extern const Rule kZipRule;
extern const Rule kLocalityRule;
extern const Rule kPrepareRule;
extern const Rule kDistributeRule;

/// Every rule, in the order in which they have their turn; after a change the first one has it again.
const std::vector<const Rule*>& rules();

/// The rule of that name, '-' standing for a blank where a blank is; nullptr if there is none.
const Rule* findRule(std::string_view name);

/// Whether a rule runs with these options.
bool isOn(const Rule& rule, const PlanOptions& options);

}  // namespace spanscope::plan
