// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/planner.h"

#include "engine/base/hash.h"
#include "engine/plan/prompt_children.h"
#include "engine/plan/rules/rules.h"

#include <algorithm>
#include <set>
#include <utility>

namespace spanscope::plan {

PlanResult makePlan(const query::Node& query, const PlanOptions& options) {
  PlanResult result;
  checkRules(options, result.problems);
  // Only one rule makes subquery results.
  const OutputForm form =
      options.outputForm == OutputForm::Reused ? OutputForm::Reused : OutputForm::Recomputed;
  Draft draft = makeDraft(query, options.temperature, form, options.limits.depth, result.problems);
  if (!result.problems.empty()) return result;
  Plan plan;
  applyRules(draft, options, plan, result.problems);
  if (!result.problems.empty()) return result;
  lower(draft, options, plan, result.problems);
  if (!result.problems.empty()) return result;
  result.plan = std::move(plan);
  return result;
}

namespace {

/// Each rule terminates, and all rules together terminate. More passes than this number are a defect. The
/// planner then reports an error instead of running on.
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

  /// Returns the node where the limits were exceeded.
  const NodePath& place() const { return m_place; }
  /// Returns the nodes where the rule was applied.
  const std::set<NodePath>& changed() const { return m_reported; }

 private:
  void visit(Draft& draft, const RuleSite& around) {
    RuleSite inside = around;
    if (draft.info().gives == query::Gives::Answer) inside.enclosing = &draft.settings;
    // No prompt contains a dropped step.
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
    // After a change, the planner begins again with the first rule. A rule is thus applied only to a tree
    // that no earlier rule can change.
    for (std::size_t next = 0; next < active.size();) {
      if (++passes > kMaxPasses) {
        m_problems->push_back({"", "", "rewrite rules that do not terminate",
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
      m_problems->push_back({"", pass.place(), "a query that is too large after it is expanded",
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

/// Reports nodes whose rule is off.
void findLeftovers(const Draft& draft, std::vector<Error>& problems) {
  for (const Rule* rule : rules()) {
    if (rule->writesOut != draft.op) continue;
    const std::string what = draft.name();
    problems.push_back({"", draft.node, "a " + what + /*id:not-written-out*/ " that no rule has expanded",
                        "the rule \"" + std::string(rule->name) +
                            "\" switched on, because the engine cannot run a " + what});
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
    problems.push_back({"", "", "attention locality with 1 candidate per judge",
                        "2 or more candidates, or 0 for no locality"});
  }
}

void rewrite(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems) {
  Rewriter(draft, options, plan, problems).run();
}

void applyRules(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems) {
  rewrite(draft, options, plan, problems);
  if (problems.empty()) findLeftovers(draft, problems);
}

namespace {

bool isEmptyPrompt(const PromptNode& node) {
  const auto* run = std::get_if<PromptRun>(&node.value);
  return run != nullptr && run->children.empty();
}

void collectNeeds(const PromptNode& node, std::set<StepIndex>& needs) {
  if (const auto* output = std::get_if<PromptOutput>(&node.value)) needs.insert(output->step);
  for (const PromptNode& child : childrenOf(node)) collectNeeds(child, needs);
}

class Lowering {
 public:
  Lowering(const PlanOptions& options, Plan& plan, std::vector<Error>& problems)
      : m_options(&options), m_plan(&plan), m_problems(&problems) {}

  void lowerResult(const Draft& draft) {
    if (draft.is<query::Message>()) {
      if (!draft.text.empty()) m_plan->result.push_back({draft.node, PromptMessage{draft.role, draft.text}});
    } else if (draft.is<query::Join>()) {
      for (const Draft& child : draft.children) lowerResult(child);
    } else if (draft.is<query::Generate>()) {
      m_plan->result.push_back({draft.node, stepFor(draft, false)});
    } else {
      runForEffect(draft);
    }
  }

 private:
  /// Lowers a draft without tokens, which may still print texts or run steps.
  void runForEffect(const Draft& draft) {
    if (draft.is<query::Print>()) {
      if (m_printed.insert(draft.node).second) m_plan->printed.push_back(draft.text);
    } else if (draft.is<query::Generate>()) {
      stepFor(draft, true);
    } else {
      for (const Draft& child : draft.children) runForEffect(child);
    }
  }

  /// Returns the prompt node of a draft; an empty run if the draft gives no tokens.
  PromptNode lowerPrompt(const Draft& draft, bool dropped) {
    PromptNode nothing{draft.node, PromptRun{}};
    if (draft.is<query::Message>()) {
      if (isSilent(draft)) return nothing;
      count(1, draft.text.size());
      return {draft.node, PromptMessage{draft.role, draft.text}};
    }
    if (draft.is<query::Join>()) {
      std::vector<PromptNode> children;
      for (const Draft& child : draft.children) {
        PromptNode node = lowerPrompt(child, dropped);
        if (!isEmptyPrompt(node)) children.push_back(std::move(node));
      }
      if (children.empty()) return nothing;
      count(1, 0);
      if (draft.join == query::JoinKind::Plus) return {draft.node, PromptPlus{std::move(children)}};
      const bool isCross = draft.join == query::JoinKind::Cross;
      if (children.size() == 1 && !isCross) return std::move(children.front());
      return {draft.node, PromptRun{.children = std::move(children), .isCross = isCross}};
    }
    if (!draft.is<query::Generate>()) {
      runForEffect(draft);
      return nothing;
    }
    const StepIndex step = stepFor(draft, dropped);
    count(1, 0);
    if (m_exceeded || draft.form != OutputForm::Continuation) {
      return {draft.node, PromptOutput{step, formOf(draft)}};
    }
    const PromptNode& inner = m_plan->steps[step].prompt;
    countAll(inner);
    PromptRun closure;
    if (!m_exceeded && !isEmptyPrompt(inner)) closure.children.push_back(inner);
    closure.children.push_back({draft.node, PromptOutput{step, OutputForm::Continuation}});
    return {draft.node, std::move(closure)};
  }

  static OutputForm formOf(const Draft& draft) {
    return draft.form == OutputForm::Reused ? OutputForm::Reused : OutputForm::Recomputed;
  }

  /// Returns the step of a generate node. The first occurrence makes the step, after the steps that it needs.
  StepIndex stepFor(const Draft& draft, bool dropped) {
    if (const auto known = m_stepOfCall.find(draft.call); known != m_stepOfCall.end()) return known->second;
    Step step;
    step.node = draft.node;
    step.model = draft.settings.model;
    step.maxTokens = draft.settings.maxTokens;
    step.temperature = draft.settings.temperature;
    step.dropped = dropped;
    step.prompt = lowerPrompt(draft.input(), dropped);
    std::set<StepIndex> needs;
    collectNeeds(step.prompt, needs);
    step.needs.assign(needs.begin(), needs.end());
    for (const StepIndex need : step.needs) step.ply = std::max(step.ply, m_plan->steps[need].ply + 1);
    step.copy = m_copies[draft.node]++;
    const auto index = static_cast<StepIndex>(m_plan->steps.size());
    step.seed = stepSeed(m_options->seed, index, step.copy);
    m_plan->steps.push_back(std::move(step));
    m_stepOfCall.emplace(draft.call, index);
    return index;
  }

  void count(std::size_t nodes, std::size_t textBytes) {
    m_nodes += nodes;
    m_textBytes += textBytes;
    if (m_exceeded || (m_nodes <= m_options->limits.nodes && m_textBytes <= m_options->limits.textBytes))
      return;
    m_exceeded = true;
    m_problems->push_back({"", "", "prompts that are too large after subquery results are expanded",
                           "at most " + std::to_string(m_options->limits.nodes) + " nodes and " +
                               std::to_string(m_options->limits.textBytes) +
                               " bytes of text in all prompts"});
  }

  void countAll(const PromptNode& node) {
    const auto* message = std::get_if<PromptMessage>(&node.value);
    count(1, message == nullptr ? 0 : message->text.size());
    for (const PromptNode& child : childrenOf(node)) countAll(child);
  }

  const PlanOptions* m_options;
  Plan* m_plan;
  std::vector<Error>* m_problems;
  std::map<std::uint32_t, StepIndex> m_stepOfCall;
  std::map<NodePath, std::uint32_t> m_copies;
  std::set<NodePath> m_printed;
  std::size_t m_nodes = 0;
  std::size_t m_textBytes = 0;
  bool m_exceeded = false;
};

}  // namespace

void lower(const Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems) {
  Lowering(options, plan, problems).lowerResult(draft);
}

std::uint64_t stepSeed(std::uint64_t planSeed, StepIndex step, std::uint32_t copy) {
  return mixBits(mixBits(mixBits(planSeed) ^ step) ^ copy);
}

namespace {

query::GenerateSettings settingsOf(const DraftSettings& settings) {
  query::GenerateSettings result;
  result.model = settings.model;
  if (settings.maxTokens) result.maxTokens = *settings.maxTokens;
  result.temperature = settings.temperature;
  return result;
}

/// Sets the fields of an operator from its draft.
class FieldFiller {
 public:
  explicit FieldFiller(const Draft& draft) : m_draft(draft) {}

  void operator()(const query::FieldInfo& /*info*/, std::string& text) { text = m_draft.text; }
  void operator()(const query::FieldInfo& /*info*/, query::Times& count) {
    count = static_cast<std::uint8_t>(std::min(m_draft.count, 255U));
  }
  void operator()(const query::FieldInfo& /*info*/, query::GenerateSettings& settings) {
    settings = settingsOf(m_draft.settings);
  }
  void operator()(const query::FieldInfo& /*info*/, query::Generate& generate) {
    query::visitGroup(generate, *this);
  }
  void operator()(const query::FieldInfo& /*info*/, std::vector<std::string>& texts) {
    texts = m_draft.inputs;
  }
  void operator()(const query::FieldInfo& /*info*/, query::SettingField auto& /*setting*/) {}
  void operator()(const query::FieldInfo& /*info*/, query::DocumentField auto& /*document*/) {}
  void operator()(const query::FieldInfo& /*info*/, query::ChildField auto& /*child*/) {}
  void operator()(const query::FieldInfo& /*info*/, query::ChildrenField auto& /*children*/) {}

 private:
  const Draft& m_draft;
};

query::Node toQuery(const Draft& draft, const NodePath& path, std::map<NodePath, NodePath>& origins) {
  origins.emplace(path, draft.node);
  query::Node node = query::makeOperator(draft.name());
  query::visitFields(node, FieldFiller(draft));
  // The path steps to the children come from an operator with the same number of children.
  const query::Node shape = query::withChildren(node, std::vector<query::Node>(draft.children.size()));
  const std::vector<query::ChildRef> steps = query::childrenOf(shape);
  std::vector<query::Node> children;
  children.reserve(draft.children.size());
  for (std::size_t i = 0; i < draft.children.size(); ++i)
    children.push_back(toQuery(draft.children[i], path + steps[i].step, origins));
  return query::withChildren(std::move(node), std::move(children));
}

}  // namespace

LocalizedQuery localizedQuery(const query::Node& query, const LocalityOptions& locality) {
  LocalizedQuery result;
  PlanOptions options;
  options.locality = locality;
  // Zips stay, because a written-out zip would run the repeated child in every place. The target flattens
  // joins itself.
  for (const Rule* rule : rules()) {
    options.rules[std::string(rule->name)] = rule == &kLocalityRule || rule == &kExpandRepeatRule ||
                                             rule == &kExpandMapRule || rule == &kFlattenPlusRule;
  }
  checkRules(options, result.problems);
  Draft draft =
      makeDraft(query, options.temperature, OutputForm::Recomputed, options.limits.depth, result.problems);
  if (!result.problems.empty()) return result;
  Plan plan;
  rewrite(draft, options, plan, result.problems);
  if (result.problems.empty()) result.query = toQuery(draft, {}, result.origins);
  return result;
}

}  // namespace spanscope::plan
