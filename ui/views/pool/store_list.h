// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/pool/store_model.h"

#include <QTableWidget>

namespace spanscope::ui {

/// The tiers of the span store and what lies in them, under the blocks of the pool. Hidden where no tier is
/// in use; as high as its rows, up to half of what is around it.
class StoreList : public QTableWidget {
  Q_OBJECT
 public:
  explicit StoreList(QWidget* parent = nullptr);

  void showStore(const StoreTable& table, const Theme& theme, int room);

 private:
  StoreTable m_shown;
  Theme m_theme;
  bool m_isStyled = false;
};

}  // namespace spanscope::ui
