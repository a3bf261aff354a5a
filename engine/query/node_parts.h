// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that several operators have. Each function finds a part by its type; it returns nullptr if the
// operator has no such part. The fields also tell how many children an operator takes and how many replies it
// gives.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace spanscope::query {

/// The text that is the whole value of the operator: the text of a message or a print, a question, a path.
const std::string* textOf(const Node& node);
std::string* textOf(Node& node);

/// The settings of a generate, also of a repeated or mapped one. An operator answers if it has settings.
const GenerateSettings* settingsOf(const Node& node);
GenerateSettings* settingsOf(Node& node);
inline bool answers(const Node& node) {
  return settingsOf(node) != nullptr;
}

/// The generate that this node is or repeats.
const Generate* generateOf(const Node& node);
Generate* generateOf(Node& node);

/// How often the node's generate runs.
const Times* countOf(const Node& node);
Times* countOf(Node& node);

/// The texts that a map answers, each on its own.
const std::vector<std::string>* inputsOf(const Node& node);
std::vector<std::string>* inputsOf(Node& node);

/// The document from which fragments are retrieved. An operator retrieves if it has one.
const SourceDocument* documentOf(const Node& node);
SourceDocument* documentOf(Node& node);

/// The embedding model that retrieves the fragments.
const std::string* embeddingModelOf(const Node& node);
std::string* embeddingModelOf(Node& node);

/// Whether the operator is replaced by the text of a file or by a person's answer.
constexpr bool isSugar(const OperatorInfo& info) {
  return info.resolvedBy == ResolvedBy::Files || info.resolvedBy == ResolvedBy::Person;
}
inline bool isSugar(const Node& node) {
  return isSugar(infoOf(node));
}

/// What is known of an operator without a node. `index` is its index in query::Operators. If it has several
/// keys, `key` is the first.
struct OperatorShape {
  const char* key = "";
  OperatorInfo info = {};
  bool hasText = false;    ///< textOf()
  bool answers = false;    ///< settingsOf()
  bool hasCount = false;   ///< countOf()
  bool hasInputs = false;  ///< inputsOf()
};
const OperatorShape& shapeOf(std::size_t index);

/// The number of children that an operator takes.
struct Arity {
  std::size_t least = 0;
  std::size_t most = 0;
  static constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
  bool ordered() const { return most > 1; }
};
Arity arityOf(const Node& node);

/// Most replies that a run of the node gives: 0, 1 or Arity::kMany.
std::size_t mostReplies(const Node& node);

/// The nesting of containers (objects and lists) in the JSON form of the node. `aroundChild`: how many
/// surround its children; 0 if it takes none. `own`: how many are nested without the children.
struct Containers {
  std::size_t aroundChild = 0;
  std::size_t own = 1;
};
Containers containersOf(const Node& node);

/// Bytes of all texts in the node itself, including names and the content of a document.
std::size_t textBytesOf(const Node& node);

/// The node without its children: boxes hold default nodes, joins hold none.
Node withoutChildren(Node node);

/// Puts children (as many as the operator takes) into a node that has none.
Node withChildren(Node node, std::vector<Node> children);

/// The empty operator with this key, e.g. "plus"; a user message if there is no such operator.
Node makeOperator(std::string_view key);

// Walks over the nodes of a query. Each operator's list of fields says which fields hold queries, so a walk
// never misses one.

/// Calls visit(child, step) for each child in prompt order. `step` leads from the node to the child in the
/// JSON pointer. The visit may change a child, but must not move it.
void forEachChild(const Node& node, const std::function<void(const Node&, const std::string&)>& visit);
void forEachChild(Node& node, const std::function<void(Node&, const std::string&)>& visit);

/// Calls visit(node, path) for the node at the given path and everything below it, parents first. If a visit
/// replaces a node, the walk goes on in the replacement.
void walk(const Node& node, const NodePath& path,
          const std::function<void(const Node&, const NodePath&)>& visit);
void walk(Node& node, const NodePath& path, const std::function<void(Node&, const NodePath&)>& visit);

/// Whether the condition holds for the node or something below it.
bool anyNode(const Node& node, const std::function<bool(const Node&)>& isSo);

}  // namespace spanscope::query
