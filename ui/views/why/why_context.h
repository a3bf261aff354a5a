// SPDX-License-Identifier: GPL-3.0-or-later
// The facts from which the why model makes its sentences about one block. Internal to the why model.
#pragma once

#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/why/why_view.h"

#include <QCoreApplication>
#include <QString>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct WhyContext {
  /// `changes`: see whyChanges().
  WhyContext(const ViewInput& input, const BlockHistory& history, const BlockRef& place, WhyChanges changes);

  const ViewInput& input;
  const BlockHistory& history;
  WhyChanges changes;
  const trace::Replay& state;
  const trace::RequestState* request = nullptr;  ///< nullptr: the block does not exist
  RequestBlocks blocks;
  const VirtualBlockFacts* facts = nullptr;  ///< nullptr: the block does not exist
  const trace::SegmentInfo* segment = nullptr;
  std::vector<SegmentName> names;
  RequestParts parts;
  const trace::BlockLookedUp* lookup = nullptr;  ///< nullptr: no lookup
  std::size_t lookupIndex = 0;                   ///< index of the lookup's event
  std::int32_t recomputed = 0;                   ///< number of cached tokens that the policy recomputes

  /// The name of the segment, or of its sections in the block: "document 1 and document 2".
  QString segmentName() const;
  std::int32_t firstToken() const { return facts->place.virtualIndex * blocks.blockSize; }
  /// The cached tokens of the block that the policy did not recompute.
  std::int32_t copied() const { return lookup == nullptr ? 0 : std::max(0, lookup->tokens - recomputed); }
  bool holdsLastToken() const;
  /// Whether the cache is that of llama.cpp. Each of its slots keeps one prompt, and a new prompt in a slot
  /// replaces everything after the common prefix.
  bool hasSlots() const;
  /// The names of the sections in a block of another request.
  QString nameOfBlock(const BlockRef& place) const;

  /// Tokens [begin, end) of the segment, generated ones included, as text.
  QString tokensText(std::int32_t begin, std::int32_t end) const;
  /// A token as text for the user, in quotes.
  QString tokenText(TokenId token) const;
  /// Tokens of the nearest stored block at the time of the lookup. Empty if not reported.
  std::vector<TokenId> storedTokens() const;

  /// The change of this kind; nullptr if it would not change the outcome.
  const cache::WhatIf* change(cache::Change kind) const;
  /// The run and the sections of a block that a change names, in the request that stored it.
  QString storedIn(BlockId block) const;
  std::optional<BlockRef> placeOfStored(BlockId block) const;

  /// "run 1, document 2", from the request that stored the block of the lookup.
  QString storedBy() const;
  std::optional<BlockRef> storedPlace() const;
  /// The first token of the block that differs from the stored block, as a position in the segment.
  std::int32_t differingToken() const;
  /// The node and the section of the stored block's token at this difference. kNoNode, empty: unknown.
  document::NodeId storedNode() const;
  QString storedName() const;

  /// The block's node in the document, and its parent of this kind. kNoNode if the run is of another
  /// document.
  document::NodeId node() const;
  document::NodeId nodeAt(std::int32_t token) const;  ///< of a token of the block's segment
  document::NodeId parentJoin(query::JoinKind kind) const;
  /// Whether the first different token is in a child of a plus, under any policy.
  bool isChildOfPlus() const;

  /// Whether lookups can still find the block's content in the pool.
  bool present() const;
  std::optional<std::size_t> lostAt() const;
  /// The first earlier block of the segment that was not a full hit; nullptr: all earlier blocks were full
  /// hits.
  const VirtualBlockFacts* firstMissed() const;

  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::WhyContext)
};

/// "104.1 ms"
QString timeText(std::int64_t nanoseconds);

void addWhyFacts(const WhyContext& context, Why& why);
void addOtherwise(const WhyContext& context, Why& why);

}  // namespace spanscope::ui
