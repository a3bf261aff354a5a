// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/stacking.h"

#include "engine/query/node_parts.h"
#include "ui/editor/tidy_layout.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

using document::Arity;
using document::Document;
using document::DocumentNode;
using document::kNoNode;
using document::NodeId;

constexpr std::size_t kLeastStack = 2;

/// Returns the list nodes whose children can be stacked, parents first.
std::vector<NodeId> listsOf(const Document& document, const StackChoices& choices) {
  std::vector<NodeId> lists;
  for (const NodeId top : document.tops()) {
    for (const NodeId id : document.subtree(top)) {
      const DocumentNode& node = document.at(id);
      if (node.collapsed || node.children.size() < kLeastStack || choices.opened.contains(id)) continue;
      if (document::arityOf(node.own).most == Arity::kMany) lists.push_back(id);
    }
  }
  return lists;
}

/// Returns the nodes of `wanted` and all nodes above them.
std::set<NodeId> pathsTo(const Document& document, const std::set<NodeId>& wanted) {
  std::set<NodeId> paths;
  for (const NodeId id : wanted) {
    for (NodeId at = id; at != kNoNode && document.contains(at) && paths.insert(at).second;) {
      at = document.at(at).parent;
    }
  }
  return paths;
}

/// Returns, by child of a list, whether it gets a separate card.
std::vector<bool> ownCards(const Document& document, NodeId list, const std::set<NodeId>& wanted,
                           std::size_t limit) {
  const std::vector<NodeId>& children = document.at(list).children;
  std::vector<bool> own(children.size(), false);
  std::size_t count = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (children[i] != kNoNode && !wanted.contains(children[i]) && !document.at(children[i]).position)
      continue;
    own[i] = true;
    ++count;
  }
  for (std::size_t i = 0; i < children.size() && count < limit; ++i) {
    if (own[i]) continue;
    own[i] = true;
    ++count;
  }
  return own;
}

double highestTree(const Document& document, const Stacks& stacks) {
  double highest = 0;
  for (const NodeId top : document.tops()) highest = std::max(highest, treeHeight(document, top, stacks));
  return highest;
}

}  // namespace

void Stacks::add(Stack stack) {
  const NodeId first = stack.members.front();
  for (const NodeId member : stack.members) m_firstOf[member] = first;
  m_stacks[first] = std::move(stack);
}

const Stack* Stacks::at(NodeId first) const {
  const auto found = m_stacks.find(first);
  return found == m_stacks.end() ? nullptr : &found->second;
}

const Stack* Stacks::of(NodeId member) const {
  const auto found = m_firstOf.find(member);
  return found == m_firstOf.end() ? nullptr : at(found->second);
}

Stacks stacksOf(const Document& document, const StackChoices& choices, std::size_t limit) {
  Stacks stacks;
  const std::set<NodeId> wanted = pathsTo(document, choices.shown);
  for (const NodeId list : listsOf(document, choices)) {
    const std::vector<NodeId>& children = document.at(list).children;
    const std::vector<bool> own = ownCards(document, list, wanted, limit);
    for (std::size_t begin = 0; begin < children.size();) {
      std::size_t end = begin + 1;
      if (!own[begin]) {
        const auto kind = document.at(children[begin]).own.value.index();
        while (end < children.size() && !own[end] && document.at(children[end]).own.value.index() == kind)
          ++end;
      }
      if (end - begin >= kLeastStack) {
        const auto at = children.begin();
        stacks.add(
            {.parent = list,
             .first = begin,
             .members = {at + static_cast<std::ptrdiff_t>(begin), at + static_cast<std::ptrdiff_t>(end)}});
      }
      begin = end;
    }
  }
  return stacks;
}

std::size_t stackLimit(const Document& document, const StackChoices& choices) {
  std::size_t most = 0;
  for (const NodeId list : listsOf(document, choices))
    most = std::max(most, document.at(list).children.size());
  if (choices.height <= 0 || most == 0) return most;
  const auto fits = [&](std::size_t limit) {
    return highestTree(document, stacksOf(document, choices, limit)) <= choices.height;
  };
  if (highestTree(document, stacksOf(document, choices, most)) <= std::max(choices.height, choices.whole))
    return most;
  // More cards make the trees higher, so a binary search works.
  std::size_t good = 0;
  std::size_t bad = most;
  while (bad - good > 1) {
    const std::size_t middle = (good + bad) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace spanscope::ui
