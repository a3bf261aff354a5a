// SPDX-License-Identifier: GPL-3.0-or-later
// Summarizes repeated measurements and compares them. Open this file to change medians or spreads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::experiment {

/// Summary of a repeated measurement: the median, and the quartiles as its spread. Medians are used because a
/// shared machine disturbs single runs, always in the same direction.
struct Summary {
  double median = 0;
  double lower = 0;             ///< first quartile
  double upper = 0;             ///< third quartile
  std::vector<double> samples;  ///< in the order of measurement

  double least() const;  ///< 0 without samples
  double most() const;   ///< 0 without samples
};

/// Quantiles are interpolated between neighbours. All values are zero without samples.
Summary summarize(std::vector<double> samples);

/// How two repeated measurements of a time compare.
enum class Standing {
  Unclear,  ///< their spreads overlap: the difference may be noise
  TooFew,   ///< one measurement has fewer than kFewestSamples samples, so its spread is unknown
  Faster,
  Slower,
};
inline constexpr std::size_t kFewestSamples = 3;
/// Min number of samples for a spread between the quartiles. With fewer samples the spread is between min and
/// max. One disturbed run among many does not matter. Among few runs, a disturbed run cannot be recognized.
inline constexpr std::size_t kFewestForQuartiles = 5;
struct Comparison {
  Standing standing = Standing::TooFew;
  double factor = 0;  ///< median of the base divided by the median of the other; 0: unknown
};
/// Compares the time `other` with the time `base`.
Comparison compareTimes(const Summary& base, const Summary& other);

/// The share of successes is between these shares, 0 … 1, with a probability of 95 %.
struct ShareInterval {
  double low = 0;
  double high = 1;
};

/// Returns Wilson's score interval. The interval is also correct for few trials and for shares near 0 and 1.
/// Without trials, the interval is 0 … 1.
ShareInterval wilsonInterval(std::int64_t successes, std::int64_t trials);

}  // namespace spanscope::experiment
