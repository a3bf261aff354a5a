// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/card_plan.h"

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr double kBarHeight = 6;
constexpr double kTitleTop = 8;
constexpr double kSlack = 0.1;         ///< part of a line that may stand out into the space below
constexpr double kLeastWithText = 35;  ///< height of a card that has room for a line below its title
constexpr double kLeastAtEase = 38;    ///< the same with lines that keep from the edge and from each other
constexpr double kScaleStep = 1.0625;

}  // namespace

double textScale(double zoom) {
  if (zoom >= kReadableZoom || zoom <= 0) return 1;
  return std::pow(kScaleStep, std::ceil(std::log(kReadableZoom / zoom) / std::log(kScaleStep) - 1e-9));
}

CardPlan::CardPlan(const NodeLook& look, double scale)
    : width((look.rect.width - (look.stacked > 0 ? kStackSheets : 0)) / scale),
      height((look.rect.height - (look.stacked > 0 ? kStackSheets : 0)) / scale) {
  const bool tight = height < 60;
  titleTop = height < 30 ? std::max(0.0, (height - kCardLine) / 2) : tight ? 4 : kTitleTop;
  bodyTop = tight ? 20 : 25;
  if (height >= kLeastWithText && height < kLeastAtEase) {
    titleTop -= 2;
    bodyTop -= 3;
  }
  bar = QRectF(kCardLeft, height - (tight ? 9 : 13), width - kCardLeft - kCardRight - kShareWidth,
               tight ? 4 : kBarHeight);
  hasBar = height >= 30;
  bodyLines = std::max(0, static_cast<int>((bar.top() - bodyTop) / kCardLine + kSlack));
  // A card says first what it is: where a line of text is in want of room, the bar lies at the lower edge.
  if (bodyLines == 0 && height >= kLeastWithText) {
    bar = QRectF(bar.left(), height - 5, bar.width(), 3);
    bodyLines = 1;
  }
  hasIcon = width >= 110;
  titleLeft = kCardLeft + (hasIcon ? 20 : 0);
  // Digits keep off the lower edge of a low card.
  shareTop = std::min(bar.center().y() - 7, height - kShareFoot);
  if (!look.answers) return;
  hasModel = height >= 100;
  const double top = hasModel ? 42 : bodyTop;
  answer = QRectF(kCardLeft - 2, top, width - kCardLeft - kCardRight + 6, bar.top() - (tight ? 3 : 12) - top);
  hasState = answer.height() >= 38;
  bodyLines = std::max(0, static_cast<int>((answer.height() - (hasState ? 22 : 0)) / kCardLine));
}

QRectF pickerArea(const NodeLook& look, double scale) {
  const CardPlan plan(look, scale);
  if (!plan.hasState) return {};
  const QRectF box = plan.answer;
  return {(box.right() - 80) * scale, (box.bottom() - 20) * scale, 80 * scale, 20 * scale};
}

QRectF barArea(const NodeLook& look, double scale) {
  const QRectF bar = CardPlan(look, scale).bar;
  return {bar.topLeft() * scale, bar.size() * scale};
}

QRectF restackArea(const NodeLook& look) {
  if (!look.spread) return {};
  return {look.rect.width / 2 - 30, look.rect.height - 12, 60, 24};
}

}  // namespace spanscope::ui
