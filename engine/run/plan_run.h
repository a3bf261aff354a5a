// SPDX-License-Identifier: GPL-3.0-or-later
// One run of a plan: submits its steps and collects their answers. Open this file to change how answers are
// collected.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/cache/kv_cache.h"
#include "engine/compute/sampling.h"
#include "engine/layout/span_table.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/run/drive_plan.h"
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
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace spanscope::run {

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
