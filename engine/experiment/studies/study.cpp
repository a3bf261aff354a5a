// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/studies/study.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/run/run_options.h"
#include "engine/run/trace_values.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace spanscope::experiment {

namespace {

constexpr std::array kFiller = {"The weather was mild that day.", "Two men carried a ladder.",
                                "The stairs are steep.",          "The market closes at noon.",
                                "The river is wide in spring.",   "The soup was cold.",
                                "A boat left the pier.",          "The clock in the tower was slow.",
                                "The book lay on the table.",     "Birds sat on the roof."};

std::unique_ptr<run::Predictor> predictorOf(const ExperimentModel& model, const run::SessionConfig& config) {
  if (model.tokenizer == nullptr || model.chat == nullptr)
    throw Failure(errorAt("model " + model.name, "no tokenizer or no chat template",
                          "a tokenizer and a chat template, to count tokens"));
  return std::make_unique<run::Predictor>(config, model.decoder.config(), *model.tokenizer, *model.chat);
}

run::Prediction predictRun(run::Predictor& predictor, const plan::Plan& plan, const run::RunOptions& options,
                           const std::stop_token& stop) {
  run::Prediction prediction = predictor.predict(plan, options, stop);
  if (prediction.stopped) throw Failure(errorAt("the count of tokens", "The job was stopped.", {}));
  if (prediction.error) throw Failure(*prediction.error);
  return prediction;
}

/// Returns the max number of tokens of a step's answer.
std::int64_t mostTokens(const plan::Step& step) {
  constexpr std::int32_t kUsual = 256;  // the default of RunOptions::maxTokens
  return step.maxTokens.value_or(0) > 0 ? *step.maxTokens : kUsual;
}

TokenAmount amountOf(const run::StepPrediction& step, const plan::Plan& plan,
                     const run::RunOptions& options) {
  TokenAmount amount{.prompt = step.computed, .generated = {0, mostTokens(plan.steps[step.step]) - 1}};
  // A policy with its own compute plan may recompute cache hits.
  if (options.policy.policy().planRows != nullptr)
    amount.prompt.most = std::max(amount.prompt.most, step.prompt.most);
  return amount;
}

}  // namespace

std::uint64_t StudySink::send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) {
  if (FinishedAnswers::takes(payload)) {
    trace::Event event{.sequence = 0,
                       .time = 0,
                       .session = 1,
                       .run = run,
                       .request = request,
                       .node = node,
                       .payload = payload};
    m_answers.take(event);
  }
  return m_measured.send(run, request, node, std::move(payload));
}

Study::Study(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop, std::int32_t leastBlocks)
    : m_result(result), m_model(model), m_report(report), m_stop(stop), m_config(model.session) {
  m_config.blockCount = std::max(m_config.blockCount, leastBlocks);
}

run::Session& Study::session() {
  if (!m_session) m_session = m_model.open(m_config, m_sink);
  return *m_session;
}

void Study::begin(const std::string& doing) {
  if (m_stop.stop_requested())
    throw Failure(errorAt(m_result.request.experiment, "The job was stopped.", {}));
  m_result.doing = doing;
  m_report(m_result);
}

void Study::add(const std::string& series, double x, const std::vector<double>& values) {
  std::vector<std::vector<double>> samples;
  for (const double value : values) samples.push_back({value});
  addSamples(series, x, 0, samples);
}

void Study::addSamples(const std::string& series, double x, double y,
                       const std::vector<std::vector<double>>& samples) {
  auto point = std::ranges::find_if(m_result.points, [&](const ExperimentPoint& one) {
    return one.series == series && one.x == x && one.y == y;
  });
  if (point == m_result.points.end()) {
    m_result.points.push_back(
        {.series = series, .x = x, .y = y, .samples = std::vector<std::vector<double>>(samples.size())});
    point = std::prev(m_result.points.end());
  }
  for (std::size_t i = 0; i < samples.size(); ++i)
    point->samples[i].insert(point->samples[i].end(), samples[i].begin(), samples[i].end());
  m_report(m_result);
}

void Study::step() {
  ++m_result.done;
  if (counts()) m_model.tally->step();
}

void Study::count(const TokenAmount& amount) {
  m_model.tally->add(amount);
}

void Study::clearCache() {
  if (counts())
    m_predictor.reset();
  else
    session().clearCache();
}

void Study::remarkLeftOut(std::size_t lengths, std::int64_t context) {
  if (lengths == 0) return;
  remark(counted(lengths, "length") + " left out: the model's context ends at " + counted(context, "token") +
         ".");
}

void Study::remark(const std::string& sentence) {
  std::vector<std::string>& remarks = m_result.remarks;
  if (std::ranges::find(remarks, sentence) == remarks.end()) remarks.push_back(sentence);
}

trace::FidelityMeasured Study::fidelityOf(const run::FinishedAnswer& answer) {
  if (counts()) {
    // Counts the answer once more under its policy, with a prompt that is a cache hit, and a full prefill
    // with the answer.
    std::int64_t prompt = 0;
    for (const trace::SegmentInfo& segment : answer.segments) {
      if (!segment.hidden) prompt += static_cast<std::int64_t>(segment.tokens.size());
    }
    count({.prompt = {prompt + 2, prompt + 2 * m_longestAnswer}, .generated = {}});
    return {};
  }
  pass(m_model.seam);
  const FidelityModel measured{
      .decoder = m_model.decoder, .backend = m_model.backend, .tokenizer = m_model.tokenizer};
  return measureFidelity(session(), measured, answer, m_stop).fidelity;
}

