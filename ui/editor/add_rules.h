// SPDX-License-Identifier: GPL-3.0-or-later
// What may be added where: pure functions of the document.
#pragma once

#include "engine/workbench/document/document.h"
#include "engine/workbench/document/edits.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// Where a new node goes.
struct AddPlace {
  enum class Kind {
    Root,     ///< a tree of its own: the query where there is none, else a draft
    Child,    ///< into an input
    Above,    ///< between a node and its parent
    Replace,  ///< another operator in place; around it where it could not hold the node's text
    Wrap,     ///< around `nodes`
  };
  Kind kind = Kind::Root;
  document::NodeId node = document::kNoNode;  ///< the parent, the node below, the node to replace
  std::size_t index = 0;                      ///< of the input
  std::optional<document::Point> at;          ///< where the person pointed
  std::vector<document::NodeId> nodes = {};   ///< to wrap
  bool operator==(const AddPlace&) const = default;
};

/// Where what is added with this node selected goes: into a join or a free input, else as its next sibling,
/// else above it. Without a node a tree of its own.
AddPlace placeFor(const document::Document& document, document::NodeId selected);

/// Keys of the operators that fit the place, those that people want there first.
std::vector<std::string> fittingOperators(const document::Document& document, const AddPlace& place);

/// Adds (or replaces); the new node, or kNoNode where it does not fit.
document::NodeId addOperator(document::Document& document, const AddPlace& place, const std::string& op);

/// "Input 2 of cross", "Above user": what the popup says it does.
QString describePlace(const document::Document& document, const AddPlace& place);

/// First input that a child can be put into: of a join behind the last one.
std::optional<std::size_t> freeInputOf(const document::DocumentNode& node);

/// Puts a subtree at a place, also another one of the parent it has already. Where the tree is tidy it
/// becomes part of the tidy layout.
bool connectAt(document::Document& document, document::NodeId child, document::Place place);

}  // namespace spanscope::ui
