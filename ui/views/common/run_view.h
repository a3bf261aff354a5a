// SPDX-License-Identifier: GPL-3.0-or-later
// A view of runs. While there are none, a sentence in its middle says what the view will show.
#pragma once

#include "ui/views/common/input_view.h"

namespace spanscope::ui {

class RunView : public InputView {
  Q_OBJECT
 public:
  /// `more` are the parts of the input that it reads besides documents and traces.
  explicit RunView(QWidget* parent, InputParts more = {}, Pace pace = Pace::MayWait)
      : InputView(kRunParts | more, pace, parent) {}

 protected:
  /// The sentence to show while there is nothing else; empty: there is something to show.
  virtual QString emptyText() const = 0;
  /// If there is an emptyText(), paints it into a rectangle of this size and returns true.
  bool paintIfEmpty(QPainter& painter, const QSize& size) const;

  void paintEvent(QPaintEvent* event) override;
};

}  // namespace spanscope::ui
