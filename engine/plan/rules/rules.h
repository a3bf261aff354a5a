// SPDX-License-Identifier: GPL-3.0-or-later
// Declares the rewrite rules. Each rule has its own file, and rules.cpp lists them in one table. Open this
// file to add a rule.
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/planner.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::plan {

/// The surroundings of a node when a rule is applied to it.
struct RuleSite {
  const DraftSettings* enclosing =
      nullptr;  ///< of the generate node around the node; nullptr outside of generate nodes
};

/// The state that rules share while a plan is made: the options, and how much more the tree may grow.
class RewriteState {
 public:
  RewriteState(const PlanOptions& options, DraftSize size) : m_options(&options), m_size(size) {}

  const LocalityOptions& locality() const { return m_options->locality; }

  /// Call this before adding `times` copies of a tree of size `each`. Returns false if the copies would
  /// exceed the limits. After false, the rule must add nothing, and every later call returns false too.
  bool grow(DraftSize each, std::size_t times);
  bool exceeded() const { return m_exceeded; }

  /// Returns a call number for a generate node whose output no other generate node shares.
  std::uint32_t newCall() { return m_nextCall++; }
  void reserveCalls(std::uint32_t used) { m_nextCall = used + 1; }

 private:
  const PlanOptions* m_options;
  DraftSize m_size;
  std::uint32_t m_nextCall = 1;
  bool m_exceeded = false;
};

/// The effect of a rule on the meaning of the query.
enum class Meaning {
  Kept,            ///< every prompt reads the same before and after, and every answer is the same
  ChangesPrompts,  ///< some generation steps read other prompts than in the given query
};

/// Whether a rule runs if the options do not name it.
enum class Default {
  On,
  Off,
  OnRequest,  ///< on only if the rule's own options ask for it
};

/// One rewrite rule. Each application reduces a quantity, and the other rules increase this quantity only a
/// limited number of times. The rule therefore terminates. The definition of each rule names this quantity.
struct Rule {
  std::string_view name;          ///< unique; on the command line '-' replaces each space
  std::string_view precondition;  ///< the condition for a match
  std::string_view before;        ///< the shape that the rule matches
  std::string_view after;         ///< the shape after the rule
  std::string_view reason;        ///< one sentence: the benefit of the change
  Meaning meaning = Meaning::Kept;
  Default byDefault = Default::On;
  bool isIdempotent = true;  ///< after one pass over the tree, the rule matches nowhere.
  /// The operator that the rule removes because the engine does not run it. The value is its index in
  /// query::Operators. Most rules have none.
  std::optional<std::size_t> writesOut = std::nullopt;
  bool (*matches)(const Draft& node, const RuleSite& around, const RewriteState& state) = nullptr;
  /// Called only on a node that the rule matches.
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

/// Returns all rules in the order of their application. After a change, the planner begins again with the
/// first rule.
const std::vector<const Rule*>& rules();

/// Returns the rule with this name, or nullptr. A '-' may replace a space.
const Rule* findRule(std::string_view name);

/// Whether a rule runs with these options.
bool isOn(const Rule& rule, const PlanOptions& options);

/// Returns an empty plus with the same place in the query as the node.
Draft plusInPlaceOf(const Draft& node);

/// Returns a generate node with the settings, form and place of `node`, and a new call number. `node` is a
/// repeat, a map or a generate node.
Draft generateInPlaceOf(const Draft& node, Draft input, RewriteState& state);

/// Gives every generate node in a copy its own call number. Each copy then runs separately.
void giveOwnCalls(Draft& draft, RewriteState& state);

/// Replaces each child for which `isTakenIn(child, last)` is true by the child's own entries.
template <class IsTakenIn>
void takeIn(Draft& node, IsTakenIn isTakenIn) {
  std::vector<Draft> flat;
  flat.reserve(node.children.size());
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    Draft& child = node.children[i];
    if (isTakenIn(child, i + 1 == node.children.size())) {
      std::move(child.children.begin(), child.children.end(), std::back_inserter(flat));
    } else {
      flat.push_back(std::move(child));
    }
  }
  node.children = std::move(flat);
}

}  // namespace spanscope::plan
