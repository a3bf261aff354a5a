// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens beside the vocabulary, which a tokenizer finds in the text before it cuts it into words.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/text_pattern.h"

#include <array>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace spanscope::text {

struct AddedToken {
  TokenId id = -1;
  std::string content;      ///< valid UTF-8, not empty
  bool special = false;     ///< a marker: shadows other tokens where it stands in a text, but is never found
  bool normalized = false;  ///< looked for in the normalized text, not in the text as it is
  bool singleWord = false;  ///< only where no word character stands beside it
  bool leftStrip = false;   ///< takes the white space before it
  bool rightStrip = false;  ///< takes the white space behind it
};

/// Most bytes of an added token.
inline constexpr std::size_t kMaxAddedTokenBytes = 1024;

/// A part of a text: an added token, or text that is none (id −1).
struct TextPart {
  ByteRange range;
  TokenId id = -1;
};

/// Finds the leftmost, of those the longest, tokens of a list.
class AddedTokenFinder {
 public:
  AddedTokenFinder();

  void add(const AddedToken& token, std::string_view spelling);

  using Found = std::function<void(const TextPart&)>;

  /// Gives the text in parts, none empty. `text` is valid UTF-8. Throws Failure on a stop.
  void split(std::string_view text, const std::stop_token& stop, const Found& found) const;

 private:
  struct Match {
    std::size_t length = 0;
    const AddedToken* token = nullptr;
  };
  static constexpr std::uint32_t kNoNode = 0;

  Match matchAt(std::string_view text, std::size_t position) const;
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;

  std::array<std::uint32_t, 256> m_first{};                     ///< children of the root, node 0
  std::unordered_map<std::uint64_t, std::uint32_t> m_children;  ///< by node and byte, of the other nodes
  std::vector<std::uint32_t> m_tokenOfNode;                     ///< index of the token that ends there, + 1
  std::vector<AddedToken> m_tokens;
};

}  // namespace spanscope::text
