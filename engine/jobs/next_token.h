// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the job that computes the alternatives of an answer's tokens. Open this file to change what is
// reported.
#pragma once

#include "engine/jobs/job.h"

#include <cstddef>

namespace spanscope::jobs {

struct NextTokenChoice {
  RequestId request = 0;
  RequestId other = 0;  ///< a request with the same prompt and the policy to compare; 0: a full prefill
  bool operator==(const NextTokenChoice&) const = default;
};
SPANSCOPE_FIELDS(NextTokenChoice, request, other);

/// A possible token at a place of an answer, with its probability under both policies. Temperature and
/// filters are not applied.
struct Alternative {
  TokenId token = 0;
  std::string text;  ///< the displayed text
  double own = 0;    ///< 0 … 1, under the policy of the answer
  double other = 0;  ///< 0 … 1, under the compared policy
};
SPANSCOPE_FIELDS(Alternative, token, text, own, other);

/// One place of an answer.
struct NextToken {
  TokenId drawn = 0;                      ///< the token at this place
  std::vector<Alternative> alternatives;  ///< the most likely tokens of both sides, and the sampled one; the
                                          ///< most likely comes first
  double divergence = 0;                  ///< KL(other ‖ own) in nats
  TokenId ownBest = 0;
  TokenId otherBest = 0;

  const Alternative* find(TokenId token) const;  ///< null: the token is not among the alternatives
};

SPANSCOPE_FIELDS(NextToken, drawn, alternatives, divergence, ownBest, otherBest);

/// Recomputes the given tokens of an answer twice: with its policy, and with another policy or a full
/// prefill. Session::replayReply describes how the session's cache is used.
struct NextTokenJob {
  static constexpr const char* kId = "next-token";
  static constexpr const char* kActivity =
      forTranslation("Events", "Computing the alternatives of an answer");
  using Arguments = NextTokenChoice;
  using Result = std::vector<NextToken>;  ///< by place of the answer

  /// Max number of reported tokens of each side.
  static constexpr std::size_t kMostAlternatives = 6;

  /// Returns the request of the answer and, if `other` is not 0, also `other`.
  static std::vector<RequestId> answers(const NextTokenChoice& choice);
  static const char* unavailableReason(const NextTokenChoice&, std::span<const AnswerFacts>) {
    return nullptr;
  }
  static bool isSound(const Result& result);
  static std::shared_ptr<RecordedJob> make(const NextTokenChoice& choice,
                                           std::vector<run::FinishedAnswer> answers);
  /// Returns the alternatives of each token of the first of `answers`.
  static Result compute(workbench::JobContext& place, const NextTokenChoice& choice,
                        const std::vector<run::FinishedAnswer>& answers, const std::stop_token& stop);
};

}  // namespace spanscope::jobs
