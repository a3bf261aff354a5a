// SPDX-License-Identifier: GPL-3.0-or-later
// Where a view draws what can be selected, so that a lesson can point at it.
#pragma once

#include "ui/session/selection.h"

#include <QRect>

#include <vector>

class QWidget;

namespace spanscope::ui {

/// Implemented by views that draw blocks or tokens one by one.
class DrawnParts {
 public:
  virtual ~DrawnParts() = default;

  /// The widget in which the places below are; what is outside of it is out of sight.
  virtual const QWidget& placesIn() const = 0;
  /// The rectangles of the selected block or token, in pixels of that widget, out of sight or not; a block of
  /// tokens in several rows has one for each. None: the view does not draw it.
  virtual std::vector<QRect> placesOf(const Selection& part) const = 0;
  /// Scrolls so far that it is in sight.
  virtual void bringIntoSight(const Selection& part) = 0;
};

}  // namespace spanscope::ui
