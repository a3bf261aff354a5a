// SPDX-License-Identifier: GPL-3.0-or-later
// The interface Backend: the operations on device tensors that the decoder needs. CPU and CUDA implement
// Backend. The decoder uses only this interface. Open this file to add an operation or a backend.
//
// A backend executes operations in the order of the calls, and may execute an operation after its call has
// returned. The inputs of an operation must therefore live until the results of the forward pass exist. Every
// operation on rows computes a row from that row's own inputs. DeviceInfo::rowsAreBitEqual describes the
// guarantee.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/dtype.h"
#include "engine/compute/experts.h"
#include "engine/compute/pass.h"
#include "engine/compute/weight_format/weight_format.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::compute {

/// Row-major device memory for `rows` × `columns` activations. The backend chooses the element type (f32 on
/// the CPU). Resizing keeps the capacity. The contents are undefined afterwards.
class Tensor {
 public:
  virtual ~Tensor() = default;
  virtual void resize(std::int64_t rows, std::int64_t columns) = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::int64_t columns() const = 0;
};

/// A weight after `prepare`. The layout is opaque and is the backend's own.
class Weight {
 public:
  virtual ~Weight() = default;
  /// Whether products still read the data from which the weight was prepared.
  virtual bool isBorrowed() const { return false; }
  virtual std::int64_t rows() const = 0;     ///< output features N
  virtual std::int64_t columns() const = 0;  ///< input features K
  virtual std::size_t bytes() const = 0;     ///< device memory of the weight
};

/// A weight in host memory, row-major [rows][columns]. A vector has one row.
struct HostMatrix {
  const std::byte* data = nullptr;  ///< may have any alignment
  WeightFormat format = WeightFormat::F32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;  ///< a whole number of the format's blocks
  bool stays = false;        ///< whether the data stays valid while a weight borrows it

  std::size_t rowBytes() const { return bytesOf(format, columns); }
  std::size_t bytes() const { return static_cast<std::size_t>(rows) * rowBytes(); }
  const std::byte* row(std::int64_t index) const {
    return data + static_cast<std::size_t>(index) * rowBytes();
  }
};

/// The matrices of one expert: two [inner][hidden] and one [hidden][inner]. Biases may be null.
struct ExpertWeights {
  const Weight* gate = nullptr;
  const Weight* up = nullptr;
  const Weight* down = nullptr;
  const Weight* gateBias = nullptr;
  const Weight* upBias = nullptr;
  const Weight* downBias = nullptr;
};

/// The use of a weight.
enum class WeightUse : std::uint8_t {
  Matrix,     ///< for `matmul`
  Logits,     ///< for a product that `sample` reads: the product is in f32 on every backend
  Embedding,  ///< for `embed`
  Vector      ///< for `rmsNorm`, biases and attention sinks; f32
};

/// The heads whose keys and values a layer stores.
struct KvHeads {
  std::int32_t heads = 0;
  std::int32_t headSize = 0;  ///< even
  std::int64_t elements() const { return std::int64_t{heads} * headSize; }
  bool operator==(const KvHeads&) const = default;
};

/// The shape of a store with the keys and values of all layers, by physical block. The address of a slot is
/// block · blockSize + slot.
struct KvShape {
  std::int32_t layers = 0;
  std::int32_t blocks = 0;  ///< including the null block
  std::int32_t blockSize = 16;
  std::int32_t heads = 0;     ///< key/value heads
  std::int32_t headSize = 0;  ///< even
  DType type = DType::F32;    ///< F32 or BF16
  /// The heads of each layer, if layers differ. Empty: all layers have the heads above.
  std::vector<KvHeads> byLayer = {};

  KvHeads headsOf(std::int32_t layer) const {
    return byLayer.empty() ? KvHeads{heads, headSize} : byLayer[static_cast<std::size_t>(layer)];
  }
  /// Returns the elements of a token's keys in all layers. The values have the same number of elements.
  std::int64_t slotElements() const;
  bool operator==(const KvShape&) const = default;
};
class KvStore {
 public:
  virtual ~KvStore() = default;
  virtual const KvShape& shape() const = 0;
  /// Copies one token's keys and values to host memory, f32, [heads][headSize] each. The keys are rotated by
  /// the position in the segment. For tests.
  virtual void read(std::int32_t layer, std::int64_t slot, std::span<float> key,
                    std::span<float> value) const = 0;
};

