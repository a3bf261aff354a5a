// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/random_tables.h"

#include <algorithm>

namespace spanscope::test {

RandomTables::RandomTables(std::uint64_t seed, std::int32_t vocabulary, std::int32_t longestRun)
    : m_random(seed) {
  m_runs.resize(8);
  for (auto& run : m_runs) {
    run.resize(std::size_t{1} + static_cast<std::size_t>(below(longestRun)));
    for (TokenId& token : run) token = below(vocabulary);
  }
  // Runs that begin alike and part in the middle of a block.
  m_runs.push_back(m_runs.front());
  m_runs.back().back() = (m_runs.back().back() + 1) % vocabulary;
  m_runs.emplace_back(m_runs[1].begin(),
                      m_runs[1].begin() + static_cast<std::ptrdiff_t>((m_runs[1].size() + 1) / 2));
}

int RandomTables::below(int limit) {
  return std::uniform_int_distribution<int>(0, limit - 1)(m_random);
}

std::vector<TokenId> RandomTables::tokens() {
  return m_runs[static_cast<std::size_t>(below(static_cast<int>(m_runs.size())))];
}

/// Lays out one scope and returns its segments, those of the scopes nested in it included.
std::vector<std::uint32_t> RandomTables::scope(Built& built, std::uint32_t id, std::uint32_t depth,
                                               int deeper, bool last, std::vector<std::uint32_t> seen) {
  const std::vector<std::uint32_t> prefix = seen;
  bool first = true;
  const auto addSegment = [&] {
    layout::Segment segment;
    segment.independent = first && depth > 0 && seen.empty();
    segment.scope = id;
    segment.depth = depth;
    segment.tokens = tokens();
    segment.base = built.position;
    segment.sees = seen;
    segment.node = "/" + std::to_string(built.table.segments.size());
    segment.runs.push_back(
        {.count = segment.length(), .source = layout::TokenRun::Source::Text, .node = segment.node});
    built.position += segment.length();
    seen.push_back(static_cast<std::uint32_t>(built.table.segments.size()));
    built.table.segments.push_back(std::move(segment));
    first = false;
  };

  const int parts = deeper > 0 ? 1 + below(3) : 1;
  for (int part = 0; part < parts; ++part) {
    if (deeper == 0 || below(2) == 0) {
      // Adjacent runs of one scope would be one segment, so text follows only a plus or nothing.
      if (first || built.table.segments[seen.back()].scope != id) addSegment();
      continue;
    }
    const int children = 1 + below(3);
    const std::int64_t base = built.position;
    const std::vector<std::uint32_t> before =
        built.visibility == layout::Visibility::SpansBehindPrefix ? seen : std::vector<std::uint32_t>();
    std::int64_t end = base;
    for (int child = 0; child < children; ++child) {
      const std::uint32_t inner = built.scopes++;
      if (built.visibility == layout::Visibility::SpansAtOneBase) built.position = base;
      const std::int64_t begin = built.position;
      const auto segments = scope(built, inner, depth + 1, deeper - 1, false, before);
      seen.insert(seen.end(), segments.begin(), segments.end());
      end += built.position - begin;
    }
    built.position = end;
    first = false;
  }
  if (last && (seen.empty() || built.table.segments[seen.back()].scope != id)) addSegment();
  seen.erase(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(prefix.size()));
  return seen;
}

layout::SpanTable RandomTables::next(int depth, layout::Visibility visibility) {
  Built built{.table = {}, .visibility = visibility};
  scope(built, 0, 0, depth, true, {});
  return std::move(built.table);
}

}  // namespace spanscope::test
