// SPDX-License-Identifier: GPL-3.0-or-later
// The forms that a query can be written in for other programs: rows that the window, the command line and
// clients of servers share. Another form is another row.
#pragma once

#include "engine/base/error.h"
#include "engine/export/target.h"
#include "engine/export/target_remarks.h"
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

/// What can be chosen of a target; ExportSettings holds the choices.
enum class ExportOption : std::uint8_t {
  Stage,     ///< `stage`, all but Lowered
  Lowering,  ///< the stage Lowered
  OneLine,   ///< `oneLine`
  Model,     ///< another model than the query names
  Endpoint,  ///< `endpoint` and `stream`
  Seed,      ///< `seed`
  Tokens     ///< `tokens`, `tokenizer` and `chat`, the last two of which are needed
};

struct ExportSettings {
  ExportStage stage = ExportStage::Read;
  /// As programs exchange it: JSON without white space, a call a line. Else as a person reads it.
  bool oneLine = false;
  std::string endpoint = spnl::kDefaultEndpoint;
  bool stream = true;
  std::optional<std::uint64_t> seed{};  ///< of the run; none: the server chooses
  spnl::PromptTokenOptions tokens{};
  const text::Tokenizer* tokenizer = nullptr;
  const text::ChatTemplate* chat = nullptr;
  std::stop_token stop{};  ///< on a stop what is written is cut short
};

struct ExportedText {
  std::string text;         ///< empty where the query cannot be written so: the remarks say why
  std::size_t prompts = 0;  ///< of tokens
  std::size_t tokens = 0;
};

/// Constants with the life of the program.
struct ExportTarget {
  const char* name;    ///< "curl": what options call it
  const char* title;   ///< "curl line": in a list
  const char* help;    ///< who takes it, in a sentence or two
  const char* suffix;  ///< of a file, with its dot
  const char* part;    ///< what the name of a file gets before it, e.g. "-chat"; may be empty
  bool isJson;         ///< the text is JSON, or lines of it
  /// It is sent as it is: of a query that the server refuses, a program writes nothing.
  bool isRequest;
  Target target;     ///< of its remarks, where it is not lowered
  unsigned options;  ///< a bit for each ExportOption that it has
  /// The query, its parameters put in, or why it cannot be rewritten. Throws Failure where a text has no
  /// tokens.
  std::variant<ExportedText, Error> (*write)(const query::Node& query, const ExportSettings& settings);

  constexpr bool has(ExportOption option) const {
    return (options >> static_cast<unsigned>(option) & 1U) != 0;
  }
  /// Whether it is a form of the whole query, which may be one for a person to keep.
  bool isWhole() const { return has(ExportOption::Stage); }
};

/// In the order in which they are offered.
std::span<const ExportTarget> exportTargets();
/// nullptr if there is none of that name.
const ExportTarget* findExportTarget(std::string_view name);
/// The names of those that have the option.
std::vector<std::string> targetsWith(ExportOption option);

/// Everything that is to be said about writing the query so: the gravest first.
std::vector<TargetRemark> exportRemarks(const query::Node& query, const ExportTarget& target,
                                        const ExportSettings& settings);

}  // namespace spanscope::exports