/// An instruction to copy the first `slots` token slots of one block to another block, in all layers.
struct BlockCopy {
  BlockId source = kNullBlock;
  BlockId target = kNullBlock;
  std::int32_t slots = 0;
};

/// Keys and values of the first `slots` token slots of a block, copied to host memory. All devices use one
/// layout without gaps: [slots][layers][keys, values][heads][headSize] elements of the store's type. Each
/// layer has its own heads. A copy of fewer slots therefore equals the beginning of a copy of more slots.
struct BlockToHost {
  BlockId block = kNullBlock;
  std::int32_t slots = 0;
  std::span<std::byte> bytes;  ///< slots · slotBytes() bytes
};
struct BlockFromHost {
  BlockId block = kNullBlock;
  std::int32_t slots = 0;
  std::span<const std::byte> bytes;  ///< slots · slotBytes() bytes, at any address
};
/// Returns the bytes of one token slot in host memory, for all layers together.
std::size_t slotBytes(const KvShape& shape);

/// Rotary embedding: rotates pair i of a head (elements i and i + headSize/2) by the angle position ·
/// inverseFrequencies[i]. Angles are computed in double precision and rounded once. A pair of frequency 0 is
/// neither rotated nor scaled.
struct RotaryTable {
  std::vector<double> inverseFrequencies;  ///< headSize / 2 elements
  float attentionScale = 1.0F;             ///< factor on cos and sin (YaRN); 1 for Llama

  /// Returns the factor on the cosine and sine of a pair.
  double scaleOf(std::size_t pair) const {
    return inverseFrequencies[pair] == 0 ? 1.0 : static_cast<double>(attentionScale);
  }
  bool operator==(const RotaryTable&) const = default;
};

/// A factor on the query vector of a row. The factor grows with the row's position p in the request view: 1 +
/// beta · ln(1 + ⌊p / step⌋), as in Llama 4 and Ministral 3. Positions before 0 count as 0.
struct PositionScale {
  float beta = 0;
  std::int64_t step = 0;  ///< tokens; 0: the factor is 1 everywhere

  bool isOn() const { return step > 0 && beta != 0; }
  /// Returns ⌊p / step⌋. Query vectors at positions with the same number have the same scale.
  std::int64_t stepOf(std::int64_t position) const { return isOn() && position > 0 ? position / step : 0; }
  float at(std::int64_t position) const {
    const std::int64_t steps = stepOf(position);
    return steps == 0
               ? 1.0F
               : static_cast<float>(1.0 + static_cast<double>(beta) * std::log1p(static_cast<double>(steps)));
  }
  bool operator==(const PositionScale&) const = default;
};

struct AttentionShape {
  std::int32_t queryHeads = 0;
  std::int32_t keyHeads = 0;  ///< must divide queryHeads
  std::int32_t headSize = 0;
  float scale = 0;  ///< factor on scores, usually 1/√headSize.
  /// A row reads only keys less than this number of positions before it, itself included. 0: all.
  std::int32_t window = 0;
  PositionScale positionScale{};
  float softCap = 0;  ///< bound c of scores: c · tanh(score / c); 0: none
};

/// The function that is applied to a gate before the product.
enum class Activation : std::uint8_t {
  Silu,      ///< g / (1 + e^−g)
  GeluTanh,  ///< g / (1 + e^−2u) with u = √(2/π) · (g + 0.044715 g³): the tanh approximation of GELU.
  /// For gpt-oss: g / (1 + e^−1.702g) with g at most 7. The other factor is u + 1 with u from −7 to 7.
  ClampedSwiglu
};

/// The two kinds of data that a store has for a token.
enum class StoredPart : std::uint8_t { Keys, Values };

struct DeviceInfo {
  std::string name;            ///< e.g. "AMD EPYC, AVX2"
  std::string instructionSet;  ///< e.g. "AVX2"
  std::int32_t threads = 1;
  std::string remark;  ///< another sentence about the device, without its period; usually empty
  /// A text in the cache's fingerprint. Two backends with the same text give bit-identical results. The
  /// limits of rowsAreBitEqual apply.
  std::string numericRevision;
  /// True if a row's bits depend only on the tokens before it. Other rows, chunking and block places then do
  /// not matter. A reused block is then bit-identical to a recomputed block.
  bool rowsAreBitEqual = false;
  DType activations = DType::F32;  ///< element type of tensors; sums have at least f32
  bool mixesExperts = false;       ///< whether the device computes mixExperts()
  bool takesSinks = false;         ///< whether attend() accepts attention sinks
};

