// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a node that several operators have, found by what they are: nullptr where an operator has
// none. And what follows from its fields: how many children it takes, how many replies it gives.
#pragma once

#include "engine/query/query.h"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace spanscope::query {

/// The text that is the whole value of the operator: of a message, a print, a question, a path.
const std::string* textOf(const Node& node);
std::string* textOf(Node& node);

/// What a generate, one that is repeated or mapped included, says besides its input. Those that have it
/// answer.
const GenerateSettings* settingsOf(const Node& node);
GenerateSettings* settingsOf(Node& node);
inline bool answers(const Node& node) {
  return settingsOf(node) != nullptr;
}

/// The generate that the node is or repeats.
const Generate* generateOf(const Node& node);
Generate* generateOf(Node& node);

/// How often its generate runs.
const Times* countOf(const Node& node);
Times* countOf(Node& node);

/// Texts that are answered one by one.
const std::vector<std::string>* inputsOf(const Node& node);
std::vector<std::string>* inputsOf(Node& node);

/// The document that fragments are taken from. Those that have it retrieve.
const SourceDocument* documentOf(const Node& node);
SourceDocument* documentOf(Node& node);

/// The model that fragments are looked up with.
const std::string* embeddingModelOf(const Node& node);
std::string* embeddingModelOf(Node& node);

/// Whether files or the person are asked for what stands in its place.
constexpr bool isSugar(const OperatorInfo& info) {
  return info.resolvedBy == ResolvedBy::Files || info.resolvedBy == ResolvedBy::Person;
}
inline bool isSugar(const Node& node) {
  return isSugar(infoOf(node));
}

/// What is said of an operator apart from any node: of the one at that place of query::Operators. The key is
/// the first where it has several.
struct OperatorShape {
  const char* key = "";
  OperatorInfo info = {};
  bool hasText = false;    ///< textOf()
  bool answers = false;    ///< settingsOf()
  bool hasCount = false;   ///< countOf()
  bool hasInputs = false;  ///< inputsOf()
};
const OperatorShape& shapeOf(std::size_t index);

/// How many children an operator takes.
struct Arity {
  std::size_t least = 0;
  std::size_t most = 0;
  static constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
  bool ordered() const { return most > 1; }
};
Arity arityOf(const Node& node);

/// How many replies a run of the node gives at most: 0, 1 or Arity::kMany.
std::size_t mostReplies(const Node& node);

/// Containers (objects and lists) that stand within each other where the node is written as JSON: those
/// around its children, 0 if it takes none, and those that it has by itself.
struct Containers {
  std::size_t aroundChild = 0;
  std::size_t own = 1;
};
Containers containersOf(const Node& node);

/// Bytes of all texts of the node itself: names, and the content of a document, included.
std::size_t textBytesOf(const Node& node);

/// The node without its children: boxes hold default nodes, joins nothing.
Node withoutChildren(Node node);

/// Puts children (as many as the operator takes) into a node of which there is only itself.
Node withChildren(Node node, std::vector<Node> children);

/// The empty operator with that key, e.g. "plus"; a user message if there is none.
Node makeOperator(std::string_view key);

}  // namespace spanscope::query
