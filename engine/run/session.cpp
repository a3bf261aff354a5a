// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/session.h"

#include "engine/base/clock.h"
#include "engine/base/counted.h"
#include "engine/policy/policies.h"
#include "engine/run/computation.h"
#include "engine/run/drive_plan.h"
#include "engine/run/predictor.h"
#include "engine/run/prompt_bounds.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduler.h"
#include "engine/run/store_tiers.h"
#include "engine/run/trace_values.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

namespace spanscope::run {
namespace {

cache::CacheConfig cacheConfig(const SessionConfig& config, const model::ModelConfig& model,
                               const std::string& modelFingerprint, const compute::Backend& backend) {
  cache::CacheConfig out;
  out.blockSize = config.blockSize;
  out.blockCount = config.blockCount;
  out.cacheTails = config.cacheTails;
  out.positionStep = model::positionStepOf(model);
  // Everything that determines keys and values, except the token itself and the tokens that it attends to.
  out.fingerprint = "model=" + modelFingerprint + ";kv=" + compute::nameOf(*config.kvType) +
                    ";keys=local;block=" + std::to_string(config.blockSize) +
                    ";backend=" + backend.info().numericRevision;
  return out;
}

[[noreturn]] void refuse(const std::string& place, const std::string& found, const std::string& expected) {
  throw Failure({.file = {}, .place = place, .found = found, .expected = expected});
}

/// Returns the model's name for the user.
std::string nameInStore(const std::string& model) {
  const std::size_t slash = model.find_last_not_of('/');
  const std::string path = model.substr(0, slash == std::string::npos ? 0 : slash + 1);
  const std::size_t begin = path.find_last_of('/');
  return begin == std::string::npos ? path : path.substr(begin + 1);
}

/// Returns the prompt of an answer that is recomputed. The table does not contain the answer.
layout::SpanTable replayedTable(const std::vector<trace::SegmentInfo>& segments,
                                const std::vector<TokenId>& answer, const model::ModelConfig& model) {
  if (answer.empty()) refuse("answer", "no tokens", /*id:replay-one-token*/ "at least one token");
  for (const TokenId token : answer) {
    if (token >= 0 && token < model.vocabularySize) continue;
    refuse(/*id:token-reply*/ "token of the answer", std::to_string(token),
           "0 to " + std::to_string(model.vocabularySize - 1));
  }
  layout::SpanTable table = spanTableOf(segments, model.vocabularySize);
  const std::int64_t tokens = table.tokenCount() + static_cast<std::int64_t>(answer.size());
  if (tokens > model.maxPositions) {
    refuse("prompt and answer",
           /*id:prompt-answer-have*/ "Prompt and answer have " + counted(tokens, "token") + ".",
           /*id:models-context-is*/ "The model's context is " + counted(model.maxPositions, "token") + ".");
  }
  return table;
}

constexpr RunId kNoRun = 0;  ///< run number of the requests of a replay

/// A run, from its beginning until it has a result.
struct RunInProgress {
  std::shared_ptr<const plan::Plan> plan;
  RunOptions options;
  std::chrono::steady_clock::time_point begin;
  std::unique_ptr<PlanRun> steps;
};

/// A replay, from its beginning until its result is taken.
struct ReplayInProgress {
  AttentionReplayRequest asked;
  trace::AttentionReplayed said;
  std::int64_t tokens = 0;  ///< number of tokens in the prompt of the replay
  std::unique_ptr<ReplayedRequests> requests;
  std::optional<std::variant<trace::AttentionReplayed, Error>> result;  ///< set when the replay has ended
};

Error wasStopped() {
  return {.file = {}, .place = "run", .found = "The job was stopped.", .expected = {}};
}

SessionConfig checked(SessionConfig config) {
  if (config.rowsPerPass < 1) {
    refuse("max rows per forward pass", std::to_string(config.rowsPerPass), "at least 1");
  }
  if (!config.kvType) config.kvType = compute::DType::F32;
  if (config.kvType == compute::DType::F16) refuse("type of keys and values", "f16", "f32 or bf16");
  return config;
}

StoreTiers::TextOf blockTexts(const text::Tokenizer* tokenizer) {
  if (tokenizer == nullptr) return {};
  return [tokenizer](std::span<const TokenId> tokens) { return blockText(*tokenizer, tokens); };
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
        store(device.makeKvStore(decoder.kvShape(config.blockCount, config.blockSize, *config.kvType))),
        spans(config.store.isOn() ? std::make_shared<cache::SpanStore>(config.store) : nullptr),
        tiers(spans ? std::make_shared<StoreTiers>(
                          spans, device, *store,
                          cacheConfig(config, decoder.config(), modelFingerprint, device).fingerprint,
                          nameInStore(modelName), blockTexts(textTokenizer))
                    : nullptr),
        cache(cacheConfig(config, decoder.config(), modelFingerprint, device), sink, cache::xxh3Key, tiers),
        modelComputation(decoder, device, *store),
        computation(modelComputation, tiers ? tiers->rates() : nullptr),
        scheduler(computation, cache, attention, *this, config.rowsPerPass, config.salt, config.lastRequest),
        driver(scheduler,
               [this](const std::stop_token& stop) {
                 if (tiers) tiers->setStop(stop);
               }),
        lastRun(config.lastRun) {
    const compute::DeviceInfo info = device.info();
    rowsAreBitEqual = info.rowsAreBitEqual;
    deviceRemark = info.remark;
    sink.send(0, 0, {},
              trace::SessionStarted{.program = "Spanscope " SPANSCOPE_VERSION,
                                    .model = modelName,
                                    .backend = info.name,
                                    .threads = info.threads,
                                    .layers = decoder.config().layers,
                                    .heads = decoder.config().heads,
                                    .pool = cache.dump()});
    traceStore(0);
  }

  /// Reports the problems of the span store to the trace, as warnings. Also reports the measurements of the
  /// tiers.
  void tellProblems(RunId run) {
    if (!spans) return;
    for (const Error& error : spans->takeProblems()) {
      sink.send(
          run, 0, {},
          trace::MessageLogged{.severity = Severity::Warning, .text = "span store: " + error.message()});
    }
    for (const std::string& verdict : tiers->rates()->takeVerdicts()) {
      sink.send(run, 0, {},
                trace::MessageLogged{.severity = Severity::Note, .text = "span store: " + verdict});
    }
  }

  void traceStore(RunId run) {
    if (!spans) return;
    tellProblems(run);
    sink.send(run, 0, {}, spans->report(cache.config().fingerprint));
    if (trace::StoreTextsReported texts = spans->packTexts(); !texts.packs.empty())
      sink.send(run, 0, {}, std::move(texts));
  }

  ~Impl() override {
    try {
      finishKeeping({});
    } catch (const std::exception&) {
      // Lost contents can be recomputed, and no client is left for the error.
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void startKeeping(const cache::Patience& patience) {
    if (!spans) return;
    cache.beginKeeping();
    handOver(patience);
  }

  /// Continues the hand-over to the span store.
  void handOver(const cache::Patience& patience) {
    try {
      isKeeping = !cache.keepSome(patience) && !patience.stop.stop_requested();
    } catch (const std::exception& exception) {
      isKeeping = false;
      sink.send(0, 0, {},
                trace::MessageLogged{.severity = Severity::Warning,
                                     .text = std::string("span store: ") + exception.what()});
    }
  }

  void finishKeeping(const cache::Patience& patience) {
    if (!isKeeping) return;
    handOver(patience);
    if (!isKeeping) traceStore(0);
  }

  /// Called at the end of a run. While other runs are in progress, this run's contents stay in the pool for
  /// these runs. The contents of all these runs are later stored together.
  void keepInBackground(RunId run, trace::RunOutcome outcome) {
    leavesSomething = leavesSomething || outcome != trace::RunOutcome::Stopped;
    if (runs.empty() && !isReplaying()) {
      isKeeping = false;
      if (std::exchange(leavesSomething, false)) startKeeping({.most = std::chrono::milliseconds(0)});
    }
    traceStore(run);
  }

  bool isReplaying() const { return replay && !replay->result; }
  /// The replay that a request belongs to; null if there is no such replay.
  ReplayedRequests* replayOf(RequestId request) const {
    return isReplaying() && replay->requests->has(request) ? replay->requests.get() : nullptr;
  }

  /// The run that a request belongs to; null if there is no such run.
  PlanRun* runOf(RequestId request) const {
    for (const auto& [number, run] : runs) {
      if (run->steps->has(request)) return run->steps.get();
    }
    return nullptr;
  }

  void onAdmitted(RequestId request, const cache::Admission& admission) override {
    if (PlanRun* const run = runOf(request)) {
      run->onAdmitted(request, admission);
    } else if (ReplayedRequests* const own = replayOf(request)) {
      own->onAdmitted(request, admission);
    } else {
      cachedTokens = admission.cachedTokens;
    }
  }
  void onPreempted(RequestId request) override {
    if (PlanRun* const run = runOf(request)) {
      run->onPreempted(request);
    } else if (ReplayedRequests* const own = replayOf(request)) {
      own->onPreempted(request);
    }
  }
  void onLogits(RequestId request, std::span<const float> values) override {
    if (runOf(request) == nullptr) logits.emplace_back(values.begin(), values.end());
  }
  void onAlternatives(RequestId request, std::int32_t index,
                      const std::vector<compute::LikelyToken>& tokens) override {
    if (PlanRun* const run = runOf(request)) run->onAlternatives(request, index, tokens);
  }
  void onToken(RequestId request, std::int32_t index, const SampledToken& token,
               std::vector<float> segmentMass) override {
    if (PlanRun* const run = runOf(request)) run->onToken(request, index, token, std::move(segmentMass));
  }
  void onReplayed(RequestId request, trace::AttentionMass mass) override {
    if (ReplayedRequests* const own = replayOf(request)) {
      own->onReplayed(std::move(mass));
    } else {
      replayed.push_back(std::move(mass));
    }
  }
  void onFinished(RequestId request, trace::StepOutcome outcome) override {
    if (PlanRun* const run = runOf(request)) {
      run->onFinished(request, outcome);
    } else if (ReplayedRequests* const own = replayOf(request)) {
      own->onFinished();
    }
  }
  void onFailed(RequestId request, const Error& error) override {
    if (PlanRun* const run = runOf(request)) {
      run->onFailed(request, error);
    } else if (ReplayedRequests* const own = replayOf(request)) {
      own->onFailed(error);
    } else {
      logitsError = error;
    }
  }

  /// Returns everything that is needed to recompute an answer. The other members of its team come first,
  /// because all members are computed together. The last entry is `own`, which this function completes.
  std::vector<ReplayedRequests::Prompt> withTeam(const FinishedAnswer& finished,
                                                 ReplayedRequests::Prompt own) {
    const Teammates& teammates = finished.teammates;
    std::vector<ReplayedRequests::Prompt> prompts;
    if (teammates.members.empty()) {
      prompts.push_back(std::move(own));
      return prompts;
    }
    RequestOptions& options = own.options;
    TeamPlace place{.team = 1,
                    .place = 0,
                    .members = static_cast<std::uint32_t>(teammates.members.size()),
                    .positions = decoder.config().maxPositions};
    std::optional<TeamPlace> ownPlace;
    for (const Teammates::Member& member : teammates.members) {
      if (member.request == finished.request) {
        ownPlace = place;
      } else {
        RequestOptions given;
        given.run = options.run;
        given.node = options.node;
        given.salt = options.salt;
        given.team = place;
        given.given = member.answer;
        layout::SpanTable prompt = replayedTable(member.segments, member.answer, decoder.config());
        given.rows = finished.policy.planRows(prompt, true);
        prompts.push_back({.table = std::move(prompt), .options = std::move(given)});
      }
      ++place.place;
    }
    if (!ownPlace || place.members < 2) {
      refuse("replay of answers that were generated together", counted(prompts.size(), "other request"),
             "two or more answers, including this one");
    }
    options.team = ownPlace;
    options.given = finished.tokens;
    own.table.segments.back().tokens.resize(static_cast<std::size_t>(options.replay->firstRow) + 1);
    prompts.push_back(std::move(own));
    return prompts;
  }

  /// Computes requests of one run number outside of any plan. Throws Failure when it is stopped. Throws
  /// Failure if a request does not fit, or if a run or replay is in progress.
  void compute(std::vector<ReplayedRequests::Prompt> prompts, const std::stop_token& stop) {
    if (!runs.empty()) refuse("session", counted(runs.size(), "run") + " in progress", "an idle session");
    if (isReplaying()) refuse("session", "a replay in progress", "no replay");
    if (tiers) tiers->setStop(stop);
    const RunId run = prompts.front().options.run;
    logits.clear();
    logitsError.reset();
    for (ReplayedRequests::Prompt& prompt : prompts)
      scheduler.submit(std::move(prompt.table), std::move(prompt.options));
    Scheduler::Progress progress = Scheduler::Progress::Computed;
    try {
      while (progress == Scheduler::Progress::Computed) progress = scheduler.pass(stop);
    } catch (...) {
      scheduler.abort(run);
      throw;
    }
    if (progress == Scheduler::Progress::Stopped) {
      scheduler.abort(run);
      throw Failure(wasStopped());
    }
    if (logitsError) {
      scheduler.abort(run);
      throw Failure(*logitsError);
    }
  }

  /// Replays find the blocks of a run only under the salt of the run, which no trace contains. After very
  /// many salted runs, the oldest salts are dropped. A replay then recomputes.
  void rememberSalt(RunId run, const std::optional<std::string>& salt) {
    constexpr std::size_t kMostSalts = 4096;
    if (!salt) return;
    salts.emplace(run, *salt);
    if (salts.size() > kMostSalts) salts.erase(salts.begin());
  }
  std::optional<std::string> saltOf(RunId run) const {
    const auto found = salts.find(run);
    return found == salts.end() ? std::nullopt : std::optional(found->second);
  }

  void logError(RunId run, const Error& error) {
    sink.send(run, 0, error.place,
              trace::MessageLogged{.severity = Severity::Error, .text = error.message()});
  }

  /// Emits the events of a run that come before its first step.
  void tellBeginning(RunId run, const plan::Plan& plan, const RunOptions& options) {
    const auto warn = [&](const NodePath& node, const std::string& text) {
      sink.send(run, 0, node, trace::MessageLogged{.severity = Severity::Warning, .text = text});
    };
    sink.send(run, 0, {},
              trace::RunStarted{
                  .queryJson = options.queryJson, .policy = options.policy.name(), .seed = options.seed});
    if (std::vector<std::int32_t> windows = model::windowsOf(decoder.config()); !windows.empty())
      sink.send(run, 0, {}, trace::WindowsReported{std::move(windows)});
    for (const RetrievalReport& report : options.retrieved) {
      sink.send(run, 0, report.node, report.found);
      for (const std::string& text : report.warnings) warn(report.node, text);
    }
    sink.send(run, 0, {}, planEvent(plan, options.explain));
    if (options.policy.policy().wantsBlockAttention && !decoder.config().blockAttention)
      warn({}, policy::untrainedAdvice());
    if (!deviceRemark.empty()) warn({}, deviceRemark);
    if (!rowsAreBitEqual) warn({}, policy::closeDeviceAdvice());
  }

  RunId begin(std::shared_ptr<const plan::Plan> plan, RunOptions options, const std::stop_token& stop) {
    const RunId run = ++lastRun;
    auto made = std::make_unique<RunInProgress>(RunInProgress{.plan = std::move(plan),
                                                              .options = std::move(options),
                                                              .begin = std::chrono::steady_clock::now(),
                                                              .steps = nullptr});
    RunInProgress& own = *made;
    rememberSalt(run, own.options.salt);
    tellBeginning(run, *own.plan, own.options);
    const auto failAtOnce = [&](Error error) {
      logError(run, error);
      attention.end(run);
      finish(run, own,
             {.outcome = trace::RunOutcome::Failed, .error = std::move(error), .steps = {}, .answer = {}});
    };
    if (tokenizer == nullptr || chat == nullptr) {
      failAtOnce({.file = {},
                  .place = "session",
                  .found = "no tokenizer and chat template",
                  .expected = "a checkpoint that has both"});
      return run;
    }
    attention.begin(run, own.options.observedLayers, own.options.attentionBytes);
    try {
      own.steps = std::make_unique<PlanRun>(run, *own.plan, own.options, decoder.config(), *tokenizer,
                                            own.options.chat != nullptr ? *own.options.chat : *chat,
                                            config.blockSize, sink, stop);
    } catch (const Failure& failure) {
      // The vocabulary lacks a token of the layout, or the model does not fit the policy.
      failAtOnce(failure.error());
      return run;
    }
    driver.begin(*own.steps, run, own.options.priority, stop,
                 {.beforePass =
                      [this, &own] {
                        if (own.options.emptyCache && own.options.emptyCache())
                          scheduler.clearCache(Scheduler::Running::Preempt);
                      },
                  .afterPass = [this, run] { tellProblems(run); },
                  .onThrown = [this, run](const Error& error) { logError(run, error); }});
    runs.emplace(run, std::move(made));
    return run;
  }

  void advance() {
    for (DrivenPlan& driven : driver.advance()) {
      if (driven.run == kNoRun) {
        endReplay(driven);
        continue;
      }
      const auto ended = runs.find(driven.run);
      const std::unique_ptr<RunInProgress> own = std::move(ended->second);
      runs.erase(ended);
      attention.end(driven.run);
      finish(driven.run, *own,
             {.outcome = driven.outcome,
              .error = std::move(driven.error),
              .tooLong = own->steps->tooLongPrompt(),
              .steps = own->steps->results(),
              .answer = own->steps->answer()});
    }
  }

  /// Reports the result of a replay to the trace, unless it failed or was stopped.
  void endReplay(const DrivenPlan& driven) {
    ReplayInProgress& own = *replay;
    if (driven.outcome == trace::RunOutcome::Finished) {
      own.said.cachedTokens = own.requests->cachedTokens();
      // The row of the prompt's last token is among the reported rows.
      own.said.recomputedTokens = own.tokens - 1 - own.said.cachedTokens;
      notifyReplay(own.asked, own.said, own.requests->takeRows());
      own.result = own.said;
    } else {
      own.result = driven.error.value_or(wasStopped());
    }
    own.requests.reset();
    if (runs.empty() && std::exchange(leavesSomething, false))
      startKeeping({.most = std::chrono::milliseconds(0)});
  }

  void notifyReplay(const AttentionReplayRequest& asked, const trace::AttentionReplayed& said,
                    std::vector<trace::AttentionMass> rows) {
    const FinishedAnswer& answer = asked.answer;
    sink.send(answer.run, answer.request, answer.node, said);
    const std::int32_t heads = decoder.config().heads;
    std::int32_t index = 0;
    for (trace::AttentionMass& mass : rows) {
      if (asked.head >= 0) {
        const auto width = static_cast<std::ptrdiff_t>(mass.mass.size()) / heads;
        const auto from = mass.mass.begin() + asked.head * width;
        mass.mass = std::vector<float>(from, from + width);
        mass.heads = 1;
      }
      sink.send(answer.run, answer.request, answer.node,
                trace::ReplayedMass{.index = index++, .mass = std::move(mass)});
    }
  }

  void finish(RunId run, const RunInProgress& own, RunResult result) {
    sink.send(run, 0, {}, trace::RunFinished{.outcome = result.outcome, .answer = result.answer});
    result.seconds = secondsSince(own.begin);
    keepInBackground(run, result.outcome);
    results.insert_or_assign(run, std::move(result));
  }

  SessionConfig config;
  model::Decoder& decoder;
  bool rowsAreBitEqual = false;  ///< whether the device computes rows bit-equal
  std::string deviceRemark;
  const text::Tokenizer* tokenizer;
  const text::ChatTemplate* chat;
  trace::Sink& sink;
  AttentionLimit attention;
  std::unique_ptr<compute::KvStore> store;
  std::shared_ptr<cache::SpanStore> spans;  ///< null if the store is off
  std::shared_ptr<StoreTiers> tiers;
  cache::KvCache cache;
  ModelComputation modelComputation;
  TimedComputation computation;
  Scheduler scheduler;
  std::map<RunId, std::unique_ptr<RunInProgress>> runs;
  std::unique_ptr<ReplayInProgress> replay;  ///< null if no replay has begun since the last result was taken
  PlanDriver driver;

  RunId lastRun;
  std::map<RunId, RunResult> results;  ///< results that no client has taken yet
  std::map<RunId, std::string> salts;  ///< salts of the runs that had their own salts
  bool isKeeping = false;              ///< contents still have to be handed over or written
  bool leavesSomething = false;        ///< an ended run left contents whose hand-over has not begun
  std::vector<std::vector<float>> logits;
  std::int64_t cachedTokens = 0;
  std::optional<Error> logitsError;
  std::vector<trace::AttentionMass> replayed;
};

Session::Session(SessionConfig config, model::Decoder& decoder, compute::Backend& backend,
                 const std::string& modelFingerprint, const std::string& modelName,
                 const text::Tokenizer* tokenizer, const text::ChatTemplate* chat, trace::Sink& sink)
    : m_impl(std::make_unique<Impl>(std::move(config), decoder, backend, modelFingerprint, modelName,
                                    tokenizer, chat, sink)) {}

Session::~Session() = default;

RunResult Session::run(const plan::Plan& plan, const RunOptions& options, std::stop_token stop) {
  // The plan lives as long as this call.
  const std::shared_ptr<const plan::Plan> lent(std::shared_ptr<void>(), &plan);
  const RunId run = m_impl->begin(lent, options, stop);
  while (m_impl->runs.contains(run)) m_impl->advance();
  return std::move(m_impl->results.extract(run).mapped());
}

RunId Session::begin(std::shared_ptr<const plan::Plan> plan, RunOptions options, std::stop_token stop) {
  return m_impl->begin(std::move(plan), std::move(options), stop);
}

bool Session::isRunning() const {
  return !m_impl->runs.empty();
}

void Session::advance() {
  m_impl->advance();
}

std::optional<RunResult> Session::take(RunId run) {
  auto found = m_impl->results.extract(run);
  return found.empty() ? std::nullopt : std::optional(std::move(found.mapped()));
}

void Session::keepAll(const std::stop_token& stop) {
  m_impl->startKeeping({.stop = stop});
  m_impl->traceStore(0);
}

void Session::finishKeeping(const std::stop_token& stop) {
  m_impl->finishKeeping({.stop = stop});
}

void Session::startKeeping() {
  m_impl->startKeeping({.most = std::chrono::milliseconds(0)});
}

bool Session::keepFor(std::chrono::milliseconds most) {
  m_impl->finishKeeping({.most = most});
  return !m_impl->isKeeping;
}

LogitsResult Session::logits(const LogitsRequest& request, std::stop_token stop) {
  Impl& impl = *m_impl;
  if (request.table.segments.empty() || request.table.segments.back().tokens.empty()) {
    refuse("span table", /*id:no-tokens-last*/ "no tokens in the last segment", "at least one token");
  }
  for (const layout::Segment& segment : request.table.segments) {
    for (const TokenId token : segment.tokens) {
      if (token >= 0 && token < impl.decoder.config().vocabularySize) continue;
      refuse("span table", "token " + std::to_string(token),
             "0 to " + std::to_string(impl.decoder.config().vocabularySize - 1));
    }
  }
  RequestOptions options;
  options.run = ++impl.lastRun;
  options.logits = request.everyToken ? LogitReport::Every : LogitReport::Last;
  options.rows = request.rows;
  std::vector<ReplayedRequests::Prompt> prompts;
  prompts.push_back({.table = request.table, .options = std::move(options)});
  impl.compute(std::move(prompts), stop);
  return {.logits = std::move(impl.logits), .cachedTokens = impl.cachedTokens};
}

trace::AttentionReplayed Session::replayAttention(const AttentionReplayRequest& request,
                                                  std::stop_token stop) {
  beginReplay(request, std::move(stop));
  while (isReplaying()) advance();
  return *takeReplay();
}

bool Session::isReplaying() const {
  return m_impl->isReplaying();
}

std::optional<trace::AttentionReplayed> Session::takeReplay() {
  if (!m_impl->replay || !m_impl->replay->result) return std::nullopt;
  const auto result = std::move(*std::exchange(m_impl->replay, nullptr)->result);
  if (const Error* error = std::get_if<Error>(&result)) throw Failure(*error);
  return std::get<trace::AttentionReplayed>(result);
}

void Session::beginReplay(const AttentionReplayRequest& request, std::stop_token stop) {
  Impl& impl = *m_impl;
  if (impl.isReplaying()) refuse("session", "a replay in progress", "no replay");
  const model::ModelConfig& model = impl.decoder.config();
  const auto check = [](const char* what, std::int32_t value, std::int32_t least, std::int32_t count) {
    if (value >= least && value < count) return;
    refuse(what, std::to_string(value), std::to_string(least) + " to " + std::to_string(count - 1));
  };
  check("layer", request.layer, 0, model.layers);
  check("head", request.head, -1, model.heads);
  const FinishedAnswer& answer = request.answer;
  layout::SpanTable table = replayedTable(answer.segments, answer.tokens, model);
  RequestOptions options;
  options.rows = answer.policy.planRows(table, !answer.teammates.members.empty());
  const std::int64_t promptTokens = table.tokenCount();
  const auto rows = static_cast<std::int64_t>(answer.tokens.size());
  const std::int64_t heads = request.head < 0 ? model.heads : 1;
  const std::int64_t keys = (promptTokens + rows) / (request.singleKeys ? 1 : impl.config.blockSize) +
                            static_cast<std::int64_t>(table.segments.size());
  const std::uint64_t bytes = static_cast<std::uint64_t>(rows * keys) * sizeof(float);
  if (bytes * static_cast<std::uint64_t>(heads) > kReplayBytes) {
    refuse(/*id:attention-seen*/ "attention to record",
           counted(bytes * static_cast<std::uint64_t>(heads), "byte"),
           "at most " + std::to_string(kReplayBytes) + ": one head of a layer, or blocks instead of tokens");
  }
  std::vector<TokenId>& last = table.segments.back().tokens;
  trace::AttentionReplayed said;
  said.layer = request.layer;
  said.head = request.head;
  said.singleKeys = request.singleKeys;
  said.firstRow = static_cast<std::int32_t>(last.size()) - 1;
  said.rows = static_cast<std::int32_t>(rows);
  const std::int64_t tokens = allTokens(table, options.rows);
  last.insert(last.end(), answer.tokens.begin(), answer.tokens.end() - 1);

  options.node = answer.node;
  options.salt = impl.saltOf(answer.run);
  options.observedLayers = {request.layer};
  options.replay = ReplayedRows{.firstRow = said.firstRow, .singleKeys = request.singleKeys};
  auto made = std::make_unique<ReplayInProgress>();
  made->asked = request;
  made->said = said;
  made->tokens = tokens;
  made->requests = std::make_unique<ReplayedRequests>(
      impl.withTeam(answer, {.table = std::move(table), .options = std::move(options)}));
  impl.replay = std::move(made);
  impl.driver.begin(*impl.replay->requests, kNoRun, 0, std::move(stop),
                    {.beforePass = {}, .afterPass = {}, .onThrown = {}});
}

ReplayedAnswer Session::replayAnswer(const FinishedAnswer& answer, std::int32_t observedRows,
                                     std::stop_token stop) {
  Impl& impl = *m_impl;
  layout::SpanTable table = replayedTable(answer.segments, answer.tokens, impl.decoder.config());
  RequestOptions options;
  options.rows = answer.policy.planRows(table, !answer.teammates.members.empty());
  const std::int64_t tokens = allTokens(table, options.rows);
  std::vector<TokenId>& last = table.segments.back().tokens;
  options.node = answer.node;
  options.salt = impl.saltOf(answer.run);
  options.logits = LogitReport::Replayed;
  options.replay = ReplayedRows{.firstRow = static_cast<std::int32_t>(last.size()) - 1,
                                .singleKeys = true,
                                .observedRows = observedRows};
  if (observedRows > 0) {
    options.observedLayers.resize(static_cast<std::size_t>(impl.decoder.config().layers));
    std::iota(options.observedLayers.begin(), options.observedLayers.end(), 0);
  }
  last.insert(last.end(), answer.tokens.begin(), answer.tokens.end() - 1);
  impl.replayed.clear();
  impl.compute(impl.withTeam(answer, {.table = std::move(table), .options = std::move(options)}), stop);
  // The row of the prompt's last token is among the rows that are returned.
  return {.logits = std::exchange(impl.logits, {}),
          .attention = std::exchange(impl.replayed, {}),
          .cachedTokens = impl.cachedTokens,
          .recomputedTokens = tokens - 1 - impl.cachedTokens};
}

std::unique_ptr<Predictor> Session::predictor() const {
  const Impl& impl = *m_impl;
  if (impl.tokenizer == nullptr || impl.chat == nullptr)
    refuse("session", "no tokenizer and chat template", "a checkpoint that has both");
  return std::make_unique<Predictor>(impl.cache, impl.lastRun, impl.config, impl.decoder.config(),
                                     *impl.tokenizer, *impl.chat);
}

void Session::clearCache() {
  m_impl->scheduler.clearCache(Scheduler::Running::Keep);
}

trace::PoolState Session::dumpPool() const {
  return m_impl->cache.dump();
}

void Session::countFrom(RunId lastRun, RequestId lastRequest) {
  m_impl->lastRun = std::max(m_impl->lastRun, lastRun);
  m_impl->scheduler.countFrom(lastRequest);
}

RunId Session::lastRun() const {
  return m_impl->lastRun;
}

RequestId Session::lastRequest() const {
  return m_impl->scheduler.lastRequest();
}

const SessionConfig& Session::config() const {
  return m_impl->config;
}

}  // namespace spanscope::run
