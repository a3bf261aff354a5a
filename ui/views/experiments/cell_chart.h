// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/chart.h"
#include "ui/theme/theme.h"

#include <QRectF>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

class QPainter;

namespace spanscope::ui {

/// A chart of cells or bars. Pointer and arrow keys go from one to the next, and the line below the chart
/// says what the one that is meant holds, as screen readers do.
class CellChart : public QWidget {
  Q_OBJECT
 public:
  explicit CellChart(QWidget* parent = nullptr);

  /// On any painter, as high and wide as the area, without what only a person at the window needs.
  void paint(QPainter& painter, const QRect& area);

  /// The least height at a width, of what paint() paints.
  virtual int heightFor(int width) const = 0;

  std::size_t count() const { return m_cells.size(); }
  /// What the chosen cell says; empty: none is.
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

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  QRectF chartArea() const;
  std::optional<std::size_t> at(const QPointF& place) const;
  void choose(std::optional<std::size_t> cell);
  void moveBy(int right, int down);

  Theme m_theme;
  std::vector<Cell> m_cells;
  std::optional<std::size_t> m_chosen;   ///< by click or keys
  std::optional<std::size_t> m_pointed;  ///< the pointer stands on it
};

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
