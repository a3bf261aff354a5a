// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/explain.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/plan/draft.h"
#include "engine/plan/prompt_children.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>

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
    case OutputForm::Recomputed:
      return "recomputed";
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
  if (length.answerTokens > 0) text += ", at most " + counted(length.answerTokens, "token") + " of answers";
  if (length.openAnswers > 0) {
    text += ", " + counted(length.openAnswers, "answer", "answers") + " without a limit";
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
      line(0, fmt::format("Level {}", ply));
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
      line(1, fmt::format(
                  "{}. {}, applied {}{}", i + 1, pass.rule, times(pass.applied),
                  pass.keepsMeaning ? "" : /*id:changes-prompts-hold*/ ", changes the contents of prompts"));
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
      writeTree(0, /*id:tree-after-rules*/ "Tree after the rules", plan.passes.back().after, false);
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
    line(indent, "steps           " + std::to_string(cost.generates));
    line(indent, "all prompts     " + describe(cost.prompts, unit));
    line(indent, "longest prompt  " + describe(cost.longest, unit));
    std::string tokens;
    if (cost.newTokens > 0 || cost.openGenerates == 0) tokens = fmt::format("at most {}", cost.newTokens);
    if (cost.openGenerates > 0) {
      if (!tokens.empty()) tokens += ", and ";
      tokens += counted(cost.openGenerates, "step") + " without a limit";
    }
    line(indent, "new tokens      " + tokens);
  }

  void writeStep(std::size_t index, const Step& step) {
    line(1, fmt::format("Step {}: {}, copy {}{}", index, place(step.node), step.copy + 1,
                        step.dropped ? ", output dropped" : ""));
    const std::string limit = step.maxTokens ? "at most " + counted(*step.maxTokens, "token")
                                             : /*id:tokens-up-sessions*/ "tokens up to the session's limit";
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
      line(indent, fmt::format("answer of step {}, {}", output->step, formName(output->form)));
    } else if (const auto* run = std::get_if<PromptRun>(&node.value)) {
      line(indent, run->children.empty() ? "nothing" : "in order");
      for (const PromptNode& child : run->children) writePrompt(indent + 1, child);
    } else if (const auto* plus = std::get_if<PromptPlus>(&node.value)) {
      line(indent, /*id:each-scope-own*/ "each in a scope of its own");
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
        line(1, fmt::format("answer of step {}", std::get<StepIndex>(item.value)));
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

namespace {

/// Returns the max number of tokens in the answer of a step. Nothing: the session's limit.
std::optional<std::uint64_t> limitOf(const Step& step) {
  if (step.maxTokens.value_or(0) <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*step.maxTokens);
}

class PromptMeter {
 public:
  PromptMeter(const Plan& plan, const TextMeasure& measure) : m_plan(&plan), m_measure(&measure) {}

  PromptLength lengthOf(const PromptNode& node) const {
    PromptLength length;
    add(node, length);
    return length;
  }

 private:
  /// Counts each text once, because counting encodes the text. Copies of a generate node contain the same
  /// texts.
  std::uint64_t countOf(std::string_view text) const {
    const auto [entry, isNew] = m_counts.try_emplace(text);
    if (isNew) entry->second = m_measure->count(text);
    return entry->second;
  }

  void add(const PromptNode& node, PromptLength& length) const {
    if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
      length.text += countOf(message->text);
    } else if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
      if (const std::optional<std::uint64_t> limit = limitOf(m_plan->steps[output->step])) {
        length.answerTokens += *limit;
      } else {
        ++length.openAnswers;
      }
    }
    for (const PromptNode& child : childrenOf(node)) add(child, length);
  }

  const Plan* m_plan;
  const TextMeasure* m_measure;
  mutable std::unordered_map<std::string_view, std::uint64_t> m_counts;  ///< by text of the plan
};

bool isShorter(const PromptLength& a, const PromptLength& b) {
  return std::tuple(a.openAnswers, a.text + a.answerTokens) <
         std::tuple(b.openAnswers, b.text + b.answerTokens);
}

}  // namespace

TextMeasure TextMeasure::characters() {
  return {[](std::string_view text) { return static_cast<std::uint64_t>(countCharacters(text)); },
          "character"};
}

