// SPDX-License-Identifier: GPL-3.0-or-later
// A form with rows of a label and a field. Labels line up over several such forms.
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

class QGridLayout;
class QLabel;

namespace spanscope::ui {

class FormRows : public QWidget {
  Q_OBJECT
 public:
  explicit FormRows(QWidget* parent = nullptr);

  /// Adds a row and takes the field. An empty label leaves the label's column free.
  QLabel* addRow(const QString& label, QWidget* field);
  /// Adds a widget over both columns.
  void addWide(QWidget* widget);
  void setTheme(const Theme& theme);

 private:
  QGridLayout* m_grid;
  std::vector<QLabel*> m_labels;
};

}  // namespace spanscope::ui
