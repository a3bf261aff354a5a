// SPDX-License-Identifier: GPL-3.0-or-later
// The rewrite rules: one per file; rules.cpp lists them in one table.
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

/// What surrounds a node when a rule is applied to it.
struct RuleSite {
  const DraftSettings* enclosing =
      nullptr;  ///< of the generate whose prompt the node is part of; none outside
};

/// What the rules share while a plan is made: the options, and how much larger the tree may become.
class RewriteState {
 public:
  RewriteState(const PlanOptions& options, DraftSize size) : m_options(&options), m_size(size) {}

  const LocalityOptions& locality() const { return m_options->locality; }

  /// Call this before adding `times` copies of something of size `each`. Returns false if they would exceed
  /// the limits: then nothing may be added, and every later call returns false too.
  bool grow(DraftSize each, std::size_t times);
  bool exceeded() const { return m_exceeded; }

  /// A number for a generate whose output no other generate shares.
  std::uint32_t newCall() { return m_nextCall++; }
  void reserveCalls(std::uint32_t used) { m_nextCall = used + 1; }

 private:
  const PlanOptions* m_options;
  DraftSize m_size;
  std::uint32_t m_nextCall = 1;
  bool m_exceeded = false;
};

/// What a rule does to the meaning of the query.
enum class Meaning {
  Kept,            ///< every prompt reads the same before and after, so every answer is the same
  ChangesPrompts,  ///< some generate reads another prompt than the given query says
};

/// Whether a rule runs if the options do not name it.
enum class Default {
  On,
  Off,
  OnRequest,  ///< on if and only if the rule's own options ask for it
};

/// One rewrite rule. It terminates: each application reduces some quantity that no other rule of the table
/// increases without end. The definition of each rule states this quantity.
struct Rule {
  std::string_view name;          ///< unique; on the command line '-' replaces each blank
  std::string_view precondition;  ///< where it matches
  std::string_view before;        ///< the shape that it matches
  std::string_view after;         ///< what the shape becomes
  std::string_view reason;        ///< one sentence: why this is worth doing
  Meaning meaning = Meaning::Kept;
  Default byDefault = Default::On;
  bool isIdempotent = true;  ///< after one pass over the tree, the rule matches nowhere
  /// If the rule removes an operator that the engine does not have: the index of this operator in
  /// query::Operators.
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

/// Every rule, in the order of their turns. After a change the first rule has its turn again.
const std::vector<const Rule*>& rules();

/// The rule of this name, where '-' may stand for a blank; nullptr if there is none.
const Rule* findRule(std::string_view name);

/// Whether a rule runs with these options.
bool isOn(const Rule& rule, const PlanOptions& options);

/// An empty plus with the same place in the query as the node.
Draft plusInPlaceOf(const Draft& node);

/// A generate with the settings, form and place of the node, which is a repeat, a map or a generate. It gets
/// a call number of its own.
Draft generateInPlaceOf(const Draft& node, Draft input, RewriteState& state);

/// Gives every generate in a copy its own call number, so that it runs on its own.
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
