// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/document_query.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spanscope::document {
namespace {

query::Node missingInput() {
  return {query::Join{.kind = query::JoinKind::Seq, .children = {}}};
}

query::Node answer(const std::string& text) {
  return {query::Message{.role = query::Role::Assistant, .text = text}};
}

/// Returns an answer after its prompt, as one scope.
query::Node answered(query::Node input, const std::string& text) {
  query::Join closure{.kind = query::JoinKind::Seq, .children = {}};
  closure.children.push_back(std::move(input));
  closure.children.push_back(answer(text));
  return {std::move(closure)};
}

/// The place of a node in the query that is run.
struct Site {
  const query::GenerateSettings* enclosing = nullptr;  ///< settings of the nearest generating node above
  bool inPlus = false;                                 ///< whether the node is a direct child of a plus
};

/// Returns the place of a child.
Site siteBelow(const DocumentNode& node, std::size_t liveChildren, Site site) {
  if (const auto* join = node.own.as<query::Join>()) {
    // The planner removes joins with one child.
    const bool vanishes = join->kind != query::JoinKind::Plus && liveChildren == 1;
    return {site.enclosing, join->kind == query::JoinKind::Plus || (vanishes && site.inPlus)};
  }
  if (const query::GenerateSettings* settings = query::settingsOf(node.own)) return {settings, false};
  if (query::infoOf(node.own).gives == query::Gives::Nothing) return {nullptr, false};
  return {site.enclosing, false};
}

/// Whether any node below a frozen node would still run.
bool needsRuns(const Document& document, NodeId id) {
  for (const NodeId child : document.at(id).children) {
    if (child == kNoNode || document.at(child).muted) continue;
    const DocumentNode& below = document.at(child);
    if (below.isFrozen()) continue;
    if (query::answers(below.own) || query::documentOf(below.own) != nullptr) return true;
    if (needsRuns(document, child)) return true;
  }
  return false;
}

/// Whether the prompt of a frozen node goes into the outer prompt with the node's answers.
bool bringsPrompt(const Document& document, NodeId id, const Site& site) {
  const DocumentNode& node = document.at(id);
  const query::GenerateSettings* own = query::settingsOf(node.own);
  if (!document.settings.distribute || own == nullptr || site.enclosing == nullptr) return false;
  if (!site.inPlus && mostAnswers(node.own) == 1) return false;
  if (own->model != site.enclosing->model) return false;
  if (const std::vector<std::string>* inputs = query::inputsOf(node.own))
    return inputs->size() == node.frozen.size();
  const NodeId input = node.children.empty() ? kNoNode : node.children.front();
  return input != kNoNode && !document.at(input).muted && !needsRuns(document, id);
}

/// Builds the query below a node, and records the path of each node.
class Builder {
 public:
  Builder(const Document& document, TakeOut takeOut, QueryOf& result)
      : m_document(document), m_takeOut(takeOut), m_result(result) {}

  query::Node build(NodeId id, const NodePath& path, Site site = {}) {
    const DocumentNode& node = m_document.at(id);
    m_result.paths.byPath.emplace(path, id);
    if (m_takeOut == TakeOut::MutedAndFrozen && node.isFrozen()) return standIn(id, node, path, site);

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
    const Site below = siteBelow(node, kept.size(), site);
    // The operator gives the path steps to its children. `shape` has the same number of children.
    const query::Node shape = withChildren(node.own, std::vector<query::Node>(kept.size()));
    const std::vector<query::ChildRef> steps = query::childrenOf(shape);
    std::vector<query::Node> children;
    children.reserve(kept.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
      children.push_back(build(kept[i], path + steps[i].step, below));
    return withChildren(node.own, std::move(children));
  }

 private:
  /// The replacement of a frozen node, as the planner would put it into the outer prompt. Repeats and maps
  /// are a plus of generate nodes, even if there is only one. Distribution puts the question before each
  /// answer in a plus.
  query::Node standIn(NodeId id, const DocumentNode& node, const NodePath& path, Site site) {
    const bool isMany = mostAnswers(node.own) != 1;
    const bool isSubqueryResult = bringsPrompt(m_document, id, site);
    if (!isMany) return isSubqueryResult ? closure(node, path, 0) : answer(node.frozen.front());
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    plus.children.reserve(node.frozen.size());
    for (std::size_t i = 0; i < node.frozen.size(); ++i) {
      const NodePath place = path + "/plus/" + std::to_string(i);
      plus.children.push_back(isSubqueryResult ? closure(node, place, i) : answer(node.frozen[i]));
    }
    return {std::move(plus)};
  }

  query::Node closure(const DocumentNode& node, const NodePath& path, std::size_t index) {
    const std::vector<std::string>* inputs = query::inputsOf(node.own);
    if (inputs != nullptr) {
      query::Node asked{query::Message{.role = query::Role::User, .text = (*inputs)[index]}};
      return answered(std::move(asked), node.frozen[index]);
    }
    const Site inside{query::settingsOf(node.own), false};
    return answered(build(node.children.front(), path + "/seq/0", inside), node.frozen[index]);
  }

  bool isLeftOut(NodeId child) const {
    return m_takeOut == TakeOut::MutedAndFrozen && m_document.at(child).muted;
  }

  const Document& m_document;
  TakeOut m_takeOut;
  QueryOf& m_result;
};

/// Replaces a tree by another tree and keeps matching nodes. Equal subtrees match first, then equal operators
/// in their order.
class Replacer {
 public:
  explicit Replacer(Document& document) : m_document(document) {}

