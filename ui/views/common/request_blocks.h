// SPDX-License-Identifier: GPL-3.0-or-later
// The virtual blocks of one request in view order, and how each was served. The token strip, the block table
// and the why panel use these facts.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_state.h"
#include "engine/trace/replay.h"
#include "ui/session/selection.h"
#include "ui/session/trace_store.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct VirtualBlockFacts {
  BlockRef place;
  std::int32_t number = -1;          ///< place in the whole view, from 0; −1: the block's segment is hidden
  BlockId physical = kNullBlock;     ///< kNullBlock: no physical block yet
  BlockRole role = BlockRole::Free;  ///< how the block was served
  std::int32_t found = 0;            ///< reused token slots; all slots for a hit
  BlockRole foundRole = BlockRole::Hit;  ///< how these slots were reused: Hit or Relocated
  std::int32_t prompt = 0;               ///< token slots of the prompt
  std::int32_t tokens = 0;   ///< like `prompt`, plus the generated tokens that a forward pass has computed
  bool allocated = false;    ///< the request got a new physical block for this block
  std::uint64_t lookup = 0;  ///< sequence number of its lookup; 0: no lookup
  trace::LookupOutcome outcome = trace::LookupOutcome::Miss;
  trace::MissReason reason = trace::MissReason::None;
  std::uint64_t load = 0;  ///< sequence number of its BlockLoaded; 0: not loaded from a tier
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
  std::vector<SegmentVirtualBlocks> segments;  ///< one entry per segment of the span table
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

/// The path of the node whose text has the token at position `local` in a segment. If no node's token range
/// contains the token, the result is the path of the segment. For a generated token, the result is the path
/// of the request's node.
NodePath nodeOfToken(const trace::RequestState& request, std::uint32_t segment, std::int32_t local);

/// Whether the block was looked up and was not a full hit.
bool isMiss(const VirtualBlockFacts& block);

/// The looked-up blocks of a request that have tokens of a node or of its descendants. kNoNode: all blocks.
struct NodeBlocks {
  BlockRef shown;           ///< the first block that was not a full hit, else the first block
  std::int32_t blocks = 0;  ///< number of these blocks
  std::int32_t misses = 0;  ///< number of these blocks that were not full hits
  bool operator==(const NodeBlocks&) const = default;
};
/// Nothing if no such block was looked up.
std::optional<NodeBlocks> blocksOfNode(const ViewInput& input, const RequestBlocks& blocks,
                                       document::NodeId node);

/// The selection of a virtual block: the block, its request, its physical block and its node.
Selection selectionOfBlock(const ViewInput& input, const BlockRef& place);
/// The selection of a token: the token, its node, and its block as selectionOfBlock() selects it.
Selection selectionOfToken(const ViewInput& input, const TokenRef& place);

/// The selection of a view element (such as a bracket) that begins at a token. The selection is the token's
/// block if the block begins with the same token. Otherwise the selection is the token.
Selection selectionOfBeginning(const ViewInput& input, const TokenRef& place);
/// The same for a section of the prompt. The selection is empty if no token of the section is visible.
Selection selectionOfPart(const ViewInput& input, RequestId request, std::uint32_t part);

/// A token as text for the user. The space before a word is removed. Line ends, tabs and other control
/// characters become symbols. A token of only spaces becomes ␣.
QString shownToken(const std::string& text);

// Records which events changed each physical block over a trace. The state at one moment lacks such facts:
// when a block was stored, and which content was lost.

class BlockHistory {
 public:
  /// Continues to read the trace up to its end. Reads another trace from its beginning. The time grows with
  /// the number of new events.
  void follow(const std::shared_ptr<const TraceStore>& trace);

  /// The index of the last event before `position` that stored or extended the block's current content.
  /// Nothing if the content was stored before the trace began, or was lost before `position`.
  std::optional<std::size_t> storedAt(BlockId block, std::size_t position) const;
  /// The index of the last event before `position` that allocated or shared the block.
  std::optional<std::size_t> usedAt(BlockId block, std::size_t position) const;
  /// The first event before `position` that took the content of `request` from the block. This event evicted
  /// or cleared the block, or gave the block to another request. Earlier events than the last allocation
  /// or sharing by the request do not count. Nothing if there is no such event.
  std::optional<std::size_t> lostAt(BlockId block, RequestId request, std::size_t position) const;

 private:
  enum class Change : std::uint8_t { Stored, Shared, Allocated, Lost };
  struct BlockEvent {
    std::size_t event = 0;
    RequestId request = 0;
    Change change = Change::Stored;
  };
  struct Block {
    trace::BlockKey key;  ///< key after the last event read; zero: lookups cannot find the block
    std::vector<BlockEvent> entries;
  };

  void note(std::size_t index);
  void replacePool(std::size_t index, const trace::PoolState& pool);
  Block& at(BlockId block);
  const std::vector<BlockEvent>* entries(BlockId block) const;
  std::optional<std::size_t> last(BlockId block, std::size_t position, bool stored) const;

  std::shared_ptr<const TraceStore> m_trace;  ///< kept alive, so that no other trace can get its address
  std::size_t m_read = 0;
  std::vector<Block> m_blocks;  ///< by block id
};

}  // namespace spanscope::ui
