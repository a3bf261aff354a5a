// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/ascii.h"
#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/lesson/lesson.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace spanscope::lesson {
namespace {

/// A line without its line break.
struct Line {
  std::string_view text;
  Offset offset = 0;
};

std::vector<Line> linesOf(std::string_view text) {
  std::vector<Line> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({line, begin});
    begin = end + 1;
  }
  return lines;
}

bool isGap(char c) {
  return c == ' ' || c == '\t';
}

bool isBlankLine(std::string_view line) {
  return std::ranges::all_of(line, isGap);
}

/// The line without spaces around it.
Line bare(Line line) {
  while (!line.text.empty() && isGap(line.text.front())) {
    line.text.remove_prefix(1);
    ++line.offset;
  }
  while (!line.text.empty() && isGap(line.text.back())) line.text.remove_suffix(1);
  return line;
}

/// The words of a line. A text in double quotes counts as one word.
std::vector<Line> wordsOf(Line line) {
  std::vector<Line> words;
  while (!(line = bare(line)).text.empty()) {
    const bool isQuoted = line.text.front() == '"';
    std::size_t end = isQuoted ? line.text.find('"', 1) : line.text.find_first_of(" \t");
    end = std::min(end, line.text.size());
    const std::size_t begin = isQuoted ? 1 : 0;
    words.push_back({line.text.substr(begin, end - begin), line.offset + begin});
    end = std::min(end + (isQuoted ? 1 : 0), line.text.size());
    line.text.remove_prefix(end);
    line.offset += end;
  }
  return words;
}

/// Finds the bar between the text of a choice and its comparison. This bar is the last bar that is not in a
/// quoted text of the comparison. npos: there is none.
std::size_t barOfChoice(std::string_view text) {
  bool isWithin = false;
  for (std::size_t i = text.size(); i > 0; --i) {
    if (text[i - 1] == '"') isWithin = !isWithin;
    if (text[i - 1] == '|' && !isWithin) return i - 1;
  }
  // If a quote is not closed, the parser of the comparison reports this fault.
  return text.rfind('|');
}

class LessonReader {
 public:
  explicit LessonReader(std::string_view text) : m_text(text), m_lines(linesOf(text)) {}

  ReadLesson read() {
    readHead();
    while (!atEnd()) readLine();
    endStep();
    if (m_lesson.steps.empty())
      fault(m_text.size(), "no step",
            /*id:heading-title-first*/ "a heading \"## 1. Title\" with the first step below it");
    return {std::move(m_lesson), std::move(m_faults)};
  }

 private:
  bool atEnd() const { return m_next >= m_lines.size() || m_faults.size() >= kMaxFaults; }
  const Line& line() const { return m_lines[m_next]; }

  void fault(Offset offset, std::string found, std::string expected, std::string hint = {}) {
    m_faults.push_back({offset, std::move(found), std::move(expected), std::move(hint)});
  }
  void warn(Offset offset, std::string found, std::string expected, std::string hint = {}) {
    m_faults.push_back({offset, std::move(found), std::move(expected), std::move(hint), true});
  }

  // ---- head --------------------------------------------------------------------------------

  void readHead() {
    while (!atEnd() && isBlankLine(line().text)) ++m_next;
    if (atEnd() || bare(line()).text != "---") {
      fault(atEnd() ? m_text.size() : line().offset, atEnd() ? "an empty file" : query::inQuotes(line().text),
            /*id:head-lesson-begins*/ "the front matter of the lesson, which begins with a line ---");
      return;
    }
    std::set<std::string, std::less<>> seen;
    const Offset begin = line().offset;
    for (++m_next; !atEnd() && bare(line()).text != "---"; ++m_next) {
      if (!isBlankLine(line().text)) readHeadLine(bare(line()), seen);
    }
    if (atEnd()) {
      fault(begin, /*id:head-without-end*/ "front matter without a closing line ---",
            /*id:line-after-front-matter*/ "a line --- after the front matter");
      return;
    }
    for (const char* key : {"title", "minutes", "after"}) {
      if (!seen.contains(key))
        fault(line().offset, "front matter without \"" + std::string(key) + "\"",
              "a line \"" + std::string(key) + ": …\"");
    }
    ++m_next;
  }

