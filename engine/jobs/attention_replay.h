// SPDX-License-Identifier: GPL-3.0-or-later
// Recomputes the attention of an answer in its session (Session::beginReplay), while runs continue there. A
// session has one replay at a time, so other replays wait. The results are events of that session. Open this
// file to change how a replay is requested.
#pragma once

#include "engine/jobs/job.h"

namespace spanscope::jobs {

/// The attention to recompute: every row of an answer, in one layer. The result has one value per key token,
/// unless this exceeds run::kReplayBytes.
struct ReplayChoice {
  RequestId request = 0;
  std::int32_t layer = 0;
  std::int32_t head = -1;  ///< −1: all heads
  bool operator==(const ReplayChoice&) const = default;
};
SPANSCOPE_FIELDS(ReplayChoice, request, layer, head);

class AttentionReplayJob final : public RecordedJob {
 public:
  static constexpr const char* kId = "attention-replay";
  using Arguments = ReplayChoice;
  static std::vector<RequestId> answers(const ReplayChoice& choice) { return {choice.request}; }
  static const char* unavailableReason(const ReplayChoice&, std::span<const AnswerFacts>) { return nullptr; }
  static std::shared_ptr<RecordedJob> make(const ReplayChoice& choice,
                                           std::vector<run::FinishedAnswer> answers);

  AttentionReplayJob(const ReplayChoice& choice, run::FinishedAnswer answer);

  trace::EventWords activity() const override;
  bool canBeginBeside(const workbench::JobContext& place) const override;
  bool canPass() const override { return true; }

 private:
  workbench::Begun start(workbench::JobContext& place, const std::stop_token& stop) override;
  /// Throws Failure for a replay that failed or was stopped.
  bool isOver(run::Session& session) override;

  run::AttentionReplayRequest m_request;
};

}  // namespace spanscope::jobs
