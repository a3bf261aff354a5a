// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/estimate_job.h"

#include "engine/experiment/experiment_amount.h"
#include "engine/workbench/experiment_model.h"
#include "engine/workbench/service/job_context.h"

#include <utility>

namespace spanscope::workbench {

EstimateJob::EstimateJob(RunSettings settings, experiment::ExperimentRequest request)
    : m_settings(std::move(settings)), m_request(std::move(request)) {}

Begun EstimateJob::begin(JobContext& place, const std::stop_token& stop) {
  ModelBundle* const model = place.loadedModelFor(m_settings);
  if (model == nullptr || !experiment::furtherModels(m_request).empty()) return Begun::Done;
  m_amount =
      experiment::countExperiment(m_request, experimentModelOf(*model, place.configFor(m_settings)), stop)
          .total;
  return Begun::Done;
}

}  // namespace spanscope::workbench
