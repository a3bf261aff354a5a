// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/probe.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/experiment/repeat_run.h"
#include "engine/experiment/studies/study.h"
#include "engine/metrics/token_account.h"
#include "engine/policy/policies.h"
#include "engine/run/predictor.h"
#include "engine/run/session.h"
#include "engine/trace/fidelity_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>

namespace spanscope::experiment {

namespace {

/// Collects costs and answers from the events of runs.
class ProbeSink final : public trace::Sink {
 public:
  explicit ProbeSink(std::int32_t blockSize) : m_accounts(blockSize) {}

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override {
    // Events without a run come from replays, which recompute an answer.
    if (run != 0 && !m_replays) {
      m_accounts.take(request, payload);
      if (request != 0) m_request = request;
    }
    return m_study.send(run, request, node, std::move(payload));
  }

  /// Returns the account of the last prompt, once.
  metrics::TokenAccount takeAccount() {
    const metrics::TokenAccount account = m_accounts.of(m_request).prompt;
    m_accounts.forget(m_request);
    return account;
  }
  StudySink& study() { return m_study; }
  void setReplays(bool replays) { m_replays = replays; }

 private:
  metrics::TokenAccounts m_accounts;
  StudySink m_study;
  RequestId m_request = 0;
  bool m_replays = false;  ///< the events belong to the replay of an answer
};

/// The greedy answer of a full prefill, and the logits of its tokens.
struct Reference {
  std::vector<TokenId> prompt;
  std::vector<TokenId> answer;
  std::vector<std::vector<float>> logits;  ///< by token of the answer
};

Reference referenceOf(std::vector<TokenId> prompt, const ExperimentModel& model, const run::Session& session,
                      const std::stop_token& stop) {
  Reference reference{.prompt = std::move(prompt), .answer = {}, .logits = {}};
  const auto tokens = static_cast<std::int64_t>(reference.prompt.size());
  const run::SessionConfig& config = session.config();
  FlatSequence full(model.decoder, model.backend, tokens + kProbeAnswerTokens, config.blockSize,
                    *config.kvType);
  const std::span<const TokenId> all(reference.prompt);
  for (std::int64_t begin = 0; begin < tokens - 1;) {
    const std::int64_t count = std::min<std::int64_t>(config.rowsPerPass, tokens - 1 - begin);
    full.compute(begin, all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)),
                 FlatSequence::Rows::Silent, stop);
    begin += count;
  }
  const std::vector<TokenId> ends = model.decoder.config().endTokenIds();
  TokenId last = reference.prompt.back();
  for (std::int32_t i = 0; i < kProbeAnswerTokens; ++i) {
    model::ForwardResult result =
        full.compute(tokens - 1 + i, std::span(&last, 1), FlatSequence::Rows::Logits, stop);
    last = Distribution(result.logits).best();
    reference.answer.push_back(last);
    reference.logits.push_back(std::move(result.logits));
    if (std::ranges::find(ends, last) != ends.end()) break;
  }
  return reference;
}

/// Returns the plan that caches the documents: in another order, and with answers of one token.
plan::Plan cachingPlan(plan::Plan plan) {
  plan::Plan caching = withReversedPluses(std::move(plan));
  for (plan::Step& step : caching.steps) step.maxTokens = 1;
  return caching;
}

/// Measures all questions on one model.
class Probing {
 public:
  Probing(const ExperimentModel& model, SpeedSample& pace, const std::stop_token& stop)
      : m_model(model),
        m_pace(pace),
        m_stop(stop),
        m_sink(model.session.blockSize),
        m_session(model.open(configOf(model), m_sink)) {}

  static run::SessionConfig configOf(const ExperimentModel& model) {
    constexpr std::int32_t kLeastBlocks = 1024;
    run::SessionConfig config = model.session;
    config.blockCount = std::max(config.blockCount, kLeastBlocks);
    return config;
  }

  /// Caches the documents of a question, as an earlier question over them does.
  void cacheDocuments(const plan::Plan& plan) {
    notePace(run(cachingPlan(plan), policy::Choice()));
    m_sink.takeAccount();
    m_sink.study().answers().takeRun(m_session->lastRun());
    m_references.clear();
  }

