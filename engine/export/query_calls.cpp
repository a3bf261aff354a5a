// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/query_calls.h"

#include "engine/export/chat_requests.h"
#include "engine/plan/planner.h"
#include "engine/query/node_parts.h"
#include "engine/spnl/server_body.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace spanscope::exports {
namespace {

/// Returns the prompt with the outputs of requests instead of those of steps.
plan::PromptNode ofRequests(plan::PromptNode node, const std::map<StepIndex, std::size_t>& requestOf) {
  if (auto* output = std::get_if<plan::PromptOutput>(&node.value)) {
    output->step = static_cast<StepIndex>(requestOf.at(output->step));
  } else if (auto* run = std::get_if<plan::PromptRun>(&node.value)) {
    for (plan::PromptNode& child : run->children) child = ofRequests(std::move(child), requestOf);
  } else if (auto* plus = std::get_if<plan::PromptPlus>(&node.value)) {
    for (plan::PromptNode& child : plus->children) child = ofRequests(std::move(child), requestOf);
  }
  return node;
}

query::Node joined(query::JoinKind kind, const std::vector<plan::PromptNode>& children,
                   const std::vector<std::string>& replies);

query::Node nodeOf(const plan::PromptNode& prompt, const std::vector<std::string>& replies) {
  if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value))
    return {query::Message{message->role, message->text}};
  if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value))
    return {query::Message{query::Role::Assistant, replies.at(output->step)}};
  if (const auto* plus = std::get_if<plan::PromptPlus>(&prompt.value))
    return joined(query::JoinKind::Plus, plus->children, replies);
  const auto& run = std::get<plan::PromptRun>(prompt.value);
  return joined(run.isCross ? query::JoinKind::Cross : query::JoinKind::Seq, run.children, replies);
}

query::Node joined(query::JoinKind kind, const std::vector<plan::PromptNode>& children,
                   const std::vector<std::string>& replies) {
  query::Join join{kind, {}};
  for (const plan::PromptNode& child : children) join.children.push_back(nodeOf(child, replies));
  return {std::move(join)};
}

/// The calls of a query whose plan is made.
class CallMaker {
 public:
  CallMaker(const query::Node& query, const plan::Plan& plan) : m_query(query), m_plan(plan) {}

  QueryCalls make() {
    StepRequests steps = stepRequests(m_plan, std::nullopt);
    for (std::size_t i = 0; i < steps.requests.size(); ++i) {
      const plan::Step& step = m_plan.steps[steps.stepOf[i]];
      if (i > 0 && isSameCall(m_plan.steps[steps.stepOf[i - 1]], step)) {
        QueryCall& call = m_made.calls.back();
        ++call.count;
        if (call.isMap) call.inputs.push_back(inputOf(steps.requests[i]));
        continue;
      }
      const query::Node* node = query::nodeAt(m_query, step.node);
      QueryCall call{.first = i, .count = 1, .settings = {}, .isMap = false, .prompt = {}, .inputs = {}};
      call.isMap = node != nullptr && query::inputsOf(*node) != nullptr;
      if (const auto* settings = node == nullptr ? nullptr : query::settingsOf(*node)) {
        call.settings = *settings;
      } else {
        call.settings = {.model = step.model, .maxTokens = {}, .temperature = {}};
        if (step.maxTokens) call.settings.maxTokens = *step.maxTokens;
        call.settings.temperature = step.temperature;
      }
      if (call.isMap)
        call.inputs.push_back(inputOf(steps.requests[i]));
      else
        call.prompt = ofRequests(step.prompt, steps.requestOf);
      m_made.calls.push_back(std::move(call));
    }
    m_made.requests = std::move(steps.requests);
    return std::move(m_made);
  }

 private:
  static std::string inputOf(const ChatRequest& request) {
    return request.messages.empty() ? std::string() : request.messages.front().content;
  }

  /// Copies of one node are one call. These are the copies of a map, and those of a repeat with one prompt.
  bool isSameCall(const plan::Step& before, const plan::Step& step) const {
    const QueryCall& call = m_made.calls.back();
    if (before.node != step.node || step.copy <= before.copy) return false;
    if (call.isMap) return true;
    return call.count < std::numeric_limits<std::uint8_t>::max() && before.prompt == step.prompt;
  }

  const query::Node& m_query;
  const plan::Plan& m_plan;
  QueryCalls m_made;
};

}  // namespace

QueryCalls queryCalls(const query::Node& query) {
  plan::PlanOptions options;
  // The sent query is the written query, as far as possible.
  for (const char* const rule : {"flatten", "flatten plus", "unwrap"}) options.rules[rule] = false;
  plan::PlanResult planned = plan::makePlan(query, options);
  if (!planned.plan) return {.requests = {}, .calls = {}, .problems = std::move(planned.problems)};
  QueryCalls made = CallMaker(query, *planned.plan).make();
  if (made.requests.empty()) made.problems.push_back(generatesNothing());
  return made;
}

query::Node queryBody(const QueryCall& call, const std::vector<std::string>& replies, std::string model) {
  query::GenerateSettings settings = call.settings;
  settings.model = std::move(model);
  if (call.isMap) return {query::Map{std::move(settings), call.inputs}};
  query::Generate generate{std::move(settings), nodeOf(call.prompt, replies)};
  const query::Node whole{
      query::Repeat{.count = static_cast<std::uint8_t>(call.count), .generate = std::move(generate)}};
  spnl::ServerBodies made = spnl::serverBodies(whole);
  if (made.bodies.size() == 1) return std::move(made.bodies.front().body);
  throw Failure(errorAt("query", made.withheld.empty() ? "no call" : made.withheld.front().reason,
                        "a prompt of messages and joins"));
}

}  // namespace spanscope::exports
