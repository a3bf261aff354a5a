// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/inspector/map_inputs_model.h"

namespace spanscope::ui {

void MapInputsModel::setInputs(const std::vector<std::string>& inputs) {
  if (inputs == m_inputs) return;
  if (inputs.size() != m_inputs.size()) {
    beginResetModel();
    m_inputs = inputs;
    endResetModel();
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (m_inputs[i] == inputs[i]) continue;
    m_inputs[i] = inputs[i];
    const QModelIndex changed = index(static_cast<int>(i));
    Q_EMIT dataChanged(changed, changed);
  }
}

int MapInputsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_inputs.size());
}

QVariant MapInputsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role != Qt::DisplayRole && role != Qt::EditRole && role != Qt::ToolTipRole) return {};
  return QString::fromStdString(m_inputs[static_cast<std::size_t>(index.row())]);
}

bool MapInputsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || index.row() >= rowCount() || role != Qt::EditRole) return false;
  const std::string text = value.toString().toStdString();
  std::string& input = m_inputs[static_cast<std::size_t>(index.row())];
  if (input == text) return true;
  input = text;
  Q_EMIT dataChanged(index, index);
  Q_EMIT edited();
  return true;
}

Qt::ItemFlags MapInputsModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractListModel::flags(index);
  return index.isValid() ? flags | Qt::ItemIsEditable | Qt::ItemNeverHasChildren : flags;
}

bool MapInputsModel::insertRows(int row, int count, const QModelIndex& parent) {
  if (parent.isValid() || row < 0 || row > rowCount() || count <= 0) return false;
  beginInsertRows({}, row, row + count - 1);
  m_inputs.insert(m_inputs.begin() + row, static_cast<std::size_t>(count), std::string());
  endInsertRows();
  Q_EMIT edited();
  return true;
}

bool MapInputsModel::removeRows(int row, int count, const QModelIndex& parent) {
  if (parent.isValid() || row < 0 || count <= 0 || row + count > rowCount()) return false;
  beginRemoveRows({}, row, row + count - 1);
  m_inputs.erase(m_inputs.begin() + row, m_inputs.begin() + row + count);
  endRemoveRows();
  Q_EMIT edited();
  return true;
}

bool MapInputsModel::moveRows(const QModelIndex& sourceParent, int from, int count,
                              const QModelIndex& targetParent, int to) {
  if (sourceParent.isValid() || targetParent.isValid() || count != 1) return false;
  if (from < 0 || from >= rowCount() || to < 0 || to > rowCount()) return false;
  // beginMoveRows() refuses moves that change nothing.
  if (!beginMoveRows({}, from, from, {}, to)) return false;
  const std::string moved = m_inputs[static_cast<std::size_t>(from)];
  m_inputs.erase(m_inputs.begin() + from);
  m_inputs.insert(m_inputs.begin() + (to > from ? to - 1 : to), moved);
  endMoveRows();
  Q_EMIT edited();
  return true;
}

}  // namespace spanscope::ui
