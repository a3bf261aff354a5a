// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/text_pipeline.h"

#include <algorithm>
#include <utility>

namespace spanscope::text {
namespace {

std::string replaceAll(std::string_view text, const std::vector<ByteRange>& places, std::string_view with) {
  std::string result;
  std::size_t done = 0;
  for (const ByteRange& place : places) {
    result += text.substr(done, place.begin - done);
    result += with;
    done = place.end;
  }
  result += text.substr(done);
  return result;
}

class UnicodeNormalizer final : public Normalizer {
 public:
  explicit UnicodeNormalizer(NormalForm form) : m_form(form) {}
  std::string apply(std::string_view text) const override { return normalized(text, m_form); }

 private:
  NormalForm m_form;
};

class PrependNormalizer final : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : m_prefix(std::move(prefix)) {}
  std::string apply(std::string_view text) const override {
    return text.empty() ? std::string() : m_prefix + std::string(text);
  }

 private:
  std::string m_prefix;
};

class ReplaceNormalizer final : public Normalizer {
 public:
  ReplaceNormalizer(std::unique_ptr<const TextPattern> pattern, std::string replacement)
      : m_pattern(std::move(pattern)), m_replacement(std::move(replacement)) {}
  std::string apply(std::string_view text) const override {
    return replaceAll(text, m_pattern->findAll(text), m_replacement);
  }

 private:
  std::unique_ptr<const TextPattern> m_pattern;
  std::string m_replacement;
};

/// A place where the pattern was found, or what stands between two of them.
struct Piece {
  ByteRange range;
  bool matched = false;
};

std::vector<Piece> piecesOf(const std::vector<ByteRange>& places, std::size_t size, bool invert) {
  std::vector<Piece> pieces;
  std::size_t done = 0;
  for (const ByteRange& place : places) {
    if (place.begin > done) pieces.push_back({{done, place.begin}, invert});
    pieces.push_back({place, !invert});
    done = place.end;
  }
  if (done < size) pieces.push_back({{done, size}, invert});
  return pieces;
}

/// A match joins the piece before it, unless that is a match too.
std::vector<ByteRange> mergedWithPrevious(const std::vector<Piece>& pieces) {
  std::vector<ByteRange> words;
  bool previousMatched = false;
  for (const Piece& piece : pieces) {
    if (piece.matched && !previousMatched && !words.empty()) {
      words.back().end = piece.range.end;
    } else {
      words.push_back(piece.range);
    }
    previousMatched = piece.matched;
  }
  return words;
}

/// The mirror image of the same rule.
std::vector<ByteRange> mergedWithNext(const std::vector<Piece>& pieces) {
  std::vector<ByteRange> words;
  bool nextMatched = false;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (piece->matched && !nextMatched && !words.empty()) {
      words.back().begin = piece->range.begin;
    } else {
      words.push_back(piece->range);
    }
    nextMatched = piece->matched;
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::vector<ByteRange> contiguous(const std::vector<Piece>& pieces) {
  std::vector<ByteRange> words;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && pieces[i].matched == pieces[i - 1].matched) {
      words.back().end = pieces[i].range.end;
    } else {
      words.push_back(pieces[i].range);
    }
  }
  return words;
}

std::vector<ByteRange> wordsOf(const std::vector<Piece>& pieces, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::MergedWithPrevious:
      return mergedWithPrevious(pieces);
    case SplitBehavior::MergedWithNext:
      return mergedWithNext(pieces);
    case SplitBehavior::Contiguous:
      return contiguous(pieces);
    case SplitBehavior::Removed:
    case SplitBehavior::Isolated:
      break;
  }
  std::vector<ByteRange> words;
  for (const Piece& piece : pieces) {
    if (behavior == SplitBehavior::Isolated || !piece.matched) words.push_back(piece.range);
  }
  return words;
}

void appendWords(const Word& word, const std::vector<ByteRange>& ranges, std::vector<Word>& words) {
  for (const ByteRange& range : ranges) {
    words.push_back(
        {word.text.substr(range.begin, range.end - range.begin), word.beginsText && range.begin == 0});
  }
}

