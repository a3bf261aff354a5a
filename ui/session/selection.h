// SPDX-License-Identifier: GPL-3.0-or-later
// What is selected. Selecting a node, a segment, a block or a token selects it in every view.
#pragma once

#include "engine/base/ids.h"
#include "engine/workbench/document/document.h"

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

}  // namespace spanscope::ui
