// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/added_tokens.h"

#include "engine/base/utf8.h"
#include "engine/text/stop.h"
#include "engine/text/unicode.h"

#include <algorithm>

namespace spanscope::text {
namespace {

/// Returns where the last character before `end` begins; `end` > 0.
std::size_t lastCharacterBegin(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && isUtf8Continuation(text[begin])) --begin;
  return begin;
}

bool endsWithWord(std::string_view text) {
  return !text.empty() && isWordCharacter(firstCharacter(text.substr(lastCharacterBegin(text, text.size()))));
}

bool startsWithWord(std::string_view text) {
  return !text.empty() && isWordCharacter(firstCharacter(text));
}

bool startsWithSpace(std::string_view text) {
  return !text.empty() && characterClass(firstCharacter(text)) == CharacterClass::WhiteSpace;
}

/// Returns where the white space that ends at `end` begins, but at least `least`.
std::size_t beginOfSpace(std::string_view text, std::size_t least, std::size_t end) {
  while (end > least) {
    const std::size_t begin = lastCharacterBegin(text, end);
    if (begin < least || !startsWithSpace(text.substr(begin))) break;
    end = begin;
  }
  return end;
}

std::size_t endOfSpace(std::string_view text, std::size_t begin) {
  while (startsWithSpace(text.substr(begin))) begin += nextUtf8(text.substr(begin)).length;
  return begin;
}

bool standsAlone(std::string_view text, std::size_t begin, std::size_t end) {
  return !endsWithWord(text.substr(0, begin)) && !startsWithWord(text.substr(end));
}

}  // namespace

AddedTokenFinder::AddedTokenFinder() : m_tokenOfNode(1, 0) {}

std::uint32_t AddedTokenFinder::child(std::uint32_t node, unsigned char byte) const {
  if (node == 0) return m_first[byte];
  const auto found = m_children.find((std::uint64_t{node} << 8U) | byte);
  return found == m_children.end() ? kNoNode : found->second;
}

void AddedTokenFinder::add(const AddedToken& token, std::string_view spelling) {
  if (spelling.empty()) return;
  std::uint32_t node = 0;
  for (const char c : spelling) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t next = child(node, byte);
    if (next == kNoNode) {
      next = static_cast<std::uint32_t>(m_tokenOfNode.size());
      m_tokenOfNode.push_back(0);
      if (node == 0) {
        m_first[byte] = next;
      } else {
        m_children.emplace((std::uint64_t{node} << 8U) | byte, next);
      }
    }
    node = next;
  }
  if (m_tokenOfNode[node] != 0) return;
  m_tokens.push_back(token);
  m_tokenOfNode[node] = static_cast<std::uint32_t>(m_tokens.size());
}

AddedTokenFinder::Match AddedTokenFinder::matchAt(std::string_view text, std::size_t position) const {
  Match match;
  std::uint32_t node = 0;
  for (std::size_t i = position; i < text.size(); ++i) {
    node = child(node, static_cast<unsigned char>(text[i]));
    if (node == kNoNode) break;
    if (m_tokenOfNode[node] != 0) match = {i + 1 - position, &m_tokens[m_tokenOfNode[node] - 1]};
  }
  return match;
}

void AddedTokenFinder::split(std::string_view text, const std::stop_token& stop, const Found& found) const {
  StopPoll poll(stop);
  std::size_t done = 0;
  std::size_t position = m_tokens.empty() ? text.size() : 0;
  while (position < text.size()) {
    poll.step();
    if (m_first[static_cast<unsigned char>(text[position])] == kNoNode) {
      ++position;
      continue;
    }
    const Match match = matchAt(text, position);
    if (match.token == nullptr) {
      ++position;
      continue;
    }
    std::size_t begin = position;
    std::size_t end = position + match.length;
    position = end;
    const AddedToken& token = *match.token;
    if (token.special) continue;
    if (token.singleWord && !standsAlone(text, begin, end)) continue;
    if (token.leftStrip) begin = beginOfSpace(text, std::min(done, begin), begin);
    if (token.rightStrip) end = endOfSpace(text, end);
    if (begin > done) found({{done, begin}, -1});
    // White space that the previous token took is searched again. Hugging Face's library does the same, and
    // defines the result.
    found({{begin, end}, token.id});
    done = end;
  }
  if (done < text.size()) found({{done, text.size()}, -1});
}

}  // namespace spanscope::text
