// SPDX-License-Identifier: GPL-3.0-or-later
// The span table: the ordered list of segments that make up one prompt. This is what a request *is*;
// structure is here and never in marker tokens.
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::layout {

/// Where a run of a segment's tokens came from.
struct TokenRun {
  /// The last three are of the padded and cropped layouts alone.
  enum class Source { Template, Text, Output, Pad, PlusMarker, CrossMarker };
  std::int32_t count = 0;  ///< tokens; the runs of a segment follow each other and cover it
  Source source = Source::Text;
  NodePath node;
  bool operator==(const TokenRun&) const = default;
};

/// A token run that is computed as one sequence. Its token j stands at position base + j of the view.
struct Segment {
  bool independent =
      false;  ///< it opens a scope and sees nothing: first of a plus child, or of a reused output
  std::uint32_t scope = 0;  ///< 0 is the request's own scope; numbered in the order in which they open
  std::uint32_t depth = 0;  ///< how many plus stand around it
  std::vector<TokenId> tokens;
  std::int64_t base = 0;  ///< position of local token 0; negative only where a hidden prefix stands before 0
  std::int32_t visibleBegin = 0;  ///< first local token that others see; those before it are a hidden prefix
  bool hidden = false;  ///< stands in nobody's view: only carries the chain of a reused output or a rest
  std::vector<std::uint32_t> sees;  ///< earlier segments in view order; a row sees their visible tokens, then
                                    ///< its own segment up to itself
  std::vector<TokenRun> runs;
  NodePath node;  ///< the plus child or, at the outermost scope, the node of its first message
  bool operator==(const Segment&) const = default;

  std::int32_t length() const { return static_cast<std::int32_t>(tokens.size()); }
};

/// Tokens that a layout took away: the end of what the assistant says.
struct Cropped {
  std::int64_t before = 0;  ///< visible tokens of the table, in view order, that stand before their place
  std::vector<TokenId> tokens;
  NodePath node;  ///< of the message or reply
  bool operator==(const Cropped&) const = default;
};

/// Segments stand in view order. The last one ends with the generation prompt and is continued by what is
/// generated.
struct SpanTable {
  std::vector<Segment> segments;
  std::vector<Cropped> cropped{};  ///< ascending by place; nothing that is computed depends on it
  bool operator==(const SpanTable&) const = default;

  /// Tokens that stand in the view: everything but hidden prefixes.
  std::int64_t tokenCount() const {
    std::int64_t count = 0;
    for (const Segment& segment : segments) {
      if (!segment.hidden) count += segment.length() - segment.visibleBegin;
    }
    return count;
  }
};

}  // namespace spanscope::layout
