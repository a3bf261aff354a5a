// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the metrics of runs as cards with small plots.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/metrics/metric_card.h"
#include "ui/views/metrics/metrics_model.h"

#include <QPointer>

#include <vector>

class QGridLayout;
class QScrollArea;

namespace spanscope::ui {

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
