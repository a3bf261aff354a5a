// SPDX-License-Identifier: GPL-3.0-or-later
// A slider over the events of a trace: a line with ticks and a handle.
#pragma once

#include "engine/metrics/token_account.h"
#include "ui/session/moment.h"
#include "ui/session/trace_store.h"
#include "ui/theme/theme.h"
#include "ui/views/scrubber/scrubber_model.h"

#include <QAbstractSlider>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace spanscope::ui {

// Totals of the events in a range of the trace.

/// Events [begin, end) of a trace.
struct EventRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool isEmpty() const { return begin >= end; }
  bool operator==(const EventRange&) const = default;
};

struct RangeTotals {
  EventRange range;
  std::int64_t nanoseconds = 0;  ///< from the event before the range to the last event of the range
  /// Prompt tokens of all runs. Cache hits count at their lookup, recomputed tokens at TokensRecomputed, and
  /// computed tokens at their forward pass. For a whole trace, the numbers equal the accounts of its
  /// requests. Tokens that are recomputed after a preemption do not count.
  metrics::TokenAccount tokens;
  std::int64_t generated = 0;  ///< tokens
  std::int64_t allocated = 0;  ///< blocks
  std::int64_t evicted = 0;    ///< blocks
  std::int64_t requests = 0;   ///< requests that have these events
  bool operator==(const RangeTotals&) const = default;
};

/// `range` must be in the trace. The time grows with the events of the range and the lookups of their
/// requests.
RangeTotals rangeTotals(const TraceStore& trace, const EventRange& range);

/// "events 61 to 118 · 24.1 ms · 2 requests · …", on one line.
QString rangeText(const RangeTotals& totals);

class ScrubberTrack : public QAbstractSlider {
  Q_OBJECT
 public:
  explicit ScrubberTrack(QWidget* parent = nullptr);

  void setContent(const ScrubberModel& model, const ViewInput& input);
  /// During a motion, the handle is between two events.
  void setMoment(const Moment& moment);
  /// The text of the tool tip. The tool tip has the event at this place, in plain words and with exact
  /// identifiers. The tool tip also has the other events at this place.
  QString factsAt(double x) const;
  QSize sizeHint() const override { return {400, 48}; }
  QSize minimumSizeHint() const override { return {120, 40}; }
  void paint(QPainter& painter, const QRect& area) const;
  double xOf(std::size_t position) const;  ///< x in this widget

  /// The range that the user marked with Shift and mouse or keys; empty: none. A new position does not change
  /// it.
  const EventRange& marked() const { return m_marked; }
  /// Handles a key that marks or clears a range: Shift with a movement key, or Escape. Returns false for any
  /// other key, and for Escape if there is no range.
  bool takeRangeKey(const QKeyEvent& event);

 Q_SIGNALS:
  /// A place among the events; whole numbers are positions. If events have enough space, dragging can stop
  /// between two events.
  void moved(double place);
  void markedChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  bool event(QEvent* event) override;

 private:
  static double xIn(const QRect& area, double position, std::size_t total);
  double placeAt(double x) const;
  std::size_t positionAt(double x) const;
  double handlePlace() const;
  void go(std::int64_t position);
  void drag(double x);
  void setMarked(const EventRange& range);
  /// Marks the range from the anchor to `position`.
  void markTo(std::int64_t position);
  void paintRange(QPainter& painter, const QRect& area) const;
  void paintTicks(QPainter& painter, const QRect& area) const;

  ScrubberModel m_model;
  Moment m_moment;
  Theme m_theme;
  EventRange m_marked;
  std::size_t m_anchor = 0;          ///< the fixed end of the range
  std::size_t m_mark = 0;            ///< the moving end
  bool m_isMarking = false;          ///< the mouse marks a range
  std::optional<ViewInput> m_input;  ///< the input of `m_model`
};

}  // namespace spanscope::ui
