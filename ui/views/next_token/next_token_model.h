// SPDX-License-Identifier: GPL-3.0-or-later
// The alternatives to one token of an answer, under the answer's policy and under another policy.
#pragma once

#include "engine/jobs/next_token.h"
#include "ui/session/view_input.h"
#include "ui/views/common/answer_tokens.h"

#include <QString>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// The scale of divergences is fixed, so bars of different runs can be compared. The scale is logarithmic
/// from kLeastNats to 1 nat. A smaller divergence counts as no difference.
inline constexpr double kLeastNats = 1e-4;
/// The length of a divergence on this scale, 0 … 1.
double divergenceLength(double nats);
/// "0.33 nats"
QString natsText(double nats);

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
  std::size_t place = 0;       ///< the shown place: the selected token, or else openingPlace()

  bool isComputed() const { return tokens != nullptr && !tokens->empty(); }
  const jobs::NextToken& shown() const { return (*tokens)[place]; }
  /// Whether the most likely tokens of the two sides differ.
  bool differsAt(std::size_t at) const { return (*tokens)[at].ownBest != (*tokens)[at].otherBest; }
  bool isSameAt(std::size_t at) const { return !differsAt(at) && (*tokens)[at].divergence < kLeastNats; }
  /// The first place at which the most likely tokens differ. If there is none, the place with the largest
  /// divergence.
  std::size_t openingPlace() const;
};

/// `other`: the request to compare with. If the prompt of this request differs, the model compares with a
/// full prefill.
NextTokenModel nextTokenModel(const ViewInput& input, RequestId other);

/// The result for the whole answer: "The most likely token differs at 1 of 8 tokens, first at token 3. …"
QString nextTokenHeadline(const NextTokenModel& model);
/// The result at one place: "Token 3, “Lisbon”: no difference"
QString nextTokenSentence(const NextTokenModel& model, std::size_t place);
/// The tokens of the answer with their divergences.
AnswerTiles nextTokenTiles(const NextTokenModel& model);
/// An alternative with both probabilities: "“Porto”: 10 % in this run · spans, 80 % in full prefill"
QString alternativeText(const NextTokenModel& model, const jobs::Alternative& alternative);
/// The place of an answer's token in the request, for the selection.
TokenRef placeOfAnswer(const ViewInput& input, const NextTokenModel& model, std::size_t place);
QString nextTokenCsv(const NextTokenModel& model);

}  // namespace spanscope::ui
