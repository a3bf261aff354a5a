// SPDX-License-Identifier: GPL-3.0-or-later
// A small plot with its title, its newest number and how that changed.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/plot_library.h"

#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

class QLabel;

namespace spanscope::ui {

struct PlotPoint {
  double x = 0;
  double y = 0;
  QString text;  ///< for the tool tip
  int tag = -1;  ///< what a click means; −1: nothing
  bool operator==(const PlotPoint&) const = default;
};

enum class SeriesKind {
  Markers,  ///< a marker a point
  Line,     ///< with small markers
  Bars,     ///< stacked on the bars series before it
  Area,     ///< steps, filled down to the axis
};

struct PlotSeries {
  SeriesKind kind = SeriesKind::Line;
  QString name;
  BlockRole role = BlockRole::Computed;  ///< whose ink, fill and pattern
  bool dashed = false;
  bool square = false;  ///< square markers; else round ones
  std::vector<PlotPoint> points;
  bool operator==(const PlotSeries&) const = default;
};

struct CardContent {
  QString title;
  QString explanation;  ///< tool tip of the title
  QString value;        ///< newest
  QString change;       ///< against the run before
  int verdict = 0;      ///< of the change: 1 better, −1 worse
  QString xName;
  QString yName;
  bool wholeX = true;          ///< x counts runs
  std::optional<double> yTop;  ///< none: from the data
  std::vector<PlotSeries> series;
  bool operator==(const CardContent&) const = default;
};

class MetricCard : public QWidget {
  Q_OBJECT
 public:
  explicit MetricCard(QWidget* parent = nullptr);

  void setContent(const CardContent& content, const Theme& theme);
  const CardContent& content() const { return m_content; }
  QCustomPlot& plot() { return *m_plot; }
  void paint(QPainter& painter, const QRect& area);
  /// The point nearest to a place of the plot, within reach of the pointer.
  const PlotPoint* pointAt(const QPointF& place) const;

 Q_SIGNALS:
  void pointChosen(int tag);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  static constexpr int kHeader = 48;

  void rebuild();
  void addSeries(const PlotSeries& series, QCPBars*& below);
  void setRanges();
  void paintHeader(QPainter& painter, const QRect& area) const;
  void showPoint(const PlotPoint& point);
  std::vector<const PlotPoint*> points() const;

  CardContent m_content;
  Theme m_theme;
  bool m_built = false;
  QCustomPlot* m_plot;
  int m_cursor = -1;
};

}  // namespace spanscope::ui
