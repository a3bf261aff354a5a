// SPDX-License-Identifier: GPL-3.0-or-later
// Shows one row for each request: when it waited, loaded blocks, computed its prompt and decoded.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/table_view.h"
#include "ui/views/timeline/timeline_model.h"

#include <QPointer>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

class QComboBox;

namespace spanscope::ui {

// The timeline as a table: a row for each request with its lane, and the time axis in the header.

class TimelineTable : public TableView {
  Q_OBJECT
 public:
  enum Column { Step, Lane };

  /// Maps times to pixels on a lane.
  struct Scale {
    double begin = 0;  ///< the shown part of the axis, in nanoseconds since TimelineModel::begin
    double end = 1;
    double left = 0;  ///< pixels
    double width = 1;
    double x(double nanoseconds) const;
    double right() const { return left + width; }
  };

  explicit TimelineTable(QWidget* parent = nullptr);

  void setContent(const TimelineModel& model, const Theme& theme, std::optional<RequestId> selected);
  Scale scale() const;
  void fit();
  /// Zooms about the time at the pixel column `x`.
  void zoom(double factor, double x);

  QRectF barRect(std::size_t row, const TimelineBar& bar) const;  ///< rectangle of a bar in the viewport
  QString factsAt(const QPoint& place) const;
  QSize contentSize() const;
  /// Paints the whole timeline, scaled by `size` / contentSize().
  void paintAll(QPainter& painter, const QSize& size) const;

  // The parts of the picture, for the header and the delegate.
  int axisHeight() const;
  void paintAxis(QPainter& painter, const QRectF& area, const Scale& scale) const;
  void paintLane(QPainter& painter, const QRectF& area, const Scale& scale, int row) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  double wholeLength() const;  ///< nanoseconds of the whole axis
  void setRange(double begin, double end);
  void move(double share);  ///< share of the shown range; negative: to earlier times
  void fitRows();
  int stepWidth() const;
  void paintBar(QPainter& painter, const QRectF& area, const QRectF& lane, const TimelineBar& bar) const;
  void paintStartLines(QPainter& painter, const Scale& scale, double top, double bottom) const;

  PaintedTableModel* m_items;
  TimelineModel m_model;
  Theme m_theme;
  double m_begin = 0;
  double m_end = 1;
  bool m_fitted = true;             ///< shows the whole range, also while it grows
  std::optional<double> m_pressed;  ///< pixel column
  bool m_dragged = false;
  double m_beginAtPress = 0;
};

/// At most `most` + 1 round numbers within a range, ascending. The distance between these numbers is 1, 2 or
/// 5 times a power of ten.
std::vector<double> axisTicks(double begin, double end, int most);

/// The text of a tick on an axis of milliseconds. The text is in seconds if the ticks are a second or more
/// apart.
QString axisTickText(double milliseconds, double step);

class BlockLegend;

class TimelineView : public RunView {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const TimelineModel& model() const { return m_model; }
  TimelineTable& table() { return *m_table; }
  void setAllRuns(bool all);

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  void select(int row);

  TimelineModel m_model;
  bool m_allRuns = false;
  TimelineTable* m_table;
  QPointer<BlockLegend> m_legend;
  QPointer<QComboBox> m_scope;
};

}  // namespace spanscope::ui
