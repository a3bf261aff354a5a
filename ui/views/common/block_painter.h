// SPDX-License-Identifier: GPL-3.0-or-later
// Paints blocks: the fill, pattern and outline of their state, the same in every view and legend.
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

/// The mark in the middle of a block. Only blocks that the shown request does not use have one.
enum class BlockCore {
  None,
  Light,  ///< a lookup can find the block
  Dark,   ///< a request uses the block
  Frame,  ///< only runs of other documents use the block, or its content is not known
  Cross,  ///< the pool never allocates the block
};

struct BlockLook {
  BlockRole role = BlockRole::Free;
  double share = 1;                  ///< share of filled token slots, painted from the bottom
  double split = 0;                  ///< share of cached slots among these, painted at the left
  BlockRole found = BlockRole::Hit;  ///< kind of the cache hit
  bool shared = false;               ///< several requests use the block: paints a second outline
  bool loaded = false;               ///< the hit came from a tier: paints a corner in the ink
  BlockCore core = BlockCore::None;
  bool operator==(const BlockLook&) const = default;
};

/// Paints blocks in one theme. Keeps the brushes of the theme, because their patterns are textures.
class BlockPainter {
 public:
  explicit BlockPainter(const Theme& theme = Theme());

  const Theme& theme() const { return m_theme; }
  void setTheme(const Theme& theme);

  /// Fills a rectangle with the colour and the pattern of a state.
  void fill(QPainter& painter, const QRectF& place, BlockRole role, const QPointF& origin) const;
  /// Paints a whole block with its outline. Corners are rounded if the block has at least 16 px.
  void block(QPainter& painter, const QRectF& place, const BlockLook& look) const;
  /// Paints the same block from a cached picture. The cached picture is faster for many blocks.
  void stamp(QPainter& painter, const QRect& place, const BlockLook& look) const;
  /// Paints a line under tokens: solid for a hit, else striped or dotted like the state's fill.
  void underline(QPainter& painter, const QRectF& place, BlockRole role) const;
  /// Paints the ring around a selected block.
  void ring(QPainter& painter, const QRectF& place) const;
  /// Paints a thinner ring, for another place of the selected physical block.
  void echo(QPainter& painter, const QRectF& place) const;

 private:
  void core(QPainter& painter, const QRectF& place, BlockCore core) const;

  Theme m_theme;
  std::array<QBrush, 5> m_patterns;  ///< by BlockRole
  std::array<QBrush, 5> m_dashes;    ///< brushes of underlines, by BlockRole
  mutable QHash<quint64, QPixmap> m_stamps;
};

/// A legend for a title bar: samples with names. If the names do not fit into one line, they are shorter,
/// then in two lines.
class BlockLegend : public QWidget {
  Q_OBJECT
 public:
  /// Paints a sample that is not a block.
  using PaintSample = void (*)(QPainter& painter, const QRect& place, const BlockPainter& painterOfBlocks,
                               const BlockLook& look);

  struct Meaning {
    BlockLook look;
    QString name;
    QString help;
    QString brief = {};           ///< a shorter name; empty: there is none
    PaintSample paint = nullptr;  ///< nullptr: the sample is a block
    bool operator==(const Meaning&) const = default;
  };
  explicit BlockLegend(std::vector<Meaning> entries, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  /// Shows other entries.
  void setEntries(std::vector<Meaning> entries);
  QSize sizeHint() const override;
  /// The min size with all names.
  QSize minimumSizeHint() const override;
  /// Two lines are higher than the usual title bar.
  int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// The form of all entries.
  struct Form {
    bool isBrief = false;
    bool hasTwoLines = false;
  };
  struct Place {
    int left = 0;
    int width = 0;  ///< without the gap after it
    int line = 0;
  };
  void nameEntries();
  QString nameIn(const Form& form, const Meaning& entry) const;
  int widthIn(const Form& form, std::size_t entry) const;
  /// The width of consecutive entries in one line, with the min gaps.
  int widthIn(const Form& form, std::size_t begin, std::size_t end) const;
  /// The index of the first entry in the second line, so that the longer line is as short as possible.
  std::size_t breakIn(const Form& form) const;
  int leastWidth(const Form& form) const;
  int lineHeight() const;  ///< the height of one of two lines
  /// The first form that fits into this width, else the shortest form.
  Form formFor(int width) const;
  std::vector<Place> layOut(int width) const;

  std::vector<Meaning> m_entries;
  BlockPainter m_painter;
};

/// A shorter form of Theme::name() for legends; empty: there is none.
QString briefName(BlockRole role);
/// The five states of a virtual block.
std::vector<BlockLegend::Meaning> stateLegend();
/// The entry for a block whose first tokens were a hit.
BlockLegend::Meaning partialMeaning();
/// The entry for a block that came from a tier of the span store.
BlockLegend::Meaning loadedMeaning();

}  // namespace spanscope::ui
