// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/op_replay.h"

#include <algorithm>
#include <string>

namespace spanscope::twin {

void SeenTokens::add(std::string_view salt, std::span<const TokenId> tokens) {
  m_tree.insert({.key = {}, .salt = std::string(salt)}, tokens);
}

std::vector<FateRun> SeenTokens::fates(std::string_view salt, std::span<const TokenId> prompt,
                                       std::size_t cached, std::size_t kept, std::size_t block) const {
  const std::size_t seen = m_tree.matchedTokens({.key = {}, .salt = std::string(salt)}, prompt);
  std::vector<FateRun> fates;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end, Fate fate) {
    if (begin < end)
      fates.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end - begin), fate});
    begin = std::max(begin, end);
  };
  add(cached, Fate::Found);
  add(kept, Fate::AlwaysAgain);
  add(seen / block * block, Fate::Gone);
  add(seen, Fate::NotWhole);
  add(prompt.size(), Fate::Differs);
  return fates;
}

}  // namespace spanscope::twin
