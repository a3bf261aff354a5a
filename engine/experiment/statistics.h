// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
};

/// Quantiles are interpolated between neighbours. All zero without samples.
Summary summarize(std::vector<double> samples);

/// Between which shares, 0 … 1, the share of successes lies with a probability of 95 %.
struct ShareInterval {
  double low = 0;
  double high = 1;
};

/// Wilson's score interval: right also for few trials and shares near 0 and 1. From 0 to 1 without trials.
ShareInterval wilsonInterval(std::int64_t successes, std::int64_t trials);

}  // namespace spanscope::experiment
