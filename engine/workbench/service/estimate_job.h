// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/token_amount.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/settings.h"

#include <optional>
#include <stop_token>

namespace spanscope::workbench {

/// Counts what an experiment would compute, on the model of the settings where that one is loaded.
class EstimateJob final : public Job {
 public:
  EstimateJob(RunSettings settings, experiment::ExperimentRequest request);

  Begun begin(JobContext& place, const std::stop_token& stop) override;

  /// What was counted, once the work has ended; nothing where another model is loaded, or none, or where the
  /// wish has further ones.
  const std::optional<experiment::TokenAmount>& amount() const { return m_amount; }

 private:
  RunSettings m_settings;
  experiment::ExperimentRequest m_request;
  std::optional<experiment::TokenAmount> m_amount;
};

}  // namespace spanscope::workbench
