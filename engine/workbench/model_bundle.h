// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"
#include "engine/model/config.h"
#include "engine/model/decoder.h"
#include "engine/run/session.h"
#include "engine/run/session_config.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::workbench {

struct ModelOptions {
  int threads = 0;                           ///< 0: one a core
  std::string device{compute::kAutoDevice};  ///< as Backends::choose() knows them
  bool exact = false;                        ///< as BackendOptions has it
  /// The cache that is to be made beside the weights, and whether that fits: without, the weights alone are
  /// asked about.
  std::optional<run::SessionConfig> session = {};
  const text::ChatTemplate* chat = nullptr;  ///< chosen by a person; null: the directory's own
  std::stop_token stop = {};                 ///< asked before each tensor
  /// Told before each tensor how many have been read, of how many; on the thread that loads.
  std::function<void(std::size_t read, std::size_t all)> progress = {};
};

/// Everything that belongs to one loaded model and that a session refers to. Moving it keeps the references
/// valid.
struct ModelBundle {
  std::string name;                 ///< of the directory or the shape
  std::filesystem::path directory;  ///< empty for a shape
  model::ModelConfig config;
  compute::DType weightType = compute::DType::BF16;  ///< of the checkpoint's matrices
  std::string fingerprint;                           ///< of model and weights, of these a sample
  std::string weightsDigest;                         ///< of all weights as they were loaded
  compute::ChosenDevice device;                      ///< of `backend`
  std::unique_ptr<compute::Backend> backend;         ///< null for a mere description, as is the decoder
  std::unique_ptr<model::Decoder> decoder;
  std::unique_ptr<text::Tokenizer> tokenizer;  ///< null for a shape
  const text::ChatTemplate* chat = nullptr;    ///< null for a shape

  compute::BackendOptions backendOptions() const;

  /// Bytes of a weight's element as the backend keeps it.
  double weightElementBytes() const { return weightType == compute::DType::BF16 ? 2 : 4; }
};

/// Throws Failure, naming the directory, unless it is one that can hold a model: a directory with
/// config.json.
void requireModel(const std::filesystem::path& directory);

/// Adds to the end tokens of the model's own files those of the tokenizer's and of the chat template (null:
/// none), read from the directory. Throws Failure for tokens that the model cannot say.
void addEndTokens(model::ModelConfig& config, const std::filesystem::path& directory,
                  const text::Tokenizer& tokenizer, const text::ChatTemplate* chat);

/// Loads a Hugging Face model directory. Throws Failure for whatever is wrong with it, and where it is
/// stopped.
ModelBundle loadModelBundle(const std::filesystem::path& directory, const compute::Backends& backends,
                            const ModelOptions& options = {});

/// The same without tokenizer and chat template: enough to compute span tables.
ModelBundle loadModelWeights(const std::filesystem::path& directory, const compute::Backends& backends,
                             const ModelOptions& options = {});

/// The same without weights, backend and fingerprint: enough to lay out prompts and to predict runs.
/// `chat`: as in ModelOptions.
ModelBundle describeModel(const std::filesystem::path& directory, const text::ChatTemplate* chat = nullptr);

/// A model of a named shape (model::namedShape) with random bf16 weights. Throws Failure for other names.
ModelBundle makeShapeBundle(const std::string& shape, const compute::Backends& backends,
                            const ModelOptions& options = {});

/// The cache as a kind of device should have it: keys and values of the type that it attends to best, unless
/// one was chosen, and at least as many rows in a pass as suit it.
run::SessionConfig suited(run::SessionConfig config, const compute::BackendKind& kind);

/// A session on the bundle, suited to its device; the bundle must outlive it, as must the sink. Throws
/// Failure where its pool does not fit into the device's memory.
std::unique_ptr<run::Session> makeSession(ModelBundle& bundle, const run::SessionConfig& config,
                                          trace::Sink& sink);

}  // namespace spanscope::workbench
