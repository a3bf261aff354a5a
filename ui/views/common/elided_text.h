// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>
#include <QLabel>

namespace spanscope::ui {

/// A combo box in a narrow place. If the current text does not fit, it ends in an ellipsis and the tool tip
/// begins with the whole text.
class ElidedCombo : public QComboBox {
 public:
  using QComboBox::QComboBox;

  /// The current text as it is painted.
  QString shown() const;

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
};

/// A label for a line of plain text that never asks for room. If the text does not fit, it ends in an
/// ellipsis and the tool tip begins with the whole line. Where no more than two letters would be left,
/// nothing is shown.
class ElidedLabel : public QLabel {
 public:
  explicit ElidedLabel(QWidget* parent = nullptr);

  QSize minimumSizeHint() const override;
  /// The text as it is painted.
  QString shown() const;

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace spanscope::ui
