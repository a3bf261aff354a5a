// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace spanscope::test {

/// Random numbers from a seed, the same with every library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : m_random(seed) {}
  /// 0 … end − 1
  int below(int end) { return static_cast<int>(m_random() % static_cast<std::uint64_t>(end)); }
  bool oneIn(int chances) { return below(chances) == 0; }
  std::uint64_t bits() { return m_random(); }
  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

 private:
  std::mt19937_64 m_random;
};

/// Makes random query trees of every operator that can be planned as it is. They are made from a few texts
/// and from parts of earlier trees, so that their prompts have much in common.
class RandomTrees {
 public:
  explicit RandomTrees(Dice& dice);

  query::Node next();

 private:
  query::Node part(int depth);
  query::Node fresh(int depth);
  query::Node join(query::JoinKind kind, int most, int depth);
  query::Node message();
  query::Generate generate(int depth);
  query::GenerateSettings settings();
  std::string text();

  Dice& m_dice;
  std::vector<std::string> m_texts;
  std::vector<query::Node> m_parts;  ///< parts of earlier trees
  int m_left = 0;                    ///< how many more generates the tree may have
};

}  // namespace spanscope::test
