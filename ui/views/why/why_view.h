// SPDX-License-Identifier: GPL-3.0-or-later
// Shows why the selected block was found or not.
// Why a block was found or not, in words: what the lookup's event says, and what would have made it
// otherwise.
#pragma once

#include "engine/cache/what_if.h"
#include "engine/trace/pool_state.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/block_history.h"
#include "ui/views/common/input_view.h"

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
class QTextBrowser;
class QUrl;

namespace spanscope::ui {

class VerdictChip;

class WhyView : public InputView {
  Q_OBJECT
 public:
  explicit WhyView(QWidget* parent = nullptr);

  QString csv() const override;

  const Why& shown() const { return m_why; }
  /// Does what a link of the model asks for.
  void follow(const WhyLink& link);

 protected:
  void refresh() override;

 private:
  QString html();
  QString anchor(const WhyText& text);
  void followUrl(const QUrl& url);

  BlockHistory m_history;
  WhyChangesMemo m_changes;
  Why m_why;
  std::vector<WhyLink> m_links;  ///< by the number in an anchor
  Theme m_drawn;
  bool m_any = false;
  QString m_summary;
  VerdictChip* m_chip;
  QTextBrowser* m_text;
};

}  // namespace spanscope::ui
