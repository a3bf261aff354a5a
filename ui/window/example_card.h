// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/example_table.h"

#include <QAbstractButton>

namespace spanscope::ui {

inline constexpr int kCardHeight = 84;  ///< pixels

/// A button for an example query, with its title and a line of text below.
class ExampleCard : public QAbstractButton {
  Q_OBJECT
 public:
  explicit ExampleCard(const Example& example, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  QSize sizeHint() const override { return {240, kCardHeight}; }
  QSize minimumSizeHint() const override { return {200, kCardHeight}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  Example m_example;
  Theme m_theme;
};

}  // namespace spanscope::ui
