// SPDX-License-Identifier: GPL-3.0-or-later
// The features of a query that matter to some target.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::exports {

enum class Feature {
  Operator,         ///< named by key: an operator that is resolved, written out or run for its effect
  NumberParameter,  ///< named by parameter: it has no value and stands for a number
  TextParameter,    ///< named by parameter: it has no value and stands in a text
  NoModel,          ///< a generate, repeat or map without a model
  NoProvider,       ///< named by model: no provider before a '/'
  SpanProvider,     ///< named by model without provider: the provider is "spnl"
  OtherProvider,    ///< named by model: another provider
  NoTemperature,
  NoMaxTokens,
  NullTemperature,
  NullMaxTokens,
  WrongTemperature,  ///< negative or not finite
  Plus,              ///< in a prompt, if its children have something to be independent of
  Cross,
  InnerGenerate,     ///< a generate, repeat or map in the prompt of another
  SharedPrompt,      ///< an inner generate whose prompt would stand in the outer prompt: plus distribution
                     ///< applies
  AssistantMessage,  ///< in a prompt
  OutsideMessage,    ///< a message that no generate reads
  NotAGenerate,      ///< named by operator: the root is no generate, repeat or map
  LostRole,  ///< a plus of generates that simplify turns into a map, over messages whose role is not user
};

struct FoundFeature {
  Feature feature = Feature::Operator;
  std::string name;  ///< empty if the feature has no name
  std::vector<NodePath> places;
};

/// The features of a query in the order of their first places. Each feature and name occurs once, with all
/// its places in the order of the tree.
std::vector<FoundFeature> findFeatures(const query::Node& query);

}  // namespace spanscope::exports
