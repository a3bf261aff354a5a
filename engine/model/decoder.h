// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a model of any family: one forward pass at a time over a backend. Open this file to change the layers
// or the results of a forward pass.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backend.h"
#include "engine/compute/pass.h"
#include "engine/model/adapter.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace spanscope::model {

using compute::LayerMass;

/// The inputs of a forward pass, and which results it returns besides the sampled tokens.
struct Batch : compute::PassInputs {
  bool logitsWanted = true;  ///< whether the logits of the logit rows are returned; otherwise tokens are only
                             ///< sampled from them
  std::vector<std::int32_t> massLayers;  ///< layers whose attention mass is returned
  /// For each of `narrowings`, the layer of the narrowing, ascending. The remaining rows are those whose keys
  /// or values in that layer differ most from the stored ones.
  std::vector<std::int32_t> narrowingLayers;
  compute::StoredPart narrowedBy = compute::StoredPart::Keys;
  /// Whether the query and key vectors of all rows and layers are returned: many bytes per row. Not for a
  /// narrowed forward pass.
  bool vectorsWanted = false;
};

/// The vectors that a layer computed for the rows of a forward pass, before the rotation.
struct LayerVectors {
  std::vector<float> queries;  ///< [rows][queryHeads][headSize]
  std::vector<float> keys;     ///< [rows][keyHeads][headSize]
  compute::RotaryTable rotary;
  compute::AttentionShape shape;
};

struct ForwardResult {
  bool stopped = false;                       ///< if true, everything else is undefined
  std::vector<compute::SampledToken> tokens;  ///< one per draw
  std::vector<float> logits;                  ///< [logitRows][vocabularySize]; empty unless wanted
  std::vector<float> hidden;                  ///< [hiddenRows][hiddenSize], after the last norm
  std::vector<LayerMass> mass;
  std::vector<std::int32_t> keptRows;  ///< for a narrowed forward pass: the rows that remained to the end
  std::vector<LayerVectors> vectors;   ///< one per layer; empty unless wanted
};

struct DecoderOptions {
  const Adapter* adapter = nullptr;  ///< is added to some of the matrices; null: nothing.
  /// Owner of the data of the weights, if the decoder may borrow them. The decoder is then ready sooner. The
  /// decoder copies all weights before the second forward pass. While forward passes have few rows, the
  /// copies may come before a later forward pass. Null: the decoder copies all weights immediately.
  std::shared_ptr<const WeightSource> lender = {};
  bool hashesWeights = false;  ///< whether a digest of all weights is computed while they are read
};

/// A decoder of any family, written once over the operations of a backend. A decoder does one forward pass at
/// a time.
class Decoder {
 public:
  /// Prepares all weights. `backend` must outlive the decoder. Throws Failure in these cases:
  /// - tensors are missing, or have wrong shapes or values that are not finite;
  /// - a tensor is not used by the model and is no known extra;
  /// - the adapter belongs to another model.
  Decoder(const ModelConfig& config, const WeightSource& weights, compute::Backend& backend,
          const DecoderOptions& options = {});
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const;
  std::size_t weightBytes() const;  ///< device memory of all weights
  std::size_t parameterCount() const;
  /// Returns the digest of all weights, or an empty text before it was computed.
  const std::string& weightsDigest() const;
  /// Computes the digest from `weights`, which must be the loaded weights. Throws Failure if the weights
  /// cannot be read.
  void readWeightsDigest(const WeightSource& weights);

  /// Copies about `bytes` bytes of borrowed weights, between two forward passes. Returns whether borrowed
  /// weights are left. Throws Failure if the file of the weights was truncated or changed, or if memory is
  /// short.
  bool own(std::size_t bytes);

  /// Returns the shape of a KV store for this model.
  compute::KvShape kvShape(std::int32_t blocks, std::int32_t blockSize, compute::DType type) const;

  /// Runs the rows through all layers. In each layer, the keys and values of all rows are stored before any
  /// row reads them. Throws Failure in these cases:
  /// - a number of the result is not finite;
  /// - the batch does not fit the model or the store;
  /// - a file of borrowed weights was truncated or changed.
  ForwardResult forward(const Batch& batch, compute::KvStore& store, std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::model
