// SPDX-License-Identifier: GPL-3.0-or-later
// Walks over the nodes of a query. Each operator's list of fields says which fields hold queries, so a walk
// never misses one.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <functional>
#include <string>

namespace spanscope::query {

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
