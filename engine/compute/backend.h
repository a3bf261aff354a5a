// SPDX-License-Identifier: GPL-3.0-or-later
// What the decoder needs of a device: a small set of operations on device tensors. CPU and CUDA implement it;
// the decoder is written once over it.
//
// Operations are done in the order in which they are asked for, and may be done after the call has returned:
// what they need lives until the results of the pass are there. Every operation on rows gives each row a
// result that depends on that row's own inputs: how exactly, DeviceInfo::rowsAreBitEqual says.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/dtype.h"
#include "engine/compute/pass.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::compute {

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
  Logits,     ///< the same, for a product that `sample` reads: it is in f32 on every backend
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
  /// Host copy of one token's keys (rotated by local index) and values, f32, [heads][headSize] each. For
  /// tests.
  virtual void read(std::int32_t layer, std::int64_t slot, std::span<float> key,
                    std::span<float> value) const = 0;
};

/// The first `slots` token slots of one block go to another, in all layers.
struct BlockCopy {
  BlockId source = kNullBlock;
  BlockId target = kNullBlock;
  std::int32_t slots = 0;
};

/// Keys and values of the first `slots` token slots of a block as they lie in host memory, the same for every
/// device: [slots][layers][keys, values][heads][headSize] elements of the store's type, nothing between them.
/// Fewer slots are thus the beginning of more.
struct BlockToHost {
  BlockId block = kNullBlock;
  std::int32_t slots = 0;
  std::span<std::byte> bytes;  ///< slots · slotBytes() of them
};
struct BlockFromHost {
  BlockId block = kNullBlock;
  std::int32_t slots = 0;
  std::span<const std::byte> bytes;  ///< slots · slotBytes() of them, at any address
};
/// Bytes of one token slot in host memory, all layers.
std::size_t slotBytes(const KvShape& shape);

/// Rotary embedding: pair i of a head (elements i and i + headSize/2) turns by position ·
/// inverseFrequencies[i]. Angles are computed in double precision and rounded once.
struct RotaryTable {
  std::vector<double> inverseFrequencies;  ///< headSize / 2 of them
  float attentionScale = 1.0F;             ///< factor on cos and sin (YaRN); 1 for Llama
};

struct AttentionShape {
  std::int32_t queryHeads = 0;
  std::int32_t keyHeads = 0;  ///< divides queryHeads
  std::int32_t headSize = 0;
  float scale = 0;  ///< on scores, usually 1/√headSize
};

/// What a store holds of a token.
enum class StoredPart : std::uint8_t { Keys, Values };

struct DeviceInfo {
  std::string name;            ///< e.g. "AMD EPYC, AVX2"
  std::string instructionSet;  ///< e.g. "AVX2"
  std::int32_t threads = 1;
  std::string
      remark;  ///< what should be known of it beside that, as a sentence without its period; mostly empty
  /// Enters the cache's fingerprint: results of two backends with the same words are bit-identical as far as
  /// rowsAreBitEqual says.
  std::string numericRevision;
  /// Whether the result of a row has the same bits whatever is computed beside it, however a prompt was cut
  /// into passes, and wherever its blocks lie: a reused block is then bit-identical to a recomputed one.
  bool rowsAreBitEqual = false;
  DType activations = DType::F32;  ///< what tensors hold; sums are f32 at least
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceInfo info() const = 0;

  /// All operations up to the next call poll this token: once it is set they return early with undefined
  /// results, and `stopped()` is true.
  virtual void begin(std::stop_token stop) = 0;
  /// To be asked once a layer. A device that works behind the caller waits here until little of its work lies
  /// ahead (50 ms), so that a stop takes no longer than that.
  virtual bool stopped() = 0;

  virtual std::unique_ptr<Tensor> makeTensor() = 0;
  virtual std::unique_ptr<Weight> prepare(const HostMatrix& matrix, WeightUse use) = 0;
  /// Throws Failure if the memory cannot be had, saying how much was asked for.
  virtual std::unique_ptr<KvStore> makeKvStore(const KvShape& shape) = 0;

  /// The blocks that the inputs name need not hold anything yet. Throws Failure for inputs that do not fit
  /// the shapes: lists of different lengths, blocks outside the store, ranges outside their blocks.
  virtual std::unique_ptr<Pass> makePass(const AttentionShape& shape, const RotaryTable& rotary,
                                         const KvShape& store, const PassInputs& inputs) = 0;

