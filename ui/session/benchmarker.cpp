// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/benchmarker.h"

#include "engine/base/error.h"
#include "engine/run/session_config.h"
#include "engine/trace/no_sink.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/run_options.h"

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr std::int32_t kShortest = 64;
constexpr std::int32_t kLongest = 4096;

/// False: it was stopped.
bool measureQuery(Benchmark& benchmark, const BenchmarkRequest& request, workbench::ModelBundle& model,
                  const std::function<void(const Benchmark&)>& tell, const std::stop_token& stop) {
  const std::vector<experiment::PlannedCase> cases =
      experiment::planCases(request.query, document::planOptionsOf(request.settings));
  for (const experiment::PlannedCase& planned : cases) benchmark.gaps.push_back(planned.gap);
  run::SessionConfig config = workbench::sessionConfigOf(request.settings);
  config.store = {};  // cold is to be computed, not loaded
  benchmark.blockCount = config.blockCount;
  experiment::RunFigureSink sink;
  const std::unique_ptr<run::Session> session = workbench::makeSession(model, config, sink);
  experiment::RepeatWatch watch;
  watch.runs = [&](std::int32_t turn, experiment::RunCase runCase) {
    benchmark.turn = turn;
    benchmark.runCase = runCase;
    tell(benchmark);
  };
  watch.turnEnded = [&](const experiment::RepeatTurn& turn) { benchmark.turns.push_back(turn); };
  return experiment::measureRepeats(
      *session, sink, cases, {.run = workbench::runOptionsOf(request.settings), .repeats = request.repeats},
      watch, stop);
}

void measureLengths(Benchmark& benchmark, const BenchmarkRequest& request, workbench::ModelBundle& model,
                    const std::function<void(const Benchmark&)>& tell, const std::stop_token& stop) {
  experiment::AbbaOptions options{.repeats = request.repeats, .seconds = 0, .coldRepeats = request.repeats};
  options.documentTokens = measurableLengths(model.config.maxPositions);
  if (options.documentTokens.empty())
    throw Failure(errorAt("context", std::to_string(model.config.maxPositions) + " tokens",
                          "room for two documents of 64 tokens and a question"));
  for (const std::int32_t tokens : options.documentTokens)
    benchmark.lengths.push_back({.documentTokens = tokens, .row = std::nullopt});
  run::SessionConfig config = workbench::sessionConfigOf(request.settings);
  config.store = {};
  config.blockCount = experiment::abbaBlocks(options, config.blockSize);
  benchmark.blockCount = config.blockCount;
  trace::NoSink sink;
  const std::unique_ptr<run::Session> session = workbench::makeSession(model, config, sink);
  // What comes into being once, such as the weights in memory, belongs to no length.
  const experiment::AbbaOptions once{
      .documentTokens = options.documentTokens, .repeats = 1, .seconds = 0, .coldRepeats = 1};
  tell(benchmark);
  experiment::measureAbba(*session, model.config.vocabularySize, once, kShortest, stop);
  for (MeasuredLength& length : benchmark.lengths) {
    tell(benchmark);
    length.row =
        experiment::measureAbba(*session, model.config.vocabularySize, options, length.documentTokens, stop);
  }
}

}  // namespace

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

Benchmark beginBenchmark(const BenchmarkRequest& request) {
  Benchmark benchmark;
  benchmark.kind = request.kind;
  benchmark.repeats = request.repeats;
  benchmark.subject = request.subject;
  return benchmark;
}

void runBenchmark(Benchmark& benchmark, const BenchmarkRequest& request, workbench::ModelBundle& model,
                  const std::function<void(const Benchmark&)>& tell, const std::stop_token& stop) {
  try {
    benchmark.model = QString::fromStdString(model.name);
    benchmark.device = QString::fromStdString(model.backend->info().name);
    bool isWhole = true;
    if (request.kind == BenchmarkKind::Lengths)
      measureLengths(benchmark, request, model, tell, stop);
    else
      isWhole = measureQuery(benchmark, request, model, tell, stop);
    benchmark.state = isWhole ? BenchmarkState::Finished : BenchmarkState::Stopped;
  } catch (const std::exception& failure) {
    // Who stops it knows why there is no more.
    benchmark.state = stop.stop_requested() ? BenchmarkState::Stopped : BenchmarkState::Failed;
    if (benchmark.state == BenchmarkState::Failed) benchmark.problem = QString::fromUtf8(failure.what());
  }
}

}  // namespace spanscope::ui
