// SPDX-License-Identifier: GPL-3.0-or-later
// Latencies, reuse, speed and use of memory over several runs.
#pragma once

#include "ui/session/run_totals.h"
#include "ui/session/view_input.h"
#include "ui/views/metrics/residency_curves.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct RequestMetrics {
  RequestId request = 0;
  NodePath node;
  QString name;
  metrics::Totals totals;
  bool operator==(const RequestMetrics&) const = default;
};

struct RunMetrics {
  RunId run = 0;
  QString policy;
  QString document;  ///< title of the run's document; empty: not known
  QString model;     ///< name of the checkpoint; empty: not known.
  /// The run for comparisons: the last earlier run of the same document on the same model. 0: none.
  RunId before = 0;
  RunBasis basis;
  std::vector<RequestMetrics> requests;
  metrics::Totals totals;
  bool operator==(const RunMetrics&) const = default;
};

/// Blocks of the pool at one moment.
struct BlockUse {
  std::int64_t time = 0;    ///< nanoseconds as in Event::time
  std::int32_t held = 0;    ///< blocks that some request uses
  std::int32_t shared = 0;  ///< blocks that several requests use
  bool operator==(const BlockUse&) const = default;
};

struct MetricsModel {
  std::vector<RunMetrics> runs;  ///< runs with at least one request, ascending
  std::vector<BlockUse> use;     ///< by time
  std::int32_t blockCount = 0;   ///< blocks that requests can use; 0: not reported
  ResidencyCurves residency;     ///< how long evicted contents stayed
  std::size_t others = 0;        ///< runs left out because they belong to other documents
  bool operator==(const MetricsModel&) const = default;
};

/// Counts the blocks in use along a trace. An update takes time only for the new events. The result has at
/// most kMostPoints points. If there are more, every two points become one with the higher numbers.
class BlockUseSampler {
 public:
  static constexpr std::size_t kMostPoints = 4096;

  const std::vector<BlockUse>& sample(const std::shared_ptr<const TraceStore>& trace, std::size_t position);

 private:
  void take(const trace::Event& event);
  void set(BlockId block, std::int32_t references);
  void setAll(const trace::PoolState& pool);
  void note(std::int64_t time);

  std::shared_ptr<const TraceStore> m_trace;
  std::size_t m_position = 0;
  std::vector<std::int32_t> m_references;
  std::int32_t m_held = 0;
  std::int32_t m_shared = 0;
  std::int64_t m_distance = 0;  ///< min distance between two points, nanoseconds
  std::vector<BlockUse> m_points;
};

/// `scope` decides which runs are in the model.
MetricsModel metricsModel(const ViewInput& input, RunScope scope = RunScope::All);
/// Samplers of a trace. An update of the same object takes time only for the new events of the trace.
struct MetricsSamplers {
  BlockUseSampler use;
  ResidencyFollower residency;
  RunMeters meters;
};
MetricsModel metricsModel(const ViewInput& input, MetricsSamplers& samplers, RunScope scope = RunScope::All);

QString metricsCsv(const MetricsModel& model);

}  // namespace spanscope::ui
