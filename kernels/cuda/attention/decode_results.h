// SPDX-License-Identifier: GPL-3.0-or-later
// Shared code of the kernels that divide single rows along their keys. The code computes the end of an item,
// and the place of the item's results. Open this file to change the layout of partial results.
#pragma once

#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/partial_sum.h"
#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// Returns one past the last key of an item that the item's row reads.
SPANSCOPE_DEVICE int endOf(const DecodeItem& item, const std::int32_t* locals) {
  if (item.causal == 0) return item.end;
  const int limit = locals[item.row] + 1;
  return limit < item.end ? limit : item.end;
}

/// Returns the beginning of a query head's results, for the item of this thread block.
SPANSCOPE_DEVICE std::int64_t decodePlaceOf(const DecodeAttentionArguments& arguments, int head) {
  return static_cast<std::int64_t>(blockIndex().x) * arguments.queryHeads + head;
}

/// Stores the weights of whole stretches and of the first key for one query head. All lanes of a warp must
/// call this function together. `scores` are the scores of positions from `base` on, −∞ for unread keys. The
/// scores end before `end`.
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
