// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_service.h"

#include "app/cli/bench_report.h"
#include "engine/base/error.h"
#include "engine/trace/recorder.h"

#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

namespace spanscope::cli {

workbench::OwnModel ownModel(std::shared_ptr<workbench::ModelBundle> model, const SessionOptions& options) {
  return {.model = std::move(model),
          .session = options.config(),
          .recorder = std::make_shared<trace::Recorder>(),
          .settings = options.settings,
          .loadBeside = {}};
}

CommandService::CommandService(const Context& context, workbench::OwnModel own)
    : m_context(context), m_service(context.backends, m_nobody, std::move(own)) {}

workbench::JobHandle CommandService::carryOut(std::shared_ptr<workbench::Job> work,
                                              const std::function<void()>& look) {
  constexpr std::chrono::milliseconds kPeriod(15);
  workbench::JobHandle handle = m_service.submit(std::move(work));
  // The job begins immediately, even after a stop, because the command reports the job's own error.
  while (handle.state() == workbench::JobState::Waiting) std::this_thread::yield();
  const std::stop_callback stopped(m_context.stop, [&handle] { handle.stop(); });
  while (!handle.waitFor(kPeriod)) {
    if (look) look();
  }
  if (look) look();
  return handle;
}

void CommandService::finish(std::shared_ptr<workbench::Job> work, const std::function<std::string()>& doing) {
  const workbench::JobHandle handle = carryOut(std::move(work), [&] { showProgress(m_context, doing()); });
  handle.rethrow();
  if (handle.state() == workbench::JobState::Stopped)
    throw Failure(errorAt("bench", "The job was stopped.", {}));
}

}  // namespace spanscope::cli
