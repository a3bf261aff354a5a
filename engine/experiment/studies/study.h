// SPDX-License-Identifier: GPL-3.0-or-later
// The common parts of experiments: the session, its runs, and the points with their samples. Open this file
// to write an experiment.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_amount.h"
#include "engine/experiment/fidelity.h"
#include "engine/experiment/needle.h"
#include "engine/experiment/repeat_run.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

/// Factor from seconds to the milliseconds of measures.
inline constexpr double kMilliseconds = 1000;

/// Records the metrics of runs, and the answers.
class StudySink final : public trace::Sink {
 public:
  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;
  RunMetricsSink& measured() { return m_measured; }
  FinishedAnswers& answers() { return m_answers; }

 private:
  RunMetricsSink m_measured;
  FinishedAnswers m_answers;
};

class Study {
 public:
  /// `leastBlocks`: min size of the pool, even if the user requested fewer blocks.
  Study(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
        const std::stop_token& stop, std::int32_t leastBlocks = 0);

  /// Reports what comes next. Throws Failure after a stop.
  void begin(const std::string& doing);
  /// Adds one sample for each measure of the experiment to a point, and reports the point.
  void add(const std::string& series, double x, const std::vector<double>& values);
  /// Adds any number of samples for each measure to a point with two axes.
  void addSamples(const std::string& series, double x, double y,
                  const std::vector<std::vector<double>>& samples);
  /// Counts one of the planned runs as done.
  void step();
  /// Adds a sentence to the result's remarks, once.
  void remark(const std::string& sentence);
  /// Adds a remark with the number of requested lengths that exceed a context of `context` tokens, if any.
  void remarkLeftOut(std::size_t lengths, std::int64_t context);

  struct Ran {
    RunSample sample;
    run::RunResult result;
    std::vector<run::FinishedAnswer> answers;
  };
  /// Whether the experiment only counts its work. Runs are then predicted, not computed.
  bool counts() const { return m_model.tally != nullptr; }
  void count(const TokenAmount& amount);
  void clearCache();

  /// Calls ExperimentModel::seam, then runs the plan. If the work is only counted, there are no metrics, but
  /// answers have their prompts. Throws Failure if the run fails or was stopped.
  Ran run(const plan::Plan& plan, const std::string& policy, std::uint64_t seed = 0);

  /// Calls ExperimentModel::seam, then measures how close an answer is to a full prefill. Throws like
  /// experiment::measureFidelity().
  trace::FidelityMeasured fidelityOf(const run::FinishedAnswer& answer);
  /// Calls measureNeedle() with the session.
  NeedleRow needle(const NeedleOptions& options, std::int32_t hayWords, std::int32_t portion);

  /// Returns the session, which is opened at the first call. Throws Failure if its pool cannot be allocated.
  run::Session& session();
  const ExperimentModel& model() const { return m_model; }
  const std::stop_token& stop() const { return m_stop; }

 private:
  ExperimentResult& m_result;
  const ExperimentModel& m_model;
  const ExperimentProgress& m_report;
  const std::stop_token& m_stop;
  StudySink m_sink;
  Ran predict(const plan::Plan& plan, const run::RunOptions& options);

  run::SessionConfig m_config;
  std::unique_ptr<run::Predictor> m_predictor;  ///< replaces the session if the work is only counted
  std::int64_t m_longestAnswer = 1;             ///< tokens of the run that was predicted last
  std::unique_ptr<run::Session> m_session;
};

/// Counts what measureNeedle() would compute in a session of this configuration. Throws Failure.
void countNeedle(const ExperimentModel& model, const run::SessionConfig& config, const NeedleOptions& options,
                 std::int32_t hayWords, std::int32_t portion, const std::stop_token& stop);

/// Returns the plan of a query, with every rule at its default. Throws Failure.
plan::Plan studyPlan(const query::Node& query);

/// A remark for experiments that change the user's question.
inline constexpr const char* kOtherQuestion =
    "The first question is the question of the query. The other questions have the same words and a number.";

/// Returns the max number of repeats for this number of documents. Greedy answers to one question over the
/// same documents are equal. Each repeat therefore begins with another document.
std::int32_t repeatsOver(const ExperimentRequest& request, std::int32_t documents);
/// A remark about these repeats.
inline constexpr const char* kRepeatsAreOrders =
    "Each repeat has another order of the documents, and begins with another document. The number of "
    "documents is the max number of repeats.";
/// Returns the plan of the user's question over the first documents, in the order of this repeat.
plan::Plan ownPlan(const ExperimentRequest& request, std::int32_t documents, std::int32_t repeat);

/// Returns about `words` meaningless words in whole sentences. Equal numbers give equal texts.
std::string fillerText(std::int32_t words, std::uint64_t number);

query::Node studyMessage(query::Role role, std::string text);
/// A generate node without a model's name.
query::Node studyGenerate(query::Node input, std::int32_t maxTokens, float temperature);

// The list of experiments, for the registry only.

extern const Experiment kRagStudy;         ///< time to first token over the number of documents
extern const Experiment kJudgeStudy;       ///< time to first token of a judge, over the number of candidates
extern const Experiment kRelocationStudy;  ///< the same order compared with the swapped order
extern const Experiment kReuseStudy;       ///< hit rate by length, order and block size
extern const Experiment kConversationStudy;  ///< hit rate and time by turn, with retrieval
extern const Experiment kFidelityStudy;      ///< distance of each policy from a full prefill
extern const Experiment kRepairStudy;        ///< improvement by link and blend, over their parameter
extern const Experiment kLocalityStudy;      ///< names found in one step and in groups
extern const Experiment kCroppingStudy;      ///< names found with and without truncated answers
extern const Experiment kAccuracyStudy;      ///< share of right answers of each policy

extern const Experiment kDepthStudy;  ///< names found by depth and length
extern const Experiment kLoadStudy;   ///< loading stored blocks compared with computing them

// Policies in experiments are texts, which may have parameters. In this folder, only this file uses the
// meaning of these texts.

/// Returns all policies with their usual parameters: "spans,prefix".
std::string everyPolicy();
/// Splits such a list into policies. Commas in parentheses do not separate. Throws Failure that lists the
/// known policies if a policy is unknown.
std::vector<std::string> splitPolicies(std::string_view list);
/// Makes runs use a policy that splitPolicies() returned.
void usePolicy(run::RunOptions& options, std::string_view policy);

}  // namespace spanscope::experiment
