// SPDX-License-Identifier: GPL-3.0-or-later
// Computes how much of the attention of each answer token falls on each section of the prompt. The attention
// view, the canvas and the token strip all use these shares, so they show the same values.
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

/// The attention of one answer token, from the query row that produced the token. Each value is the mean of
/// one section of the prompt over observed layers and heads, 0 … 1.
struct TokenShares {
  std::int32_t index = 0;   ///< 0: the first token of the answer
  std::size_t event = 0;    ///< index of its TokenGenerated in the trace
  std::vector<float> mass;  ///< all attention on the section
  std::vector<float>
      first;  ///< part of `mass` on the section's first token, an attention sink; may be empty.
  /// The share of each source in the attention to all sources. The shares add up to 1, or are all 0 if no
  /// source has attention. Other sections have 0. The values come from trace::sourceShares(), or from `mass`
  /// if the trace has no values by head.
  std::vector<double> shares;
  /// trace::sourceReads() of the row; empty if the trace has no values by head.
  std::vector<double> reads;
  /// The share of all attention on answers that were generated at the same time (trace::TeammateAttention).
  float beside = 0;
  bool operator==(const TokenShares&) const = default;
};

struct AnswerShares {
  RequestId request = 0;  ///< 0: there is no answer
  RunId run = 0;
  trace::PromptParts parts;
  std::vector<double> mass;   ///< by section: mean over the tokens, 0 … 1
  std::vector<double> first;  ///< part of `mass` on first tokens; empty: not recorded
  std::vector<double>
      shares;  ///< by section: the share of each source in the attention of all answer tokens to sources
  double beside = 0;  ///< as in TokenShares: mean over the tokens.
  /// Whether `shares` come from squared attention (trace::sourceShares()), which emphasizes large weights. If
  /// false, the shares come from plain mass.
  bool ofSquares = false;
  std::vector<TokenShares> tokens;  ///< the tokens whose attention was recorded, ascending
  std::size_t seen = 0;             ///< number of TokenGenerated events that were read
  bool operator==(const AnswerShares&) const = default;

  bool isEmpty() const { return tokens.empty(); }
  bool isSource(std::size_t part) const {
    return part < parts.size() && parts.role(part) == trace::PartRole::Source;
  }
  bool hasSources() const;
  /// Returns the share of this source in the attention to all sources, 0 … 1. Returns −1 if the section is
  /// not a source or the share is not known.
  double share(std::size_t part) const;
  /// Returns the same share for one token, given by its index in `tokens`.
  double share(std::size_t part, std::size_t token) const;
  /// Returns the attention on a section's first token as a share of all attention, 0 … 1. The result is 0 if
  /// it was not recorded.
  double onFirst(std::size_t part) const;
  double onFirst(std::size_t part, std::size_t token) const;
  /// Returns the attention on a section without its first token, as a share of all attention, 0 … 1.
  double onPart(std::size_t part) const;
  double onPart(std::size_t part, std::size_t token) const;
  /// Returns the sum of onPart() over all sources.
  double onSources(std::size_t token) const;
};

/// Computes the shares from the first `input.position` events. The result is never null.
std::shared_ptr<const AnswerShares> answerShares(const ViewInput& input, RequestId request);

/// Returns the recorded attention by section of each query row that produced an answer token. The key is the
/// index of the token.
std::map<std::int32_t, trace::PartAttention> partRows(const ViewInput& input, const RequestEvents& events,
                                                      const trace::PromptParts& parts);

/// Returns the selected source: the section of the selected token, or of the first token of the selected
/// block. Without a selected token or block, returns the section of the current node.
std::optional<std::uint32_t> selectedSource(const ViewInput& input, const AnswerShares& shares);
/// Returns the index in `tokens` of the selected answer token.
std::optional<std::size_t> selectedAnswerToken(const ViewInput& input, const AnswerShares& shares);

}  // namespace spanscope::ui
