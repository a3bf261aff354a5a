// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/retrieve/passage.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/workbench/service/indexing.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/settings.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace spanscope::plan {
struct Plan;
}
namespace spanscope::trace {
struct Event;
}

namespace spanscope::workbench {

/// A run of a plan, in the session of its settings. If there is no such session, the job opens a session.
class RunJob final : public Job {
 public:
  struct Prepared {
    std::shared_ptr<const plan::Plan> plan;  ///< not null
    run::RunOptions options;
  };
  struct Preparation {
    /// Makes the plan when the model is loaded. The function reports the progress of an index to `watch`.
    std::function<Prepared(JobContext& place, const retrieve::Watch& watch)> prepare;
    /// Whether `prepare` may take long, e.g. to retrieve. The run then begins when no other job is in
    /// progress.
    bool takesLong = false;
  };

  /// The numbers of the run and of its requests will be larger than `lastRun` and `lastRequest`.
  RunJob(RunSettings settings, Preparation preparation, RunId lastRun = 0, RequestId lastRequest = 0);

  ~RunJob() override;

  /// `listener` gets every event of the run, and every forward pass that computed something for it. Call this
  /// before the job is submitted. `listener` is called on the service's thread, by the rules of
  /// trace::Recorder::setListener().
  void listen(std::function<void(const trace::Event&)> listener) { m_listener = std::move(listener); }

  Begun begin(JobContext& place, const std::stop_token& stop) override;
  bool canBeginBeside(const JobContext& place) const override;
  bool canPass() const override { return true; }
  /// Throws Failure if the run failed. The result of a stopped run shows the stop.
  bool hasEnded(run::Session& session) override;
  bool wasStopped() const override;

  const RunSettings& settings() const { return m_settings; }
  /// The number of the run, known before its first event; 0: the run has not begun.
  RunId run() const { return m_run; }
  /// The progress of the index that the run waits for, if any.
  std::optional<retrieve::IndexProgress> indexing() const { return m_indexing.progress(); }
  /// The result, once the run has ended; nothing if it never began.
  const std::optional<run::RunResult>& result() const { return m_result; }

 private:
  class Ear;

  RunSettings m_settings;
  Preparation m_preparation;
  RunId m_lastRun;
  RequestId m_lastRequest;
  std::atomic<RunId> m_run = 0;
  Indexing m_indexing;
  std::optional<run::RunResult> m_result;
  std::function<void(const trace::Event&)> m_listener;
  std::unique_ptr<Ear> m_ear;  ///< while the run is in progress; null: there is no listener
};

}  // namespace spanscope::workbench
