// SPDX-License-Identifier: GPL-3.0-or-later
// The span query: a tree of messages and operators, as IBM/spnl 0.22 defines it. Plain values that copy,
// compare and cross threads. What was read is kept: the order of children, and absent against null against a
// value.
//
// Each operator is a file of operators/: its struct, its fields and what is said of it. Readers, writers,
// walks and everything else that holds for all operators are made from that (visit_fields.h, node_walk.h,
// node_parts.h).
#pragma once

#include "engine/query/operators/ask.h"
#include "engine/query/operators/augment.h"
#include "engine/query/operators/file.h"
#include "engine/query/operators/generate.h"
#include "engine/query/operators/join.h"
#include "engine/query/operators/map.h"
#include "engine/query/operators/message.h"
#include "engine/query/operators/monad.h"
#include "engine/query/operators/operator_info.h"
#include "engine/query/operators/print.h"
#include "engine/query/operators/repeat.h"
#include "engine/query/operators/settings.h"
#include "engine/query/operators/zip.h"

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

/// Every operator, in the order in which they are listed wherever all are.
using Operators = decltype(Node::value);

/// The key of the node's operator in JSON: "user", "g", "plus", "repeat", …
const char* operatorName(const Node& node);
/// What its operator is like.
const OperatorInfo& infoOf(const Node& node);

/// One child of a node and the steps that lead to it in the JSON pointer, e.g. "/cross/1" or "/g/input".
struct ChildRef {
  const Node* node = nullptr;
  std::string step;
};
/// The children of a node in prompt order. The pointer of a repeat's inner generate is "/repeat/g" and it is
/// listed as the children of that generate, i.e. "/repeat/g/input".
std::vector<ChildRef> childrenOf(const Node& node);

/// The node that a NodePath names ("" is `root` itself), or nullptr if there is none. Only nodes of the tree
/// are found:
/// "/repeat/g" and "/g" are parts of a node, not nodes.
const Node* nodeAt(const Node& root, std::string_view pointer);
Node* nodeAt(Node& root, std::string_view pointer);

}  // namespace spanscope::query
