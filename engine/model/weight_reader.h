// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the tensors of a model, checks a source against the list, and reads and checks the data of all
// tensors on other threads. Open this file when a tensor is missing or unknown, or to change how loading
// checks weights.
#pragma once

#include "engine/base/hash.h"
#include "engine/compute/backend.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace spanscope::model {

/// Reads the data of tensors once, on its own threads, while its owner continues. Searches for values that
/// are not finite. Hashes the data on request. If the system starts no threads, the caller reads.
class WeightReader {
 public:
  /// `source` has all tensors and must outlive the reader. `threads` is the number of reading threads, at
  /// least one.
  WeightReader(const WeightSource& source, int threads, bool hashes);
  ~WeightReader();
  WeightReader(const WeightReader&) = delete;
  WeightReader& operator=(const WeightReader&) = delete;
  WeightReader(WeightReader&&) = delete;
  WeightReader& operator=(WeightReader&&) = delete;

  /// Schedules the reading of a tensor. Call this function once for each tensor. Throws the Failure of an
  /// earlier tensor, if there is one.
  void add(const std::string& name, const compute::HostMatrix& matrix);
  /// Waits until all tensors are read. Throws Failure for the first tensor, in order of add(), with a value
  /// that is not finite. Throws Failure if a file was truncated.
  void finish();
  /// Returns the digest of names and data of all tensors in order of add(), after finish(). Empty unless the
  /// reader hashes.
  std::string digest() const;

 private:
  struct Tensor {
    std::string name;
    compute::HostMatrix matrix;
    Hash128 hash;
    std::optional<Error> fault;
  };

  void read(Tensor& tensor) const;
  void work();
  void throwFirst();

  const WeightSource& m_source;
  const std::size_t m_most;
  const bool m_hashes;
  std::deque<Tensor> m_tensors;  ///< addresses do not change; the mutex guards the list, and the thread that
                                 ///< reads a tensor owns it
  std::size_t m_next = 0;
  std::atomic<bool> m_isFaulty = false;
  bool m_isEnding = false;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::thread> m_threads;  ///< last: the threads use all members above
};

/// The place of a NaN or an infinite number in a matrix.
struct NotFinite {
  std::size_t index = 0;  ///< number of elements before it
  float value = 0;
};

/// Returns the first number that is not finite, or nothing. The search runs at about the speed of memory.
std::optional<NotFinite> findNotFinite(const compute::HostMatrix& matrix);
std::optional<NotFinite> findNotFinite(std::span<const float> values);

/// Returns "nan" or "an infinite number".
const char* describe(const NotFinite& found);

struct NamedTensor {
  std::string name;  ///< the name in Hugging Face files
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  bool isNorm = false;
  bool isOfExpert = false;  ///< a token uses the tensor only if the router chooses the expert
  bool isMatrix() const { return rows > 1; }
};

/// The names of a layer's norms. A name is null if the layer lacks the norm.
struct NormNames {
  const char* beforeAttention = nullptr;
  const char* afterAttention = nullptr;
  const char* beforeGate = nullptr;
  const char* afterGate = nullptr;
};
NormNames normsOf(NormPlace place);

// The names of tensors of experts and of attention sinks in a layer, in the arrangement of the decoder. An
// expert has the tensors "gate_proj", "up_proj" and "down_proj".
inline constexpr const char* kRouter = "mlp.gate";
inline constexpr const char* kSinks = "self_attn.sinks.weight";
/// Returns "mlp.experts.7.".
std::string expertName(std::int32_t expert);
/// The name in a layer of the factor on its result, a tensor with one element.
inline constexpr const char* kLayerScale = "layer_scalar";

/// Lists all tensors of a model in the order of their use. The list has tied embeddings once.
std::vector<NamedTensor> tensorsOf(const ModelConfig& config);

/// Returns the number of multiplications of one token in the matrices of all layers. With experts, a token
/// uses some of them.
double productsOf(const ModelConfig& config);

/// Returns the max number of rows of a gated product that all tokens use. 0: only experts have such products.
std::int64_t gatedRowsOf(const ModelConfig& config);

/// Checks a source and reads no data. Throws Failure in these cases:
/// - a tensor of the model is missing, or has another shape or an unknown format;
/// - the source has tensors that the model does not use.
void checkTensors(const ModelConfig& config, const WeightSource& source);

/// Reads the data of all tensors of the model like loading, on `threads` threads. A gibibyte takes about a
/// second from a disk. Throws Failure for the first tensor with a value that is not finite, or if a file was
/// truncated. Call checkTensors() first.
void checkNumbers(const ModelConfig& config, const WeightSource& source, int threads);

/// Whether checkpoints of this architecture are known to contain this tensor, which the decoder does not use.
/// Any other unused tensor means that checkpoint and configuration do not fit.
bool isKnownExtra(std::string_view name, const ModelConfig& config);

/// Whether the tensor belongs to a part of the checkpoint that does not change texts. Examples are a vision
/// tower and a classifier.
bool isOfOtherPart(std::string_view name);

/// Returns the names of the tensors of such parts in the source.
std::vector<std::string> tensorsOfOtherParts(const WeightSource& source);

/// Throws Failure if the source has a tensor that is neither used, nor a known extra, nor of another part.
/// Without the error, every result would lack the effect of such a tensor.
void refuseSurplus(const ModelConfig& config, const WeightSource& source, const std::set<std::string>& used);

}  // namespace spanscope::model
