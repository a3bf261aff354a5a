// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the content of the token view: a group of lines for each section. Open this file to change how
// tokens look.
#pragma once

#include "ui/views/common/block_painter.h"
#include "ui/views/common/painted_scroll.h"
#include "ui/views/tokens/token_strip_model.h"
#include "ui/views/tokens/token_strip_motion.h"

#include <QFont>
#include <QPoint>
#include <QRect>

#include <cstddef>
#include <functional>
#include <vector>

namespace spanscope::ui {

// Computes the places of a strip's tokens, wrapped to a width. Each section and the answer begin a new line,
// below a line with their name. All values are in pixels of the content.

inline constexpr int kStripMargin = 3 * kSpace;
inline constexpr int kStripTile = 20;   ///< height of a token
inline constexpr int kStripServed = 6;  ///< height of the line under a tile

inline constexpr int kLowStrip = 72;  ///< a lower area has no room for names and labels

/// The content of a strip.
enum class StripForm {
  Whole,
  Low,  ///< tokens only, without names, labels, bars and positions
};

struct StripLine {
  std::size_t first = 0;  ///< first token
  int top = 0;
  int tile = 0;    ///< top of the tiles
  int look = -1;   ///< top of the bars of attention; −1: none
  int ruler = -1;  ///< top of the positions; −1: none
  int bottom = 0;
};

/// The lines of one section, or of the answer.
struct StripGroup {
  std::size_t first = 0;  ///< first token
  bool isAnswer = false;
  QRect head;  ///< the line with the name; without height: the name is not shown
};

struct StripLayout {
  std::vector<QRect> tiles;  ///< one for each token
  std::vector<QRect> tails;  ///< for each token: the empty slots after it in a partial block; null: none
  std::vector<StripLine> lines;
  std::vector<StripGroup> groups;
  int width = 0;
  int height = 0;

  /// The token whose tile, bar or position is at a place; tiles.size(): none.
  std::size_t at(const QPoint& place) const;
  /// The first token of the first line that ends below this height; tiles.size(): none.
  std::size_t at(int y) const;
  std::size_t lineOf(std::size_t token) const;
  /// The place of the group that begins with a token, its name included; null: there is none.
  QRect groupRect(std::size_t first) const;
  /// The token in a line nearest to x.
  std::size_t nearest(std::size_t line, int x) const;
  std::size_t lineEnd(std::size_t line) const;
};

/// The text after the last token of a partial block: "10 of 16".
QString tailText(std::int32_t tokens, std::int32_t blockSize);

/// Lays out a strip. Measures each token only once.
StripLayout layOutTokens(const TokenStrip& strip, int width, const QFont& mono, const QFont& small,
                         StripForm form = StripForm::Whole);

/// Paints a delimiter token inverted, and a padding token hatched. A cropped token is an empty outline.
void paintStripPart(QPainter& painter, const Theme& theme, StripPart part, const QRect& tile);

class TokenStripArea : public PaintedScroll {
  Q_OBJECT
 public:
  explicit TokenStripArea(QWidget* parent = nullptr);

  /// Shows a strip. `strip` must stay valid until the next call or the end of the area. `changed`: needs a
  /// new layout.
  void showStrip(const TokenStrip* strip, bool changed, std::size_t current, const Theme& theme);
  /// Shows a motion from the earlier strip to the current one. `done`: progress, 0 … 1. nullptr: no motion.
  /// `motion` must stay valid until the next call.
  void showMotion(const StripMotion* motion, double done);
  void setTips(std::function<QString(std::size_t)> tips) { m_tips = std::move(tips); }
  void reveal(std::size_t token);
  /// Scrolls until the name of the section that begins with this token is at the top.
  void revealGroup(std::size_t first);
  /// Paints the whole strip into a rectangle of this size. The shape of the rectangle gives the length of the
  /// lines.
  void paintFitting(QPainter& painter, const QSize& size);
  /// Paints the content from the section that begins with this token on, as far as the area reaches.
  void paintFrom(QPainter& painter, const QRect& area, std::size_t first);

  const StripLayout& stripLayout() const { return m_layout; }

  void paintContent(QPainter& painter, const QRect& visible) override;
  QSize contentSize() const override;

 Q_SIGNALS:
  void chosen(std::size_t token);

 protected:
  void pressed(const QPoint& place) override;
  QString tipAt(const QPoint& place) const override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void layOut();
  StripForm form() const;
  void scrollToToken(std::size_t token);
  /// Whether a token is visible at the scroll position, in a viewport of this height.
  bool isInSight(std::size_t token, int height) const;
  void paintEmpty(QPainter& painter, const QRect& visible) const;
  void paintHead(QPainter& painter, const StripGroup& group) const;
  void paintLine(QPainter& painter, std::size_t line) const;
  /// Paints rules and numbers of blocks over the tiles.
  void paintBlocks(QPainter& painter, std::size_t line) const;
  /// Paints the positions of a line. Where a relocated block begins, its old position is beside its position.
  void paintRuler(QPainter& painter, std::size_t line) const;
  /// Paints the attention of a token as a bar under its tile.
  void paintLook(QPainter& painter, const StripToken& token, const QRect& bar) const;
  void paintToken(QPainter& painter, std::size_t token) const;
  void paintUnderline(QPainter& painter, std::size_t token) const;
  void paintTravels(QPainter& painter, const QRect& visible) const;
  /// The token to which a key leads from the current one; tiles.size(): none.
  std::size_t target(const QKeyEvent& event) const;

  const TokenStrip* m_strip = nullptr;
  const StripMotion* m_motion = nullptr;
  double m_done = 1;
  StripLayout m_layout;
  StripForm m_form = StripForm::Whole;  ///< the form of m_layout
  BlockPainter m_painter;
  std::size_t m_current = 0;
  std::function<QString(std::size_t)> m_tips;
};

}  // namespace spanscope::ui
