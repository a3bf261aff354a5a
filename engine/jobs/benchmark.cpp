// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/benchmark.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/experiment/experiment_amount.h"
#include "engine/query/json/json.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/run_options.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <variant>

namespace spanscope::jobs {
namespace {

using experiment::RunCase;
using workbench::RunSettings;
using workbench::SettingEffect;

constexpr std::int32_t kShortest = 64;
constexpr std::int32_t kLongest = 4096;

void addSettings(Digest& digest, const RunSettings& settings) {
  for (const workbench::Setting& setting : workbench::runSettings()) {
    digest.add(setting.key);
    std::visit(
        [&](const auto member) {
          const auto& value = settings.*member;
          using Value = std::remove_cvref_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::string>)
            digest.add(value);
          else if constexpr (std::is_arithmetic_v<Value>)
            digest.add(std::to_string(value));
          else
            digest.add(std::vector<std::uint64_t>(value.begin(), value.end()));
        },
        setting.member);
  }
}

void addQuery(Digest& digest, const document::Document& document) {
  if (document.root() == document::kNoNode) return;
  const document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  digest.add(taken.query ? query::writeCanonical(*taken.query) : std::string("incomplete"));
  for (const auto& [name, value] : document.parameters) {
    digest.add(name);
    digest.add(value);
  }
  for (const query::ParameterDeclaration& declared : document.declarations) {
    digest.add(declared.name);
    digest.add(declared.kind ? query::parameterKindName(*declared.kind) : "");
    digest.add(declared.defaultValue ? "=" + *declared.defaultValue : std::string());
  }
}

bool isSoundTime(const std::optional<double>& seconds) {
  return !seconds || (std::isfinite(*seconds) && *seconds >= 0);
}

bool isSoundTimes(const experiment::Summary& times) {
  return isSoundTime(times.median) && isSoundTime(times.lower) && isSoundTime(times.upper) &&
         std::all_of(times.samples.begin(), times.samples.end(), isSoundTime);
}

/// The options of a benchmark of lengths.
experiment::AbbaOptions lengthOptions(std::int32_t repeats) {
  return {.repeats = repeats, .seconds = 0, .coldRepeats = repeats};
}

void measureQuery(Benchmark& benchmark, Measurement& at) {
  const JobInput& input = at.input();
  const std::vector<experiment::PlannedCase> cases = experiment::planCases(at.query(), input.plan);
  for (const experiment::PlannedCase& planned : cases) benchmark.gaps.push_back(planned.gap);
  const run::SessionConfig config = at.sessionConfig();
  benchmark.blockCount = config.blockCount;
  experiment::RunMetricsSink sink;
  const std::unique_ptr<run::Session> session = workbench::makeSession(at.model(), config, sink);
  experiment::RepeatWatch watch;
  watch.runs = [&](std::int32_t turn, RunCase runCase) {
    benchmark.turn = turn;
    benchmark.runCase = runCase;
    at.report();
    at.pass();
  };
  watch.turnEnded = [&](const experiment::RepeatTurn& turn) { benchmark.turns.push_back(turn); };
  experiment::measureRepeats(
      *session, sink, cases,
      {.run = workbench::runOptionsOf(input.settings), .repeats = benchmark.choice.repeats}, watch,
      at.stop());
}

void measureLengths(Benchmark& benchmark, Measurement& at) {
  const model::ModelConfig& model = at.model().config;
  experiment::AbbaOptions options = lengthOptions(benchmark.choice.repeats);
  options.seam = [&at] { at.pass(); };
  options.documentTokens = measurableLengths(model.maxPositions);
  if (options.documentTokens.empty())
    throw Failure(errorAt("context", std::to_string(model.maxPositions) + " tokens",
                          "a context for two documents of 64 tokens and a question"));
  for (const std::int32_t tokens : options.documentTokens)
    benchmark.lengths.push_back({.documentTokens = tokens, .row = std::nullopt});
  run::SessionConfig config = at.sessionConfig();
  config.blockCount = experiment::abbaBlocks(options, config.blockSize);
  benchmark.blockCount = config.blockCount;
  trace::NoSink sink;
  const std::unique_ptr<run::Session> session = workbench::makeSession(at.model(), config, sink);
  // Costs that occur once, such as the copy of the weights into memory, do not count for any length.
  const experiment::AbbaOptions once{
      .documentTokens = options.documentTokens, .repeats = 1, .seconds = 0, .coldRepeats = 1};
  at.report();
  experiment::measureAbba(*session, model.vocabularySize, once, options.documentTokens.front(), at.stop());
  for (MeasuredLength& length : benchmark.lengths) {
    at.report();
    length.row =
        experiment::measureAbba(*session, model.vocabularySize, options, length.documentTokens, at.stop());
  }
}

/// By RunCase.
constexpr std::array kWarmingUp = {
    forTranslation("Events", "Benchmark: warming up, cold"),
    forTranslation("Events", "Benchmark: warming up, same order"),
    forTranslation("Events", /*id:warming-up-swapped*/ "Benchmark: warming up, order swapped"),
    forTranslation("Events", "Benchmark: warming up, floor")};
constexpr std::array kTurns = {
    forTranslation("Events", "Benchmark: turn %1 of %2, cold"),
    forTranslation("Events", "Benchmark: turn %1 of %2, same order"),
    forTranslation("Events", /*id:benchmark-turn-swapped*/ "Benchmark: turn %1 of %2, order swapped"),
    forTranslation("Events", "Benchmark: turn %1 of %2, floor")};

}  // namespace

