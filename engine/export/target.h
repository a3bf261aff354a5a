// SPDX-License-Identifier: GPL-3.0-or-later
// What a query can be exported to.
#pragma once

namespace spanscope::exports {

/// A target that a query is written for.
enum class Target {
  Query,    ///< the whole query as JSON, for IBM/spnl
  Yaml,     ///< the same as YAML
  Lisp,     ///< the same as a form of its macro
  Calls,    ///< each bulk call that the query endpoint of a span server takes, as JSON
  Request,  ///< the query as one request to that endpoint: a curl line, a program
  Chat,     ///< chat completions, as OpenAI's API and those like it take them
  Tokens,   ///< the prompt ids that a span server is sent
};

/// What is done to a query before it is written whole.
enum class ExportStage {
  Read,        ///< nothing
  Simplified,  ///< one round of the reference's simplify
  Optimized,   ///< the reference's whole optimizer, without retrieval
  Lowered,     ///< it becomes each bulk call that a span server's endpoint takes
};

}  // namespace spanscope::exports
