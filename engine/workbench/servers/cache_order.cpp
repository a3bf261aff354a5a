// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/cache_order.h"

#include "engine/base/error.h"
#include "engine/query/shown_text.h"
#include "engine/text/conversation.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace spanscope::workbench {
namespace {

using exports::ChatMessage;
using exports::ChatRequest;
using exports::PlusGroup;
using simulator::PartKind;
using simulator::PromptPart;

/// Makes the tree of a request from its rendered messages.
class PartMaker {
 public:
  PartMaker(const ChatRequest& request, text::RenderedConversation rendered,
            const std::function<std::vector<TokenId>(std::size_t)>& answer)
      : m_request(request), m_rendered(std::move(rendered)) {
    for (std::size_t i = 0; i < request.messages.size(); ++i)
      if (answer && request.messages[i].answerOf)
        m_rendered.messages.at(i).ids = answer(*request.messages[i].answerOf);
  }

  PromptPart make() {
    PromptPart whole{.kind = PartKind::Series};
    whole.children.push_back({.tokens = std::move(m_rendered.opening)});
    addMessages(whole, 0, m_request.messages.size());
    whole.children.push_back({.tokens = std::move(m_rendered.generationPrompt)});
    return whole;
  }

 private:
  bool canMove(const PlusGroup& group) const {
    const auto begin = m_request.messages.begin();
    return std::none_of(begin + static_cast<std::ptrdiff_t>(group.bounds.front()),
                        begin + static_cast<std::ptrdiff_t>(group.bounds.back()),
                        [](const ChatMessage& message) { return message.role == query::Role::System; });
  }

  void addMessages(PromptPart& into, std::size_t begin, std::size_t end) {
    for (std::size_t message = begin; message < end;) {
      while (m_next < m_request.groups.size() && m_request.groups[m_next].bounds.back() <= message) ++m_next;
      if (m_next == m_request.groups.size() || m_request.groups[m_next].bounds.front() != message) {
        into.children.push_back({.tokens = std::move(m_rendered.messages.at(message++).ids)});
        continue;
      }
      const PlusGroup& group = m_request.groups[m_next++];
      PromptPart plus{.kind = canMove(group) ? PartKind::Free : PartKind::Series};
      for (std::size_t child = 0; child + 1 < group.bounds.size(); ++child) {
        plus.children.push_back({.kind = PartKind::Series});
        addMessages(plus.children.back(), group.bounds[child], group.bounds[child + 1]);
      }
      into.children.push_back(std::move(plus));
      message = group.bounds.back();
    }
  }

  const ChatRequest& m_request;
  text::RenderedConversation m_rendered;
  std::size_t m_next = 0;  ///< the next group
};

/// Whether a plus has several orders.
bool hasOrders(const PlusGroup& group) {
  return group.bounds.size() > 2;
}

/// Returns the place of each message.
std::vector<std::size_t> placesOf(const std::vector<std::size_t>& messages) {
  std::vector<std::size_t> placeOf(messages.size());
  for (std::size_t place = 0; place < messages.size(); ++place) placeOf[messages[place]] = place;
  return placeOf;
}

/// Returns the children of a group in sent order, from 0. A child without messages keeps its place.
std::vector<std::size_t> childrenOf(const PlusGroup& group, const std::vector<std::size_t>& placeOf) {
  std::vector<std::size_t> children(group.bounds.size() - 1);
  std::iota(children.begin(), children.end(), std::size_t{0});
  std::erase_if(children,
                [&group](std::size_t child) { return group.bounds[child] == group.bounds[child + 1]; });
  std::ranges::sort(children, {}, [&](std::size_t child) { return placeOf[group.bounds[child]]; });
  return children;
}

/// "3, 1, 2", and for several groups "3, 1, 2; 2, 1". Inner groups follow their outer group.
std::string numbersOf(const std::vector<PlusGroup>& groups, const std::vector<std::size_t>& placeOf) {
  std::string text;
  for (const PlusGroup& group : groups) {
    const std::vector<std::size_t> children = childrenOf(group, placeOf);
    if (children.size() < 2) continue;
    if (!text.empty()) text += "; ";
    for (std::size_t i = 0; i < children.size(); ++i)
      text += (i == 0 ? "" : ", ") + std::to_string(children[i] + 1);
  }
  return text;
}

/// The text for the model. Places are those of the sent order, from 1.
std::string noteText(const std::vector<std::size_t>& sent, std::size_t children) {
  std::vector<std::size_t> places(children);
  for (std::size_t i = 0; i < sent.size(); ++i) places[sent[i]] = i + 1;
  std::string text = "The texts above are not sorted. Their order of importance, by place:";
  for (const std::size_t place : places) {
    if (place == 0) continue;  // a child without messages
    text += (text.back() == ':' ? " " : ", ") + std::to_string(place);
  }
  return text + ".";
}

text::RenderedConversation rendered(const std::vector<ChatMessage>& messages,
                                    const text::Tokenizer& tokenizer, const text::ChatTemplate& chat) {
  std::vector<text::ConversationMessage> conversation;
  for (const ChatMessage& message : messages) conversation.push_back({message.role, message.content});
  return text::renderConversation(chat, tokenizer, conversation);
}

}  // namespace

