// SPDX-License-Identifier: GPL-3.0-or-later
// The inputs of a map as an editable list.
#pragma once

#include <QAbstractListModel>

#include <string>
#include <vector>

namespace spanscope::ui {

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
  void edited();  ///< the person has changed the inputs

 private:
  std::vector<std::string> m_inputs;
};

}  // namespace spanscope::ui
