// SPDX-License-Identifier: GPL-3.0-or-later
// Defines which experts a token uses, and with which weights. Equal scores give the same experts on every
// backend. Open this file to add another way to choose experts.
#pragma once

#include <cstdint>
#include <span>

namespace spanscope::compute {

/// How the scores of a router choose experts.
struct ExpertChoice {
  std::int32_t used = 0;  ///< experts of each row: 1 to the number of experts.
  /// Whether the softmax is over the chosen experts, so that their weights have the sum 1. Otherwise, the
  /// softmax is over all experts.
  bool isNormalised = true;
  bool operator==(const ExpertChoice&) const = default;
};

struct ChosenExpert {
  std::int32_t expert = 0;
  float weight = 0;
};

/// Chooses the experts with the highest scores of a row, and writes the experts to `chosen` in ascending
/// order. Of equal scores, the lower expert is chosen. A NaN counts as the highest score. `chosen` has
/// choice.used elements, at most as many as `scores`.
void chooseExperts(std::span<const float> scores, const ExpertChoice& choice, std::span<ChosenExpert> chosen);

}  // namespace spanscope::compute