PlanCost costOf(const Plan& plan, const TextMeasure& measure) {
  const PromptMeter meter(plan, measure);
  PlanCost cost;
  cost.generates = plan.steps.size();
  for (const Step& step : plan.steps) {
    const PromptLength length = meter.lengthOf(step.prompt);
    cost.prompts.text += length.text;
    cost.prompts.answerTokens += length.answerTokens;
    cost.prompts.openAnswers += length.openAnswers;
    if (isShorter(cost.longest, length)) cost.longest = length;
    if (const std::optional<std::uint64_t> limit = limitOf(step)) {
      cost.newTokens += *limit;
    } else {
      ++cost.openGenerates;
    }
  }
  return cost;
}

namespace {

constexpr std::size_t kShownText = 40;

/// Escapes characters that would end or change a quoted string of the DOT language.
std::string dotText(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

class GraphWriter {
 public:
  explicit GraphWriter(const Plan& plan) : m_plan(&plan) {}

  std::string write() {
    m_text = R"(digraph plan {
  rankdir=LR;
  node [shape=box, fontname="sans-serif"];
)";
    for (std::size_t i = 0; i < m_plan->steps.size(); ++i) writeStep(i, m_plan->steps[i]);
    if (!m_plan->result.empty()) writeResult();
    return m_text + m_edges + "}\n";
  }

 private:
  void writeStep(std::size_t index, const Step& step) {
    const std::string title = fmt::format("step {}, level {}: {}, copy {}", index, step.ply,
                                          step.node.empty() ? "the root" : step.node, step.copy + 1);
    m_text += fmt::format("  subgraph cluster_{} {{\n    label={};\n", index, dotText(title));
    const std::string limit = step.maxTokens ? "at most " + counted(*step.maxTokens, "token") : "no limit";
    m_text += fmt::format(
        "    step{} [shape=ellipse, label={}];\n", index,
        dotText(fmt::format("generate\n{}\n{}, temperature {}", step.model, limit, step.temperature)));
    const std::string root = writePrompt(step.prompt);
    m_text += "  }\n";
    m_edges += fmt::format("  {} -> step{};\n", root, index);
  }

  /// Writes a prompt and returns the name of its node in the graph.
  std::string writePrompt(const PromptNode& node) {
    std::string name = fmt::format("p{}", m_nodes++);
    const auto put = [&](const std::string& label, const char* more) {
      m_text += fmt::format("    {} [label={}{}];\n", name, dotText(label), more);
    };
    if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
      put(std::string(query::roleName(message->role)) + " " + quoted(message->text, kShownText), "");
    } else if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
      put(fmt::format("answer of step {}", output->step), ", style=rounded");
      const char* style = output->form == OutputForm::Continuation ? "continues its prompt"
                          : output->form == OutputForm::Recomputed ? "recomputed"
                                                                   : "reused";
      m_edges += fmt::format("  step{} -> {} [style=bold, label={}];\n", output->step, name, dotText(style));
    } else if (const auto* run = std::get_if<PromptRun>(&node.value)) {
      put(run->children.empty() ? "nothing" : "in order", ", shape=plaintext");
      writeChildren(name, run->children);
    } else {
      put("plus", ", shape=diamond");
      writeChildren(name, std::get<PromptPlus>(node.value).children);
    }
    return name;
  }

  void writeChildren(const std::string& parent, const std::vector<PromptNode>& children) {
    for (const PromptNode& child : children) {
      const std::string name = writePrompt(child);
      m_edges += fmt::format("  {} -> {} [dir=back];\n", parent, name);
    }
  }

  void writeResult() {
    m_text += "  result [shape=doublecircle, label=\"result\"];\n";
    for (const ResultItem& item : m_plan->result) {
      if (const auto* step = std::get_if<StepIndex>(&item.value)) {
        m_edges += fmt::format("  step{} -> result;\n", *step);
        continue;
      }
      const auto& message = std::get<PromptMessage>(item.value);
      const std::string name = fmt::format("p{}", m_nodes++);
      const std::string label =
          std::string(query::roleName(message.role)) + " " + quoted(message.text, kShownText);
      m_text += fmt::format("  {} [label={}];\n", name, dotText(label));
      m_edges += fmt::format("  {} -> result;\n", name);
    }
  }

  const Plan* m_plan;
  std::string m_text;
  std::string m_edges;
  std::size_t m_nodes = 0;
};

}  // namespace

