// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/chart.h"
#include "ui/views/experiments/cell_chart.h"

namespace spanscope::ui {

/// A colour and a number for each place of an experiment, with the scale beside them; a map a line where
/// there is a second axis.
class HeatMapChart : public CellChart {
  Q_OBJECT
 public:
  explicit HeatMapChart(QWidget* parent = nullptr) : CellChart(parent) {}

  /// `name`: for screen readers.
  void setContent(const experiment::HeatChart& chart, const QString& name, const Theme& theme);
  int heightFor(int width) const override;

 protected:
  std::vector<Cell> layOut(const QRectF& area) const override;
  void draw(QPainter& painter, const QRectF& area) const override;

 private:
  struct Grid;
  Grid gridOf(double width) const;
  QRectF cellAt(const Grid& grid, const QRectF& area, std::size_t panel, std::size_t row,
                std::size_t column) const;
  void drawPanel(QPainter& painter, const Grid& grid, const QRectF& area, std::size_t panel) const;
  void drawScale(QPainter& painter, const QRectF& place) const;

  QString xName() const { return QString::fromStdString(m_map.texts.xLabel); }
  QString yName() const { return QString::fromStdString(m_map.texts.yLabel); }

  experiment::HeatChart m_map;
  std::optional<Theme> m_drawn;
};

}  // namespace spanscope::ui
