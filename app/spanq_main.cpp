// SPDX-License-Identifier: GPL-3.0-or-later
// The command line program. An interrupt asks the run to stop; a second one ends the program at once.
#include "app/cli/cli.h"
#include "app/cli/interruptible_input.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <iostream>
#include <istream>
#include <stop_token>
#include <thread>

namespace {

/// Waits for interrupts until `program` has ended. The signals must be blocked in all threads.
void watchInterrupts(const std::stop_token& ended, std::stop_source& run, const sigset_t& signals) {
  constexpr timespec kPeriod{.tv_sec = 0, .tv_nsec = 50'000'000};
  while (!ended.stop_requested()) {
    if (sigtimedwait(&signals, nullptr, &kPeriod) < 0) continue;
    if (!run.request_stop()) _exit(130);
  }
}

}  // namespace

int main(int argc, char** argv) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  // Blocked before any thread starts, so that every thread inherits it and the watcher alone receives them.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  std::stop_source run;
  const std::jthread watcher([&](const std::stop_token& ended) { watchInterrupts(ended, run, signals); });
  spanscope::cli::InterruptibleInput input(STDIN_FILENO, run.get_token());
  std::istream in(&input);
  return spanscope::cli::runCli(argc, argv,
                                {.in = in,
                                 .out = std::cout,
                                 .err = std::cerr,
                                 .progress = isatty(STDERR_FILENO) == 1,
                                 .canAsk = isatty(STDIN_FILENO) == 1},
                                run.get_token());
}