  void readHeadLine(const Line& whole, std::set<std::string, std::less<>>& seen) {
    const std::size_t colon = whole.text.find(':');
    const std::string key(whole.text.substr(0, colon));
    if (colon == std::string_view::npos) {
      fault(whole.offset, query::inQuotes(whole.text), "a key of the front matter, a colon and a value");
      return;
    }
    const Line value = bare({whole.text.substr(colon + 1), whole.offset + colon + 1});
    if (!seen.insert(key).second)
      fault(whole.offset, "\"" + key + /*id:second-time*/ "\" for the second time", "each key once");
    Head& head = m_lesson.head;
    if (key == "title" || key == "after") {
      if (value.text.empty()) fault(value.offset, "nothing", "a text");
      (key == "title" ? head.title : head.after) = std::string(value.text);
    } else if (key == "minutes") {
      const auto [end, error] =
          std::from_chars(value.text.data(), value.text.data() + value.text.size(), head.minutes);
      const bool isWhole = error == std::errc() && end == value.text.data() + value.text.size();
      if (!isWhole || head.minutes < 1 || head.minutes > kMaxMinutes)
        fault(value.offset, query::inQuotes(value.text),
              /*id:whole-number-lesson-reader*/ "a whole number from 1 to " + std::to_string(kMaxMinutes));
    } else if (key == "model") {
      const std::vector<Line> words = wordsOf(value);
      if (words.size() == 1)
        head.model = {std::string(words[0].text), words[0].offset};
      else
        fault(value.offset, query::inQuotes(value.text), "bundled, any, or a path in the lesson's folder");
    } else if (key == "queries") {
      for (const Line& word : wordsOf(value)) {
        if (head.queries.size() == kMaxQueries)
          fault(word.offset, "more than " + counted(kMaxQueries, "query", "queries"), "fewer");
        if (head.queries.size() >= kMaxQueries) break;
        head.queries.push_back({std::string(word.text), word.offset});
      }
    } else if (key == "settings") {
      for (const Line& word : wordsOf(value)) {
        const std::size_t sign = word.text.find('=');
        if (sign == std::string_view::npos || sign == 0)
          fault(word.offset, query::inQuotes(word.text), argumentHelp(ArgumentKind::Assignment));
        else
          head.settings.push_back(
              {{std::string(word.text.substr(0, sign)), std::string(word.text.substr(sign + 1))},
               word.offset});
      }
    } else {
      fault(whole.offset, "the word " + query::inQuotes(key),
            /*id:title-minutes-after*/ "title, minutes, after, model, queries or settings");
    }
  }

  // ---- steps -------------------------------------------------------------------------------

  Step* step() { return m_lesson.steps.empty() ? nullptr : &m_lesson.steps.back(); }

  void readLine() {
    const Line here = line();
    if (here.text.starts_with("```")) {
      readFence();
      return;
    }
    ++m_next;
    if (here.text.starts_with("## ")) {
      readHeading(here);
    } else if (here.text.starts_with("#")) {
      const bool isLong = here.text.find_first_not_of('#') != std::string_view::npos;
      fault(here.offset, isLong ? "the heading " + query::inQuotes(here.text) : "an empty heading",
            /*id:headings-steps-title*/ "only headings of steps, such as \"## 2. Title\"");
    } else if (isBlankLine(here.text)) {
      if (!m_paragraphs.empty()) m_paragraphs.push_back(here);
    } else if (step() == nullptr) {
      if (!m_saidBeforeSteps)
        fault(here.offset, /*id:text-before-first*/ "text before the first step",
              "a heading \"## 1. Title\"");
      m_saidBeforeSteps = true;
    } else {
      m_paragraphs.push_back(here);
    }
  }

