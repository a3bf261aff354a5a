// SPDX-License-Identifier: GPL-3.0-or-later
// Computes where the answer of a request looked: the attention mass of each answer token on each part of the
// prompt. The attention view, the canvas and the token strip all take their figures from here, so they
// show the same ones.
#pragma once

#include "ui/session/prompt_parts.h"
#include "ui/session/view_input.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// Where one token of the answer looked, or rather the row from which it was drawn. Each value belongs to a
/// part of the prompt, is a mean over observed layers and heads, and lies in 0 … 1.
struct TokenShares {
  std::int32_t index = 0;   ///< 0: the first token of the answer
  std::size_t event = 0;    ///< index of its TokenGenerated in the trace
  std::vector<float> mass;  ///< all attention on the part
  std::vector<float>
      first;  ///< what of `mass` lies on the part's first token, an attention sink; may be empty
  /// What each source has of all that was read from sources. The shares of the sources sum to 1, or are all 0
  /// where nothing was read; other parts have 0. The values come from trace::sourceShares(), or from
  /// `mass` if the trace has no figures by head.
  std::vector<double> shares;
  /// trace::sourceReads() of the row; empty if the trace has no figures by head.
  std::vector<double> reads;
  /// Part of all attention that fell on replies written at the same time (trace::TeammateAttention).
  float beside = 0;
  bool operator==(const TokenShares&) const = default;
};

struct AnswerShares {
  RequestId request = 0;  ///< 0: there is no answer
  RunId run = 0;
  trace::PromptParts parts;
  std::vector<double> mass;    ///< by part: mean over the tokens, 0 … 1
  std::vector<double> first;   ///< what of `mass` lies on first tokens; empty: not recorded
  std::vector<double> shares;  ///< by part: the shares of the sources in what all tokens together read
  double beside = 0;           ///< as in TokenShares: mean over the tokens
  /// Whether `shares` are computed from squared attention (trace::sourceShares()), in which strong looks
  /// count most. If false, they are computed from plain mass.
  bool ofSquares = false;
  std::vector<TokenShares> tokens;  ///< those whose attention was recorded, ascending
  std::size_t seen = 0;             ///< TokenGenerated events that were looked at
  bool operator==(const AnswerShares&) const = default;

  bool isEmpty() const { return tokens.empty(); }
  bool isSource(std::size_t part) const {
    return part < parts.size() && parts.role(part) == trace::PartRole::Source;
  }
  bool hasSources() const;
  /// The share of this source in all that was read from sources, 0 … 1. Returns −1 if the part is no source
  /// or nothing is known.
  double share(std::size_t part) const;
  /// The same share for one token, given by its index in `tokens`.
  double share(std::size_t part, std::size_t token) const;
};

/// Computes the shares from the first `input.position` events. The result is never null.
std::shared_ptr<const AnswerShares> answerShares(const ViewInput& input, RequestId request);

/// What was recorded of each row from which a token of the answer was drawn, by part of the prompt; by index
/// of the token.
std::map<std::int32_t, trace::PartAttention> partRows(const ViewInput& input, const RequestEvents& events,
                                                      const trace::PromptParts& parts);

/// The selected source: the part of the selected token or of the first token of the selected block, else the
/// part of the current node.
std::optional<std::uint32_t> selectedSource(const ViewInput& input, const AnswerShares& shares);
/// The index in `tokens` of the selected token of the answer.
std::optional<std::size_t> selectedAnswerToken(const ViewInput& input, const AnswerShares& shares);

}  // namespace spanscope::ui
