// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/attention_replay.h"

#include "engine/run/session.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <cstdint>

namespace spanscope::jobs {

std::shared_ptr<RecordedJob> AttentionReplayJob::make(const ReplayChoice& choice,
                                                      std::vector<run::FinishedAnswer> answers) {
  return std::make_shared<AttentionReplayJob>(
      choice, answers.empty() ? run::FinishedAnswer{} : std::move(answers.front()));
}

AttentionReplayJob::AttentionReplayJob(const ReplayChoice& choice, run::FinishedAnswer answer)
    : RecordedJob(kId, trace::pack(choice), {answer}),
      m_request{.answer = std::move(answer), .layer = choice.layer, .head = choice.head} {}

trace::EventWords AttentionReplayJob::activity() const {
  const auto layer = static_cast<std::uint32_t>(m_request.layer);
  if (m_request.head < 0)
    return {forTranslation("Events", "Recomputing the attention of layer %1, all heads"), {layer}};
  return {forTranslation("Events", "Recomputing the attention of layer %1, head %2"),
          {layer, static_cast<std::uint32_t>(m_request.head)}};
}

workbench::Begun AttentionReplayJob::start(workbench::JobContext& place, const std::stop_token& stop) {
  run::Session& session = place.sessionOf(m_request.answer.run);
  const run::FinishedAnswer& answer = m_request.answer;
  std::uint64_t keys = answer.segments.size() + answer.tokens.size();
  for (const trace::SegmentInfo& segment : answer.segments) keys += segment.tokens.size();
  const std::int32_t heads = m_request.head < 0 ? std::max(1, place.model()->config.heads) : 1;
  m_request.singleKeys =
      answer.tokens.size() * keys * static_cast<std::uint64_t>(heads) * sizeof(float) <= run::kReplayBytes;
  session.beginReplay(m_request, stop);
  return workbench::Begun::GoesOn;
}

bool AttentionReplayJob::canBeginBeside(const workbench::JobContext& place) const {
  return !place.openSession().isReplaying();
}

bool AttentionReplayJob::isOver(run::Session& session) {
  return session.takeReplay().has_value();
}

}  // namespace spanscope::jobs
