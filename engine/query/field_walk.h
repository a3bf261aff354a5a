// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>

namespace spanscope::query {

/// Visits every field of a query that can hold a parameter, in the order of the tree. `Visitor` has, each
/// with a node's path and the field's pointer: text(), count(), maxTokens() and temperature(); if it has
/// node() and content(), it is also offered each node before its fields, and the content of documents.
/// `AnyNode` is Node or const Node.
template <class AnyNode, class Visitor>
class FieldWalk {
 public:
  explicit FieldWalk(Visitor& visitor) : m_visitor(visitor) {}

  void walk(AnyNode& node, const NodePath& path) {
    if constexpr (requires { m_visitor.node(path, node); }) m_visitor.node(path, node);
    std::visit([&](auto& value) { fields(value, path); }, node.value);
  }

 private:
  void text(const NodePath& node, const char* step, auto& value) { m_visitor.text(node, node + step, value); }
  void settings(const NodePath& node, const std::string& prefix, auto& settings) {
    m_visitor.text(node, prefix + "/model", settings.model);
    m_visitor.maxTokens(node, prefix + "/max_tokens", settings.maxTokens);
    m_visitor.temperature(node, prefix + "/temperature", settings.temperature);
  }

  template <class Value>
  void fields(Value& value, const NodePath& path) {
    using Kind = std::remove_const_t<Value>;
    if constexpr (std::is_same_v<Kind, Message>) {
      m_visitor.text(path, path + "/" + roleName(value.role), value.text);
    } else if constexpr (std::is_same_v<Kind, Print>) {
      text(path, "/print", value.text);
    } else if constexpr (std::is_same_v<Kind, Ask>) {
      text(path, "/ask", value.prompt);
    } else if constexpr (std::is_same_v<Kind, File>) {
      text(path, "/file", value.path);
    } else if constexpr (std::is_same_v<Kind, Generate>) {
      settings(path, path + "/g", value.settings);
      walk(*value.input, path + "/g/input");
    } else if constexpr (std::is_same_v<Kind, Repeat>) {
      m_visitor.count(path, path + "/repeat/n", value.count);
      settings(path, path + "/repeat/g", value.generate.settings);
      walk(*value.generate.input, path + "/repeat/g/input");
    } else if constexpr (std::is_same_v<Kind, Map>) {
      settings(path, path + "/map/metadata", value.settings);
      for (std::size_t i = 0; i < value.inputs.size(); ++i) {
        m_visitor.text(path, path + "/map/inputs/" + std::to_string(i), value.inputs[i]);
      }
    } else if constexpr (std::is_same_v<Kind, Join>) {
      const std::string prefix = path + "/" + joinName(value.kind) + "/";
      for (std::size_t i = 0; i < value.children.size(); ++i)
        walk(value.children[i], prefix + std::to_string(i));
    } else if constexpr (std::is_same_v<Kind, Monad>) {
      walk(*value.body, path + "/monad");
    } else if constexpr (std::is_same_v<Kind, Zip>) {
      walk(*value.first, path + "/zip/first");
      walk(*value.second, path + "/zip/second");
    } else {
      static_assert(std::is_same_v<Kind, Augment>);
      text(path, "/augment/embedding_model", value.embeddingModel);
      walk(*value.body, path + "/augment/body");
      text(path, "/augment/doc/0", value.document.name);
      if constexpr (requires { m_visitor.content(path, path, value.document.content); })
        m_visitor.content(path, path + "/augment/doc/1", value.document.content);
    }
  }

  Visitor& m_visitor;
};

}  // namespace spanscope::query