simulator::PromptPart promptPart(const exports::ChatRequest& request, const text::Tokenizer& tokenizer,
                                 const text::ChatTemplate& chat,
                                 const std::function<std::vector<TokenId>(std::size_t)>& answer) {
  return PartMaker(request, rendered(request.messages, tokenizer, chat), answer).make();
}

std::vector<std::size_t> messagesInOrder(const exports::ChatRequest& request,
                                         const simulator::ChosenOrder& order) {
  // The first text is the beginning of the conversation, and the last text is the generation prompt.
  std::vector<std::size_t> messages;
  if (order.texts.size() != request.messages.size() + 2) return messages;
  for (std::size_t i = 1; i + 1 < order.texts.size(); ++i) messages.push_back(order.texts[i] - 1);
  return messages;
}

std::string childrenInOrder(const exports::ChatRequest& request, const simulator::ChosenOrder& order) {
  const std::vector<std::size_t> messages = messagesInOrder(request, order);
  return messages.empty() ? std::string() : numbersOf(request.groups, placesOf(messages));
}

remote::SentChildren sentChildren(const exports::ChatRequest& request, const simulator::ChosenOrder& order) {
  constexpr std::size_t kShownCharacters = 24;
  remote::SentChildren all;
  const std::vector<std::size_t> messages = messagesInOrder(request, order);
  if (messages.empty()) return all;
  const std::vector<std::size_t> placeOf = placesOf(messages);
  for (const PlusGroup& group : request.groups) {
    const std::vector<std::size_t> children = childrenOf(group, placeOf);
    if (children.size() < 2) continue;
    std::vector<remote::SentChild>& sent = all.emplace_back();
    for (const std::size_t child : children) {
      const ChatMessage& message = request.messages[group.bounds[child]];
      sent.push_back({.number = child + 1,
                      .node = message.node,
                      .beginning = query::cutText(message.content, kShownCharacters)});
    }
  }
  return all;
}

std::vector<remote::OrderNote> orderNotes(const ChatRequest& request,
                                          const std::vector<std::size_t>& messages) {
  std::vector<remote::OrderNote> notes;
  if (messages.size() != request.messages.size()) return notes;
  const std::vector<std::size_t> placeOf = placesOf(messages);
  std::size_t end = 0;  ///< of the last outer group
  for (std::size_t i = 0; i < request.groups.size(); ++i) {
    const PlusGroup& group = request.groups[i];
    if (!hasOrders(group)) continue;
    if (group.bounds.front() < end) continue;  // an inner group
    end = group.bounds.back();
    const std::vector<std::size_t> sent = childrenOf(group, placeOf);
    if (std::ranges::is_sorted(sent)) continue;
    // A plus keeps its place, so the note has the place after the last message of the plus.
    notes.push_back(
        {.group = i, .place = end + notes.size(), .text = noteText(sent, group.bounds.size() - 1)});
  }
  return notes;
}

std::optional<remote::SentOrder> putInOrder(ChatRequest& request, const simulator::ChosenOrder& chosen,
                                            bool hasOrderNote, const text::Tokenizer& tokenizer,
                                            const text::ChatTemplate& chat) {
  remote::SentOrder order{.messages = messagesInOrder(request, chosen),
                          .children = childrenInOrder(request, chosen),
                          .tokens = chosen.tokens,
                          .cached = chosen.cached,
                          .asWritten = chosen.asWritten,
                          .isExact = chosen.isExact};
  if (order.messages.empty()) return std::nullopt;
  order.sent = sentChildren(request, chosen);
  if (hasOrderNote) order.notes = orderNotes(request, order.messages);
  std::vector<ChatMessage> messages;
  for (const std::size_t message : order.messages) messages.push_back(request.messages[message]);
  for (const remote::OrderNote& note : order.notes)
    messages.insert(messages.begin() + static_cast<std::ptrdiff_t>(note.place),
                    {query::Role::User, note.text, {}, request.groups[note.group].node});
  if (!order.notes.empty()) {
    const auto all = static_cast<std::int64_t>(rendered(messages, tokenizer, chat).ids().size());
    order.noteTokens = std::max<std::int64_t>(0, all - order.tokens);
    order.tokens = all;
  }
  request.messages = std::move(messages);
  return order;
}

