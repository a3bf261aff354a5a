// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <string>
#include <vector>

class QGridLayout;
class QLabel;
class QListView;
class QPushButton;

namespace spanscope::ui {

class MapInputsModel;

/// The list of a map's inputs with buttons to add, remove and move.
class MapInputsEditor : public QWidget {
  Q_OBJECT
 public:
  explicit MapInputsEditor(QWidget* parent = nullptr);

  void setInputs(const std::vector<std::string>& inputs);
  const std::vector<std::string>& inputs() const;
  void setTheme(const Theme& theme);
  void focusList();

 Q_SIGNALS:
  void edited();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Puts the buttons into one row, or into two where there is little room.
  void placeButtons();
  void add();
  void remove();
  void move(int step);
  void updateButtons();

  MapInputsModel* m_model;
  QLabel* m_label;
  QListView* m_list;
  QGridLayout* m_buttons;
  QPushButton* m_add;
  QPushButton* m_remove;
  QPushButton* m_up;
  QPushButton* m_down;
};

}  // namespace spanscope::ui