NeedleRow Study::needle(const NeedleOptions& options, std::int32_t hayWords, std::int32_t portion) {
  if (!counts()) return measureNeedle(session(), options, hayWords, portion, m_stop);
  countNeedle(m_model, m_config, options, hayWords, portion, m_stop);
  NeedleRow row;
  row.foundAt.assign(static_cast<std::size_t>(options.documents), 0);
  return row;
}

Study::Ran Study::predict(const plan::Plan& plan, const run::RunOptions& options) {
  if (!m_predictor) m_predictor = predictorOf(m_model, m_config);
  const run::Prediction prediction = predictRun(*m_predictor, plan, options, m_stop);
  Ran ran;
  ran.sample.measured.promptTokens = 1;  // not 0, so that shares are defined
  m_longestAnswer = 1;
  for (const run::StepPrediction& step : prediction.steps) {
    count(amountOf(step, plan, options));
    m_longestAnswer = std::max(m_longestAnswer, mostTokens(plan.steps[step.step]));
    ran.result.steps.emplace_back().metrics.promptTokens = 1;
    ran.answers.emplace_back().segments = run::spanTableEvent(step.table, nullptr).segments;
  }
  return ran;
}

Study::Ran Study::run(const plan::Plan& plan, const std::string& policy, std::uint64_t seed) {
  run::RunOptions options;
  usePolicy(options, policy);
  options.seed = seed;
  if (counts()) return predict(plan, options);
  pass(m_model.seam);
  Ran ran{.sample = {}, .result = session().run(plan, options, m_stop), .answers = {}};
  ran.sample = m_sink.measured().take();
  ran.answers = m_sink.answers().takeRun(session().lastRun());
  if (ran.result.error) throw Failure(*ran.result.error);
  if (ran.result.outcome != trace::RunOutcome::Finished)
    throw Failure(errorAt(m_result.request.experiment, "The job was stopped.", {}));
  for (const run::StepResult& step : ran.result.steps) m_result.pace.add(step.metrics);
  return ran;
}

void countNeedle(const ExperimentModel& model, const run::SessionConfig& config, const NeedleOptions& options,
                 std::int32_t hayWords, std::int32_t portion, const std::stop_token& stop) {
  run::RunOptions runOptions;
  runOptions.policy = options.policy;
  runOptions.layout = options.layout;
  for (std::int32_t trial = 0; trial < options.trials; ++trial) {
    const plan::Plan plan = needlePlan(needleDocuments(options, hayWords, trial), portion);
    const std::unique_ptr<run::Predictor> predictor = predictorOf(model, config);
    for (const run::StepPrediction& step : predictRun(*predictor, plan, runOptions, stop).steps)
      model.tally->add(amountOf(step, plan, runOptions));
  }
}

plan::Plan studyPlan(const query::Node& query) {
  plan::PlanResult made = plan::makePlan(query, {});
  if (!made.plan) throw Failure(made.problems.front());
  return std::move(*made.plan);
}

std::int32_t repeatsOver(const ExperimentRequest& request, std::int32_t documents) {
  return request.own ? std::min(request.repeats, documents) : request.repeats;
}

plan::Plan ownPlan(const ExperimentRequest& request, std::int32_t documents, std::int32_t repeat) {
  return studyPlan(request.own->query(
      {.documents = documentsInTurn(static_cast<std::size_t>(documents), static_cast<std::size_t>(repeat))}));
}

std::string fillerText(std::int32_t words, std::uint64_t number) {
  std::string text = "Note " + std::to_string(number) + ".";
  std::uint64_t state = number * 0x9E3779B97F4A7C15ULL + 1;
  for (std::int32_t written = 2; written < words;) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    const char* sentence = kFiller[state % kFiller.size()];
    text.append(" ").append(sentence);
    written += static_cast<std::int32_t>(
                   std::count(sentence, sentence + std::char_traits<char>::length(sentence), ' ')) +
               1;
  }
  return text;
}

query::Node studyMessage(query::Role role, std::string text) {
  return {query::Message{.role = role, .text = std::move(text)}};
}

query::Node studyGenerate(query::Node input, std::int32_t maxTokens, float temperature) {
  return {query::Generate{.settings = {.model = {}, .maxTokens = maxTokens, .temperature = temperature},
                          .input = std::move(input)}};
}

namespace {

policy::Choice policyOf(std::string_view text) {
  auto read = policy::readChoice(text);
  if (auto* choice = std::get_if<policy::Choice>(&read)) return std::move(*choice);
  throw Failure(errorAt("policy", std::string(text), std::get<policy::ChoiceProblem>(read).expected));
}

}  // namespace

std::string everyPolicy() {
  std::string list;
  for (const policy::Policy* policy : policy::policies())
    list += (list.empty() ? "" : ",") + policy::Choice(*policy).name();
  return list;
}

std::vector<std::string> splitPolicies(std::string_view list) {
  std::vector<std::string> policies(1);
  int depth = 0;
  for (const char letter : list) {
    depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
    if (letter == ',' && depth == 0)
      policies.emplace_back();
    else if (letter != ' ')
      policies.back() += letter;
  }
  for (const std::string& policy : policies) policyOf(policy);
  return policies;
}

void usePolicy(run::RunOptions& options, std::string_view policy) {
  options.policy = policyOf(policy);
}

}  // namespace spanscope::experiment
