// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the models on this machine, with the facts of their headers and their tokenizer. No weights are read.
// Open this file to show another fact of a model.
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

/// The facts in the headers of a model, as far as they can be read.
struct ModelHeader {
  std::string family;           ///< "LlamaForCausalLM", or "llama" for a GGUF file; empty: unknown
  std::int64_t parameters = 0;  ///< elements of all tensors; 0: unknown
  /// Types of tensors with the number of their tensors. The type with the most elements comes first: {"Q4_K",
  /// 169}.
  std::vector<std::pair<std::string, std::int64_t>> types;
  std::int64_t context = 0;  ///< max number of positions; 0: unknown
  std::string chatTemplate;  ///< name of its known chat template; empty: unknown
  std::uint64_t bytes = 0;   ///< of its files of weights
  std::string problem;       ///< the reason why the model cannot run, as a sentence; empty: the model can run

  // Only for a model that can run.
  std::optional<model::ModelConfig> config;
  model::WeightAmounts weights;
};

/// Reads a model directory or a GGUF file. Never throws for its contents: `problem` has the reason.
ModelHeader readModelHeader(const std::filesystem::path& path);

struct FoundModel {
  ModelPlace place;
  ModelHeader header;
  /// Bytes for weights, pool and work on the requested device; 0: unknown.
  std::uint64_t memory = 0;

  bool canRun() const { return header.problem.empty(); }
  /// Whether spans are hits at other positions. True for every model that can run here, because the scores
  /// depend only on differences of positions. Nothing for other models.
  std::optional<bool> movesSpans() const { return canRun() ? std::optional(true) : std::nullopt; }
};

/// Lists models. The facts of a model are kept while path, size and time of its files stay the same. Any
/// thread may call any function.
class ModelFinder {
 public:
  /// `pool` and `device` are for the estimate of memory. Null: no estimate.
  std::vector<FoundModel> find(const ModelFolders& folders, const run::SessionConfig* pool,
                               const compute::BackendKind* device, const std::stop_token& stop = {});

  /// Returns the number of models that were read since the finder was made, without kept ones.
  std::size_t headersRead() const;

 private:
  ModelHeader headerOf(const std::filesystem::path& path);

  mutable std::mutex m_mutex;
  std::map<std::string, ModelHeader> m_headers;
  std::size_t m_read = 0;
};

}  // namespace spanscope::workbench
