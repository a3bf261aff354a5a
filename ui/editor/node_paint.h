// SPDX-License-Identifier: GPL-3.0-or-later
// Paints one node. Sizes in scene pixels at zoom 1, the origin at the top left of the node.
#pragma once

#include "ui/editor/node_forecast.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_status.h"
#include "ui/theme/theme.h"

#include <QBrush>
#include <QColor>
#include <QFont>
#include <QPainterPath>
#include <QStaticText>

#include <array>
#include <optional>
#include <vector>

class QPainter;

namespace spanscope::ui {

/// Zooms below which a node is drawn more simply.
inline constexpr double kTextZoom = 0.33;
/// Texts keep on the screen at least the size that they have at this zoom: further away they grow in the
/// scene, and the card shows fewer of them.
inline constexpr double kReadableZoom = 0.85;
/// How much larger texts are in the scene than at zoom 1, in steps, so that zooming lays out few texts anew.
double textScale(double zoom);
inline constexpr double kShapeZoom = 0.15;
inline constexpr double kPortRadius = 4.5;
inline constexpr double kNumberRadius = 8;

/// Colours, fonts and brushes of a theme, made once.
struct CanvasStyle {
  explicit CanvasStyle(const Theme& theme);
  Theme theme;
  QColor surface, canvas, grid, outline, wire, text, textSecond, textThird, accent, accentFill, error,
      errorFill;
  QColor hit, computed, line;
  QFont titleFont, bodyFont, smallFont, monoFont;
  /// Of the bar of served tokens: the ink of the role with the surface's pattern over it.
  QBrush servedInk(BlockRole role) const;
  QBrush servedPattern(BlockRole role) const;  ///< no brush: plain
  /// As Theme::segmentPattern.
  const QBrush& segmentPattern(std::size_t segment) const;

 private:
  QBrush m_relocatedPattern;
  QBrush m_computedPattern;
  std::array<QBrush, 4> m_segmentPatterns;  ///< of each round of hues; the last one goes on
};

/// A line of text that has been laid out.
struct TextLine {
  QStaticText text;
  QFont font;
  double width = 0;
};
TextLine makeLine(const QString& text, const QFont& font, double width);
/// At most `lines` lines, the last one with an ellipsis where the text goes on; that one may have less room.
std::vector<TextLine> makeLines(const QString& text, const QFont& font, double width, int lines,
                                std::optional<double> lastWidth = std::nullopt);

/// Texts of a node, laid out; made again when look, state or style change.
struct NodeTexts {
  TextLine title;
  TextLine name;  ///< of pills below the title
  TextLine count;
  TextLine share;
  TextLine state;
  TextLine picker;
  TextLine modelLine;
  TextLine problem;
  TextLine chip;
  TextLine promise;
  TextLine hidden;
  TextLine forecast;
  TextLine looked;
  std::vector<TextLine> body;
  std::vector<TextLine> numbers;
  double scale = 1;  ///< that they were laid out for
};
/// "5 fragments, best 8.12": what an augment found; empty for other nodes and before it ran.
QString fragmentsText(const NodeStatus& status);
/// "3 200 tokens · 51 % cached" of a stack; empty where neither is known.
QString stackText(const NodeStatus& status);
/// `forecast`: nullptr: nothing is said of the next run. `scale` as textScale().
NodeTexts makeNodeTexts(const NodeLook& look, const NodeStatus& status, const NodeForecast* forecast,
                        const CanvasStyle& style, double scale = 1);

struct NodeMarks {
  bool selected = false;
  bool focused = false;  ///< the current one while the canvas has the focus
  bool hovered = false;
  bool outputFits = false;  ///< a wire may begin here
  int inputFits = -1;       ///< the input that a wire may end at, −2: any of them
  double motion = 0;        ///< of the moving bar, 0 … 1
  bool moves = true;        ///< the system allows motion
  bool operator==(const NodeMarks&) const = default;
};

void paintNode(QPainter& painter, const NodeLook& look, const NodeStatus& status, const NodeTexts& texts,
               const NodeMarks& marks, const CanvasStyle& style, double zoom);

/// Where "2 of 4" stands in a generate's card; a click there shows the next answer.
QRectF pickerArea(const NodeLook& look, double scale = 1);
/// Where the bar moves while a generate runs.
QRectF barArea(const NodeLook& look, double scale = 1);
/// Where a list of which all inputs are drawn offers to stack them again.
QRectF restackArea(const NodeLook& look);

}  // namespace spanscope::ui
