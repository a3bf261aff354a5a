// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/tidy_layout.h"

#include "engine/query/node_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::ui {

namespace {

using document::Arity;
using document::Document;
using document::DocumentNode;
using document::kNoNode;
using document::NodeId;

constexpr std::size_t kLeastStack = 2;

/// Returns the list nodes whose children can be stacked, parents first.
std::vector<NodeId> listsOf(const Document& document, const StackChoices& choices) {
  std::vector<NodeId> lists;
  for (const NodeId top : document.tops()) {
    for (const NodeId id : document.subtree(top)) {
      const DocumentNode& node = document.at(id);
      if (node.collapsed || node.children.size() < kLeastStack || choices.opened.contains(id)) continue;
      if (document::arityOf(node.own).most == Arity::kMany) lists.push_back(id);
    }
  }
  return lists;
}

/// Returns the nodes of `wanted` and all nodes above them.
std::set<NodeId> pathsTo(const Document& document, const std::set<NodeId>& wanted) {
  std::set<NodeId> paths;
  for (const NodeId id : wanted) {
    for (NodeId at = id; at != kNoNode && document.contains(at) && paths.insert(at).second;) {
      at = document.at(at).parent;
    }
  }
  return paths;
}

/// Returns, by child of a list, whether it gets a separate card.
std::vector<bool> ownCards(const Document& document, NodeId list, const std::set<NodeId>& wanted,
                           std::size_t limit) {
  const std::vector<NodeId>& children = document.at(list).children;
  std::vector<bool> own(children.size(), false);
  std::size_t count = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (children[i] != kNoNode && !wanted.contains(children[i]) && !document.at(children[i]).position)
      continue;
    own[i] = true;
    ++count;
  }
  for (std::size_t i = 0; i < children.size() && count < limit; ++i) {
    if (own[i]) continue;
    own[i] = true;
    ++count;
  }
  return own;
}

double highestTree(const Document& document, const Stacks& stacks) {
  double highest = 0;
  for (const NodeId top : document.tops()) highest = std::max(highest, treeHeight(document, top, stacks));
  return highest;
}

}  // namespace

void Stacks::add(Stack stack) {
  const NodeId first = stack.members.front();
  for (const NodeId member : stack.members) m_firstOf[member] = first;
  m_stacks[first] = std::move(stack);
}

const Stack* Stacks::at(NodeId first) const {
  const auto found = m_stacks.find(first);
  return found == m_stacks.end() ? nullptr : &found->second;
}

const Stack* Stacks::of(NodeId member) const {
  const auto found = m_firstOf.find(member);
  return found == m_firstOf.end() ? nullptr : at(found->second);
}

Stacks stacksOf(const Document& document, const StackChoices& choices, std::size_t limit) {
  Stacks stacks;
  const std::set<NodeId> wanted = pathsTo(document, choices.shown);
  for (const NodeId list : listsOf(document, choices)) {
    const std::vector<NodeId>& children = document.at(list).children;
    const std::vector<bool> own = ownCards(document, list, wanted, limit);
    for (std::size_t begin = 0; begin < children.size();) {
      std::size_t end = begin + 1;
      if (!own[begin]) {
        const auto kind = document.at(children[begin]).own.value.index();
        while (end < children.size() && !own[end] && document.at(children[end]).own.value.index() == kind)
          ++end;
      }
      if (end - begin >= kLeastStack) {
        const auto at = children.begin();
        stacks.add(
            {.parent = list,
             .first = begin,
             .members = {at + static_cast<std::ptrdiff_t>(begin), at + static_cast<std::ptrdiff_t>(end)}});
      }
      begin = end;
    }
  }
  return stacks;
}

