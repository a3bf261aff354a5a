// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/export_options.h"
#include "app/cli/input.h"
#include "app/cli/option_values.h"
#include "app/cli/query_options.h"
#include "engine/base/error.h"
#include "engine/export/export_target.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::cli {
namespace {

using exports::ExportOption;
using exports::ExportStage;
using exports::ExportTarget;

constexpr std::array<std::pair<const char*, ExportStage>, 4> kStages{{{"read", ExportStage::Read},
                                                                      {"simplified", ExportStage::Simplified},
                                                                      {"optimized", ExportStage::Optimized},
                                                                      {"lowered", ExportStage::Lowered}}};

struct ExportCommandOptions {
  std::string file;
  std::string format;
  std::string stage = "read";
  bool retrieve = false;
  QueryOptionTexts query;
  TokenExportOptions tokens;
  RequestExportOptions request;

  /// --to has been checked.
  const ExportTarget& target() const { return *exports::findExportTarget(format); }
  ExportStage exportStage() const {
    return std::ranges::find_if(kStages, [this](const auto& each) { return each.first == stage; })->second;
  }
  /// Servers do not retrieve.
  bool retrieves() const { return !target().isWhole() || retrieve; }
};

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  for (const ExportTarget& target : exports::exportTargets()) names.emplace_back(target.name);
  return names;
}

/// "Form of the output: spnl (SPNL JSON), …"
std::string targetsHelp() {
  std::string help;
  for (const ExportTarget& target : exports::exportTargets())
    help +=
        (help.empty() ? "Form of the output: " : ", ") + std::string(target.name) + " (" + target.title + ")";
  return help;
}

/// "--to curl or --to python": the targets with the option.
std::string targetWords(ExportOption option) {
  std::string words;
  for (const std::string& name : exports::targetsWith(option))
    words += (words.empty() ? "--to " : " or --to ") + name;
  return words;
}

/// Refuses options of other targets than the chosen target.
void checkTarget(const CLI::App& command, const ExportCommandOptions& options) {
  const ExportTarget& target = options.target();
  const std::pair<const char*, ExportOption> groups[] = {{kRequestGroup, ExportOption::Endpoint},
                                                         {kChatGroup, ExportOption::Seed},
                                                         {kTokenGroup, ExportOption::Tokens}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string& group = option->get_group();
    const auto refuse = [&](const std::string& expected) {
      refuseOption(option->get_name(), "--to " + options.format, expected);
    };
    // Retrieval counts tokens with this tokenizer.
    const bool isForPassages = option->get_name() == "--tokenizer" && options.retrieves();
    for (const auto& [name, needed] : groups) {
      const ExportOption own = option->get_name() == "--no-stream" ? ExportOption::Stream : needed;
      if (group == name && !target.has(own) && !isForPassages) refuse(targetWords(own));
    }
    if (group == kRetrievalGroup && !options.retrieves()) refuse("--retrieve as well");
  }
}

void check(const CLI::App& command, const ExportCommandOptions& options) {
  options.query.check();
  checkTarget(command, options);
  const ExportTarget& target = options.target();
  const bool isTokens = target.has(ExportOption::Tokens);
  if (options.exportStage() == ExportStage::Lowered && target.isWhole() &&
      !target.has(ExportOption::Lowering))
    throw CLI::ValidationError("--stage",
                               "lowered bodies are JSON: use " + targetWords(ExportOption::Lowering));
  if (isTokens && (options.tokens.tokenizer.empty() || !options.tokens.pad))
    throw CLI::ValidationError("--to tokens", "this form needs --tokenizer and --pad");
  if (!target.isWhole() && options.stage != "read") {
    throw CLI::ValidationError("--stage", isTokens ? /*id:tokens-as-read*/ "tokens need the unchanged query"
                                                   : "requests need the unchanged query");
  }
}

ExitCode write(Outgoing outgoing, const ExportCommandOptions& options, const Streams& streams) {
  const ExportTarget& target = outgoing.target;
  if (!warnOfTarget(outgoing, streams) && target.isRequest) return ExitCode::WrongInput;
  std::optional<TokenMaker> maker;
  if (target.has(ExportOption::Tokens)) maker.emplace(options.tokens).put(outgoing.settings);
  auto written = target.write(outgoing.query, outgoing.settings);
  if (auto* problem = std::get_if<Error>(&written)) {
    problem->file = outgoing.name;
    throw Failure(std::move(*problem));
  }
  const std::string& text = std::get<exports::ExportedText>(written).text;
  if (text.empty() && !target.isRequest) {
    streams.err << outgoing.name
                << ": The query has no generate node that can be sent. A generate node can be sent if its "
                   "input contains no answer of another generate node.\n";
    return ExitCode::WrongInput;
  }
  streams.out << text;
  if (target.has(ExportOption::OneLine) && !text.ends_with('\n')) streams.out << '\n';
  return ExitCode::Fine;
}

ExitCode exportFile(const ExportCommandOptions& options, const Context& context) {
  const Streams& streams = context.streams;
  const ExportTarget& target = options.target();
  QueryOptions given = queryOptions(options.query);
  if (options.retrieves()) {
    retrieveWith(given, options.query, context, options.tokens.tokenizer);
    if (!target.has(ExportOption::Tokens) && !options.tokens.tokenizer.empty())
      given.givenForRetrieval.emplace_back("--tokenizer");
  }
  const auto read = readFileForServer(options.file, given, streams);
  warnOfUnused(given, streams);
  if (!read) return ExitCode::WrongInput;
  const std::string name = inputName(options.file);
  const query::Node query = localized(read->query, given.plan.locality, name);
  return write({.query = query,
                .target = target,
                .settings = {.stage = options.exportStage(),
                             .oneLine = true,
                             .endpoint = options.request.endpoint,
                             .stream = !options.request.inOnePiece,
                             .seed = options.request.seed,
                             .tokens = promptTokenOptions(options.tokens)},
                .name = name,
                .file = given.plan.locality.isOn() ? nullptr : &*read},
               options, streams);
}

}  // namespace

void addExport(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("export", "Write a query in a form that a server accepts");
  command->footer(
      "Standard error lists the features of the query that the target cannot express.\n\n"
      R"(Examples:
  spanq export --to spnl resources/queries/rag.json
  spanq export --to yaml resources/queries/rag.json
  spanq export --to spnl --stage optimized resources/queries/judge-4.json
  spanq export --to spnl --stage lowered resources/queries/judge-4.json
  spanq export --to curl --endpoint http://gpu:8000/v1/query/execute resources/queries/rag.json
  spanq export --to chat resources/queries/chat.json
  spanq export --to chat-curl resources/queries/chat.json
  spanq export --to tokens --tokenizer resources/models/spanlet --pad 0 --plus 1 resources/queries/rag.json
)");
  const auto options = std::make_shared<ExportCommandOptions>();
  command->add_option("FILE", options->file, kQueryFileHelp)->required();
  command->add_option("--to", options->format, targetsHelp())->required()->check(oneOf(targetNames()));
  addStageOption(*command, options->stage);
  addSettingOption(*command, options->query);
  addLocalityOptions(*command, options->query);
  command->add_flag("--retrieve", options->retrieve,
                    "Write the passages of each augment instead of the augment; requests and tokens always "
                    "contain the passages");
  addRetrievalOptions(*command, options->query);
  addRequestOptions(*command, options->request);
  addTokenOptions(*command, options->tokens);

  command->callback([&context, options, command] {
    check(*command, *options);
    context.action = [&context, options] { return exportFile(*options, context); };
  });
}

}  // namespace spanscope::cli
