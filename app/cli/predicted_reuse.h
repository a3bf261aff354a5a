// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq explain --predict` predicts the cache hits of queries that run one after the other with one cache.
#pragma once

#include "app/cli/command.h"
#include "app/cli/session_options.h"
#include "engine/experiment/layout_comparison.h"
#include "engine/plan/plan.h"
#include "engine/policy/policies.h"
#include "engine/run/prediction.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

namespace spanscope::cli {

struct PredictionOptions {
  bool isWanted = false;
  bool why = false;      ///< --why: also report changes that would make hits
  bool layouts = false;  ///< --layouts: compare the layouts, with or without a prediction
  SessionOptions session;
};

/// Adds --predict, --why and --layouts, and the options of `spanq run` for model, policy and cache.
void addPredictionOptions(CLI::App& command, PredictionOptions& options);

/// --why and each option that only a prediction has imply a prediction. With --dot, such an option is
/// refused.
void checkPredictionOptions(const CLI::App& command, PredictionOptions& options);

/// Predicts plans, one after the other, for a cache that is empty at first.
class ReusePrediction {
 public:
  /// Reads the model without its weights. Throws Failure.
  explicit ReusePrediction(const PredictionOptions& options);

  /// Sets policy, layout, seed and length of answers for later plans. Model and cache do not change.
  void use(const workbench::RunSettings& settings);

  /// Predicts a plan that starts with the cache of the earlier plans. Returns nothing if an earlier plan will
  /// fail, because no later plan runs then.
  std::optional<run::Prediction> predict(const plan::Plan& plan, const std::stop_token& stop);

  /// Compares every layout at the block sizes of kComparedBlockSizes. Each comparison starts with an empty
  /// cache for the same number of tokens. Returns nothing if the command was stopped.
  std::optional<experiment::LayoutComparison> compareLayouts(const plan::Plan& plan,
                                                             const std::stop_token& stop) const;

  /// "policy spans on spanlet, 2048 blocks of 16 tokens, empty at first"
  std::string setting() const;
  /// "spans on spanlet"
  std::string policy() const { return m_run.policy.name() + " on " + m_model.name; }
  const text::Tokenizer& tokenizer() const { return *m_model.tokenizer; }
  const text::ChatTemplate& chat() const { return *m_model.chat; }
  /// Tokens per block.
  std::int32_t blockSize() const { return m_options.session.config().blockSize; }

 private:
  PredictionOptions m_options;
  workbench::ModelBundle m_model;
  run::RunOptions m_run;
  run::Predictor m_predictor;
  bool m_hasFailed = false;
};

/// Tables of the predicted steps and of their span tables, as lines that end with a newline. The counts are
/// from the accounts of the steps. With a `tokenizer`, the text also explains each miss of a block.
/// `tokenizer` may be null. `blockSize`: tokens of a block.
std::string predictionText(const plan::Plan& plan, const std::optional<run::Prediction>& prediction,
                           std::int32_t blockSize, const text::Tokenizer* tokenizer = nullptr);

/// The same tables as JSON. Null if nothing was predicted.
nlohmann::ordered_json predictionJson(const plan::Plan& plan,
                                      const std::optional<run::Prediction>& prediction,
                                      std::int32_t blockSize);

}  // namespace spanscope::cli
