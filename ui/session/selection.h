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
  std::int32_t virtualIndex = 0;  ///< in its segment
  bool operator==(const BlockRef&) const = default;
};

struct TokenRef {
  RequestId request = 0;
  std::uint32_t segment = 0;
  std::int32_t local = 0;  ///< token of the segment
  bool operator==(const TokenRef&) const = default;
};

struct Selection {
  std::vector<document::NodeId> nodes;  ///< the last one is the current one
  std::optional<RequestId> request;     ///< the one that views of one request show; none: the last one
  std::optional<BlockRef> block;
  std::optional<TokenRef> token;
  BlockId physical = kNullBlock;  ///< block of the pool
  bool operator==(const Selection&) const = default;

  document::NodeId currentNode() const { return nodes.empty() ? document::kNoNode : nodes.back(); }
};

}  // namespace spanscope::ui
