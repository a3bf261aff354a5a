// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/problem_sentence.h"

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

namespace spanscope {

namespace {

bool endsSentence(std::string_view text) {
  return text.ends_with('.') || text.ends_with('?') || text.ends_with('!') || text.ends_with("…");
}

/// Whether a part is a whole sentence, not a noun phrase.
bool isSentence(std::string_view part) {
  const char first = part.empty() ? ' ' : part.front();
  return ((first >= 'A' && first <= 'Z') || first == '"') && endsSentence(part);
}

/// Returns the text with a capital letter if its first word is an ordinary word, not a name such as
/// "max_tokens".
std::string capitalized(std::string_view text) {
  std::string result(text);
  const auto isLetter = [](char character) { return character >= 'a' && character <= 'z'; };
  const std::string_view word = text.substr(0, text.find_first_of(" ,:;?!"));
  if (!word.empty() && std::ranges::all_of(word, isLetter))
    result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

/// Whether a sentence ends within the text: a letter, a period, a space and a capital letter. A digit before
/// the period can be the number of a heading, as in "## 1. Title".
bool hasBorder(std::string_view text) {
  for (std::size_t at = text.find(". "); at != std::string_view::npos; at = text.find(". ", at + 1)) {
    const bool isWord = at > 0 && text[at - 1] >= 'a' && text[at - 1] <= 'z';
    if (isWord && at + 2 < text.size() && text[at + 2] >= 'A' && text[at + 2] <= 'Z') return true;
  }
  return false;
}

/// Joins sentences. Counts them, because a single sentence has no final period.
class Sentences {
 public:
  /// Adds a sentence that may lack its period.
  void add(std::string_view sentence) {
    if (sentence.empty()) return;
    if (!m_text.empty()) {
      if (!endsSentence(m_text)) m_text += '.';
      m_text += ' ';
      m_isSeveral = true;
    }
    m_text += sentence;
  }

  std::string text() && {
    if ((m_isSeveral || hasBorder(m_text)) && !endsSentence(m_text)) m_text += '.';
    return std::move(m_text);
  }

 private:
  std::string m_text;
  bool m_isSeveral = false;
};

}  // namespace

std::string problemSentence(std::string_view found, std::string_view expected, std::string_view hint,
                            Severity severity) {
  const std::string wants = severity == Severity::Error ? "needs " : "expects ";
  std::string first =
      isSentence(found) || found.empty() ? std::string(found) : "Spanscope found " + std::string(found);
  std::string second(expected);
  if (!expected.empty() && !isSentence(expected)) {
    const bool isJoined = !first.empty() && !endsSentence(first);
    second = (isJoined ? ", but " : "Spanscope ") + wants + second;
    if (isJoined) first += std::exchange(second, {});
  }
  Sentences sentences;
  sentences.add(first);
  sentences.add(second);
  sentences.add(capitalized(hint));
  return std::move(sentences).text();
}

std::string withPeriod(std::string text) {
  if (!text.empty() && !endsSentence(text)) text += '.';
  return text;
}

std::string systemReport(int number) {
  return /*id:system-reports*/ "The system reports: " + std::generic_category().message(number) + ".";
}

}  // namespace spanscope
