// SPDX-License-Identifier: GPL-3.0-or-later
// What `spanq explain --predict` says: what runs of the queries, one after the other with one cache, will
// find in it.
#pragma once

#include "app/cli/cli11_forward.h"
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
  bool why = false;      ///< what would make hits is wanted too
  bool layouts = false;  ///< the layouts side by side are wanted, with or without a prediction
  SessionOptions session;
};

/// --predict, --why and --layouts, and with them what `spanq run` has to say model, policy and cache.
void addPredictionOptions(CLI::App& command, PredictionOptions& options);

/// Refuses options of a prediction where none is wanted. --why wants one.
void checkPredictionOptions(const CLI::App& command, PredictionOptions& options);

/// Predicts plans for a cache that is empty at first.
class ReusePrediction {
 public:
  /// Reads what is needed of the model, not its weights. Throws Failure.
  ReusePrediction(const PredictionOptions& options, std::uint64_t seed);

  /// Against what the plans before will have left behind; nothing where one of them will fail, because no
  /// other is run then.
  std::optional<run::Prediction> predict(const plan::Plan& plan, const std::stop_token& stop);

  /// Every layout at the block sizes of kComparedBlockSizes, each with an empty cache of as many tokens.
  /// Nothing if it was stopped.
  std::optional<experiment::LayoutComparison> compareLayouts(const plan::Plan& plan,
                                                             const std::stop_token& stop) const;

  /// "policy spans on spanlet, 2048 blocks of 16 tokens, empty at first"
  std::string setting() const;
  /// "spans on spanlet"
  std::string policy() const { return m_run.policy.name() + " on " + m_model.name; }
  const text::Tokenizer& tokenizer() const { return *m_model.tokenizer; }

 private:
  PredictionOptions m_options;
  workbench::ModelBundle m_model;
  run::RunOptions m_run;
  run::Predictor m_predictor;
  bool m_hasFailed = false;
};

/// Tables of a prediction's steps and of their span tables. Lines of text, each ended by a newline.
/// `tokenizer`: to say why, null where that is not wanted.
std::string predictionText(const plan::Plan& plan, const std::optional<run::Prediction>& prediction,
                           const text::Tokenizer* tokenizer = nullptr);

/// The same for programs. Null where nothing was predicted.
nlohmann::ordered_json predictionJson(const plan::Plan& plan,
                                      const std::optional<run::Prediction>& prediction);

}  // namespace spanscope::cli
