// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the span query: a tree of messages and operators, as in IBM/spnl 0.22. The tree consists of plain
// values. Threads can copy, compare and pass the values. The tree keeps the order of children as read. The
// tree distinguishes a setting that is absent, null or a value.
//
// operators/operators.h has a struct for each operator, with its fields and its properties. All readers,
// writers and walks use the field lists of operators (visit_fields.h, node_parts.h). Open this file first
// when you work on the query language.
#pragma once

#include "engine/query/operators/operator_info.h"
#include "engine/query/operators/operators.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::query {

struct Node {
  std::variant<Message, Generate, Join, Monad, Zip, Print, Repeat, Map, Augment, Ask, File> value;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&value);
  }
  bool operator==(const Node&) const = default;
};

inline bool Join::operator==(const Join& other) const {
  return kind == other.kind && children == other.children;
}
inline Join Join::ofKind(JoinKind kind) {
  return {kind, {}};
}

/// All operators. Every list of operators has this order.
using Operators = decltype(Node::value);

/// Returns the key of the node's operator in JSON: "user", "g", "plus", "repeat", …
const char* operatorName(const Node& node);
/// Returns the properties of the node's operator.
const OperatorInfo& infoOf(const Node& node);

/// A child of a node, and its step in the JSON pointer, e.g. "/cross/1" or "/g/input".
struct ChildRef {
  const Node* node = nullptr;
  std::string step;
};
/// Returns the children of a node in prompt order. The inner generate node of a repeat is part of the repeat.
/// The step to the input of this generate node is therefore "/repeat/g/input".
std::vector<ChildRef> childrenOf(const Node& node);

/// Returns the node at this NodePath ("" is `root`), or nullptr. The function finds only nodes of the tree.
/// "/repeat/g" and "/g" are parts of a node, not nodes.
const Node* nodeAt(const Node& root, std::string_view pointer);
Node* nodeAt(Node& root, std::string_view pointer);

}  // namespace spanscope::query
