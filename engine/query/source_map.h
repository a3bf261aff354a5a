// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Bytes begin … end − 1 of a text.
struct SourceRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const SourceRange&) const = default;
};

/// Where each node of a query stands in the text it was read from, by its NodePath. A node is its operator
/// object, braces included.
class SourceMap {
 public:
  /// The range of the node with that path, if there is one.
  std::optional<SourceRange> find(std::string_view path) const;
  /// The path of the innermost node that covers the byte at `offset`, if one does.
  std::optional<NodePath> nodeAround(std::size_t offset) const;
  /// Number of nodes.
  std::size_t size() const { return m_entries.size(); }

  /// For readers: a node begins. `step` leads from the node that is open to this one ("" for the root).
  /// Returns what close() wants.
  std::size_t open(std::string step, std::size_t begin);
  /// For readers: the node ends before byte `end`.
  void close(std::size_t node, std::size_t end);

 private:
  /// Kept in preorder: the first child of a node follows it, the next sibling stands at `next`.
  struct Entry {
    std::string step;
    SourceRange range;
    std::size_t next = 0;
  };
  std::vector<Entry> m_entries;
};

}  // namespace spanscope::query
