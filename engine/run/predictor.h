// SPDX-License-Identifier: GPL-3.0-or-later
// Predicts reuse. The predictor simulates each plan with scheduler and cache but without a model. One
// simulation has the shortest answers, the other has the longest. Open this file to change how predictions
// are made.
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

/// Each plan is predicted after the earlier plans of this predictor. A predictor is not thread-safe. A
/// predictor is independent of the session whose cache it copied.
class Predictor {
 public:
  /// Begins with an empty cache. `model`, `tokenizer` and `chat` must outlive the predictor. Throws Failure
  /// if the pool's size is out of range.
  Predictor(const SessionConfig& session, const model::ModelConfig& model, const text::Tokenizer& tokenizer,
            const text::ChatTemplate& chat);
  /// Begins with a copy of this cache, in which no request may be running. `lastRun` is the number of the
  /// session's last run.
  Predictor(const cache::KvCache& cache, RunId lastRun, const SessionConfig& session,
            const model::ModelConfig& model, const text::Tokenizer& tokenizer,
            const text::ChatTemplate& chat);
  ~Predictor();
  Predictor(const Predictor&) = delete;
  Predictor& operator=(const Predictor&) = delete;

  /// From now on, predictions include the changes that would turn misses into hits. Each step then takes time
  /// and memory for every block of the pool.
  void sayWhatIf();

  /// Never throws for a wrong query. The result reports the error.
  Prediction predict(const plan::Plan& plan, const RunOptions& options, const std::stop_token& stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::run
