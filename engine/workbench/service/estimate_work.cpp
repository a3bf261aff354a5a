// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/estimate_work.h"

#include "engine/experiment/experiment_amount.h"
#include "engine/workbench/experiment_model.h"
#include "engine/workbench/service/workplace.h"

#include <utility>

namespace spanscope::workbench {

EstimateWork::EstimateWork(RunSettings settings, experiment::ExperimentWish wish)
    : m_settings(std::move(settings)), m_wish(std::move(wish)) {}

Begun EstimateWork::begin(Workplace& place, const std::stop_token& stop) {
  ModelBundle* const model = place.loadedModelFor(m_settings);
  if (model == nullptr || !experiment::furtherModels(m_wish).empty()) return Begun::Done;
  m_amount =
      experiment::countExperiment(m_wish, experimentModelOf(*model, place.configFor(m_settings)), stop).total;
  return Begun::Done;
}

}  // namespace spanscope::workbench
