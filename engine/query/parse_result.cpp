// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/parse_result.h"

#include <utility>

namespace spanscope::query {

std::optional<SourceRange> SourceMap::find(std::string_view path) const {
  if (m_entries.empty()) return std::nullopt;
  std::size_t node = 0;
  while (!path.empty()) {
    const std::size_t end = m_entries[node].next;
    std::size_t child = node + 1;
    for (; child < end; child = m_entries[child].next) {
      const std::string& step = m_entries[child].step;
      if (path.starts_with(step) && (path.size() == step.size() || path[step.size()] == '/')) break;
    }
    if (child >= end) return std::nullopt;
    path.remove_prefix(m_entries[child].step.size());
    node = child;
  }
  return m_entries[node].range;
}

std::optional<NodePath> SourceMap::nodeAround(std::size_t offset) const {
  NodePath path;
  bool found = false;
  std::size_t node = 0;
  std::size_t end = m_entries.size();
  while (node < end) {
    const Entry& entry = m_entries[node];
    if (offset >= entry.range.begin && offset < entry.range.end) {
      path += entry.step;
      found = true;
      end = entry.next;
      ++node;
    } else {
      node = entry.next;
    }
  }
  if (!found) return std::nullopt;
  return path;
}

std::size_t SourceMap::open(std::string step, std::size_t begin) {
  m_entries.push_back({std::move(step), {begin, begin}, m_entries.size() + 1});
  return m_entries.size() - 1;
}

void SourceMap::close(std::size_t node, std::size_t end) {
  m_entries[node].range.end = end;
  m_entries[node].next = m_entries.size();
}

}  // namespace spanscope::query
