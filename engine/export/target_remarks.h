// SPDX-License-Identifier: GPL-3.0-or-later
// Remarks about a query and a target: what the target refuses, does differently, or ignores.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::exports {

// The targets to which a query can be exported.

/// A target of an export.
enum class Target {
  Query,    ///< the whole query as JSON, for IBM/spnl
  Yaml,     ///< the same, as YAML
  Lisp,     ///< the same, as a form of IBM/spnl's macro
  Calls,    ///< each bulk call that the query endpoint of a span server accepts, as JSON
  Request,  ///< the query as one request to this endpoint: a curl line, a program
  Chat,     ///< chat completions, as OpenAI's API and similar APIs accept them
  Tokens,   ///< the prompt ids that a span server gets
};

/// What is done to a query before the whole query is written.
enum class ExportStage {
  Read,        ///< nothing
  Simplified,  ///< one round of the reference's simplify
  Optimized,   ///< the reference's whole optimizer, without retrieval
  Lowered,     ///< the query becomes the bulk calls that a span server's endpoint accepts
};

enum class Effect {
  Refused,  ///< the target does not accept it
  Differs,  ///< the target accepts it, but ignores it or does something else
  Note,     ///< worth knowing
};

struct TargetRemark {
  Effect effect = Effect::Note;
  std::string text;  ///< one or more sentences
  /// The nodes that the remark is about, in the order of the tree, or one field of a node. The text says how
  /// many there are. "" is the root.
  std::vector<NodePath> places;
  bool operator==(const TargetRemark&) const = default;
};

/// Settings of the export that remarks depend on.
struct TargetSettings {
  ExportStage stage = ExportStage::Read;
  bool hasPlusMarker = true;   ///< tokens: the children of a plus are marked
  bool hasCrossMarker = true;  ///< tokens: the last child of a cross is marked
  /// Chat and requests: this program sends them. It puts replies where they are needed, and takes the
  /// server's model where none is named.
  bool isSentHere = false;
  /// JSON: null values are left out, as the reference does.
  bool leavesOutNulls = false;
};

/// All remarks about writing the query, whose parameters are filled in, for this target; the most serious
/// first.
std::vector<TargetRemark> targetRemarks(const query::Node& query, Target target,
                                        const TargetSettings& settings = {});

}  // namespace spanscope::exports
