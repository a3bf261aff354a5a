// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/node_walk.h"

#include "engine/query/visit_fields.h"

#include <algorithm>
#include <cstddef>

namespace spanscope::query {
namespace {

/// Passes on the queries among the fields of a node, with the steps to them.
template <class AnyNode, class Visit>
class ChildVisitor {
 public:
  ChildVisitor(const char* key, const Visit& visit) : m_prefix(std::string("/") + key), m_visit(visit) {}

  void operator()(const FieldInfo& /*info*/, const LeafField auto& /*field*/) {}
  void operator()(const FieldInfo& info, GroupField auto& group) {
    const std::size_t size = m_prefix.size();
    append(m_prefix, info);
    visitGroup(group, *this);
    m_prefix.resize(size);
  }
  void operator()(const FieldInfo& info, ChildField auto& child) {
    std::string step = m_prefix;
    append(step, info);
    m_visit(*child, step);
  }
  void operator()(const FieldInfo& info, ChildrenField auto& children) {
    std::string prefix = m_prefix;
    append(prefix, info);
    prefix += '/';
    for (std::size_t i = 0; i < children.size(); ++i) m_visit(children[i], prefix + std::to_string(i));
  }

 private:
  static void append(std::string& pointer, const FieldInfo& info) {
    if (!info.hasKey()) return;
    pointer += '/';
    pointer += info.key;
  }

  std::string m_prefix;
  const Visit& m_visit;
};

template <class AnyNode, class Visit>
void visitChildren(AnyNode& node, const Visit& visit) {
  ChildVisitor<AnyNode, Visit> visitor(operatorName(node), visit);
  visitFields(node, visitor);
}

template <class AnyNode, class Visit>
void walkAll(AnyNode& node, const NodePath& path, const Visit& visit) {
  visit(node, path);
  visitChildren(node, [&](AnyNode& child, const std::string& step) { walkAll(child, path + step, visit); });
}

}  // namespace

void forEachChild(const Node& node, const std::function<void(const Node&, const std::string&)>& visit) {
  visitChildren(node, visit);
}

void forEachChild(Node& node, const std::function<void(Node&, const std::string&)>& visit) {
  visitChildren(node, visit);
}

void walk(const Node& node, const NodePath& path,
          const std::function<void(const Node&, const NodePath&)>& visit) {
  walkAll(node, path, visit);
}

void walk(Node& node, const NodePath& path, const std::function<void(Node&, const NodePath&)>& visit) {
  walkAll(node, path, visit);
}

bool anyNode(const Node& node, const std::function<bool(const Node&)>& isSo) {
  if (isSo(node)) return true;
  bool isAny = false;
  visitChildren(
      node, [&](const Node& child, const std::string& /*step*/) { isAny = isAny || anyNode(child, isSo); });
  return isAny;
}

std::vector<ChildRef> childrenOf(const Node& node) {
  std::vector<ChildRef> children;
  visitChildren(node, [&](const Node& child, const std::string& step) {
    children.push_back({&child, step});
  });
  return children;
}

}  // namespace spanscope::query
