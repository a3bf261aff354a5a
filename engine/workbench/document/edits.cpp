// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/edits.h"

#include "engine/query/node_parts.h"
#include "engine/query/visit_fields.h"

#include <algorithm>
#include <set>

namespace spanscope::document {
namespace {

/// Takes the child out of its parent. A join then has one child fewer. Other operators have an empty input.
void detach(Document& document, NodeId child) {
  const NodeId parent = document.at(child).parent;
  if (parent == kNoNode) return;
  const std::size_t index = document.indexInParent(child);
  DocumentNode& above = document.edit(parent);
  if (arityOf(above.own).most == Arity::kMany) {
    above.children.erase(above.children.begin() + static_cast<std::ptrdiff_t>(index));
  } else {
    above.children[index] = kNoNode;
  }
  DocumentNode& node = document.edit(child);
  node.parent = kNoNode;
  node.bends.clear();  // the points belonged to the removed wire
}

/// The place must accept the child.
void attach(Document& document, NodeId child, const Place& place) {
  DocumentNode& above = document.edit(place.parent);
  if (arityOf(above.own).most == Arity::kMany) {
    above.children.insert(above.children.begin() + static_cast<std::ptrdiff_t>(place.index), child);
  } else {
    above.children[place.index] = child;
  }
  document.edit(child).parent = place.parent;
}

std::optional<std::size_t> freeInput(const DocumentNode& node) {
  if (arityOf(node.own).most == Arity::kMany) return node.children.size();
  const auto found = std::ranges::find(node.children, kNoNode);
  if (found == node.children.end()) return std::nullopt;
  return static_cast<std::size_t>(found - node.children.begin());
}

bool isJoin(const DocumentNode& node) {
  return arityOf(node.own).most == Arity::kMany;
}

}  // namespace

const std::vector<std::string>& operatorNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    query::forEachOperator([&]<class Operator>() {
      query::forEachKey<Operator>([&](const char* key, const auto& /*make*/) { all.emplace_back(key); });
    });
    return all;
  }();
  return names;
}

query::Node makeOperator(std::string_view op) {
  return query::makeOperator(op);
}

NodeId addNode(Document& document, query::Node own, std::optional<Point> position) {
  DocumentNode node;
  node.own = withoutChildren(std::move(own));
  const Arity arity = arityOf(node.own);
  node.children.assign(arity.most == Arity::kMany ? 0 : arity.most, kNoNode);
  node.position = position;
  const NodeId id = document.insert(std::move(node));
  document.mendRoot();
  return id;
}

NodeId addTree(Document& document, const query::Node& tree, std::optional<Point> position) {
  const NodeId top = addSubtree(document, tree);
  document.edit(top).position = position;
  document.mendRoot();
  return top;
}

bool canConnect(const Document& document, NodeId child, const Place& place) {
  const DocumentNode* node = document.find(child);
  const DocumentNode* above = document.find(place.parent);
  if (node == nullptr || above == nullptr || document.isAncestor(child, place.parent)) return false;
  if (isJoin(*above)) {
    const std::size_t places = above->children.size() - (node->parent == place.parent ? 1 : 0);
    return place.index <= places;
  }
  return place.index < above->children.size() && above->children[place.index] == kNoNode;
}

bool connect(Document& document, NodeId child, const Place& place) {
  if (!canConnect(document, child, place)) return false;
  detach(document, child);
  attach(document, child, place);
  document.mendRoot();
  return true;
}

bool disconnect(Document& document, NodeId child) {
  const DocumentNode* node = document.find(child);
  if (node == nullptr || node->parent == kNoNode) return false;
  detach(document, child);
  return true;
}

bool insertAbove(Document& document, NodeId child, NodeId inserted) {
  if (!document.contains(child) || !document.contains(inserted)) return false;
  if (document.isAncestor(inserted, child) || document.isAncestor(child, inserted)) return false;
  if (document.at(inserted).parent != kNoNode) return false;
  const std::optional<std::size_t> input = freeInput(document.at(inserted));
  if (!input) return false;
  const Place place{.parent = document.at(child).parent, .index = document.indexInParent(child)};
  if (place.parent != kNoNode) {
    detach(document, child);
    attach(document, inserted, place);
  }
  const bool wasRoot = document.root() == child;
  attach(document, child, {.parent = inserted, .index = *input});
  if (wasRoot) document.setRoot(inserted);
  document.mendRoot();
  return true;
}

