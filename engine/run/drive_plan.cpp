// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/drive_plan.h"

#include "engine/base/counted.h"
#include "engine/cache/kv_cache.h"
#include "engine/run/trace_values.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace spanscope::run {
namespace {

/// Reports how the chat template changes a message.
trace::MessageLogged messageOf(text::TextChange change) {
  switch (change) {
    case text::TextChange::Nothing:
    case text::TextChange::Trimmed:
      break;
    case text::TextChange::Changed:
      return {.severity = Severity::Warning, .text = "the chat template writes only a part of this message"};
    case text::TextChange::Merged:
      return {.severity = Severity::Warning,
              .text = "the chat template writes this message into the turn of another message"};
    case text::TextChange::Omitted:
      return {.severity = Severity::Warning, .text = "the chat template does not write this message"};
  }
  return {.severity = Severity::Note,
          .text = "the chat template removes white space at the ends of this message"};
}

/// A forward pass may compute nothing, e.g. because it only ends answers whose context is full. The next
/// forward pass then continues. If this number of consecutive forward passes ends no step, no later forward
/// pass ends a step.
constexpr int kMostIdlePasses = 16;

Error unexpected(const std::string& found) {
  return {.file = {}, .place = "run", .found = "The run cannot continue: " + found + ".", .expected = {}};
}

struct Thrown {
  Error error;
  bool isForeseen = true;
};

/// Returns the exception of `work`, or nothing.
template <class Work>
std::optional<Thrown> thrownBy(const Work& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return Thrown{.error = failure.error()};
  } catch (const std::exception& exception) {
    // Any exception, e.g. for missing memory.
    return Thrown{.error = unexpected(exception.what()), .isForeseen = false};
  }
  return std::nullopt;
}

}  // namespace

struct PlanDriver::Driven {
  Driven(PlanSteps& ofPlan, RunId ofRun, std::int32_t itsPriority, std::stop_token itsStop,
         DriveHooks itsHooks)
      : steps(ofPlan),
        run(ofRun),
        priority(itsPriority),
        stop(std::move(itsStop)),
        hooks(std::move(itsHooks)) {}

  PlanSteps& steps;
  RunId run = 0;
  std::int32_t priority = 0;
  std::stop_token stop;
  DriveHooks hooks;
  /// Stops the forward pass if all plans have been stopped.
  std::optional<std::stop_callback<std::function<void()>>> whenStopped;

  bool isStopped() const { return stop.stop_requested(); }
};

PlanDriver::PlanDriver(Scheduler& scheduler, std::function<void(const std::stop_token&)> passBegins)
    : m_scheduler(scheduler), m_passBegins(std::move(passBegins)) {}

PlanDriver::~PlanDriver() = default;

void PlanDriver::begin(PlanSteps& steps, RunId run, std::int32_t priority, std::stop_token stop,
                       DriveHooks hooks) {
  const auto place =
      std::ranges::find_if(m_plans, [priority](const auto& other) { return other->priority < priority; });
  {
    const std::lock_guard lock(m_stopMutex);
    m_stops.push_back(stop);
  }
  Driven& plan = **m_plans.insert(
      place, std::make_unique<Driven>(steps, run, priority, std::move(stop), std::move(hooks)));
  plan.whenStopped.emplace(plan.stop, [this] { stopPassIfAllStopped(); });
  m_idlePasses = 0;
}

void PlanDriver::stopPassIfAllStopped() {
  const std::lock_guard lock(m_stopMutex);
  if (std::ranges::all_of(m_stops, [](const std::stop_token& stop) { return stop.stop_requested(); }))
    m_passStop.request_stop();
}

std::stop_token PlanDriver::newPass() {
  {
    const std::lock_guard lock(m_stopMutex);
    m_passStop = std::stop_source();
    m_stops.clear();
    for (const auto& plan : m_plans) m_stops.push_back(plan->stop);
  }
  stopPassIfAllStopped();
  std::stop_token stop = m_passStop.get_token();
  if (m_passBegins) m_passBegins(stop);
  return stop;
}

PlanDriver::Driven* PlanDriver::nextPlan() const {
  const auto plan = std::ranges::find_if(m_plans, [](const auto& each) { return each->steps.hasNext(); });
  return plan == m_plans.end() ? nullptr : plan->get();
}

std::int32_t PlanDriver::nextPriority() const {
  const Driven* const plan = nextPlan();
  return plan == nullptr ? 0 : plan->priority;
}

bool PlanDriver::hasNext() const {
  return nextPlan() != nullptr;
}

bool PlanDriver::submitNext(Scheduler& scheduler) {
  Driven* const plan = nextPlan();
  if (plan == nullptr) return false;
  m_asked = plan;
  const bool isSubmitted = plan->steps.submitNext(scheduler);
  m_asked = nullptr;
  return isSubmitted;
}

std::size_t PlanDriver::endedSteps() const {
  std::size_t ended = 0;
  for (const auto& plan : m_plans) ended += plan->steps.ended();
  return ended;
}

void PlanDriver::end(Plans::iterator plan, DrivenPlan result, std::vector<DrivenPlan>& ended) {
  const std::unique_ptr<Driven> driven = std::move(*plan);
  m_plans.erase(plan);
  result.run = driven->run;
  if (result.error && driven->hooks.onThrown) driven->hooks.onThrown(*result.error);
  if (driven->steps.error()) result.error = driven->steps.error();
  if (result.error) result.outcome = trace::RunOutcome::Failed;
  if (result.outcome != trace::RunOutcome::Finished) m_scheduler.abort(driven->run);
  ended.push_back(std::move(result));
}

