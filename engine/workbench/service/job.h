// SPDX-License-Identifier: GPL-3.0-or-later
// The jobs of a JobService: a run, or anything else that needs a model or a session.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

namespace spanscope::run {
class Session;
}

namespace spanscope::workbench {

class JobContext;

/// The state of a job when begin() returns.
enum class Begun : std::uint8_t {
  Done,   ///< the job is complete
  GoesOn  ///< the job continues in the session, beside other jobs
};

/// A job is submitted once. The service calls its functions only on the service's thread. Any thread may read
/// the progress and the result of a job. If begin() or hasEnded() throws, the job has failed. After a stop
/// request, such a job counts as stopped.
class Job {
 public:
  virtual ~Job() = default;
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Does the job, or begins a run or a replay in the session of `place`. The service then continues the
  /// session, and calls hasEnded() after each forward pass.
  virtual Begun begin(JobContext& place, const std::stop_token& stop) = 0;
  /// Whether the job may begin while other jobs are in progress in the session of `place`.
  virtual bool canBeginBeside(const JobContext& place) const;
  /// Whether the job may start between two steps of a measurement, see letPass().
  virtual bool canPass() const { return false; }
  /// Whether the run or replay of this job has ended. If so, the function takes the result. Throws if the job
  /// has failed.
  virtual bool hasEnded(run::Session& session);
  /// Whether the ended job was stopped. A stop request may have come too late.
  virtual bool wasStopped() const { return false; }

 protected:
  /// Notifies the client of progress.
  void notifyProgress() const;
  /// A measurement calls this function in begin() between two steps. The function does all waiting jobs with
  /// canPass(), unless the measurement was stopped meanwhile. These jobs may have replaced the model and the
  /// session of the job context. A measurement that needs the model later must share the model.
  void letPass() const;

 private:
  friend class JobService;
  std::function<void()> m_progressed;  ///< set by the service
  std::function<void()> m_passing;     ///< set by the service while begin() runs
};

/// Whether a job waits for the end of a measurement, or starts between two steps of the measurement.
enum class Passing : std::uint8_t { Waits, Passes };

/// A job that one function does. The job begins when no other job is in progress in the session.
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

/// The state of a job that was submitted to a JobService.
enum class JobState : std::uint8_t {
  Waiting,
  Working,
  Finished,
  Stopped,  ///< before or after it began
  Failed
};

constexpr bool hasEnded(JobState state) {
  return state != JobState::Waiting && state != JobState::Working;
}

}  // namespace spanscope::workbench
