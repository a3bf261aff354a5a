// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/added_documents.h"

#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "ui/editor/add_rules.h"
#include "ui/editor/free_place.h"

#include <string>

namespace spanscope::ui {
namespace {

using document::Document;
using document::DocumentNode;
using document::kNoNode;
using document::NodeId;

bool isPlusNode(const DocumentNode& node) {
  return std::string(query::operatorName(node.own)) == "plus";
}

bool takesMany(const DocumentNode& node) {
  return document::arityOf(node.own).most == document::Arity::kMany;
}

/// kNoNode: there is none.
NodeId plusThatIsMeant(const Document& document, NodeId selected) {
  for (NodeId id = selected; document.contains(id); id = document.at(id).parent) {
    if (isPlusNode(document.at(id))) return id;
  }
  if (document.root() == kNoNode) return kNoNode;
  NodeId only = kNoNode;
  for (const NodeId id : document.subtree(document.root())) {
    if (!isPlusNode(document.at(id))) continue;
    if (only != kNoNode) return kNoNode;
    only = id;
  }
  return only;
}

/// Puts the plus into the query. Returns false if there is no place for it.
bool placePlus(Document& document, NodeId plus, NodeId root) {
  NodeId above = root;
  while (!takesMany(document.at(above))) {
    const DocumentNode& node = document.at(above);
    // An operator with two inputs says itself what each is for.
    if (node.children.size() != 1) return false;
    const NodeId child = node.children.front();
    if (child == kNoNode) return connectAt(document, plus, {.parent = above, .index = 0});
    if (document.at(child).children.empty() && !takesMany(document.at(child))) {
      // A message alone is the question: the documents go before it.
      const NodeId cross = document::addNode(document, document::makeOperator("cross"));
      return document::insertAbove(document, child, cross) &&
             connectAt(document, plus, {.parent = cross, .index = 0});
    }
    above = child;
  }
  const std::size_t inputs = document.at(above).children.size();
  return connectAt(document, plus, {.parent = above, .index = inputs == 0 ? 0 : inputs - 1});
}

}  // namespace

std::vector<NodeId> addDocuments(Document& document, const std::vector<TextFile>& files, NodeId selected,
                                 const Stacks& stacks) {
  const NodeId root = document.root();
  NodeId plus = plusThatIsMeant(document, selected);
  bool isDraft = false;
  if (plus == kNoNode) {
    plus = document::addNode(document, document::makeOperator("plus"));
    isDraft = root != kNoNode && !placePlus(document, plus, root);
  }
  std::vector<NodeId> added;
  for (const TextFile& file : files) {
    query::Node message = document::makeOperator("user");
    *query::textOf(message) = file.text;
    const NodeId id = document::addNode(document, std::move(message));
    connectAt(document, id, {.parent = plus, .index = document.at(plus).children.size()});
    document::setName(document, id, file.name);
    added.push_back(id);
  }
  if (root != kNoNode) document::makeRoot(document, root);
  if (isDraft) moveToFreePlace(document, plus, stacks);
  return added;
}

NodeId startQuestion(Document& document) {
  const NodeId generate = document::addNode(document, document::makeOperator("g"));
  const NodeId cross = document::addNode(document, document::makeOperator("cross"));
  const NodeId plus = document::addNode(document, document::makeOperator("plus"));
  const NodeId question = document::addNode(document, document::makeOperator("user"));
  connectAt(document, cross, {.parent = generate, .index = 0});
  connectAt(document, plus, {.parent = cross, .index = 0});
  connectAt(document, question, {.parent = cross, .index = 1});
  document::makeRoot(document, generate);
  return question;
}

}  // namespace spanscope::ui
