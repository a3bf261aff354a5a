// SPDX-License-Identifier: GPL-3.0-or-later
// The colours and fonts of the canvas, and the laid out texts of its cards.
#pragma once

#include "ui/editor/node_look.h"
#include "ui/editor/node_prediction.h"
#include "ui/editor/node_status.h"
#include "ui/theme/theme.h"

#include <QBrush>
#include <QCache>
#include <QColor>
#include <QFont>
#include <QGlyphRun>
#include <QList>
#include <QString>
#include <QTextLayout>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace spanscope::ui {

// Lays out the short texts of cards. Each zoom step lays out the same texts for another width. Shaping a text
// takes most of the time, so each text is shaped only once.

/// A laid out line of text. The glyphs are placed from the top left corner of the line.
struct TextLine {
  QString text;
  QList<QGlyphRun> runs;
  double width = 0;  ///< 0: there is nothing to draw
};

class TextSetter {
 public:
  TextSetter();

  double widthOf(const QString& text, const QFont& font);
  /// Lays out one line. If the text is wider than `width`, it ends in an ellipsis, as with
  /// QFontMetricsF::elidedText.
  TextLine line(const QString& text, const QFont& font, double width);
  /// Lays out at most `lines` lines. If the text is longer, the last line ends in an ellipsis. `lastWidth` is
  /// the width of the last line, if this line has less room.
  std::vector<TextLine> lines(const QString& text, const QFont& font, double width, int lines,
                              std::optional<double> lastWidth = std::nullopt);

 private:
  struct Shaped {
    Shaped(const QString& text, const QFont& font);
    QTextLayout layout;  ///< one line, with its glyphs
    QList<QGlyphRun> runs;
    double width = 0;
    bool isLeftToRight = true;
  };
  /// The shaped text. The reference is valid until the next text is shaped.
  const Shaped& shaped(const QString& text, const QFont& font);
  TextLine whole(const QString& text, const QFont& font);

  /// Shaped texts by font and text. These texts depend on nothing else, so they are always valid.
  QCache<std::pair<QFont, QString>, Shaped> m_shaped;
};

/// The colours, fonts and brushes of a theme. These objects are made once, because painting uses them often.
struct CanvasStyle {
  explicit CanvasStyle(const Theme& theme);
  Theme theme;
  QColor surface, canvas, grid, outline, wire, text, textSecond, textThird, accent, accentFill, error,
      errorFill;
  QColor hit, computed, line;
  QFont titleFont, bodyFont, smallFont, monoFont;
  /// Returns the ink of a role in the bar of served tokens. servedPattern() is painted over it.
  QBrush servedInk(BlockRole role) const;
  QBrush servedPattern(BlockRole role) const;  ///< no brush: no pattern
  /// Returns the same as Theme::segmentPattern().
  const QBrush& segmentPattern(std::size_t segment) const;

  /// Lays out texts in these fonts.
  TextSetter& setter() const { return *m_setter; }

 private:
  std::shared_ptr<TextSetter> m_setter = std::make_shared<TextSetter>();
  QBrush m_relocatedPattern;
  QBrush m_computedPattern;
  std::array<QBrush, 4> m_segmentPatterns;  ///< by round of hues; later rounds use the last pattern
};

// Lays out the texts of a card for the available space. Sizes are in scene pixels divided by the scale of the
// texts. The origin is the top left corner of the node.

inline constexpr double kMostLabel = 60;  ///< width of the longest label of an input, such as "10–1200"
inline constexpr double kMostChip = 80;   ///< width of the longest text of a chip

/// The laid out texts of a node. The texts are laid out again when the look, status or style of the node
/// changes.
struct NodeTexts {
  TextLine title;
  TextLine name;  ///< only for pills, which show the name below the title
  TextLine count;
  TextLine share;
  TextLine state;
  TextLine picker;
  TextLine modelLine;
  TextLine problem;
  TextLine chip;
  TextLine hidden;
  TextLine prediction;
  TextLine looked;
  std::vector<TextLine> promise;  ///< only for pills; empty if there is no room for all lines
  std::vector<TextLine> body;
  std::vector<TextLine> numbers;
  double scale = 1;  ///< the scale for which the texts were laid out
};
/// Returns the result of an augment: "5 passages, best 8.12". Empty for other nodes, and before the augment
/// has run.
QString passagesText(const NodeStatus& status);
/// Returns the text of a stack: "3 200 tokens · 51 % cached". Empty if neither number is known.
QString stackText(const NodeStatus& status);
/// Lays out the texts of a card. If `prediction` is nullptr, the card has no prediction. `scale`
/// comes from textScale().
NodeTexts makeNodeTexts(const NodeLook& look, const NodeStatus& status, const NodePrediction* prediction,
                        const CanvasStyle& style, double scale = 1);

}  // namespace spanscope::ui
