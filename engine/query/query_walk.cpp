// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_walk.h"

#include "engine/base/visible_text.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <utility>

namespace spanscope::query {
namespace {

/// Cuts a very long key, because each diagnostic has its own copy. The keys of the language are short.
std::string stepTo(std::string_view key) {
  constexpr std::size_t kLongestKey = 200;
  if (key.size() <= kLongestKey) return pointerStep(key);
  return pointerStep(cutText(key.substr(0, 4 * kLongestKey), kLongestKey));
}

}  // namespace

QueryWalk::QueryWalk(std::string_view text, const ParseLimits& limits, const MakeCursor& makeCursor)
    : m_text(text), m_limits(limits) {
  m_cursor = makeCursor(*this);
}

void QueryWalk::refuseExtraElement(const std::string& form) {
  m_cursor->peek();
  error(m_cursor->offset(), "one element more", form);
}

void QueryWalk::refuseValue(std::string expected, std::string hint) {
  const JsonKind kind = m_cursor->peek();
  if (kind != JsonKind::End && kind != JsonKind::Invalid) {
    error(m_cursor->offset(), m_cursor->describeNext(kind), std::move(expected), std::move(hint));
  }
  m_cursor->skipValue();
}

void QueryWalk::jsonIssue(JsonIssue issue) {
  report(Severity::Error, std::move(issue));
}

void QueryWalk::error(std::size_t offset, std::string found, std::string expected, std::string hint) {
  report(Severity::Error, {offset, std::move(found), std::move(expected), std::move(hint)});
}

void QueryWalk::warning(std::size_t offset, std::string found, std::string expected, std::string hint) {
  report(Severity::Warning, {offset, std::move(found), std::move(expected), std::move(hint)});
}

void QueryWalk::report(Severity severity, JsonIssue issue) {
  std::size_t& count = severity == Severity::Error ? m_errors : m_warnings;
  ++count;
  if (count > m_limits.maxDiagnostics) {
    if (severity == Severity::Warning || count > m_limits.maxDiagnostics + 1) return;
    issue = {issue.offset, "more than " + std::to_string(m_limits.maxDiagnostics) + " errors", "none",
             "what follows was not read"};
    // The cursor may report issues while it is being made.
    if (m_cursor) m_cursor->stop();
  }
  m_diagnostics.push_back({severity,
                           pointer(),
                           {},
                           issue.offset,
                           std::move(issue.found),
                           std::move(issue.expected),
                           std::move(issue.hint)});
}

std::string QueryWalk::pointer() const {
  std::string pointer;
  for (const std::string& step : m_path) pointer += stepTo(step);
  return pointer;
}

std::vector<Diagnostic> QueryWalk::takeDiagnostics() {
  const auto isEarlier = [](const Diagnostic& a, const Diagnostic& b) { return a.offset < b.offset; };
  std::stable_sort(m_diagnostics.begin(), m_diagnostics.end(), isEarlier);
  // The older form of a repeat is skipped once before it is read. So issues within its strings and numbers
  // are found twice; the second time their place is known better.
  std::vector<Diagnostic> kept;
  for (Diagnostic& diagnostic : m_diagnostics) {
    std::size_t same = kept.size();
    for (std::size_t i = kept.size(); i > 0 && kept[i - 1].offset == diagnostic.offset; --i) {
      if (kept[i - 1].found == diagnostic.found && kept[i - 1].expected == diagnostic.expected) same = i - 1;
    }
    if (same < kept.size()) {
      kept[same] = std::move(diagnostic);
    } else {
      kept.push_back(std::move(diagnostic));
    }
  }
  locate(kept, m_text);
  return kept;
}

bool QueryWalk::countNode(std::size_t offset) {
  if (m_cursor->stopped()) return false;
  if (++m_nodes <= m_limits.maxNodes) return true;
  error(offset, "more nodes", "at most " + std::to_string(m_limits.maxNodes) + " in a query",
        "what follows was not read");
  m_cursor->stop();
  return false;
}

}  // namespace spanscope::query
