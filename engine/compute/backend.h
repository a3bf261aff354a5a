// SPDX-License-Identifier: GPL-3.0-or-later
// What the decoder needs of a device: a small set of operations on device tensors. CPU and CUDA implement it;
// the decoder is written once over it.
//
// Every operation on rows gives each row a result that depends only on that row's own inputs, bit for bit:
// not on the number of rows, the thread count, or how a prompt was cut into passes.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/sampling.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::compute {

enum class DType : std::uint8_t { F32, F16, BF16 };
std::size_t sizeOf(DType type);
const char* nameOf(DType type);

/// Row-major device memory of `rows` × `columns` activations. Its element type is the backend's own (f32 on
/// the CPU). Resizing keeps the capacity; contents are undefined afterwards.
class Tensor {
 public:
  virtual ~Tensor() = default;
  virtual void resize(std::int64_t rows, std::int64_t columns) = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t columns() const = 0;
};

/// A weight after `prepare`: opaque, in the layout the backend computes with.
class Weight {
 public:
  virtual ~Weight() = default;
  virtual std::int64_t rows() const = 0;     ///< output features N
  virtual std::int64_t columns() const = 0;  ///< input features K
  virtual std::size_t bytes() const = 0;     ///< device memory it occupies
};

/// A weight in host memory, row-major [rows][columns]; a vector has one row.
struct HostMatrix {
  const std::byte* data = nullptr;  ///< need not be aligned
  DType type = DType::F32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// What a weight will be used for.
enum class WeightUse : std::uint8_t {
  Matrix,     ///< `matmul`; stored as bf16 if the checkpoint's type is bf16, else as f32
  Embedding,  ///< `embed`
  Vector      ///< `rmsNorm`; f32
};

/// Keys and values of all layers, by physical block. Slots are addressed as block · blockSize + slot.
struct KvShape {
  std::int32_t layers = 0;
  std::int32_t blocks = 0;  ///< the null block included
  std::int32_t blockSize = 16;
  std::int32_t heads = 0;     ///< key/value heads
  std::int32_t headSize = 0;  ///< even
  DType type = DType::F32;    ///< F32 or BF16
  bool operator==(const KvShape&) const = default;
};
class KvStore {
 public:
  virtual ~KvStore() = default;
  virtual const KvShape& shape() const = 0;
  /// Copies the first `slots` token slots of one block to another, in all layers.
  virtual void copyBlock(BlockId source, BlockId target, std::int32_t slots) = 0;
  /// Host copy of one token's keys (rotated by local index) and values, f32, [heads][headSize] each. For
  /// tests.
  virtual void read(std::int32_t layer, std::int64_t slot, std::span<float> key,
                    std::span<float> value) const = 0;
};

/// Rotary embedding: pair i of a head (elements i and i + headSize/2) turns by position ·
/// inverseFrequencies[i]. Angles are computed in double precision and rounded once.
struct RotaryTable {
  std::vector<double> inverseFrequencies;  ///< headSize / 2 of them
  float attentionScale = 1.0F;             ///< factor on cos and sin (YaRN); 1 for Llama
};

/// A run of keys that query rows read: part of one segment.
struct KeyRange {
  std::vector<BlockId> blocks;  ///< by virtual block of the segment, from its local token 0
  std::int32_t begin = 0;       ///< first local token that is read
  std::int32_t end = 0;   ///< one past the last; for a causal range the row at local token j reads up to j
  std::int64_t base = 0;  ///< position of local token 0 in the view
  bool causal = false;    ///< the rows' own segment
};

/// Consecutive rows of one segment of one request.
struct QueryRun {
  std::int64_t firstRow = 0;  ///< in the tensors of this pass
  std::int32_t rowCount = 0;
  std::int32_t firstLocal = 0;  ///< local token of the first row in its segment
  std::int64_t base = 0;  ///< position of the segment's local token 0: row r stands at base + firstLocal + r
  std::vector<KeyRange> keys;  ///< in view order; partial results are merged in this order
};

struct AttentionShape {
  std::int32_t queryHeads = 0;
  std::int32_t keyHeads = 0;  ///< divides queryHeads
  std::int32_t headSize = 0;
  float scale = 0;  ///< on scores, usually 1/√headSize
};

/// A backend's own preparation of one pass: tiles, threads, tables. Valid until the KV blocks it names change
/// owner.
class AttentionPlan {
 public:
  virtual ~AttentionPlan() = default;
};

/// Asks for attention mass: for every query run named, and every head, the sum over the run's rows of the
/// attention weight on each stretch of keys. Stretches are counted from local token 0 of each key range's
/// segment; those before `begin` get 0.
struct MassRequest {
  std::vector<std::uint32_t> runs;  ///< indices of query runs
  /// Keys of a stretch for each of the runs: 0 for a KV block, else that many tokens. Empty: KV blocks for
  /// all.
  std::vector<std::int32_t> keySpans;

