// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/document.h"

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

namespace spanscope::document {

const Document::Entry* Document::entryOf(NodeId id) const {
  const auto found = std::ranges::lower_bound(m_nodes, id, {}, &Entry::id);
  return found == m_nodes.end() || found->id != id ? nullptr : &*found;
}

const DocumentNode* Document::find(NodeId id) const {
  const Entry* found = entryOf(id);
  return found == nullptr ? nullptr : found->node.get();
}

const DocumentNode& Document::at(NodeId id) const {
  const Entry* found = entryOf(id);
  if (found == nullptr) throw std::out_of_range("no such node");
  return *found->node;
}

std::vector<NodeId> Document::ids() const {
  std::vector<NodeId> ids;
  ids.reserve(m_nodes.size());
  for (const auto& [id, node] : m_nodes) ids.push_back(id);
  return ids;
}

std::vector<NodeId> Document::tops() const {
  std::vector<NodeId> tops;
  if (m_root != kNoNode) tops.push_back(m_root);
  for (const auto& [id, node] : m_nodes) {
    if (node->parent == kNoNode && id != m_root) tops.push_back(id);
  }
  return tops;
}

bool Document::inQuery(NodeId id) const {
  return m_root != kNoNode && isAncestor(m_root, id);
}

std::vector<NodeId> Document::subtree(NodeId id) const {
  std::vector<NodeId> nodes;
  if (!contains(id)) return nodes;
  std::vector<NodeId> open{id};  // a stack: trees may be deep
  while (!open.empty()) {
    const NodeId next = open.back();
    open.pop_back();
    nodes.push_back(next);
    const std::vector<NodeId>& children = at(next).children;
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      if (*child != kNoNode) open.push_back(*child);
    }
  }
  return nodes;
}

std::size_t Document::indexInParent(NodeId id) const {
  const DocumentNode* node = find(id);
  if (node == nullptr || node->parent == kNoNode) return 0;
  const std::vector<NodeId>& children = at(node->parent).children;
  return static_cast<std::size_t>(std::ranges::find(children, id) - children.begin());
}

bool Document::isAncestor(NodeId above, NodeId below) const {
  while (below != kNoNode) {
    if (below == above) return true;
    const DocumentNode* node = find(below);
    if (node == nullptr) return false;
    below = node->parent;
  }
  return false;
}

bool Document::operator==(const Document& other) const {
  if (m_root != other.m_root || m_nodes.size() != other.m_nodes.size() || parameters != other.parameters ||
      declarations != other.declarations || settings != other.settings || frames != other.frames ||
      notes != other.notes) {
    return false;
  }
  return std::equal(m_nodes.begin(), m_nodes.end(), other.m_nodes.begin(), [](const auto& a, const auto& b) {
    return a.id == b.id && (a.node == b.node || *a.node == *b.node);
  });
}

std::optional<std::vector<NodeId>> Document::nodesUnlike(const Document& other) const {
  if (m_root != other.m_root || m_nodes.size() != other.m_nodes.size()) return std::nullopt;
  std::vector<NodeId> unlike;
  for (auto a = m_nodes.begin(), b = other.m_nodes.begin(); a != m_nodes.end(); ++a, ++b) {
    if (a->id != b->id) return std::nullopt;
    if (a->node != b->node && *a->node != *b->node) unlike.push_back(a->id);
  }
  return unlike;
}

NodeId Document::insert(DocumentNode node) {
  const NodeId id = takeId();
  node.parent = kNoNode;
  for (const NodeId child : node.children) {
    if (child != kNoNode) edit(child).parent = id;
  }
  m_nodes.push_back({.id = id, .node = std::make_shared<const DocumentNode>(std::move(node))});
  return id;
}

DocumentNode& Document::edit(NodeId id) {
  const Entry* found = entryOf(id);
  if (found == nullptr) throw std::out_of_range("no such node");
  std::shared_ptr<const DocumentNode>& node = m_nodes[static_cast<std::size_t>(found - m_nodes.data())].node;
  // Other documents keep the old node.
  auto copy = std::make_shared<DocumentNode>(*node);
  DocumentNode& reference = *copy;
  node = std::move(copy);
  return reference;
}

void Document::erase(NodeId id) {
  assert(at(id).parent == kNoNode);
  if (const Entry* found = entryOf(id)) m_nodes.erase(m_nodes.begin() + (found - m_nodes.data()));
}

void Document::mendRoot() {
  if (contains(m_root)) {
    while (at(m_root).parent != kNoNode) m_root = at(m_root).parent;
    return;
  }
  m_root = kNoNode;
  for (const auto& [id, node] : m_nodes) {
    if (node->parent != kNoNode) continue;
    m_root = id;
    return;
  }
}

NodeId addSubtree(Document& document, const query::Node& tree) {
  DocumentNode node;
  query::forEachChild(tree, [&](const query::Node& child, const std::string& /*step*/) {
    node.children.push_back(addSubtree(document, child));
  });
  node.own = query::withoutChildren(tree);
  return document.insert(std::move(node));
}

NodeId copySubtree(Document& document, NodeId id) {
  DocumentNode node = document.at(id);
  for (NodeId& child : node.children) {
    if (child != kNoNode) child = copySubtree(document, child);
  }
  node.position.reset();
  node.bends.clear();
  return document.insert(std::move(node));
}

}  // namespace spanscope::document
