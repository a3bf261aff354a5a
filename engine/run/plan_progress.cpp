// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/plan_progress.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/cache/kv_cache.h"
#include "engine/run/request_options.h"
#include "engine/run/run_options.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace spanscope::run {

namespace {

/// Max tokens of an answer if query, run and model have no limit.
constexpr std::int32_t kReplyLimit = 256;

/// Number of prompt tokens that are counted beyond twice the max. An error can then name the excess. A prompt
/// that is far too long is not encoded to its end.
constexpr std::int64_t kCountedBeyond = 65'536;

Error tooLong(const plan::Step& step, const std::string& atLeast, std::int64_t tokens, std::int64_t most) {
  return {.file = {},
          .place = step.node,
          .found = "a prompt of " + atLeast + counted(tokens, "token"),
          .expected = "at most " + std::to_string(most) + ", the model's context less one for the answer: " +
                      atLeast + std::to_string(tokens - most) + " too many"};
}

}  // namespace

Error tooLong(const plan::Step& step, std::int64_t promptTokens, const model::ModelConfig& model) {
  return tooLong(step, {}, promptTokens, model.maxPositions - 1);
}

layout::PromptLimits layoutLimits(const plan::Step& step, const model::ModelConfig& model,
                                  std::stop_token stop) {
  const std::int64_t most = 2 * model.maxPositions + kCountedBeyond;
  return {.stop = std::move(stop),
          .mostTokens = most,
          .tooLong = tooLong(step, "more than ", most, model.maxPositions - 1)};
}

std::int32_t replyLimit(const plan::Step& step, const RunOptions& options, const model::ModelConfig& model) {
  std::int32_t limit = step.maxTokens.value_or(0);
  if (limit <= 0) limit = options.maxTokens;
  if (limit <= 0) limit = model.maxNewTokens;
  if (limit <= 0) limit = kReplyLimit;
  // A min number that does not contradict the step is met. The largest value means that no token ends an
  // answer.
  const bool isFree = step.maxTokens.value_or(0) <= 0;
  const bool isLeast = options.minTokens < std::numeric_limits<std::int32_t>::max();
  return isFree && isLeast ? std::max(limit, options.minTokens) : limit;
}

PlanProgress::PlanProgress(RunId run, const plan::Plan& plan, const RunOptions& options,
                           const model::ModelConfig& model, layout::MessageRenderer& renderer,
                           std::int32_t blockSize, std::stop_token stop)
    : m_run(run),
      m_plan(plan),
      m_options(options),
      m_model(model),
      m_renderer(renderer),
      m_stop(std::move(stop)),
      m_outputs(plan.steps.size()),
      m_missing(plan.steps.size()),
      m_dependents(plan.steps.size()),
      m_readySince(plan.steps.size(), Clock::now()) {
  options.policy.checkFor(model.layers);
  m_teams.resize(plan.steps.size());
  if (const auto teams = options.policy.policy().teams; teams != nullptr) {
    std::uint32_t number = 0;
    for (const std::vector<StepIndex>& team : teams(plan)) {
      ++number;
      for (std::uint32_t place = 0; place < team.size(); ++place) {
        m_teams[team[place]] = TeamPlace{.team = number,
                                         .place = place,
                                         .members = static_cast<std::uint32_t>(team.size()),
                                         .positions = model.maxPositions};
      }
    }
  }
  renderer.useLayout(options.layout, blockSize);
  for (StepIndex i = 0; i < plan.steps.size(); ++i) {
    const std::vector<StepIndex>& needs = plan.steps[i].needs;
    m_missing[i] = needs.size();
    for (const StepIndex need : needs) m_dependents[need].push_back(i);
    if (needs.empty()) m_ready.push_back(i);
  }
}

std::optional<PlanProgress::Ready> PlanProgress::next() {
  m_ready.insert(m_ready.end(), m_unblocked.begin(), m_unblocked.end());
  m_unblocked.clear();
  if (m_ready.empty()) return std::nullopt;
  const StepIndex i = m_ready.front();
  const plan::Step& step = m_plan.steps[i];
  const layout::PromptLimits limits = layoutLimits(step, m_model, m_stop);
  const std::int64_t most = m_model.maxPositions - 1;
  m_renderer.useLimits(limits);
  layout::SpanTable table;
  try {
    table = m_options.policy.layOut(step, m_outputs, m_renderer);
  } catch (const Failure& failure) {
    if (failure.error() == limits.tooLong)
      m_tooLong = {.tokens = limits.mostTokens, .most = most, .isAtLeast = true};
    throw;
  }
  if (table.tokenCount() > most) m_tooLong = {.tokens = table.tokenCount(), .most = most};
  RequestOptions options = optionsOf(step, table.tokenCount());
  options.team = m_teams[i];
  options.rows = m_options.policy.planRows(table, options.team.has_value());
  // The table is needed only if the output of the step is put into another prompt.
  if (!m_dependents[i].empty()) m_outputs[i].table = table;
  m_ready.pop_front();
  return Ready{.step = i, .since = m_readySince[i], .table = std::move(table), .options = std::move(options)};
}

