// SPDX-License-Identifier: GPL-3.0-or-later
// The padded and cropped layout with marker tokens: what IBM/spnl 0.22 sends to a span server, token for
// token, for export, comparison and teaching. Here structure is in the tokens; Spanscope itself keeps it in
// the span table.
//
//  - Each child of a plus begins at a block boundary: padding, then the plus marker.
//  - The last child of a cross begins at a block boundary: padding, then the cross marker.
//  - An assistant message loses its closing tokens and is then cropped so that it ends at a block boundary;
//    all of it is lost if it does not reach one.
//  - The generation prompt gets padding and a plus marker of its own if both markers are set and the last
//    marker token before it is a plus.
//  - Nothing is padded at the end. Each input of a map is a plus child of its own, padded at the end, without
//    a generation prompt.
// Without a marker there is no padding for it either; assistant messages are cropped all the same.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::spnl {

struct MarkerOptions {
  std::int32_t blockSize = 16;  ///< tokens, from 1 up
  TokenId pad = 0;
  std::optional<TokenId> plus;
  std::optional<TokenId> cross;
  std::int32_t assistantSuffix = 0;  ///< closing tokens of an assistant message, from 0 up
};

struct BodyTokens {
  std::vector<std::vector<TokenId>> messages;  ///< the template's text of each message of messagesOf()
  std::vector<TokenId> generationPrompt;
};

/// The messages of a body in the order in which they are laid out; for a map, its inputs as user messages.
std::vector<query::Message> messagesOf(const query::Node& body);

/// The prompt of a generate or repeat; for a map, one of each input. Throws Failure if the query is no body
/// that a server takes (spnl::isServerBody), there are not as many token lists as messages, or an
/// option is out of range.
std::vector<std::vector<TokenId>> layoutWithMarkers(const query::Node& body, const BodyTokens& tokens,
                                                    const MarkerOptions& options);

}  // namespace spanscope::spnl
