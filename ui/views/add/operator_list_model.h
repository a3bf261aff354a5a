// SPDX-License-Identifier: GPL-3.0-or-later
// The operators as a list from which a person can drag.
#pragma once

#include <QAbstractListModel>

namespace spanscope::ui {

class OperatorListModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum OperatorRole {
    NameRole = Qt::UserRole,  ///< "g"
    HintRole,                 ///< "ask a model"
    SearchRole,               ///< all words by which a person may search for the operator
  };

  using QAbstractListModel::QAbstractListModel;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  QStringList mimeTypes() const override;
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
};

}  // namespace spanscope::ui
