// SPDX-License-Identifier: GPL-3.0-or-later
// What a WorkService is asked to do: a run, or anything else that needs a model or a session.
#pragma once

#include "engine/base/ids.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/workbench/settings.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

namespace spanscope::plan {
struct Plan;
}

namespace spanscope::workbench {

class Workplace;

enum class WorkState : std::uint8_t {
  Waiting,
  Working,
  Finished,
  Stopped,  ///< before or after it had begun
  Failed
};

/// All functions are called on the service's thread. If begin() throws, the work has failed with that
/// exception; after a stop, the work was stopped.
class Work {
 public:
  virtual ~Work() = default;
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Does the work and returns nothing. Or begins a run in the session of `place` and returns its number: the
  /// service then has the run go on beside others, and the work ends when the run ends.
  virtual std::optional<RunId> begin(Workplace& place, const std::stop_token& stop) = 0;
  /// Whether the work may begin while runs are in progress in the session of `place`.
  virtual bool canBeginBeside(const Workplace& place) const;
  /// Called when the run that begin() began has ended. The work fails if this function throws.
  virtual void runEnded(run::RunResult result);
};

/// A work that one function does. It begins when no run is in progress.
class FunctionWork final : public Work {
 public:
  using Function = std::function<void(Workplace&, const std::stop_token&)>;
  explicit FunctionWork(Function function);

  std::optional<RunId> begin(Workplace& place, const std::stop_token& stop) override;

 private:
  Function m_function;
};

/// A work that runs a plan in the session that belongs to its settings. If there is no such session, one is
/// opened.
class RunWork final : public Work {
 public:
  struct Prepared {
    std::shared_ptr<const plan::Plan> plan;  ///< not null
    run::RunOptions options;
  };
  /// Makes what is to be run, once the model is loaded. If this takes long, e.g. because something is
  /// retrieved, it is only done while no other run is in progress.
  struct Preparation {
    std::function<Prepared(Workplace&, const std::stop_token&)> prepare;
    bool takesLong = false;
  };

  /// The numbers of the run and its requests will be larger than `lastRun` and `lastRequest`.
  RunWork(RunSettings settings, Preparation preparation, RunId lastRun = 0, RequestId lastRequest = 0);

  std::optional<RunId> begin(Workplace& place, const std::stop_token& stop) override;
  bool canBeginBeside(const Workplace& place) const override;
  /// Throws Failure if the run failed. A run that was stopped is known by its result.
  void runEnded(run::RunResult result) override;

  /// The result, once the run has ended; nothing before, or if the run never began.
  const std::optional<run::RunResult>& result() const { return m_result; }

 private:
  RunSettings m_settings;
  Preparation m_preparation;
  RunId m_lastRun;
  RequestId m_lastRequest;
  std::optional<run::RunResult> m_result;
};

}  // namespace spanscope::workbench
