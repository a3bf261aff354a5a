// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/job.h"

#include "engine/jobs/attention_entropy.h"
#include "engine/jobs/attention_replay.h"
#include "engine/jobs/bench_jobs.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/experiment.h"
#include "engine/jobs/fidelity.h"
#include "engine/jobs/log_quality.h"
#include "engine/jobs/next_token.h"
#include "engine/jobs/pair_vectors.h"
#include "engine/jobs/policy_comparison.h"
#include "engine/jobs/probe.h"
#include "engine/jobs/warming.h"
#include "engine/workbench/experiment_model.h"
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
std::shared_ptr<const void> readResultOf(const trace::PackedValue& packed) {
  if constexpr (requires { typename Kind::Result; }) {
    using Result = typename Kind::Result;
    std::optional<Result> read = trace::unpack<Result>(packed);
    if (!read || !Kind::isSound(*read)) return nullptr;
    return std::make_shared<const Result>(std::move(*read));
  } else {
    return nullptr;
  }
}

/// Returns the row of a kind about answers.
template <class Kind>
JobRow answerRow() {
  using Arguments = typename Kind::Arguments;
  return {.id = Kind::kId,
          .scope = Scope::Answer,
          .answers =
              [](const trace::PackedValue& packed) {
                const std::optional<Arguments> arguments = trace::unpack<Arguments>(packed);
                return arguments ? Kind::answers(*arguments) : std::vector<RequestId>();
              },
          .unavailableReason = [](const trace::PackedValue& packed,
                                  std::span<const AnswerFacts> answers) -> const char* {
            const std::optional<Arguments> arguments = trace::unpack<Arguments>(packed);
            if (!arguments || answers.empty())
              return forTranslation("Jobs", "There is no answer to measure.");
            return Kind::unavailableReason(*arguments, answers);
          },
          .estimate = estimateOf<Kind>,
          .takesQuery = [](const trace::PackedValue&) { return false; },
          .completed = [](const trace::PackedValue& packed, const JobInput&) { return packed; },
          .make = [](const trace::PackedValue& packed, JobInput input) -> std::shared_ptr<RecordedJob> {
            return Kind::make(trace::unpack<Arguments>(packed).value_or(Arguments{}),
                              std::move(input.answers));
          },
          .readResult = readResultOf<Kind>};
}

/// Returns the row of a kind that measures.
template <class Kind>
JobRow measureRow() {
  using Arguments = typename Kind::Arguments;
  return {
      .id = Kind::kId,
      .scope = Kind::kScope,
      .answers = [](const trace::PackedValue&) { return std::vector<RequestId>(); },
      .unavailableReason = [](const trace::PackedValue& packed,
                              std::span<const AnswerFacts> answers) -> const char* {
        if constexpr (requires(const Arguments& arguments) { Kind::unavailableReason(arguments, answers); })
          return Kind::unavailableReason(trace::unpack<Arguments>(packed).value_or(Arguments{}), answers);
        else
          return nullptr;
      },
      .estimate = estimateOf<Kind>,
      .takesQuery =
          [](const trace::PackedValue& packed) {
            return Kind::takesQuery(trace::unpack<Arguments>(packed).value_or(Arguments{}));
          },
      .completed =
          [](const trace::PackedValue& packed, const JobInput& input) {
            return trace::pack(
                Kind::completed(trace::unpack<Arguments>(packed).value_or(Arguments{}), input));
          },
      .make = [](const trace::PackedValue& packed, JobInput input) -> std::shared_ptr<RecordedJob> {
        return std::make_shared<MeasuringJob<Kind>>(trace::unpack<Arguments>(packed).value_or(Arguments{}),
                                                    std::move(input));
      },
      .readResult = readResultOf<Kind>};
}

}  // namespace

RecordedJob::RecordedJob(const char* kind, trace::PackedValue arguments,
                         const std::vector<run::FinishedAnswer>& answers)
    : m_kind(kind), m_arguments(std::move(arguments)) {
  if (answers.empty()) return;
  m_run = answers.front().run;
  m_request = answers.front().request;
  m_node = answers.front().node;
}

RecordedJob::RecordedJob(const char* kind, trace::PackedValue arguments)
    : m_kind(kind), m_arguments(std::move(arguments)), m_isAboutAnswer(false) {}

workbench::Begun RecordedJob::begin(workbench::JobContext& place, const std::stop_token& stop) {
  m_stop = stop;
  try {
    if (m_isAboutAnswer) {
      (void)place.sessionOf(m_run);
      m_recorder = place.recorder();
    }
  } catch (const std::exception&) {
    // The trace of another session does not contain the answer.
  }
  // Runs between two steps of a measurement may open another session.
  const auto findTrace = [&] {
    if (!m_isAboutAnswer) m_recorder = place.traceRecorder();
  };
  try {
    const workbench::Begun begun = start(place, stop);
    findTrace();
    const bool isCut = !m_isAboutAnswer && stop.stop_requested();
    if (begun == workbench::Begun::Done)
      send(isCut ? trace::JobOutcome::Stopped : trace::JobOutcome::Finished);
    return begun;
  } catch (const std::exception& failure) {
    findTrace();
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
  const bool hasResult = outcome == trace::JobOutcome::Finished || !m_isAboutAnswer;
  m_recorder->send(m_run, m_request, m_node,
                   trace::JobEnded{.kind = m_kind,
                                   .arguments = m_arguments,
                                   .outcome = outcome,
                                   .problem = problem,
                                   .result = hasResult ? result() : trace::PackedValue{}});
}

const std::vector<JobRow>& jobTable() {
  static const std::vector<JobRow> table{answerRow<AttentionEntropyJob>(),  answerRow<AttentionReplayJob>(),
                                         measureRow<BenchmarkJob>(),        measureRow<ExperimentJob>(),
                                         answerRow<FidelityJob>(),          answerRow<NextTokenJob>(),
                                         answerRow<PairVectorsJob>(),       measureRow<LoadTimesJob>(),
                                         measureRow<LogQualityJob>(),       measureRow<NeedleJob>(),
                                         measureRow<PolicyComparisonJob>(), measureRow<ProbeJob>(),
                                         measureRow<SourcesJob>(),          measureRow<SpeedJob>(),
                                         measureRow<WarmingJob>()};
  return table;
}

const JobRow* findJob(const std::string& id) {
  const auto found =
      std::find_if(jobTable().begin(), jobTable().end(), [&id](const JobRow& row) { return row.id == id; });
  return found == jobTable().end() ? nullptr : &*found;
}

workbench::Begun EstimateJob::begin(workbench::JobContext& place, const std::stop_token& stop) {
  workbench::ModelBundle* const bundle = place.loadedModelFor(m_settings);
  const JobRow* const row = findJob(m_call.kind);
  if (bundle == nullptr || row == nullptr) return workbench::Begun::Done;
  experiment::ExperimentModel model = workbench::experimentModelOf(*bundle, place.configFor(m_settings));
  m_estimate =
      row->estimate(m_call.arguments,
                    {.pace = m_pace, .context = bundle->config.maxPositions, .model = &model, .stop = stop});
  return workbench::Begun::Done;
}

}  // namespace spanscope::jobs
