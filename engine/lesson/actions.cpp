// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/actions.h"

#include "engine/base/translation.h"
#include "engine/experiment/experiment.h"
#include "engine/query/shown_text.h"
#include "engine/trace/event.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace spanscope::lesson {
namespace {

constexpr std::array<std::string_view, 4> kLayouts{"author", "explain", "measure", "diagnose"};
constexpr auto kDocks = std::to_array<std::string_view>(
    {"canvas",      "add",          "inspector",  "json",        "problems",   "settings",
     "tokens",      "block-table",  "why",        "pool",        "paging",     "kv-growth",
     "prefix-tree", "attention",    "mask",       "rotation",    "next-token", "attention-entropy",
     "output",      "passages",     "prediction", "plan",        "timeline",   "metrics",
     "benchmark",   "policies",     "probe",      "experiments", "compare",    "log",
     "scrubber",    "log-requests", "log-strips", "log-costs"});
constexpr std::array<std::string_view, 5> kZooms{"in", "out", "reset", "all", "selection"};

const std::vector<ActionInfo>& actionTable() {
  using Kind = ArgumentKind;
  using Effect = ActionEffect;
  static const std::vector<ActionInfo> list = {
      {.kind = ActionKind::Open,
       .words = "open",
       .arguments = {{"FILE", Kind::File}},
       .effect = Effect::Document,
       .help = forTranslation(
           "Lessons",
           "Open a query of the lesson's front matter from its file. Earlier edits are lost, settings stay"),
       .example = "open example:rag.json"},
      {.kind = ActionKind::Layout,
       .words = "layout",
       .arguments = {{"NAME", Kind::Layout}},
       .effect = Effect::View,
       .help = forTranslation("Lessons", "Show one of the window's layouts"),
       .example = "layout explain"},
      {.kind = ActionKind::Dock,
       .words = "dock",
       .arguments = {{"ID", Kind::Dock}},
       .effect = Effect::View,
       .help = forTranslation("Lessons", "Show a dock and mark it"),
       .example = "dock block-table"},
      {.kind = ActionKind::Select,
       .words = "select",
       .arguments = {{"TARGET", Kind::Target}},
       .effect = Effect::View,
       .help = forTranslation("Lessons",
                              "Select a node, or a span, block or token of the last run, in every view"),
       .example = "select node:/g/input/cross/1/plus/0"},
      {.kind = ActionKind::Scrub,
       .words = "scrub",
       .arguments = {{"MOMENT", Kind::Moment}},
       .effect = Effect::View,
       .help = forTranslation("Lessons", "Go to a moment of the last run"),
       .example = "scrub event:request_admitted"},
      {.kind = ActionKind::Zoom,
       .words = "zoom",
       .arguments = {{"HOW", Kind::Zoom}},
       .effect = Effect::View,
       .help = forTranslation("Lessons", "Zoom the canvas"),
       .example = "zoom selection"},
      {.kind = ActionKind::Set,
       .words = "set",
       .arguments = {{"KEY=VALUE", Kind::Assignment}},
       .effect = Effect::Document,
       .help = forTranslation("Lessons",
                              "Change a setting, from the next run on. If the setting changes the cache, the "
                              "new cache is empty"),
       .example = "set policy=prefix"},
      {.kind = ActionKind::Edit,
       .words = "edit",
       .arguments = {{"NODE", Kind::Node}, {"TEXT", Kind::Text}},
       .effect = Effect::Document,
       .help = forTranslation("Lessons", "Change the text of a node"),
       .example = "edit node:/g/input/cross/0 \"You are kind.\""},
      {.kind = ActionKind::Swap,
       .words = "swap",
       .arguments = {{"FIRST", Kind::Node}, {"SECOND", Kind::Node}},
       .effect = Effect::Document,
       .help = forTranslation("Lessons", "Swap two children of one node"),
       .example = "swap node:/g/input/cross/1/plus/0 node:/g/input/cross/1/plus/1"},
      {.kind = ActionKind::Run,
       .words = "run",
       .arguments = {},
       .effect = Effect::Engine,
       .help = forTranslation(
           "Lessons",
           "Run the query. Runs are counted from 1. Text after this block appears when the run has ended"),
       .example = "run",
       .command = "run.run"},
      {.kind = ActionKind::Wait,
       .words = "wait for",
       .arguments = {{"MOMENT", Kind::Moment}},
       .effect = Effect::View,
       .help = forTranslation("Lessons",
                              "Continue at this moment of the run. Without this action, a step continues "
                              "when the run has ended"),
       .example = "wait for event:token_generated"},
      {.kind = ActionKind::Compare,
       .words = "compare with",
       .arguments = {{"RUN", Kind::Run}},
       .effect = Effect::View,
       .help = forTranslation("Lessons", "Compare the last run with an earlier run"),
       .example = "compare with run 1"},
      {.kind = ActionKind::Fidelity,
       .words = "measure fidelity",
       .arguments = {{"RUN", Kind::Run, true}},
       .effect = Effect::Engine,
       .help = forTranslation("Lessons",
                              "Compare the answers of a run with a full prefill. Default: the last run"),
       .example = "measure fidelity",
       .command = "run.fidelity"},
      {.kind = ActionKind::Empty,
       .words = "empty cache",
       .arguments = {},
       .effect = Effect::Engine,
       .help = forTranslation("Lessons", "Remove every stored block"),
       .example = "empty cache",
       .command = "run.clear-cache"},
      {.kind = ActionKind::Experiment,
       .words = "experiment",
       .arguments = {{"NAME", Kind::Experiment}},
       .effect = Effect::View,
       .help = forTranslation(
           "Lessons",
           "Open the Experiments dock and select this experiment. The learner starts the experiment"),
       .example = "experiment rag",
       .command = "run.experiment"},
  };
  return list;
}

bool isSpace(char c) {
  return c == ' ' || c == '\t';
}

template <class Number>
std::optional<Number> wholeNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

bool isOneOf(std::string_view text, std::span<const std::string_view> names) {
  return std::ranges::find(names, text) != names.end();
}

std::string listOf(std::span<const std::string_view> names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " or " : ", ";
    list += names[i];
  }
  return list;
}

