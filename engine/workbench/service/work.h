// SPDX-License-Identifier: GPL-3.0-or-later
// What a WorkService is asked to do: a run, or anything else that needs a model or a session.
#pragma once

#include "engine/base/ids.h"
#include "engine/run/run_result.h"

#include <functional>
#include <optional>
#include <stop_token>

namespace spanscope::workbench {

class Workplace;

/// It is submitted once. The service calls it on its own thread alone; what a kind of work says of its
/// progress and its result may be asked for on any thread. Where begin() or runEnded() throws, the work has
/// failed or, after a stop, was stopped.
class Work {
 public:
  virtual ~Work() = default;
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Does the work. Or begins a run in the session of `place` and returns its number: the service then has
  /// that run go on beside others, and the work has ended when the run has.
  virtual std::optional<RunId> begin(Workplace& place, const std::stop_token& stop) = 0;
  /// Whether the work may begin while runs are in progress in the session of `place`.
  virtual bool canBeginBeside(const Workplace& place) const;
  /// The run that it began has ended. Throws what makes a failure of it.
  virtual void runEnded(run::RunResult result);

 protected:
  /// Has its client told that it is further than before.
  void tellProgress() const;

 private:
  friend class WorkService;
  std::function<void()> m_progressed;  ///< set by the service
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

}  // namespace spanscope::workbench
