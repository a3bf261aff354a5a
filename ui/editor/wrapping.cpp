// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/wrapping.h"

#include "engine/workbench/document/edits.h"

#include <algorithm>
#include <optional>

namespace spanscope::ui {
namespace {

using document::Document;
using document::kNoNode;
using document::NodeId;

/// The nodes without nodes below others of them. Empty if they have different parents.
std::vector<NodeId> siblings(const Document& document, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> tops = document::topmost(document, nodes);
  const bool areOne = std::all_of(tops.begin(), tops.end(), [&](NodeId id) {
    return document.at(id).parent == document.at(tops.front()).parent;
  });
  if (!areOne) tops.clear();
  return tops;
}

}  // namespace

std::vector<std::string> wrappingOperators(const Document& document, const std::vector<NodeId>& nodes) {
  const std::size_t count = siblings(document, nodes).size();
  std::vector<std::string> fitting;
  if (count == 0) return fitting;
  const auto take = [&](const std::string& op) {
    if (document::arityOf(document::makeOperator(op)).most < count) return;
    if (std::find(fitting.begin(), fitting.end(), op) == fitting.end()) fitting.push_back(op);
  };
  for (const char* first : {"plus", "cross", "seq", "par"}) take(first);
  for (const std::string& op : document::operatorNames()) take(op);
  return fitting;
}

NodeId wrapNodes(Document& document, const std::vector<NodeId>& nodes, const std::string& op) {
  const std::vector<NodeId> inner = siblings(document, nodes);
  const query::Node own = document::makeOperator(op);
  if (inner.empty() || document::arityOf(own).most < inner.size()) return kNoNode;
  const Document before = document;
  // A node that a person has placed stays there: the new node takes its place.
  std::optional<document::Point> position;
  if (document.at(inner.front()).parent == kNoNode) position = document.at(inner.front()).position;
  const NodeId added = document::addNode(document, own, position);
  if (!document::insertAbove(document, inner.front(), added)) {
    document = before;
    return kNoNode;
  }
  if (position) document::setPosition(document, inner.front(), std::nullopt);
  for (std::size_t i = 1; i < inner.size(); ++i) {
    if (!document::connect(document, inner[i], {.parent = added, .index = i})) {
      document = before;
      return kNoNode;
    }
    document::setPosition(document, inner[i], std::nullopt);
  }
  return added;
}

}  // namespace spanscope::ui
