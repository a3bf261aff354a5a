// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/filled.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace spanscope::lesson {

namespace {

class LessonFiller {
 public:
  explicit LessonFiller(const LessonFacts& facts)
      : m_factsOf([&facts](std::uint32_t run) {
          return run == 0 || run > facts.size() ? nullptr : &facts[run - 1];
        }) {}

  FilledBlock operator()(const Prose& prose) const { return filled(prose); }

  FilledBlock operator()(const ActionList& list) {
    FilledActions actions;
    for (const Action& action : list.actions) {
      FilledAction& one = actions.emplace_back();
      one.line = written(action);
      one.effect = infoOf(action.kind).effect;
      one.isForLearner = list.isForLearner;
      if (action.kind == ActionKind::Run) one.run = ++m_runs;
    }
    return actions;
  }

  FilledBlock operator()(const Question& question) const {
    FilledQuestion filledQuestion;
    filledQuestion.kind = question.kind;
    filledQuestion.text = filled(question.text);
    if (question.why) filledQuestion.why = filled(*question.why);
    if (question.answer) {
      const Evaluated value = evaluate(*question.answer, m_factsOf);
      if (const auto* missing = std::get_if<Missing>(&value))
        filledQuestion.missing = missing->reason;
      else
        filledQuestion.answer = textOf(*question.answer, std::get<metrics::Value>(value));
    }
    for (const QuestionChoice& choice : question.choices) {
      const auto isRight = holds(choice.isRight, m_factsOf);
      const auto* said = std::get_if<bool>(&isRight);
      filledQuestion.choices.push_back({choice.text, said == nullptr ? std::nullopt : std::optional(*said)});
      if (said == nullptr) filledQuestion.missing = std::get<Missing>(isRight).reason;
    }
    return filledQuestion;
  }

  FilledBlock operator()(const ClaimList& list) const {
    FilledClaims claims;
    if (list.where) {
      const FilledClaim where = filled(*list.where);
      // If the condition is unknown, it is also unknown whether the claims must be true.
      if (!where.holds) claims.push_back(where);
      if (!where.holds.value_or(false)) return claims;
    }
    for (const Comparison& claim : list.claims) claims.push_back(filled(claim));
    return claims;
  }

 private:
  FilledClaim filled(const Comparison& claim) const {
    FilledClaim one;
    one.written = claim.written;
    const auto said = holds(claim, m_factsOf);
    if (const auto* missing = std::get_if<Missing>(&said)) {
      one.missing = missing->reason;
      return one;
    }
    one.holds = std::get<bool>(said);
    one.left = valueText(claim.left);
    one.right = valueText(claim.right);
    return one;
  }

  std::string valueText(const Expression& expression) const {
    const Evaluated value = evaluate(expression, m_factsOf);
    const auto* found = std::get_if<metrics::Value>(&value);
    return found == nullptr ? std::string() : textOf(expression, *found);
  }

  FilledProse filled(const Prose& prose) const {
    FilledProse out;
    if (prose.when) {
      const FilledClaim when = filled(*prose.when);
      if (!when.holds) {
        // Of the two texts, only one reports that the condition is unknown.
        if (!prose.isOtherwise)
          out.pieces.push_back(
              {.kind = FilledPiece::Kind::Missing, .text = when.missing, .metric = when.written});
        return out;
      }
      if (*when.holds == prose.isOtherwise) return out;
    }
    for (const ProsePiece& piece : prose.pieces) {
      if (const auto* text = std::get_if<std::string>(&piece)) {
        out.pieces.push_back({.kind = FilledPiece::Kind::Text, .text = *text});
        continue;
      }
      const Expression& expression = std::get<Expression>(piece);
      const Evaluated value = evaluate(expression, m_factsOf);
      const auto* missing = std::get_if<Missing>(&value);
      out.pieces.push_back(
          {.kind = missing != nullptr ? FilledPiece::Kind::Missing : FilledPiece::Kind::Metric,
           .text = missing != nullptr ? missing->reason : textOf(expression, std::get<metrics::Value>(value)),
           .metric = written(expression)});
    }
    return out;
  }

  FactsOf m_factsOf;
  std::uint32_t m_runs = 0;
};

std::string indented(const std::string& text, const std::string& by) {
  std::string out = by;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += by;
  }
  return out;
}

