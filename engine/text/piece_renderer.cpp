// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/piece_renderer.h"

#include "engine/base/error.h"
#include "engine/text/stop.h"

#include <algorithm>
#include <cstdint>

namespace spanscope::text {

std::size_t beginWithoutSpace(std::string_view text) {
  const std::string_view rest = trimmed(text, Trim::UnicodeBoth);
  return rest.empty() ? text.size() : static_cast<std::size_t>(rest.data() - text.data());
}

std::size_t endWithoutSpace(std::string_view text) {
  const std::string_view rest = trimmed(text, Trim::UnicodeBoth);
  return rest.empty() ? 0 : static_cast<std::size_t>(rest.data() - text.data()) + rest.size();
}

ControlPieces::ControlPieces(const Tokenizer& tokenizer) {
  for (TokenId id = 0; id < tokenizer.vocabularySize(); ++id) {
    if (!tokenizer.isControl(id)) continue;
    std::string spelling = tokenizer.display(id);
    if (spelling.empty() || tokenizer.controlId(spelling) != id) continue;
    const char first = spelling.front();
    m_pieces[first].push_back({std::move(spelling), id, tokenizer.takenSpace(id)});
  }
  for (auto& [first, pieces] : m_pieces) {
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.spelling.size() > b.spelling.size(); });
  }
}

std::optional<ControlPieces::Found> ControlPieces::find(std::string_view text) const {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto pieces = m_pieces.find(text[at]);
    if (pieces == m_pieces.end()) continue;
    for (const Piece& piece : pieces->second) {
      if (text.substr(at).starts_with(piece.spelling))
        return Found{
            .begin = at, .length = piece.spelling.size(), .id = piece.id, .takenSpace = piece.takenSpace};
    }
  }
  return std::nullopt;
}

void PieceRenderer::addControl(const TemplatePiece& piece) {
  const TokenId id = m_tokenizer->controlId(piece.text);
  if (id < 0) {
    throw Failure({m_tokenizer->source(), "chat template",
                   "a tokenizer without the control piece \"" + piece.text + "\"",
                   "the tokenizer of a checkpoint with this chat template"});
  }
  flush();
  m_rendered.ids.push_back(id);
  m_dropsSpace = piece.dropsSpaceAfter;
}

void PieceRenderer::addRaw(std::string_view text) {
  if (m_controls == nullptr) m_controls = &m_ownControls.emplace(*m_tokenizer);
  while (const std::optional<ControlPieces::Found> found = m_controls->find(text)) {
    addLiteral(text.substr(0, found->begin));
    if (found->takenSpace.before) dropSpaceBefore();
    flush();
    m_rendered.ids.push_back(found->id);
    m_dropsSpace = found->takenSpace.after;
    text.remove_prefix(found->begin + found->length);
  }
  addLiteral(text);
}

void PieceRenderer::addOwn(std::string_view text) {
  if (!m_hasOwn) m_ownBegin = m_literal.size();
  m_literal += text;
  m_ownEnd = m_literal.size();
  m_hasOwn = true;
}

void PieceRenderer::add(const std::vector<TemplatePiece>& pieces) {
  for (const TemplatePiece& piece : pieces) {
    if (piece.control) {
      addControl(piece);
    } else if (piece.isRaw) {
      addRaw(piece.text);
    } else {
      addLiteral(piece.text);
    }
  }
}

RenderedMessage PieceRenderer::finish() {
  flush();
  return std::move(m_rendered);
}

void PieceRenderer::flush() {
  if (m_dropsSpace) dropSpaceAfter();
  m_dropsSpace = false;
  const std::vector<TokenId> ids = m_tokenizer->encode(m_literal, m_limits);
  if (m_hasOwn) markOwn(ids);
  m_rendered.ids.insert(m_rendered.ids.end(), ids.begin(), ids.end());
  m_literal.clear();
  m_hadOwn = m_hadOwn || m_hasOwn;
  m_hasOwn = false;
}

void PieceRenderer::dropSpaceBefore() {
  m_literal.erase(endWithoutSpace(m_literal));
  m_ownBegin = std::min(m_ownBegin, m_literal.size());
  m_ownEnd = std::min(m_ownEnd, m_literal.size());
}

void PieceRenderer::dropSpaceAfter() {
  const std::size_t dropped = beginWithoutSpace(m_literal);
  m_literal.erase(0, dropped);
  m_ownBegin -= std::min(dropped, m_ownBegin);
  m_ownEnd -= std::min(dropped, m_ownEnd);
}

/// A token that holds both template text and the message's own text counts as own text.
void PieceRenderer::markOwn(const std::vector<TokenId>& ids) {
  StopPoll poll(m_limits.stop);
  std::size_t total = 0;
  for (const TokenId id : ids) {
    poll.step();
    total += m_tokenizer->bytes(id).size();
  }
  // A tokenizer may add a space before the text; this space does not belong to the message.
  const std::size_t added = total > m_literal.size() ? total - m_literal.size() : 0;
  const std::size_t begin = m_ownBegin + added;
  const std::size_t end = m_ownEnd + added;
  const auto before = static_cast<std::int32_t>(m_rendered.ids.size());
  std::int32_t textBegin = before;
  std::int32_t textCount = 0;
  std::size_t position = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    poll.step();
    const std::size_t next = position + m_tokenizer->bytes(ids[i]).size();
    if (next <= begin) textBegin = before + static_cast<std::int32_t>(i) + 1;
    if (next > begin && position < end) ++textCount;
    position = next;
  }
  if (!m_hadOwn) m_rendered.textBegin = textBegin;
  m_rendered.textCount = textBegin + textCount - m_rendered.textBegin;
}

}  // namespace spanscope::text
