// SPDX-License-Identifier: GPL-3.0-or-later
// Why a block was found or not, in words: what the lookup's event says, and what would have made it
// otherwise.
#pragma once

#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/block_history.h"
#include "ui/views/why/why_changes.h"

#include <QString>

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

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