  void readHeading(const Line& here) {
    endStep();
    const Line title = bare({here.text.substr(3), here.offset + 3});
    Step next{.number = m_lesson.steps.size() + 1, .title = {}, .blocks = {}, .offset = here.offset};
    const std::string expected = std::to_string(next.number) + ".";
    if (!title.text.starts_with(expected + " ")) {
      const std::string_view found = title.text.substr(0, title.text.find(' '));
      fault(title.offset, query::inQuotes(found),
            "\"" + expected + /*id:title-steps-numbered*/ "\" and the title: steps are numbered");
    }
    std::string_view words = title.text;
    if (const std::size_t dot = words.find(". ");
        dot != std::string_view::npos &&
        std::all_of(words.begin(), words.begin() + static_cast<long>(dot), isDigit))
      words.remove_prefix(dot + 2);
    next.title = std::string(words);
    if (m_lesson.steps.size() == kMaxSteps)
      fault(here.offset, "more than " + counted(kMaxSteps, "step"), "fewer");
    if (m_lesson.steps.size() >= kMaxSteps) {
      m_next = m_lines.size();
      return;
    }
    m_lesson.steps.push_back(std::move(next));
  }

  void endStep() {
    endProse();
    Step* const last = step();
    if (last == nullptr || m_stepsEnded == m_lesson.steps.size()) return;
    m_stepsEnded = m_lesson.steps.size();
    const bool hasText = std::ranges::any_of(last->blocks, [](const Block& block) {
      return std::holds_alternative<Prose>(block) || std::holds_alternative<Question>(block);
    });
    if (!hasText)
      fault(last->offset, /*id:step-without-text*/ "a step without text",
            /*id:learner-reads*/ "text for the learner");
    if (m_stepText > kMaxStepText) {
      fault(last->offset, counted(m_stepText, "character") + /*id:text-step*/ " of text in one step",
            "at most " + std::to_string(kMaxStepText) + ": one idea per step");
    }
    m_stepText = 0;
    m_stepActions = 0;
  }

  void addBlock(Block block, Offset offset) {
    Step* const last = step();
    if (last == nullptr) {
      if (!m_saidBeforeSteps) fault(offset, "a block before the first step", "a heading \"## 1. Title\"");
      m_saidBeforeSteps = true;
      return;
    }
    if (last->blocks.size() == kMaxBlocks)
      fault(offset, "more than " + counted(kMaxBlocks, "block") + " in one step", "two steps");
    last->blocks.push_back(std::move(block));
  }

  // ---- fenced blocks -----------------------------------------------------------------------

  void readFence() {
    const Line begin = line();
    const std::string_view kind = bare({begin.text.substr(3), 0}).text;
    std::vector<Line> inside;
    for (++m_next; m_next < m_lines.size() && !line().text.starts_with("```"); ++m_next)
      inside.push_back(line());
    if (m_next >= m_lines.size()) {
      fault(begin.offset, /*id:fenced-block-without*/ "a fenced block without a closing line",
            "a line ``` after it");
      return;
    }
    const Line end = line();
    ++m_next;
    if (kind != "do" && kind != "try" && kind != "question" && kind != "holds" && kind != "when") {
      // Other blocks belong to the text around them.
      if (step() == nullptr) return;
      m_paragraphs.push_back(begin);
      m_paragraphs.insert(m_paragraphs.end(), inside.begin(), inside.end());
      m_paragraphs.push_back(end);
      return;
    }
    endProse();
    if (std::ranges::all_of(inside, [](const Line& one) { return isBlankLine(one.text); })) {
      fault(begin.offset, "an empty block",
            kind == "question" ? "a question" : /*id:a-line-in*/ "a line in the block");
      return;
    }
    if (kind == "when") {
      readConditional(begin, inside);
      return;
    }
    std::erase_if(inside, [](const Line& one) { return isBlankLine(one.text); });
    if (kind == "do" || kind == "try")
      readActions(begin, inside, kind == "try");
    else if (kind == "question")
      readQuestion(begin, inside);
    else
      readClaims(begin, inside);
  }

