// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/checkpoint/checkpoint.h"
#include "engine/compute/backends.h"
#include "engine/model/config.h"
#include "engine/model/decoder.h"
#include "engine/model/weights.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::workbench {

struct ModelOptions {
  int threads = 0;                                            ///< 0: one per core
  std::string device{compute::kAutoDevice};                   ///< as for Backends::choose()
  bool exact = false;                                         ///< as in BackendOptions
  compute::Arithmetic arithmetic = compute::Arithmetic::F32;  ///< the same
  /// The cache that will be made besides the weights. Loading checks that both fit into the device's memory.
  /// Without it, only the weights are checked.
  std::optional<run::SessionConfig> session = {};
  std::filesystem::path adapter = {};        ///< directory of a LoRA adapter; empty: none
  const text::ChatTemplate* chat = nullptr;  ///< a person's choice; null: the checkpoint's own
  std::int32_t context = 0;                  ///< as RunSettings::context
  /// Whether the first token matters more than equal times of all passes: see model::Decoder on `lender`. Not
  /// for what compares times.
  bool borrow = false;
  std::stop_token stop = {};  ///< checked before each tensor
  /// Called before each tensor, on the loading thread, with the number of tensors read so far and of all
  /// tensors.
  std::function<void(std::size_t read, std::size_t all)> progress = {};
};

/// Everything that belongs to one loaded model and that a session refers to. Moving a bundle keeps these
/// references valid.
struct ModelBundle {
  std::string name;                   ///< of the directory or the shape
  checkpoint::Checkpoint checkpoint;  ///< nothing for a shape
  model::ModelConfig config;
  std::string adapter;           ///< name of the adapter that the model was opened with; empty: none
  model::WeightAmounts weights;  ///< matrices by format
  std::string fingerprint;       ///< of the model and a sample of the weights
  using FileTimes = std::map<std::string, std::filesystem::file_time_type>;
  FileTimes weightFiles;         ///< when each file of weights was written; none for a shape
  compute::ChosenDevice device;  ///< the device of `backend`
  compute::Arithmetic arithmetic = compute::Arithmetic::F32;  ///< of the backend, where it is a processor's
  std::unique_ptr<compute::Backend> backend;  ///< null for a mere description; so is the decoder
  std::unique_ptr<model::Decoder> decoder;
  std::unique_ptr<text::Tokenizer> tokenizer;  ///< null for a shape
  const text::ChatTemplate* chat = nullptr;    ///< null for a shape
  std::int32_t context = 0;                    ///< as RunSettings::context
  bool chatIsChosen = false;                   ///< by a person, in place of the checkpoint's own

  compute::BackendOptions backendOptions() const;
  /// The rate of the machine with which most weights are multiplied, if it has it.
  double compute::MachineRates::*arithmeticRate() const;

  /// Mean bytes of a weight's element in the processor's memory.
  double weightElementBytes() const;
  /// "bf16", or the formats of the matrices with most elements first: "Q4_K, Q6_K".
  std::string weightNames() const;
};

/// Adds the end tokens of the tokenizer's files, read from the checkpoint, and of the chat template (null:
/// none) to those of the model's own files. Throws Failure for tokens outside of the model's vocabulary.
void addEndTokens(model::ModelConfig& config, const checkpoint::Checkpoint& checkpoint,
                  const text::Tokenizer& tokenizer, const text::ChatTemplate* chat);

/// Loads a checkpoint. Throws Failure for every fault of it, and on a stop.
ModelBundle loadModelBundle(const checkpoint::Checkpoint& checkpoint, const compute::Backends& backends,
                            const ModelOptions& options = {});

/// The same without tokenizer and chat template. This suffices to compute span tables.
ModelBundle loadModelWeights(const checkpoint::Checkpoint& checkpoint, const compute::Backends& backends,
                             const ModelOptions& options = {});

/// The same without weights, backend and fingerprint. This suffices to lay out prompts and to predict runs.
/// `chat`, `context`: as in ModelOptions.
ModelBundle describeModel(const checkpoint::Checkpoint& checkpoint, const text::ChatTemplate* chat = nullptr,
                          std::int32_t context = 0);

/// A model with a named shape (model::namedShape) and random weights of a format. Throws Failure for other
/// names.
ModelBundle makeShapeBundle(const std::string& shape, const compute::Backends& backends,
                            const ModelOptions& options = {},
                            compute::WeightFormat format = compute::WeightFormat::BF16);

/// Adapts the cache to a kind of device: keys and values have the type with which the device attends best,
/// unless a type was chosen, and a pass has at least as many rows as suit the device.
run::SessionConfig suited(run::SessionConfig config, const compute::BackendKind& kind);

/// Opens a session on the bundle, adapted to its device. The bundle and the sink must outlive it. Throws
/// Failure if its pool does not fit into the device's memory.
std::unique_ptr<run::Session> makeSession(ModelBundle& bundle, const run::SessionConfig& config,
                                          trace::Sink& sink);

// Computes how much of a device's memory a model needs, before anything is loaded.

/// In bytes. A sum that is too large for the type becomes the type's largest value.
struct MemoryNeed {
  std::uint64_t weights = 0;
  std::uint64_t blockBytes = 0;                 ///< memory of the pool
  std::int64_t blocks = 0;                      ///< of the pool; 0: there is no pool
  compute::DType kvType = compute::DType::F32;  ///< of the pool
  std::uint64_t workspace = 0;  ///< activations of a pass, and other memory that the device needs for a pass

  std::uint64_t pool() const;
  std::uint64_t total() const;
};

/// `weights`: the matrices of the checkpoint. `session`: already adapted to the device; null for the weights
/// alone. `rules`: of the device.
MemoryNeed memoryNeed(const model::ModelConfig& config, const model::WeightAmounts& weights,
                      const run::SessionConfig* session, const compute::MemoryRules& rules);

/// Throws Failure if the device has too little memory; the error contains the numbers and the largest pool
/// that would fit. A device whose memory is unknown passes.
void checkMemory(const MemoryNeed& need, const compute::Device& device);

}  // namespace spanscope::workbench
