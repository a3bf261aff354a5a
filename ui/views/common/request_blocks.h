// SPDX-License-Identifier: GPL-3.0-or-later
// The virtual blocks of one request in view order, with how each was served: what the token strip, the block
// table and the why panel have in common.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"
#include "engine/trace/replay.h"
#include "ui/session/selection.h"
#include "ui/session/trace_store.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct VirtualBlockFacts {
  BlockRef place;
  std::int32_t number = -1;              ///< place in the whole view, from 0; −1: of a hidden segment
  BlockId physical = kNullBlock;         ///< null: has none yet
  BlockRole role = BlockRole::Free;      ///< how it was served
  std::int32_t found = 0;                ///< token slots that were found; all of them for a hit
  BlockRole foundRole = BlockRole::Hit;  ///< of the slots that were found: Hit or Relocated
  std::int32_t prompt = 0;               ///< token slots of the prompt
  std::int32_t tokens = 0;               ///< and of generated tokens that a pass has seen
  bool allocated = false;                ///< got a block of its own
  std::uint64_t lookup = 0;              ///< sequence number of its lookup; 0: was not looked up
  trace::LookupOutcome outcome = trace::LookupOutcome::Miss;
  trace::MissReason reason = trace::MissReason::None;
  std::uint64_t load = 0;  ///< sequence number of its BlockLoaded; 0: it came from no tier
  bool operator==(const VirtualBlockFacts&) const = default;
};

struct SegmentVirtualBlocks {
  std::uint32_t segment = 0;
  bool hidden = false;
  std::vector<VirtualBlockFacts> blocks;  ///< by virtual index
  bool operator==(const SegmentVirtualBlocks&) const = default;
};

struct RequestBlocks {
  RequestId request = 0;
  RunId run = 0;
  std::int32_t blockSize = 16;
  std::vector<SegmentVirtualBlocks> segments;  ///< one entry a segment of the span table
  bool operator==(const RequestBlocks&) const = default;

  const VirtualBlockFacts* find(const BlockRef& place) const;
  std::size_t blockCount() const;
};

/// Empty where the state knows no such request.
RequestBlocks requestBlocks(const TraceStore& trace, const trace::Replay& state, RequestId request);

/// The lookup with this sequence number; nullptr: none.
const trace::BlockLookedUp* lookupEvent(const TraceStore& trace, std::uint64_t sequence);

/// What was loaded from a tier with this sequence number; nullptr: nothing.
const trace::BlockLoaded* loadEvent(const TraceStore& trace, std::uint64_t sequence);

/// A generated token of the last segment, and its event.
struct GeneratedToken {
  const trace::TokenGenerated* token = nullptr;
  std::size_t event = 0;
};
/// Tokens that a request has generated in the first `position` events.
std::vector<GeneratedToken> generatedTokens(const TraceStore& trace, RequestId request, std::size_t position);

/// The block of `request` that a physical block serves; nothing if none.
std::optional<BlockRef> placeOf(const trace::Replay& state, RequestId request, BlockId physical);

/// The path of the node that local token `local` of a segment came from; the segment's own where no run has
/// it (generated tokens: the node of the request).
NodePath nodeOfToken(const trace::RequestState& request, std::uint32_t segment, std::int32_t local);

/// What selecting a virtual block selects: the block, its request, its physical block and its node.
Selection selectionOfBlock(const ViewInput& input, const BlockRef& place);
/// What selecting a token selects: besides itself its block.
Selection selectionOfToken(const ViewInput& input, const TokenRef& place);

/// A token as people read it: surrounding space taken off, line ends and tabs shown.
QString shownToken(const std::string& text);

}  // namespace spanscope::ui
