// SPDX-License-Identifier: GPL-3.0-or-later
// What might have stood at one place of an answer, under its policy and under another one.
#pragma once

#include "engine/jobs/next_token.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstddef>
#include <memory>
#include <vector>

namespace spanscope::ui {

struct NextTokenModel {
  jobs::NextTokenChoice choice;     ///< request 0: there is no answer
  std::vector<RequestId> others;    ///< that can be compared with, besides a full prefill
  std::vector<QString> otherNames;  ///< "run 2 · prefix"
  QString ownName;                  ///< "this run · spans"
  QString otherName;                ///< "full prefill"
  QString reason;                   ///< why it cannot be computed now; empty: it can
  QString problem;                  ///< why it failed
  bool isRunning = false;
  std::size_t answerTokens = 0;
  /// By place of the answer; null: not computed.
  std::shared_ptr<const std::vector<jobs::NextToken>> tokens;
  std::vector<QString> texts;  ///< by place: how the token that stands there is shown
  std::size_t place = 0;       ///< that is shown

  bool isComputed() const { return tokens != nullptr && !tokens->empty(); }
  const jobs::NextToken& shown() const { return (*tokens)[place]; }
  /// Whether the two sides would go on with different tokens.
  bool differsAt(std::size_t at) const { return (*tokens)[at].ownBest != (*tokens)[at].otherBest; }
};

/// `other`: what to compare with; if the prompt of that request is another one, a full prefill is.
NextTokenModel nextTokenModel(const ViewInput& input, RequestId other);

/// "Place 3, where “Lisbon” stands: both sides hold it for the likeliest. …"
QString nextTokenSentence(const NextTokenModel& model);
/// A token of the answer as the selection has it.
TokenRef placeOfAnswer(const ViewInput& input, const NextTokenModel& model, std::size_t place);
QString nextTokenCsv(const NextTokenModel& model);

}  // namespace spanscope::ui
