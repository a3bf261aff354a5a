// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted reuse: each plan is run through scheduler and cache without a model, once with the shortest
// possible replies and once with the longest.
#pragma once

#include "engine/cache/kv_cache.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"
#include "engine/run/run_options.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <stop_token>

namespace spanscope::run {

/// Each plan is predicted against what the plans before it would have left behind. A predictor is not
/// thread-safe, but it is independent of the session whose cache it copied.
class Predictor {
 public:
  /// Begins with an empty cache. `model`, `tokenizer` and `chat` must outlive the predictor. Throws Failure
  /// if the pool's size is out of range.
  Predictor(const SessionConfig& session, const model::ModelConfig& model, const text::Tokenizer& tokenizer,
            const text::ChatTemplate& chat);
  /// Begins with a copy of this cache, in which no request may be running. `lastRun`: number of the session's
  /// last run.
  Predictor(const cache::KvCache& cache, RunId lastRun, const SessionConfig& session,
            const model::ModelConfig& model, const text::Tokenizer& tokenizer,
            const text::ChatTemplate& chat);
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  /// From now on, predictions say what would make hits of missed blocks. That takes time and memory for every
  /// block of the pool, once a step.
  void sayWhatIf();

  /// Never throws for what is wrong with the query: the result tells it.
  Prediction predict(const plan::Plan& plan, const RunOptions& options, const std::stop_token& stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::run
