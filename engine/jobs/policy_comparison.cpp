// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/policy_comparison.h"

#include "engine/base/error.h"
#include "engine/compute/backend.h"
#include "engine/experiment/abba.h"
#include "engine/experiment/experiment_amount.h"
#include "engine/experiment/fidelity.h"
#include "engine/experiment/repeat_run.h"
#include "engine/jobs/benchmark.h"
#include "engine/policy/choice.h"
#include "engine/query/node_parts.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/run_options.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <utility>
#include <variant>

namespace spanscope::jobs {
namespace {

using experiment::RunCase;

/// Collects prompts and answers from the events of runs.
class ComparisonSink final : public trace::Sink {
 public:
  explicit ComparisonSink(std::int32_t blockSize) : m_accounts(blockSize) {}

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override {
    // Events without a run come from replays, which recompute an answer.
    if (run != 0) {
      if (experiment::FinishedAnswers::takes(payload)) {
        m_answers.take({.sequence = 0,
                        .time = 0,
                        .session = 1,
                        .run = run,
                        .request = request,
                        .node = node,
                        .payload = payload});
      }
      m_accounts.take(request, payload);
      std::vector<std::string>& texts = m_texts[request];
      if (const auto* token = std::get_if<trace::TokenGenerated>(&payload))
        texts.push_back(token->text.empty() ? token->shown : token->text);
    }
    return m_sink.send(run, request, node, std::move(payload));
  }

  /// Returns the data of the run that ended since the last call.
  PolicyRun takeRun() {
    PolicyRun run{.firstToken = m_sink.take().measured.timeToFirstToken, .prompt = {}};
    for (const auto& [id, texts] : m_texts) {
      run.prompt += m_accounts.of(id).prompt;
      m_accounts.forget(id);
    }
    m_texts.clear();
    return run;
  }
  std::vector<run::FinishedAnswer> takeAnswers(RunId run) { return m_answers.takeRun(run); }
  /// Returns the texts of an answer's tokens. The answer's run was not taken yet.
  std::vector<std::string> textsOf(RequestId request) const {
    const auto found = m_texts.find(request);
    return found == m_texts.end() ? std::vector<std::string>() : found->second;
  }

 private:
  metrics::TokenAccounts m_accounts;
  experiment::RunMetricsSink m_sink;
  experiment::FinishedAnswers m_answers;
  /// The texts of the tokens of each answer, for the run that was not taken yet.
  std::map<RequestId, std::vector<std::string>> m_texts;
};

policy::Choice choiceOf(const std::string& text) {
  const auto read = policy::readChoice(text);
  if (const auto* problem = std::get_if<policy::ChoiceProblem>(&read))
    throw Failure(errorAt("policy", '"' + text + '"', problem->expected));
  return std::get<policy::Choice>(read);
}

/// Returns the bytes of all blocks in the pool that are cached or in use.
std::uint64_t filledBytes(const run::Session& session, const workbench::ModelBundle& model) {
  const run::SessionConfig& config = session.config();
  const compute::KvShape shape = model.decoder->kvShape(config.blockCount, config.blockSize,
                                                        config.kvType.value_or(compute::DType::F32));
  const trace::PoolState pool = session.dumpPool();
  const auto filled =
      std::count_if(pool.blocks.begin(), pool.blocks.end(),
                    [](const trace::BlockState& block) { return block.cached || block.references > 0; });
  return static_cast<std::uint64_t>(filled) * static_cast<std::uint64_t>(config.blockSize) *
         compute::slotBytes(shape);
}

/// Makes costs that occur once, such as the copy of the weights into memory, count for no policy.
void warmUp(workbench::ModelBundle& model, run::SessionConfig config, const std::stop_token& stop) {
  const std::vector<std::int32_t> lengths = measurableLengths(model.config.maxPositions);
  if (lengths.empty()) return;
  const experiment::AbbaOptions once{
      .documentTokens = {lengths.front()}, .repeats = 1, .seconds = 0, .coldRepeats = 1};
  config.blockCount = experiment::abbaBlocks(once, config.blockSize);
  trace::NoSink sink;
  const std::unique_ptr<run::Session> session = workbench::makeSession(model, config, sink);
  experiment::measureAbba(*session, model.config.vocabularySize, once, lengths.front(), stop);
}

/// Measures one policy of a comparison.
class PolicyMeasurement {
 public:
  PolicyMeasurement(const std::vector<experiment::PlannedCase>& cases, bool isReordered, Measurement& at)
      : m_cases(cases), m_isReordered(isReordered), m_at(at) {}

