// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/tokenizer.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace spanscope::text {

/// What a vocabulary says of one id.
struct Piece {
  std::string bytes;  ///< that it stands for; none for a control piece
  std::string display;
  bool control = false;
  bool known = false;  ///< false for a number that no piece has
};

/// The part of a tokenizer that is a table of pieces: everything but encoding.
class PieceTable : public Tokenizer {
 public:
  TokenId controlId(std::string_view piece) const final {
    const auto found = m_controlIds.find(std::string(piece));
    return found == m_controlIds.end() ? -1 : found->second;
  }
  std::string bytes(TokenId id) const final { return isKnown(id) ? at(id).bytes : std::string(); }
  std::string display(TokenId id) const final {
    return isKnown(id) ? at(id).display : "<id " + std::to_string(id) + ">";
  }
  bool isControl(TokenId id) const final { return isKnown(id) && at(id).control; }
  std::int32_t vocabularySize() const final { return static_cast<std::int32_t>(m_pieces.size()); }

 protected:
  bool isKnown(TokenId id) const { return id >= 0 && id < vocabularySize() && at(id).known; }
  /// Of an id below the vocabulary's size.
  const Piece& at(TokenId id) const { return m_pieces[static_cast<std::size_t>(id)]; }

  std::vector<Piece> m_pieces;  ///< by id
  std::unordered_map<std::string, TokenId> m_controlIds;
};

}  // namespace spanscope::text
