// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/case_runner.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/run/observation.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "tests/engine/run/whole_runs/reply_replays.h"
#include "tests/engine/run/whole_runs/run_checks.h"
#include "tests/engine/run/whole_runs/run_record.h"

#include <charconv>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace spanscope::test {
namespace {

constexpr int kMostEmptied = 5;

run::SessionConfig configOf(const SessionChoice& choice, const std::filesystem::path& folder) {
  constexpr std::uint64_t kLittle = 30'000;
  constexpr std::uint64_t kMuch = 1 << 24;
  run::SessionConfig config;
  config.blockSize = choice.blockSize;
  config.blockCount = choice.blocks;
  config.kvType = choice.halfKeys ? compute::DType::BF16 : compute::DType::F32;
  config.cacheTails = choice.tails;
  config.rowsPerPass = choice.rowsPerPass;
  const Tiers tiers = choice.tiers;
  if (tiers == Tiers::Host) config.store.hostBytes = kMuch;
  if (tiers == Tiers::LittleHost || tiers == Tiers::DiskBehindLittleHost) config.store.hostBytes = kLittle;
  if (tiers == Tiers::Disk || tiers == Tiers::DiskBehindLittleHost) {
    config.store.folder = folder;
    config.store.diskBytes = kMuch;
  }
  return config;
}

run::RunOptions optionsOf(const QueryRun& query, std::int32_t layers) {
  run::RunOptions options;
  options.policy = query.policy;
  options.layout = query.layout;
  options.seed = query.seed;
  options.maxTokens = query.maxTokens;
  options.topK = query.topK;
  options.topP = query.topP;
  if (query.observed == Observed::Answer) options.observedLayers = {layers - 1};
  if (query.observed == Observed::Everything) {
    options.observedLayers.resize(static_cast<std::size_t>(layers));
    std::iota(options.observedLayers.begin(), options.observedLayers.end(), 0);
    options.attentionDetail = run::AttentionDetail::Heads;
    options.observeRows = true;
  }
  return options;
}

/// Nothing where the query has no plan, e.g. a plus in the wrong place of a zip.
std::optional<plan::Plan> planOf(const QueryRun& query) {
  plan::PlanOptions options;
  options.seed = query.seed;
  options.distribute = query.distribute;
  options.outputForm = query.outputForm;
  options.locality.fanIn = query.fanIn;
  if (query.mapReduce) options.locality.shape = plan::LocalityShape::MapReduce;
  return plan::makePlan(query.query, options).plan;
}

/// The number after the first of the words that occurs; nothing if none occurs.
std::optional<std::int64_t> numberBehind(std::string_view text,
                                         std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    const std::size_t found = text.find(word);
    if (found == std::string_view::npos) continue;
    const std::string_view rest = text.substr(found + word.size());
    std::int64_t number = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), number).ec == std::errc()) return number;
  }
  return std::nullopt;
}

/// Whether a refusal says that a pool which nothing else is in has fewer blocks than are needed.
bool isTooLarge(std::string_view message) {
  const auto needed = numberBehind(message, {"and needs ", "together need ", "these tokens need "});
  const auto usable = numberBehind(message, {"The pool has ", "within the "});
  return needed && usable && *needed > *usable;
}

}  // namespace

