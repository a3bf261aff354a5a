// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/document_query.h"

#include "engine/workbench/document/tree_parts.h"

#include <cstddef>
#include <utility>

namespace spanscope::document {
namespace {

query::Node missingInput() {
  return {query::Join{.kind = query::JoinKind::Seq, .children = {}}};
}

query::Node reply(const std::string& text) {
  return {query::Message{.role = query::Role::Assistant, .text = text}};
}

/// What stands in for a frozen node: the planner expands repeats and maps to a plus of generates, even where
/// there is only one, and this is that plus with the replies in it.
query::Node standIn(const DocumentNode& node) {
  if (mostReplies(node.own) == 1) return reply(node.frozen.front());
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  plus.children.reserve(node.frozen.size());
  for (const std::string& text : node.frozen) plus.children.push_back(reply(text));
  return {std::move(plus)};
}

/// Builds the query below a node while it notes where each node ends up.
class Builder {
 public:
  Builder(const Document& document, TakeOut takeOut, QueryOf& result)
      : m_document(document), m_takeOut(takeOut), m_result(result) {}

  query::Node build(NodeId id, const NodePath& path) {
    const DocumentNode& node = m_document.at(id);
    m_result.paths.byNode.emplace(id, path);
    m_result.paths.byPath.emplace(path, id);
    if (m_takeOut == TakeOut::MutedAndFrozen && node.isFrozen()) return standIn(node);

    std::vector<NodeId> kept;
    bool missing = false;
    for (const NodeId child : node.children) {
      if (child == kNoNode || isLeftOut(child)) {
        missing = missing || arityOf(node.own).most != Arity::kMany;
        continue;
      }
      kept.push_back(child);
    }
    if (missing) {
      m_result.incomplete.push_back(id);
      for (const NodeId child : kept) build(child, path + "/-");
      return missingInput();
    }
    // The steps that lead to children are the operator's own: asked of a node that has as many.
    const query::Node shape = withChildren(node.own, std::vector<query::Node>(kept.size()));
    const std::vector<query::ChildRef> steps = query::childrenOf(shape);
    std::vector<query::Node> children;
    children.reserve(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i) children.push_back(build(kept[i], path + steps[i].step));
    return withChildren(node.own, std::move(children));
  }

 private:
  bool isLeftOut(NodeId child) const {
    return m_takeOut == TakeOut::MutedAndFrozen && m_document.at(child).muted;
  }

  const Document& m_document;
  TakeOut m_takeOut;
  QueryOf& m_result;
};

/// What stays of a tree when another takes its place: pairs equal subtrees first, then the same operators in
/// the order in which they stand.
class Replacer {
 public:
  explicit Replacer(Document& document) : m_document(document) {}

  /// Makes the subtree at `id` say what `wanted` says and returns its top: `id` where the operator is the
  /// same.
  NodeId replace(NodeId id, const query::Node& wanted) {
    if (m_document.at(id).own.value.index() != wanted.value.index()) {
      drop(id);
      return addSubtree(m_document, wanted);
    }
    const query::Node own = withoutChildren(wanted);
    if (m_document.at(id).own != own) m_document.edit(id).own = own;
    const std::vector<query::ChildRef> children = query::childrenOf(wanted);
    const std::vector<NodeId> old = m_document.at(id).children;
    std::vector<bool> taken(old.size(), false);
    std::vector<NodeId> now(children.size(), kNoNode);

    for (std::size_t i = 0; i < children.size(); ++i) {
      for (std::size_t j = 0; j < old.size() && now[i] == kNoNode; ++j) {
        if (taken[j] || old[j] == kNoNode || toTree(m_document, old[j]) != *children[i].node) continue;
        taken[j] = true;
        now[i] = old[j];
      }
    }
    std::vector<bool> settled(children.size());
    for (std::size_t i = 0; i < children.size(); ++i) settled[i] = now[i] != kNoNode;
    pairByOperator(children, old, taken, now);

    for (std::size_t i = 0; i < children.size(); ++i) {
      if (settled[i]) continue;
      now[i] =
          now[i] == kNoNode ? addSubtree(m_document, *children[i].node) : replace(now[i], *children[i].node);
    }
    for (std::size_t j = 0; j < old.size(); ++j) {
      if (!taken[j] && old[j] != kNoNode) drop(old[j]);
    }
    if (now != old) {
      m_document.edit(id).children = now;
      for (const NodeId child : now) {
        if (m_document.at(child).parent != id) m_document.edit(child).parent = id;
      }
    }
    return id;
  }

 private:
  void pairByOperator(const std::vector<query::ChildRef>& children, const std::vector<NodeId>& old,
                      std::vector<bool>& taken, std::vector<NodeId>& now) const {
    // The same place first, then any.
    for (const bool samePlace : {true, false}) {
      for (std::size_t i = 0; i < children.size(); ++i) {
        for (std::size_t j = samePlace ? i : 0; j < (samePlace ? i + 1 : old.size()); ++j) {
          if (now[i] != kNoNode || j >= old.size() || taken[j] || old[j] == kNoNode) continue;
          if (m_document.at(old[j]).own.value.index() != children[i].node->value.index()) continue;
          taken[j] = true;
          now[i] = old[j];
        }
      }
    }
  }

  void drop(NodeId id) {
    const std::vector<NodeId> nodes = m_document.subtree(id);
    for (const NodeId node : nodes) m_document.edit(node).parent = kNoNode;
    for (const NodeId node : nodes) m_document.erase(node);
  }

  Document& m_document;
};

}  // namespace

Document fromQuery(const query::Node& query) {
  Document document;
  document.setRoot(addSubtree(document, query));
  return document;
}

NodeId NodePaths::nodeOf(const NodePath& path) const {
  NodePath place = path;
  while (true) {
    if (const auto found = byPath.find(place); found != byPath.end()) return found->second;
    const std::size_t slash = place.rfind('/');
    if (slash == NodePath::npos) return kNoNode;
    place.resize(slash);
  }
}

QueryOf toQuery(const Document& document, TakeOut takeOut, NodeId top) {
  QueryOf result;
  if (top == kNoNode) top = document.root();
  if (!document.contains(top)) return result;
  query::Node query = Builder(document, takeOut, result).build(top, {});
  if (result.incomplete.empty()) result.query = std::move(query);
  return result;
}

query::Node toTree(const Document& document, NodeId top) {
  const DocumentNode& node = document.at(top);
  std::vector<query::Node> children;
  for (const NodeId child : node.children) {
    children.push_back(child == kNoNode ? missingInput() : toTree(document, child));
  }
  return withChildren(node.own, std::move(children));
}

std::map<std::string, std::string> effectiveValues(const Document& document) {
  std::map<std::string, std::string> values = document.parameters;
  for (const query::ParameterDeclaration& declaration : document.declarations) {
    if (declaration.defaultValue) values.try_emplace(declaration.name, *declaration.defaultValue);
  }
  return values;
}

void replaceQuery(Document& document, const query::Node& query) {
  if (document.root() == kNoNode) {
    document.setRoot(addSubtree(document, query));
    return;
  }
  document.setRoot(Replacer(document).replace(document.root(), query));
}

}  // namespace spanscope::document
