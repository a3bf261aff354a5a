// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/benchmark/benchmark_model.h"
#include "ui/views/common/plot_library.h"

#include <QWidget>

#include <optional>

namespace spanscope::ui {

/// Plots medians on a logarithmic scale, with whiskers from the least to the most. For a query the cases
/// stand side by side, with every sample. For lengths there are lines over the length of documents.
class BenchmarkPlot : public QWidget {
  Q_OBJECT
 public:
  explicit BenchmarkPlot(QWidget* parent = nullptr);

  void setContent(const BenchmarkModel& model, const Theme& theme);
  void paint(QPainter& painter, const QRect& area);
  /// The point nearest to a place of the plot; nullptr if none is within reach of the pointer.
  const MeasuredPoint* pointAt(const QPointF& place) const;
  QCustomPlot& plot() { return *m_plot; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void rebuild();
  void addSeries(const MeasuredSeries& series);
  void addSamples(const MeasuredSeries& series);
  void setAxes();
  void placeLegend(bool isWanted);

  std::vector<MeasuredSeries> m_series;
  BenchmarkKind m_kind = BenchmarkKind::Query;
  std::optional<Theme> m_theme;
  QCustomPlot* m_plot;
};

}  // namespace spanscope::ui
