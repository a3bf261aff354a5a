// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/bpe_model.h"

#include "engine/base/utf8.h"
#include "engine/text/unicode.h"

#include <algorithm>
#include <vector>

namespace spanscope::text {

void BpeModel::addPiece(const std::string& spelling, TokenId id) {
  if (m_wholeWordsFirst) m_words.insert_or_assign(spelling, id);
  if (spelling.empty()) return;
  if (m_units == Units::Bytes) {
    if (spelling.size() == 1) m_firstUnits[static_cast<unsigned char>(spelling.front())] = id;
  } else if (nextUtf8(spelling).length == spelling.size()) {
    const char32_t character = firstCharacter(spelling);
    if (character < m_firstUnits.size()) {
      m_firstUnits[character] = id;
    } else {
      m_otherUnits.set(character, id);
    }
  }
}

std::optional<TokenId> BpeModel::wholeWord(std::string_view word) const {
  if (!m_wholeWordsFirst) return std::nullopt;
  const auto found = m_words.find(word);
  return found == m_words.end() ? std::nullopt : std::optional(found->second);
}

/// A merge joins the last unit of one piece to the first of another. The first and last unit of a piece
/// follow from its merges.
void BpeModel::finish() {
  struct Ends {
    TokenId first = -1;  ///< −1: not known yet
    TokenId last = -1;
    bool operator==(const Ends&) const = default;
  };
  struct Made {
    std::uint32_t rank = 0;
    TokenId left = -1;
    TokenId right = -1;
    TokenId joined = -1;
  };
  std::vector<Made> merges;
  merges.reserve(m_merges.size());
  TokenId most = -1;
  m_merges.forEach([&](std::uint64_t pair, const Merge& merge) {
    const auto left = static_cast<TokenId>(pair >> 32U);
    const auto right = static_cast<TokenId>(pair & 0xFFFFFFFFU);
    merges.push_back({merge.rank, left, right, merge.joined});
    most = std::max({most, left, right, merge.joined});
  });
  // Usually a merge comes after the merges that make its parts.
  std::sort(merges.begin(), merges.end(), [](const Made& a, const Made& b) { return a.rank < b.rank; });
  std::vector<Ends> ends;
  for (TokenId id = 0; id <= most; ++id) ends.push_back({id, id});
  const auto endsOf = [&ends](TokenId id) -> Ends& { return ends[static_cast<std::size_t>(id)]; };
  for (const Made& merge : merges) endsOf(merge.joined) = {};
  m_knowsMeetings = true;
  for (bool any = true; any;) {
    any = false;
    for (const Made& merge : merges) {
      const Ends made{endsOf(merge.left).first, endsOf(merge.right).last};
      if (made.first < 0 || made.last < 0 || endsOf(merge.joined) == made) continue;
      // If a piece can be made in two ways with different units, no place is known to be free.
      if (endsOf(merge.joined).first >= 0) {
        m_knowsMeetings = false;
        return;
      }
      endsOf(merge.joined) = made;
      any = true;
    }
  }
  for (const Made& merge : merges) {
    const TokenId left = endsOf(merge.left).last;
    const TokenId right = endsOf(merge.right).first;
    m_knowsMeetings = m_knowsMeetings && left >= 0 && right >= 0;
    m_meetings.set(pairOf(left, right), {});
  }
}

}  // namespace spanscope::text
