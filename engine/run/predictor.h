// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted reuse: plans are run through scheduler and cache without a model, once with the shortest replies
// there can be and once with the longest.
#pragma once

#include "engine/cache/kv_cache.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"
#include "engine/run/run_options.h"
#include "engine/run/session_config.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <stop_token>

namespace spanscope::run {

/// Each plan is predicted against what the plans before it would have left behind. Not thread-safe, but
/// independent of the session whose cache it was made from.
class Predictor {
 public:
  /// With an empty cache. `model`, `tokenizer` and `chat` must outlive the predictor. Throws Failure if the
  /// pool's size is out of range.
  Predictor(const SessionConfig& session, const model::ModelConfig& model, const text::Tokenizer& tokenizer,
            const text::ChatTemplate& chat);
  /// With a copy of this cache, in which no request may be running. `lastRun`: of the session.
  Predictor(const cache::KvCache& cache, RunId lastRun, const SessionConfig& session,
            const model::ModelConfig& model, const text::Tokenizer& tokenizer,
            const text::ChatTemplate& chat);
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  /// From now on predictions say what would make hits of the blocks that are not found. That takes time and
  /// memory for every block of the pool, once a step.
  void sayWhatIf();

  /// Never throws for what is wrong with the query: that is in the result.
  Prediction predict(const plan::Plan& plan, const RunOptions& options, const std::stop_token& stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::run
