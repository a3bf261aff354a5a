// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/explain.h"

#include "engine/base/counted.h"
#include "engine/plan/outline.h"

#include <fmt/format.h>

#include <algorithm>

namespace spanscope::plan {
namespace {

constexpr std::size_t kTextBytes = 72;

std::string place(const NodePath& node) {
  return node.empty() ? "the root" : node;
}

const char* formName(OutputForm form) {
  switch (form) {
    case OutputForm::Continuation:
      return "continuing its prompt";
    case OutputForm::Anew:
      return "computed anew";
    case OutputForm::Reused:
      return "reused, approximate";
  }
  return "";
}

std::string times(std::uint32_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

std::string describe(const PromptLength& length, const std::string& unit) {
  std::string text = counted(length.text, unit) + " of messages";
  if (length.replyTokens > 0) text += ", at most " + counted(length.replyTokens, "token") + " of replies";
  if (length.openReplies > 0) {
    text += ", " + counted(length.openReplies, "reply", "replies") + " without a limit";
  }
  return text;
}

class Explainer {
 public:
  std::string write(const Plan& plan, const ExplainOptions* options) {
    writePasses(plan, options != nullptr && options->eachTree);
    if (options != nullptr) writeCost(plan, *options);
    std::uint32_t plies = 0;
    for (const Step& step : plan.steps) plies = std::max(plies, step.ply + 1);
    for (std::uint32_t ply = 0; ply < plies; ++ply) {
      line(0, fmt::format("Ply {}", ply));
      for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        if (plan.steps[i].ply == ply) writeStep(i, plan.steps[i]);
      }
    }
    writeResult(plan);
    return std::move(m_text);
  }

 private:
  void line(std::size_t indent, const std::string& text) {
    m_text.append(2 * indent, ' ');
    m_text += text;
    m_text += '\n';
  }

  void writePasses(const Plan& plan, bool eachTree) {
    if (!eachTree && !plan.passes.empty()) writeTree(0, "Tree as given", plan.passes.front().before, false);
    line(0, "Rules");
    if (plan.passes.empty()) line(1, "none applied");
    for (std::size_t i = 0; i < plan.passes.size(); ++i) {
      const PassReport& pass = plan.passes[i];
      line(1, fmt::format("{}. {}, applied {}{}", i + 1, pass.rule, times(pass.applied),
                          pass.keepsMeaning ? "" : ", changes what prompts hold"));
      line(2, "why     " + pass.reason);
      if (eachTree) writeTree(2, "tree before", pass.before, true);
      for (std::size_t change = 0; change < pass.changeCount; ++change) {
        const RuleReport& report = plan.rules[pass.firstChange + change];
        line(2, "at " + place(report.node));
        line(3, "before  " + report.before);
        line(3, "after   " + report.after);
      }
      if (eachTree) writeTree(2, "tree after", pass.after, true);
    }
    if (!eachTree && !plan.passes.empty())
      writeTree(0, "Tree after the rules", plan.passes.back().after, false);
  }

  void writeTree(std::size_t indent, const char* title, const std::vector<TreeLine>& tree, bool marked) {
    if (tree.empty()) return;
    line(indent, title);
    for (const TreeLine& treeLine : tree) {
      line(indent + 1 + treeLine.depth, treeLine.label + (marked && treeLine.changed ? "   ← changed" : ""));
    }
  }

  void writeCost(const Plan& plan, const ExplainOptions& options) {
    line(0, "Cost");
    writeCostOf(1, costOf(plan, options.measure), options.measure.unit);
    if (options.withoutLocality == nullptr) return;
    line(1, "without attention locality");
    writeCostOf(2, costOf(*options.withoutLocality, options.measure), options.measure.unit);
  }

  void writeCostOf(std::size_t indent, const PlanCost& cost, const std::string& unit) {
    line(indent, "generates       " + std::to_string(cost.generates));
    line(indent, "all prompts     " + describe(cost.prompts, unit));
    line(indent, "longest prompt  " + describe(cost.longest, unit));
    std::string tokens = fmt::format("at most {}", cost.newTokens);
    if (cost.openGenerates > 0) {
      tokens += ", and " + counted(cost.openGenerates, "generate") + " without a limit";
    }
    line(indent, "new tokens      " + tokens);
  }

  void writeStep(std::size_t index, const Step& step) {
    line(1, fmt::format("Step {}: {}, copy {}{}", index, place(step.node), step.copy,
                        step.dropped ? ", output dropped" : ""));
    const std::string limit =
        step.maxTokens ? "at most " + counted(*step.maxTokens, "token") : "tokens up to the session's limit";
    line(2, fmt::format("model {}, {}, temperature {}, seed {}",
                        step.model.empty() ? "not named" : step.model, limit, step.temperature, step.seed));
    std::string needs;
    for (const StepIndex need : step.needs)
      needs += fmt::format("{}step {}", needs.empty() ? "" : ", ", need);
    line(2, "needs " + (needs.empty() ? "nothing" : needs));
    line(2, "prompt");
    writePrompt(3, step.prompt);
  }

  void writePrompt(std::size_t indent, const PromptNode& node) {
    if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
      line(indent, fmt::format("{} {}", query::roleName(message->role), quoted(message->text, kTextBytes)));
    } else if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
      line(indent, fmt::format("reply of step {}, {}", output->step, formName(output->form)));
    } else if (const auto* run = std::get_if<PromptRun>(&node.value)) {
      line(indent, run->children.empty() ? "nothing" : "in order");
      for (const PromptNode& child : run->children) writePrompt(indent + 1, child);
    } else if (const auto* plus = std::get_if<PromptPlus>(&node.value)) {
      line(indent, "each in a scope of its own");
      for (const PromptNode& child : plus->children) writePrompt(indent + 1, child);
    }
  }

  void writeResult(const Plan& plan) {
    line(0, "Result");
    if (plan.result.empty()) line(1, "nothing");
    for (const ResultItem& item : plan.result) {
      if (const auto* message = std::get_if<PromptMessage>(&item.value)) {
        line(1, fmt::format("{} {}", query::roleName(message->role), quoted(message->text, kTextBytes)));
      } else {
        line(1, fmt::format("reply of step {}", std::get<StepIndex>(item.value)));
      }
    }
    if (plan.printed.empty()) return;
    line(0, "Printed");
    for (const std::string& text : plan.printed) line(1, quoted(text, kTextBytes));
  }

  std::string m_text;
};

}  // namespace

std::string explain(const Plan& plan, const ExplainOptions& options) {
  return Explainer().write(plan, &options);
}

std::string explain(const Plan& plan) {
  return Explainer().write(plan, nullptr);
}

}  // namespace spanscope::plan
