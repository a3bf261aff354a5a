// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHeaderView>

namespace spanscope::ui {

/// The head of a table whose titles may have less room than they need. QHeaderView leaves a title the width
/// of its section less the margin of the style, and the style sheet's padding takes more: the rest would be
/// cut without an ellipsis.
class TableHead : public QHeaderView {
  Q_OBJECT
 public:
  explicit TableHead(QWidget* parent = nullptr);

 protected:
  void initStyleOptionForIndex(QStyleOptionHeader* option, int section) const override;
};

}  // namespace spanscope::ui
