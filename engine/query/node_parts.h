// SPDX-License-Identifier: GPL-3.0-or-later
// Finds parts of operators by the type of the part. Different operators can have the same kind of part. Each
// function returns nullptr if the operator has no such part. The file also counts the children that an
// operator takes and the answers that it gives. Open this file to get a property of a node without a switch
// over operators.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace spanscope::query {

/// The text that is the whole value of the operator: a message, a print, a question or a path.
const std::string* textOf(const Node& node);
std::string* textOf(Node& node);

/// The settings of a generate node, also of a repeat or map. An operator generates if it has settings.
const GenerateSettings* settingsOf(const Node& node);
GenerateSettings* settingsOf(Node& node);
inline bool answers(const Node& node) {
  return settingsOf(node) != nullptr;
}

/// The generate node itself, or the generate node inside a repeat.
const Generate* generateOf(const Node& node);
Generate* generateOf(Node& node);

/// The number of runs of the generate node inside a repeat.
const Times* countOf(const Node& node);
Times* countOf(Node& node);

/// The texts of a map. The model answers each one separately.
const std::vector<std::string>* inputsOf(const Node& node);
std::vector<std::string>* inputsOf(Node& node);

/// The document from which passages are retrieved. An operator retrieves if it has a document.
const SourceDocument* documentOf(const Node& node);
SourceDocument* documentOf(Node& node);

/// The embedding model that retrieves the passages.
const std::string* embeddingModelOf(const Node& node);
std::string* embeddingModelOf(Node& node);

/// Whether the text of a file or an answer of the user replaces the operator.
constexpr bool isSugar(const OperatorInfo& info) {
  return info.resolvedBy == ResolvedBy::Files || info.resolvedBy == ResolvedBy::User;
}
inline bool isSugar(const Node& node) {
  return isSugar(infoOf(node));
}

/// The properties of an operator that do not depend on a node. `index` is the index of the operator in
/// query::Operators. `key` is the first of its keys.
struct OperatorShape {
  const char* key = "";
  OperatorInfo info = {};
  bool hasText = false;    ///< whether textOf() finds a text
  bool answers = false;    ///< whether settingsOf() finds settings
  bool hasCount = false;   ///< whether countOf() finds a count
  bool hasInputs = false;  ///< whether inputsOf() finds inputs
};
const OperatorShape& shapeOf(std::size_t index);

/// The min and max number of children that an operator takes.
struct Arity {
  std::size_t least = 0;
  std::size_t most = 0;
  static constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
  bool ordered() const { return most > 1; }
};
Arity arityOf(const Node& node);

/// The max number of answers that a run of the node gives: 0, 1 or Arity::kMany.
std::size_t mostAnswers(const Node& node);

/// The nesting of containers (objects and lists) in the JSON form of the node. `aroundChild` is the number of
/// containers around its children, or 0 if the operator has no children. `own` is the depth without the
/// children.
struct Containers {
  std::size_t aroundChild = 0;
  std::size_t own = 1;
};
Containers containersOf(const Node& node);

/// Counts the bytes of all texts in the node, including names and the content of a document.
std::size_t textBytesOf(const Node& node);

/// Returns the node without its children. Each box contains a default node, and each join is empty.
Node withoutChildren(Node node);

/// Puts children into a node that has none. `children` has as many nodes as the operator takes.
Node withChildren(Node node, std::vector<Node> children);

/// Returns the empty operator with this key, e.g. "plus". For an unknown key, returns a user message.
Node makeOperator(std::string_view key);

// Functions that visit the nodes of a query. The field list of each operator names the fields that contain
// queries. The next functions visit all nodes.

/// Calls visit(child, step) for each child in prompt order. `step` is the part of the JSON pointer from the
/// node to the child. The visit may change a child, but must not move it.
void forEachChild(const Node& node, const std::function<void(const Node&, const std::string&)>& visit);
void forEachChild(Node& node, const std::function<void(Node&, const std::string&)>& visit);

/// Calls visit(node, path) for the node at the given path and all nodes below it. A parent comes before its
/// children. If a visit replaces a node, the walk continues in the replacement.
void walk(const Node& node, const NodePath& path,
          const std::function<void(const Node&, const NodePath&)>& visit);
void walk(Node& node, const NodePath& path, const std::function<void(Node&, const NodePath&)>& visit);

/// Whether the condition is true for the node or a node below it.
bool anyNode(const Node& node, const std::function<bool(const Node&)>& isSo);

}  // namespace spanscope::query