  std::int32_t keySpan(std::size_t entry, std::int32_t blockSize) const {
    return keySpans.empty() || keySpans[entry] == 0 ? blockSize : keySpans[entry];
  }
};
struct RunMass {
  std::uint32_t run = 0;
  std::int32_t keySpan = 0;             ///< keys of a stretch; the last one of a range may have fewer
  std::vector<std::int32_t> keyBlocks;  ///< stretches per key range
  std::vector<float> mass;              ///< [queryHeads][sum of keyBlocks]; divide by rowCount for a mean
  /// [queryHeads][key ranges]: of it, what lies on the first key that is read of each range.
  std::vector<float> first;
};

struct DeviceInfo {
  std::string name;            ///< e.g. "AMD EPYC, AVX2"
  std::string instructionSet;  ///< e.g. "AVX2"
  std::int32_t threads = 1;
  /// Enters the cache's fingerprint: results of two backends with the same words are bit-identical.
  std::string numericRevision;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceInfo info() const = 0;

  /// All operations up to the next call poll this token between tiles; once it is set they return early with
  /// undefined results and `stopped()` is true.
  virtual void begin(std::stop_token stop) = 0;
  virtual bool stopped() const = 0;

  virtual std::unique_ptr<Tensor> makeTensor() = 0;
  virtual std::unique_ptr<Weight> prepare(const HostMatrix& matrix, WeightUse use) = 0;
  /// Throws Failure if the memory cannot be had, saying how much was asked for.
  virtual std::unique_ptr<KvStore> makeKvStore(const KvShape& shape) = 0;

  /// out[r] = table[ids[r]]. Resizes out to ids.size() × table.columns(). Ids must be in range.
  virtual void embed(const Weight& table, std::span<const TokenId> ids, Tensor& out) = 0;
  /// out[r] = x[r] / √(mean(x[r]²) + epsilon) · weight. Resizes out. Not in place.
  virtual void rmsNorm(const Tensor& x, const Weight& weight, float epsilon, Tensor& out) = 0;
  /// out = x · weightᵀ (+ bias) (+ out, if accumulate). Resizes out unless accumulating. bias may be null.
  virtual void matmul(const Tensor& x, const Weight& weight, const Weight* bias, bool accumulate,
                      Tensor& out) = 0;
  /// out = silu(gate) ⊙ up. Resizes out. out may be gate.
  virtual void siluMul(const Tensor& gate, const Tensor& up, Tensor& out) = 0;
  /// out[i] = x[rows[i]]. Resizes out.
  virtual void gatherRows(const Tensor& x, std::span<const std::int32_t> rows, Tensor& out) = 0;

  /// Rotates each key row by its *local index* and stores keys and values at slots[r].
  /// keys, values: [rows][heads · headSize].
  virtual void storeKeysValues(const Tensor& keys, const Tensor& values, const RotaryTable& rotary,
                               std::span<const std::int32_t> localIndices,
                               std::span<const std::int64_t> slots, std::int32_t layer, KvStore& store) = 0;

  virtual std::unique_ptr<AttentionPlan> planAttention(const AttentionShape& shape, const RotaryTable& rotary,
                                                       const KvShape& store,
                                                       std::span<const QueryRun> runs) = 0;
  /// out[r] = softmax over all keys of the row of (scale · ⟨R(p − b)q, k⟩) · values, where k is stored
  /// rotated by its local index and b is the base of its segment. queries, out: [rows][queryHeads ·
  /// headSize]; queries are not rotated. `mass` may be null; otherwise it gets one entry a run asked for.
  virtual void attend(const AttentionPlan& plan, const Tensor& queries, const KvStore& store,
                      std::int32_t layer, Tensor& out, const MassRequest* request,
                      std::vector<RunMass>* mass) = 0;

  /// Draws a token from each row as sampling.h says, to the bit; tokens[i] belongs to rows[i], and a row that
  /// is damaged has a fault and leaves the others alone. Not cut short by a stop: every token is defined.
  /// Throws Failure where a row has more than kMostLogits logits.
  virtual void sample(std::span<const SamplingRow> rows, std::span<SampledToken> tokens) = 0;

  /// Copies to host memory, f32, row-major.
  virtual void download(const Tensor& x, std::span<float> out) = 0;
  /// For tests: fills a tensor from host memory.
  virtual void upload(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                      Tensor& out) = 0;
};

}  // namespace spanscope::compute
