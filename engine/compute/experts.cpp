// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/experts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace spanscope::compute {

void chooseExperts(std::span<const float> scores, const ExpertChoice& choice,
                   std::span<ChosenExpert> chosen) {
  // Orders numbers that are not comparable, too.
  const auto rank = [](float score) {
    return std::isnan(score) ? std::numeric_limits<float>::infinity() : score;
  };
  // A short sorted list: a row uses few of the experts.
  std::size_t count = 0;
  for (std::size_t expert = 0; expert < scores.size(); ++expert) {
    const float score = rank(scores[expert]);
    std::size_t place = count;
    while (place > 0 && score > rank(chosen[place - 1].weight)) --place;
    if (place == chosen.size()) continue;
    count = std::min(count + 1, chosen.size());
    std::copy_backward(chosen.begin() + static_cast<std::ptrdiff_t>(place),
                       chosen.begin() + static_cast<std::ptrdiff_t>(count) - 1,
                       chosen.begin() + static_cast<std::ptrdiff_t>(count));
    chosen[place] = {static_cast<std::int32_t>(expert), scores[expert]};
  }
  const auto highest = static_cast<double>(chosen.front().weight);
  std::ranges::sort(chosen, {}, &ChosenExpert::expert);
  double sum = 0;
  if (choice.isNormalised) {
    for (const ChosenExpert& one : chosen) sum += std::exp(static_cast<double>(one.weight) - highest);
  } else {
    for (const float score : scores) sum += std::exp(static_cast<double>(score) - highest);
  }
  for (ChosenExpert& one : chosen)
    one.weight = static_cast<float>(std::exp(static_cast<double>(one.weight) - highest) / sum);
}

}  // namespace spanscope::compute
