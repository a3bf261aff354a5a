// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/piece_trie.h"

#include <algorithm>
#include <deque>

namespace spanscope::text {

PieceTrie::PieceTrie(std::vector<std::pair<std::string, TokenId>> pieces) {
  /// Pieces with the same first bytes, which lead to `node`.
  struct Branch {
    Node node = kRoot;
    Pieces pieces;
    std::size_t depth = 0;
  };
  std::sort(pieces.begin(), pieces.end());
  m_places.resize(kBlock);
  m_free.push_back(kBlock - 1);
  m_places[kRoot].parent = kTaken;
  std::deque<Branch> branches = {{kRoot, pieces, 0}};
  while (!branches.empty()) {
    Branch branch = branches.front();
    branches.pop_front();
    if (!branch.pieces.empty() && branch.pieces.front().first.size() == branch.depth) {
      m_places[branch.node].id = branch.pieces.front().second;
      branch.pieces = branch.pieces.subspan(1);
    }
    std::string bytes;
    for (const auto& [spelling, id] : branch.pieces) {
      if (bytes.empty() || bytes.back() != spelling[branch.depth]) bytes += spelling[branch.depth];
    }
    if (bytes.empty()) continue;
    const Node base = baseFor(bytes);
    m_places[branch.node].base = base;
    m_free[base / kBlock] -= bytes.size();
    for (const char byte : bytes) {
      const Node child = base ^ static_cast<unsigned char>(byte);
      m_places[child].parent = branch.node;
      const auto isOther = [&](const auto& piece) { return piece.first[branch.depth] != byte; };
      const auto end = std::find_if(branch.pieces.begin(), branch.pieces.end(), isOther);
      const auto count = static_cast<std::size_t>(end - branch.pieces.begin());
      branches.push_back({child, branch.pieces.first(count), branch.depth + 1});
      branch.pieces = branch.pieces.subspan(count);
    }
  }
}

/// A base with free places for children by all these bytes. Of the blocks only the last ones are tried, which
/// keeps the time in proportion to the number of pieces.
PieceTrie::Node PieceTrie::baseFor(std::string_view bytes) {
  constexpr std::size_t kMostTried = 4;
  std::size_t tried = 0;
  for (std::size_t block = m_free.size(); block-- > 0 && tried < kMostTried;) {
    if (m_free[block] < bytes.size()) continue;
    ++tried;
    for (std::size_t place = block * kBlock; place < (block + 1) * kBlock; ++place) {
      const Node base = static_cast<Node>(place) ^ static_cast<unsigned char>(bytes.front());
      if (fits(base, bytes)) return base;
    }
  }
  const std::size_t begin = m_places.size();
  m_places.resize(begin + kBlock);
  m_free.push_back(kBlock);
  return static_cast<Node>(begin);
}

bool PieceTrie::fits(Node base, std::string_view bytes) const {
  return std::all_of(bytes.begin(), bytes.end(), [&](char byte) {
    return m_places[base ^ static_cast<unsigned char>(byte)].parent == kNone;
  });
}

}  // namespace spanscope::text
