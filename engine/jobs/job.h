// SPDX-License-Identifier: GPL-3.0-or-later
// Kinds of jobs: computations by the engine besides runs. The result of a job is an event of the trace
// (trace::JobEnded). A kind of job is a struct in its own file, with a row in jobTable(). The struct has
// these members:
//
// - kId: names the kind in traces.
// - Arguments, Result: values with fields() (engine/trace/event_fields.h). A kind has no Result if its result
//   has events of its own.
// - unavailableReason(): why the job is not possible with these answers, or nullptr. The reason is a sentence
//   marked for translation in the context "Jobs".
// - isSound(): whether a Result from a file can be shown.
// - amount(): how much the job computes (EstimateFacts). A kind without an estimate has none.
//
// A kind about answers also has:
//
// - answers(): the requests whose answers the job needs, first the one that the job is about.
// - make(): the job. Most are an AnswerJob, which calls compute() of the kind.
//
// A kind that measures is described in engine/jobs/measuring_job.h.
//
// These jobs have no row:
//
// - A run (engine/workbench/service/run_job.h): its plan is no value with fields, and its events are its
//   result.
// - A prediction (ui/session/predictions.h): it is made after every edit, and is no event of a trace.
// - Indexing: the job that needs an index makes it, and reports its progress (RecordedJob::indexing()).
#pragma once

#include "engine/base/ids.h"
#include "engine/base/translation.h"
#include "engine/experiment/token_amount.h"
#include "engine/jobs/job_call.h"
#include "engine/plan/planner.h"
#include "engine/policy/choice.h"
#include "engine/query/query.h"
#include "engine/retrieve/passage.h"
#include "engine/run/run_result.h"
#include "engine/trace/binary_codec.h"
#include "engine/trace/event.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/settings.h"

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::experiment {
struct ExperimentModel;
}
namespace spanscope::run {
struct Prediction;
}
namespace spanscope::workbench {
class SpeedRecords;
}

namespace spanscope::jobs {

/// Facts about an answer that are known without its tokens.
struct AnswerFacts {
  std::span<const trace::SegmentInfo> segments;
  policy::Choice policy;
  bool isInTeam = false;  ///< the answer belongs to a group of requests that attend to each other's answers
                          ///< (trace::TeamFormed)
};

/// The inputs of a job besides its arguments.
struct JobInput {
  std::vector<run::FinishedAnswer> answers{};  ///< of answers(), in that order
  workbench::RunSettings settings{};           ///< model, device, cache and run
  plan::PlanOptions plan{};
  query::Node query{};  ///< after every stage before planning, if the kind measures a query.
  /// Returns the query with its augments resolved, on the engine's thread. Empty: there is no augment.
  std::function<query::Node(workbench::JobContext& place, const retrieve::Watch& watch)> retrieve{};
  std::string title{};  ///< of the query, for the user
  /// Reads a text that the arguments name, on the engine's thread. Throws Failure if the text cannot be used.
  std::function<std::string(const std::string& name)> read{};
  std::shared_ptr<workbench::SpeedRecords>
      paces{};             ///< receives the measured speed of the model; may be null
  bool usesTiers = false;  ///< sessions that the job opens have the tiers of the settings
};

/// Facts for an estimate. An unknown fact has its default.
struct EstimateFacts {
  std::optional<experiment::SpeedSample> pace{};  ///< of the model on its device
  std::int64_t context = 0;                       ///< positions of the loaded model
  const run::Prediction* empty = nullptr;         ///< of a run of the document's query with an empty cache
  const plan::Plan* plan = nullptr;               ///< of that run
  std::span<const AnswerFacts> answers{};         ///< of answers(), in that order
  experiment::ExperimentModel* model = nullptr;   ///< on the engine's thread only
  std::stop_token stop{};
};

/// The subject of a job. Only one job at a time measures for a subject.
enum class Scope : std::uint8_t {
  Answer,    ///< an answer of the trace
  Document,  ///< a document; the job measures in sessions of its own
  Program,   ///< no single document
};

/// The amount of a job's computation, and the predicted time.
struct JobEstimate {
  experiment::TokenAmount amount;
  std::optional<experiment::SecondsRange> seconds{};  ///< nothing: the pace of the model is not known
};

/// A job that records its end in a trace, as a JobEnded. A job about answers uses the trace of the session
/// that generated the answers. A job about no answer uses the trace of the open session. A job that was
/// stopped before its start records nothing.
class RecordedJob : public workbench::Job {
 public:
  workbench::Begun begin(workbench::JobContext& place, const std::stop_token& stop) final;
  bool hasEnded(run::Session& session) final;

