// SPDX-License-Identifier: GPL-3.0-or-later
// Computes a span table with only the decoder: without cache, scheduler or anything shared. Runs that reuse
// blocks are compared with it, and so are other implementations.
#pragma once

#include "engine/compute/backend.h"
#include "engine/layout/span_table.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>

namespace spanscope::experiment {

/// Calls `give` with the logits of every token, in view order. `position` counts the tokens. `logits` has
/// vocabularySize values and is valid only during the call. Throws Failure if a token id is not in the
/// vocabulary, the table is longer than the model's context, memory cannot be allocated, or the pass was
/// stopped.
void computeTable(model::Decoder& decoder, compute::Backend& backend, const layout::SpanTable& table,
                  const std::function<void(std::int64_t position, std::span<const float> logits)>& give,
                  std::stop_token stop = {}, compute::DType keysAndValues = compute::DType::F32);

}  // namespace spanscope::experiment
