// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/sentencepiece_merges.h"

#include "engine/base/utf8.h"
#include "engine/text/stop.h"
#include "engine/text/unicode.h"

#include <queue>

#include <algorithm>
#include <limits>
#include <tuple>

namespace spanscope::text {
namespace {

using Type = SentencePiece::Type;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr char32_t kSpace = U'\x2581';

/// As the library writes it.
char32_t written(char32_t character) {
  return character == U' ' ? kSpace : character;
}

std::uint64_t pairOf(char32_t before, char32_t after) {
  return (std::uint64_t{written(before)} << 32U) | written(after);
}

bool isMade(Type type) {
  return type == Type::Normal || type == Type::UserDefined || type == Type::Unused;
}

/// A pair that may be merged: the symbol `left` with the one that follows it.
struct Candidate {
  float score = 0;
  std::uint32_t left = 0;
  std::uint32_t bytes = 0;  ///< of both together

  bool operator<(const Candidate& other) const {
    return std::tie(score, other.left) < std::tie(other.score, left);
  }
};

}  // namespace

/// A text taken apart, each symbol named by its number at the beginning.
struct SentencePieceMerges::Symbols {
  std::string text;                  ///< spaces as the library writes them
  std::vector<std::uint32_t> begin;  ///< offset in it
  std::vector<std::uint32_t> bytes;  ///< 0: it went into the one before
  std::vector<std::uint32_t> next;
  std::vector<std::uint32_t> previous;
  std::vector<bool> frozen;  ///< takes no part in merges
  /// The length of the left one of the two that last could become a piece that is not used.
  std::unordered_map<std::string_view, std::size_t> halves;

