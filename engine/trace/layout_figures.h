// SPDX-License-Identifier: GPL-3.0-or-later
// What a layout did to prompts and what that comes to: the same figures wherever they are said.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <span>
#include <string>

namespace spanscope::trace {

/// Of one prompt, or the sums of several. Tokens are those that stand in the view.
struct LayoutFigures {
  std::int64_t tokens = 0;  ///< of the prompt as it was laid out
  std::int64_t pads = 0;
  std::int64_t padBlocks = 0;  ///< blocks of the view that they fill up
  std::int64_t markers = 0;
  std::int64_t cropped = 0;  ///< that the exact layout has and this one has not

  /// What the same prompt has in the exact layout.
  std::int64_t exactTokens() const { return tokens - pads - markers + cropped; }
  /// By how much more tokens there are, as a share of those; negative: fewer. 0 of nothing.
  double added() const;
  LayoutFigures& operator+=(const LayoutFigures& other);
  bool operator==(const LayoutFigures&) const = default;
};

/// `segments`: the span table that it was applied to; `blockSize`: tokens, from 1 up.
LayoutFigures layoutFigures(const LayoutApplied& applied, std::span<const SegmentInfo> segments,
                            std::int32_t blockSize);

/// "17 pads in 9 blocks, 12 markers, 23 tokens cropped: 4.1 % more tokens than exact"
std::string layoutText(const LayoutFigures& figures);
/// "+4.1 %", "−12.0 %", "±0 %"
std::string addedText(const LayoutFigures& figures);

}  // namespace spanscope::trace
