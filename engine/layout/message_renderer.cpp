// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/layout/message_renderer.h"

#include <utility>

namespace spanscope::layout {

const text::RenderedMessage& MessageRenderer::message(query::Role role, std::string_view text,
                                                      text::Place place) {
  Texts& texts = m_messages.at(static_cast<std::size_t>(role)).at(static_cast<std::size_t>(place));
  const auto found = texts.find(text);
  if (found != texts.end()) return found->second;
  text::RenderedMessage rendered = text::render(m_chat, m_tokenizer, role, text, place);
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

const std::vector<TokenId>& MessageRenderer::opening(bool startsWithSystem) {
  std::optional<std::vector<TokenId>>& opening = m_openings.at(startsWithSystem ? 1 : 0);
  if (!opening) opening = text::renderOpening(m_chat, m_tokenizer, startsWithSystem);
  return *opening;
}

}  // namespace spanscope::layout
