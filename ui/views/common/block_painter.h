// SPDX-License-Identifier: GPL-3.0-or-later
// How a block looks: fill, pattern and outline of its state; the same in every view and legend.
#pragma once

#include "ui/theme/theme.h"

#include <QHash>
#include <QPainter>
#include <QPixmap>
#include <QRectF>
#include <QWidget>

#include <array>
#include <vector>

namespace spanscope::ui {

/// What stands in the middle of a block that plays no part in the shown request.
enum class BlockCore {
  None,
  Light,  ///< it can be found
  Dark,   ///< somebody holds it
  Cross,  ///< it is never handed out
};

struct BlockLook {
  BlockRole role = BlockRole::Free;
  double share = 1;                  ///< of its slots that hold tokens, filled from the bottom
  double split = 0;                  ///< of those slots, the share that was found, at the left …
  BlockRole found = BlockRole::Hit;  ///< … and how
  bool shared = false;               ///< second outline
  bool loaded = false;               ///< what was found came from a tier: a corner in the ink
  BlockCore core = BlockCore::None;
  bool operator==(const BlockLook&) const = default;
};

/// Keeps the brushes of one theme, whose patterns are textures.
class BlockPainter {
 public:
  explicit BlockPainter(const Theme& theme = Theme());

  const Theme& theme() const { return m_theme; }
  void setTheme(const Theme& theme);

  /// The fill of a state with its pattern.
  void fill(QPainter& painter, const QRectF& place, BlockRole role, const QPointF& origin) const;
  /// A whole block with its outline; corners are rounded from 16 px on.
  void block(QPainter& painter, const QRectF& place, const BlockLook& look) const;
  /// The same from a picture that is kept: for screens full of blocks.
  void stamp(QPainter& painter, const QRect& place, const BlockLook& look) const;
  /// A line under tokens: solid for a hit, striped or dotted like the state's fill.
  void underline(QPainter& painter, const QRectF& place, BlockRole role) const;
  /// The ring of what is selected.
  void ring(QPainter& painter, const QRectF& place) const;
  /// A thinner one: the same physical block somewhere else.
  void echo(QPainter& painter, const QRectF& place) const;

 private:
  void core(QPainter& painter, const QRectF& place, BlockCore core) const;

  Theme m_theme;
  std::array<QBrush, 5> m_patterns;  ///< by BlockRole
  std::array<QBrush, 5> m_dashes;    ///< of underlines, by BlockRole
  mutable QHash<quint64, QPixmap> m_stamps;
};

/// The states with their names, for a title bar. Grows and shrinks with its font only.
class BlockLegend : public QWidget {
  Q_OBJECT
 public:
  struct Meaning {
    BlockLook look;
    QString name;
    QString help;
  };
  explicit BlockLegend(std::vector<Meaning> entries, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  /// Whether the sample of what came from a tier stands behind the others.
  void showLoaded(bool isShown);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int widthOf(const Meaning& entry) const;

  std::vector<Meaning> m_entries;
  bool m_showsLoaded = false;
  BlockPainter m_painter;
};

/// The five states of a virtual block.
std::vector<BlockLegend::Meaning> stateLegend();

}  // namespace spanscope::ui
