// SPDX-License-Identifier: GPL-3.0-or-later
// The targets to which a query can be exported.
#pragma once

namespace spanscope::exports {

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

}  // namespace spanscope::exports
