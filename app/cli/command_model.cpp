// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/segments.h"
#include "app/cli/session_options.h"
#include "app/cli/text_table.h"
#include "app/cli/usage.h"
#include "app/workbench/model_bundle.h"
#include "engine/base/error.h"
#include "engine/bench/table_pass.h"
#include "engine/text/chat_template.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>

namespace spanscope::cli {
namespace {

struct ModelOptions {
  std::string directory;
  std::string ids;
  std::string segments;
  std::string chatTemplate;
  int threads = 0;
  bool json = false;
};

/// What `show` says of the chat template. A model without a known one is still worth looking at.
std::string templateText(const ModelOptions& options) {
  if (!options.chatTemplate.empty())
    return std::string(text::chatTemplateNamed(options.chatTemplate).name) + ", as chosen";
  try {
    return text::findChatTemplate(options.directory).name;
  } catch (const Failure& failure) {
    return "not known (" + failure.error().found + "); --template NAME chooses one of " +
           text::chatTemplateNames();
  }
}

nlohmann::ordered_json describe(const workbench::ModelBundle& bundle, const std::string& chatTemplate) {
  const model::ModelConfig& config = bundle.config;
  nlohmann::ordered_json json;
  json["name"] = bundle.name;
  json["architecture"] = config.architecture;
  json["parameters"] = bundle.decoder->parameterCount();
  json["weight_type"] = compute::nameOf(bundle.weightType);
  json["weight_bytes_in_memory"] = bundle.decoder->weightBytes();
  json["layers"] = config.layers;
  json["hidden_size"] = config.hiddenSize;
  json["intermediate_size"] = config.intermediateSize;
  json["heads"] = config.heads;
  json["key_value_heads"] = config.keyValueHeads;
  json["head_size"] = config.headSize;
  json["vocabulary"] = config.vocabularySize;
  json["context"] = config.maxPositions;
  json["rope_theta"] = config.ropeTheta;
  json["rope_scaling"] = config.hasLlama3Scaling ? "llama3" : "none";
  json["tied_embeddings"] = config.tiedEmbeddings;
  json["end_tokens"] = config.endTokens;
  json["block_attention"] = config.blockAttention;
  json["chat_template"] = chatTemplate;
  json["fingerprint"] = bundle.fingerprint;
  json["device"] = bundle.backend->info().name;
  return json;
}

ExitCode show(const Context& context, const ModelOptions& options) {
  const std::string chatTemplate = templateText(options);
  const workbench::ModelBundle bundle =
      workbench::loadModelWeights(options.directory, {.threads = options.threads});
  const nlohmann::ordered_json json = describe(bundle, chatTemplate);
  if (options.json) {
    context.streams.out << json.dump(2) << '\n';
    return ExitCode::Fine;
  }
  TextTable table({{"", TextTable::Align::Left}, {"", TextTable::Align::Left}});
  for (const auto& [key, value] : json.items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    table.addRow({name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  context.streams.out << table.text();
  return ExitCode::Fine;
}

ExitCode logits(const Context& context, const ModelOptions& options) {
  const layout::SpanTable table = parseSegments(options.segments, parseIds(options.ids));
  workbench::ModelBundle bundle =
      workbench::loadModelWeights(options.directory, {.threads = options.threads});
  for (const layout::Segment& segment : table.segments) {
    for (const TokenId id : segment.tokens) checkId("--ids", id, bundle.config.vocabularySize);
  }
  std::string line;
  bench::computeTable(
      *bundle.decoder, *bundle.backend, table,
      [&](std::int64_t, std::span<const float> values) {
        // The shortest text that reads back as the same float, so that nothing is lost on the way out.
        line = fmt::format("[{}]\n", fmt::join(values, ","));
        context.streams.out << line;
      },
      context.stop);
  return ExitCode::Fine;
}

}  // namespace

void addModel(CLI::App& app, Context& context) {
  CLI::App* group = app.add_subcommand("model", "Look at a model directory");
  group->footer("Example:\n  spanq model show resources/models/spanlet\n");
  group->require_subcommand(1);
  const auto options = std::make_shared<ModelOptions>();

  CLI::App* showCommand = group->add_subcommand("show", "Show what a model is");
  showCommand->footer("Example:\n  spanq model show resources/models/spanlet\n");
  showCommand->add_option("DIR", options->directory, "Hugging Face model directory")->required();
  addTemplateOption(*showCommand, options->chatTemplate);
  showCommand->add_flag("--json", options->json, "Write JSON");
  showCommand->callback(
      [&context, options] { context.action = [&context, options] { return show(context, *options); }; });

  CLI::App* logitsCommand = group->add_subcommand(
      "logits", "Write the logits of every position, one JSON array a line, to compare implementations");
  logitsCommand->footer(
      "Example:\n  spanq model logits resources/models/spanlet --ids 5,300,301,7,5,302,7,6 --segments "
      "i4,d4\n");
  logitsCommand->add_option("DIR", options->directory, "Hugging Face model directory")->required();
  logitsCommand->add_option("--ids", options->ids, "Token ids, e.g. 1,2,3")->required();
  logitsCommand->add_option("--segments", options->segments,
                            "Segments in order, each i (independent: sees only itself) or d (dependent: sees "
                            "everything before) and its length, e.g. i5,i4,d3; default: one d of all ids");
  addThreadsOption(*logitsCommand, options->threads);
  logitsCommand->callback(
      [&context, options] { context.action = [&context, options] { return logits(context, *options); }; });
}

}  // namespace spanscope::cli
