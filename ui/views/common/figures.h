// SPDX-License-Identifier: GPL-3.0-or-later
// The content of a table of figures, as the pages for measurements show it.
#pragma once

#include <QString>

#include <vector>

namespace spanscope::ui {

struct FigureColumn {
  QString title;
  QString help;
  bool operator==(const FigureColumn&) const = default;
};

struct FigureCell {
  QString text;
  QString help;  ///< empty: that of its row
  bool isBold = false;
  bool isPale = true;
};

struct FigureRow {
  QString name;
  QString help;
  std::vector<FigureCell> cells;  ///< one for each column after the first
};

}  // namespace spanscope::ui
