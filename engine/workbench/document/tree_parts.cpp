// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/tree_parts.h"

#include <cstddef>
#include <utility>

namespace spanscope::document {

query::Node withoutChildren(query::Node node) {
  if (auto* generate = node.as<query::Generate>()) generate->input = query::Node{};
  if (auto* repeat = node.as<query::Repeat>()) repeat->generate.input = query::Node{};
  if (auto* join = node.as<query::Join>()) join->children.clear();
  if (auto* monad = node.as<query::Monad>()) monad->body = query::Node{};
  if (auto* augment = node.as<query::Augment>()) augment->body = query::Node{};
  if (auto* zip = node.as<query::Zip>()) {
    zip->first = query::Node{};
    zip->second = query::Node{};
  }
  return node;
}

NodeId addSubtree(Document& document, const query::Node& tree) {
  DocumentNode node;
  for (const query::ChildRef& child : query::childrenOf(tree)) {
    node.children.push_back(addSubtree(document, *child.node));
  }
  node.own = withoutChildren(tree);
  return document.insert(std::move(node));
}

NodeId copySubtree(Document& document, NodeId id) {
  DocumentNode node = document.at(id);
  for (NodeId& child : node.children) {
    if (child != kNoNode) child = copySubtree(document, child);
  }
  node.position.reset();
  return document.insert(std::move(node));
}

query::Node withChildren(query::Node own, std::vector<query::Node> children) {
  if (auto* join = own.as<query::Join>())
    join->children = std::move(children);
  else if (auto* generate = own.as<query::Generate>())
    generate->input = std::move(children.at(0));
  else if (auto* repeat = own.as<query::Repeat>())
    repeat->generate.input = std::move(children.at(0));
  else if (auto* monad = own.as<query::Monad>())
    monad->body = std::move(children.at(0));
  else if (auto* augment = own.as<query::Augment>())
    augment->body = std::move(children.at(0));
  else if (auto* zip = own.as<query::Zip>()) {
    zip->first = std::move(children.at(0));
    zip->second = std::move(children.at(1));
  }
  return own;
}

}  // namespace spanscope::document