bool moveChild(Document& document, NodeId parent, std::size_t from, std::size_t to) {
  const DocumentNode* node = document.find(parent);
  if (node == nullptr || !isJoin(*node)) return false;
  if (from >= node->children.size() || to >= node->children.size() || from == to) return false;
  std::vector<NodeId>& children = document.edit(parent).children;
  const NodeId child = children[from];
  children.erase(children.begin() + static_cast<std::ptrdiff_t>(from));
  children.insert(children.begin() + static_cast<std::ptrdiff_t>(to), child);
  return true;
}

bool swapChildren(Document& document, NodeId parent, std::size_t a, std::size_t b) {
  const DocumentNode* node = document.find(parent);
  if (node == nullptr || a == b || a >= node->children.size() || b >= node->children.size()) return false;
  std::vector<NodeId>& children = document.edit(parent).children;
  std::swap(children[a], children[b]);
  return true;
}

void removeSubtrees(Document& document, const std::vector<NodeId>& ids) {
  for (const NodeId top : topmost(document, ids)) {
    detach(document, top);
    const std::vector<NodeId> nodes = document.subtree(top);
    for (const NodeId node : nodes) document.edit(node).parent = kNoNode;
    for (const NodeId node : nodes) document.erase(node);
  }
  document.mendRoot();
}

void removeKeepingChain(Document& document, const std::vector<NodeId>& ids) {
  for (const NodeId id : ids) {
    if (!document.contains(id)) continue;
    const bool wasRoot = document.root() == id;
    std::vector<NodeId> children;
    for (const NodeId child : document.at(id).children) {
      if (child != kNoNode) children.push_back(child);
    }
    for (const NodeId child : children) detach(document, child);
    Place place{.parent = document.at(id).parent, .index = document.indexInParent(id)};
    detach(document, id);
    document.erase(id);
    for (const NodeId child : children) {
      if (place.parent == kNoNode || !canConnect(document, child, place)) continue;
      attach(document, child, place);
      ++place.index;
    }
    if (wasRoot && !children.empty()) document.setRoot(children.front());
  }
  document.mendRoot();
}

bool setOwn(Document& document, NodeId id, query::Node own) {
  const DocumentNode* node = document.find(id);
  if (node == nullptr || own.value.index() != node->own.value.index()) return false;
  query::Node alone = withoutChildren(std::move(own));
  if (alone == node->own) return true;
  document.edit(id).own = std::move(alone);
  return true;
}

bool replaceOperator(Document& document, NodeId id, std::string_view op) {
  if (!document.contains(id)) return false;
  if (std::ranges::find(operatorNames(), op) == operatorNames().end()) return false;
  query::Node own = makeOperator(op);
  const bool isSameOperator = own.value.index() == document.at(id).own.value.index();
  {
    const query::Node& old = document.at(id).own;
    const std::string* oldText = query::textOf(old);
    std::string* text = query::textOf(own);
    if (oldText != nullptr && text != nullptr) *text = *oldText;
    const query::GenerateSettings* oldSettings = query::settingsOf(old);
    query::GenerateSettings* settings = query::settingsOf(own);
    if (oldSettings != nullptr && settings != nullptr) *settings = *oldSettings;
  }

  std::vector<NodeId> children;
  for (const NodeId child : document.at(id).children) {
    if (child != kNoNode) children.push_back(child);
  }
  std::vector<std::vector<Point>> bends;
  for (const NodeId child : children) {
    bends.push_back(document.at(child).bends);
    detach(document, child);
  }
  const Arity arity = arityOf(own);
  DocumentNode& node = document.edit(id);
  node.own = std::move(own);
  node.children.assign(arity.most == Arity::kMany ? 0 : arity.most, kNoNode);
  if (!isSameOperator) node.frozen.clear();
  if (mostAnswers(node.own) == 0) node.server.clear();
  if (query::documentOf(node.own) == nullptr) node.passages.clear();
  for (std::size_t i = 0; i < children.size() && i < arity.most; ++i) {
    attach(document, children[i], {.parent = id, .index = i});
    if (!bends[i].empty()) document.edit(children[i]).bends = std::move(bends[i]);
  }
  return true;
}