  void measure(MeasuredPolicy& policy) const {
    workbench::ModelBundle& model = m_at.model();
    run::RunOptions options = workbench::runOptionsOf(m_at.input().settings);
    options.policy = choiceOf(policy.policy);
    const run::SessionConfig config = m_at.sessionConfig();
    ComparisonSink sink(config.blockSize);
    const std::unique_ptr<run::Session> session = workbench::makeSession(model, config, sink);
    const auto run = [&](RunCase runCase) {
      run::RunResult result =
          session->run(m_cases[static_cast<std::size_t>(runCase)].plan, options, m_at.stop());
      if (result.error) throw Failure(*result.error);
      if (result.outcome != trace::RunOutcome::Finished)
        throw Failure(errorAt("policy " + policy.policy, "The job was stopped.", {}));
      return result;
    };

    enter(policy, PolicyStage::Cold);
    const run::RunResult cold = run(RunCase::Cold);
    policy.answer = cold.answer;
    for (const run::StepResult& step : cold.steps) policy.generatedTokens += step.metrics.generatedTokens;
    std::map<RequestId, std::vector<std::string>> texts;
    const std::vector<run::FinishedAnswer> answers = sink.takeAnswers(session->lastRun());
    for (const run::FinishedAnswer& answer : answers) texts[answer.request] = sink.textsOf(answer.request);
    policy.cold = sink.takeRun();

    enter(policy, PolicyStage::Fidelity);
    const experiment::FidelityModel measured{
        .decoder = *model.decoder, .backend = *model.backend, .tokenizer = model.tokenizer.get()};
    for (const run::FinishedAnswer& answer : answers) {
      m_at.pass();
      ComparedAnswer compared{
          .node = answer.node,
          .texts = std::move(texts[answer.request]),
          .fullTexts = {},
          .fidelity = experiment::measureFidelity(*session, measured, answer, m_at.stop()).fidelity};
      for (const trace::FidelityToken& token : compared.fidelity.tokens)
        compared.fullTexts.push_back(model.tokenizer ? model.tokenizer->display(token.fullBest)
                                                     : std::to_string(token.fullBest));
      policy.answers.push_back(std::move(compared));
      m_at.report();
    }

    enter(policy, PolicyStage::Reordered);
    run(m_isReordered ? RunCase::Swapped : RunCase::SameOrder);
    policy.reordered = sink.takeRun();
    policy.cacheBytes = filledBytes(*session, model);
    policy.stage = PolicyStage::Done;
  }

 private:
  void enter(MeasuredPolicy& policy, PolicyStage stage) const {
    policy.stage = stage;
    m_at.report();
    m_at.pass();
  }

