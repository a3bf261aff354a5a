// SPDX-License-Identifier: GPL-3.0-or-later
// How prompts become tokens: as the chat template has them, or as servers want them whose structure is in
// marker tokens. A run has one layout, whatever its reuse policy; window, command line, documents and
// experiments enumerate this list.
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
  Padded,  ///< with pads and markers, as IBM/spnl writes them, and every message whole
  Cropped  ///< the same, and what the assistant says is cropped as well: what IBM/spnl sends a span server
};

/// What is said of a layout. Constants with the life of the program.
struct LayoutInfo {
  Layout layout;
  const char* name;   ///< "padded": what options, documents and traces call it
  const char* brief;  ///< what it is, in a few words
  const char* help;   ///< what it does, in a sentence
  /// Over which tokens results are exact, where they are: what is said behind a policy's exactness. Empty
  /// where that goes without saying.
  const char* over;
};

/// In the order in which they are offered; the first is the standard one.
std::span<const LayoutInfo> layouts();
const LayoutInfo& infoOf(Layout layout);
/// The layout of that name; nothing if there is none.
std::optional<Layout> findLayout(std::string_view name);

/// What a policy's result is exact against, over the tokens of a layout: "block attention ✓ · full prefill ≈,
/// over the padded tokens and not the chat template's text".
std::string exactnessOver(std::string exactness, Layout layout);

/// The ordinary pieces of a vocabulary that servers are told to take as marks: "<" fills up blocks, "+"
/// begins each child of a plus, "@" the last child of a cross, as in the examples of IBM/spnl 0.22.
struct MarkerTokens {
  TokenId pad = 0;
  TokenId plus = 0;
  TokenId cross = 0;
  bool operator==(const MarkerTokens&) const = default;
};

/// Throws Failure if no token of the vocabulary stands for one of them alone.
MarkerTokens markerTokens(const text::Tokenizer& tokenizer);

/// The layout of a prompt with what it depends on.
struct LayoutRules {
  Layout layout = Layout::Exact;
  std::int32_t blockSize = 1;  ///< tokens, from 1 up; what is marked begins at a multiple
  MarkerTokens markers{};

  bool marks() const { return layout != Layout::Exact; }
  bool crops() const { return layout == Layout::Cropped; }
};

}  // namespace spanscope::layout
