// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rewriting.h"

#include "engine/plan/outline.h"
#include "engine/plan/rules/rules.h"

#include <algorithm>
#include <set>

namespace spanscope::plan {
namespace {

std::uint32_t highestCall(const Draft& draft) {
  std::uint32_t highest = draft.call;
  for (const Draft& child : draft.children) highest = std::max(highest, highestCall(child));
  return highest;
}

/// One pass of one rule over the whole tree.
class Pass {
 public:
  Pass(const Rule& rule, RewriteState& state, std::vector<RuleReport>& reports)
      : m_rule(&rule), m_state(&state), m_reports(&reports) {}

  bool run(Draft& draft) {
    visit(draft, {});
    return m_changed;
  }

  /// Where the limits were exceeded.
  const NodePath& place() const { return m_place; }

 private:
  void visit(Draft& draft, const Surroundings& around) {
    Surroundings inside = around;
    if (draft.kind == Draft::Kind::Generate || draft.kind == Draft::Kind::Repeat)
      inside.enclosing = &draft.settings;
    // What is dropped is part of no prompt.
    if (draft.kind == Draft::Kind::Monad) inside.enclosing = nullptr;
    for (Draft& child : draft.children) visit(child, inside);
    if (m_state->exceeded() || !m_rule->matches(draft, around, *m_state)) return;
    apply(draft, around);
  }

  void apply(Draft& draft, const Surroundings& around) {
    m_changed = true;
    const bool reported = m_reported.insert(draft.node).second;
    RuleReport report;
    if (reported) {
      report = {std::string(m_rule->name), draft.node, outline(draft), "", std::string(m_rule->reason)};
    }
    m_rule->rewrite(draft, around, *m_state);
    if (m_state->exceeded()) {
      m_place = draft.node;
      return;
    }
    if (!reported) return;
    report.after = outline(draft);
    m_reports->push_back(std::move(report));
  }

  const Rule* m_rule;
  RewriteState* m_state;
  std::vector<RuleReport>* m_reports;
  std::set<NodePath> m_reported;
  NodePath m_place;
  bool m_changed = false;
};

}  // namespace

void applyRules(Draft& draft, const PlanOptions& options, std::vector<RuleReport>& reports,
                std::vector<Error>& problems) {
  RewriteState state(options, sizeOf(draft));
  state.reserveCalls(highestCall(draft));
  // After a change the first rule has its turn again: later rules see a tree that the earlier ones have no
  // more to say about.
  for (std::size_t next = 0; next < rules().size();) {
    Pass pass(*rules()[next], state, reports);
    next = pass.run(draft) ? 0 : next + 1;
    if (!state.exceeded()) continue;
    problems.push_back({"", pass.place(), "a query that becomes too large when it is written out",
                        "at most " + std::to_string(options.limits.nodes) + " nodes and " +
                            std::to_string(options.limits.textBytes) + " bytes of text in all prompts"});
    return;
  }
}

}  // namespace spanscope::plan