std::string explainGraph(const Plan& plan) {
  return GraphWriter(plan).write();
}

namespace {

using Json = nlohmann::ordered_json;

const char* formKey(OutputForm form) {
  switch (form) {
    case OutputForm::Continuation:
      return "continuation";
    case OutputForm::Recomputed:
      return "recomputed";
    case OutputForm::Reused:
      return "reused";
  }
  return "";
}

Json promptJson(const PromptNode& node) {
  Json json{{"node", node.node}};
  const auto children = [](const std::vector<PromptNode>& nodes) {
    Json list = Json::array();
    for (const PromptNode& child : nodes) list.push_back(promptJson(child));
    return list;
  };
  if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
    json[query::roleName(message->role)] = message->text;
  } else if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
    json["reply"] = output->step;
    json["form"] = formKey(output->form);
  } else if (const auto* run = std::get_if<PromptRun>(&node.value)) {
    json["run"] = children(run->children);
  } else {
    json["plus"] = children(std::get<PromptPlus>(node.value).children);
  }
  return json;
}

Json treeJson(const std::vector<TreeLine>& tree) {
  Json list = Json::array();
  for (const TreeLine& line : tree) {
    list.push_back(
        {{"depth", line.depth}, {"node", line.node}, {"label", line.label}, {"changed", line.changed}});
  }
  return list;
}

Json passesJson(const Plan& plan) {
  Json passes = Json::array();
  for (const PassReport& pass : plan.passes) {
    Json changes = Json::array();
    for (std::size_t i = 0; i < pass.changeCount; ++i) {
      const RuleReport& report = plan.rules[pass.firstChange + i];
      changes.push_back({{"node", report.node}, {"before", report.before}, {"after", report.after}});
    }
    Json json{{"rule", pass.rule},
              {"applied", pass.applied},
              {"keeps_meaning", pass.keepsMeaning},
              {"reason", pass.reason},
              {"changes", std::move(changes)}};
    if (!pass.before.empty()) json["tree_before"] = treeJson(pass.before);
    if (!pass.after.empty()) json["tree_after"] = treeJson(pass.after);
    passes.push_back(std::move(json));
  }
  return passes;
}

Json lengthJson(const PromptLength& length) {
  return {{"text", length.text},
          {"reply_tokens_at_most", length.answerTokens},
          {"replies_without_limit", length.openAnswers}};
}

Json costJson(const PlanCost& cost, const std::string& unit) {
  return {{"text_unit", unit + "s"},
          {"generates", cost.generates},
          {"prompts", lengthJson(cost.prompts)},
          {"longest_prompt", lengthJson(cost.longest)},
          {"new_tokens_at_most", cost.newTokens},
          {"generates_without_limit", cost.openGenerates}};
}

Json stepJson(std::size_t index, const Step& step) {
  return {{"step", index},
          {"node", step.node},
          {"copy", step.copy},
          {"ply", step.ply},
          {"model", step.model},
          {"max_tokens", step.maxTokens ? Json(*step.maxTokens) : Json(nullptr)},
          {"temperature", step.temperature},
          {"seed", step.seed},
          {"needs", step.needs},
          {"dropped", step.dropped},
          {"prompt", promptJson(step.prompt)}};
}

Json resultJson(const Plan& plan) {
  Json result = Json::array();
  for (const ResultItem& item : plan.result) {
    if (const auto* message = std::get_if<PromptMessage>(&item.value)) {
      result.push_back({{"node", item.node}, {query::roleName(message->role), message->text}});
    } else {
      result.push_back({{"node", item.node}, {"reply", std::get<StepIndex>(item.value)}});
    }
  }
  return result;
}

}  // namespace

std::string explainJson(const Plan& plan, const ExplainOptions& options) {
  Json json;
  json["passes"] = passesJson(plan);
  json["cost"] = costJson(costOf(plan, options.measure), options.measure.unit);
  if (options.withoutLocality != nullptr) {
    json["cost_without_locality"] =
        costJson(costOf(*options.withoutLocality, options.measure), options.measure.unit);
  }
  json["steps"] = Json::array();
  for (std::size_t i = 0; i < plan.steps.size(); ++i) json["steps"].push_back(stepJson(i, plan.steps[i]));
  json["result"] = resultJson(plan);
  json["printed"] = plan.printed;
  // A query that does not come from a file may contain invalid UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace spanscope::plan
