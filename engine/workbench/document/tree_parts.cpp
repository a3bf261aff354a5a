// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/tree_parts.h"

#include "engine/query/node_parts.h"

#include <string>
#include <utility>

namespace spanscope::document {

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
