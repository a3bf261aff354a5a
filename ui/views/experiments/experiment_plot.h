// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/chart.h"
#include "ui/theme/theme.h"
#include "ui/views/common/plot_library.h"

#include <QWidget>

#include <optional>

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

}  // namespace spanscope::ui
