// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/explain.h"

#include <nlohmann/json.hpp>

namespace spanscope::plan {
namespace {

using Json = nlohmann::ordered_json;

const char* formName(OutputForm form) {
  switch (form) {
    case OutputForm::Continuation:
      return "continuation";
    case OutputForm::Anew:
      return "anew";
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
    json["form"] = formName(output->form);
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
          {"reply_tokens_at_most", length.replyTokens},
          {"replies_without_limit", length.openReplies}};
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
  // A query that was not read from a file may contain text that is not UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace spanscope::plan
