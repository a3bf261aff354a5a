// SPDX-License-Identifier: GPL-3.0-or-later
// The interface between the scheduler and the model. In a run, the model computes. A prediction uses the same
// scheduler and cache with an implementation that computes nothing. Open this file to add a computation that
// the scheduler needs.
#pragma once

#include "engine/cache/kv_cache.h"
#include "engine/compute/backend.h"
#include "engine/compute/sampling.h"
#include "engine/model/decoder.h"
#include "engine/run/store_tiers.h"

#include <chrono>
#include <cstdint>
#include <memory>
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
  /// Computes a batch. `most[i]` is the max number of tokens of the answer of draw i.
  virtual model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> most,
                                       std::stop_token stop) = 0;
  /// Copies blocks one after the other, before later computations.
  virtual void copyBlocks(std::span<const cache::BlockCopy> copies) = 0;
  virtual std::int32_t vocabularySize() const = 0;  ///< number of logits in one row
  virtual std::int32_t heads() const = 0;
};

/// Computes with a decoder on a backend. `store` contains the keys and values. Decoder, backend and store
/// must outlive this object.
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

/// Passes all calls on to another computation. Measures the time per row of a prompt. `rates` may be null.
class TimedComputation final : public Computation {
 public:
  TimedComputation(Computation& computation, std::shared_ptr<TierRates> rates)
      : m_computation(computation), m_rates(std::move(rates)) {}

  model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> most,
                               std::stop_token stop) override {
    constexpr std::int64_t kFewestRows = 16;  // min rows of a forward pass that counts as prompt computation
    const auto begin = std::chrono::steady_clock::now();
    model::ForwardResult result = m_computation.forward(batch, most, std::move(stop));
    const auto rows = static_cast<std::int64_t>(batch.tokens.size());
    if (m_rates && !result.stopped && rows >= kFewestRows) {
      const auto elapsed = std::chrono::steady_clock::now() - begin;
      m_rates->noteComputed(rows, std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
    }
    return result;
  }
  void copyBlocks(std::span<const cache::BlockCopy> copies) override { m_computation.copyBlocks(copies); }
  std::int32_t vocabularySize() const override { return m_computation.vocabularySize(); }
  std::int32_t heads() const override { return m_computation.heads(); }

 private:
  Computation& m_computation;
  std::shared_ptr<TierRates> m_rates;
};

}  // namespace spanscope::run
