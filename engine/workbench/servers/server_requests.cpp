// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/server_requests.h"

#include "engine/export/export_target.h"
#include "engine/layout/layout.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "engine/query/shown_text.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/servers/cache_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace spanscope::workbench {
namespace {

[[noreturn]] void refuseWith(const std::vector<Error>& problems) {
  throw Failure(problems.empty() ? errorAt("query", "a query that cannot be sent", "another query")
                                 : problems.front());
}

/// Identifies a request in both forms of a query: its node, and the number of the copy.
using CopyName = std::pair<NodePath, std::size_t>;

std::vector<CopyName> copyNames(const std::vector<exports::ChatRequest>& requests) {
  std::map<NodePath, std::size_t> copies;
  std::vector<CopyName> names;
  for (const exports::ChatRequest& request : requests)
    names.emplace_back(request.node, copies[request.node]++);
  return names;
}

}  // namespace

remote::NodeNames fileNames(const query::Node& query) {
  remote::NodeNames names;
  query::walk(query, {},
              [&names](const query::Node& node, const NodePath& path) { addFileName(node, path, names); });
  return names;
}

void addFileName(const query::Node& node, const NodePath& path, remote::NodeNames& names) {
  const std::string* file = query::textOf(node);
  if (file == nullptr || query::infoOf(node).resolvedBy != query::ResolvedBy::Files) return;
  const std::string name = file->substr(file->find_last_of('/') + 1);
  if (!name.empty()) names[path] = query::cutText(name, 60);
}

std::vector<exports::ChatRequest> asMessages(std::vector<exports::ChatRequest> requests,
                                             const std::vector<exports::ChatRequest>& chats,
                                             const std::function<bool(const NodePath&)>& isCalled) {
  const std::vector<CopyName> names = copyNames(requests);
  const std::vector<CopyName> chatNames = copyNames(chats);
  std::map<CopyName, std::size_t> indexOf;
  for (std::size_t i = 0; i < names.size(); ++i) indexOf.emplace(names[i], i);
  for (std::size_t i = 0; i < chats.size(); ++i) {
    const auto found = indexOf.find(chatNames[i]);
    if (found == indexOf.end() || (isCalled && isCalled(chats[i].node))) continue;
    exports::ChatRequest request = chats[i];
    for (exports::ChatMessage& message : request.messages) {
      if (!message.answerOf) continue;
      message.answerOf = indexOf.at(chatNames[*message.answerOf]);
      message.content = exports::answerPlaceholder(*message.answerOf);
    }
    requests[found->second] = std::move(request);
  }
  return requests;
}

std::vector<NodePath> generatingNodes(const query::Node& query) {
  const exports::ChatRequests made = exports::chatRequests(query);
  if (made.requests.empty()) refuseWith(made.problems);
  std::vector<NodePath> nodes;
  for (const exports::ChatRequest& request : made.requests) {
    if (std::ranges::find(nodes, request.node) == nodes.end()) nodes.push_back(request.node);
  }
  return nodes;
}

ServerRequests serverRequests(const query::Node& query, const RunSettings& settings,
                              const std::function<const remote::Protocol*(const NodePath&)>& protocolOf) {
  exports::ChatRequests chats = exports::chatRequests(query, settings.seed);
  if (chats.requests.empty()) refuseWith(chats.problems);
  const auto isCalled = [&protocolOf](const NodePath& node) {
    const remote::Protocol* const protocol = protocolOf(node);
    return protocol != nullptr && protocol->takesCalls;
  };
  ServerRequests made;
  const bool hasCalls = std::ranges::any_of(
      chats.requests, [&isCalled](const exports::ChatRequest& request) { return isCalled(request.node); });
  if (hasCalls) {
    exports::QueryCalls calls = exports::queryCalls(query);
    if (calls.requests.empty()) refuseWith(calls.problems);
    made.messages = asMessages(calls.requests, chats.requests);
    made.requests = asMessages(std::move(calls.requests), chats.requests, isCalled);
    made.calls = std::move(calls.calls);
  } else {
    made.requests = std::move(chats.requests);
  }
  if (settings.maxTokens <= 0) return made;
  for (exports::QueryCall& call : made.calls) {
    if (!made.requests[call.first].maxTokens) call.settings.maxTokens = settings.maxTokens;
  }
  for (auto* requests : {&made.requests, &made.messages}) {
    for (exports::ChatRequest& request : *requests) {
      if (!request.maxTokens) request.maxTokens = settings.maxTokens;
    }
  }
  return made;
}

