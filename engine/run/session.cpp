// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/session.h"

#include "engine/policy/policies.h"
#include "engine/run/plan_run.h"
#include "engine/run/predictor.h"
#include "engine/run/scheduler.h"
#include "engine/run/trace_values.h"

#include <chrono>
#include <utility>

namespace spanscope::run {
namespace {

cache::CacheConfig cacheConfig(const SessionConfig& config, const std::string& modelFingerprint,
                               const compute::Backend& backend) {
  cache::CacheConfig out;
  out.blockSize = config.blockSize;
  out.blockCount = config.blockCount;
  out.cacheTails = config.cacheTails;
  // Everything that keys and values depend on besides tokens and what they see.
  out.fingerprint = "model=" + modelFingerprint + ";kv=" + compute::nameOf(config.kvType) +
                    ";keys=local;block=" + std::to_string(config.blockSize) +
                    ";backend=" + backend.info().numericRevision;
  return out;
}

[[noreturn]] void refuse(const std::string& place, const std::string& found, const std::string& expected) {
  throw Failure({.file = {}, .place = place, .found = found, .expected = expected});
}

/// What went wrong though nobody foresaw it, e.g. memory that could not be had.
Error unexpected(const std::exception& exception) {
  return {.file = {}, .place = "run", .found = exception.what(), .expected = "a pass that ends"};
}

SessionConfig checked(SessionConfig config) {
  if (config.rowsPerPass < 1) {
    refuse("rows per pass", std::to_string(config.rowsPerPass), "at least 1");
  }
  if (config.kvType == compute::DType::F16) refuse("type of keys and values", "f16", "f32 or bf16");
  return config;
}

}  // namespace

struct Session::Impl final : RequestListener {
  Impl(SessionConfig sessionConfig, model::Decoder& modelDecoder, compute::Backend& device,
       const std::string& modelFingerprint, const std::string& modelName,
       const text::Tokenizer* textTokenizer, const text::ChatTemplate* chatTemplate, trace::Sink& eventSink)
      : config(checked(std::move(sessionConfig))),
        decoder(modelDecoder),
        tokenizer(textTokenizer),
        chat(chatTemplate),
        sink(eventSink),
        attention(eventSink),
        cache(cacheConfig(config, modelFingerprint, device), sink),
        store(device.makeKvStore(decoder.kvShape(config.blockCount, config.blockSize, config.kvType))),
        computation(decoder, device, *store),
        scheduler(computation, cache, attention, *this, config.rowsPerPass, config.salt) {
    const compute::DeviceInfo info = device.info();
    sink.send(0, 0, {},
              trace::SessionStarted{.program = "Spanscope " SPANSCOPE_VERSION,
                                    .model = modelName,
                                    .backend = info.name,
                                    .threads = info.threads,
                                    .layers = decoder.config().layers,
                                    .heads = decoder.config().heads,
                                    .pool = cache.dump()});
  }

  void onAdmitted(RequestId request, const cache::Admission& admission) override {
    if (planRun != nullptr) planRun->onAdmitted(request, admission);
    cachedTokens = admission.cachedTokens;
  }
  void onPreempted(RequestId request) override {
    if (planRun != nullptr) planRun->onPreempted(request);
  }
  void onLogits(RequestId, std::span<const float> values) override {
    if (planRun == nullptr) logits.emplace_back(values.begin(), values.end());
  }
  void onToken(RequestId request, std::int32_t index, const SampledToken& token,
               std::vector<float> segmentMass) override {
    if (planRun != nullptr) planRun->onToken(request, index, token, std::move(segmentMass));
  }
  void onFinished(RequestId request, trace::StepOutcome outcome) override {
    if (planRun != nullptr) planRun->onFinished(request, outcome);
  }
  void onFailed(RequestId request, const Error& error) override {
    if (planRun != nullptr) {
      planRun->onFailed(request, error);
    } else {
      logitsError = error;
    }
  }

  void logError(RunId run, const Error& error) {
    sink.send(run, 0, error.place,
              trace::MessageLogged{.severity = Severity::Error, .text = error.message()});
  }

  /// Runs the plan's steps until all have ended, one failed or the run was stopped.
  trace::RunOutcome drive(PlanRun& steps, RunId run, const RunOptions& options, std::stop_token stop,
                          std::optional<Error>& error) {
    planRun = &steps;
    trace::RunOutcome outcome = trace::RunOutcome::Finished;
    try {
      while (!steps.done() && !steps.error()) {
        if (options.emptyCache && options.emptyCache()) scheduler.clearCache(Scheduler::Running::Preempt);
        if (stop.stop_requested() || scheduler.pass(stop, &steps) == Scheduler::Progress::Stopped) {
          outcome = trace::RunOutcome::Stopped;
          break;
        }
      }
    } catch (const Failure& failure) {
      error = failure.error();
    } catch (const std::exception& exception) {
      error = unexpected(exception);
    }
    if (error) logError(run, *error);
    if (steps.error()) error = steps.error();
    if (error) outcome = trace::RunOutcome::Failed;
    if (outcome != trace::RunOutcome::Finished) scheduler.abort(run);
    planRun = nullptr;
    return outcome;
  }