void setName(Document& document, NodeId id, std::string name) {
  if (document.contains(id)) document.edit(id).name = std::move(name);
}

void setMuted(Document& document, const std::vector<NodeId>& ids, bool muted) {
  for (const NodeId id : ids) {
    if (document.contains(id)) document.edit(id).muted = muted;
  }
}

void setCollapsed(Document& document, const std::vector<NodeId>& ids, bool collapsed) {
  for (const NodeId id : ids) {
    if (document.contains(id)) document.edit(id).collapsed = collapsed;
  }
}

void setFrozen(Document& document, NodeId id, std::vector<std::string> answers) {
  const DocumentNode* node = document.find(id);
  if (node == nullptr || answers.size() > mostAnswers(node->own)) return;
  document.edit(id).frozen = std::move(answers);
}

void setServer(Document& document, NodeId id, std::string server) {
  const DocumentNode* node = document.find(id);
  if (node != nullptr && mostAnswers(node->own) > 0) document.edit(id).server = std::move(server);
}

void setPassageMark(Document& document, NodeId id, const std::string& hash, std::optional<PassageMark> mark) {
  const DocumentNode* node = document.find(id);
  if (node == nullptr || query::documentOf(node->own) == nullptr) return;
  if (mark)
    document.edit(id).passages[hash] = *mark;
  else if (node->passages.contains(hash))
    document.edit(id).passages.erase(hash);
}

void setPosition(Document& document, NodeId id, std::optional<Point> position) {
  if (document.contains(id)) document.edit(id).position = position;
}

void setBends(Document& document, NodeId id, std::vector<Point> bends) {
  const DocumentNode* node = document.find(id);
  if (node == nullptr || node->parent == kNoNode || bends.size() > kMostBends || node->bends == bends) return;
  document.edit(id).bends = std::move(bends);
}

bool makeRoot(Document& document, NodeId top) {
  if (!document.contains(top)) return false;
  document.setRoot(top);
  document.mendRoot();
  return true;
}

std::vector<NodeId> duplicate(Document& document, const std::vector<NodeId>& ids) {
  std::vector<NodeId> copies;
  for (const NodeId id : topmost(document, ids)) {
    const NodeId copy = copySubtree(document, id);
    copies.push_back(copy);
    const NodeId parent = document.at(id).parent;
    if (parent == kNoNode || !isJoin(document.at(parent))) {
      // The copy is beside the original, so that it does not hide the original.
      if (const std::optional<Point> at = document.at(id).position) {
        document.edit(copy).position = Point{.x = at->x + 40, .y = at->y + 40};
      }
      continue;
    }
    attach(document, copy, {.parent = parent, .index = document.indexInParent(id) + 1});
  }
  document.mendRoot();
  return copies;
}

std::vector<NodeId> topmost(const Document& document, const std::vector<NodeId>& ids) {
  const std::set<NodeId> wanted(ids.begin(), ids.end());
  std::vector<NodeId> result;
  for (const NodeId top : document.tops()) {
    std::vector<NodeId> open{top};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (wanted.contains(id)) {
        result.push_back(id);
        continue;
      }
      const std::vector<NodeId>& children = document.at(id).children;
      for (auto child = children.rbegin(); child != children.rend(); ++child) {
        if (*child != kNoNode) open.push_back(*child);
      }
    }
  }
  return result;
}

const query::ParameterDeclaration* declarationOf(const Document& document, std::string_view name) {
  const auto found = std::ranges::find_if(
      document.declarations, [name](const query::ParameterDeclaration& known) { return known.name == name; });
  return found == document.declarations.end() ? nullptr : &*found;
}

void declareParameter(Document& document, query::ParameterDeclaration declaration) {
  auto& declarations = document.declarations;
  const auto found = std::ranges::find_if(
      declarations,
      [&declaration](const query::ParameterDeclaration& known) { return known.name == declaration.name; });
  if (declaration.isEmpty()) {
    if (found != declarations.end()) declarations.erase(found);
  } else if (found != declarations.end()) {
    *found = std::move(declaration);
  } else {
    declarations.push_back(std::move(declaration));
  }
}

}  // namespace spanscope::document
