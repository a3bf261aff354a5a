// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how spread out the attention of an answer is, in each layer. The model recomputes the given tokens
// of the answer. Open this file to change the entropy of attention.
#pragma once

#include "engine/jobs/job.h"

#include <cstdint>

namespace spanscope::jobs {

struct EntropyChoice {
  RequestId request = 0;
  bool operator==(const EntropyChoice&) const = default;
};
SPANSCOPE_FIELDS(EntropyChoice, request);

/// The entropy of attention weights over single keys. The entropy is 0 for a row that attends to only one
/// key.
struct AttentionEntropy {
  std::int32_t rows = 0;        ///< measured rows, beginning with the row of the answer's first token
  std::int32_t answerRows = 0;  ///< all rows of the answer
  std::vector<double> layers;   ///< by layer: nats, the mean over rows and heads; at least 0
  std::vector<double> uniform;  ///< by layer: nats, as if every key had the same weight
};
SPANSCOPE_FIELDS(AttentionEntropy, rows, answerRows, layers, uniform);

struct AttentionEntropyJob {
  static constexpr const char* kId = "attention-entropy";
  static constexpr const char* kActivity = forTranslation("Events", "Computing the entropy of attention");
  using Arguments = EntropyChoice;
  using Result = AttentionEntropy;

  static std::vector<RequestId> answers(const EntropyChoice& choice) { return {choice.request}; }
  static const char* unavailableReason(const EntropyChoice&, std::span<const AnswerFacts>) { return nullptr; }
  static bool isSound(const Result& result);
  static std::shared_ptr<RecordedJob> make(const EntropyChoice& choice,
                                           std::vector<run::FinishedAnswer> answers);
  /// Measures as many rows as the attention of run::kReplayBytes allows, at least one.
  static Result compute(workbench::JobContext& place, const EntropyChoice& choice,
                        const std::vector<run::FinishedAnswer>& answers, const std::stop_token& stop);
};

}  // namespace spanscope::jobs
