// SPDX-License-Identifier: GPL-3.0-or-later
// Computes where the answer of a request looked: the attention mass of each answer token on each segment of
// the prompt. The attention view, the canvas and the token strip all take their figures from here, so they
// show the same ones.
#pragma once

#include "ui/session/view_input.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// What a segment is to the tokens of the answer.
enum class SourceKind : std::uint8_t {
  Source,   ///< something the answer may look up: a child of plus
  Context,  ///< other text before the question: the system's
  Own,      ///< question, template and reply: the segment that the answer stands in
  Hidden,   ///< no row sees this segment
};

/// Where one token of the answer looked, or rather the row from which it was drawn. Each value belongs to a
/// segment, is a mean over observed layers and heads, and lies in 0 … 1.
struct TokenShares {
  std::int32_t index = 0;   ///< 0: the first token of the answer
  std::size_t event = 0;    ///< index of its TokenGenerated in the trace
  std::vector<float> mass;  ///< all attention on the segment
  std::vector<float>
      first;  ///< the part of `mass` on the segment's first token, an attention sink; may be empty
  /// What each source has of all that was read from sources. The shares of the sources sum to 1, or are all 0
  /// where nothing was read; other segments have 0. The values come from trace::sourceShares(), or from
  /// `mass` if the trace has no figures by head.
  std::vector<double> shares;
  /// Part of all attention that fell on replies written at the same time (trace::TeammateAttention).
  float beside = 0;
  bool operator==(const TokenShares&) const = default;
};

struct AnswerShares {
  RequestId request = 0;  ///< 0: there is no answer
  RunId run = 0;
  std::vector<SourceKind> kinds;  ///< by segment
  std::vector<double> mass;       ///< by segment: mean over the tokens, 0 … 1
  std::vector<double> first;      ///< the part of `mass` on first tokens; empty: not recorded
  std::vector<double> shares;     ///< by segment: the shares of the sources in what all tokens together read
  double beside = 0;              ///< as in TokenShares: mean over the tokens
  /// Whether `shares` are computed from squared attention (trace::sourceShares()), in which strong looks
  /// count most. If false, they are computed from plain mass.
  bool ofSquares = false;
  std::vector<TokenShares> tokens;  ///< those whose attention was recorded, ascending
  std::size_t seen = 0;             ///< TokenGenerated events that were looked at
  bool operator==(const AnswerShares&) const = default;

  bool isEmpty() const { return tokens.empty(); }
  bool hasSources() const;
  /// The share of this source in all that was read from sources, 0 … 1. Returns −1 if the segment is no
  /// source or nothing is known.
  double share(std::size_t segment) const;
  /// The same share for one token, given by its index in `tokens`.
  double share(std::size_t segment, std::size_t token) const;
};

/// Computes the shares from the first `input.position` events. The result is never null.
std::shared_ptr<const AnswerShares> answerShares(const ViewInput& input, RequestId request);

/// The selected source: the segment of the selected block or token, else the segment that holds the current
/// node.
std::optional<std::uint32_t> selectedSource(const ViewInput& input, const AnswerShares& shares);
/// The index in `tokens` of the selected token of the answer.
std::optional<std::size_t> selectedAnswerToken(const ViewInput& input, const AnswerShares& shares);

}  // namespace spanscope::ui
