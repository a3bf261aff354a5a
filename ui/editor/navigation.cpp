// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/navigation.h"

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

using document::Document;
using document::kNoNode;
using document::NodeId;
using document::Rect;

namespace {

double middle(const Rect& rect) {
  return rect.y + rect.height / 2;
}

/// Returns the drawn child whose height is nearest to the height of the parent.
NodeId nearestChild(const Document& document, const std::map<NodeId, Rect>& layout, NodeId from) {
  NodeId best = kNoNode;
  double least = 0;
  for (const NodeId child : document.at(from).children) {
    const auto rect = layout.find(child);
    if (rect == layout.end()) continue;
    const double distance = std::abs(middle(rect->second) - middle(layout.at(from)));
    if (best != kNoNode && distance >= least) continue;
    best = child;
    least = distance;
  }
  return best;
}

std::size_t depthOf(const Document& document, NodeId id) {
  std::size_t depth = 0;
  for (NodeId at = document.at(id).parent; at != kNoNode; at = document.at(at).parent) ++depth;
  return depth;
}

/// Returns the next drawn node of the same depth, in prompt order over all trees.
NodeId cousin(const Document& document, const std::map<NodeId, Rect>& layout, NodeId from, bool down) {
  const std::size_t depth = depthOf(document, from);
  NodeId last = kNoNode;
  bool passed = false;
  for (const NodeId top : document.tops()) {
    for (const NodeId id : document.subtree(top)) {
      if (id == from) {
        if (!down) return last;
        passed = true;
        continue;
      }
      if (layout.count(id) == 0 || depthOf(document, id) != depth) continue;
      if (passed) return id;
      last = id;
    }
  }
  return kNoNode;
}

}  // namespace

NodeId walk(const Document& document, const std::map<NodeId, Rect>& layout, NodeId from, Walk to) {
  if (!document.contains(from) || layout.count(from) == 0) {
    if (document.contains(from)) {  // the node is hidden below a collapsed node
      for (NodeId at = from; at != kNoNode; at = document.at(at).parent) {
        if (layout.count(at) != 0) return at;
      }
    }
    return document.root();
  }
  switch (to) {
    case Walk::Left:
      return nearestChild(document, layout, from);
    case Walk::Right:
      return document.at(from).parent;
    case Walk::Up:
    case Walk::Down:
      break;
  }
  const bool down = to == Walk::Down;
  const NodeId parent = document.at(from).parent;
  if (parent != kNoNode) {
    const std::vector<NodeId>& siblings = document.at(parent).children;
    const auto at = std::find(siblings.begin(), siblings.end(), from);
    auto next = at;
    while (down ? ++next != siblings.end() : next != siblings.begin()) {
      if (!down) --next;
      // Only the first member of a stack is drawn.
      if (*next != kNoNode && layout.count(*next) != 0) return *next;
    }
  }
  return cousin(document, layout, from, down);
}

}  // namespace spanscope::ui
