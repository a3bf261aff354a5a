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

/// A decoder of any family, written once over the operations of a backend. It does one forward pass at a
/// time.
class Decoder {
 public:
  /// Prepares all weights. `backend` must outlive the decoder. `adapter`: what is added to some of the
  /// matrices; null: nothing. Throws Failure for missing tensors, wrong shapes, values that are not finite,
  /// tensors that the model does not use and that are no known extras, and an adapter of another model.
  Decoder(const ModelConfig& config, const WeightSource& weights, compute::Backend& backend,
          const Adapter* adapter = nullptr);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const;
  std::size_t weightBytes() const;  ///< device memory that all weights occupy
  std::size_t parameterCount() const;

  /// Shape of a KV store for this model.
  compute::KvShape kvShape(std::int32_t blocks, std::int32_t blockSize, compute::DType type) const;

  /// Runs the rows through all layers. In each layer the keys and values of all rows are stored before any
  /// row reads them. Throws Failure if a number of the result would not be finite, or the batch does not fit
  /// the model or the store.
  ForwardResult forward(const Batch& batch, compute::KvStore& store, std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::model
