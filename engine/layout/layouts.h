// SPDX-License-Identifier: GPL-3.0-or-later
// The ways in which prompts become tokens: exactly as the chat template writes them, or in the form for
// servers that find the structure of a prompt by marker tokens. A run has one layout, whatever its reuse
// policy. Window, command line, documents and experiments enumerate this list.
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
  Padded,  ///< with pads and markers, as IBM/spnl writes them; every message is whole
  Cropped  ///< the same, but messages of the assistant are cropped too: what IBM/spnl sends to a span server
};

/// The texts about a layout. They are constants that live as long as the program.
struct LayoutInfo {
  Layout layout;
  const char* name;   ///< "padded": the name in options, documents and traces
  const char* brief;  ///< what the layout is, in a few words
  const char* help;   ///< what the layout does, in a sentence
  /// The tokens over which results are exact, if they are exact. It follows the text of a policy's exactness.
  /// Empty for the chat template's tokens.
  const char* over;
};

/// All layouts, in the order in which they are offered; the first is the standard one.
std::span<const LayoutInfo> layouts();
const LayoutInfo& infoOf(Layout layout);
/// The layout of this name; nothing if there is none.
std::optional<Layout> findLayout(std::string_view name);

/// What a policy's result is exact against, over the tokens of a layout: "block attention ✓ · full prefill ≈,
/// over the padded tokens and not the chat template's text".
std::string exactnessOver(std::string exactness, Layout layout);

/// The ordinary pieces of a vocabulary that servers are configured to take as marks, as in the examples of
/// IBM/spnl 0.22: "<" fills up blocks, "+" begins each child of a plus, "@" the last child of a cross.
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
  std::int32_t blockSize = 1;  ///< tokens, at least 1; every marker begins at a multiple of it
  MarkerTokens markers{};

  bool marks() const { return layout != Layout::Exact; }
  bool crops() const { return layout == Layout::Cropped; }
};

}  // namespace spanscope::layout
