// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/forecast/layout_table.h"

#include <QWidget>

#include <optional>

class QLabel;
class QTableWidget;

namespace spanscope::ui {

/// Shows the layouts side by side in a table. A note above it says what the figures belong to.
class LayoutPage : public QWidget {
  Q_OBJECT
 public:
  explicit LayoutPage(QWidget* parent = nullptr);

  void showTable(LayoutTable table, const Theme& theme);
  const LayoutTable& table() const { return m_table; }
  QTableWidget& widget() { return *m_widget; }

 private:
  LayoutTable m_table;
  std::optional<Theme> m_shown;
  QLabel* m_note;
  QTableWidget* m_widget;
};

}  // namespace spanscope::ui
