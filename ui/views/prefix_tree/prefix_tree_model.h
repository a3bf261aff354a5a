// SPDX-License-Identifier: GPL-3.0-or-later
// The cached blocks of the pool as a tree of prefixes. Chains of blocks after the same prefix are children of
// this prefix. Open this file to change what a row of the tree contains.
#pragma once

#include "engine/base/ids.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/request_blocks.h"

#include <QString>

#include <cstdint>
#include <vector>

namespace spanscope::ui {

/// A chain of cached blocks without a branch. One request stored all blocks of the chain. All blocks have the
/// same role in the shown prompt.
struct PrefixNode {
  int parent = -1;              ///< index of the node that ends before this chain; −1: none
  std::vector<BlockId> blocks;  ///< at least one, in the order of their tokens
  std::int64_t begin = 0;       ///< number of tokens before the chain, up to the root of the tree
  std::int64_t tokens = 0;      ///< number of cached tokens in the chain
  QString text;                 ///< the tokens as text, up to kPrefixText characters; empty: not reported
  QString storedBy;             ///< "run 2, step 1"
  BlockRole role = BlockRole::Free;  ///< how the shown prompt got the blocks; Free: not in this prompt
  bool operator==(const PrefixNode&) const = default;
};

inline constexpr qsizetype kPrefixText = 400;

struct PrefixTree {
  std::vector<PrefixNode> nodes;  ///< parents before their children, branches one after the other
  std::int64_t longest = 0;       ///< the largest `begin` + `tokens`
  RequestId request = 0;          ///< of the shown prompt; 0: none
  bool operator==(const PrefixTree&) const = default;
};

/// `history` follows the trace of the input. Takes time proportional to the number of blocks in the pool and
/// of their tokens.
PrefixTree prefixTree(const ViewInput& input, const BlockHistory& history);

/// The node that has a block; −1: none.
int nodeOfBlock(const PrefixTree& tree, BlockId block);

QString prefixTreeCsv(const PrefixTree& tree);

}  // namespace spanscope::ui
