// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

namespace spanscope::ui {

/// A legend for the title bar of a dock: colour swatches with words, in one line. In a narrow title bar the
/// words are shorter, but every entry is there.
class StateLegend : public QWidget {
  Q_OBJECT
 public:
  struct Swatch {
    BlockRole role = BlockRole::Free;
    QString text;
    QString brief;  ///< a shorter text
  };
  explicit StateLegend(std::vector<Swatch> entries, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QSize sizeWith(bool isBrief) const;

  std::vector<Swatch> m_entries;
  Theme m_theme;
};

}  // namespace spanscope::ui
