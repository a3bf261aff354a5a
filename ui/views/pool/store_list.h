// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/pool/store_model.h"

#include <QTableWidget>

namespace spanscope::ui {

/// Lists the tiers of the span store and what lies in them, below the blocks of the pool. It is hidden if no
/// tier is in use. It is as high as its rows, but at most half as high as `room`.
class StoreList : public QTableWidget {
  Q_OBJECT
 public:
  explicit StoreList(QWidget* parent = nullptr);

  void showStore(const StoreTable& table, const Theme& theme, int room);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// The first words of parts have the room that the other columns leave.
  void giveTextRoom();

  StoreTable m_shown;
  Theme m_theme;
  bool m_isStyled = false;
};

}  // namespace spanscope::ui