  void readActions(const Line& begin, const std::vector<Line>& lines, bool isForLearner) {
    ActionList list{.actions = {}, .isForLearner = isForLearner, .offset = begin.offset};
    for (const Line& one : lines) {
      if (++m_stepActions == kMaxActions + 1)
        fault(one.offset, "more than " + counted(kMaxActions, "action") + " in one step", "fewer");
      if (m_stepActions > kMaxActions) break;
      const Line action = bare(one);
      std::optional<Action> read = readAction(action.text, action.offset, m_faults);
      if (!read) continue;
      if (isForLearner && !isForLearners(read->kind))
        fault(action.offset, query::inQuotes(action.text) + " in a block \"try\"",
              "an action of the learner: set, edit, swap or run");
      list.actions.push_back(std::move(*read));
    }
    addBlock(std::move(list), begin.offset);
  }

  void readClaims(const Line& begin, const std::vector<Line>& lines) {
    ClaimList list{.where = std::nullopt, .claims = {}, .offset = begin.offset};
    constexpr std::string_view kWhere = "where ";
    const Line& first = lines.front();
    for (const Line& one : lines) {
      Line comparison = bare(one);
      const bool isWhere = comparison.text.starts_with(kWhere);
      if (isWhere && one.offset != first.offset)
        fault(comparison.offset, /*id:where-behind*/ "\"where\" after a comparison",
              /*id:where-first-line*/ "\"where\" only in the first line");
      if (isWhere) {
        comparison.text.remove_prefix(kWhere.size());
        comparison.offset += kWhere.size();
      }
      std::optional<Comparison> claim = readComparison(comparison.text, comparison.offset, m_faults);
      if (!claim) continue;
      visitMetrics(*claim, [&](const MetricRef& ref) {
        if (ref.metric->isTime())
          fault(ref.offset, /*id:time-must-hold*/ "a time in a claim",
                /*id:counts-times-differ*/ "a count, because times differ from run to run");
      });
      if (isWhere)
        list.where = std::move(*claim);
      else
        list.claims.push_back(std::move(*claim));
    }
    if (list.where && list.claims.empty())
      fault(first.offset, "\"where\" alone", /*id:comparison-below*/ "a comparison after this line");
    addBlock(std::move(list), begin.offset);
  }

  /// Reads a comparison, the text for a true comparison, and after a line "otherwise" the text for a false
  /// one.
  void readConditional(const Line& begin, const std::vector<Line>& lines) {
    const auto first = std::ranges::find_if(lines, [](const Line& one) { return !isBlankLine(one.text); });
    const Line comparison = bare(*first);
    const std::optional<Comparison> when = readComparison(comparison.text, comparison.offset, m_faults);
    const auto other =
        std::find_if(first + 1, lines.end(), [](const Line& one) { return bare(one).text == "otherwise"; });
    const auto add = [&](auto from, auto to, bool isOtherwise) {
      std::vector<Line> text(from, to);
      while (!text.empty() && isBlankLine(text.front().text)) text.erase(text.begin());
      while (!text.empty() && isBlankLine(text.back().text)) text.pop_back();
      if (text.empty()) {
        fault(comparison.offset, /*id:when-without-text*/ "a condition without text",
              /*id:text-after-condition*/ "text after the comparison, and after \"otherwise\"");
        return;
      }
      Prose prose = proseOf(text);
      prose.when = when;
      prose.isOtherwise = isOtherwise;
      if (when) addBlock(std::move(prose), begin.offset);
    };
    add(first + 1, other, false);
    if (other != lines.end()) add(other + 1, lines.end(), true);
  }

