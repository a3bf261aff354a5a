// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"
#include "app/cli/session_options.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"

#include <functional>
#include <memory>
#include <string>

namespace spanscope::cli {

/// The model that was loaded for a command, for all of its works, and sessions as its options say. Nobody
/// listens to their events.
workbench::OwnModel ownModel(std::shared_ptr<workbench::ModelBundle> model, const SessionOptions& options);

/// The run service as a command uses it: with the model that was loaded for the command, one work at a time.
class CommandService {
 public:
  /// The context must outlive it.
  CommandService(const Context& context, workbench::OwnModel own);

  /// Has a work done, on the service's thread, so that the engine never waits for the terminal. `look` is
  /// called as often as a person can see, and once more when the work has ended. What stops the command stops
  /// the work. Returns the handle of the work, which has ended.
  workbench::JobHandle carryOut(std::shared_ptr<workbench::Job> work, const std::function<void()>& look = {});

  /// Says what a measurement does now.
  using Tell = std::function<void(const std::string& doing)>;
  /// Has a measurement done as a work, in sessions that it opens itself; what it does is shown as progress.
  /// It heeds the stop of the context. Throws what it throws, also after a stop.
  void measure(const std::function<void(const Tell& report)>& measurement);

 private:
  const Context& m_context;
  workbench::JobContextWatcher m_nobody;
  workbench::JobService m_service;
};

}  // namespace spanscope::cli
