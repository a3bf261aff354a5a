// SPDX-License-Identifier: GPL-3.0-or-later
// Shows why the selected block was a hit or a miss. The text has the facts of the lookup's event, and the
// changes that would give another outcome.
#pragma once

#include "engine/cache/what_if.h"
#include "engine/trace/pool_state.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/request_blocks.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

// Changes that would make a recorded block a hit, computed from the pool at the block's lookup.

struct WhyChanges {
  std::vector<cache::WhatIf> changes;           ///< the smallest one first; empty for a hit
  std::map<BlockId, trace::BlockState> stored;  ///< the named blocks, at the lookup
  std::int64_t blockCount = 0;                  ///< blocks of the pool, including the null block
};

/// The last result of whyChanges(). Events before a lookup do not change. So a live run does not recompute
/// the result for the selected block.
struct WhyChangesMemo {
  std::shared_ptr<const TraceStore> trace;  ///< kept alive, so that no other trace can get its address
  std::uint64_t lookup = 0;                 ///< sequence number
  WhyChanges changes;
};

/// Empty if the trace lacks the necessary events. Calls TraceStore::stateAt(), so earlier results of
/// stateAt() become invalid.
WhyChanges whyChanges(const ViewInput& input, const BlockRef& place, WhyChangesMemo* memo = nullptr);

/// The actions of a link, in this order:
/// - select the node or the block
/// - go to the event
/// - request the command.
struct WhyLink {
  QString command;                            ///< of the command table; empty: none
  document::NodeId node = document::kNoNode;  ///< kNoNode: none
  std::optional<BlockRef> block;
  std::optional<std::size_t> position;  ///< number of events
  bool operator==(const WhyLink&) const = default;
};

/// A text that can contain a link.
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
  QString empty;  ///< what to do to see facts here; empty: there are facts
  std::optional<BlockRef> block;
  /// The number of blocks and misses of the selected node or of the prompt. Empty: the user selected the
  /// block.
  QString ofNode;
  QString place;    ///< "block 6 → #3"
  QString verdict;  ///< "relocated hit", "miss: tokens differ"
  BlockRole role = BlockRole::Free;
  QString sentence;  ///< HTML with no element but <b>
  std::vector<WhyFact> facts;
  std::size_t leadingFacts = 0;  ///< how many of the facts are before the sentence
  QString otherwiseTitle;        ///< "It would be a miss if"
  std::vector<WhyText> otherwise;
  bool operator==(const Why&) const = default;

  const WhyFact* fact(const QString& label) const;
};

/// Explains the first of these blocks that exists:
/// - the selected block
/// - the block of the selected token
/// - the selected physical block's place in the shown request
/// - the first block of the selected node that was not a full hit, else the node's first block
/// - the same of the shown request's whole prompt, if no node is selected
///
/// `history` must have followed the input's trace. `memo` keeps the last whyChanges().
Why why(const ViewInput& input, const BlockHistory& history, WhyChangesMemo* memo = nullptr);

/// The content as plain text, for screen readers and files.
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
  /// Performs the actions of a link.
  void follow(const WhyLink& link);

 protected:
  void refresh() override;

 private:
  QString html();
  /// The facts [begin, end) as HTML.
  QString factTable(std::size_t begin, std::size_t end);
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
