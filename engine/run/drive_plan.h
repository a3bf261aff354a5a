// SPDX-License-Identifier: GPL-3.0-or-later
// The loop that computes the steps of one plan, or of several plans together. Also keeps the progress of a
// plan: which steps can start, and their inputs. A run and its prediction share this code. Open this file to
// change how several runs share forward passes, or the limits of prompts and answers.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/cache/kv_cache.h"
#include "engine/compute/sampling.h"
#include "engine/layout/layout.h"
#include "engine/layout/message_renderer.h"
#include "engine/layout/span_table.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"
#include "engine/run/request_options.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/scheduler.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::run {

/// A plan as a source of requests. The scheduler takes the plan's steps from it.
class PlanSteps : public RequestSource {
 public:
  virtual bool done() const = 0;                          ///< whether all steps have ended
  virtual std::size_t ended() const = 0;                  ///< number of steps that have ended
  virtual const std::optional<Error>& error() const = 0;  ///< the reason why a step failed; nothing if none
                                                          ///< failed
};

/// Functions that are called while a plan is driven. Each function may be empty.
struct DriveHooks {
  std::function<void()> beforePass;
  std::function<void()> afterPass;
  std::function<void(const Error&)> onThrown;  ///< called before the remaining steps are aborted
};

struct DrivenPlan {
  RunId run = 0;
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;  ///< set if the plan failed
};

/// Drives several plans through one scheduler. Each forward pass computes rows of all plans. A plan ends when
/// all its steps have ended, when one step failed, or when the plan is stopped. The remaining steps are then
/// aborted. An exception of a layout is an error of one plan alone. An exception of a forward pass is an
/// error of all plans.
class PlanDriver final : private RequestSource {
 public:
  /// `passBegins`, if given, is called before each forward pass with the token that stops the forward pass.
  /// `scheduler` must outlive the driver.
  explicit PlanDriver(Scheduler& scheduler, std::function<void(const std::stop_token&)> passBegins = nullptr);
  ~PlanDriver() override;
  PlanDriver(const PlanDriver&) = delete;
  PlanDriver& operator=(const PlanDriver&) = delete;

  /// Begins to drive a plan. `steps` must live until the plan has ended. The requests of the plan have the
  /// number `run` in the scheduler. The steps of plans with a larger priority start first. Among plans of
  /// equal priority, the earlier plan is first. If all plans are stopped, the stop ends the current forward
  /// pass. Otherwise the stop takes effect after the forward pass, because the other plans need it.
  void begin(PlanSteps& steps, RunId run, std::int32_t priority, std::stop_token stop, DriveHooks hooks);

  bool isIdle() const { return m_plans.empty(); }

  /// Computes one forward pass for all plans. Returns the plans that ended. Throws nothing.
  std::vector<DrivenPlan> advance();

 private:
  struct Driven;
  using Plans = std::list<std::unique_ptr<Driven>>;

  bool submitNext(Scheduler& scheduler) override;
  bool hasNext() const override;
  std::int32_t nextPriority() const override;
  Driven* nextPlan() const;
  std::size_t endedSteps() const;
  std::stop_token newPass();
  void stopPassIfAllStopped();
  void end(Plans::iterator plan, DrivenPlan result, std::vector<DrivenPlan>& ended);
  template <class Take>
  void endWhere(const Take& take, std::vector<DrivenPlan>& ended);

  Scheduler& m_scheduler;
  std::function<void(const std::stop_token&)> m_passBegins;
  Plans m_plans;                ///< in the order of service
  Driven* m_asked = nullptr;    ///< the plan that lays out a step now, or null
  int m_idlePasses = 0;         ///< consecutive forward passes that computed nothing and ended no step
  std::mutex m_stopMutex;       ///< guards the next two members
  std::stop_source m_passStop;  ///< stops the current forward pass
  std::vector<std::stop_token> m_stops;  ///< stop tokens of all plans
};

/// Drives one plan to its end. Throws nothing.
DrivenPlan drivePlan(Scheduler& scheduler, PlanSteps& steps, RunId run, const std::stop_token& stop,
                     const DriveHooks& hooks);

/// The error of a step whose prompt leaves no space for an answer.
Error tooLong(const plan::Step& step, std::int64_t promptTokens, const model::ModelConfig& model);

/// Returns the limits of the layout of a step's prompt. The layout is aborted when `stop` requests a stop, or
/// if the prompt is far too long.
layout::PromptLimits layoutLimits(const plan::Step& step, const model::ModelConfig& model,
                                  std::stop_token stop);