std::optional<StepIndex> PlanProgress::nextStep() const {
  return m_ready.empty() ? std::nullopt : std::optional(m_ready.front());
}

void PlanProgress::end(StepIndex step, std::vector<TokenId> tokens) {
  m_outputs[step].tokens = std::move(tokens);
  ++m_ended;
  for (const StepIndex dependent : m_dependents[step]) {
    if (--m_missing[dependent] > 0) continue;
    m_unblocked.insert(dependent);
    m_readySince[dependent] = Clock::now();
  }
}

RequestOptions PlanProgress::optionsOf(const plan::Step& step, std::int64_t promptTokens) const {
  const std::int64_t room = m_model.maxPositions - promptTokens;
  if (room < 1) throw Failure(tooLong(step, promptTokens, m_model));
  const std::int32_t limit = replyLimit(step, m_options, m_model);

  RequestOptions options;
  options.run = m_run;
  options.node = step.node;
  options.salt = m_options.salt;
  options.priority = m_options.priority;
  options.maxNewTokens = static_cast<std::int32_t>(std::min<std::int64_t>(limit, room));
  if (room < limit) options.limitOutcome = trace::StepOutcome::ContextLimit;
  options.sampling = {
      .temperature = step.temperature, .topK = m_options.topK, .topP = m_options.topP, .seed = step.seed};
  options.alternatives = m_options.alternatives;
  // Such an answer ends only at its limit, and may contain end tokens.
  const bool ignoresEnd = m_options.minTokens == std::numeric_limits<std::int32_t>::max();
  if (!ignoresEnd) options.endTokens = m_model.endTokenIds();
  options.minNewTokens = m_options.minTokens;
  options.observedLayers = m_options.observedLayers;
  options.attentionDetail = m_options.attentionDetail;
  options.observeRows = m_options.observeRows;
  return options;
}

std::optional<PlanFit> planFit(const Prediction& empty, const SessionConfig& session,
                               const PredictInSession& predict) {
  if (empty.stopped) return std::nullopt;
  if (!empty.error) return PlanFit{};
  PlanFit fit{.error = empty.error, .isCertain = empty.errorIsCertain};
  const auto mostBlocks = static_cast<std::int32_t>(
      std::min<std::int64_t>(cache::kMaxBlockCount, cache::kMaxTokenSlots / session.blockSize));
  SessionConfig other = session;
  const auto predictWith = [&](std::int32_t blocks) {
    other.blockCount = blocks;
    return predict(other);
  };
  std::optional<Error> last = empty.error;
  std::int32_t tooSmall = session.blockCount;
  std::int32_t enough = 0;
  while (tooSmall < mostBlocks && enough == 0) {
    const std::int32_t tried = std::min(mostBlocks, tooSmall > mostBlocks / 2 ? mostBlocks : 2 * tooSmall);
    Prediction predicted = predictWith(tried);
    if (predicted.stopped) return std::nullopt;
    // If a larger pool gives the same error, the error is not about the pool.
    if (predicted.error && predicted.error == last) return fit;
    last = std::move(predicted.error);
    (last ? tooSmall : enough) = tried;
  }
  while (enough - tooSmall > 1) {
    const std::int32_t tried = tooSmall + (enough - tooSmall) / 2;
    const Prediction predicted = predictWith(tried);
    if (predicted.stopped) return std::nullopt;
    (predicted.error ? tooSmall : enough) = tried;
  }
  fit.blocksNeeded = enough;
  return fit;
}

std::optional<PlanFit> planFit(const SessionConfig& session, const PredictInSession& predict) {
  constexpr std::int32_t kFirst = 1024;
  constexpr std::int32_t kFactor = 8;
  SessionConfig part = session;
  part.blockCount = std::min(session.blockCount, kFirst);
  std::optional<Error> last;
  while (true) {
    const Prediction predicted = predict(part);
    if (predicted.stopped) return std::nullopt;
    const bool isWhole = part.blockCount == session.blockCount;
    // A run that fits a part of the pool fits the whole pool. If a larger part gives the same error, the
    // error is not about the pool.
    if (!predicted.error || isWhole) return planFit(predicted, session, predict);
    if (predicted.error == last) return PlanFit{.error = last, .isCertain = predicted.errorIsCertain};
    last = predicted.error;
    const bool isNearWhole = part.blockCount > session.blockCount / kFactor;
    part.blockCount = isNearWhole ? session.blockCount : kFactor * part.blockCount;
  }
}

}  // namespace spanscope::run