  /// The completed share, 0 … 1. Any thread may call this function.
  virtual double share() const { return 0; }
  /// The predicted remaining time. Nothing: not known. Any thread may call this function.
  virtual std::optional<double> secondsLeft() const { return std::nullopt; }
  /// The progress of the index that the job waits for, if any. Any thread may call this function.
  virtual std::optional<retrieve::IndexProgress> indexing() const { return std::nullopt; }
  /// The result so far, a Result of the kind; null: nothing yet. Any thread may call this function.
  virtual std::shared_ptr<const void> resultSoFar() const { return nullptr; }
  /// The current activity. The text is marked for translation in the context "Events". Any thread may call
  /// this function.
  virtual trace::EventWords activity() const = 0;

 protected:
  /// The job is about the first of the answers. The list may be empty.
  RecordedJob(const char* kind, trace::PackedValue arguments,
              const std::vector<run::FinishedAnswer>& answers);
  /// A job about no answer. The result has everything that the job computed, even if the job fails or is
  /// stopped.
  RecordedJob(const char* kind, trace::PackedValue arguments);

  /// As Job::begin().
  virtual workbench::Begun start(workbench::JobContext& place, const std::stop_token& stop) = 0;
  /// As Job::hasEnded().
  virtual bool isOver(run::Session& session);
  /// The result at the end; empty: the result has events of its own.
  virtual trace::PackedValue result() const { return {}; }

 private:
  void send(trace::JobOutcome outcome, const std::string& problem = {});
  void sendFailure(const std::exception& failure);

  const char* m_kind;
  const trace::PackedValue m_arguments;
  bool m_isAboutAnswer = true;
  RunId m_run = 0;
  RequestId m_request = 0;
  NodePath m_node;
  std::shared_ptr<trace::Recorder> m_recorder;
  std::stop_token m_stop;
};

/// The job of a kind about answers. The kind also has:
/// - static constexpr const char* kActivity: its activity, marked for translation in the context "Events".
/// - static Result compute(JobContext&, const Arguments&, answers, stop token): does the job.
template <class Kind>
class AnswerJob final : public RecordedJob {
 public:
  AnswerJob(typename Kind::Arguments arguments, std::vector<run::FinishedAnswer> answers)
      : RecordedJob(Kind::kId, trace::pack(arguments), answers),
        m_arguments(std::move(arguments)),
        m_answers(std::move(answers)) {}

  trace::EventWords activity() const override { return {Kind::kActivity, {}}; }
  /// The result, once the job has ended.
  const typename Kind::Result& found() const { return m_found; }

 private:
  workbench::Begun start(workbench::JobContext& place, const std::stop_token& stop) override {
    m_found = Kind::compute(place, m_arguments, m_answers, stop);
    return workbench::Begun::Done;
  }
  trace::PackedValue result() const override { return trace::pack(m_found); }

  typename Kind::Arguments m_arguments;
  std::vector<run::FinishedAnswer> m_answers;
  typename Kind::Result m_found;
};

template <class Kind>
JobCall callOf(const typename Kind::Arguments& arguments) {
  return {.kind = Kind::kId, .arguments = trace::pack(arguments)};
}

/// The row of a kind. Its functions take the Arguments of the kind.
struct JobRow {
  const char* id;
  Scope scope;
  /// Empty if the kind is about no answer.
  std::vector<RequestId> (*answers)(const trace::PackedValue& arguments);
  const char* (*unavailableReason)(const trace::PackedValue& arguments, std::span<const AnswerFacts> answers);
  /// Nothing: the amount is not known.
  std::optional<JobEstimate> (*estimate)(const trace::PackedValue& arguments, const EstimateFacts& facts);
  /// Whether the job needs JobInput::query.
  bool (*takesQuery)(const trace::PackedValue& arguments);
  /// The arguments, completed from the input. Throws Failure if the job is not possible with them.
  trace::PackedValue (*completed)(const trace::PackedValue& arguments, const JobInput& input);
  std::shared_ptr<RecordedJob> (*make)(const trace::PackedValue& arguments, JobInput input);
  /// Null: the value is no Result of the kind, or a Result that cannot be shown.
  std::shared_ptr<const void> (*readResult)(const trace::PackedValue& result);
};
/// All kinds.
const std::vector<JobRow>& jobTable();
/// nullptr: there is no such kind.
const JobRow* findJob(const std::string& id);

/// Estimates a job with the model of the settings, if this model is loaded.
class EstimateJob final : public workbench::Job {
 public:
  EstimateJob(workbench::RunSettings settings, JobCall call, std::optional<experiment::SpeedSample> pace)
      : m_settings(std::move(settings)), m_call(std::move(call)), m_pace(pace) {}

  workbench::Begun begin(workbench::JobContext& place, const std::stop_token& stop) override;

  /// The estimate, once the job has ended. Nothing: another model is loaded, or the amount is not known.
  const std::optional<JobEstimate>& estimate() const { return m_estimate; }

 private:
  workbench::RunSettings m_settings;
  JobCall m_call;
  std::optional<experiment::SpeedSample> m_pace;
  std::optional<JobEstimate> m_estimate;
};

}  // namespace spanscope::jobs
