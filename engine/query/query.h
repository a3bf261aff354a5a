// SPDX-License-Identifier: GPL-3.0-or-later
// The span query: a tree of messages and operators, as IBM/spnl 0.22 defines it. It consists of plain values
// that can be copied, compared and passed between threads. It keeps what was read: the order of children, and
// whether a setting is absent, null or a value.
//
// Each operator has a file in operators/ with its struct, its fields and what is known of it. Readers,
// writers, walks and everything else that treats all operators alike are made from these (visit_fields.h,
// node_parts.h, node_parts.h).
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

/// Every operator. Lists of all operators have this order.
using Operators = decltype(Node::value);

/// The key of the node's operator in JSON: "user", "g", "plus", "repeat", …
const char* operatorName(const Node& node);
/// What is known of the node's operator.
const OperatorInfo& infoOf(const Node& node);

/// A child of a node, and the step that leads to it in the JSON pointer, e.g. "/cross/1" or "/g/input".
struct ChildRef {
  const Node* node = nullptr;
  std::string step;
};
/// The children of a node in prompt order. The inner generate of a repeat is part of the repeat. So the step
/// to the generate's input is "/repeat/g/input".
std::vector<ChildRef> childrenOf(const Node& node);

/// The node at this NodePath ("" is `root` itself), or nullptr if there is none. It finds only nodes of the
/// tree; "/repeat/g" and "/g" are parts of a node, not nodes.
const Node* nodeAt(const Node& root, std::string_view pointer);
Node* nodeAt(Node& root, std::string_view pointer);

}  // namespace spanscope::query
