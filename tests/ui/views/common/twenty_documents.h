// SPDX-License-Identifier: GPL-3.0-or-later
// A run over twenty documents of some 180 tokens, as a session would report it, whose answer reads two of
// them. Made by hand: no model is needed, and every figure is known.
#pragma once

#include "ui/session/view_input.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::test {

inline constexpr std::size_t kTwentyDocuments = 20;
inline constexpr std::int32_t kTwentyAnswerTokens = 24;
/// Segments of the two documents that the answer reads, the first one more than the second.
inline constexpr std::uint32_t kFirstNeeded = 7;
inline constexpr std::uint32_t kSecondNeeded = 13;
/// The layer and head that finds them.
inline constexpr std::int32_t kFindingLayer = 2;
inline constexpr std::int32_t kFindingHead = 1;

struct TwentyOptions {
  bool bySegment = true;  ///< what each layer and head read was recorded
  bool byBlock = true;    ///< and their mean by block
};

/// Segment 0 is the system's, 1 to 20 are documents, 21 is question and reply.
ui::ViewInput twentyDocuments(const TwentyOptions& options = {}, ui::Scheme scheme = ui::Scheme::Light);

}  // namespace spanscope::test
