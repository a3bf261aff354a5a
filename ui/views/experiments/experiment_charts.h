// SPDX-License-Identifier: GPL-3.0-or-later
// The charts of an experiment: cells, bars and lines.
#pragma once

#include "engine/experiment/chart.h"
#include "ui/theme/theme.h"
#include "ui/views/common/item_canvas.h"
#include "ui/views/common/plot_library.h"

#include <QRectF>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

class QPainter;

namespace spanscope::ui {

/// The lines of an experiment with the spread of each place; lines differ by colour, dash and mark.
class ExperimentPlot : public QWidget {
  Q_OBJECT
 public:
  explicit ExperimentPlot(QWidget* parent = nullptr);

  /// `name`: for screen readers.
  void setContent(const experiment::LineChart& chart, const QString& name, const Theme& theme);
  void paint(QPainter& painter, const QRect& area);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void rebuild();
  void addLine(const experiment::ChartSeries& line, int index);
  void setAxes();
  /// Gives the legend as many columns as fit into the width. Returns its height.
  int fitLegend(int width);

  /// The text of a place, for the tool tip and for screen readers.
  QString textOf(const experiment::ChartSeries& line, const experiment::ChartPoint& place) const;

  experiment::LineChart m_chart;
  std::optional<Theme> m_theme;
  QCustomPlot* m_plot;
};

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