  /// Returns the prompt of a plan as a full prefill reads it.
  std::vector<TokenId> promptOf(plan::Plan plan) {
    for (plan::Step& step : plan.steps) step.maxTokens = 1;
    notePace(run(plan, policy::Choice(policy::policyForAnyCheckpoint())));
    m_sink.takeAccount();
    std::vector<run::FinishedAnswer> answers = m_sink.study().answers().takeRun(m_session->lastRun());
    if (answers.empty()) throw Failure(errorAt("the reference", "no answer", "an answer"));
    return visibleTokens(answers.back().segments);
  }

  /// `reference`: the prompt whose full prefill is the reference. Nothing: the prompt of the plan.
  ProbeSample measure(const plan::Plan& plan, const std::string& policy,
                      const std::optional<std::vector<TokenId>>& reference, std::string& fullAnswer) {
    run::RunOptions options;
    usePolicy(options, policy);
    options.policy.checkFor(m_model.decoder.config().layers);
    ProbeSample sample;
    const Ran ran = run(plan, options.policy);
    const metrics::TokenAccount account = m_sink.takeAccount();
    std::vector<run::FinishedAnswer> answers = m_sink.study().answers().takeRun(m_session->lastRun());
    if (answers.empty()) throw Failure(errorAt("policy " + policy, "no answer", "an answer"));
    run::FinishedAnswer& answer = answers.back();
    sample.answer = ran.result.answer;
    sample.promptTokens = account.total();
    sample.recomputed = account.again;
    sample.computed = account.computed;
    sample.seconds = ran.sample.measured.timeToFirstToken.value_or(0);

    // Recomputed tokens take time, but the metrics of a step do not count them.
    if (account.again == 0) notePace(ran);

    pass(m_model.seam);
    const Reference& full = referenceFor(reference ? *reference : visibleTokens(answer.segments));
    if (m_model.tokenizer != nullptr) fullAnswer = textOf(full.answer);
    sample.sameAnswer = answer.tokens == full.answer;
    // Every policy predicts the same tokens, so that their divergences can be compared.
    answer.tokens = full.answer;
    m_sink.setReplays(true);
    const std::shared_ptr<void> atEnd(nullptr, [this](void*) { m_sink.setReplays(false); });
    compare(full, m_session->replayAnswer(answer, 0, m_stop), sample);
    return sample;
  }

 private:
  struct Ran {
    RunSample sample;
    run::RunResult result;
  };

  Ran run(const plan::Plan& plan, const policy::Choice& policy) {
    if (m_stop.stop_requested()) throw Failure(errorAt("the probe", "The job was stopped.", {}));
    pass(m_model.seam);
    run::RunOptions options;
    options.policy = policy;
    Ran ran{.sample = {}, .result = m_session->run(plan, options, m_stop)};
    ran.sample = m_sink.study().measured().take();
    if (ran.result.error) throw Failure(*ran.result.error);
    if (ran.result.outcome != trace::RunOutcome::Finished)
      throw Failure(errorAt("the probe", "The job was stopped.", {}));
    return ran;
  }

  void notePace(const Ran& ran) {
    for (const run::StepResult& step : ran.result.steps) m_pace.add(step.metrics);
  }

  /// Policies usually have the same tokens.
  const Reference& referenceFor(std::vector<TokenId> prompt) {
    const auto found = std::ranges::find(m_references, prompt, &Reference::prompt);
    if (found != m_references.end()) return *found;
    return m_references.emplace_back(referenceOf(std::move(prompt), m_model, *m_session, m_stop));
  }

  static void compare(const Reference& reference, const run::ReplayedAnswer& replayed, ProbeSample& sample) {
    sample.tokens = static_cast<std::int64_t>(reference.answer.size());
    double sum = 0;
    for (std::size_t i = 0; i < reference.answer.size(); ++i) {
      const Distribution full(reference.logits[i]);
      const Distribution policy(replayed.logits[i]);
      const double divergence = full.divergenceFrom(policy);
      sum += divergence;
      sample.mostDivergence = std::max(sample.mostDivergence, divergence);
      sample.agreeing += full.best() == policy.best() ? 1 : 0;
    }
    sample.divergence = sum / static_cast<double>(sample.tokens);
  }

  std::string textOf(const std::vector<TokenId>& tokens) const {
    text::StreamDecoder decoder(*m_model.tokenizer);
    std::string text;
    for (const TokenId token : tokens) {
      if (!m_model.tokenizer->isControl(token)) text += decoder.push(token);
    }
    return text + decoder.finish();
  }

  const ExperimentModel& m_model;
  SpeedSample& m_pace;
  const std::stop_token& m_stop;
  ProbeSink m_sink;
  std::unique_ptr<run::Session> m_session;
  std::vector<Reference> m_references;  ///< of the current question
};

}  // namespace

