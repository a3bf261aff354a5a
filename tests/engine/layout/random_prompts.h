// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::test {

/// Makes random prompts that contain answers of earlier steps.
class RandomPrompts {
 public:
  /// Texts have fewer than `mostWords` of these words.
  RandomPrompts(std::uint64_t seed, std::vector<std::string> words, std::size_t mostWords)
      : m_random(seed), m_words(std::move(words)), m_mostWords(mostWords) {}

  std::size_t below(std::size_t limit) { return m_random() % limit; }

  plan::PromptNode prompt(std::size_t steps, int depth, bool top = true) {
    // The top is no leaf, or half of the trees would test nothing.
    const std::size_t kind = top ? 5 + below(5) : below(depth > 0 ? 10 : 5);
    const NodePath node = "/n" + std::to_string(m_node++);
    if (kind < 4 || (kind == 4 && steps == 0))
      return {node, plan::PromptMessage{static_cast<query::Role>(below(3)), text()}};
    if (kind == 4) {
      const auto form = static_cast<plan::OutputForm>(below(3));
      return {node, plan::PromptOutput{static_cast<StepIndex>(below(steps)), form}};
    }
    std::vector<plan::PromptNode> children(below(5));
    for (plan::PromptNode& child : children) child = prompt(steps, depth - 1, false);
    if (kind < 7) return {node, plan::PromptRun{.children = std::move(children), .isCross = below(2) == 0}};
    return {node, plan::PromptPlus{std::move(children)}};
  }

 private:
  std::string text() {
    std::string result;
    for (std::size_t i = below(m_mostWords); i > 0; --i) result += m_words[below(m_words.size())];
    return result;
  }

  std::mt19937_64 m_random;
  std::vector<std::string> m_words;
  std::size_t m_mostWords;
  int m_node = 0;
};

}  // namespace spanscope::test
