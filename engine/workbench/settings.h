// SPDX-License-Identifier: GPL-3.0-or-later
// How a document is to be run: the settings, and what is said of each. A new setting is a member here and its
// entry in the list, and whatever uses it.
#pragma once

#include "engine/cache/pool_limits.h"
#include "engine/compute/thread_limit.h"
#include "engine/policy/policies.h"
#include "engine/retrieve/retrieval_limits.h"
#include "engine/workbench/setting.h"
#include "engine/workbench/setting_choices.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// Applied on the next run. What each may be stands in the list below.
struct RunSettings {
  std::string model;  ///< directory of the checkpoint; empty: the bundled one
  /// Names of other models, separated by commas, that the checkpoint stands in for without a warning.
  std::string standsFor;
  std::string policy = policy::Choice().name();
  std::string layout = "exact";  ///< of prompts
  std::uint64_t seed = 0;
  std::int32_t blockSize = 16;
  std::int32_t blockCount = 512;  ///< the null block included
  std::string kvType = "f32";
  std::int32_t cacheHostMebibytes = 0;   ///< of blocks that left the pool, in host memory; 0: none
  std::int32_t cacheDiskMebibytes = 0;   ///< of blocks that outlive the program, in a folder; 0: none
  std::string device = "auto";           ///< that computes; "auto": the first that can be used
  bool exact = false;                    ///< rows are bit-equal also where the device need not
  std::int32_t threads = 0;              ///< 0: one a core
  std::int32_t maxTokens = 0;            ///< of generates that set none; 0: the model's own
  bool observe = true;                   ///< record attention
  std::vector<std::int32_t> layers;      ///< which layers; empty: all
  std::string attention = "answer";      ///< how much of it
  bool observeRows = false;              ///< for every token instead of every block
  std::int32_t attentionMebibytes = 64;  ///< most of it that a run records
  std::int32_t keptMebibytes = 512;      ///< of events that the window keeps
  bool distribute = true;                ///< plus distribution
  std::string outputForm = "anew";
  /// Attention locality: most entries that one judge reads; 0: the query stays as it is; 1 means 0.
  std::uint32_t locality = 0;
  std::string localityShape = "tree";
  std::string reducePrompt;    ///< question of every ply but the first; empty: the same all the way up
  std::int32_t fragments = 5;  ///< that an augment finds
  std::string ranking = "auto";
  std::int32_t chunk = 128;   ///< most tokens of a fragment
  std::int32_t overlap = 16;  ///< most tokens that fragments share; at most a quarter of `chunk` counts
  bool summaries = false;     ///< search summaries too, made by the model
  std::string embeddings = "checkpoint";  ///< whose vectors
  std::string embeddingsUrl;              ///< of the server's API, e.g. "http://localhost:8000/v1"
  std::string embeddingsModel;            ///< that embeds there

  bool operator==(const RunSettings&) const = default;

  bool hasPlies() const { return locality >= 2; }
  bool asksServer() const { return embeddings == "server"; }
};