std::vector<std::string> probedPolicies() {
  return splitPolicies("spans,link(16),link(64),blend(0.15),blend(0.3),shared-prefix,prefix");
}

std::size_t ProbedModel::samples() const {
  std::size_t count = 0;
  for (const ProbedQuestion& question : questions) count += question.samples.size();
  return count;
}

void probeModel(ProbedModel& result, const ExperimentModel& model, std::span<const ProbeQuestion> questions,
                std::span<const std::string> policies, SpeedSample& pace, const std::function<void()>& report,
                const std::stop_token& stop) {
  result.name = model.name;
  result.device = model.machine;
  result.isTrained = model.decoder.config().blockAttention;
  Probing probing(model, pace, stop);
  for (const ProbeQuestion& question : questions) {
    ProbedQuestion& probed =
        result.questions.emplace_back(ProbedQuestion{.name = question.name, .isOwn = question.isOwn});
    std::string problem;
    const auto attempt = [&](const auto& step) {
      try {
        step();
      } catch (const Failure& failure) {
        if (stop.stop_requested()) throw;
        problem = failure.what();
      }
    };
    std::optional<plan::Plan> plan;
    std::optional<std::vector<TokenId>> reference;
    attempt([&] {
      plan = studyPlan(question.query);
      probing.cacheDocuments(*plan);
      if (question.reference) reference = probing.promptOf(studyPlan(*question.reference));
    });
    for (const std::string& policy : policies) {
      ProbeSample sample{.problem = problem};
      if (problem.empty()) {
        attempt([&] { sample = probing.measure(*plan, policy, reference, probed.answer); });
        sample.problem = std::exchange(problem, {});
      }
      probed.samples.push_back(std::move(sample));
      report();
    }
  }
}

std::vector<TokenAmount> countProbe(const ExperimentModel& model, std::span<const ProbeQuestion> questions,
                                    std::span<const std::string> policies, const std::stop_token& stop) {
  if (model.tokenizer == nullptr || model.chat == nullptr)
    throw Failure(errorAt("model " + model.name, "no tokenizer or no chat template",
                          "a tokenizer and a chat template, to count tokens"));
  run::Predictor predictor(Probing::configOf(model), model.decoder.config(), *model.tokenizer, *model.chat);
  constexpr std::int64_t kLater = kProbeAnswerTokens - 1;
  TokenAmount total;
  std::vector<TokenAmount> amounts;
  std::int64_t prompt = 0;
  const auto predict = [&](const plan::Plan& plan, const policy::Choice& policy) {
    run::RunOptions options;
    options.policy = policy;
    const run::Prediction prediction = predictor.predict(plan, options, stop);
    if (prediction.stopped) throw Failure(errorAt("the count of tokens", "The job was stopped.", {}));
    if (prediction.error) throw Failure(*prediction.error);
    for (const run::StepPrediction& step : prediction.steps) {
      TokenAmount amount{.prompt = step.computed, .generated = {}};
      // Such a policy may recompute cache hits.
      if (policy.policy().planRows != nullptr)
        amount.prompt.most = std::max(amount.prompt.most, step.prompt.most);
      total += amount;
      prompt = step.prompt.most;
    }
  };
  for (const ProbeQuestion& question : questions) {
    const plan::Plan plan = studyPlan(question.query);
    predict(cachingPlan(plan), policy::Choice());
    if (question.reference)
      predict(studyPlan(*question.reference), policy::Choice(policy::policyForAnyCheckpoint()));
    const std::int64_t referencePrompt = prompt;
    for (const std::string& policy : policies) {
      run::RunOptions options;
      usePolicy(options, policy);
      predict(plan, options.policy);
      // The answer, and its tokens once more as rows of a prompt.
      total += {.prompt = {kLater, kLater}, .generated = {0, kLater}};
    }
    if (question.reference) prompt = referencePrompt;
    total += {.prompt = {prompt, prompt}, .generated = {0, kLater}};
    amounts.push_back(total);
  }
  return amounts;
}

// ---- verdict ---------------------------------------------------------------------------------

ProbeLevel ProbeRow::level() const {
  if (meanDivergence > kFar.divergence || agreement() < kFar.agreement) return ProbeLevel::Far;
  const bool isClose = meanDivergence <= kClose.divergence && agreement() >= kClose.agreement &&
                       divergence.most() <= kFar.divergence;
  return isClose ? ProbeLevel::Close : ProbeLevel::Between;
}

