// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the timeline: rows, bars and axis. The mouse and the keys zoom and scroll it.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/timeline/timeline_model.h"

#include <QAbstractScrollArea>
#include <QString>

#include <optional>
#include <vector>

namespace spanscope::ui {

class TimelineCanvas : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TimelineCanvas(QWidget* parent = nullptr);

  void setContent(const TimelineModel& model, const Theme& theme, std::optional<RequestId> selected);
  const TimelineModel& model() const { return m_model; }
  /// The shown part of the axis, in nanoseconds since model().begin.
  double rangeBegin() const { return m_begin; }
  double rangeEnd() const { return m_end; }
  void fit();
  void zoom(double factor, double x);

  QRectF barRect(std::size_t row, const TimelineBar& bar) const;  ///< rectangle of a bar in the viewport
  QSize contentSize() const;
  /// Paints everything, in its own size times `size` / contentSize().
  void paintAll(QPainter& painter, const QSize& size) const;
  QString factsAt(const QPointF& place) const;

 Q_SIGNALS:
  void rowClicked(int row);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  /// Where the parts of a drawing stand.
  struct Frame {
    int labels = 0;  ///< width of the column with names
    int top = 0;     ///< y of the first row
    int width = 0;   ///< width of the drawing
    int height = 0;  ///< down to the end of the axis
    int row = 1;     ///< height of a row
    int offset = 0;  ///< how far rows are scrolled up, pixels
    double begin = 0;
    double end = 1;
    double x(double nanoseconds) const;
  };
  Frame frame() const;
  int topSpace() const;
  int rowHeight() const;  ///< pixels; rows share what height there is, between two bounds
  int labelWidth() const;
  void paint(QPainter& painter, const Frame& frame) const;
  void paintAxis(QPainter& painter, const Frame& frame) const;
  void paintRow(QPainter& painter, const Frame& frame, std::size_t index) const;
  void paintStarts(QPainter& painter, const Frame& frame) const;
  QRectF rectOf(const Frame& frame, std::size_t row, double begin, double end) const;
  int rowAt(double y) const;  ///< −1: none
  void setRange(double begin, double end);
  void updateScrollBar();

  TimelineModel m_model;
  Theme m_theme;
  std::optional<RequestId> m_selected;
  double m_begin = 0;
  double m_end = 1;
  bool m_fitted = true;  ///< shows the whole range and follows it as it grows
  std::optional<QPointF> m_pressed;
  bool m_dragged = false;
  double m_beginAtPress = 0;
};

/// At most `most` + 1 round numbers within a range, ascending. Their distance is 1, 2 or 5 times a power of
/// ten.
std::vector<double> axisTicks(double begin, double end, int most);

/// The text of a tick on an axis of milliseconds: in seconds if the ticks are a second or more apart.
QString axisTickText(double milliseconds, double step);

}  // namespace spanscope::ui
