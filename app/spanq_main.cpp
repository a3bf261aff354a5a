// SPDX-License-Identifier: GPL-3.0-or-later
// The command line program. The first interrupt stops a run, or ends any other action. A second interrupt
// ends the program immediately.
#include "app/cli/cli.h"
#include "app/cli/input.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/base/readable_file.h"
#include "engine/compute/backends.h"
#include "engine/workbench/finder/recent_models.h"
#include "engine/workbench/speed_records.h"
#include "kernels/backends.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <iostream>
#include <istream>
#include <ostream>
#include <stop_token>
#include <system_error>
#include <thread>

namespace {

/// Returns the signals that end the program. With nohup, closing the terminal does not end the program.
sigset_t endingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  struct sigaction hangup {};
  const bool isIgnored = sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
  if (!isIgnored) sigaddset(&signals, SIGHUP);
  return signals;
}

/// The objects that an interrupt uses.
struct Job {
  std::stop_source stop;
  spanscope::UnfinishedFiles files;
  std::atomic<bool> endsByItself = false;
};

/// Waits for interrupts until the program has ended. The signals must be blocked in all threads.
void watchInterrupts(const std::stop_token& ended, Job& work, const sigset_t& signals) {
  constexpr timespec kPeriod{.tv_sec = 0, .tv_nsec = 50'000'000};
  constexpr timespec kMoment{.tv_sec = 0,
                             .tv_nsec = 20'000'000};  ///< freeing gigabytes of memory takes time, too
  bool asked = false;
  while (!ended.stop_requested()) {
    const bool interrupted = sigtimedwait(&signals, nullptr, asked ? &kMoment : &kPeriod) >= 0;
    if (interrupted && work.stop.request_stop()) {
      asked = true;
      continue;
    }
    // An action that can end without help had time to end.
    const bool late = asked && !work.endsByItself && !ended.stop_requested();
    if (!interrupted && !late) continue;
    work.files.removeAll();
    _exit(130);
  }
}

}  // namespace

int main(int argc, char** argv) {
  spanscope::holdStandardDescriptors();
  spanscope::reportWriteErrors();
  const sigset_t signals = endingSignals();
  // The signals are blocked before any thread starts. Every thread inherits the mask, so only the watcher
  // receives signals.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  Job work;
  std::jthread watcher;
  try {
    watcher = std::jthread([&](const std::stop_token& ended) { watchInterrupts(ended, work, signals); });
  } catch (const std::system_error& error) {
    std::cerr << spanscope::errorAt("spanq", "no thread for interrupts (" + error.code().message() + ")",
                                    "a system with free threads")
                     .message()
              << '\n';
    return static_cast<int>(spanscope::cli::ExitCode::RunFailed);
  }
  spanscope::cli::InterruptibleInput input(STDIN_FILENO, work.stop.get_token());
  std::istream in(&input);
  spanscope::cli::DescriptorOutput output(STDOUT_FILENO);
  std::ostream out(&output);
  std::ostream err(std::cerr.rdbuf());
  err << std::unitbuf;
  // A terminal shows both streams in the same place. The tie of the streams keeps the order of writing.
  err.tie(&out);
  try {
    spanscope::useInstructionSetOfEnvironment();
  } catch (const spanscope::Failure& failure) {
    err << "spanq: " << failure.error().message() << '\n';
    return static_cast<int>(spanscope::cli::ExitCode::Usage);
  }
  return spanscope::cli::runCli(argc, argv,
                                {.in = in,
                                 .out = out,
                                 .err = err,
                                 .terminal = isatty(STDERR_FILENO) == 1 ? &err : nullptr,
                                 .outIsTerminal = isatty(STDOUT_FILENO) == 1,
                                 .canAsk = isatty(STDIN_FILENO) == 1,
                                 .output = &output,
                                 .unfinished = &work.files,
                                 .endsByItself = &work.endsByItself,
                                 .paceFile = spanscope::workbench::standardSpeedFile(),
                                 .recentModelsFile = spanscope::workbench::standardRecentModelsFile()},
                                spanscope::programBackends(), work.stop.get_token());
}
