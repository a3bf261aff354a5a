// SPDX-License-Identifier: GPL-3.0-or-later
// Latencies, reuse, speed and memory over the runs of a trace.
#pragma once

#include "ui/session/run_list.h"
#include "ui/session/view_input.h"
#include "ui/views/metrics/cache_figures.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// What the engine reported of one request (StepMetrics).
struct RequestMetrics {
  RequestId request = 0;
  NodePath node;
  QString name;
  trace::StepMetrics values;
  /// Hit rate of the newest requests, 0 … 1, right after this one was admitted; none: of another session.
  std::optional<double> recentHitRate;
  bool operator==(const RequestMetrics&) const = default;
};

struct RunMetrics {
  RunId run = 0;
  QString policy;
  QString document;  ///< its title; empty: not known
  QString model;     ///< name of the checkpoint; empty: not known
  /// The nearest run before of the same document on the same model, which its figures are held against; 0:
  /// there is none.
  RunId before = 0;
  std::vector<RequestMetrics> requests;
  std::optional<double> timeToFirstToken;   ///< seconds, median of its requests
  std::optional<double> interTokenLatency;  ///< seconds, median of those with two tokens or more
  std::int64_t promptTokens = 0;
  std::int64_t hitTokens = 0;  ///< cached where they stood before
  std::int64_t relocatedTokens = 0;
  std::optional<double> prefillRate;  ///< tokens a second, over passes with prompt tokens
  std::optional<double> decodeRate;   ///< tokens a second, over passes that only decode
  bool operator==(const RunMetrics&) const = default;
};

/// Blocks of the pool at one moment.
struct BlockUse {
  std::int64_t time = 0;    ///< nanoseconds as in Event::time
  std::int32_t held = 0;    ///< somebody refers to them
  std::int32_t shared = 0;  ///< more than one request does
  bool operator==(const BlockUse&) const = default;
};

struct MetricsModel {
  std::vector<RunMetrics> runs;  ///< those with a request, ascending
  std::vector<BlockUse> use;     ///< by time
  std::int32_t blockCount = 0;   ///< that can be held; 0: not reported
  ResidencyCurves residency;     ///< of the contents that were evicted
  std::size_t others = 0;        ///< runs that are left out, being of other documents
  bool operator==(const MetricsModel&) const = default;
};

/// Follows the references of every block through a trace; going on costs the new events only. Keeps at most
/// kMostPoints points: beyond it every two become one with the higher numbers.
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
  std::int64_t m_distance = 0;  ///< nanoseconds that points stand apart at least
  std::vector<BlockUse> m_points;
};

/// `scope`: whose runs are in it.
MetricsModel metricsModel(const ViewInput& input, RunScope scope = RunScope::All);
/// What follows a trace, so that a longer one costs the new events only.
struct MetricsSamplers {
  BlockUseSampler use;
  CacheFigureSampler cache;
};
MetricsModel metricsModel(const ViewInput& input, MetricsSamplers& samplers, RunScope scope = RunScope::All);

QString metricsCsv(const MetricsModel& model);

}  // namespace spanscope::ui
