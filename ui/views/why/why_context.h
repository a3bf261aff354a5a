// SPDX-License-Identifier: GPL-3.0-or-later
// What the sentences about one block are made from; internal to the why model.
#pragma once

#include "ui/views/common/block_history.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/why/why_view.h"

#include <QCoreApplication>
#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct WhyContext {
  /// `changes`: of the block.
  WhyContext(const ViewInput& input, const BlockHistory& history, const BlockRef& place, WhyChanges changes);

  const ViewInput& input;
  const BlockHistory& history;
  WhyChanges changes;
  const trace::Replay& state;
  const trace::RequestState* request = nullptr;  ///< nullptr: the block is not there
  RequestBlocks blocks;
  const VirtualBlockFacts* facts = nullptr;  ///< nullptr: the block is not there
  const trace::SegmentInfo* segment = nullptr;
  std::vector<SegmentName> names;
  RequestParts parts;
  const trace::BlockLookedUp* lookup = nullptr;  ///< nullptr: it was not looked up
  std::size_t lookupIndex = 0;                   ///< of its event

  /// The segment, or what of it stands in the block: "document 1 and document 2".
  QString segmentName() const;
  std::int32_t firstToken() const { return facts->place.virtualIndex * blocks.blockSize; }
  bool holdsLastToken() const;
  /// What stands in a block of another request.
  QString nameOfBlock(const BlockRef& place) const;

  /// Tokens [begin, end) of the segment, generated ones included, as text.
  QString tokensText(std::int32_t begin, std::int32_t end) const;
  /// How a token is shown to a person, in quotes.
  QString tokenText(TokenId token) const;
  /// Tokens of the nearest stored block at the time of the lookup; empty where the trace does not say.
  std::vector<TokenId> storedTokens() const;

  /// The change of that kind, if it would do; nullptr: it would not.
  const cache::WhatIf* change(cache::Change kind) const;
  /// What stood in a block that a change names, and where: in the request that stored it.
  QString storedIn(BlockId block) const;
  std::optional<BlockRef> placeOfStored(BlockId block) const;

  /// "run 1, document 2", and where it stands in the request that stored it.
  QString storedBy() const;
  std::optional<BlockRef> storedPlace() const;

  /// The block's node in the document, and its parent; kNoNode where the run is of another document.
  document::NodeId node() const;
  document::NodeId parentJoin(query::JoinKind kind) const;

  /// Whether the pool still holds what the block had, to be found.
  bool present() const;
  std::optional<std::size_t> lostAt() const;
  /// Number of the first block of the segment that was not wholly found before this one; −1: all were.
  const VirtualBlockFacts* firstMissed() const;

  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::WhyContext)
};

/// "104.1 ms"
QString timeText(std::int64_t nanoseconds);

void addWhyFacts(const WhyContext& context, Why& why);
void addOtherwise(const WhyContext& context, Why& why);

}  // namespace spanscope::ui
