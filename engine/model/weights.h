// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/config.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::model {

/// A tensor that a source holds, asked for or not.
struct StoredTensor {
  std::string name;
  std::string file;  ///< or what else holds it, for errors
};

/// Where a decoder takes its weights from, by their Hugging Face names.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual bool has(const std::string& name) const = 0;
  /// Throws Failure if there is no such tensor or its shape is not rows × columns (a vector is 1 × n). The
  /// data stays valid as long as the source.
  virtual compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const = 0;
  /// To be called when what get() gave was read, and before it counts: throws Failure if it was not what the
  /// source held, as a file was cut meanwhile.
  virtual void requireWhole() const {}
  /// All tensors in the order of their names.
  virtual std::vector<StoredTensor> stored() const = 0;
  /// Identifies the weights: equal for equal contents as far as can be told from headers, sizes and samples.
  virtual std::string fingerprint() const = 0;
  /// What a person calls it: a directory or a shape.
  virtual std::string name() const = 0;
};

/// The `*.safetensors` of a Hugging Face directory, memory-mapped: `model.safetensors`, or the shards that
/// `model.safetensors.index.json` lists. Throws Failure.
std::unique_ptr<WeightSource> openSafetensors(const std::filesystem::path& directory);

/// Whether the directory has one of the two.
bool hasSafetensors(const std::filesystem::path& directory);

/// Random weights of a given shape in memory, for benchmarks and tests; bf16 unless told otherwise.
std::unique_ptr<WeightSource> makeRandomWeights(const ModelConfig& config, std::uint64_t seed,
                                                compute::DType type = compute::DType::BF16);

/// Configurations by name: "llama-8b" (Llama 3.1 8B), "qwen-7b" (Qwen2.5 7B), "llama-1b" (Llama 3.2 1B),
/// "21m", "3m". Throws Failure naming those there are.
ModelConfig namedShape(const std::string& name);
std::vector<std::string> shapeList();
/// "llama-8b, qwen-7b, llama-1b, 21m or 3m"
std::string shapeNames();

}  // namespace spanscope::model
