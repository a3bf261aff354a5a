// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens outside of the vocabulary. A tokenizer finds them in the text before it cuts the text into words.
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
  bool special = false;     ///< a marker: it hides other tokens at its place in a text, but is itself never
                            ///< found
  bool normalized = false;  ///< searched in the normalized text instead of the original text
  bool singleWord = false;  ///< found only if no word character is next to it
  bool leftStrip = false;   ///< includes the white space before it
  bool rightStrip = false;  ///< includes the white space after it
};

/// Most bytes of an added token.
inline constexpr std::size_t kMaxAddedTokenBytes = 1024;

/// A part of a text: an added token, or text between them (id −1).
struct TextPart {
  ByteRange range;
  TokenId id = -1;
};

/// Finds the tokens of a list in a text: the leftmost, and of several at one place the longest.
class AddedTokenFinder {
 public:
  AddedTokenFinder();

  void add(const AddedToken& token, std::string_view spelling);

  using Found = std::function<void(const TextPart&)>;

  /// Splits the text into non-empty parts and calls `found` for each. `text` must be valid UTF-8. Throws
  /// Failure on a stop.
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
  std::unordered_map<std::uint64_t, std::uint32_t> m_children;  ///< of the other nodes, by node and byte
  std::vector<std::uint32_t> m_tokenOfNode;                     ///< 1 + index of the token that ends at the
                                                                ///< node
  std::vector<AddedToken> m_tokens;
};

}  // namespace spanscope::text
