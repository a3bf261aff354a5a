// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/token_amount.h"
#include "engine/workbench/service/work.h"
#include "engine/workbench/settings.h"

#include <optional>
#include <stop_token>

namespace spanscope::workbench {

/// Counts what an experiment would compute, on the model of the settings where that one is loaded.
class EstimateWork final : public Work {
 public:
  EstimateWork(RunSettings settings, experiment::ExperimentWish wish);

  Begun begin(Workplace& place, const std::stop_token& stop) override;

  /// What was counted, once the work has ended; nothing where another model is loaded, or none, or where the
  /// wish has further ones.
  const std::optional<experiment::TokenAmount>& amount() const { return m_amount; }

 private:
  RunSettings m_settings;
  experiment::ExperimentWish m_wish;
  std::optional<experiment::TokenAmount> m_amount;
};

}  // namespace spanscope::workbench
