// SPDX-License-Identifier: GPL-3.0-or-later
// The page for repeated measurements of the document: what to measure, the progress, and the results.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/benchmark/benchmark_model.h"
#include "ui/views/common/measure_page.h"
#include "ui/views/common/plot_library.h"
#include "ui/views/common/table_painting.h"

#include <QWidget>

#include <optional>

class QBoxLayout;
class QComboBox;
class QSpinBox;

namespace spanscope::ui {

class BenchmarkPlot;

class BenchmarkView : public MeasurePage {
  Q_OBJECT
 public:
  explicit BenchmarkView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const BenchmarkModel& model() const { return m_model; }
  BenchmarkChoice request() const;
  void setRequest(const BenchmarkChoice& request);

 protected:
  void refresh() override;
  void resizeEvent(QResizeEvent* event) override;
  QString introduction() const override;
  QString text() const override;
  QString command() const override;

 private:
  void makeChoices();
  QWidget* makeResults();
  void arrange();

  BenchmarkModel m_model;
  QComboBox* m_kind = nullptr;
  QSpinBox* m_repeats = nullptr;
  BenchmarkPlot* m_plot = nullptr;
  QBoxLayout* m_results = nullptr;  ///< texts and table, with the plot below or at the right
};

/// Plots medians on a logarithmic scale, with whiskers from min to max. For a query, the cases are side by
/// side with all samples. For lengths, lines show the medians by document length.
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
