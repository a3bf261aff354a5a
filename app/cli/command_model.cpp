// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/option_values.h"
#include "app/cli/segments.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/experiment/table_pass.h"
#include "engine/model/config.h"
#include "engine/query/shown_text.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/finder/model_finder.h"
#include "engine/workbench/finder/recent_models.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/model_problem.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"
#include "engine/workbench/template_facts.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace spanscope::cli {
namespace {

// The output of `spanq model list`.

using workbench::FoundModel;

constexpr const char* kUnknown = "–";

/// "1.23 GiB", "12.3 MiB".
std::string bytesText(std::uint64_t bytes) {
  constexpr double kMebi = 1 << 20;
  constexpr double kGibi = 1 << 30;
  if (bytes == 0) return kUnknown;
  const auto value = static_cast<double>(bytes);
  return value >= kGibi ? fixed(value / kGibi, 2) + " GiB" : fixed(value / kMebi, 1) + " MiB";
}

/// "Q4_K 169, F32 65".
std::string typesText(const FoundModel& model) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < model.header.types.size(); ++i) {
    if (i == kMost) return text + ", …";
    const auto& [type, tensors] = model.header.types[i];
    text += (text.empty() ? "" : ", ") + type + " " + std::to_string(tensors);
  }
  return text.empty() ? kUnknown : text;
}

std::string orUnknown(const std::string& text) {
  return text.empty() ? kUnknown : text;
}

nlohmann::ordered_json orNull(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

nlohmann::ordered_json orNull(std::uint64_t count) {
  return count == 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(count);
}

/// A table with a line for each model.
std::string modelTable(const std::vector<FoundModel>& models) {
  TextTable table({{"model", TextTable::Align::Left},
                   {"from", TextTable::Align::Left},
                   {"family", TextTable::Align::Left},
                   {"parameters"},
                   {"tensors by type", TextTable::Align::Left},
                   {"context"},
                   {"template", TextTable::Align::Left},
                   {"file"},
                   {"memory"},
                   {"moves spans", TextTable::Align::Left},
                   {"path, or why the model cannot run", TextTable::Align::Left}});
  for (const FoundModel& model : models) {
    const workbench::ModelHeader& header = model.header;
    const std::optional<bool> moves = model.movesSpans();
    table.addRow({model.place.name, workbench::keeperName(model.place.keeper), orUnknown(header.family),
                  header.parameters > 0 ? shortNumber(static_cast<double>(header.parameters)) : kUnknown,
                  typesText(model), header.context > 0 ? std::to_string(header.context) : kUnknown,
                  header.templateProblem.empty() ? orUnknown(header.chatTemplate) : "not known",
                  bytesText(header.bytes), bytesText(model.memory),
                  !moves   ? kUnknown
                  : *moves ? "yes"
                           : "no",
                  model.canRun() ? model.place.path.string() : header.problem});
  }
  std::string text = table.text();
  for (const FoundModel& model : models) {
    if (model.canRun() && !model.header.templateProblem.empty())
      text += "\n" + model.place.name + ": " + model.header.templateProblem +
              ". --template NAME chooses a template.\n";
  }
  return text;
}

/// An object for each model. An unknown value is null.
nlohmann::ordered_json modelListJson(const std::vector<FoundModel>& models) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FoundModel& model : models) {
    const workbench::ModelHeader& header = model.header;
    nlohmann::ordered_json types = nlohmann::ordered_json::object();
    for (const auto& [type, tensors] : header.types) types[type] = tensors;
    const std::optional<bool> moves = model.movesSpans();
    list.push_back({{"name", model.place.name},
                    {"source", workbench::keeperKey(model.place.keeper)},
                    {"path", orNull(model.place.path.string())},
                    {"architecture", orNull(header.family)},
                    {"parameters", orNull(static_cast<std::uint64_t>(header.parameters))},
                    {"tensors_by_type", std::move(types)},
                    {"context", orNull(static_cast<std::uint64_t>(header.context))},
                    {"chat_template", orNull(header.chatTemplate)},
                    {"chat_template_problem", orNull(header.templateProblem)},
                    {"file_bytes", orNull(header.bytes)},
                    {"memory_bytes", orNull(model.memory)},
                    {"moves_spans", moves ? nlohmann::ordered_json(*moves) : nlohmann::ordered_json(nullptr)},
                    {"problem", orNull(header.problem)}});
  }
  return list;
}