std::string experimentNames() {
  std::vector<std::string_view> names;
  for (const experiment::Experiment* one : experiment::experiments()) names.emplace_back(one->name);
  return listOf(names);
}

/// Quotes a text as in JSON, with the escapes that a line needs.
std::string inLineQuotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// Reads one line from left to right.
class ActionReader {
 public:
  ActionReader(std::string_view line, Offset offset, std::vector<Fault>& faults)
      : m_line(line), m_offset(offset), m_faults(faults) {}

  std::optional<Action> read() {
    skipSpaces();
    const std::size_t begin = m_at;
    const ActionInfo* const info = takeWords();
    if (info == nullptr) return std::nullopt;
    Action action{.kind = info->kind, .arguments = {}, .offset = m_offset + begin};
    for (const ArgumentInfo& argument : info->arguments) {
      skipSpaces();
      if (m_at == m_line.size() && argument.isOptional) break;
      const std::size_t place = m_at;
      std::optional<ArgumentValue> value = take(argument);
      if (!value) return std::nullopt;
      action.arguments.push_back({std::move(*value), m_offset + place});
    }
    skipSpaces();
    if (m_at < m_line.size()) {
      const std::size_t place = m_at;
      fault(place, query::inQuotes(m_line.substr(place)), "the end of the line",
            std::string("written as: ") + info->example);
      return std::nullopt;
    }
    return action;
  }

 private:
  void skipSpaces() {
    while (m_at < m_line.size() && isSpace(m_line[m_at])) ++m_at;
  }
  std::string_view takeWord() {
    const std::size_t begin = m_at;
    while (m_at < m_line.size() && !isSpace(m_line[m_at])) ++m_at;
    return m_line.substr(begin, m_at - begin);
  }
  std::nullopt_t fault(std::size_t at, std::string found, std::string expected, std::string hint = {}) {
    m_faults.push_back({m_offset + at, std::move(found), std::move(expected), std::move(hint)});
    return std::nullopt;
  }

  const ActionInfo* takeWords() {
    for (const ActionInfo& info : actions()) {
      const std::string_view words = info.words;
      const std::string_view rest = m_line.substr(m_at);
      if (!rest.starts_with(words)) continue;
      if (rest.size() > words.size() && !isSpace(rest[words.size()])) continue;
      m_at += words.size();
      return &info;
    }
    std::vector<std::string_view> known;
    for (const ActionInfo& info : actions()) known.emplace_back(info.words);
    const std::size_t begin = m_at;
    fault(begin, "the action " + query::inQuotes(takeWord()), listOf(known));
    return nullptr;
  }