/// Returns the max number of tokens of a step's answer for any prompt; at least 1.
std::int32_t answerLimit(const plan::Step& step, const RunOptions& options, const model::ModelConfig& model);

class PlanProgress {
 public:
  using Clock = std::chrono::steady_clock;

  /// All references must outlive this object. `renderer` gets the layout of the options. `blockSize` is the
  /// session's block size. When the run is stopped, next() throws. Throws like
  /// layout::MessageRenderer::useLayout() and policy::Choice::checkFor().
  PlanProgress(RunId run, const plan::Plan& plan, const RunOptions& options, const model::ModelConfig& model,
               layout::MessageRenderer& renderer, std::int32_t blockSize, std::stop_token stop);

  struct Ready {
    StepIndex step = 0;
    Clock::time_point since;  ///< the end of the last step that this step needs
    layout::SpanTable table;
    RequestOptions options;
  };
  /// Lays out the step that has been ready longest. Of several such steps, next() takes the first in plan
  /// order. Returns nothing if no step is ready. Throws Failure if the step cannot be laid out or does not
  /// fit the model's context.
  std::optional<Ready> next();

  /// Whether a step is ready.
  bool hasNext() const { return !m_ready.empty() || !m_unblocked.empty(); }

  /// Returns the step that next() lays out, among the steps that were ready at the last call of next().
  std::optional<StepIndex> nextStep() const;

  /// Notes that the step has ended with these tokens. The tokens include the end token if one was sampled.
  void end(StepIndex step, std::vector<TokenId> tokens);

  /// Set if next() threw because a prompt is too long.
  const std::optional<TooLongPrompt>& tooLongPrompt() const { return m_tooLong; }

  bool done() const { return m_ended == m_outputs.size(); }
  std::size_t ended() const { return m_ended; }  ///< number of steps that have ended

 private:
  RequestOptions optionsOf(const plan::Step& step, std::int64_t promptTokens) const;

  RunId m_run;
  const plan::Plan& m_plan;
  const RunOptions& m_options;
  const model::ModelConfig& m_model;
  layout::MessageRenderer& m_renderer;
  std::stop_token m_stop;
  std::vector<layout::StepOutput> m_outputs;
  std::vector<std::size_t> m_missing;                ///< by step: number of needed steps that have not ended
  std::vector<std::vector<StepIndex>> m_dependents;  ///< by step: the steps that need it
  std::set<StepIndex> m_unblocked;                ///< steps that became ready since the last call of next()
  std::deque<StepIndex> m_ready;                  ///< steps that were ready before, in order
  std::vector<std::optional<TeamPlace>> m_teams;  ///< by step
  std::vector<Clock::time_point> m_readySince;    ///< by step, once it is ready
  std::size_t m_ended = 0;
  std::optional<TooLongPrompt> m_tooLong;
};

// Checks whether a run fits. Prompts must fit the model's context. Prompts and answers must fit the pool.

struct PlanFit {
  std::optional<Error> error{};  ///< the reason why a run of the plan fails; nothing: the run fits
  /// Whether the run fails for any answers. False: only long answers or only short answers make the run fail.
  bool isCertain = false;
  /// The min number of blocks of a pool for the run, including the null block. 0: the run fits, or no pool
  /// helps.
  std::int32_t blocksNeeded = 0;
  bool operator==(const PlanFit&) const = default;
};

/// Predicts the same plan for a session with an empty cache.
using PredictInSession = std::function<Prediction(const SessionConfig& session)>;

/// Checks whether a run fits the empty pool of a session. `empty` is the prediction of the run in this
/// session. If the run does not fit, the function searches for the smallest pool that is large enough. Each
/// try calls `predict` once. Returns nothing if a prediction was stopped.
std::optional<PlanFit> planFit(const Prediction& empty, const SessionConfig& session,
                               const PredictInSession& predict);
/// Checks the same without a prediction for the whole pool. The check begins with a prediction for a small
/// pool. A large pool thus takes no memory if the run does not need a large pool.
std::optional<PlanFit> planFit(const SessionConfig& session, const PredictInSession& predict);

/// Submits the steps of a plan on request of the scheduler, and collects the results.
class PlanRun final : public PlanSteps {
 public:
  /// Throws Failure if the tokenizer lacks a token of the layout, or the policy does not fit the model.
  PlanRun(RunId run, const plan::Plan& plan, const RunOptions& options, const model::ModelConfig& model,
          const text::Tokenizer& tokenizer, const text::ChatTemplate& chat, std::int32_t blockSize,
          trace::Sink& sink, std::stop_token stop);

