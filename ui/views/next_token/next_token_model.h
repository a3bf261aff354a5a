// SPDX-License-Identifier: GPL-3.0-or-later
// The alternatives to one token of an answer, under the answer's policy and under another policy.
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
  std::vector<RequestId> others;    ///< requests to compare with, besides a full prefill
  std::vector<QString> otherNames;  ///< "run 2 · prefix"
  QString ownName;                  ///< "this run · spans"
  QString otherName;                ///< "full prefill"
  QString reason;   ///< why the alternatives cannot be computed now; empty: computing is possible
  QString problem;  ///< why the computation failed
  bool isRunning = false;
  std::size_t answerTokens = 0;
  /// By place in the answer; null: not computed.
  std::shared_ptr<const std::vector<jobs::NextToken>> tokens;
  std::vector<QString> texts;  ///< by place: the shown text of the token there
  std::size_t place = 0;       ///< the shown place

  bool isComputed() const { return tokens != nullptr && !tokens->empty(); }
  const jobs::NextToken& shown() const { return (*tokens)[place]; }
  /// Whether the most likely tokens of the two sides differ.
  bool differsAt(std::size_t at) const { return (*tokens)[at].ownBest != (*tokens)[at].otherBest; }
};

/// `other`: the request to compare with. If the prompt of this request differs, the model compares with a
/// full prefill.
NextTokenModel nextTokenModel(const ViewInput& input, RequestId other);

/// "Token 3 of the answer, “Lisbon”: the most likely token is “Lisbon” in both. …"
QString nextTokenSentence(const NextTokenModel& model);
/// The place of an answer's token in the request, for the selection.
TokenRef placeOfAnswer(const ViewInput& input, const NextTokenModel& model, std::size_t place);
QString nextTokenCsv(const NextTokenModel& model);

}  // namespace spanscope::ui
