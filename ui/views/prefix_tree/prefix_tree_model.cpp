// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/prefix_tree/prefix_tree_model.h"

#include "ui/views/common/marker_tokens.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/segment_names.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace spanscope::ui {
namespace {

struct KeyHash {
  std::size_t operator()(const trace::BlockKey& key) const { return key.low ^ (key.high << 1U); }
};

/// Makes the texts of stored blocks from the prompts and answers that stored the blocks.
class StoredTexts {
 public:
  explicit StoredTexts(const ViewInput& input) : m_input(input) {}

  QString of(const trace::BlockState& block) {
    const auto& requests = m_input.state().progress().requests;
    const auto found = requests.find(block.storedByRequest);
    if (found == requests.end()) return {};
    const std::int32_t begin = block.virtualIndex * std::max(1, m_input.state().pool().blockSize());
    for (const trace::SegmentInfo& segment : found->second.segments) {
      if (segment.node != block.storedByNode || segment.base != block.base) continue;
      QString text;
      for (std::int32_t local = begin; local < begin + block.fill; ++local)
        text += tokenText(found->first, segment, local);
      return text;
    }
    return {};
  }

 private:
  QString tokenText(RequestId request, const trace::SegmentInfo& segment, std::int32_t local) {
    const auto index = static_cast<std::size_t>(local);
    if (index < segment.texts.size()) return tokenInLine(segment.texts[index]);
    auto answer = m_answers.find(request);
    if (answer == m_answers.end())
      answer = m_answers.emplace(request, generatedTokens(*m_input.trace, request, m_input.position)).first;
    const std::size_t generated = index - segment.tokens.size();
    return index >= segment.tokens.size() && generated < answer->second.size()
               ? tokenInLine(answer->second[generated].token->shown)
               : QString();
  }

  const ViewInput& m_input;
  std::map<RequestId, std::vector<GeneratedToken>> m_answers;
};

class TreeMaker {
 public:
  TreeMaker(const ViewInput& input, const BlockHistory& history)
      : m_input(input), m_pool(input.state().pool().blocks()), m_texts(input) {
    m_tree.request = input.shownRequest();
    const RequestBlocks own = requestBlocks(*input.trace, input.state(), m_tree.request);
    for (const SegmentVirtualBlocks& segment : own.segments) {
      for (const VirtualBlockFacts& block : segment.blocks) {
        if (!history.lostAt(block.physical, m_tree.request, input.position))
          m_roles[block.physical] = block.role;
      }
    }
    std::unordered_map<trace::BlockKey, BlockId, KeyHash> ids;
    for (std::size_t i = 0; i < m_pool.size(); ++i) {
      if (m_pool[i].cached) ids.emplace(m_pool[i].key, static_cast<BlockId>(i));
    }
    for (const auto& [key, id] : ids) {
      const auto parent = ids.find(state(id).parent);
      m_children[parent == ids.end() ? kNullBlock : parent->second].push_back(id);
    }
    for (auto& [parent, children] : m_children) {
      std::sort(children.begin(), children.end(), [this](BlockId a, BlockId b) {
        const trace::BlockState& first = state(a);
        const trace::BlockState& second = state(b);
        return std::pair(first.storedByRequest, a) < std::pair(second.storedByRequest, b);
      });
    }
  }

  PrefixTree make() {
    struct Branch {
      int parent;
      std::int64_t begin;
      BlockId first;
    };
    std::vector<Branch> branches;
    const auto add = [&](BlockId parent, int node, std::int64_t begin) {
      const std::vector<BlockId>& children = childrenOf(parent);
      for (auto child = children.rbegin(); child != children.rend(); ++child)
        branches.push_back({node, begin, *child});
    };
    add(kNullBlock, -1, 0);
    while (!branches.empty()) {
      const Branch branch = branches.back();
      branches.pop_back();
      const int index = static_cast<int>(m_tree.nodes.size());
      m_tree.nodes.push_back(chainFrom(branch.first));
      PrefixNode& node = m_tree.nodes.back();
      node.parent = branch.parent;
      node.begin = branch.begin;
      m_tree.longest = std::max(m_tree.longest, node.begin + node.tokens);
      add(node.blocks.back(), index, node.begin + node.tokens);
    }
    return std::move(m_tree);
  }

 private:
  const trace::BlockState& state(BlockId id) const { return m_pool[static_cast<std::size_t>(id)]; }

  const std::vector<BlockId>& childrenOf(BlockId id) const {
    static const std::vector<BlockId> none;
    const auto found = m_children.find(id);
    return found == m_children.end() ? none : found->second;
  }

  BlockRole roleOf(BlockId id) const {
    const auto found = m_roles.find(id);
    return found == m_roles.end() ? BlockRole::Free : found->second;
  }

  PrefixNode chainFrom(BlockId id) {
    PrefixNode node;
    node.role = roleOf(id);
    node.storedBy = requestName(m_input.state(), state(id).storedByRequest);
    while (true) {
      node.blocks.push_back(id);
      node.tokens += state(id).fill;
      if (node.text.size() < kPrefixText) node.text += m_texts.of(state(id)).left(kPrefixText);
      const std::vector<BlockId>& children = childrenOf(id);
      if (children.size() != 1 || roleOf(children.front()) != node.role ||
          state(children.front()).storedByRequest != state(id).storedByRequest)
        break;
      id = children.front();
    }
    node.text.truncate(kPrefixText);
    return node;
  }

  const ViewInput& m_input;
  const SharedVector<trace::BlockState>& m_pool;
  StoredTexts m_texts;
  std::unordered_map<BlockId, BlockRole> m_roles;  ///< of the shown prompt's blocks
  std::unordered_map<BlockId, std::vector<BlockId>> m_children;
  PrefixTree m_tree;
};

}  // namespace

PrefixTree prefixTree(const ViewInput& input, const BlockHistory& history) {
  return TreeMaker(input, history).make();
}

int nodeOfBlock(const PrefixTree& tree, BlockId block) {
  const auto found = std::find_if(tree.nodes.begin(), tree.nodes.end(), [block](const PrefixNode& node) {
    return std::find(node.blocks.begin(), node.blocks.end(), block) != node.blocks.end();
  });
  return found == tree.nodes.end() ? -1 : static_cast<int>(found - tree.nodes.begin());
}

QString prefixTreeCsv(const PrefixTree& tree) {
  if (tree.nodes.empty()) return {};
  QString csv = csvLine({QStringLiteral("node"), QStringLiteral("parent"), QStringLiteral("begin"),
                         QStringLiteral("tokens"), QStringLiteral("blocks"), QStringLiteral("state"),
                         QStringLiteral("stored_by"), QStringLiteral("text")});
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const PrefixNode& node = tree.nodes[i];
    csv += csvLine(
        {QString::number(i), node.parent < 0 ? QString() : QString::number(node.parent),
         QString::number(node.begin), QString::number(node.tokens), QString::number(node.blocks.size()),
         node.role == BlockRole::Free ? QString() : Theme::name(node.role), node.storedBy, node.text});
  }
  return csv;
}

}  // namespace spanscope::ui
