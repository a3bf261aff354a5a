// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/jobs/job.h"

#include <cstddef>

namespace spanscope::jobs {

struct NextTokenChoice {
  RequestId request = 0;
  RequestId other = 0;  ///< a request with the same prompt, whose policy is compared with; 0: a full prefill
  bool operator==(const NextTokenChoice&) const = default;
};
template <class V, trace::Is<NextTokenChoice> X>
void fields(V&& v, X& x) {
  v("request", x.request);
  v("other", x.other);
}

/// A token that might have stood at a place of a reply, with its probability under both policies, before
/// temperature and filters.
struct Alternative {
  TokenId token = 0;
  std::string text;  ///< how the token is shown
  double own = 0;    ///< 0 … 1, under the policy of the reply
  double other = 0;  ///< under what it is compared with
};
template <class V, trace::Is<Alternative> X>
void fields(V&& v, X& x) {
  v("token", x.token);
  v("text", x.text);
  v("own", x.own);
  v("other", x.other);
}

/// One place of a reply.
struct NextToken {
  TokenId drawn = 0;                      ///< the token that stands there
  std::vector<Alternative> alternatives;  ///< the likeliest of either side and the drawn one, likeliest first
  double divergence = 0;                  ///< KL(other ‖ own) in nats
  TokenId ownBest = 0;
  TokenId otherBest = 0;

  const Alternative* find(TokenId token) const;  ///< nullptr: it is not among them
};

template <class V, trace::Is<NextToken> X>
void fields(V&& v, X& x) {
  v("drawn", x.drawn);
  v("alternatives", x.alternatives);
  v("divergence", x.divergence);
  v("ownBest", x.ownBest);
  v("otherBest", x.otherBest);
}

/// Puts a finished reply through the model twice, its tokens given: as its policy has it, and as another one
/// has it or as a full prefill does. The cache of the session is used as Session::replayReply says.
struct NextTokenJob {
  static constexpr const char* kId = "next-token";
  static constexpr const char* kActivity =
      forTranslation("Events", "Computing the alternatives of an answer");
  using Arguments = NextTokenChoice;
  using Result = std::vector<NextToken>;  ///< by place of the reply

  /// The most likely tokens of each side that are reported.
  static constexpr std::size_t kMostAlternatives = 6;

  static std::vector<RequestId> answers(const NextTokenChoice& choice);
  static const char* unavailableReason(const NextTokenChoice&, std::span<const AnswerFacts>) {
    return nullptr;
  }
  static bool isSound(const Result& result);
  static std::shared_ptr<Job> make(const NextTokenChoice& choice, std::vector<run::FinishedReply> replies);
  /// `replies`: the reply, and for another request than 0 the one whose prompt is compared with.
  static Result compute(workbench::Workplace& place, const NextTokenChoice& choice,
                        const std::vector<run::FinishedReply>& replies, const std::stop_token& stop);
};

}  // namespace spanscope::jobs