/// All settings, in the order of documents.
inline const std::vector<Setting>& runSettings() {
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
                  .help = "Hugging Face model directory; default: the bundled model",
                  .value = "DIR",
                  .showsDefault = false}},
      {.key = "stands_for",
       .name = "standsFor",
       .member = &RunSettings::standsFor,
       .effect = SettingEffect::Window,
       .onlyWhereChosen = true,
       .row = {.group = Group::Model,
               .place = 1,
               .label = tr("Stands for"),
               .help = tr("Models that a query may name and that this checkpoint runs here without a "
                          "warning, separated by commas. Chosen by “Run it here”."),
               .title = tr("Stands for"),
               .example = tr("no other model")}},
      {.key = "policy",
       .name = "policy",
       .member = &RunSettings::policy,
       .effect = SettingEffect::Run,
       .choices = policyChoices,
       .kind = TextKind::Policy,
       .row = {.group = Group::Cache, .label = tr("Reuse policy")},
       .option = {.name = "--policy", .help = "Reuse policy, with its values in brackets", .value = "NAME"}},
      {.key = "prompt_layout",
       .name = "layout",
       .member = &RunSettings::layout,
       .effect = SettingEffect::Run,
       .choices = layoutChoices,
       .onlyWhereChosen = true,
       .row = {.group = Group::Cache,
               .label = tr("Layout"),
               .help =
                   tr("How prompts become tokens: exactly the chat template's text, or with pads, markers "
                      "and cropped replies as span servers want them")},
       .option = {.name = "--layout", .help = "How prompts become tokens"}},
      {.key = "seed",
       .name = "seed",
       .member = &RunSettings::seed,
       .effect = SettingEffect::Plan,
       .row = {.group = Group::Run, .label = tr("Seed"), .title = tr("Seed")},
       .option = {.name = "--seed", .help = "Seed of the run; each step draws from its own"}},
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
       .option = {.name = "--block-size", .help = "Tokens a block of the cache"}},
      {.key = "blocks",
       .name = "blockCount",
       .member = &RunSettings::blockCount,
       .effect = SettingEffect::Session,
       .range = {cache::kMinBlockCount, cache::kMaxBlockCount},
       .row = {.group = Group::Cache, .label = tr("Blocks in the pool"), .step = 64},
       .option = {.name = "--blocks",
                  .help = "Blocks of the cache; 0: as many as are usual",
                  .range = WholeRange{cache::kMinBlockCount, cache::kMaxBlockCount, true}}},
      {.key = "kv_type",
       .name = "kvType",
       .member = &RunSettings::kvType,
       .effect = SettingEffect::Session,
       .choices = kvTypeChoices,
       .row = {.group = Group::Cache, .label = tr("Keys and values")},
       .option = {.name = "--kv", .help = "Type of cached keys and values: f32 or bf16"}},
      {.key = "cache_host_mib",
       .name = "cacheHostMebibytes",
       .member = &RunSettings::cacheHostMebibytes,
       .effect = SettingEffect::Session,
       .range = {0, kMostMebibytes},
       .onlyWhereChosen = true,
       .row = {.group = Group::Cache,
               .place = 1,
               .label = tr("Keep in host memory"),
               .help = tr("Blocks that leave the pool are kept in memory, the last used ones that fit, and "
                          "come back as hits."),
               .least = tr("nothing"),
               .unit = tr(" MiB"),
               .step = 64},
       .option = {.name = "--cache-host-mib",
                  .help = "Keep blocks that leave the pool in host memory, at most so many MiB; 0: off"}},
      {.key = "cache_disk_mib",
       .name = "cacheDiskMebibytes",
       .member = &RunSettings::cacheDiskMebibytes,
       .effect = SettingEffect::Session,
       .range = {0, kMostMebibytes},
       .onlyWhereChosen = true,
       .row = {.group = Group::Cache,
               .place = 1,
               .label = tr("Keep on the disk"),
               .help = tr("Each run stores its blocks in your cache folder, the last used ones that fit, and "
                          "finds them again after the program was ended. Who can read that folder can learn "
                          "the prompts; it is for you alone."),
               .least = tr("nothing"),
               .unit = tr(" MiB"),
               .step = 256},
       .option = {.name = "--cache-disk-mib",
                  .help = "Store blocks in a folder, at most so many MiB, and find them there in later runs; "
                          "0: off"}},
      {.key = "device",
       .name = "device",
       .member = &RunSettings::device,
       .effect = SettingEffect::Model,
       .choices = deviceChoices,
       .kind = TextKind::Device,
       .onlyWhereChosen = true,
       .row = {.group = Group::Model,
               .label = tr("Device"),
               .help = tr("What computes: the first device that can be used, or one of those of this "
                          "machine. “spanq devices” lists them all.")},
       .option = {.name = "--device",
                  .help = "Device that computes: auto (the first that can be used), cpu, cuda (the first "
                          "NVIDIA GPU) or one of several by its number, e.g. cuda:1; \"spanq devices\" lists "
                          "them"}},
      {.key = "exact",
       .name = "exact",
       .member = &RunSettings::exact,
       .effect = SettingEffect::Model,
       .onlyWhereChosen = true,
       .isUsed = [](const RunSettings& settings) { return settings.device != "cpu"; },
       .row = {.group = Group::Model,
               .label = tr("Bit-identical results on a GPU"),
               .help = tr("What a token gives does not depend on what is computed beside it: a reused block "
                          "has the bits of a recomputed one. The processor always computes so; a GPU takes "
                          "longer.")},
       .option = {.name = "--exact",
                  .help = "Have a GPU give every token the same bits whatever is computed beside it, which "
                          "takes longer; the CPU always does"}},
      {.key = "threads",
       .name = "threads",
       .member = &RunSettings::threads,
       .effect = SettingEffect::Model,
       .range = {0, compute::kMostThreads},
       .row = {.group = Group::Model, .label = tr("Threads"), .least = tr("one a core")},
       .option = {.name = "--threads", .help = "Threads; 0: one a core, and at most 8 a core"}},
      {.key = "max_tokens",
       .name = "maxTokens",
       .member = &RunSettings::maxTokens,
       .effect = SettingEffect::Run,
       .range = {0, kMost},
       .row = {.group = Group::Run,
               .label = tr("Max tokens"),
               .help = tr("Of generates that set no limit themselves"),
               .least = tr("the model's own")},
       .option = {.name = "--max-tokens",
                  .help = "Most tokens of a step that sets no limit; 0: the model's own"}},
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
       .option = {.name = "--observe", .help = "Layers whose attention goes into the trace, e.g. 0,5"}},
      {.key = "attention",
       .name = "attention",
       .member = &RunSettings::attention,
       .effect = SettingEffect::Record,
       .choices = attentionChoices,
       .onlyWhereChosen = true,
       .isUsed = [](const RunSettings& settings) { return settings.observe; },
       .row = {.group = Group::Recording,
               .label = tr("Detail"),
               .help = tr("The answer: of each of its tokens the documents by layer and head, and the blocks "
                          "as the mean of all heads. Maps of one layer and head are made from that on "
                          "request, so the last choice is seldom needed.")},
       .option = {.name = "--attention",
                  .help = "Whose attention goes into the trace",
                  .needs = "--observe"}},
      {.key = "every_token",
       .name = "observeRows",
       .member = &RunSettings::observeRows,
       .effect = SettingEffect::Record,
       .isUsed = [](const RunSettings& settings) { return settings.observe; },
       .row = {.group = Group::Recording, .label = tr("For every token instead of every block")}},
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
               .help = tr("How much attention a run records. As that fills up, first layers are left out, "
                          "then blocks; the trace says how many."),
               .unit = tr(" MiB")},
       .option = {.name = "--observe-limit",
                  .help = "Most MiB of attention that a run records; the trace says what was left out",
                  .needs = "--observe"}},
      {.key = "kept_mib",
       .name = "keptMebibytes",
       .member = &RunSettings::keptMebibytes,
       .effect = SettingEffect::Window,
       .range = {16, kMostMebibytes},
       .onlyWhereChosen = true,
       .row = {.group = Group::Recording,
               .place = 1,
               .label = tr("Window keeps"),
               .help = tr("How much of a session the window keeps. When there is more, the oldest events go; "
                          "a file that is being recorded has them all."),
               .unit = tr(" MiB")}},
      {.key = "distribute",
       .name = "distribute",
       .member = &RunSettings::distribute,
       .effect = SettingEffect::Plan,
       .row = {.group = Group::Run, .place = 1, .label = tr("Distribute plus into inner generates")},
       .option = {.name = "--no-distribute",
                  .help = "Give an outer prompt only the outputs of inner steps, not their prompts as well",
                  .isNegated = true}},
      {.key = "output_form",
       .name = "outputForm",
       .member = &RunSettings::outputForm,
       .effect = SettingEffect::Plan,
       .choices = outputFormChoices,
       .row = {.group = Group::Run,
               .label = tr("Inner answers"),
               .help = tr("How the answer of an inner generate reaches the prompt around it")},
       .option = {.name = "--output-form",
                  .help = "How such an output gets its keys and values: anew, or reused as they were "
                          "(approximate)"}},
      {.key = "locality",
       .name = "locality",
       .member = &RunSettings::locality,
       .effect = SettingEffect::Plan,
       .range = {0, kMostEntries},
       .row = {.group = Group::Locality,
               .label = tr("Entries a judge"),
               .help = tr("A judge of many candidates becomes judges of at most so many, where a plus "
                          "declares that their order does not matter. It changes what each judge reads."),
               .least = tr("off"),
               .range = WholeRange{1, kMostEntries}},
       .option = {.name = "--locality",
                  .help = "Attention locality: judges of many become trees of judges of at most so many; 0: "
                          "off",
                  .range = WholeRange{2, kMostEntries, true}}},
      {.key = "locality_shape",
       .name = "localityShape",
       .member = &RunSettings::localityShape,
       .effect = SettingEffect::Plan,
       .choices = localityShapeChoices,
       .isUsed = [](const RunSettings& settings) { return settings.hasPlies(); },
       .row = {.group = Group::Locality, .label = tr("Shape")},
       .option = {.name = "--locality-shape",
                  .help = "Plies of judges until one is left (tree), or one ply and then one judge of all "
                          "replies (map-reduce; documents are judged in portions too)",
                  .needs = "--locality"}},
      {.key = "reduce_prompt",
       .name = "reducePrompt",
       .member = &RunSettings::reducePrompt,
       .effect = SettingEffect::Plan,
       .isLong = true,
       .isUsed = [](const RunSettings& settings) { return settings.hasPlies(); },
       .row = {.group = Group::Locality,
               .label = tr("Later plies"),
               .help = tr("What every ply but the first is asked"),
               .example = tr("the same question")},
       .option = {.name = "--reduce-prompt",
                  .help = "The question of every ply but the first; without it the question stays the same",
                  .value = "TEXT",
                  .needs = "--locality",
                  .showsDefault = false}},
      {.key = "fragments",
       .name = "fragments",
       .member = &RunSettings::fragments,
       .effect = SettingEffect::Retrieval,
       .range = {1, retrieve::kMaxFragments},
       .row = {.group = Group::Retrieval,
               .label = tr("Fragments"),
               .help = tr("Most fragments that an augment puts into the prompt")},
       .option = {.name = "--fragments", .help = "Most fragments that an augment finds"}},
      {.key = "ranking",
       .name = "ranking",
       .member = &RunSettings::ranking,
       .effect = SettingEffect::Retrieval,
       .choices = rankingChoices,
       .row = {.group = Group::Retrieval,
               .label = tr("Ranked by"),
               .help = tr("auto: by vectors where an augment names the model that embeds, else by shared "
                          "words")},
       .option = {.name = "--rank",
                  .help = "How fragments are ranked: by the words they share with the question (lexical, "
                          "BM25), by the vectors of the model (embedding), by both (hybrid), or by vectors "
                          "where the augment's embedding_model names the model and else by words (auto)"}},
      {.key = "chunk",
       .name = "chunk",
       .member = &RunSettings::chunk,
       .effect = SettingEffect::Retrieval,
       .range = {retrieve::kMinChunkTokens, retrieve::kMaxChunkTokens},
       .row = {.group = Group::Retrieval,
               .label = tr("Chunk size"),
               .help = tr("Most tokens of a fragment. Documents are indexed again for another size."),
               .unit = tr(" tokens"),
               .step = 16},
       .option = {.name = "--chunk", .help = "Most tokens of a fragment"}},
      {.key = "overlap",
       .name = "overlap",
       .member = &RunSettings::overlap,
       .effect = SettingEffect::Retrieval,
       .range = {0, retrieve::kMaxChunkTokens / 4},
       .row = {.group = Group::Retrieval,
               .label = tr("Overlap"),
               .help = tr("Most tokens that a fragment shares with the one before"),
               .unit = tr(" tokens")},
       .option = {.name = "--overlap",
                  .help = "Most tokens that a fragment shares with the one before: at most a quarter of "
                          "--chunk; without, at most 16",
                  .showsDefault = false}},
      {.key = "summaries",
       .name = "summaries",
       .member = &RunSettings::summaries,
       .effect = SettingEffect::Retrieval,
       .row = {.group = Group::Retrieval,
               .label = tr("Search summaries too, made by the model"),
               .help = tr("The model sums up neighbouring fragments, and their summaries again, when "
                          "documents are indexed")},
       .option = {.name = "--summaries",
                  .help = "Have the model sum up neighbouring fragments, and their summaries again, and "
                          "search those too"}},
      {.key = "embeddings",
       .name = "embeddings",
       .member = &RunSettings::embeddings,
       .effect = SettingEffect::Retrieval,
       .choices = embeddingsChoices,
       .row = {.group = Group::Retrieval,
               .label = tr("Embeddings from"),
               .help = tr("Whose vectors fragments are ranked by")}},
      {.key = "embeddings_url",
       .name = "embeddingsUrl",
       .member = &RunSettings::embeddingsUrl,
       .effect = SettingEffect::Retrieval,
       .kind = TextKind::Address,
       .isUsed = [](const RunSettings& settings) { return settings.asksServer(); },
       .row = {.group = Group::Retrieval,
               .label = tr("Address"),
               .help = tr("Of an API with OpenAI's POST /embeddings"),
               .title = tr("Address of the server"),
               .example = "http://localhost:8000/v1"},
       .option = {.name = "--embeddings-url",
                  .help = "Take vectors from a server with OpenAI's POST /embeddings, e.g. "
                          "http://localhost:8000/v1, instead of the model; SPANSCOPE_EMBEDDINGS_KEY in the "
                          "environment is its key",
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
               .label = tr("Model there"),
               .help = tr("The model that the server is to embed with, as it calls it"),
               .title = tr("Model of the server")},
       .option = {.name = "--embeddings-model",
                  .help = "The model that the server is to embed with",
                  .value = "NAME",
                  .needs = "--embeddings-url",
                  .showsDefault = false}},
  };
  return list;
}

/// The setting of that key; nullptr if there is none.
const Setting* findSetting(std::string_view key);

/// Those settings alone that have one of these effects; the others are as they are by default.
RunSettings onlyThose(const RunSettings& settings, std::initializer_list<SettingEffect> effects);

}  // namespace spanscope::workbench
