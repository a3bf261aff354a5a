// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/token_amount.h"
#include "engine/workbench/pace_book.h"
#include "engine/workbench/service/published.h"
#include "engine/workbench/service/work.h"
#include "engine/workbench/settings.h"

#include <memory>
#include <optional>
#include <stop_token>

namespace spanscope::workbench {

/// Carries an experiment out in sessions of its own: the one that is open keeps its cache and its trace.
/// Further models of the wish are loaded beside the one of the settings, one after the other.
class ExperimentWork final : public Work {
 public:
  /// `settings`: model and device, and the pool of the sessions that the experiment opens. `paces`: what is
  /// known of the model's pace, and gets what is measured; may be null.
  ExperimentWork(RunSettings settings, experiment::ExperimentWish wish,
                 std::shared_ptr<PaceBook> paces = nullptr);

  Begun begin(Workplace& place, const std::stop_token& stop) override;

  /// What was measured so far.
  experiment::ExperimentResult result() const { return m_result.get(); }

  /// What is known before it begins to measure.
  struct Estimate {
    experiment::TokenAmount amount;
    std::optional<experiment::SecondsRange> seconds;  ///< nothing: no pace of the model is known
  };
  /// Nothing: it has not been counted yet, or cannot be, as for several models.
  std::optional<Estimate> estimate() const { return m_estimate.get(); }

 private:
  /// How far it is, and how long the rest takes.
  struct Clock;
  void count(const experiment::ExperimentWish& wish, experiment::ExperimentModel model, Clock& clock,
             const std::stop_token& stop);

  RunSettings m_settings;
  std::shared_ptr<PaceBook> m_paces;
  Published<std::optional<Estimate>> m_estimate;
  Published<experiment::ExperimentResult> m_result;
};

}  // namespace spanscope::workbench
