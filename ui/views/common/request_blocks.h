// SPDX-License-Identifier: GPL-3.0-or-later
// The virtual blocks of one request in view order, and how each was served. The token strip, the block table
// and the why panel share these.
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
  std::int32_t number = -1;              ///< place in the whole view, from 0; −1: its segment is hidden
  BlockId physical = kNullBlock;         ///< kNullBlock: it has no physical block yet
  BlockRole role = BlockRole::Free;      ///< how the block was served
  std::int32_t found = 0;                ///< token slots that were found; all of them for a hit
  BlockRole foundRole = BlockRole::Hit;  ///< how the found slots were found: Hit or Relocated
  std::int32_t prompt = 0;               ///< token slots of the prompt
  std::int32_t tokens = 0;   ///< token slots of the prompt and of generated tokens that a pass has seen
  bool allocated = false;    ///< the request got a new physical block for it
  std::uint64_t lookup = 0;  ///< sequence number of its lookup; 0: it was not looked up
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

/// The blocks of a request in this state. Empty if the state does not know the request.
RequestBlocks requestBlocks(const TraceStore& trace, const trace::Replay& state, RequestId request);

/// The lookup with this sequence number; nullptr: none.
const trace::BlockLookedUp* lookupEvent(const TraceStore& trace, std::uint64_t sequence);

/// The BlockLoaded event with this sequence number; nullptr: none.
const trace::BlockLoaded* loadEvent(const TraceStore& trace, std::uint64_t sequence);

/// A generated token of the last segment.
struct GeneratedToken {
  const trace::TokenGenerated* token = nullptr;
  std::size_t event = 0;
};
/// The tokens that a request has generated in the first `position` events.
std::vector<GeneratedToken> generatedTokens(const TraceStore& trace, RequestId request, std::size_t position);

/// The virtual block of `request` that uses a physical block; nothing if there is none.
std::optional<BlockRef> placeOf(const trace::Replay& state, RequestId request, BlockId physical);

/// The path of the node from which local token `local` of a segment came. If no token run holds the token, it
/// is the segment's path; for a generated token, the path of the request's node.
NodePath nodeOfToken(const trace::RequestState& request, std::uint32_t segment, std::int32_t local);

/// The selection after a virtual block is selected: the block, its request, its physical block and its node.
Selection selectionOfBlock(const ViewInput& input, const BlockRef& place);
/// The selection after a token is selected: the token, its node, and its block as selectionOfBlock() selects
/// it.
Selection selectionOfToken(const ViewInput& input, const TokenRef& place);

/// The selection after something is selected that begins with a token: the block of the token, if it begins
/// with it too; else the token.
Selection selectionOfBeginning(const ViewInput& input, const TokenRef& place);
/// The same for a part of the prompt. Nothing is selected if no token of it is seen.
Selection selectionOfPart(const ViewInput& input, RequestId request, std::uint32_t part);

/// A token as a person reads it. The space before a word is left out. Line ends, tabs and other control
/// characters are shown as symbols. A token of nothing but space is shown as ␣.
QString shownToken(const std::string& text);

}  // namespace spanscope::ui
