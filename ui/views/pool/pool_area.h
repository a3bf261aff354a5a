// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the blocks of the pool as a grid.
#pragma once

#include "ui/session/moment.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/painted_scroll.h"
#include "ui/views/pool/pool_model.h"

#include <functional>
#include <optional>
#include <set>

namespace spanscope::ui {

// Changes in the pool between two events.

struct PoolMotion {
  PoolTable before;        ///< the pool at the start of the motion
  std::set<BlockId> lost;  ///< blocks whose content is evicted or cleared
};

/// The motion at this moment, which must belong to the input's position. `history` must have followed the
/// input's trace.
PoolMotion poolMotion(const ViewInput& input, const Moment& moment, const BlockHistory& history);

class PoolArea : public ZoomedScroll {
  Q_OBJECT
 public:
  explicit PoolArea(QWidget* parent = nullptr);

  /// Shows a table. `table` must stay valid until the next call or the end of the area.
  void showPool(const PoolTable* table, PoolShade shade, BlockId current, const Theme& theme);
  /// Shows a motion from the earlier pool to the current one. `done`: progress, 0 … 1. nullptr: no motion.
  /// `motion` must stay valid until the next call.
  void showMotion(const PoolMotion* motion, double done);
  void setTips(std::function<QString(BlockId)> tips) { m_tips = std::move(tips); }
  void reveal(BlockId block);

  int cellPitch() const { return m_pitch; }
  int columns() const { return m_columns; }
  QRect cell(BlockId block) const;
  BlockId blockAt(const QPoint& place) const;  ///< −1: none

  void paintContent(QPainter& painter, const QRect& visible) override;
  QSize contentSize() const override;
  /// Paints all blocks so that they fill a picture of this size.
  void paintPicture(QPainter& painter, const QSize& size);

 Q_SIGNALS:
  void chosen(BlockId block);

 protected:
  void pressed(const QPoint& place) override;
  QString tipAt(const QPoint& place) const override;
  void zoom(int steps) override;
  void zoomToFit() override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void layOut();
  int count() const;
  void paintLook(QPainter& painter, const QRect& place, BlockId id) const;
  void paintText(QPainter& painter, const QRect& place, BlockId id, const PoolBlock& block) const;

  const PoolTable* m_table = nullptr;
  const PoolMotion* m_motion = nullptr;
  double m_done = 1;
  PoolShade m_shade = PoolShade::State;
  BlockId m_current = kNullBlock;
  BlockPainter m_painter;
  int m_pitch = 0;
  int m_columns = 1;
  std::optional<int> m_wanted;  ///< index into the sizes of a cell; nothing: the largest size that fits
  std::size_t m_laidOut = 0;    ///< number of blocks that were laid out
  std::function<QString(BlockId)> m_tips;
};

BlockLook poolLook(const PoolBlock& block);

}  // namespace spanscope::ui