simulator::OrderRules orderRules(const simulator::Simulator& simulator) {
  constexpr std::int64_t kStep = 16;  ///< a shorter hit is not worth another order
  const std::int64_t block = simulator.shape().blockSize;
  return {.block = block, .step = std::max(block, kStep)};
}

CacheOrderer::~CacheOrderer() {
  for (const auto& [request, sent] : m_sent) m_simulators->end(sent.server, sent.number, {});
}

void CacheOrderer::use(remote::RemoteTarget& target, bool keepsOrder, bool hasOrderNote) {
  target.arrange = [this, server = target.name, facts = target.facts, keepsOrder, hasOrderNote](
                       std::size_t index, exports::ChatRequest& request) {
    std::optional<remote::SentOrder> order;
    if (!keepsOrder) order = arrange(server, facts, request, hasOrderNote);
    m_messages[index] = request.messages;
    return order;
  };
}

void CacheOrderer::sends(std::size_t request, const remote::RemoteTarget& target) {
  const auto messages = m_messages.find(request);
  if (messages == m_messages.end()) return;
  try {
    std::optional<ServerSimulators::Sent> sent =
        m_simulators->send(target.name, target.facts, chatTokens(messages->second, *m_tokenizer, m_chat));
    if (sent) m_sent[request] = {target.name, sent->number, std::move(sent->predicted)};
  } catch (const Failure&) {
    // Without a prediction, the run continues.
  }
  m_messages.erase(messages);
}

std::optional<PredictedReuse> CacheOrderer::ends(const remote::RemoteStep& step) {
  const auto found = m_sent.find(step.request);
  if (found == m_sent.end()) return std::nullopt;
  Sent sent = std::move(found->second);
  m_sent.erase(found);
  std::optional<std::vector<TokenId>> answer;
  // A server that counts other tokens has another model or template. The order remains useful, but the
  // prediction would be wrong.
  const bool isTree = sent.predicted.simulator.empty();
  const bool isSame = step.answer.promptTokens.value_or(sent.predicted.prompt) == sent.predicted.prompt;
  if (remote::isComputed(step)) {
    answer = sampledTokens({.text = step.answer.text,
                            .endedItself = step.brokenBy.empty() && remote::isOwnEnd(step.answer.finish)},
                           *m_tokenizer, m_chat);
  }
  const bool isConfirmed = answer && !isTree && isSame && step.answer.promptTokens;
  m_simulators->end(sent.server, sent.number, std::move(answer), &sent.predicted);
  return isConfirmed ? std::optional(sent.predicted) : std::nullopt;
}

std::vector<std::size_t> CacheOrderer::expect(const std::string& server,
                                              const std::vector<exports::ChatRequest>& requests) {
  std::vector<PromptPart> prompts;
  try {
    for (const ChatRequest& request : requests) prompts.push_back(promptPart(request, *m_tokenizer, m_chat));
  } catch (const Failure&) {
    return {};  // The requests are sent as written.
  }
  m_simulators->expect(server, prompts);
  simulator::SendingPlan plan = simulator::planSending(prompts);
  Plan planned = *m_plan;
  for (std::size_t i = 0; i < prompts.size(); ++i)
    planned[simulator::contentOf(prompts[i])] = {.first = std::move(plan.first[i]), .kept = plan.kept[i]};
  m_plan = std::make_shared<const Plan>(std::move(planned));
  return std::move(plan.order);
}

std::optional<remote::SentOrder> CacheOrderer::arrange(const std::string& server,
                                                       const remote::ServerFacts& facts,
                                                       exports::ChatRequest& request,
                                                       bool hasOrderNote) const {
  // A plus with one child is only a part of plans, which put equal children of several prompts first.
  if (std::ranges::none_of(request.groups, hasOrders)) return std::nullopt;
  try {
    const PromptPart prompt = promptPart(request, *m_tokenizer, m_chat);
    const auto planned = m_plan->find(simulator::contentOf(prompt));
    const std::optional<simulator::ChosenOrder> chosen = m_simulators->order(
        server, facts, prompt, planned == m_plan->end() ? PlannedOrder() : planned->second);
    return chosen ? putInOrder(request, *chosen, hasOrderNote, *m_tokenizer, m_chat) : std::nullopt;
  } catch (const Failure&) {
    return std::nullopt;  // The request is sent as written.
  }
}

}  // namespace spanscope::workbench
