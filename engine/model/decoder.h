// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/backend.h"
#include "engine/compute/pass.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace spanscope::model {

using compute::LayerMass;

/// A pass, and what is to come back of it beside the tokens that are drawn.
struct Batch : compute::PassInputs {
  bool logitsWanted = true;              ///< those of the logit rows; else tokens alone are drawn from them
  std::vector<std::int32_t> massLayers;  ///< layers whose attention mass is wanted
  /// For each of `narrowings` the layer in which it is done, ascending: rows go on by how far their keys or
  /// values of that layer are from those that their slots hold.
  std::vector<std::int32_t> narrowingLayers;
  compute::StoredPart narrowedBy = compute::StoredPart::Keys;
};

struct ForwardResult {
  bool stopped = false;                       ///< nothing else is defined then
  std::vector<compute::SampledToken> tokens;  ///< one a draw
  std::vector<float> logits;  ///< [logitRows][vocabularySize]; empty where they are not wanted
  std::vector<float> hidden;  ///< [hiddenRows][hiddenSize], after the last norm
  std::vector<LayerMass> mass;
  std::vector<std::int32_t> keptRows;  ///< of a pass that is narrowed, those that went on to the end
};

/// A Llama-architecture decoder, written once over the operations of a backend. One forward pass at a time.
class Decoder {
 public:
  /// Prepares all weights. `backend` must outlive the decoder. Throws Failure for missing tensors, wrong
  /// shapes, values that are not finite, and tensors that the model has no use for, but for known extras.
  Decoder(const ModelConfig& config, const WeightSource& weights, compute::Backend& backend);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const ModelConfig& config() const;
  std::size_t weightBytes() const;  ///< device memory of all weights
  std::size_t parameterCount() const;

  /// Shape of a KV store for this model.
  compute::KvShape kvShape(std::int32_t blocks, std::int32_t blockSize, compute::DType type) const;

  /// Runs the rows through all layers; keys and values of every row are stored before any row of the pass
  /// reads them. Throws Failure where a number of the result would not be finite.
  ForwardResult forward(const Batch& batch, compute::KvStore& store, std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::model
