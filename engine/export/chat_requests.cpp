// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/chat_requests.h"

#include "engine/plan/planner.h"
#include "engine/query/number_text.h"
#include "engine/spnl/backends.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <map>
#include <utility>

namespace spanscope::exports {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the steps whose answer is needed: steps that are not dropped, and the steps that they need.
std::vector<bool> keptSteps(const plan::Plan& plan) {
  std::vector<bool> kept(plan.steps.size());
  for (std::size_t i = plan.steps.size(); i-- > 0;) {
    const plan::Step& step = plan.steps[i];
    if (!step.dropped) kept[i] = true;
    if (!kept[i]) continue;
    for (const StepIndex need : step.needs) kept[need] = true;
  }
  return kept;
}

/// Makes the messages of one step. It has the request of each earlier step.
class MessageWriter {
 public:
  explicit MessageWriter(const std::map<StepIndex, std::size_t>& requestOf) : m_requestOf(&requestOf) {}

  std::vector<ChatMessage> take() { return std::move(m_messages); }

  void write(const plan::PromptNode& node) {
    if (const auto* message = std::get_if<plan::PromptMessage>(&node.value)) {
      m_messages.push_back({message->role, message->text, {}, node.node});
    } else if (const auto* output = std::get_if<plan::PromptOutput>(&node.value)) {
      const std::size_t request = m_requestOf->at(output->step);
      m_messages.push_back({query::Role::Assistant, replyPlaceholder(request), request, node.node});
    } else if (const auto* run = std::get_if<plan::PromptRun>(&node.value)) {
      for (const plan::PromptNode& child : run->children) write(child);
    } else if (const auto* plus = std::get_if<plan::PromptPlus>(&node.value)) {
      for (const plan::PromptNode& child : plus->children) write(child);
    }
  }

 private:
  const std::map<StepIndex, std::size_t>* m_requestOf;
  std::vector<ChatMessage> m_messages;
};

/// Returns the shortest number for the float: 0.3 and not 0.30000001192092896.
double shortest(float value) {
  const std::string text = query::floatText(value);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Json bodyOf(const ChatRequest& request) {
  Json body;
  body["model"] = request.model;
  body["messages"] = Json::array();
  for (const ChatMessage& message : request.messages) {
    Json& entry = body["messages"].emplace_back();
    entry["role"] = query::roleName(message.role);
    entry["content"] = message.content;
  }
  if (request.maxTokens) body["max_tokens"] = *request.maxTokens;
  body["temperature"] = shortest(request.temperature);
  if (request.seed) body["seed"] = *request.seed;
  return body;
}

std::string dumped(const Json& json, bool pretty) {
  return json.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

StepRequests stepRequests(const plan::Plan& plan, std::optional<std::uint64_t> seed) {
  StepRequests made;
  const std::vector<bool> kept = keptSteps(plan);
  for (StepIndex i = 0; i < plan.steps.size(); ++i) {
    if (!kept[i]) continue;
    const plan::Step& step = plan.steps[i];
    ChatRequest request;
    request.node = step.node;
    request.model = std::string(spnl::nameWithoutProvider(step.model));
    request.maxTokens = step.maxTokens;
    request.temperature = step.temperature;
    constexpr std::uint64_t kSeedMask = 0x7FFFFFFF;
    if (seed) request.seed = static_cast<std::uint32_t>(step.seed & kSeedMask);
    MessageWriter writer(made.requestOf);
    writer.write(step.prompt);
    request.messages = writer.take();
    made.requestOf.emplace(i, made.requests.size());
    made.requests.push_back(std::move(request));
    made.stepOf.push_back(i);
  }
  return made;
}

Error generatesNothing() {
  return {"", "", "a query that generates nothing", "a generate, a repeat or a map"};
}

ChatRequests chatRequests(const query::Node& query, std::optional<std::uint64_t> seed) {
  plan::PlanOptions options;
  options.seed = seed.value_or(0);
  // A subquery result would repeat the inner prompt, which a server without spans recomputes.
  options.distribute = false;
  plan::PlanResult planned = plan::makePlan(query, options);
  ChatRequests result;
  result.problems = std::move(planned.problems);
  if (!planned.plan) return result;
  result.requests = stepRequests(*planned.plan, seed).requests;
  if (result.requests.empty()) result.problems.push_back(generatesNothing());
  return result;
}

std::string chatRequestName(std::size_t index) {
  return "request-" + std::to_string(index);
}

std::string replyPlaceholder(std::size_t index) {
  return "{{reply of " + chatRequestName(index) + "}}";
}

std::string chatBody(const ChatRequest& request, bool pretty) {
  return dumped(bodyOf(request), pretty);
}

std::string writeChatRequests(const std::vector<ChatRequest>& requests, bool pretty) {
  if (requests.size() == 1) return chatBody(requests.front(), pretty) + "\n";
  std::string text;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Json line;
    line["custom_id"] = chatRequestName(i);
    line["method"] = "POST";
    line["url"] = "/v1/chat/completions";
    line["body"] = bodyOf(requests[i]);
    text += dumped(line, false) + "\n";
  }
  return text;
}

}  // namespace spanscope::exports