  std::optional<ArgumentValue> take(const ArgumentInfo& info) {
    const std::size_t begin = m_at;
    if (begin == m_line.size())
      return fault(begin, "the end of the line", std::string(info.name) + ": " + argumentHelp(info.kind));
    if (info.kind == ArgumentKind::Text) return takeText();
    if (info.kind == ArgumentKind::Assignment) {
      const std::string_view rest = m_line.substr(begin);
      m_at = m_line.size();
      const std::size_t sign = rest.find('=');
      if (sign == std::string_view::npos || sign == 0)
        return fault(begin, query::inQuotes(rest), argumentHelp(info.kind));
      std::string_view value = rest.substr(sign + 1);
      while (!value.empty() && isSpace(value.back())) value.remove_suffix(1);
      return Assignment{std::string(rest.substr(0, sign)), std::string(value)};
    }
    const std::string_view word = takeWord();
    std::optional<ArgumentValue> value = valueOf(info.kind, word);
    if (!value) fault(begin, query::inQuotes(word), expectedOf(info.kind));
    return value;
  }

  std::optional<ArgumentValue> takeText() {
    const std::size_t begin = m_at;
    if (m_line[m_at] != '"')
      return fault(begin, query::inQuotes(m_line.substr(begin)), argumentHelp(ArgumentKind::Text));
    std::string text;
    for (++m_at; m_at < m_line.size(); ++m_at) {
      const char c = m_line[m_at];
      if (c == '"') {
        ++m_at;
        return text;
      }
      if (c != '\\') {
        text += c;
        continue;
      }
      if (++m_at == m_line.size()) break;
      const char next = m_line[m_at];
      if (next != 'n' && next != '"' && next != '\\')
        return fault(m_at - 1, query::inQuotes(m_line.substr(m_at - 1, 2)), "\\n, \\\" or \\\\");
      text += next == 'n' ? '\n' : next;
    }
    return fault(begin, /*id:text-without-end*/ "a text without a closing quotation mark",
                 "\" after the text");
  }

  std::optional<ArgumentValue> valueOf(ArgumentKind kind, std::string_view word) {
    switch (kind) {
      case ArgumentKind::Layout:
        return isOneOf(word, layoutNames()) ? std::optional<ArgumentValue>(std::string(word)) : std::nullopt;
      case ArgumentKind::Dock:
        return isOneOf(word, dockNames()) ? std::optional<ArgumentValue>(std::string(word)) : std::nullopt;
      case ArgumentKind::Zoom:
        return isOneOf(word, kZooms) ? std::optional<ArgumentValue>(std::string(word)) : std::nullopt;
      case ArgumentKind::Experiment:
        if (experiment::findExperiment(word) == nullptr) return std::nullopt;
        return std::string(word);
      case ArgumentKind::Target:
        if (std::optional<Target> target = readTarget(word)) return std::move(*target);
        return std::nullopt;
      case ArgumentKind::Node: {
        if (word.starts_with('/')) return Target{Target::Kind::Node, std::string(word)};
        std::optional<Target> target = readTarget(word);
        if (!target || target->kind != Target::Kind::Node) return std::nullopt;
        return std::move(*target);
      }
      case ArgumentKind::Moment:
        return momentOf(word);
      case ArgumentKind::Run: {
        if (word != "run") return std::nullopt;
        skipSpaces();
        const std::optional<std::uint32_t> number = wholeNumber<std::uint32_t>(takeWord());
        if (!number || *number == 0) return std::nullopt;
        return *number;
      }
      case ArgumentKind::File:
      case ArgumentKind::Text:
      case ArgumentKind::Assignment:
        break;
    }
    return std::string(word);
  }

  static std::optional<ArgumentValue> momentOf(std::string_view word) {
    if (word == "start") return Moment{Moment::Kind::Start, 0, {}};
    if (word == "end") return Moment{Moment::Kind::End, 0, {}};
    constexpr std::string_view kEvent = "event:";
    if (!word.starts_with(kEvent)) return std::nullopt;
    const std::string_view which = word.substr(kEvent.size());
    if (isEventName(which)) return Moment{Moment::Kind::Event, 0, std::string(which)};
    const std::optional<std::uint64_t> number = wholeNumber<std::uint64_t>(which);
    if (!number || *number == 0) return std::nullopt;
    return Moment{Moment::Kind::Number, *number, {}};
  }

  static std::string expectedOf(ArgumentKind kind) {
    switch (kind) {
      case ArgumentKind::Layout:
        return listOf(layoutNames());
      case ArgumentKind::Dock:
        return "a dock: " + listOf(dockNames());
      case ArgumentKind::Zoom:
        return listOf(kZooms);
      case ArgumentKind::Experiment:
        return "an experiment: " + experimentNames();
      default:
        return argumentHelp(kind);
    }
  }

  std::string_view m_line;
  Offset m_offset;
  std::vector<Fault>& m_faults;
  std::size_t m_at = 0;
};