std::vector<ProbeRow> probeRows(const ProbedModel& model, std::span<const std::string> policies,
                                std::optional<bool> isOwn) {
  std::vector<ProbeRow> rows;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    ProbeRow& row = rows.emplace_back(ProbeRow{.policy = policies[i]});
    std::vector<double> divergences;
    std::vector<double> seconds;
    for (const ProbedQuestion& question : model.questions) {
      if (i >= question.samples.size() || (isOwn && *isOwn != question.isOwn)) continue;
      const ProbeSample& sample = question.samples[i];
      if (!sample.problem.empty()) {
        if (row.problem.empty()) row.problem = sample.problem;
        continue;
      }
      ++row.questions;
      divergences.push_back(sample.divergence);
      seconds.push_back(sample.seconds);
      row.mostDivergence = std::max(row.mostDivergence, sample.mostDivergence);
      row.tokens += sample.tokens;
      row.agreeing += sample.agreeing;
      row.sameAnswers += sample.sameAnswer ? 1 : 0;
      row.promptTokens += static_cast<double>(sample.promptTokens);
      row.recomputed += static_cast<double>(sample.recomputed);
      row.computed += static_cast<double>(sample.computed);
    }
    if (row.questions == 0) continue;
    const auto count = static_cast<double>(row.questions);
    row.meanDivergence = std::accumulate(divergences.begin(), divergences.end(), 0.0) / count;
    row.divergence = summarize(std::move(divergences));
    row.seconds = summarize(std::move(seconds));
    for (double* mean : {&row.promptTokens, &row.recomputed, &row.computed}) *mean /= count;
  }
  return rows;
}

std::string recommendedPolicy(std::span<const ProbeRow> rows) {
  const ProbeRow* best = nullptr;
  bool isMeasured = false;
  for (const ProbeRow& row : rows) {
    isMeasured = isMeasured || row.questions > 0;
    if (row.questions == 0 || !row.problem.empty() || row.level() != ProbeLevel::Close) continue;
    if (best == nullptr || row.computed + row.recomputed < best->computed + best->recomputed) best = &row;
  }
  if (best != nullptr) return best->policy;
  return isMeasured ? policy::Choice(policy::policyForAnyCheckpoint()).name() : std::string();
}

const char* probeLevelName(ProbeLevel level) {
  switch (level) {
    case ProbeLevel::Close:
      return "safe";
    case ProbeLevel::Between:
      return "unclear";
    case ProbeLevel::Far:
      return "not safe";
  }
  return "";
}

namespace {

/// The row of the default policy; null: it was not measured.
const ProbeRow* subjectOf(std::span<const ProbeRow> rows) {
  const auto found = std::ranges::find(rows, policy::Choice().name(), &ProbeRow::policy);
  return found == rows.end() || found->questions == 0 ? nullptr : &*found;
}

const ProbeRow* rowOf(std::span<const ProbeRow> rows, const std::string& policy) {
  const auto found = std::ranges::find(rows, policy, &ProbeRow::policy);
  return found == rows.end() || found->questions == 0 ? nullptr : &*found;
}

/// "KL 0.12 nats (0.03 to 0.4), 88 % of 120 tokens agree, 3 of 8 answers are the same".
std::string factsOf(const ProbeRow& row) {
  return fmt::format("KL {} nats ({} to {}), {:.0f} % of {} tokens agree, {} of {} answers are the same",
                     trace::divergenceText(row.meanDivergence), trace::divergenceText(row.divergence.least()),
                     trace::divergenceText(row.divergence.most()), 100 * row.agreement(), row.tokens,
                     row.sameAnswers, row.questions);
}

std::string costOf(const ProbeRow& row) {
  return fmt::format("{:.0f} of {:.0f} prompt tokens computed, including {:.0f} tokens that were cached",
                     row.computed + row.recomputed, row.promptTokens, row.recomputed);
}

}  // namespace

