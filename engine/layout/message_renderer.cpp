// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/layout/message_renderer.h"

#include <utility>

namespace spanscope::layout {

const text::RenderedMessage& MessageRenderer::message(query::Role role, std::string_view text,
                                                      text::Place place) {
  Texts& texts = m_messages.at(static_cast<std::size_t>(role)).at(static_cast<std::size_t>(place));
  const auto found = texts.find(text);
  if (found != texts.end()) return found->second;
  const auto most = static_cast<std::uint64_t>(m_limits.mostTokens);
  text::RenderedMessage rendered =
      text::render(m_chat, m_tokenizer, role, text, place,
                   {.stop = m_limits.stop, .mostTokens = static_cast<std::size_t>(most)});
  checkLength(static_cast<std::int64_t>(rendered.ids.size()));
  return texts.emplace(std::string(text), std::move(rendered)).first->second;
}

const std::vector<TokenId>& MessageRenderer::generationPrompt() {
  if (!m_generationPrompt) m_generationPrompt = text::renderPieces(m_chat.generationPrompt, m_tokenizer);
  return *m_generationPrompt;
}

const std::vector<TokenId>& MessageRenderer::replySuffix() {
  if (!m_replySuffix) m_replySuffix = text::renderPieces(m_chat.replySuffix, m_tokenizer);
  return *m_replySuffix;
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