  std::uint32_t count() const { return static_cast<std::uint32_t>(begin.size()); }
  std::string_view at(std::uint32_t symbol) const {
    return std::string_view(text).substr(begin[symbol], bytes[symbol]);
  }
};

SentencePieceMerges::SentencePieceMerges(const SentencePieceModel& model)
    : m_byteFallback(model.byteFallback) {
  m_bytes.fill(-1);
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    const SentencePiece& piece = model.pieces[i];
    const auto id = static_cast<TokenId>(i);
    if (piece.type == Type::Unknown) m_unknown = id;
    if (piece.type == Type::Byte) m_bytes[static_cast<std::size_t>(byteOfPiece(piece.spelling))] = id;
    if (!isMade(piece.type)) continue;
    const bool isUsed = piece.type != Type::Unused;
    m_canCut = m_canCut && isUsed;
    m_pieces.insert_or_assign(piece.spelling, Known{id, piece.score, isUsed});
    m_longest = std::max(m_longest, piece.spelling.size());
    if (piece.type == Type::UserDefined) m_userDefined.push_back(piece.spelling);
    std::string_view rest = piece.spelling;
    char32_t before = firstCharacter(rest);
    rest.remove_prefix(nextUtf8(rest).length);
    if (rest.empty()) m_characters.insert(written(before));
    while (!rest.empty()) {
      const char32_t after = firstCharacter(rest);
      m_pairs.insert(pairOf(before, after));
      before = after;
      rest.remove_prefix(nextUtf8(rest).length);
    }
  }
  std::sort(m_userDefined.begin(), m_userDefined.end(),
            [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

bool SentencePieceMerges::isCut(char32_t before, char32_t after) const {
  if (m_pairs.contains(pairOf(before, after))) return false;
  // Without byte pieces, characters in a row that no piece covers are one unknown.
  return m_byteFallback || m_characters.contains(written(after));
}

std::size_t SentencePieceMerges::partLength(std::string_view text, std::size_t wanted,
                                            const std::stop_token& stop) const {
  if (!m_canCut) return text.size();
  StopPoll poll(stop);
  std::size_t end = std::min(std::max<std::size_t>(1, wanted), text.size());
  while (end < text.size() && isUtf8Continuation(text[end])) ++end;
  if (end == text.size()) return end;
  std::size_t last = end - 1;
  while (isUtf8Continuation(text[last])) --last;
  char32_t before = firstCharacter(text.substr(last));
  while (end < text.size()) {
    poll.step();
    const char32_t after = firstCharacter(text.substr(end));
    if (isCut(before, after)) break;
    before = after;
    end += nextUtf8(text.substr(end)).length;
  }
  return end;
}

const SentencePieceMerges::Known* SentencePieceMerges::find(std::string_view piece) const {
  if (piece.size() > m_longest) return nullptr;
  const auto found = m_pieces.find(piece);
  return found == m_pieces.end() ? nullptr : &found->second;
}

std::size_t SentencePieceMerges::userDefinedLength(std::string_view text) const {
  const auto found = std::find_if(m_userDefined.begin(), m_userDefined.end(),
                                  [text](const std::string& piece) { return text.starts_with(piece); });
  return found == m_userDefined.end() ? 0 : found->size();
}

void SentencePieceMerges::encode(std::string_view text, const std::stop_token& stop, IdOutput& ids) const {
  Symbols symbols;
  StopPoll poll(stop);
  symbols.text = withSpaceMarks(text);
  std::string_view rest = symbols.text;
  while (!rest.empty()) {
    poll.step();
    const std::size_t userDefined = userDefinedLength(rest);
    const std::size_t length = userDefined > 0 ? userDefined : nextUtf8(rest).length;
    symbols.begin.push_back(static_cast<std::uint32_t>(symbols.text.size() - rest.size()));
    symbols.bytes.push_back(static_cast<std::uint32_t>(length));
    symbols.frozen.push_back(userDefined > 0);
    rest.remove_prefix(length);
  }
  merge(symbols, stop);
  give(symbols, stop, ids);
}

/// Always the pair whose piece has the highest score, of equal ones the leftmost.
void SentencePieceMerges::merge(Symbols& symbols, const std::stop_token& stop) const {
  const std::uint32_t count = symbols.count();
  StopPoll poll(stop);
  symbols.next.resize(count);
  symbols.previous.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    symbols.next[i] = i + 1 < count ? i + 1 : kNone;
    symbols.previous[i] = i == 0 ? kNone : i - 1;
  }
  std::priority_queue<Candidate> candidates;
  const auto consider = [&](std::uint32_t left) {
    poll.step();
    if (left == kNone || symbols.next[left] == kNone) return;
    const std::uint32_t right = symbols.next[left];
    if (symbols.frozen[left] || symbols.frozen[right]) return;
    const std::uint32_t bytes = symbols.bytes[left] + symbols.bytes[right];
    const Known* piece = find(std::string_view(symbols.text).substr(symbols.begin[left], bytes));
    if (piece == nullptr) return;
    candidates.push({piece->score, left, bytes});
    if (!piece->isUsed) {
      const std::size_t leftBytes = symbols.bytes[left];
      symbols.halves.insert_or_assign(std::string_view(symbols.text).substr(symbols.begin[left], bytes),
                                      leftBytes);
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) consider(i);
  while (!candidates.empty()) {
    const Candidate candidate = candidates.top();
    candidates.pop();
    const std::uint32_t left = candidate.left;
    const std::uint32_t right = symbols.next[left];
    // One of the two may have gone into something else since.
    if (symbols.bytes[left] == 0 || right == kNone ||
        symbols.bytes[left] + symbols.bytes[right] != candidate.bytes)
      continue;
    symbols.bytes[left] = candidate.bytes;
    symbols.bytes[right] = 0;
    symbols.next[left] = symbols.next[right];
    if (symbols.next[left] != kNone) symbols.previous[symbols.next[left]] = left;
    consider(symbols.previous[left]);
    consider(left);
  }
}

void SentencePieceMerges::give(const Symbols& symbols, const std::stop_token& stop, IdOutput& ids) const {
  StopPoll poll(stop);
  bool lastUnknown = false;
  for (std::uint32_t symbol = 0; symbol != kNone; symbol = symbols.next[symbol]) {
    poll.step();
    givePiece(symbols, symbols.at(symbol), lastUnknown, ids);
    ids.pass();
  }
}

/// One that is not used falls apart; it may be as deep as it is long.
void SentencePieceMerges::givePiece(const Symbols& symbols, std::string_view piece, bool& lastUnknown,
                                    IdOutput& ids) const {
  std::vector<std::string_view> rest = {piece};
  while (!rest.empty()) {
    const std::string_view spelling = rest.back();
    rest.pop_back();
    const Known* known = find(spelling);
    if (known != nullptr && !known->isUsed) {
      if (const auto half = symbols.halves.find(spelling); half != symbols.halves.end()) {
        rest.push_back(spelling.substr(half->second));
        rest.push_back(spelling.substr(0, half->second));
        continue;
      }
    }
    if (known != nullptr) {
      ids.ids().push_back(known->id);
    } else if (m_byteFallback) {
      for (const char c : spelling) ids.ids().push_back(m_bytes[static_cast<unsigned char>(c)]);
    } else if (!lastUnknown) {
      ids.ids().push_back(m_unknown);
    }
    lastUnknown = known == nullptr;
  }
}

}  // namespace spanscope::text
