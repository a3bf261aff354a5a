// SPDX-License-Identifier: GPL-3.0-or-later
// A run over twenty documents of some 180 tokens, as a session would report it. Its answer reads two of the
// documents. It is made by hand, so that it needs no model and every figure is known.
#pragma once

#include "ui/session/view_input.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::test {

inline constexpr std::size_t kTwentyDocuments = 20;
inline constexpr std::int32_t kTwentyAnswerTokens = 24;
/// The segments of the two documents that the answer reads. It reads the first more than the second.
inline constexpr std::uint32_t kFirstNeeded = 7;
inline constexpr std::uint32_t kSecondNeeded = 13;
/// The layer and the head that find these documents.
inline constexpr std::int32_t kFindingLayer = 2;
inline constexpr std::int32_t kFindingHead = 1;

struct TwentyOptions {
  bool bySegment = true;                ///< records what each layer and head read, by segment
  bool byBlock = true;                  ///< records the mean of layers and heads, by block
  std::vector<std::int32_t> windows{};  ///< of the four layers; empty: all see all
};

/// The input of this run. Segment 0 is the system's, 1 to 20 are documents, 21 is question and answer.
ui::ViewInput twentyDocuments(const TwentyOptions& options = {}, ui::Scheme scheme = ui::Scheme::Light);

}  // namespace spanscope::test
