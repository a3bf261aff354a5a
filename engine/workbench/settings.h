// SPDX-License-Identifier: GPL-3.0-or-later
// How a document is run. A new setting needs a member here, an entry in settings_table.cpp, and code that
// uses it.
#pragma once

#include "engine/workbench/setting.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// Name of the policy for runs that do not choose one.
std::string standardPolicy();

/// The settings apply to the next run. runSettings() contains their possible values.
struct RunSettings {
  std::string model;                  ///< directory of the checkpoint; empty: the bundled one
  std::string adapter;                ///< directory of a LoRA adapter for it; empty: none
  std::string chatTemplate = "auto";  ///< name of a chat template; "auto": the checkpoint's own
  /// Tokens that a model whose positions have two scales (LongRoPE) is opened for; 0: its original context.
  std::int32_t context = 0;
  /// Names of other models, separated by commas. The checkpoint replaces them without a warning.
  std::string standsFor;
  /// Name of the server that answers generates (workbench/servers); empty: the embedded engine does.
  std::string server;
  std::string policy = standardPolicy();
  std::string layout = "exact";  ///< of prompts
  std::uint64_t seed = 0;
  std::int32_t blockSize = 16;
  std::int32_t blockCount = 512;         ///< including the null block
  std::string kvType = "auto";           ///< "auto": the type with which the device attends best
  std::int32_t cacheHostMebibytes = 0;   ///< host memory for blocks that left the pool; 0: none
  std::int32_t cacheDiskMebibytes = 0;   ///< disk space for blocks that outlive the program; 0: none
  std::string device = "auto";           ///< "auto": the first usable device
  bool exact = false;                    ///< rows are bit-equal even if that takes longer
  std::string arithmetic = "f32";        ///< name of a compute::Arithmetic
  std::int32_t threads = 0;              ///< 0: one per core
  std::int32_t maxTokens = 0;            ///< for generates without a limit; 0: the model's own
  bool observe = true;                   ///< record attention
  std::vector<std::int32_t> layers;      ///< the observed layers; empty: all layers
  std::string attention = "answer";      ///< how much of the attention is recorded
  bool observeRows = false;              ///< by token instead of by block
  std::int32_t attentionMebibytes = 64;  ///< most attention that a run records
  std::int32_t keptMebibytes = 512;      ///< most events that the window keeps
  bool distribute = true;                ///< plus distribution
  std::string outputForm = "anew";
  /// Attention locality: most entries that one judge reads. 0: the query stays as it is; 1 means 0.
  std::uint32_t locality = 0;
  std::string localityShape = "tree";
  std::string reducePrompt;    ///< question of every ply except the first; empty: the same question
                               ///< everywhere
  std::int32_t fragments = 5;  ///< most fragments that an augment finds
  std::string ranking = "auto";
  std::int32_t chunk = 128;   ///< most tokens in a fragment
  std::int32_t overlap = 16;  ///< most tokens that fragments share; at most a quarter of `chunk` counts
  bool summaries = false;     ///< also search summaries, which the model writes
  std::string embeddings = "checkpoint";  ///< whose vectors are used
  std::string embeddingsUrl;              ///< of the server's API, e.g. "http://localhost:8000/v1"
  std::string embeddingsModel;            ///< the model that embeds there

  bool operator==(const RunSettings&) const = default;

  bool hasPlies() const { return locality >= 2; }
  bool runsOnServer() const { return !server.empty(); }
  bool asksServer() const { return embeddings == "server"; }
};

/// All settings, in the order in which documents have them.
const std::vector<Setting>& runSettings();

/// The setting with this key; nullptr if there is none.
const Setting* findSetting(std::string_view key);

/// Only the settings with one of these effects; the others have their defaults.
RunSettings onlyThose(const RunSettings& settings, std::initializer_list<SettingEffect> effects);

}  // namespace spanscope::workbench
