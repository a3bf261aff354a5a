// SPDX-License-Identifier: GPL-3.0-or-later
// The padded and cropped layout with marker tokens: exactly the tokens that IBM/spnl 0.22 sends to a span
// server. It serves export, comparison and teaching. Here the tokens carry the structure; Spanscope itself
// keeps the structure in the span table.
//
//  - Each child of a plus begins at a block boundary: padding, then the plus marker.
//  - The last child of a cross begins at a block boundary: padding, then the cross marker.
//  - An assistant message loses its closing tokens. Then it is cropped so that it ends at a block boundary;
//    if it does not reach one, all of it is lost.
//  - The generation prompt gets padding and a plus marker of its own if both markers are set and the last
//    marker token before it is a plus.
//  - Nothing is padded at the end. A map is an exception: each input is a plus child of its own, is padded at
//    the end, and has no generation prompt.
// Without a marker there is no padding for it either. Assistant messages are still cropped.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::spnl {

struct MarkerOptions {
  std::int32_t blockSize = 16;  ///< tokens, at least 1
  TokenId pad = 0;
  std::optional<TokenId> plus;
  std::optional<TokenId> cross;
  std::int32_t assistantSuffix = 0;  ///< number of closing tokens of an assistant message, at least 0
};

struct BodyTokens {
  std::vector<std::vector<TokenId>> messages;  ///< the tokens of the template's text for each message of
                                               ///< messagesOf()
  std::vector<TokenId> generationPrompt;
};

/// The messages of a body in the order of the layout. For a map: its inputs as user messages.
std::vector<query::Message> messagesOf(const query::Node& body);

/// The prompt of a generate or repeat; for a map, one prompt per input. Throws Failure if no server takes the
/// query as a body (spnl::isServerBody), the numbers of token lists and messages differ, or an option is out
/// of range.
std::vector<std::vector<TokenId>> layoutWithMarkers(const query::Node& body, const BodyTokens& tokens,
                                                    const MarkerOptions& options);

}  // namespace spanscope::spnl
