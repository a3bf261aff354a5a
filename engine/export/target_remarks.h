// SPDX-License-Identifier: GPL-3.0-or-later
// Finds remarks about a query and a target: what the target refuses, treats differently, or ignores. Open
// this file to show remarks.
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
  Refused,  ///< the target does not accept it
  Differs,  ///< the target accepts it, but ignores it or treats it differently
  Note,     ///< worth knowing
};

struct TargetRemark {
  Effect effect = Effect::Note;
  std::string text;  ///< one or more sentences.
  /// The nodes of the remark in the order of the tree, or one field of a node. The text has their number. ""
  /// is the root.
  std::vector<NodePath> places;
  bool operator==(const TargetRemark&) const = default;
};

/// Settings of the export that remarks depend on.
struct TargetSettings {
  ExportStage stage = ExportStage::Read;
  bool hasPlusMarker = true;   ///< tokens: the children of a plus get delimiters
  bool hasCrossMarker = true;  ///< tokens: the last child of a cross gets a delimiter
  /// Chat and requests: this program sends them. It inserts answers where they are needed, and uses the
  /// server's model for nodes without one.
  bool isSentHere = false;
  /// JSON: null values are left out, as in IBM/spnl.
  bool leavesOutNulls = false;
};

/// Returns all remarks about writing the query for this target, the most serious first. The query's
/// parameters are filled in.
std::vector<TargetRemark> targetRemarks(const query::Node& query, Target target,
                                        const TargetSettings& settings = {});

}  // namespace spanscope::exports
