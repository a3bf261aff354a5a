// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/chart.h"
#include "ui/theme/theme.h"
#include "ui/views/common/item_canvas.h"

#include <QRectF>
#include <QString>

#include <optional>
#include <vector>

class QPainter;

namespace spanscope::ui {

/// A chart of cells or bars. A line below the chart describes the cell at the pointer, or else the current
/// cell.
class CellChart : public ItemCanvas {
  Q_OBJECT
 public:
  explicit CellChart(QWidget* parent = nullptr);

  /// Paints the chart into `area`, without the line below and the mark of the current cell.
  void paint(QPainter& painter, const QRect& area);

  /// The min height of paint() for this width.
  virtual int heightFor(int width) const = 0;

  /// The text of the line below the chart; empty: no cell is current.
  QString readout() const;

 protected:
  struct Cell {
    QRectF place;
    QString text;
  };
  virtual std::vector<Cell> layOut(const QRectF& area) const = 0;
  virtual void draw(QPainter& painter, const QRectF& area) const = 0;
  const Theme& theme() const { return m_theme; }
  void contentChanged(const Theme& theme);

  QRect itemRect(int item) const override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QRectF chartArea() const;
  void point(int cell);

  Theme m_theme;
  std::vector<Cell> m_cells;
  int m_pointed = -1;  ///< the cell at the pointer; -1: none
};

/// A heat map: a colour and a number for each place of an experiment, with a scale. With a second axis, there
/// is a map for each line.
class HeatMapChart : public CellChart {
  Q_OBJECT
 public:
  using CellChart::CellChart;

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

/// Histograms of the samples of each line of an experiment, with the same bins, one below the other.
class HistogramChart : public CellChart {
  Q_OBJECT
 public:
  using CellChart::CellChart;

  /// `name`: for screen readers.
  void setContent(const experiment::HistogramChart& chart, const QString& name, const Theme& theme);
  int heightFor(int width) const override;

 protected:
  std::vector<Cell> layOut(const QRectF& area) const override;
  void draw(QPainter& painter, const QRectF& area) const override;

 private:
  QRectF partAt(const QRectF& area, std::size_t part) const;
  /// The column of a bar, as high as `part`.
  QRectF barAt(const QRectF& part, std::size_t bar) const;

  experiment::HistogramChart m_chart;
  std::optional<Theme> m_drawn;
};

}  // namespace spanscope::ui