struct ModelOptions {
  std::string directory;
  std::string ids;
  std::string segments;
  workbench::RunSettings settings = commandSettings();  ///< settings of the model alone
  bool json = false;
};

struct ListOptions {
  SessionOptions session;  ///< device and pool, for the memory of each model
  bool checksWeights = false;
  bool json = false;
};

/// Facts about the texts of a model, for `show`. The template and the tokenizer may be unknown.
struct TextFacts {
  workbench::TemplateFacts own;
  const text::ChatTemplate* chat = nullptr;  ///< null if the template is unknown
  std::string templateText;  ///< name of the template, or the reason why the template is unknown
  bool isGuessed = false;    ///< recognized only by its delimiters
};

TextFacts textFacts(const ModelOptions& options) {
  TextFacts facts;
  facts.own = workbench::templateFacts(options.directory);
  workbench::RunSettings settings = options.settings;
  settings.model = options.directory;
  if (const text::ChatTemplate* chosen = workbench::chosenTemplateOf(settings)) {
    facts.chat = chosen;
    facts.templateText = chosen->name + ", as chosen";
  } else if (facts.own.found) {
    facts.chat = facts.own.found->chat;
    facts.templateText = facts.chat->name;
    if (facts.own.found->match == text::TemplateMatch::Jinja)
      facts.templateText = "the template of the model, rendered by Jinja";
    facts.isGuessed = facts.own.found->match == text::TemplateMatch::Markers;
    if (facts.isGuessed)
      facts.templateText += ", recognized only by its delimiters (the rest of the template is unknown)";
  } else {
    facts.templateText = "not known (" + facts.own.problem + ")";
  }
  return facts;
}

/// Describes a template that is unknown or known only by its delimiters, and the templates to choose instead.
std::string unknownTemplateText(const workbench::TemplateFacts& own) {
  std::string text;
  if (own.source)
    text += "\nThe chat template of " + own.source->file +
            (own.found ? /*id:known-marks-alone*/ " is known only by its delimiters" : " is unknown") +
            ". The template:\n\n" + own.source->text + (own.source->text.ends_with('\n') ? "" : "\n");
  if (own.tokenizer == nullptr) return text;
  std::string fitting;
  for (const workbench::TemplateCandidate& candidate : own.candidates) {
    if (candidate.missingPiece.empty()) fitting += (fitting.empty() ? "" : ", ") + candidate.chat->name;
  }
  text += "\nchoose a template: --template NAME";
  text += fitting.empty() ? ": " + text::chatTemplateNames()
                          : /*id:tokenizer-pieces*/ "; the tokenizer has the delimiters of " + fitting;
  return text + "\n";
}

/// Every end token with the text, if known, and the files that list this token.
nlohmann::ordered_json describe(const std::vector<EndToken>& tokens, const text::Tokenizer* tokenizer) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const EndToken& end : tokens) {
    nlohmann::ordered_json entry;
    entry["id"] = end.token;
    if (tokenizer != nullptr) entry["text"] = tokenizer->display(end.token);
    entry["named_by"] = end.sources;
    list.push_back(std::move(entry));
  }
  return list;
}

/// "7 <|end|> (config.json, the chat template)".
std::string endTokenText(const nlohmann::ordered_json& entry) {
  constexpr std::size_t kShownCharacters = 60;
  const std::string shown =
      entry.contains("text") ? " " + query::cutText(entry["text"].get<std::string>(), kShownCharacters) : "";
  return fmt::format("{}{} ({})", entry["id"].get<TokenId>(), shown,
                     fmt::join(entry["named_by"].get<std::vector<std::string>>(), ", "));
}