  void readQuestion(const Line& begin, const std::vector<Line>& lines) {
    Question question;
    question.offset = begin.offset;
    std::vector<Line> text;
    bool hasKind = false;
    const auto isOf = [&](Question::Kind kind, const Line& where) {
      if (hasKind && (question.kind != kind || kind != Question::Kind::Choice)) {
        fault(where.offset, "a second answer",
              /*id:answer-several-lines*/ "one answer, or several lines of \"choice:\"");
        return false;
      }
      question.kind = kind;
      hasKind = true;
      return true;
    };
    for (const Line& one : lines) {
      const Line here = bare(one);
      const std::size_t colon = here.text.find(':');
      const std::string_view key = here.text.substr(0, colon == std::string_view::npos ? 0 : colon);
      const Line value = key.empty() ? here : bare({here.text.substr(colon + 1), here.offset + colon + 1});
      if (key == "number" || key == "block") {
        const auto kind = key == "number" ? Question::Kind::Number : Question::Kind::Block;
        if (!isOf(kind, here)) continue;
        question.answer = readExpression(value.text, value.offset, m_faults);
        if (question.answer) checkAnswer(question, value.offset);
      } else if (key == "choice") {
        if (isOf(Question::Kind::Choice, here)) readChoice(question, value);
      } else if (key == "why") {
        if (question.why) fault(here.offset, "a second reason", "one line why:");
        question.why = proseOf({value});
        if (value.text.empty()) fault(value.offset, "an empty reason", "a sentence after why:");
      } else if (hasKind) {
        fault(here.offset, query::inQuotes(here.text), "number:, block:, choice: or why: after the question");
      } else {
        text.push_back(here);
      }
    }
    if (text.empty())
      fault(begin.offset, /*id:question-without-text*/ "a question without a text",
            /*id:question-above-answer*/ "the question before the answer");
    if (!hasKind) {
      fault(begin.offset, /*id:question-without-answer*/ "a question without an answer",
            /*id:line-number-block*/ "a line number:, block: or choice: after the question",
            /*id:run-answers-number*/ "The run gives the answer, such as \"number: run 2: computed tokens\"");
    } else if (question.kind == Question::Kind::Choice && question.choices.size() < 2 && !m_isChoiceFaulty) {
      fault(begin.offset, "one choice", /*id:two-choices*/ "two or more choices");
    }
    m_isChoiceFaulty = false;
    question.text = proseOf(text);
    addBlock(std::move(question), begin.offset);
  }

  void checkAnswer(const Question& question, Offset offset) {
    using metrics::Unit;
    const Unit unit = question.answer->unit;
    const bool wantsBlock = question.kind == Question::Kind::Block;
    if (wantsBlock == (unit == Unit::Place) && unit != Unit::Text) {
      bool hasMetric = false;
      visitMetrics(*question.answer, [&](const MetricRef&) { hasMetric = true; });
      if (!hasMetric)
        fault(offset, /*id:number-typed*/ "a constant number",
              /*id:figure-run-run*/ "a metric of a run, because the run gives the answer");
      return;
    }
    fault(offset, "a metric in " + std::string(metrics::unitName(unit)),
          wantsBlock ? /*id:answer-is-a-block*/ "a block, such as \"run 2: first missing block\""
                     : /*id:answer-is-a-number*/ "a number, such as \"run 2: computed tokens\"");
  }

  void readChoice(Question& question, const Line& value) {
    const std::size_t bar = barOfChoice(value.text);
    if (bar == std::string_view::npos || bare({value.text.substr(0, bar), 0}).text.empty()) {
      fault(value.offset, query::inQuotes(value.text),
            /*id:text-comparison-makes*/ "a text, | and the comparison that is true for the right choice");
      m_isChoiceFaulty = true;
      return;
    }
    if (question.choices.size() == kMaxChoices)
      fault(value.offset, "more than " + counted(kMaxChoices, "choice"), "fewer");
    if (question.choices.size() >= kMaxChoices) return;
    std::optional<Comparison> isRight =
        readComparison(value.text.substr(bar + 1), value.offset + bar + 1, m_faults);
    if (!isRight) {
      m_isChoiceFaulty = true;
      return;
    }
    question.choices.push_back({std::string(bare({value.text.substr(0, bar), 0}).text), std::move(*isRight)});
  }

  // ---- text --------------------------------------------------------------------------------

  void endProse() {
    while (!m_paragraphs.empty() && isBlankLine(m_paragraphs.back().text)) m_paragraphs.pop_back();
    if (m_paragraphs.empty()) return;
    const Offset offset = m_paragraphs.front().offset;
    Prose prose = proseOf(m_paragraphs);
    m_paragraphs.clear();
    addBlock(std::move(prose), offset);
  }

