// SPDX-License-Identifier: GPL-3.0-or-later
// What a JobService is asked to do: a run, or anything else that needs a model or a session.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

namespace spanscope::run {
class Session;
}

namespace spanscope::workbench {

class JobContext;

/// What a work has done when begin() returns.
enum class Begun : std::uint8_t {
  Done,   ///< all that it does
  GoesOn  ///< it has begun something in the session, which goes on beside what others began there
};

/// It is submitted once. The service calls it on its own thread alone; what a kind of work says of its
/// progress and its result may be asked for on any thread. Where begin() or hasEnded() throws, the work has
/// failed or, after a stop, was stopped.
class Job {
 public:
  virtual ~Job() = default;
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Does the work. Or begins a run or a replay in the session of `place`: the service then has the session
  /// go on, and asks hasEnded() after each pass.
  virtual Begun begin(JobContext& place, const std::stop_token& stop) = 0;
  /// Whether the work may begin while others go on in the session of `place`.
  virtual bool canBeginBeside(const JobContext& place) const;
  /// Whether the work may be done between two pieces of another one, which measures: see letPass().
  virtual bool canPass() const { return false; }
  /// Whether what it began has ended. If so, it takes the result, and throws what makes a failure of it.
  virtual bool hasEnded(run::Session& session);
  /// Whether it was stopped, once it has ended: who stops it may come too late.
  virtual bool wasStopped() const { return false; }

 protected:
  /// Has its client told that it is further than before.
  void notifyProgress() const;
  /// A work that measures calls it in begin() between two measured pieces. All works that wait and can pass
  /// are done when it returns, unless this work was stopped meanwhile. They may have replaced the model and
  /// the session of the workplace: who needs the model later shares it.
  void letPass() const;

 private:
  friend class JobService;
  std::function<void()> m_progressed;  ///< set by the service
  std::function<void()> m_passing;     ///< set by the service while begin() goes on
};

/// Whether a work waits until one that measures has ended, or passes between two of its pieces.
enum class Passing : std::uint8_t { Waits, Passes };

/// A work that one function does. It begins when nothing goes on in the session.
class FunctionJob final : public Job {
 public:
  using Function = std::function<void(JobContext&, const std::stop_token&)>;
  explicit FunctionJob(Function function, Passing passing = Passing::Waits);

  Begun begin(JobContext& place, const std::stop_token& stop) override;
  bool canPass() const override { return m_passing == Passing::Passes; }

 private:
  Function m_function;
  Passing m_passing;
};

/// How far a work is that was submitted to a JobService.
enum class JobState : std::uint8_t {
  Waiting,
  Working,
  Finished,
  Stopped,  ///< whether it had begun or not
  Failed
};

constexpr bool hasEnded(JobState state) {
  return state != JobState::Waiting && state != JobState::Working;
}

}  // namespace spanscope::workbench
