// SPDX-License-Identifier: GPL-3.0-or-later
// The span table: the ordered list of segments that make up one prompt. This is what a request *is*;
// structure is here and never in marker tokens.
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::layout {

/// A run of a segment's tokens, and where the tokens came from.
struct TokenRun {
  /// The last three occur in the padded and cropped layouts only.
  enum class Source { Template, Text, Output, Pad, PlusMarker, CrossMarker };
  std::int32_t count = 0;  ///< tokens; the runs of a segment follow each other and cover it
  Source source = Source::Text;
  NodePath node;
  std::uint32_t part = 0;  ///< index in SpanTable::parts
  bool operator==(const TokenRun&) const = default;
};

/// A token run that is computed as one sequence. Its token j stands at position base + j of the view.
struct Segment {
  /// The segment opens a scope and sees nothing. It is the first of a plus child, or of a reused output.
  bool independent = false;
  std::uint32_t scope = 0;  ///< 0 is the request's own scope; numbered in the order in which scopes open
  std::uint32_t depth = 0;  ///< number of plus nodes around the segment
  std::vector<TokenId> tokens;
  std::int64_t base = 0;  ///< position of local token 0; negative only if a hidden prefix stands before 0
  /// First local token that other segments see. The tokens before it are a hidden prefix.
  std::int32_t visibleBegin = 0;
  /// The segment stands in nobody's view. It only carries the chain of a reused output or a rest, or is the
  /// source of a copy.
  bool hidden = false;
  std::vector<std::uint32_t> sees;  ///< earlier segments in view order; a row sees their visible tokens, then
                                    ///< its own segment up to itself
  std::vector<TokenRun> runs;
  NodePath node;  ///< the plus child or, at the outermost scope, the node of its first message
  bool operator==(const Segment&) const = default;

  std::int32_t length() const { return static_cast<std::int32_t>(tokens.size()); }
};

/// A part of the prompt as a person reads it: a child of a plus, or a message outside of any plus. Segments
/// are what the cache sees; a policy may put many parts into one segment, or cut one part into several
/// segments. An inner plus child is a part of its own.
struct PromptPart {
  NodePath node;        ///< the plus child, or the message; the step's node for what only the template adds
  bool inPlus = false;  ///< whether it stands in a plus
  bool operator==(const PromptPart&) const = default;
};

/// Tokens that a layout took away from the end of what the assistant says.
struct Cropped {
  /// Visible tokens of the table, in view order, before the place of the cropped tokens.
  std::int64_t before = 0;
  std::vector<TokenId> tokens;
  NodePath node;  ///< node of the message or reply
  bool operator==(const Cropped&) const = default;
};

/// The segments stand in view order. The last segment ends with the generation prompt, and the generated
/// tokens continue it.
struct SpanTable {
  std::vector<Segment> segments;
  std::vector<PromptPart>
      parts{};  ///< in the order in which they begin; nothing that is computed depends on them
  std::vector<Cropped> cropped{};  ///< ascending by place; nothing that is computed depends on them
  bool operator==(const SpanTable&) const = default;

  /// Number of tokens in the view: all but hidden segments and hidden prefixes.
  std::int64_t tokenCount() const {
    std::int64_t count = 0;
    for (const Segment& segment : segments) {
      if (!segment.hidden) count += segment.length() - segment.visibleBegin;
    }
    return count;
  }
};

}  // namespace spanscope::layout
