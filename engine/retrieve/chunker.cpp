// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/chunker.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <array>
#include <utility>

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
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return text.ends_with(mark); });
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

namespace {

/// Number of summaries in one request, so that these summaries share forward passes.
constexpr std::size_t kBatch = 8;

/// Passages [begin, end) of the level below.
struct Group {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string key;
};

std::string keyOf(std::span<const Passage> texts, const std::string& fingerprint) {
  std::string all = hash128(fingerprint).hex();
  for (const Passage& text : texts) all += hash128(text.text).hex();
  return hash128(all).hex();
}

std::vector<Group> groupsOf(const std::vector<Passage>& passages, std::size_t first, std::size_t size,
                            const std::string& fingerprint) {
  const std::size_t count = passages.size() - first;
  const std::size_t most = std::max<std::size_t>(size, 2);
  const std::size_t groups = std::min((count + most - 1) / most, count / 2);
  std::vector<Group> result;
  for (std::size_t i = 0; i < groups; ++i) {
    Group group{.begin = first + count * i / groups, .end = first + count * (i + 1) / groups, .key = {}};
    group.key = keyOf(std::span(passages).subspan(group.begin, group.end - group.begin), fingerprint);
    result.push_back(std::move(group));
  }
  return result;
}

std::string placeOf(const Passage& first, const Passage& last) {
  constexpr std::string_view kSummary = "summary of ";
  const auto own = [&](const std::string& place) {
    return place.starts_with(kSummary) ? place.substr(kSummary.size()) : place;
  };
  const std::string begin = own(first.place);
  const std::string end = own(last.place);
  if (begin.empty() || end.empty()) return "summary";
  const std::string from = begin.substr(0, begin.find(" to "));
  const std::size_t to = end.find(" to ");
  const std::string until = to == std::string::npos ? end : end.substr(to + 4);
  return std::string(kSummary) + (from == until ? from : from + " to " + until);
}

bool isBlank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string::npos;
}

class Tree {
 public:
  Tree(std::vector<Passage>& passages, Summarizer& summarizer, SummaryStore& store, const Watch& watch)
      : m_passages(passages), m_summarizer(summarizer), m_store(store), m_watch(watch) {}

  bool build() {
    const std::string fingerprint = m_summarizer.fingerprint();
    std::size_t first = 0;
    for (std::uint32_t level = 1; m_passages.size() - first >= 2; ++level) {
      const std::vector<Group> groups = groupsOf(m_passages, first, m_summarizer.groupSize(), fingerprint);
      first = m_passages.size();
      m_progress.total += groups.size();
      for (std::size_t at = 0; at < groups.size(); at += kBatch) {
        const auto batch = std::span(groups).subspan(at, std::min(kBatch, groups.size() - at));
        if (!summarize(batch, level)) return false;
      }
    }
    return true;
  }

 private:
  bool summarize(std::span<const Group> batch, std::uint32_t level) {
    std::vector<std::optional<std::string>> texts;
    std::vector<std::vector<std::string>> missing;
    for (const Group& group : batch) {
      texts.push_back(m_store.find(group.key));
      if (texts.back()) continue;
      std::vector<std::string>& parts = missing.emplace_back();
      for (std::size_t i = group.begin; i < group.end; ++i) parts.push_back(m_passages[i].text);
    }
    std::vector<std::string> made;
    if (!missing.empty()) made = m_summarizer.summarize(missing, m_watch.stop);
    if (made.size() != missing.size()) return false;
    std::vector<std::pair<std::string, std::string>> kept;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (texts[i]) continue;
      texts[i] = std::move(made[kept.size()]);
      kept.emplace_back(batch[i].key, *texts[i]);
    }
    if (!kept.empty()) m_store.keep(kept);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (isBlank(*texts[i])) continue;
      Passage summary;
      summary.level = level;
      summary.place = placeOf(m_passages[batch[i].begin], m_passages[batch[i].end - 1]);
      summary.text = std::move(*texts[i]);
      m_passages.push_back(std::move(summary));
    }
    m_progress.done += batch.size();
    m_progress.added += kept.size();
    m_watch.report(m_progress);
    return true;
  }

  std::vector<Passage>& m_passages;
  Summarizer& m_summarizer;
  SummaryStore& m_store;
  const Watch& m_watch;
  IndexProgress m_progress{.phase = IndexPhase::Summaries};
};

}  // namespace

bool addSummaries(std::vector<Passage>& passages, Summarizer& summarizer, SummaryStore& store,
                  const Watch& watch) {
  if (passages.size() > kMaxSummarizedPassages) {
    throw Failure({{},
                   "summaries",
                   "a document of " + std::to_string(passages.size()) + " passages",
                   "at most " + std::to_string(kMaxSummarizedPassages) + " passages"});
  }
  return Tree(passages, summarizer, store, watch).build();
}

}  // namespace spanscope::retrieve
