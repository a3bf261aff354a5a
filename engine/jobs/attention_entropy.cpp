// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/attention_entropy.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/run/session.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spanscope::jobs {
namespace {

/// Returns how many tokens of the answer can be measured at the same time.
std::int32_t measuredRows(const run::FinishedAnswer& answer, const model::ModelConfig& config) {
  std::uint64_t keys = answer.segments.size() + answer.tokens.size();
  for (const trace::SegmentInfo& segment : answer.segments) keys += segment.tokens.size();
  const std::uint64_t row = keys * static_cast<std::uint64_t>(config.layers) *
                            static_cast<std::uint64_t>(config.heads) * sizeof(float);
  const std::uint64_t most = std::max<std::uint64_t>(1, run::kReplayBytes / std::max<std::uint64_t>(1, row));
  return static_cast<std::int32_t>(std::min<std::uint64_t>(most, answer.tokens.size()));
}

/// The sums over all heads for one token.
struct RowEntropy {
  double found = 0;
  double uniform = 0;
};
RowEntropy entropyOf(const trace::AttentionMass& row) {
  RowEntropy sum;
  const std::size_t keys = row.mass.size() / static_cast<std::size_t>(std::max(1, row.heads));
  for (std::size_t head = 0; head * keys < row.mass.size(); ++head) {
    std::size_t seen = 0;
    for (std::size_t key = 0; key < keys; ++key) {
      const auto weight = static_cast<double>(row.mass[head * keys + key]);
      if (!(weight > 0)) continue;
      sum.found -= weight * std::log(weight);
      ++seen;
    }
    if (seen > 0) sum.uniform += std::log(static_cast<double>(seen));
  }
  return sum;
}

}  // namespace

bool AttentionEntropyJob::isSound(const Result& result) {
  const auto isFound = [](double nats) { return std::isfinite(nats) && nats >= 0; };
  return result.rows > 0 && result.answerRows >= result.rows && !result.layers.empty() &&
         result.uniform.size() == result.layers.size() &&
         std::all_of(result.layers.begin(), result.layers.end(), isFound) &&
         std::all_of(result.uniform.begin(), result.uniform.end(), isFound);
}

std::shared_ptr<RecordedJob> AttentionEntropyJob::make(const EntropyChoice& choice,
                                                       std::vector<run::FinishedAnswer> answers) {
  return std::make_shared<AnswerJob<AttentionEntropyJob>>(choice, std::move(answers));
}

AttentionEntropy AttentionEntropyJob::compute(workbench::JobContext& place, const EntropyChoice& /*choice*/,
                                              const std::vector<run::FinishedAnswer>& answers,
                                              const std::stop_token& stop) {
  const run::FinishedAnswer& answer = answers.front();
  run::Session& session = place.sessionOf(answer.run);
  const model::ModelConfig& config = place.model()->config;
  const std::uint64_t logits = static_cast<std::uint64_t>(config.vocabularySize) * sizeof(float);
  if (answer.tokens.size() * logits > experiment::kFidelityBytes)
    throw Failure(errorAt("reply", counted(answer.tokens.size(), "token"),
                          "at most " + std::to_string(experiment::kFidelityBytes / logits) +
                              ": the logits of these tokens must fit into memory"));
  AttentionEntropy entropy;
  entropy.answerRows = static_cast<std::int32_t>(answer.tokens.size());
  entropy.rows = measuredRows(answer, config);
  const auto layers = static_cast<std::size_t>(config.layers);
  entropy.layers.assign(layers, 0);
  entropy.uniform.assign(layers, 0);
  std::vector<double> heads(layers, 0);
  for (const trace::AttentionMass& row : session.replayAnswer(answer, entropy.rows, stop).attention) {
    const auto layer = static_cast<std::size_t>(row.layer);
    if (layer >= layers) continue;
    const RowEntropy sum = entropyOf(row);
    entropy.layers[layer] += sum.found;
    entropy.uniform[layer] += sum.uniform;
    heads[layer] += row.heads;
  }
  for (std::size_t layer = 0; layer < layers; ++layer) {
    // Rounding can make the entropy of a row with one key slightly negative.
    entropy.layers[layer] = std::max(0.0, entropy.layers[layer] / std::max(1.0, heads[layer]));
    entropy.uniform[layer] /= std::max(1.0, heads[layer]);
  }
  return entropy;
}

}  // namespace spanscope::jobs
