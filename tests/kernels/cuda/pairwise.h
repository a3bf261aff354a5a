// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/random_values.h"

#include <cstddef>
#include <vector>

namespace spanscope::testing {

/// A sample of all combinations of choices. Dimension d has `counts[d]` choices; a combination has one choice
/// for each dimension. In the sample any two choices of two dimensions occur together at least once. It is
/// made greedily: each combination is the best of some random ones.
inline std::vector<std::vector<std::size_t>> pairwiseSample(const std::vector<std::size_t>& counts,
                                                            Random& random) {
  struct Pair {
    std::size_t left, right, leftChoice, rightChoice;
  };
  std::vector<Pair> open;
  for (std::size_t left = 0; left < counts.size(); ++left) {
    for (std::size_t right = left + 1; right < counts.size(); ++right) {
      for (std::size_t a = 0; a < counts[left]; ++a) {
        for (std::size_t b = 0; b < counts[right]; ++b) open.push_back({left, right, a, b});
      }
    }
  }
  const auto covers = [](const std::vector<std::size_t>& choice, const Pair& pair) {
    return choice[pair.left] == pair.leftChoice && choice[pair.right] == pair.rightChoice;
  };
  std::vector<std::vector<std::size_t>> sample;
  while (!open.empty()) {
    constexpr int kTries = 40;
    std::vector<std::size_t> best;
    std::ptrdiff_t bestCount = -1;
    for (int i = 0; i < kTries; ++i) {
      std::vector<std::size_t> choice;
      for (const std::size_t count : counts) choice.push_back(random.below(count));
      choice[open.front().left] = open.front().leftChoice;  // every step makes progress
      choice[open.front().right] = open.front().rightChoice;
      std::ptrdiff_t count = 0;
      for (const Pair& pair : open) count += covers(choice, pair) ? 1 : 0;
      if (count <= bestCount) continue;
      bestCount = count;
      best = std::move(choice);
    }
    std::erase_if(open, [&](const Pair& pair) { return covers(best, pair); });
    sample.push_back(std::move(best));
  }
  return sample;
}

}  // namespace spanscope::testing