std::vector<std::string> protocolWarnings(const query::Node& query,
                                          const std::set<const remote::Protocol*>& protocols, bool hasSeed) {
  std::vector<std::string> warnings;
  const auto warn = [&warnings](std::string text) {
    if (std::ranges::find(warnings, text) == warnings.end()) warnings.push_back(std::move(text));
  };
  std::set<std::string> forms;
  for (const remote::Protocol* protocol : protocols) {
    if (hasSeed && !protocol->takesSeeds)
      warn(std::string(/*id:request-seed-not-sent*/ "The seed is not sent: ") + protocol->title +
           " has no field for a seed.");
    if (!forms.insert(protocol->form).second) continue;
    const exports::ExportTarget& target = *exports::findExportTarget(protocol->form);
    for (const exports::TargetRemark& remark : exports::exportRemarks(query, target, {.isSentHere = true})) {
      if (remark.effect == exports::Effect::Refused) {
        throw Failure({{},
                       remark.places.empty() ? "" : remark.places.front(),
                       std::string(protocol->title) + " cannot express the query: " + remark.text,
                       "another query or protocol"});
      }
      if (remark.effect == exports::Effect::Differs) warn(remark.text);
    }
  }
  return warnings;
}

ChosenProtocol chosenProtocol(const std::string& name, const remote::ServerFacts& facts,
                              const query::Node& query, const std::string& server) {
  const remote::Protocol* const own =
      name.empty() ? remote::protocolFor(facts, query) : remote::findProtocol(name);
  if (own != nullptr && own->isTakenBy(facts))
    return {.protocol = own, .otherwise = name.empty() ? protocolAfter(*own, facts, query) : nullptr};
  std::string taken;
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) taken += (taken.empty() ? "" : ", ") + std::string(protocol->title);
  }
  throw Failure({"server " + server, "protocol",
                 own == nullptr ? "an unknown protocol" : std::string("no ") + own->title,
                 taken.empty() ? "one of " + remote::protocolNames() : "a protocol of the server: " + taken});
}

namespace {

constexpr std::size_t kMostWritten = std::size_t{1} << 24U;  // tokens whose texts are remembered

}  // namespace

plan::Plan chatPlan(const query::Node& query, const RunSettings& settings) {
  plan::PlanOptions options = document::planOptionsOf(settings);
  options.distribute = false;
  options.outputForm = plan::OutputForm::Recomputed;
  plan::PlanResult planned = plan::makePlan(query, options);
  if (!planned.plan) throw Failure(planned.problems.front());
  return std::move(*planned.plan);
}

namespace {

/// Puts the messages of a prompt in another order, and adds the notes of this order.
class Reorderer {
 public:
  explicit Reorderer(const MessageOrder& order)
      : m_notes(order.notes), m_placeOf(order.messages.size(), order.messages.size()) {
    for (std::size_t place = 0; place < order.messages.size(); ++place)
      if (order.messages[place] < m_placeOf.size()) m_placeOf[order.messages[place]] = place;
  }

