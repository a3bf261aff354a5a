// SPDX-License-Identifier: GPL-3.0-or-later
// How a document is to be run. A new setting is a member here and its entry in settings_table.cpp, and
// whatever uses it.
#pragma once

#include "engine/workbench/setting.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// Name of the policy of runs for which none was chosen.
std::string standardPolicy();

/// Applied on the next run. What each may be stands in runSettings().
struct RunSettings {
  std::string model;  ///< directory of the checkpoint; empty: the bundled one
  /// Names of other models, separated by commas, that the checkpoint stands in for without a warning.
  std::string standsFor;
  std::string policy = standardPolicy();
  std::string layout = "exact";  ///< of prompts
  std::uint64_t seed = 0;
  std::int32_t blockSize = 16;
  std::int32_t blockCount = 512;         ///< the null block included
  std::string kvType = "auto";           ///< "auto": what the device attends to best
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
const std::vector<Setting>& runSettings();

/// The setting of that key; nullptr if there is none.
const Setting* findSetting(std::string_view key);

/// Those settings alone that have one of these effects; the others are as they are by default.
RunSettings onlyThose(const RunSettings& settings, std::initializer_list<SettingEffect> effects);

}  // namespace spanscope::workbench
