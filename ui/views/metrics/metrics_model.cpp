// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/metrics/metrics_model.h"

#include "ui/views/common/csv_line.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_names.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>

namespace spanscope::ui {
namespace {

struct Rates {
  std::int64_t prefillRows = 0;
  std::int64_t prefillTime = 0;
  std::int64_t decodeRows = 0;
  std::int64_t decodeTime = 0;
};

std::map<RunId, Rates> ratesOf(const ViewInput& input) {
  std::map<RunId, Rates> rates;
  for (const std::size_t index : input.trace->passes()) {
    if (index >= input.position) break;
    const trace::Event& event = input.trace->event(index);
    const auto* pass = std::get_if<trace::BatchComputed>(&event.payload);
    if (pass == nullptr) continue;
    std::int64_t prefill = 0;
    std::int64_t decode = 0;
    for (const trace::BatchEntry& entry : pass->entries) (entry.decode ? decode : prefill) += entry.count;
    Rates& run = rates[event.run];
    if (prefill > 0) {
      run.prefillRows += prefill;
      run.prefillTime += pass->nanoseconds;
    } else {
      run.decodeRows += decode;
      run.decodeTime += pass->nanoseconds;
    }
  }
  return rates;
}

std::optional<double> rate(std::int64_t rows, std::int64_t nanoseconds) {
  if (rows <= 0 || nanoseconds <= 0) return std::nullopt;
  return static_cast<double>(rows) / (static_cast<double>(nanoseconds) * 1e-9);
}

}  // namespace

std::optional<double> medianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

const std::vector<BlockUse>& BlockUseSampler::sample(const std::shared_ptr<const TraceStore>& trace,
                                                     std::size_t position) {
  if (trace != m_trace || position < m_position) *this = BlockUseSampler();
  m_trace = trace;
  for (; m_position < position; ++m_position) take(trace->event(m_position));
  return m_points;
}

void BlockUseSampler::take(const trace::Event& event) {
  if (const auto* allocated = std::get_if<trace::BlockAllocated>(&event.payload)) {
    set(allocated->block, 1);
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&event.payload)) {
    set(shared->block, shared->references);
  } else if (const auto* released = std::get_if<trace::BlockReleased>(&event.payload)) {
    set(released->block, released->references);
  } else if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload)) {
    setAll(session->pool);
  } else if (const auto* snapshot = std::get_if<trace::Snapshot>(&event.payload)) {
    setAll(snapshot->pool);
  } else {
    return;
  }
  note(event.time);
}

void BlockUseSampler::set(BlockId block, std::int32_t references) {
  const auto index = static_cast<std::size_t>(block);
  if (index >= m_references.size()) m_references.resize(index + 1, 0);
  std::int32_t& now = m_references[index];
  m_held += (references > 0 ? 1 : 0) - (now > 0 ? 1 : 0);
  m_shared += (references > 1 ? 1 : 0) - (now > 1 ? 1 : 0);
  now = references;
}

void BlockUseSampler::setAll(const trace::PoolState& pool) {
  m_references.assign(pool.blocks.size(), 0);
  m_held = 0;
  m_shared = 0;
  for (std::size_t block = 0; block < pool.blocks.size(); ++block) {
    set(static_cast<BlockId>(block), pool.blocks[block].references);
  }
}

void BlockUseSampler::note(std::int64_t time) {
  if (!m_points.empty()) {
    BlockUse& last = m_points.back();
    if (last.held == m_held && last.shared == m_shared) return;
    if (time - last.time <= m_distance) {
      last.held = time == last.time ? m_held : std::max(last.held, m_held);
      last.shared = time == last.time ? m_shared : std::max(last.shared, m_shared);
      return;
    }
  }
  m_points.push_back({.time = time, .held = m_held, .shared = m_shared});
  if (m_points.size() <= kMostPoints) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i + 1 < m_points.size(); i += 2) {
    m_points[kept++] = {.time = m_points[i].time,
                        .held = std::max(m_points[i].held, m_points[i + 1].held),
                        .shared = std::max(m_points[i].shared, m_points[i + 1].shared)};
  }
  // The newest stays as it is: it is what holds now.
  m_points[kept++] = m_points.back();
  m_points.resize(kept);
  m_distance = (m_points.back().time - m_points.front().time) / static_cast<std::int64_t>(kMostPoints);
}

MetricsModel metricsModel(const ViewInput& input) {
  BlockUseSampler sampler;
  return metricsModel(input, sampler);
}

MetricsModel metricsModel(const ViewInput& input, BlockUseSampler& sampler) {
  MetricsModel model;
  const trace::Replay& replay = input.state();
  const trace::Progress& progress = replay.progress();
  const std::map<RunId, Rates> rates = ratesOf(input);
  StepNames names(input, progress);
  for (const auto& [id, state] : progress.runs) {
    RunMetrics run;
    run.run = id;
    run.policy = QString::fromStdString(state.policy);
    std::vector<double> first;
    std::vector<double> between;
    for (const RequestId requestId : state.requests) {
      const auto found = progress.requests.find(requestId);
      if (found == progress.requests.end()) continue;
      const trace::RequestState& request = found->second;
      run.promptTokens += request.promptTokens;
      run.hitTokens += request.cachedTokens - request.relocatedTokens;
      run.relocatedTokens += request.relocatedTokens;
      if (!request.metrics) continue;
      run.requests.push_back({.request = requestId,
                              .node = request.node,
                              .name = names.of(request),
                              .values = *request.metrics});
      if (request.metrics->generatedTokens > 0) first.push_back(request.metrics->timeToFirstToken);
      if (request.metrics->generatedTokens > 1) between.push_back(request.metrics->interTokenLatency);
    }
    if (state.requests.empty()) continue;
    run.timeToFirstToken = medianOf(std::move(first));
    run.interTokenLatency = medianOf(std::move(between));
    if (const auto rated = rates.find(id); rated != rates.end()) {
      run.prefillRate = rate(rated->second.prefillRows, rated->second.prefillTime);
      run.decodeRate = rate(rated->second.decodeRows, rated->second.decodeTime);
    }
    model.runs.push_back(std::move(run));
  }
  // Block 0 is never handed out.
  const std::size_t blocks = replay.pool().blockCount();
  model.blockCount = blocks == 0 ? 0 : static_cast<std::int32_t>(blocks) - 1;
  model.use = sampler.sample(input.trace, input.position);
  return model;
}

QString metricsCsv(const MetricsModel& model) {
  QString text =
      csvLine({tr("run"), tr("policy"), tr("request"), tr("step"), tr("time to first token ms"),
               tr("inter-token latency ms"), tr("queue ms"), tr("prompt tokens"), tr("cached tokens"),
               tr("relocated tokens"), tr("computed tokens"), tr("generated tokens"),
               tr("prefill tokens per second of the run"), tr("decode tokens per second of the run")});
  for (const RunMetrics& run : model.runs) {
    for (const RequestMetrics& request : run.requests) {
      const trace::StepMetrics& values = request.values;
      text += csvLine({QString::number(run.run), run.policy, QString::number(request.request), request.name,
                       csvNumber(values.timeToFirstToken * 1000), csvNumber(values.interTokenLatency * 1000),
                       csvNumber(values.queueTime * 1000), QString::number(values.promptTokens),
                       QString::number(values.cachedTokens), QString::number(values.relocatedTokens),
                       QString::number(values.computedTokens), QString::number(values.generatedTokens),
                       run.prefillRate ? csvNumber(*run.prefillRate) : QString(),
                       run.decodeRate ? csvNumber(*run.decodeRate) : QString()});
    }
  }
  return text;
}

}  // namespace spanscope::ui
