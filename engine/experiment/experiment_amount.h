// SPDX-License-Identifier: GPL-3.0-or-later
// Counts what an experiment would compute, without computing it.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/token_amount.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace spanscope::experiment {

/// What a study counts in place of measuring.
class ExperimentTally {
 public:
  void add(const TokenAmount& amount) { m_total += amount; }
  void step() { m_steps.push_back(m_total); }
  const TokenAmount& total() const { return m_total; }
  const std::vector<TokenAmount>& steps() const { return m_steps; }

 private:
  TokenAmount m_total;
  std::vector<TokenAmount> m_steps;
};

struct ExperimentAmount {
  TokenAmount total;  ///< what is computed before the first step included
  std::vector<TokenAmount>
      steps;  ///< up to the end of each; of fewer repeats than are wished, if these are many
};

/// Predicts every run of the experiment (run::Predictor). The model needs a tokenizer and a chat template.
/// Throws Failure as runExperiment() does, or if it was stopped. Writing and reading files is not counted.
ExperimentAmount countExperiment(ExperimentWish wish, ExperimentModel model,
                                 const std::stop_token& stop = {});

// Bounds of what it computes to measure one query, from a prediction of its run with an empty cache.

/// One run. `empty`: predicted with an empty cache.
TokenAmount coldAmount(const run::Prediction& empty, const plan::Plan& plan);

/// measureRepeats(): a turn to warm up and `repeats` more, each with every case, of which only the cold one
/// is sure to compute the whole prompt.
TokenAmount repeatsAmount(const TokenAmount& cold, std::int32_t repeats);

/// A cold run, a full prefill of its prompts and replies beside the policy's own, and a run in another order,
/// for each policy. A policy may compute parts of a prompt twice.
TokenAmount comparisonAmount(const TokenAmount& cold, std::size_t policies);

}  // namespace spanscope::experiment
