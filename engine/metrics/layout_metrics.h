// SPDX-License-Identifier: GPL-3.0-or-later
// Counts the tokens that a layout adds to prompts and truncates. Open this file to change a metric of
// layouts.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <span>
#include <string>

namespace spanscope::metrics {

/// The values of one prompt, or the sums of several. Only visible tokens count.
struct LayoutMetrics {
  std::int64_t tokens = 0;  ///< tokens of the prompt in this layout
  std::int64_t pads = 0;
  std::int64_t padBlocks = 0;  ///< virtual blocks that have padding
  std::int64_t markers = 0;
  std::int64_t cropped = 0;  ///< tokens of the exact layout that this layout truncates

  /// Returns the number of tokens of the same prompt in the exact layout.
  std::int64_t exactTokens() const { return tokens - pads - markers + cropped; }
  /// Returns the number of added tokens divided by exactTokens(). Negative: the layout has fewer tokens.
  double added() const;
  LayoutMetrics& operator+=(const LayoutMetrics& other);
  bool operator==(const LayoutMetrics&) const = default;
};

/// Returns the counts of one prompt. `segments` is its span table. `blockSize` is in tokens, at least 1.
LayoutMetrics layoutMetrics(const trace::LayoutApplied& applied, std::span<const trace::SegmentInfo> segments,
                            std::int32_t blockSize);

/// Returns e.g. "17 padding tokens in 9 blocks, 12 delimiter tokens, 23 tokens truncated: 4.1 % more tokens
/// than the exact layout".
std::string layoutText(const LayoutMetrics& counts);
/// Returns the change by the layout: "+4.1 %", "−12.0 %", "±0 %".
std::string addedText(const LayoutMetrics& counts);

}  // namespace spanscope::metrics
