// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/bpe_model.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"

#include <queue>

#include <functional>
#include <limits>
#include <tuple>

namespace spanscope::text {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// A pair that may be joined: the piece at `left` with the one that follows it.
struct Candidate {
  std::uint32_t rank = 0;
  std::size_t left = 0;
  TokenId joined = -1;

  bool operator>(const Candidate& other) const {
    return std::tie(rank, left) > std::tie(other.rank, other.left);
  }
};

std::string hexadecimal(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

}  // namespace

std::optional<TokenId> BpeModel::pieceId(std::string_view spelling) const {
  const auto found = m_pieces.find(spelling);
  return found == m_pieces.end() ? std::nullopt : std::optional(found->second);
}

const BpeModel::Merge* BpeModel::findMerge(TokenId left, TokenId right) const {
  const auto found = m_merges.find(pairOf(left, right));
  return found == m_merges.end() ? nullptr : &found->second;
}

void BpeModel::encodeWord(std::string_view word, std::vector<TokenId>& ids) const {
  if (m_wholeWordsFirst) {
    if (const std::optional<TokenId> whole = pieceId(word)) {
      ids.push_back(*whole);
      return;
    }
  }
  std::vector<TokenId> pieces = unitsOf(word);
  joinPairs(pieces);
  ids.insert(ids.end(), pieces.begin(), pieces.end());
}

std::vector<TokenId> BpeModel::unitsOf(std::string_view word) const {
  std::vector<TokenId> units;
  bool lastUnknown = false;
  while (!word.empty()) {
    const std::size_t length = m_units == Units::Bytes ? 1 : nextUtf8(word).length;
    const std::string_view unit = word.substr(0, length);
    word.remove_prefix(length);
    if (const std::optional<TokenId> id = pieceId(unit)) {
      units.push_back(*id);
      lastUnknown = false;
    } else if (m_byteFallback) {
      for (const char c : unit) units.push_back(m_byteIds[static_cast<unsigned char>(c)]);
    } else if (m_unknown >= 0) {
      if (!m_fuseUnknown || !lastUnknown) units.push_back(m_unknown);
      lastUnknown = true;
    } else {
      throw Failure({"", "text", "a character with the byte " + hexadecimal(unit.front()),
                     "characters that the tokenizer's vocabulary has pieces for"});
    }
  }
  return units;
}

void BpeModel::joinPairs(std::vector<TokenId>& pieces) const {
  const std::size_t count = pieces.size();
  std::vector<std::size_t> next(count);
  std::vector<std::size_t> previous(count);
  std::vector<bool> gone(count, false);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](std::size_t left) {
    if (left == kNone || next[left] == kNone) return;
    if (const Merge* merge = findMerge(pieces[left], pieces[next[left]])) {
      candidates.push({merge->rank, left, merge->joined});
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = i + 1 < count ? i + 1 : kNone;
    previous[i] = i == 0 ? kNone : i - 1;
  }
  for (std::size_t i = 0; i < count; ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate candidate = candidates.top();
    candidates.pop();
    const std::size_t left = candidate.left;
    if (gone[left] || next[left] == kNone) continue;
    // One of the two may have been joined to something else since.
    const std::size_t right = next[left];
    const Merge* merge = findMerge(pieces[left], pieces[right]);
    if (merge == nullptr || merge->joined != candidate.joined || merge->rank != candidate.rank) continue;
    pieces[left] = candidate.joined;
    gone[right] = true;
    next[left] = next[right];
    if (next[left] != kNone) previous[next[left]] = left;
    consider(previous[left]);
    consider(left);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!gone[i]) pieces[kept++] = pieces[i];
  }
  pieces.resize(kept);
}

}  // namespace spanscope::text
