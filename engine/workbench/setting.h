// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a setting, once: documents, the settings dock, the options of the command line and the
// identity of a session are made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::workbench {

struct RunSettings;

/// Marks a text that people read: it is translated where it is shown. The name is the one by which lupdate
/// finds such texts; their context is this namespace.
constexpr const char* tr(const char* text) {
  return text;
}

/// What has to be made anew when a setting changes; each also changes what the later ones make.
enum class SettingEffect : std::uint8_t {
  Model,      ///< the checkpoint is loaded anew, and a session begins
  Session,    ///< a session begins, with an empty cache
  Plan,       ///< the plan
  Retrieval,  ///< what augments find
  Run,        ///< the next run
  Record,     ///< what the next run records, and nothing else
  Window,     ///< what the window does, and nothing else
};

/// Where the dock shows it.
enum class SettingGroup : std::uint8_t { Model, Cache, Run, Locality, Retrieval, Recording };

/// Whole numbers, both ends included.
struct WholeRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool orZero = false;  ///< 0 as well, where `least` is more
};

/// One of the names that a setting may have.
struct Choice {
  std::string name;        ///< as documents and the command line say it
  const char* label = "";  ///< as the window says it; empty: the name
  const char* help = "";
  const char* brief = "";  ///< what it is, for the help of the command line; empty: the name says it
};
using Choices = std::vector<Choice>;

/// What a line of text holds; the window offers and checks accordingly.
enum class TextKind : std::uint8_t {
  Line,
  Checkpoint,  ///< folder of a checkpoint; empty: the bundled one
  Address,     ///< of a server
  Policy,      ///< a reuse policy with its values, "link(16)"
  Device,      ///< what computes, "cuda:1"
  Name,
};

/// Its row in the dock.
struct SettingRow {
  SettingGroup group = SettingGroup::Run;
  int place = 0;           ///< in its group; those of one place stand in the order of the list
  const char* label = "";  ///< before the field; that of a flag is its own text
  const char* help = "";
  const char* title = "";  ///< of its change, for undoing, and of a line; empty: it has no name of its own
  const char* least = "";  ///< what the least number is called
  const char* unit = "";
  const char* example = "";           ///< in an empty field
  std::optional<WholeRange> range{};  ///< where it is not that of documents
  int step = 1;                       ///< 0: from one power of two to the next
};

/// Its option on the command line.
struct SettingOption {
  const char* name = "";  ///< empty: the window alone has it
  const char* help = "";
  const char* value = "";             ///< what stands for the value in the help
  const char* needs = "";             ///< the option of another setting that it goes with
  std::optional<WholeRange> range{};  ///< where it is not that of documents
  bool isNegated = false;             ///< the option switches a flag off
  bool showsDefault = true;
};

using SettingMember = std::variant<std::string RunSettings::*, bool RunSettings::*,
                                   std::int32_t RunSettings::*, std::uint32_t RunSettings::*,
                                   std::uint64_t RunSettings::*, std::vector<std::int32_t> RunSettings::*>;

struct Setting {
  std::string_view key;  ///< in documents
  const char* name;      ///< of its field in the window
  SettingMember member;
  SettingEffect effect;
  WholeRange range{};              ///< of a number of 32 bits, or of each of a list; others take all of 64
  Choices (*choices)() = nullptr;  ///< of a text: the names that it may be, the default first
  TextKind kind = TextKind::Line;
  bool isLong = false;           ///< a text that may be as long as those of a query
  bool onlyWhereChosen = false;  ///< documents have it where it is not the default
  /// Whether it counts beside the other settings; without, it always does.
  bool (*isUsed)(const RunSettings&) = nullptr;
  SettingRow row{};
  SettingOption option{};
};

}  // namespace spanscope::workbench
