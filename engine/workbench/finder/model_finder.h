// SPDX-License-Identifier: GPL-3.0-or-later
// The models on this machine, each with what its headers and its tokenizer say. No weights are read.
#pragma once

#include "engine/compute/backends.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/run/run_options.h"
#include "engine/workbench/finder/model_places.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {

/// What the headers of a model say, as far as they can be read.
struct ModelHeader {
  std::string family;           ///< "LlamaForCausalLM", or "llama" of a GGUF file; empty: not known
  std::int64_t parameters = 0;  ///< elements of all tensors; 0: not known
  /// Types of tensors with the number of their tensors, those with the most elements first: {"Q4_K", 169}.
  std::vector<std::pair<std::string, std::int64_t>> types;
  std::int64_t context = 0;  ///< most positions; 0: not known
  std::string chatTemplate;  ///< name of the entry that its template is; empty: it is none that is known
  std::uint64_t bytes = 0;   ///< of its files of weights
  std::string problem;       ///< why it cannot run, as a sentence; empty: it can

  // Only of one that can run.
  std::optional<model::ModelConfig> config;
  model::WeightAmounts weights;
};

/// A model directory or a GGUF file. Never throws for what is there: `problem` says it.
ModelHeader readModelHeader(const std::filesystem::path& path);

struct FoundModel {
  ModelPlace place;
  ModelHeader header;
  /// Bytes for weights, pool and work on the device that was asked for; 0: not known.
  std::uint64_t memory = 0;

  bool canRun() const { return header.problem.empty(); }
  /// Whether spans are found again at other positions: it computes scores from differences of positions
  /// alone, as every model does that runs here. Nothing of one that does not run.
  std::optional<bool> movesSpans() const { return canRun() ? std::optional(true) : std::nullopt; }
};

/// Lists models. What was read of one is remembered as long as path, size and time of its files stay the
/// same. Any thread may call any function.
class ModelFinder {
 public:
  /// `pool` and `device`: of which memory is told; null: of none.
  std::vector<FoundModel> find(const ModelFolders& folders, const run::SessionConfig* pool,
                               const compute::BackendKind* device, const std::stop_token& stop = {});

  /// How many models were read, and not remembered, since the finder was made.
  std::size_t headersRead() const;

 private:
  ModelHeader headerOf(const std::filesystem::path& path);

  mutable std::mutex m_mutex;
  std::map<std::string, ModelHeader> m_headers;
  std::size_t m_read = 0;
};

}  // namespace spanscope::workbench
