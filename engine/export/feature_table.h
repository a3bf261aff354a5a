// SPDX-License-Identifier: GPL-3.0-or-later
// The table of targets and features: how each target treats each feature of a query. The functions find
// remarks about a query and a target: what the target refuses, treats differently, or ignores. Open this file
// to add a remark about a target, or to show remarks.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::exports {

// The targets to which a query can be exported.

/// A target of an export.
enum class Target {
  Query,    ///< the whole query as JSON, for IBM/spnl
  Yaml,     ///< the whole query as YAML, for IBM/spnl
  Lisp,     ///< the whole query as a form of IBM/spnl's macro
  Calls,    ///< each bulk call that the query endpoint of a server with span support accepts, as JSON
  Request,  ///< the query as one request to this endpoint: a curl line, a program
  Chat,     ///< chat completions for OpenAI's API and similar APIs
  Tokens,   ///< the prompt ids that a server with span support gets
};

/// The rewriting of a query before the whole query is written.
enum class ExportStage {
  Read,        ///< no rewriting
  Simplified,  ///< one round of IBM/spnl's simplify
  Optimized,   ///< IBM/spnl's whole optimizer, without retrieval
  Lowered,     ///< the query becomes the bulk calls that the endpoint of a server with span support accepts
};

enum class Effect {
  Refused,  ///< the target does not accept the feature
  Differs,  ///< the target accepts the feature, but ignores it or treats it differently
  Note,     ///< worth knowing
};

struct TargetRemark {
  Effect effect = Effect::Note;
  std::string text;  ///< one or more sentences.
  /// The nodes of the remark in the order of the tree, or one field of a node. The text has the number of
  /// these nodes. "" is the root.
  std::vector<NodePath> places;
  bool operator==(const TargetRemark&) const = default;
};

/// Settings of the export that remarks depend on.
struct TargetSettings {
  ExportStage stage = ExportStage::Read;
  bool hasPlusMarker = true;   ///< tokens: the children of a plus get delimiters
  bool hasCrossMarker = true;  ///< tokens: the last child of a cross gets a delimiter
  /// Chat and requests only: this program sends the requests. The program inserts needed answers. Nodes
  /// without a model use the server's model.
  bool isSentHere = false;
  /// JSON: null values are left out, as in IBM/spnl.
  bool leavesOutNulls = false;
};

/// Returns all remarks about writing the query for this target, the most serious first. The query's
/// parameters are filled in.
std::vector<TargetRemark> targetRemarks(const query::Node& query, Target target,
                                        const TargetSettings& settings = {});

// The features of a query that matter to some target.

enum class Feature {
  Operator,  ///< an operator that is resolved, written out or run for its effect; the name is the key of the
             ///< operator
  NumberParameter,  ///< a number parameter without a value; the name is the name of the parameter
  TextParameter,    ///< a text parameter without a value; the name is the name of the parameter
  NoModel,          ///< a generate, repeat or map node without a model
  NoProvider,       ///< a model without a provider before a '/'; the name is the model
  SpanProvider,     ///< a model of the provider "spnl"; the name is the model without the provider
  OtherProvider,    ///< a model of another provider; the name is the model
  NoTemperature,
  NoMaxTokens,
  NullTemperature,
  NullMaxTokens,
  WrongTemperature,  ///< negative or not finite
  Plus,              ///< a plus in a prompt with children that can be independent of other text
  Cross,
  InnerGenerate,  ///< a generate, repeat or map node in the prompt of another such node
  SharedPrompt,   ///< a subquery whose prompt would be in the prompt of the outer query, so plus distribution
                  ///< applies
  AssistantMessage,  ///< an assistant message in a prompt
  OutsideMessage,    ///< a message outside of every generate node
  NotAGenerate,      ///< a root that is not a generate, repeat or map; the name is the operator
  LostRole,          ///< a plus whose generate nodes have messages that are not user messages. `simplify`
                     ///< makes a map, which loses the role
};

struct FoundFeature {
  Feature feature = Feature::Operator;
  std::string name;  ///< empty if the feature has no name
  std::vector<NodePath> places;
};

/// Returns the features of a query in the order of their first places. Each feature and name occurs once,
/// with all its places in the order of the tree.
std::vector<FoundFeature> findFeatures(const query::Node& query);

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

/// Another condition of a row.
enum class RowCondition {
  Always,
  Rewritten,         ///< the query is written after simplify
  PlusIsMarked,      ///< tokens with a plus delimiter
  PlusIsNotMarked,   ///< tokens without a plus delimiter
  OnlyPlusIsMarked,  ///< tokens with a plus delimiter and no cross delimiter
  NullsAreLeftOut,   ///< JSON as IBM/spnl writes it
  SentElsewhere,     ///< another program sends the requests
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

/// Returns all rows. Remarks of equal weight are shown in this order.
const std::vector<FeatureRow>& featureTable();

}  // namespace spanscope::exports
