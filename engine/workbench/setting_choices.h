// SPDX-License-Identifier: GPL-3.0-or-later
// Describes each setting once, with its possible names. Documents, the settings panel, the options of the
// command line and the identity of a session are made from these descriptions.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/dtype.h"
#include "engine/layout/layouts.h"
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/run/observation.h"
#include "engine/text/chat_template.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::workbench {

struct RunSettings;

/// Marks a text for the user. The text is translated where it is shown. The program lupdate finds such texts
/// by the name of this function. The context of these texts is this namespace.
constexpr const char* tr(const char* text) {
  return text;
}

/// The first thing that a change of a setting affects. The change also affects everything later in this list.
enum class SettingEffect : std::uint8_t {
  Model,      ///< the checkpoint is loaded again, and a new session begins
  Session,    ///< a new session begins, with an empty cache
  Plan,       ///< the plan
  Retrieval,  ///< the results of augments
  Run,        ///< the next run
  Record,     ///< only what the next run records
  Window,     ///< only what the window does
};

/// The group in which the settings panel shows the setting.
enum class SettingGroup : std::uint8_t { Model, Cache, Run, Locality, Retrieval, Recording };

/// Whole numbers, both ends included.
struct WholeRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool orZero = false;  ///< 0 is allowed too, if `least` is larger
};

/// One of the names that a setting may have.
struct Choice {
  std::string name;        ///< in documents and on the command line
  const char* label = "";  ///< in the window; empty: the name
  const char* help = "";
  const char* brief = "";  ///< a description for the help of the command line; empty: the name is sufficient
};
using Choices = std::vector<Choice>;

/// The meaning of a line of text. The window offers and checks values accordingly.
enum class TextKind : std::uint8_t {
  Line,
  Checkpoint,  ///< folder of a checkpoint; empty: the bundled one
  Address,     ///< of a server
  Policy,      ///< a reuse policy with its values, "link(16)"
  Device,      ///< a device, "cuda:1"
  Name,
};

/// The row of a setting in the settings panel.
struct SettingRow {
  SettingGroup group = SettingGroup::Run;
  int place = 0;           ///< in its group; settings with the same place are in the order of the list
  const char* label = "";  ///< text before the field; for a flag: the text of the check box
  const char* help = "";
  const char* title = "";  ///< of the undo command and of a line; empty: it has no title
  const char* least = "";  ///< text for the smallest number
  const char* unit = "";
  const char* example = "";           ///< shown in an empty field
  std::optional<WholeRange> range{};  ///< if it differs from the range in documents
  int step = 1;                       ///< step between values; 0: from one power of two to the next
};

/// The option of a setting on the command line.
struct SettingOption {
  const char* name = "";  ///< empty: only the window has the setting
  const char* help = "";
  const char* value = "";             ///< placeholder of the value in the help
  const char* needs = "";             ///< an option of another setting that is needed too
  std::optional<WholeRange> range{};  ///< if it differs from the range in documents
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
  WholeRange range{};              ///< for a number of 32 bits, or each number of a list; other numbers may
                                   ///< have all 64 bits
  Choices (*choices)() = nullptr;  ///< for a text: the possible names, the default first
  TextKind kind = TextKind::Line;
  bool isLong = false;           ///< the text may be as long as a text of a query
  bool onlyWhereChosen = false;  ///< documents contain the setting only if its value is not the default.
  /// Whether the setting has an effect with the other settings. Without a function, the setting always has an
  /// effect.
  bool (*isUsed)(const RunSettings&) = nullptr;
  SettingRow row{};
  SettingOption option{};
};

/// Whether a setting may have this name:
/// - one of its choices,
/// - for a device also a kind with a number, "cuda:1",
/// - for a policy also a policy with values, "link(64)".
///
/// No list contains numbers of devices, because only the machine knows how many devices of a kind there are.
bool mayBe(const Setting& setting, std::string_view name);

/// Returns the current name of a choice. Earlier versions wrote other names for some choices; mayBe() also
/// accepts those. Any other text is returned unchanged.
std::string currentName(const Setting& setting, std::string_view name);

/// The expected form if the name is invalid but begins like a valid one, e.g. the values of a policy.
/// Otherwise empty.
std::string expectedBeside(const Setting& setting, std::string_view name);

// Each list begins with the default.
Choices templateChoices();
Choices policyChoices();
Choices layoutChoices();
Choices kvTypeChoices();
Choices arithmeticChoices();
Choices deviceChoices();
Choices outputFormChoices();
Choices localityShapeChoices();
Choices rankingChoices();
Choices embeddingsChoices();
Choices attentionChoices();

// Translates the name in a setting for the engine. An unknown name means the default.

/// Null: the checkpoint's own.
const text::ChatTemplate* templateOf(std::string_view name);
/// The name for the checkpoint's own template, rendered by Jinja even if the table has an entry for it.
inline constexpr std::string_view kJinjaTemplate = "jinja";
policy::Choice policyOf(std::string_view name);
layout::Layout layoutOf(std::string_view name);
compute::Arithmetic arithmeticOf(std::string_view name);
std::optional<compute::DType> kvTypeOf(std::string_view name);  ///< nothing: the type that suits the device
plan::OutputForm outputFormOf(std::string_view name);
plan::LocalityShape localityShapeOf(std::string_view name);
run::AttentionDetail attentionDetailOf(std::string_view name);

}  // namespace spanscope::workbench
