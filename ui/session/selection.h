// SPDX-License-Identifier: GPL-3.0-or-later
// The selection of a document. A selected node, segment, block or token is selected in every view.
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
  std::int32_t local = 0;  ///< position of the token in the segment
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

/// The user's earlier selections in a document, for steps back and forward.
class SelectionHistory {
 public:
  /// Adds a selection after the current one, and drops later ones. Empty selections are not added.
  void note(const Selection& selection);

  /// Whether goBack() or goForward() would return a selection. `now` is the current selection, which may be
  /// empty.
  bool canGoBack(const Selection& now, const document::Document& document) const;
  bool canGoForward(const document::Document& document) const;
  /// Returns the selection before or after the current one. Skips selections whose nodes were all deleted. If
  /// `now` is empty, goBack() returns the last selection. Returns nothing if there is no such selection.
  std::optional<Selection> goBack(const Selection& now, const document::Document& document);
  std::optional<Selection> goForward(const document::Document& document);

 private:
  std::optional<std::size_t> before(const Selection& now, const document::Document& document) const;
  std::optional<std::size_t> after(const document::Document& document) const;

  std::vector<Selection> m_selections;
  std::size_t m_now = 0;  ///< index of the current selection; 0 also if there is none
};

}  // namespace spanscope::ui