/// A terminal cannot show a part of the window. A link to such a part becomes its words.
std::string withoutTargets(const std::string& markdown) {
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t middle = markdown.find("](", at);
    const std::size_t end = markdown.find(')', middle);
    if (middle == std::string::npos || end == std::string::npos) return out + markdown.substr(at);
    const std::size_t begin = markdown.rfind('[', middle);
    const std::string_view target = std::string_view(markdown).substr(middle + 2, end - middle - 2);
    if (begin != std::string::npos && begin >= at && readLinkTarget(target))
      out += markdown.substr(at, begin - at) + markdown.substr(begin + 1, middle - begin - 1);
    else
      out += markdown.substr(at, end + 1 - at);
    at = end + 1;
  }
}

/// The width of a line in a terminal, in characters.
constexpr std::size_t kColumns = 100;

struct TextWriter {
  std::string& out;

  void operator()(const FilledProse& prose) const {
    if (prose.pieces.empty()) return;
    out += wrapped(withoutTargets(prose.markdown()), kColumns) + "\n\n";
  }
  void operator()(const FilledActions& actions) const {
    for (const FilledAction& action : actions) {
      out += (action.isForLearner ? "    you > " : "    > ") + action.line;
      if (action.run > 0) out += "   (run " + std::to_string(action.run) + ")";
      out += '\n';
    }
    out += '\n';
  }
  void operator()(const FilledQuestion& question) const {
    out += indented(wrapped(withoutTargets(question.text.markdown()), kColumns), "  ? ") + '\n';
    for (const FilledChoice& choice : question.choices)
      out += std::string("    ") +
             (!choice.isRight   ? "–"
              : *choice.isRight ? "✓"
                                : "·") +
             ' ' + choice.text + '\n';
    if (question.choices.empty() && !question.answer.empty())
      out += std::string("    → ") + (question.kind == Question::Kind::Block ? "block " : "") +
             question.answer + '\n';
    if (!question.missing.empty()) out += "    → not known: " + question.missing + '\n';
    if (!question.why.pieces.empty())
      out += indented(wrapped(withoutTargets(question.why.markdown()), kColumns), "    ") + '\n';
    out += '\n';
  }
  void operator()(const FilledClaims& claims) const {
    if (claims.empty()) return;
    for (const FilledClaim& claim : claims) {
      out += std::string("    ") + (!claim.holds ? "–" : *claim.holds ? "✓" : "✗") + ' ' + claim.written;
      if (!claim.holds)
        out += "   (not known: " + claim.missing + ")";
      else
        out += "   (" + claim.left + ", " + claim.right + ")";
      out += '\n';
    }
    out += '\n';
  }
};

}  // namespace

std::string FilledProse::markdown() const {
  std::string text;
  for (const FilledPiece& piece : pieces)
    text += piece.kind == FilledPiece::Kind::Missing ? "[not known: " + piece.text + "]" : piece.text;
  return text;
}

bool FilledQuestion::isAnswered() const {
  if (kind != Question::Kind::Choice) return !answer.empty();
  return missing.empty() && std::ranges::count_if(choices, [](const FilledChoice& choice) {
                              return choice.isRight.value_or(false);
                            }) == 1;
}

std::vector<std::string> FilledLesson::failures() const {
  std::vector<std::string> found;
  for (const FilledStep& step : steps) {
    const std::string where = "step " + std::to_string(step.number) + ": ";
    for (const FilledBlock& block : step.blocks) {
      if (const auto* prose = std::get_if<FilledProse>(&block)) {
        for (const FilledPiece& piece : prose->pieces) {
          if (piece.kind == FilledPiece::Kind::Missing)
            found.push_back(where + "{" + piece.metric + "} is not known: " + piece.text);
        }
      } else if (const auto* question = std::get_if<FilledQuestion>(&block)) {
        for (const FilledPiece& piece : question->why.pieces) {
          if (piece.kind == FilledPiece::Kind::Missing)
            found.push_back(where + "{" + piece.metric + "} is not known: " + piece.text);
        }
        if (question->isAnswered()) continue;
        found.push_back(where + "the question \"" + question->text.markdown() + "\" " +
                        (question->missing.empty()
                             ? /*id:not-exactly-right*/ "does not have exactly one right choice"
                             : "is not answered: " + question->missing));
      } else if (const auto* claims = std::get_if<FilledClaims>(&block)) {
        for (const FilledClaim& claim : *claims) {
          if (claim.holds.value_or(false)) continue;
          found.push_back(where + claim.written +
                          (claim.holds ? " does not hold: " + claim.left + " and " + claim.right
                                       : " is not known: " + claim.missing));
        }
      }
    }
  }
  return found;
}

