// SPDX-License-Identifier: GPL-3.0-or-later
// One sequence under a plain causal mask, computed with only the decoder in a KV store of its own: a full
// prefill, without cache and scheduler.
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

namespace spanscope::experiment {

class FlatSequence {
 public:
  /// Has room for `tokens` tokens. Decoder and backend must outlive it. Throws Failure if there is not enough
  /// memory.
  FlatSequence(model::Decoder& decoder, compute::Backend& backend, std::int64_t tokens,
               std::int32_t blockSize, compute::DType keysAndValues);

  enum class Rows {
    Silent,    ///< nothing is returned
    Logits,    ///< the logits of every row
    Observed,  ///< also the attention of every row in all layers, by key token
  };
  /// Computes tokens that stand from `begin` on, in one pass. Earlier tokens must have been computed; later
  /// ones are forgotten. Throws Failure if it was stopped.
  model::ForwardResult compute(std::int64_t begin, std::span<const TokenId> tokens, Rows rows,
                               const std::stop_token& stop);

 private:
  model::Decoder& m_decoder;
  std::int32_t m_blockSize;
  std::vector<BlockId> m_blocks;
  std::unique_ptr<compute::KvStore> m_store;
};

}  // namespace spanscope::experiment
