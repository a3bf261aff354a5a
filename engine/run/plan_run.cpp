// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/plan_run.h"

#include "engine/run/trace_values.h"

#include <algorithm>
#include <utility>

namespace spanscope::run {
namespace {

/// Tokens a reply may have where neither the query, nor the run, nor the model says anything.
constexpr std::int32_t kReplyLimit = 256;

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

PlanRun::PlanRun(RunId run, const plan::Plan& plan, const RunOptions& options,
                 const model::ModelConfig& model, const text::Tokenizer& tokenizer,
                 const text::ChatTemplate& chat, trace::Sink& sink)
    : m_run(run),
      m_plan(plan),
      m_options(options),
      m_model(model),
      m_tokenizer(tokenizer),
      m_chat(chat),
      m_sink(sink),
      m_steps(plan.steps.size(), Running(tokenizer)),
      m_outputs(plan.steps.size()) {
  for (StepIndex i = 0; i < m_steps.size(); ++i) m_steps[i].result.step = i;
}

void PlanRun::submitReady(Scheduler& scheduler) {
  for (StepIndex i = 0; i < m_steps.size(); ++i) {
    Running& step = m_steps[i];
    const plan::Step& planned = m_plan.steps[i];
    const bool ready = step.state == Running::State::Blocked &&
                       std::all_of(planned.needs.begin(), planned.needs.end(), [&](StepIndex need) {
                         return m_steps[need].state == Running::State::Ended;
                       });
    if (!ready) continue;

    step.ready = Clock::now();
    layout::SpanTable table =
        layout::layoutExact(planned, m_outputs, m_tokenizer, m_chat, visibilityOf(m_options.policy));
    RequestOptions options = optionsOf(planned, table.tokenCount());
    m_outputs[i].table = table;
    trace::SpanTableLaidOut laidOut = spanTableEvent(table, &m_tokenizer);
    step.result.request = scheduler.submit(std::move(table), std::move(options));
    step.state = Running::State::Submitted;
    m_byRequest[step.result.request] = i;
    m_sink.send(m_run, step.result.request, planned.node,
                trace::StepStarted{.step = i, .copy = planned.copy});
    m_sink.send(m_run, step.result.request, planned.node, std::move(laidOut));
  }
}

RequestOptions PlanRun::optionsOf(const plan::Step& step, std::int64_t promptTokens) const {
  const std::int64_t room = m_model.maxPositions - promptTokens;
  if (room < 1) {
    throw Failure({.file = {},
                   .place = step.node,
                   .found = "a prompt of " + std::to_string(promptTokens) + " tokens",
                   .expected = "at most " + std::to_string(m_model.maxPositions - 1) +
                               ", the model's context less one for the answer: " + std::to_string(1 - room) +
                               " too many"});
  }
  std::int32_t limit = step.maxTokens.value_or(0);
  if (limit <= 0) limit = m_options.maxTokens;
  if (limit <= 0) limit = m_model.maxNewTokens;
  if (limit <= 0) limit = kReplyLimit;

  RequestOptions options;
  options.run = m_run;
  options.node = step.node;
  options.maxNewTokens = static_cast<std::int32_t>(std::min<std::int64_t>(limit, room));
  options.sampling = {
      .temperature = step.temperature, .topK = m_options.topK, .topP = m_options.topP, .seed = step.seed};
  options.endTokens = m_model.endTokens;
  options.observedLayers = m_options.observedLayers;
  options.observeRows = m_options.observeRows;
  return options;
}

void PlanRun::onAdmitted(RequestId request, const cache::Admission& admission) {
  Running& step = byRequest(request);
  trace::StepMetrics& metrics = step.result.metrics;
  metrics.step = step.result.step;
  metrics.promptTokens = admission.promptTokens;
  metrics.cachedTokens = admission.cachedTokens;
  metrics.relocatedTokens = admission.relocatedTokens;
  metrics.computedTokens = admission.promptTokens - admission.cachedTokens;
  metrics.queueTime = seconds(Clock::now() - step.ready);
}

void PlanRun::onToken(RequestId request, std::int32_t index, const SampledToken& token,
                      std::vector<float> segmentMass) {
  Running& step = byRequest(request);
  step.lastToken = Clock::now();
  if (index == 0) step.firstToken = step.lastToken;
  step.result.tokens.push_back(token.token);
  const bool control = m_tokenizer.isControl(token.token);
  std::string text = takeText(step, control ? std::string() : step.decoder.push(token.token));
  step.result.text += text;
  m_sink.send(m_run, request, nodeOf(step),
              trace::TokenGenerated{.index = index,
                                    .token = token.token,
                                    .text = std::move(text),
                                    .shown = m_tokenizer.display(token.token),
                                    .probability = token.probability,
                                    .segmentMass = std::move(segmentMass)});
}

/// Drops the text with which the template lets every reply begin.
std::string PlanRun::takeText(Running& step, std::string text) {
  if (!step.atStart) return text;
  step.leading += text;
  const std::string& expected = m_chat.replyLeading;
  if (step.leading.size() < expected.size() && expected.starts_with(step.leading)) return {};
  step.atStart = false;
  if (step.leading.starts_with(expected)) return step.leading.substr(expected.size());
  return step.leading;
}

void PlanRun::onFinished(RequestId request, trace::StepOutcome outcome) {
  Running& step = byRequest(request);
  StepResult& result = step.result;
  step.state = Running::State::Ended;
  step.complete = outcome == trace::StepOutcome::EndToken || outcome == trace::StepOutcome::TokenLimit;
  ++m_ended;
  result.text += takeText(step, step.decoder.finish());
  result.outcome = outcome;
  result.metrics.generatedTokens = static_cast<std::int64_t>(result.tokens.size());
  if (!result.tokens.empty()) result.metrics.timeToFirstToken = seconds(step.firstToken - step.ready);
  if (result.tokens.size() > 1) {
    result.metrics.interTokenLatency =
        seconds(step.lastToken - step.firstToken) / static_cast<double>(result.tokens.size() - 1);
  }
  m_outputs[result.step].tokens = result.tokens;
  m_sink.send(m_run, request, nodeOf(step), result.metrics);
  m_sink.send(m_run, request, nodeOf(step),
              trace::StepFinished{.step = result.step, .outcome = outcome, .text = result.text});
}

void PlanRun::onFailed(RequestId request, const Error& error) {
  Running& step = byRequest(request);
  step.state = Running::State::Ended;
  step.result.outcome = trace::StepOutcome::Failed;
  ++m_ended;
  if (!m_error) m_error = error;
  m_sink.send(m_run, request, nodeOf(step),
              trace::MessageLogged{.severity = trace::Severity::Error, .text = error.message()});
  m_sink.send(m_run, request, nodeOf(step),
              trace::StepFinished{
                  .step = step.result.step, .outcome = trace::StepOutcome::Failed, .text = step.result.text});
}

std::vector<StepResult> PlanRun::results() const {
  std::vector<StepResult> results;
  for (const Running& step : m_steps) {
    if (step.state == Running::State::Ended) results.push_back(step.result);
  }
  return results;
}

std::string PlanRun::answer() const {
  std::string text;
  bool first = true;
  for (const plan::ResultItem& item : m_plan.result) {
    if (!first) text += '\n';
    first = false;
    if (const auto* message = std::get_if<plan::PromptMessage>(&item.value)) {
      text += message->text;
    } else {
      text += m_steps[std::get<StepIndex>(item.value)].result.text;
    }
  }
  return text;
}

}  // namespace spanscope::run