std::uint64_t querySubject(const document::Document& document, const RunSettings& settings) {
  Digest digest;
  addSettings(digest, workbench::onlyThose(settings,
                                           {SettingEffect::Model, SettingEffect::Session, SettingEffect::Plan,
                                            SettingEffect::Retrieval, SettingEffect::Run}));
  addQuery(digest, document);
  return digest.value().high;
}

std::uint64_t benchmarkSubject(const document::Document& document, BenchmarkKind kind) {
  if (kind == BenchmarkKind::Query) return querySubject(document, document.settings);
  RunSettings settings =
      workbench::onlyThose(document.settings, {SettingEffect::Model, SettingEffect::Session});
  // A benchmark of lengths sets the size of its pool.
  settings.blockCount = RunSettings().blockCount;
  Digest digest;
  addSettings(digest, settings);
  return digest.value().high;
}

std::size_t Benchmark::measuredLengths() const {
  return static_cast<std::size_t>(std::count_if(
      lengths.begin(), lengths.end(), [](const MeasuredLength& length) { return length.row.has_value(); }));
}

double Benchmark::progress() const {
  if (choice.kind == BenchmarkKind::Lengths) {
    // A length takes about as long as all shorter lengths together.
    double done = 0;
    double all = 0;
    for (const MeasuredLength& length : lengths) {
      all += length.documentTokens;
      if (length.row) done += length.documentTokens;
    }
    return all > 0 ? done / all : 0;
  }
  const auto cases = static_cast<double>(
      std::max<std::ptrdiff_t>(1, std::count(gaps.begin(), gaps.end(), experiment::CaseGap::None)));
  const double inTurn = static_cast<double>(runCase) / cases;
  return std::min(1.0, (turn + inTurn) / (choice.repeats + 1.0));
}

std::vector<std::int32_t> measurableLengths(std::int64_t contextLength) {
  const experiment::AbbaOptions usual;
  std::vector<std::int32_t> lengths;
  for (std::int32_t tokens = kShortest; tokens <= kLongest; tokens *= 2) {
    const std::int64_t prompt =
        usual.systemTokens + std::int64_t{usual.documents} * tokens + usual.questionTokens;
    if (prompt < contextLength) lengths.push_back(tokens);
  }
  return lengths;
}

bool BenchmarkJob::isSound(const Benchmark& benchmark) {
  const auto isSoundTurn = [](const experiment::RepeatTurn& turn) {
    return std::all_of(turn.begin(), turn.end(), [](const std::optional<experiment::RunSample>& sample) {
      return !sample || (isSoundTime(sample->measured.timeToFirstToken) &&
                         isSoundTime(sample->measured.interTokenLatency) &&
                         isSoundTime(sample->measured.whole) && isSoundTime(sample->lastTimeToFirstToken));
    });
  };
  const auto isSoundLength = [](const MeasuredLength& length) {
    return length.documentTokens > 0 && (!length.row || (isSoundTimes(length.row->cold.seconds) &&
                                                         isSoundTimes(length.row->same.seconds) &&
                                                         isSoundTimes(length.row->swapped.seconds)));
  };
  return benchmark.choice.repeats > 0 && benchmark.gaps.size() <= experiment::kRunCases.size() &&
         std::all_of(benchmark.turns.begin(), benchmark.turns.end(), isSoundTurn) &&
         std::all_of(benchmark.lengths.begin(), benchmark.lengths.end(), isSoundLength);
}

std::optional<experiment::TokenAmount> BenchmarkJob::amount(const BenchmarkChoice& choice,
                                                            const EstimateFacts& facts) {
  if (choice.kind == BenchmarkKind::Lengths) {
    if (facts.context <= 0) return std::nullopt;
    experiment::TokenAmount amount;
    for (const std::int32_t tokens : measurableLengths(facts.context))
      amount += experiment::abbaAmount(lengthOptions(choice.repeats), tokens);
    return amount;
  }
  if (facts.empty == nullptr || facts.plan == nullptr) return std::nullopt;
  return experiment::repeatsAmount(experiment::coldAmount(*facts.empty, *facts.plan), choice.repeats);
}

trace::EventWords BenchmarkJob::activity(const Benchmark& benchmark) {
  if (benchmark.model.empty()) return {forTranslation("Events", "Benchmark: preparing"), {}};
  if (benchmark.choice.kind == BenchmarkKind::Query) {
    const auto runCase = static_cast<std::size_t>(benchmark.runCase);
    if (benchmark.turn == 0) return {kWarmingUp[runCase], {}};
    return {
        kTurns[runCase],
        {static_cast<std::uint32_t>(benchmark.turn), static_cast<std::uint32_t>(benchmark.choice.repeats)}};
  }
  for (const MeasuredLength& length : benchmark.lengths) {
    if (length.row) continue;
    return {forTranslation("Events", "Benchmark: documents of %1 tokens, %2 of %3"),
            {static_cast<std::uint32_t>(length.documentTokens),
             std::uint64_t{benchmark.measuredLengths() + 1}, std::uint64_t{benchmark.lengths.size()}}};
  }
  return {forTranslation("Events", "Benchmark"), {}};
}

void BenchmarkJob::measure(Benchmark& benchmark, const BenchmarkChoice& choice, Measurement& at) {
  benchmark.model = at.model().name;
  benchmark.device = at.model().backend->info().name;
  benchmark.policy = at.input().settings.policy;
  benchmark.blockSize = at.sessionConfig().blockSize;
  at.clock().begin();
  if (choice.kind == BenchmarkKind::Lengths)
    measureLengths(benchmark, at);
  else
    measureQuery(benchmark, at);
}

}  // namespace spanscope::jobs
