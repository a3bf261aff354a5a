// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/selection.h"

#include <algorithm>

namespace spanscope::ui {

namespace {

constexpr std::size_t kMostKept = 200;

bool isOfNothing(const Selection& selection) {
  return selection == Selection{};
}

/// Whether the document still has at least one selected node, or the selection has no nodes.
bool isThere(const Selection& selection, const document::Document& document) {
  return selection.nodes.empty() ||
         std::any_of(selection.nodes.begin(), selection.nodes.end(),
                     [&document](document::NodeId node) { return document.contains(node); });
}

}  // namespace

void SelectionHistory::note(const Selection& selection) {
  if (isOfNothing(selection)) return;
  if (m_now < m_selections.size() && m_selections[m_now] == selection) return;
  if (!m_selections.empty()) m_selections.resize(m_now + 1);
  m_selections.push_back(selection);
  if (m_selections.size() > kMostKept) m_selections.erase(m_selections.begin());
  m_now = m_selections.size() - 1;
}

std::optional<std::size_t> SelectionHistory::before(const Selection& now,
                                                    const document::Document& document) const {
  if (m_selections.empty()) return std::nullopt;
  std::size_t index = isOfNothing(now) ? m_now + 1 : m_now;
  while (index > 0) {
    --index;
    if (isThere(m_selections[index], document)) return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> SelectionHistory::after(const document::Document& document) const {
  for (std::size_t index = m_now + 1; index < m_selections.size(); ++index) {
    if (isThere(m_selections[index], document)) return index;
  }
  return std::nullopt;
}

bool SelectionHistory::canGoBack(const Selection& now, const document::Document& document) const {
  return before(now, document).has_value();
}

bool SelectionHistory::canGoForward(const document::Document& document) const {
  return after(document).has_value();
}

std::optional<Selection> SelectionHistory::goBack(const Selection& now, const document::Document& document) {
  const auto index = before(now, document);
  if (!index) return std::nullopt;
  m_now = *index;
  return m_selections[m_now];
}

std::optional<Selection> SelectionHistory::goForward(const document::Document& document) {
  const auto index = after(document);
  if (!index) return std::nullopt;
  m_now = *index;
  return m_selections[m_now];
}

}  // namespace spanscope::ui