  Prose proseOf(const std::vector<Line>& lines) {
    Prose prose;
    if (lines.empty()) return prose;
    prose.offset = lines.front().offset;
    std::string text;
    bool isCode = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) text += '\n';
      m_stepText += countCharacters(lines[i].text);
      if (lines[i].text.starts_with("```")) {
        isCode = !isCode;
        text += lines[i].text;
      } else if (isCode) {
        text += lines[i].text;
        warnOfCode(lines[i]);
      } else {
        readInline(lines[i], i == 0 || isBlankLine(lines[i - 1].text), text, prose);
      }
    }
    if (!text.empty()) prose.pieces.emplace_back(std::move(text));
    return prose;
  }

  /// Warns about a metric in code. The lesson shows such a metric unchanged.
  void warnOfCode(const Line& code) {
    for (std::size_t at = code.text.find('{'); at != std::string_view::npos;
         at = code.text.find('{', at + 1)) {
      const std::size_t end = code.text.find('}', at);
      if (end == std::string_view::npos) return;
      std::vector<Fault> none;
      const auto expression = readExpression(code.text.substr(at + 1, end - at - 1), 0, none);
      bool hasMetric = false;
      if (expression) visitMetrics(*expression, [&hasMetric](const MetricRef&) { hasMetric = true; });
      if (!hasMetric) continue;
      warn(code.offset + at, /*id:figure-code-shown*/ "a metric in code, which the lesson shows unchanged",
           "the metric without backticks");
      return;
    }
  }

  /// Warns about a metric at the beginning of a line, before a point. Markdown reads the number of such a
  /// metric as a list entry. `opensParagraph`: the line is the first of a paragraph, where text after the
  /// point is not required.
  void warnOfList(const Expression& metric, std::string_view before, std::string_view behind, Offset offset,
                  bool opensParagraph) {
    using metrics::Unit;
    const bool isWhole = metric.unit == Unit::Number || metric.unit == Unit::Tokens ||
                         metric.unit == Unit::Blocks || metric.unit == Unit::Place;
    if (!isWhole || behind.empty() || (behind[0] != '.' && behind[0] != ')')) return;
    const bool isMarker = behind.size() == 1 ? opensParagraph : isGap(behind[1]);
    // A quotation or a list entry begins a new line.
    const std::size_t dot = before.find_last_not_of(" 0123456789");
    const bool isNumbered = dot != std::string_view::npos && before[dot] == '.' && dot > 0 &&
                            before.find_first_not_of(" 0123456789") == dot;
    const bool begins = before.find_first_not_of(" >-+*") == std::string_view::npos &&
                        (before.empty() || isGap(before.back()) || before.back() == '>');
    if (!isMarker || (!begins && !isNumbered)) return;
    warn(
        offset,
        std::string("a metric before \"") + behind[0] + /*id:beginning-line*/ "\" at the beginning of a line",
        "a word before the metric", "Markdown reads a number and a point as a list entry");
  }

  void readInline(const Line& one, bool opensParagraph, std::string& text, Prose& prose) {
    const std::string_view line = one.text;
    std::size_t at = 0;
    // The number of a list entry is no metric.
    if (const std::size_t dot = line.find_first_not_of(" 0123456789");
        dot != std::string_view::npos && dot > 0 && line.substr(dot).starts_with(". ") &&
        isDigit(line[dot - 1])) {
      text += line.substr(0, dot);
      at = dot;
    }
    bool saidDigit = false;
    while (at < line.size()) {
      const char c = line[at];
      const Offset offset = one.offset + at;
      if (c == '\\' && at + 1 < line.size() && (line[at + 1] == '{' || line[at + 1] == '}')) {
        text += line[at + 1];
        at += 2;
      } else if (c == '`') {
        const std::size_t end = line.find('`', at + 1);
        const std::size_t stop = end == std::string_view::npos ? line.size() : end + 1;
        text += line.substr(at, stop - at);
        if (end != std::string_view::npos) warnOfCode({line.substr(at, stop - at), offset});
        at = stop;
      } else if (c == '{') {
        const std::size_t end = line.find('}', at);
        if (end == std::string_view::npos) {
          fault(offset, /*id:brace-without-end*/ "an opening brace without a closing brace",
                /*id:same-line-brace*/ "} in the same line, or \\{ for a brace that is shown");
          return;
        }
        std::optional<Expression> metric =
            readExpression(line.substr(at + 1, end - at - 1), offset + 1, m_faults);
        if (metric) {
          warnOfList(*metric, line.substr(0, at), line.substr(end + 1), offset, opensParagraph);
          if (!text.empty()) prose.pieces.emplace_back(std::exchange(text, {}));
          prose.pieces.emplace_back(std::move(*metric));
        }
        at = end + 1;
      } else if (c == '}') {
        fault(offset, "a closing brace", /*id:brace-shown*/ "\\} for a brace that is shown");
        ++at;
      } else if (c == ']' && line.substr(at).starts_with("](")) {
        const std::size_t end = std::min(line.find(')', at), line.size());
        const std::string_view where = line.substr(at + 2, end - at - 2);
        readLink(where, offset + 2, prose);
        text += line.substr(at, end - at);
        at = end;
      } else {
        if (isDigit(c) && !saidDigit) {
          warn(offset, /*id:digit-sentence*/ "a digit in a sentence",
               /*id:figure-name-braces*/ "the name of a metric, in braces",
               /*id:no-figure-run*/ "Other numbers are written in `code`");
          saidDigit = true;
        }
        text += c;
        ++at;
      }
    }
  }

  void readLink(std::string_view where, Offset offset, Prose& prose) {
    if (const std::size_t brace = where.find('{'); brace != std::string_view::npos) {
      fault(offset + brace, /*id:figure-address-link*/ "a metric in a link address",
            "an address without a metric");
      return;
    }
    if (where.starts_with("https://")) return;
    if (std::optional<Target> target = readLinkTarget(where)) {
      prose.links.push_back({std::move(*target), offset});
      return;
    }
    fault(offset, "the link " + query::inQuotes(where),
          std::string(argumentHelp(ArgumentKind::Target)) +
              /*id:dock-id-address*/ ", dock:ID, or an address that begins with https://");
  }

  std::string_view m_text;
  std::vector<Line> m_lines;
  std::size_t m_next = 0;
  Lesson m_lesson;
  std::vector<Fault> m_faults;
  std::vector<Line> m_paragraphs;  ///< of the current text
  std::size_t m_stepText = 0;      ///< characters
  std::size_t m_stepActions = 0;
  std::size_t m_stepsEnded = 0;
  bool m_saidBeforeSteps = false;
  bool m_isChoiceFaulty = false;
};

}  // namespace