std::size_t stackLimit(const Document& document, const StackChoices& choices) {
  std::size_t most = 0;
  for (const NodeId list : listsOf(document, choices))
    most = std::max(most, document.at(list).children.size());
  if (choices.height <= 0 || most == 0) return most;
  const auto fits = [&](std::size_t limit) {
    return highestTree(document, stacksOf(document, choices, limit)) <= choices.height;
  };
  if (highestTree(document, stacksOf(document, choices, most)) <= std::max(choices.height, choices.whole))
    return most;
  // More cards make the trees higher, so a binary search works.
  std::size_t good = 0;
  std::size_t bad = most;
  while (bad - good > 1) {
    const std::size_t middle = (good + bad) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

namespace {

using document::Rect;

using Layout = std::map<NodeId, Rect>;

/// A text with at most this number of bytes always fits into one line of a card.
constexpr std::size_t kOneLine = 30;

bool hasInputs(const DocumentNode& node) {
  return !node.children.empty() || isPill(node.own);
}

/// Returns the drawn children of a node. A stack is drawn as its first member.
std::vector<NodeId> drawnChildren(const DocumentNode& node, const Stacks& stacks) {
  std::vector<NodeId> children;
  if (node.collapsed) return children;
  for (const NodeId child : node.children) {
    if (child == kNoNode) continue;
    const Stack* stack = stacks.of(child);
    if (stack == nullptr || stack->members.front() == child) children.push_back(child);
  }
  return children;
}

/// Returns the number of drawn inputs, including the free input of a list.
std::size_t portCount(const DocumentNode& node, std::size_t drawn) {
  const bool isList = document::arityOf(node.own).most == document::Arity::kMany;
  return std::max<std::size_t>(1, isList ? drawn + 1 : node.children.size());
}

double ownHeight(const DocumentNode& node, std::size_t drawn) {
  if (isPill(node.own)) {
    const auto ports = static_cast<double>(portCount(node, drawn));
    return node.collapsed ? 96 : std::max(96.0, kPortDistance * (ports + 1));
  }
  if (query::answers(node.own)) return kGenerateHeight;
  const std::string* text = query::textOf(node.own);
  const bool oneLine = text != nullptr && text->size() <= kOneLine && text->find('\n') == std::string::npos;
  return oneLine ? kLineCardHeight : kTextCardHeight;
}

double ownWidth(const DocumentNode& node) {
  return isPill(node.own) ? kPillWidth : kCardWidth;
}

/// The layout of one tree, with its top left corner at the origin.
class TreeLayout {
 public:
  TreeLayout(const Document& document, NodeId top, const Stacks& stacks)
      : m_document(document), m_stacks(stacks) {
    collect(top);
    for (auto id = m_order.rbegin(); id != m_order.rend(); ++id) measure(*id);
    m_height = m_places[top].extent;
  }

  double height() const { return m_height; }

  Layout take() {
    const NodeId top = m_order.front();
    placeColumns();
    m_places[top].y = 0;
    for (const NodeId id : m_order) place(id);
    Layout layout;
    for (const NodeId id : m_order) {
      const Place& place = m_places[id];
      layout[id] = {
          .x = m_columnLeft[place.column], .y = place.top, .width = place.width, .height = place.height};
    }
    return layout;
  }

 private:
  struct Place {
    std::size_t column = 0;
    double width = 0;
    double height = 0;
    double extent = 0;  ///< height of the subtree
    double y = 0;       ///< top of the subtree
    double top = 0;     ///< top of the node
  };

  void collect(NodeId top) {
    std::vector<NodeId> open{top};
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      m_order.push_back(id);
      const std::vector<NodeId> children = childrenOf(id);
      open.insert(open.end(), children.rbegin(), children.rend());
    }
  }

  std::vector<NodeId> childrenOf(NodeId id) const {
    if (m_stacks.at(id) != nullptr) return {};
    return drawnChildren(m_document.at(id), m_stacks);
  }

  void measure(NodeId id) {
    const DocumentNode& node = m_document.at(id);
    Place& place = m_places[id];
    if (m_stacks.at(id) != nullptr) {
      place.width = kCardWidth;
      place.height = kStackHeight;
      place.extent = kStackHeight;
      return;
    }
    const std::vector<NodeId> children = childrenOf(id);
    place.width = ownWidth(node);
    place.height = ownHeight(node, children.size());
    place.column = hasInputs(node) ? 1 : 0;
    double inner = 0;
    for (const NodeId child : children) {
      place.column = std::max(place.column, m_places[child].column + 1);
      inner += m_places[child].extent;
    }
    if (!children.empty()) inner += kRowGap * static_cast<double>(children.size() - 1);
    // A pill spans its children.
    if (isPill(node.own) && !children.empty()) place.height = std::max(place.height, std::floor(inner));
    place.extent = std::max(place.height, inner);
  }

  void placeColumns() {
    std::size_t columns = 0;
    for (const NodeId id : m_order) columns = std::max(columns, m_places[id].column + 1);
    std::vector<double> widths(columns, 0);
    for (const NodeId id : m_order) {
      double& width = widths[m_places[id].column];
      width = std::max(width, m_places[id].width);
    }
    double x = 0;
    for (const double width : widths) {
      m_columnLeft.push_back(x);
      if (width > 0) x += width + kColumnGap;
    }
  }

  /// Centers the node and the subtrees of its children in the node's extent. The `y` of the node must be
  /// known.
  void place(NodeId id) {
    const Place own = m_places[id];
    const std::vector<NodeId> children = childrenOf(id);
    double inner = 0;
    for (const NodeId child : children) inner += m_places[child].extent;
    if (!children.empty()) inner += kRowGap * static_cast<double>(children.size() - 1);
    m_places[id].top = own.y + std::round((own.extent - own.height) / 2);
    double y = own.y + std::round((own.extent - inner) / 2);
    for (const NodeId child : children) {
      m_places[child].y = y;
      y += m_places[child].extent + kRowGap;
    }
  }

  const Document& m_document;
  const Stacks& m_stacks;
  double m_height = 0;
  std::vector<NodeId> m_order;  ///< parents first
  std::map<NodeId, Place> m_places;
  std::vector<double> m_columnLeft;
};

}  // namespace

bool isPill(const query::Node& own) {
  return query::arityOf(own).most > 1;
}

bool laidOutAlike(const DocumentNode& one, const DocumentNode& other) {
  return one.children == other.children && one.parent == other.parent && one.position == other.position &&
         one.collapsed == other.collapsed && isPill(one.own) == isPill(other.own) &&
         ownWidth(one) == ownWidth(other) &&
         ownHeight(one, one.children.size()) == ownHeight(other, other.children.size());
}

double treeHeight(const Document& document, NodeId top, const Stacks& stacks) {
  return TreeLayout(document, top, stacks).height();
}

Layout tidyLayout(const Document& document, const Stacks& stacks) {
  Layout layout;
  double bottom = 0;
  const auto add = [&](Layout& tree, double dx, double dy) {
    for (auto& [id, rect] : tree) {
      rect.x += dx;
      rect.y += dy;
      if (const auto& own = document.at(id).position) {
        rect.x = own->x;
        rect.y = own->y;
      }
      bottom = std::max(bottom, rect.y + rect.height);
    }
    layout.merge(tree);
  };
  std::vector<Layout> loose;
  for (const NodeId top : document.tops()) {
    Layout tree = TreeLayout(document, top, stacks).take();
    if (const auto& position = document.at(top).position)
      add(tree, position->x - tree.at(top).x, position->y - tree.at(top).y);
    else if (top == document.root())
      add(tree, 0, 0);
    else
      loose.push_back(std::move(tree));
  }
  for (Layout& tree : loose) add(tree, 0, layout.empty() ? 0 : bottom + kTreeGap);
  return layout;
}

std::vector<double> inputHeights(const Document& document, NodeId node, const Layout& layout) {
  const DocumentNode& own = document.at(node);
  const auto rect = layout.find(node);
  if (rect == layout.end() || own.collapsed || !hasInputs(own)) return {};
  const double height = rect->second.height;
  if (!isPill(own.own) || own.children.empty()) return {height / 2};
  // A child that is not drawn is in the stack of the drawn child before it.
  std::vector<std::size_t> ports;  // for each child: its port
  std::vector<NodeId> ends;        // for each port: the child drawn there, if any
  for (const NodeId child : own.children) {
    if (ends.empty() || child == kNoNode || layout.contains(child)) ends.push_back(child);
    ports.push_back(ends.size() - 1);
  }
  ends.resize(portCount(own, ends.size()), kNoNode);
  const std::size_t count = ends.size();
  const double first = std::min(height / 2, kPortDistance / 2 + 8);
  const double last = height - first;
  const double step =
      count > 1 ? std::min(kPortDistance, (last - first) / static_cast<double>(count - 1)) : 0;
  std::vector<double> heights(count);
  for (std::size_t i = 0; i < count; ++i) {
    // A missing input is between its neighbours, and the free input of a list is at the end.
    const bool isFree = i >= ports.back() + 1;
    heights[i] =
        isFree ? last : first + (last - first) * (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    const auto child = layout.find(ends[i]);
    if (child != layout.end()) {
      heights[i] = child->second.y + outputHeight(child->second) - rect->second.y;
    }
    const double least = first + step * static_cast<double>(i);
    const double most = last - step * static_cast<double>(count - 1 - i);
    heights[i] = std::clamp(heights[i], least, most);
    if (i > 0) heights[i] = std::max(heights[i], heights[i - 1] + step);
  }
  std::vector<double> all;
  for (const std::size_t port : ports) all.push_back(heights[port]);
  for (std::size_t port = ports.back() + 1; port < count; ++port) all.push_back(heights[port]);
  return all;
}

double outputHeight(const Rect& rect) {
  return rect.height / 2;
}

namespace {

double middle(const Rect& rect) {
  return rect.y + rect.height / 2;
}

/// Returns the drawn child whose height is nearest to the height of the parent.
NodeId nearestChild(const Document& document, const std::map<NodeId, Rect>& layout, NodeId from) {
  NodeId best = kNoNode;
  double least = 0;
  for (const NodeId child : document.at(from).children) {
    const auto rect = layout.find(child);
    if (rect == layout.end()) continue;
    const double distance = std::abs(middle(rect->second) - middle(layout.at(from)));
    if (best != kNoNode && distance >= least) continue;
    best = child;
    least = distance;
  }
  return best;
}

std::size_t depthOf(const Document& document, NodeId id) {
  std::size_t depth = 0;
  for (NodeId at = document.at(id).parent; at != kNoNode; at = document.at(at).parent) ++depth;
  return depth;
}

/// Returns the next drawn node of the same depth, in prompt order over all trees.
NodeId cousin(const Document& document, const std::map<NodeId, Rect>& layout, NodeId from, bool down) {
  const std::size_t depth = depthOf(document, from);
  NodeId last = kNoNode;
  bool passed = false;
  for (const NodeId top : document.tops()) {
    for (const NodeId id : document.subtree(top)) {
      if (id == from) {
        if (!down) return last;
        passed = true;
        continue;
      }
      if (layout.count(id) == 0 || depthOf(document, id) != depth) continue;
      if (passed) return id;
      last = id;
    }
  }
  return kNoNode;
}

}  // namespace

NodeId walk(const Document& document, const std::map<NodeId, Rect>& layout, NodeId from, Walk to) {
  if (!document.contains(from) || layout.count(from) == 0) {
    if (document.contains(from)) {  // the node is hidden below a collapsed node
      for (NodeId at = from; at != kNoNode; at = document.at(at).parent) {
        if (layout.count(at) != 0) return at;
      }
    }
    return document.root();
  }
  switch (to) {
    case Walk::Left:
      return nearestChild(document, layout, from);
    case Walk::Right:
      return document.at(from).parent;
    case Walk::Up:
    case Walk::Down:
      break;
  }
  const bool down = to == Walk::Down;
  const NodeId parent = document.at(from).parent;
  if (parent != kNoNode) {
    const std::vector<NodeId>& siblings = document.at(parent).children;
    const auto at = std::find(siblings.begin(), siblings.end(), from);
    auto next = at;
    while (down ? ++next != siblings.end() : next != siblings.begin()) {
      if (!down) --next;
      // Only the first member of a stack is drawn.
      if (*next != kNoNode && layout.count(*next) != 0) return *next;
    }
  }
  return cousin(document, layout, from, down);
}

}  // namespace spanscope::ui
