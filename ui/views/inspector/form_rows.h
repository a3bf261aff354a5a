// SPDX-License-Identifier: GPL-3.0-or-later
// A form with rows of a label and a field. Labels line up over several such forms. In a narrow form, each
// label is above its field.
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <cstddef>
#include <vector>

class QGridLayout;
class QLabel;

namespace spanscope::ui {

/// The width of the labels' column, in pixels, unless a label is wider.
inline constexpr int kFormLabelWidth = 96;

/// Whether a form of this width, in pixels, has no room for fields beside its labels.
bool isNarrowForm(int width, const std::vector<QLabel*>& labels);

class FormRows : public QWidget {
  Q_OBJECT
 public:
  explicit FormRows(QWidget* parent = nullptr);

  /// Adds a row and takes the field. If the label is empty, the column of labels has a gap.
  QLabel* addRow(const QString& label, QWidget* field);
  /// Adds a widget over both columns.
  void addWide(QWidget* widget);
  void setTheme(const Theme& theme);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Row {
    QLabel* label;  ///< nullptr: the field takes the whole width
    QWidget* field;
  };

  void add(QLabel* label, QWidget* field);
  /// Gives a row its places in the grid, where each row has two lines.
  void place(std::size_t index);
  void fold();

  QGridLayout* m_grid;
  std::vector<Row> m_rows;
  std::vector<QLabel*> m_labels;
  bool m_isNarrow = false;
};

}  // namespace spanscope::ui