/// One case: the warm session, and cold sessions with the same queries.
class CaseRunner::Scene {
 public:
  Scene(CaseRunner& runner, const RunCase& all)
      : m_models(runner.m_models), m_seen(runner.m_seen), m_case(all), m_folder(runner.m_folder / "store") {}
  ~Scene() {
    m_warm.reset();
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  /// What it was about when something was thrown.
  std::string doing() const { return m_doing; }

  Differences run(std::size_t index) {
    const QueryRun& query = m_case.runs[index];
    m_doing = "opening: ";
    prepare(query);
    const std::optional<plan::Plan> plan = planOf(query);
    if (!plan) return {};
    const run::RunOptions options =
        optionsOf(query, m_models.config(Endings::None, 1, m_case.warm.family).layers);
    Differences found;
    const auto take = [&](const Differences& more) { found.insert(found.end(), more.begin(), more.end()); };

    m_doing = "predicting: ";
    const bool isPredicted = query.emptyEvery == 0 && query.stopAfter == 0;
    std::optional<run::Prediction> predicted;
    if (isPredicted) {
      if (!m_predictor || !query.isPredictedAhead) m_predictor = m_warm->session->predictor();
      predicted = m_predictor->predict(*plan, options);
    } else {
      m_predictor.reset();
    }

    m_doing = "running: ";
    const RunRecord warm = runIn(*m_warm, *plan, options, query);
    take(checkTrace(m_warm->sink, warm, m_warm->session->dumpPool(), m_warm->session->lastRun()));
    take(checkFigures(warm));
    m_isTimed = m_isTimed || warm.isTimed;
    // What is looked for in tiers that turned out slow is decided by the clock.
    if (predicted && !m_isTimed) {
      take(checkPrediction(*predicted, *plan, warm));
      for (const run::StepPrediction& step : predicted->steps)
        ++(step.doubt == run::Doubt::None ? m_seen.exactSteps : m_seen.boundedSteps);
    }

    m_doing = "running cold: ";
    Opened cold(m_models, coldChoice(), {});
    QueryRun undisturbed = query;
    undisturbed.emptyEvery = 0;
    undisturbed.stopAfter = 0;
    const RunRecord simulator = runIn(cold, *plan, options, undisturbed);
    take(compareRuns(warm, simulator));
    if (warm.result.outcome == trace::RunOutcome::Failed) {
      take(compareFailures(warm, simulator, *plan, options, undisturbed));
      m_predictor.reset();
    } else if (warm.result.outcome == trace::RunOutcome::Finished && query.isReplayed && found.empty()) {
      m_doing = "replaying: ";
      take(checkReplays({*m_warm->session, m_warm->sink, warm}, {*cold.session, cold.sink, simulator},
                        {.policy = query.policy,
                         .plan = *plan,
                         .topK = query.topK,
                         .topP = query.topP,
                         .hasRoom = hasRoom(),
                         .isRecorded = query.observed == Observed::Everything}));
      m_seen.replays += static_cast<std::int64_t>(warm.result.steps.size());
      m_predictor.reset();
    }
    count(query, warm);
    return found;
  }

 private:
  /// A session with its sink.
  struct Opened {
    Opened(TinyModels& models, const SessionChoice& choice, const std::filesystem::path& folder)
        : session(std::make_unique<run::Session>(
              configOf(choice, folder),
              models.decoder(choice.endings, choice.positions, choice.threads, choice.family),
              models.backend(choice.threads), models.weights(choice.family).fingerprint(), "random",
              &models.tokenizer(), &models.chat(), sink)) {}

    WatchingSink sink;
    std::unique_ptr<run::Session> session;
  };

  bool hasRoom() const { return m_case.warm.blocks >= roomyBlocks(m_case.warm.blockSize); }

  void prepare(const QueryRun& query) {
    if (!m_warm || query.isFirstOfSession) {
      m_predictor.reset();
      m_warm.reset();
      m_warm = std::make_unique<Opened>(m_models, m_case.warm, m_folder);
    }
    if (query.isCacheEmptied) {
      m_predictor.reset();
      m_warm->session->clearCache();
    }
  }

  SessionChoice coldChoice() const {
    SessionChoice choice = m_case.warm;
    choice.blocks = roomyBlocks(choice.blockSize);
    choice.rowsPerPass = m_case.coldRowsPerPass;
    choice.threads = m_case.coldThreads;
    choice.tiers = Tiers::None;
    return choice;
  }

  static RunRecord runIn(Opened& opened, const plan::Plan& plan, run::RunOptions options,
                         const QueryRun& query) {
    opened.sink.beginRun(query.stopAfter);
    int passes = 0;
    if (query.emptyEvery > 0) {
      // Not for ever: prompts of more rows than it is left for would not come to an end.
      options.emptyCache = [&passes, every = query.emptyEvery] {
        return ++passes % every == 0 && passes / every <= kMostEmptied;
      };
    }
    run::RunResult result = opened.session->run(plan, options, opened.sink.stopToken());
    return {std::move(result), opened.sink.events()};
  }

  /// A failure with a filled cache is also a failure without, in the same words. If the cold session has
  /// room, another session with the same pool shows it. A pool that is too small may fail another of its
  /// requests, or the same later: cache hits decide whether a request fits that does not fit alone.
  Differences compareFailures(const RunRecord& warm, const RunRecord& simulator, const plan::Plan& plan,
                              const run::RunOptions& options, const QueryRun& query) {
    ++m_seen.failed;
    const auto isSame = [&](const RunRecord& other) {
      return other.result.error && other.result.error->message() == warm.result.error->message();
    };
    if (isSame(simulator)) return {};
    SessionChoice choice = m_case.warm;
    choice.tiers = Tiers::None;
    Opened narrow(m_models, choice, {});
    const RunRecord same = runIn(narrow, plan, options, query);
    if (isSame(same) || isTooLarge(warm.result.error->message())) return {};
    return {{.run = 0,
             .subject = Subject::Outcome,
             .text = "failed: " + warm.result.error->message() + "; cold in the same pool " +
                     (same.result.error ? "failed: " + same.result.error->message() : "it did not")}};
  }

  void count(const QueryRun& query, const RunRecord& warm) {
    ++m_seen.pairs;
    ++m_seen.policies[query.policy.policy().name];
    ++m_seen.layouts[layout::infoOf(query.layout).name];
    if (warm.result.outcome == trace::RunOutcome::Stopped) ++m_seen.stopped;
    m_seen.preemptions += warm.preemptions;
    m_seen.loadedBlocks += warm.loaded;
    m_seen.teams += static_cast<std::int64_t>(warm.teams.size());
    for (const run::StepResult& step : warm.result.steps) {
      m_seen.cachedTokens += step.metrics.cachedTokens;
      m_seen.relocatedTokens += step.metrics.relocatedTokens;
    }
    for (const auto& [request, answer] : warm.answers) m_seen.evictedBlocks += answer.evicted;
  }

  TinyModels& m_models;
  Seen& m_seen;
  const RunCase& m_case;
  std::filesystem::path m_folder;
  std::unique_ptr<Opened> m_warm;
  std::unique_ptr<run::Predictor> m_predictor;
  bool m_isTimed = false;
  std::string m_doing;
};

Differences CaseRunner::run(const RunCase& all) {
  Scene scene(*this, all);
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    Differences found;
    try {
      found = scene.run(i);
    } catch (const std::exception& exception) {
      found = {{.run = 0, .subject = Subject::Exception, .text = scene.doing() + exception.what()}};
    }
    for (Difference& difference : found) difference.run = i;
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace spanscope::test
