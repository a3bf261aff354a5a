// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/workbench/service/published.h"
#include "engine/workbench/service/work.h"
#include "engine/workbench/settings.h"

#include <stop_token>

namespace spanscope::workbench {

/// Carries an experiment out in sessions of its own: the one that is open keeps its cache and its trace.
/// Further models of the wish are loaded beside the one of the settings, one after the other.
class ExperimentWork final : public Work {
 public:
  /// `settings`: model and device, and the pool of the sessions that the experiment opens.
  ExperimentWork(RunSettings settings, experiment::ExperimentWish wish);

  Begun begin(Workplace& place, const std::stop_token& stop) override;

  /// What was measured so far.
  experiment::ExperimentResult result() const { return m_result.get(); }

 private:
  RunSettings m_settings;
  Published<experiment::ExperimentResult> m_result;
};

}  // namespace spanscope::workbench
