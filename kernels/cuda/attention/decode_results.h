// SPDX-License-Identifier: GPL-3.0-or-later
// Shared code of the kernels that cut single rows along their keys: where an item ends, and where its results
// are stored.
#pragma once

#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/partial_sum.h"
#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// One past the last key of an item that the item's row sees.
SPANSCOPE_DEVICE int endOf(const DecodeItem& item, const std::int32_t* locals) {
  if (item.causal == 0) return item.end;
  const int limit = locals[item.row] + 1;
  return limit < item.end ? limit : item.end;
}

/// Where the results of a query head begin, for the item of this thread block.
SPANSCOPE_DEVICE std::int64_t decodePlaceOf(const DecodeAttentionArguments& arguments, int head) {
  return static_cast<std::int64_t>(blockIndex().x) * arguments.queryHeads + head;
}

/// Stores the weights of whole stretches and of the first key for one query head; all lanes of a warp do it
/// together. `scores` are the scores of local tokens from `base` on, −∞ for keys that are not read; they end
/// before `end`.
SPANSCOPE_DEVICE void storeMass(const DecodeAttentionArguments& arguments, const DecodeItem& item, int head,
                                const float* scores, int base, int end, float largest) {
  const auto weightOf = [&](int local) {
    const float score = scores[local - base];
    return score == kMinusInfinity ? 0.0F : exp2Fast(score - largest);
  };
  const int span = item.massSpan;
  const int firstStretch = item.begin / span;
  const int stretches = (end - 1) / span - firstStretch + 1;
  const std::int64_t place = decodePlaceOf(arguments, head);
  for (int s = laneIndex(); s < stretches; s += kWarpSize) {
    const int stretchBegin = (firstStretch + s) * span;
    const int stretchEnd = stretchBegin + span < end ? stretchBegin + span : end;
    float sum = 0;
    for (int local = stretchBegin > item.begin ? stretchBegin : item.begin; local < stretchEnd; ++local)
      sum += weightOf(local);
    arguments.partialMass[place * arguments.itemStretches + s] = sum;
  }
  if (laneIndex() == 0) arguments.partialFirst[place] = weightOf(item.begin);
}

}  // namespace spanscope::cuda
