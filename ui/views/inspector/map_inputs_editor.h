// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QAbstractListModel>
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
  /// Puts the buttons into one row, or into two if the editor is narrow.
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

// The inputs of a map as an editable list.

class MapInputsModel : public QAbstractListModel {
  Q_OBJECT
 public:
  using QAbstractListModel::QAbstractListModel;

  /// Sets the inputs from the document. Rows that do not change are kept, so that the selection or an open
  /// editor stays.
  void setInputs(const std::vector<std::string>& inputs);
  const std::vector<std::string>& inputs() const { return m_inputs; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool insertRows(int row, int count, const QModelIndex& parent = {}) override;
  bool removeRows(int row, int count, const QModelIndex& parent = {}) override;
  bool moveRows(const QModelIndex& sourceParent, int from, int count, const QModelIndex& targetParent,
                int to) override;

 Q_SIGNALS:
  void edited();  ///< the user has changed the inputs

 private:
  std::vector<std::string> m_inputs;
};

}  // namespace spanscope::ui
