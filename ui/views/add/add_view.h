// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the operators and the example queries. The user drags or double-clicks operators.
#pragma once

#include "ui/views/common/input_view.h"

#include <QAbstractListModel>

class QLabel;
class QLineEdit;
class QListView;
class QListWidget;
class QModelIndex;
class QSortFilterProxyModel;

namespace spanscope::ui {

class AddView : public InputView {
  Q_OBJECT
 public:
  explicit AddView(QWidget* parent = nullptr);

 protected:
  void refresh() override;
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void add(const QModelIndex& index);
  void layOutRows();

  QLineEdit* m_search;
  QListView* m_operators;
  QSortFilterProxyModel* m_found;
  QLabel* m_none;
  QWidget* m_rule;
  QLabel* m_exampleTitle;
  QListWidget* m_examples;
};

// The operators as a list model with drag support.

class OperatorListModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum OperatorRole {
    NameRole = Qt::UserRole,  ///< "g"
    HintRole,                 ///< "ask a model"
    SearchRole,               ///< all words that find the operator in a search
  };

  using QAbstractListModel::QAbstractListModel;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
};

}  // namespace spanscope::ui
