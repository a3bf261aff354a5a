// SPDX-License-Identifier: GPL-3.0-or-later
// What is selected. Selecting a node, a segment, a block or a token selects it in every view.
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/document/document.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct BlockRef {
  RequestId request = 0;
  std::uint32_t segment = 0;
  std::int32_t virtualIndex = 0;  ///< index within the segment
  bool operator==(const BlockRef&) const = default;
};

struct TokenRef {
  RequestId request = 0;
  std::uint32_t segment = 0;
  std::int32_t local = 0;  ///< index of the token within the segment
  bool operator==(const TokenRef&) const = default;
};

struct Selection {
  std::vector<document::NodeId> nodes;  ///< the last node is the current node
  /// The request shown by views of one request; none: see ViewInput::shownRequest().
  std::optional<RequestId> request;
  std::optional<BlockRef> block;
  std::optional<TokenRef> token;
  BlockId physical = kNullBlock;  ///< the selected block of the pool
  bool operator==(const Selection&) const = default;

  document::NodeId currentNode() const { return nodes.empty() ? document::kNoNode : nodes.back(); }
};

/// What a person has selected in a document, to go back and forward.
class SelectionHistory {
 public:
  /// Adds a selection after the present one, and forgets those ahead. Selections of nothing are not kept.
  void note(const Selection& selection);

  /// Whether goBack() or goForward() would give a selection. `now` is what is selected, which may be nothing.
  bool canGoBack(const Selection& now, const document::Document& document) const;
  bool canGoForward(const document::Document& document) const;
  /// The selection before or after the present one. Selections of which every node is gone are passed over.
  /// From nothing, back leads to what was selected last. Nothing if there is none.
  std::optional<Selection> goBack(const Selection& now, const document::Document& document);
  std::optional<Selection> goForward(const document::Document& document);

 private:
  std::optional<std::size_t> before(const Selection& now, const document::Document& document) const;
  std::optional<std::size_t> after(const document::Document& document) const;

  std::vector<Selection> m_selections;
  std::size_t m_now = 0;  ///< index of the present one; 0 also if there is none
};

}  // namespace spanscope::ui
