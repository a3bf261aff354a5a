// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/own_documents.h"
#include "engine/experiment/token_amount.h"
#include "engine/retrieve/fragment.h"
#include "engine/workbench/service/indexing.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/published.h"
#include "engine/workbench/settings.h"
#include "engine/workbench/speed_records.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace spanscope::workbench {

/// Carries an experiment out in sessions of its own: the one that is open keeps its cache and its trace.
/// Further models of the wish are loaded beside the one of the settings, one after the other.
class ExperimentJob final : public Job {
 public:
  /// Finds a person's documents on the thread of the service, where an augment has to be resolved for it.
  /// Throws if there are none that can be measured.
  using FindDocuments =
      std::function<std::shared_ptr<const experiment::OwnDocuments>(JobContext&, const retrieve::Watch&)>;

  /// `settings`: model and device, and the pool of the sessions that the experiment opens. `paces`: what is
  /// known of the model's pace, and gets what is measured; may be null. `find`: for a wish on a person's
  /// documents that does not have them yet; null otherwise.
  ExperimentJob(RunSettings settings, experiment::ExperimentRequest request,
                std::shared_ptr<SpeedRecords> paces = nullptr, FindDocuments find = {});

  Begun begin(JobContext& place, const std::stop_token& stop) override;

  /// What was measured so far.
  experiment::ExperimentResult result() const { return m_result.get(); }
  /// How far the index is that it waits for, if it waits for one.
  std::optional<retrieve::IndexProgress> indexing() const { return m_indexing.progress(); }

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
  void count(const experiment::ExperimentRequest& request, experiment::ExperimentModel model, Clock& clock,
             const std::stop_token& stop);

  RunSettings m_settings;
  std::shared_ptr<SpeedRecords> m_paces;
  FindDocuments m_find;
  Indexing m_indexing;
  Published<std::optional<Estimate>> m_estimate;
  Published<experiment::ExperimentResult> m_result;
};

}  // namespace spanscope::workbench
