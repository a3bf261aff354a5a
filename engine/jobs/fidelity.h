// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the job that measures the fidelity of answers. Open this file to change what is measured.
#pragma once

#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/jobs/job.h"

#include <atomic>
#include <cstddef>

namespace spanscope::jobs {

/// The answers to measure, of one session.
struct FidelityChoice {
  std::vector<RequestId> requests;
  bool operator==(const FidelityChoice&) const = default;
};
SPANSCOPE_FIELDS(FidelityChoice, requests);

/// Measures how close answers are to a full prefill, one after the other, in their session
/// (experiment::measureFidelity). If the session's arithmetic is not f32, the weights are loaded a second
/// time. The full prefill is then compared with a full prefill in f32. The results are events of that
/// session. If an answer cannot be measured, the others are still measured. The job then fails with its first
/// problem.
class FidelityJob final : public RecordedJob {
 public:
  static constexpr const char* kId = "fidelity";
  using Arguments = FidelityChoice;
  static std::vector<RequestId> answers(const FidelityChoice& choice) { return choice.requests; }
  static const char* unavailableReason(const FidelityChoice&, std::span<const AnswerFacts>) {
    return nullptr;
  }
  static std::shared_ptr<RecordedJob> make(const FidelityChoice& choice,
                                           std::vector<run::FinishedAnswer> answers);

  /// All answers must belong to one session.
  explicit FidelityJob(std::vector<run::FinishedAnswer> answers);

  trace::EventWords activity() const override;
  std::size_t answers() const { return m_answers.size(); }
  /// Returns how many answers have been measured or could not be measured.
  std::size_t measured() const { return m_measured; }
  /// Returns the measured share of all answers, 0 … 1.
  double share() const override { return m_share; }

  struct Found {
    RequestId request = 0;
    experiment::MeasuredAnswer answer;
  };
  struct Problem {
    RequestId request = 0;  ///< 0: the problem concerns no single answer
    NodePath node;
    Error error;
  };
  /// Returns the results of the answers. The results exist once the job has ended.
  const std::vector<Found>& found() const { return m_found; }
  /// Returns the problems of the answers. The problems exist once the job has ended.
  const std::vector<Problem>& problems() const { return m_problems; }

 private:
  workbench::Begun start(workbench::JobContext& place, const std::stop_token& stop) override;

  std::vector<run::FinishedAnswer> m_answers;
  std::atomic<std::size_t> m_measured = 0;
  std::atomic<double> m_share = 0;
  std::vector<Found> m_found;
  std::vector<Problem> m_problems;
};

}  // namespace spanscope::jobs