nlohmann::ordered_json describe(const workbench::ModelBundle& bundle, const TextFacts& facts) {
  const model::ModelConfig& config = bundle.config;
  nlohmann::ordered_json json;
  json["name"] = bundle.name;
  json["architecture"] = config.architecture;
  json["parameters"] = bundle.decoder->parameterCount();
  json["weight_type"] = bundle.weightNames();
  json["weight_bytes_in_memory"] = bundle.decoder->weightBytes();
  json["layers"] = config.layers;
  json["hidden_size"] = config.hiddenSize;
  json["intermediate_size"] = config.intermediateSize;
  if (config.experts.count > 0) {
    json["experts"] = config.experts.count;
    json["experts_per_token"] = config.experts.choice.used;
  }
  json["heads"] = config.heads;
  if (config.attentionSinks) json["attention_sinks"] = true;
  json["key_value_heads"] = config.keyValueHeads;
  json["head_size"] = config.headSize;
  json["vocabulary"] = config.vocabularySize;
  json["context"] = config.maxPositions;
  json["attention"] = model::attentionText(config);
  json["moved_spans"] = model::relocationText(config);
  json["tied_embeddings"] = config.tiedEmbeddings;
  if (config.lacksHead) json["head"] = "missing in the files, so the model uses the token embeddings";
  if (!bundle.ignoredTensors.empty()) json["ignored_tensors"] = bundle.ignoredTensors.size();
  if (config.pooling != model::Pooling::None)
    json["vectors"] = config.pooling == model::Pooling::Last ? "the last token" : "the mean of all tokens";
  json["end_tokens"] = config.endTokenIds();
  json["end_token_sources"] = describe(config.endTokens, facts.own.tokenizer.get());
  json["block_attention"] = config.blockAttention;
  if (const auto offered = workbench::offeredAdapter(config); offered && bundle.adapter.empty())
    json["fitting_adapter"] =
        offered->directory.string() + ", trained for block attention together with " + offered->base;
  if (facts.own.tokenizer == nullptr) json["tokenizer"] = "not known (" + facts.own.tokenizerProblem + ")";
  json["chat_template"] = facts.templateText;
  if (facts.chat == nullptr && facts.own.source) json["chat_template_source"] = facts.own.source->text;
  json["fingerprint"] = bundle.fingerprint;
  json["device"] = bundle.backend->info().name;
  json["kv_type"] = compute::nameOf(bundle.device.kind.keysAndValues);  // unless the user sets another type
  return json;
}

workbench::ModelBundle loadWeights(const Context& context, const ModelOptions& options) {
  return workbench::loadModelWeights(options.directory, context.backends,
                                     {.threads = options.settings.threads,
                                      .device = options.settings.device,
                                      .exact = options.settings.exact,
                                      .arithmetic = workbench::arithmeticOf(options.settings.arithmetic),
                                      .adapter = options.settings.adapter,
                                      .context = options.settings.context,
                                      .borrow = true});
}

