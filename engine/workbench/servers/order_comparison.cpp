// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/order_comparison.h"

#include "engine/base/hash.h"
#include "engine/export/chat_requests.h"
#include "engine/workbench/servers/cache_order.h"
#include "engine/workbench/servers/server_requests.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace spanscope::workbench {

using simulator::PartKind;
using simulator::PromptPart;

OrderReuse& OrderReuse::operator+=(const OrderReuse& other) {
  prompt += other.prompt;
  asWritten += other.asWritten;
  best += other.best;
  noteTokens += other.noteTokens;
  asSpans += other.asSpans;
  hasChoice = hasChoice || other.hasChoice;
  isExact = isExact && other.isExact;
  orders.insert(orders.end(), other.orders.begin(), other.orders.end());
  sent.insert(sent.end(), other.sent.begin(), other.sent.end());
  messages.insert(other.messages.begin(), other.messages.end());
  return *this;
}

std::int64_t SpanCache::serve(const PromptPart& prompt) {
  std::int64_t cached = 0;
  std::int64_t tokens = 0;
  visit(prompt, 0, cached, tokens);
  return std::min(cached, std::max<std::int64_t>(0, tokens - 1));
}

std::uint64_t SpanCache::visit(const PromptPart& part, std::uint64_t before, std::int64_t& cached,
                               std::int64_t& tokens) {
  if (part.kind == PartKind::Text) {
    if (part.tokens.empty()) return before;
    const std::uint64_t key = mixBits(before ^ simulator::contentOf(part));
    const auto size = static_cast<std::int64_t>(part.tokens.size());
    if (!m_known.insert(key).second) cached += size;
    tokens += size;
    return key;
  }
  std::uint64_t key = before;
  for (const PromptPart& child : part.children) {
    // A child of a plus attends only to itself.
    key = part.kind == PartKind::Free ? mixBits(key ^ visit(child, 0, cached, tokens))
                                      : visit(child, key, cached, tokens);
  }
  return key;
}

namespace {

/// Appends the tokens of all texts of a part.
void appendTexts(const PromptPart& part, std::vector<std::span<const TokenId>>& texts) {
  if (part.kind == PartKind::Text) texts.emplace_back(part.tokens);
  for (const PromptPart& child : part.children) appendTexts(child, texts);
}

std::vector<TokenId> joined(const std::vector<std::span<const TokenId>>& texts,
                            const std::vector<std::size_t>& order) {
  std::vector<TokenId> tokens;
  for (const std::size_t text : order) tokens.insert(tokens.end(), texts[text].begin(), texts[text].end());
  return tokens;
}

std::vector<std::size_t> inOrder(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace

OrderReuse OrderComparison::serve(const plan::Plan& plan, const text::Tokenizer& tokenizer,
                                  const text::ChatTemplate& chat, std::int32_t maxTokens,
                                  std::size_t atOnce) {
  const exports::StepRequests made = exports::stepRequests(plan, {});
  const std::vector<exports::ChatRequest>& requests = made.requests;
  const auto mostOf = [&](std::size_t request) {
    return requests[request].maxTokens.value_or(0) > 0 ? *requests[request].maxTokens : maxTokens;
  };
  TokenId unknown = 0;
  const auto unknownAnswer = [&](std::size_t request) {
    std::vector<TokenId> tokens(static_cast<std::size_t>(std::max(1, mostOf(request))));
    for (TokenId& token : tokens) token = --unknown;
    return tokens;
  };
  std::vector<PromptPart> parts;
  std::vector<ServerPrompt> prompts(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    parts.push_back(promptPart(requests[i], tokenizer, chat, unknownAnswer));
    prompts[i].ply = plan.steps[made.stepOf[i]].ply;
    m_counts.add(parts.back());
  }
  OrderReuse reuse;
  reuse.orders.resize(requests.size());
  reuse.sent.resize(requests.size());
  const std::vector<SentPrompt> order = sentOrder(prompts, atOnce);
  for (const SentPrompt& sent : order) {
    std::vector<std::span<const TokenId>> texts;
    appendTexts(parts[sent.index], texts);
    const std::vector<TokenId> tokens = joined(texts, inOrder(texts.size()));
    if (tokens.empty()) continue;
    reuse.prompt += static_cast<std::int64_t>(tokens.size());
    const std::vector<TokenId> answer = expectedAnswer(mostOf(sent.index), m_steps + sent.index);
    reuse.asWritten +=
        m_written->serve({.prompt = tokens, .answer = answer, .salt = {}, .isBeside = sent.isBeside}).cached;
    reuse.asSpans += m_spans.serve(parts[sent.index]);
  }
  // In the best order, requests with a common beginning also follow each other.
  std::vector<std::size_t> ranks(requests.size());
  const simulator::SendingPlan sending = simulator::planSending(parts);
  for (std::size_t place = 0; place < sending.order.size(); ++place) ranks[sending.order[place]] = place;
  std::vector<std::size_t> indices;
  for (const SentPrompt& sent : order) indices.push_back(sent.index);
  std::ranges::stable_sort(indices, [&](std::size_t a, std::size_t b) {
    return prompts[a].ply != prompts[b].ply ? prompts[a].ply < prompts[b].ply : ranks[a] < ranks[b];
  });
  for (std::size_t place = 0; place < indices.size(); ++place) {
    const std::size_t index = indices[place];
    std::vector<std::span<const TokenId>> texts;
    appendTexts(parts[index], texts);
    simulator::OrderRules rules = orderRules(*m_best);
    rules.first = sending.first[index];
    // Steps that wait for answers can come between two planned prompts.
    if (place + 1 < indices.size() && ranks[indices[place + 1]] == ranks[index] + 1)
      rules.kept = sending.kept[index];
    const simulator::ChosenOrder chosen =
        simulator::chooseOrder(parts[index], m_best->cachedBeginnings(), m_counts, rules);
    std::vector<TokenId> tokens = joined(texts, chosen.texts);
    if (tokens.empty()) continue;
    reuse.isExact = reuse.isExact && chosen.isExact;
    exports::ChatRequest sent = requests[index];
    const std::optional<remote::SentOrder> best = putInOrder(sent, chosen, m_hasOrderNote, tokenizer, chat);
    if (best && !best->children.empty()) {
      const plan::Step& step = plan.steps[made.stepOf[index]];
      reuse.hasChoice = true;
      reuse.orders[index] = best->children;
      reuse.sent[index] = best->sent;
      reuse.messages[{step.node, step.copy}] = {.messages = best->messages, .notes = best->notes};
    }
    if (best && !best->notes.empty()) {
      reuse.noteTokens += best->noteTokens;
      sent.groups.clear();  // the messages are in the sent order
      const PromptPart part = promptPart(sent, tokenizer, chat, unknownAnswer);
      texts.clear();
      appendTexts(part, texts);
      tokens = joined(texts, inOrder(texts.size()));
    }
    const std::vector<TokenId> answer = expectedAnswer(mostOf(index), m_steps + index);
    reuse.best += m_best
                      ->serve({.prompt = tokens,
                               .answer = answer,
                               .salt = {},
                               .isBeside = place < order.size() && order[place].isBeside})
                      .cached;
  }
  m_steps += requests.size();
  return reuse;
}

}  // namespace spanscope::workbench
