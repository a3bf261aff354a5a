// SPDX-License-Identifier: GPL-3.0-or-later
// Defines how a document is run. Open this file to add a setting: a member here, an entry in
// settings_table.cpp, and code that uses it.
#pragma once

#include "engine/workbench/setting_choices.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// Name of the policy for runs that do not choose one.
std::string standardPolicy();

/// The settings of the next run. runSettings() has their possible values.
struct RunSettings {
  std::string model;                  ///< directory of the checkpoint; empty: the bundled one
  std::string adapter;                ///< directory of a LoRA adapter for the model; empty: none
  std::string chatTemplate = "auto";  ///< Name of a chat template; "auto": the checkpoint's own.
  /// A JSON object: values for variables of the checkpoint's own template, as for text::TemplateProgram.
  /// Empty: none. With values, Jinja renders the template.
  std::string templateVariables;
  /// Max tokens for which a model with LongRoPE is opened; 0: the model's original context.
  std::int32_t context = 0;
  /// Names of other models, separated by commas. The checkpoint replaces these models without a warning.
  std::string standsFor;
  /// Name of the server that runs generate nodes (workbench/servers); empty: the embedded engine.
  std::string server;
  std::string policy = standardPolicy();
  std::string layout = "exact";  ///< layout of prompts
  std::uint64_t seed = 0;
  std::int32_t blockSize = 16;
  std::int32_t blockCount = 512;         ///< including the null block
  std::string kvType = "auto";           ///< "auto": the type with the fastest attention on the device
  std::int32_t cacheHostMebibytes = 0;   ///< host memory for blocks that left the pool; 0: none
  std::int32_t cacheDiskMebibytes = 0;   ///< disk space for blocks that outlive the program; 0: none
  std::string device = "auto";           ///< "auto": the first usable device
  bool exact = false;                    ///< rows are bit-equal even if this takes longer
  std::string arithmetic = "f32";        ///< name of a compute::Arithmetic
  std::int32_t threads = 0;              ///< 0: one per core
  std::int32_t maxTokens = 0;            ///< for generate nodes without a limit; 0: the model's own
  bool observe = true;                   ///< record attention
  std::vector<std::int32_t> layers;      ///< the observed layers; empty: all layers
  std::string attention = "answer";      ///< the part of the attention that is recorded
  bool observeRows = false;              ///< by token instead of by block
  std::int32_t attentionMebibytes = 64;  ///< max attention that a run records
  std::int32_t keptMebibytes = 512;      ///< max events that the window keeps
  bool distribute = true;                ///< plus distribution
  std::string outputForm = "recomputed";
  /// Attention locality: max entries that one judge reads. 0 and 1: the query does not change.
  std::uint32_t locality = 0;
  std::string localityShape = "tree";
  std::string reducePrompt;   ///< question of every level except the first; empty: the same question on all
                              ///< levels
  std::int32_t passages = 5;  ///< max passages that an augment finds
  std::string ranking = "auto";
  std::int32_t chunk = 128;   ///< max tokens of a passage
  std::int32_t overlap = 16;  ///< max tokens that passages share; at most a quarter of `chunk` counts
  bool summaries = false;     ///< also search summaries, which the model writes
  std::string embeddings = "checkpoint";  ///< the source of vectors
  std::string embeddingsUrl;              ///< address of the server's API, e.g. "http://localhost:8000/v1"
  std::string embeddingsModel;            ///< the model for vectors on that server

  bool operator==(const RunSettings&) const = default;

  bool hasPlies() const { return locality >= 2; }
  bool runsOnServer() const { return !server.empty(); }
  bool asksServer() const { return embeddings == "server"; }
};

/// Returns all settings, in the order of documents.
const std::vector<Setting>& runSettings();

/// Returns the setting with this key; null if there is none.
const Setting* findSetting(std::string_view key);

/// Returns the settings with one of these effects. The others have their defaults.
RunSettings onlyThose(const RunSettings& settings, std::initializer_list<SettingEffect> effects);

}  // namespace spanscope::workbench
