// SPDX-License-Identifier: GPL-3.0-or-later
// Why a block was found or not, in words: what the lookup's event says, and what would have made it
// otherwise.
#pragma once

#include "engine/cache/what_if.h"
#include "engine/trace/pool_state.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/block_history.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

// What would have made a hit of a block of a recorded request, from the pool as it was when it was looked up.

struct WhyChanges {
  std::vector<cache::WhatIf> changes;           ///< the least one first; none where the block was found
  std::map<BlockId, trace::BlockState> stored;  ///< the blocks that they name, as they were then
  std::int64_t blockCount = 0;                  ///< of the pool, the null block included
};

/// The last answer. What was before a lookup does not change, so that a live run costs nothing more for the
/// block that is looked at.
struct WhyChangesMemo {
  std::shared_ptr<const TraceStore> trace;  ///< kept, so that another one cannot have its address
  std::uint64_t lookup = 0;                 ///< sequence number
  WhyChanges changes;
};

/// None where the trace does not say enough. Asks the trace for other states: what its stateAt gave before is
/// not valid after it.
WhyChanges whyChanges(const ViewInput& input, const BlockRef& place, WhyChangesMemo* memo = nullptr);

/// What following a link does, in this order: select the node or the block, go to the event, ask for the
/// command.
struct WhyLink {
  QString command;                            ///< of the command table; empty: none
  document::NodeId node = document::kNoNode;  ///< kNoNode: none
  std::optional<BlockRef> block;
  std::optional<std::size_t> position;  ///< number of events
  bool operator==(const WhyLink&) const = default;
};

/// A text, the last part of which may be a link.
struct WhyText {
  QString text;      ///< plain
  QString linkText;  ///< plain; empty: no link
  QString after;     ///< plain
  WhyLink link;
  bool operator==(const WhyText&) const = default;
};

struct WhyFact {
  QString label;
  WhyText value;
  bool operator==(const WhyFact&) const = default;
};

struct Why {
  QString empty;  ///< how to get something here; empty: there is something
  std::optional<BlockRef> block;
  QString place;    ///< "block 6 → #3"
  QString verdict;  ///< "relocated hit", "miss: tokens differ"
  BlockRole role = BlockRole::Free;
  QString sentence;  ///< HTML with no element but <b>
  std::vector<WhyFact> facts;
  QString otherwiseTitle;  ///< "It would be a miss if"
  std::vector<WhyText> otherwise;
  bool operator==(const Why&) const = default;

  const WhyFact* fact(const QString& label) const;
};

/// Of the selected block, else of the block of the selected token, else of the place of the selected
/// physical block in the shown request. `history` has followed the input's trace.
/// `memo`: keeps what was worked out for the block last.
Why why(const ViewInput& input, const BlockHistory& history, WhyChangesMemo* memo = nullptr);

/// As plain text, for screen readers and files.
QString whyText(const Why& why);
QString whyCsv(const Why& why);

}  // namespace spanscope::ui
