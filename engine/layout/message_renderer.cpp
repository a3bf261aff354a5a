// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/layout/message_renderer.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <set>
#include <system_error>
#include <thread>
#include <tuple>

namespace spanscope::layout {

text::RenderedMessage MessageRenderer::render(const Message& message) const {
  const auto most = static_cast<std::uint64_t>(m_limits.mostTokens);
  return text::render(m_chat, m_tokenizer, message.role, message.text, message.place,
                      {.stop = m_limits.stop, .mostTokens = static_cast<std::size_t>(most)});
}

const text::RenderedMessage& MessageRenderer::message(query::Role role, std::string_view text,
                                                      text::Place place) {
  Texts& texts = textsOf(role, place);
  const auto found = texts.find(text);
  if (found != texts.end()) return found->second;
  text::RenderedMessage rendered = render({role, text, place});
  checkLength(static_cast<std::int64_t>(rendered.ids.size()));
  return texts.emplace(std::string(text), std::move(rendered)).first->second;
}

const text::RenderedMessage& MessageRenderer::range(const text::ConversationText& conversation,
                                                    text::TextRange range) {
  std::string key = conversation.text.substr(range.begin, range.end - range.begin);
  for (const text::OwnText& own : conversation.own) {
    if (own.range.begin < range.begin || own.range.end > range.end) continue;
    key += '\n' + std::to_string(own.range.begin - range.begin) + ' ' +
           std::to_string(own.range.end - range.begin);
  }
  const auto found = m_ranges.find(key);
  if (found != m_ranges.end()) return found->second;
  if (!m_controls) m_controls.emplace(m_tokenizer);
  const auto most = static_cast<std::uint64_t>(m_limits.mostTokens);
  text::RenderedMessage rendered =
      text::renderRange(conversation, range, m_tokenizer, *m_controls,
                        {.stop = m_limits.stop, .mostTokens = static_cast<std::size_t>(most)});
  checkLength(static_cast<std::int64_t>(rendered.ids.size()));
  return m_ranges.emplace(std::move(key), std::move(rendered)).first->second;
}

const text::RenderedConversation& MessageRenderer::conversation(
    const std::vector<text::ConversationMessage>& messages) {
  std::string key;
  for (const text::ConversationMessage& message : messages) {
    key += query::roleName(message.role);
    key += ' ' + std::to_string(message.text.size()) + '\n';
    key += message.text;
  }
  if (!m_conversationKey.empty() && key == m_conversationKey) return m_conversation;
  const text::ConversationText text =
      m_chat.program->render(messages, !m_chat.generationPrompt.empty(), m_limits.stop);
  text::RenderedConversation rendered;
  rendered.opening = range(text, {0, text.openingEnd}).ids;
  for (const text::MessageText& message : text.messages) {
    rendered.messages.push_back(range(text, message.range));
    rendered.messages.back().change = message.change;
  }
  rendered.generationPrompt = range(text, {text.promptBegin, text.text.size()}).ids;
  m_conversation = std::move(rendered);
  m_conversationKey = std::move(key);
  return m_conversation;
}

void MessageRenderer::prepare(const std::vector<Message>& messages) {
  // With less text, the calling thread would finish before the other threads start.
  constexpr std::size_t kLeastBytes = std::size_t{1} << 19U;
  const auto addBytes = [](std::size_t sum, const Message& message) { return sum + message.text.size(); };
  const auto isLong = [&](const std::vector<Message>& some) {
    return some.size() > 1 &&
           std::accumulate(some.begin(), some.end(), std::size_t{0}, addBytes) >= kLeastBytes;
  };
  if (!isLong(messages)) return;
  std::vector<Message> missing;
  std::set<std::tuple<query::Role, text::Place, std::string_view>> seen;
  for (const Message& message : messages) {
    if (textsOf(message.role, message.place).contains(message.text)) continue;
    if (seen.emplace(message.role, message.place, message.text).second) missing.push_back(message);
  }
  if (!isLong(missing)) return;
  std::vector<std::optional<text::RenderedMessage>> rendered(missing.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<std::int64_t> tokens = 0;
  const auto work = [&] {
    while (tokens <= m_limits.mostTokens) {
      const std::size_t i = next++;
      if (i >= missing.size()) return;
      try {
        rendered[i] = render(missing[i]);
        tokens += static_cast<std::int64_t>(rendered[i]->ids.size());
      } catch (const std::exception&) {
        return;  // message() will report the error.
      }
    }
  };
  {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    try {
      while (threads.size() + 1 < std::min(processors, missing.size())) threads.emplace_back(work);
    } catch (const std::system_error&) {
      // If the system starts no further thread, fewer threads do the work.
    }
    work();
  }
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!rendered[i] || static_cast<std::int64_t>(rendered[i]->ids.size()) > m_limits.mostTokens) continue;
    textsOf(missing[i].role, missing[i].place).emplace(std::string(missing[i].text), std::move(*rendered[i]));
  }
}

const std::vector<TokenId>& MessageRenderer::generationPrompt() {
  if (!m_generationPrompt) m_generationPrompt = text::renderPieces(m_chat.generationPrompt, m_tokenizer);
  return *m_generationPrompt;
}

const std::vector<TokenId>& MessageRenderer::answerSuffix() {
  if (!m_answerSuffix) m_answerSuffix = text::renderPieces(m_chat.answerSuffix, m_tokenizer);
  return *m_answerSuffix;
}

const std::vector<TokenId>& MessageRenderer::assistantSuffix() {
  if (!m_assistantSuffix) {
    const auto& turn = m_chat.turns.at(static_cast<std::size_t>(query::Role::Assistant));
    m_assistantSuffix = turn ? text::renderPieces(turn->suffix, m_tokenizer) : std::vector<TokenId>();
  }
  return *m_assistantSuffix;
}

void MessageRenderer::useLayout(Layout layout, std::int32_t blockSize) {
  LayoutRules rules{.layout = layout, .blockSize = blockSize};
  if (rules.marks()) {
    if (!m_markers) m_markers = markerTokens(m_tokenizer);
    rules.markers = *m_markers;
  }
  m_rules = rules;
}

const std::vector<TokenId>& MessageRenderer::opening(bool startsWithSystem) {
  std::optional<std::vector<TokenId>>& opening = m_openings.at(startsWithSystem ? 1 : 0);
  if (!opening) opening = text::renderOpening(m_chat, m_tokenizer, startsWithSystem);
  return *opening;
}

}  // namespace spanscope::layout
