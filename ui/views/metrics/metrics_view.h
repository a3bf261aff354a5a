// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the metrics of runs as cards with small plots.
#pragma once

#include "engine/metrics/pool_metrics.h"
#include "ui/session/run_list.h"
#include "ui/session/trace_store.h"
#include "ui/session/view_input.h"
#include "ui/views/common/input_view.h"
#include "ui/views/metrics/metric_card.h"

#include <QPointer>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

class QGridLayout;
class QScrollArea;

namespace spanscope::ui {

// The time that contents stay in the pool, over a whole trace.

/// The share of all measured values that are at most `seconds`.
struct SharePoint {
  double seconds = 0;
  double share = 0;  ///< 0 … 1, rising
  bool operator==(const SharePoint&) const = default;
};
using ShareCurve = std::vector<SharePoint>;

/// The time that evicted contents had been in the pool.
struct ResidencyCurves {
  static constexpr std::size_t kMostPoints = 64;  ///< points of a curve

  metrics::ResidencyMetrics medians;
  ShareCurve lifetime;
  ShareCurve idle;
  ShareCurve gap;
  bool operator==(const ResidencyCurves&) const = default;
};

/// Follows a trace. A later call takes time only for the new events.
class ResidencyFollower {
 public:
  void follow(const std::shared_ptr<const TraceStore>& trace, std::size_t position);

  const ResidencyCurves& curves() const { return m_curves; }

 private:
  std::shared_ptr<const TraceStore> m_trace;
  std::size_t m_position = 0;
  metrics::ResidencySampler m_residencies;
  ResidencyCurves m_curves;
};

// Latencies, reuse, speed and use of memory over several runs.

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

class ScopeBox;

/// The contents of the cards, in this order:
/// - a line for each plotted time
/// - the hit rate
/// - a line for each other plotted metric
/// - blocks in use
/// - tokens per second
/// - time that contents stay in the pool.
std::vector<MetricCardContent> metricCards(const MetricsModel& model);

class MetricsView : public RunView {
  Q_OBJECT
 public:
  explicit MetricsView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const MetricsModel& model() const { return m_model; }
  const std::vector<MetricCard*>& cards() const { return m_cards; }

 protected:
  void refresh() override;
  QString emptyText() const override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  RunScope scope() const;
  void arrange();
  int cardCount() const { return static_cast<int>(m_cards.size()); }
  int columnsFor(QSize size) const;
  void select(int request);

  MetricsModel m_model;
  MetricsSamplers m_samplers;
  QScrollArea* m_scroll;
  QGridLayout* m_grid;
  std::vector<MetricCard*> m_cards;
  int m_columns = 0;
  QPointer<ScopeBox> m_scope;  ///< the dock owns it after takeTitleControls()
};

}  // namespace spanscope::ui
