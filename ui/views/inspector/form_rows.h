// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a label and a field, whose labels line up over several forms.
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

  /// Takes the field; an empty label leaves its column free.
  QLabel* addRow(const QString& label, QWidget* field);
  /// Over both columns.
  void addWide(QWidget* widget);
  void setTheme(const Theme& theme);

 private:
  QGridLayout* m_grid;
  std::vector<QLabel*> m_labels;
};

}  // namespace spanscope::ui
