// SPDX-License-Identifier: GPL-3.0-or-later
// A view of runs: before there are any, a sentence in its middle says what will stand there.
#pragma once

#include "ui/views/common/input_view.h"

namespace spanscope::ui {

class RunView : public InputView {
  Q_OBJECT
 public:
  /// `more`: what it reads besides documents and traces.
  explicit RunView(QWidget* parent, InputParts more = {}, Pace pace = Pace::MayWait)
      : InputView(kRunParts | more, pace, parent) {}

 protected:
  /// The sentence, while there is nothing to show; empty: there is something.
  virtual QString emptyText() const = 0;
  /// Paints emptyText() alone into a rectangle of this size, if there is one.
  bool paintIfEmpty(QPainter& painter, const QSize& size) const;

  void paintEvent(QPaintEvent* event) override;
};

}  // namespace spanscope::ui