  /// Lays out and submits the step that has been ready longest, unless a step has failed. Throws Failure when
  /// the run is stopped. Throws Failure if the step cannot be laid out or does not fit the model's context.
  bool submitNext(Scheduler& scheduler) override;
  bool hasNext() const override { return !m_error && m_progress.hasNext(); }
  /// Whether this run submitted the request.
  bool has(RequestId request) const { return m_byRequest.contains(request); }

  void onAdmitted(RequestId request, const cache::Admission& admission);
  void onPreempted(RequestId request);
  void onAlternatives(RequestId request, std::int32_t index, const std::vector<compute::LikelyToken>& tokens);
  void onToken(RequestId request, std::int32_t index, const compute::SampledToken& token,
               std::vector<float> segmentMass);
  void onFinished(RequestId request, trace::StepOutcome outcome);
  void onFailed(RequestId request, const Error& error);

  bool done() const override { return m_progress.done(); }
  std::size_t ended() const override { return m_progress.ended(); }
  const std::optional<Error>& error() const override { return m_error; }
  /// Set if the run failed because a prompt is too long.
  const std::optional<TooLongPrompt>& tooLongPrompt() const { return m_progress.tooLongPrompt(); }
  std::vector<StepResult> results() const;
  /// Returns the texts of the result items, joined by newlines.
  std::string answer() const;

 private:
  using Clock = PlanProgress::Clock;

  struct Running {
    explicit Running(const text::Tokenizer& tokenizer) : decoder(tokenizer) {}

    bool ended = false;
    bool atStart = true;  ///< no text of the answer has arrived yet
    text::StreamDecoder decoder;
    std::string leading;  ///< the beginning of the answer, while it may still be the template's leading text
    StepResult result;
    Clock::time_point ready;
    Clock::time_point firstToken;
    Clock::time_point lastToken;
  };

  std::string takeText(Running& step, std::string text);
  Running& byRequest(RequestId request) { return m_steps[m_byRequest.at(request)]; }
  const NodePath& nodeOf(const Running& step) const { return m_plan.steps[step.result.step].node; }

  RunId m_run;
  const plan::Plan& m_plan;
  const text::Tokenizer& m_tokenizer;
  const text::ChatTemplate& m_chat;
  layout::Layout m_layout;
  trace::Sink& m_sink;
  layout::MessageRenderer m_renderer;
  PlanProgress m_progress;
  std::vector<Running> m_steps;
  std::unordered_map<RequestId, StepIndex> m_byRequest;
  std::optional<Error> m_error;
};

// The replay of a finished answer, together with other requests of the scheduler.

/// The requests of one replay: first the requests of the answer's teammates, then the answer's own request.
/// Receives the scheduler's reports about these requests.
class ReplayedRequests final : public PlanSteps {
 public:
  struct Prompt {
    layout::SpanTable table;
    RequestOptions options;
  };
  /// `prompts` has at least one entry. The last entry is the prompt of the answer itself.
  explicit ReplayedRequests(std::vector<Prompt> prompts);

  bool hasNext() const override;
  bool submitNext(Scheduler& scheduler) override;
  bool done() const override;
  std::size_t ended() const override { return m_ended; }
  const std::optional<Error>& error() const override { return m_error; }

  bool has(RequestId request) const { return m_requests.contains(request); }
  void onAdmitted(RequestId request, const cache::Admission& admission);
  /// A preempted request is recomputed from its first row.
  void onPreempted(RequestId request);
  void onReplayed(trace::AttentionMass mass) { m_rows.push_back(std::move(mass)); }
  void onFinished() { ++m_ended; }
  void onFailed(const Error& error) { m_error = error; }

  /// Returns the number of prompt tokens that were still in the cache at the first admission.
  std::int64_t cachedTokens() const { return m_cachedTokens.value_or(0); }
  /// Returns the attention of the rows of the answer, in order.
  std::vector<trace::AttentionMass> takeRows() { return std::move(m_rows); }

 private:
  std::vector<Prompt> m_prompts;
  std::size_t m_submitted = 0;
  std::size_t m_ended = 0;
  std::set<RequestId> m_requests;
  RequestId m_own = 0;  ///< request of the answer itself; 0: not submitted yet
  std::optional<std::int64_t> m_cachedTokens;
  std::vector<trace::AttentionMass> m_rows;
  std::optional<Error> m_error;
};

}  // namespace spanscope::run
