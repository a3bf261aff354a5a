// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/hash.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/compute/backend.h"
#include "engine/model/config.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace spanscope::model {

/// A tensor in a source of weights, whether a decoder uses it or not.
struct StoredTensor {
  std::string name;
  std::string file;  ///< the file, or whatever else holds the tensor; for errors
};

/// Where a decoder gets its weights. Tensors have their Hugging Face names.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual bool has(const std::string& name) const = 0;
  /// Throws Failure if there is no such tensor, or its shape is not rows × columns (a vector is 1 × n). The
  /// data is valid as long as the source.
  virtual compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const = 0;
  /// The format in which get() gives the tensor; the same errors. Reads no data.
  virtual compute::WeightFormat formatOf(const std::string& name, std::int64_t rows,
                                         std::int64_t columns) const {
    return get(name, rows, columns).format;
  }
  /// Call this after reading what get() returned, before using it. Throws Failure if the bytes that were read
  /// may differ from the source's, because a file was cut meanwhile.
  virtual void requireWhole() const {}
  /// The same, also if a file was written to since it was opened: for weights that are read more than once.
  virtual void requireUnchanged() const {}
  /// All tensors, ordered by name.
  virtual std::vector<StoredTensor> stored() const = 0;
  /// Identifies the weights: equal for equal contents, as far as headers, sizes and samples can tell.
  virtual std::string fingerprint() const = 0;
  /// The name of the weights for people: a directory or a shape.
  virtual std::string name() const = 0;
};

/// The file that a tensor stands in; the name of the source if it has no such tensor.
std::string fileOf(const WeightSource& source, const std::string& name);

/// Opens the `*.safetensors` of a Hugging Face directory, memory-mapped: `model.safetensors`, or the shards
/// that `model.safetensors.index.json` lists. Throws Failure if they cannot be read.
std::unique_ptr<WeightSource> openSafetensors(const checkpoint::Checkpoint& checkpoint);

/// Opens a GGUF file, memory-mapped, or the first of its parts. `config` is that of the file. Tensors are
/// given under their Hugging Face names, and the rows of queries and keys in the order of Hugging Face.
/// Throws Failure if it cannot be read.
std::unique_ptr<WeightSource> openGguf(const std::filesystem::path& path, const ModelConfig& config);

/// Opens a checkpoint's weights, and gives them in the arrangement of the decoder. `config` is that of the
/// same checkpoint. Throws Failure if they cannot be read.
std::unique_ptr<WeightSource> openWeights(const checkpoint::Checkpoint& checkpoint,
                                          const ModelConfig& config);

/// The model's elements by format, as a decoder keeps them: the table of tokens counts twice even if it is
/// tied, because rows are looked up in one layout and multiplied with in another. Vectors are left out.
using WeightAmounts = std::map<compute::WeightFormat, std::int64_t>;
WeightAmounts weightAmounts(const ModelConfig& config, const WeightSource& weights);
/// The same if all matrices had one format.
WeightAmounts weightAmounts(const ModelConfig& config, compute::WeightFormat format);

/// Random weights of the given shape in memory, for benchmarks and tests; bf16 by default. Vectors, and
/// matrices whose rows are no whole number of blocks of a packed format, are in bf16, norms in f32.
std::unique_ptr<WeightSource> makeRandomWeights(const ModelConfig& config, std::uint64_t seed,
                                                compute::WeightFormat format = compute::WeightFormat::BF16);

/// The configuration of this name: "llama-8b" (Llama 3.1 8B), "qwen-7b" (Qwen2.5 7B), "llama-1b" (Llama 3.2
/// 1B), "21m", "3m". Throws Failure that lists these names if there is no such name.
ModelConfig namedShape(const std::string& name);
std::vector<std::string> shapeList();
/// "llama-8b, qwen-7b, llama-1b, 21m or 3m"
std::string shapeNames();

/// Adds what tells the data of one tensor from that of another: small tensors whole, large ones in evenly
/// spaced pieces, because reading gigabytes would cost more than loading them.
void addSamples(Digest& digest, std::span<const std::byte> data);

}  // namespace spanscope::model
