// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::experiment {

/// What is reported of a repeated measurement: the median, and the quartiles around it as its spread. Medians
/// because a shared machine disturbs single runs, and always in the same direction.
struct Summary {
  double median = 0;
  double lower = 0;             ///< first quartile
  double upper = 0;             ///< third quartile
  std::vector<double> samples;  ///< in the order in which they were taken

  double least() const;  ///< 0 without samples
  double most() const;   ///< 0 without samples
};

/// Quantiles are interpolated between neighbours. All zero without samples.
Summary summarize(std::vector<double> samples);

/// What two repeated measurements of a time say of each other.
enum class Standing {
  Unclear,  ///< their spreads overlap: what differs may be noise
  TooFew,   ///< one of them has fewer samples than kFewestSamples, which say nothing of their spread
  Faster,
  Slower,
};
inline constexpr std::size_t kFewestSamples = 3;
/// From so many samples on the spread is from quartile to quartile, below it from least to most: one
/// disturbed run among many says nothing, among few it cannot be told.
inline constexpr std::size_t kFewestForQuartiles = 5;
struct Comparison {
  Standing standing = Standing::TooFew;
  double factor = 0;  ///< how often the median of the other goes into that of the base; 0: not known
};
/// How `other` stands to `base`, both times.
Comparison compareTimes(const Summary& base, const Summary& other);

/// Between which shares, 0 … 1, the share of successes lies with a probability of 95 %.
struct ShareInterval {
  double low = 0;
  double high = 1;
};

/// Wilson's score interval: right also for few trials and shares near 0 and 1. From 0 to 1 without trials.
ShareInterval wilsonInterval(std::int64_t successes, std::int64_t trials);

}  // namespace spanscope::experiment
