// SPDX-License-Identifier: GPL-3.0-or-later
// What the scheduler asks to have computed. In a run, the model computes it. A prediction goes through the
// same scheduler and cache, with an implementation that computes nothing.
#pragma once

#include "engine/cache/kv_cache.h"
#include "engine/compute/backend.h"
#include "engine/compute/sampling.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

namespace spanscope::run {

using compute::SampledToken;
using compute::SamplingSettings;

class Computation {
 public:
  virtual ~Computation() = default;
  /// Computes a batch. `most[i]`: most tokens of the reply that draw i of the batch is for.
  virtual model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> most,
                                       std::stop_token stop) = 0;
  /// Copies blocks one after the other, before anything that is computed later.
  virtual void copyBlocks(std::span<const cache::BlockCopy> copies) = 0;
  virtual std::int32_t vocabularySize() const = 0;  ///< logits of one row
  virtual std::int32_t heads() const = 0;
};

/// Computes with a decoder on a backend; `store` holds the keys and values. All three must outlive this
/// object.
class ModelComputation final : public Computation {
 public:
  ModelComputation(model::Decoder& decoder, compute::Backend& backend, compute::KvStore& store)
      : m_decoder(decoder), m_backend(backend), m_store(store) {}

  model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> /*most*/,
                               std::stop_token stop) override {
    return m_decoder.forward(batch, m_store, std::move(stop));
  }
  void copyBlocks(std::span<const cache::BlockCopy> copies) override {
    std::vector<compute::BlockCopy> list;
    list.reserve(copies.size());
    for (const cache::BlockCopy& copy : copies) list.push_back({copy.source, copy.target, copy.slots});
    m_backend.copyBlocks(list, m_store);
  }
  std::int32_t vocabularySize() const override { return m_decoder.config().vocabularySize; }
  std::int32_t heads() const override { return m_decoder.config().heads; }

 private:
  model::Decoder& m_decoder;
  compute::Backend& m_backend;
  compute::KvStore& m_store;
};

}  // namespace spanscope::run