  /// Sorts the children of every plus by the places of their messages. Returns the place of the first
  /// message; the number of messages if there is none.
  std::size_t reorder(plan::PromptNode& node) {
    std::vector<plan::PromptNode>* children = nullptr;
    if (auto* run = std::get_if<plan::PromptRun>(&node.value)) children = &run->children;
    auto* const plus = std::get_if<plan::PromptPlus>(&node.value);
    if (plus != nullptr) children = &plus->children;
    if (children == nullptr)
      return m_next < m_placeOf.size() ? m_placeOf[m_next++] : (++m_next, m_placeOf.size());
    // The groups of exports::ChatRequest have the same numbers.
    const std::size_t group = plus != nullptr && children->size() > 1 ? m_groups++ : kNoGroup;
    std::vector<std::pair<std::size_t, std::size_t>> places;
    std::size_t first = m_placeOf.size();
    for (std::size_t i = 0; i < children->size(); ++i) {
      places.emplace_back(reorder((*children)[i]), i);
      first = std::min(first, places.back().first);
    }
    if (plus == nullptr) return first;
    std::ranges::stable_sort(places, {}, &std::pair<std::size_t, std::size_t>::first);
    std::vector<plan::PromptNode> sorted;
    for (const auto& [place, child] : places) sorted.push_back(std::move((*children)[child]));
    *children = std::move(sorted);
    const auto note = std::ranges::find(m_notes, group, &remote::OrderNote::group);
    if (note != m_notes.end()) {
      plan::PromptNode message{node.node, plan::PromptMessage{query::Role::User, note->text}};
      plan::PromptRun run;
      run.children.push_back(std::move(node));
      run.children.push_back(std::move(message));
      node = {.node = run.children.front().node, .value = std::move(run)};
    }
    return first;
  }
  std::size_t messages() const { return m_next; }

 private:
  static constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

  const std::vector<remote::OrderNote>& m_notes;
  std::vector<std::size_t> m_placeOf;
  std::size_t m_next = 0;    ///< number of the next message
  std::size_t m_groups = 0;  ///< number of the next group
};

/// Returns a step whose messages have the given order. An order of other messages changes nothing.
plan::Step inOrder(plan::Step step, const MessageOrder& order) {
  if (order.messages.empty()) return step;
  plan::PromptNode prompt = step.prompt;
  Reorderer reorderer(order);
  reorderer.reorder(prompt);
  if (reorderer.messages() == order.messages.size()) step.prompt = std::move(prompt);
  return step;
}

std::int32_t mostOf(const plan::Step& step, const RunSettings& settings) {
  return step.maxTokens.value_or(0) > 0 ? *step.maxTokens : settings.maxTokens;
}

/// Returns ids for tokens that are not sampled yet. All ids are different.
std::vector<TokenId> unknownTokens(const plan::Step& step, const RunSettings& settings, TokenId& last) {
  std::vector<TokenId> unknown;
  for (std::int32_t i = 0; i < std::max(1, mostOf(step, settings)); ++i) unknown.push_back(--last);
  return unknown;
}

}  // namespace

std::vector<TokenId> expectedAnswer(std::optional<std::int32_t> maxTokens, std::size_t step) {
  // The choice of a slot depends on whether an answer has one word or a few sentences. The exact length has
  // little effect.
  constexpr std::int32_t kExpected = 40;
  const std::int32_t count = maxTokens.value_or(0) > 0 ? std::min(*maxTokens, kExpected) : kExpected;
  // Prompts use the ids −1, −2, … for their own unknown tokens.
  constexpr TokenId kFirst = std::numeric_limits<TokenId>::min();
  constexpr std::size_t kMostSteps = std::size_t{1} << 24U;
  std::vector<TokenId> tokens;
  for (std::int32_t i = 0; i < count; ++i)
    tokens.push_back(kFirst + static_cast<TokenId>(step % kMostSteps) * kExpected + i);
  return tokens;
}

std::vector<SentPrompt> sentOrder(const std::vector<ServerPrompt>& prompts, std::size_t atOnce) {
  std::vector<SentPrompt> order;
  for (std::size_t index = 0; index < prompts.size(); ++index) order.push_back({.index = index});
  if (atOnce <= 1) return order;
  std::ranges::stable_sort(order, [&prompts](const SentPrompt& a, const SentPrompt& b) {
    return prompts[a.index].ply < prompts[b.index].ply;
  });
  std::size_t together = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const bool isSamePly = prompts[order[i].index].ply == prompts[order[i - 1].index].ply;
    together = isSamePly && together + 1 < atOnce ? together + 1 : 0;
    order[i].isBeside = together > 0;
  }
  return order;
}

const std::vector<TokenId>& ServerPrompt::tokens() const {
  return table.segments.front().tokens;
}

std::string chatRefusal(const query::Node& query) {
  const exports::ExportTarget& target = *exports::findExportTarget("chat");
  for (const exports::TargetRemark& remark : exports::exportRemarks(query, target, {.isSentHere = true})) {
    if (remark.effect == exports::Effect::Refused) return remark.text;
  }
  return {};
}

