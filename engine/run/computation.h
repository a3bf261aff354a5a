// SPDX-License-Identifier: GPL-3.0-or-later
// What the scheduler asks of whoever computes. The model does it for a run; a prediction goes the same way
// through scheduler and cache with one that computes nothing.
#pragma once

#include "engine/cache/kv_cache.h"
#include "engine/compute/backend.h"
#include "engine/model/decoder.h"
#include "engine/run/sampler.h"

#include <cstdint>
#include <span>
#include <stop_token>

namespace spanscope::run {

class Computation {
 public:
  virtual ~Computation() = default;
  virtual model::ForwardResult forward(const model::Batch& batch, std::stop_token stop) = 0;
  virtual void copyBlock(const cache::BlockCopy& copy) = 0;
  /// Token number `index` of a reply of at most `most` tokens. Throws Failure if there is none to be drawn.
  virtual SampledToken draw(std::span<const float> logits, const SamplingSettings& settings,
                            std::size_t index, std::int32_t most) = 0;
  virtual std::int32_t vocabularySize() const = 0;  ///< logits a row
  virtual std::int32_t heads() const = 0;
};

/// A decoder with the store of its keys and values, both of which must outlive it.
class ModelComputation final : public Computation {
 public:
  ModelComputation(model::Decoder& decoder, compute::KvStore& store) : m_decoder(decoder), m_store(store) {}

  model::ForwardResult forward(const model::Batch& batch, std::stop_token stop) override {
    return m_decoder.forward(batch, m_store, std::move(stop));
  }
  void copyBlock(const cache::BlockCopy& copy) override {
    m_store.copyBlock(copy.source, copy.target, copy.slots);
  }
  SampledToken draw(std::span<const float> logits, const SamplingSettings& settings, std::size_t index,
                    std::int32_t /*most*/) override {
    return sample(logits, settings, index);
  }
  std::int32_t vocabularySize() const override { return m_decoder.config().vocabularySize; }
  std::int32_t heads() const override { return m_decoder.config().heads; }

 private:
  model::Decoder& m_decoder;
  compute::KvStore& m_store;
};

}  // namespace spanscope::run
