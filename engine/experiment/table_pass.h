// SPDX-License-Identifier: GPL-3.0-or-later
// Computes a span table with only the decoder: without cache, scheduler or shared data. These logits are
// the reference for runs that reuse blocks and for other implementations. Open this file to check a result.
#pragma once

#include "engine/compute/backend.h"
#include "engine/layout/span_table.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>

namespace spanscope::experiment {

/// Calls `give` with the logits of every token, in prompt order. `position` counts the tokens. `logits` has
/// vocabularySize values and is valid only during the call. Throws Failure in these cases:
/// - A token id is not in the vocabulary.
/// - The table is longer than the model's context.
/// - Memory cannot be allocated.
/// - The computation was stopped.
void computeTable(model::Decoder& decoder, compute::Backend& backend, const layout::SpanTable& table,
                  const std::function<void(std::int64_t position, std::span<const float> logits)>& give,
                  std::stop_token stop = {}, compute::DType keysAndValues = compute::DType::F32);

}  // namespace spanscope::experiment
