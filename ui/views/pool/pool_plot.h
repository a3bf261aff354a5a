// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the pool's use over the events of a trace.
#pragma once

#include "engine/metrics/pool_metrics.h"
#include "ui/session/trace_store.h"
#include "ui/theme/theme.h"

#include <QRect>
#include <QString>
#include <QWidget>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

// The pool's use after every event that changes it, and the events that evict.

/// The numbers of pool blocks after an event. The four numbers add up to all blocks except the null block.
struct PoolLevel : metrics::PoolCounts {
  std::size_t event = 0;  ///< index of this event
  bool operator==(const PoolLevel&) const = default;
};

/// Follows the pool through a whole trace. An update takes time only for the new events.
class PoolLevels {
 public:
  void follow(const std::shared_ptr<const TraceStore>& trace);

  /// The numbers after each change, by event.
  const std::vector<PoolLevel>& levels() const { return m_levels; }
  /// Indices of the events that evicted a block's content, ascending.
  const std::vector<std::size_t>& evictions() const { return m_evictions; }
  std::int32_t mostUsed() const { return m_mostUsed; }  ///< max number of filled blocks
  std::int32_t blocks() const { return m_now.filled() + m_now.free; }

 private:
  struct Block {
    std::int32_t references = 0;
    bool cached = false;
  };
  bool take(const trace::Payload& payload);
  void setAll(const trace::PoolState& pool);
  /// Adds `by` (1 or −1) to the count for this block.
  void count(const Block& block, std::int32_t by);
  void set(BlockId block, std::int32_t references, bool cached);
  bool isCached(BlockId block) const;
  std::int32_t referencesOf(BlockId block) const;

  std::shared_ptr<const TraceStore> m_trace;
  std::size_t m_read = 0;
  std::vector<Block> m_blocks;
  PoolLevel m_now;
  std::int32_t m_mostUsed = 0;
  std::vector<PoolLevel> m_levels;
  std::vector<std::size_t> m_evictions;
};

/// "12 unshared, 3 shared, 40 cached, 1992 free"
QString levelText(const PoolLevel& level);
/// A line for each change.
QString poolLevelsCsv(const std::shared_ptr<const TraceStore>& trace);

/// The levels of the pool as a stacked plot, with a mark for each eviction. The x axis counts events, as in
/// the time strip, so pauses between runs take no space. Levels after the position are pale. The keys Left
/// and Right go from change to change. Up and Down go from eviction to eviction. A click or Return chooses a
/// change.
class PoolPlot : public QWidget {
  Q_OBJECT
 public:
  explicit PoolPlot(QWidget* parent = nullptr);

  /// `levels` must stay valid until the next call or the end of the plot. `total`: number of events in the
  /// trace. `position`: number of events that have happened.
  void showLevels(const PoolLevels* levels, std::size_t total, std::size_t position, const Theme& theme);
  /// Sets the function that describes an event, for tool tips and screen readers.
  void setNames(std::function<QString(std::size_t event)> names) { m_names = std::move(names); }

  /// The change at x, as an index into PoolLevels::levels(). An eviction near x counts first, else the last
  /// change at or before x. Nothing if there is no such change.
  std::optional<std::size_t> changeAt(double x) const;
  /// The change at the keyboard cursor; nothing if there is none.
  std::optional<std::size_t> current() const;
  double xOf(std::size_t change) const;  ///< x in this widget
  QString factsOf(std::size_t change) const;

  QSize sizeHint() const override { return {400, 160}; }
  QSize minimumSizeHint() const override { return {120, 60}; }
  void paint(QPainter& painter, const QRect& area) const;

 Q_SIGNALS:
  void chosen(std::size_t event);
  void cursorMoved();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QRect plotIn(const QRect& area) const;
  double xIn(const QRect& plot, std::size_t position) const;
  std::size_t positionAt(const QRect& plot, double x) const;
  /// The last change among the first `position` events.
  std::optional<std::size_t> changeBefore(std::size_t position) const;
  std::int32_t top() const;  ///< blocks at the top of the plot
  void paintLevels(QPainter& painter, const QRect& plot) const;
  void paintEvictions(QPainter& painter, const QRect& plot) const;
  void paintLegend(QPainter& painter, const QRect& area) const;
  void moveTo(std::size_t change);

  const PoolLevels* m_levels = nullptr;
  std::size_t m_total = 0;
  std::size_t m_position = 0;
  Theme m_theme;
  std::function<QString(std::size_t)> m_names;
  std::optional<std::size_t> m_cursor;  ///< nothing: the keys begin at the position
};

}  // namespace spanscope::ui
