// SPDX-License-Identifier: GPL-3.0-or-later
// Finds added tokens, which are not in the vocabulary, before a tokenizer splits the text into words. Open
// this file when an added token is encoded wrongly.
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
  bool special = false;     ///< a control piece: it hides other tokens at its place in a text, but is never
                            ///< found itself
  bool normalized = false;  ///< searched in the normalized text and not in the original text
  bool singleWord = false;  ///< found only if no word character is next to it
  bool leftStrip = false;   ///< includes the white space before it
  bool rightStrip = false;  ///< includes the white space after it
};

/// Max size in bytes of an added token.
inline constexpr std::size_t kMaxAddedTokenBytes = 1024;

/// A section of a text: an added token, or text between added tokens (id −1).
struct TextPart {
  ByteRange range;
  TokenId id = -1;
};

/// Finds the tokens of a list in a text: the leftmost one. Of several tokens at one place, it finds the
/// longest.
class AddedTokenFinder {
 public:
  AddedTokenFinder();

  void add(const AddedToken& token, std::string_view spelling);

  using Found = std::function<void(const TextPart&)>;

  /// Splits the text into non-empty sections and calls `found` for each. `text` must be valid UTF-8. Throws
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
  std::vector<std::uint32_t> m_tokenOfNode;  ///< 1 + index of the token that ends at the node
  std::vector<AddedToken> m_tokens;
};

}  // namespace spanscope::text