std::uint32_t Lesson::runs() const {
  std::uint32_t count = 0;
  for (const Step& step : steps) {
    for (const Block& block : step.blocks) {
      const auto* list = std::get_if<ActionList>(&block);
      if (list == nullptr) continue;
      for (const Action& action : list->actions) count += action.kind == ActionKind::Run ? 1U : 0U;
    }
  }
  return count;
}

ReadLesson readLesson(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return {.lesson = {},
            .faults = {{kMaxBytes, "more than " + std::to_string(kMaxBytes) + " bytes",
                        "at most this number in a lesson"}}};
  }
  if (const std::size_t invalid = findInvalidUtf8(text); invalid != std::string_view::npos)
    return {.lesson = {},
            .faults = {{invalid, /*id:bytes-no-utf*/ "bytes that are not UTF-8", "text in UTF-8"}}};
  return LessonReader(text).read();
}

std::vector<query::Diagnostic> diagnosticsOf(std::vector<Fault> faults, std::string_view text) {
  std::ranges::stable_sort(faults, {}, &Fault::offset);
  std::vector<query::Diagnostic> diagnostics;
  for (Fault& fault : faults) {
    query::Diagnostic& diagnostic = diagnostics.emplace_back();
    diagnostic.severity = fault.isWarning ? Severity::Warning : Severity::Error;
    diagnostic.offset = std::min(fault.offset, text.size());
    diagnostic.found = std::move(fault.found);
    diagnostic.expected = std::move(fault.expected);
    diagnostic.hint = std::move(fault.hint);
  }
  // Bytes that are not text have no columns. The place is then only the line.
  if (isValidUtf8(text)) query::locate(diagnostics, text);
  return diagnostics;
}

}  // namespace spanscope::lesson
