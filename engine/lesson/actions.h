// SPDX-License-Identifier: GPL-3.0-or-later
// The table of a lesson's actions: the words of each action, its arguments with their kinds, and its help.
// The lesson reader, the lesson check and the manual use this table. Open this file to add an action.
#pragma once

#include "engine/base/ids.h"
#include "engine/lesson/expression.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::lesson {

enum class ActionKind : std::uint8_t {
  Open,
  Layout,
  Dock,
  Select,
  Scrub,
  Zoom,
  Set,
  Edit,
  Swap,
  Run,
  Wait,
  Compare,
  Fidelity,
  Empty,
  Experiment,
};

/// The kind of an argument.
enum class ArgumentKind : std::uint8_t {
  File,        ///< a query of the lesson's front matter: a path in the lesson's folder, or example:NAME
  Layout,      ///< of the window
  Dock,        ///< of the window, by its id
  Target,      ///< node:PATH, span:N, block:N or token:N
  Moment,      ///< start, end, event:N, or event:NAME
  Zoom,        ///< in, out, reset, all or selection
  Assignment,  ///< KEY=VALUE of a setting
  Node,        ///< node:PATH, or the path alone
  Text,        ///< in double quotes
  Run,         ///< run N
  Experiment,  ///< its name
};

/// A target that an action or a link can show, in the lesson's query or run. A link can also name a dock of
/// the window. Numbers count in prompt order, in the first prompt of the last run. Blocks count from 0, as in
/// views. Spans and tokens count from 1.
struct Target {
  enum class Kind : std::uint8_t { Node, Span, Block, Token, Dock };
  Kind kind = Kind::Node;
  NodePath node{};         ///< of a node
  std::size_t number = 0;  ///< of a span (a section of the prompt), a block or a token
  std::string dock{};      ///< the id of a dock
  bool operator==(const Target&) const = default;
};

/// A moment of the trace.
struct Moment {
  enum class Kind : std::uint8_t { Start, End, Number, Event };
  Kind kind = Kind::End;
  std::uint64_t number = 0;  ///< of an event
  std::string event;         ///< the first event of this name in the last run
  bool operator==(const Moment&) const = default;
};

struct Assignment {
  std::string key;
  std::string value;
  bool operator==(const Assignment&) const = default;
};

/// A text is the value of these kinds: File, Layout, Dock, Zoom, Text, Experiment. A number is the number of
/// a run. The path of a node is a Target.
using ArgumentValue = std::variant<std::string, Target, Moment, Assignment, std::uint32_t>;

struct Argument {
  ArgumentValue value;
  Offset offset = 0;
};

struct ArgumentInfo {
  const char* name = "";  ///< in the manual: "FILE"
  ArgumentKind kind = ArgumentKind::Text;
  bool isOptional = false;  ///< the last one of an action may be optional
};

/// The effect of an action on a lesson. A headless run leaves out actions by their effect.
enum class ActionEffect : std::uint8_t {
  View,      ///< only the shown views
  Document,  ///< the document or its settings; the window can undo it
  Engine,    ///< a computation, or a change of the cache
};

struct ActionInfo {
  ActionKind kind = ActionKind::Run;
  const char* words = "";  ///< "compare with"
  std::vector<ArgumentInfo> arguments;
  ActionEffect effect = ActionEffect::View;
  const char* help = "";     ///< a sentence without a full stop, marked by forTranslation("Lessons", …)
  const char* example = "";  ///< as written in a lesson
  const char* command = "";  ///< the window's command with the same effect, if it needs no arguments
};

struct Action {
  ActionKind kind = ActionKind::Run;
  std::vector<Argument> arguments;
  Offset offset = 0;
};

/// Returns all actions, in the order of the manual.
std::span<const ActionInfo> actions();
const ActionInfo& infoOf(ActionKind kind);
/// Whether a lesson can wait until the learner has carried out an action of this kind.
bool isForLearners(ActionKind kind);
/// Returns the help of a kind of argument: "node:PATH, span:N, block:N or token:N".
const char* argumentHelp(ArgumentKind kind);

/// Reads one line. Returns nothing after a fault, which is added to `faults`.
std::optional<Action> readAction(std::string_view line, Offset offset, std::vector<Fault>& faults);
/// Reads "node:/g/input", "span:2", "block:3" or "token:17". Returns nothing for other texts.
std::optional<Target> readTarget(std::string_view text);
/// Reads the target of a link in a text, which may also be "dock:pool".
std::optional<Target> readLinkTarget(std::string_view text);
std::string written(const Target& target);
/// Returns the line that readAction() reads as this action.
std::string written(const Action& action);

/// Returns the layouts of the window, and the ids of its docks.
std::span<const std::string_view> layoutNames();
std::span<const std::string_view> dockNames();
/// Whether an event of a trace has this name.
bool isEventName(std::string_view name);

}  // namespace spanscope::lesson
