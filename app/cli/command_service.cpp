// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_service.h"

#include <chrono>
#include <stop_token>
#include <thread>
#include <utility>

namespace spanscope::cli {

CommandService::CommandService(const Context& context, workbench::OwnModel own)
    : m_context(context), m_service(context.backends, m_nobody, std::move(own)) {}

workbench::WorkHandle CommandService::carryOut(std::shared_ptr<workbench::Work> work,
                                               const std::function<void()>& look) {
  constexpr std::chrono::milliseconds kPeriod(15);
  workbench::WorkHandle handle = m_service.submit(std::move(work));
  // It begins at once, also under a stop: what a work says of itself then is what the command reports.
  while (handle.state() == workbench::WorkState::Waiting) std::this_thread::yield();
  const std::stop_callback stopped(m_context.stop, [&handle] { handle.stop(); });
  while (!handle.waitFor(kPeriod)) {
    if (look) look();
  }
  if (look) look();
  return handle;
}

}  // namespace spanscope::cli
