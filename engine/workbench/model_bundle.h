// SPDX-License-Identifier: GPL-3.0-or-later
// Loads a model with its tokenizer, template and backend. Open this file to change loading or the check of
// memory.
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
#include <vector>

namespace spanscope::workbench {

struct ModelOptions {
  int threads = 0;                                            ///< 0: one per core
  std::string device{compute::kAutoDevice};                   ///< as for Backends::choose()
  bool exact = false;                                         ///< like BackendOptions::exact
  compute::Arithmetic arithmetic = compute::Arithmetic::F32;  ///< like BackendOptions::arithmetic
  /// The cache that will be allocated besides the weights. Loading checks that weights and cache fit into the
  /// device's memory. Without a cache, only the weights are checked.
  std::optional<run::SessionConfig> session = {};
  std::filesystem::path adapter = {};        ///< directory of a LoRA adapter; empty: none
  const text::ChatTemplate* chat = nullptr;  ///< the user's choice; null: the checkpoint's own
  std::int32_t context = 0;                  ///< like RunSettings::context
  /// Whether a short time to first token is more important than equal times of all forward passes. See
  /// `lender` of model::DecoderOptions. Not for code that compares times.
  bool borrow = false;
  std::stop_token stop = {};  ///< checked before each tensor.
  /// Called before each tensor, on the loading thread, with the number of tensors read so far and of all
  /// tensors.
  std::function<void(std::size_t read, std::size_t all)> progress = {};
};

/// The parts of one loaded model that a session refers to. Moving a bundle keeps these references valid.
struct ModelBundle {
  std::string name;                   ///< of the directory or the shape
  checkpoint::Checkpoint checkpoint;  ///< empty for a shape
  model::ModelConfig config;
  std::string adapter;                      ///< name of the adapter of the opened model; empty: none
  model::WeightAmounts weights;             ///< matrices by format
  std::vector<std::string> ignoredTensors;  ///< see model::tensorsOfOtherParts()
  std::string fingerprint;                  ///< of the model and a sample of the weights
  using FileTimes = std::map<std::string, std::filesystem::file_time_type>;
  FileTimes weightFiles;         ///< when each file of weights was written; empty for a shape
  compute::ChosenDevice device;  ///< the device of `backend`
  compute::Arithmetic arithmetic = compute::Arithmetic::F32;  ///< of the backend, if it is a processor
  std::unique_ptr<compute::Backend> backend;  ///< null for a description without weights, like the decoder
  std::unique_ptr<model::Decoder> decoder;
  std::unique_ptr<text::Tokenizer> tokenizer;  ///< null for a shape
  const text::ChatTemplate* chat = nullptr;    ///< null for a shape
  std::int32_t context = 0;                    ///< like RunSettings::context
  bool chatIsChosen = false;                   ///< by the user, in place of the checkpoint's own

  compute::BackendOptions backendOptions() const;
  /// Returns the rate of the machine that limits the matrix products of most weights, if the machine has this
  /// rate.
  double compute::MachineRates::*arithmeticRate() const;

  /// Returns the mean number of bytes of a weight's element in the processor's memory.
  double weightElementBytes() const;
  /// Returns "bf16", or the formats of the matrices, those with the most elements first: "Q4_K, Q6_K".
  std::string weightNames() const;
};

/// Adds end tokens to the end tokens of the model's own files. These tokens come from the tokenizer's files
/// and from the chat template (null: none). Throws Failure for tokens outside of the model's vocabulary.
void addEndTokens(model::ModelConfig& config, const checkpoint::Checkpoint& checkpoint,
                  const text::Tokenizer& tokenizer, const text::ChatTemplate* chat);

/// Throws Failure if a text can have a token that the model has no row for. A control piece outside of the
/// vocabulary is no error, because a text never contains it.
void requirePiecesInVocabulary(const text::Tokenizer& tokenizer, const model::ModelConfig& config);

/// Loads a checkpoint. Throws Failure for a damaged checkpoint, and when loading is stopped.
ModelBundle loadModelBundle(const checkpoint::Checkpoint& checkpoint, const compute::Backends& backends,
                            const ModelOptions& options = {});

/// Loads a checkpoint without tokenizer and chat template, e.g. to compute span tables.
ModelBundle loadModelWeights(const checkpoint::Checkpoint& checkpoint, const compute::Backends& backends,
                             const ModelOptions& options = {});

/// Describes a checkpoint without weights, backend and fingerprint, e.g. to lay out prompts and to predict
/// runs. `chat`, `context`: as in ModelOptions.
ModelBundle describeModel(const checkpoint::Checkpoint& checkpoint, const text::ChatTemplate* chat = nullptr,
                          std::int32_t context = 0);

/// Makes a model with a named shape (model::namedShape) and random weights of a format. Throws Failure for
/// other names.
ModelBundle makeShapeBundle(const std::string& shape, const compute::Backends& backends,
                            const ModelOptions& options = {},
                            compute::WeightFormat format = compute::WeightFormat::BF16);

/// Adapts the cache to a kind of device. Keys and values have the type with the fastest attention, unless a
/// type was chosen. A forward pass has at least the number of tokens that suits the device.
run::SessionConfig suited(run::SessionConfig config, const compute::BackendKind& kind);

/// Opens a session on the bundle, adapted to its device. The bundle and the sink must outlive the session.
/// Throws Failure if the pool of the session does not fit into the device's memory.
std::unique_ptr<run::Session> makeSession(ModelBundle& bundle, const run::SessionConfig& config,
                                          trace::Sink& sink);

// Computes how much of a device's memory a model needs, before loading.

/// In bytes. A sum beyond the type becomes the type's largest value.
struct MemoryNeed {
  std::uint64_t weights = 0;
  std::uint64_t blockBytes = 0;                 ///< memory of the pool
  std::int64_t blocks = 0;                      ///< of the pool; 0: there is no pool
  compute::DType kvType = compute::DType::F32;  ///< of the pool
  std::uint64_t workspace = 0;                  ///< activations, and other device memory of a forward pass

  std::uint64_t pool() const;
  std::uint64_t total() const;
};

/// `weights`: the matrices of the checkpoint. `session`: already adapted to the device. Null: only the
/// weights. `rules`: of the device.
MemoryNeed memoryNeed(const model::ModelConfig& config, const model::WeightAmounts& weights,
                      const run::SessionConfig* session, const compute::MemoryRules& rules);

/// Throws Failure if the device has too little memory. The error contains the numbers and the largest pool
/// that would fit. For a device of unknown memory, there is no check.
void checkMemory(const MemoryNeed& need, const compute::Device& device);

}  // namespace spanscope::workbench