ExitCode show(const Context& context, const ModelOptions& options) {
  const TextFacts facts = textFacts(options);
  workbench::ModelBundle bundle = loadWeights(context, options);
  if (facts.own.tokenizer)
    workbench::addEndTokens(bundle.config, options.directory, *facts.own.tokenizer, facts.chat);
  const nlohmann::ordered_json json = describe(bundle, facts);
  if (options.json) {
    context.streams.out << jsonText(json) << '\n';
    return ExitCode::Fine;
  }
  TextTable table({{"", TextTable::Align::Left}, {"", TextTable::Align::Left}});
  for (const auto& [key, value] : json.items()) {
    // The sources are shown with the tokens, the template is shown below.
    if (key == "end_token_sources" || key == "chat_template_source") continue;
    if (key == "end_tokens" && !value.empty()) {
      for (const nlohmann::ordered_json& entry : json["end_token_sources"])
        table.addRow({entry["id"] == value.front() ? "end tokens" : "", endTokenText(entry)});
      continue;
    }
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    table.addRow({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  context.streams.out << table.text();
  if (facts.chat == nullptr || facts.isGuessed) context.streams.out << unknownTemplateText(facts.own);
  return ExitCode::Fine;
}

ExitCode logits(const Context& context, const ModelOptions& options) {
  const layout::SpanTable table = parseSegments(options.segments, parseIds(options.ids));
  workbench::ModelBundle bundle = loadWeights(context, options);
  for (const layout::Segment& segment : table.segments) {
    for (const TokenId id : segment.tokens) checkId("--ids", id, bundle.config.vocabularySize);
  }
  std::string line;
  experiment::computeTable(
      *bundle.decoder, *bundle.backend, table,
      [&](std::int64_t, std::span<const float> values) {
        // The shortest text that reads back as the same float, so that the JSON loses no digits.
        line = fmt::format("[{}]\n", fmt::join(values, ","));
        context.streams.out << line;
      },
      context.stop);
  return ExitCode::Fine;
}

ExitCode list(const Context& context, const ListOptions& options) {
  workbench::ModelFolders folders = workbench::foldersOfTools(workbench::processEnvironment());
  try {
    folders.bundled = workbench::bundledModelDirectory().parent_path();
  } catch (const Failure&) {
    // If the bundled model is missing, the command still lists the other models.
  }
  folders.recent = workbench::RecentModels(context.streams.recentModelsFile).list();
  const run::SessionConfig pool = options.session.config();
  const compute::ChosenDevice device = context.backends.choose(options.session.settings.device);
  workbench::ModelFinder finder(options.checksWeights ? workbench::CheckDepth::Weights
                                                      : workbench::CheckDepth::Headers);
  const std::vector<workbench::FoundModel> models = finder.find(folders, &pool, &device.kind, context.stop);
  if (options.json)
    context.streams.out << jsonText(modelListJson(models)) << '\n';
  else
    context.streams.out << modelTable(models);
  return ExitCode::Fine;
}

}  // namespace

void addModel(CLI::App& app, Context& context) {
  CLI::App* group = app.add_subcommand("model", "Get models, show models and their logits");
  group->footer("Example:\n  spanq model show resources/models/spanlet\n");
  group->require_subcommand(1);

  const auto listed = std::make_shared<ListOptions>();
  CLI::App* listCommand =
      group->add_subcommand("list",
                            "List the models on this machine: recent models, bundled models, and models of "
                            "Hugging Face, Ollama, LM Studio and llama.cpp");
  listCommand->footer("Example:\n  spanq model list --blocks 4096\n");
  addSettings(*listCommand, listed->session.settings, {"device", "block_size", "blocks", "kv_type"});
  listCommand->add_flag(
      "--check-weights", listed->checksWeights,
      "Also read all weights, and report models with damaged numbers. A GiB takes about a second");
  listCommand->add_flag("--json", listed->json, "Write JSON");
  listCommand->callback(
      [&context, listed] { context.action = [&context, listed] { return list(context, *listed); }; });

  addModelGet(*group, context);
  addModelProbe(*group, context);

  const auto options = std::make_shared<ModelOptions>();

  CLI::App* showCommand = group->add_subcommand("show", "Show the facts about a model");
  showCommand->footer("Example:\n  spanq model show resources/models/spanlet\n");
  showCommand->add_option("MODEL", options->directory, "Hugging Face model directory or GGUF file")
      ->required();
  addSettings(*showCommand, options->settings,
              {"chat_template", "template_variables", "adapter", "context", "device", "threads"});
  showCommand->add_flag("--json", options->json, "Write JSON");
  showCommand->callback(
      [&context, options] { context.action = [&context, options] { return show(context, *options); }; });

  CLI::App* logitsCommand = group->add_subcommand(
      "logits", "Write the logits of every position, one JSON array per line, to compare implementations");
  logitsCommand->footer(
      "Example:\n  spanq model logits resources/models/spanlet --ids 5,300,301,7,5,302,7,6 --segments "
      "i4,d4\n");
  logitsCommand->add_option("MODEL", options->directory, "Hugging Face model directory or GGUF file")
      ->required();
  logitsCommand->add_option("--ids", options->ids, "Token ids, e.g. 1,2,3")->required();
  logitsCommand->add_option("--segments", options->segments,
                            "Segments in order, e.g. i5,i4,d3. The letter is i (independent: attends only to "
                            "itself) or d (dependent: attends to all earlier tokens). The number is the "
                            "length. Default: one segment d with all ids");
  addSettings(*logitsCommand, options->settings,
              {"adapter", "context", "device", "exact", "arithmetic", "threads"});
  logitsCommand->callback(
      [&context, options] { context.action = [&context, options] { return logits(context, *options); }; });
}

}  // namespace spanscope::cli
