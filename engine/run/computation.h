// SPDX-License-Identifier: GPL-3.0-or-later
// What the scheduler asks of whoever computes. The model does it for a run; a prediction goes the same way
// through scheduler and cache with one that computes nothing.
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
  /// Draw number i of the batch is for a reply of at most most[i] tokens.
  virtual model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> most,
                                       std::stop_token stop) = 0;
  /// One after the other, before whatever is computed later.
  virtual void copyBlocks(std::span<const cache::BlockCopy> copies) = 0;
  virtual std::int32_t vocabularySize() const = 0;  ///< logits a row
  virtual std::int32_t heads() const = 0;
};

/// A decoder with the backend that it computes on and the store of its keys and values, all of which must
/// outlive it.
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
