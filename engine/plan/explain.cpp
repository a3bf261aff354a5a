// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/explain.h"

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

class Explainer {
 public:
  std::string write(const Plan& plan) {
    writeRules(plan);
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

  void writeRules(const Plan& plan) {
    line(0, "Rules");
    if (plan.rules.empty()) line(1, "none applied");
    for (const RuleReport& report : plan.rules) {
      line(1, fmt::format("{} at {}", report.rule, place(report.node)));
      line(2, "before  " + report.before);
      line(2, "after   " + report.after);
      line(2, "why     " + report.reason);
    }
  }

  void writeStep(std::size_t index, const Step& step) {
    line(1, fmt::format("Step {}: {}, copy {}{}", index, place(step.node), step.copy,
                        step.dropped ? ", output dropped" : ""));
    const std::string limit = step.maxTokens ? fmt::format("at most {} tokens", *step.maxTokens)
                                             : "tokens up to the session's limit";
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

std::string explain(const Plan& plan) {
  return Explainer().write(plan);
}

}  // namespace spanscope::plan
