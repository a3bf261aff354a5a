// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the forms in which a query can be written for other programs. The window, the command line and
// clients of servers share this table. A new form is a new row. Open this file to add a form.
#pragma once

#include "engine/base/error.h"
#include "engine/export/feature_table.h"
#include "engine/query/query.h"
#include "engine/spnl/prompt_tokens.h"
#include "engine/spnl/request_text.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::exports {

/// An option of a target for the user. ExportSettings has the chosen values.
enum class ExportOption : std::uint8_t {
  Stage,     ///< `stage`, except Lowered
  Lowering,  ///< the stage Lowered
  OneLine,   ///< `oneLine`
  Model,     ///< another model than the model in the query
  Endpoint,  ///< `endpoint`
  Stream,    ///< `stream`
  Seed,      ///< `seed`
  Tokens     ///< `tokens`, `tokenizer` and `chat`; the last two are required
};

struct ExportSettings {
  ExportStage stage = ExportStage::Read;
  /// Writes JSON for programs, without white space and with one call per line. Otherwise the JSON is indented
  /// for the user.
  bool oneLine = false;
  std::string endpoint{};  ///< empty: ExportTarget::endpoint
  bool stream = true;
  std::optional<std::uint64_t> seed{};  ///< the seed of the run; nothing: the server chooses the seed
  spnl::PromptTokenOptions tokens{};
  const text::Tokenizer* tokenizer = nullptr;
  const text::ChatTemplate* chat = nullptr;
  bool isSentHere = false;  ///< used for remarks, like TargetSettings::isSentHere
  std::stop_token stop{};   ///< a stop ends the text early
};

struct ExportedText {
  std::string text;         ///< empty if the query has no such form; the remarks then have the reason
  std::size_t prompts = 0;  ///< number of prompts in tokens
  std::size_t tokens = 0;
};

/// Constants with the lifetime of the program.
struct ExportTarget {
  const char* name;       ///< the name in options: "curl"
  const char* title;      ///< the name in a list: "curl line"
  const char* help;       ///< the programs that accept this form, in one or two sentences
  const char* suffix;     ///< suffix of a file name, with the dot
  const char* part = "";  ///< the characters before the suffix of a file name, e.g. "-chat"; may be empty
  bool isJson = false;    ///< whether the text is JSON, or lines of JSON
  /// Whether a server gets the text unchanged. Then a program writes nothing for a query that the server
  /// refuses.
  bool isRequest = false;
  const char* endpoint = "";  ///< default address of the server, for targets with the option Endpoint
  Target target;              ///< the remarks of this target apply if the query is not lowered
  unsigned options;           ///< one bit for each ExportOption of this target
  /// Writes a query whose parameters are filled in. The Error has the reason why the query cannot be
  /// rewritten. Throws Failure if a text cannot be encoded.
  std::variant<ExportedText, Error> (*write)(const query::Node& query, const ExportSettings& settings);

  constexpr bool has(ExportOption option) const {
    return (options >> static_cast<unsigned>(option) & 1U) != 0;
  }
  /// Whether the text contains the whole query, so that the user can save the query in this form.
  bool isWhole() const { return has(ExportOption::Stage); }
};

/// Returns all targets in the order in which the user sees them.
std::span<const ExportTarget> exportTargets();
/// Returns the target with this name, or nullptr.
const ExportTarget* findExportTarget(std::string_view name);
/// Returns the names of the targets that have the option.
std::vector<std::string> targetsWith(ExportOption option);

/// Returns all remarks about writing the query in this form, the most serious first.
std::vector<TargetRemark> exportRemarks(const query::Node& query, const ExportTarget& target,
                                        const ExportSettings& settings);

}  // namespace spanscope::exports
