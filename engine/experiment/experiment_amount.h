// SPDX-License-Identifier: GPL-3.0-or-later
// Counts the tokens that an experiment would compute, without computing them. Open this file when a time
// estimate is wrong.
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

/// The counters that replace measurements in a study.
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
  TokenAmount total;               ///< includes the tokens before the first step
  std::vector<TokenAmount> steps;  ///< up to the end of each step; at most a few of the requested repeats
                                   ///< are counted
};

/// Predicts every run of the experiment (run::Predictor). The model needs a tokenizer and a chat template.
/// Throws Failure like runExperiment(), and when stopped. Writing and reading files is not counted.
ExperimentAmount countExperiment(ExperimentRequest request, ExperimentModel model,
                                 const std::stop_token& stop = {});

// Bounds of the tokens for measuring one query, from a prediction of its run with an empty cache.

/// Returns the amount of one run. `empty` is predicted with an empty cache.
TokenAmount coldAmount(const run::Prediction& empty, const plan::Plan& plan);

/// Returns the amount of measureRepeats(): a round to warm up and `repeats` more rounds. Each round has every
/// case. Only the cold case certainly computes the whole prompt.
TokenAmount repeatsAmount(const TokenAmount& cold, std::int32_t repeats);

/// Returns the amount of a comparison. Each policy has a cold run, a run in another order, and a full prefill
/// of its prompts and answers. A policy may compute sections of a prompt twice.
TokenAmount comparisonAmount(const TokenAmount& cold, std::size_t policies);

}  // namespace spanscope::experiment
