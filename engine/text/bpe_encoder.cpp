// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/bpe_encoder.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/unicode.h"

namespace spanscope::text {

namespace {

constexpr std::uint32_t kNoLink = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

std::string hexadecimal(char c) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  return {'0', 'x', kDigits[byte >> 4U], kDigits[byte & 0xFU]};
}

}  // namespace

void BpeEncoder::encodeWord(std::string_view word) {
  m_poll.step();
  const bool mayBeKnown = word.size() <= WordCache::kMostBytes;
  if (mayBeKnown) {
    if (const auto known = m_cache.find(word); !known.empty()) return give(known);
  }
  if (const std::optional<TokenId> whole = m_model->wholeWord(word)) {
    m_cache.keep(word, {&*whole, 1});
    return give({&*whole, 1});
  }
  m_units.clear();
  if (mayBeKnown) {
    forEachUnit(word, [this](TokenId unit, std::size_t /*offset*/) { m_units.push_back(unit); });
    join();
    m_cache.keep(word, m_units);
    return give(m_units);
  }
  // A place that no merge can join separates two words in practice. The separation matters because a word may
  // be a whole text.
  std::size_t begin = 0;
  std::size_t last = 0;
  forEachUnit(word, [&](TokenId unit, std::size_t offset) {
    // A character that is spelled in bytes stays whole, because the characters identify a cut part.
    if (offset != last && !m_model->canMeet(m_units.back(), unit)) {
      encodeStretch(word.substr(begin, offset - begin));
      begin = offset;
    }
    last = offset;
    m_units.push_back(unit);
  });
  encodeStretch(word.substr(begin));
}

/// Encodes a part of a word, whose units are in m_units.
void BpeEncoder::encodeStretch(std::string_view stretch) {
  // A section might be a piece as a separate word, but within its word the section is no piece.
  const bool isCached =
      m_units.size() > 1 && stretch.size() <= WordCache::kMostBytes && !m_model->takesWholeWordsFirst();
  const auto known = isCached ? m_cache.find(stretch) : std::span<const TokenId>();
  if (!known.empty()) {
    give(known);
  } else {
    join();
    if (isCached) m_cache.keep(stretch, m_units);
    give(m_units);
  }
  m_units.clear();
}

void BpeEncoder::give(std::span<const TokenId> ids) {
  m_ids->ids().insert(m_ids->ids().end(), ids.begin(), ids.end());
  m_ids->pass();
}

template <class Take>
void BpeEncoder::forEachUnit(std::string_view word, const Take& take) {
  const bool areBytes = m_model->units() == BpeModel::Units::Bytes;
  bool lastUnknown = false;
  for (std::size_t offset = 0; offset < word.size();) {
    m_poll.step();
    const std::string_view rest = word.substr(offset);
    const char32_t unit = areBytes ? static_cast<unsigned char>(rest.front()) : firstCharacter(rest);
    const std::size_t length = areBytes ? 1 : characterLength(rest.front());
    const TokenId id = m_model->unitId(unit);
    if (id >= 0) {
      take(id, offset);
      lastUnknown = false;
    } else if (m_model->hasByteFallback()) {
      for (const char c : rest.substr(0, length))
        take(m_model->byteId(static_cast<unsigned char>(c)), offset);
    } else if (m_model->unknown() >= 0) {
      if (!m_model->fusesUnknown() || !lastUnknown) take(m_model->unknown(), offset);
      lastUnknown = true;
    } else {
      throw Failure({"", "text", "a character with the byte " + hexadecimal(rest.front()),
                     "characters for which the vocabulary has pieces"});
    }
    offset += length;
  }
}

void BpeEncoder::join() {
  constexpr std::size_t kFew = 40;
  if (m_units.size() <= kFew) {
    joinFew();
  } else {
    joinMany();
  }
}

/// Looks at all pairs in each step. With few pairs, this search is faster than an ordered list of pairs.
void BpeEncoder::joinFew() {
  if (m_units.size() < 2) return;
  const auto jointAt = [this](std::size_t left) {
    const BpeModel::Merge* merge = m_model->findMerge(m_units[left], m_units[left + 1]);
    return merge == nullptr ? BpeModel::Merge{kNoRank, -1} : *merge;
  };
  m_joints.resize(m_units.size() - 1);
  for (std::size_t i = 0; i < m_joints.size(); ++i) m_joints[i] = jointAt(i);
  while (!m_joints.empty()) {
    const auto least = std::ranges::min_element(
        m_joints, [](const BpeModel::Merge& a, const BpeModel::Merge& b) { return a.rank < b.rank; });
    if (least->joined < 0) break;
    const auto left = static_cast<std::size_t>(least - m_joints.begin());
    m_units[left] = least->joined;
    m_units.erase(m_units.begin() + static_cast<std::ptrdiff_t>(left) + 1);
    m_joints.erase(least);
    if (left < m_joints.size()) m_joints[left] = jointAt(left);
    if (left > 0) m_joints[left - 1] = jointAt(left - 1);
  }
}

/// Keeps the pairs that can be joined in a queue. A side of a queued pair may have been joined with another
/// unit since. The rank of the pair has then changed.
void BpeEncoder::joinMany() {
  const auto count = static_cast<std::uint32_t>(m_units.size());
  m_links.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    m_links[i] = {m_units[i], -1, kNoRank, i == 0 ? kNoLink : i - 1, i + 1 < count ? i + 1 : kNoLink};
  }
  m_candidates.restart();
  for (std::uint32_t i = 0; i < count; ++i) consider(i);
  while (!m_candidates.empty()) {
    const auto [rank, left] = m_candidates.pop();
    Link& link = m_links[left];
    if (link.rank != rank) continue;
    Link& right = m_links[link.next];
    link.id = link.joined;
    link.next = right.next;
    right.id = -1;
    right.rank = kNoRank;
    if (link.next != kNoLink) m_links[link.next].previous = left;
    if (link.previous != kNoLink) consider(link.previous);
    consider(left);
  }
  m_units.clear();
  for (std::uint32_t i = 0; i != kNoLink; i = m_links[i].next) m_units.push_back(m_links[i].id);
}

void BpeEncoder::consider(std::uint32_t left) {
  m_poll.step();
  Link& link = m_links[left];
  const BpeModel::Merge* merge =
      link.next == kNoLink ? nullptr : m_model->findMerge(link.id, m_links[link.next].id);
  link.rank = merge == nullptr ? kNoRank : merge->rank;
  if (merge == nullptr) return;
  link.joined = merge->joined;
  m_candidates.push({merge->rank, left});
}

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
  // Usually a merge comes after the merges that make the two parts of the merge.
  std::ranges::sort(merges, {}, &Made::rank);
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
