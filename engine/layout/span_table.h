// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the span table: the ordered list of segments of one prompt. A request is its span table. The
// structure of a prompt is here and never in delimiter tokens. Open this file to read or build span tables.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/chat_template.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::layout {

/// A run of a segment's tokens with one origin.
struct TokenRun {
  /// The last three origins occur only in the padded and cropped layouts.
  enum class Source { Template, Text, Output, Pad, PlusMarker, CrossMarker };
  std::int32_t count = 0;  ///< tokens; consecutive runs cover the segment
  Source source = Source::Text;
  NodePath node;
  std::uint32_t part = 0;  ///< index in SpanTable::parts
  bool operator==(const TokenRun&) const = default;
};

/// A token run that is computed as one sequence. Token j of the segment has position base + j in the request
/// view.
struct Segment {
  /// The segment opens a scope and attends to no other segment. The segment is the first of a plus child, or
  /// of a reused output.
  bool independent = false;
  std::uint32_t scope = 0;  ///< 0 is the request's own scope; numbered in the order in which scopes open
  std::uint32_t depth = 0;  ///< number of plus nodes around the segment
  std::vector<TokenId> tokens;
  std::int64_t base = 0;  ///< start position; negative only with a hidden prefix before position 0.
  /// First position in the segment that other segments can attend to. Earlier tokens are a hidden prefix.
  std::int32_t visibleBegin = 0;
  /// Whether no segment of the view attends to this segment. A hidden segment continues the key chain of a
  /// reused output or a rest. Or the segment is the source of a copy.
  bool hidden = false;
  std::vector<std::uint32_t> sees;  ///< earlier segments in prompt order. A row attends to the visible tokens
                                    ///< of these segments, then to its own segment up to itself
  std::vector<TokenRun> runs;
  NodePath node;  ///< the plus child; in the outermost scope, the node of its first message
  bool operator==(const Segment&) const = default;

  std::int32_t length() const { return static_cast<std::int32_t>(tokens.size()); }
};

/// A section of the prompt for the user: a child of a plus, or a message outside of any plus. Segments are
/// the units of the cache. A policy may put many sections into one segment, or split one section into several
/// segments. An inner plus child is a section of its own.
struct PromptPart {
  NodePath node;        ///< the plus child, or the message; the step's node for text of the template alone
  bool inPlus = false;  ///< whether it is in a plus
  bool operator==(const PromptPart&) const = default;
};

/// Tokens that a layout removed from the end of an assistant's message.
struct Cropped {
  /// Number of visible tokens of the table before the removed tokens, in prompt order.
  std::int64_t before = 0;
  std::vector<TokenId> tokens;
  NodePath node;  ///< node of the message or answer
  bool operator==(const Cropped&) const = default;
};

/// A message whose text the chat template does not write as it is.
struct ChangedText {
  NodePath node;
  text::TextChange change = text::TextChange::Nothing;
  bool operator==(const ChangedText&) const = default;
};

/// The segments are in prompt order. The last segment ends with the generation prompt, and the generated
/// tokens continue it.
struct SpanTable {
  std::vector<Segment> segments;
  std::vector<PromptPart> parts{};  ///< in the order of their beginnings; no computation depends on them
  std::vector<Cropped> cropped{};   ///< ascending by place; no computation depends on them
  /// Messages that the template changes, in prompt order. Only templates of Jinja report them.
  std::vector<ChangedText> changed{};
  bool operator==(const SpanTable&) const = default;

  /// Returns the number of tokens in the view: all except hidden segments and hidden prefixes.
  std::int64_t tokenCount() const {
    std::int64_t count = 0;
    for (const Segment& segment : segments) {
      if (!segment.hidden) count += segment.length() - segment.visibleBegin;
    }
    return count;
  }
};

}  // namespace spanscope::layout
