// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of a card lie, and how large its texts are.
#pragma once

#include "ui/editor/node_look.h"

#include <QRectF>

namespace spanscope::ui {

/// Texts keep on the screen at least the size that they have at this zoom: further away they grow in the
/// scene, and the card shows fewer of them.
inline constexpr double kReadableZoom = 0.85;
/// How much larger texts are in the scene than at zoom 1, in steps, so that zooming lays out few texts anew.
double textScale(double zoom);

inline constexpr double kNumberScale = 1.2;  ///< beyond it the numbers of inputs have no room
inline constexpr double kCardLeft = 16;      ///< where texts begin
inline constexpr double kCardRight = 12;     ///< free at the right
inline constexpr double kCardLine = 16;      ///< from line to line
inline constexpr double kStackSheets = 8;    ///< that stand out behind a stack
inline constexpr double kShareWidth = 44;
inline constexpr double kShareRise = 3;  ///< of the share's line above its digits

/// The parts of a card from top to bottom, in pixels of its texts from its top left.
struct CardPlan {
  CardPlan(const NodeLook& look, double scale);
  double width, height, titleTop, bodyTop, titleLeft, shareTop;
  QRectF bar, answer;
  bool hasBar, hasIcon, hasModel = false, hasState = false;
  int bodyLines;
};

/// Where "2 of 4" stands in a generate's card; a click there shows the next answer. In scene pixels.
QRectF pickerArea(const NodeLook& look, double scale = 1);
/// Where the bar moves while a generate runs.
QRectF barArea(const NodeLook& look, double scale = 1);
/// Where a list of which all inputs are drawn offers to stack them again.
QRectF restackArea(const NodeLook& look);

}  // namespace spanscope::ui
