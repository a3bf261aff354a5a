// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the query vector of one token and the key vector of another token, in every layer and head. The
// session of the answer computes the vectors, and the cache of the session does not change. Open this file to
// show more of a pair.
#pragma once

#include "engine/jobs/job.h"
#include "engine/run/pair_vectors.h"
#include "engine/trace/prompt_parts.h"

namespace spanscope::trace {
template <class V, Is<TokenPlace> X>
void fields(V&& v, X& x) {
  v("segment", x.segment);
  v("local", x.local);
}
}  // namespace spanscope::trace

namespace spanscope::compute {
template <class V, trace::Is<RotaryTable> X>
void fields(V&& v, X& x) {
  v("inverseFrequencies", x.inverseFrequencies);
  v("attentionScale", x.attentionScale);
}
template <class V, trace::Is<PositionScale> X>
void fields(V&& v, X& x) {
  v("beta", x.beta);
  v("step", x.step);
}
template <class V, trace::Is<AttentionShape> X>
void fields(V&& v, X& x) {
  v("queryHeads", x.queryHeads);
  v("keyHeads", x.keyHeads);
  v("headSize", x.headSize);
  v("scale", x.scale);
  v("window", x.window);
  v("positionScale", x.positionScale);
}
}  // namespace spanscope::compute

namespace spanscope::run {
template <class V, trace::Is<LayerRotation> X>
void fields(V&& v, X& x) {
  v("rotary", x.rotary);
  v("shape", x.shape);
}
template <class V, trace::Is<PairVectors> X>
void fields(V&& v, X& x) {
  v("layers", x.layers);
  v("queries", x.queries);
  v("keys", x.keys);
  v("weights", x.weights);
}
}  // namespace spanscope::run

namespace spanscope::jobs {

/// Two tokens of one request.
struct PairChoice {
  RequestId request = 0;
  trace::TokenPlace query;  ///< the token with the query vector
  trace::TokenPlace key;    ///< the token with the key vector
  bool operator==(const PairChoice&) const = default;
};
template <class V, trace::Is<PairChoice> X>
void fields(V&& v, X& x) {
  v("request", x.request);
  v("query", x.query);
  v("key", x.key);
}

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