/// Ends the plans for which `take` returns an outcome.
template <class Take>
void PlanDriver::endWhere(const Take& take, std::vector<DrivenPlan>& ended) {
  for (auto plan = m_plans.begin(); plan != m_plans.end();) {
    const auto next = std::next(plan);
    if (std::optional<DrivenPlan> result = take(**plan)) end(plan, std::move(*result), ended);
    plan = next;
  }
}

std::vector<DrivenPlan> PlanDriver::advance() {
  std::vector<DrivenPlan> ended;
  // When the plan is stopped, the encoding of a text ends with a Failure.
  const auto failed = [](const Driven& plan, const Thrown& thrown) {
    if (plan.isStopped() && thrown.isForeseen)
      return DrivenPlan{.outcome = trace::RunOutcome::Stopped, .error = {}};
    return DrivenPlan{.error = thrown.error};
  };
  using End = std::optional<DrivenPlan>;
  const auto callAll = [&](std::function<void()> DriveHooks::*hook) {
    endWhere(
        [&](Driven& plan) -> End {
          if (!(plan.hooks.*hook)) return std::nullopt;
          const std::optional<Thrown> thrown = thrownBy(plan.hooks.*hook);
          return thrown ? End(failed(plan, *thrown)) : std::nullopt;
        },
        ended);
  };
  const auto endOver = [&] {
    endWhere(
        [](Driven& plan) -> End {
          const bool isOver = plan.steps.done() || plan.steps.error();
          return isOver ? End(DrivenPlan()) : std::nullopt;
        },
        ended);
  };

  endOver();
  callAll(&DriveHooks::beforePass);
  endWhere(
      [](Driven& plan) -> End {
        if (!plan.isStopped()) return std::nullopt;
        if (plan.hooks.afterPass) plan.hooks.afterPass();
        return DrivenPlan{.outcome = trace::RunOutcome::Stopped, .error = {}};
      },
      ended);
  if (m_plans.empty()) return ended;

  const std::size_t before = endedSteps();
  Scheduler::Progress progress = Scheduler::Progress::Computed;
  const std::optional<Thrown> thrown = thrownBy([&] { progress = m_scheduler.pass(newPass(), this); });
  if (thrown) {
    const Driven* const guilty = std::exchange(m_asked, nullptr);
    endWhere(
        [&](Driven& plan) -> End {
          const bool isMeant = guilty == nullptr || guilty == &plan;
          return isMeant ? End(failed(plan, *thrown)) : std::nullopt;
        },
        ended);
    return ended;
  }
  callAll(&DriveHooks::afterPass);
  if (progress == Scheduler::Progress::Stopped) {
    endWhere([](Driven&) -> End { return DrivenPlan{.outcome = trace::RunOutcome::Stopped, .error = {}}; },
             ended);
    return ended;
  }
  const bool isIdle = progress == Scheduler::Progress::Idle && endedSteps() == before;
  m_idlePasses = isIdle ? m_idlePasses + 1 : 0;
  endOver();
  if (m_idlePasses > kMostIdlePasses) {
    endWhere(
        [&](Driven& plan) -> End { return failed(plan, {.error = unexpected("no step can be computed")}); },
        ended);
  }
  return ended;
}

DrivenPlan drivePlan(Scheduler& scheduler, PlanSteps& steps, RunId run, const std::stop_token& stop,
                     const DriveHooks& hooks) {
  PlanDriver driver(scheduler);
  driver.begin(steps, run, 0, stop, hooks);
  while (true) {
    std::vector<DrivenPlan> ended = driver.advance();
    if (!ended.empty()) return std::move(ended.front());
  }
}

namespace {

/// Max tokens of an answer if query, run and model have no limit.
constexpr std::int32_t kAnswerLimit = 256;

/// Number of prompt tokens that are counted beyond twice the max. An error can then name the excess. The rest
/// of a longer prompt is not encoded.
constexpr std::int64_t kCountedBeyond = 65'536;

Error tooLong(const plan::Step& step, const std::string& atLeast, std::int64_t tokens, std::int64_t most) {
  return {.file = {},
          .place = step.node,
          .found = /*id:prompt-has*/ "The prompt has " + atLeast + counted(tokens, "token") + ".",
          .expected = "The limit is " + std::to_string(most) +
                      /*id:models-context-less*/
                      " tokens, the model's context minus one for the answer. The "
                      "prompt has " +
                      atLeast + counted(tokens - most, "token") + " too many."};
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

std::int32_t answerLimit(const plan::Step& step, const RunOptions& options, const model::ModelConfig& model) {
  std::int32_t limit = step.maxTokens.value_or(0);
  if (limit <= 0) limit = options.maxTokens;
  if (limit <= 0) limit = model.maxNewTokens;
  if (limit <= 0) limit = kAnswerLimit;
  // The limit is at least RunOptions::minTokens, unless the step has its own limit. The largest value of
  // minTokens means that no token ends an answer.
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
  options.policy.checkFor(model.storingLayers());
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
  // The table is needed only if another prompt contains the output of the step.
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
  const std::int32_t limit = answerLimit(step, m_options, m_model);

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
  // With the largest value of minTokens, an answer ends only at its limit and may contain end tokens.
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
  const std::vector<layout::ChangedText> changed = next->table.changed;
  step.result.request = scheduler.submit(std::move(next->table), std::move(next->options));
  m_byRequest[step.result.request] = next->step;
  m_sink.send(m_run, step.result.request, planned.node,
              trace::StepStarted{.step = next->step, .copy = planned.copy});
  m_sink.send(m_run, step.result.request, planned.node, std::move(laidOut));
  m_sink.send(m_run, step.result.request, planned.node, std::move(divided));
  if (applied) m_sink.send(m_run, step.result.request, planned.node, std::move(*applied));
  for (const layout::ChangedText& message : changed)
    m_sink.send(m_run, step.result.request, message.node, messageOf(message.change));
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
