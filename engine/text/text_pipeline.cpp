// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/text_pipeline.h"

#include <optional>
#include <utility>

namespace spanscope::text {
namespace {

std::string replaceAll(std::string_view text, const TextPattern& pattern, std::string_view with,
                       const std::stop_token& stop) {
  std::string result;
  std::size_t done = 0;
  pattern.find(text, stop, [&](ByteRange place) {
    result += text.substr(done, place.begin - done);
    result += with;
    done = place.end;
  });
  result += text.substr(done);
  return result;
}

class UnicodeNormalizer final : public Normalizer {
 public:
  explicit UnicodeNormalizer(NormalForm form) : m_form(form) {}
  std::string apply(std::string_view text, const std::stop_token& stop) const override {
    return normalized(text, m_form, stop);
  }

 private:
  NormalForm m_form;
};

class PrependNormalizer final : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : m_prefix(std::move(prefix)) {}
  std::string apply(std::string_view text, const std::stop_token& /*stop*/) const override {
    return text.empty() ? std::string() : m_prefix + std::string(text);
  }

 private:
  std::string m_prefix;
};

class ReplaceNormalizer final : public Normalizer {
 public:
  ReplaceNormalizer(std::unique_ptr<const TextPattern> pattern, std::string replacement)
      : m_pattern(std::move(pattern)), m_replacement(std::move(replacement)) {}
  std::string apply(std::string_view text, const std::stop_token& stop) const override {
    return replaceAll(text, *m_pattern, m_replacement, stop);
  }

 private:
  std::unique_ptr<const TextPattern> m_pattern;
  std::string m_replacement;
};

/// Cuts a word where a pattern is found: what is found, and what stands between, joined as the behavior says.
/// A word is given once nothing can join it any more.
class WordCutter {
 public:
  WordCutter(const Word& word, SplitBehavior behavior, bool invert, WordSink& words)
      : m_word(word), m_behavior(behavior), m_invert(invert), m_words(words) {}

  void found(ByteRange place) {
    if (place.begin > m_done) add({m_done, place.begin}, m_invert);
    add(place, !m_invert);
    m_done = place.end;
  }

  void finish() {
    if (m_done < m_word.text.size()) add({m_done, m_word.text.size()}, m_invert);
    give();
  }

 private:
  /// A place where the pattern was found, or what stands between two of them.
  void add(ByteRange range, bool matched) {
    if (m_behavior == SplitBehavior::Removed && matched) return;
    const bool joins = m_open && joinsLast(matched);
    m_lastMatched = matched;
    if (joins) {
      m_open->end = range.end;
      return;
    }
    give();
    m_open = range;
  }

  bool joinsLast(bool matched) const {
    switch (m_behavior) {
      case SplitBehavior::MergedWithPrevious:
        return matched && !m_lastMatched;
      case SplitBehavior::MergedWithNext:
        return !matched && m_lastMatched;
      case SplitBehavior::Contiguous:
        return matched == m_lastMatched;
      case SplitBehavior::Removed:
      case SplitBehavior::Isolated:
        break;
    }
    return false;
  }

  void give() {
    if (!m_open) return;
    m_words.take({m_word.text.substr(m_open->begin, m_open->end - m_open->begin),
                  m_word.beginsText && m_open->begin == 0});
    m_open.reset();
  }

  const Word& m_word;
  SplitBehavior m_behavior;
  bool m_invert;
  WordSink& m_words;
  std::size_t m_done = 0;
  std::optional<ByteRange> m_open;  ///< a word that others may join
  bool m_lastMatched = false;       ///< what was added last
};

void cut(const Word& word, const TextPattern& pattern, SplitBehavior behavior, bool invert,
         const std::stop_token& stop, WordSink& words) {
  WordCutter cutter(word, behavior, invert, words);
  pattern.find(word.text, stop, [&cutter](ByteRange place) { cutter.found(place); });
  cutter.finish();
}

class SplitPreTokenizer final : public PreTokenizer {
 public:
  SplitPreTokenizer(std::unique_ptr<const TextPattern> pattern, SplitBehavior behavior, bool invert)
      : m_pattern(std::move(pattern)), m_behavior(behavior), m_invert(invert) {}

  void apply(const Word& word, const std::stop_token& stop, WordSink& words) const override {
    cut(word, *m_pattern, m_behavior, m_invert, stop, words);
  }

 private:
  std::unique_ptr<const TextPattern> m_pattern;
  SplitBehavior m_behavior;
  bool m_invert;
};

class PrefixSpacePreTokenizer final : public PreTokenizer {
 public:
  void apply(const Word& word, const std::stop_token& /*stop*/, WordSink& words) const override {
    if (word.text.front() == ' ') {
      words.take(word);
    } else {
      const std::string spaced = " " + std::string(word.text);
      words.take({spaced, word.beginsText});
    }
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

  void apply(const Word& word, const std::stop_token& stop, WordSink& words) const override {
    std::string text = replaceAll(word.text, *m_space, m_mark, stop);
    const bool prepends =
        m_scheme == PrependScheme::Always || (m_scheme == PrependScheme::First && word.beginsText);
    if (prepends && text.compare(0, m_mark.size(), m_mark) != 0) text.insert(0, m_mark);
    const Word marked{text, word.beginsText};
    if (m_split) {
      cut(marked, *m_marks, SplitBehavior::MergedWithNext, false, stop, words);
    } else {
      words.take(marked);
    }
  }

 private:
  std::string m_mark;
  PrependScheme m_scheme;
  bool m_split;
  std::unique_ptr<const TextPattern> m_space;
  std::unique_ptr<const TextPattern> m_marks;
};

/// Gives what it takes to a step, whose words go on.
class StepSink final : public WordSink {
 public:
  StepSink(const PreTokenizer& step, const std::stop_token& stop, WordSink& next)
      : m_step(step), m_stop(stop), m_next(next) {}
  void take(const Word& word) override { m_step.apply(word, m_stop, m_next); }

 private:
  const PreTokenizer& m_step;
  const std::stop_token& m_stop;
  WordSink& m_next;
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

void preTokenize(const std::vector<std::unique_ptr<const PreTokenizer>>& steps, const Word& text,
                 const std::stop_token& stop, WordSink& words) {
  if (text.text.empty()) return;
  std::vector<StepSink> sinks;
  sinks.reserve(steps.size());
  WordSink* next = &words;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    next = &sinks.emplace_back(**step, stop, *next);
  next->take(text);
}

}  // namespace spanscope::text