class SplitPreTokenizer final : public PreTokenizer {
 public:
  SplitPreTokenizer(std::unique_ptr<const TextPattern> pattern, SplitBehavior behavior, bool invert)
      : m_pattern(std::move(pattern)), m_behavior(behavior), m_invert(invert) {}

  void apply(const Word& word, std::vector<Word>& words) const override {
    const std::vector<ByteRange> places = m_pattern->findAll(word.text);
    appendWords(word, wordsOf(piecesOf(places, word.text.size(), m_invert), m_behavior), words);
  }

 private:
  std::unique_ptr<const TextPattern> m_pattern;
  SplitBehavior m_behavior;
  bool m_invert;
};

class PrefixSpacePreTokenizer final : public PreTokenizer {
 public:
  void apply(const Word& word, std::vector<Word>& words) const override {
    if (word.text.empty()) return;
    words.push_back({(word.text.front() == ' ' ? "" : " ") + word.text, word.beginsText});
  }
};

class MetaspacePreTokenizer final : public PreTokenizer {
 public:
  MetaspacePreTokenizer(std::string mark, PrependScheme scheme, bool split)
      : m_mark(std::move(mark)),
        m_scheme(scheme),
        m_split(split),
        m_space(literalPattern(" ")),
        m_marks(literalPattern(m_mark)) {}

  void apply(const Word& word, std::vector<Word>& words) const override {
    if (word.text.empty()) return;
    Word marked{replaceAll(word.text, m_space->findAll(word.text), m_mark), word.beginsText};
    const bool prepends =
        m_scheme == PrependScheme::Always || (m_scheme == PrependScheme::First && word.beginsText);
    if (prepends && marked.text.compare(0, m_mark.size(), m_mark) != 0) marked.text.insert(0, m_mark);
    if (!m_split) {
      words.push_back(std::move(marked));
      return;
    }
    const std::vector<Piece> pieces = piecesOf(m_marks->findAll(marked.text), marked.text.size(), false);
    appendWords(marked, mergedWithNext(pieces), words);
  }

 private:
  std::string m_mark;
  PrependScheme m_scheme;
  bool m_split;
  std::unique_ptr<const TextPattern> m_space;
  std::unique_ptr<const TextPattern> m_marks;
};

}  // namespace

std::unique_ptr<const Normalizer> unicodeNormalizer(NormalForm form) {
  return std::make_unique<UnicodeNormalizer>(form);
}

std::unique_ptr<const Normalizer> prependNormalizer(std::string prefix) {
  return std::make_unique<PrependNormalizer>(std::move(prefix));
}

std::unique_ptr<const Normalizer> replaceNormalizer(std::unique_ptr<const TextPattern> pattern,
                                                    std::string replacement) {
  return std::make_unique<ReplaceNormalizer>(std::move(pattern), std::move(replacement));
}

std::unique_ptr<const PreTokenizer> splitPreTokenizer(std::unique_ptr<const TextPattern> pattern,
                                                      SplitBehavior behavior, bool invert) {
  return std::make_unique<SplitPreTokenizer>(std::move(pattern), behavior, invert);
}

std::unique_ptr<const PreTokenizer> prefixSpacePreTokenizer() {
  return std::make_unique<PrefixSpacePreTokenizer>();
}

std::unique_ptr<const PreTokenizer> metaspacePreTokenizer(std::string mark, PrependScheme scheme,
                                                          bool split) {
  return std::make_unique<MetaspacePreTokenizer>(std::move(mark), scheme, split);
}

std::vector<Word> preTokenize(const std::vector<std::unique_ptr<const PreTokenizer>>& steps, Word text) {
  std::vector<Word> words;
  if (!text.text.empty()) words.push_back(std::move(text));
  for (const auto& step : steps) {
    std::vector<Word> next;
    for (const Word& word : words) step->apply(word, next);
    words = std::move(next);
  }
  return words;
}

}  // namespace spanscope::text
