// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/add/operator_list_model.h"

#include "engine/workbench/document/edits.h"
#include "ui/operators/operator_table.h"
#include "ui/words/glossary.h"

#include <QMimeData>

#include <algorithm>
#include <vector>

namespace spanscope::ui {

int OperatorListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(operatorTable().size());
}

QVariant OperatorListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const OperatorRow& info = operatorTable().at(static_cast<std::size_t>(index.row()));
  switch (role) {
    case Qt::DisplayRole:
      return info.label;
    case Qt::ToolTipRole:
      return findTerm(info.label) == nullptr ? info.help : explain(info.label);
    case Qt::AccessibleTextRole:
      return tr("%1, %2").arg(info.label, info.hint);
    case Qt::AccessibleDescriptionRole:
      return info.help;
    case NameRole:
      return QString::fromStdString(info.name);
    case HintRole:
      return info.hint;
    case SearchRole:
      return QStringList({info.label, QString::fromStdString(info.name), info.hint, info.help})
          .join(QLatin1Char(' '));
    default:
      return {};
  }
}

Qt::ItemFlags OperatorListModel::flags(const QModelIndex& index) const {
  const Qt::ItemFlags flags = QAbstractListModel::flags(index);
  return index.isValid() ? flags | Qt::ItemIsDragEnabled : flags;
}

QStringList OperatorListModel::mimeTypes() const {
  return {QLatin1String(document::kOperatorMimeType)};
}

QMimeData* OperatorListModel::mimeData(const QModelIndexList& indexes) const {
  if (indexes.isEmpty()) return nullptr;
  // The view that asked for the data owns it.
  auto data = std::make_unique<QMimeData>();
  data->setData(QLatin1String(document::kOperatorMimeType),
                indexes.first().data(NameRole).toString().toUtf8());
  return data.release();
}

}  // namespace spanscope::ui
