// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/chunker.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <array>

namespace spanscope::retrieve {
namespace {

/// Rates a place between two tokens as the end of a passage.
enum class Cut {
  WithinCharacter,
  WithinWord,
  Word,     ///< beside white space
  Sentence  ///< after the end of a sentence or line
};

constexpr std::string_view kBlank = " \t\r\n\f\v";

bool isBlank(char byte) {
  return kBlank.find(byte) != std::string_view::npos;
}

/// Whether the text ends with a sentence. White space after the sentence is ignored. Closing quotes and
/// brackets may follow the sentence's mark.
bool endsSentence(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kClosing = {"\"", "'", ")", "]", "\u201D", "\u2019"};
  static constexpr std::array<std::string_view, 7> kMarks = {".",      "!",      "?",     "\u2026",
                                                             "\u3002", "\uFF01", "\uFF1F"};
  for (bool any = true; any;) {
    any = false;
    for (const std::string_view closing : kClosing) {
      if (!text.ends_with(closing)) continue;
      text.remove_suffix(closing.size());
      any = true;
    }
  }
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [&](std::string_view mark) { return text.ends_with(mark); });
}

/// A unit as tokens: the offset of each token, and the rating of the place before each token.
class TokenText {
 public:
  TokenText(std::string_view unit, const text::Tokenizer& tokenizer, const std::stop_token& stop) {
    tokenizer.encodeTo(unit, stop, [&](std::span<const TokenId> ids) {
      for (const TokenId id : ids) {
        m_begins.push_back(m_text.size());
        m_text += tokenizer.bytes(id);
      }
      return true;
    });
    m_begins.push_back(m_text.size());
  }

  std::size_t size() const { return m_begins.size() - 1; }

  std::string between(std::size_t first, std::size_t end) const {
    return toValidUtf8(std::string_view(m_text).substr(m_begins[first], m_begins[end] - m_begins[first]));
  }

  /// Returns the kind of the place before token `index`.
  Cut cutAt(std::size_t index) const {
    const std::size_t at = m_begins[index];
    if (at == 0 || at == m_text.size()) return Cut::Sentence;
    if ((static_cast<unsigned char>(m_text[at]) & 0xC0U) == 0x80U) return Cut::WithinCharacter;
    // A token may have white space at its beginning or end. A passage ends before the white space if
    // possible.
    if (!isBlank(m_text[at]) && !isBlank(m_text[at - 1])) return Cut::WithinWord;
    const std::string_view before = std::string_view(m_text).substr(0, at);
    const std::size_t last =
        before.substr(before.size() - std::min(before.size(), kLookBack)).find_last_not_of(kBlank);
    if (last == std::string_view::npos) return Cut::Word;
    const std::size_t end = before.size() - std::min(before.size(), kLookBack) + last + 1;
    const std::string_view gap = before.substr(end);
    const bool isLineEnd = gap.find('\n') != std::string_view::npos || m_text[at] == '\n';
    return isLineEnd || endsSentence(before.substr(0, end)) ? Cut::Sentence : Cut::Word;
  }

 private:
  /// Max number of bytes of white space in the search for the end of a sentence.
  static constexpr std::size_t kLookBack = 256;

  std::string m_text;
  std::vector<std::size_t> m_begins;  ///< of each token, and the end
};

/// Returns the end of the passage that begins with `first`.
std::size_t endOf(const TokenText& tokens, std::size_t first, std::size_t most) {
  if (tokens.size() - first <= most) return tokens.size();
  const std::size_t least = first + (most + 1) / 2;
  // A short last passage would rank high for each of its words, because BM25 favours short texts.
  const std::size_t latest = std::min(first + most, std::max(least, tokens.size() - most / 4));
  std::size_t best = latest;
  Cut bestCut = Cut::WithinCharacter;
  for (std::size_t end = latest; end >= least && bestCut != Cut::Sentence; --end) {
    const Cut cut = tokens.cutAt(end);
    if (cut <= bestCut) continue;
    best = end;
    bestCut = cut;
  }
  return best;
}

/// Returns the beginning of the passage that follows a passage with the end `end`.
std::size_t beginAfter(const TokenText& tokens, std::size_t end, std::size_t overlap) {
  std::size_t best = end;
  Cut bestCut = Cut::WithinWord;
  for (std::size_t begin = end - overlap; begin < end && bestCut != Cut::Sentence; ++begin) {
    const Cut cut = tokens.cutAt(begin);
    if (cut <= bestCut) continue;
    best = begin;
    bestCut = cut;
  }
  return best;
}

}  // namespace

std::optional<Error> checkChunkOptions(const ChunkOptions& options) {
  if (options.tokens < kMinChunkTokens || options.tokens > kMaxChunkTokens) {
    return Error{{},
                 "tokens of a passage",
                 std::to_string(options.tokens),
                 std::to_string(kMinChunkTokens) + " to " + std::to_string(kMaxChunkTokens)};
  }
  if (options.overlap < 0 || options.overlap > options.tokens / 4) {
    return Error{{},
                 "overlap of passages",
                 std::to_string(options.overlap),
                 "0 to " + std::to_string(options.tokens / 4) + ", a quarter of a passage"};
  }
  return std::nullopt;
}

std::vector<Chunk> chunkUnit(std::string_view unit, const text::Tokenizer& tokenizer,
                             const ChunkOptions& options, const std::stop_token& stop) {
  const TokenText tokens(unit, tokenizer, stop);
  std::vector<Chunk> chunks;
  std::size_t first = 0;
  while (first < tokens.size()) {
    const std::size_t end = endOf(tokens, first, static_cast<std::size_t>(options.tokens));
    chunks.push_back({.firstToken = first, .tokenCount = end - first, .text = tokens.between(first, end)});
    if (end == tokens.size()) break;
    // A passage is at least half as long as options.tokens, and the overlap at most a quarter. So each
    // passage begins after the previous one.
    first = beginAfter(tokens, end, static_cast<std::size_t>(options.overlap));
  }
  return chunks;
}

}  // namespace spanscope::retrieve