/// Returns the number of columns that rmsNorm() norms together: the columns of the weight. Throws Failure if
/// this number does not divide the number of columns of the row.
std::int64_t normColumns(std::int64_t rowColumns, const Weight& weight);

/// Throws Failure unless a row of `columns` columns has the columns first … first + count − 1.
void checkColumns(std::int64_t columns, std::int64_t first, std::int64_t count);

class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceInfo info() const = 0;

  /// Sets the stop token that all operations check until the next call of begin(). After a stop request,
  /// operations return early with undefined results, and `stopped()` is true.
  virtual void begin(std::stop_token stop) = 0;
  /// Call this once per layer. If the device works asynchronously, this function waits until at most 50 ms of
  /// device work are left. A stop therefore takes at most 50 ms.
  virtual bool stopped() = 0;

  virtual std::unique_ptr<Tensor> makeTensor() = 0;
  /// If the data stays valid, the weight may borrow it. The weight is then ready immediately. Until own(),
  /// each forward pass rearranges the data that it reads. Results do not depend on borrowing.
  virtual std::unique_ptr<Weight> prepare(const HostMatrix& matrix, WeightUse use) = 0;
  /// Copies a borrowed weight into memory of its own. Do not call this function between two operations of a
  /// forward pass. Throws Failure if the memory cannot be allocated. The weight then does not change.
  virtual void own(Weight& /*weight*/) {}
  /// Throws Failure if the memory cannot be allocated. The error names the size.
  virtual std::unique_ptr<KvStore> makeKvStore(const KvShape& shape) = 0;

  /// The blocks that the inputs name may still be empty. Throws Failure for lists of different lengths,
  /// blocks outside the store, or ranges outside their blocks.
  virtual std::unique_ptr<Pass> makePass(const AttentionShape& shape, const RotaryTable& rotary,
                                         const KvShape& store, const PassInputs& inputs) = 0;

  /// out[r] = table[tokens[r]]. Resizes out. Ids must be in range.
  virtual void embed(const Pass& pass, const Weight& table, Tensor& out) = 0;
  /// out[r] = x[r] / √(mean(x[r]²) + epsilon) · weight. If the weight is shorter than a row, each section of
  /// the row with the weight's length is normed separately. These sections are the heads of a row, and the
  /// weight has the length of one head. Resizes out. out must not be x. Throws Failure if a row is not a
  /// whole number of sections.
  virtual void rmsNorm(const Tensor& x, const Weight& weight, float epsilon, Tensor& out) = 0;
  /// out[r] = (x[r] − mean(x[r])) / √(variance(x[r]) + epsilon) · weight. Otherwise like rmsNorm().
  virtual void layerNorm(const Tensor& x, const Weight& weight, float epsilon, Tensor& out) = 0;
  /// out = x · weightᵀ (+ bias) (+ out, if accumulate). Resizes out unless accumulating. bias may be null.
  virtual void matmul(const Tensor& x, const Weight& weight, const Weight* bias, bool accumulate,
                      Tensor& out) = 0;
  /// out = activation(gate) ⊙ up. Resizes out. out may be gate. Some activations also change up.
  virtual void multiplyGated(Activation activation, const Tensor& gate, const Tensor& up, Tensor& out) = 0;
  /// Computes out[r] = Σ weight(r, e) · expertₑ(x[r]) over the experts e that chooseExperts() chooses by
  /// scores[r]. The sum is in the order of the experts. An expert computes down · (activation(gate · x) ⊙ up
  /// · x). Its biases are added to the three products.
  /// - scores: [rows][experts]
  /// - Only the weights of chosen experts are read.
  /// - Resizes out. out must not be x.
  /// - Throws Failure if the device does not mix experts; see DeviceInfo.
  virtual void mixExperts(const Tensor& x, const Tensor& scores, std::span<const ExpertWeights> experts,
                          const ExpertChoice& choice, Activation activation, Tensor& out);
  /// x = factor · x
  virtual void scale(Tensor& x, float factor) = 0;
  /// x = cap · tanh(x / cap). `cap` is above 0.
  virtual void softCap(Tensor& x, float cap) = 0;
  /// out[r] = x[r][first … first + count − 1]. Resizes out. out must not be x. Throws Failure if x has fewer
  /// columns.
  virtual void takeColumns(const Tensor& x, std::int64_t first, std::int64_t count, Tensor& out) = 0;
  /// out = out + factor · x. x and out have the same shape.
  virtual void addScaled(const Tensor& x, float factor, Tensor& out) = 0;
  /// out[i] = x[row i of the list]. Resizes out. out must not be x.
  virtual void gatherRows(const Pass& pass, RowList list, const Tensor& x, Tensor& out) = 0;

  /// Rotates each key row by its position in the segment. Stores keys and values at slots[r]. keys, values:
  /// [rows][heads · headSize].
  virtual void storeKeysValues(const Pass& pass, const Tensor& keys, const Tensor& values, std::int32_t layer,
                               KvStore& store) = 0;
  /// Copies slots of blocks, one entry after the other.
  virtual void copyBlocks(std::span<const BlockCopy> copies, KvStore& store) = 0;

  /// Copies blocks to host memory, bit by bit, before it returns. Throws Failure if blocks, slots or sizes do
  /// not fit the store.
  virtual void readBlocks(std::span<const BlockToHost> blocks, const KvStore& store) = 0;
  /// Copies blocks from host memory into the store. Afterwards, the slots after the written slots are
  /// undefined. The bytes can be freed after the call. Throws like readBlocks().
  virtual void writeBlocks(std::span<const BlockFromHost> blocks, KvStore& store) = 0;

  /// Computes out[r] = softmax(scale · s(p) · ⟨R(p − b)q, k⟩) · values, over all keys of the row. A soft cap
  /// of the shape bounds the scores before the softmax. `k` is
  /// stored rotated by the position in its segment. `p` is the position of the row. `b` is the start position
  /// of the key's segment. `s` is the position scale. Shape of queries and out: [rows][queryHeads ·
  /// headSize]. The query vectors are not rotated yet. If `observed`, the results of the forward pass contain
  /// the attention mass of this layer that the inputs request. `sinks` has one score per query head, or is
  /// null. A sink is one more key of the row, without a value. Its score is in the softmax once per row.
  virtual void attend(Pass& pass, const Tensor& queries, const KvStore& store, std::int32_t layer,
                      bool observed, Tensor& out, const Weight* sinks = nullptr) = 0;

  /// Computes out[r] = Σ (x − stored)² over the heads of row r. `x` has keys (before rotation) or values of
  /// the forward pass. `stored` has the keys or values in the row's slot in this layer. `x` is rotated and
  /// rounded as for storing. A row that equals the stored row therefore gives 0. Shapes: x is [rows][heads ·
  /// headSize]. `out` is [rows][1], in f32 on every backend.
  virtual void deviations(const Pass& pass, StoredPart part, const Tensor& x, std::int32_t layer,
                          const KvStore& store, Tensor& out) = 0;

  /// Narrows the forward pass to the rows that narrowing.h chooses by the scores, [rows][1]. A backend may
  /// wait for the scores. `gatherRows` with RowList::Chosen takes the remaining rows from a tensor of the
  /// earlier rows. Call this once for each narrowing of the inputs. The results name the remaining rows.
  virtual void narrow(Pass& pass, const Tensor& scores) = 0;

  /// Samples the tokens of the forward pass exactly by the rules of sampling.h. Equal logits give the same
  /// token on every backend. logits: [logitRows][vocabularySize]. A stop request does not end this function
  /// early. Throws Failure if a row has more than kMostLogits logits.
  virtual void sample(Pass& pass, const Tensor& logits) = 0;
  /// Adds a copy of the current x, in f32, to the results of the forward pass.
  virtual void fetch(Pass& pass, const Tensor& x) = 0;
  /// Waits until the operations of the forward pass are done and returns the results. Call this once per
  /// forward pass.
  virtual PassResults finish(Pass& pass) = 0;

  /// For tests: waits until all operations are done and copies x to host memory, f32, row-major.
  virtual void download(const Tensor& x, std::span<float> out) = 0;
  /// For tests: fills a tensor from host memory.
  virtual void upload(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                      Tensor& out) = 0;
  /// For tests: like upload(), but out is in f32, like the product with a weight for logits.
  virtual void uploadLogits(std::span<const float> values, std::int64_t rows, std::int64_t columns,
                            Tensor& out) {
    upload(values, rows, columns, out);
  }
};

}  // namespace spanscope::compute
