// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the blocks of the pool as a grid.
#pragma once

#include "ui/session/moment.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/painted_scroll.h"
#include "ui/views/common/request_blocks.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace spanscope::ui {

// Every block of the pool, with its content, the requests that use it, and its age.

enum class PoolBlockState : std::uint8_t {
  Null,      ///< block 0, which is never allocated
  Free,      ///< empty
  Cached,    ///< lookups can find the block; no request uses the block
  Held,      ///< lookups can find the block; requests use the block
  Unknown,   ///< lookups may find the block, but its content is not known
  Computing  ///< a request uses the block; lookups cannot find the block yet
};

struct PoolBlock {
  PoolBlockState state = PoolBlockState::Free;
  std::int32_t references = 0;
  std::int32_t fill = 0;              ///< filled token slots
  BlockRole shown = BlockRole::Free;  ///< how the block serves the shown request; Free: the block does not
  bool loaded = false;                ///< the block was loaded from a tier for the shown request
  bool isOthers = false;              ///< only runs of other documents use the block.
  /// 0: newest … 1: oldest of the stored blocks. −1: nothing is stored, or the age is not known.
  float age = -1;
  bool operator==(const PoolBlock&) const = default;
};

struct PoolDetail {
  BlockId block = kNullBlock;  ///< kNullBlock: nothing is selected
  QString text;                ///< several lines of facts
  bool operator==(const PoolDetail&) const = default;
};

struct PoolTable {
  std::int32_t blockSize = 16;
  std::vector<PoolBlock> blocks;  ///< by block id; empty: the source reports no pool
  std::size_t others = 0;         ///< blocks in use that only runs of other documents use
  double oldest = 0;              ///< seconds since the oldest block was stored; 0: not PoolShade::Age
  bool anyLoaded = false;         ///< some block is `loaded`
  QString summary;
  bool operator==(const PoolTable&) const = default;
};

enum class PoolShade {
  State,
  Age,
};

/// The pool at the input's position. `history` must have followed the input's trace. Ages are only computed
/// for PoolShade::Age.
PoolTable poolTable(const ViewInput& input, const BlockHistory& history, PoolShade shade);

QString poolStateName(PoolBlockState state);

/// The facts of a block: owner, key, fill, references, age and place in the order of eviction.
PoolDetail poolDetail(const ViewInput& input, const BlockHistory& history, BlockId block);
/// A shorter form of these facts.
QString poolTip(const ViewInput& input, BlockId block);

/// The selection of a pool block: the physical block and its virtual block. The virtual block belongs to the
/// shown request if that request still uses the block. Otherwise the virtual block belongs to the request
/// that stored the block.
Selection selectionOfPhysical(const ViewInput& input, const BlockHistory& history, BlockId block);

QString poolCsv(const ViewInput& input);

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
