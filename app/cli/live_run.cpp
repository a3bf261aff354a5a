// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live_run.h"

#include "engine/run/run_options.h"
#include "engine/run/run_result.h"

#include <chrono>
#include <future>
#include <system_error>
#include <vector>

namespace spanscope::cli {
namespace {

constexpr std::chrono::milliseconds kPeriod(15);  // as often as a person can see

void showWaiting(trace::Recorder& recorder, RunPrinter& view, experiment::FinishedReplies* replies) {
  std::vector<trace::Event> events;
  recorder.drain(events);
  for (const trace::Event& event : events) {
    view.take(event);
    if (replies != nullptr) replies->take(event);
  }
}

}  // namespace

run::RunResult runLive(run::Session& session, const plan::Plan& plan, const run::RunOptions& options,
                       trace::Recorder& recorder, RunPrinter& view, std::stop_token stop,
                       experiment::FinishedReplies* replies) {
  const auto work = [&] { return session.run(plan, options, stop); };
  std::future<run::RunResult> result;
  try {
    result = std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    // Without a second thread it is shown at once when it has ended.
    result = std::async(std::launch::deferred, work);
    result.wait();
  }
  while (result.wait_for(kPeriod) != std::future_status::ready) showWaiting(recorder, view, replies);
  showWaiting(recorder, view, replies);
  view.finish();
  return result.get();
}

}  // namespace spanscope::cli
