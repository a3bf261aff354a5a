// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/chart.h"
#include "ui/views/experiments/cell_chart.h"

namespace spanscope::ui {

/// How the samples of each line of an experiment are spread, in the same bins, one below the other.
class HistogramChart : public CellChart {
  Q_OBJECT
 public:
  explicit HistogramChart(QWidget* parent = nullptr) : CellChart(parent) {}

  /// `name`: for screen readers.
  void setContent(const experiment::HistogramChart& chart, const QString& name, const Theme& theme);
  int heightFor(int width) const override;

 protected:
  std::vector<Cell> layOut(const QRectF& area) const override;
  void draw(QPainter& painter, const QRectF& area) const override;

 private:
  QRectF partAt(const QRectF& area, std::size_t part) const;
  /// The column of a bar, as high as its part.
  QRectF barAt(const QRectF& part, std::size_t bar) const;

  experiment::HistogramChart m_chart;
  std::optional<Theme> m_drawn;
};

}  // namespace spanscope::ui
