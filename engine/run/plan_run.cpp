// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/plan_run.h"

#include "engine/run/trace_values.h"

#include <utility>

namespace spanscope::run {

namespace {

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

PlanRun::PlanRun(RunId run, const plan::Plan& plan, const RunOptions& options,
                 const model::ModelConfig& model, const text::Tokenizer& tokenizer,
                 const text::ChatTemplate& chat, std::int32_t blockSize, trace::Sink& sink,
                 std::stop_token stop)
    : m_run(run),
      m_plan(plan),
      m_tokenizer(tokenizer),
      m_chat(chat),
      m_layout(options.layout),
      m_sink(sink),
      m_renderer(tokenizer, chat),
      m_progress(run, plan, options, model, m_renderer, blockSize, std::move(stop)),
      m_steps(plan.steps.size(), Running(tokenizer)) {
  for (StepIndex i = 0; i < m_steps.size(); ++i) m_steps[i].result.step = i;
  if (m_layout != layout::Layout::Exact) m_sink.send(m_run, 0, {}, layoutEvent(m_renderer.rules()));
}

bool PlanRun::submitNext(Scheduler& scheduler) {
  if (m_error) return false;
  std::optional<PlanProgress::Ready> next = m_progress.next();
  if (!next) return false;
  Running& step = m_steps[next->step];
  const plan::Step& planned = m_plan.steps[next->step];
  step.ready = next->since;
  trace::SpanTableLaidOut laidOut = spanTableEvent(next->table, &m_tokenizer);
  trace::PromptDivided divided = partsEvent(next->table);
  std::optional<trace::LayoutApplied> applied;
  if (m_layout != layout::Layout::Exact) applied = layoutEvent(next->table, &m_tokenizer);
  step.result.request = scheduler.submit(std::move(next->table), std::move(next->options));
  m_byRequest[step.result.request] = next->step;
  m_sink.send(m_run, step.result.request, planned.node,
              trace::StepStarted{.step = next->step, .copy = planned.copy});
  m_sink.send(m_run, step.result.request, planned.node, std::move(laidOut));
  m_sink.send(m_run, step.result.request, planned.node, std::move(divided));
  if (applied) m_sink.send(m_run, step.result.request, planned.node, std::move(*applied));
  return true;
}

void PlanRun::onAdmitted(RequestId request, const cache::Admission& admission) {
  Running& step = byRequest(request);
  trace::StepMetrics& metrics = step.result.metrics;
  if (metrics.preemptions > 0) {
    metrics.recomputedTokens += admission.recomputedTokens;
    return;
  }
  metrics.step = step.result.step;
  metrics.promptTokens = admission.promptTokens;
  metrics.cachedTokens = admission.cachedTokens;
  metrics.relocatedTokens = admission.relocatedTokens;
  metrics.computedTokens = admission.promptTokens - admission.cachedTokens;
  metrics.queueTime = seconds(Clock::now() - step.ready);
}

void PlanRun::onPreempted(RequestId request) {
  ++byRequest(request).result.metrics.preemptions;
}

void PlanRun::onAlternatives(RequestId request, std::int32_t index,
                             const std::vector<compute::LikelyToken>& tokens) {
  trace::TokenAlternatives alternatives{.index = index, .tokens = {}};
  for (const compute::LikelyToken& one : tokens) {
    alternatives.tokens.push_back(
        {.token = one.token, .shown = m_tokenizer.display(one.token), .probability = one.probability});
  }
  m_sink.send(m_run, request, nodeOf(byRequest(request)), std::move(alternatives));
}

void PlanRun::onToken(RequestId request, std::int32_t index, const compute::SampledToken& token,
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

/// Drops the text with which the template begins every answer.
std::string PlanRun::takeText(Running& step, std::string text) {
  if (!step.atStart) return text;
  step.leading += text;
  const std::string& expected = m_chat.answerLeading;
  if (step.leading.size() < expected.size() && expected.starts_with(step.leading)) return {};
  step.atStart = false;
  if (step.leading.starts_with(expected)) return step.leading.substr(expected.size());
  return step.leading;
}

void PlanRun::onFinished(RequestId request, trace::StepOutcome outcome) {
  Running& step = byRequest(request);
  StepResult& result = step.result;
  step.ended = true;
  result.text += takeText(step, step.decoder.finish());
  result.outcome = outcome;
  result.metrics.generatedTokens = static_cast<std::int64_t>(result.tokens.size());
  if (!result.tokens.empty()) result.metrics.timeToFirstToken = seconds(step.firstToken - step.ready);
  if (result.tokens.size() > 1) {
    result.metrics.interTokenLatency =
        seconds(step.lastToken - step.firstToken) / static_cast<double>(result.tokens.size() - 1);
  }
  m_progress.end(result.step, result.tokens);
  m_sink.send(m_run, request, nodeOf(step), result.metrics);
  m_sink.send(m_run, request, nodeOf(step),
              trace::StepFinished{.step = result.step, .outcome = outcome, .text = result.text});
}

void PlanRun::onFailed(RequestId request, const Error& error) {
  Running& step = byRequest(request);
  step.ended = true;
  step.result.outcome = trace::StepOutcome::Failed;
  m_progress.end(step.result.step, {});
  if (!m_error) m_error = error;
  m_sink.send(m_run, request, nodeOf(step),
              trace::MessageLogged{.severity = Severity::Error, .text = error.message()});
  m_sink.send(m_run, request, nodeOf(step),
              trace::StepFinished{
                  .step = step.result.step, .outcome = trace::StepOutcome::Failed, .text = step.result.text});
}

std::vector<StepResult> PlanRun::results() const {
  std::vector<StepResult> results;
  for (const Running& step : m_steps) {
    if (step.ended) results.push_back(step.result);
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

ReplayedRequests::ReplayedRequests(std::vector<Prompt> prompts) : m_prompts(std::move(prompts)) {}

bool ReplayedRequests::hasNext() const {
  return m_submitted < m_prompts.size();
}

bool ReplayedRequests::submitNext(Scheduler& scheduler) {
  if (!hasNext()) return false;
  Prompt& next = m_prompts[m_submitted++];
  const RequestId request = scheduler.submit(std::move(next.table), std::move(next.options));
  m_requests.insert(request);
  if (!hasNext()) m_own = request;
  return true;
}

bool ReplayedRequests::done() const {
  return m_ended == m_prompts.size();
}

void ReplayedRequests::onAdmitted(RequestId request, const cache::Admission& admission) {
  if (request == m_own && !m_cachedTokens) m_cachedTokens = admission.cachedTokens;
}

void ReplayedRequests::onPreempted(RequestId request) {
  if (request == m_own) m_rows.clear();
}

}  // namespace spanscope::run
