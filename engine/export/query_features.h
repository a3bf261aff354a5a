// SPDX-License-Identifier: GPL-3.0-or-later
// What a query holds that some target has an opinion about.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::exports {

enum class Feature {
  Operator,         ///< by key: one that is resolved, written out or there for its effect
  NumberParameter,  ///< by name: a parameter without a value that stands for a number
  TextParameter,    ///< by name: the same within a text
  NoModel,          ///< a generate, repeat or map without one
  NoProvider,       ///< by model: nothing stands before a '/'
  SpanProvider,     ///< by model without it: the provider is "spnl"
  OtherProvider,    ///< by model
  NoTemperature,
  NoMaxTokens,
  NullTemperature,
  NullMaxTokens,
  WrongTemperature,  ///< negative or not finite
  Plus,              ///< in a prompt, where its children have something to be independent of
  Cross,
  InnerGenerate,     ///< a generate, repeat or map in the prompt of another
  SharedPrompt,      ///< an inner generate whose prompt would stand in the outer one: plus distribution
  AssistantMessage,  ///< in a prompt
  OutsideMessage,    ///< by no generate read
  NotAGenerate,      ///< by operator: the root is no generate, repeat or map
  LostRole,  ///< a plus of generates that simplify makes a map of, over messages that are not the user's
};

struct FoundFeature {
  Feature feature = Feature::Operator;
  std::string name;  ///< of those that are told apart by one
  std::vector<NodePath> places;
};

/// The features of a query, each once and once a name, with all its places in the order of the tree. They
/// stand in the order in which they were first met.
std::vector<FoundFeature> findFeatures(const query::Node& query);

}  // namespace spanscope::exports