  SessionConfig config;
  model::Decoder& decoder;
  const text::Tokenizer* tokenizer;
  const text::ChatTemplate* chat;
  trace::Sink& sink;
  AttentionLimit attention;
  cache::KvCache cache;
  std::unique_ptr<compute::KvStore> store;
  ModelComputation computation;
  Scheduler scheduler;

  RunId lastRun = 0;
  PlanRun* planRun = nullptr;  ///< the run in progress
  std::vector<std::vector<float>> logits;
  std::int64_t cachedTokens = 0;
  std::optional<Error> logitsError;
};

Session::Session(SessionConfig config, model::Decoder& decoder, compute::Backend& backend,
                 const std::string& modelFingerprint, const std::string& modelName,
                 const text::Tokenizer* tokenizer, const text::ChatTemplate* chat, trace::Sink& sink)
    : m_impl(std::make_unique<Impl>(std::move(config), decoder, backend, modelFingerprint, modelName,
                                    tokenizer, chat, sink)) {}

Session::~Session() = default;

RunResult Session::run(const plan::Plan& plan, const RunOptions& options, std::stop_token stop) {
  Impl& impl = *m_impl;
  const RunId run = ++impl.lastRun;
  const auto begin = std::chrono::steady_clock::now();
  RunResult result;

  impl.sink.send(run, 0, {},
                 trace::RunStarted{
                     .queryJson = options.queryJson, .policy = options.policy->name, .seed = options.seed});
  for (const RetrievalReport& report : options.retrieved) {
    impl.sink.send(run, 0, report.node, report.found);
    for (const std::string& text : report.warnings) {
      impl.sink.send(run, 0, report.node, trace::MessageLogged{.severity = Severity::Warning, .text = text});
    }
  }
  impl.sink.send(run, 0, {}, planEvent(plan, options.explain));
  if (options.policy->wantsBlockAttention && !impl.decoder.config().blockAttention) {
    impl.sink.send(
        run, 0, {},
        trace::MessageLogged{
            .severity = Severity::Warning,
            .text =
                std::string("this checkpoint does not say that it was trained for block attention: answers "
                            "will be less accurate than with the policy ") +
                policy::policyForAnyCheckpoint().name});
  }
  if (impl.tokenizer == nullptr || impl.chat == nullptr) {
    result.error = Error{.file = {},
                         .place = "session",
                         .found = "no tokenizer and chat template",
                         .expected = "a checkpoint that has them"};
    result.outcome = trace::RunOutcome::Failed;
    impl.logError(run, *result.error);
  } else {
    impl.attention.begin(run, options.observedLayers, options.attentionBytes);
    PlanRun steps(run, plan, options, impl.decoder.config(), *impl.tokenizer, *impl.chat, impl.sink);
    result.outcome = impl.drive(steps, run, options, std::move(stop), result.error);
    result.steps = steps.results();
    result.answer = steps.answer();
    impl.attention.end();
  }
  impl.sink.send(run, 0, {}, trace::RunFinished{.outcome = result.outcome, .answer = result.answer});
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

LogitsResult Session::logits(const LogitsRequest& request, std::stop_token stop) {
  Impl& impl = *m_impl;
  if (request.table.segments.empty() || request.table.segments.back().tokens.empty()) {
    refuse("span table", "no tokens in the last segment", "at least one");
  }
  for (const layout::Segment& segment : request.table.segments) {
    for (const TokenId token : segment.tokens) {
      if (token >= 0 && token < impl.decoder.config().vocabularySize) continue;
      refuse("span table", "token " + std::to_string(token),
             "0 to " + std::to_string(impl.decoder.config().vocabularySize - 1));
    }
  }
  const RunId run = ++impl.lastRun;
  impl.logits.clear();
  impl.logitsError.reset();
  RequestOptions options;
  options.run = run;
  options.everyLogit = request.everyToken;
  impl.scheduler.submit(request.table, std::move(options));
  Scheduler::Progress progress = Scheduler::Progress::Computed;
  try {
    while (progress == Scheduler::Progress::Computed) progress = impl.scheduler.pass(stop);
  } catch (...) {
    impl.scheduler.abort(run);
    throw;
  }
  if (progress == Scheduler::Progress::Stopped) {
    impl.scheduler.abort(run);
    refuse("run", "a request to stop", "to be let finish");
  }
  if (impl.logitsError) throw Failure(*impl.logitsError);
  return {.logits = std::move(impl.logits), .cachedTokens = impl.cachedTokens};
}

std::unique_ptr<Predictor> Session::predictor() const {
  const Impl& impl = *m_impl;
  if (impl.tokenizer == nullptr || impl.chat == nullptr)
    refuse("session", "no tokenizer and chat template", "a checkpoint that has them");
  return std::make_unique<Predictor>(impl.cache, impl.lastRun, impl.config, impl.decoder.config(),
                                     *impl.tokenizer, *impl.chat);
}

void Session::clearCache() {
  m_impl->scheduler.clearCache(Scheduler::Running::Keep);
}

trace::PoolState Session::dumpPool() const {
  return m_impl->cache.dump();
}

const SessionConfig& Session::config() const {
  return m_impl->config;
}

}  // namespace spanscope::run
