// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/draft_tree.h"

#include "engine/base/counted.h"
#include "engine/plan/outline.h"

#include <fmt/format.h>

namespace spanscope::plan {
namespace {

constexpr std::size_t kShownText = 60;

std::string settingsOf(const Draft& draft) {
  std::string text = draft.settings.model.empty() ? std::string() : " " + draft.settings.model;
  if (draft.settings.maxTokens) text += ", at most " + counted(*draft.settings.maxTokens, "token");
  return text;
}

std::string labelOf(const Draft& draft) {
  const query::OperatorShape& shape = draft.shape();
  std::string label = draft.name();
  if (shape.hasText) label += " " + quoted(draft.text, kShownText);
  if (shape.hasCount) label += " " + std::to_string(draft.count);
  if (shape.hasInputs) label += " " + std::to_string(draft.inputs.size());
  if (shape.answers) label += settingsOf(draft);
  if (draft.is<query::Generate>() && draft.form == OutputForm::Continuation)
    label += ", read with its prompt";
  return label;
}

/// Whether two drafts read the same. Their places in the query do not matter.
bool areAlike(const Draft& a, const Draft& b) {
  if (a.op != b.op || a.join != b.join || a.role != b.role || a.text != b.text || a.form != b.form ||
      a.count != b.count || a.inputs != b.inputs || a.settings != b.settings ||
      a.children.size() != b.children.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    if (!areAlike(a.children[i], b.children[i])) return false;
  }
  return true;
}

class TreeWriter {
 public:
  std::vector<TreeLine> take() {
    if (m_leftOut) m_lines.push_back({0, "", "… and more than fits here", false});
    return std::move(m_lines);
  }

  void add(const Draft& draft, std::uint32_t depth, std::size_t times) {
    if (m_lines.size() >= kMaxTreeLines) {
      m_leftOut = true;
      return;
    }
    std::string label = labelOf(draft);
    if (times > 1) label += fmt::format(" ×{}", times);
    m_lines.push_back({depth, draft.node, std::move(label), false});
    for (std::size_t i = 0; i < draft.children.size();) {
      const std::size_t first = i;
      while (i < draft.children.size() && areAlike(draft.children[first], draft.children[i])) ++i;
      add(draft.children[first], depth + 1, i - first);
    }
  }

 private:
  std::vector<TreeLine> m_lines;
  bool m_leftOut = false;
};

}  // namespace

std::vector<TreeLine> treeOf(const Draft& draft) {
  TreeWriter writer;
  writer.add(draft, 0, 1);
  return writer.take();
}

}  // namespace spanscope::plan
