// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"
#include "app/cli/session_options.h"
#include "engine/jobs/measuring_job.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace spanscope::cli {

/// Uses the loaded model for all jobs of a command, and the options for the sessions of these jobs. Events of
/// the sessions have no listener.
workbench::OwnModel ownModel(std::shared_ptr<workbench::ModelBundle> model, const SessionOptions& options);

/// The run service of a command. The service uses the model that was loaded for the command, and does one job
/// at a time.
class CommandService {
 public:
  /// The context must outlive this object.
  CommandService(const Context& context, workbench::OwnModel own);

  /// Does a job on the service's thread, so that the engine never waits for the terminal. `look` is called
  /// every 15 ms, and once more after the job has ended. A stop of the command also stops the job. Returns
  /// the handle of the ended job.
  workbench::JobHandle carryOut(std::shared_ptr<workbench::Job> work, const std::function<void()>& look = {});

  /// Measures a bench with rows (engine/jobs/bench_jobs.h), and shows its current step as progress. Throws
  /// what the job throws, and Failure after a stop.
  template <class Kind>
  typename Kind::Result measure(typename Kind::Arguments choice, const workbench::RunSettings& settings) {
    const auto job = std::make_shared<jobs::MeasuringJob<Kind>>(
        std::move(choice), jobs::JobInput{.settings = settings, .usesTiers = true});
    finish(job, [&job] { return job->found()->doing; });
    return *job->found();
  }

 private:
  /// Does a job and shows `doing` as progress. Throws what the job throws, and Failure after a stop.
  void finish(std::shared_ptr<workbench::Job> work, const std::function<std::string()>& doing);

  const Context& m_context;
  workbench::JobContextWatcher m_nobody;
  workbench::JobService m_service;
};

}  // namespace spanscope::cli