  /// out[r] = table[tokens[r]]. Resizes out. Ids must be in range.
  virtual void embed(const Pass& pass, const Weight& table, Tensor& out) = 0;
  /// out[r] = x[r] / √(mean(x[r]²) + epsilon) · weight. Resizes out. Not in place.
  virtual void rmsNorm(const Tensor& x, const Weight& weight, float epsilon, Tensor& out) = 0;
  /// out = x · weightᵀ (+ bias) (+ out, if accumulate). Resizes out unless accumulating. bias may be null.
  virtual void matmul(const Tensor& x, const Weight& weight, const Weight* bias, bool accumulate,
                      Tensor& out) = 0;
  /// out = silu(gate) ⊙ up. Resizes out. out may be gate.
  virtual void siluMul(const Tensor& gate, const Tensor& up, Tensor& out) = 0;
  /// out[i] = x[row i of the list]. Resizes out. Not in place.
  virtual void gatherRows(const Pass& pass, RowList list, const Tensor& x, Tensor& out) = 0;

  /// Rotates each key row by its *local index* and stores keys and values at slots[r].
  /// keys, values: [rows][heads · headSize].
  virtual void storeKeysValues(const Pass& pass, const Tensor& keys, const Tensor& values, std::int32_t layer,
                               KvStore& store) = 0;
  /// Copies slots of blocks, one entry after the other.
  virtual void copyBlocks(std::span<const BlockCopy> copies, KvStore& store) = 0;

  /// Copies blocks to host memory, bit by bit; it is there when this returns. Throws Failure for blocks,
  /// slots or sizes that do not fit the store.
  virtual void readBlocks(std::span<const BlockToHost> blocks, const KvStore& store) = 0;
  /// The other way. Slots behind those that are written are undefined afterwards. The bytes may go when this
  /// returns.
  virtual void writeBlocks(std::span<const BlockFromHost> blocks, KvStore& store) = 0;

  /// out[r] = softmax over all keys of the row of (scale · ⟨R(p − b)q, k⟩) · values, where k is stored
  /// rotated by its local index and b is the base of its segment. queries, out: [rows][queryHeads ·
  /// headSize]; queries are not rotated. Observed, the results of the pass have the attention mass of this
  /// layer that the inputs ask for.
  virtual void attend(Pass& pass, const Tensor& queries, const KvStore& store, std::int32_t layer,
                      bool observed, Tensor& out) = 0;

  /// out[r] = Σ (x − stored)² over the heads of row r, where x are keys (before they are rotated) or values
  /// of the pass, and stored is what its slot holds of them in this layer; x is rotated and rounded as it
  /// would be stored, so that a row that is equal gives 0. x: [rows][heads · headSize]; out: [rows][1], in
  /// f32 on every backend.
  virtual void deviations(const Pass& pass, StoredPart part, const Tensor& x, std::int32_t layer,
                          const KvStore& store, Tensor& out) = 0;

  /// From here on the pass has fewer rows: those that narrowing.h chooses by their scores, [rows][1]. A
  /// backend may wait for the scores. gatherRows with RowList::Chosen takes them from a tensor
  /// of the rows before. As often as the inputs have narrowings; after that the results name the rows that
  /// were kept.
  virtual void narrow(Pass& pass, const Tensor& scores) = 0;

  /// Draws the tokens of the pass, to the bit as sampling.h says: equal logits give the same token on every
  /// backend. logits: [logitRows][vocabularySize]. Not cut short by a stop. Throws Failure where a row has
  /// more than kMostLogits logits.
  virtual void sample(Pass& pass, const Tensor& logits) = 0;
  /// Has the results of the pass hold a copy of x, in f32, as it is now.
  virtual void fetch(Pass& pass, const Tensor& x) = 0;
  /// Waits until the operations of the pass are done, and gives what they were asked for; once a pass.
  virtual PassResults finish(Pass& pass) = 0;

  /// For tests: copies to host memory, f32, row-major, once all operations are done.
  virtual void download(const Tensor& x, std::span<float> out) = 0;
  /// For tests: fills a tensor from host memory.
  virtual void upload(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                      Tensor& out) = 0;
  /// For tests: the same, as the product of a weight for logits leaves it: in f32.
  virtual void uploadLogits(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                            Tensor& out) {
    upload(values, rows, columns, out);
  }
};

}  // namespace spanscope::compute
