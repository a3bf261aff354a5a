// SPDX-License-Identifier: GPL-3.0-or-later
// A tree of spellings as a double array (Aoe: An Efficient Digital Search Algorithm by Using a Double-Array
// Structure, 1989): a step from a node to its child is one look at one place of memory.
#pragma once

#include "engine/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::text {

class PieceTrie {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;
  static constexpr Node kNone = std::numeric_limits<Node>::max();

  /// Takes spellings, none of them empty and all different, with their ids.
  explicit PieceTrie(std::vector<std::pair<std::string, TokenId>> pieces);

  /// kNone if no spelling goes on with this byte.
  Node child(Node node, char byte) const {
    const Node place = m_places[node].base ^ static_cast<unsigned char>(byte);
    return m_places[place].parent == node ? place : kNone;
  }
  /// The id of the spelling that ends at the node; −1 if none does.
  TokenId id(Node node) const { return m_places[node].id; }

 private:
  static constexpr std::size_t kBlock = 256;  ///< children of one node lie in one block
  static constexpr Node kTaken = kNone - 1;   ///< a parent that is none

  /// The child by a byte is at base XOR byte, if that is a child of this node at all.
  struct Place {
    Node base = 0;
    Node parent = kNone;  ///< kNone: the place is free
    TokenId id = -1;
  };
  using Pieces = std::span<const std::pair<std::string, TokenId>>;

  Node baseFor(std::string_view bytes);
  bool fits(Node base, std::string_view bytes) const;

  std::vector<Place> m_places;
  std::vector<std::size_t> m_free;  ///< places by block
};

}  // namespace spanscope::text
