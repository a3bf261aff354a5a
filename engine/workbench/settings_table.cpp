// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptions of all settings, and searches in them.
#include "engine/cache/kv_cache.h"
#include "engine/compute/backends.h"
#include "engine/policy/choice.h"
#include "engine/retrieve/chunker.h"
#include "engine/workbench/setting_choices.h"
#include "engine/workbench/settings.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

namespace spanscope::workbench {

const std::vector<Setting>& runSettings() {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMostMebibytes = 1 << 20;
  constexpr std::int64_t kMostLayers = 100'000;
  constexpr std::int64_t kMostEntries = 100'000;
  using Group = SettingGroup;
  static const std::vector<Setting> list = {
      {.key = "model",
       .name = "model",
       .member = &RunSettings::model,
       .effect = SettingEffect::Model,
       .kind = TextKind::Checkpoint,
       .row = {.group = Group::Model, .label = tr("Checkpoint"), .title = tr("Model")},
       .option = {.name = "--model",
                  .help = "Hugging Face model folder or GGUF file (default: the bundled model)",
                  .value = "MODEL",
                  .showsDefault = false}},
      {.key = "adapter",
       .name = "adapter",
       .member = &RunSettings::adapter,
       .effect = SettingEffect::Model,
       .onlyWhereChosen = true,
       .row = {.group = Group::Model,
               .place = 1,
               .label = tr("Adapter"),
               .help = tr("Folder of a LoRA adapter in PEFT's layout. An adapter that was trained for block "
                          "attention makes spans accurate."),
               .title = tr("Adapter"),
               .example = tr("none")},
       .option = {.name = "--adapter",
                  .help = "Folder of a LoRA adapter in PEFT's layout for the model",
                  .value = "DIR",
                  .showsDefault = false}},
      {.key = "chat_template",
       .name = "chatTemplate",
       .member = &RunSettings::chatTemplate,
       .effect = SettingEffect::Model,
       .choices = templateChoices,
       .onlyWhereChosen = true,
       .row = {.group = Group::Model,
               .place = 1,
               .label = tr("Chat template"),
               .help = tr("Text around messages. Spanscope uses the template of the checkpoint. “Chat "
                          "template…” in the list of models shows and chooses templates.")},
       .option = {.name = "--template",
                  .help = "Name of the chat template. auto: the template of the model. jinja: the same "
                          "template, always rendered by Jinja"}},
      {.key = "template_variables",
       .name = "templateVariables",
       .member = &RunSettings::templateVariables,
       .effect = SettingEffect::Model,
       .isLong = true,
       .onlyWhereChosen = true,
       .isUsed =
           [](const RunSettings& settings) {
             return settings.chatTemplate == kJinjaTemplate ||
                    (settings.chatTemplate == "auto" && !settings.templateVariables.empty());
           },
       .row = {.group = Group::Model,
               .place = 1,
               .label = tr("Template variables"),
               .help = tr("A JSON object with values for variables of the chat template. “messages” has "
                          "further fields of messages, by number from 0."),
               .title = tr("Template variables"),
               .example = R"({"enable_thinking": false})"},
       .option = {.name = "--template-variables",
                  .help = "JSON object with values for variables of the chat template, e.g. "
                          "'{\"enable_thinking\": false}'. The member \"messages\" has further fields of "
                          "messages, by number from 0",
                  .value = "JSON",
                  .showsDefault = false}},
      {.key = "context",
       .name = "context",
       .member = &RunSettings::context,
       .effect = SettingEffect::Model,
       .range = {0, kMost},
       .onlyWhereChosen = true,
       .row = {.group = Group::Model,
               .place = 1,
               .label = tr("Open for"),
               .help = tr("Phi has one rotation up to its original context, and another rotation for longer "
                          "contexts. Keys of the two rotations do not match, so set the context before you "
                          "open the model. Other models ignore this setting."),
               .title = tr("Context"),
               .least = tr("the original context"),
               .unit = tr(" tokens"),
               .step = 1024},
       .option = {.name = "--context",
                  .help = "Context of a model with LongRoPE (Phi); 0: the original context of the model"}},
      {.key = "stands_for",
       .name = "standsFor",
       .member = &RunSettings::standsFor,
       .effect = SettingEffect::Window,
       .onlyWhereChosen = true,
       .row = {.group = Group::Model,
               .place = 1,
               .label = tr("Also accepts"),
               .help =
                   tr("Other names of this model. Queries with these names run without a warning. Separate "
                      "the names with commas. “Run here” adds to this list."),
               .title = tr("Also accepts"),
               .example = tr("no other model")}},
      {.key = "server",
       .name = "server",
       .member = &RunSettings::server,
       .effect = SettingEffect::Run,
       .kind = TextKind::Name,
       .onlyWhereChosen = true,
       .isUsed = [](const RunSettings& settings) { return settings.runsOnServer(); },
       .row = {.group = Group::Model,
               .place = 1,
               .label = tr("Server"),
               .help = tr("Name of the server that runs generate nodes instead of the embedded engine. The "
                          "list of models shows the servers."),
               .title = tr("Server"),
               .example = tr("none: the embedded engine")}},
      {.key = "policy",
       .name = "policy",
       .member = &RunSettings::policy,
       .effect = SettingEffect::Run,
       .choices = policyChoices,
       .kind = TextKind::Policy,
       .row = {.group = Group::Cache, .label = tr("Reuse policy")},
       .option = {.name = "--policy",
                  .help = "Reuse policy, with its values in brackets (default: spans for a model that was "
                          "trained for block attention, else prefix)",
                  .value = "NAME",
                  .showsDefault = false}},
      {.key = "prompt_layout",
       .name = "layout",
       .member = &RunSettings::layout,
       .effect = SettingEffect::Run,
       .choices = layoutChoices,
       .onlyWhereChosen = true,
       .row = {.group = Group::Cache,
               .label = tr("Layout"),
               .help =
                   tr("Layout of prompts: the exact text of the chat template, or a layout for servers with "
                      "span support. Such a layout adds padding and delimiters, or also truncates "
                      "answers.")},
       .option = {.name = "--layout", .help = "Layout of prompts"}},
      {.key = "seed",
       .name = "seed",
       .member = &RunSettings::seed,
       .effect = SettingEffect::Plan,
       .row = {.group = Group::Run, .label = tr("Seed"), .title = tr("Seed")},
       .option = {.name = "--seed", .help = "Seed of the run; each step derives its own seed"}},
      {.key = "block_size",
       .name = "blockSize",
       .member = &RunSettings::blockSize,
       .effect = SettingEffect::Session,
       .range = {1, cache::kMaxBlockSize},
       .row = {.group = Group::Cache,
               .label = tr("Block size"),
               .title = tr("Block size"),
               .unit = tr(" tokens"),
               .step = 0},
       .option = {.name = "--block-size", .help = "Tokens per block of the cache"}},
      {.key = "blocks",
       .name = "blockCount",
       .member = &RunSettings::blockCount,
       .effect = SettingEffect::Session,
       .range = {cache::kMinBlockCount, cache::kMaxBlockCount},
       .row = {.group = Group::Cache, .label = tr("Blocks in the pool"), .step = 64},
       .option = {.name = "--blocks",
                  .help = "Blocks of the cache; 0: default",
                  .range = WholeRange{cache::kMinBlockCount, cache::kMaxBlockCount, true}}},
      {.key = "kv_type",
       .name = "kvType",
       .member = &RunSettings::kvType,
       .effect = SettingEffect::Session,
       .choices = kvTypeChoices,
       .row = {.group = Group::Cache,
               .label = tr("Keys and values"),
               .help = tr("Type of cached keys and values. Tensor cores of a GPU read bf16 only. The CPU "
                          "computes in f32.")},
       .option = {.name = "--kv",
                  .help =
                      "Type of cached keys and values: f32, bf16 or auto (f32 on the CPU, bf16 on a GPU)"}},
      {.key = "cache_host_mib",
       .name = "cacheHostMebibytes",
       .member = &RunSettings::cacheHostMebibytes,
       .effect = SettingEffect::Session,
       .range = {0, kMostMebibytes},
       .onlyWhereChosen = true,
       .row = {.group = Group::Cache,
               .place = 1,
               .label = tr("CPU offload"),
               .help = tr("Keep evicted blocks in host memory. Lookups can hit these blocks. The most "
                          "recently used blocks are kept longest."),
               .least = tr("none"),
               .unit = tr(" MiB"),
               .step = 64},
       .option = {.name = "--cache-host-mib",
                  .help = "Keep evicted blocks in host memory, at most N MiB; 0: off"}},
      {.key = "cache_disk_mib",
       .name = "cacheDiskMebibytes",
       .member = &RunSettings::cacheDiskMebibytes,
       .effect = SettingEffect::Session,
       .range = {0, kMostMebibytes},
       .onlyWhereChosen = true,
       .row = {.group = Group::Cache,
               .place = 1,
               .label = tr(/*id:keep-disk*/ "Disk cache"),
               .help = tr("Each run stores its blocks in your cache folder. The most recently used blocks "
                          "are kept longest. Later starts of the program reuse the blocks. The blocks reveal "
                          "the prompts, so only you have access to the folder."),
               .least = tr("nothing"),
               .unit = tr(" MiB"),
               .step = 256},
       .option = {.name = "--cache-disk-mib",
                  .help = "Keep blocks in a folder for later runs, at most N MiB; 0: off"}},
      {.key = "device",
       .name = "device",
       .member = &RunSettings::device,
       .effect = SettingEffect::Model,
       .choices = deviceChoices,
       .kind = TextKind::Device,
       .onlyWhereChosen = true,
       .row = {.group = Group::Model,
               .label = tr("Device"),
               .help = tr("Device for computation. “spanq devices” lists all devices.")},
       .option = {.name = "--device",
                  .help =
                      "Device that computes: auto (first usable device), cpu, cuda (first NVIDIA GPU), or a "
                      "GPU by number, e.g. cuda:1. The command \"spanq devices\" lists all devices"}},
      {.key = "exact",
       .name = "exact",
       .member = &RunSettings::exact,
       .effect = SettingEffect::Model,
       .onlyWhereChosen = true,
       .isUsed =
           [](const RunSettings& settings) {
             const compute::DeviceKind* kind = compute::deviceKindOf(settings.device);
             return kind == nullptr || !kind->rowsAreBitEqual;
           },
       .row = {.group = Group::Model,
               .label = tr("Bit-identical results on a GPU"),
               .help = tr("The result of a token does not depend on other tokens of a forward pass. A reused "
                          "block is then bit-exact with a recomputed block. The CPU always computes in this "
                          "way. A GPU is slower with this setting.")},
       .option =
           {.name = "--exact",
            .help =
                "Compute bit-identical results on a GPU: the other tokens of a forward pass change nothing. "
                "The GPU is slower with this option. The CPU always computes in this way"}},
      {.key = "arithmetic",
       .name = "arithmetic",
       .member = &RunSettings::arithmetic,
       .effect = SettingEffect::Model,
       .choices = arithmeticChoices,
       .onlyWhereChosen = true,
       .isUsed =
           [](const RunSettings& settings) {
             const compute::DeviceKind* kind = compute::deviceKindOf(settings.device);
             return kind == nullptr || kind == &compute::kProcessor;
           },
       .row =
           {.group = Group::Model,
            .label = tr("CPU arithmetic"),
            .help = tr(
                "The CPU multiplies activations and weights in f32, or rounds activations for the fastest "
                "instructions. With both choices, the bits of a token do not depend on other tokens. Blocks "
                "of one choice never match blocks of the other choice. A GPU ignores this setting.")},
       .option = {.name = "--arithmetic", .help = "Arithmetic of matrix products on the CPU"}},
      {.key = "threads",
       .name = "threads",
       .member = &RunSettings::threads,
       .effect = SettingEffect::Model,
       .range = {0, compute::kMostThreads},
       .row = {.group = Group::Model, .label = tr("Threads"), .least = tr("one per core")},
       .option = {.name = "--threads", .help = "Threads, max 8 per core; 0: one per core"}},
      {.key = "max_tokens",
       .name = "maxTokens",
       .member = &RunSettings::maxTokens,
       .effect = SettingEffect::Run,
       .range = {0, kMost},
       .row = {.group = Group::Run,
               .label = tr("Max tokens"),
               .help = tr("For generate nodes without a limit"),
               .least = tr("the model's own")},
       .option =
           {.name = "--max-tokens",
            .help =
                "Max tokens of an answer if its generate node sets no limit; 0: the default of the model"}},
      {.key = "observe",
       .name = "observe",
       .member = &RunSettings::observe,
       .effect = SettingEffect::Record,
       .row = {.group = Group::Recording, .label = tr("Record attention")}},
      {.key = "layers",
       .name = "layers",
       .member = &RunSettings::layers,
       .effect = SettingEffect::Record,
       .range = {0, kMostLayers},
       .isUsed = [](const RunSettings& settings) { return settings.observe; },
       .row = {.group = Group::Recording,
               .place = 1,
               .label = tr("Layers"),
               .title = tr("Observed layers"),
               .example = tr("all")},
       .option = {.name = "--observe",
                  .help = "Layers whose attention is recorded, e.g. 0,5; all: every layer"}},
      {.key = "attention",
       .name = "attention",
       .member = &RunSettings::attention,
       .effect = SettingEffect::Record,
       .choices = attentionChoices,
       .onlyWhereChosen = true,
       .isUsed = [](const RunSettings& settings) { return settings.observe; },
       .row = {.group = Group::Recording,
               .label = tr("Detail"),
               .help = tr("A run records how much each answer token attends to each document, for each layer "
                          "and head. For blocks, a run records only the mean of all heads. You can recompute "
                          "the map of one head later, so you rarely need to record the maps of every head.")},
       .option = {.name = "--attention", .help = "Tokens whose attention is recorded", .needs = "--observe"}},
      {.key = "every_token",
       .name = "observeRows",
       .member = &RunSettings::observeRows,
       .effect = SettingEffect::Record,
       .isUsed = [](const RunSettings& settings) { return settings.observe; },
       .row = {.group = Group::Recording, .label = tr("Every token, not only every block")}},
      {.key = "attention_mib",
       .name = "attentionMebibytes",
       .member = &RunSettings::attentionMebibytes,
       .effect = SettingEffect::Record,
       .range = {1, kMostMebibytes},
       .onlyWhereChosen = true,
       .isUsed = [](const RunSettings& settings) { return settings.observe; },
       .row = {.group = Group::Recording,
               .place = 1,
               .label = tr("Attention"),
               .help = tr(
                   "Max MiB of attention that a run records. If the limit is reached, layers are dropped "
                   "first, then blocks. The trace shows the number of dropped layers and blocks."),
               .unit = tr(" MiB")},
       .option = {.name = "--observe-limit",
                  .help = "Max MiB of attention that a run records; the trace shows the number of dropped "
                          "layers and blocks",
                  .needs = "--observe"}},
      {.key = "kept_mib",
       .name = "keptMebibytes",
       .member = &RunSettings::keptMebibytes,
       .effect = SettingEffect::Window,
       .range = {16, kMostMebibytes},
       .onlyWhereChosen = true,
       .row = {.group = Group::Recording,
               .place = 1,
               .label = tr("Session size"),
               .help = tr("Max size of a session in the window. The oldest events are dropped first. A "
                          "recording has all events."),
               .unit = tr(" MiB")}},
      {.key = "distribute",
       .name = "distribute",
       .member = &RunSettings::distribute,
       .effect = SettingEffect::Plan,
       .row = {.group = Group::Run,
               .place = 1,
               .label = tr(/*id:distribute-plus-into*/ "Distribute plus into subqueries")},
       .option = {.name = "--no-distribute",
                  .help = "Put only the answers of subqueries into the outer prompt, without the prompts of "
                          "the subqueries",
                  .isNegated = true}},
      {.key = "output_form",
       .name = "outputForm",
       .member = &RunSettings::outputForm,
       .effect = SettingEffect::Plan,
       .choices = outputFormChoices,
       .row = {.group = Group::Run,
               .label = tr("Subquery answers"),
               .help = tr("How the answer of a subquery enters the outer prompt")},
       .option = {.name = "--output-form",
                  .help = "Keys and values of a subquery's answer: recomputed, or reused (approximate)"}},
      {.key = "locality",
       .name = "locality",
       .member = &RunSettings::locality,
       .effect = SettingEffect::Plan,
       .range = {0, kMostEntries},
       .row = {.group = Group::Locality,
               .label = tr("Entries per judge"),
               .help = tr(
                   "Split a judge of many candidates into judges of at most N. A plus must state that the "
                   "order of the candidates does not matter. The split changes the input of each judge."),
               .least = tr("off"),
               .range = WholeRange{1, kMostEntries}},
       .option = {.name = "--locality",
                  .help = "Attention locality: replace a judge of many candidates with a tree of judges. "
                          "Each judge gets at most N candidates. 0: off",
                  .range = WholeRange{2, kMostEntries, true}}},
      {.key = "locality_shape",
       .name = "localityShape",
       .member = &RunSettings::localityShape,
       .effect = SettingEffect::Plan,
       .choices = localityShapeChoices,
       .isUsed = [](const RunSettings& settings) { return settings.hasPlies(); },
       .row = {.group = Group::Locality, .label = tr("Shape")},
       .option = {.name = "--locality-shape",
                  .help = "tree: levels of judges until one judge is left. map-reduce: one level of judges, "
                          "then one judge of all answers. With map-reduce, groups can also contain documents",
                  .needs = "--locality"}},
      {.key = "reduce_prompt",
       .name = "reducePrompt",
       .member = &RunSettings::reducePrompt,
       .effect = SettingEffect::Plan,
       .isLong = true,
       .isUsed = [](const RunSettings& settings) { return settings.hasPlies(); },
       .row = {.group = Group::Locality,
               .label = tr("Later levels"),
               .help = tr("Question of the later levels"),
               .example = tr("same question")},
       .option = {.name = "--reduce-prompt",
                  .help = "Question of the later levels (default: the same question)",
                  .value = "TEXT",
                  .needs = "--locality",
                  .showsDefault = false}},
      {.key = "fragments",
       .name = "fragments",
       .member = &RunSettings::passages,
       .effect = SettingEffect::Retrieval,
       .range = {1, retrieve::kMaxPassages},
       .row = {.group = Group::Retrieval,
               .label = tr("Passages"),
               .help = tr("Max passages that an augment puts into the prompt")},
       .option = {.name = "--passages", .help = "Max passages of an augment"}},
      {.key = "ranking",
       .name = "ranking",
       .member = &RunSettings::ranking,
       .effect = SettingEffect::Retrieval,
       .choices = rankingChoices,
       .row = {.group = Group::Retrieval,
               .label = tr("Ranked by"),
               .help = tr("auto: by vectors if an augment names the embedding model, else by shared words")},
       .option =
           {.name = "--rank",
            .help =
                "Ranking of passages: lexical (by shared words, BM25), embedding (by vectors of the model), "
                "hybrid (by both) or auto. With auto, the ranking is embedding if the augment names this "
                "model as its embedding_model, else lexical"}},
      {.key = "chunk",
       .name = "chunk",
       .member = &RunSettings::chunk,
       .effect = SettingEffect::Retrieval,
       .range = {retrieve::kMinChunkTokens, retrieve::kMaxChunkTokens},
       .row = {.group = Group::Retrieval,
               .label = tr("Passage size"),
               .help = tr("Max tokens of a passage. If you change this size, documents are indexed again."),
               .unit = tr(" tokens"),
               .step = 16},
       .option = {.name = "--chunk", .help = "Max tokens of a passage"}},
      {.key = "overlap",
       .name = "overlap",
       .member = &RunSettings::overlap,
       .effect = SettingEffect::Retrieval,
       .range = {0, retrieve::kMaxChunkTokens / 4},
       .row = {.group = Group::Retrieval,
               .label = tr("Overlap"),
               .help = tr("Max tokens that neighboring passages share"),
               .unit = tr(" tokens")},
       .option = {.name = "--overlap",
                  .help = "Max tokens that neighboring passages share, at most a quarter of --chunk "
                          "(default: at most 16)",
                  .showsDefault = false}},
      {.key = "summaries",
       .name = "summaries",
       .member = &RunSettings::summaries,
       .effect = SettingEffect::Retrieval,
       .row = {.group = Group::Retrieval,
               .label = tr("Also search summaries by the model"),
               .help = tr("During indexing, the model summarizes groups of neighboring passages, and then "
                          "groups of summaries")},
       .option = {.name = "--summaries",
                  .help = "Let the model summarize groups of neighboring passages, then groups of "
                          "summaries, and search all of these texts"}},
      {.key = "embeddings",
       .name = "embeddings",
       .member = &RunSettings::embeddings,
       .effect = SettingEffect::Retrieval,
       .choices = embeddingsChoices,
       .row = {.group = Group::Retrieval,
               .label = tr("Embeddings from"),
               .help = tr("Source of the vectors for ranking")}},
      {.key = "embeddings_url",
       .name = "embeddingsUrl",
       .member = &RunSettings::embeddingsUrl,
       .effect = SettingEffect::Retrieval,
       .kind = TextKind::Address,
       .isUsed = [](const RunSettings& settings) { return settings.asksServer(); },
       .row = {.group = Group::Retrieval,
               .label = tr("Address"),
               .help = tr("A server with OpenAI's POST /embeddings"),
               .title = tr("Address of the server"),
               .example = "http://localhost:8000/v1"},
       .option = {.name = "--embeddings-url",
                  .help = "Get vectors from a server with OpenAI's POST /embeddings, e.g. "
                          "http://localhost:8000/v1, instead of from the model. The environment variable "
                          "SPANSCOPE_EMBEDDINGS_KEY contains the key of this server",
                  .value = "URL",
                  .needs = "--embeddings-model",
                  .showsDefault = false}},
      {.key = "embeddings_model",
       .name = "embeddingsModel",
       .member = &RunSettings::embeddingsModel,
       .effect = SettingEffect::Retrieval,
       .kind = TextKind::Name,
       .isUsed = [](const RunSettings& settings) { return settings.asksServer(); },
       .row = {.group = Group::Retrieval,
               .label = tr("Server model"),
               .help = tr("Name of the embedding model on the server"),
               .title = tr("Model of the server")},
       .option = {.name = "--embeddings-model",
                  .help = "Embedding model of the server",
                  .value = "NAME",
                  .needs = "--embeddings-url",
                  .showsDefault = false}},
  };
  return list;
}

std::string standardPolicy() {
  return policy::Choice().name();
}

const Setting* findSetting(std::string_view key) {
  const std::vector<Setting>& all = runSettings();
  const auto found = std::ranges::find(all, key, &Setting::key);
  return found == all.end() ? nullptr : &*found;
}

RunSettings onlyThose(const RunSettings& settings, std::initializer_list<SettingEffect> effects) {
  RunSettings only;
  for (const Setting& setting : runSettings()) {
    if (std::ranges::find(effects, setting.effect) == effects.end()) continue;
    std::visit([&](auto member) { only.*member = settings.*member; }, setting.member);
  }
  return only;
}

}  // namespace spanscope::workbench