FilledLesson fill(const Lesson& lesson, const LessonFacts& facts) {
  FilledLesson filled{
      .title = lesson.head.title, .minutes = lesson.head.minutes, .after = lesson.head.after, .steps = {}};
  LessonFiller filler(facts);
  for (const Step& step : lesson.steps) {
    FilledStep& one = filled.steps.emplace_back();
    one.number = step.number;
    one.title = step.title;
    for (const Block& block : step.blocks) one.blocks.push_back(std::visit(filler, block));
  }
  return filled;
}

std::string textOf(const FilledLesson& lesson) {
  std::string out = "# " + lesson.title + "\n\n" + std::to_string(lesson.minutes) +
                    (lesson.minutes == 1 ? " minute" : " minutes") + ". After it: " + lesson.after + "\n\n";
  for (const FilledStep& step : lesson.steps) {
    out += "## " + std::to_string(step.number) + ". " + step.title + "\n\n";
    for (const FilledBlock& block : step.blocks) std::visit(TextWriter{out}, block);
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

namespace {

bool isFence(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  return line.substr(begin).starts_with("```") || line.substr(begin).starts_with("~~~");
}

/// Characters before the text of a list's item: "- ", "  12. "; 0: the line begins no item.
std::size_t markerLength(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return 0;
  std::size_t end = begin;
  while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
  const bool isNumber = end > begin && end < line.size() && (line[end] == '.' || line[end] == ')');
  const bool isMark = end == begin && (line[end] == '-' || line[end] == '*' || line[end] == '+');
  if ((!isNumber && !isMark) || end + 1 >= line.size() || line[end + 1] != ' ') return 0;
  return end + 2;
}

/// Whether a line is a separate block: a heading, a row of a table, a quotation, or code.
bool standsAlone(std::string_view line) {
  return line.starts_with('#') || line.starts_with('|') || line.starts_with('>') || line.starts_with("    ");
}

class Wrapper {
 public:
  explicit Wrapper(std::size_t columns) : m_columns(columns) {}

  std::string wrap(std::string_view markdown) {
    bool isCode = false;
    while (!markdown.empty()) {
      const std::size_t end = std::min(markdown.find('\n'), markdown.size());
      const std::string_view line = markdown.substr(0, end);
      const bool endsLine = end < markdown.size();
      markdown.remove_prefix(std::min(end + 1, markdown.size()));
      const bool fence = isFence(line);
      if (isCode || fence || line.find_first_not_of(' ') == std::string_view::npos ||
          (m_words.empty() && standsAlone(line))) {
        flush();
        m_out += line;
        if (endsLine) m_out += '\n';
        isCode = isCode != fence;
        continue;
      }
      take(line);
      if (line.ends_with("  ") || line.ends_with('\\')) flush();
      if (markdown.empty()) {
        flush();
        if (!endsLine) m_out.pop_back();
      }
    }
    return std::move(m_out);
  }

 private:
  void take(std::string_view line) {
    if (const std::size_t marker = markerLength(line); marker > 0) {
      flush();
      m_first = line.substr(0, marker);
      m_rest = std::string(marker, ' ');
      line.remove_prefix(marker);
    } else if (m_words.empty()) {
      m_first = m_rest = line.substr(0, line.find_first_not_of(' '));
    }
    if (!m_words.empty()) m_words += ' ';
    m_words += line.substr(std::min(line.find_first_not_of(' '), line.size()));
  }

  void flush() {
    std::string_view words = m_words;
    std::string line = m_first;
    std::size_t used = countCharacters(line);
    bool isEmpty = true;
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      const std::string_view word = words.substr(0, end);
      words.remove_prefix(std::min(end + 1, words.size()));
      if (word.empty()) continue;
      const std::size_t length = countCharacters(word);
      if (!isEmpty && used + 1 + length > m_columns) {
        m_out += line + '\n';
        line = m_rest;
        used = countCharacters(line);
        isEmpty = true;
      }
      if (!isEmpty) line += ' ';
      line += word;
      used += length + (isEmpty ? 0 : 1);
      isEmpty = false;
    }
    if (!isEmpty) m_out += line + '\n';
    m_words.clear();
    m_first.clear();
    m_rest.clear();
  }

  std::size_t m_columns;
  std::string m_out;
  std::string m_words;  ///< of the current paragraph or item
  std::string m_first;  ///< before its first line
  std::string m_rest;   ///< and before the others
};

}  // namespace

std::string wrapped(std::string_view markdown, std::size_t columns) {
  return Wrapper(columns).wrap(markdown);
}

}  // namespace spanscope::lesson
