// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/export_requests.h"
#include "app/cli/export_stage.h"
#include "app/cli/export_tokens.h"
#include "app/cli/input.h"
#include "app/cli/query_options.h"
#include "app/cli/usage.h"
#include "engine/query/query_form.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>

namespace spanscope::cli {
namespace {

using exports::Target;

const std::map<std::string, Target> kTargets = {
    {"spnl", Target::Query},   {"yaml", Target::Yaml},      {"lisp", Target::Lisp},    {"chat", Target::Chat},
    {"curl", Target::Request}, {"python", Target::Request}, {"tokens", Target::Tokens}};

struct ExportCommandOptions {
  std::string file;
  std::string format;
  std::string stage = "read";
  bool retrieve = false;
  QueryOptionTexts query;
  TokenExportOptions tokens;
  RequestExportOptions request;

  /// Whether the target is a form of the whole query.
  bool isWhole() const { return format == "spnl" || format == "yaml" || format == "lisp"; }
  /// Servers do not retrieve.
  bool retrieves() const { return !isWhole() || retrieve; }
  Target target() const { return stage == "lowered" ? Target::Calls : kTargets.at(format); }
};

query::QueryForm formOf(const std::string& format) {
  if (format == "yaml") return query::QueryForm::Yaml;
  return format == "lisp" ? query::QueryForm::Lisp : query::QueryForm::Json;
}

exports::RewriteStage stageOf(const std::string& stage) {
  if (stage == "simplified") return exports::RewriteStage::Simplified;
  return stage == "optimized" ? exports::RewriteStage::Optimized : exports::RewriteStage::Read;
}

/// Refuses options of another target than the one that is written.
void checkTarget(const CLI::App& command, const ExportCommandOptions& options) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    const std::string& group = option->get_group();
    const auto refuse = [&](const char* expected) {
      refuseOption(option->get_name(), "--to " + options.format, expected);
    };
    if (group == kRequestGroup && options.format != "curl" && options.format != "python")
      refuse("--to curl or --to python");
    if (group == kChatGroup && options.format != "chat") refuse("--to chat");
    // What is retrieved is counted in its tokens.
    const bool isForFragments = option->get_name() == "--tokenizer" && options.retrieves();
    if (group == kTokenGroup && options.format != "tokens" && !isForFragments) refuse("--to tokens");
    if (group == kRetrievalGroup && !options.retrieves()) refuse("--retrieve as well");
  }
}

void check(const CLI::App& command, const ExportCommandOptions& options) {
  options.query.check();
  checkTarget(command, options);
  if (options.stage == "lowered" && options.format != "spnl" && options.isWhole())
    throw CLI::ValidationError("--stage", "lowered bodies are JSON: use --to spnl");
  const bool isTokens = options.format == "tokens";
  if (isTokens && (options.tokens.tokenizer.empty() || !options.tokens.pad))
    throw CLI::ValidationError("--to tokens", "--tokenizer and --pad are needed");
  if (!options.isWhole() && options.stage != "read") {
    throw CLI::ValidationError("--stage", isTokens ? "tokens are those of the query as it was read"
                                                   : "requests are made of the query as it was read");
  }
}

ExitCode write(const ExportCommandOptions& options, const Outgoing& outgoing, const Streams& streams) {
  switch (outgoing.target) {
    case Target::Tokens:
      return writeTokens(outgoing, options.tokens, streams);
    case Target::Chat:
      return writeChat(outgoing, options.request, streams);
    case Target::Request:
      return writeRequest(outgoing, options.format == "python", options.request, streams);
    case Target::Calls:
      return writeCalls(outgoing, streams);
    case Target::Query:
    case Target::Yaml:
    case Target::Lisp:
      break;
  }
  return writeStage(outgoing, formOf(options.format), streams);
}

ExitCode exportFile(const ExportCommandOptions& options, const Context& context) {
  const Streams& streams = context.streams;
  QueryOptions given = queryOptions(options.query);
  if (options.retrieves()) {
    retrieveWith(given, options.query, context, options.tokens.tokenizer);
    if (options.format != "tokens" && !options.tokens.tokenizer.empty())
      given.givenForRetrieval.emplace_back("--tokenizer");
  }
  const auto read = readFileForServer(options.file, given, streams);
  warnOfUnused(given, streams);
  if (!read) return ExitCode::WrongInput;
  const std::string name = inputName(options.file);
  const query::Node query = localized(read->query, given.plan.locality, name);
  const Outgoing outgoing{
      .query = query,
      .target = options.target(),
      .settings = {.stage = stageOf(options.stage), .leavesOutNulls = options.format == "spnl"},
      .name = name,
      .file = given.plan.locality.isOn() ? nullptr : &*read};
  return write(options, outgoing, streams);
}

}  // namespace

void addExport(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("export", "Write a query in a form that a server accepts");
  command->footer(
      "What the target refuses or does otherwise than the query says goes to standard error.\n\n"
      "Examples:\n  spanq export --to spnl resources/queries/rag.json\n"
      "  spanq export --to yaml resources/queries/rag.json\n"
      "  spanq export --to spnl --stage optimized resources/queries/judge-4.json\n"
      "  spanq export --to spnl --stage lowered resources/queries/judge-4.json\n"
      "  spanq export --to curl --endpoint http://gpu:8000/v1/query/execute resources/queries/rag.json\n"
      "  spanq export --to chat resources/queries/chat.json\n"
      "  spanq export --to tokens --tokenizer resources/models/spanlet --pad 0 --plus 1 "
      "resources/queries/rag.json\n");
  const auto options = std::make_shared<ExportCommandOptions>();
  command->add_option("FILE", options->file, kQueryFileHelp)->required();
  command
      ->add_option(
          "--to", options->format,
          "spnl: canonical JSON, as IBM/spnl writes it; yaml, lisp: its other forms; curl, python: a "
          "request to a span server; chat: chat completions, one request or a batch file of several; tokens: "
          "the prompt ids that a span server is sent")
      ->required()
      ->check(CLI::IsMember({"spnl", "yaml", "lisp", "curl", "python", "chat", "tokens"}));
  addStageOption(*command, options->stage);
  addSettingOption(*command, options->query);
  addLocalityOptions(*command, options->query);
  command->add_flag("--retrieve", options->retrieve,
                    "Write the fragments that each augment finds instead of it; requests and tokens always "
                    "have them");
  addRetrievalOptions(*command, options->query);
  addRequestOptions(*command, options->request);
  addTokenOptions(*command, options->tokens);

  command->callback([&context, options, command] {
    check(*command, *options);
    context.action = [&context, options] { return exportFile(*options, context); };
  });
}

}  // namespace spanscope::cli
