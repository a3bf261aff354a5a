// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the layouts: the ways in which prompts become tokens. Window, command line, documents and experiments
// enumerate this list. A run has one layout under every reuse policy. A prompt is exactly the chat template's
// text, or has delimiter tokens for servers that need them. Open this file to add a layout.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace spanscope::layout {

enum class Layout : std::uint8_t {
  Exact,   ///< the chat template's text and nothing else
  Padded,  ///< with padding and delimiters, as IBM/spnl writes them; every message is whole
  Cropped  ///< like Padded, but assistant messages are truncated, as in IBM/spnl's requests to a server with
           ///< span support
};

/// The texts about a layout. The texts are constants with the lifetime of the program.
struct LayoutInfo {
  Layout layout;
  const char* name;   ///< "padded": the name in options, documents and traces
  const char* brief;  ///< a description in a few words
  const char* help;   ///< a description in a sentence
  /// A phrase that follows a policy's exactness and names the tokens of the comparison. Empty for the chat
  /// template's tokens.
  const char* over;
};

/// Returns all layouts in display order. The first layout is the default.
std::span<const LayoutInfo> layouts();
const LayoutInfo& infoOf(Layout layout);
/// Returns the layout with this name, or nothing.
std::optional<Layout> findLayout(std::string_view name);

/// Returns a policy's exactness with the tokens of a layout. Example: "block attention ✓ · full prefill ≈,
/// for the padded tokens, not the chat template's text".
std::string exactnessOver(std::string exactness, Layout layout);

/// The ordinary tokens of a vocabulary that serve as padding and delimiters, as in the examples of IBM/spnl
/// 0.22. "<" is padding, "+" begins each child of a plus, "@" begins the last child of a cross.
struct MarkerTokens {
  TokenId pad = 0;
  TokenId plus = 0;
  TokenId cross = 0;
  bool operator==(const MarkerTokens&) const = default;
};

/// Throws Failure if the vocabulary lacks a token for exactly one of these texts.
MarkerTokens markerTokens(const text::Tokenizer& tokenizer);

/// A layout with the values that it depends on.
struct LayoutRules {
  Layout layout = Layout::Exact;
  std::int32_t blockSize = 1;  ///< tokens, at least 1; every delimiter begins at a multiple of it
  MarkerTokens markers{};

  bool marks() const { return layout != Layout::Exact; }
  bool crops() const { return layout == Layout::Cropped; }
};

}  // namespace spanscope::layout
