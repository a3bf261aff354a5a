// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/metrics/metrics_model.h"

#include "ui/session/run_history.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>
#include <utility>

namespace spanscope::ui {

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
  // The newest point stays as it is, because this point shows the present.
  m_points[kept++] = m_points.back();
  m_points.resize(kept);
  m_distance = (m_points.back().time - m_points.front().time) / static_cast<std::int64_t>(kMostPoints);
}

namespace {

/// The speeds of runs. The runs belong to few traces, and each trace is read only once.
class Speeds {
 public:
  RunRates of(const ListedRun& listed) {
    const auto [found, isNew] = m_rates.try_emplace({listed.trace.get(), listed.position});
    if (isNew) found->second = ratesOfRuns(*listed.trace, listed.position);
    const auto own = found->second.find(listed.run);
    return own == found->second.end() ? RunRates() : own->second;
  }

 private:
  std::map<std::pair<const TraceStore*, std::size_t>, std::map<RunId, RunRates>> m_rates;
};

}  // namespace

MetricsModel metricsModel(const ViewInput& input, RunScope scope) {
  MetricsSamplers samplers;
  return metricsModel(input, samplers, scope);
}

MetricsModel metricsModel(const ViewInput& input, MetricsSamplers& samplers, RunScope scope) {
  samplers.residency.follow(input.trace, input.position);
  MetricsModel model;
  const trace::Replay& replay = input.state();
  const std::vector<ListedRun> runs = listRuns(input);
  Speeds speeds;
  for (const ListedRun& listed : runs) {
    const trace::RunState& state = listed.state();
    if (state.requests.empty()) continue;
    if (scope == RunScope::Document && !listed.isOwn) {
      ++model.others;
      continue;
    }
    RunMetrics run;
    run.run = listed.run;
    run.policy = listed.policyText();
    run.document = listed.document();
    run.model = listed.model;
    run.basis = basisOf(listed);
    run.totals = totalsOf(listed, samplers.meters);
    StepNames names(input, *listed.progress);
    for (const RequestId requestId : state.requests) {
      const auto found = listed.progress->requests.find(requestId);
      if (found == listed.progress->requests.end()) continue;
      const trace::RequestState& reported = found->second;
      if (!reported.metrics && (!reported.reported || !reported.reported->brokenBy.empty())) continue;
      RequestMetrics& request = run.requests.emplace_back();
      request.request = requestId;
      request.node = found->second.node;
      request.name = names.of(found->second);
      request.totals = totalsOf(listed, requestId, samplers.meters);
    }
    if (listed.record != nullptr && listed.record->metricValues) {
      run.totals.prefillRate = listed.record->prefillRate;
      run.totals.decodeRate = listed.record->decodeRate;
    } else if (listed.trace) {
      const RunRates rates = speeds.of(listed);
      run.totals.prefillRate = rates.prefill;
      run.totals.decodeRate = rates.decode;
    }
    // The last run before it with which it can be compared.
    for (auto before = model.runs.rbegin(); before != model.runs.rend() && run.before == 0; ++before) {
      if (before->document == run.document && before->model == run.model) run.before = before->run;
    }
    model.runs.push_back(std::move(run));
  }
  // Block 0 is never allocated.
  const std::size_t blocks = replay.pool().blockCount();
  model.blockCount = blocks == 0 ? 0 : static_cast<std::int32_t>(blocks) - 1;
  model.use = samplers.use.sample(input.trace, input.position);
  model.residency = samplers.residency.curves();
  return model;
}

QString metricsCsv(const MetricsModel& model) {
  std::vector<const metrics::Metric*> columns;
  QStringList titles{tr("run"), tr("document"), tr("model"), tr("policy"), tr("request"), tr("step")};
  for (const metrics::Metric& metric : metrics::all()) {
    if (!metric.isOf(metrics::Scope::Request)) continue;
    columns.push_back(&metric);
    titles << metricHeading(metric.id);
  }
  QString text = csvLine(titles);
  for (const RunMetrics& run : model.runs) {
    for (const RequestMetrics& request : run.requests) {
      metrics::Totals totals = request.totals;
      totals.prefillRate = run.totals.prefillRate;
      totals.decodeRate = run.totals.decodeRate;
      QStringList cells{QString::number(run.run),         run.document, run.model, run.policy,
                        QString::number(request.request), request.name};
      for (const metrics::Metric* metric : columns) cells << metricCell(*metric, metric->of(totals));
      text += csvLine(cells);
    }
  }
  return text;
}

}  // namespace spanscope::ui
