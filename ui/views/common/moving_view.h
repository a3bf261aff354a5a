// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/moment.h"

class QWidget;

namespace spanscope::ui {

/// A view that shows what happens between two events. It is a function of input and moment; what it exports
/// shows the input alone.
class MovingView {
 public:
  virtual ~MovingView() = default;
  MovingView(const MovingView&) = delete;
  MovingView& operator=(const MovingView&) = delete;

  void setMoment(const Moment& moment);

 protected:
  /// `self`: the view.
  explicit MovingView(const QWidget* self) : m_self(self) {}

  const Moment& moment() const { return m_moment; }
  /// Shows the input at rest, and forgets what was prepared for other moments between the same events.
  virtual void stopMotion() = 0;
  /// Shows the moment, if it is one of the present input.
  virtual void showMotion() = 0;

 private:
  const QWidget* m_self;
  Moment m_moment;
};

}  // namespace spanscope::ui