  const std::vector<experiment::PlannedCase>& m_cases;
  bool m_isReordered;
  Measurement& m_at;
};

/// Returns a text marked for translation: %1 is the policy, %2 its number, %3 the number of policies.
const char* stageText(PolicyStage stage, bool isReordered) {
  switch (stage) {
    case PolicyStage::Cold:
      return forTranslation("Events", "Policies: %1, %2 of %3, with an empty cache");
    case PolicyStage::Fidelity:
      return forTranslation(
          "Events", /*id:policy-fidelity-stage*/ "Policies: %1, %2 of %3, compared with a full prefill");
    case PolicyStage::Reordered:
      return isReordered ? forTranslation("Events", "Policies: %1, %2 of %3, in another order")
                         : forTranslation("Events", "Policies: %1, %2 of %3, repeated");
    case PolicyStage::Waiting:
    case PolicyStage::Done:
    case PolicyStage::Failed:
      break;
  }
  return nullptr;
}

bool isSoundAnswer(const ComparedAnswer& answer) {
  return std::all_of(answer.fidelity.tokens.begin(), answer.fidelity.tokens.end(),
                     [](const trace::FidelityToken& token) { return std::isfinite(token.divergence); });
}

bool isSoundRun(const std::optional<PolicyRun>& run) {
  return !run || !run->firstToken || (std::isfinite(*run->firstToken) && *run->firstToken >= 0);
}

}  // namespace

std::optional<trace::FidelityMetrics> MeasuredPolicy::fidelity() const {
  if (answers.empty()) return std::nullopt;
  std::vector<const trace::FidelityMeasured*> measured;
  for (const ComparedAnswer& each : answers) measured.push_back(&each.fidelity);
  return trace::fidelityOf(measured);
}

double PolicyComparison::progress() const {
  if (policies.empty()) return 0;
  constexpr auto kMeasuredStages = static_cast<double>(PolicyStage::Done) - 1;
  double done = 0;
  for (const MeasuredPolicy& policy : policies) {
    if (hasEnded(policy.stage))
      done += 1;
    else if (policy.stage != PolicyStage::Waiting)
      done += (static_cast<double>(policy.stage) - 1) / kMeasuredStages;
  }
  return done / static_cast<double>(policies.size());
}

std::uint64_t comparisonSubject(const document::Document& document) {
  workbench::RunSettings settings = document.settings;
  settings.policy = workbench::RunSettings().policy;
  return querySubject(document, settings);
}

const char* PolicyComparisonJob::unavailableReason(const PolicyChoice& choice, std::span<const AnswerFacts>) {
  return choice.policies.empty() ? forTranslation("Jobs", "No policy is chosen. Choose at least one policy.")
                                 : nullptr;
}

bool PolicyComparisonJob::isSound(const PolicyComparison& comparison) {
  return std::all_of(comparison.policies.begin(), comparison.policies.end(),
                     [](const MeasuredPolicy& policy) {
                       return isSoundRun(policy.cold) && isSoundRun(policy.reordered) &&
                              std::all_of(policy.answers.begin(), policy.answers.end(), isSoundAnswer);
                     });
}

std::optional<experiment::TokenAmount> PolicyComparisonJob::amount(const PolicyChoice& choice,
                                                                   const EstimateFacts& facts) {
  if (facts.empty == nullptr || facts.plan == nullptr) return std::nullopt;
  return experiment::comparisonAmount(experiment::coldAmount(*facts.empty, *facts.plan),
                                      choice.policies.size());
}

PolicyComparison PolicyComparisonJob::begun(const PolicyChoice& choice) {
  PolicyComparison comparison{.subject = choice.subject};
  for (const std::string& policy : choice.policies) comparison.policies.push_back({.policy = policy});
  return comparison;
}

trace::EventWords PolicyComparisonJob::activity(const PolicyComparison& comparison) {
  if (comparison.model.empty()) return {forTranslation("Events", "Policies: preparing"), {}};
  for (std::size_t i = 0; i < comparison.policies.size(); ++i) {
    const MeasuredPolicy& policy = comparison.policies[i];
    if (hasEnded(policy.stage)) continue;
    const char* const text = stageText(policy.stage, comparison.isReordered);
    if (text == nullptr) return {forTranslation("Events", "Policies: warming up"), {}};
    return {text, {policy.policy, std::uint64_t{i + 1}, std::uint64_t{comparison.policies.size()}}};
  }
  return {forTranslation("Events", "Policies"), {}};
}

void PolicyComparisonJob::measure(PolicyComparison& comparison, const PolicyChoice& /*choice*/,
                                  Measurement& at) {
  workbench::ModelBundle& model = at.model();
  comparison.model = model.name;
  comparison.device = model.backend->info().name;
  const run::SessionConfig config = at.sessionConfig();
  comparison.blockSize = config.blockSize;
  // Sampled answers differ under equal policies too.
  plan::PlanOptions planning = at.input().plan;
  planning.temperature = 0;
  comparison.chosenTemperature = query::anyNode(at.query(), [](const query::Node& node) {
    const query::GenerateSettings* const settings = query::settingsOf(node);
    return settings != nullptr && !std::holds_alternative<float>(settings->temperature);
  });
  const std::vector<experiment::PlannedCase> cases = experiment::planCases(at.query(), planning);
  comparison.isReordered = cases[static_cast<std::size_t>(RunCase::Swapped)].gap == experiment::CaseGap::None;
  at.report();
  warmUp(model, config, at.stop());
  at.clock().begin();
  const PolicyMeasurement each(cases, comparison.isReordered, at);
  for (MeasuredPolicy& policy : comparison.policies) {
    if (at.stop().stop_requested()) return;
    try {
      each.measure(policy);
    } catch (const std::exception& failure) {
      if (at.stop().stop_requested()) return;
      policy.problem = failure.what();
      policy.stage = PolicyStage::Failed;
    }
    at.report();
  }
}

}  // namespace spanscope::jobs
