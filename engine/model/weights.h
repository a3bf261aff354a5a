// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the source of a model's weights, and opens it from files or makes random weights. Also arranges the
// tensors of any model family for the decoder. Open this file to read weights, or to support another
// arrangement of tensors.
#pragma once

#include "engine/base/hash.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/compute/backend.h"
#include "engine/model/adapter.h"
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

/// A tensor in a source of weights. The decoder does not use all of these tensors.
struct StoredTensor {
  std::string name;
  std::string file;  ///< the file, or another source of the tensor; for errors
};

/// A source of weights for a decoder. Tensors have their Hugging Face names.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual bool has(const std::string& name) const = 0;
  /// Throws Failure if there is no such tensor, or its shape is not rows × columns (a vector is 1 × n). The
  /// data is valid as long as the source.
  virtual compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const = 0;
  /// Returns the format of the tensor from get(), with the same errors. Reads no data.
  virtual compute::WeightFormat formatOf(const std::string& name, std::int64_t rows,
                                         std::int64_t columns) const {
    return get(name, rows, columns).format;
  }
  /// Returns the elements of a tensor of bytes with this number of elements. Throws Failure if there is no
  /// such tensor.
  virtual std::span<const std::byte> bytesOf(const std::string& name, std::size_t count) const;
  /// Call this after reading the data of get(), before using it. Throws Failure if a file was truncated
  /// meanwhile. The bytes that were read may then be wrong.
  virtual void requireWhole() const {}
  /// Checks like requireWhole(), and that no file was written to after its opening. For weights that are read
  /// more than once.
  virtual void requireUnchanged() const {}
  /// Returns all tensors, ordered by name.
  virtual std::vector<StoredTensor> stored() const = 0;
  /// Returns a fingerprint of the weights. The fingerprint depends on headers, sizes and samples. Equal
  /// contents have equal fingerprints.
  virtual std::string fingerprint() const = 0;
  /// Returns the name of the weights for the user: a directory or a shape.
  virtual std::string name() const = 0;
};

/// Returns the file that contains a tensor. Returns the name of the source if the source has no such tensor.
std::string fileOf(const WeightSource& source, const std::string& name);

/// Returns the shape of a stack of matrices as one matrix with the rows of all. Other shapes stay as they
/// are.
inline std::vector<std::uint64_t> flattened(const std::vector<std::uint64_t>& shape) {
  if (shape.size() != 3 || shape[0] > (std::uint64_t{1} << 31U) || shape[1] > (std::uint64_t{1} << 31U))
    return shape;
  return {shape[0] * shape[1], shape[2]};
}

/// Opens the `*.safetensors` of a Hugging Face directory, memory-mapped. The files are `model.safetensors`,
/// or the shards that `model.safetensors.index.json` lists. Throws Failure if these files cannot be read.
std::unique_ptr<WeightSource> openSafetensors(const checkpoint::Checkpoint& checkpoint);

/// Opens a GGUF file, or the first of its parts, memory-mapped. `config` is the configuration of the file.
/// Tensors get their Hugging Face names. Rows of the query and key matrices get the order of Hugging Face.
/// Throws Failure if the file cannot be read.
std::unique_ptr<WeightSource> openGguf(const std::filesystem::path& path, const ModelConfig& config);

/// Opens the weights of a checkpoint in the arrangement of the decoder. `config` is the configuration of the
/// same checkpoint. Throws Failure if the weights cannot be read.
std::unique_ptr<WeightSource> openWeights(const checkpoint::Checkpoint& checkpoint,
                                          const ModelConfig& config);

/// The number of a model's elements by format, as a decoder keeps them. The table of token embeddings counts
/// twice, even if the table is tied. Lookup and product need different layouts. Vectors are left out.
using WeightAmounts = std::map<compute::WeightFormat, std::int64_t>;
WeightAmounts weightAmounts(const ModelConfig& config, const WeightSource& weights);
/// Returns the amounts as if all matrices had one format.
WeightAmounts weightAmounts(const ModelConfig& config, compute::WeightFormat format);

/// Makes random weights of the given shape in memory, for benchmarks and tests. The default format is bf16.
/// Vectors are in bf16, and norms in f32. Matrices whose rows are no whole number of packed blocks are in
/// bf16 too.
std::unique_ptr<WeightSource> makeRandomWeights(const ModelConfig& config, std::uint64_t seed,
                                                compute::WeightFormat format = compute::WeightFormat::BF16);

/// Returns the configuration with this name: "llama-8b" (Llama 3.1 8B), "qwen-7b" (Qwen2.5 7B), "llama-1b"
/// (Llama 3.2 1B), "21m" or "3m". Throws Failure that lists these names if the name is unknown.
ModelConfig namedShape(const std::string& name);
std::vector<std::string> shapeList();
/// Returns "llama-8b, qwen-7b, llama-1b, 21m or 3m".
std::string shapeNames();

/// Adds samples that distinguish the data of two tensors. Small tensors are added whole, large tensors in
/// evenly spaced pieces. A hash of gigabytes would take longer than loading.
void addSamples(Digest& digest, std::span<const std::byte> data);

/// Returns a source with the tensors as the decoder expects them, for every family:
/// - A matrix of queries, keys and values, or of gate and up, is split.
/// - If only the beginning of each head is rotated, the rows of queries and keys are reordered. The two
///   halves of that beginning are then first in the two halves of the head. Products of queries and keys do
///   not depend on the order.
/// - If the files have the rows of a rotated pair next to each other, these rows are reordered too.
/// - With `normsLackOne`, 1 is added to the weights of norms, in f32.
///
/// Throws Failure for a matrix that cannot be split.
std::unique_ptr<WeightSource> arrange(std::unique_ptr<WeightSource> source, const ModelConfig& config,
                                      bool normsLackOne);

/// Returns a source with matrices for each expert of a model. Files store the experts of a layer together:
/// - GGUF files: one stack for each of gate, up and down;
/// - Granite: gate and up of each expert one after the other;
/// - gpt-oss: gate and up interleaved, and transposed or in MXFP4.
///
/// Throws Failure like `source`.
std::unique_ptr<WeightSource> splitExperts(std::unique_ptr<WeightSource> source, const ModelConfig& config);

/// Arranges an adapter like the weights. Pairs for a matrix that is split are split too. Rows of the query
/// and key matrices are reordered. Pairs that match no matrix of the model stay as they are.
Adapter arrange(const Adapter& adapter, const ModelConfig& config);

}  // namespace spanscope::model
