// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/bpe_model.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/stop.h"

#include <queue>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

namespace spanscope::text {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// A pair that may be joined: the piece at `left` with the one that follows it.
struct Candidate {
  std::uint32_t rank = 0;
  std::uint32_t left = 0;
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

/// A merge joins the last unit of one piece to the first of another. What a piece begins and ends with
/// follows from the merges that make it.
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
  for (const auto& [pair, merge] : m_merges) {
    const auto left = static_cast<TokenId>(pair >> 32U);
    const auto right = static_cast<TokenId>(pair & 0xFFFFFFFFU);
    merges.push_back({merge.rank, left, right, merge.joined});
    most = std::max({most, left, right, merge.joined});
  }
  // A merge mostly stands behind those that make its parts.
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
      // Where a piece has other units when it is made in another way, no place is known to be free.
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
    m_meetings.insert(pairOf(left, right));
  }
}

void BpeModel::encodeWord(std::string_view word, const std::stop_token& stop, IdOutput& ids) const {
  if (m_wholeWordsFirst) {
    if (const std::optional<TokenId> whole = pieceId(word)) {
      ids.ids().push_back(*whole);
      return ids.pass();
    }
  }
  // What nothing can join is as good as two words, and a word may be a whole text.
  constexpr std::size_t kShort = 64;
  std::vector<TokenId> pieces;
  const auto give = [&] {
    joinPairs(pieces, stop);
    ids.ids().insert(ids.ids().end(), pieces.begin(), pieces.end());
    pieces.clear();
    ids.pass();
  };
  forEachUnit(word, stop, [&](TokenId unit) {
    if (pieces.size() >= kShort && !canMeet(pieces.back(), unit)) give();
    pieces.push_back(unit);
  });
  give();
}

template <class Take>
void BpeModel::forEachUnit(std::string_view word, const std::stop_token& stop, const Take& take) const {
  StopPoll poll(stop);
  bool lastUnknown = false;
  while (!word.empty()) {
    poll.step();
    const std::size_t length = m_units == Units::Bytes ? 1 : nextUtf8(word).length;
    const std::string_view unit = word.substr(0, length);
    word.remove_prefix(length);
    if (const std::optional<TokenId> id = pieceId(unit)) {
      take(*id);
      lastUnknown = false;
    } else if (m_byteFallback) {
      for (const char c : unit) take(m_byteIds[static_cast<unsigned char>(c)]);
    } else if (m_unknown >= 0) {
      if (!m_fuseUnknown || !lastUnknown) take(m_unknown);
      lastUnknown = true;
    } else {
      throw Failure({"", "text", "a character with the byte " + hexadecimal(unit.front()),
                     "characters that the tokenizer's vocabulary has pieces for"});
    }
  }
}

void BpeModel::joinPairs(std::vector<TokenId>& pieces, const std::stop_token& stop) const {
  const auto count = static_cast<std::uint32_t>(pieces.size());
  StopPoll poll(stop);
  std::vector<std::uint32_t> next(count);
  std::vector<std::uint32_t> previous(count);
  std::vector<bool> gone(count, false);
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](std::uint32_t left) {
    poll.step();
    if (left == kNone || next[left] == kNone) return;
    if (const Merge* merge = findMerge(pieces[left], pieces[next[left]])) {
      candidates.push({merge->rank, left, merge->joined});
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1 < count ? i + 1 : kNone;
    previous[i] = i == 0 ? kNone : i - 1;
  }
  for (std::uint32_t i = 0; i < count; ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate candidate = candidates.top();
    candidates.pop();
    const std::uint32_t left = candidate.left;
    if (gone[left] || next[left] == kNone) continue;
    // One of the two may have been joined to something else since.
    const std::uint32_t right = next[left];
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
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!gone[i]) pieces[kept++] = pieces[i];
  }
  pieces.resize(kept);
}

}  // namespace spanscope::text
