// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/twin/sglang/radix_tree.h"
#include "engine/twin/twin.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace spanscope::twin {

/// All prompts and replies that a server has computed, whether it still keeps them or not: so that a twin can
/// say why what it does not find is not found. Memory grows with every request.
class SeenTokens {
 public:
  void add(std::string_view salt, std::span<const TokenId> tokens);

  /// The fates of a prompt of which the first `cached` tokens are found and `kept` ones are there, both whole
  /// blocks of `block` tokens.
  std::vector<FateRun> fates(std::string_view salt, std::span<const TokenId> prompt, std::size_t cached,
                             std::size_t kept, std::size_t block) const;

 private:
  sglang::RadixTree m_tree{1};
};

}  // namespace spanscope::twin
