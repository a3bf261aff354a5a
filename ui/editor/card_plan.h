// SPDX-License-Identifier: GPL-3.0-or-later
// Plans where the parts of a card lie and how large its texts are.
#pragma once

#include "ui/editor/node_look.h"

#include <QRectF>

namespace spanscope::ui {

/// Below this zoom, texts keep their size on the screen. So they grow in the scene, and the card shows fewer
/// of them.
inline constexpr double kReadableZoom = 0.85;
/// How much larger texts are in the scene than at zoom 1. The scale changes in steps, so that zooming seldom
/// lays out texts again.
double textScale(double zoom);

/// At a larger scale there is no room for chips that stand out of a card, and numbers of inputs grow with it.
inline constexpr double kNumberScale = 1.2;
inline constexpr double kMostNumberScale = 2.1;  ///< larger numbers would cover the title of a pill
inline constexpr double kCardLeft = 16;          ///< left edge of texts
inline constexpr double kCardRight = 12;         ///< free space at the right
inline constexpr double kCardLine = 16;          ///< from line to line
inline constexpr double kPillTop = 20;           ///< height of a pill's icon
inline constexpr double kPillTitle = 17;         ///< height of a pill's title
inline constexpr double kStackSheets = 8;        ///< how far the sheets behind a stack stand out
inline constexpr double kShareWidth = 44;
inline constexpr double kShareFoot = 16;  ///< from the top of the share's line to the edge of the card, least
inline constexpr double kShareRise = 3;   ///< from the top of the share's line to its digits

/// The parts of a card from top to bottom, measured from its top left corner in scene pixels divided by the
/// scale of its texts.
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
/// Where a spread list node offers to stack its inputs again.
QRectF restackArea(const NodeLook& look);

}  // namespace spanscope::ui
