// SPDX-License-Identifier: GPL-3.0-or-later
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
template <class V, trace::Is<FidelityChoice> X>
void fields(V&& v, X& x) {
  v("requests", x.requests);
}

/// Measures how close replies are to a full prefill, one after the other, in the session that gave them
/// (experiment::measureFidelity); where that computes in another arithmetic than f32, the weights are loaded
/// a second time and the full prefill is compared with one in f32. What it finds is in the events of that
/// session. Where a reply cannot be measured, or the weights not loaded, the rest is, and the job then fails
/// with the first of its problems.
class FidelityJob final : public Job {
 public:
  static constexpr const char* kId = "fidelity";
  using Arguments = FidelityChoice;
  static std::vector<RequestId> answers(const FidelityChoice& choice) { return choice.requests; }
  static const char* unavailableReason(const FidelityChoice&, std::span<const AnswerFacts>) {
    return nullptr;
  }
  static std::shared_ptr<Job> make(const FidelityChoice& choice, std::vector<run::FinishedReply> replies);

  /// `replies`: of one session.
  explicit FidelityJob(std::vector<run::FinishedReply> replies);

  trace::EventWords activity() const override;
  std::size_t replies() const { return m_replies.size(); }
  /// How many of them have been measured, or could not be.
  std::size_t measured() const { return m_measured; }
  /// What share of all replies is measured, from 0 to 1.
  double share() const override { return m_share; }

  struct Found {
    RequestId request = 0;
    experiment::MeasuredReply reply;
  };
  struct Problem {
    RequestId request = 0;  ///< 0: of no reply
    NodePath node;
    Error error;
  };
  /// What was found, reply by reply, once the job has ended.
  const std::vector<Found>& found() const { return m_found; }
  /// What could not be had, once the job has ended.
  const std::vector<Problem>& problems() const { return m_problems; }

 private:
  workbench::Begun start(workbench::Workplace& place, const std::stop_token& stop) override;

  std::vector<run::FinishedReply> m_replies;
  std::atomic<std::size_t> m_measured = 0;
  std::atomic<double> m_share = 0;
  std::vector<Found> m_found;
  std::vector<Problem> m_problems;
};

}  // namespace spanscope::jobs
