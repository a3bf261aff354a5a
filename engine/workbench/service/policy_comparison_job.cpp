// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/policy_comparison_job.h"

#include "engine/base/error.h"
#include "engine/compute/backend.h"
#include "engine/experiment/abba.h"
#include "engine/experiment/fidelity.h"
#include "engine/experiment/run_metrics_sink.h"
#include "engine/policy/choice.h"
#include "engine/query/node_parts.h"
#include "engine/run/run_options.h"
#include "engine/trace/sink.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <utility>
#include <variant>

namespace spanscope::workbench {
namespace {

using experiment::RunCase;

/// What the events of runs say of prompts and replies.
class ComparisonSink final : public trace::Sink {
 public:
  explicit ComparisonSink(std::int32_t blockSize) : m_accounts(blockSize) {}

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override {
    // Events of no run are those of replies that are put through the model again.
    if (run != 0) {
      if (experiment::FinishedReplies::takes(payload)) {
        m_replies.take({.sequence = 0,
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

  /// Of the run that ended since the last call.
  PolicyRun takeRun() {
    PolicyRun run{.firstToken = m_sink.take().measured.timeToFirstToken, .prompt = {}};
    for (const auto& [id, texts] : m_texts) {
      run.prompt += m_accounts.of(id).prompt;
      m_accounts.forget(id);
    }
    m_texts.clear();
    return run;
  }
  std::vector<run::FinishedReply> takeReplies(RunId run) { return m_replies.takeRun(run); }
  /// The texts of the tokens of a reply of the run that was not taken yet.
  std::vector<std::string> textsOf(RequestId request) const {
    const auto found = m_texts.find(request);
    return found == m_texts.end() ? std::vector<std::string>() : found->second;
  }

 private:
  metrics::TokenAccounts m_accounts;
  experiment::RunMetricsSink m_sink;
  experiment::FinishedReplies m_replies;
  /// Of the run that was not taken yet: the texts of the tokens of each reply.
  std::map<RequestId, std::vector<std::string>> m_texts;
};

policy::Choice choiceOf(const std::string& text) {
  const auto read = policy::readChoice(text);
  if (const auto* problem = std::get_if<policy::ChoiceProblem>(&read))
    throw Failure(errorAt("policy", '"' + text + '"', problem->expected));
  return std::get<policy::Choice>(read);
}

/// Bytes of the blocks of the pool that hold something.
std::uint64_t filledBytes(const run::Session& session, const ModelBundle& model) {
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

/// What comes into being once, such as the weights in memory, belongs to no policy.
void warmUp(ModelBundle& model, run::SessionConfig config, const std::stop_token& stop) {
  const std::vector<std::int32_t> lengths = measurableLengths(model.config.maxPositions);
  if (lengths.empty()) return;
  const experiment::AbbaOptions once{
      .documentTokens = {lengths.front()}, .repeats = 1, .seconds = 0, .coldRepeats = 1};
  config.blockCount = experiment::abbaBlocks(once, config.blockSize);
  trace::NoSink sink;
  const std::unique_ptr<run::Session> session = makeSession(model, config, sink);
  experiment::measureAbba(*session, model.config.vocabularySize, once, lengths.front(), stop);
}

}  // namespace

PolicyComparisonJob::PolicyComparisonJob(PolicyComparisonRequest request) : m_request(std::move(request)) {
  m_now.subject = m_request.subject;
  for (const std::string& policy : m_request.policies) m_now.policies.push_back({.policy = policy});
  m_published.set(m_now);
}

Begun PolicyComparisonJob::begin(JobContext& place, const std::stop_token& stop) {
  const std::shared_ptr<void> atEnd(nullptr, [this](void*) { m_published.set(m_now); });
  place.modelFor(m_request.settings, stop);
  // Works that pass may put another model in its place.
  const std::shared_ptr<ModelBundle> shared = place.model();
  ModelBundle& model = *shared;
  if (m_request.retrieve) {
    m_request.query = m_request.retrieve(place, m_indexing.watch(stop, [this] { notifyProgress(); }));
    m_indexing.end();
  }
  m_now.model = model.name;
  m_now.device = model.backend->info().name;
  // Answers drawn by chance differ under equal policies too.
  plan::PlanOptions planning = document::planOptionsOf(m_request.settings);
  planning.temperature = 0;
  m_now.chosenTemperature = query::anyNode(m_request.query, [](const query::Node& node) {
    const query::GenerateSettings* const settings = query::settingsOf(node);
    return settings != nullptr && !std::holds_alternative<float>(settings->temperature);
  });
  m_cases = experiment::planCases(m_request.query, planning);
  m_now.isReordered = m_cases[static_cast<std::size_t>(RunCase::Swapped)].gap == experiment::CaseGap::None;
  tell();
  run::SessionConfig config = sessionConfigOf(m_request.settings);
  config.store = {};
  warmUp(model, config, stop);
  m_clock.begin();
  for (MeasuredPolicy& policy : m_now.policies) {
    if (stop.stop_requested()) return Begun::Done;
    try {
      measure(model, policy, stop);
    } catch (const std::exception& failure) {
      if (stop.stop_requested()) return Begun::Done;
      policy.problem = failure.what();
      policy.stage = PolicyStage::Failed;
    }
    tell();
  }
  return Begun::Done;
}

void PolicyComparisonJob::measure(ModelBundle& model, MeasuredPolicy& policy, const std::stop_token& stop) {
  run::RunOptions options = runOptionsOf(m_request.settings);
  options.policy = choiceOf(policy.policy);
  run::SessionConfig config = sessionConfigOf(m_request.settings);
  config.store = {};  // cold is to be computed, not loaded
  ComparisonSink sink(config.blockSize);
  const std::unique_ptr<run::Session> session = makeSession(model, config, sink);
  const auto run = [&](RunCase runCase) {
    run::RunResult result = session->run(m_cases[static_cast<std::size_t>(runCase)].plan, options, stop);
    if (result.error) throw Failure(*result.error);
    if (result.outcome != trace::RunOutcome::Finished)
      throw Failure(errorAt("policy " + policy.policy, "a request to stop", {}));
    return result;
  };

  enter(policy, PolicyStage::Cold);
  const run::RunResult cold = run(RunCase::Cold);
  policy.answer = cold.answer;
  for (const run::StepResult& step : cold.steps) policy.generatedTokens += step.metrics.generatedTokens;
  std::map<RequestId, std::vector<std::string>> texts;
  const std::vector<run::FinishedReply> replies = sink.takeReplies(session->lastRun());
  for (const run::FinishedReply& reply : replies) texts[reply.request] = sink.textsOf(reply.request);
  policy.cold = sink.takeRun();

  enter(policy, PolicyStage::Fidelity);
  const experiment::FidelityModel measured{
      .decoder = *model.decoder, .backend = *model.backend, .tokenizer = model.tokenizer.get()};
  for (const run::FinishedReply& reply : replies) {
    m_clock.leaveOut([this] { letPass(); });
    ComparedReply compared{.node = reply.node,
                           .texts = std::move(texts[reply.request]),
                           .fullTexts = {},
                           .fidelity = experiment::measureFidelity(*session, measured, reply, stop).fidelity};
    for (const trace::FidelityToken& token : compared.fidelity.tokens)
      compared.fullTexts.push_back(model.tokenizer ? model.tokenizer->display(token.fullBest)
                                                   : std::to_string(token.fullBest));
    policy.replies.push_back(std::move(compared));
    tell();
  }

  enter(policy, PolicyStage::Reordered);
  run(m_now.isReordered ? RunCase::Swapped : RunCase::SameOrder);
  policy.reordered = sink.takeRun();
  policy.cacheBytes = filledBytes(*session, model);
  policy.stage = PolicyStage::Done;
}

void PolicyComparisonJob::enter(MeasuredPolicy& policy, PolicyStage stage) {
  policy.stage = stage;
  tell();
  m_clock.leaveOut([this] { letPass(); });
}

void PolicyComparisonJob::tell() {
  m_now.secondsLeft = m_clock.secondsLeft(m_now.progress());
  m_published.set(m_now);
  notifyProgress();
}

}  // namespace spanscope::workbench
