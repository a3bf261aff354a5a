// SPDX-License-Identifier: GPL-3.0-or-later
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

/// The inputs of a pass, and which results are returned besides the drawn tokens.
struct Batch : compute::PassInputs {
  bool logitsWanted = true;              ///< whether the logits of the logit rows are returned; if not,
                                         ///< tokens are only drawn from them
  std::vector<std::int32_t> massLayers;  ///< layers whose attention mass is returned
  /// For each of `narrowings`, the layer that does it; ascending. The remaining rows are those whose keys or
  /// values in that layer differ most from what their slots hold.
  std::vector<std::int32_t> narrowingLayers;
  compute::StoredPart narrowedBy = compute::StoredPart::Keys;
  /// Whether the queries and keys of all rows and layers are returned: many bytes a row. Not for a pass that
  /// is narrowed.
  bool vectorsWanted = false;
};

/// What a layer computed of the rows of a pass, before positions turn it.
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
  std::vector<std::int32_t> keptRows;  ///< for a pass that is narrowed: the rows that remained to the end
  std::vector<LayerVectors> vectors;   ///< one a layer; empty unless wanted
};

struct DecoderOptions {
  const Adapter* adapter = nullptr;  ///< what is added to some of the matrices; null: nothing
  /// What holds the data of the weights, if they may be borrowed: then the decoder is there sooner. Before
  /// the second pass or a later one, if it has few rows, all weights are taken over. Null: they are at once.
  std::shared_ptr<const WeightSource> lender = {};
  bool hashesWeights = false;  ///< whether a digest of all weights is made while they are read
};

/// A decoder of any family, written once over the operations of a backend. It does one forward pass at a
/// time.
class Decoder {
 public:
  /// Prepares all weights. `backend` must outlive the decoder. Throws Failure for missing tensors, wrong
  /// shapes, values that are not finite, tensors that the model does not use and that are no known extras,
  /// and an adapter of another model.
  Decoder(const ModelConfig& config, const WeightSource& weights, compute::Backend& backend,
          const DecoderOptions& options = {});
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const;
  std::size_t weightBytes() const;  ///< device memory that all weights occupy
  std::size_t parameterCount() const;
  /// Of all weights, once it was made; else empty.
  const std::string& weightsDigest() const;
  /// Makes it of the same weights as those that were loaded. Throws Failure if they cannot be read.
  void readWeightsDigest(const WeightSource& weights);

  /// Takes over about so many bytes of borrowed weights, between two passes. Says whether any are left.
  /// Throws Failure if their file was cut or changed, or there is no memory for them.
  bool own(std::size_t bytes);

  /// Shape of a KV store for this model.
  compute::KvShape kvShape(std::int32_t blocks, std::int32_t blockSize, compute::DType type) const;

  /// Runs the rows through all layers. In each layer the keys and values of all rows are stored before any
  /// row reads them. Throws Failure if a number of the result would not be finite, or the batch does not fit
  /// the model or the store, or a file of borrowed weights was cut or changed.
  ForwardResult forward(const Batch& batch, compute::KvStore& store, std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::model
