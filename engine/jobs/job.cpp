// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/job.h"

#include "engine/jobs/attention_entropy.h"
#include "engine/jobs/attention_replay.h"
#include "engine/jobs/fidelity.h"
#include "engine/jobs/next_token.h"
#include "engine/jobs/pair_vectors.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>

namespace spanscope::jobs {
namespace {

template <class Kind>
std::optional<JobEstimate> estimateOf(const trace::PackedValue& packed, const EstimateFacts& facts) {
  using Arguments = typename Kind::Arguments;
  if constexpr (requires(const Arguments& arguments) { Kind::amount(arguments, facts); }) {
    const std::optional<Arguments> arguments = trace::unpack<Arguments>(packed);
    if (!arguments) return std::nullopt;
    const std::optional<experiment::TokenAmount> amount = Kind::amount(*arguments, facts);
    if (!amount) return std::nullopt;
    JobEstimate estimate{.amount = *amount};
    if (facts.pace) estimate.seconds = experiment::secondsFor(*amount, *facts.pace);
    return estimate;
  } else {
    return std::nullopt;
  }
}

template <class Kind>
JobRow rowOf() {
  using Arguments = typename Kind::Arguments;
  return {.id = Kind::kId,
          .answers =
              [](const trace::PackedValue& packed) {
                const std::optional<Arguments> arguments = trace::unpack<Arguments>(packed);
                return arguments ? Kind::answers(*arguments) : std::vector<RequestId>();
              },
          .unavailableReason = [](const trace::PackedValue& packed,
                                  std::span<const AnswerFacts> answers) -> const char* {
            const std::optional<Arguments> arguments = trace::unpack<Arguments>(packed);
            if (!arguments || answers.empty())
              return forTranslation("Works", "There is no answer to measure.");
            return Kind::unavailableReason(*arguments, answers);
          },
          .estimate = estimateOf<Kind>,
          .make = [](const trace::PackedValue& packed, JobInput input) -> std::shared_ptr<RecordedJob> {
            return Kind::make(trace::unpack<Arguments>(packed).value_or(Arguments{}),
                              std::move(input.replies));
          }};
}

}  // namespace

RecordedJob::RecordedJob(const char* kind, trace::PackedValue arguments,
                         const std::vector<run::FinishedReply>& replies)
    : m_kind(kind), m_arguments(std::move(arguments)) {
  if (replies.empty()) return;
  m_run = replies.front().run;
  m_request = replies.front().request;
  m_node = replies.front().node;
}

workbench::Begun RecordedJob::begin(workbench::JobContext& place, const std::stop_token& stop) {
  m_stop = stop;
  try {
    (void)place.sessionOf(m_run);
    m_recorder = place.recorder();
  } catch (const std::exception&) {
    // The trace of another session has nothing to do with the answer. The job says that it has ended.
  }
  try {
    const workbench::Begun begun = start(place, stop);
    if (begun == workbench::Begun::Done) send(trace::JobOutcome::Finished);
    return begun;
  } catch (const std::exception& failure) {
    sendFailure(failure);
    throw;
  }
}

bool RecordedJob::hasEnded(run::Session& session) {
  try {
    const bool over = isOver(session);
    if (over) send(trace::JobOutcome::Finished);
    return over;
  } catch (const std::exception& failure) {
    sendFailure(failure);
    throw;
  }
}

bool RecordedJob::isOver(run::Session& /*session*/) {
  return true;
}

void RecordedJob::sendFailure(const std::exception& failure) {
  if (m_stop.stop_requested())
    send(trace::JobOutcome::Stopped);
  else
    send(trace::JobOutcome::Failed, failure.what());
}

void RecordedJob::send(trace::JobOutcome outcome, const std::string& problem) {
  if (!m_recorder) return;
  m_recorder->send(
      m_run, m_request, m_node,
      trace::JobEnded{.kind = m_kind,
                      .arguments = m_arguments,
                      .outcome = outcome,
                      .problem = problem,
                      .result = outcome == trace::JobOutcome::Finished ? result() : trace::PackedValue{}});
}

const std::vector<JobRow>& jobTable() {
  static const std::vector<JobRow> table{rowOf<AttentionEntropyJob>(), rowOf<AttentionReplayJob>(),
                                         rowOf<FidelityJob>(), rowOf<NextTokenJob>(),
                                         rowOf<PairVectorsJob>()};
  return table;
}

const JobRow* findJob(const std::string& id) {
  const auto found =
      std::find_if(jobTable().begin(), jobTable().end(), [&id](const JobRow& row) { return row.id == id; });
  return found == jobTable().end() ? nullptr : &*found;
}

}  // namespace spanscope::jobs
