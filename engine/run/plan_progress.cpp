// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/plan_progress.h"

#include "engine/base/error.h"

#include <algorithm>
#include <string>
#include <utility>

namespace spanscope::run {
namespace {

/// Tokens a reply may have where neither the query, nor the run, nor the model says anything.
constexpr std::int32_t kReplyLimit = 256;

}  // namespace

PlanProgress::PlanProgress(RunId run, const plan::Plan& plan, const RunOptions& options,
                           const model::ModelConfig& model, const text::Tokenizer& tokenizer,
                           const text::ChatTemplate& chat)
    : m_run(run),
      m_plan(plan),
      m_options(options),
      m_model(model),
      m_tokenizer(tokenizer),
      m_chat(chat),
      m_states(plan.steps.size(), State::Blocked),
      m_outputs(plan.steps.size()) {}

std::optional<PlanProgress::Ready> PlanProgress::next() {
  for (StepIndex i = 0; i < m_states.size(); ++i) {
    const plan::Step& step = m_plan.steps[i];
    const bool ready = m_states[i] == State::Blocked &&
                       std::all_of(step.needs.begin(), step.needs.end(),
                                   [&](StepIndex need) { return m_states[need] == State::Ended; });
    if (!ready) continue;
    layout::SpanTable table =
        layout::layoutExact(step, m_outputs, m_tokenizer, m_chat, visibilityOf(m_options.policy));
    RequestOptions options = optionsOf(step, table.tokenCount());
    m_outputs[i].table = table;
    m_states[i] = State::Given;
    return Ready{.step = i, .table = std::move(table), .options = std::move(options)};
  }
  return std::nullopt;
}

void PlanProgress::end(StepIndex step, std::vector<TokenId> tokens) {
  m_outputs[step].tokens = std::move(tokens);
  m_states[step] = State::Ended;
  ++m_ended;
}

RequestOptions PlanProgress::optionsOf(const plan::Step& step, std::int64_t promptTokens) const {
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
  if (room < limit) options.limitOutcome = trace::StepOutcome::ContextLimit;
  options.sampling = {
      .temperature = step.temperature, .topK = m_options.topK, .topP = m_options.topP, .seed = step.seed};
  options.endTokens = m_model.endTokens;
  options.observedLayers = m_options.observedLayers;
  options.observeRows = m_options.observeRows;
  return options;
}

}  // namespace spanscope::run
