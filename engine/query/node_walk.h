// SPDX-License-Identifier: GPL-3.0-or-later
// Walks over the nodes of a query. Which fields of an operator hold queries is said in its list of fields, so
// no walk passes one by.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <functional>
#include <string>

namespace spanscope::query {

/// Calls visit(child, step) for each child in prompt order; `step` leads from the node to it in the JSON
/// pointer. Children may be changed, but not put elsewhere.
void forEachChild(const Node& node, const std::function<void(const Node&, const std::string&)>& visit);
void forEachChild(Node& node, const std::function<void(Node&, const std::string&)>& visit);

/// Calls visit(node, path) for the node, whose path is given, and everything below it, parents first. What a
/// visit puts in the place of a node is walked through.
void walk(const Node& node, const NodePath& path,
          const std::function<void(const Node&, const NodePath&)>& visit);
void walk(Node& node, const NodePath& path, const std::function<void(Node&, const NodePath&)>& visit);

/// Whether it is so of the node or something below it.
bool anyNode(const Node& node, const std::function<bool(const Node&)>& isSo);

}  // namespace spanscope::query
