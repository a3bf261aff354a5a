// SPDX-License-Identifier: GPL-3.0-or-later
// A request as if each part of its prompt were a segment: what the map of attention shows where the policy
// put several parts into one segment, or one part into several.
#pragma once

#include "ui/session/view_input.h"
#include "ui/views/common/segment_names.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// Where segments that are parts stand in the real prompt.
struct PartPlaces {
  /// By segment: where its tokens stand, in view order.
  std::vector<std::vector<trace::PartRange>> ranges;
  /// By part of the prompt: its segment; none: nothing sees the part.
  std::vector<std::optional<std::uint32_t>> segmentOf;
  std::uint32_t lastSegment = 0;  ///< the real last segment, which the answer goes on with
  std::int32_t prompt = 0;        ///< prompt tokens of that segment
  bool operator==(const PartPlaces&) const = default;
};

struct PromptByPart {
  /// Its segments are the visible parts; the part that the answer goes on with is the last one. It has no
  /// blocks.
  trace::RequestState request;
  std::vector<PartName> names;  ///< by segment of `request`
  PartPlaces places;
};

/// Nothing if each visible segment of the request is one part.
std::optional<PromptByPart> promptByPart(const ViewInput& input, RequestId request);

/// Recorded attention of rows from which tokens of the answer were drawn, as of the segments of `prompt`.
/// Attention on key blocks is left out, because a block may hold tokens of several parts.
struct RowsByPart {
  std::vector<trace::SegmentAttention> segments;
  std::vector<trace::AttentionMass> keys;  ///< on single keys
  std::vector<const trace::AttentionReplayed*>
      keysReplayed;  ///< by entry of `keys`; null: the run recorded it
};
RowsByPart rowsByPart(const ViewInput& input, RequestId request, const PromptByPart& prompt);

}  // namespace spanscope::ui