PromptWriter::PromptWriter(std::shared_ptr<const text::Tokenizer> tokenizer, const text::ChatTemplate& chat)
    : m_tokenizer(std::move(tokenizer)), m_chat(chat) {}

std::vector<ServerPrompt> PromptWriter::write(const query::Node& query, const RunSettings& settings,
                                              const std::stop_token& stop, const MessageOrders& orders) {
  return write(query, settings, nullptr, orders, stop);
}

std::vector<ServerPrompt> PromptWriter::write(const SentQuery& sent, const std::stop_token& stop) {
  const query::ParseResult parsed = query::parseJson(sent.queryJson);
  if (!parsed.query) throw Failure(errorAt("query", "an unreadable query", "the query of a run"));
  MessageOrders orders;
  for (const auto& [name, answer] : sent.answers)
    if (!answer.order.messages.empty()) orders[name] = answer.order;
  return write(*parsed.query, sent.settings, &sent, orders, stop);
}

std::vector<ServerPrompt> PromptWriter::write(const query::Node& query, const RunSettings& settings,
                                              const SentQuery* sent, const MessageOrders& orders,
                                              const std::stop_token& stop) {
  if (m_renderer == nullptr || m_written > kMostWritten) {
    m_renderer = std::make_unique<layout::MessageRenderer>(*m_tokenizer, m_chat);
    m_written = 0;
  }
  m_renderer->useLimits({.stop = stop});
  const plan::Plan plan = chatPlan(query, settings);
  std::vector<ServerPrompt> prompts;
  std::vector<layout::StepOutput> outputs(plan.steps.size());
  std::vector<bool> isAnswered(plan.steps.size());
  TokenId unknown = 0;
  for (StepIndex i = 0; i < plan.steps.size(); ++i) {
    const plan::Step& step = plan.steps[i];
    ServerPrompt prompt{.name = {step.node, step.copy}, .table = {}, .ply = step.ply};
    std::optional<SentAnswer> answer;
    if (sent != nullptr) {
      const auto found = sent->answers.find(prompt.name);
      if (found == sent->answers.end()) continue;
      answer = found->second;
    }
    if (!std::ranges::all_of(step.needs, [&](StepIndex need) { return isAnswered[need]; })) continue;
    isAnswered[i] = true;
    const auto order = orders.find(prompt.name);
    prompt.table = layout::layOut(order == orders.end() ? step : inOrder(step, order->second), outputs,
                                  *m_renderer, layout::Visibility::Full);
    if (prompt.table.segments.size() != 1 || prompt.tokens().empty()) continue;
    m_written += prompt.tokens().size();
    const std::vector<TokenId>& tokens = prompt.tokens();
    prompt.holdsAnswer = std::ranges::any_of(tokens, [](TokenId token) { return token < 0; });
    outputs[i].table = prompt.table;
    if (answer) {
      prompt.answerTokens = sampledTokens(*answer, *m_tokenizer, m_chat);
      prompt.answer = std::move(*answer);
      outputs[i].tokens = prompt.answerTokens;
    } else {
      outputs[i].tokens = unknownTokens(step, settings, unknown);
      prompt.answerTokens = expectedAnswer(mostOf(step, settings), i);
      prompt.mostAnswerTokens = mostOf(step, settings);
    }
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

simulator::PromptPart PromptWriter::part(const exports::ChatRequest& request) const {
  return promptPart(request, *m_tokenizer, m_chat);
}

std::string promptModelId(const RunSettings& settings) {
  return settings.model + "\n" + settings.chatTemplate + "\n" + settings.templateVariables;
}

std::vector<TokenId> sampledTokens(const SentAnswer& answer, const text::Tokenizer& tokenizer,
                                   const text::ChatTemplate& chat) {
  std::vector<TokenId> tokens = tokenizer.encode(answer.text);
  if (!answer.endedItself) return tokens;
  const std::vector<TokenId> suffix = text::renderPieces(chat.answerSuffix, tokenizer);
  if (!suffix.empty()) tokens.push_back(suffix.front());
  return tokens;
}

}  // namespace spanscope::workbench
