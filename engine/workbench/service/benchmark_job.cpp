// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/benchmark_job.h"

#include "engine/base/error.h"
#include "engine/run/run_options.h"
#include "engine/trace/sink.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {

BenchmarkJob::BenchmarkJob(BenchmarkRequest request) : m_request(std::move(request)) {
  m_now.kind = m_request.kind;
  m_now.repeats = m_request.repeats;
  m_now.subject = m_request.subject;
  m_published.set(m_now);
}

Begun BenchmarkJob::begin(JobContext& place, const std::stop_token& stop) {
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
  m_clock.begin();
  if (m_request.kind == BenchmarkKind::Lengths)
    measureLengths(model, stop);
  else
    measureQuery(model, stop);
  return Begun::Done;
}

void BenchmarkJob::measureQuery(ModelBundle& model, const std::stop_token& stop) {
  const std::vector<experiment::PlannedCase> cases =
      experiment::planCases(m_request.query, document::planOptionsOf(m_request.settings));
  for (const experiment::PlannedCase& planned : cases) m_now.gaps.push_back(planned.gap);
  run::SessionConfig config = sessionConfigOf(m_request.settings);
  config.store = {};  // cold is to be computed, not loaded
  m_now.blockCount = config.blockCount;
  experiment::RunMetricsSink sink;
  const std::unique_ptr<run::Session> session = makeSession(model, config, sink);
  experiment::RepeatWatch watch;
  watch.runs = [this](std::int32_t turn, experiment::RunCase runCase) {
    m_now.turn = turn;
    m_now.runCase = runCase;
    tell();
    m_clock.leaveOut([this] { letPass(); });
  };
  watch.turnEnded = [this](const experiment::RepeatTurn& turn) { m_now.turns.push_back(turn); };
  experiment::measureRepeats(*session, sink, cases,
                             {.run = runOptionsOf(m_request.settings), .repeats = m_request.repeats}, watch,
                             stop);
}

void BenchmarkJob::measureLengths(ModelBundle& model, const std::stop_token& stop) {
  experiment::AbbaOptions options{
      .repeats = m_request.repeats, .seconds = 0, .coldRepeats = m_request.repeats};
  options.seam = [this] { m_clock.leaveOut([this] { letPass(); }); };
  options.documentTokens = measurableLengths(model.config.maxPositions);
  if (options.documentTokens.empty())
    throw Failure(errorAt("context", std::to_string(model.config.maxPositions) + " tokens",
                          "room for two documents of 64 tokens and a question"));
  for (const std::int32_t tokens : options.documentTokens)
    m_now.lengths.push_back({.documentTokens = tokens, .row = std::nullopt});
  run::SessionConfig config = sessionConfigOf(m_request.settings);
  config.store = {};
  config.blockCount = experiment::abbaBlocks(options, config.blockSize);
  m_now.blockCount = config.blockCount;
  trace::NoSink sink;
  const std::unique_ptr<run::Session> session = makeSession(model, config, sink);
  // What comes into being once, such as the weights in memory, belongs to no length.
  const experiment::AbbaOptions once{
      .documentTokens = options.documentTokens, .repeats = 1, .seconds = 0, .coldRepeats = 1};
  tell();
  experiment::measureAbba(*session, model.config.vocabularySize, once, options.documentTokens.front(), stop);
  for (MeasuredLength& length : m_now.lengths) {
    tell();
    length.row =
        experiment::measureAbba(*session, model.config.vocabularySize, options, length.documentTokens, stop);
  }
}

void BenchmarkJob::tell() {
  m_now.secondsLeft = m_clock.secondsLeft(m_now.progress());
  m_published.set(m_now);
  notifyProgress();
}

}  // namespace spanscope::workbench
