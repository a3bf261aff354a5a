// SPDX-License-Identifier: GPL-3.0-or-later
// Visits the fields of a node of any operator. Open this file to add a kind of field.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/operators/operators.h"
#include "engine/query/query.h"

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace spanscope::query {

// The kinds of fields, by the types of their members. A visitor has one overload for each kind that it
// handles. One more overload, LeafField or a part of it, takes all other kinds. A member of an unknown type
// fits no overload, and the code does not compile.

/// `Member` is `T` or `const T`.
template <class Member, class... T>
concept IsOneOf = (std::same_as<std::remove_const_t<Member>, T> || ...);

/// A text: a message, a print, a path, a name.
template <class Member>
concept TextField = IsOneOf<Member, std::string>;

/// A number that may be absent, null or a parameter: max_tokens, temperature.
template <class Member>
concept SettingField = IsOneOf<Member, Setting<std::int32_t>, Setting<float>>;

template <class Member>
concept CountField = IsOneOf<Member, Times>;

/// Texts of a map. The model answers each one separately.
template <class Member>
concept TextsField = IsOneOf<Member, std::vector<std::string>>;

/// A document: a name and a content.
template <class Member>
concept DocumentField = IsOneOf<Member, SourceDocument>;

/// A field that contains no other fields and no queries.
template <class Member>
concept LeafField = TextField<Member> || SettingField<Member> || CountField<Member> || TextsField<Member> ||
    DocumentField<Member>;

/// A field with fields of its own. If the group has a key, the fields are under this key. Otherwise they are
/// beside the fields of the surrounding operator.
template <class Member>
concept GroupField = IsOneOf<Member, GenerateSettings, Generate>;

/// A query.
template <class Member>
concept ChildField = IsOneOf<Member, Box<Node>>;

/// Any number of queries.
template <class Member>
concept ChildrenField = IsOneOf<Member, std::vector<Node>>;

/// Visits the fields of a group.
template <GroupField Group, class Visit>
void visitGroup(Group& group, Visit& visit) {
  std::remove_const_t<Group>::fields(group, visit);
}

/// Calls visit(info, member) for each field of the node's operator, in written order. `AnyNode` is Node or
/// const Node.
template <class AnyNode, class Visit>
void visitFields(AnyNode& node, Visit&& visit) {
  std::visit([&](auto& op) { std::remove_cvref_t<decltype(op)>::fields(op, visit); }, node.value);
}

/// Returns the key of an operator's value in JSON.
template <class Operator>
const char* keyOf(const Operator& op) {
  if constexpr (requires { op.key(); }) {
    return op.key();
  } else {
    return Operator::kKey;
  }
}

/// The index of an operator in query::Operators.
template <class Operator>
inline constexpr std::size_t kIndexOf = [] {
  std::size_t index = 0;
  bool isFound = false;
  [&]<class... Known>(std::type_identity<std::variant<Known...>>) {
    (((isFound = isFound || std::is_same_v<Known, Operator>) || ++index), ...);
  }(std::type_identity<Operators>());
  return index;
}();

/// Calls f(key, make) for each JSON key of the operator. make() returns the empty operator with this key.
template <class Operator, class F>
constexpr void forEachKey(F&& f) {
  if constexpr (requires { Operator::kKinds; }) {
    for (const auto kind : Operator::kKinds)
      f(Operator::keyOf(kind), [kind] { return Operator::ofKind(kind); });
  } else {
    f(Operator::kKey, [] { return Operator{}; });
  }
}

/// Returns the empty operator with this key.
template <class Operator>
Operator operatorOf(std::string_view key) {
  Operator op;
  forEachKey<Operator>([&](std::string_view known, const auto& make) {
    if (known == key) op = make();
  });
  return op;
}

/// Calls f.template operator()<Operator>() for every operator, in the order of query::Operators.
template <class F>
constexpr void forEachOperator(F&& f) {
  [&]<class... Operator>(std::type_identity<std::variant<Operator...>>) {
    (f.template operator()<Operator>(), ...);
  }(std::type_identity<Operators>());
}

/// Visits every field of a query that can contain a parameter, in the order of the tree. Type `AnyNode` is
/// Node or const Node. The `Visitor` has the functions text(), count(), maxTokens() and temperature(). Each
/// function gets the path of the node and the pointer of the field. An optional function node() gets each
/// node before its fields. An optional function content() gets the content of documents.
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
