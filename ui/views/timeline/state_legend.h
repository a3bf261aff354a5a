// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

namespace spanscope::ui {

/// A legend for the title bar of a dock: colour swatches with words, in one line.
class StateLegend : public QWidget {
  Q_OBJECT
 public:
  struct Swatch {
    BlockRole role = BlockRole::Free;
    QString text;
  };
  explicit StateLegend(std::vector<Swatch> entries, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<Swatch> m_entries;
  Theme m_theme;
};

}  // namespace spanscope::ui
