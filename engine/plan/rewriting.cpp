// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/rewriting.h"

#include "engine/plan/draft_tree.h"
#include "engine/plan/outline.h"
#include "engine/plan/rules/rules.h"

#include <algorithm>
#include <set>

namespace spanscope::plan {
namespace {

/// Each rule terminates, and so do all rules together. So many passes would be a defect; then an error is
/// better than no answer.
constexpr std::size_t kMaxPasses = 100'000;

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

  /// Returns how often the rule was applied.
  std::uint32_t run(Draft& draft) {
    visit(draft, {});
    return m_applied;
  }

  /// Where the limits were exceeded.
  const NodePath& place() const { return m_place; }
  /// Where the rule was applied.
  const std::set<NodePath>& changed() const { return m_reported; }

 private:
  void visit(Draft& draft, const RuleSite& around) {
    RuleSite inside = around;
    if (draft.info().gives == query::Gives::Reply) inside.enclosing = &draft.settings;
    // A dropped step is part of no prompt.
    if (draft.info().gives == query::Gives::Nothing) inside.enclosing = nullptr;
    for (Draft& child : draft.children) visit(child, inside);
    if (m_state->exceeded() || !m_rule->matches(draft, around, *m_state)) return;
    apply(draft, around);
  }

  void apply(Draft& draft, const RuleSite& around) {
    ++m_applied;
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
  std::uint32_t m_applied = 0;
};

class Rewriter {
 public:
  Rewriter(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems)
      : m_draft(&draft),
        m_options(&options),
        m_plan(&plan),
        m_problems(&problems),
        m_state(options, sizeOf(draft)) {
    m_state.reserveCalls(highestCall(draft));
  }

  void run() {
    std::vector<const Rule*> active;
    for (const Rule* rule : rules()) {
      if (isOn(*rule, *m_options)) active.push_back(rule);
    }
    std::size_t passes = 0;
    // After a change the first rule has its turn again. So later rules see a tree that the earlier rules
    // cannot change any more.
    for (std::size_t next = 0; next < active.size();) {
      if (++passes > kMaxPasses) {
        m_problems->push_back({"", "", "rules that do not come to an end",
                               "a query that takes at most " + std::to_string(kMaxPasses) + " passes"});
        return;
      }
      next = runPass(*active[next]) ? 0 : next + 1;
      if (m_state.exceeded()) return;
    }
  }

 private:
  /// Returns whether the rule matched somewhere.
  bool runPass(const Rule& rule) {
    Pass pass(rule, m_state, m_plan->rules);
    PassReport report;
    report.firstChange = m_plan->rules.size();
    if (m_options->recordTrees && m_tree.empty()) m_tree = treeOf(*m_draft);
    report.applied = pass.run(*m_draft);
    if (m_state.exceeded()) {
      m_problems->push_back({"", pass.place(), "a query that becomes too large when it is written out",
                             "at most " + std::to_string(m_options->limits.nodes) + " nodes and " +
                                 std::to_string(m_options->limits.textBytes) +
                                 " bytes of text in all prompts"});
    }
    if (report.applied == 0) return false;
    report.rule = rule.name;
    report.reason = rule.reason;
    report.keepsMeaning = rule.meaning == Meaning::Kept;
    report.changeCount = m_plan->rules.size() - report.firstChange;
    if (m_options->recordTrees) {
      report.before = std::move(m_tree);
      m_tree = treeOf(*m_draft);
      report.after = m_tree;
      mark(report.before, pass.changed());
      mark(report.after, pass.changed());
    }
    m_plan->passes.push_back(std::move(report));
    return true;
  }

  static void mark(std::vector<TreeLine>& tree, const std::set<NodePath>& changed) {
    for (TreeLine& line : tree) line.changed = changed.count(line.node) > 0;
  }

  Draft* m_draft;
  const PlanOptions* m_options;
  Plan* m_plan;
  std::vector<Error>* m_problems;
  RewriteState m_state;
  std::vector<TreeLine> m_tree;  ///< the current tree; empty until it is needed
};

/// Reports nodes that only a rule which is off could have turned into steps.
void findLeftovers(const Draft& draft, std::vector<Error>& problems) {
  for (const Rule* rule : rules()) {
    if (rule->writesOut != draft.op) continue;
    const std::string what = draft.name();
    problems.push_back(
        {"", draft.node, "a " + what + " that is not written out",
         "the rule \"" + std::string(rule->name) + "\" switched on: the engine has no " + what});
  }
  for (const Draft& child : draft.children) findLeftovers(child, problems);
}

}  // namespace

void checkRules(const PlanOptions& options, std::vector<Error>& problems) {
  for (const auto& [name, on] : options.rules) {
    if (findRule(name) != nullptr) continue;
    std::string names;
    for (const Rule* rule : rules()) names += (names.empty() ? "" : ", ") + std::string(rule->name);
    problems.push_back({"", "", "a rule \"" + name + "\"", "one of " + names});
  }
  if (options.locality.fanIn == 1) {
    problems.push_back({"", "", "attention locality with 1 entry a judge", "2 or more, or 0 for none"});
  }
}

void rewrite(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems) {
  Rewriter(draft, options, plan, problems).run();
}

void applyRules(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems) {
  rewrite(draft, options, plan, problems);
  if (problems.empty()) findLeftovers(draft, problems);
}

}  // namespace spanscope::plan