struct ArgumentWriter {
  ArgumentKind kind;
  std::string operator()(const std::string& text) const {
    return kind == ArgumentKind::Text ? inLineQuotes(text) : text;
  }
  std::string operator()(const Target& target) const { return written(target); }
  std::string operator()(const Moment& moment) const {
    switch (moment.kind) {
      case Moment::Kind::Start:
        return "start";
      case Moment::Kind::End:
        return "end";
      case Moment::Kind::Number:
        return "event:" + std::to_string(moment.number);
      case Moment::Kind::Event:
        break;
    }
    return "event:" + moment.event;
  }
  std::string operator()(const Assignment& assignment) const {
    return assignment.key + "=" + assignment.value;
  }
  std::string operator()(std::uint32_t run) const { return "run " + std::to_string(run); }
};

template <std::size_t... Index>
std::vector<std::string_view> eventNames(std::index_sequence<Index...>) {
  return {trace::eventName(trace::Payload(std::in_place_index<Index>))...};
}

}  // namespace

std::span<const ActionInfo> actions() {
  return actionTable();
}

const ActionInfo& infoOf(ActionKind kind) {
  const std::vector<ActionInfo>& list = actionTable();
  return *std::ranges::find(list, kind, &ActionInfo::kind);
}

bool isForLearners(ActionKind kind) {
  return kind == ActionKind::Set || kind == ActionKind::Edit || kind == ActionKind::Swap ||
         kind == ActionKind::Run;
}

const char* argumentHelp(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::File:
      return "a file in the lesson's folder, or example:NAME for a bundled query";
    case ArgumentKind::Layout:
      return "author, explain, measure or diagnose";
    case ArgumentKind::Dock:
      return "the id of a dock";
    case ArgumentKind::Target:
      return "node:PATH, span:N, block:N or token:N";
    case ArgumentKind::Moment:
      return "start, end, event:N or event:NAME";
    case ArgumentKind::Zoom:
      return "in, out, reset, all or selection";
    case ArgumentKind::Assignment:
      return "a setting and its value, KEY=VALUE";
    case ArgumentKind::Node:
      return "a node: node:PATH or its path";
    case ArgumentKind::Text:
      return "a text in double quotes";
    case ArgumentKind::Run:
      return "a run of the lesson, run N";
    case ArgumentKind::Experiment:
      return "the name of an experiment";
  }
  return "";
}

std::optional<Action> readAction(std::string_view line, Offset offset, std::vector<Fault>& faults) {
  return ActionReader(line, offset, faults).read();
}

std::optional<Target> readTarget(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  if (kind == "node") {
    if (!rest.empty() && !rest.starts_with('/')) return std::nullopt;
    return Target{Target::Kind::Node, std::string(rest)};
  }
  const std::optional<std::size_t> number = wholeNumber<std::size_t>(rest);
  if (!number || (*number == 0 && kind != "block")) return std::nullopt;
  if (kind == "span") return Target{Target::Kind::Span, {}, *number};
  if (kind == "block") return Target{Target::Kind::Block, {}, *number};
  if (kind == "token") return Target{Target::Kind::Token, {}, *number};
  return std::nullopt;
}

std::optional<Target> readLinkTarget(std::string_view text) {
  constexpr std::string_view kDock = "dock:";
  if (!text.starts_with(kDock)) return readTarget(text);
  const std::string_view id = text.substr(kDock.size());
  if (!isOneOf(id, dockNames())) return std::nullopt;
  return Target{.kind = Target::Kind::Dock, .dock = std::string(id)};
}

std::string written(const Target& target) {
  switch (target.kind) {
    case Target::Kind::Node:
      return "node:" + target.node;
    case Target::Kind::Span:
      return "span:" + std::to_string(target.number);
    case Target::Kind::Block:
      return "block:" + std::to_string(target.number);
    case Target::Kind::Token:
      return "token:" + std::to_string(target.number);
    case Target::Kind::Dock:
      return "dock:" + target.dock;
  }
  return {};
}

std::string written(const Action& action) {
  const ActionInfo& info = infoOf(action.kind);
  std::string line = info.words;
  for (std::size_t i = 0; i < action.arguments.size(); ++i)
    line += " " + std::visit(ArgumentWriter{info.arguments[i].kind}, action.arguments[i].value);
  return line;
}

std::span<const std::string_view> layoutNames() {
  return kLayouts;
}

std::span<const std::string_view> dockNames() {
  return kDocks;
}

bool isEventName(std::string_view name) {
  static const std::vector<std::string_view> names =
      eventNames(std::make_index_sequence<std::variant_size_v<trace::Payload>>());
  return isOneOf(name, names);
}

}  // namespace spanscope::lesson
