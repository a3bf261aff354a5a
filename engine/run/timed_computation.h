// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/run/computation.h"
#include "engine/run/tier_rates.h"

#include <chrono>
#include <memory>
#include <utility>

namespace spanscope::run {

/// Passes everything on to another computation, and measures how long a row of a prompt takes. `rates` may be
/// null.
class TimedComputation final : public Computation {
 public:
  TimedComputation(Computation& computation, std::shared_ptr<TierRates> rates)
      : m_computation(computation), m_rates(std::move(rates)) {}

  model::ForwardResult forward(const model::Batch& batch, std::span<const std::int32_t> most,
                               std::stop_token stop) override {
    constexpr std::int64_t kFewestRows = 16;  // of a pass that counts as computing prompts
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
