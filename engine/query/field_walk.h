// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/query/visit_fields.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace spanscope::query {

/// Visits every field of a query that can hold a parameter, in the order of the tree. `Visitor` has the
/// functions text(), count(), maxTokens() and temperature(); each gets the path of the node and the pointer
/// of the field. If it also has node() and content(), it gets each node before its fields, and the content of
/// documents. `AnyNode` is Node or const Node.
template <class AnyNode, class Visitor>
class FieldWalk {
 public:
  explicit FieldWalk(Visitor& visitor) : m_visitor(visitor) {}

  void walk(AnyNode& node, const NodePath& path) {
    if constexpr (requires { m_visitor.node(path, node); }) m_visitor.node(path, node);
    Fields fields(*this, path, path + "/" + operatorName(node));
    visitFields(node, fields);
  }

 private:
  /// Visits the fields of one node.
  class Fields {
   public:
    Fields(FieldWalk& walk, const NodePath& node, std::string prefix)
        : m_walk(walk), m_visitor(walk.m_visitor), m_node(node), m_prefix(std::move(prefix)) {}

    void operator()(const FieldInfo& info, TextField auto& text) {
      m_visitor.text(m_node, pointer(info), text);
    }
    void operator()(const FieldInfo& info, CountField auto& count) {
      m_visitor.count(m_node, pointer(info), count);
    }
    void operator()(const FieldInfo& info, SettingField auto& setting) {
      if constexpr (IsOneOf<std::remove_reference_t<decltype(setting)>, Setting<float>>) {
        m_visitor.temperature(m_node, pointer(info), setting);
      } else {
        m_visitor.maxTokens(m_node, pointer(info), setting);
      }
    }
    void operator()(const FieldInfo& info, TextsField auto& texts) {
      const std::string prefix = pointer(info) + "/";
      for (std::size_t i = 0; i < texts.size(); ++i)
        m_visitor.text(m_node, prefix + std::to_string(i), texts[i]);
    }
    void operator()(const FieldInfo& info, DocumentField auto& document) {
      m_visitor.text(m_node, pointer(info) + "/0", document.name);
      if constexpr (requires { m_visitor.content(m_node, m_prefix, document.content); })
        m_visitor.content(m_node, pointer(info) + "/1", document.content);
    }
    void operator()(const FieldInfo& info, GroupField auto& group) {
      const std::size_t size = m_prefix.size();
      m_prefix = pointer(info);
      visitGroup(group, *this);
      m_prefix.resize(size);
    }
    void operator()(const FieldInfo& info, ChildField auto& child) { m_walk.walk(*child, pointer(info)); }
    void operator()(const FieldInfo& info, ChildrenField auto& children) {
      const std::string prefix = pointer(info) + "/";
      for (std::size_t i = 0; i < children.size(); ++i) m_walk.walk(children[i], prefix + std::to_string(i));
    }

   private:
    std::string pointer(const FieldInfo& info) const {
      return info.hasKey() ? m_prefix + "/" + info.key : m_prefix;
    }

    FieldWalk& m_walk;
    Visitor& m_visitor;
    const NodePath& m_node;
    std::string m_prefix;
  };

  Visitor& m_visitor;
};

}  // namespace spanscope::query