  /// Changes the subtree at `id` so that it equals `wanted`. Returns its top, which is `id` if the operator
  /// is the same.
  NodeId replace(NodeId id, const query::Node& wanted) {
    // If operators were added or removed around a tree, the nodes of this tree are kept.
    const query::Node before = toTree(m_document, id);
    if (isWhole(id) && holds(wanted, before)) return wrap(id, before, wanted);
    if (const NodeId kept = partLike(id, wanted); kept != kNoNode) {
      release(kept);
      drop(id);
      return kept;
    }
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
  /// Whether no input is missing in a subtree, so that toTree() returns the whole subtree.
  bool isWhole(NodeId id) const {
    const std::vector<NodeId>& children = m_document.at(id).children;
    return std::ranges::all_of(children, [this](NodeId child) { return child != kNoNode && isWhole(child); });
  }

  /// Whether a tree contains this part below its top.
  static bool holds(const query::Node& tree, const query::Node& part) {
    const std::vector<query::ChildRef> children = query::childrenOf(tree);
    return std::ranges::any_of(children, [&part](const query::ChildRef& child) {
      return *child.node == part || holds(*child.node, part);
    });
  }

  /// Adds the tree `wanted`. The node `id` takes the place of its first part that equals `old`.
  NodeId wrap(NodeId id, const query::Node& old, const query::Node& wanted) {
    if (wanted == old) return id;
    const std::vector<query::ChildRef> children = query::childrenOf(wanted);
    const auto inner = std::ranges::find_if(children, [&old](const query::ChildRef& child) {
      return *child.node == old || holds(*child.node, old);
    });
    std::vector<NodeId> now;
    for (auto child = children.begin(); child != children.end(); ++child)
      now.push_back(child == inner ? wrap(id, old, *child->node) : addSubtree(m_document, *child->node));
    DocumentNode node;
    node.own = withoutChildren(wanted);
    node.children = now;
    release(*(now.begin() + (inner - children.begin())));
    return m_document.insert(std::move(node));
  }

  /// Returns the node below `id` whose tree equals `wanted`, or kNoNode.
  NodeId partLike(NodeId id, const query::Node& wanted) const {
    for (const NodeId child : m_document.at(id).children) {
      if (child == kNoNode) continue;
      if (isWhole(child) && toTree(m_document, child) == wanted) return child;
      if (const NodeId below = partLike(child, wanted); below != kNoNode) return below;
    }
    return kNoNode;
  }

  /// Takes a node out of its parent, which will be replaced.
  void release(NodeId id) {
    const NodeId parent = m_document.at(id).parent;
    if (parent == kNoNode) return;
    for (NodeId& child : m_document.edit(parent).children)
      if (child == id) child = kNoNode;
    DocumentNode& node = m_document.edit(id);
    node.parent = kNoNode;
    node.bends.clear();
  }

  /// Whether one tree is a part of the other, or both have the same operator and an equal child.
  bool areAkin(NodeId id, const query::Node& wanted) const {
    if (isWhole(id) && holds(wanted, toTree(m_document, id))) return true;
    if (partLike(id, wanted) != kNoNode) return true;
    if (m_document.at(id).own.value.index() != wanted.value.index()) return false;
    const std::vector<query::ChildRef> children = query::childrenOf(wanted);
    const std::vector<NodeId>& old = m_document.at(id).children;
    return std::ranges::any_of(old, [&](NodeId child) {
      if (child == kNoNode) return false;
      const query::Node tree = toTree(m_document, child);
      return std::ranges::any_of(children, [&tree](const query::ChildRef& one) { return *one.node == tree; });
    });
  }

  void pairByOperator(const std::vector<query::ChildRef>& children, const std::vector<NodeId>& old,
                      std::vector<bool>& taken, std::vector<NodeId>& now) const {
    // The first pairs are trees where one contains the other, or with an equal child. Then pairs at the same
    // place follow, then all others.
    for (std::size_t i = 0; i < children.size(); ++i) {
      for (std::size_t j = 0; j < old.size() && now[i] == kNoNode; ++j) {
        if (taken[j] || old[j] == kNoNode || !areAkin(old[j], *children[i].node)) continue;
        taken[j] = true;
        now[i] = old[j];
      }
    }
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
