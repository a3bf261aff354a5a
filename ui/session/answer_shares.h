// SPDX-License-Identifier: GPL-3.0-or-later
// Where the answer of a request looked: attention mass of each of its tokens by segment of the prompt. What
// the attention view, the canvas and the token strip say of it comes from here, so that one figure is one
// figure.
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
  Hidden,   ///< in nobody's view
};

/// Where the row looked that one token of the answer was drawn from: means over observed layers and heads,
/// by segment, 0 … 1.
struct TokenShares {
  std::int32_t index = 0;   ///< 0: the first token of the answer
  std::size_t event = 0;    ///< index of its TokenGenerated in the trace
  std::vector<float> mass;  ///< the whole
  std::vector<float>
      first;  ///< of it, the part on the segment's first token, an attention sink; may be empty
  /// Of the sources, that sum to 1 unless nothing was read; 0 for the others. trace::sourceShares(), or parts
  /// of the mass where a trace knows no heads.
  std::vector<double> shares;
  float beside = 0;  ///< of all attention, on replies that were written beside it (trace::TeammateAttention)
  bool operator==(const TokenShares&) const = default;
};

struct AnswerShares {
  RequestId request = 0;  ///< 0: there is none
  RunId run = 0;
  std::vector<SourceKind> kinds;  ///< by segment
  std::vector<double> mass;       ///< by segment: mean over the tokens, 0 … 1
  std::vector<double> first;      ///< of it, the part on first tokens; empty: not recorded
  std::vector<double> shares;     ///< of the sources, in what the tokens read together
  double beside = 0;              ///< as in TokenShares: mean over the tokens
  /// They are of squares (trace::sourceShares()), so that strong looks count most; else of plain mass.
  bool ofSquares = false;
  std::vector<TokenShares> tokens;  ///< of which attention was recorded, ascending
  std::size_t seen = 0;             ///< TokenGenerated events that were looked at
  bool operator==(const AnswerShares&) const = default;

  bool isEmpty() const { return tokens.empty(); }
  bool hasSources() const;
  /// What a source has of what was read from sources, 0 … 1; −1: it is no source, or nothing is known.
  double share(std::size_t segment) const;
  /// The same of one token of `tokens`.
  double share(std::size_t segment, std::size_t token) const;
};

/// Of the first `input.position` events; never null.
std::shared_ptr<const AnswerShares> answerShares(const ViewInput& input, RequestId request);

/// The source that is selected: that of the selected block or token, else the one that holds the current
/// node.
std::optional<std::uint32_t> selectedSource(const ViewInput& input, const AnswerShares& shares);
/// Index in `tokens` of the token of the answer that is selected.
std::optional<std::size_t> selectedAnswerToken(const ViewInput& input, const AnswerShares& shares);

}  // namespace spanscope::ui
