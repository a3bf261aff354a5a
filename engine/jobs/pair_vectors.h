// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the query vector of one token and the key vector of another token, in every layer and head. The
// session of the answer computes the vectors, and the cache of the session does not change. Open this file to
// show more of a pair.
#pragma once

#include "engine/jobs/job.h"
#include "engine/run/pair_vectors.h"
#include "engine/trace/prompt_parts.h"

namespace spanscope::trace {
SPANSCOPE_FIELDS(TokenPlace, segment, local);
}  // namespace spanscope::trace

namespace spanscope::compute {
SPANSCOPE_FIELDS(RotaryTable, inverseFrequencies, attentionScale);
SPANSCOPE_FIELDS(PositionScale, beta, step);
SPANSCOPE_FIELDS(AttentionShape, queryHeads, keyHeads, headSize, scale, window, positionScale);
}  // namespace spanscope::compute

namespace spanscope::run {
SPANSCOPE_FIELDS(LayerRotation, rotary, shape);
SPANSCOPE_FIELDS(PairVectors, layers, queries, keys, weights);
}  // namespace spanscope::run

namespace spanscope::jobs {

/// Two tokens of one request.
struct PairChoice {
  RequestId request = 0;
  trace::TokenPlace query;  ///< the token with the query vector
  trace::TokenPlace key;    ///< the token with the key vector
  bool operator==(const PairChoice&) const = default;
};
SPANSCOPE_FIELDS(PairChoice, request, query, key);

struct PairVectorsJob {
  static constexpr const char* kId = "pair-vectors";
  static constexpr const char* kActivity = forTranslation("Events", "Computing a query vector and a key");
  using Arguments = PairChoice;
  using Result = run::PairVectors;

  static std::vector<RequestId> answers(const PairChoice& choice) { return {choice.request}; }
  static const char* unavailableReason(const PairChoice& choice, std::span<const AnswerFacts> answers);
  static bool isSound(const Result& result);
  static std::shared_ptr<RecordedJob> make(const PairChoice& choice,
                                           std::vector<run::FinishedAnswer> answers);
  static Result compute(workbench::JobContext& place, const PairChoice& choice,
                        const std::vector<run::FinishedAnswer>& answers, const std::stop_token& stop);
};

}  // namespace spanscope::jobs
