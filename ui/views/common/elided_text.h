// SPDX-License-Identifier: GPL-3.0-or-later
// Widgets that end their text in an ellipsis if it does not fit.
#pragma once

#include <QComboBox>
#include <QLabel>

namespace spanscope::ui {

/// A combo box for a narrow place. A text that does not fit ends in an ellipsis. The tool tip then begins
/// with the whole text.
class ElidedCombo : public QComboBox {
 public:
  using QComboBox::QComboBox;

  /// The current text as it is painted.
  QString shown() const;

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
};

/// A label for a line of plain text, with no minimum width. A text that does not fit ends in an ellipsis. The
/// tool tip then begins with the whole line. The label is empty if only five letters or fewer would fit. A
/// text of several parts, separated by " · " or by five spaces, loses whole parts at its end.
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
