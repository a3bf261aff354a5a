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
  Stopped,  ///< whether it had begun or not
  Failed
};

/// Everything is called on the service's thread. What begin() throws is how it has failed, or, after a stop,
/// how it was stopped.
class Work {
 public:
  virtual ~Work() = default;
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Does it. Or begins a run in the session of `place` and returns its number: the service has that one go
  /// on beside others, and the work has ended when it has.
  virtual std::optional<RunId> begin(Workplace& place, const std::stop_token& stop) = 0;
  /// Whether it may begin while runs are in progress in the session of `place`.
  virtual bool canBeginBeside(const Workplace& place) const;
  /// The run that it began has ended; throws what makes a failure of it.
  virtual void runEnded(run::RunResult result);
};

/// That one function does. It begins when no run is in progress.
class FunctionWork final : public Work {
 public:
  using Function = std::function<void(Workplace&, const std::stop_token&)>;
  explicit FunctionWork(Function function);

  std::optional<RunId> begin(Workplace& place, const std::stop_token& stop) override;

 private:
  Function m_function;
};

/// A run of a plan, in the session that belongs to its settings; where there is none, one is opened.
class RunWork final : public Work {
 public:
  struct Prepared {
    std::shared_ptr<const plan::Plan> plan;  ///< not null
    run::RunOptions options;
  };
  /// What is to be run, made when the model is there. Where it takes long, as with something to retrieve, it
  /// does so while no other run is in progress.
  struct Preparation {
    std::function<Prepared(Workplace&, const std::stop_token&)> prepare;
    bool takesLong = false;
  };

  /// `lastRun`, `lastRequest`: numbers that those of the run are to be larger than.
  RunWork(RunSettings settings, Preparation preparation, RunId lastRun = 0, RequestId lastRequest = 0);

  std::optional<RunId> begin(Workplace& place, const std::stop_token& stop) override;
  bool canBeginBeside(const Workplace& place) const override;
  /// Throws Failure for a run that failed; one that was stopped is known by its result.
  void runEnded(run::RunResult result) override;

  /// Once it has ended, unless it never began.
  const std::optional<run::RunResult>& result() const { return m_result; }

 private:
  RunSettings m_settings;
  Preparation m_preparation;
  RunId m_lastRun;
  RequestId m_lastRequest;
  std::optional<run::RunResult> m_result;
};

}  // namespace spanscope::workbench
