// SPDX-License-Identifier: GPL-3.0-or-later
// A metric card: a small plot, its title, its newest number, and the change of that number.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/plot_library.h"

#include <QRect>
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
  int tag = -1;  ///< the number that a click on the point sends; −1: nothing
  bool operator==(const PlotPoint&) const = default;
};

enum class SeriesKind {
  Markers,  ///< one marker for each point
  Line,     ///< a line with small markers
  Bars,     ///< bars, stacked on the series of bars before it
  Area,     ///< steps, filled down to the axis
};

struct PlotSeries {
  SeriesKind kind = SeriesKind::Line;
  QString name;
  BlockRole role = BlockRole::Computed;  ///< the series has the ink, fill and pattern of this role
  bool dashed = false;
  bool square = false;  ///< square markers, not round ones
  std::vector<PlotPoint> points;
  bool operator==(const PlotSeries&) const = default;
};

struct MetricCardContent {
  QString title;
  QString explanation;  ///< tool tip of the title
  QString value;        ///< the newest number
  QString change;       ///< change since the run before
  int verdict = 0;      ///< the meaning of the change: 1 better, −1 worse, 0 neither
  QString xName;
  QString yName;
  bool wholeX = true;          ///< x counts runs
  std::optional<double> yTop;  ///< top of the axis; nothing: the data decide
  std::vector<PlotSeries> series;
  bool operator==(const MetricCardContent&) const = default;
};

class MetricCard : public QWidget {
  Q_OBJECT
 public:
  explicit MetricCard(QWidget* parent = nullptr);

  void setContent(const MetricCardContent& content, const Theme& theme);
  const MetricCardContent& content() const { return m_content; }
  QCustomPlot& plot() { return *m_plot; }
  /// The places of the drawn series' names in a card of this width, relative to its top left corner. The
  /// title's line has as many names as fit, and the value's line has the others. Nothing for a name that fits
  /// in neither line.
  std::vector<std::optional<QRect>> legend(int width) const;
  void paint(QPainter& painter, const QRect& area);
  /// The point nearest to a place of the plot; nullptr if no point is within reach of the pointer.
  const PlotPoint* pointAt(const QPointF& place) const;

 Q_SIGNALS:
  void pointChosen(int tag);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  static constexpr int kHeader = 48;

  void rebuild();
  void addSeries(const PlotSeries& series, QCPBars*& below);
  void setRanges();
  void paintHeader(QPainter& painter, const QRect& area) const;
  std::vector<std::optional<QRect>> legendBeside(int width, const QString& change) const;
  /// Paints the sample of a series and its name.
  void paintSample(QPainter& painter, const QRect& place, const PlotSeries& series) const;
  void showPoint(const PlotPoint& point);
  /// Moves the cursor by that many points.
  void move(int points);
  void choose();
  void copy() const;
  std::vector<const PlotPoint*> points() const;

  MetricCardContent m_content;
  Theme m_theme;
  bool m_built = false;
  QCustomPlot* m_plot;
  int m_cursor = -1;
};

}  // namespace spanscope::ui