std::vector<std::string> probeSentences(const ProbedModel& model, std::span<const ProbeRow> rows,
                                        std::span<const ProbeRow> reference) {
  std::vector<std::string> sentences;
  const std::string recommended = recommendedPolicy(rows);
  if (recommended.empty()) return sentences;
  if (const ProbeRow* subject = subjectOf(rows)) {
    sentences.push_back(fmt::format("{} is {} on these {}: {}.", subject->policy,
                                    probeLevelName(subject->level()), counted(subject->questions, "question"),
                                    factsOf(*subject)));
    if (model.isTrained && subject->level() != ProbeLevel::Close)
      sentences.emplace_back(
          "This model was trained for block attention. Its answers may be right although they differ from a "
          "full prefill.");
  }
  if (const ProbeRow* row = rowOf(rows, recommended); row != nullptr && row->level() == ProbeLevel::Close)
    sentences.push_back(fmt::format("Recommended for this model: {} ({}).", recommended, costOf(*row)));
  else
    sentences.push_back(
        fmt::format("No measured policy is safe. Recommended for this model: {}.", recommended));
  if (const ProbeRow* subject = subjectOf(reference))
    sentences.push_back(fmt::format("The bundled model under {}: {}.", subject->policy, factsOf(*subject)));
  const auto own =
      static_cast<std::size_t>(std::ranges::count(model.questions, true, &ProbedQuestion::isOwn));
  sentences.push_back(
      fmt::format("Measured: {} over built-in documents and {} over your documents, on one device. Each "
                  "answer has at most {} tokens. Parentheses contain the smallest and the largest KL of a "
                  "question. Other questions can give other results.",
                  counted(model.questions.size() - own, "question"), own, kProbeAnswerTokens));
  return sentences;
}

std::string probeRules() {
  return fmt::format(
      "Safe: the mean KL is at most {:g} nats, and at least {:.0f} % of the tokens agree. No question has a "
      "KL above "
      "{:g}. Not safe: the mean KL is above {:g} nats, or less than {:.0f} % of the tokens agree.",
      kClose.divergence, 100 * kClose.agreement, kFar.divergence, kFar.divergence, 100 * kFar.agreement);
}

HeatChart probeChart(const ProbedModel& model, const ProbedModel* reference,
                     std::span<const std::string> policies) {
  const std::vector<ProbeRow> rows = probeRows(model, policies);
  const ProbeRow* const subject = subjectOf(rows);
  const std::string recommended = recommendedPolicy(rows);
  HeatChart chart;
  chart.texts.title = "Probe of " + model.name;
  if (subject != nullptr)
    chart.texts.title += fmt::format(": {} is {}", subject->policy, probeLevelName(subject->level()));
  chart.texts.subtitle = "KL from a full prefill, nats, mean over an answer";
  if (!recommended.empty()) chart.texts.subtitle += "; recommended: " + recommended;
  chart.texts.xLabel = counted(model.questions.size(), "question") + ", " + model.device;
  chart.texts.yLabel = "policy, computed share";
  for (const ProbeRow& row : rows) {
    chart.rows.push_back(row.policy);
    if (row.promptTokens > 0)
      chart.rows.back() +=
          fmt::format(": {:.0f} %", 100 * (row.computed + row.recomputed) / row.promptTokens);
  }
  for (std::size_t i = 0; i < model.questions.size(); ++i) chart.columns.push_back(std::to_string(i + 1));
  const double most = 2 * kFar.divergence;
  for (const ProbedModel* each : {&model, reference}) {
    if (each == nullptr) continue;
    HeatMapPanel& panel = chart.panels.emplace_back(HeatMapPanel{.title = each->name, .cells = {}});
    for (std::size_t row = 0; row < policies.size(); ++row) {
      std::vector<std::optional<HeatMapCell>>& cells = panel.cells.emplace_back();
      for (std::size_t i = 0; i < model.questions.size(); ++i) {
        cells.emplace_back();
        if (i >= each->questions.size() || row >= each->questions[i].samples.size()) continue;
        const ProbeSample& sample = each->questions[i].samples[row];
        if (!sample.problem.empty()) continue;
        const double value = sample.divergence;
        cells.back() = HeatMapCell{.number = {.value = value,
                                              .low = value,
                                              .high = sample.mostDivergence,
                                              .samples = static_cast<std::size_t>(sample.tokens)},
                                   .shade = std::min(1.0, value / most),
                                   .text = value == 0      ? std::string("0")
                                           : value < 0.005 ? std::string("<.01")
                                                           : fmt::format("{:.2f}", value)};
      }
    }
  }
  chart.scale = {{.at = 0, .text = "0"},
                 {.at = 0.5, .text = fmt::format("{:g}", kFar.divergence)},
                 {.at = 1, .text = fmt::format("≥ {:g}", most)}};
  return chart;
}

}  // namespace spanscope::experiment
