// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/pair_vectors.h"

#include "engine/layout/span_table.h"
#include "engine/run/session.h"
#include "engine/run/trace_values.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace spanscope::jobs {

const char* PairVectorsJob::unavailableReason(const PairChoice& choice,
                                              std::span<const AnswerFacts> answers) {
  const AnswerFacts& answer = answers.front();
  const bool hasStored = std::any_of(answer.segments.begin(), answer.segments.end(),
                                     [](const trace::SegmentInfo& segment) { return segment.hidden; });
  const layout::SpanTable some{.segments = {layout::Segment{}}};
  if (answer.isInTeam || hasStored || answer.policy.planRows(some, false).answer != nullptr)
    return forTranslation("Jobs",
                          "This policy does not compute all tokens in the same way. Choose spans or prefix, "
                          "and run the query again.");
  if (!trace::isSeen(trace::WhoSees(answer.segments).sight(choice.query, choice.key)))
    return forTranslation("Jobs", "The query vector does not attend to this key. Choose another pair.");
  return nullptr;
}

bool PairVectorsJob::isSound(const Result& result) {
  std::size_t queries = 0;
  std::size_t keys = 0;
  std::size_t weights = 0;
  for (const run::LayerRotation& layer : result.layers) {
    const compute::AttentionShape& shape = layer.shape;
    constexpr std::int32_t kMost = 1 << 16;  // numbers of heads, and of elements of a head
    const auto isIn = [](std::int32_t count) { return count > 0 && count <= kMost; };
    if (!isIn(shape.queryHeads) || !isIn(shape.keyHeads) || !isIn(shape.headSize)) return false;
    if (shape.queryHeads % shape.keyHeads != 0 || shape.headSize % 2 != 0) return false;
    if (layer.rotary.inverseFrequencies.size() != static_cast<std::size_t>(shape.headSize) / 2) return false;
    if (shape.queryHeads != result.layers.front().shape.queryHeads) return false;
    queries += static_cast<std::size_t>(shape.queryHeads) * static_cast<std::size_t>(shape.headSize);
    keys += static_cast<std::size_t>(shape.keyHeads) * static_cast<std::size_t>(shape.headSize);
    weights += static_cast<std::size_t>(shape.queryHeads);
  }
  return !result.layers.empty() && result.queries.size() == queries && result.keys.size() == keys &&
         result.weights.size() == weights;
}

std::shared_ptr<RecordedJob> PairVectorsJob::make(const PairChoice& choice,
                                                  std::vector<run::FinishedAnswer> answers) {
  return std::make_shared<AnswerJob<PairVectorsJob>>(choice, std::move(answers));
}

run::PairVectors PairVectorsJob::compute(workbench::JobContext& place, const PairChoice& choice,
                                         const std::vector<run::FinishedAnswer>& answers,
                                         const std::stop_token& stop) {
  const run::FinishedAnswer& answer = answers.front();
  // Throws if the loaded model is not the model of the answer.
  (void)place.sessionOf(answer.run);
  const workbench::ModelBundle& bundle = *place.model();
  run::PairRequest request{.table = run::spanTableOf(answer.segments, bundle.config.vocabularySize),
                           .row = choice.query,
                           .key = choice.key};
  std::vector<TokenId>& last = request.table.segments.back().tokens;
  last.insert(last.end(), answer.tokens.begin(), answer.tokens.end());
  return run::pairVectors(*bundle.decoder, *bundle.backend, request, stop);
}

}  // namespace spanscope::jobs
