// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/recording.h"

#include "engine/base/utf8.h"
#include "engine/lesson/lesson_state.h"
#include "engine/query/node_parts.h"
#include "engine/workbench/document/document_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

namespace spanscope::lesson {
namespace {

using document::Document;
using document::DocumentNode;
using document::NodeId;

std::string settingText(const std::string& value) {
  return value;
}
std::string settingText(bool value) {
  return value ? "on" : "off";
}
std::string settingText(const std::vector<std::int32_t>& values) {
  std::string text;
  for (const std::int32_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}
template <class Number>
std::string settingText(Number value) {
  return std::to_string(value);
}

bool isSame(const workbench::Setting& setting, const workbench::RunSettings& a,
            const workbench::RunSettings& b) {
  return std::visit([&](auto member) { return a.*member == b.*member; }, setting.member);
}

Argument nodeArgument(const NodePath& path) {
  return {.value = Target{Target::Kind::Node, path}};
}

class ChangeRecorder {
 public:
  ChangeRecorder(const Document& before, const Document& after) : m_before(before), m_after(after) {}

  RecordedChange record() {
    settings();
    const std::optional<std::vector<NodeId>> changed = m_before.nodesUnlike(m_after);
    if (!changed || m_before.parameters != m_after.parameters ||
        m_before.declarations != m_after.declarations) {
      m_change.isWhole = false;
      return std::move(m_change);
    }
    // Paths are valid in the document after the earlier actions. All swaps come first.
    for (const NodeId id : *changed) exchange(id);
    for (auto& [path, id] : document::pathsInTree(m_after, m_after.root())) m_places[id] = path;
    for (const NodeId id : *changed) edit(id);
    return std::move(m_change);
  }

 private:
  void settings() {
    for (const workbench::Setting& setting : workbench::runSettings()) {
      if (isSame(setting, m_before.settings, m_after.settings)) continue;
      if (!mayBeSet(setting)) {
        m_change.isWhole = false;
        continue;
      }
      m_change.actions.push_back(
          {.kind = ActionKind::Set,
           .arguments = {
               {.value = Assignment{std::string(setting.key), valueText(setting, m_after.settings)}}}});
    }
  }

  void exchange(NodeId id) {
    const std::vector<NodeId>& old = m_before.at(id).children;
    const std::vector<NodeId>& now = m_after.at(id).children;
    if (old == now) return;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < std::min(old.size(), now.size()); ++i) {
      if (old[i] != now[i]) places.push_back(i);
    }
    const bool isExchange = old.size() == now.size() && places.size() == 2 &&
                            old[places[0]] == now[places[1]] && old[places[1]] == now[places[0]];
    // If the children of several nodes are swapped, the paths of one node depend on the other swaps.
    if (!isExchange || m_hasExchange) {
      m_change.isWhole = false;
      return;
    }
    m_hasExchange = true;
    std::map<NodeId, NodePath> oldPlaces;
    for (auto& [path, node] : document::pathsInTree(m_before, m_before.root())) oldPlaces[node] = path;
    const auto first = oldPlaces.find(old[places[0]]);
    const auto second = oldPlaces.find(old[places[1]]);
    if (first == oldPlaces.end() || second == oldPlaces.end()) {
      m_change.isWhole = false;
      return;
    }
    m_change.actions.push_back(
        {.kind = ActionKind::Swap, .arguments = {nodeArgument(first->second), nodeArgument(second->second)}});
  }

  void edit(NodeId id) {
    const DocumentNode& old = m_before.at(id);
    const DocumentNode& now = m_after.at(id);
    if (old.muted != now.muted || old.frozen != now.frozen || old.passages != now.passages)
      m_change.isWhole = false;
    if (old.own == now.own) return;
    query::Node own = old.own;
    std::string* const text = query::textOf(own);
    const std::string* const wanted = query::textOf(now.own);
    const auto place = m_places.find(id);
    if (text != nullptr && wanted != nullptr) *text = *wanted;
    if (text == nullptr || own != now.own || place == m_places.end()) {
      m_change.isWhole = false;
      return;
    }
    m_change.actions.push_back(
        {.kind = ActionKind::Edit, .arguments = {nodeArgument(place->second), {.value = *wanted}}});
  }

  const Document& m_before;
  const Document& m_after;
  RecordedChange m_change;
  std::map<NodeId, NodePath> m_places;
  bool m_hasExchange = false;
};

/// Escapes braces in text outside of code, as the reader requires.
std::string withBraces(std::string_view text) {
  std::string out;
  bool isFenced = false;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const bool isFence = line.starts_with("```");
    bool isCode = false;
    for (const char c : line) {
      if (c == '`') isCode = !isCode;
      if (!isFenced && !isFence && !isCode && (c == '{' || c == '}')) out += '\\';
      out += c;
    }
    isFenced = isFenced != isFence;
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string written(const Prose& prose) {
  std::string text;
  for (const ProsePiece& piece : prose.pieces) {
    if (const auto* words = std::get_if<std::string>(&piece))
      text += withBraces(*words);
    else
      text += "{" + written(std::get<Expression>(piece)) + "}";
  }
  return text;
}

std::string written(const Comparison& comparison) {
  return written(comparison.left) + " " + relationText(comparison.relation) + " " + written(comparison.right);
}

struct BlockWriter {
  std::string operator()(const Prose& prose) const {
    // The text for a false condition is in the block of the text before it.
    if (prose.isOtherwise) return "otherwise\n" + written(prose) + "\n```\n";
    if (prose.when) return "```when\n" + written(*prose.when) + "\n" + written(prose) + "\n";
    return written(prose) + "\n";
  }
  std::string operator()(const ActionList& list) const {
    std::string text = list.isForLearner ? "```try\n" : "```do\n";
    for (const Action& action : list.actions) text += lesson::written(action) + "\n";
    return text + "```\n";
  }
  std::string operator()(const Question& question) const {
    std::string text = "```question\n" + written(question.text) + "\n";
    if (question.answer) {
      text += question.kind == Question::Kind::Block ? "block: " : "number: ";
      text += lesson::written(*question.answer) + "\n";
    }
    for (const QuestionChoice& choice : question.choices)
      text += "choice: " + choice.text + " | " + written(choice.isRight) + "\n";
    if (question.why) text += "why: " + written(*question.why) + "\n";
    return text + "```\n";
  }
  std::string operator()(const ClaimList& list) const {
    std::string text = "```holds\n";
    if (list.where) text += "where " + written(*list.where) + "\n";
    for (const Comparison& claim : list.claims) text += written(claim) + "\n";
    return text + "```\n";
  }
};

/// Removes line ends, and spaces around the text. Returns `otherwise` if nothing is left.
std::string oneLine(std::string_view text, std::string_view otherwise) {
  std::string line;
  for (const char c : text) {
    const bool isBlank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!isBlank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line.empty() ? std::string(otherwise) : line;
}

/// Adds a text as one or more paragraphs. Adds nothing for a text of spaces only.
std::string paragraphs(std::string_view text) {
  text = trimmed(text);
  return text.empty() ? std::string() : "\n" + std::string(text) + "\n";
}

std::string actionBlock(const std::vector<Action>& actions, std::size_t begin, std::size_t end) {
  if (begin == end) return {};
  std::string text = "\n```do\n";
  for (std::size_t i = begin; i < end; ++i) text += written(actions[i]) + "\n";
  return text + "```\n";
}

/// Returns the non-empty lines of a text, without spaces around them.
std::vector<std::string> linesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view part : splitAt(text, '\n')) {
    if (std::string line = oneLine(part, {}); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

std::string questionBlock(const RecordedQuestion& question) {
  if (!question.kind) return {};
  std::string text = "\n```question\n";
  for (const std::string& line : linesOf(question.text)) text += line + "\n";
  if (*question.kind == Question::Kind::Choice) {
    for (const RecordedChoice& choice : question.choices)
      text += "choice: " + oneLine(choice.text, {}) + " | " + oneLine(choice.isRight, {}) + "\n";
  } else {
    const char* const key = *question.kind == Question::Kind::Block ? "block: " : "number: ";
    text += key + oneLine(question.answer, {}) + "\n";
  }
  return text + "```\n";
}

std::string claimBlock(std::string_view holds) {
  const std::vector<std::string> lines = linesOf(holds);
  if (lines.empty()) return {};
  std::string text = "\n```holds\n";
  for (const std::string& line : lines) text += line + "\n";
  return text + "```\n";
}

/// Whether a link of the text leads to a node, span, block or token.
bool pointsAtPart(std::string_view text) {
  for (std::size_t at = text.find("]("); at != std::string_view::npos; at = text.find("](", at + 2)) {
    const std::string_view rest = text.substr(at + 2);
    if (readTarget(rest.substr(0, rest.find(')')))) return true;
  }
  return false;
}

/// Returns the word in quotes if it has spaces.
std::string headWord(const std::string& word) {
  return word.find_first_of(" \t") == std::string::npos ? word : '"' + word + '"';
}

}  // namespace

RecordedChange actionsBetween(const Document& before, const Document& after) {
  return ChangeRecorder(before, after).record();
}

std::string valueText(const workbench::Setting& setting, const workbench::RunSettings& settings) {
  return std::visit([&](auto member) { return settingText(settings.*member); }, setting.member);
}

void addAction(std::vector<Action>& actions, Action action) {
  const auto isSame = [](const Action& one, const Action& other) { return written(one) == written(other); };
  if (infoOf(action.kind).effect == ActionEffect::View && action.kind != ActionKind::Layout) {
    // The user saw these views before the last change or run. The actions for these views stay unchanged.
    std::size_t since = actions.size();
    while (since > 0 && infoOf(actions[since - 1].kind).effect == ActionEffect::View &&
           actions[since - 1].kind != ActionKind::Layout)
      --since;
    const auto begin = actions.begin() + static_cast<std::ptrdiff_t>(since);
    const bool isOneDock = action.kind == ActionKind::Dock;
    actions.erase(std::remove_if(begin, actions.end(),
                                 [&](const Action& old) {
                                   return isOneDock ? isSame(old, action) : old.kind == action.kind;
                                 }),
                  actions.end());
  }
  const bool isAgain = !actions.empty() && isSame(actions.back(), action) && action.kind != ActionKind::Run &&
                       action.kind != ActionKind::Swap;
  if (!isAgain) actions.push_back(std::move(action));
}

std::vector<Assignment> settingsUnlike(const workbench::RunSettings& settings,
                                       const workbench::RunSettings& standard) {
  std::vector<Assignment> unlike;
  for (const workbench::Setting& setting : workbench::runSettings()) {
    if (!mayBeSet(setting) || isSame(setting, settings, standard)) continue;
    unlike.push_back({std::string(setting.key), valueText(setting, settings)});
  }
  return unlike;
}

std::string written(const Head& head, const std::vector<RecordedStep>& steps) {
  Head whole = head;
  whole.title = oneLine(head.title, "A lesson");
  whole.after = oneLine(head.after, "what this lesson shows");
  std::string text = written(Lesson{.head = std::move(whole), .steps = {}});
  std::size_t number = 0;
  for (const RecordedStep& step : steps) {
    ++number;
    text += "\n## " + std::to_string(number) + ". " + oneLine(step.title, "A step") + "\n";
    const auto& actions = step.actions;
    const bool isShown = pointsAtPart(step.text);
    std::size_t before = 0;
    if (step.question.kind || isShown) {
      const auto run = std::ranges::find_if(
          actions, [](const Action& action) { return infoOf(action.kind).effect == ActionEffect::Engine; });
      before = static_cast<std::size_t>(run - actions.begin());
    }
    if (isShown) text += actionBlock(actions, 0, before);
    text += paragraphs(step.text);
    if (!isShown) text += actionBlock(actions, 0, before);
    text += questionBlock(step.question) + actionBlock(actions, before, actions.size()) +
            paragraphs(step.after) + claimBlock(step.holds);
  }
  return text;
}

std::string written(const Lesson& lesson) {
  const Head& head = lesson.head;
  std::string text = "---\ntitle: " + head.title + "\nminutes: " + std::to_string(head.minutes) +
                     "\nafter: " + head.after + "\nmodel: " + headWord(head.model.value) + "\n";
  if (!head.queries.empty()) {
    text += "queries:";
    for (const Placed<std::string>& query : head.queries) text += " " + headWord(query.value);
    text += "\n";
  }
  if (!head.settings.empty()) {
    text += "settings:";
    for (const Placed<Assignment>& setting : head.settings)
      text += " " + headWord(setting.value.key + "=" + setting.value.value);
    text += "\n";
  }
  text += "---\n";
  for (const Step& step : lesson.steps) {
    text += "\n## " + std::to_string(step.number) + ". " + step.title + "\n";
    bool isOpen = false;  // a block "when" that may continue with "otherwise"
    for (const Block& block : step.blocks) {
      const auto* prose = std::get_if<Prose>(&block);
      const bool isOtherwise = prose != nullptr && prose->isOtherwise;
      if (isOpen && !isOtherwise) text += "```\n";
      if (!isOtherwise) text += "\n";
      text += std::visit(BlockWriter{}, block);
      isOpen = prose != nullptr && prose->when && !isOtherwise;
    }
    if (isOpen) text += "```\n";
  }
  return text;
}

}  // namespace spanscope::lesson
