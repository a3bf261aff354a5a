// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/export/chat_requests.h"

#include "engine/plan/planner.h"
#include "engine/plan/prompt_children.h"
#include "engine/query/node_parts.h"
#include "engine/query/number_text.h"
#include "engine/spnl/request_text.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <limits>
#include <utility>
#include <variant>

namespace spanscope::exports {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the steps with a needed answer: steps that are not dropped, and the subqueries of these steps.
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

/// Makes the messages of one step. This class has the request of each earlier step.
class MessageWriter {
 public:
  explicit MessageWriter(const std::map<StepIndex, std::size_t>& requestOf) : m_requestOf(&requestOf) {}

  std::vector<ChatMessage> take() { return std::move(m_messages); }
  std::vector<PlusGroup> takeGroups() { return std::move(m_groups); }

  void write(const plan::PromptNode& node) {
    if (const auto* message = std::get_if<plan::PromptMessage>(&node.value)) {
      m_messages.push_back({message->role, message->text, {}, node.node});
    } else if (const auto* output = std::get_if<plan::PromptOutput>(&node.value)) {
      const std::size_t request = m_requestOf->at(output->step);
      m_messages.push_back({query::Role::Assistant, answerPlaceholder(request), request, node.node});
    } else if (const auto* run = std::get_if<plan::PromptRun>(&node.value)) {
      for (const plan::PromptNode& child : run->children) write(child);
    } else if (const auto* plus = std::get_if<plan::PromptPlus>(&node.value)) {
      writeGroup(plus->children, node.node);
    }
  }

 private:
  void writeGroup(const std::vector<plan::PromptNode>& children, const NodePath& node) {
    const std::size_t own = m_groups.size();
    if (!children.empty()) m_groups.emplace_back();
    std::vector<std::size_t> bounds{m_messages.size()};
    for (const plan::PromptNode& child : children) {
      write(child);
      bounds.push_back(m_messages.size());
    }
    if (!children.empty()) m_groups[own] = {.bounds = std::move(bounds), .node = node};
  }

  const std::map<StepIndex, std::size_t>* m_requestOf;
  std::vector<ChatMessage> m_messages;
  std::vector<PlusGroup> m_groups;
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
    request.groups = writer.takeGroups();
    made.requestOf.emplace(i, made.requests.size());
    made.requests.push_back(std::move(request));
    made.stepOf.push_back(i);
  }
  return made;
}

Error generatesNothing() {
  return {"", "", /*id:query-generates-nothing*/ "a query without generate nodes",
          "a generate, repeat or map node"};
}

ChatRequests chatRequests(const query::Node& query, std::optional<std::uint64_t> seed) {
  plan::PlanOptions options;
  options.seed = seed.value_or(0);
  // A subquery result would repeat the prompt of the subquery, and a server without span support recomputes
  // this prompt.
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

std::string answerPlaceholder(std::size_t index) {
  return "{{answer of " + chatRequestName(index) + "}}";
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

std::string writeChatCommands(const std::vector<ChatRequest>& requests, std::string_view endpoint) {
  std::string text;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests.size() > 1) text += (i == 0 ? "# " : "\n# ") + chatRequestName(i) + "\n";
    text += spnl::curlCommand(
        chatBody(requests[i]), endpoint,
        {"'Content-Type: application/json'", R"("Authorization: Bearer $OPENAI_API_KEY")"}, "END_OF_REQUEST");
  }
  return text;
}

namespace {

/// Returns the prompt with outputs of requests in place of outputs of steps.
plan::PromptNode ofRequests(plan::PromptNode node, const std::map<StepIndex, std::size_t>& requestOf) {
  if (auto* output = std::get_if<plan::PromptOutput>(&node.value))
    output->step = static_cast<StepIndex>(requestOf.at(output->step));
  for (plan::PromptNode& child : childrenOf(node)) child = ofRequests(std::move(child), requestOf);
  return node;
}

query::Node joined(query::JoinKind kind, const std::vector<plan::PromptNode>& children,
                   const std::vector<std::string>& answers);

query::Node nodeOf(const plan::PromptNode& prompt, const std::vector<std::string>& answers) {
  if (const auto* message = std::get_if<plan::PromptMessage>(&prompt.value))
    return {query::Message{message->role, message->text}};
  if (const auto* output = std::get_if<plan::PromptOutput>(&prompt.value))
    return {query::Message{query::Role::Assistant, answers.at(output->step)}};
  if (const auto* plus = std::get_if<plan::PromptPlus>(&prompt.value))
    return joined(query::JoinKind::Plus, plus->children, answers);
  const auto& run = std::get<plan::PromptRun>(prompt.value);
  return joined(run.isCross ? query::JoinKind::Cross : query::JoinKind::Seq, run.children, answers);
}

query::Node joined(query::JoinKind kind, const std::vector<plan::PromptNode>& children,
                   const std::vector<std::string>& answers) {
  query::Join join{kind, {}};
  for (const plan::PromptNode& child : children) join.children.push_back(nodeOf(child, answers));
  return {std::move(join)};
}

/// The calls of a planned query.
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

  /// Whether a step belongs to the last call. One call has all steps of a map, or the copies of a repeat with
  /// the same prompt.
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
  // The sent query is as similar as possible to the written query.
  for (const char* const rule : {"flatten", "flatten plus", "unwrap"}) options.rules[rule] = false;
  plan::PlanResult planned = plan::makePlan(query, options);
  if (!planned.plan) return {.requests = {}, .calls = {}, .problems = std::move(planned.problems)};
  QueryCalls made = CallMaker(query, *planned.plan).make();
  if (made.requests.empty()) made.problems.push_back(generatesNothing());
  return made;
}

query::Node queryBody(const QueryCall& call, const std::vector<std::string>& answers, std::string model) {
  query::GenerateSettings settings = call.settings;
  settings.model = std::move(model);
  if (call.isMap) return {query::Map{std::move(settings), call.inputs}};
  query::Generate generate{std::move(settings), nodeOf(call.prompt, answers)};
  const query::Node whole{
      query::Repeat{.count = static_cast<std::uint8_t>(call.count), .generate = std::move(generate)}};
  spnl::ServerBodies made = spnl::serverBodies(whole);
  if (made.bodies.size() == 1) return std::move(made.bodies.front().body);
  throw Failure(errorAt("query", made.withheld.empty() ? "no call" : made.withheld.front().reason,
                        "a prompt of messages, seq, cross and plus"));
}

}  // namespace spanscope::exports
