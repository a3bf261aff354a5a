// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/moment.h"

namespace spanscope::ui {

/// A view that shows what happens between two events. It is a function of input and moment; what it exports
/// shows the input alone.
class MovingView {
 public:
  virtual ~MovingView() = default;
  virtual void setMoment(const Moment& moment) = 0;
};

}  // namespace spanscope::ui
